//! Whose memories: no query can be written without a [`Scope`], and no scope can be built without a user.

use std::fmt;

use chrono::{DateTime, Utc};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

/// The longest id, in characters after normalisation.
pub const MAX_ID_CHARS: usize = 128;

/// A user's id: NFC, 1 to 128 characters, no control characters, no path separators; compared exactly.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UserId(String);

/// Why an id was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Nothing, or only white space.
    #[error("an id must not be empty")]
    Empty,
    /// Longer than [`MAX_ID_CHARS`].
    #[error("an id has at most {MAX_ID_CHARS} characters, this one has {0}")]
    TooLong(usize),
    /// A control character, `/` or `\`, or a name that a file system reads as a folder.
    #[error("an id must not contain control characters or path separators, nor be '.' or '..'")]
    Forbidden,
}

impl UserId {
    /// Checks and normalises an id.
    ///
    /// # Errors
    /// [`IdError`] says which rule the id breaks.
    pub fn new(id: &str) -> Result<Self, IdError> {
        let id: String = id.nfc().collect();
        let chars = id.chars().count();
        if id.trim().is_empty() {
            return Err(IdError::Empty);
        }
        if chars > MAX_ID_CHARS {
            return Err(IdError::TooLong(chars));
        }
        if id == "." || id == ".." || id.chars().any(|c| c.is_control() || c == '/' || c == '\\') {
            return Err(IdError::Forbidden);
        }
        Ok(Self(id))
    }

    /// The normalised id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who will read what is recalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// The user alone.
    #[default]
    Private,
    /// A group: it never sees what was captured in private.
    Shared,
}

/// The user a read or a write is for, and who will see the answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    user: UserId,
    audience: Audience,
    as_of: Option<DateTime<Utc>>,
}

impl Scope {
    /// A scope for `user`, answered to `audience`.
    pub fn new(user: UserId, audience: Audience) -> Self {
        Self { user, audience, as_of: None }
    }

    /// A scope for `user` alone.
    pub fn private(user: UserId) -> Self {
        Self::new(user, Audience::Private)
    }

    /// The same without what has ended by `now`: recall and lists look through this.
    pub fn as_of(self, now: DateTime<Utc>) -> Self {
        Self { as_of: Some(now), ..self }
    }

    /// From when on what has ended is left out; `None` where it is not.
    pub fn without_ended_by(&self) -> Option<DateTime<Utc>> {
        self.as_of
    }

    /// Whose memories.
    pub fn user(&self) -> &UserId {
        &self.user
    }

    /// Who will see them.
    pub fn audience(&self) -> Audience {
        self.audience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_normalised_and_bounded() {
        assert_eq!(UserId::new("e\u{301}mile").unwrap(), UserId::new("émile").unwrap());
        assert_eq!(UserId::new(" "), Err(IdError::Empty));
        assert_eq!(UserId::new(&"x".repeat(129)), Err(IdError::TooLong(129)));
        assert!(UserId::new(&"忆".repeat(128)).is_ok());
        for bad in ["../../x", "/etc/x", "a/../b", "..", ".", "a\\b", "a\0b", "a\nb"] {
            assert_eq!(UserId::new(bad), Err(IdError::Forbidden), "{bad:?}");
        }
    }
}
