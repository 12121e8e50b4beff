//! Which lines of the user's notes are ours: those that were noted when we wrote them, and no others that look like them.

use std::collections::HashSet;

use rusqlite::params;

use super::{Reader, StoreError, Writer};
use crate::memory::Scope;
use crate::memory::entry::ContentHash;

/// Bullets, by the hash of their very lines.
pub type Bullets = HashSet<ContentHash>;

impl Reader<'_> {
    /// The bullets of the file that we wrote and did not cut out again.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn written(&self, scope: &Scope, workspace: &str, file: &str) -> Result<Bullets, StoreError> {
        self.bullets(scope, workspace, file, false)
    }

    /// The bullets that we wrote into the file and cut out again.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn cut_out(&self, scope: &Scope, workspace: &str, file: &str) -> Result<Bullets, StoreError> {
        self.bullets(scope, workspace, file, true)
    }

    fn bullets(&self, scope: &Scope, workspace: &str, file: &str, cut: bool) -> Result<Bullets, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Bullets::new()) };
        let mut statement = self.connection.prepare_cached(
            "SELECT hash FROM written WHERE user = ?1 AND workspace = ?2 AND file = ?3 AND cut = ?4",
        )?;
        let found = statement
            .query_map(params![within.user, workspace, file, cut], |row| Ok(ContentHash(row.get(0)?)))?;
        Ok(found.collect::<Result<_, _>>()?)
    }
}

impl Writer<'_> {
    /// Notes that these bullets are ours. One that was cut out and is written again is wanted again.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn put_written(
        &self,
        scope: &Scope,
        workspace: &str,
        file: &str,
        bullets: &[ContentHash],
    ) -> Result<(), StoreError> {
        self.put_bullets(scope, workspace, file, bullets, false)
    }

    /// Notes that we cut these bullets out again.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn put_cut(
        &self,
        scope: &Scope,
        workspace: &str,
        file: &str,
        bullets: &[ContentHash],
    ) -> Result<(), StoreError> {
        self.put_bullets(scope, workspace, file, bullets, true)
    }

    fn put_bullets(
        &self,
        scope: &Scope,
        workspace: &str,
        file: &str,
        bullets: &[ContentHash],
        cut: bool,
    ) -> Result<(), StoreError> {
        let user = self.user_key(scope)?;
        let mut statement = self.connection.prepare_cached(
            "INSERT OR REPLACE INTO written (user, workspace, file, hash, cut) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        for bullet in bullets {
            statement.execute(params![user, workspace, file, bullet.0, cut])?;
        }
        Ok(())
    }
}
