//! What every write to a workspace is made of: a lock, one write, a rename, and a look at the folder.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::{Workspace, WorkspaceError};
use crate::memory::layout::OWN_FOLDER;

/// Opens a file to append to it, making it if need be, and takes its lock until it is closed. Whoever saves by rename
/// while we wait for the lock leaves us with a file that nobody sees any more: then it is opened again.
pub(super) fn lock(path: &Path, mode: u32) -> io::Result<File> {
    loop {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let mut options = OpenOptions::new();
        let options = options.read(true).append(true).create(true).mode(mode);
        let file = options.custom_flags(flags.bits() as i32).open(path)?;
        file.lock()?;
        let (ours, current) = (file.metadata()?, fs::symlink_metadata(path));
        if current.is_ok_and(|current| (current.dev(), current.ino()) == (ours.dev(), ours.ino())) {
            return Ok(file);
        }
    }
}

/// One write: other programs that append see all of it or nothing. A disk that is full leaves no half line behind.
pub(super) fn write_whole(file: &mut File, before: u64, bytes: &[u8]) -> io::Result<()> {
    let written = file.write(bytes)?;
    if written == bytes.len() {
        return Ok(());
    }
    if file.metadata()?.len() == before + written as u64 {
        file.set_len(before)?;
    }
    Err(io::ErrorKind::StorageFull.into())
}

/// Writes `bytes` to a hidden file beside `path`, with the rights of `like`, and returns its name; it is on disk then.
/// Whoever holds the lock of `path` is alone with that name, and takes over what a crash left there.
pub(super) fn write_beside(path: &Path, bytes: &[u8], like: &File) -> io::Result<PathBuf> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let beside = path.with_file_name(format!(".{name}.ocmemd.tmp"));
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| file.set_permissions(like.metadata()?.permissions()))
        .and_then(|()| file.sync_all());
    match written {
        Ok(()) => Ok(beside),
        Err(error) => {
            let _ = fs::remove_file(&beside);
            Err(error)
        }
    }
}

/// Puts what was made, renamed or removed in a folder on disk.
pub(super) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

pub(super) fn io_error(file: &str, source: io::Error) -> WorkspaceError {
    WorkspaceError::Io { file: file.to_owned(), source }
}

impl Workspace {
    /// A folder below [`OWN_FOLDER`], made for its owner alone if it is not there. A link is not followed.
    pub(super) fn own_folder(&self, names: &[&str]) -> Result<PathBuf, WorkspaceError> {
        if !self.root.is_dir() {
            return Err(WorkspaceError::Unreachable(self.root.display().to_string()));
        }
        let (mut path, mut shown) = (self.root.clone(), String::new());
        for name in [OWN_FOLDER].iter().chain(names) {
            shown = if shown.is_empty() { (*name).to_owned() } else { format!("{shown}/{name}") };
            let above = path.clone();
            path.push(name);
            let made = match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => sync_folder(&above),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                Err(error) => Err(error),
            };
            made.map_err(|source| io_error(&shown, source))?;
            if !fs::symlink_metadata(&path).is_ok_and(|metadata| metadata.is_dir()) {
                return Err(io_error(&shown, io::ErrorKind::NotADirectory.into()));
            }
        }
        Ok(path)
    }
}
