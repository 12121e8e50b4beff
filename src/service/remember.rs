//! Keeping what the user asked to keep: a line in today's note, in the index before the answer.

use std::sync::Arc;

use chrono::{NaiveDate, NaiveTime, Timelike};
use tokio::sync::Mutex;

use super::ingest::{Ingest, IngestError, name_of};
use super::lines;
use crate::clock::Clock;
use crate::memory::entry::ContentHash;
use crate::memory::layout;
use crate::memory::markdown::{self, NoteFile};
use crate::memory::redact::redact;
use crate::memory::{Importance, Kind, Mark, Memory, MemoryId, NewMemory, Redacted, Scope, expiry, indexed};
use crate::store::{Filter, Store, StoreError};
use crate::workspace::{Note, Section, Workspace, WorkspaceError};

/// The longest text that is remembered as one thing, in characters. More is a document, and belongs into a file.
pub const MAX_CHARS: usize = 8_000;

/// Memories of one day that are looked through for the same words.
const DAY: usize = 10_000;

/// What kept a text from being remembered.
#[derive(Debug, thiserror::Error)]
pub enum RememberError {
    /// Nothing but white space.
    #[error("there is nothing to remember: the text is empty")]
    Empty,
    /// Too long for one memory.
    #[error(
        "a memory has at most {MAX_CHARS} characters, this text has {0}: put it into a file under memory/"
    )]
    TooLong(usize),
    /// Today's note.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// Taking the note in.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The text would be read as no memory: a placeholder, a time, the name of a file.
    #[error("this says nothing that could be remembered; say it in a sentence")]
    NoMemory,
    /// The line was written and read again without being found.
    #[error("the line was written to {file} but is not in the index: run `ocmemd reindex`")]
    Lost {
        /// Relative to the workspace.
        file: String,
    },
}

/// A text kept.
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    /// As it is stored.
    pub memory: Memory,
    /// Whether it was there already.
    pub deduped: bool,
    /// How many secrets were cut out of it.
    pub redacted: u32,
}

/// Keeps what users ask to keep.
#[derive(Debug, Clone)]
pub struct Remember {
    store: Store,
    ingest: Ingest,
    clock: Clock,
    /// Two equal requests at once would both find that it is not there yet.
    turn: Arc<Mutex<()>>,
}

impl Remember {
    /// Keeps things in `store`, by way of the note where the user has a workspace.
    pub fn new(store: Store, ingest: Ingest, clock: Clock) -> Self {
        Self { store, ingest, clock, turn: Arc::default() }
    }

    /// Keeps `text` for the scope's user. With a `workspace` of his it becomes a `[USER]` line of today's note, synced
    /// to disk; else it lives in the index alone. The same words on the same day are kept once.
    ///
    /// # Errors
    /// [`RememberError`]; nothing was kept then, but for [`RememberError::Lost`] and [`RememberError::Ingest`], where
    /// the line stands in the note and is taken in at the next look.
    pub async fn keep(
        &self,
        scope: &Scope,
        workspace: Option<&Workspace>,
        text: &str,
        session: Option<&str>,
    ) -> Result<Remembered, RememberError> {
        let (text, findings) = redact(text.trim());
        let chars = text.as_str().chars().count();
        if chars == 0 {
            return Err(RememberError::Empty);
        }
        if chars > MAX_CHARS {
            return Err(RememberError::TooLong(chars));
        }
        let redacted = findings.len() as u32;
        let hash = hash_as_read(&text).ok_or(RememberError::NoMemory)?;
        let _turn = self.turn.lock().await;
        if let Some(memory) = self.already(scope, hash.clone()).await? {
            return Ok(Remembered { memory, deduped: true, redacted });
        }
        let memory = match workspace {
            Some(workspace) => self.write_down(scope, workspace, text, &hash, session).await?,
            None => self.store_alone(scope, text, hash, session).await?,
        };
        Ok(Remembered { memory, deduped: false, redacted })
    }

    /// What the user asked to keep today in the same words.
    async fn already(&self, scope: &Scope, hash: ContentHash) -> Result<Option<Memory>, StoreError> {
        let (today, scope) = (self.clock.today(), scope.clone());
        let filter = Filter { from: Some(today), to: Some(today), ..Filter::default() };
        let same = move |memory: &Memory| memory.mark == Mark::User && memory.hash == hash;
        self.store
            .read(move |reader| {
                let listed = reader.list(&scope, &filter, DAY, 0)?;
                Ok(listed.into_iter().map(|(_, memory)| memory).find(same))
            })
            .await
    }

    async fn write_down(
        &self,
        scope: &Scope,
        workspace: &Workspace,
        text: Redacted,
        hash: &ContentHash,
        session: Option<&str>,
    ) -> Result<Memory, RememberError> {
        let (today, time) = self.minute();
        let note = Note { section: Section::User, time, text: &text, session };
        lines::claim(&self.store, scope, workspace, &layout::daily_file(today), vec![note.hash()?]).await?;
        let place = workspace.clone();
        let session = session.map(str::to_owned);
        let appended = tokio::task::spawn_blocking(move || {
            place.append_today(
                today,
                &Note { section: Section::User, time, text: &text, session: session.as_deref() },
            )
        })
        .await
        .map_err(|_| RememberError::Lost { file: String::from("today's note") })??;
        self.ingest.file(workspace, &appended.file).await?;
        let (scope, root, file) = (scope.clone(), name_of(workspace), appended.file.clone());
        let stored = self.store.read(move |reader| reader.entries_of_file(&scope, &root, &file)).await?;
        // The nearest of the same words: an editor may have moved the line since.
        let away = |memory: &Memory| {
            let line = memory.source.as_ref().map_or(0, |source| source.lines.0);
            (memory.hash != *hash, line.abs_diff(appended.line))
        };
        let found = stored.into_iter().map(|(_, memory)| memory).min_by_key(away);
        found
            .filter(|memory| memory.hash == *hash || away(memory).1 == 0)
            .ok_or(RememberError::Lost { file: appended.file })
    }

    async fn store_alone(
        &self,
        scope: &Scope,
        text: Redacted,
        hash: ContentHash,
        session: Option<&str>,
    ) -> Result<Memory, RememberError> {
        let by = (Mark::User, session.map(str::to_owned));
        let memory = memory_alone(scope, text, hash, by, self.minute(), &self.clock);
        let (scope, id) = (scope.clone(), memory.id.clone());
        let terms = indexed::terms(&memory.context, &memory.content, memory.day);
        let stored = self
            .store
            .write(move |writer| {
                writer.insert(&scope, &memory, &terms)?;
                writer.get(&scope, &id)
            })
            .await?;
        stored.map(|(_, memory)| memory).ok_or(RememberError::Lost { file: String::from("the index") })
    }

    /// The user's day and minute now.
    fn minute(&self) -> (NaiveDate, NaiveTime) {
        let now = self.clock.local(self.clock.now());
        (now.date(), NaiveTime::from_hms_opt(now.hour(), now.minute(), 0).unwrap_or(NaiveTime::MIN))
    }
}

/// A memory that no file holds: its text and hash, by whose mark and in which session, of which day and time.
pub(super) fn memory_alone(
    scope: &Scope,
    content: Redacted,
    hash: ContentHash,
    (mark, session): (Mark, Option<String>),
    (day, time): (NaiveDate, NaiveTime),
    clock: &Clock,
) -> NewMemory {
    let (now, end) = (clock.now(), expiry::end(content.as_str(), Some(day)));
    NewMemory {
        id: MemoryId::random(),
        user: scope.user().clone(),
        session,
        kind: Kind::Fact,
        mark,
        importance: if mark == Mark::User { Importance::ASKED } else { Importance::NORMAL },
        audience: scope.audience(),
        hash,
        content,
        context: Redacted::default(),
        day: Some(day),
        time: Some(time),
        source: None,
        created_at: now,
        expires_at: end.map(|end| clock.end_of(end)),
        access_count: 0,
        last_accessed_at: now,
    }
}

/// The hash that the text gets when it is read from a note; `None` if it would be read as no memory.
fn hash_as_read(text: &Redacted) -> Option<ContentHash> {
    let lines: Vec<&str> = text.as_str().lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let bullet = redact(&format!("- 00:00 {}", lines.join("\n  "))).0;
    let file = NoteFile { name: String::from("memory/0001-01-01.md"), zone: chrono_tz::Tz::UTC };
    markdown::parse(&bullet, &file).entries.into_iter().next().map(|entry| entry.hash)
}
