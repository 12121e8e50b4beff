//! The words of the trade: an [`Entry`] is one remembered thing in a file, a [`Memory`] is it as stored.

use std::fmt;

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::redact::Redacted;
use super::scope::{Audience, UserId};

/// What sort of thing is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something that is so.
    #[default]
    Fact,
    /// Something the user likes or wants.
    Preference,
    /// Something the user regularly does.
    Behavior,
    /// Several things said shorter.
    Summary,
}

/// Who wanted it kept, as written in the notes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Nobody said.
    #[default]
    None,
    /// `[USER]`: the user asked for it.
    User,
    /// `[AUTO]`: captured without being asked.
    Auto,
    /// `[SYNC]`: already in long-term memory.
    Sync,
}

/// How much its loss would hurt: 1 (routine) to 5 (the user asked for it).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Importance(#[schemars(range(min = 1, max = 5))] u8);

impl Importance {
    /// Routine, heartbeats, the temporary.
    pub const ROUTINE: Self = Self(1);
    /// Only hinted at.
    pub const HINT: Self = Self(2);
    /// What nobody weighed.
    pub const NORMAL: Self = Self(3);
    /// From here on the recent leg takes it along.
    pub const HIGH: Self = Self(4);
    /// The user asked for it.
    pub const ASKED: Self = Self(5);

    /// The nearest importance to `value`.
    pub fn clamped(value: i64) -> Self {
        Self(value.clamp(1, 5) as u8)
    }

    /// 1 to 5.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Default for Importance {
    fn default() -> Self {
        Self::NORMAL
    }
}

/// A memory's name, `mem_` and 16 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct MemoryId(pub String);

impl MemoryId {
    /// A new random id.
    pub fn random() -> Self {
        let hex = uuid::Uuid::new_v4().simple().to_string();
        Self(format!("mem_{}", hex.chars().take(16).collect::<String>()))
    }
}

impl fmt::Display for MemoryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// SHA-256 of what an entry or a file says, in lower-case hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub String);

impl ContentHash {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

/// One remembered thing as read from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// What it says, without bullet, time and mark; sub-bullets follow on lines of their own.
    pub content: Redacted,
    /// The headings above it that say something (no dates, times or marks), outermost first, joined by ` / `.
    pub context: Redacted,
    /// The day it belongs to: its own stamp, else its heading's, else the file's; `None` in files without a day.
    pub day: Option<NaiveDate>,
    /// The user's wall-clock time, where one is written.
    pub time: Option<NaiveTime>,
    /// Who wanted it kept.
    pub mark: Mark,
    /// By the mark, else 3; 1 for routine.
    pub importance: Importance,
    /// The session named in a trailing `<!-- s:… -->` or `(s-…)`.
    pub session: Option<String>,
    /// First and last line in the file, from 1.
    pub lines: (u32, u32),
    /// Of the content, whatever its line ends, bullets and indentation look like.
    pub hash: ContentHash,
}

/// Where a memory was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The workspace's folder, as configured.
    pub workspace: String,
    /// The file, relative to the workspace, with `/`.
    pub file: String,
    /// First and last line, from 1.
    pub lines: (u32, u32),
}

/// A memory: as stored with plain text, or about to be stored ([`NewMemory`]) with text known to hold no secret.
#[derive(Debug, Clone, PartialEq)]
pub struct Memory<Text = String> {
    /// Its name.
    pub id: MemoryId,
    /// Whose it is.
    pub user: UserId,
    /// The session it was said in.
    pub session: Option<String>,
    /// What sort of thing.
    pub kind: Kind,
    /// Who wanted it kept.
    pub mark: Mark,
    /// How much its loss would hurt.
    pub importance: Importance,
    /// Captured in private, or before a group.
    pub audience: Audience,
    /// What it says.
    pub content: Text,
    /// The headings above it, outermost first, joined by ` / `.
    pub context: Text,
    /// The user's day it belongs to.
    pub day: Option<NaiveDate>,
    /// The user's wall-clock time.
    pub time: Option<NaiveTime>,
    /// Where it was read from; `None` for what no file holds.
    pub source: Option<Source>,
    /// Of the content.
    pub hash: ContentHash,
    /// When it came to be, as well as is known.
    pub created_at: DateTime<Utc>,
    /// When it ceases to matter.
    pub expires_at: Option<DateTime<Utc>>,
    /// How often it reached a prompt.
    pub access_count: u32,
    /// When it last reached a prompt; its creation if it never did.
    pub last_accessed_at: DateTime<Utc>,
}

/// A memory about to be stored.
pub type NewMemory = Memory<Redacted>;
