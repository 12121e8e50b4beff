//! `flush`, as a request and as a marker file: this session is about to be compacted, keep what it holds.

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::strict;
use crate::memory::Audience;

/// The version of the marker file that is read.
pub const MARKER_VERSION: u32 = 1;

/// How many messages one flush may carry.
pub const MAX_FLUSH_MESSAGES: usize = 2_000;

/// One message of the session.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlushMessage {
    /// Who said it: `user` and `assistant` are looked at, others are passed over.
    pub role: String,
    /// What was said.
    pub content: String,
    /// The host's name for it; with it the same words said again are another message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// Parameters of `flush`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlushParams {
    /// Whose session. The user's id; hosts always name the sender.
    pub user: String,
    /// Who was listening; what was said before a group is not written into the owner's note.
    #[serde(default)]
    pub audience: Audience,
    /// The session; by default all of them.
    #[serde(default)]
    pub session: Option<String>,
    /// Why, in the host's words.
    #[serde(default)]
    pub reason: Option<String>,
    /// When it was said; by default now.
    #[serde(default)]
    pub created_at: Option<DateTime<Utc>>,
    /// What was said, oldest first, at most 2,000; without any, today's note is read again. It is kept as messages of the
    /// session, if one is named; what came with `turn` already is known.
    #[serde(default)]
    pub messages: Vec<FlushMessage>,
}

/// Result of `flush`: everything is durable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlushResult {
    /// What was worth keeping and is new.
    pub captured: u32,
    /// What was worth keeping and had been kept by a flush before.
    pub known: u32,
    /// How many secrets were replaced by placeholders.
    pub redacted: u32,
    /// Messages of the session, or of all sessions where none was named, that a summary stands for from now on.
    #[serde(default)]
    pub summarised: u32,
    /// Marker files that were waiting and were taken as well.
    pub markers: u32,
    /// The note that holds it, relative to the workspace; absent for users without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A marker file. Only `v` is required; what else stands in it is passed over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlushMarker {
    /// The version of the format: 1.
    pub v: u32,
    /// Why, in the host's words.
    #[serde(default)]
    pub reason: Option<String>,
    /// The session; by default all of them.
    #[serde(default)]
    pub session_id: Option<String>,
    /// Whose session; by default the workspace's owner's.
    #[serde(default)]
    pub user_id: Option<String>,
    /// Who was listening; what was said before a group is not written into the owner's note.
    #[serde(default)]
    pub audience: Audience,
    /// When it was said; by default when it is read.
    #[serde(default)]
    pub created_at: Option<DateTime<Utc>>,
    /// What was said, oldest first, at most 2,000.
    #[serde(default)]
    pub messages: Vec<FlushMessage>,
}

/// Why a text is no marker.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MarkerError {
    /// No JSON, or with keys that stand twice or nested too deep.
    #[error(
        "it is not JSON that can be read ({0}); write it under another name and rename it when it is whole"
    )]
    Json(String),
    /// A field is missing or of another type.
    #[error("it does not say what a marker says ({0})")]
    Field(String),
    /// Another version.
    #[error(
        "it is of version {0}, and this program reads version {MARKER_VERSION}: update the one or the other"
    )]
    Version(u32),
    /// Too much.
    #[error(
        "it carries {0} messages, more than the limit of {MAX_FLUSH_MESSAGES}: send them in several markers"
    )]
    TooMany(usize),
}

impl FlushMarker {
    /// Reads the text of a marker file.
    ///
    /// # Errors
    /// [`MarkerError`] says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, MarkerError> {
        let value = strict(text.trim_start_matches('\u{feff}'))
            .map_err(|error| MarkerError::Json(error.message.clone()))?;
        let marker: Self = serde_path_to_error::deserialize(value)
            .map_err(|error| MarkerError::Field(format!("{}: {}", error.path(), error.inner())))?;
        match (marker.v, marker.messages.len()) {
            (MARKER_VERSION, 0..=MAX_FLUSH_MESSAGES) => Ok(marker),
            (MARKER_VERSION, many) => Err(MarkerError::TooMany(many)),
            (version, _) => Err(MarkerError::Version(version)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_needs_its_version_and_may_say_more() {
        let only = FlushMarker { v: 1, ..FlushMarker::default() };
        assert_eq!(FlushMarker::read("\u{feff}{\"v\":1}\n"), Ok(only.clone()));
        assert_eq!(FlushMarker::read("{\"v\":1,\"host\":{\"x\":[1]}}"), Ok(only));
        let full = r#"{"v":1,"reason":"pre-compaction","session_id":"agent:main","user_id":"小明",
            "created_at":"2026-03-13T10:30:00+08:00","messages":[{"role":"user","content":"好","id":"m1","ts":5}]}"#;
        let full = FlushMarker::read(full).unwrap();
        assert_eq!(full.created_at.unwrap().to_rfc3339(), "2026-03-13T02:30:00+00:00");
        let message = FlushMessage { role: "user".into(), content: "好".into(), id: Some("m1".into()) };
        assert_eq!((full.user_id.as_deref(), full.messages), (Some("小明"), vec![message]));
    }

    #[test]
    fn what_is_no_marker_is_told_why() {
        let many = format!(
            r#"{{"v":1,"messages":[{}]}}"#,
            vec![r#"{"role":"user","content":"好"}"#; MAX_FLUSH_MESSAGES + 1].join(",")
        );
        let deep = format!(r#"{{"v":1,"x":{}{}}}"#, "[".repeat(100), "]".repeat(100));
        let table = [
            ("", "not JSON"),
            (r#"{"v":1,"messages":[{"role":"user","con"#, "not JSON"),
            (r#"{"v":1,"v":1}"#, "stands twice"),
            (deep.as_str(), "deep"),
            ("[]", "a marker says"),
            (r#"{"reason":"x"}"#, "`v`"),
            (r#"{"v":2}"#, "version 2"),
            (r#"{"v":1,"messages":[{"role":"user"}]}"#, "messages[0]"),
            (r#"{"v":1,"created_at":"昨天"}"#, "created_at"),
            (many.as_str(), "2001 messages"),
        ];
        for (text, why) in table {
            let refused = FlushMarker::read(text).unwrap_err().to_string();
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }
}
