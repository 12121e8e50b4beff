//! `sweep`: what matters little and was long not used is forgotten.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods::Item;

/// Parameters of `sweep`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SweepParams {
    /// Whose memories.
    pub user: String,
    /// Says what would go, and lets nothing go.
    #[serde(default)]
    pub dry_run: bool,
    /// Goes on although it is more than a fifth of everything.
    #[serde(default)]
    pub accept: bool,
    /// Skips this many of the list; what is done is the same.
    #[serde(default)]
    pub offset: u32,
}

/// Result of `sweep`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweepResult {
    /// What went or would go, the longest kept first; each says only how it begins.
    pub items: Vec<SweptItem>,
    /// Whether more are behind these: ask again with `offset`.
    pub more: bool,
    /// How many in all.
    pub count: u64,
    /// How many memories the user had.
    pub of: u64,
    /// Why it waits, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<SweepHeld>,
    /// Whether they are gone: false for a dry run, and while it waits.
    pub done: bool,
}

/// One memory of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SweptItem {
    /// The memory.
    #[serde(flatten)]
    pub item: Item,
    /// Why it goes.
    pub why: SweepWhy,
}

/// Why a memory goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SweepWhy {
    /// Its importance is below 3, and it was not used for `forgetting.unused_days`.
    Unused,
    /// A summary of a conversation, older than 30 days.
    OldSummary,
}

/// Why a sweep waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SweepHeld {
    /// The clock jumped and is not believed yet; set it right, or wait.
    Clock,
    /// More than a fifth of everything would go: look with `dry_run`, then `accept`.
    TooMuch,
}
