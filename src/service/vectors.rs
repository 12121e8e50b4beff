//! Giving memories their vectors: one batch after the other, of whatever waits, whoever's it is.

use crate::embed::{EmbedError, Embedder};
use crate::memory::redact::redact;
use crate::memory::{Kind, Memory, Redacted, indexed};
use crate::store::{MAX_PARTS, Store, StoreError};

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

/// The texts of a memory that are embedded. Each line of a summary speaks of something else, and the best one counts.
fn passages(memory: &Memory) -> Vec<Redacted> {
    if memory.kind == Kind::Summary {
        let lines = memory.content.lines().filter(|line| !line.trim().is_empty());
        return lines.take(MAX_PARTS).map(|line| redact(line.trim_start_matches("- ")).0).collect();
    }
    vec![indexed::passage(&redact(&memory.context).0, &redact(&memory.content).0)]
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
    let texts: Vec<Vec<Redacted>> = waiting.iter().map(|(_, memory)| passages(memory)).collect();
    let counts: Vec<usize> = texts.iter().map(Vec::len).collect();
    let texts = texts.concat();
    let vectors = match embedder.passages(texts.clone()).await {
        Ok(vectors) => vectors,
        Err(EmbedError::Stopped) => return Err(EmbedError::Stopped.into()),
        Err(_) => one_by_one(embedder, texts).await?,
    };
    let count = waiting.len();
    store
        .write(move |writer| {
            let mut vectors = vectors.into_iter();
            for ((scope, memory), texts) in waiting.iter().zip(counts) {
                let parts: Vec<Vec<f32>> = vectors.by_ref().take(texts).flatten().take(MAX_PARTS).collect();
                writer.put_vectors(scope, generation, memory, &parts)?;
            }
            Ok(())
        })
        .await?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::memory::entry::ContentHash;
    use crate::memory::{Audience, Importance, Mark, MemoryId, UserId};

    #[test]
    fn a_summary_is_embedded_line_by_line_and_all_else_as_a_whole() {
        let memory = |kind| Memory {
            id: MemoryId::random(),
            user: UserId::new("安娜").unwrap(),
            session: None,
            kind,
            mark: Mark::Auto,
            importance: Importance::NORMAL,
            audience: Audience::Private,
            content: "策划年会\n- 信息：预算八万\n- 未决：主持人还没定".to_owned(),
            context: "对话摘要".to_owned(),
            day: None,
            time: None,
            source: None,
            hash: ContentHash::of(b""),
            created_at: DateTime::UNIX_EPOCH,
            expires_at: None,
            access_count: 0,
            last_accessed_at: DateTime::UNIX_EPOCH,
        };
        let texts =
            |kind| passages(&memory(kind)).iter().map(|text| text.as_str().to_owned()).collect::<Vec<_>>();
        assert_eq!(texts(Kind::Summary), ["策划年会", "信息：预算八万", "未决：主持人还没定"]);
        assert_eq!(texts(Kind::Fact), ["对话摘要\n策划年会\n- 信息：预算八万\n- 未决：主持人还没定"]);
    }
}
