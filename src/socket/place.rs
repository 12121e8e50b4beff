//! Where the socket lies: the same answer for the daemon and for whoever looks for it.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// The longest path a socket can have, in bytes.
pub const MAX_PATH_BYTES: usize = if cfg!(target_os = "linux") { 107 } else { 103 };

/// The folder that holds everything else, from which the socket's place follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base<'a> {
    /// The state folder; the socket lies in the user's runtime folder where there is one.
    State(&'a Path),
    /// The folder given by `--home`; the socket lies in it.
    Home(&'a Path),
}

/// There is no path for the socket that the system would take.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the socket's path {} has {} bytes, the system takes at most {MAX_PATH_BYTES}, and the user has no runtime folder \
     for a shorter one; choose a shorter folder with --home, or set XDG_RUNTIME_DIR",
    .0.display(), .0.as_os_str().len()
)]
pub struct TooLong(pub PathBuf);

/// The socket's path.
///
/// By default `ocmemd/ocmemd.sock` in `$XDG_RUNTIME_DIR` or else in `/run/user/UID`, whichever is the user's own
/// (`ours`, see [`is_ours`]); else `ocmemd.sock` in the state folder. Under a home always `run/ocmemd.sock`.
/// A path that is too long for the system gives way to a name in the runtime folder that is derived from it.
///
/// # Errors
/// [`TooLong`] where that is needed and there is no runtime folder.
pub fn socket_path(
    base: Base<'_>,
    env: impl Fn(&str) -> Option<OsString>,
    uid: u32,
    ours: impl Fn(&Path) -> bool,
) -> Result<PathBuf, TooLong> {
    let runtime = env("XDG_RUNTIME_DIR")
        .map(PathBuf::from)
        .into_iter()
        .chain([PathBuf::from(format!("/run/user/{uid}"))])
        .find(|dir| dir.is_absolute() && ours(dir))
        .map(|dir| dir.join("ocmemd"));
    let wanted = match (base, &runtime) {
        (Base::Home(home), _) => home.join("run/ocmemd.sock"),
        (Base::State(_), Some(runtime)) => runtime.join("ocmemd.sock"),
        (Base::State(state), None) => state.join("ocmemd.sock"),
    };
    let fits = |path: &Path| path.as_os_str().len() <= MAX_PATH_BYTES;
    if fits(&wanted) {
        return Ok(wanted);
    }
    let digest = Sha256::digest(wanted.as_os_str().as_bytes());
    let name: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    runtime.map(|dir| dir.join(format!("{name}.sock"))).filter(|path| fits(path)).ok_or(TooLong(wanted))
}

/// Whether this is a folder (not a link to one) that belongs to that user and that nobody else may write to.
pub fn is_ours(dir: &Path, uid: u32) -> bool {
    dir.symlink_metadata().is_ok_and(|meta| meta.is_dir() && meta.uid() == uid && meta.mode() & 0o022 == 0)
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn path(base: Base<'_>, xdg: Option<&str>, ours: &[&str]) -> Result<PathBuf, TooLong> {
        let env = |name: &str| xdg.filter(|_| name == "XDG_RUNTIME_DIR").map(OsString::from);
        socket_path(base, env, 1000, |dir| ours.iter().any(|own| Path::new(own) == dir))
    }

    #[test]
    fn the_first_runtime_folder_of_our_own_wins_and_the_state_folder_is_the_last_resort() {
        let state = Base::State(Path::new("/state"));
        let table: [(Option<&str>, &[&str], &str); 5] = [
            (Some("/xdg"), &["/xdg", "/run/user/1000"], "/xdg/ocmemd/ocmemd.sock"),
            (Some("/other"), &["/run/user/1000"], "/run/user/1000/ocmemd/ocmemd.sock"),
            (Some("relative"), &["relative"], "/state/ocmemd.sock"),
            (None, &["/run/user/1000"], "/run/user/1000/ocmemd/ocmemd.sock"),
            (None, &[], "/state/ocmemd.sock"),
        ];
        for (xdg, ours, expected) in table {
            assert_eq!(path(state, xdg, ours).unwrap(), Path::new(expected), "{xdg:?} {ours:?}");
        }
        let home = Base::Home(Path::new("/家"));
        assert_eq!(path(home, Some("/xdg"), &["/xdg"]).unwrap(), Path::new("/家/run/ocmemd.sock"));
    }

    #[test]
    fn a_path_up_to_the_limit_is_taken_and_a_longer_one_gives_way_or_is_refused_with_the_numbers() {
        let of_length = |bytes: usize| format!("/{}", "h".repeat(bytes - "//run/ocmemd.sock".len()));
        let longest = of_length(MAX_PATH_BYTES);
        assert!(path(Base::Home(Path::new(&longest)), None, &[]).is_ok());

        let longer = of_length(MAX_PATH_BYTES + 1);
        let home = Base::Home(Path::new(&longer));
        let short = path(home, Some("/xdg"), &["/xdg"]).unwrap();
        assert_eq!(short, path(home, Some("/xdg"), &["/xdg"]).unwrap());
        assert!(short.starts_with("/xdg/ocmemd"));
        let refused = path(home, None, &[]).unwrap_err().to_string();
        for part in
            [longer.as_str(), &MAX_PATH_BYTES.to_string(), &(MAX_PATH_BYTES + 1).to_string(), "--home"]
        {
            assert!(refused.contains(part), "{refused}");
        }
    }

    #[test]
    fn a_folder_is_ours_only_if_nobody_else_can_write_there() {
        let folder = tempfile::tempdir().unwrap();
        let uid = rustix::process::geteuid().as_raw();
        assert!(is_ours(folder.path(), uid));
        assert!(!is_ours(folder.path(), uid + 1));
        symlink(folder.path(), folder.path().join("link")).unwrap();
        assert!(!is_ours(&folder.path().join("link"), uid));
        assert!(!is_ours(&folder.path().join("missing"), uid));
        set_permissions(folder.path(), Permissions::from_mode(0o777)).unwrap();
        assert!(!is_ours(folder.path(), uid));
    }
}
