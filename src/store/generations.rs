//! Embedding generations: one a model, each with a vector table of its own. The active one answers while the next is built.

use rusqlite::{OptionalExtension, Row, params};

use super::rows::COLUMNS;
use super::{Reader, RowId, StoreError, Writer, rows};
use crate::memory::entry::ContentHash;
use crate::memory::{Audience, Memory, Scope};

/// The vectors of one model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Generation {
    /// Never used twice.
    pub id: i64,
    /// For people.
    pub model_name: String,
    /// Which files exactly.
    pub model_hash: String,
    /// Numbers in a vector.
    pub dimension: usize,
    /// Whether it answers yet.
    pub state: GenerationState,
}

/// Where a generation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GenerationState {
    /// Filled in the background.
    Building,
    /// Answers queries.
    Active,
}

impl Generation {
    /// The vector table's name.
    pub(super) fn table(&self) -> String {
        format!("vec_g{}", self.id)
    }
}

const SELECT: &str = "SELECT id, model_name, model_hash, dimension, state FROM generations";

fn generation(row: &Row<'_>) -> rusqlite::Result<Generation> {
    let state = match row.get::<_, String>(4)?.as_str() {
        "active" => GenerationState::Active,
        _ => GenerationState::Building,
    };
    Ok(Generation {
        id: row.get(0)?,
        model_name: row.get(1)?,
        model_hash: row.get(2)?,
        dimension: row.get::<_, u32>(3)? as usize,
        state,
    })
}

impl Reader<'_> {
    /// Every generation there is: at most one active and one being built.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn generations(&self) -> Result<Vec<Generation>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!("{SELECT} ORDER BY id"))?;
        Ok(statement.query_map([], generation)?.collect::<Result<_, _>>()?)
    }

    /// The generation that answers.
    ///
    /// # Errors
    /// What SQLite says.
    pub fn active_generation(&self) -> Result<Option<Generation>, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!("{SELECT} WHERE state = 'active'"))?;
        Ok(statement.query_row([], generation).optional()?)
    }

    /// # Errors
    /// [`StoreError::NoGeneration`] if it is gone.
    pub(super) fn generation(&self, id: i64) -> Result<Generation, StoreError> {
        let mut statement = self.connection.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?;
        statement.query_row([id], generation).optional()?.ok_or(StoreError::NoGeneration(id))
    }

    /// Memories, of all users, that have no vectors in the generation yet, the latest stored first: what was just said is found
    /// by its meaning soon, however long the queue. Each comes with the scope of its owner. An empty answer means it is complete.
    ///
    /// # Errors
    /// [`StoreError::NoGeneration`], or what SQLite says.
    pub fn pending_of_all_users(
        &self,
        generation: i64,
        limit: usize,
    ) -> Result<Vec<(Scope, Memory)>, StoreError> {
        self.generation(generation)?;
        let mut statement = self.connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM memories m JOIN users u ON u.key = m.user WHERE NOT EXISTS \
             (SELECT 1 FROM embedded e WHERE e.generation = ?1 AND e.memory = m.key) ORDER BY m.key DESC LIMIT ?2"
        ))?;
        let found = statement.query_map(params![generation, limit as i64], rows::memory)?;
        let owned = found
            .map(|row| row.map(|(_, memory)| (Scope::new(memory.user.clone(), Audience::Private), memory)));
        Ok(owned.collect::<Result<_, _>>()?)
    }
}

impl Writer<'_> {
    /// The generation of that model, as it is, or begun now; one that was being built for another model is dropped.
    /// The first ever is active at once, for there is nothing better to answer with.
    ///
    /// # Errors
    /// [`StoreError::BadVector`] for a dimension that the vector table cannot hold (1 to 8,192); what SQLite says.
    pub fn begin_generation(
        &self,
        model_name: &str,
        model_hash: &ContentHash,
        dimension: usize,
    ) -> Result<Generation, StoreError> {
        if !(1..=MAX_DIMENSION).contains(&dimension) {
            return Err(StoreError::BadVector(format!(
                "{dimension} dimensions, possible are 1 to {MAX_DIMENSION}"
            )));
        }
        let mut state = GenerationState::Active;
        let mut same = None;
        for known in self.generations()? {
            if known.model_hash == model_hash.0 && known.dimension == dimension {
                same = Some(known);
            } else if known.state == GenerationState::Building {
                self.drop_generation(&known)?;
            } else {
                state = GenerationState::Building;
            }
        }
        if let Some(same) = same {
            return Ok(same);
        }
        let name = if state == GenerationState::Active { "active" } else { "building" };
        self.connection.execute(
            "INSERT INTO generations (model_name, model_hash, dimension, state) VALUES (?1, ?2, ?3, ?4)",
            params![model_name, model_hash.0, dimension as i64, name],
        )?;
        let begun = self.generation(self.connection.last_insert_rowid())?;
        self.create_table(&begun)?;
        Ok(begun)
    }

    /// Lets the generation answer from now on, and drops the one that did.
    ///
    /// # Errors
    /// [`StoreError::NoGeneration`], or what SQLite says.
    pub fn activate(&self, generation: i64) -> Result<(), StoreError> {
        let next = self.generation(generation)?;
        if next.state == GenerationState::Active {
            return Ok(());
        }
        if let Some(old) = self.active_generation()? {
            self.drop_generation(&old)?;
        }
        self.connection.execute("UPDATE generations SET state = 'active' WHERE id = ?1", [generation])?;
        Ok(())
    }

    /// Small chunks, for each user has chunks of his own; the audience beside the vector, so that it filters within the search.
    pub(super) fn create_table(&self, generation: &Generation) -> Result<(), StoreError> {
        Ok(self.connection.execute_batch(&format!(
            "CREATE VIRTUAL TABLE {} USING vec0 (user integer partition key, audience integer, \
             embedding float[{}] distance_metric=cosine, chunk_size=32)",
            generation.table(),
            generation.dimension
        ))?)
    }

    fn drop_generation(&self, generation: &Generation) -> Result<(), StoreError> {
        self.connection.execute_batch(&format!("DROP TABLE IF EXISTS {}", generation.table()))?;
        self.connection.execute("DELETE FROM generations WHERE id = ?1", [generation.id])?;
        Ok(())
    }
}

/// What sqlite-vec allows.
const MAX_DIMENSION: usize = 8_192;

/// The key of the memory that a row of a vector table belongs to.
pub(super) fn memory_of(vector: i64) -> RowId {
    RowId(vector.div_euclid(super::MAX_PARTS as i64))
}
