//! What a sweep lets go, and how much memories were used.

use chrono::{DateTime, Utc};
use rusqlite::params;

use super::rows::{COLUMNS, FROM_SCOPE};
use super::{Reader, StoreError, Writer, rows};
use crate::memory::{Audience, Importance, Memory, MemoryId, Scope, UserId};

/// From when back a memory is old.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cutoffs {
    /// Now: what is stamped later than that is clamped.
    pub now: DateTime<Utc>,
    /// What was last used before this is unused.
    pub unused: DateTime<Utc>,
    /// Only what is less important than this goes for being unused.
    pub below: Importance,
    /// A summary that came to be before this has had its time.
    pub summaries: DateTime<Utc>,
}

/// Why a memory goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It matters little, and nobody used it for long.
    Unused,
    /// A summary of a conversation, kept for some weeks only.
    OldSummary,
}

/// How much a memory was used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uses {
    /// Which memory.
    pub id: MemoryId,
    /// Different days of the user on which it reached a prompt.
    pub days: u32,
    /// Different sessions that it reached; what named no session is in none.
    pub sessions: u32,
}

/// When a memory was last used, as far as that can be believed (`?3` is now). A stamp of the future counts as now, one before
/// the memory came to be as its beginning, and where neither says anything the time begins to run now.
const LAST_USED: &str = "CASE WHEN m.last_accessed_at > ?3 THEN ?3 \
     WHEN m.last_accessed_at < 1 AND m.created_at < 1 THEN ?3 \
     WHEN m.last_accessed_at < m.created_at THEN min(m.created_at, ?3) ELSE m.last_accessed_at END";

/// A summary that no file holds.
const SUMMARY: &str = "m.kind = 'summary' AND m.file IS NULL";

impl Reader<'_> {
    /// What a sweep lets go, the longest kept first.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn to_sweep(&self, scope: &Scope, cutoffs: &Cutoffs) -> Result<Vec<(Memory, Why)>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS}, {SUMMARY} AND m.created_at BETWEEN 1 AND ?6 - 1 AS old {FROM_SCOPE} \
             AND (old OR (m.importance < ?5 AND {LAST_USED} < ?4)) ORDER BY m.key"
        ))?;
        let values = params![
            within.user,
            within.least_audience,
            cutoffs.now.timestamp_millis(),
            cutoffs.unused.timestamp_millis(),
            cutoffs.below.get(),
            cutoffs.summaries.timestamp_millis(),
        ];
        let found = statement.query_map(values, |row| {
            let why = if row.get("old")? { Why::OldSummary } else { Why::Unused };
            Ok((rows::memory(row)?.1, why))
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// On how many days and in how many sessions each memory was used; what is not in scope is left out.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn uses(&self, scope: &Scope, ids: &[MemoryId]) -> Result<Vec<Uses>, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT count(DISTINCT day), count(DISTINCT nullif(session, '')) FROM accesses WHERE memory = ?1",
        )?;
        let mut found = Vec::with_capacity(ids.len());
        for id in ids {
            let Some((row, _)) = self.get(scope, id)? else { continue };
            let counted = statement.query_row([row.0], |row| Ok((row.get(0)?, row.get(1)?)))?;
            found.push(Uses { id: id.clone(), days: counted.0, sessions: counted.1 });
        }
        Ok(found)
    }

    /// The memories of a workspace that were used on at least so many days, or in so many sessions, and how many those
    /// were.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn often_used(
        &self,
        scope: &Scope,
        workspace: &str,
        least: u32,
    ) -> Result<Vec<(Memory, u32)>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} {FROM_SCOPE} AND m.workspace = ?3 AND m.access_count >= ?4 ORDER BY m.key"
        ))?;
        let values = params![within.user, within.least_audience, workspace, least];
        let found: Vec<Memory> =
            statement.query_map(values, |row| Ok(rows::memory(row)?.1))?.collect::<Result<_, _>>()?;
        let ids: Vec<MemoryId> = found.iter().map(|memory| memory.id.clone()).collect();
        let uses = self.uses(scope, &ids)?;
        let often = found.into_iter().zip(uses).map(|(memory, uses)| (memory, uses.days.max(uses.sessions)));
        Ok(often.filter(|(_, uses)| *uses >= least).collect())
    }

    /// A scope for each user who ever stored anything, with a workspace or without.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn scopes_of_all_users(&self) -> Result<Vec<Scope>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT id FROM users ORDER BY id")?;
        let ids = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
        ids.iter()
            .map(|id| UserId::new(id).map(|user| Scope::new(user, Audience::Private)))
            .collect::<Result<_, _>>()
            .map_err(|error| StoreError::Corrupt(error.to_string()))
    }
}

impl Writer<'_> {
    /// Sets stamps right that cannot be true, so that what carries them grows old from now on. Answers how many there were.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn mend_stamps(&self, scope: &Scope, now: DateTime<Utc>) -> Result<usize, StoreError> {
        let user = self.user_key(scope)?;
        let used = format!(
            "UPDATE memories AS m SET last_accessed_at = {LAST_USED} \
             WHERE m.user = ?1 AND m.audience >= ?2 AND m.last_accessed_at IS NOT {LAST_USED}"
        );
        let mended = self.connection.execute(&used, params![user, 0, now.timestamp_millis()])?;
        let begun = format!(
            "UPDATE memories AS m SET created_at = ?2 \
             WHERE m.user = ?1 AND (m.created_at > ?2 OR (m.created_at < 1 AND {SUMMARY}))"
        );
        self.connection.execute(&begun, params![user, now.timestamp_millis()])?;
        Ok(mended)
    }
}
