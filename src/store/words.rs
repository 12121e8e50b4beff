//! The keyword leg: which memories hold a word, and how rare the word is among one user's memories.

use std::collections::HashSet;
use std::fmt::Write as _;

use rusqlite::{OptionalExtension, params};

use super::rows::{FROM_SCOPE, lasting};
use super::{Reader, RowId, StoreError, Writer};
use crate::memory::{MemoryId, Scope};

/// Different terms of a query that are looked up; a longer disjunction takes seconds and finds nothing better.
pub const MAX_QUERY_TERMS: usize = 64;
/// Characters of a term that count.
const MAX_TERM_CHARS: usize = 128;

/// What BM25 needs to know of a user's memories.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WordStats {
    /// How many memories the user has, for any audience.
    pub documents: u64,
    /// Their mean length, in terms.
    pub mean_length: f64,
    /// In how many of them each asked term occurs, in the order asked.
    pub document_frequency: Vec<u64>,
}

impl Reader<'_> {
    /// The `limit` best memories that hold at least one of `terms`, best first by FTS5's own rank, which serves to choose candidates.
    /// Terms beyond the first [`MAX_QUERY_TERMS`] different ones are not looked up: put what matters first.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn words_search(
        &self,
        scope: &Scope,
        terms: &[String],
        limit: usize,
    ) -> Result<Vec<RowId>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let query = disjunction(within.user, terms);
        if query.is_empty() {
            return Ok(Vec::new());
        }
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT m.key FROM words JOIN memories m ON m.key = words.rowid WHERE words MATCH ?3 AND m.user = ?1 \
             AND m.audience >= ?2 AND {} ORDER BY words.rank LIMIT ?4",
            lasting("?5")
        ))?;
        let values = params![within.user, within.least_audience, query, limit as i64, within.ended_by];
        let rows = statement.query_map(values, |row| row.get(0))?;
        Ok(rows.map(|key| key.map(RowId)).collect::<Result<_, _>>()?)
    }

    /// How many memories the user has, how long they are, and in how many of them each term occurs. What a group may not see is
    /// counted all the same: rarity is a property of the user's words.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn word_stats(&self, scope: &Scope, terms: &[String]) -> Result<WordStats, StoreError> {
        let Some(within) = self.in_scope(scope)? else {
            return Ok(WordStats { document_frequency: vec![0; terms.len()], ..WordStats::default() });
        };
        let mut totals =
            self.connection.prepare_cached("SELECT memories, terms FROM users WHERE key = ?1")?;
        let (documents, length): (i64, i64) =
            totals.query_row([within.user], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut frequency =
            self.connection.prepare_cached("SELECT doc FROM word_documents WHERE term = ?1")?;
        let document_frequency = terms
            .iter()
            .map(|term| {
                let stored = format!("{}~{}", within.user, clean(term));
                let count: Option<i64> = frequency.query_row([stored], |row| row.get(0)).optional()?;
                Ok(count.unwrap_or_default().unsigned_abs())
            })
            .collect::<Result<_, StoreError>>()?;
        let mean_length = if documents > 0 { length as f64 / documents as f64 } else { 0.0 };
        Ok(WordStats { documents: documents.unsigned_abs(), mean_length, document_frequency })
    }

    /// The terms of each memory, as they were given at its insertion; what is not in scope is left out.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn terms_of(&self, scope: &Scope, rows: &[RowId]) -> Result<Vec<(RowId, Vec<String>)>, StoreError> {
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT w.terms FROM words w WHERE w.rowid = ?3 AND EXISTS (SELECT 1 {FROM_SCOPE} AND m.key = ?3)"
        ))?;
        let mut found = Vec::with_capacity(rows.len());
        for row in rows {
            let text: Option<String> = statement
                .query_row(params![within.user, within.least_audience, row.0], |columns| columns.get(0))
                .optional()?;
            if let Some(text) = text {
                let terms = text.split(' ').filter_map(|term| term.split_once('~'));
                found.push((*row, terms.map(|(_, word)| word.to_owned()).collect()));
            }
        }
        Ok(found)
    }
}

impl Writer<'_> {
    /// Gives a memory its words again, for what [`Writer::check`] found without any. `false` if there is no such memory.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn put_words(&self, scope: &Scope, id: &MemoryId, terms: &[String]) -> Result<bool, StoreError> {
        let Some((row, _)) = self.get(scope, id)? else { return Ok(false) };
        self.remove_words(row)?;
        self.connection.execute(
            "UPDATE memories SET terms = ?2 WHERE key = ?1",
            params![row.0, document_length(terms)],
        )?;
        self.store_words(row, self.user_key(scope)?, terms)?;
        Ok(true)
    }

    pub(super) fn store_words(&self, row: RowId, user: i64, terms: &[String]) -> Result<(), StoreError> {
        let mut statement =
            self.connection.prepare_cached("INSERT INTO words (rowid, terms) VALUES (?1, ?2)")?;
        statement.execute(params![row.0, document(user, terms)])?;
        Ok(())
    }

    pub(super) fn remove_words(&self, row: RowId) -> Result<(), StoreError> {
        self.connection.prepare_cached("DELETE FROM words WHERE rowid = ?1")?.execute([row.0])?;
        Ok(())
    }
}

/// The terms as FTS5 gets them.
fn document(user: i64, terms: &[String]) -> String {
    let mut text = String::new();
    for term in terms.iter().map(|term| clean(term)).filter(|term| !term.is_empty()) {
        let gap = if text.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = write!(text, "{gap}{user}~{term}");
    }
    text
}

/// How many terms [`document`] keeps.
pub(super) fn document_length(terms: &[String]) -> i64 {
    terms.iter().filter(|term| !clean(term).is_empty()).count() as i64
}

/// `"1~杭州" OR "1~二胡"`: each term quoted, so that nothing in it is query syntax.
fn disjunction(user: i64, terms: &[String]) -> String {
    let mut seen = HashSet::new();
    let clean = terms.iter().map(|term| clean(term)).filter(|term| !term.is_empty());
    let quoted: Vec<String> = clean
        .filter(|term| seen.insert(term.clone()))
        .take(MAX_QUERY_TERMS)
        .map(|term| format!("\"{user}~{}\"", term.replace('"', "\"\"")))
        .collect();
    quoted.join(" OR ")
}

/// One token as FTS5 will see it: lower case, no white space, no control characters (NUL would end the query), of bounded length.
fn clean(term: &str) -> String {
    let visible = term.chars().filter(|c| !c.is_whitespace() && !c.is_control());
    visible.take(MAX_TERM_CHARS).flat_map(char::to_lowercase).collect()
}
