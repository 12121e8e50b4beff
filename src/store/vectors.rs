//! The vector leg. Part `p` of memory `m` is row `m × 16 + p` of the generation's table.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use rusqlite::{OptionalExtension, params};

use super::generations::memory_of;
use super::rows::{FROM_SCOPE, InScope, audience_number, lasting};
use super::{Generation, Reader, RowId, StoreError, Writer};
use crate::memory::chunk::MAX_PIECES;
use crate::memory::{Memory, Scope};

/// Vectors of one memory at most: a long text has several, the best of which counts.
pub const MAX_PARTS: usize = MAX_PIECES;
/// Neighbours of one search at most, which is sqlite-vec's own limit.
pub const MAX_NEIGHBOURS: usize = 4_096;

/// The vectors of one memory, one for each part of its text.
pub type Parts = Vec<Vec<f32>>;

impl Reader<'_> {
    /// The `k` memories whose best part is nearest to `query`, with its cosine, nearest first.
    /// User and audience are part of the search, so that others' memories never crowd out these. `k` is cut at [`MAX_NEIGHBOURS`].
    ///
    /// # Errors
    /// [`StoreError::BadVector`], [`StoreError::NoGeneration`], or what SQLite says.
    pub fn nearest(
        &self,
        scope: &Scope,
        generation: i64,
        query: &[f32],
        k: usize,
    ) -> Result<Vec<(RowId, f32)>, StoreError> {
        let generation = self.generation(generation)?;
        let query = encoded(&generation, query)?;
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let wanted = k.min(MAX_NEIGHBOURS);
        if wanted == 0 {
            return Ok(Vec::new());
        }
        let mut parts = wanted;
        loop {
            let (mut found, all) = self.nearest_parts(within, &generation, &query, parts)?;
            if found.len() >= wanted || all || parts == MAX_NEIGHBOURS {
                found.truncate(wanted);
                return Ok(found);
            }
            // Memories of many parts took several places each, and such as have ended took some: look further.
            parts = (parts * 4).min(MAX_NEIGHBOURS);
        }
    }

    /// The memories of the `k` nearest parts, each once, and whether there are no more parts than that.
    fn nearest_parts(
        &self,
        within: InScope,
        generation: &Generation,
        query: &[u8],
        k: usize,
    ) -> Result<(Vec<(RowId, f32)>, bool), StoreError> {
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT v.rowid, v.distance, (SELECT {} FROM memories m WHERE m.key = v.rowid / {MAX_PARTS}) FROM {} v \
             WHERE v.embedding MATCH ?1 AND v.k = ?2 AND v.user = ?3 AND v.audience >= ?4",
            lasting("?5"),
            generation.table()
        ))?;
        let values = params![query, k as i64, within.user, within.least_audience, within.ended_by];
        let found = statement
            .query_map(values, |row| {
                Ok((memory_of(row.get(0)?), row.get::<_, f64>(1)?, row.get::<_, Option<bool>>(2)?))
            })?
            .collect::<Result<Vec<_>, _>>()?;
        let all = found.len() < k;
        let mut best: HashMap<RowId, f64> = HashMap::with_capacity(found.len());
        for (row, distance, lasts) in found {
            if lasts != Some(true) {
                continue;
            }
            match best.entry(row) {
                Entry::Occupied(mut known) => {
                    let nearer = known.get().min(distance);
                    known.insert(nearer);
                }
                Entry::Vacant(new) => {
                    new.insert(distance);
                }
            }
        }
        let mut memories: Vec<(RowId, f64)> = best.into_iter().collect();
        memories.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        Ok((memories.into_iter().map(|(row, distance)| (row, (1.0 - distance) as f32)).collect(), all))
    }

    /// The vectors of each memory, part by part; what is not in scope or waits for its vectors is left out.
    ///
    /// # Errors
    /// [`StoreError::NoGeneration`], or what SQLite says.
    pub fn vectors_of(
        &self,
        scope: &Scope,
        generation: i64,
        rows: &[RowId],
    ) -> Result<Vec<(RowId, Parts)>, StoreError> {
        let generation = self.generation(generation)?;
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        let mut parts = self.connection.prepare_cached(&format!(
            "SELECT parts FROM embedded WHERE generation = ?3 AND memory = ?4 AND EXISTS \
             (SELECT 1 {FROM_SCOPE} AND m.key = ?4)"
        ))?;
        let mut found = Vec::with_capacity(rows.len());
        for row in rows {
            let values = params![within.user, within.least_audience, generation.id, row.0];
            let parts: Option<i64> = parts.query_row(values, |columns| columns.get(0)).optional()?;
            if let Some(parts) = parts.filter(|parts| *parts > 0) {
                found.push((*row, self.parts(&generation, *row, parts)?));
            }
        }
        Ok(found)
    }

    fn parts(&self, generation: &Generation, row: RowId, parts: i64) -> Result<Parts, StoreError> {
        // By row, one at a time: any other condition without a search would walk over every user's vectors.
        let sql = format!("SELECT embedding FROM {} WHERE rowid = ?1", generation.table());
        let mut statement = self.connection.prepare_cached(&sql)?;
        let first = row.0 * MAX_PARTS as i64;
        let read =
            |part| statement.query_row([first + part], |columns| Ok(decoded(columns.get_ref(0)?.as_blob()?)));
        Ok((0..parts).map(read).collect::<Result<_, _>>()?)
    }

    /// First vectors of up to `limit` memories, spread over all that are in scope, and the same ones each time: for calibration.
    ///
    /// # Errors
    /// [`StoreError::NoGeneration`], or what SQLite says.
    pub fn sample_vectors(
        &self,
        scope: &Scope,
        generation: i64,
        limit: usize,
    ) -> Result<Vec<(RowId, Vec<f32>)>, StoreError> {
        let generation = self.generation(generation)?;
        let Some(within) = self.in_scope(scope)? else { return Ok(Vec::new()) };
        // Multiplying by an odd constant and keeping the low bits mixes the order of the keys (Knuth's multiplicative hash).
        let mut chosen = self.connection.prepare_cached(&format!(
            "SELECT m.key {FROM_SCOPE} AND EXISTS (SELECT 1 FROM embedded e WHERE e.generation = ?3 AND e.memory = m.key \
             AND e.parts > 0) ORDER BY (m.key * 2654435761) & 0xFFFFFFFF LIMIT ?4"
        ))?;
        let values = params![within.user, within.least_audience, generation.id, limit as i64];
        let rows = chosen.query_map(values, |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
        rows.into_iter()
            .map(|row| Ok((RowId(row), self.parts(&generation, RowId(row), 1)?.swap_remove(0))))
            .collect()
    }
}

impl Writer<'_> {
    /// Stores the vectors of `memory` as it was when they were made, one for each part of its text; no part at all means that there
    /// is nothing to embed. `false`, and nothing stored, if the memory is gone or says something else by now.
    ///
    /// # Errors
    /// [`StoreError::BadVector`], [`StoreError::NoGeneration`], or what SQLite says.
    pub fn put_vectors(
        &self,
        scope: &Scope,
        generation: i64,
        memory: &Memory,
        vectors: &[Vec<f32>],
    ) -> Result<bool, StoreError> {
        let generation = self.generation(generation)?;
        if vectors.len() > MAX_PARTS {
            return Err(StoreError::BadVector(format!(
                "{} parts of one memory, possible are {MAX_PARTS}",
                vectors.len()
            )));
        }
        let encoded =
            vectors.iter().map(|vector| encoded(&generation, vector)).collect::<Result<Vec<_>, _>>()?;
        let Some((row, now)) = self.get(scope, &memory.id)? else { return Ok(false) };
        if now.hash != memory.hash || now.content != memory.content || now.context != memory.context {
            return Ok(false);
        }
        self.remove_vectors_of(&generation, row)?;
        let user = self.user_key(scope)?;
        let mut insert = self.connection.prepare_cached(&format!(
            "INSERT INTO {} (rowid, user, audience, embedding) VALUES (?1, ?2, ?3, ?4)",
            generation.table()
        ))?;
        for (part, vector) in encoded.iter().enumerate() {
            let key = row.0 * MAX_PARTS as i64 + part as i64;
            insert.execute(params![key, user, audience_number(now.audience), vector])?;
        }
        let mut done = self
            .connection
            .prepare_cached("INSERT INTO embedded (generation, memory, parts) VALUES (?1, ?2, ?3)")?;
        done.execute(params![generation.id, row.0, encoded.len() as i64])?;
        Ok(true)
    }

    /// Removes a memory's vectors from every generation, so that it waits for new ones.
    pub(super) fn remove_vectors(&self, row: RowId) -> Result<(), StoreError> {
        self.generations()?.iter().try_for_each(|generation| self.remove_vectors_of(generation, row))
    }

    pub(super) fn remove_vectors_of(&self, generation: &Generation, row: RowId) -> Result<(), StoreError> {
        let mut known = self
            .connection
            .prepare_cached("DELETE FROM embedded WHERE generation = ?1 AND memory = ?2 RETURNING parts")?;
        let parts: Option<i64> =
            known.query_row(params![generation.id, row.0], |columns| columns.get(0)).optional()?;
        let mut delete = self
            .connection
            .prepare_cached(&format!("DELETE FROM {} WHERE rowid = ?1", generation.table()))?;
        for part in 0..parts.unwrap_or_default() {
            delete.execute([row.0 * MAX_PARTS as i64 + part])?;
        }
        Ok(())
    }
}

/// A vector as sqlite-vec wants it. What has no direction is refused: its distance to anything would be no number.
fn encoded(generation: &Generation, vector: &[f32]) -> Result<Vec<u8>, StoreError> {
    if vector.len() != generation.dimension {
        return Err(StoreError::BadVector(format!(
            "{} dimensions, the model '{}' has {}",
            vector.len(),
            generation.model_name,
            generation.dimension
        )));
    }
    let square: f32 = vector.iter().map(|x| x * x).sum();
    if !square.is_normal() {
        return Err(StoreError::BadVector("all zeros, or not numbers".to_owned()));
    }
    Ok(vector.iter().flat_map(|x| x.to_ne_bytes()).collect())
}

fn decoded(bytes: &[u8]) -> Vec<f32> {
    let numbers = bytes.as_chunks::<4>().0;
    numbers.iter().map(|number| f32::from_ne_bytes(*number)).collect()
}
