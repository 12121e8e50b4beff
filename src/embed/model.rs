//! A loaded model: text in, unit vectors out, on the calling thread.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

pub use super::bert::{Precision, Precisions};

use super::bert::{Bert, Purpose};
use super::error::EmbedError;
use super::folder::{Identity, ModelFolder, Prompts};
use super::ops;
use super::tokenizer::Tokens;
use crate::memory::{Redacted, chunk};

/// The most tokens computed at once: beyond it a batch only needs more memory.
const BATCH_TOKENS: usize = 4096;

/// A loaded model.
pub struct Model {
    tokens: Tokens,
    bert: Bert,
    prompts: Prompts,
    identity: Identity,
    load_time: Duration,
}

impl Model {
    /// Loads a folder's weights and tokenizer, measures which precision is quicker here, and tries it out.
    ///
    /// # Errors
    /// [`EmbedError`] names the file that is missing or damaged.
    pub fn load(folder: &ModelFolder) -> Result<Self, EmbedError> {
        Self::load_with(folder, None)
    }

    /// As [`Model::load`], with the precisions given instead of measured.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn load_with(folder: &ModelFolder, precisions: Option<Precisions>) -> Result<Self, EmbedError> {
        let start = Instant::now();
        let tokens = Tokens::open(&folder.tokenizer, folder.config.vocab_size)?;
        let bert = Bert::load(folder, precisions)?;
        let mut model = Self {
            tokens,
            bert,
            prompts: folder.prompts.clone(),
            identity: folder.identity().clone(),
            load_time: Duration::ZERO,
        };
        model.embed_query("记忆 memory")?;
        model.load_time = start.elapsed();
        Ok(model)
    }

    /// Who the model is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How long loading took.
    pub fn load_time(&self) -> Duration {
        self.load_time
    }

    /// The precisions in use.
    pub fn precisions(&self) -> Precisions {
        self.bert.precisions()
    }

    /// The tokens the model reads for a passage, its prompt and special tokens included.
    pub fn count_tokens(&self, passage: &str) -> usize {
        self.tokens.ids(&format!("{}{passage}", self.prompts.passage)).map_or(0, |ids| ids.len())
    }

    /// The vector of a question. Of a question longer than the model reads at once, the beginning counts.
    ///
    /// # Errors
    /// [`EmbedError::EmptyText`] for a text without a word; otherwise what went wrong with the computation.
    pub fn query(&self, text: &Redacted) -> Result<Vec<f32>, EmbedError> {
        self.embed_query(text.as_str())
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        if text.trim().is_empty() {
            return Err(EmbedError::EmptyText);
        }
        let mut ids = self.tokens.ids(&format!("{}{text}", self.prompts.query))?;
        ids.truncate(self.identity.max_tokens);
        let vectors = self.bert.forward(&[&ids], Purpose::Query)?;
        unit(vectors.into_iter().next().unwrap_or_default())
    }

    /// The vectors of passages: one each, several for a text longer than the model reads at once, none for a text
    /// without a word. `go_on` is asked between batches; `None` is the answer when it breaks off.
    ///
    /// # Errors
    /// What went wrong with the computation.
    pub fn passages(
        &self,
        texts: &[Redacted],
        go_on: impl Fn() -> ControlFlow<()>,
    ) -> Result<Option<Vec<Vec<Vec<f32>>>>, EmbedError> {
        let mut pieces = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            pieces.extend(self.pieces(text.as_str())?.into_iter().map(|ids| (index, ids)));
        }
        let mut vectors = vec![Vec::new(); texts.len()];
        for batch in batches(&pieces) {
            if go_on().is_break() {
                return Ok(None);
            }
            let ids: Vec<&[u32]> = batch.iter().map(|(_, ids)| ids.as_slice()).collect();
            let answers = self.bert.forward(&ids, Purpose::Batch)?;
            for ((index, _), answer) in batch.iter().zip(answers) {
                vectors[*index].push(unit(answer)?);
            }
        }
        Ok(Some(vectors))
    }

    /// The ids of a passage, cut at sentences into pieces that the model can read.
    fn pieces(&self, text: &str) -> Result<Vec<Vec<u32>>, EmbedError> {
        if text.trim().is_empty() {
            return Ok(Vec::new());
        }
        let ids = |text: &str| self.tokens.ids(&format!("{}{text}", self.prompts.passage));
        let whole = ids(text)?;
        let limit = self.identity.max_tokens;
        if whole.len() <= limit {
            return Ok(vec![whole]);
        }
        let pieces = chunk::split(text, limit, &|piece| self.count_tokens(piece));
        pieces.iter().take(chunk::MAX_PIECES).map(|piece| ids(piece)).collect()
    }
}

/// Cuts the list into runs of at most [`BATCH_TOKENS`] tokens, but of one piece at least.
fn batches(pieces: &[(usize, Vec<u32>)]) -> Vec<&[(usize, Vec<u32>)]> {
    let mut runs = Vec::new();
    let (mut start, mut tokens) = (0, 0);
    for (end, (_, ids)) in pieces.iter().enumerate() {
        if tokens + ids.len() > BATCH_TOKENS && end > start {
            runs.push(&pieces[start..end]);
            (start, tokens) = (end, 0);
        }
        tokens += ids.len();
    }
    runs.push(&pieces[start..]);
    runs.retain(|run| !run.is_empty());
    runs
}

/// The vector at length 1.
fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>, EmbedError> {
    let length = ops::sum(&vector, |x| x * x).sqrt();
    if !length.is_finite() || length == 0.0 {
        return Err(EmbedError::NotFinite);
    }
    vector.iter_mut().for_each(|x| *x /= length);
    Ok(vector)
}
