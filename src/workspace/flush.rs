//! Flush markers: files that the host drops into the workspace before it compacts a session.
//!
//! A marker is written under another name and renamed, so one that is there is whole; one that cannot be read is moved
//! aside as it is, with the reason beside it. Names come from the folder's own listing and never lead out of it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::disk::{io_error, sync_folder};
use super::{Workspace, WorkspaceError};
use crate::memory::entry::ContentHash;
use crate::memory::layout::{self, MARKER_FOLDER};
use crate::memory::redact::redact;
use crate::wire::flush::{FlushMarker, MARKER_VERSION, MarkerError};

/// The largest marker that is read, in bytes.
pub const MAX_MARKER_BYTES: u64 = 1 << 20;

/// How many markers one look takes; those behind them are for the next.
pub const MAX_MARKERS: usize = 64;

/// Names longer than this leave no room for what is put behind them.
const MAX_KEPT_NAME: usize = 200;

/// A marker that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Marker {
    /// Its name in the folder of markers.
    pub name: String,
    /// What it says.
    pub says: FlushMarker,
    /// Device and number of the file: another one may take its name.
    file: (u64, u64),
}

/// What a look at the folder of markers found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Markers {
    /// Those that can be taken, by name.
    pub whole: Vec<Marker>,
    /// Those that were moved aside, by their names in `rejected`.
    pub rejected: Vec<String>,
    /// Names of those that could not be looked at or moved now, and why; they stay.
    pub unread: Vec<(String, String)>,
    /// The last name looked at, where more are behind it.
    pub more_after: Option<OsString>,
}

/// Why a marker is moved aside.
#[derive(Debug, thiserror::Error)]
pub enum Rejection {
    /// A name that cannot be shown.
    #[error("its name is not UTF-8, or holds control characters or a backslash: rename it")]
    Name,
    /// It may lead anywhere.
    #[error("it is a symbolic link, and those are not followed")]
    Link,
    /// A folder, a pipe, a device.
    #[error("it is not an ordinary file")]
    NotAFile,
    /// Not ours.
    #[error("it belongs to another user of this machine (uid {0})")]
    Foreign(u32),
    /// Too large.
    #[error("it has {0} bytes, more than the limit of {MAX_MARKER_BYTES}: send it in several markers")]
    TooLarge(u64),
    /// No right to read it.
    #[error("it may not be read: give yourself the right with `chmod u+r`")]
    NoRight,
    /// Another encoding.
    #[error("it is not UTF-8")]
    NotUtf8,
    /// It is no marker.
    #[error(transparent)]
    Says(#[from] MarkerError),
    /// It names somebody or something that cannot be.
    #[error("{0}")]
    Names(String),
}

/// Why a file was not taken for a marker.
enum NotRead {
    /// Somebody else took it.
    Gone,
    /// It never can be.
    Rejected(Rejection),
    /// Not now.
    Later(io::Error),
}

impl From<io::Error> for NotRead {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Gone,
            io::ErrorKind::PermissionDenied => Self::Rejected(Rejection::NoRight),
            _ if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                Self::Rejected(Rejection::Link)
            }
            _ => Self::Later(error),
        }
    }
}

impl From<Rejection> for NotRead {
    fn from(why: Rejection) -> Self {
        Self::Rejected(why)
    }
}

impl Workspace {
    /// Makes the folder of markers, for its owner alone, if it is not there. Never the workspace itself.
    ///
    /// # Errors
    /// [`WorkspaceError`] says what could not be made.
    pub fn make_marker_folder(&self) -> Result<(), WorkspaceError> {
        self.own_folder(&["flush"]).map(drop)
    }

    /// Looks at the markers behind the name `after`, and moves aside what is none.
    ///
    /// # Errors
    /// [`WorkspaceError`] if the folder cannot be looked at.
    pub fn markers(&self, after: Option<&OsStr>) -> Result<Markers, WorkspaceError> {
        let folder = self.own_folder(&["flush"])?;
        let listed = fs::read_dir(&folder).map_err(|source| io_error(&shown(""), source))?;
        let mut names: Vec<OsString> = listed
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<io::Result<_>>()
            .map_err(|source| io_error(&shown(""), source))?;
        names.retain(|name| {
            layout::is_marker(&name.to_string_lossy()) && after.is_none_or(|after| &**name > after)
        });
        names.sort();
        let mut found = Markers::default();
        if names.len() > MAX_MARKERS {
            names.truncate(MAX_MARKERS);
            found.more_after = names.last().cloned();
        }
        for name in names {
            let shown = name.to_string_lossy().into_owned();
            let looked =
                if is_showable(&name) { read(&folder.join(&name)) } else { Err(Rejection::Name.into()) };
            match looked {
                Ok((says, file)) => found.whole.push(Marker { name: shown, says, file }),
                Err(NotRead::Gone) => {}
                Err(NotRead::Later(error)) => found.unread.push((shown, error.to_string())),
                Err(NotRead::Rejected(why)) => match self.move_aside(&folder, &name, &why) {
                    Ok(kept) => found.rejected.push(kept),
                    Err(error) => found.unread.push((shown, error.to_string())),
                },
            }
        }
        Ok(found)
    }

    /// Removes a marker whose content is durable by now. Another one that took its name since stays.
    ///
    /// # Errors
    /// [`WorkspaceError::Io`]; the marker is still there then.
    pub fn remove_marker(&self, marker: &Marker) -> Result<(), WorkspaceError> {
        let folder = self.own_folder(&["flush"])?;
        let path = folder.join(&marker.name);
        let removed = match fs::symlink_metadata(&path) {
            Ok(metadata) if (metadata.dev(), metadata.ino()) == marker.file => fs::remove_file(&path),
            Ok(_) => return Ok(()),
            Err(error) => Err(error),
        };
        match removed.and_then(|()| sync_folder(&folder)) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(io_error(&shown(&marker.name), source))
            }
            _ => Ok(()),
        }
    }

    /// Moves a marker aside that can be read and still not be taken; returns its name there.
    ///
    /// # Errors
    /// [`WorkspaceError::Io`]; the marker is where it was then.
    pub fn reject_marker(&self, marker: &Marker, why: &Rejection) -> Result<String, WorkspaceError> {
        let folder = self.own_folder(&["flush"])?;
        self.move_aside(&folder, OsStr::new(&marker.name), why)
    }

    /// Moves a file to `rejected/`, byte for byte, after the reason was put there. What a crash in between leaves is
    /// written over by the next look.
    fn move_aside(&self, folder: &Path, name: &OsStr, why: &Rejection) -> Result<String, WorkspaceError> {
        let rejected = self.own_folder(&["flush", "rejected"])?;
        let failed = |source| io_error(&shown(&name.to_string_lossy()), source);
        let target = free_place(&rejected, name);
        let kept = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let reason = format!(
            "{kept} was not taken: {why}\n\nThe file beside this one is as it was. Mend it and move it back to \
             {}, or delete both.\nA marker is JSON such as {{\"v\":{MARKER_VERSION},\"session_id\":\"…\",\"messages\":\
             [{{\"role\":\"user\",\"content\":\"…\"}}]}}; only \"v\" is required.\n",
            shown(""),
        );
        let mut beside = target.clone().into_os_string();
        beside.push(".reason.txt");
        write_private(Path::new(&beside), redact(&reason).0.as_str().as_bytes())
            .and_then(|()| fs::rename(folder.join(name), &target))
            .and_then(|()| sync_folder(&rejected))
            .and_then(|()| sync_folder(folder))
            .map_err(failed)?;
        Ok(kept)
    }
}

/// A marker, or the folder of all, as messages name it.
fn shown(name: &str) -> String {
    format!("{MARKER_FOLDER}/{name}")
}

/// Reads one marker, and tells which file it was.
fn read(path: &Path) -> Result<(FlushMarker, (u64, u64)), NotRead> {
    let (bytes, file) = read_bytes(path)?;
    let text = String::from_utf8(bytes).map_err(|_| Rejection::NotUtf8)?;
    if text.trim().is_empty() && path.extension().is_some_and(|end| end == "flush") {
        // An empty `*.flush` says: all sessions.
        return Ok((FlushMarker { v: MARKER_VERSION, ..FlushMarker::default() }, file));
    }
    Ok((FlushMarker::read(&text).map_err(Rejection::from)?, file))
}

/// The limits are judged before the file is opened, and again on what was opened.
fn read_bytes(path: &Path) -> Result<(Vec<u8>, (u64, u64)), NotRead> {
    checked(&fs::symlink_metadata(path)?)?;
    let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    let metadata = file.metadata()?;
    checked(&metadata)?;
    let mut bytes = Vec::new();
    (&file).take(MAX_MARKER_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_MARKER_BYTES {
        return Err(Rejection::TooLarge(bytes.len() as u64).into());
    }
    Ok((bytes, (metadata.dev(), metadata.ino())))
}

fn checked(metadata: &Metadata) -> Result<(), Rejection> {
    let us = rustix::process::geteuid().as_raw();
    let refused = if metadata.is_symlink() {
        Rejection::Link
    } else if !metadata.is_file() {
        Rejection::NotAFile
    } else if metadata.uid() != us {
        Rejection::Foreign(metadata.uid())
    } else if metadata.len() > MAX_MARKER_BYTES {
        Rejection::TooLarge(metadata.len())
    } else {
        return Ok(());
    };
    Err(refused)
}

/// Whether a name can be written into messages and found again by what they say.
fn is_showable(name: &OsStr) -> bool {
    name.to_str().is_some_and(layout::is_visible)
}

/// A name in `rejected` under which nothing is kept yet: the marker's own, else with a number. A name that cannot be
/// shown, or leaves no room for the reason's, gives way to one made of its hash.
fn free_place(rejected: &Path, name: &OsStr) -> PathBuf {
    let kept = match name.to_str() {
        Some(text) if is_showable(name) && text.len() <= MAX_KEPT_NAME => text.to_owned(),
        _ => format!("marker-{}.json", ContentHash::of(name.as_encoded_bytes()).0),
    };
    let (stem, end) = kept.rsplit_once('.').unwrap_or((&kept, ""));
    let numbered = (2..).map(|number: u32| format!("{stem}-{number}.{end}"));
    let mut places = std::iter::once(kept.clone()).chain(numbered).map(|name| rejected.join(name));
    places.find(|place| fs::symlink_metadata(place).is_err()).unwrap_or_else(|| rejected.join(&kept))
}

/// Writes a file that only its owner may read; one that is there is replaced, and a link is not followed.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
