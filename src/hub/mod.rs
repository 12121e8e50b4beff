//! Getting a model's files: from the hub, from the package index where the hub is blocked, or from a folder.
//!
//! Whatever the way, a model is put together in a folder beside its final one, its files are hashed into
//! `SHA256SUMS`, and the folder is renamed when it is whole: under the final name there is never half a model.

mod e5;
mod error;
mod huggingface;
mod package;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use error::HubError;

use crate::checksum::Sums;

/// The model that is taken when nobody names one.
pub const DEFAULT_REPOSITORY: &str = "BAAI/bge-small-zh-v1.5";

/// Which model, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spec {
    /// `owner/name` on the hub.
    Repository(String),
    /// multilingual-e5-small, from a Python package: the way out where the hub is blocked but packages are not.
    Package,
    /// A folder that is already there.
    Folder(PathBuf),
}

impl Spec {
    /// What a person calls a model: `owner/name` is one of the hub, anything else is a folder.
    pub fn parse(name: &str) -> Self {
        let plain = |part: &str| {
            !part.is_empty()
                && !part.starts_with(['.', '~'])
                && !part.contains(['\\', ':'])
                && part.trim() == part
        };
        match name.split('/').collect::<Vec<_>>()[..] {
            [owner, model] if plain(owner) && plain(model) => Self::Repository(name.to_owned()),
            _ => Self::Folder(PathBuf::from(name)),
        }
    }

    /// Where the model lies, or will lie when it has been fetched.
    pub fn folder(&self, models: &Path) -> PathBuf {
        match self {
            Self::Repository(name) => models.join(name.replace('/', "--")),
            Self::Package => models.join(package::MODEL.replace('/', "--")),
            Self::Folder(path) => path.clone(),
        }
    }
}

impl Default for Spec {
    fn default() -> Self {
        Self::Repository(DEFAULT_REPOSITORY.to_owned())
    }
}

/// Where to look and how long to wait.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The folder that holds one folder per model.
    pub models: PathBuf,
    /// The hub's address, without a slash at the end.
    pub endpoint: String,
    /// The hub's cache, in the layout that other tools share.
    pub cache: PathBuf,
    /// Take only what the cache holds.
    pub offline: bool,
    /// How long the hub may take to answer at all.
    pub reach: Duration,
    /// How long a download may stand still.
    pub stall: Duration,
    /// The Python that runs pip.
    pub python: String,
}

impl Settings {
    /// From the hub's own variables: `HF_HOME` (cache), `HF_ENDPOINT` (mirrors), `HF_HUB_OFFLINE`. Without
    /// `HF_HOME` the cache lies below `models`.
    pub fn from_env(models: &Path) -> Self {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let endpoint = variable("HF_ENDPOINT").unwrap_or_else(|| huggingface::ENDPOINT.to_owned());
        let offline = variable("HF_HUB_OFFLINE").unwrap_or_default().to_lowercase();
        Self {
            models: models.to_owned(),
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            cache: variable("HF_HOME")
                .map_or_else(|| models.join("cache"), |home| Path::new(&home).join("hub")),
            offline: ["1", "true", "yes", "on"].contains(&offline.as_str()),
            reach: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            python: "python3".to_owned(),
        }
    }
}

/// How far a download is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// What is being fetched.
    pub file: String,
    /// Bytes that are here.
    pub bytes: u64,
    /// Bytes in all, where the other side says so.
    pub total: Option<u64>,
}

/// Gets a model and returns its folder, as [`fetch_into`] the folder that [`Spec::folder`] names.
///
/// # Errors
/// As [`fetch_into`].
pub fn fetch(
    spec: &Spec,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, HubError> {
    fetch_into(&spec.folder(&settings.models), spec, settings, progress)
}

/// Gets a model into the folder `target` and returns that. One that is already there and whole is left alone; one
/// that is damaged is set aside and fetched again; a [`Spec::Folder`] stays where it is. Blocks.
///
/// # Errors
/// [`HubError`] says what went wrong and what to type.
pub fn fetch_into(
    target: &Path,
    spec: &Spec,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<PathBuf, HubError> {
    let partial = beside(target, ".", ".partial");
    let filled = match spec {
        Spec::Folder(path) if path.join("config.json").is_file() => return Ok(path.clone()),
        Spec::Folder(path) => return Err(HubError::NotAModel(path.clone())),
        _ if target.exists() && verify(target).is_ok() => return Ok(target.to_owned()),
        Spec::Repository(repository) => {
            empty(&partial).and_then(|()| huggingface::fill(&partial, repository, settings, progress))
        }
        Spec::Package => empty(&partial).and_then(|()| package::fill(&partial, settings, progress)),
    };
    let (source, files) = filled.inspect_err(|_| drop(remove(&partial)))?;
    let sums = Sums::of_folder(&partial, &source, &files).map_err(|error| HubError::io(&partial, error))?;
    sums.write(&partial).map_err(|error| HubError::io(&partial, error))?;
    if target.exists() {
        rename(target, &beside(target, "", ".damaged"))?;
    }
    fs::rename(&partial, target).map_err(|error| HubError::io(target, error))?;
    Ok(target.to_owned())
}

/// A folder beside `target`, named after it.
fn beside(target: &Path, before: &str, after: &str) -> PathBuf {
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!("{before}{name}{after}"))
}

/// Compares a folder's files with its `SHA256SUMS`; a folder without one has nothing to compare with.
///
/// # Errors
/// [`HubError::WrongHash`] names the first file that differs, [`HubError::Io`] one that cannot be read.
pub fn verify(folder: &Path) -> Result<(), HubError> {
    let sums = Sums::read(folder).map_err(|error| HubError::io(folder, error))?;
    for (expected, name) in sums.into_iter().flat_map(|sums| sums.files) {
        check_hash(&folder.join(&name), &name, &expected)?;
    }
    Ok(())
}

fn check_hash(path: &Path, name: &str, expected: &str) -> Result<(), HubError> {
    let found = crate::checksum::of_file(path).map_err(|error| HubError::io(path, error))?;
    if found == expected {
        return Ok(());
    }
    Err(HubError::WrongHash { file: name.to_owned(), expected: expected.to_owned(), found })
}

fn empty(folder: &Path) -> Result<(), HubError> {
    remove(folder)?;
    fs::create_dir_all(folder).map_err(|error| HubError::io(folder, error))
}

fn rename(from: &Path, to: &Path) -> Result<(), HubError> {
    remove(to)?;
    fs::rename(from, to).map_err(|error| HubError::io(from, error))
}

fn remove(folder: &Path) -> Result<(), HubError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(HubError::io(folder, error)),
        _ => Ok(()),
    }
}
