//! What of the week is worth a line.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{NaiveDate, NaiveTime};

use super::{MAX_ENTRIES, MAX_ENTRY_CHARS, Noted, end_of};
use crate::memory::calendar::Week;
use crate::memory::redact::PLACEHOLDER_START;
use crate::memory::segment::Language;
use crate::memory::statement::{self, Change, Clause, Features};
use crate::memory::worth::{self, Topic, Worth};
use crate::memory::{Importance, Mark};

/// What is said in the same words on so many days is routine.
const ROUTINE_DAYS: usize = 3;

/// A line longer than this, in characters, is many statements, each of which stands by itself.
const LOOSE_CHARS: usize = 160;

/// An entry worth keeping.
#[derive(Debug, Clone)]
pub(super) struct Kept<'n> {
    /// Its place in the input.
    pub source: usize,
    pub day: NaiveDate,
    pub time: Option<NaiveTime>,
    pub mark: Mark,
    pub clauses: Vec<Clause>,
    pub features: Features,
    pub change: Change,
    pub topic: Option<Topic>,
    /// Only tried on the way, or what is left beside a secret.
    pub slight: bool,
    pub vector: Option<&'n [f32]>,
    pub uses: u32,
    pub for_ever: bool,
    pub durable: bool,
    /// Routine, but for the trouble it tells.
    pub routine: bool,
    /// A task that is not done.
    pub open: bool,
    /// A long line of independent clauses.
    pub loose: bool,
    pub ends: Option<NaiveDate>,
}

/// What was gathered, in the order of time.
#[derive(Debug, Default)]
pub(super) struct Gathered<'n> {
    pub kept: Vec<Kept<'n>>,
    /// Entries that were too many to be compared.
    pub left_out: usize,
    pub chinese: bool,
}

pub(super) fn gather<'n>(week: Week, notes: &[Noted<'n>]) -> Gathered<'n> {
    let of_week = |noted: &Noted| noted.entry.day.is_some_and(|day| week.holds(day));
    let mine: Vec<(usize, Noted)> =
        notes.iter().copied().enumerate().filter(|(_, noted)| of_week(noted)).collect();
    let contents = || mine.iter().map(|(_, noted)| noted.entry.content.as_str());
    let speakers = statement::speakers(contents());
    let often = said_often(&mine);
    let chinese = contents().filter(|content| Language::of(content) == Language::Chinese).count();
    let mut kept: Vec<Kept> = mine
        .iter()
        .filter(|(_, noted)| noted.entry.mark == Mark::User || !often.contains(&bare(noted)))
        .filter_map(|(source, noted)| keep(*source, noted, &speakers))
        .filter(|kept| kept.ends.is_none_or(|end| end > week.sunday()))
        .collect();
    let left_out = kept.len().saturating_sub(MAX_ENTRIES);
    if left_out > 0 {
        kept.sort_by_key(|kept| {
            (kept.mark != Mark::User, kept.routine, !kept.durable, !kept.features.is_specific(), kept.source)
        });
        kept.truncate(MAX_ENTRIES);
    }
    kept.sort_by_key(|kept| (kept.day, kept.time.unwrap_or_default(), kept.source));
    Gathered { kept, left_out, chinese: 2 * chinese >= mine.len() }
}

/// What was said in the same words on many days.
fn said_often(mine: &[(usize, Noted)]) -> BTreeSet<String> {
    let mut days: BTreeMap<String, BTreeSet<NaiveDate>> = BTreeMap::new();
    for (_, noted) in mine {
        days.entry(bare(noted)).or_default().extend(noted.entry.day);
    }
    days.into_iter().filter(|(_, days)| days.len() >= ROUTINE_DAYS).map(|(content, _)| content).collect()
}

/// What an entry says, whatever session and marks stand around it.
fn bare(noted: &Noted) -> String {
    statement::join(&statement::clauses(noted.entry.content.as_str(), &[]))
}

fn keep<'n>(source: usize, noted: &Noted<'n>, speakers: &[String]) -> Option<Kept<'n>> {
    let entry = noted.entry;
    let content: String = entry.content.as_str().chars().take(MAX_ENTRY_CHARS).collect();
    let context = entry.context.as_str();
    let day = entry.day?;
    let said = statement::unmarked(&content);
    let worth = worth::judge(said, context);
    // What is left beside a secret is not what was asked for.
    let secret = content.contains(PLACEHOLDER_START);
    let asks = !secret && (entry.mark == Mark::User || worth::is_asked_for(said, context));
    let asked = asks && worth != Worth::ToolOutput;
    if worth != Worth::Keep && !asked {
        return None;
    }
    let routine = worth::is_of_routine(said)
        || worth::is_of_routine(context)
        || entry.importance == Importance::ROUTINE;
    let mut clauses = statement::clauses(&content, speakers);
    if routine {
        clauses.retain(|clause| !worth::is_of_routine(&clause.text) || worth::tells_of_trouble(&clause.text));
    }
    if clauses.is_empty() {
        return None;
    }
    lead_with_heading(&content, context, &mut clauses);
    let text = statement::join(&clauses);
    let (mut features, change) = (Features::of(&text), Change::of(&text));
    features.anchors.retain(|anchor| !change.old.contains(anchor));
    let (topic, durable) = (worth::topic(&content, context), worth::is_durable(&content));
    Some(Kept {
        source,
        day,
        time: entry.time,
        mark: if asks && entry.mark != Mark::Sync {
            Mark::User
        } else if secret {
            Mark::None
        } else {
            entry.mark
        },
        features,
        change,
        topic,
        slight: secret || worth::is_on_the_way(context),
        vector: noted.vector,
        uses: noted.uses,
        for_ever: worth::is_for_ever(&content),
        durable,
        routine,
        open: content.starts_with("[ ]"),
        loose: content.lines().count() == 1 && content.chars().count() > LOOSE_CHARS,
        ends: end_of(&content, day),
        clauses,
    })
}

/// A block of `key: value` lines says nothing without its heading.
fn lead_with_heading(content: &str, context: &str, clauses: &mut [Clause]) {
    let keyed = content.lines().count() > 1 && content.starts_with("**");
    let heading = context.rsplit(" / ").next().filter(|heading| keyed && !heading.is_empty());
    if let (Some(heading), Some(first)) = (heading, clauses.first_mut()) {
        let colon = if heading.is_ascii() { ": " } else { "：" };
        first.text = format!("{heading}{colon}{}", first.text);
    }
}
