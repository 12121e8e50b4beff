//! The managed block, read and written.

use chrono::NaiveDate;

use super::{Existing, Line};
use crate::memory::Mark;
use crate::memory::calendar::Week;
use crate::memory::segment::Language;
use crate::memory::statement::{Change, Features, latest};
use crate::memory::worth::{self, Topic};

/// A line of the block, or one that may become one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    pub text: String,
    pub topic: Topic,
    /// Where it came from, as written behind it.
    pub from: String,
    /// Its day: of its source; of the oldest, where it names none.
    pub day: NaiveDate,
    pub asked: bool,
    pub uses: u32,
    pub is_new: bool,
    pub features: Features,
    pub change: Change,
}

/// What says behind a line that the user asked for it.
const ASKED: [&str; 2] = ["，用户要求", ", asked for"];

impl Held {
    pub fn of(line: &Line) -> Self {
        let statement = &line.statement;
        // The old value belongs to the history; what changed is still told by the whole statement.
        let text = latest(&statement.text);
        Self {
            topic: statement.topic,
            from: line.from.clone(),
            day: statement.day,
            asked: statement.mark == Mark::User || statement.for_ever,
            uses: statement.uses,
            is_new: true,
            features: Features::of(&text),
            change: Change::of(&statement.text),
            text,
        }
    }

    /// The line as it stands in the block.
    pub fn line(&self) -> String {
        let chinese = self.features.chinese;
        let asked = if self.asked { ASKED[usize::from(!chinese)] } else { "" };
        match (self.from.is_empty(), chinese) {
            (true, _) => format!("- {}\n", self.text),
            (false, true) => format!("- {}（{}{asked}）\n", self.text, self.from),
            (false, false) => format!("- {} ({}{asked})\n", self.text, self.from),
        }
    }
}

/// The lines of a block. What is no bullet and no heading is a line as well: nothing of it is lost.
pub(super) fn read(block: &str, today: NaiveDate) -> Vec<Held> {
    let mut lines = Vec::new();
    let mut headed = None;
    for line in block.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(heading) = line.strip_prefix('#') {
            headed = Topic::titled(heading.trim_start_matches('#').trim());
            continue;
        }
        let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line);
        let (text, from, asked) = source(line);
        lines.push(Held {
            topic: headed.or_else(|| worth::topic(text, "")).unwrap_or(Topic::Projects),
            day: day_of(from).unwrap_or(NaiveDate::MIN).min(today),
            from: from.to_owned(),
            asked,
            uses: 0,
            is_new: false,
            features: Features::of(text),
            change: Change::of(text),
            text: text.to_owned(),
        });
    }
    lines
}

/// What a line says, where it came from, and whether it was asked for.
fn source(line: &str) -> (&str, &str, bool) {
    let split = line.strip_suffix('）').and_then(|line| line.rsplit_once('（'));
    let split = split.or_else(|| line.strip_suffix(')')?.rsplit_once(" ("));
    let Some((text, source)) = split else { return (line, "", false) };
    let from = ASKED.iter().find_map(|asked| source.strip_suffix(asked));
    match day_of(from.unwrap_or(source)) {
        Some(_) => (text, from.unwrap_or(source), from.is_some()),
        None => (line, "", false),
    }
}

/// The last day of a week or of a day's name.
fn day_of(from: &str) -> Option<NaiveDate> {
    from.parse::<NaiveDate>().ok().or_else(|| from.parse::<Week>().ok().map(Week::sunday))
}

/// The block as Markdown, by kind.
pub(super) fn write(lines: &[Held], existing: &Existing) -> String {
    let all: String = lines.iter().map(|line| line.text.as_str()).chain([existing.own]).collect();
    let language = Language::of(&all);
    let mut block = String::new();
    for topic in Topic::ALL {
        let of: Vec<String> = lines.iter().filter(|line| line.topic == topic).map(Held::line).collect();
        if !of.is_empty() {
            let gap = if block.is_empty() { "" } else { "\n" };
            block.push_str(&format!("{gap}### {}\n{}", topic.title(language), of.concat()));
        }
    }
    block
}
