//! One daemon at a time: an advisory lock on a file that says who holds it.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Held for as long as it lives. The system lets go of it even when the process is killed; the file stays.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the open file is the lock")] File);

/// Why there is no lock.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Somebody else holds it.
    #[error("ocmemd is already running{}; stop it first, or ask it with `ocmemd status`", named(*pid))]
    AlreadyRunning {
        /// The process that holds it; unknown in the moment in which it starts.
        pid: Option<u32>,
    },
    /// The file cannot be had.
    #[error("the lock file {} cannot be used", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

fn named(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default()
}

impl Lock {
    /// Takes the lock on a file, which is made where it is missing; a link is not followed.
    ///
    /// # Errors
    /// [`LockError`]; nobody is waited for.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let io = |source| LockError::Io { path: path.to_owned(), source };
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
            .open(path)
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                // Whoever holds the lock may be about to write; then the pid is not known.
                let pid = file.read_to_string(&mut holder).ok().and_then(|_| holder.trim().parse().ok());
                return Err(LockError::AlreadyRunning { pid });
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(io)?;
        Ok(Self(file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_one_is_refused_with_the_pid_of_the_first_until_that_lets_go() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        std::fs::write(&path, "999999999 left by a longer pid").unwrap();
        let first = Lock::take(&path).unwrap();
        let Err(LockError::AlreadyRunning { pid }) = Lock::take(&path) else { panic!("both have it") };
        assert_eq!(pid, Some(std::process::id()));
        drop(first);
        Lock::take(&path).unwrap();
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("lock"));
        std::fs::write(&target, "用户的").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(matches!(Lock::take(&link), Err(LockError::Io { .. })));
        assert_eq!(std::fs::read_to_string(&target).unwrap(), "用户的");
    }
}
