//! Which lines hold: what is said already, what is newer, what is unclear, what has room.

use super::block::Held;
use super::{Doubt, Promotion};
use crate::memory::statement::{self, Change, Features, Likeness};
use crate::memory::worth::Topic;

/// So much of a line's words stand in another that says it already.
const SAID: f64 = 0.7;
/// So much of an old line's words stand in a new one that only says more words.
const CONTAINED: f64 = 0.85;

/// The lines of the block after `candidates`, which stand in the order of time.
pub(super) fn settle(
    held: Vec<Held>,
    candidates: Vec<Held>,
    own: &str,
    promotion: &mut Promotion,
) -> Vec<Held> {
    let own: Vec<Features> = own.lines().filter(|line| is_statement(line)).map(Features::of).collect();
    let mut lines = held;
    for candidate in candidates {
        let known: Vec<&Features> = lines.iter().map(|line| &line.features).chain(&own).collect();
        if is_said(&known, &candidate.features) {
            continue;
        }
        if let Some(newer) = lines.iter().find(|line| line.day > candidate.day && replaces(line, &candidate))
        {
            promotion.archived.push(format!("{} → {}", candidate.text, newer.text));
            continue;
        }
        let mut unclear = false;
        let (gone, stays): (Vec<Held>, Vec<Held>) = lines.into_iter().partition(|line| {
            let contradicted = line.day <= candidate.day && replaces(&candidate, line);
            // A change that names what it replaces is clear; else what the user asked for stays.
            let wins = candidate.asked || !line.asked || names_old(&candidate, line);
            unclear |= contradicted && !wins;
            contradicted && wins
        });
        promotion
            .archived
            .extend(gone.iter().map(|line| line.line().trim_start_matches("- ").trim().to_owned()));
        lines = stays;
        if unclear {
            let kept = lines.iter().find(|line| replaces(&candidate, line)).map(|line| line.text.clone());
            promotion.doubts.push(Doubt { kept: kept.unwrap_or_default(), against: candidate.text });
            continue;
        }
        lines.push(candidate);
    }
    lines
}

/// Takes out the least important lines until the rest has room; what the user asked for stays.
pub(super) fn fit(lines: &mut Vec<Held>, budget: usize, promotion: &mut Promotion) {
    let chars = |lines: &[Held]| -> usize { lines.iter().map(|line| line.line().chars().count()).sum() };
    while chars(lines) > budget {
        let least = lines.iter().enumerate().filter(|(_, line)| !line.asked).min_by_key(|(at, line)| {
            let kind = match line.topic {
                Topic::People => 3,
                Topic::Configuration | Topic::Decisions => 2,
                Topic::Projects => 1,
                Topic::Fixes | Topic::Plans => 0,
            };
            (kind, line.uses, line.day, *at)
        });
        let Some((at, _)) = least else { return };
        let line = lines.remove(at);
        if !line.is_new {
            promotion.archived.push(line.line().trim_start_matches("- ").trim().to_owned());
        }
    }
}

fn is_statement(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty() && !line.starts_with('#') && !line.starts_with("<!--")
}

/// Whether one of `known` says what `new` says: nothing new is numbered or named, and the words of one lie in the other.
fn is_said(known: &[&Features], new: &Features) -> bool {
    let all: Vec<&Features> = known.iter().copied().chain([new]).collect();
    let likeness = Likeness::new(all, Vec::new());
    known.iter().enumerate().any(|(at, old)| {
        let news = new.values().any(|value| !old.numbers.contains(value) && !holds(old, value));
        let (within, contained) = (likeness.share(known.len(), at), likeness.share(at, known.len()));
        // One says, the other denies: only where they say little else, since a denial may stand in another clause.
        let denied = old.negated != new.negated && within.min(contained) >= SAID;
        !news && !denied && old.words.len() >= 2 && (within >= SAID || contained >= CONTAINED)
    })
}

fn holds(features: &Features, value: &str) -> bool {
    features.names.contains(value) || features.words.contains(value)
}

/// Whether `newer` makes `older` untrue, as a whole or by one of its clauses.
fn replaces(newer: &Held, older: &Held) -> bool {
    let parts = statement::clauses(&newer.text, &[]);
    let clauses = parts.iter().filter(|_| parts.len() > 1).map(|clause| Change::of(&clause.text));
    clauses.chain([newer.change.clone()]).any(|change| {
        let listed = statement::replaced(&[older.change.clone(), change]);
        let mut by_newer = listed.iter().filter(|replaced| replaced.by == 1);
        by_newer.any(|replaced| replaced.is_said_by(&older.text, &older.features.words))
    }) || is_other_state(newer, older)
}

/// Whether both say how one and the same thing is, with other numbers.
fn is_other_state(newer: &Held, older: &Held) -> bool {
    newer.change.subject == older.change.subject
        && newer.change.is_about(&older.change)
        && numeric(newer)
        && numeric(older)
        && newer.change.new.is_disjoint(&older.change.new)
}

fn numeric(line: &Held) -> bool {
    line.change.new.iter().any(|value| value.contains(|c: char| c.is_ascii_digit()))
}

fn names_old(newer: &Held, older: &Held) -> bool {
    newer.change.old.iter().any(|old| older.features.values().any(|value| value == old))
}
