//! Whether rows, words and vectors still belong together, and what can be done if not.

use std::collections::HashSet;
use std::fmt;

use super::generations::memory_of;
use super::rows::COLUMNS;
use super::{Generation, MAX_PARTS, RowId, StoreError, Writer, rows};
use crate::memory::{Memory, Scope};

/// What [`Writer::check`] found. All but the first was repaired on the spot.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// Memories without words: the caller cuts their text again and calls [`Writer::put_words`].
    pub without_words: Vec<(Scope, Memory)>,
    /// Words of no memory, removed.
    pub stray_words: usize,
    /// The word index did not match its own content and was built anew from it.
    pub words_rebuilt: bool,
    /// Vectors of no memory, or more or fewer than the memory has parts; removed, and the memory waits for new ones.
    pub stray_vectors: usize,
    /// Vector tables of no generation, removed; or missing ones, made anew.
    pub vector_tables: usize,
    /// Users whose totals for BM25 were wrong, counted again.
    pub wrong_totals: usize,
}

impl Report {
    /// Whether all was well.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.without_words.len(), "memories without words"),
            (self.stray_words, "words without a memory"),
            (usize::from(self.words_rebuilt), "word index built anew"),
            (self.stray_vectors, "vectors that did not fit their memory"),
            (self.vector_tables, "vector tables"),
            (self.wrong_totals, "word totals"),
        ];
        let found =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        f.write_str(&found.collect::<Vec<_>>().join(", "))
    }
}

impl Writer<'_> {
    /// Compares memories, words and vectors of all users by their keys, in both directions, and repairs what can be derived. For the
    /// start: it reads every index once.
    ///
    /// # Errors
    /// What SQLite says; [`StoreError::Corrupt`] if it cannot be repaired here.
    pub fn check(&self) -> Result<Report, StoreError> {
        let mut report = Report { words_rebuilt: self.check_word_index()?, ..Report::default() };
        for row in self.keys("SELECT id FROM words_content EXCEPT SELECT key FROM memories")? {
            self.remove_words(RowId(row))?;
            report.stray_words += 1;
        }
        report.without_words = self.memories_without_words()?;
        report.vector_tables = self.check_vector_tables()?;
        for generation in self.generations()? {
            report.stray_vectors += self.check_vectors(&generation)?;
        }
        report.wrong_totals = self.check_totals()?;
        Ok(report)
    }

    /// FTS5 compares its index with its content; `true` if it had to be rebuilt.
    fn check_word_index(&self) -> Result<bool, StoreError> {
        let sound = "INSERT INTO words (words, rank) VALUES ('integrity-check', 1)";
        match self.connection.execute_batch(sound).map_err(StoreError::from) {
            Ok(()) => Ok(false),
            Err(StoreError::Corrupt(_)) => {
                self.connection.execute_batch("INSERT INTO words (words) VALUES ('rebuild')")?;
                self.connection.execute_batch(sound)?;
                Ok(true)
            }
            Err(other) => Err(other),
        }
    }

    fn memories_without_words(&self) -> Result<Vec<(Scope, Memory)>, StoreError> {
        let mut statement = self.connection.prepare(&format!(
            "SELECT {COLUMNS} FROM memories m JOIN users u ON u.key = m.user \
             WHERE NOT EXISTS (SELECT 1 FROM words_content w WHERE w.id = m.key)"
        ))?;
        let found = statement.query_map([], rows::memory)?;
        let scoped = found.map(|row| row.map(|(_, memory)| (Scope::private(memory.user.clone()), memory)));
        Ok(scoped.collect::<Result<_, _>>()?)
    }

    fn check_vector_tables(&self) -> Result<usize, StoreError> {
        let mut statement = self.connection.prepare(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE vec_g%'",
        )?;
        let tables = statement.query_map([], |row| row.get(0))?.collect::<Result<HashSet<String>, _>>()?;
        let generations = self.generations()?;
        let wanted: HashSet<String> = generations.iter().map(Generation::table).collect();
        for stray in tables.difference(&wanted) {
            self.connection.execute_batch(&format!("DROP TABLE {stray}"))?;
        }
        for generation in generations.iter().filter(|generation| !tables.contains(&generation.table())) {
            self.create_table(generation)?;
            self.connection.execute("DELETE FROM embedded WHERE generation = ?1", [generation.id])?;
        }
        Ok(tables.symmetric_difference(&wanted).count())
    }

    /// Every part that `embedded` names must be there, and no other.
    fn check_vectors(&self, generation: &Generation) -> Result<usize, StoreError> {
        let table = generation.table();
        let there: HashSet<i64> =
            self.keys(&format!("SELECT rowid FROM {table}_rowids"))?.into_iter().collect();
        let mut named = HashSet::with_capacity(there.len());
        let mut statement =
            self.connection.prepare("SELECT memory, parts FROM embedded WHERE generation = ?1")?;
        let mut embedded = statement.query([generation.id])?;
        while let Some(row) = embedded.next()? {
            let (memory, parts): (i64, i64) = (row.get(0)?, row.get(1)?);
            named.extend((0..parts).map(|part| memory * MAX_PARTS as i64 + part));
        }
        let wrong: HashSet<RowId> = there.symmetric_difference(&named).map(|key| memory_of(*key)).collect();
        for memory in &wrong {
            for part in 0..MAX_PARTS as i64 {
                let key = memory.0 * MAX_PARTS as i64 + part;
                if there.contains(&key) {
                    self.connection.execute(&format!("DELETE FROM {table} WHERE rowid = ?1"), [key])?;
                }
            }
            self.connection.execute(
                "DELETE FROM embedded WHERE generation = ?1 AND memory = ?2",
                [generation.id, memory.0],
            )?;
        }
        Ok(wrong.len())
    }

    fn check_totals(&self) -> Result<usize, StoreError> {
        let count = "(SELECT count(*), coalesce(sum(m.terms), 0) FROM memories m WHERE m.user = users.key)";
        Ok(self.connection.execute(
            &format!("UPDATE users SET (memories, terms) = {count} WHERE (memories, terms) IS NOT {count}"),
            [],
        )?)
    }

    fn keys(&self, sql: &str) -> Result<Vec<i64>, StoreError> {
        let mut statement = self.connection.prepare(sql)?;
        Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }
}
