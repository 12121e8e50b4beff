//! The methods of the socket, by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every method of the socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// What to load at a session's start.
    #[serde(rename = "session.start")]
    SessionStart,
    /// The memory block for one input.
    Context,
    /// Keeps a finished turn of a conversation.
    Turn,
    /// The memories that meet a query.
    Search,
    /// Keeps something the user asked to keep.
    Remember,
    /// Keeps what a session holds before it is compacted.
    Flush,
    /// Forgets memories.
    Forget,
    /// Clears a day, all before a day, or what a search finds, out of the notes too if that is wanted.
    Clear,
    /// Lets go what matters little and was long not used.
    Sweep,
    /// One memory by its id.
    Get,
    /// Memories by day, kind or file, newest first.
    List,
    /// Makes the pages of weeks now.
    Rollup,
    /// Carries what is permanent into `MEMORY.md` now.
    Promote,
    /// Compares the files with the index now.
    Reindex,
    /// Whether all is well, and what to do where it is not.
    Status,
    /// Live events, until the connection closes.
    Subscribe,
}

impl Method {
    /// All methods, in the order the documentation names them.
    pub const ALL: &'static [Method] = &[
        Self::SessionStart,
        Self::Context,
        Self::Turn,
        Self::Search,
        Self::Remember,
        Self::Flush,
        Self::Forget,
        Self::Clear,
        Self::Sweep,
        Self::Get,
        Self::List,
        Self::Rollup,
        Self::Promote,
        Self::Reindex,
        Self::Status,
        Self::Subscribe,
    ];

    /// The name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::SessionStart => "session.start",
            Self::Context => "context",
            Self::Turn => "turn",
            Self::Search => "search",
            Self::Remember => "remember",
            Self::Flush => "flush",
            Self::Forget => "forget",
            Self::Clear => "clear",
            Self::Sweep => "sweep",
            Self::Get => "get",
            Self::List => "list",
            Self::Rollup => "rollup",
            Self::Promote => "promote",
            Self::Reindex => "reindex",
            Self::Status => "status",
            Self::Subscribe => "subscribe",
        }
    }

    /// The method of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|method| method.name() == name)
    }
}
