//! What is wrong with a configuration, told with place, key and what is allowed.

use std::fmt;
use std::io;
use std::path::PathBuf;

use super::rules::{self, Allowed, RULES};

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Built in.
    Default,
    /// The configuration file, with the line from 1.
    File(PathBuf, usize),
    /// An environment variable.
    Env(String),
    /// `--set` on the command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File(path, line) => write!(f, "{}:{line}", path.display()),
            Self::Env(name) => f.write_str(name),
            Self::Flag => f.write_str("--set"),
        }
    }
}

/// One thing that is wrong.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The file is there, or was asked for, and cannot be read.
    #[error("{0}: cannot be read: {1}")]
    Read(PathBuf, #[source] io::Error),
    /// The file cannot be written.
    #[error("{0}: cannot be written: {1}")]
    Write(PathBuf, #[source] io::Error),
    /// Not TOML.
    #[error("{0}: {1}")]
    Syntax(Origin, String),
    /// No such key.
    #[error("{origin}: there is no key `{key}`{}; allowed: {}", did_you_mean(nearest), allowed.join(", "))]
    UnknownKey {
        /// Where it stands.
        origin: Origin,
        /// The key as it is written.
        key: String,
        /// The key that may have been meant.
        nearest: Option<String>,
        /// The keys there are in this section, or the sections.
        allowed: Vec<String>,
    },
    /// A value that the key cannot hold.
    #[error("{origin}: `{key}` is {got}; allowed: {allowed}")]
    Value {
        /// Where it stands.
        origin: Origin,
        /// The key.
        key: String,
        /// The value.
        got: String,
        /// What it may be.
        allowed: String,
    },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|key| format!(" (did you mean `{key}`?)")).unwrap_or_default()
}

impl Problem {
    /// `key` is unknown: finds what is allowed in its place and what may have been meant.
    pub(super) fn unknown(origin: Origin, key: &str) -> Self {
        let section = rules::section(key);
        let allowed: Vec<String> = match section {
            "workspace" => rules::WORKSPACE_KEYS.iter().map(|name| format!("workspace.{name}")).collect(),
            _ if rules::is_section(section) => RULES
                .iter()
                .filter(|(name, _)| rules::section(name) == section)
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            _ => sections(),
        };
        let known = RULES.iter().map(|(name, _)| (*name).to_owned()).chain(sections()).chain(allowed.clone());
        let nearest = known
            .map(|name| (strsim::jaro_winkler(key, &name), name))
            .filter(|(likeness, _)| *likeness > 0.85)
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, name)| name);
        Self::UnknownKey { origin, key: key.to_owned(), nearest, allowed }
    }

    pub(super) fn value(origin: Origin, key: &str, got: &toml::Value, allowed: Allowed) -> Self {
        Self::Value { origin, key: key.to_owned(), got: got.to_string(), allowed: allowed.to_string() }
    }
}

fn sections() -> Vec<String> {
    let mut names = vec!["workspace".to_owned()];
    names.extend(RULES.iter().map(|(key, _)| rules::section(key).to_owned()));
    names.dedup();
    names
}

/// Everything that is wrong, so that one look mends it all.
#[derive(Debug)]
pub struct ConfigError {
    /// At least one problem, in the order of the sources.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<_> = self.problems.iter().map(ToString::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for ConfigError {}

impl From<Problem> for ConfigError {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem] }
    }
}
