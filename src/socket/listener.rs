//! The socket itself: made in a folder of our own, closed to others from its first instant.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use interprocess::local_socket::tokio::Listener;
use interprocess::local_socket::{GenericFilePath, ListenerOptions, ToFsName};
use interprocess::os::unix::local_socket::ListenerOptionsExt;

use super::lock::{Lock, LockError};

/// A socket that can be served, and the lock that makes it ours. Dropped, it removes the socket.
#[derive(Debug)]
pub struct Bound {
    // Dropped in this order: the socket's file goes while the lock is still held.
    pub(super) listener: Listener,
    pub(super) lock: Lock,
}

/// Why there is no socket.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Another daemon is there, or the lock file cannot be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The folder is a link, a file, or somebody else's.
    #[error("{} must be a folder of your own, not a link; move it away or choose another with --home", .0.display())]
    Folder(PathBuf),
    /// Something that is not a socket of ours lies in the place of the socket.
    #[error("{} is not a socket of yours, so it is left alone; move it away or choose another place with --home", .0.display())]
    Occupied(PathBuf),
    /// The system refused.
    #[error("the socket {} cannot be made", path.display())]
    Io {
        /// The path of the socket.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Makes the socket: its folder with mode 0700, a lock beside it (`….sock.lock`) for as long as it lives, and itself with
/// mode 0600. A socket that a dead daemon left behind is removed, under the lock; a live one never.
///
/// Needs a tokio runtime. The lock says whose the socket is; whoever must be alone with a database locks that as well.
///
/// # Errors
/// [`BindError`].
pub fn bind(path: &Path) -> Result<Bound, BindError> {
    let io = |source| BindError::Io { path: path.to_owned(), source };
    let folder = path.parent().ok_or_else(|| io(io::ErrorKind::InvalidInput.into()))?;
    own_folder(folder)?;
    let mut lock = path.as_os_str().to_owned();
    lock.push(".lock");
    let lock = Lock::take(Path::new(&lock))?;
    remove_stale(path)?;
    let listener = listen(path).map_err(io)?;
    Ok(Bound { listener, lock })
}

fn own_folder(folder: &Path) -> Result<(), BindError> {
    let io = |source| BindError::Io { path: folder.to_owned(), source };
    if let Err(source) = folder.symlink_metadata() {
        if source.kind() != io::ErrorKind::NotFound {
            return Err(io(source));
        }
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(io)?;
    }
    let meta = folder.symlink_metadata().map_err(io)?;
    if !meta.is_dir() || meta.uid() != own_uid() {
        return Err(BindError::Folder(folder.to_owned()));
    }
    if meta.mode() & 0o777 != 0o700 {
        fs::set_permissions(folder, Permissions::from_mode(0o700)).map_err(io)?;
    }
    Ok(())
}

fn remove_stale(path: &Path) -> Result<(), BindError> {
    let io = |source| BindError::Io { path: path.to_owned(), source };
    let meta = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(io)?,
    };
    if !meta.file_type().is_socket() || meta.uid() != own_uid() {
        return Err(BindError::Occupied(path.to_owned()));
    }
    // We hold the lock, so nobody should answer; somebody does where the lock file was deleted under a running daemon.
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => fs::remove_file(path).map_err(io),
        Err(error) => Err(io(error)),
        Ok(_) => Err(LockError::AlreadyRunning { pid: None }.into()),
    }
}

fn listen(path: &Path) -> io::Result<Listener> {
    let options = || Ok::<_, io::Error>(ListenerOptions::new().name(path.to_fs_name::<GenericFilePath>()?));
    match options()?.mode(0o600).create_tokio() {
        // Where a socket cannot be given its mode before it has a name, the folder alone keeps others out until it has.
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            let listener = options()?.create_tokio()?;
            fs::set_permissions(path, Permissions::from_mode(0o600))?;
            Ok(listener)
        }
        made => made,
    }
}

pub(super) fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}
