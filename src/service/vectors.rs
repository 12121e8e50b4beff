//! Giving memories their vectors: one batch after the other, of whatever waits, whoever's it is.

use crate::embed::{EmbedError, Embedder};
use crate::memory::redact::redact;
use crate::memory::{Redacted, indexed};
use crate::store::{Store, StoreError};

/// Memories embedded between two looks at what is new.
pub const BATCH: usize = 32;

/// What kept memories from getting their vectors; they go on waiting.
#[derive(Debug, thiserror::Error)]
pub enum VectorsError {
    /// The model.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Embeds text by text, so that one which the model cannot take holds up no other: that one is done without a vector.
async fn one_by_one(embedder: &Embedder, texts: Vec<Redacted>) -> Result<Vec<Vec<Vec<f32>>>, EmbedError> {
    let mut all = Vec::with_capacity(texts.len());
    for text in texts {
        match embedder.passages(vec![text]).await {
            Ok(parts) => all.extend(parts),
            Err(EmbedError::Stopped) => return Err(EmbedError::Stopped),
            Err(error) => {
                tracing::warn!(%error, "a memory gets no vector; it is found by its words");
                all.push(Vec::new());
            }
        }
    }
    Ok(all)
}

/// Embeds up to [`BATCH`] memories that wait in `generation`, the newest first, and answers how many those were: 0 when
/// none waits. What changed or went in the meantime is passed over and, if it changed, still waits.
///
/// # Errors
/// [`VectorsError`].
pub async fn embed_some(store: &Store, embedder: &Embedder, generation: i64) -> Result<usize, VectorsError> {
    let waiting = store.read(move |reader| reader.pending_of_all_users(generation, BATCH)).await?;
    if waiting.is_empty() {
        return Ok(0);
    }
    let texts: Vec<Redacted> = waiting
        .iter()
        .map(|(_, memory)| indexed::passage(&redact(&memory.context).0, &redact(&memory.content).0))
        .collect();
    let vectors = match embedder.passages(texts.clone()).await {
        Ok(vectors) => vectors,
        Err(EmbedError::Stopped) => return Err(EmbedError::Stopped.into()),
        Err(_) => one_by_one(embedder, texts).await?,
    };
    let count = waiting.len();
    store
        .write(move |writer| {
            for ((scope, memory), parts) in waiting.iter().zip(&vectors) {
                writer.put_vectors(scope, generation, memory, parts)?;
            }
            Ok(())
        })
        .await?;
    Ok(count)
}
