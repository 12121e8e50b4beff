//! Near-duplicates: two memories that say the same thing, of which an answer needs one.

use std::collections::BTreeSet;

use crate::memory::segment;

/// From here up two memories may say the same. Below it collapsing costs recall.
pub const TWIN_COSINE: f32 = 0.98;

const NEGATIONS: &[&str] = &[
    "不", "没", "没有", "无", "未", "别", "非", "勿", "否", "莫", "not", "no", "never", "none", "without",
    "dont", "doesnt", "didnt", "isnt", "wasnt", "arent", "cant", "cannot", "wont",
];

/// The cosine of two vectors of length 1; 0 if their dimensions differ.
pub fn cosine(a: &[f32], b: &[f32]) -> f32 {
    if a.len() == b.len() { a.iter().zip(b).map(|(a, b)| a * b).sum() } else { 0.0 }
}

/// Whether two texts whose vectors are as near as [`TWIN_COSINE`] say the same: the same numbers, names and negation.
///
/// Vectors hardly see a digit, and 第一次跑 42.1 秒 is not 第二次跑 24.1 秒.
pub fn say_the_same(a: &str, b: &str) -> bool {
    a == b || distinguishing(a) == distinguishing(b)
}

/// What tells two otherwise like texts apart: numbers in the order they are said, identifiers and words of spaced
/// scripts, Chinese names and numerals, and negations.
fn distinguishing(text: &str) -> (Vec<String>, BTreeSet<String>) {
    let text = segment::normalise(text);
    let (mut numbers, mut names) = (Vec::new(), BTreeSet::new());
    for tag in segment::jieba().tag(&text, true) {
        let word = tag.word.replace('\'', "");
        let named = matches!(tag.tag, "nr" | "nrt" | "nrfg" | "ns" | "nt" | "nz" | "m" | "x" | "eng");
        if word.contains(|c: char| c.is_numeric()) {
            numbers.push(word);
        } else if word.contains(char::is_alphanumeric) && (named || NEGATIONS.contains(&word.as_str())) {
            names.insert(word);
        } else if let Some(negation) =
            NEGATIONS.iter().find(|negation| negation.chars().count() == 1 && word.starts_with(**negation))
        {
            names.insert((*negation).to_owned());
        }
    }
    (numbers, names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_numbers_names_or_negation_are_other_memories() {
        for (a, b) in [
            ("第一次跑 42.1 秒", "第二次跑 24.1 秒"),
            ("部署 agent：home-agent (端口 8080)", "部署 agent：work-agent (端口 8081)"),
            ("我喜欢吃香菜", "我不喜欢吃香菜"),
            ("张伟喜欢喝茶", "李娜喜欢喝茶"),
            ("下周去杭州出差", "下周去成都出差"),
            ("I like tea", "I don't like tea"),
            ("port 8080 to 9090", "port 9090 to 8080"),
        ] {
            assert!(!say_the_same(a, b), "{a} / {b}");
        }
    }

    #[test]
    fn other_punctuation_case_and_small_words_are_the_same_memory() {
        for (a, b) in [
            ("用户喜欢喝龙井茶", "用户很喜欢喝龙井茶。"),
            ("VS Code 主题是深色", "vs code 主题是深色！"),
            ("端口是８０８１", "端口是 8081"),
        ] {
            assert!(say_the_same(a, b), "{a} / {b}");
        }
    }

    #[test]
    fn vectors_of_other_dimensions_have_nothing_in_common() {
        assert_eq!(cosine(&[1.0, 0.0], &[1.0]), 0.0);
        assert_eq!(cosine(&[0.6, 0.8], &[0.6, 0.8]), 1.0);
    }
}
