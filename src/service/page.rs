//! Files that the daemon shares with people: what they say, and the block in them that is its own.

use super::ingest::IngestError;
use super::week::WeekError;
use crate::memory::entry::ContentHash;
use crate::memory::redact::redact;
use crate::store::StoreError;
use crate::workspace::{FileText, ReadError, Workspace, WorkspaceError};

/// How often a page that changes under our hands is read anew.
pub(super) const ATTEMPTS: usize = 5;

/// What kept a page from being written. It is never half written; what was decided for it by then is finished, or decided
/// anew, at the next run.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The week's notes.
    #[error(transparent)]
    Week(#[from] WeekError),
    /// The page, or a file that goes with it.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// Taking in what was written.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A fault of ours.
    #[error("making a page failed unexpectedly; the log says more")]
    Panicked,
}

/// What a page says; `None` where it is not there.
pub(super) async fn read(workspace: &Workspace, file: &str) -> Result<Option<FileText>, PageError> {
    let (workspace, file) = (workspace.clone(), file.to_owned());
    let read = tokio::task::spawn_blocking(move || workspace.read(&file)).await;
    match read.map_err(|_| PageError::Panicked)? {
        Ok(text) => Ok(Some(text)),
        Err(ReadError::Gone { .. }) => Ok(None),
        Err(error) => Err(WorkspaceError::from(error).into()),
    }
}

/// Puts `block` into a page that still is as it was `read`.
pub(super) async fn write(
    workspace: &Workspace,
    file: &str,
    read: Option<FileText>,
    block: &str,
) -> Result<(), PageError> {
    let (workspace, file, block) = (workspace.clone(), file.to_owned(), redact(block).0);
    let hash = read.map(|read| read.hash);
    let replace = move || workspace.replace_block(&file, hash.as_ref(), &block);
    tokio::task::spawn_blocking(replace).await.map_err(|_| PageError::Panicked)??;
    Ok(())
}

/// A block as we wrote it, whatever the line ends of its file.
pub(super) fn plain(block: &str) -> String {
    block.lines().flat_map(|line| [line, "\n"]).collect()
}

/// The hash of a block as we wrote it.
pub(super) fn hash(block: &str) -> ContentHash {
    ContentHash::of(plain(block).as_bytes())
}
