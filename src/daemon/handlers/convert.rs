//! Between the socket's types and the library's.

use crate::memory::preview::preview;
use crate::memory::scope::IdError;
use crate::memory::{Audience, Memory, Scope, UserId};
use crate::service::flush::FlushError;
use crate::service::forget::ForgetError;
use crate::service::ingest::IngestError;
use crate::service::look::GetError;
use crate::service::page::PageError;
use crate::service::recall::RecallError;
use crate::service::remember::RememberError;
use crate::service::sweep::SweepError;
use crate::service::week::WeekError;
use crate::store::{Message, StoreError};
use crate::wire::methods::{Item, ItemSource};
use crate::wire::turn::Recent;
use crate::wire::{Error, ErrorKind, MAX_TEXT_CHARS};
use crate::workspace::WorkspaceError;

/// The scope a request names.
pub fn scope(user: &str, audience: Audience) -> Result<Scope, Error> {
    let user = UserId::new(user).map_err(|error: IdError| invalid("user", error))?;
    Ok(Scope::new(user, audience))
}

/// An error about one parameter.
pub fn invalid(field: &str, reason: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::InvalidParams, format!("params.{field}: {reason}"))
}

/// Refuses a text that is longer than a request may carry.
pub fn bounded<'t>(field: &str, text: &'t str) -> Result<&'t str, Error> {
    let chars = text.chars().count();
    if chars > MAX_TEXT_CHARS {
        return Err(invalid(field, format!("at most {MAX_TEXT_CHARS} characters, these are {chars}")));
    }
    Ok(text)
}

/// A number within its range, or the default.
pub fn within(
    field: &str,
    value: Option<u32>,
    default: u32,
    range: std::ops::RangeInclusive<u32>,
) -> Result<usize, Error> {
    let value = value.unwrap_or(default);
    if !range.contains(&value) {
        return Err(invalid(field, format!("{} to {}, not {value}", range.start(), range.end())));
    }
    Ok(value as usize)
}

/// The longest id that a host gives to a session, a turn or a message, in characters.
const MAX_HOST_ID_CHARS: usize = 256;

/// An id as the host made it: hosts put slashes and colons into them.
pub fn host_id(field: &str, id: String) -> Result<String, Error> {
    if id.is_empty() || id.chars().count() > MAX_HOST_ID_CHARS || id.contains(char::is_control) {
        let rule = format!("1 to {MAX_HOST_ID_CHARS} characters, none of them a control character");
        return Err(invalid(field, rule));
    }
    Ok(id)
}

/// A session's id, if one is named.
pub fn session(session: Option<String>) -> Result<Option<String>, Error> {
    session.map(|id| host_id("session", id)).transpose()
}

/// A message of a session as answers show it.
pub fn recent(message: Message) -> Recent {
    Recent { role: message.role, content: message.content, at: message.at }
}

/// A memory as answers show it.
pub fn item(memory: Memory) -> Item {
    Item {
        source: source(&memory),
        id: memory.id,
        content: memory.content,
        context: memory.context,
        kind: memory.kind,
        mark: memory.mark,
        importance: memory.importance,
        day: memory.day,
        time: memory.time,
        session: memory.session,
        created_at: memory.created_at,
        expires_at: memory.expires_at,
        access_count: memory.access_count,
    }
}

/// Memories on one page of a list that may be long, and whether more follow.
pub fn page(memories: Vec<Memory>, offset: u32) -> (Vec<Item>, bool) {
    /// So many, each cut at so many characters, stay below the limit of a message.
    const ITEMS: usize = 200;
    const CHARS: usize = 200;
    let mut rest = memories.into_iter().skip(offset as usize);
    let items = rest.by_ref().take(ITEMS).map(item);
    let items = items.map(|item| Item {
        content: preview(&item.content, CHARS),
        context: preview(&item.context, CHARS),
        ..item
    });
    (items.collect(), rest.next().is_some())
}

/// Where a memory was read from, as answers show it.
pub fn source(memory: &Memory) -> Option<ItemSource> {
    memory.source.as_ref().map(|source| ItemSource {
        workspace: source.workspace.clone(),
        file: source.file.clone(),
        lines: source.lines,
    })
}

/// A store's error for the client.
pub fn store(error: StoreError) -> Error {
    let kind = match error {
        StoreError::Full => ErrorKind::StorageFull,
        StoreError::Closed => ErrorKind::ShuttingDown,
        _ => ErrorKind::Storage,
    };
    Error::new(kind, error.to_string())
}

/// An error of recall, for the client.
pub fn recall(error: RecallError) -> Error {
    match error {
        RecallError::Store(error) => store(error),
    }
}

/// An error of taking notes in, for the client.
pub fn ingest(error: IngestError) -> Error {
    match error {
        IngestError::Store(error) => store(error),
        IngestError::Read(_) => Error::new(ErrorKind::Workspace, error.to_string()),
        IngestError::Parse { .. } => Error::new(ErrorKind::Internal, error.to_string()),
    }
}

/// An error of remembering, for the client.
pub fn remember(error: RememberError) -> Error {
    match error {
        RememberError::Empty | RememberError::TooLong(_) | RememberError::NoMemory => invalid("text", error),
        RememberError::Workspace(WorkspaceError::Session) => invalid("session", error),
        RememberError::Workspace(WorkspaceError::Empty) => invalid("text", error),
        RememberError::Workspace(_) => Error::new(ErrorKind::Workspace, error.to_string()),
        RememberError::Ingest(error) => ingest(error),
        RememberError::Store(error) => store(error),
        RememberError::Lost { .. } => Error::new(ErrorKind::Internal, error.to_string()),
    }
}

/// An error of keeping what a session held, for the client.
pub fn flush(error: FlushError) -> Error {
    match error {
        FlushError::Workspace(WorkspaceError::Session) => invalid("session", error),
        FlushError::Workspace(_) => Error::new(ErrorKind::Workspace, error.to_string()),
        FlushError::Ingest(error) => ingest(error),
        FlushError::Store(error) => store(error),
        FlushError::Panicked => Error::new(ErrorKind::Internal, error.to_string()),
    }
}

/// An error of forgetting, for the client.
pub fn forget(error: ForgetError) -> Error {
    match error {
        ForgetError::NotFound(_) => Error::new(ErrorKind::NotFound, error.to_string()),
        ForgetError::TooMany(_) => Error::new(ErrorKind::InvalidParams, error.to_string()),
        ForgetError::Store(error) => store(error),
    }
}

/// An error of rolling up or promoting, for the client.
pub fn written(error: PageError) -> Error {
    match error {
        PageError::Week(error) => week(error),
        PageError::Workspace(_) => Error::new(ErrorKind::Workspace, error.to_string()),
        PageError::Ingest(error) => ingest(error),
        PageError::Store(error) => store(error),
        PageError::Panicked => Error::new(ErrorKind::Internal, error.to_string()),
    }
}

fn week(error: WeekError) -> Error {
    match error {
        WeekError::Store(error) => store(error),
        WeekError::Unreachable { .. } | WeekError::Read(_) => {
            Error::new(ErrorKind::Workspace, error.to_string())
        }
        WeekError::Embed(_) | WeekError::Panicked => Error::new(ErrorKind::Internal, error.to_string()),
    }
}

/// An error of sweeping, for the client.
pub fn sweep(error: SweepError) -> Error {
    match error {
        SweepError::Store(error) => store(error),
    }
}

/// An error of getting one memory, for the client.
pub fn get(error: GetError) -> Error {
    match error {
        GetError::NotFound(_) => Error::new(ErrorKind::NotFound, error.to_string()),
        GetError::Ambiguous(_) => invalid("id", error),
        GetError::Store(error) => store(error),
    }
}
