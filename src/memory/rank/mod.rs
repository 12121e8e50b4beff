//! How much a memory matters for a question: parts in 0–1 on an absolute scale, and their weighted sum.
//!
//! Absolute means that a part says the same thing whatever else was found: an only hit is not 1.0 for being alone, and
//! a question that has nothing to do with a person stays below the threshold for all of his memories.

mod keyword;
mod scale;
mod time;
mod twins;

use serde::{Deserialize, Serialize};

pub use keyword::{Corpus, KeywordQuery, idf};
pub use scale::Scale;
pub use time::{asked as asked_recency, asks_for_the_recent, date_match, recency};
pub use twins::{TWIN_COSINE, cosine, say_the_same};

/// How much each part counts. Not negative, and their sum is 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    vector: f64,
    keyword: f64,
    time: f64,
}

/// Why weights were refused.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "the weights vector {vector}, keyword {keyword}, time {time} are refused: each must be a number from 0 up, and vector or keyword more than 0"
)]
pub struct WeightsError {
    vector: f64,
    keyword: f64,
    time: f64,
}

impl Weights {
    /// Weights in these proportions.
    ///
    /// # Errors
    /// When one is negative or not finite, or when neither vector nor keyword has any.
    pub fn new(vector: f64, keyword: f64, time: f64) -> Result<Self, WeightsError> {
        let sum = vector + keyword + time;
        let sound = [vector, keyword, time].iter().all(|weight| weight.is_finite() && *weight >= 0.0);
        if !sound || !sum.is_finite() || vector + keyword <= 0.0 {
            return Err(WeightsError { vector, keyword, time });
        }
        Ok(Self { vector: vector / sum, keyword: keyword / sum, time: time / sum })
    }
}

impl Default for Weights {
    /// The published ones: 0.55, 0.30, 0.15.
    fn default() -> Self {
        Self { vector: 0.55, keyword: 0.30, time: 0.15 }
    }
}

/// What the time part says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeMode {
    /// How well the memory's date meets the one that the question names; without one, recency, when the question asks
    /// for the recent or to break near-ties. Only among the relevant.
    #[default]
    Asked,
    /// Recency of the last access is added to every memory, as the published formula has it.
    Recency,
}

/// The parts of one memory's score, each in 0–1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parts {
    /// Nearness in meaning; `None` if the question or the memory has no vector.
    pub vector: Option<f64>,
    /// Share of the question's words, by their weight.
    pub keyword: f64,
    /// Nearness in time, before its gate.
    pub time: f64,
}

/// Where the gate of the time part begins to open, and how far up it is open.
const GATE: (f64, f64) = (0.40, 0.10);

/// `vector·v + keyword·k`: what a memory has to do with the question, without time.
///
/// A missing vector gives its weight to the words, so that words alone can pass the threshold.
pub fn relevance(weights: Weights, parts: Parts) -> f64 {
    match parts.vector {
        Some(vector) => weights.vector * vector + weights.keyword * parts.keyword,
        None => (weights.vector + weights.keyword) * parts.keyword,
    }
}

/// The final score in 0–1: relevance plus time, where time is let in only as far as the memory is relevant, since a
/// fresh memory would pass the threshold for nothing otherwise. [`TimeMode::Recency`] has no gate.
pub fn score(weights: Weights, mode: TimeMode, parts: Parts) -> f64 {
    let relevance = relevance(weights, parts);
    let gate = match mode {
        TimeMode::Asked => ((relevance - GATE.0) / GATE.1).clamp(0.0, 1.0),
        TimeMode::Recency => 1.0,
    };
    (relevance + weights.time * gate * parts.time).clamp(0.0, 1.0)
}

/// Puts the best first; equal scores by id, so that the same question on the same data has the same order.
pub fn sort<T>(scored: &mut [T], score: impl Fn(&T) -> f64, id: impl Fn(&T) -> &str) {
    scored.sort_by(|a, b| score(b).total_cmp(&score(a)).then_with(|| id(a).cmp(id(b))));
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS_ONLY: Parts = Parts { vector: None, keyword: 1.0, time: 0.0 };

    #[test]
    fn words_alone_pass_the_threshold_when_there_is_no_vector() {
        assert!(score(Weights::default(), TimeMode::Asked, WORDS_ONLY) >= 0.45);
        let half = Parts { keyword: 0.55, ..WORDS_ONLY };
        assert!(score(Weights::default(), TimeMode::Asked, half) >= 0.45);
    }

    #[test]
    fn the_fresh_but_irrelevant_stays_out_unless_the_published_formula_is_wanted() {
        let fresh = Parts { vector: Some(0.6), keyword: 0.0, time: 1.0 };
        assert!(score(Weights::default(), TimeMode::Asked, fresh) < 0.45);
        assert!((score(Weights::default(), TimeMode::Recency, fresh) - 0.48).abs() < 1e-9);
    }

    #[test]
    fn scores_are_finite_and_between_0_and_1() {
        for vector in [None, Some(0.0), Some(1.0)] {
            for keyword in [0.0, 1.0] {
                for time in [0.0, 1.0] {
                    for mode in [TimeMode::Asked, TimeMode::Recency] {
                        let score = score(Weights::default(), mode, Parts { vector, keyword, time });
                        assert!((0.0..=1.0).contains(&score), "{vector:?} {keyword} {time}: {score}");
                    }
                }
            }
        }
    }

    #[test]
    fn weights_that_cannot_weigh_are_refused() {
        for (vector, keyword, time) in
            [(-0.1, 0.5, 0.5), (f64::NAN, 0.3, 0.1), (0.0, 0.0, 1.0), (f64::INFINITY, 0.1, 0.1)]
        {
            assert!(Weights::new(vector, keyword, time).is_err(), "{vector} {keyword} {time}");
        }
        assert_eq!(Weights::new(0.55, 0.30, 0.15), Ok(Weights::default()));
        assert_eq!(Weights::new(1.0, 1.0, 0.0), Weights::new(0.5, 0.5, 0.0));
    }

    #[test]
    fn equal_scores_keep_one_order() {
        let mut hits = vec![("b", 0.5), ("c", 0.9), ("a", 0.5)];
        sort(&mut hits, |hit| hit.1, |hit| hit.0);
        assert_eq!(hits, [("c", 0.9), ("a", 0.5), ("b", 0.5)]);
    }
}
