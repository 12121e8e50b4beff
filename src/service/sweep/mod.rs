//! The weekly sweep: what matters little and was long not used goes, in one transaction with its words and vectors.
//!
//! The user's files stay as they are; tombstones keep what they still hold from coming back. What has an end leaves
//! recall at its end and goes by the same rule as the rest, so that nothing is deleted before its time.

use chrono::{Days, NaiveDate, NaiveTime};

use crate::clock::Clock;
use crate::fault;
use crate::memory::{Importance, Memory, MemoryId, Scope};
use crate::store::{Cutoffs, Reader, Store, StoreError, Why, Writer};

/// Days after which a summary of a conversation has had its time: its week's page says the same shorter.
pub const SUMMARY_DAYS: u32 = 30;

/// A sweep that would take more than one memory in so many waits for a person.
const SHARE: u64 = 5;

/// What kept a sweep from being done.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The database; nothing was deleted then.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// How to sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct How {
    /// Days without use after which what matters little goes (`forgetting.unused_days`).
    pub unused_days: u32,
    /// Only says what would go.
    pub dry_run: bool,
    /// Goes on although it is more than a fifth of everything.
    pub accept: bool,
    /// Whether the clock is believed. Nobody can accept away that it is not.
    pub clock_believed: bool,
}

/// Why a sweep waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// The clock is not believed, and what is old is told by the clock.
    Clock,
    /// More than a fifth of everything would go at once.
    TooMuch,
}

/// What a sweep let go, or would let go.
#[derive(Debug, Clone, PartialEq)]
pub struct Swept {
    /// The memories, the longest kept first, and why each goes.
    pub memories: Vec<(Memory, Why)>,
    /// How many memories the user had.
    pub of: u64,
    /// Why it waits, if it does; also told by a dry run.
    pub held: Option<Held>,
    /// Whether they are gone: false for a dry run, and while it waits.
    pub done: bool,
}

/// Sweeps the memories of one user, all or nothing.
///
/// # Errors
/// [`SweepError::Store`]; nothing was deleted then.
pub async fn sweep(store: &Store, clock: &Clock, scope: &Scope, how: How) -> Result<Swept, SweepError> {
    let (of, cutoffs) = (scope.clone(), cutoffs(clock, how));
    let swept = if how.dry_run {
        store.read(move |reader| select(reader, &of, &cutoffs, how)).await?
    } else {
        let delete = move |writer: &Writer<'_>| {
            let mut swept = select(writer, &of, &cutoffs, how)?;
            if swept.held.is_some() {
                return Ok(swept);
            }
            writer.mend_stamps(&of, cutoffs.now)?;
            let ids: Vec<MemoryId> = swept.memories.iter().map(|(memory, _)| memory.id.clone()).collect();
            fault::point("sweep.selected");
            writer.forget(&of, &ids)?;
            fault::point("sweep.forgotten");
            swept.done = true;
            Ok(swept)
        };
        store.write(delete).await?
    };
    if swept.done && !swept.memories.is_empty() {
        fault::point("sweep.committed");
        super::forget::leave_the_disk(store).await;
        fault::point("sweep.compacted");
    }
    Ok(swept)
}

/// What would go, and whether that waits: the same for a dry run and for the deed.
fn select(reader: &Reader<'_>, scope: &Scope, cutoffs: &Cutoffs, how: How) -> Result<Swept, StoreError> {
    let memories = reader.to_sweep(scope, cutoffs)?;
    let of = reader.counts(scope)?.memories;
    let too_much = memories.len() as u64 * SHARE > of;
    let held = match (how.clock_believed, too_much && !how.accept) {
        (false, _) => Some(Held::Clock),
        (true, true) => Some(Held::TooMuch),
        (true, false) => None,
    };
    Ok(Swept { memories, of, held, done: false })
}

/// The rules of forgetting, counted in days of the user's calendar.
fn cutoffs(clock: &Clock, how: How) -> Cutoffs {
    let days_ago = |days: u32| {
        let day = clock.today().checked_sub_days(Days::new(u64::from(days))).unwrap_or(NaiveDate::MIN);
        clock.instant(day.and_time(NaiveTime::MIN))
    };
    Cutoffs {
        now: clock.now(),
        unused: days_ago(how.unused_days),
        below: Importance::NORMAL,
        summaries: days_ago(SUMMARY_DAYS),
    }
}

#[cfg(test)]
mod tests;
