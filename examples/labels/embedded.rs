//! Vectors of passages, or none where no model is named.

use std::num::NonZeroUsize;
use std::path::Path;

use anyhow::Result;
use ocmemd::embed::{self, Embedder, ModelFolder};
use ocmemd::memory::Redacted;

use crate::vectors::Vectors;

/// A model and the vectors it has made.
pub struct Embedded(Option<(Embedder, Vectors)>);

impl Embedded {
    /// Loads the model of `folder`; without one there are no vectors. `cache` keeps them between runs.
    pub fn open(folder: Option<&Path>, cache: Option<&Path>) -> Result<Self> {
        let Some(folder) = folder else { return Ok(Self(None)) };
        let options = embed::Options { index_threads: NonZeroUsize::new(2).unwrap_or(NonZeroUsize::MIN) };
        let embedder = Embedder::load(&ModelFolder::open(folder)?, options)?;
        let vectors = Vectors::open(cache, &embedder)?;
        Ok(Self(Some((embedder, vectors))))
    }

    /// The first vector of each text.
    pub async fn of(&mut self, texts: &[Redacted]) -> Result<Vec<Option<Vec<f32>>>> {
        let Some((embedder, vectors)) = &mut self.0 else { return Ok(vec![None; texts.len()]) };
        let parts = vectors.of(embedder, texts).await?;
        Ok(parts.into_iter().map(|parts| parts.into_iter().next()).collect())
    }
}
