//! What can go wrong with a model, and what to do about it.

use std::io;
use std::path::{Path, PathBuf};

/// Why there is no vector.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    /// A file that a model needs is not there.
    #[error("{} is missing; get a model with `ocmemd model pull`, or name a complete folder with `ocmemd model use PATH`", .0.display())]
    Missing(PathBuf),
    /// A file cannot be read.
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// A file is cut short, of another model, or something else altogether.
    #[error("{} is damaged: {reason}; get it again with `ocmemd model pull`", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A model that is whole, but of a sort that is not read here.
    #[error("{} asks for {what}, which is not supported; BERT models with CLS or mean pooling are", path.display())]
    Unsupported {
        /// The file that says so.
        path: PathBuf,
        /// What it asks for.
        what: String,
    },
    /// A text without a word has no meaning to compare.
    #[error("an empty text has no vector")]
    EmptyText,
    /// The model answered with something that is not a number.
    #[error(
        "the model's answer is not a number; its files may be damaged: `ocmemd model pull` gets them again"
    )]
    NotFinite,
    /// The computation itself failed.
    #[error("the model failed: {0}")]
    Compute(String),
    /// The model's threads are gone, as they are during shutdown.
    #[error("the model is shutting down")]
    Stopped,
}

impl EmbedError {
    pub(super) fn damaged(path: &Path, reason: impl ToString) -> Self {
        Self::Damaged { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(super) fn unreadable(path: &Path, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing(path.to_owned()),
            _ => Self::Unreadable { path: path.to_owned(), error },
        }
    }
}

impl From<candle_core::Error> for EmbedError {
    fn from(error: candle_core::Error) -> Self {
        Self::Compute(error.to_string())
    }
}
