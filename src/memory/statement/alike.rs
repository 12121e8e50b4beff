//! Whether two statements say the same thing in other words.

use std::collections::{BTreeMap, BTreeSet};

use super::Features;
use crate::memory::rank::{self, Scale};

/// The spread of fewer cosines says nothing: the one that stands out most could not stand out far.
const ENOUGH: usize = 20;
/// Without vectors, statements say the same that share this much of the weight of the lighter one's words.
const WORDS_ALONE: f64 = 0.5;
/// With vectors, this many deviations above the median are enough where no word is shared, and this much of the words
/// where the vectors say nothing; what lies between adds up. Measured on labelled weeks.
const NEAR_ALONE: f64 = 3.3;
const WORDS_WITH_VECTORS: f64 = 1.6;
/// What each common number or name adds, and how much they add together at most: more across languages, where
/// there are few other common words.
const ANCHORS: [(f64, f64); 2] = [(0.13, 0.26), (0.2, 0.45)];
/// What numbers of other kinds take away: so much has to be sure before 30 times and 3 seconds are one thing.
const OTHER_NUMBERS: f64 = 0.2;
/// From so great a share of common words on, a denial on one side alone makes two things of them.
const DENIED: f64 = 0.7;

/// How the statements of one week lie to each other.
pub struct Likeness<'f> {
    features: Vec<&'f Features>,
    vectors: Vec<Option<&'f [f32]>>,
    /// Of each statement its words as numbers, in order, and their weight together.
    words: Vec<(Vec<usize>, f64)>,
    /// Of each word by its number.
    weights: Vec<f64>,
    /// Within a language and across languages, where cosines are lower.
    scales: [Option<Scale>; 2],
}

impl<'f> Likeness<'f> {
    /// Measures how words and cosines are spread among `features`; `vectors` stand in the same order.
    pub fn new(features: Vec<&'f Features>, vectors: Vec<Option<&'f [f32]>>) -> Self {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for word in features.iter().flat_map(|features| &features.words) {
            *counts.entry(word).or_default() += 1;
        }
        let documents = features.len() as u64;
        let weights: Vec<f64> = counts.values().map(|count| rank::idf(documents, *count)).collect();
        let numbers: BTreeMap<&str, usize> = counts.keys().zip(0..).map(|(word, at)| (*word, at)).collect();
        let words = features.iter().map(|features| {
            let words: Vec<usize> =
                features.words.iter().filter_map(|word| numbers.get(word.as_str()).copied()).collect();
            let weight = words.iter().filter_map(|word| weights.get(*word)).sum();
            (words, weight)
        });
        let words = words.collect();
        let mut likeness = Self { features, vectors, words, weights, scales: [None, None] };
        likeness.scales = likeness.measure();
        likeness
    }

    fn measure(&self) -> [Option<Scale>; 2] {
        let mut cosines = [Vec::new(), Vec::new()];
        for a in 0..self.vectors.len() {
            for b in 0..a {
                if let (Some(cosine), Some(list)) = (self.cosine(a, b), cosines.get_mut(self.across(a, b))) {
                    list.push(cosine);
                }
            }
        }
        let scales = cosines.map(|list| (list.len() >= ENOUGH).then(|| Scale::measure(list)).flatten());
        let [within, across] = scales;
        [within, across.or(within)]
    }

    fn across(&self, a: usize, b: usize) -> usize {
        let chinese = |at: usize| self.features.get(at).is_some_and(|features| features.chinese);
        usize::from(chinese(a) != chinese(b))
    }

    fn cosine(&self, a: usize, b: usize) -> Option<f32> {
        let vector = |at: usize| self.vectors.get(at).copied().flatten();
        Some(rank::cosine(vector(a)?, vector(b)?))
    }

    /// How many deviations the cosine of two statements lies above the median of this week's.
    fn nearness(&self, a: usize, b: usize) -> Option<f64> {
        let scale = self.scales.get(self.across(a, b)).copied().flatten()?;
        Some((f64::from(self.cosine(a, b)?) - scale.median) / scale.deviation)
    }

    /// The weight of the words that two statements share, and of all words of either.
    fn weights(&self, a: usize, b: usize) -> Option<(f64, f64, f64)> {
        let ((one, of_one), (other, of_other)) = (self.words.get(a)?, self.words.get(b)?);
        let shared = one.iter().filter(|word| other.binary_search(word).is_ok());
        let shared = shared.filter_map(|word| self.weights.get(*word)).sum();
        Some((shared, *of_one, *of_other))
    }

    /// What share of the weight of the words of `part` stands in `whole`.
    pub fn share(&self, part: usize, whole: usize) -> f64 {
        self.weights(part, whole).map_or(0.0, |(shared, of_part, _)| ratio(shared, of_part))
    }

    /// How strongly two statements say the same, before what tells them apart: words and nearness.
    fn rough(&self, a: usize, b: usize) -> f64 {
        let within = self.weights(a, b).map_or(0.0, |(shared, one, other)| ratio(shared, one.min(other)));
        match self.nearness(a, b) {
            Some(near) => near / NEAR_ALONE + within / WORDS_WITH_VECTORS,
            None => within / WORDS_ALONE,
        }
    }

    /// How strongly two statements say the same: 1 and above is enough; `None` if they are two things.
    pub fn score(&self, a: usize, b: usize) -> Option<f64> {
        let (one, other) = (self.features.get(a)?, self.features.get(b)?);
        let both = self.weights(a, b).map_or(0.0, |(shared, x, y)| ratio(shared, x + y - shared));
        if differ(one, other, both) {
            return None;
        }
        let (each, most) = ANCHORS.get(self.across(a, b)).copied().unwrap_or_default();
        let anchors = (one.anchors.intersection(&other.anchors).count() as f64 * each).min(most);
        let other_numbers =
            !one.numbers.is_empty() && !other.numbers.is_empty() && one.numbers.is_disjoint(&other.numbers);
        Some(self.rough(a, b) + anchors - if other_numbers { OTHER_NUMBERS } else { 0.0 })
    }

    /// The pairs among `places` that say the same, the surest first.
    pub fn pairs(&self, places: &[usize]) -> Vec<(usize, usize)> {
        let most = ANCHORS.iter().map(|(_, most)| *most).fold(0.0, f64::max);
        let mut pairs = Vec::new();
        for (upto, &b) in places.iter().enumerate() {
            for &a in places.iter().take(upto).filter(|a| self.rough(**a, b) >= 1.0 - most) {
                pairs.extend(self.score(a, b).filter(|score| *score >= 1.0).map(|score| (score, a, b)));
            }
        }
        pairs.sort_by(|x, y| y.0.total_cmp(&x.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        pairs.into_iter().map(|(_, a, b)| (a, b)).collect()
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

/// Whether both number the same kind of thing.
fn counts_alike(a: &Features, b: &Features) -> bool {
    a.measures.iter().any(|(unit, _)| b.measures.iter().any(|(other, _)| other == unit))
}

/// Whether numbers, names, persons or a denial make two things of statements that may look alike.
fn differ(a: &Features, b: &Features, jaccard: f64) -> bool {
    let apart =
        |a: &BTreeSet<String>, b: &BTreeSet<String>| !a.is_empty() && !b.is_empty() && a.is_disjoint(b);
    let crossed = |a: &BTreeSet<String>, b: &BTreeSet<String>| !a.is_subset(b) && !b.is_subset(a);
    let same_language = a.chinese == b.chinese;
    (apart(&a.numbers, &b.numbers) && counts_alike(a, b))
        || (same_language && apart(&a.people, &b.people) && apart(&a.names, &b.names))
        || (same_language && crossed(&a.names, &b.names) && crossed(&a.numbers, &b.numbers))
        || (jaccard >= DENIED && a.negated != b.negated)
}
