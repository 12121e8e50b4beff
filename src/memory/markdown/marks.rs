//! `[USER]`, `[AUTO]`, `[SYNC]` in any brackets, and the session named at the end of a line or behind its time.

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
    is_session(id).then_some((id, before.trim_end()))
}

/// The session of a leading `(s-1a2b)`, as other writers put it behind the time, and what follows it.
pub(super) fn leading_session(text: &str) -> Option<(&str, &str)> {
    let (id, after) = text.strip_prefix(['(', '（'])?.split_once([')', '）'])?;
    is_session(id).then_some((id, after.trim_start()))
}

fn is_session(id: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
    };
    id.strip_prefix("s-").is_some_and(is_name)
}
