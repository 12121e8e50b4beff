//! Forgetting on request: rows, words and vectors go, and a tombstone keeps the same entry of the same file away. What is
//! forgotten is chosen here for [`super::clear`] too.

use chrono::NaiveDate;

use crate::memory::{Memory, MemoryId, Scope};
use crate::store::{Filter, Store, StoreError};

/// At most this many memories are forgotten at once; a person can look through no more.
pub const MAX_AT_ONCE: usize = 1_000;

/// What is to be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Which {
    /// These.
    Ids(Vec<MemoryId>),
    /// Everything of a day.
    Day(NaiveDate),
    /// Everything of the days before this one; what belongs to no day stays.
    Before(NaiveDate),
}

/// What kept memories from being forgotten.
#[derive(Debug, thiserror::Error)]
pub enum ForgetError {
    /// An id that names no memory of the user.
    #[error("there is no memory {0}; nothing was forgotten")]
    NotFound(MemoryId),
    /// More than may go at once.
    #[error(
        "at most {0} memories are forgotten at once: choose fewer, such as an earlier day. Nothing was forgotten"
    )]
    TooMany(usize),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The memories that `which` names, without forgetting them.
///
/// # Errors
/// [`ForgetError`].
pub async fn preview(store: &Store, scope: &Scope, which: Which) -> Result<Vec<Memory>, ForgetError> {
    select(store, scope, which, MAX_AT_ONCE).await
}

/// The memories that `which` names, if they are no more than `most`; newest day first, or by id where ids are named.
pub(super) async fn select(
    store: &Store,
    scope: &Scope,
    which: Which,
    most: usize,
) -> Result<Vec<Memory>, ForgetError> {
    let scope = scope.clone();
    let days = |from, to| Filter { from, to, ..Filter::default() };
    let filter = match &which {
        Which::Day(day) => days(Some(*day), Some(*day)),
        Which::Before(day) => days(None, Some(day.pred_opt().unwrap_or(*day))),
        Which::Ids(_) => Filter::default(),
    };
    let found = match which {
        Which::Day(_) | Which::Before(_) => {
            store.read(move |reader| reader.list(&scope, &filter, most + 1, 0)).await?
        }
        Which::Ids(ids) if ids.len() > most => return Err(ForgetError::TooMany(most)),
        Which::Ids(mut ids) => {
            ids.sort();
            ids.dedup();
            let mut found = Vec::new();
            for id in ids {
                let (scope, wanted) = (scope.clone(), id.clone());
                let memory = store.read(move |reader| reader.get(&scope, &wanted)).await?;
                found.push(memory.ok_or(ForgetError::NotFound(id))?);
            }
            found
        }
    };
    if found.len() > most {
        Err(ForgetError::TooMany(most))
    } else {
        Ok(found.into_iter().map(|(_, m)| m).collect())
    }
}

/// Forgets these memories for good; a checkpoint then takes their words off the disk.
///
/// # Errors
/// [`ForgetError::Store`]; then nothing was forgotten.
pub async fn forget(store: &Store, scope: &Scope, memories: &[Memory]) -> Result<usize, ForgetError> {
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id.clone()).collect();
    let scope = scope.clone();
    let forgotten = store.write(move |writer| writer.forget(&scope, &ids)).await?;
    leave_the_disk(store).await;
    Ok(forgotten)
}

/// Takes the words of what was forgotten off the disk, as far as nobody reads them at this moment.
pub(super) async fn leave_the_disk(store: &Store) {
    if !matches!(store.compact().await, Ok(true)) {
        tracing::warn!("what was forgotten leaves the database's log at the next comparison only");
    }
}
