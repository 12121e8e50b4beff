//! How good rankings are.

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

/// The figures of one set, as shares of 1.
#[derive(Debug, Default, Serialize)]
pub struct Figures {
    pub set: String,
    pub n: usize,
    #[serde(rename = "r@5")]
    pub recall_5: f64,
    #[serde(rename = "r@10")]
    pub recall_10: f64,
    #[serde(rename = "hit@10")]
    pub hit_10: f64,
    #[serde(rename = "mrr@10")]
    pub mrr_10: f64,
    #[serde(rename = "ndcg@10")]
    pub ndcg_10: f64,
    /// Questions with nothing at or above the threshold.
    pub empty: f64,
    pub ms_p50: f64,
    pub ms_p95: f64,
    /// Of the relevant among the first five, those at or above the threshold.
    pub kept: f64,
    /// Of questions that have nothing to do with the users, those that are answered by nothing.
    pub refused: BTreeMap<String, f64>,
}

/// One question's ranking.
pub struct Ranking<'a> {
    pub ids: &'a [(String, f64)],
    pub relevant: &'a [String],
    pub min_score: f64,
}

/// Adds rankings up.
#[derive(Default)]
pub struct Sums {
    figures: Figures,
    relevant_in_5: usize,
    millis: Vec<f64>,
}

impl Sums {
    pub fn add(&mut self, ranking: &Ranking, empty: bool, millis: f64) {
        let relevant: HashSet<&str> = ranking.relevant.iter().map(String::as_str).collect();
        let found: Vec<bool> =
            ranking.ids.iter().take(10).map(|(id, _)| relevant.contains(id.as_str())).collect();
        let count = |k: usize| found.iter().take(k).filter(|hit| **hit).count() as f64;
        let gain = |hits: &mut dyn Iterator<Item = usize>| {
            hits.map(|rank| 1.0 / (rank as f64 + 2.0).log2()).sum::<f64>()
        };
        let hits = found.iter().enumerate().filter(|(_, hit)| **hit).map(|(rank, _)| rank);
        let all = relevant.len().max(1) as f64;

        let sums = &mut self.figures;
        sums.n += 1;
        sums.recall_5 += count(5) / all;
        sums.recall_10 += count(10) / all;
        sums.hit_10 += f64::from(found.contains(&true));
        sums.mrr_10 += found.iter().position(|hit| *hit).map_or(0.0, |rank| 1.0 / (rank as f64 + 1.0));
        sums.ndcg_10 += gain(&mut hits.into_iter()) / gain(&mut (0..relevant.len().clamp(1, 10)));
        sums.empty += f64::from(empty);
        for (_, (_, score)) in found.iter().zip(ranking.ids).take(5).filter(|(hit, _)| **hit) {
            self.relevant_in_5 += 1;
            sums.kept += f64::from(*score >= ranking.min_score);
        }
        self.millis.push(millis);
    }

    pub fn figures(mut self, set: &str, refused: BTreeMap<String, f64>) -> Figures {
        let n = self.figures.n.max(1) as f64;
        self.millis.sort_by(f64::total_cmp);
        let at = |share: f64| {
            self.millis.get((self.millis.len() as f64 * share) as usize).copied().unwrap_or_default()
        };
        let sums = self.figures;
        Figures {
            set: set.to_owned(),
            n: sums.n,
            recall_5: sums.recall_5 / n,
            recall_10: sums.recall_10 / n,
            hit_10: sums.hit_10 / n,
            mrr_10: sums.mrr_10 / n,
            ndcg_10: sums.ndcg_10 / n,
            empty: sums.empty / n,
            ms_p50: at(0.5),
            ms_p95: at(0.95),
            kept: sums.kept / self.relevant_in_5.max(1) as f64,
            refused,
        }
    }
}
