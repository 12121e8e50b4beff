//! What says the same becomes one statement, and what no longer holds leaves it.

use std::collections::BTreeSet;

use chrono::NaiveDate;

use super::gather::{Gathered, Kept};
use crate::memory::Mark;
use crate::memory::statement::{self, Change, Clause, Features, Likeness, Replaced};
use crate::memory::worth::{self, Topic};

/// Two groups become one where their members are on average so much alike.
const GROUPS_ALIKE: f64 = 0.75;

/// Statements in the making.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub drafts: Vec<Draft>,
    pub archive: Vec<(NaiveDate, String)>,
}

/// A statement as clauses that may still be cut.
#[derive(Debug)]
pub(super) struct Draft {
    pub clauses: Vec<Clause>,
    pub topic: Topic,
    pub day: NaiveDate,
    pub mark: Mark,
    pub for_ever: bool,
    pub durable: bool,
    pub routine: bool,
    /// Nothing tells what it is about, or it is slight.
    pub doubtful: bool,
    /// Whether it names or numbers anything.
    pub specific: bool,
    /// A task that is not done.
    pub open: bool,
    /// A long line of independent clauses: its first need not stay.
    pub loose: bool,
    pub uses: u32,
    pub ends: Option<NaiveDate>,
    pub sources: Vec<usize>,
}

pub(super) fn merge(gathered: &Gathered) -> Merged {
    let kept = &gathered.kept;
    let changes: Vec<Change> = kept.iter().map(|kept| kept.change.clone()).collect();
    let replaced = statement::replaced(&changes);
    let features = kept.iter().map(|kept| &kept.features).collect();
    let likeness = Likeness::new(features, kept.iter().map(|kept| kept.vector).collect());
    let mut merged = Merged::default();
    let present: Vec<bool> =
        kept.iter().enumerate().map(|(at, kept)| !is_past(at, kept, &replaced)).collect();
    for group in groups(&present, &likeness) {
        let members: Vec<(usize, &Kept)> =
            group.iter().filter_map(|at| Some((*at, kept.get(*at)?))).collect();
        // What is only repeated from long-term memory is there already.
        if members.iter().all(|(_, kept)| kept.mark == Mark::Sync) {
            continue;
        }
        compose(&members, &replaced, gathered.chinese, &mut merged);
    }
    merged
}

/// Groups of the places of statements that say the same, each in the order of time.
///
/// What is past stays by itself: it says another thing than its successor.
fn groups(present: &[bool], likeness: &Likeness) -> Vec<Vec<usize>> {
    let count = present.len();
    let places: Vec<usize> = (0..count).filter(|at| present.get(*at) == Some(&true)).collect();
    let mut group_of: Vec<usize> = (0..count).collect();
    let mut groups: Vec<Vec<usize>> = (0..count).map(|at| vec![at]).collect();
    for (a, b) in likeness.pairs(&places) {
        let (Some(&one), Some(&other)) = (group_of.get(a), group_of.get(b)) else { continue };
        if one == other || !fit_together(groups.get(one), groups.get(other), likeness) {
            continue;
        }
        let moved = groups.get_mut(other).map(std::mem::take).unwrap_or_default();
        for at in &moved {
            if let Some(group) = group_of.get_mut(*at) {
                *group = one;
            }
        }
        if let Some(group) = groups.get_mut(one) {
            group.extend(moved);
            group.sort_unstable();
        }
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// Whether a statement begins with what a later one made untrue.
fn is_past(at: usize, kept: &Kept, replaced: &[Replaced]) -> bool {
    let first = kept.clauses.first();
    first.is_some_and(|clause| {
        let mut later = replaced.iter().filter(|replaced| replaced.by > at);
        later.any(|replaced| replaced.is_said_by(&clause.text, &kept.features.words))
    })
}

/// Whether no member of one group is another thing than a member of the other, and they are alike on average.
fn fit_together(one: Option<&Vec<usize>>, other: Option<&Vec<usize>>, likeness: &Likeness) -> bool {
    let (Some(one), Some(other)) = (one, other) else { return false };
    let mut sum = 0.0;
    for a in one {
        for b in other {
            match likeness.score(*a, *b) {
                Some(score) => sum += score.min(1.0),
                None => return false,
            }
        }
    }
    sum / (one.len() * other.len()) as f64 >= GROUPS_ALIKE
}

/// One statement of the members, which stand in the order of time.
fn compose(members: &[(usize, &Kept)], replaced: &[Replaced], chinese: bool, merged: &mut Merged) {
    let mut current: Vec<(&Kept, Vec<Clause>)> = Vec::new();
    for (at, kept) in members {
        let is_old = |clause: &Clause| {
            let later = replaced.iter().filter(|replaced| replaced.by > *at);
            later.into_iter().any(|replaced| replaced.is_said_by(&clause.text, &kept.features.words))
        };
        let (old, holds): (Vec<Clause>, Vec<Clause>) = kept.clauses.iter().cloned().partition(is_old);
        if !old.is_empty() && !is_told_by_a_change(*at, &old, replaced, kept) {
            merged.archive.push((kept.day, statement::join(&kept.clauses)));
        }
        if !holds.is_empty() {
            current.push((kept, holds));
        }
    }
    let head =
        current.iter().enumerate().max_by_key(|(at, (kept, clauses))| (telling(kept, clauses, chinese), *at));
    let Some((head_at, (head, clauses))) = head else { return };
    let past: BTreeSet<&String> = replaced.iter().map(|replaced| &replaced.old).collect();
    let mut clauses = clauses.clone();
    for (_, (_, more)) in current.iter().enumerate().rev().filter(|(at, _)| *at != head_at) {
        append(&mut clauses, more, &past);
    }
    if let Some(draft) = draft(&current, clauses, head.topic) {
        merged.drafts.push(draft);
    }
}

/// Whether the change that made these clauses old names the old value itself, so that nothing is left to archive.
fn is_told_by_a_change(at: usize, old: &[Clause], replaced: &[Replaced], kept: &Kept) -> bool {
    old.iter().all(|clause| {
        let by_it = |replaced: &&Replaced| {
            replaced.by > at && replaced.told && replaced.is_said_by(&clause.text, &kept.features.words)
        };
        replaced.iter().any(|replaced| by_it(&replaced))
    })
}

/// How much a member tells: the one that tells most says it for all.
fn telling(kept: &Kept, clauses: &[Clause], chinese: bool) -> usize {
    let lasting = clauses.iter().filter(|clause| worth::is_durable(&clause.text)).count();
    let asked = 3 * usize::from(kept.mark == Mark::User || kept.for_ever);
    let own_language = 2 * usize::from(kept.features.chinese == chinese);
    let values = Features::of(&statement::join(clauses)).values().count();
    2 * usize::from(kept.change.explicit) + lasting + asked + own_language + values
}

/// Appends the clauses that say something beyond what is told; their old values are no news.
fn append(clauses: &mut Vec<Clause>, more: &[Clause], past: &BTreeSet<&String>) {
    let mut told = Features::of(&statement::join(clauses));
    let mut follows = false;
    for clause in more {
        let mut said = Features::of(&clause.text);
        said.numbers.retain(|value| !past.contains(value));
        said.names.retain(|value| !past.contains(value));
        let adds = adds(&said, &told);
        if adds {
            if let Some(last) = clauses.last_mut().filter(|_| !follows) {
                last.joint.clear();
            }
            clauses.push(clause.clone());
            told = Features::of(&statement::join(clauses));
        }
        follows = adds;
    }
}

/// Whether a clause says something beyond what is told: a number or a name.
fn adds(said: &Features, told: &Features) -> bool {
    let known = |value: &String| {
        told.numbers.contains(value) || told.names.contains(value) || told.words.contains(value)
    };
    let news = |values: &BTreeSet<String>| values.iter().any(|value| !known(value));
    let shared = said.words.intersection(&told.words).count();
    // What says mostly the same adds a number, hardly a name.
    news(&said.numbers) || (news(&said.names) && 2 * shared < said.words.len())
}

fn draft(current: &[(&Kept, Vec<Clause>)], clauses: Vec<Clause>, head: Option<Topic>) -> Option<Draft> {
    let kept = || current.iter().map(|(kept, _)| *kept);
    let days: BTreeSet<NaiveDate> = kept().map(|kept| kept.day).collect();
    let marks = |mark| kept().any(|kept| kept.mark == mark);
    let mark = [Mark::User, Mark::Auto].into_iter().find(|mark| marks(*mark)).unwrap_or_default();
    // What only went on is told by what it went on with.
    let telling = head.filter(|topic| *topic != Topic::Projects);
    let others = kept().filter_map(|kept| kept.topic).find(|topic| *topic != Topic::Projects);
    let topic = telling.or(others).or(head);
    let specific = Features::of(&statement::join(&clauses)).is_specific();
    // What no cue speaks for, what names nothing and was said once, is talk.
    if topic.is_none()
        && !specific
        && mark != Mark::User
        && current.len() == 1
        && !kept().any(|kept| kept.durable)
    {
        return None;
    }
    Some(Draft {
        specific,
        clauses,
        topic: topic.unwrap_or(Topic::Projects),
        doubtful: topic.is_none() || kept().all(|kept| kept.slight),
        day: *days.last()?,
        mark,
        for_ever: kept().any(|kept| kept.for_ever),
        durable: kept().any(|kept| kept.durable),
        routine: kept().all(|kept| kept.routine),
        open: kept().all(|kept| kept.open),
        loose: kept().any(|kept| kept.loose),
        uses: kept().map(|kept| kept.uses).sum::<u32>().max(days.len() as u32),
        ends: kept().filter_map(|kept| kept.ends).max(),
        sources: kept().map(|kept| kept.source).collect(),
    })
}
