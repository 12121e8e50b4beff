//! Looking at memories by their names and properties.

use crate::clock::Clock;
use crate::memory::{Memory, MemoryId, Scope};
use crate::store::{Filter, Store, StoreError};

/// What kept one memory from being shown.
#[derive(Debug, thiserror::Error)]
pub enum GetError {
    /// No memory of the user has that id or begins with it.
    #[error("there is no memory {0}")]
    NotFound(String),
    /// The prefix names several.
    #[error("{0} names more than one memory; type more of the id")]
    Ambiguous(String),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The memory with that id, or the only one whose id begins so; `mem_` may be left out.
///
/// # Errors
/// [`GetError`].
pub async fn get(store: &Store, scope: &Scope, id: &str) -> Result<Memory, GetError> {
    let asked = id.trim();
    let prefix = if asked.starts_with("mem_") { asked.to_owned() } else { format!("mem_{asked}") };
    if asked.is_empty() || prefix == "mem_" {
        return Err(GetError::NotFound(id.to_owned()));
    }
    let scope = scope.clone();
    let mut found = store.read(move |reader| reader.find_by_prefix(&scope, &prefix, 2)).await?.into_iter();
    match (found.next(), found.next()) {
        (Some((_, memory)), None) => Ok(memory),
        (None, _) => Err(GetError::NotFound(id.to_owned())),
        (Some(_), Some(_)) => Err(GetError::Ambiguous(id.to_owned())),
    }
}

/// A page of the memories that pass the filter, the newest day first, and whether more follow.
///
/// # Errors
/// What the store says.
pub async fn list(
    store: &Store,
    scope: &Scope,
    filter: Filter,
    limit: usize,
    offset: usize,
) -> Result<(Vec<Memory>, bool), StoreError> {
    let scope = scope.clone();
    let listed = store.read(move |reader| reader.list(&scope, &filter, limit + 1, offset)).await?;
    let more = listed.len() > limit;
    Ok((listed.into_iter().take(limit).map(|(_, memory)| memory).collect(), more))
}

/// Notes that these memories were given to the agent: an access each, once a session and day.
///
/// # Errors
/// What the store says. The answer itself does not depend on it.
pub async fn touch(
    store: &Store,
    scope: &Scope,
    ids: Vec<MemoryId>,
    session: Option<String>,
    clock: &Clock,
) -> Result<(), StoreError> {
    let (scope, day, now) = (scope.clone(), clock.today(), clock.now());
    store.write(move |writer| writer.touch(&scope, &ids, session.as_deref(), day, now)).await
}
