//! The notes on disk: which there are, what they say, and how a line is added to today's.
//!
//! Markdown is the user's. Lines are only added at the end of a day's file; the one part that is rewritten is the
//! daemon's own, between its markers, and what leaves a file again are lines that we wrote and the user takes back.
//! What could not be looked at is never taken for gone.

mod append;
mod cut;
mod discover;
mod disk;
mod flush;
mod managed;
mod read;
mod scan;
#[cfg(test)]
mod tests;

use std::io;
use std::path::{Path, PathBuf};

use crate::memory::managed::Broken;
use crate::memory::{UserId, layout};

pub use append::{Appended, Note, Section};
pub use cut::{Bullet, bullets};
pub use discover::{Candidate, EXPECTED, Origin, discover};
pub use flush::{MAX_MARKER_BYTES, MAX_MARKERS, Marker, Markers, Rejection};
pub use managed::Replaced;
pub use read::{FileText, ReadError};
pub use scan::{Deletions, FileState, Found, Hold, RootState, Scan, Skipped, Why, judge};

/// The largest note that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 4 << 20;

/// How deep folders may lie below `memory`.
pub const MAX_DEPTH: usize = 8;

/// How many notes a workspace may have.
pub const MAX_FILES: usize = 50_000;

/// The agent's folder and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    root: PathBuf,
    owner: UserId,
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// Nothing was said.
    #[error("there is nothing to write down: the text is empty")]
    Empty,
    /// A session id that would break out of the comment it stands in.
    #[error("a session id has 1 to 256 characters and neither white space nor '<' or '>'")]
    Session,
    /// The workspace's folder is not there; it may be on a disk that is not mounted.
    #[error("the workspace {0} is not there: mount it, or name another with `ocmemd init`")]
    Unreachable(String),
    /// Today's note could not be read before writing.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Today's note is full.
    #[error(
        "{file} would grow beyond {MAX_FILE_BYTES} bytes, more than is read: move a part of it to another note"
    )]
    Full {
        /// Relative to the workspace.
        file: String,
    },
    /// The page is not the one that was read.
    #[error("{file} was changed by somebody else since it was read: it is read again and tried again")]
    Changed {
        /// Relative to the workspace.
        file: String,
    },
    /// Its managed block cannot be told from the user's text.
    #[error("the managed block of {file} cannot be written: {source}")]
    Broken {
        /// Relative to the workspace.
        file: String,
        /// Which line, and what to do.
        source: Broken,
    },
    /// The system refused.
    #[error("{file} could not be written: {source}")]
    Io {
        /// Relative to the workspace.
        file: String,
        /// In the system's words.
        source: io::Error,
    },
}

impl Workspace {
    /// The workspace in the folder `root`, which need not exist.
    pub fn new(root: PathBuf, owner: UserId) -> Self {
        Self { root, owner }
    }

    /// Its folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whose notes these are.
    pub fn owner(&self) -> &UserId {
        &self.owner
    }

    /// Where the note `file` lies. Neither its name nor a link on the way leads out of the workspace.
    fn resolve(&self, file: &str) -> Result<PathBuf, ReadError> {
        if !layout::is_note(file) {
            return Err(ReadError::NotANote { file: file.to_owned() });
        }
        let mut path = self.root.clone();
        for name in file.split('/') {
            path.push(name);
            if path.is_symlink() {
                return Err(ReadError::Skipped { file: file.to_owned(), why: Why::Link });
            }
        }
        Ok(path)
    }
}
