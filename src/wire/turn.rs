//! The parameters and results of what has to do with conversations.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods::{Empty, Item};
use crate::memory::Audience;
use crate::memory::conversation::Role;

/// The most messages one `turn` may carry.
pub const MAX_MESSAGES: usize = 1_000;

/// Parameters of `turn`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnParams {
    /// Who talks with the agent. The user's id; hosts always name the sender.
    pub user: String,
    /// Who hears it; what is said before a group may be recalled before a group.
    #[serde(default)]
    pub audience: Audience,
    /// The session, as the host names it.
    pub session: String,
    /// The turn, as the host names it: a turn is stored once. Without it turns are known again by what they say.
    #[serde(default)]
    pub turn: Option<String>,
    /// What was said, in order, 1 to 1,000 messages. What is known already may be among it, up to the whole session.
    pub messages: Vec<TurnMessage>,
}

/// One message of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnMessage {
    /// Who says it. Of a tool's output only its length is kept; the host's own instructions are passed over.
    pub role: Role,
    /// What. A block of ours that stands in it is taken out.
    pub content: String,
    /// The message, as the host names it, if it does so always.
    #[serde(default)]
    pub id: Option<String>,
    /// When it was said; by default, when it arrives.
    #[serde(default)]
    pub at: Option<DateTime<Utc>>,
}

/// Result of `turn`: all that is new is on disk. A summary follows when it is due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnResult {
    /// New messages.
    pub stored: u32,
    /// Messages that were there already.
    pub known: u32,
    /// Messages that are no part of the conversation: the host's instructions, and those that say nothing.
    pub passed_over: u32,
    /// How many secrets were replaced by placeholders.
    pub redacted: u32,
}

/// What the host has put into its prompt by itself, and so is left out of a block.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Loaded {
    /// Files of the workspace, relative to it, such as `MEMORY.md` and `memory/2026-03-13.md`.
    #[serde(default)]
    pub files: Vec<String>,
    /// The session's own messages from this moment on.
    #[serde(default)]
    pub messages_since: Option<DateTime<Utc>>,
}

/// A message of the session that stands in a block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Recent {
    /// Who said it.
    pub role: Role,
    /// What; secrets were replaced by placeholders, and what exceeds the window was cut short.
    pub content: String,
    /// When.
    pub at: DateTime<Utc>,
}

/// The languages in which the daemon speaks to a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Lang {
    /// Chinese.
    Zh,
    /// English.
    En,
}

/// Parameters of `session.start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionStartParams {
    /// Who talks with the agent. The user's id; hosts always name the sender.
    pub user: String,
    /// Who will see it; a shared audience never sees what was captured in private.
    #[serde(default)]
    pub audience: Audience,
    /// The session that begins, as the host names it.
    pub session: String,
    /// What the host has loaded by itself.
    #[serde(default)]
    pub loaded: Loaded,
    /// At most this many tokens of memory; by default `context.working_memory_budget`.
    #[serde(default)]
    pub budget: Option<u32>,
    /// The greeting's language; by default that of the memories, Chinese where there are none.
    #[serde(default)]
    pub lang: Option<Lang>,
}

/// Result of `session.start`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStartResult {
    /// The delimited block: today, the three days before, `MEMORY.md`, then `IDENTITY.md`, `USER.md` and `SOUL.md`;
    /// empty when there is nothing.
    pub block: String,
    /// Tokens of the block, estimated.
    pub tokens: u32,
    /// The memories in the block, in its order.
    pub items: Vec<Item>,
    /// Memories that did not fit into the budget.
    pub left_out: u32,
    /// A few lines for the user that say what is ready.
    pub greeting: String,
    /// What the session said so far, where it is resumed: its summary, a line each.
    pub summary: Vec<String>,
    /// The last messages of a session that is resumed, oldest first.
    pub recent: Vec<Recent>,
    /// Why there is no block, when there is none although it would not be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<Empty>,
}
