//! Text into token ids, with nothing inherited from the file that would cut a text without saying so.

use std::path::Path;

use serde::Deserialize;
use tokenizers::{
    AddedToken, DecoderWrapper, NormalizerWrapper, PostProcessorWrapper, PreTokenizerWrapper, Tokenizer,
    TokenizerImpl,
};

use super::error::EmbedError;
use super::unigram::{Unigram, Vocabulary};

type Unigrams =
    TokenizerImpl<Unigram, NormalizerWrapper, PreTokenizerWrapper, PostProcessorWrapper, DecoderWrapper>;

/// A model's tokenizer.
pub(super) enum Tokens {
    /// As the crate reads it.
    Any(Box<Tokenizer>),
    /// The crate's, but for the vocabulary.
    Unigram(Box<Unigrams>),
}

/// The parts of `tokenizer.json` with a Unigram vocabulary; `truncation` and `padding` are left out on purpose.
#[derive(Deserialize)]
struct UnigramFile {
    added_tokens: Vec<Added>,
    normalizer: Option<NormalizerWrapper>,
    pre_tokenizer: Option<PreTokenizerWrapper>,
    post_processor: Option<PostProcessorWrapper>,
    model: Vocabulary,
}

#[derive(Deserialize)]
struct Added {
    id: u32,
    #[serde(flatten)]
    token: AddedToken,
}

/// As much of the file as tells which way to read it.
#[derive(Deserialize)]
struct Kind {
    model: ModelKind,
}

#[derive(Deserialize)]
struct ModelKind {
    #[serde(rename = "type")]
    name: Option<String>,
    #[serde(default)]
    byte_fallback: bool,
}

impl Tokens {
    /// Reads `tokenizer.json` and switches off the truncation and padding it may ask for.
    pub(super) fn open(path: &Path, vocabulary: usize) -> Result<Self, EmbedError> {
        let bytes = std::fs::read(path).map_err(|error| EmbedError::unreadable(path, error))?;
        let kind: Kind = serde_json::from_slice(&bytes).map_err(|error| EmbedError::damaged(path, error))?;
        let unigrams = match kind.model.name.as_deref() {
            Some("Unigram") if !kind.model.byte_fallback => unigrams(&bytes),
            _ => Ok(None),
        };
        let tokens = match unigrams {
            Ok(Some(unigrams)) => Ok(Self::Unigram(Box::new(unigrams))),
            Ok(None) => any(&bytes).map(|any| Self::Any(Box::new(any))),
            Err(error) => Err(error),
        };
        let tokens = tokens.map_err(|error| EmbedError::damaged(path, error))?;
        let size = tokens.size();
        if size > vocabulary {
            return Err(EmbedError::damaged(
                path,
                format!("it has {size} tokens, config.json wants {vocabulary}"),
            ));
        }
        Ok(tokens)
    }

    /// The ids of a text, special tokens included, however many they are.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let encoding = match self {
            Self::Any(tokenizer) => tokenizer.encode_fast(text, true),
            Self::Unigram(tokenizer) => tokenizer.encode_fast(text, true),
        };
        let encoding = encoding.map_err(|error| EmbedError::Compute(error.to_string()))?;
        Ok(encoding.get_ids().to_vec())
    }

    fn size(&self) -> usize {
        match self {
            Self::Any(tokenizer) => tokenizer.get_vocab_size(false),
            Self::Unigram(tokenizer) => tokenizer.get_vocab_size(false),
        }
    }
}

fn any(bytes: &[u8]) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = Tokenizer::from_bytes(bytes)?;
    tokenizer.with_truncation(None)?.with_padding(None);
    Ok(tokenizer)
}

/// The tokenizer around a vocabulary of our own; `None` if its added tokens do not get the ids that the file says.
fn unigrams(bytes: &[u8]) -> tokenizers::Result<Option<Unigrams>> {
    let file: UnigramFile = serde_json::from_slice(bytes)?;
    let mut tokenizer = Unigrams::new(file.model.into());
    tokenizer.with_normalizer(file.normalizer)?;
    tokenizer.with_pre_tokenizer(file.pre_tokenizer).with_post_processor(file.post_processor);
    for Added { id, token } in file.added_tokens {
        let content = token.content.clone();
        match token.special {
            true => tokenizer.add_special_tokens([token])?,
            false => tokenizer.add_tokens([token])?,
        };
        if tokenizer.token_to_id(&content) != Some(id) {
            return Ok(None);
        }
    }
    Ok(Some(tokenizer))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A small vocabulary with ties, overlaps and gaps, in the layout of the multilingual models.
    fn file() -> Vec<u8> {
        let pieces = [
            ("<s>", 0.0),
            ("<pad>", 0.0),
            ("</s>", 0.0),
            ("<unk>", 0.0),
            ("▁", -3.9),
            ("▁数据", -9.1),
            ("数据", -9.5),
            ("数", -10.2),
            ("据", -11.0),
            ("数据库", -11.5),
            ("库", -9.9),
            ("▁port", -8.0),
            ("p", -7.0),
            ("or", -7.5),
            ("t", -6.0),
            ("80", -8.8),
            ("8", -7.1),
            ("0", -7.1),
            ("。", -5.0),
        ];
        let added: Vec<_> = ["<s>", "<pad>", "</s>", "<unk>"]
            .iter()
            .enumerate()
            .map(|(id, token)| {
                json!({
                    "id": id, "content": token, "single_word": false, "lstrip": false, "rstrip": false,
                    "normalized": false, "special": true
                })
            })
            .collect();
        let file = json!({
            "version": "1.0", "added_tokens": added, "padding": null, "decoder": null,
            "truncation": {"direction": "Right", "max_length": 4, "strategy": "LongestFirst", "stride": 0},
            "normalizer": {"type": "NFKC"},
            "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [
                    {"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}},
                    {"SpecialToken": {"id": "</s>", "type_id": 0}}
                ],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                "special_tokens": {
                    "<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]},
                    "</s>": {"id": "</s>", "ids": [2], "tokens": ["</s>"]}
                }
            },
            "model": {"type": "Unigram", "unk_id": 3, "vocab": pieces, "byte_fallback": false}
        });
        serde_json::to_vec(&file).unwrap()
    }

    #[test]
    fn our_unigram_cuts_as_the_crates_does() {
        let (ours, theirs) = (unigrams(&file()).unwrap().unwrap(), any(&file()).unwrap());
        for text in [
            "数据库",
            "数据 数据库。port 8080",
            "未知的字和 数据",
            "port８０ <s> 数</s>据",
            "",
            "   ",
            "🦀🦀数据🦀",
            "e\u{301}80据80",
        ] {
            let expected = theirs.encode_fast(text, true).unwrap();
            let found = ours.encode_fast(text, true).unwrap();
            assert_eq!(found.get_ids(), expected.get_ids(), "{text}");
        }
    }
}
