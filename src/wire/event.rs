//! What subscribers are told.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens, told to subscribers. Never carries a memory's text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A file was read and its entries compared with the index.
    Ingested {
        /// The workspace's folder.
        workspace: String,
        /// The file, relative to the workspace.
        file: String,
        /// New memories.
        added: u32,
        /// Changed memories.
        updated: u32,
        /// Memories whose entry is gone.
        removed: u32,
    },
    /// A whole comparison of files and index ended.
    Reconciled {
        /// Files looked at.
        files: u32,
    },
    /// Vectors were made.
    Embedded {
        /// How many memories got theirs.
        memories: u32,
    },
    /// Another model's vectors answer from now on.
    Switched {
        /// The model.
        model: String,
    },
    /// The calendar was looked at, and nothing more is due.
    CalendarLooked,
    /// A week's page was made, or found to be as it should.
    RolledUp {
        /// The workspace's folder.
        workspace: String,
        /// ISO year and week: `2026-W11`.
        week: String,
        /// Whether it says anything else than before.
        changed: bool,
    },
    /// Lines were carried into `MEMORY.md`.
    Promoted {
        /// The workspace's folder.
        workspace: String,
        /// How many.
        lines: u32,
    },
    /// What a session held before it was compacted was kept.
    Flushed {
        /// Marker files that were taken.
        markers: u32,
        /// New lines, or new memories of users without a note.
        captured: u32,
    },
    /// A summary stands for messages of a conversation from now on.
    Summarised {
        /// How many.
        messages: u32,
    },
    /// Memories were forgotten.
    Forgotten {
        /// How many.
        memories: u32,
    },
    /// The subscriber was too slow and missed this many events.
    Missed {
        /// How many.
        events: u64,
    },
    /// The daemon is going.
    Stopping,
}
