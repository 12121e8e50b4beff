//! Everything the daemon remembers, in one SQLite file.
//!
//! One named thread writes: it takes what waits, runs each request in a savepoint of its own, and answers only when the
//! common transaction is durable. A few connections read, each request on one snapshot. Rows, words and vectors live
//! and die in one transaction. The store is given words and vectors; it makes none.
//!
//! Every method takes a [`Scope`](crate::memory::Scope) and sees that user's memories alone, filtered in SQL; ids of others
//! are simply not found. What looks across users says so in its name: `*_of_all_users`, `check`, and the generations, which belong to the model.

mod check;
mod commit;
mod conversations;
mod error;
mod files;
mod flushed;
mod generations;
mod jobs;
mod memories;
mod pages;
mod query;
mod records;
mod rows;
mod runs;
mod schema;
mod sweep;
#[cfg(test)]
mod tests;
mod vectors;
mod withdrawal;
mod words;
mod written;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::{Semaphore, mpsc, oneshot};

pub use check::Report;
pub use conversations::{
    ConversationCounts, Delivered, Message, NewMessage, NewTurn, SessionSummary, Swept, TurnKey,
};
pub use error::StoreError;
pub use files::FileState;
pub use flushed::Planned;
pub use generations::{Generation, GenerationState};
pub use jobs::{Job, JobKind};
pub use pages::{PageLine, PageRecord, PageState, PendingPromotion};
pub use query::Filter;
pub use records::{Calibration, Counts, WorkspaceCounts};
pub use rows::RowId;
pub use runs::Run;
pub use schema::SCHEMA;
pub use sweep::{Cutoffs, Uses, Why};
pub use vectors::{MAX_NEIGHBOURS, MAX_PARTS, Parts};
pub use withdrawal::TakenBack;
pub use words::{MAX_QUERY_TERMS, WordStats};
pub use written::Bullets;

/// Read connections. More would only contend for two cores.
const READERS: usize = 4;
/// Writes that may wait; who comes later waits before the queue.
const QUEUE: usize = 1_024;

/// A handle to the store; clones share it.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    requests: mpsc::Sender<commit::Request>,
    writer: Mutex<Option<std::thread::JoinHandle<()>>>,
    readers: Arc<Readers>,
}

/// Idle read connections, and as many permits as there are connections.
#[derive(Debug)]
struct Readers {
    idle: Mutex<Vec<Connection>>,
    permits: Arc<Semaphore>,
}

/// What a read may do: see one snapshot of the store.
#[derive(Debug)]
pub struct Reader<'c> {
    connection: &'c Connection,
}

/// What a write may do: all that a [`Reader`] may, seeing its own changes, and change things.
#[derive(Debug)]
pub struct Writer<'c> {
    reader: Reader<'c>,
}

impl<'c> std::ops::Deref for Writer<'c> {
    type Target = Reader<'c>;

    fn deref(&self) -> &Reader<'c> {
        &self.reader
    }
}

impl Store {
    /// Opens the database at `path`; makes the file (0600) and its folder (0700) if there is none, and brings an older schema up to date.
    ///
    /// Blocks for as long as that takes.
    ///
    /// # Errors
    /// [`StoreError::SchemaTooNew`], [`StoreError::ReadOnly`], [`StoreError::Corrupt`], or what else keeps it from being opened.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent() {
            schema::create_private_folder(folder)?;
        }
        schema::create_private(path)?;
        let mut writing = schema::connect(path)?;
        // Before the log is switched on, for that already writes the first page, on which this is noted.
        schema::shrinkable(&writing)?;
        writing.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        schema::migrate(&mut writing, path, schema::STEPS)?;
        let idle = (0..READERS).map(|_| schema::connect_reading(path)).collect::<Result<Vec<_>, _>>()?;
        let (requests, queue) = mpsc::channel(QUEUE);
        let writer = std::thread::Builder::new()
            .name("store-writer".to_owned())
            .spawn(move || commit::run(writing, queue))
            .map_err(|error| StoreError::file(path, &error))?;
        let readers = Readers { idle: Mutex::new(idle), permits: Arc::new(Semaphore::new(READERS)) };
        let inner = Inner { requests, writer: Mutex::new(Some(writer)), readers: Arc::new(readers) };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Runs `work` on the writer's thread and answers when its changes are durable.
    ///
    /// `work` is all or nothing, and alone in that: it shares a commit with other requests but not their fate. It runs even if the caller stops waiting.
    ///
    /// # Errors
    /// What `work` returned; [`StoreError::Panicked`] if it panicked; what kept the commit from the disk; [`StoreError::Closed`].
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Writer<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (reply, answer) = oneshot::channel();
        let request = commit::Request::Work(commit::job(work, reply));
        self.inner.requests.send(request).await.map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Runs `work` on one snapshot of the store, off the caller's thread.
    ///
    /// # Errors
    /// What `work` returned; [`StoreError::Panicked`] if it panicked; [`StoreError::Closed`].
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let readers = Arc::clone(&self.inner.readers);
        let permit = Arc::clone(&readers.permits).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let answer = tokio::task::spawn_blocking(move || {
            let mut connection = readers.take().ok_or(StoreError::Closed)?;
            let outcome = commit::caught(|| on_snapshot(&mut connection, work));
            readers.put(connection);
            drop(permit);
            outcome
        });
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Moves everything from the log into the database and empties the log, so that no deleted text is left on disk.
    /// `false` if a reader kept it from being complete; then try again later.
    ///
    /// # Errors
    /// What SQLite says, or [`StoreError::Closed`].
    pub async fn checkpoint(&self) -> Result<bool, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.inner.requests.send(commit::Request::Checkpoint(reply)).await.map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Gives the room of what was deleted back to the disk, then does as [`Store::checkpoint`].
    ///
    /// # Errors
    /// What SQLite says, or [`StoreError::Closed`].
    pub async fn compact(&self) -> Result<bool, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.inner.requests.send(commit::Request::Compact(reply)).await.map_err(|_| StoreError::Closed)?;
        answer.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Lets what was accepted finish, empties the log and closes the file. Later requests are refused; a second call does nothing.
    ///
    /// # Errors
    /// What SQLite says to the last checkpoint. The data is safe all the same.
    pub async fn close(&self) -> Result<(), StoreError> {
        let readers = &self.inner.readers;
        if let Ok(all) = readers.permits.acquire_many(READERS as u32).await {
            readers.permits.close();
            drop(all);
        }
        readers.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let (reply, answer) = oneshot::channel();
        if self.inner.requests.send(commit::Request::Close(reply)).await.is_err() {
            return Ok(());
        }
        let outcome = answer.await.unwrap_or(Ok(()));
        let thread = self.inner.writer.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // It has answered and only drops its connection now; a panic in it was answered as `Closed` before.
            let _ = tokio::task::spawn_blocking(move || thread.join()).await;
        }
        outcome
    }
}

impl Readers {
    fn take(&self) -> Option<Connection> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn put(&self, connection: Connection) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
    }
}

fn on_snapshot<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let snapshot = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
    work(&Reader { connection: &snapshot })
}
