//! `[USER]`, `[AUTO]`, `[SYNC]` in any brackets, and the session named at the end of a line.

use crate::memory::Mark;

const WORDS: &[(&str, Mark)] = &[("USER", Mark::User), ("AUTO", Mark::Auto), ("SYNC", Mark::Sync)];
const BRACKETS: &[(&str, &str)] =
    &[("[", "]"), ("【", "】"), ("［", "］"), ("**[", "]**"), ("**【", "】**"), ("`[", "]`")];

/// The mark that `text` begins with, and what follows it.
pub(super) fn leading(text: &str) -> Option<(Mark, &str)> {
    let in_brackets = |(open, close): &(&str, &str)| {
        let inner = text.strip_prefix(open)?;
        let (mark, rest) = WORDS.iter().find_map(|(word, mark)| Some((*mark, strip_word(inner, word)?)))?;
        // `[USER](…)` is a link.
        rest.strip_prefix(close).filter(|rest| !rest.starts_with('(')).map(|rest| (mark, rest))
    };
    BRACKETS.iter().find_map(in_brackets)
}

/// What follows `word`, whatever its case.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let mut chars = text.chars();
    let is_there = word.chars().all(|wanted| chars.next().is_some_and(|c| c.eq_ignore_ascii_case(&wanted)));
    is_there.then_some(chars.as_str())
}

/// The mark that `text` ends with, and what precedes it.
pub(super) fn trailing(text: &str) -> Option<(Mark, &str)> {
    BRACKETS.iter().rev().find_map(|(open, close)| {
        let (before, word) = text.strip_suffix(close)?.rsplit_once(open)?;
        Some((of(word)?, before.trim_end()))
    })
}

fn of(word: &str) -> Option<Mark> {
    WORDS.iter().find(|(name, _)| word.trim().eq_ignore_ascii_case(name)).map(|(_, mark)| *mark)
}

/// The session of a trailing `(s-1a2b)`, and what precedes it.
pub(super) fn session(text: &str) -> Option<(&str, &str)> {
    let (before, id) = text.strip_suffix([')', '）'])?.rsplit_once(['(', '（'])?;
    let name = id.strip_prefix("s-")?;
    let is_id = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    is_id.then_some((id, before.trim_end()))
}
