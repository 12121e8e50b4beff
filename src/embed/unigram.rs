//! Tokenizing with a Unigram vocabulary from one hash map of pieces.
//!
//! The tokenizer crate keeps such a vocabulary as a trie whose nodes each have a hash map of their own: ten times
//! the memory and the loading time for a quarter of a million pieces. The answers are the same.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tokenizers::models::unigram::{UnigramTrainer, UnigramTrainerBuilder};
use tokenizers::{Model, Result, Token};

/// How much worse than the worst piece an unknown character is; as SentencePiece has it.
const UNKNOWN_PENALTY: f64 = 10.0;

/// The vocabulary as `tokenizer.json` has it.
#[derive(Deserialize)]
pub(super) struct Vocabulary {
    unk_id: u32,
    vocab: Vec<(String, f64)>,
}

/// The most probable cut of a text into pieces.
pub(super) struct Unigram {
    /// Id and log probability of each piece.
    pieces: HashMap<String, (u32, f64)>,
    longest: usize,
    unknown: u32,
    unknown_score: f64,
}

/// The best way to cut the text up to some place.
#[derive(Clone, Copy)]
struct Best {
    score: f64,
    start: usize,
    id: u32,
}

impl From<Vocabulary> for Unigram {
    fn from(file: Vocabulary) -> Self {
        let worst = file.vocab.iter().map(|(_, score)| *score).fold(f64::INFINITY, f64::min);
        let longest = file.vocab.iter().map(|(piece, _)| piece.chars().count()).max().unwrap_or_default();
        let pieces =
            file.vocab.into_iter().zip(0..).map(|((piece, score), id)| (piece, (id, score))).collect();
        Self { pieces, longest, unknown: file.unk_id, unknown_score: worst - UNKNOWN_PENALTY }
    }
}

impl Unigram {
    /// Viterbi's algorithm over the places between characters; the ids with the byte ranges of their pieces.
    fn cut(&self, text: &str) -> Vec<(u32, usize, usize)> {
        let places: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let mut best: Vec<Option<Best>> = vec![None; places.len()];
        for start in 0..places.len() - 1 {
            let before = best[start].map_or(0.0, |best| best.score);
            let mut offer = |end: usize, id: u32, score: f64| {
                let score = before + score;
                if best[end].is_none_or(|best| score > best.score) {
                    best[end] = Some(Best { score, start, id });
                }
            };
            let mut alone = false;
            for end in start + 1..places.len().min(start + 1 + self.longest) {
                let piece = text.get(places[start]..places[end]).unwrap_or_default();
                if let Some(&(id, score)) = self.pieces.get(piece) {
                    offer(end, id, score);
                    alone |= end == start + 1;
                }
            }
            if !alone {
                offer(start + 1, self.unknown, self.unknown_score);
            }
        }
        let mut cut: Vec<(u32, usize, usize)> = Vec::new();
        let mut end = places.len() - 1;
        while let Some(Best { start, id, .. }) = best[end] {
            match cut.last_mut() {
                // Unknown characters side by side are one unknown piece.
                Some(next) if id == self.unknown && next.0 == id => next.1 = places[start],
                _ => cut.push((id, places[start], places[end])),
            }
            end = start;
        }
        cut.reverse();
        cut
    }
}

impl Model for Unigram {
    type Trainer = UnigramTrainer;

    fn tokenize(&self, text: &str) -> Result<Vec<Token>> {
        let token = |(id, from, to): (u32, usize, usize)| {
            Token::new(id, text.get(from..to).unwrap_or_default().to_owned(), (from, to))
        };
        Ok(self.cut(text).into_iter().map(token).collect())
    }

    fn token_to_id(&self, token: &str) -> Option<u32> {
        self.pieces.get(token).map(|(id, _)| *id)
    }

    fn id_to_token(&self, id: u32) -> Option<String> {
        self.pieces.iter().find(|(_, (known, _))| *known == id).map(|(piece, _)| piece.clone())
    }

    fn get_vocab(&self) -> HashMap<String, u32> {
        self.pieces.iter().map(|(piece, (id, _))| (piece.clone(), *id)).collect()
    }

    fn get_vocab_size(&self) -> usize {
        self.pieces.len()
    }

    fn save(&self, _folder: &Path, _prefix: Option<&str>) -> Result<Vec<PathBuf>> {
        Err("a vocabulary is only read here".into())
    }

    fn get_trainer(&self) -> UnigramTrainer {
        UnigramTrainerBuilder::default().build().unwrap_or_default()
    }
}
