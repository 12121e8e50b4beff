//! The keys as they are written, with their defaults. What a value may be stands in [`super::rules`].

use serde::{Deserialize, Serialize};

use crate::memory::block::Frame;

/// The whole configuration but the workspaces.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Raw {
    pub(super) time: RawTime,
    pub(super) storage: RawStorage,
    pub(super) long_term: LongTerm,
    pub(super) short_term: ShortTerm,
    pub(super) context: Context,
    pub(super) recall: Recall,
    pub(super) promotion: Promotion,
    pub(super) forgetting: Forgetting,
    pub(super) watch: Watch,
    pub(super) schedule: RawSchedule,
    pub(super) socket: Socket,
}

/// One `[[workspace]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawWorkspace {
    pub(super) path: String,
    #[serde(default = "default_owner")]
    pub(super) owner: String,
}

/// The user id of a workspace whose owner is not named.
pub const DEFAULT_OWNER: &str = "owner";

fn default_owner() -> String {
    DEFAULT_OWNER.to_owned()
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawTime {
    pub(super) zone: String,
}

impl Default for RawTime {
    fn default() -> Self {
        Self { zone: "system".to_owned() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawStorage {
    pub(super) vector_db: String,
    pub(super) sqlite_path: String,
    pub(super) embedding_model: String,
}

impl Default for RawStorage {
    fn default() -> Self {
        Self {
            vector_db: "sqlite-vec".to_owned(),
            sqlite_path: "ocmemd.db".to_owned(),
            embedding_model: "BAAI/bge-small-zh-v1.5".to_owned(),
        }
    }
}

/// Long-term memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LongTerm {
    /// Memories in an answer, at most.
    pub top_k: u32,
    /// Memories below this score are not shown, 0 to 1.
    pub min_score: f64,
    /// Decay of recency per day since the last access, in `exp(-factor * days)`.
    pub time_decay_factor: f64,
    /// Facts a user may have before the least important go to cold storage.
    pub max_facts_per_user: u32,
    /// The dimension the model must have; any where absent.
    pub vector_dim: Option<u32>,
}

impl Default for LongTerm {
    fn default() -> Self {
        Self { top_k: 5, min_score: 0.45, time_decay_factor: 0.02, max_facts_per_user: 500, vector_dim: None }
    }
}

/// Short-term memory.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShortTerm {
    /// Tokens in a session's window, at most.
    pub max_tokens: u32,
    /// Messages in a session's window, at most.
    pub window_size: u32,
    /// Tokens at which the window is summarised.
    pub summary_threshold: u32,
}

impl Default for ShortTerm {
    fn default() -> Self {
        Self { max_tokens: 4000, window_size: 20, summary_threshold: 3000 }
    }
}

/// The block of memories put before an input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Context {
    /// Tokens of memory per request, at most.
    pub working_memory_budget: u32,
    /// Whether `context` answers with a block at all.
    pub inject_memory: bool,
    /// Where a host puts the block.
    pub memory_position: MemoryPosition,
    /// The sentence at the head of the block.
    pub system_prefix: String,
}

impl Default for Context {
    fn default() -> Self {
        Self {
            working_memory_budget: 1500,
            inject_memory: true,
            memory_position: MemoryPosition::AfterSystem,
            system_prefix: Frame::default().system_prefix,
        }
    }
}

/// Where a host puts the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MemoryPosition {
    /// After the system prompt and before the conversation.
    AfterSystem,
    /// Directly before the user's input.
    BeforeInput,
}

/// How memories are found and weighed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Recall {
    /// Weight of the meaning.
    pub vector_weight: f64,
    /// Weight of the words.
    pub keyword_weight: f64,
    /// Weight of the time.
    pub time_weight: f64,
    /// Candidates that each way of looking brings, at most.
    pub candidates: u32,
    /// The user's days, today included, whose important memories are always candidates.
    pub recent_days: u32,
    /// What the time part measures.
    pub time: TimePart,
}

impl Default for Recall {
    fn default() -> Self {
        Self {
            vector_weight: 0.55,
            keyword_weight: 0.30,
            time_weight: 0.15,
            candidates: 20,
            recent_days: 3,
            time: TimePart::Asked,
        }
    }
}

/// What the time part of a score measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimePart {
    /// How recent the memory is, where the question asks for the recent; else it only breaks near-ties.
    Asked,
    /// How recently the memory was used, always: the published formula.
    Recency,
}

/// What is carried into `MEMORY.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Promotion {
    /// Characters that the managed block may have, at most.
    pub max_chars: u32,
}

impl Default for Promotion {
    fn default() -> Self {
        Self { max_chars: 6000 }
    }
}

/// What the sweep lets go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Forgetting {
    /// Days without use after which what matters little is forgotten.
    pub unused_days: u32,
}

impl Default for Forgetting {
    fn default() -> Self {
        Self { unused_days: 180 }
    }
}

/// How files are watched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Watch {
    /// When all files are compared with the index: six cron fields, seconds first, in UTC.
    pub reconcile: String,
}

impl Default for Watch {
    fn default() -> Self {
        Self { reconcile: "0 */10 * * * *".to_owned() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RawSchedule {
    pub(super) rollup: String,
    pub(super) sweep: String,
}

impl Default for RawSchedule {
    fn default() -> Self {
        Self { rollup: "0 59 23 * * SUN".to_owned(), sweep: "0 30 4 * * MON".to_owned() }
    }
}

/// The socket's limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Socket {
    /// Connections at once, at most.
    pub max_connections: u32,
}

impl Default for Socket {
    fn default() -> Self {
        Self { max_connections: 256 }
    }
}
