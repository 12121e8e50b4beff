//! What of the notes becomes long-term memory: the managed block of `MEMORY.md`.
//!
//! [`promote`] chooses by four rules (asked for for ever; used on three days or in three sessions; core configuration,
//! preference or identity; a final conclusion), keeps the latest state of each thing, and stays within a budget. It
//! reads the user's own part of the file and never writes there.

mod block;
mod choose;
#[cfg(test)]
mod tests;

use chrono::NaiveDate;

use super::Mark;
use super::rollup::{Statement, end_of, is_dated};
use super::worth::{self, Topic, Worth};
use block::Held;

/// What the block may hold, in characters, unless configured otherwise.
pub const DEFAULT_BUDGET: usize = 6_000;
/// Used on so many separate days or in so many sessions, a statement is worth remembering.
pub const OFTEN: u32 = 3;

/// A statement that may become long-term memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// What it says and what is known of it.
    pub statement: Statement,
    /// Where it came from: a week (`2026-W46`) or a day.
    pub from: String,
}

/// `MEMORY.md` as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Existing<'m> {
    /// Everything outside of the managed block: the user's.
    pub own: &'m str,
    /// What stands between the block's markers.
    pub block: &'m str,
}

/// Two lines that cannot both hold, of which neither clearly wins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Doubt {
    /// What stays.
    pub kept: String,
    /// What contradicts it.
    pub against: String,
}

/// What becomes of the block.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Promotion {
    /// What stands between the markers from now on.
    pub block: String,
    /// Lines that left the block, or that never reached it because something newer holds.
    pub archived: Vec<String>,
    /// What was added, for the `[SYNC]` section of the day's note.
    pub synced: Vec<String>,
    /// What is unclear.
    pub doubts: Vec<Doubt>,
}

/// Works `lines` into the block, as of `today`, within `budget` characters.
///
/// The order of `lines` means nothing: the day of each decides what is newer, and what is dated after `today` waits.
/// Given the same lines again, the block stays as it is.
pub fn promote(lines: &[Line], existing: &Existing, today: NaiveDate, budget: usize) -> Promotion {
    let held = block::read(existing.block, today);
    let mut candidates: Vec<Held> = lines
        .iter()
        .filter(|line| line.statement.day <= today && is_promoted(&line.statement))
        .map(Held::of)
        .collect();
    candidates.sort_by(|a, b| (a.day, &a.text).cmp(&(b.day, &b.text)));
    let mut promotion = Promotion::default();
    let mut lines = choose::settle(held, candidates, existing.own, &mut promotion);
    choose::fit(&mut lines, budget, &mut promotion);
    promotion.synced = lines.iter().filter(|line| line.is_new).map(|line| line.text.clone()).collect();
    promotion.block = block::write(&lines, existing);
    promotion
}

/// Whether an entry is promoted at once: asked for for ever, or asked for and about configuration, a preference or who
/// somebody is. The rest waits for Sunday.
pub fn is_promoted_at_once(content: &str, context: &str, mark: Mark, day: NaiveDate) -> bool {
    if end_of(content, day).is_some()
        || (is_dated(content) && !worth::is_for_ever(content))
        || worth::judge(content, context) == Worth::ToolOutput
    {
        return false;
    }
    let core = matches!(worth::topic(content, context), Some(Topic::Configuration | Topic::People));
    worth::is_for_ever(content) || (mark == Mark::User && core && !worth::is_of_routine(content))
}

/// The four rules.
fn is_promoted(statement: &Statement) -> bool {
    let text = &statement.text;
    if statement.ends.is_some() || worth::is_of_routine(text) {
        return false;
    }
    let passing = statement.topic == Topic::Plans || (is_dated(text) && !worth::is_lasting(text));
    let core = matches!(statement.topic, Topic::Configuration | Topic::People | Topic::Decisions);
    let asked = statement.mark == Mark::User;
    statement.for_ever || (!passing && (asked || core || worth::is_lasting(text) || statement.uses >= OFTEN))
}
