//! English words: a light stem and the stop words.

use std::collections::HashSet;
use std::sync::OnceLock;

/// Whether a word is of plain English letters, an apostrophe or two allowed.
pub(super) fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_lowercase() || c == '\'')
        && text.contains(|c: char| c.is_ascii_lowercase())
}

/// Where an ending is taken off, and what is put in its place. The first that fits is the last that is tried.
const ENDINGS: &[(&str, &str)] = &[
    ("sses", "ss"),
    ("ies", "y"),
    ("ied", "y"),
    ("ings", ""),
    ("ing", ""),
    ("ed", ""),
    ("xes", "x"),
    ("ches", "ch"),
    ("shes", "sh"),
    ("ss", "ss"),
    ("us", "us"),
    ("is", "is"),
    ("s", ""),
];

/// A light stem of a lower-case English word: plural, past and -ing forms meet their plain form.
///
/// Lighter than Porter's on purpose: notes are full of names, and two names must not meet by accident. The result need
/// not be a word (`make`, `making` → `mak`), it only has to be the same on both sides.
pub(super) fn stem(word: &str) -> String {
    let word = word.strip_suffix("'s").unwrap_or(word).replace('\'', "");
    if word.len() < 4 {
        return word;
    }
    let stem = ENDINGS
        .iter()
        .find_map(|(ending, instead)| Some(format!("{}{instead}", word.strip_suffix(ending)?)))
        .filter(|stem| has_syllable(stem))
        .unwrap_or(word);
    undouble(stem.strip_suffix('e').filter(|left| left.len() > 2).unwrap_or(&stem)).to_owned()
}

/// At least three letters, one of which is a vowel: `sing` and `bed` keep their endings.
fn has_syllable(text: &str) -> bool {
    text.len() > 2 && text.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

/// `runn` → `run`, and `fall` → `fal` so that `falling` meets it.
fn undouble(stem: &str) -> &str {
    let mut ends = stem.chars().rev();
    match (ends.next(), ends.next()) {
        (Some(last), Some(before)) if last == before && stem.len() > 3 => {
            stem.strip_suffix(last).unwrap_or(stem)
        }
        _ => stem,
    }
}

/// Whether a stemmed word only holds a sentence together.
pub(super) fn is_stop_word(stemmed: &str) -> bool {
    static STEMS: OnceLock<HashSet<String>> = OnceLock::new();
    STEMS.get_or_init(|| STOP_WORDS.iter().map(|word| stem(word)).collect()).contains(stemmed)
}

/// The closed classes of English; `may` is not among them, since it is a month.
const STOP_WORDS: &[&str] = &[
    "a",
    "an",
    "the",
    "and",
    "or",
    "but",
    "nor",
    "if",
    "because",
    "while",
    "of",
    "at",
    "by",
    "for",
    "with",
    "about",
    "against",
    "between",
    "through",
    "during",
    "before",
    "after",
    "above",
    "below",
    "to",
    "from",
    "up",
    "down",
    "in",
    "out",
    "on",
    "off",
    "over",
    "under",
    "into",
    "onto",
    "than",
    "then",
    "as",
    "until",
    "so",
    "too",
    "very",
    "only",
    "own",
    "same",
    "such",
    "again",
    "further",
    "once",
    "here",
    "there",
    "when",
    "where",
    "why",
    "how",
    "all",
    "any",
    "both",
    "each",
    "few",
    "more",
    "most",
    "other",
    "some",
    "no",
    "not",
    "just",
    "also",
    "even",
    "still",
    "i",
    "me",
    "my",
    "myself",
    "mine",
    "we",
    "us",
    "our",
    "ours",
    "ourselves",
    "you",
    "your",
    "yours",
    "yourself",
    "he",
    "him",
    "his",
    "himself",
    "she",
    "her",
    "hers",
    "herself",
    "it",
    "its",
    "itself",
    "they",
    "them",
    "their",
    "theirs",
    "themselves",
    "this",
    "that",
    "these",
    "those",
    "what",
    "which",
    "who",
    "whom",
    "whose",
    "am",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "being",
    "do",
    "does",
    "did",
    "doing",
    "done",
    "have",
    "has",
    "had",
    "having",
    "can",
    "cannot",
    "could",
    "would",
    "should",
    "will",
    "shall",
    "might",
    "must",
    "let",
    "get",
    "got",
    "don't",
    "didn't",
    "doesn't",
    "isn't",
    "wasn't",
    "aren't",
    "weren't",
    "can't",
    "couldn't",
    "wouldn't",
    "won't",
    "haven't",
    "hasn't",
    "hadn't",
    "i'm",
    "i've",
    "i'd",
    "i'll",
    "you're",
    "you've",
    "you'd",
    "you'll",
    "he's",
    "she's",
    "it's",
    "we're",
    "we've",
    "we'll",
    "they're",
    "they've",
    "that's",
    "there's",
    "what's",
    "let's",
    "tell",
    "please",
    "oh",
    "hey",
    "yes",
    "yeah",
    "okay",
    "well",
];
