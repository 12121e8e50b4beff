//! Secrets are cut out before a text is stored, embedded or logged.
//!
//! `patterns` is the table of what is looked for, `checks` decides whether a find is one, and `key_blocks`
//! handles the only secret of several lines. A high entropy alone is never a reason: hashes and ids are knowledge.

mod checks;
mod key_blocks;
mod patterns;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

/// Text without secrets. Made only by [`redact`]; the store and the model accept nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Redacted(String);

impl Redacted {
    /// The clean text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A text made only of parts of clean text: for the parsers of this module tree.
    pub(in crate::memory) fn derived(text: String) -> Self {
        Self(text)
    }
}

/// One secret that was cut out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The placeholder's type, such as `api_key`.
    pub kind: &'static str,
    /// The line it began on, from 1.
    pub line: u32,
}

/// A secret's place in a text. `rank` is its row in the table: of overlapping finds the first row names the kind.
struct Span {
    bytes: Range<usize>,
    rank: usize,
    kind: &'static str,
}

/// A placeholder may make its neighbour stand alone and so be found, never more than on both of its sides.
const MAX_PASSES: usize = 4;

/// Cuts the secrets out of `text` and puts placeholders such as `[已脱敏:api_key]` in their place.
///
/// The number of lines stays as it was, and what is already redacted stays as it is.
pub fn redact(text: &str) -> (Redacted, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut clean = key_blocks::cut(text, &mut findings);
    for _ in 0..MAX_PASSES {
        let spans = merged(patterns::find(&clean));
        if spans.is_empty() {
            break;
        }
        clean = Cow::Owned(replace(&clean, &spans, &mut findings));
    }
    findings.sort_by_key(|finding| finding.line);
    (Redacted(clean.into_owned()), findings)
}

/// What stands in the place of a secret.
fn placeholder(kind: &str) -> String {
    format!("{PLACEHOLDER_START}{kind}]")
}

/// How every placeholder begins.
pub(in crate::memory) const PLACEHOLDER_START: &str = "[已脱敏:";

/// Whether a text is one placeholder and nothing else.
fn is_placeholder(text: &str) -> bool {
    let kind = text.strip_prefix(PLACEHOLDER_START).and_then(|rest| rest.strip_suffix(']'));
    kind.is_some_and(|kind| !kind.contains(']'))
}

/// Overlapping spans become one.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| span.bytes.start);
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.bytes.start < last.bytes.end => {
                last.bytes.end = last.bytes.end.max(span.bytes.end);
                if span.rank < last.rank {
                    (last.rank, last.kind) = (span.rank, span.kind);
                }
            }
            _ => merged.push(span),
        }
    }
    merged
}

fn replace(text: &str, spans: &[Span], findings: &mut Vec<Finding>) -> String {
    let mut clean = String::with_capacity(text.len());
    let (mut copied, mut line) = (0, 1);
    for span in spans {
        let before = slice(text, copied..span.bytes.start);
        line += newlines(before);
        findings.push(Finding { kind: span.kind, line });
        clean.push_str(before);
        clean.push_str(&placeholder(span.kind));
        copied = span.bytes.end;
    }
    clean.push_str(slice(text, copied..text.len()));
    clean
}

fn newlines(text: &str) -> u32 {
    u32::try_from(text.matches('\n').count()).unwrap_or(u32::MAX)
}

/// The part of a text between two character boundaries.
fn slice(text: &str, bytes: Range<usize>) -> &str {
    text.get(bytes).unwrap_or_default()
}
