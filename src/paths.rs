//! Where things lie: the XDG folders, or everything under one folder when a home is named.

use std::ffi::OsString;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folder names under the XDG bases.
const NAME: &str = "ocmemd";

/// Every place that ocmemd uses but the socket, which `socket` derives from this and the running system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    /// The one folder that holds everything, where one was named.
    pub home: Option<PathBuf>,
    /// The user's own folder, for `~`; absent where the environment names none.
    pub user_home: Option<PathBuf>,
    /// The configuration file.
    pub config_file: PathBuf,
    /// The folder of the database and the lock; 0700.
    pub state_dir: PathBuf,
    /// The folder of downloaded models.
    pub models_dir: PathBuf,
}

/// Why no place could be found or made.
#[derive(Debug, thiserror::Error)]
pub enum PathsError {
    /// Neither a home folder nor the XDG variable that replaces it.
    #[error("HOME is not set: set HOME or {0} to an absolute path, or name a folder with --home")]
    NoHome(&'static str),
    /// A relative `--home` in a working directory that cannot be read.
    #[error("cannot tell where {0} is; name an absolute path with --home")]
    Relative(PathBuf, #[source] io::Error),
    /// A folder could not be made or closed to others.
    #[error("cannot make the folder {0} with access for you alone")]
    Create(PathBuf, #[source] io::Error),
}

impl Paths {
    /// Finds the places: under `home` if given, else by `env`'s XDG variables, else under its `HOME`.
    /// Relative and empty values count as unset, as the XDG specification has it.
    ///
    /// # Errors
    /// [`PathsError::NoHome`] names the variable that would help.
    pub fn resolve(home: Option<&Path>, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self, PathsError> {
        let absolute = |name| env(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let user_home = absolute("HOME");
        if let Some(home) = home {
            let home = std::path::absolute(home).map_err(|e| PathsError::Relative(home.to_owned(), e))?;
            return Ok(Self {
                config_file: home.join("config.toml"),
                state_dir: home.join("state"),
                models_dir: home.join("models"),
                home: Some(home),
                user_home,
            });
        }
        let base = |variable: &'static str, below_home: &str| {
            absolute(variable)
                .or_else(|| user_home.as_ref().map(|home| home.join(below_home)))
                .map(|base| base.join(NAME))
                .ok_or(PathsError::NoHome(variable))
        };
        Ok(Self {
            config_file: base("XDG_CONFIG_HOME", ".config")?.join("config.toml"),
            state_dir: base("XDG_STATE_HOME", ".local/state")?,
            models_dir: base("XDG_DATA_HOME", ".local/share")?.join("models"),
            home: None,
            user_home,
        })
    }

    /// Makes the state folder, 0700 even where it was there with wider access.
    ///
    /// # Errors
    /// [`PathsError::Create`] names the folder.
    pub fn create_state_dir(&self) -> Result<(), PathsError> {
        let dir = &self.state_dir;
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .and_then(|()| fs::metadata(dir))
            .and_then(|found| match found.permissions().mode() & 0o777 {
                0o700 => Ok(()),
                _ => fs::set_permissions(dir, fs::Permissions::from_mode(0o700)),
            })
            .map_err(|e| PathsError::Create(dir.clone(), e))
    }

    /// `path` with a leading `~` replaced by the user's folder; unchanged where there is none.
    pub fn expand(&self, path: &str) -> PathBuf {
        match (path.strip_prefix('~'), &self.user_home) {
            (Some(""), Some(home)) => home.clone(),
            (Some(rest), Some(home)) if rest.starts_with('/') => home.join(rest.trim_start_matches('/')),
            _ => PathBuf::from(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolve(home: Option<&str>, vars: &[(&str, &str)]) -> Result<Paths, PathsError> {
        let env =
            |name: &str| vars.iter().find(|(key, _)| *key == name).map(|(_, value)| OsString::from(value));
        Paths::resolve(home.map(Path::new), &env)
    }

    #[test]
    fn xdg_variables_come_before_home_and_relative_ones_count_as_unset() {
        let vars = [("HOME", "/家"), ("XDG_STATE_HOME", "/s"), ("XDG_DATA_HOME", "data")];
        let paths = resolve(None, &vars).unwrap();
        assert_eq!(paths.config_file, Path::new("/家/.config/ocmemd/config.toml"));
        assert_eq!(paths.state_dir, Path::new("/s/ocmemd"));
        assert_eq!(paths.models_dir, Path::new("/家/.local/share/ocmemd/models"));
    }

    #[test]
    fn a_named_home_holds_everything_and_needs_no_variable() {
        let paths = resolve(Some("/数据/oc"), &[]).unwrap();
        assert_eq!(paths.config_file, Path::new("/数据/oc/config.toml"));
        assert_eq!(paths.state_dir, Path::new("/数据/oc/state"));
        assert_eq!(paths.models_dir, Path::new("/数据/oc/models"));
        assert!(resolve(Some("oc"), &[]).unwrap().state_dir.is_absolute());
    }

    #[test]
    fn without_any_home_the_error_says_what_to_set() {
        let error = resolve(None, &[("HOME", "")]).unwrap_err().to_string();
        assert!(error.contains("XDG_CONFIG_HOME") && error.contains("--home"), "{error}");
        let all = [("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "/s"), ("XDG_DATA_HOME", "/d")];
        assert!(resolve(None, &all).is_ok());
    }

    #[test]
    fn the_state_folder_is_closed_to_others_even_if_it_was_open() {
        let root = tempfile::tempdir().unwrap();
        let paths = resolve(Some(root.path().to_str().unwrap()), &[]).unwrap();
        let mode = || fs::metadata(&paths.state_dir).unwrap().permissions().mode() & 0o777;
        paths.create_state_dir().unwrap();
        assert_eq!(mode(), 0o700);
        fs::set_permissions(&paths.state_dir, fs::Permissions::from_mode(0o755)).unwrap();
        paths.create_state_dir().unwrap();
        assert_eq!(mode(), 0o700);
    }

    #[test]
    fn only_the_users_own_tilde_is_expanded() {
        let paths = resolve(None, &[("HOME", "/家")]).unwrap();
        assert_eq!(paths.expand("~/笔记"), Path::new("/家/笔记"));
        assert_eq!(paths.expand("~root/x"), Path::new("~root/x"));
        assert_eq!(paths.expand("/x"), Path::new("/x"));
    }
}
