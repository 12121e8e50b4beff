//! What can go wrong with the store, told apart by what helps.

use std::path::Path;

use rusqlite::ffi::ErrorCode;

/// Why the store refused or failed. Cloneable, because one failed commit answers many requests.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No room on the disk, or in the user's quota. Nothing was stored; reads go on.
    #[error("the disk is full, so nothing was stored; free some space and try again, no restart is needed")]
    Full,
    /// The file, its folder or its file system cannot be written.
    #[error(
        "the database cannot be written ({0}); make its folder writable, or choose another with storage.sqlite_path"
    )]
    ReadOnly(String),
    /// Another process holds the database for longer than the store waits.
    #[error("another program holds the database; try again in a moment")]
    Busy,
    /// The file is no database, or a damaged one.
    #[error(
        "the database is damaged ({0}); stop the daemon, put the file aside (or a backup in its place) and start again: the notes are indexed anew, but what was forgotten or kept outside of them is in that file only"
    )]
    Corrupt(String),
    /// The file was written by a later version of the program.
    #[error(
        "the database has schema {found}, this program knows {known} at most; install the newer version again, or restore the backup made beside the file"
    )]
    SchemaTooNew {
        /// The version in the file.
        found: u32,
        /// The newest version known here.
        known: u32,
    },
    /// A file or folder beside the database could not be made.
    #[error("{path}: {reason}")]
    File {
        /// Which one.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// A vector that cannot be compared with others: wrong length, all zeros, or not numbers.
    #[error("a vector was refused: {0}")]
    BadVector(String),
    /// The generation never was, or has been dropped since.
    #[error("there is no embedding generation {0}; ask for the active one again")]
    NoGeneration(i64),
    /// A memory of one user was written in the scope of another.
    #[error("a memory belongs to another user than the request")]
    ForeignMemory,
    /// The code of this one request panicked; what it had written is undone.
    #[error("the request failed inside the program and was undone; please report it")]
    Panicked,
    /// The store was closed before the request began.
    #[error("the store is closed")]
    Closed,
    /// Anything else that SQLite says.
    #[error("database: {0}")]
    Other(String),
}

impl StoreError {
    /// A file system error at `path`.
    pub(super) fn file(path: &Path, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::Full,
            std::io::ErrorKind::PermissionDenied | std::io::ErrorKind::ReadOnlyFilesystem => {
                Self::ReadOnly(format!("{}: {error}", path.display()))
            }
            _ => Self::File { path: path.display().to_string(), reason: error.to_string() },
        }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Self::Full,
            Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                Self::ReadOnly(error.to_string())
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Corrupt(error.to_string()),
            _ => Self::Other(error.to_string()),
        }
    }
}
