//! The parameters and results of every method.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use super::flush::{FlushMessage, FlushParams, FlushResult};
pub use super::method::Method;
use super::turn::{Loaded, Recent};
use crate::memory::{Audience, Importance, Kind, Mark, MemoryId};

/// Parameters of `search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchParams {
    /// Whose memories. The user's id; hosts always name the sender.
    pub user: String,
    /// Who will see the answer; a shared audience never sees what was captured in private.
    #[serde(default)]
    pub audience: Audience,
    /// What is looked for, in the user's words.
    pub query: String,
    /// At most this many hits, 1 to 100; by default `long_term.top_k`.
    #[serde(default)]
    pub top_k: Option<u32>,
    /// Hits below this score are left out, 0 to 1; by default `long_term.min_score`.
    #[serde(default)]
    pub min_score: Option<f32>,
    /// Adds the parts of each score.
    #[serde(default)]
    pub explain: bool,
    /// The session that asks; an access counts once per session and day.
    #[serde(default)]
    pub session: Option<String>,
    /// True when the answer is given to the agent: the hits count as used. A person looking by hand is not use.
    #[serde(default)]
    pub for_agent: bool,
}

/// Result of `search`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResult {
    /// Best first.
    pub hits: Vec<Hit>,
    /// Which ways of looking were tried, and why one was not.
    pub legs: Vec<Leg>,
    /// Why there are no hits, when there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<Empty>,
    /// How long each step took.
    pub timings: Timings,
}

/// Why an answer is empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Empty {
    /// The user has no memories at all.
    NoMemories,
    /// Nothing was met at all.
    NothingFound,
    /// `context.inject_memory` is off.
    SwitchedOff,
    /// Something was met, but nothing that means the same.
    BelowThreshold {
        /// The best score there was.
        best: f32,
        /// The score that was needed.
        min_score: f32,
    },
}

/// One memory as an answer shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Item {
    /// Its name.
    pub id: MemoryId,
    /// What it says; secrets were replaced by placeholders.
    pub content: String,
    /// The headings above it, outermost first, joined by ` / `.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub context: String,
    /// What sort of thing.
    pub kind: Kind,
    /// Who wanted it kept.
    pub mark: Mark,
    /// 1 (routine) to 5 (the user asked for it).
    pub importance: Importance,
    /// The user's day it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub day: Option<NaiveDate>,
    /// The user's wall-clock time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<NaiveTime>,
    /// The session it was said in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Where it was read from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<ItemSource>,
    /// When it came to be.
    pub created_at: DateTime<Utc>,
    /// When it ends, if it does: from then on it is not recalled any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<DateTime<Utc>>,
    /// How often it reached a prompt.
    pub access_count: u32,
}

/// Where an item was read from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemSource {
    /// The workspace's folder.
    pub workspace: String,
    /// The file, relative to the workspace.
    pub file: String,
    /// First and last line, from 1.
    pub lines: (u32, u32),
}

/// A memory that met a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    /// The memory.
    #[serde(flatten)]
    pub item: Item,
    /// 0 to 1, on an absolute scale.
    pub score: f32,
    /// What the score is made of, when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<ScoreParts>,
}

/// What a score is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ScoreParts {
    /// How near the meanings are, 0 to 1.
    pub vector: f32,
    /// How much of the query's weight the words cover, 0 to 1.
    pub keyword: f32,
    /// How well the time fits, 0 to 1, behind its gate.
    pub time: f32,
    /// The cosine behind `vector`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cosine: Option<f32>,
    /// The BM25 behind `keyword`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bm25: Option<f32>,
}

/// One way of looking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Leg {
    /// Which.
    pub leg: LegName,
    /// Whether it looked.
    pub ran: bool,
    /// How many candidates it brought.
    pub candidates: u32,
    /// Why it did not look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
}

/// The ways of looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LegName {
    /// By meaning.
    Vector,
    /// By words.
    Keyword,
    /// The last days' important memories.
    Recent,
}

/// How long the steps of a recall took, in milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Timings {
    /// Cutting the query into words.
    pub segment_ms: f64,
    /// Making the query's vector.
    pub embed_ms: f64,
    /// Looking by meaning, by words and among the recent.
    pub search_ms: f64,
    /// Scoring and collapsing what was found.
    pub rank_ms: f64,
    /// All of it.
    pub total_ms: f64,
}

/// Parameters of `context`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContextParams {
    /// Whose memories. The user's id; hosts always name the sender.
    pub user: String,
    /// Who will see the answer; a shared audience never sees what was captured in private.
    #[serde(default)]
    pub audience: Audience,
    /// What the user just said.
    pub input: String,
    /// The session that asks: its summary and last messages follow the memories. An access counts once per session and
    /// day.
    #[serde(default)]
    pub session: Option<String>,
    /// What the host has put into its prompt by itself.
    #[serde(default)]
    pub loaded: Loaded,
    /// At most this many tokens of memory; by default `context.working_memory_budget`.
    #[serde(default)]
    pub budget: Option<u32>,
    /// At most this many memories, 1 to 100; by default `long_term.top_k`.
    #[serde(default)]
    pub top_k: Option<u32>,
    /// Adds the parts of each score.
    #[serde(default)]
    pub explain: bool,
}

/// Result of `context`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextResult {
    /// The delimited block, ready to stand before the input; empty when nothing is relevant.
    pub block: String,
    /// Tokens of the block, estimated.
    pub tokens: u32,
    /// The memories in the block, in its order.
    pub items: Vec<Hit>,
    /// Lines of the session's summary in the block, behind the memories.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub summary: Vec<String>,
    /// Messages of the session in the block, behind its summary, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recent: Vec<Recent>,
    /// Relevant memories that did not fit into the budget.
    pub left_out: u32,
    /// Which ways of looking were tried, and why one was not.
    pub legs: Vec<Leg>,
    /// Why there is no block, when there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<Empty>,
    /// How long each step took.
    pub timings: Timings,
}

/// Parameters of `remember`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RememberParams {
    /// Whose memory it becomes. The user's id; hosts always name the sender.
    pub user: String,
    /// Who will see the answer; a shared audience never sees what was captured in private.
    #[serde(default)]
    pub audience: Audience,
    /// The thing itself.
    pub text: String,
    /// The session it was said in.
    #[serde(default)]
    pub session: Option<String>,
}

/// Result of `remember`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RememberResult {
    /// The memory, durable and findable by its words; its vector follows.
    pub item: Item,
    /// True when the same was already remembered today and nothing was written.
    pub deduped: bool,
    /// How many secrets were replaced by placeholders.
    pub redacted: u32,
}

/// Parameters of `forget`. Exactly one of `ids`, `day` and `query` is given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForgetParams {
    /// Whose memories. The user's id; hosts always name the sender.
    pub user: String,
    /// Who will see the answer; a shared audience never sees what was captured in private.
    #[serde(default)]
    pub audience: Audience,
    /// These memories.
    #[serde(default)]
    pub ids: Vec<MemoryId>,
    /// Everything of this day.
    #[serde(default)]
    pub day: Option<NaiveDate>,
    /// Everything a search for this returns.
    #[serde(default)]
    pub query: Option<String>,
    /// Says what would be forgotten, and forgets nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Result of `forget`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForgetResult {
    /// What was forgotten, or would be.
    pub items: Vec<Item>,
    /// False for a dry run.
    pub forgotten: bool,
    /// Files that still hold the words: the user's files are not rewritten, the daemon only stops reading these lines.
    pub still_in_files: Vec<ItemSource>,
}

/// Parameters of `get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetParams {
    /// Whose memory. The user's id; hosts always name the sender.
    pub user: String,
    /// Who will see the answer; a shared audience never sees what was captured in private.
    #[serde(default)]
    pub audience: Audience,
    /// Its id, or a prefix of it that names one memory.
    pub id: String,
    /// The session that asks.
    #[serde(default)]
    pub session: Option<String>,
    /// True when the answer is given to the agent.
    #[serde(default)]
    pub for_agent: bool,
}

/// Result of `get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetResult {
    /// The memory.
    pub item: Item,
}

/// Parameters of `list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListParams {
    /// Whose memories. The user's id; hosts always name the sender.
    pub user: String,
    /// Who will see the answer; a shared audience never sees what was captured in private.
    #[serde(default)]
    pub audience: Audience,
    /// Only from this day on.
    #[serde(default)]
    pub since: Option<NaiveDate>,
    /// Only up to this day.
    #[serde(default)]
    pub until: Option<NaiveDate>,
    /// Only of this kind.
    #[serde(default)]
    pub kind: Option<Kind>,
    /// Only from this file, relative to the workspace.
    #[serde(default)]
    pub file: Option<String>,
    /// Also what has ended.
    #[serde(default)]
    pub ended: bool,
    /// At most this many, 1 to 1,000; 50 by default.
    #[serde(default)]
    pub limit: Option<u32>,
    /// Skips this many.
    #[serde(default)]
    pub offset: u32,
}

/// Result of `list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ListResult {
    /// Newest first.
    pub items: Vec<Item>,
    /// Whether there are more behind these.
    pub more: bool,
}

/// Parameters of `reindex`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReindexParams {
    /// Reads every file again, not only those whose content changed.
    #[serde(default)]
    pub full: bool,
    /// Applies deletions that were held back because too much was gone at once.
    #[serde(default)]
    pub accept_deletions: bool,
}

/// Result of `reindex`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReindexResult {
    /// Files looked at.
    pub files: u32,
    /// Files whose content was new.
    pub changed_files: u32,
    /// New memories.
    pub added: u32,
    /// Memories whose text changed.
    pub updated: u32,
    /// Memories whose entry is gone.
    pub removed: u32,
    /// Memories that wait for their vector.
    pub waiting: u64,
    /// Files and folders that were not read; `status` names them.
    pub skipped: u32,
    /// Memories whose deletion waits for `accept_deletions`, because too much was gone at once.
    pub held: u64,
    /// Workspaces that could not be looked at; nothing of them changed.
    pub unreachable: Vec<String>,
}

/// Parameters of `status`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StatusParams {}

/// Parameters of `subscribe`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SubscribeParams {}

/// Result of `subscribe`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubscribeResult {
    /// Events follow from here on.
    pub subscribed: bool,
}
