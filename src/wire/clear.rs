//! `clear`: a day, everything before a day, or what a search finds is forgotten; our own lines leave the notes too if that is wanted.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::methods::Item;
use crate::memory::Audience;

/// Parameters of `clear`. Exactly one of `day`, `before` and `query` is given.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClearParams {
    /// Whose memories. The user's id; hosts always name the sender.
    pub user: String,
    /// Who will see the answer; a shared audience never sees what was captured in private.
    #[serde(default)]
    pub audience: Audience,
    /// Everything of this day.
    #[serde(default)]
    pub day: Option<NaiveDate>,
    /// Everything of the days before this one.
    #[serde(default)]
    pub before: Option<NaiveDate>,
    /// Everything a search for this returns.
    #[serde(default)]
    pub query: Option<String>,
    /// Also cuts the lines that the daemon wrote out of the notes, if they are still as it wrote them.
    #[serde(default)]
    pub files: bool,
    /// Says what would be cleared, and clears nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// The `selection` of the answer that was shown: refused if it would be another one by now.
    #[serde(default)]
    pub selection: Option<String>,
    /// Skips this many of the list; what is cleared is the same.
    #[serde(default)]
    pub offset: u32,
}

/// Result of `clear`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClearResult {
    /// What was cleared, or would be, the newest first; each says only how it begins.
    pub items: Vec<Item>,
    /// Whether more are behind these: ask again with `offset`.
    pub more: bool,
    /// How many in all.
    pub count: u64,
    /// Names this choice.
    pub selection: String,
    /// False for a dry run.
    pub cleared: bool,
    /// How many of them stand in lines of ours that are cut out of the notes.
    pub lines_cut: u64,
    /// How many others stand in the notes, which are the user's: the daemon only stops reading these lines.
    pub still_in_files: u64,
    /// Files that could not be changed, and why; their lines are not read any more all the same.
    pub not_cut: Vec<NotCut>,
}

/// A file that could not be changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotCut {
    /// Relative to the workspace.
    pub file: String,
    /// For a person.
    pub reason: String,
}
