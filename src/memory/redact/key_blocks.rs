//! Private keys of several lines (PEM, OpenSSH, PGP), whole, cut short, or with every line in a bullet of its own.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::{Finding, placeholder, slice};

const KIND: &str = "private_key";
/// The shortest run of base64 that counts as a line of a key; the last line may be shorter.
const MIN_BODY: usize = 16;
/// A block without an end is over after so many lines that belong to something else.
const MAX_STRAY_LINES: usize = 3;

static BEGIN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"-{2,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,5}").ok());
static END: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"-{2,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{2,5}").ok());
static HEADER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^[^A-Za-z]*(?:Proc-Type|DEK-Info|Version|Comment|Hash): ").ok());
static BODY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[A-Za-z0-9+/]{16,}={0,2}").ok());

/// Puts a placeholder where a key begins and empties its other lines.
pub(super) fn cut<'a>(text: &'a str, findings: &mut Vec<Finding>) -> Cow<'a, str> {
    let Some(begin) = BEGIN.as_ref().filter(|begin| begin.is_match(text)) else { return Cow::Borrowed(text) };
    let mut clean = String::with_capacity(text.len());
    let mut block = Block::Outside;
    for (line, number) in text.split_inclusive('\n').zip(1..) {
        let content = line.trim_end_matches(['\n', '\r']);
        if begin.is_match(content) {
            block = begin_line(content, begin, number, &mut clean, findings);
        } else {
            block = block.line(content, &mut clean);
        }
        clean.push_str(slice(line, content.len()..line.len()));
    }
    Cow::Owned(clean)
}

/// Where the reader is.
enum Block {
    Outside,
    /// Inside a key: how many stray lines there were in a row, and whether the last line was full of key.
    Inside {
        stray: usize,
        full: bool,
    },
}

/// Reads a line on which a key, or several, begin.
fn begin_line(
    line: &str,
    begin: &Regex,
    number: u32,
    clean: &mut String,
    findings: &mut Vec<Finding>,
) -> Block {
    let mut rest = line;
    let mut block = Block::Outside;
    while let Some(found) = begin.find(rest) {
        clean.push_str(slice(rest, 0..found.start()));
        clean.push_str(&placeholder(KIND));
        findings.push(Finding { kind: KIND, line: number });
        let after = slice(rest, found.end()..rest.len());
        let inner = slice(after, 0..begin.find(after).map_or(after.len(), |next| next.start()));
        if let Some(end) = END.as_ref().and_then(|end| end.find(inner)) {
            block = Block::Outside;
            rest = slice(after, end.end()..after.len());
        } else {
            block = Block::Inside { stray: 0, full: false };
            let keyed = BODY.as_ref().is_some_and(|body| body.is_match(inner));
            let kept = if keyed { "" } else { inner };
            clean.push_str(kept);
            rest = slice(after, inner.len()..after.len());
        }
    }
    // What follows the end of the last key on the line.
    clean.push_str(if matches!(block, Block::Outside) { rest } else { "" });
    block
}

impl Block {
    /// Reads a line on which no key begins.
    fn line(self, line: &str, clean: &mut String) -> Self {
        let Self::Inside { stray, full } = self else {
            clean.push_str(line);
            return self;
        };
        if let Some(end) = END.as_ref().and_then(|end| end.find(line)) {
            clean.push_str(slice(line, end.end()..line.len()));
            return Self::Outside;
        }
        match kind_of(line, full) {
            Line::Key { full } => Self::Inside { stray: 0, full },
            Line::Blank => {
                clean.push_str(line);
                Self::Inside { stray, full: false }
            }
            Line::Stray => {
                clean.push_str(line);
                if stray + 1 == MAX_STRAY_LINES {
                    Self::Outside
                } else {
                    Self::Inside { stray: stray + 1, full: false }
                }
            }
        }
    }
}

/// What a line inside a block is.
enum Line {
    Key { full: bool },
    Blank,
    Stray,
}

/// Bullets, quote signs, line numbers and times may stand before the key's text, quotes and `\n` around it.
fn kind_of(line: &str, after_full: bool) -> Line {
    if HEADER.as_ref().is_some_and(|header| header.is_match(line)) {
        return Line::Key { full: false };
    }
    let longest = BODY.as_ref().and_then(|body| body.find_iter(line).max_by_key(|found| found.len()));
    if longest.as_ref().is_some_and(|found| found.len() >= 48) {
        return Line::Key { full: true };
    }
    let mut words = line.split_whitespace().rev();
    let Some(last) = words.next() else { return Line::Blank };
    let last = last.trim_end_matches(['"', '\'', ',', '`', '|', '\\']);
    let alone = words.all(|word| !word.contains(char::is_alphabetic));
    let base64 =
        !last.is_empty() && last.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='));
    let odd = last.contains(|c: char| c.is_ascii_digit() || matches!(c, '+' | '/' | '='))
        || last.chars().skip(1).any(|c| c.is_ascii_uppercase());
    match alone && base64 && odd {
        true if last.len() >= MIN_BODY || after_full || last.starts_with('=') => {
            Line::Key { full: last.len() >= MIN_BODY }
        }
        _ if line.chars().all(|c| !c.is_alphanumeric()) => Line::Blank,
        _ => Line::Stray,
    }
}
