//! Whether two statements say the same thing in other words.

use std::collections::{BTreeMap, BTreeSet};

use super::Features;
use crate::memory::rank::{self, Scale};

/// Of fewer statements the spread of the cosines says nothing.
const ENOUGH: usize = 8;
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
    features: &'f [Features],
    vectors: Vec<Option<&'f [f32]>>,
    weights: BTreeMap<&'f str, f64>,
    /// By whether the two are in the same language: across languages cosines are lower.
    scales: [Option<Scale>; 2],
}

impl<'f> Likeness<'f> {
    /// Measures how words and cosines are spread among `features`.
    pub fn new(features: &'f [Features], vectors: Vec<Option<&'f [f32]>>) -> Self {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for word in features.iter().flat_map(|features| &features.words) {
            *counts.entry(word).or_default() += 1;
        }
        let documents = features.len() as u64;
        let weights = counts.into_iter().map(|(word, count)| (word, rank::idf(documents, count))).collect();
        let mut likeness = Self { features, vectors, weights, scales: [None, None] };
        let mut cosines = [Vec::new(), Vec::new()];
        for a in 0..features.len() {
            for b in 0..a {
                if let (Some(cosine), Some(list)) =
                    (likeness.cosine(a, b), cosines.get_mut(likeness.across(a, b)))
                {
                    list.push(cosine);
                }
            }
        }
        likeness.scales = cosines.map(|list| Scale::measure(list).filter(|_| features.len() >= ENOUGH));
        likeness
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
    pub fn nearness(&self, a: usize, b: usize) -> Option<f64> {
        let scale = self.scales.get(self.across(a, b)).copied().flatten()?;
        Some((f64::from(self.cosine(a, b)?) - scale.median) / scale.deviation)
    }

    fn weight<'w>(&self, words: impl Iterator<Item = &'w String>) -> f64 {
        words.map(|word| self.weights.get(word.as_str()).copied().unwrap_or(1.0)).sum()
    }

    /// The weight of the common words: of the lighter statement's, and of both's.
    pub fn overlap(&self, a: &Features, b: &Features) -> (f64, f64) {
        let shared = self.weight(a.words.intersection(&b.words));
        let (of_a, of_b) = (self.weight(a.words.iter()), self.weight(b.words.iter()));
        let share = |whole: f64| if whole > 0.0 { shared / whole } else { 0.0 };
        (share(of_a.min(of_b)), share(of_a + of_b - shared))
    }

    /// What share of the weight of `part`'s words stands in `whole`.
    pub fn share(&self, part: &Features, whole: &Features) -> f64 {
        let all = self.weight(part.words.iter());
        if all > 0.0 { self.weight(part.words.intersection(&whole.words)) / all } else { 0.0 }
    }

    /// How strongly two statements say the same: 1 and above is enough; `None` if they are two things.
    pub fn score(&self, a: usize, b: usize) -> Option<f64> {
        let (one, other) = (self.features.get(a)?, self.features.get(b)?);
        let (within, both) = self.overlap(one, other);
        if differ(one, other, both) {
            return None;
        }
        let (each, most) = ANCHORS.get(self.across(a, b)).copied().unwrap_or_default();
        let anchors = (one.anchors.intersection(&other.anchors).count() as f64 * each).min(most);
        let words = match self.nearness(a, b) {
            Some(near) => near / NEAR_ALONE + within / WORDS_WITH_VECTORS,
            None => within / WORDS_ALONE,
        };
        let other_numbers =
            !one.numbers.is_empty() && !other.numbers.is_empty() && one.numbers.is_disjoint(&other.numbers);
        Some(words + anchors - if other_numbers { OTHER_NUMBERS } else { 0.0 })
    }
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
