//! What "unrelated" looks like: the scale on which a model's cosines are read for one user.
//!
//! Questions that can be nobody's memory are compared with the user's memories; what stands out from that is related.
//! A question in one language lies nearer to memories in the same one, so each pair of languages has its own scale, and
//! a Chinese question does not lose the English notes. While a user has few memories, notes of the product stand in.

use std::sync::Arc;

use tokio::sync::OnceCell;

use crate::embed::{EmbedError, Embedder};
use crate::memory::rank::{Scale, cosine};
use crate::memory::redact::redact;
use crate::memory::segment::Language;
use crate::memory::{Scope, probes};
use crate::store::{Calibration, Reader, Store, StoreError};

/// Memories of a user that are measured at most.
const SAMPLE: usize = 2_000;
/// Below that many memories of a language the product's own notes are the better measure.
const FEW: usize = 50;
/// How much the memories grow before they are measured again.
const GROWTH: f64 = 1.25;

/// What kept a scale from being measured.
#[derive(Debug, thiserror::Error)]
pub enum CalibrateError {
    /// The model.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model gives every text the same vector.
    #[error(
        "the model tells no texts apart, so its scores mean nothing; get another with `ocmemd model pull`"
    )]
    Flat,
}

/// The scales of one user, by the languages of question and memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scales([[Scale; 2]; 2]);

impl Scales {
    /// The scale for a question in one language and a memory in another or the same.
    pub fn between(&self, question: Language, memory: Language) -> Scale {
        self.0[question as usize][memory as usize]
    }

    /// Makes scales pair by pair.
    fn try_map<E>(mut scale: impl FnMut(Language, Language) -> Result<Scale, E>) -> Result<Self, E> {
        let mut row = |question| -> Result<[Scale; 2], E> {
            Ok([scale(question, Language::Chinese)?, scale(question, Language::English)?])
        };
        Ok(Self([row(Language::Chinese)?, row(Language::English)?]))
    }
}

/// Measures scales for one model, when they are first needed and when a user's memories have grown.
#[derive(Clone)]
pub struct Calibrator {
    store: Store,
    embedder: Embedder,
    model: Arc<OnceCell<Arc<Probed>>>,
}

/// What the model makes of the product's own texts.
struct Probed {
    /// Vectors of the probe questions, by language.
    questions: [Vec<Vec<f32>>; 2],
    /// The scales measured on the product's notes.
    constants: Scales,
}

impl Calibrator {
    /// A calibrator for the memories in `store` as `embedder` sees them.
    pub fn new(store: Store, embedder: Embedder) -> Self {
        Self { store, embedder, model: Arc::default() }
    }

    /// The user's scales in `generation`: as stored, or measured now and stored if there are none, or if there are a
    /// quarter more memories than were measured.
    ///
    /// # Errors
    /// [`CalibrateError`]. That new scales cannot be stored is no error: they are measured again.
    pub async fn scales(&self, scope: &Scope, generation: i64) -> Result<Scales, CalibrateError> {
        // Rarity and distance are properties of all the user's memories, whoever will see the answer.
        let scope = Scope::private(scope.user().clone());
        let of = scope.clone();
        let (known, embedded) = self.store.read(move |reader| known(reader, &of, generation)).await?;
        match known {
            Some((scales, measured)) if !has_grown(measured, embedded) => return Ok(scales),
            _ => {}
        }
        let probed = Arc::clone(self.model.get_or_try_init(|| self.probe()).await?);
        let of = scope.clone();
        let scales = self.store.read(move |reader| measure(reader, &of, generation, &probed)).await?;
        let stored = self.store.write(move |writer| {
            for_each_pair(|question, memory| {
                let Scale { median, deviation: sd } = scales.between(question, memory);
                let calibration = Calibration { median, sd, n: u32::try_from(embedded).unwrap_or(u32::MAX) };
                writer.put_calibration(&scope, generation, &key(question, memory), &calibration)
            })
        });
        if let Err(error) = stored.await {
            tracing::warn!(%error, "the scale of a user's scores could not be stored; it is measured again next time");
        }
        Ok(scales)
    }

    /// Embeds the probes and the product's notes: a second or so, once a process at most.
    async fn probe(&self) -> Result<Arc<Probed>, CalibrateError> {
        let mut questions = [Vec::new(), Vec::new()];
        let mut samples = [Vec::new(), Vec::new()];
        for language in Language::ALL {
            for question in probes::questions(language) {
                questions[language as usize].push(self.embedder.query(&redact(question).0).await?);
            }
            let notes = probes::samples(language).iter().map(|note| redact(note).0).collect();
            samples[language as usize] = self.embedder.passages(notes).await?.concat();
        }
        let constants = Scales::try_map(|question, memory| {
            let cosines = cosines(&questions[question as usize], samples[memory as usize].iter());
            Scale::measure(cosines).ok_or(CalibrateError::Flat)
        })?;
        Ok(Arc::new(Probed { questions, constants }))
    }
}

/// The stored scales with the number of memories they come from, and how many memories have vectors by now.
fn known(
    reader: &Reader<'_>,
    scope: &Scope,
    generation: i64,
) -> Result<(Option<(Scales, u64)>, u64), StoreError> {
    let mut measured = u64::MAX;
    let scales = Scales::try_map(|question, memory| {
        let found =
            reader.calibration(scope, generation, &key(question, memory)).map_err(Some)?.ok_or(None)?;
        measured = measured.min(u64::from(found.n));
        Ok(Scale { median: found.median, deviation: found.sd })
    });
    let known = match scales {
        Ok(scales) => Some((scales, measured)),
        Err(None) => None,
        Err(Some(error)) => return Err(error),
    };
    // Counting vectors walks over all memories; how many memories there are is known at once and never less.
    let memories = reader.word_stats(scope, &[])?.documents;
    let embedded = match known {
        Some((_, measured)) if !has_grown(measured, memories) => memories,
        _ => reader.counts(scope)?.embedded,
    };
    Ok((known, embedded))
}

fn has_grown(measured: u64, now: u64) -> bool {
    now >= FEW as u64 && now as f64 >= GROWTH * measured as f64
}

fn measure(
    reader: &Reader<'_>,
    scope: &Scope,
    generation: i64,
    probed: &Probed,
) -> Result<Scales, StoreError> {
    let sample = reader.sample_vectors(scope, generation, SAMPLE)?;
    let rows: Vec<_> = sample.iter().map(|(row, _)| *row).collect();
    let mut vectors = [Vec::new(), Vec::new()];
    // What is sampled and what is read are one snapshot in one order.
    for ((_, memory), (_, vector)) in reader.get_many(scope, &rows)?.iter().zip(&sample) {
        vectors[Language::of(&memory.content) as usize].push(vector);
    }
    Scales::try_map(|question, memory| {
        let (of_language, constant) = (&vectors[memory as usize], probed.constants.between(question, memory));
        if of_language.len() < FEW {
            return Ok(constant);
        }
        let cosines = cosines(&probed.questions[question as usize], of_language.iter().copied());
        Ok(Scale::measure(cosines).unwrap_or(constant))
    })
}

fn cosines<'v>(questions: &[Vec<f32>], memories: impl Iterator<Item = &'v Vec<f32>>) -> Vec<f32> {
    memories.flat_map(|memory| questions.iter().map(|question| cosine(question, memory))).collect()
}

fn for_each_pair<E>(mut act: impl FnMut(Language, Language) -> Result<(), E>) -> Result<(), E> {
    Language::ALL
        .into_iter()
        .try_for_each(|question| Language::ALL.into_iter().try_for_each(|memory| act(question, memory)))
}

/// Under what a scale is stored; other probes are another scale.
fn key(question: Language, memory: Language) -> String {
    format!("{}-{}/{}", question.code(), memory.code(), probes::VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_measured_again_after_a_quarter_more_memories_and_never_for_a_few() {
        for (measured, now, grown) in
            [(0, 49, false), (0, 50, true), (50, 62, false), (50, 63, true), (1000, 900, false)]
        {
            assert_eq!(has_grown(measured, now), grown, "{measured} {now}");
        }
    }
}
