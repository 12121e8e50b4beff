//! The result of `status`: the truth about the daemon, and what to do where it is not well.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods::LegName;
use crate::memory::due::{JobKind, Outcome};

/// How the daemon is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// All is well.
    Ok,
    /// It works, but not as it should; `advice` says what to do.
    Degraded,
    /// Nobody answers on the socket.
    NotRunning,
}

/// Result of `status`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// How the daemon is.
    pub state: State,
    /// The version of whoever answers: the daemon, or the command line where no daemon runs.
    pub version: String,
    /// The protocol it speaks.
    pub protocol: u32,
    /// Where its socket is, or would be.
    pub socket: String,
    /// The running daemon; absent where none runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub daemon: Option<Daemon>,
    /// What is not well, and what to do about it; empty when all is well.
    pub advice: Vec<Advice>,
}

/// The running daemon.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Daemon {
    /// Its process.
    pub pid: u32,
    /// The path of its binary.
    pub binary: String,
    /// When it started.
    pub started_at: DateTime<Utc>,
    /// What its clock shows, where a test has moved it; absent where it is the real time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_clock: Option<DateTime<Utc>>,
    /// Seconds since.
    pub uptime_s: u64,
    /// The workspaces it watches.
    pub workspaces: Vec<WorkspaceStatus>,
    /// How it watches.
    pub watch: WatchStatus,
    /// What it remembers.
    pub memories: Memories,
    /// The conversations it keeps.
    #[serde(default)]
    pub conversations: Conversations,
    /// The resident model; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelStatus>,
    /// The database.
    pub store: StoreStatus,
    /// Latencies since the start, or of the last thousand.
    pub latency: LatencyStatus,
    /// What runs by the calendar; absent until it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calendar: Option<CalendarStatus>,
    /// Which ways of looking work now.
    pub legs: Vec<LegStatus>,
    /// The last errors, newest first.
    pub errors: Vec<PastError>,
}

/// One watched workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkspaceStatus {
    /// Its folder.
    pub root: String,
    /// The user it belongs to.
    pub owner: String,
    /// False where it cannot be read now; nothing is deleted because of that.
    pub reachable: bool,
    /// Files that are read.
    pub files: u64,
    /// Entries found in them.
    pub entries_on_disk: u64,
    /// Entries of them in the index.
    pub entries_indexed: u64,
    /// Files that were not read, the first of them, each with the reason.
    pub skipped: Vec<SkippedFile>,
    /// How many there are.
    pub skipped_count: u64,
    /// Secrets in files, the first of them; they are not indexed.
    pub secrets: Vec<SecretFile>,
    /// How many there are.
    pub secrets_count: u64,
    /// Entries whose deletion is held back because too much was gone at once.
    pub held_deletions: u64,
}

/// A file that was not read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkippedFile {
    /// Relative to the workspace.
    pub file: String,
    /// Why.
    pub reason: String,
}

/// A file that holds a secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SecretFile {
    /// Relative to the workspace.
    pub file: String,
    /// The line.
    pub line: u32,
    /// The type of secret.
    pub kind: String,
}

/// How files are watched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchStatus {
    /// `inotify`, `fsevents` or `polling`.
    pub mode: String,
    /// When a change was last noticed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_event_at: Option<DateTime<Utc>>,
    /// When files and index were last compared as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_reconcile_at: Option<DateTime<Utc>>,
}

/// What is remembered, of all users.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Memories {
    /// In the index.
    pub indexed: u64,
    /// Of these, without a vector of the answering model.
    pub waiting: u64,
    /// While another model's vectors are built: how many are still to be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rebuilding: Option<u64>,
}

/// Conversations of the last days, of all users.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Conversations {
    /// Sessions.
    pub sessions: u64,
    /// Messages.
    pub messages: u64,
    /// Summaries that are still to be made.
    pub jobs: u64,
}

/// The resident model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelStatus {
    /// Its name.
    pub name: String,
    /// The hash of its files.
    pub hash: String,
    /// Components of a vector.
    pub dimension: u32,
    /// The folder it was loaded from.
    pub source: String,
    /// How the numbers are held, for queries and for batches.
    pub precision: String,
    /// How long loading took.
    pub load_ms: u64,
}

/// The database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StoreStatus {
    /// Its file.
    pub path: String,
    /// Its size with its write-ahead log.
    pub bytes: u64,
    /// The version of its schema.
    pub schema: u32,
    /// The answering generation of vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
}

/// Percentiles of what was measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Percentiles {
    /// How many were measured.
    pub count: u64,
    /// Half were faster, in milliseconds.
    pub p50_ms: f64,
    /// 95 % were faster, in milliseconds.
    pub p95_ms: f64,
}

/// Latencies of what clients wait for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LatencyStatus {
    /// Of `context`.
    pub context: Percentiles,
    /// Of `search`.
    pub search: Percentiles,
    /// Of embedding one query.
    pub embed: Percentiles,
}

/// What runs by the calendar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalendarStatus {
    /// The zone whose wall clock it follows.
    pub zone: String,
    /// Each job of each workspace.
    pub jobs: Vec<JobStatus>,
}

/// One job of one workspace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobStatus {
    /// Which job.
    pub job: JobKind,
    /// Where.
    pub workspace: String,
    /// When it runs next, or is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<DateTime<Utc>>,
    /// The run that began last; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<RunStatus>,
    /// The oldest run that failed and has not succeeded since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<RunStatus>,
}

/// One run of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunStatus {
    /// What it is of: a week such as `2026-W11`, or a day.
    pub period: String,
    /// How it ended.
    pub outcome: Outcome,
    /// When it began.
    pub started_at: DateTime<Utc>,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<DateTime<Utc>>,
    /// What it did, or why it failed; never a memory's text.
    pub detail: String,
    /// How often in a row it failed.
    pub failures: u32,
    /// When it is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_at: Option<DateTime<Utc>>,
}

/// Whether a way of looking works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LegStatus {
    /// Which.
    pub leg: LegName,
    /// Whether it works.
    pub works: bool,
    /// Why it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// An error that was survived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PastError {
    /// When.
    pub at: DateTime<Utc>,
    /// Doing what.
    pub during: String,
    /// What happened; never a memory's text.
    pub message: String,
}

/// What is not well. The command line puts it into the user's language.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Advice {
    /// A stable word for it.
    pub code: AdviceCode,
    /// Whether the daemon counts as degraded because of it; the rest is only worth knowing.
    pub degrades: bool,
    /// What fills the sentence: names, numbers, paths.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub detail: BTreeMap<String, String>,
}

/// Everything that can be not well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AdviceCode {
    /// Nobody answers on the socket: start the daemon. Detail: `socket`.
    NotRunning,
    /// There is no model: words only. Detail: `reason`.
    NoModel,
    /// The model is being loaded: words only until it is there.
    ModelLoading,
    /// The configured model failed. Detail: `reason`.
    ModelFailed,
    /// Another model's vectors are being built; the old ones answer. Detail: `left`.
    Rebuilding,
    /// Memories wait for their vector. Detail: `waiting`.
    Waiting,
    /// A workspace cannot be read; nothing is deleted because of that. Detail: `root`, `reason`.
    WorkspaceUnreachable,
    /// No workspace is configured, or none was found.
    NoWorkspace,
    /// Memories of a workspace that is no longer configured are still recalled. Detail: `root`, `owner`, `count`.
    WorkspaceUnlisted,
    /// Too much was gone at once; the deletions wait. Detail: `root`, `count`.
    DeletionsHeld,
    /// Files were skipped. Detail: `root`, `file`, `reason`, `count`.
    FilesSkipped,
    /// Files hold secrets in plain text. Detail: `root`, `file`, `line`, `kind`, `count`.
    SecretsInFiles,
    /// Changes are found by looking every now and then, not at once. Detail: `reason`.
    WatchPolling,
    /// Derived data was damaged and was repaired. Detail: `what`.
    StoreRepaired,
    /// The database takes no more writes. Detail: `reason`.
    StoreFailing,
    /// A job of the calendar failed and is tried again. Detail: `job`, `period`, `root`, `reason`, `failures`, `retry`.
    JobFailed,
    /// The clock jumped; until it has held for an hour, nothing is forgotten by it. Detail: `hours`, `until`.
    ClockDoubted,
}
