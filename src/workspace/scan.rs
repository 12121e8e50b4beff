//! Which notes there are, and which could not be looked at.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use chrono::{DateTime, Utc};

use super::{MAX_DEPTH, MAX_FILE_BYTES, MAX_FILES, Workspace};
use crate::memory::layout::{self, FOLDER, ROOT_FILES};

/// What a look at the whole workspace found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scan {
    /// The notes that are there, sorted by name.
    pub files: Vec<Found>,
    /// Files and folders that were not looked at or into, sorted by name; the root is `""`.
    pub skipped: Vec<Skipped>,
}

/// A note that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Relative to the workspace, with `/`.
    pub file: String,
    /// In bytes.
    pub size: u64,
    /// When it was last written to, as the file system says.
    pub modified: DateTime<Utc>,
}

/// A file that was not looked at, or a folder with all below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Relative to the workspace, with `/`.
    pub path: String,
    /// The reason.
    pub why: Why,
}

/// Why something was not looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// A folder that should be there is not; its disk may not be mounted.
    #[error("it is not there")]
    Missing,
    /// It may lead anywhere.
    #[error("it is a symbolic link, and those are not followed")]
    Link,
    /// Neither a file nor a folder, or one where the other is expected.
    #[error("it is not an ordinary file")]
    NotAFile,
    /// Too large.
    #[error("it has {0} bytes, more than the limit of {MAX_FILE_BYTES}: split it")]
    TooLarge(u64),
    /// Too deep.
    #[error("it lies more than {MAX_DEPTH} folders below memory: move it up")]
    TooDeep,
    /// Too many.
    #[error("the workspace has more than {MAX_FILES} notes: move old ones out of memory")]
    TooMany,
    /// A name that cannot be written down.
    #[error("its name is not UTF-8, or holds control characters or a backslash: rename it")]
    Name,
    /// The system refused.
    #[error("it cannot be read: {0}")]
    Refused(String),
}

impl From<io::Error> for Why {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Missing,
            _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => Self::Link,
            _ => Self::Refused(error.to_string()),
        }
    }
}

impl Why {
    /// Why a file is not read, judged by its looks.
    pub(super) fn not_to_read(metadata: &Metadata) -> Option<Self> {
        if metadata.is_symlink() {
            Some(Self::Link)
        } else if !metadata.is_file() {
            Some(Self::NotAFile)
        } else if metadata.len() > MAX_FILE_BYTES {
            Some(Self::TooLarge(metadata.len()))
        } else {
            None
        }
    }
}

/// What became of a note that is known from before. Only `Gone` may delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState<'a> {
    /// It is there.
    Present(&'a Found),
    /// Its folder was looked through, and it was not there.
    Gone,
    /// It could not be looked at: it, or a folder above it, was skipped.
    Unreadable(&'a Why),
}

/// Whether the places where notes lie could be looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RootState {
    /// Root and `memory` were looked through.
    Present,
    /// Root or `memory` could not be: nothing in it counts as gone.
    Unreachable {
        /// `""` for the root, or `memory`.
        folder: String,
        /// The reason.
        why: Why,
    },
}

/// Whether the notes that are gone may be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deletions {
    /// They may.
    Apply,
    /// Not before somebody has looked.
    Hold(Hold),
}

/// Why deletions wait.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Hold {
    /// The workspace could not be looked at.
    #[error("<workspace>/{folder} cannot be looked at, so nothing in it is taken for gone: {why}")]
    Unreachable {
        /// The folder that was not looked at.
        folder: String,
        /// The reason.
        why: Why,
    },
    /// So much at once is more likely an accident.
    #[error("{gone} of {known} notes are gone at once; nothing is forgotten until this is confirmed")]
    Most {
        /// Notes that are gone.
        gone: usize,
        /// Notes that were known.
        known: usize,
    },
}

/// So many notes may go at once whatever their share, unless they are all there were.
const FEW: usize = 2;

/// Decides about the `gone` of `known` notes. More than half of them at once looks like a disk that is not mounted or
/// a folder that is being synchronised, and waits; so does the loss of all notes where there were several.
pub fn judge(known: usize, gone: usize, root: &RootState) -> Deletions {
    if let RootState::Unreachable { folder, why } = root {
        return Deletions::Hold(Hold::Unreachable { folder: folder.clone(), why: why.clone() });
    }
    let all = gone > 1 && gone >= known;
    let most = gone > FEW && gone * 2 > known;
    if all || most { Deletions::Hold(Hold::Most { gone, known }) } else { Deletions::Apply }
}

impl Scan {
    /// Whether the places where notes lie could be looked at.
    pub fn root(&self) -> RootState {
        let roots = self.skipped.iter().find(|skipped| skipped.path.is_empty() || skipped.path == FOLDER);
        roots.map_or(RootState::Present, |skipped| RootState::Unreachable {
            folder: skipped.path.clone(),
            why: skipped.why.clone(),
        })
    }

    /// What became of the note `file`.
    pub fn state(&self, file: &str) -> FileState<'_> {
        if let Ok(at) = self.files.binary_search_by(|found| found.file.as_str().cmp(file)) {
            return FileState::Present(&self.files[at]);
        }
        let covers = |path: &str| {
            path.is_empty()
                || file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        match self.skipped.iter().find(|skipped| covers(&skipped.path)) {
            Some(skipped) => FileState::Unreadable(&skipped.why),
            None => FileState::Gone,
        }
    }

    fn skip(&mut self, path: &str, why: impl Into<Why>) {
        self.skipped.push(Skipped { path: path.to_owned(), why: why.into() });
    }

    /// Looks at one file that is there.
    fn look(&mut self, file: &str, metadata: io::Result<Metadata>) {
        let found = metadata.map_err(Why::from).and_then(|metadata| match Why::not_to_read(&metadata) {
            Some(why) => Err(why),
            None => {
                let modified = DateTime::from(metadata.modified()?);
                Ok(Found { file: file.to_owned(), size: metadata.len(), modified })
            }
        });
        match found {
            Ok(_) if self.files.len() == MAX_FILES => self.skip(FOLDER, Why::TooMany),
            Ok(found) => self.files.push(found),
            // It went between the listing and the look.
            Err(Why::Missing) => {}
            Err(why) => self.skip(file, why),
        }
    }

    /// Looks through a folder and all below it.
    fn walk(&mut self, root: &Path, folder: &str, depth: usize) {
        let listing = match list(&root.join(folder)) {
            Ok(listing) => listing,
            Err(why) => return self.skip(folder, why),
        };
        for (name, metadata) in listing {
            let Ok(name) = name.into_string() else {
                self.skip(&format!("{folder}/{}", char::REPLACEMENT_CHARACTER), Why::Name);
                continue;
            };
            let path = format!("{folder}/{name}");
            let is_folder = metadata.as_ref().is_ok_and(Metadata::is_dir);
            if name.starts_with('.') || !(is_folder || layout::is_markdown(&name) || is_link(&metadata)) {
                continue;
            }
            match (layout::is_visible(&name), is_folder) {
                (false, _) => self.skip(&path, Why::Name),
                (true, true) if depth == MAX_DEPTH => self.skip(&path, Why::TooDeep),
                (true, true) => self.walk(root, &path, depth + 1),
                (true, false) => self.look(&path, metadata),
            }
            if self.skipped.last().is_some_and(|skipped| skipped.why == Why::TooMany) {
                return;
            }
        }
    }
}

type Listing = Vec<(std::ffi::OsString, io::Result<Metadata>)>;

/// What a folder holds, or why it cannot be looked through. A listing that breaks off counts as none.
fn list(folder: &Path) -> Result<Listing, Why> {
    if fs::symlink_metadata(folder)?.is_symlink() {
        return Err(Why::Link);
    }
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| (entry.file_name(), entry.metadata())));
    Ok(entries.collect::<io::Result<_>>()?)
}

fn is_link(metadata: &io::Result<Metadata>) -> bool {
    metadata.as_ref().is_ok_and(Metadata::is_symlink)
}

impl Workspace {
    /// Looks at the whole workspace: names, sizes and times, not what the notes say.
    pub fn scan(&self) -> Scan {
        let mut scan = Scan { files: Vec::new(), skipped: Vec::new() };
        if let Err(error) = fs::read_dir(&self.root) {
            scan.skip("", error);
            return scan;
        }
        for file in ROOT_FILES {
            scan.look(file, fs::symlink_metadata(self.root.join(file)));
        }
        scan.walk(&self.root, FOLDER, 0);
        scan.files.sort_by(|a, b| a.file.cmp(&b.file));
        scan.skipped.sort_by(|a, b| a.path.cmp(&b.path));
        scan
    }
}
