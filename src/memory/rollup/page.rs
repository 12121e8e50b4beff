//! The page: what it has room for, and how it is written.

use std::collections::BTreeSet;

use chrono::{Datelike, NaiveDate};

use super::gather::Gathered;
use super::merge::{Draft, Merged};
use super::{MAX_PAGE_CHARS, MIN_PAGE_CHARS, Page, Statement, value};
use crate::memory::calendar::Week;
use crate::memory::segment::Language;
use crate::memory::statement::{self, Clause};
use crate::memory::worth::Topic;

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

/// A statement on its way to the page.
struct Placed {
    draft: Draft,
    /// What each clause is worth.
    values: Vec<i32>,
    /// Whether each clause is on the page.
    shown: Vec<bool>,
    /// What the line takes, and what is to be cut of it first: known while nothing is cut.
    chars: usize,
    cheapest: Option<(usize, i32)>,
}

/// Fits what was merged into the page.
pub(super) fn fit(week: Week, gathered: &Gathered, merged: Merged, size: usize) -> Page {
    let language = if gathered.chinese { Language::Chinese } else { Language::English };
    let room = (size / 2).clamp(MIN_PAGE_CHARS, MAX_PAGE_CHARS).saturating_sub(FRAME_CHARS);
    let mut placed: Vec<Placed> = merged.drafts.into_iter().map(place).collect();
    let statements: Vec<Statement> = placed.iter().map(Placed::statement).collect();
    let taken = take_out(&mut placed, room, language);
    let mut archive = merged.archive;
    archive.sort();
    archive.dedup();
    while !archive.is_empty() && taken + archived_chars(&archive) > room {
        archive.remove(0);
    }
    let mut lines: Vec<Statement> =
        placed.iter().filter(|placed| placed.is_shown()).map(Placed::statement).collect();
    let left_out = gathered.left_out + placed.len() - lines.len();
    lines.sort_by_key(|line| (line.topic, line.day, line.sources.first().copied()));
    Page { week, language, lines, archive, left_out, statements }
}

/// Takes out what is worth least for its length until the rest has room, and puts back what still fits. Returns how
/// many characters are taken.
fn take_out(placed: &mut [Placed], room: usize, language: Language) -> usize {
    let mut out: Vec<(usize, usize)> = Vec::new();
    let mut taken = chars(placed, language);
    while taken > room {
        let lowest = placed.iter().enumerate().filter_map(|(at, placed)| {
            let (clause, price) = placed.cheapest?;
            Some((price, at, clause))
        });
        let Some((price, at, clause)) = lowest.min() else { break };
        show(placed, (at, clause), false);
        if price > 0 {
            out.push((at, clause));
        }
        taken = chars(placed, language);
    }
    for at in out.into_iter().rev() {
        show(placed, at, true);
        let more = chars(placed, language);
        let stands = placed.get(at.0).is_some_and(|placed| placed.stands());
        if stands && more <= room {
            taken = more;
        } else {
            show(placed, at, false);
        }
    }
    taken
}

fn show(placed: &mut [Placed], (at, clause): (usize, usize), shown: bool) {
    let Some(line) = placed.get_mut(at) else { return };
    if let Some(place) = line.shown.get_mut(clause) {
        *place = shown;
    }
    line.know();
}

/// What lines and headings take.
fn chars(placed: &[Placed], language: Language) -> usize {
    let shown = || placed.iter().filter(|placed| placed.is_shown());
    let topics: BTreeSet<Topic> = shown().map(|placed| placed.draft.topic).collect();
    let headings = topics.iter().map(|topic| topic.title(language).chars().count() + HEADING_CHARS);
    headings.sum::<usize>() + shown().map(|placed| placed.chars).sum::<usize>()
}

fn archived_chars(archive: &[(NaiveDate, String)]) -> usize {
    let lines = archive.iter().map(|(_, text)| text.chars().count() + LINE_CHARS + WAS_CHARS);
    lines.sum::<usize>() + HEADING_CHARS + "Archive".len()
}

impl Placed {
    fn is_shown(&self) -> bool {
        self.shown.contains(&true)
    }

    fn know(&mut self) {
        self.chars = statement::join(&self.clauses()).chars().count() + LINE_CHARS;
        self.cheapest = self.find_cheapest();
    }

    /// Whether the clauses shown have their subject.
    fn stands(&self) -> bool {
        self.shown.first() == Some(&true) || self.is_loose()
    }

    fn clauses(&self) -> Vec<Clause> {
        let shown = self.draft.clauses.iter().zip(&self.shown).filter(|(_, shown)| **shown);
        shown.map(|(clause, _)| clause.clone()).collect()
    }

    /// The clause to be cut first, and its worth by its length. The first clause goes last, with its line, since it
    /// holds the subject; but for a loose line, the clauses of which stand by themselves.
    fn find_cheapest(&self) -> Option<(usize, i32)> {
        let shown = || self.shown.iter().enumerate().filter(|(_, shown)| **shown).map(|(at, _)| at);
        let only = shown().count() == 1;
        let priced = shown().filter(|at| only || *at > 0 || self.is_loose()).filter_map(|at| {
            let value = match at {
                0 if !only => value::first_alone(&self.draft, &self.values),
                _ => *self.values.get(at)?,
            };
            let length = self.draft.clauses.get(at)?.text.chars().count() + if only { LINE_CHARS } else { 1 };
            let length = i32::try_from(length.clamp(MIN_LENGTH, MAX_LENGTH)).ok()?;
            Some((at, value * 100 / length))
        });
        priced.min_by_key(|(at, price)| (*price, usize::MAX - at))
    }

    fn is_loose(&self) -> bool {
        let first = self.draft.clauses.first();
        self.draft.loose && first.is_some_and(|clause| clause.joint.starts_with([';', '；']))
    }

    fn statement(&self) -> Statement {
        let draft = &self.draft;
        Statement {
            text: statement::join(&self.clauses()),
            topic: draft.topic,
            day: draft.day,
            mark: draft.mark,
            for_ever: draft.for_ever,
            uses: draft.uses,
            ends: draft.ends,
            sources: draft.sources.clone(),
        }
    }
}

/// A draft with the worth of its clauses, without those that are worth nothing.
fn place(draft: Draft) -> Placed {
    let values = value::of(&draft);
    let shown = values.iter().enumerate().map(|(at, value)| at == 0 || *value > FILLER).collect();
    let mut placed = Placed { draft, values, shown, chars: 0, cheapest: None };
    placed.know();
    placed
}

impl Page {
    /// The heading of what a person wrote on the page.
    pub fn by_hand(&self) -> &'static str {
        if self.language == Language::Chinese { "手工修改" } else { "Edited by hand" }
    }

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

pub(super) fn bullet(day: NaiveDate, text: &str) -> String {
    format!("- {:02}-{:02} {text}\n", day.month(), day.day())
}

fn section(page: &mut String, heading: &str, lines: &[String]) {
    if !lines.is_empty() {
        page.push_str(&format!("\n## {heading}\n{}", lines.concat()));
    }
}
