//! Memories come, change and go, and their words and vectors with them.

use rusqlite::{ToSql, named_params, params};

use super::rows::{KINDS, MARKS, audience_number, name_of};
use super::words::document_length;
use super::{RowId, StoreError, Writer};
use crate::memory::{Memory, MemoryId, NewMemory, Scope};

impl Writer<'_> {
    /// Stores a memory with its words; its vectors may follow.
    ///
    /// # Errors
    /// [`StoreError::ForeignMemory`] if it is not the scope's user's; what SQLite says, also if the id is taken.
    pub fn insert(&self, scope: &Scope, memory: &NewMemory, terms: &[String]) -> Result<RowId, StoreError> {
        own(scope, memory)?;
        let user = self.user_key(scope)?;
        self.set_columns(
            "INSERT INTO memories (id, user, session, kind, mark, importance, audience, content, context, day, time, \
             workspace, file, first_line, last_line, hash, expires_at, terms, created_at, access_count, last_accessed_at) \
             VALUES (:id, :user, :session, :kind, :mark, :importance, :audience, :content, :context, :day, :time, \
             :workspace, :file, :first_line, :last_line, :hash, :expires_at, :terms, :created_at, :access_count, :last_accessed_at)",
            user,
            memory,
            terms,
            &[
                (":created_at", &memory.created_at.timestamp_millis()),
                (":access_count", &memory.access_count),
                (":last_accessed_at", &memory.last_accessed_at.timestamp_millis()),
            ],
        )?;
        let row = RowId(self.connection.last_insert_rowid());
        self.store_words(row, user, terms)?;
        Ok(row)
    }

    /// Replaces what the memory of the same id says and is, with its words. Its creation and accesses stay; its vectors stay
    /// only if what they were made of (content, context) and whom they are for did not change. `false` if there is no such memory.
    ///
    /// # Errors
    /// [`StoreError::ForeignMemory`] if it is not the scope's user's; what SQLite says.
    pub fn update(&self, scope: &Scope, memory: &NewMemory, terms: &[String]) -> Result<bool, StoreError> {
        own(scope, memory)?;
        let Some((row, old)) = self.get(scope, &memory.id)? else { return Ok(false) };
        let user = self.user_key(scope)?;
        self.set_columns(
            "UPDATE memories SET session = :session, kind = :kind, mark = :mark, importance = :importance, \
             audience = :audience, content = :content, context = :context, day = :day, time = :time, \
             workspace = :workspace, file = :file, first_line = :first_line, last_line = :last_line, hash = :hash, \
             expires_at = :expires_at, terms = :terms WHERE id = :id AND user = :user",
            user,
            memory,
            terms,
            &[],
        )?;
        self.remove_words(row)?;
        self.store_words(row, user, terms)?;
        if !same_text(&old, memory) || old.audience != memory.audience {
            self.remove_vectors(row)?;
        }
        Ok(true)
    }

    /// Notes that a memory's lines moved within its file. `false` if there is no such memory.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn move_lines(&self, scope: &Scope, id: &MemoryId, lines: (u32, u32)) -> Result<bool, StoreError> {
        let Some((row, _)) = self.get(scope, id)? else { return Ok(false) };
        let mut statement = self
            .connection
            .prepare_cached("UPDATE memories SET first_line = ?2, last_line = ?3 WHERE key = ?1")?;
        Ok(statement.execute(params![row.0, lines.0, lines.1])? == 1)
    }

    /// Removes memories whose source no longer holds them: rows, words and vectors. Said again, they are new. Answers how many there were.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn delete(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize, StoreError> {
        let mut deleted = 0;
        for id in ids {
            let Some((row, _)) = self.get(scope, id)? else { continue };
            self.remove_words(row)?;
            self.remove_vectors(row)?;
            deleted += self.connection.execute("DELETE FROM memories WHERE key = ?1", [row.0])?;
        }
        Ok(deleted)
    }

    /// Removes memories although their source may still hold them: like [`Writer::delete`], and each leaves a tombstone, so that the
    /// same entry of the same file stays gone when the file is read again. Answers how many there were.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn forget(&self, scope: &Scope, ids: &[MemoryId]) -> Result<usize, StoreError> {
        for id in ids {
            if let Some((_, Memory { source: Some(source), hash, .. })) = self.get(scope, id)? {
                let buried = self.tombstone(scope, &source.workspace, &source.file, &hash)?;
                self.set_tombstone(scope, &source.workspace, &source.file, &hash, buried + 1)?;
            }
        }
        self.delete(scope, ids)
    }

    /// Runs `sql` with every column that insertion and update share, and `more`.
    fn set_columns(
        &self,
        sql: &str,
        user: i64,
        memory: &NewMemory,
        terms: &[String],
        more: &[(&str, &dyn ToSql)],
    ) -> Result<(), StoreError> {
        let source = memory.source.as_ref();
        let common = named_params! {
            ":id": memory.id.0,
            ":user": user,
            ":session": memory.session,
            ":kind": name_of(KINDS, &memory.kind),
            ":mark": name_of(MARKS, &memory.mark),
            ":importance": memory.importance.get(),
            ":audience": audience_number(memory.audience),
            ":content": memory.content.as_str(),
            ":context": memory.context.as_str(),
            ":day": memory.day.map(|day| day.to_string()),
            ":time": memory.time.map(|time| time.to_string()),
            ":workspace": source.map(|source| &source.workspace),
            ":file": source.map(|source| &source.file),
            ":first_line": source.map(|source| source.lines.0),
            ":last_line": source.map(|source| source.lines.1),
            ":hash": memory.hash.0,
            ":expires_at": memory.expires_at.map(|at| at.timestamp_millis()),
            ":terms": document_length(terms),
        };
        let all: Vec<(&str, &dyn ToSql)> = common.iter().chain(more).copied().collect();
        self.connection.prepare_cached(sql)?.execute(all.as_slice())?;
        Ok(())
    }
}

fn own(scope: &Scope, memory: &NewMemory) -> Result<(), StoreError> {
    if memory.user == *scope.user() { Ok(()) } else { Err(StoreError::ForeignMemory) }
}

/// Whether a vector of the one is a vector of the other.
fn same_text(old: &Memory, new: &NewMemory) -> bool {
    old.content == new.content.as_str() && old.context == new.context.as_str()
}
