//! Reading one note whole, or saying why not.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::scan::Why;
use super::{MAX_FILE_BYTES, Workspace};
use crate::memory::entry::ContentHash;

/// What a note says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileText {
    /// As it stands in the file: with its byte-order mark and its line ends.
    pub text: String,
    /// Of the file's bytes.
    pub hash: ContentHash,
}

/// Why a note was not read. Only [`ReadError::Gone`] means that it is not there.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The name is not that of a note.
    #[error(
        "{file:?} is no note of the workspace: those are memory/**/*.md and the Markdown files of its root"
    )]
    NotANote {
        /// As it was given.
        file: String,
    },
    /// The folder was there, and the note was not in it.
    #[error("{file} is not there")]
    Gone {
        /// Relative to the workspace.
        file: String,
    },
    /// A scan skips this note too.
    #[error("{file} is skipped: {why}")]
    Skipped {
        /// Relative to the workspace.
        file: String,
        /// The reason.
        why: Why,
    },
    /// Another encoding.
    #[error(
        "{file} is not UTF-8 (line {line}); if it is GB18030, convert it with: iconv -f GB18030 -t UTF-8 {file} > new.md"
    )]
    NotUtf8 {
        /// Relative to the workspace.
        file: String,
        /// The first line that is not, from 1.
        line: usize,
    },
    /// Somebody is writing it.
    #[error("{file} changed while it was read, twice: it is looked at again later")]
    Changing {
        /// Relative to the workspace.
        file: String,
    },
}

impl Workspace {
    /// Reads the note `file`, named relative to the workspace.
    ///
    /// # Errors
    /// [`ReadError`] says which note and why; a note that could not be looked at is never [`ReadError::Gone`].
    pub fn read(&self, file: &str) -> Result<FileText, ReadError> {
        let path = self.resolve(file)?;
        let bytes = match read_stable(&path)
            .and_then(|bytes| bytes.map_or_else(|| read_stable(&path), |b| Ok(Some(b))))
        {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Err(ReadError::Changing { file: file.to_owned() }),
            Err(why) if why == Why::Missing && self.holds(&path) => {
                return Err(ReadError::Gone { file: file.to_owned() });
            }
            Err(why) => return Err(ReadError::Skipped { file: file.to_owned(), why }),
        };
        let hash = ContentHash::of(&bytes);
        Ok(FileText { text: decode(file, bytes)?, hash })
    }

    /// Whether the folder of `path` can be looked at, so that a file missing in it is gone.
    fn holds(&self, path: &Path) -> bool {
        path.parent().is_some_and(|folder| folder.read_dir().is_ok())
    }
}

/// The text of a note's bytes.
pub(super) fn decode(file: &str, bytes: Vec<u8>) -> Result<String, ReadError> {
    String::from_utf8(bytes).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes().iter().take(good).filter(|byte| **byte == b'\n').count();
        ReadError::NotUtf8 { file: file.to_owned(), line }
    })
}

/// A file's bytes; `None` if it changed meanwhile.
fn read_stable(path: &Path) -> Result<Option<Vec<u8>>, Why> {
    // Neither a link nor a pipe that nobody writes to can hold the reader.
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let mut file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let before = checked(&file)?;
    let mut bytes = Vec::new();
    file.by_ref().take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes)?;
    let after = checked(&file)?;
    let stable = stamp(&before)? == stamp(&after)? && bytes.len() as u64 == after.len();
    Ok(stable.then_some(bytes))
}

fn checked(file: &File) -> Result<Metadata, Why> {
    let metadata = file.metadata()?;
    match Why::not_to_read(&metadata) {
        Some(why) => Err(why),
        None => Ok(metadata),
    }
}

fn stamp(metadata: &Metadata) -> io::Result<(u64, std::time::SystemTime)> {
    Ok((metadata.len(), metadata.modified()?))
}
