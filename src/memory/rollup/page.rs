//! The page: what it has room for, and how it is written.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};
use regex::Regex;
use std::sync::OnceLock;

use super::gather::Gathered;
use super::merge::{Draft, Merged};
use super::{MAX_PAGE_CHARS, MIN_PAGE_CHARS, Page, Statement};
use crate::memory::Mark;
use crate::memory::calendar::Week;
use crate::memory::segment::Language;
use crate::memory::statement::{self, Features};
use crate::memory::worth::{self, Topic};

/// A bullet, the day and the line's end.
const LINE_CHARS: usize = 9;
/// What stands around a heading: `## `, the empty line above it, the line's end.
const HEADING_CHARS: usize = 5;
/// `was: `
const WAS_CHARS: usize = 5;
/// What the managed block around the page takes, its title, and what was left out.
const FRAME_CHARS: usize = 74;
/// Shorter clauses cost as much as these, in characters: brevity alone is no merit.
const MIN_LENGTH: usize = 12;
/// Longer ones cost no more than these: a path is long and cannot be said shorter.
const MAX_LENGTH: usize = 30;
/// Clauses worth this little are cut even where there is room.
const FILLER: i32 = -2;
/// What only gives a reason, a reaction, or how it was announced.
const ASIDES: &str = r"^(已(经)?(连续|执行|坚持|运行)|理由|因为|毕竟|显得|反正|顺便|已通知|已告知|已备注|已登记|说是|听说|免得|省得|感觉|确实|挺|后来|之后)|同步改了|也登记了|(了解|知道)了$|电话存在|^(because|since|as|so that|which|who|she|he|they|everybody|everyone|said again|again|by the way|apparently|also)\b|is updated|was updated|rejected|reminded";
/// What tells the cause or the cure.
const CAUSES: &str = r"原因|根因|查了|因为.*(没|错|坏)|后(正常|恢复|解决)|恢复|解决|改用|调到|关掉|重配|改为|fixed|by turning|now |cause|due to|after ";

/// Numbers in words.
const COUNTS: &str = r"\b(two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|hundred|thousand|half|twice|double)\b";

/// A statement on its way to the page.
struct Placed {
    draft: Draft,
    /// What each clause is worth.
    values: Vec<i32>,
}

/// Fits what was merged into the page.
pub(super) fn fit(week: Week, gathered: &Gathered, merged: Merged, size: usize) -> Page {
    let room = (size / 2).clamp(MIN_PAGE_CHARS, MAX_PAGE_CHARS).saturating_sub(FRAME_CHARS);
    let mut archive = merged.archive;
    archive.sort();
    archive.dedup();
    let mut placed: Vec<Placed> = merged.drafts.into_iter().map(place).collect();
    for placed in &mut placed {
        while placed.values.len() > 1 {
            let filler = placed.values.iter().skip(1).rposition(|value| *value <= FILLER);
            match filler {
                Some(at) => cut(placed, at + 1),
                None => break,
            }
        }
    }
    let statements: Vec<Statement> = placed.iter().map(|placed| stated(&placed.draft)).collect();
    let language = if gathered.chinese { Language::Chinese } else { Language::English };
    let mut left_out = gathered.left_out;
    let mut taken = placed.iter().map(chars).sum::<usize>() + headings(&placed, language);
    while taken > room {
        let cheapest = placed.iter().enumerate().filter_map(|(at, placed)| {
            let (clause, price) = lowest(placed)?;
            Some((price, at, clause))
        });
        let Some((_, at, clause)) = cheapest.min() else { break };
        if let Some(found) = placed.get_mut(at) {
            if found.values.len() > 1 {
                cut(found, clause);
            } else {
                placed.remove(at);
                left_out += 1;
            }
        }
        taken = placed.iter().map(chars).sum::<usize>() + headings(&placed, language);
    }
    let archived = |archive: &[(NaiveDate, String)]| -> usize {
        archive.iter().map(|(_, text)| text.chars().count() + LINE_CHARS + WAS_CHARS).sum::<usize>()
            + if archive.is_empty() { 0 } else { HEADING_CHARS + 7 }
    };
    while !archive.is_empty() && taken + archived(&archive) > room {
        archive.remove(0);
    }
    let mut lines: Vec<Statement> = placed.iter().map(|placed| stated(&placed.draft)).collect();
    lines.sort_by_key(|line| (line.topic, line.day, line.sources.first().copied()));
    Page { week, language, lines, archive, left_out, statements }
}

fn stated(draft: &Draft) -> Statement {
    Statement {
        text: statement::join(&draft.clauses),
        topic: draft.topic,
        day: draft.day,
        mark: draft.mark,
        for_ever: draft.for_ever,
        uses: draft.uses,
        ends: draft.ends,
        sources: draft.sources.clone(),
    }
}

fn place(draft: Draft) -> Placed {
    let mut told: BTreeSet<String> = BTreeSet::new();
    let mut values = Vec::with_capacity(draft.clauses.len());
    for (at, clause) in draft.clauses.iter().enumerate() {
        let features = Features::of(&clause.text);
        let news = features.values().filter(|value| !told.contains(*value)).count() as i32;
        told.extend(features.values().cloned());
        let places = features.values().any(|value| value.contains('/') && value.chars().nth(3).is_some());
        let mut value = 3 * news.min(3) + 2 * i32::from(places);
        value += 2 * i32::from(worth::is_durable(&clause.text));
        value += 2 * i32::from(matches(COUNTS, &COUNTS_RULE, &clause.text));
        let causes = draft.topic == Topic::Fixes && matches(CAUSES, &CAUSES_RULE, &clause.text);
        value += 5 * i32::from(causes);
        value -= 3 * i32::from(matches(ASIDES, &ASIDES_RULE, &clause.text) && !causes);
        // Without its first clause a line has no subject.
        if at == 0 {
            value += 2 + worth_of(&draft);
        } else if news > 0 {
            value += worth_of(&draft).max(0) / 2;
        }
        values.push(value);
    }
    Placed { draft, values }
}

/// What a whole line is worth beyond its words.
fn worth_of(draft: &Draft) -> i32 {
    let topic = match draft.topic {
        Topic::Fixes => 3,
        Topic::Decisions | Topic::People | Topic::Configuration => 2,
        Topic::Plans => 1,
        Topic::Projects => 0,
    };
    topic
        + 6 * i32::from(draft.mark == Mark::User)
        + 6 * i32::from(draft.for_ever)
        + 2 * i32::from(draft.durable)
        + draft.sources.len() as i32
        - 5 * i32::from(draft.doubtful)
        - 8 * i32::from(draft.routine)
        - 2 * i32::from(draft.ends.is_some())
}

/// The clause to be cut first, and what its room costs: its worth by its length. The first goes last, with its line.
fn lowest(placed: &Placed) -> Option<(usize, i32)> {
    let only = placed.values.len() == 1;
    let later = placed.values.iter().zip(&placed.draft.clauses).enumerate().filter(|(at, _)| only || *at > 0);
    let priced = later.map(|(at, (value, clause))| {
        let length = clause.text.chars().count() + if only { LINE_CHARS } else { 1 };
        (at, value * 100 / i32::try_from(length.clamp(MIN_LENGTH, MAX_LENGTH)).unwrap_or(i32::MAX))
    });
    priced.min_by_key(|(at, price)| (*price, usize::MAX - at))
}

fn cut(placed: &mut Placed, at: usize) {
    if at < placed.draft.clauses.len() && at < placed.values.len() {
        placed.draft.clauses.remove(at);
        placed.values.remove(at);
    }
}

fn chars(placed: &Placed) -> usize {
    statement::join(&placed.draft.clauses).chars().count() + LINE_CHARS
}

fn headings(placed: &[Placed], language: Language) -> usize {
    let topics: BTreeSet<Topic> = placed.iter().map(|placed| placed.draft.topic).collect();
    topics.iter().map(|topic| topic.title(language).chars().count() + HEADING_CHARS).sum()
}

static ASIDES_RULE: OnceLock<Option<Regex>> = OnceLock::new();
static COUNTS_RULE: OnceLock<Option<Regex>> = OnceLock::new();
static CAUSES_RULE: OnceLock<Option<Regex>> = OnceLock::new();

fn matches(rule: &str, compiled: &OnceLock<Option<Regex>>, text: &str) -> bool {
    let compiled = compiled.get_or_init(|| Regex::new(rule).ok());
    compiled.as_ref().is_some_and(|rule| rule.is_match(&text.to_lowercase()))
}

impl Page {
    /// The page as Markdown.
    pub fn render(&self) -> String {
        let chinese = self.language == Language::Chinese;
        let mut page = format!("# {}\n", self.week);
        for topic in Topic::ALL {
            let lines = self.lines.iter().filter(|line| line.topic == topic);
            let lines: Vec<String> = lines.map(|line| bullet(line.day, &line.text)).collect();
            section(&mut page, topic.title(self.language), &lines);
        }
        let was = if chinese { "原：" } else { "was: " };
        let archive = self.archive.iter().map(|(day, text)| bullet(*day, &format!("{was}{text}")));
        section(&mut page, if chinese { "归档" } else { "Archive" }, &archive.collect::<Vec<_>>());
        match (self.left_out, chinese) {
            (0, _) => {}
            (count, true) => page.push_str(&format!("\n（另有 {count} 条未列入）\n")),
            (count, false) => page.push_str(&format!("\n({count} more left out)\n")),
        }
        page
    }
}

fn bullet(day: NaiveDate, text: &str) -> String {
    format!("- {:02}-{:02} {text}\n", day.month(), day.day())
}

fn section(page: &mut String, heading: &str, lines: &[String]) {
    if !lines.is_empty() {
        page.push_str(&format!("\n## {heading}\n{}", lines.concat()));
    }
}
