//! Forgetting on request: rows, words and vectors go, and a tombstone keeps the same entry of the same file away.

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
}

/// What kept memories from being forgotten.
#[derive(Debug, thiserror::Error)]
pub enum ForgetError {
    /// An id that names no memory of the user.
    #[error("there is no memory {0}; nothing was forgotten")]
    NotFound(MemoryId),
    /// More than [`MAX_AT_ONCE`].
    #[error("at most {MAX_AT_ONCE} memories are forgotten at once; choose fewer. Nothing was forgotten")]
    TooMany,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The memories that `which` names, without forgetting them.
///
/// # Errors
/// [`ForgetError`].
pub async fn preview(store: &Store, scope: &Scope, which: Which) -> Result<Vec<Memory>, ForgetError> {
    let scope = scope.clone();
    let found = match which {
        Which::Day(day) => {
            let filter = Filter { from: Some(day), to: Some(day), ..Filter::default() };
            store.read(move |reader| reader.list(&scope, &filter, MAX_AT_ONCE + 1, 0)).await?
        }
        Which::Ids(ids) if ids.len() > MAX_AT_ONCE => return Err(ForgetError::TooMany),
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
    if found.len() > MAX_AT_ONCE {
        Err(ForgetError::TooMany)
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
