//! Small things worth keeping: accesses, calibrations, settings of the store, counts.

use chrono::{DateTime, NaiveDate, Utc};
use rusqlite::{OptionalExtension, params};

use super::rows::FROM_SCOPE;
use super::{Reader, StoreError, Writer};
use crate::memory::{MemoryId, Scope, UserId};

/// How a model's cosines are spread among a user's memories of one language.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// The median of the cosines.
    pub median: f64,
    /// Their standard deviation.
    pub sd: f64,
    /// How many were measured.
    pub n: u32,
}

/// How many memories, and how far they are embedded in the active generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// All of them.
    pub memories: u64,
    /// With their vectors.
    pub embedded: u64,
}

impl Counts {
    /// Still without vectors.
    pub fn waiting(&self) -> u64 {
        self.memories.saturating_sub(self.embedded)
    }
}

/// The counts of one user in one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkspaceCounts {
    /// Whose.
    pub user: UserId,
    /// Where they were read from; `None` for what no file holds.
    pub workspace: Option<String>,
    /// How many.
    pub counts: Counts,
}

/// Memories `m`, embedded ones among them.
const COUNT: &str = "count(*), count(e.memory)";
const WITH_EMBEDDED: &str = "LEFT JOIN embedded e ON e.memory = m.key AND e.generation = \
     (SELECT id FROM generations WHERE state = 'active')";

impl Reader<'_> {
    /// How many memories are in scope.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn counts(&self, scope: &Scope) -> Result<Counts, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Counts::default()) };
        let sql = format!("SELECT {COUNT} FROM (SELECT m.key {FROM_SCOPE}) m {WITH_EMBEDDED}");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let values = params![within.user, within.least_audience];
        let (memories, embedded): (i64, i64) =
            statement.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(Counts { memories: memories.unsigned_abs(), embedded: embedded.unsigned_abs() })
    }

    /// How many memories each user has in each workspace, for the status.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn counts_of_all_users(&self) -> Result<Vec<WorkspaceCounts>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COUNT}, u.id, m.workspace FROM memories m JOIN users u ON u.key = m.user {WITH_EMBEDDED} \
             GROUP BY m.user, m.workspace ORDER BY u.id, m.workspace"
        ))?;
        let rows = statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, String>(2)?, row.get(3)?)))?;
        rows.map(|row| {
            let (memories, embedded, user, workspace): (i64, i64, String, Option<String>) = row?;
            let user = UserId::new(&user).map_err(|error| StoreError::Corrupt(error.to_string()))?;
            let counts = Counts { memories: memories.unsigned_abs(), embedded: embedded.unsigned_abs() };
            Ok(WorkspaceCounts { user, workspace, counts })
        })
        .collect()
    }

    /// How many memories, of all users, have no vectors in the generation yet.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn waiting_of_all_users(&self, generation: i64) -> Result<u64, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT (SELECT count(*) FROM memories) - (SELECT count(*) FROM embedded WHERE generation = ?1)",
        )?;
        let waiting: i64 = statement.query_row([generation], |row| row.get(0))?;
        Ok(waiting.unsigned_abs())
    }

    /// The calibration last stored for the user, the generation and the language.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn calibration(
        &self,
        scope: &Scope,
        generation: i64,
        lang: &str,
    ) -> Result<Option<Calibration>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(None) };
        let mut statement = self.connection.prepare_cached(
            "SELECT median, sd, n FROM calibrations WHERE user = ?1 AND generation = ?2 AND lang = ?3",
        )?;
        let found = statement.query_row(params![within.user, generation, lang], |row| {
            Ok(Calibration { median: row.get(0)?, sd: row.get(1)?, n: row.get(2)? })
        });
        Ok(found.optional()?)
    }

    /// A setting of the store itself; it belongs to no user.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn meta(&self, key: &str) -> Result<Option<String>, StoreError> {
        let mut statement = self.connection.prepare_cached("SELECT value FROM meta WHERE key = ?1")?;
        Ok(statement.query_row([key], |row| row.get(0)).optional()?)
    }
}

impl Writer<'_> {
    /// Notes that memories reached a prompt; counts once per memory, session and day. Ids not in scope are passed over.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn touch(
        &self,
        scope: &Scope,
        ids: &[MemoryId],
        session: Option<&str>,
        day: NaiveDate,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let mut access = self
            .connection
            .prepare_cached("INSERT OR IGNORE INTO accesses (memory, session, day) VALUES (?1, ?2, ?3)")?;
        let mut count = self.connection.prepare_cached(
            "UPDATE memories SET access_count = access_count + 1, last_accessed_at = ?2 WHERE key = ?1",
        )?;
        for id in ids {
            let Some((row, _)) = self.get(scope, id)? else { continue };
            if access.execute(params![row.0, session.unwrap_or_default(), day.to_string()])? == 1 {
                count.execute(params![row.0, now.timestamp_millis()])?;
            }
        }
        Ok(())
    }

    /// Keeps a calibration instead of the one before.
    ///
    /// # Errors
    /// What SQLite says, also if the generation is gone.
    pub fn put_calibration(
        &self,
        scope: &Scope,
        generation: i64,
        lang: &str,
        calibration: &Calibration,
    ) -> Result<(), StoreError> {
        let Calibration { median, sd, n } = calibration;
        let mut statement = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO calibrations (user, generation, lang, median, sd, n) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        statement.execute(params![self.user_key(scope)?, generation, lang, median, sd, n])?;
        Ok(())
    }

    /// Keeps a setting of the store itself; it belongs to no user.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn set_meta(&self, key: &str, value: &str) -> Result<(), StoreError> {
        let mut statement =
            self.connection.prepare_cached("INSERT OR REPLACE INTO meta (key, value) VALUES (?1, ?2)")?;
        statement.execute([key, value])?;
        Ok(())
    }
}
