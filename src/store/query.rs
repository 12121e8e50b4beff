//! Memories chosen by what they are, not by what they say.

use chrono::NaiveDate;
use rusqlite::{OptionalExtension, Params, params};

use super::rows::{COLUMNS, FROM_SCOPE, KINDS, lasting, name_of};
use super::{Reader, RowId, StoreError, rows};
use crate::memory::{Importance, Kind, Memory, MemoryId, Scope};

/// Which memories to list; what is `None` does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// Of this kind.
    pub kind: Option<Kind>,
    /// Of this day or later.
    pub from: Option<NaiveDate>,
    /// Of this day or earlier.
    pub to: Option<NaiveDate>,
    /// At least this important.
    pub min_importance: Option<Importance>,
    /// Said in this session.
    pub session: Option<String>,
    /// Read from this workspace.
    pub workspace: Option<String>,
    /// Read from this file of a workspace.
    pub file: Option<String>,
}

impl Reader<'_> {
    /// The memory of that id; `None` as well if it is another user's, or not for this audience.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn get(&self, scope: &Scope, id: &MemoryId) -> Result<Option<(RowId, Memory)>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(None) };
        let sql = format!("SELECT {COLUMNS} {FROM_SCOPE} AND m.id = ?3");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let values = params![within.user, within.least_audience, id.0];
        Ok(statement.query_row(values, rows::memory).optional()?)
    }

    /// The memories of those rows, in the order asked; what is not there is left out.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn get_many(&self, scope: &Scope, rows: &[RowId]) -> Result<Vec<(RowId, Memory)>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let sql = format!("SELECT {COLUMNS} {FROM_SCOPE} AND m.key = ?3");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut found = Vec::with_capacity(rows.len());
        for row in rows {
            let values = params![within.user, within.least_audience, row.0];
            found.extend(statement.query_row(values, rows::memory).optional()?);
        }
        Ok(found)
    }

    /// Memories whose id begins with `prefix`, to find one by the part of its id that a person typed.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn find_by_prefix(
        &self,
        scope: &Scope,
        prefix: &str,
        limit: usize,
    ) -> Result<Vec<(RowId, Memory)>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        self.memories(
            "AND m.id >= ?3 AND m.id < ?3 || char(0x10FFFF) ORDER BY m.id LIMIT ?4",
            params![within.user, within.least_audience, prefix, limit as i64],
        )
    }

    /// Memories that pass the filter, the newest day first; those without a day last, the latest stored first.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn list(
        &self,
        scope: &Scope,
        filter: &Filter,
        limit: usize,
        offset: usize,
    ) -> Result<Vec<(RowId, Memory)>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let condition = format!(
            "AND (?3 IS NULL OR m.kind = ?3) AND (?4 IS NULL OR m.day >= ?4) AND (?5 IS NULL OR m.day <= ?5) \
             AND (?6 IS NULL OR m.importance >= ?6) AND (?7 IS NULL OR m.session = ?7) \
             AND (?8 IS NULL OR m.workspace = ?8) AND (?9 IS NULL OR m.file = ?9) \
             AND {} ORDER BY m.day DESC, m.time DESC, m.key DESC LIMIT ?10 OFFSET ?11",
            lasting("?12")
        );
        self.memories(
            &condition,
            params![
                within.user,
                within.least_audience,
                filter.kind.map(|kind| name_of(KINDS, &kind)),
                filter.from.map(|day| day.to_string()),
                filter.to.map(|day| day.to_string()),
                filter.min_importance.map(Importance::get),
                filter.session,
                filter.workspace,
                filter.file,
                limit as i64,
                offset as i64,
                within.ended_by,
            ],
        )
    }

    /// What happened on `since` or later and is at least that important, the newest first.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn recent(
        &self,
        scope: &Scope,
        since: NaiveDate,
        min_importance: Importance,
        limit: usize,
    ) -> Result<Vec<(RowId, Memory)>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        // Not by way of `list`: optional conditions keep SQLite from using the index by day, and this is asked at every prompt.
        let condition = format!(
            "AND m.day >= ?3 AND m.importance >= ?4 AND {} ORDER BY m.day DESC, m.time DESC, m.key DESC LIMIT ?5",
            lasting("?6")
        );
        self.memories(
            &condition,
            params![
                within.user,
                within.least_audience,
                since.to_string(),
                min_importance.get(),
                limit as i64,
                within.ended_by
            ],
        )
    }

    /// Everything read from one file, in the order of its lines.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn entries_of_file(
        &self,
        scope: &Scope,
        workspace: &str,
        file: &str,
    ) -> Result<Vec<(RowId, Memory)>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        self.memories(
            "AND m.workspace = ?3 AND m.file = ?4 ORDER BY m.first_line, m.key",
            params![within.user, within.least_audience, workspace, file],
        )
    }

    /// Memories in scope that meet `condition`, whose own values begin with `?3`.
    fn memories(&self, condition: &str, values: impl Params) -> Result<Vec<(RowId, Memory)>, StoreError> {
        let mut statement =
            self.connection.prepare_cached(&format!("SELECT {COLUMNS} {FROM_SCOPE} {condition}"))?;
        let found = statement.query_map(values, rows::memory)?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}
