//! The configuration: read from flag, environment, file and defaults in that order of precedence, checked once.
//!
//! A key `long_term.top_k` is `top_k` under `[long_term]` in the file, `OCMEMD_LONG_TERM__TOP_K` in the environment,
//! and `--set long_term.top_k=…` on the command line. `config/ocmemd.toml` explains every key.

mod edit;
mod error;
mod layers;
mod raw;
mod rules;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::Deserialize;

use crate::clock::Zone;
use crate::memory::UserId;
use crate::memory::due::Schedules;
use crate::paths::Paths;
pub use error::{ConfigError, Origin, Problem};
use layers::{Layers, Placed};
pub use raw::{
    Context, DEFAULT_OWNER, Forgetting, LongTerm, MemoryPosition, Promotion, Recall, ShortTerm, Socket,
    TimePart, Watch,
};
use raw::{Raw, RawWorkspace};

/// The configuration as everything else uses it.
#[derive(Debug, Clone)]
pub struct Config {
    /// The watched workspaces, in the order of the file; may be empty.
    pub workspaces: Vec<Workspace>,
    /// The user's zone.
    pub zone: Zone,
    /// The database and the model.
    pub storage: Storage,
    /// Long-term memory.
    pub long_term: LongTerm,
    /// Short-term memory.
    pub short_term: ShortTerm,
    /// The block of memories.
    pub context: Context,
    /// How memories are found.
    pub recall: Recall,
    /// What is carried into `MEMORY.md`.
    pub promotion: Promotion,
    /// What the sweep lets go.
    pub forgetting: Forgetting,
    /// How files are watched.
    pub watch: Watch,
    /// When the calendar's jobs run, on the user's wall clock.
    pub schedule: Schedules,
    /// The socket's limits.
    pub socket: Socket,
    /// Every key that has a value, with the place it comes from.
    pub settings: Vec<Setting>,
}

/// A watched folder and the user it belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The folder; absolute.
    pub path: PathBuf,
    /// Its user.
    pub owner: UserId,
}

/// The database and the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    /// The database's file; absolute.
    pub sqlite_path: PathBuf,
    /// A model's name on the hub, or its folder.
    pub embedding_model: EmbeddingModel,
}

/// Where the model is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmbeddingModel {
    /// A name on the hub, such as `BAAI/bge-small-zh-v1.5`.
    Hub(String),
    /// A folder; absolute.
    Folder(PathBuf),
}

/// One key and where its value comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The key, such as `long_term.top_k`.
    pub key: &'static str,
    /// Its value.
    pub value: toml::Value,
    /// Where that comes from.
    pub origin: Origin,
}

/// Where a configuration is read from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// A file named by the user, which must exist; else the one of [`Paths`], which need not.
    pub file: Option<PathBuf>,
    /// The environment's variables.
    pub env: Vec<(OsString, OsString)>,
    /// Keys and values of the command line.
    pub flags: Vec<(String, String)>,
}

impl Config {
    /// Reads all sources and checks the result.
    ///
    /// # Errors
    /// [`ConfigError`] holds everything that is wrong, each with its place.
    pub fn load(paths: &Paths, sources: &Sources) -> Result<Self, ConfigError> {
        let mut layers = Layers::default();
        layers.defaults(&defaults()?);
        if let Some((path, text)) = read_file(paths, sources.file.as_deref())? {
            layers.file(&path, &text);
        }
        layers.env(&sources.env);
        layers.flags(&sources.flags);
        check(paths, layers)
    }
}

/// The file's path and text; `None` where there is none and none was asked for.
fn read_file(paths: &Paths, named: Option<&Path>) -> Result<Option<(PathBuf, String)>, Problem> {
    let path = named.unwrap_or(&paths.config_file).to_owned();
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some((path, text))),
        Err(error) if error.kind() == io::ErrorKind::NotFound && named.is_none() => Ok(None),
        Err(error) => Err(Problem::Read(path, error)),
    }
}

/// The built-in values as a table.
fn defaults() -> Result<toml::Table, Problem> {
    toml::Table::try_from(Raw::default()).map_err(internal)
}

/// The rules and the types disagree, which a test rules out.
fn internal(error: impl ToString) -> Problem {
    Problem::Syntax(Origin::Default, error.to_string())
}

/// Makes the configuration of what was read.
fn check(paths: &Paths, mut layers: Layers) -> Result<Config, ConfigError> {
    let mut nested = toml::Table::new();
    for (key, placed) in &layers.values {
        let Some((section, name)) = key.split_once('.') else { continue };
        let keys = nested.entry(section).or_insert_with(|| toml::Table::new().into());
        if let Some(keys) = keys.as_table_mut() {
            keys.insert(name.to_owned(), placed.value.clone());
        }
    }
    let raw = Raw::deserialize(nested).map_err(internal)?;
    check_together(&raw, &mut layers);
    let workspaces = check_workspaces(paths, &mut layers);
    if !layers.problems.is_empty() {
        return Err(ConfigError { problems: layers.problems });
    }
    Ok(Config {
        workspaces,
        zone: raw.time.zone.parse().map_or(Zone::System, Zone::Fixed),
        storage: Storage {
            sqlite_path: paths.state_dir.join(paths.expand(&raw.storage.sqlite_path)),
            embedding_model: EmbeddingModel::parse(paths, &raw.storage.embedding_model),
        },
        long_term: raw.long_term,
        short_term: raw.short_term,
        context: raw.context,
        recall: raw.recall,
        promotion: raw.promotion,
        forgetting: raw.forgetting,
        watch: raw.watch,
        schedule: Schedules {
            rollup: raw.schedule.rollup.parse().map_err(internal)?,
            sweep: raw.schedule.sweep.parse().map_err(internal)?,
        },
        socket: raw.socket,
        settings: settings(layers.values),
    })
}

/// The values in the order of the table.
fn settings(mut values: std::collections::BTreeMap<&'static str, Placed>) -> Vec<Setting> {
    rules::RULES
        .iter()
        .filter_map(|(key, _)| {
            values.remove(key).map(|Placed { value, origin }| Setting { key, value, origin })
        })
        .collect()
}

/// What is wrong only in company.
fn check_together(raw: &Raw, layers: &mut Layers) {
    let recall = &raw.recall;
    let short_term = &raw.short_term;
    let rules = [
        (
            recall.vector_weight + recall.keyword_weight <= 0.0,
            "recall.vector_weight",
            "a sum of vector_weight and keyword_weight above 0",
        ),
        (
            short_term.summary_threshold > short_term.max_tokens,
            "short_term.summary_threshold",
            "no more than short_term.max_tokens",
        ),
    ];
    for (broken, key, allowed) in rules {
        if let (true, Some(placed)) = (broken, layers.values.get(key)) {
            layers.problems.push(Problem::Value {
                origin: placed.origin.clone(),
                key: key.to_owned(),
                got: placed.value.to_string(),
                allowed: allowed.to_owned(),
            });
        }
    }
}

fn check_workspaces(paths: &Paths, layers: &mut Layers) -> Vec<Workspace> {
    let mut checked: Vec<Workspace> = Vec::new();
    for (RawWorkspace { path, owner }, origin) in std::mem::take(&mut layers.workspaces) {
        let mut refuse = |key: &str, got: &str, allowed: String| {
            layers.problems.push(Problem::Value {
                origin: origin.clone(),
                key: format!("workspace.{key}"),
                got: format!("{got:?}"),
                allowed,
            });
        };
        // `a/b/` and `a/b` are one folder, and memories name it as it stands here.
        let folder: PathBuf = paths.expand(&path).components().collect();
        if !folder.is_absolute() {
            refuse("path", &path, "an absolute path, or one that begins with ~/".to_owned());
        } else if checked.iter().any(|known| known.path == folder) {
            refuse("path", &path, "each folder once".to_owned());
        }
        match UserId::new(&owner) {
            Ok(owner) => checked.push(Workspace { path: folder, owner }),
            Err(error) => refuse("owner", &owner, error.to_string()),
        }
    }
    checked
}

impl EmbeddingModel {
    /// A path if it looks like one, relative to the configuration's folder; else a name on the hub.
    fn parse(paths: &Paths, text: &str) -> Self {
        if text.starts_with(['/', '.', '~']) {
            let base = paths.config_file.parent().unwrap_or(Path::new("/"));
            Self::Folder(base.join(paths.expand(text)))
        } else {
            Self::Hub(text.to_owned())
        }
    }
}
