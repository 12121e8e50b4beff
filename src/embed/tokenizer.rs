//! Text into token ids, with nothing inherited from the file that would cut a text without saying so.

use std::path::Path;

use tokenizers::Tokenizer;

use super::error::EmbedError;

/// A model's tokenizer.
pub(super) struct Tokens(Tokenizer);

impl Tokens {
    /// Reads `tokenizer.json` and switches off the truncation and padding it may ask for.
    pub(super) fn open(path: &Path, vocabulary: usize) -> Result<Self, EmbedError> {
        let bytes = std::fs::read(path).map_err(|error| EmbedError::unreadable(path, error))?;
        let mut tokenizer =
            Tokenizer::from_bytes(&bytes).map_err(|error| EmbedError::damaged(path, error))?;
        tokenizer.with_truncation(None).map_err(|error| EmbedError::damaged(path, error))?;
        tokenizer.with_padding(None);
        let highest = tokenizer.get_vocab(true).into_values().max().unwrap_or_default() as usize;
        if highest >= vocabulary {
            let reason = format!("it has {} tokens, config.json wants {vocabulary}", highest + 1);
            return Err(EmbedError::damaged(path, reason));
        }
        Ok(Self(tokenizer))
    }

    /// The ids of a text, special tokens included, however many they are.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let encoding =
            self.0.encode_fast(text, true).map_err(|error| EmbedError::Compute(error.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }
}
