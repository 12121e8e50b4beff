//! The keyword part: BM25 as Lucene computes it, over one user's memories, as a share of what the question asks for.

use std::collections::HashMap;

const K1: f64 = 1.2;
const B: f64 = 0.75;
/// A question's words count in the ceiling up to here. Without the cap long questions lose their words.
const CEILING: f64 = 40.0;

/// The word statistics of one user's memories; nobody else's words weigh on his.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Corpus {
    /// How many memories there are.
    pub documents: u64,
    /// How many words a memory has on average.
    pub mean_length: f64,
}

/// The weight of a word that `containing` of `documents` memories hold: `ln(1 + (N − n + ½)/(n + ½))`, never negative.
pub fn idf(documents: u64, containing: u64) -> f64 {
    let (all, containing) = (documents.max(containing) as f64, containing as f64);
    (1.0 + (all - containing + 0.5) / (containing + 0.5)).ln()
}

/// A question's words with their weights.
#[derive(Debug, Clone)]
pub struct KeywordQuery {
    words: Vec<(String, f64)>,
    corpus: Corpus,
    ceiling: f64,
}

impl KeywordQuery {
    /// The distinct `words` of a question, each with the number of the user's memories that hold it.
    ///
    /// Words nobody wrote count in what is asked for: a question mostly about the unknown is answered by little.
    pub fn new(corpus: Corpus, words: impl IntoIterator<Item = (String, u64)>) -> Self {
        let words: Vec<_> =
            words.into_iter().map(|(word, containing)| (word, idf(corpus.documents, containing))).collect();
        let ceiling = words.iter().map(|(_, idf)| idf).sum::<f64>().min(CEILING);
        Self { words, corpus, ceiling }
    }

    /// The question's words, the rarest first.
    pub fn by_weight(&self) -> Vec<String> {
        let mut words: Vec<&(String, f64)> = self.words.iter().collect();
        words.sort_by(|a, b| b.1.total_cmp(&a.1));
        words.into_iter().map(|(word, _)| word.clone()).collect()
    }

    /// BM25 of a memory with these words: `Σ idf · tf / (tf + k₁(1 − b + b·length/mean))` over the question's words, k₁
    /// 1.2, b 0.75, without the constant factor k₁ + 1 (Robertson and Zaragoza 2009, with Lucene's idf).
    pub fn bm25(&self, memory: &[String]) -> f64 {
        let mut frequency: HashMap<&str, f64> =
            self.words.iter().map(|(word, _)| (word.as_str(), 0.0)).collect();
        for word in memory {
            if let Some(count) = frequency.get_mut(word.as_str()) {
                *count += 1.0;
            }
        }
        let norm = K1 * (1.0 - B + B * memory.len() as f64 / self.corpus.mean_length.max(1.0));
        let weighed =
            self.words.iter().map(|(word, idf)| (frequency.get(word.as_str()).copied().unwrap_or(0.0), idf));
        weighed.map(|(tf, idf)| idf * tf / (tf + norm)).sum()
    }

    /// The part in 0–1: `min(1, (k₁ + 1)·BM25 / min(Σ idf, 40))`. A memory of average length that holds every word of
    /// the question once has 1, whoever else holds them too.
    pub fn part(&self, bm25: f64) -> f64 {
        if self.ceiling > 0.0 { ((K1 + 1.0) * bm25 / self.ceiling).clamp(0.0, 1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: Corpus = Corpus { documents: 3, mean_length: 4.0 };

    fn query(corpus: Corpus, words: &[(&str, u64)]) -> KeywordQuery {
        KeywordQuery::new(corpus, words.iter().map(|(word, containing)| ((*word).to_owned(), *containing)))
    }

    fn memory(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn bm25_is_the_figure_worked_out_by_hand() {
        let asked = query(THREE, &[("端口", 2), ("8081", 1)]);
        // idf ln(1.6) and ln(8/3); norm 1.2·(0.25 + 0.75·6/4) = 1.65.
        let expected = 1.6_f64.ln() * 2.0 / 3.65 + (8.0_f64 / 3.0).ln() / 2.65;
        let bm25 = asked.bm25(&memory(&["端口", "是", "8081", "端口", "部署", "agent"]));
        assert!((bm25 - expected).abs() < 1e-12, "{bm25}");
    }

    #[test]
    fn an_exact_hit_is_whole_in_a_small_store_and_in_a_large_one() {
        for documents in [3, 10_003] {
            let asked = query(Corpus { documents, ..THREE }, &[("zx-4471", 1), ("zx", 1), ("4471", 1)]);
            let ticket = memory(&["ticket", "zx-4471", "zx", "4471"]);
            assert!((asked.part(asked.bm25(&ticket)) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_word_in_every_memory_still_has_some_weight() {
        assert!(idf(3, 3) > 0.0);
        let asked = query(THREE, &[("hello", 3)]);
        assert!(asked.part(asked.bm25(&memory(&["hello"]))) > 0.0);
    }

    #[test]
    fn unknown_words_lessen_the_share() {
        let known = query(THREE, &[("端口", 1)]);
        let mixed = query(THREE, &[("端口", 1), ("黎曼", 0)]);
        let share = |asked: &KeywordQuery| asked.part(asked.bm25(&memory(&["端口"])));
        assert!(share(&mixed) < 0.5 * share(&known));
    }

    #[test]
    fn no_words_and_no_memories_make_no_share() {
        assert_eq!(query(THREE, &[]).part(0.0), 0.0);
        let empty = query(Corpus { documents: 0, mean_length: 0.0 }, &[("端口", 0)]);
        assert_eq!(empty.part(empty.bm25(&[])), 0.0);
    }

    #[test]
    fn the_rarest_words_come_first() {
        let asked = query(THREE, &[("的", 3), ("端口", 1), ("部署", 2)]);
        assert_eq!(asked.by_weight(), ["端口", "部署", "的"]);
    }
}
