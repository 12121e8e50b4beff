//! Rows as memories and back, and how a scope becomes a condition.

use chrono::{DateTime, NaiveDate, NaiveTime, Utc};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Row};

use super::{Reader, StoreError, Writer};
use crate::memory::conversation::Role;
use crate::memory::entry::ContentHash;
use crate::memory::{Audience, Importance, Kind, Mark, Memory, MemoryId, Scope, Source, UserId};

/// A memory's key inside the store. Never used again once the memory is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId(pub i64);

/// The columns that [`memory`] reads.
pub(super) const COLUMNS: &str = "m.key, m.id, u.id, m.session, m.kind, m.mark, m.importance, m.audience, m.content, \
     m.context, m.day, m.time, m.workspace, m.file, m.first_line, m.last_line, m.hash, m.created_at, m.expires_at, \
     m.access_count, m.last_accessed_at";

/// The tables that [`COLUMNS`] come from, and the condition every query of a user begins with: `?1` is
/// [`InScope::user`], `?2` is [`InScope::least_audience`].
pub(super) const FROM_SCOPE: &str =
    "FROM memories m JOIN users u ON u.key = m.user WHERE m.user = ?1 AND m.audience >= ?2";

pub(super) const KINDS: &[(Kind, &str)] = &[
    (Kind::Fact, "fact"),
    (Kind::Preference, "preference"),
    (Kind::Behavior, "behavior"),
    (Kind::Summary, "summary"),
];

pub(super) const MARKS: &[(Mark, &str)] =
    &[(Mark::None, "none"), (Mark::User, "user"), (Mark::Auto, "auto"), (Mark::Sync, "sync")];

pub(super) const ROLES: &[(Role, &str)] =
    &[(Role::User, "user"), (Role::Assistant, "assistant"), (Role::Tool, "tool"), (Role::System, "system")];

/// A scope as a query needs it.
#[derive(Debug, Clone, Copy)]
pub(super) struct InScope {
    /// The user's key.
    pub user: i64,
    /// A group sees 1 only, its user sees 0 as well.
    pub least_audience: i64,
    /// What ended by then is left out, in milliseconds; before all times where nothing is.
    pub ended_by: i64,
}

/// The condition, in every query that recalls or lists, that a memory has not ended: `parameter` is [`InScope::ended_by`].
pub(super) fn lasting(parameter: &str) -> String {
    format!("(m.expires_at IS NULL OR m.expires_at > {parameter})")
}

impl Reader<'_> {
    /// `None` for a user who never stored anything.
    pub(super) fn in_scope(&self, scope: &Scope) -> Result<Option<InScope>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT key FROM users WHERE id = ?1")?;
        let user: Option<i64> = statement.query_row([scope.user().as_str()], |row| row.get(0)).optional()?;
        let ended_by = scope.without_ended_by().map_or(i64::MIN, |now| now.timestamp_millis());
        let least_audience = audience_number(scope.audience());
        Ok(user.map(|user| InScope { user, least_audience, ended_by }))
    }
}

impl Writer<'_> {
    /// The user's key; an unknown user becomes known.
    pub(super) fn user_key(&self, scope: &Scope) -> Result<i64, StoreError> {
        if let Some(known) = self.in_scope(scope)? {
            return Ok(known.user);
        }
        self.connection.execute("INSERT INTO users (id) VALUES (?1)", [scope.user().as_str()])?;
        Ok(self.connection.last_insert_rowid())
    }
}

pub(super) fn audience_number(audience: Audience) -> i64 {
    match audience {
        Audience::Private => 0,
        Audience::Shared => 1,
    }
}

pub(super) fn audience(number: i64) -> Audience {
    if number == 0 { Audience::Private } else { Audience::Shared }
}

/// The scope of a user's id and an audience, in those columns.
pub(super) fn scope(row: &Row<'_>, user: usize, audience: usize) -> rusqlite::Result<Scope> {
    let user = UserId::new(&row.get::<_, String>(user)?).map_err(|error| unreadable(user, error))?;
    Ok(Scope::new(user, self::audience(row.get(audience)?)))
}

/// The name of `value` in the database.
pub(super) fn name_of<T: PartialEq>(table: &[(T, &'static str)], value: &T) -> &'static str {
    table.iter().find(|(known, _)| known == value).map_or("", |(_, name)| name)
}

/// A row of [`COLUMNS`].
pub(super) fn memory(row: &Row<'_>) -> rusqlite::Result<(RowId, Memory)> {
    let memory = Memory {
        id: MemoryId(row.get(1)?),
        user: UserId::new(&row.get::<_, String>(2)?).map_err(|error| unreadable(2, error))?,
        session: row.get(3)?,
        kind: value_of(KINDS, row, 4)?,
        mark: value_of(MARKS, row, 5)?,
        importance: Importance::clamped(row.get(6)?),
        audience: audience(row.get(7)?),
        content: row.get(8)?,
        context: row.get(9)?,
        day: parsed::<NaiveDate>(row, 10)?,
        time: parsed::<NaiveTime>(row, 11)?,
        source: source(row)?,
        hash: ContentHash(row.get(16)?),
        created_at: instant(row.get(17)?, 17)?,
        expires_at: row.get::<_, Option<i64>>(18)?.map(|millis| instant(millis, 18)).transpose()?,
        access_count: row.get(19)?,
        last_accessed_at: instant(row.get(20)?, 20)?,
    };
    Ok((RowId(row.get(0)?), memory))
}

fn source(row: &Row<'_>) -> rusqlite::Result<Option<Source>> {
    let (workspace, file): (Option<String>, Option<String>) = (row.get(12)?, row.get(13)?);
    let Some((workspace, file)) = workspace.zip(file) else { return Ok(None) };
    Ok(Some(Source { workspace, file, lines: (row.get(14)?, row.get(15)?) }))
}

pub(super) fn value_of<T: Copy>(table: &[(T, &str)], row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let name: String = row.get(column)?;
    let found = table.iter().find(|(_, known)| *known == name).map(|(value, _)| *value);
    found.ok_or_else(|| unreadable(column, StoreError::Corrupt(format!("unknown value '{name}'"))))
}

pub(super) fn parsed<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<T>>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    let text: Option<String> = row.get(column)?;
    text.map(|text| text.parse().map_err(|error| unreadable(column, error))).transpose()
}

/// A day or time of day that is never missing.
pub(super) fn required<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    let missing = || unreadable(column, StoreError::Corrupt("a date is missing".to_owned()));
    parsed(row, column)?.ok_or_else(missing)
}

/// Milliseconds since the epoch as an instant.
pub(super) fn instant(millis: i64, column: usize) -> rusqlite::Result<DateTime<Utc>> {
    DateTime::from_timestamp_millis(millis).ok_or(rusqlite::Error::IntegralValueOutOfRange(column, millis))
}

pub(super) fn unreadable(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
