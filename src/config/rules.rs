//! What each key may hold, in one table: the check, the parsing of text from outside the file, and the words of errors.

use std::fmt;

use chrono_tz::Tz;
use toml::Value;

use crate::memory::due::Schedule;

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Allowed {
    /// A whole number within bounds.
    Whole(i64, i64),
    /// A finite number within bounds.
    Real(f64, f64),
    /// `true` or `false`.
    Switch,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Any text.
    Text,
    /// A text that is not empty.
    Name,
    /// `system` or a name of the zone database.
    Zone,
    /// A cron expression of six fields.
    Cron,
}

/// Every key of every section, in the order in which they are shown.
pub(super) const RULES: &[(&str, Allowed)] = &[
    ("time.zone", Allowed::Zone),
    ("storage.vector_db", Allowed::OneOf(&["sqlite-vec"])),
    ("storage.sqlite_path", Allowed::Name),
    ("storage.embedding_model", Allowed::Name),
    ("long_term.top_k", Allowed::Whole(1, 100)),
    ("long_term.min_score", Allowed::Real(0.0, 1.0)),
    ("long_term.time_decay_factor", Allowed::Real(0.0, 1.0)),
    ("long_term.max_facts_per_user", Allowed::Whole(1, 1_000_000)),
    ("long_term.vector_dim", Allowed::Whole(1, 4096)),
    ("short_term.max_tokens", Allowed::Whole(100, 1_000_000)),
    ("short_term.window_size", Allowed::Whole(1, 1000)),
    ("short_term.summary_threshold", Allowed::Whole(100, 1_000_000)),
    ("context.working_memory_budget", Allowed::Whole(50, 100_000)),
    ("context.inject_memory", Allowed::Switch),
    ("context.memory_position", Allowed::OneOf(&["after_system", "before_input"])),
    ("context.system_prefix", Allowed::Text),
    ("recall.vector_weight", Allowed::Real(0.0, 1.0)),
    ("recall.keyword_weight", Allowed::Real(0.0, 1.0)),
    ("recall.time_weight", Allowed::Real(0.0, 1.0)),
    ("recall.candidates", Allowed::Whole(1, 1000)),
    ("recall.recent_days", Allowed::Whole(1, 365)),
    ("recall.time", Allowed::OneOf(&["asked", "recency"])),
    ("promotion.max_chars", Allowed::Whole(200, 100_000)),
    ("forgetting.unused_days", Allowed::Whole(1, 36_500)),
    ("watch.reconcile", Allowed::Cron),
    ("schedule.rollup", Allowed::Cron),
    ("schedule.sweep", Allowed::Cron),
    ("socket.max_connections", Allowed::Whole(1, 10_000)),
];

/// The keys of one `[[workspace]]`.
pub(super) const WORKSPACE_KEYS: [&str; 2] = ["path", "owner"];

/// The key as the table spells it, and what it may hold.
pub(super) fn rule(key: &str) -> Option<(&'static str, Allowed)> {
    RULES.iter().find(|(name, _)| *name == key).copied()
}

/// The section of a key.
pub(super) fn section(key: &str) -> &str {
    key.split_once('.').map_or(key, |(section, _)| section)
}

/// Whether a section of that name exists.
pub(super) fn is_section(name: &str) -> bool {
    RULES.iter().any(|(key, _)| section(key) == name)
}

impl Allowed {
    /// Whether `value` is one.
    pub(super) fn accepts(self, value: &Value) -> bool {
        match (self, value) {
            (Self::Whole(low, high), Value::Integer(n)) => (low..=high).contains(n),
            (Self::Real(low, high), Value::Float(n)) => (low..=high).contains(n),
            (Self::Real(low, high), Value::Integer(n)) => (low..=high).contains(&(*n as f64)),
            (Self::Switch, Value::Boolean(_)) => true,
            (Self::OneOf(words), Value::String(text)) => words.contains(&text.as_str()),
            (Self::Text, Value::String(_)) => true,
            (Self::Name, Value::String(text)) => !text.trim().is_empty(),
            (Self::Zone, Value::String(text)) => text == "system" || text.parse::<Tz>().is_ok(),
            (Self::Cron, Value::String(text)) => text.parse::<Schedule>().is_ok(),
            _ => false,
        }
    }

    /// `text` from a variable or flag as a value of this kind; as a text, which [`Self::accepts`] refuses, where it is none.
    pub(super) fn read(self, text: &str) -> Value {
        let value = match self {
            Self::Whole(..) => text.trim().parse().map(Value::Integer).ok(),
            Self::Real(..) => text.trim().parse().map(Value::Float).ok(),
            Self::Switch => text.trim().parse().map(Value::Boolean).ok(),
            _ => None,
        };
        value.unwrap_or_else(|| Value::String(text.to_owned()))
    }
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(low, high) => write!(f, "a whole number from {low} to {high}"),
            Self::Real(low, high) => write!(f, "a number from {low} to {high}"),
            Self::Switch => f.write_str("true or false"),
            Self::OneOf(words) => {
                let quoted: Vec<_> = words.iter().map(|word| format!("\"{word}\"")).collect();
                f.write_str(&quoted.join(" or "))
            }
            Self::Text => f.write_str("a text"),
            Self::Name => f.write_str("a text that is not empty"),
            Self::Zone => f.write_str("\"system\" or a zone such as \"Asia/Shanghai\""),
            Self::Cron => f.write_str(
                "six cron fields (second minute hour day month weekday) such as \"0 */10 * * * *\" or \"0 59 23 * * SUN\"",
            ),
        }
    }
}
