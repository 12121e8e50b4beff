//! What the daemon wrote, or is about to write, into files that it shares with people.

use chrono::{NaiveDate, NaiveTime};
use rusqlite::types::Type;
use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::rows::required;
use super::{Reader, StoreError, Writer};
use crate::memory::entry::ContentHash;
use crate::memory::{Redacted, Scope};

/// How far a page is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageState {
    /// It may be on disk, or the one before may still be.
    Writing,
    /// It is on disk.
    Written,
}

impl PageState {
    fn name(self) -> &'static str {
        match self {
            Self::Writing => "writing",
            Self::Written => "written",
        }
    }
}

/// What the daemon wrote into a page of its own; it says what is there, not what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRecord {
    /// Of the whole block.
    pub block: ContentHash,
    /// Its lines.
    pub lines: Vec<PageLine>,
}

/// One line of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageLine {
    /// Of the line as it is read back.
    pub hash: String,
    /// The entries it was made of: the file and the content hash of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<(String, String)>,
    /// Whether a person wrote it: it stays as long as the person leaves it there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// Whether a person took it off the page: it stays off.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub removed: bool,
}

/// A promotion that was decided: as stored with plain text, or about to be stored with text known to hold no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingPromotion<Text = String> {
    /// Of the block of `MEMORY.md` that it makes.
    pub block: ContentHash,
    /// The user's day of the decision.
    pub day: NaiveDate,
    /// The user's time of the decision.
    pub time: NaiveTime,
    /// What the day's note says was promoted.
    pub synced: Vec<Text>,
    /// What leaves the block for the archive.
    pub archived: Vec<Text>,
}

impl Reader<'_> {
    /// The record of a page in that state.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn page(
        &self,
        scope: &Scope,
        workspace: &str,
        file: &str,
        state: PageState,
    ) -> Result<Option<PageRecord>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(None) };
        let mut statement = self.connection.prepare_cached(
            "SELECT block, lines FROM pages WHERE user = ?1 AND workspace = ?2 AND file = ?3 AND state = ?4",
        )?;
        let found = statement.query_row(params![within.user, workspace, file, state.name()], |row| {
            Ok(PageRecord { block: ContentHash(row.get(0)?), lines: json(1, &row.get::<_, String>(1)?)? })
        });
        Ok(found.optional()?)
    }

    /// Whether any of these entries (file and content hash) is still remembered.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn any_remembered(
        &self,
        scope: &Scope,
        workspace: &str,
        entries: &[(String, String)],
    ) -> Result<bool, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(false) };
        let mut statement = self.connection.prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM memories WHERE user = ?1 AND workspace = ?2 AND file = ?3 AND hash = ?4)",
        )?;
        for (file, hash) in entries {
            if statement.query_row(params![within.user, workspace, file, hash], |row| row.get(0))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The promotion of a workspace that may not be everywhere yet.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn pending_promotion(
        &self,
        scope: &Scope,
        workspace: &str,
    ) -> Result<Option<PendingPromotion>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(None) };
        let mut statement = self.connection.prepare_cached(
            "SELECT block, day, time, synced, archived FROM promotions WHERE user = ?1 AND workspace = ?2",
        )?;
        let found = statement.query_row(params![within.user, workspace], |row| {
            Ok(PendingPromotion {
                block: ContentHash(row.get(0)?),
                day: required(row, 1)?,
                time: required(row, 2)?,
                synced: json(3, &row.get::<_, String>(3)?)?,
                archived: json(4, &row.get::<_, String>(4)?)?,
            })
        });
        Ok(found.optional()?)
    }
}

impl Writer<'_> {
    /// Keeps the record of a page instead of the one before in that state.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn put_page(
        &self,
        scope: &Scope,
        workspace: &str,
        file: &str,
        state: PageState,
        record: &PageRecord,
    ) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO pages (user, workspace, file, state, block, lines) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?;
        let lines = serde_json::to_string(&record.lines).unwrap_or_default();
        let user = self.user_key(scope)?;
        statement.execute(params![user, workspace, file, state.name(), record.block.0, lines])?;
        Ok(())
    }

    /// Makes the page that was being written the written one, if there is one.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn settle_page(&self, scope: &Scope, workspace: &str, file: &str) -> Result<(), StoreError> {
        if let Some(record) = self.page(scope, workspace, file, PageState::Writing)? {
            self.put_page(scope, workspace, file, PageState::Written, &record)?;
        }
        self.abandon_page(scope, workspace, file)
    }

    /// Drops the record of a page that was being written and did not come to be.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn abandon_page(&self, scope: &Scope, workspace: &str, file: &str) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(
            "DELETE FROM pages WHERE user = ?1 AND workspace = ?2 AND file = ?3 AND state = 'writing'",
        )?;
        statement.execute(params![self.user_key(scope)?, workspace, file])?;
        Ok(())
    }

    /// Keeps a promotion until it is everywhere.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn put_promotion(
        &self,
        scope: &Scope,
        workspace: &str,
        promotion: &PendingPromotion<Redacted>,
    ) -> Result<(), StoreError> {
        let mut statement = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO promotions (user, workspace, block, day, time, synced, archived) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        let PendingPromotion { block, day, time, synced, archived } = promotion;
        let [synced, archived] = [synced, archived].map(|lines| {
            let lines: Vec<&str> = lines.iter().map(Redacted::as_str).collect();
            serde_json::to_string(&lines).unwrap_or_default()
        });
        statement.execute(params![
            self.user_key(scope)?,
            workspace,
            block.0,
            day.to_string(),
            time.to_string(),
            synced,
            archived
        ])?;
        Ok(())
    }

    /// The promotion is everywhere, or came to nothing.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn end_promotion(&self, scope: &Scope, workspace: &str) -> Result<(), StoreError> {
        let mut statement =
            self.connection.prepare_cached("DELETE FROM promotions WHERE user = ?1 AND workspace = ?2")?;
        statement.execute(params![self.user_key(scope)?, workspace])?;
        Ok(())
    }
}

fn json<T: serde::de::DeserializeOwned>(column: usize, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}
