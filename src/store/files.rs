//! What was read from the user's files, and what must not be read from them again.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use rusqlite::{OptionalExtension, Row, params};

use super::{Reader, StoreError, Writer, rows};
use crate::memory::Scope;
use crate::memory::entry::ContentHash;

/// A file as it was when it was last read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    /// The workspace's folder, as configured.
    pub workspace: String,
    /// The file, relative to the workspace, with `/`.
    pub file: String,
    /// Of its bytes.
    pub hash: ContentHash,
    /// When it was read.
    pub ingested_at: DateTime<Utc>,
    /// How many entries it held.
    pub entries: u32,
    /// What was found in it that is worth telling (secrets, skipped parts), as the caller writes it.
    pub notes: String,
}

fn file_state(row: &Row<'_>) -> rusqlite::Result<FileState> {
    Ok(FileState {
        workspace: row.get(0)?,
        file: row.get(1)?,
        hash: ContentHash(row.get(2)?),
        ingested_at: rows::instant(row.get(3)?, 3)?,
        entries: row.get(4)?,
        notes: row.get(5)?,
    })
}

impl Reader<'_> {
    /// Every file of the workspace that was read, by name.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn files(&self, scope: &Scope, workspace: &str) -> Result<Vec<FileState>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(
            "SELECT workspace, file, hash, ingested_at, entries, notes FROM files \
             WHERE user = ?1 AND workspace = ?2 ORDER BY file",
        )?;
        let found = statement.query_map(params![within.user, workspace], file_state)?;
        Ok(found.collect::<Result<_, _>>()?)
    }

    /// What the file was when it was last read; `None` if it never was.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn file(&self, scope: &Scope, workspace: &str, file: &str) -> Result<Option<FileState>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(None) };
        let mut statement = self.connection.prepare_cached(
            "SELECT workspace, file, hash, ingested_at, entries, notes FROM files \
             WHERE user = ?1 AND workspace = ?2 AND file = ?3",
        )?;
        Ok(statement.query_row(params![within.user, workspace, file], file_state).optional()?)
    }

    /// Which entries of the file were forgotten while it held them, by content hash, and how many of each.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn tombstones(
        &self,
        scope: &Scope,
        workspace: &str,
        file: &str,
    ) -> Result<HashMap<ContentHash, u32>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(HashMap::new()) };
        let mut statement = self.connection.prepare_cached(
            "SELECT hash, count FROM tombstones WHERE user = ?1 AND workspace = ?2 AND file = ?3",
        )?;
        let found = statement.query_map(params![within.user, workspace, file], |row| {
            Ok((ContentHash(row.get(0)?), row.get(1)?))
        })?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

impl Writer<'_> {
    /// Notes what a file was when it was read.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn put_file(&self, scope: &Scope, state: &FileState) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO files (user, workspace, file, hash, ingested_at, entries, notes) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        statement.execute(params![
            self.user_key(scope)?,
            state.workspace,
            state.file,
            state.hash.0,
            state.ingested_at.timestamp_millis(),
            state.entries,
            state.notes
        ])?;
        Ok(())
    }

    /// Drops the note of a file that is gone. Its memories are the caller's to delete; its tombstones stay, for the file may come back.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn remove_file(&self, scope: &Scope, workspace: &str, file: &str) -> Result<(), StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(()) };
        let mut statement = self
            .connection
            .prepare_cached("DELETE FROM files WHERE user = ?1 AND workspace = ?2 AND file = ?3")?;
        statement.execute(params![within.user, workspace, file])?;
        Ok(())
    }

    /// Says how many entries of that content the file holds and must stay forgotten; 0 lifts the tombstone, as when the file
    /// no longer holds any, so that the same words written later are new.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn set_tombstone(
        &self,
        scope: &Scope,
        workspace: &str,
        file: &str,
        hash: &ContentHash,
        count: u32,
    ) -> Result<(), StoreError> {
        let user = self.user_key(scope)?;
        let mut lift = self.connection.prepare_cached(
            "DELETE FROM tombstones WHERE user = ?1 AND workspace = ?2 AND file = ?3 AND hash = ?4",
        )?;
        lift.execute(params![user, workspace, file, hash.0])?;
        if count > 0 {
            let mut set = self.connection.prepare_cached(
                "INSERT INTO tombstones (user, workspace, file, hash, count) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?;
            set.execute(params![user, workspace, file, hash.0, count])?;
        }
        Ok(())
    }

    pub(super) fn tombstone(
        &self,
        scope: &Scope,
        workspace: &str,
        file: &str,
        hash: &ContentHash,
    ) -> Result<u32, StoreError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT count FROM tombstones WHERE user = ?1 AND workspace = ?2 AND file = ?3 AND hash = ?4",
        )?;
        let user = self.user_key(scope)?;
        let count =
            statement.query_row(params![user, workspace, file, hash.0], |row| row.get(0)).optional()?;
        Ok(count.unwrap_or_default())
    }
}
