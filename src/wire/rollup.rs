//! The parameters and results of the calendar's work asked for by hand: `rollup` and `promote`.

use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `rollup`. Without `week` and `since` it is the week of today.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RollupParams {
    /// Whose workspace. The user's id.
    pub user: String,
    /// This week alone, as ISO year and week: `2026-W11`.
    #[serde(default)]
    pub week: Option<String>,
    /// Every week from that of this day up to that of today.
    #[serde(default)]
    pub since: Option<NaiveDate>,
    /// Says what the pages would be, and writes nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Result of `rollup`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RollupResult {
    /// One for each week that has notes, the oldest first.
    pub pages: Vec<WeeklyPage>,
    /// False for a dry run.
    pub written: bool,
}

/// A week's page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WeeklyPage {
    /// The workspace's folder.
    pub workspace: String,
    /// ISO year and week: `2026-W11`.
    pub week: String,
    /// The file, relative to the workspace.
    pub file: String,
    /// Whether it says anything else than before.
    pub changed: bool,
    /// Lines on it.
    pub lines: u32,
    /// Characters of the week's entries, for comparison.
    pub notes_chars: u64,
    /// Characters of the page.
    pub page_chars: u64,
    /// Entries that found no room on it; they are in the notes.
    pub left_out: u32,
    /// What it said before.
    pub before: String,
    /// What it says, or would say.
    pub after: String,
}

/// Parameters of `promote`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PromoteParams {
    /// Whose workspace. The user's id.
    pub user: String,
    /// From the notes of this week, as ISO year and week; by default the week of today.
    #[serde(default)]
    pub week: Option<String>,
    /// Says what would be promoted, and writes nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Result of `promote`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromoteResult {
    /// Lines that are new in the managed block of `MEMORY.md`.
    pub promoted: Vec<String>,
    /// Lines that left it, superseded or for want of room; they are kept under `.ocmemd/archive/`.
    pub archived: Vec<String>,
    /// What is said in two ways that do not agree; neither was promoted.
    pub doubts: Vec<String>,
    /// False for a dry run.
    pub written: bool,
}
