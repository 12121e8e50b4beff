//! Finds the pieces of a text that name days, and joins them.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use super::frame::Frame;
use super::{chinese, english};
use crate::memory::segment;

/// How one piece is written and read.
pub(super) struct Rule {
    pattern: String,
    not_after: &'static [&'static str],
    not_before: &'static [&'static str],
    read: fn(&Piece) -> Option<Frame>,
}

impl Rule {
    pub(super) fn new(pattern: impl Into<String>, read: fn(&Piece) -> Option<Frame>) -> Self {
        Self { pattern: pattern.into(), not_after: &[], not_before: &[], read }
    }

    /// What the text before must not end with.
    pub(super) fn not_after(self, not_after: &'static [&'static str]) -> Self {
        Self { not_after, ..self }
    }

    /// What the text behind must not begin with.
    pub(super) fn not_before(self, not_before: &'static [&'static str]) -> Self {
        Self { not_before, ..self }
    }
}

/// A place where a rule matches.
pub(super) struct Piece<'t> {
    captures: &'t Captures<'t>,
    /// The number of the rule's own group 0 in the pattern of all rules.
    base: usize,
    /// The text before it.
    pub(super) before: &'t str,
    /// The text behind it.
    pub(super) after: &'t str,
}

impl Piece<'_> {
    /// All that the rule matched.
    pub(super) fn whole(&self) -> &str {
        self.get(0).unwrap_or_default()
    }

    /// What a group of the rule matched.
    pub(super) fn get(&self, group: usize) -> Option<&str> {
        self.captures.get(self.base + group).map(|found| found.as_str())
    }

    /// The number that a group of the rule holds.
    pub(super) fn number(&self, group: usize) -> Option<u32> {
        number(self.get(group)?)
    }
}

/// A number in digits, in Chinese numerals or in English words.
pub(super) fn number(text: &str) -> Option<u32> {
    if let Some(at) = english::NUMBERS.iter().position(|word| *word == text) {
        return u32::try_from(at + 1).ok();
    }
    let lone = text.chars().nth(1).is_none();
    let sound = lone || text.contains('十') || text.starts_with(|c: char| c.is_ascii_digit());
    if sound { segment::number(&text.replace('两', "二")) } else { None }
}

/// What may stand between two pieces of one name.
const GLUE: &[&str] = &["", "的", "在", "of", "of the", "in", "in the", "on", "the", "'s", "-"];
/// What stands between the ends of a range.
const TO: &[&str] = &["到", "至", "-", "--", "~", "〜", "to", "through", "thru", "until", "till"];
/// What stands between two of a list.
const AND: &[&str] =
    &["和", "与", "、", "及", "以及", "或", "或者", "还是", "还有", "跟", ",", "and", "or", ", and"];

/// Whether nothing but one of these words stands between two names.
fn between(text: &str, left: &Found, right: &Found, words: &[&str]) -> bool {
    text.get(left.end..right.start).is_some_and(|gap| words.contains(&gap.trim()))
}

/// One name of days.
pub(super) struct Found {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) frame: Frame,
    /// The end of a range that begins with `frame`.
    pub(super) until: Option<Frame>,
}

/// The names of days in a normalised text, in their order.
pub(super) fn frames(text: &str) -> Vec<Found> {
    let mut names: Vec<Found> = Vec::new();
    for piece in pieces(text) {
        if let Some(last) = names.last_mut()
            && between(text, last, &piece, GLUE)
            && let Some(joined) = last.frame.join(piece.frame)
        {
            (last.end, last.frame) = (piece.end, joined);
        } else {
            names.push(piece);
        }
    }
    names.retain(|name| !name.frame.needs_company);
    connect(text, names)
}

/// Lets what follows in a list or a range inherit month and year, and takes a range together.
fn connect(text: &str, names: Vec<Found>) -> Vec<Found> {
    let mut connected: Vec<Found> = Vec::new();
    let mut with_month: Option<Frame> = None;
    for mut name in names {
        let last = connected.last_mut();
        let listed = last.as_ref().is_some_and(|last| between(text, last, &name, AND));
        if let Some(last) = last
            && last.until.is_none()
        {
            let before = text.get(..last.start).unwrap_or_default();
            if between(text, last, &name, TO) || (listed && before.ends_with("between ")) {
                (last.until, last.end) = (Some(name.frame), name.end);
                continue;
            }
            if listed {
                name.frame.inherit(&last.frame);
            }
        }
        if let Some(named) = with_month.filter(|_| name.frame.is_bare_day()) {
            name.frame.inherit(&named);
        }
        with_month = Some(name.frame).filter(|frame| frame.month.is_some()).or(with_month);
        connected.push(name);
    }
    connected
}

fn pieces(text: &str) -> Vec<Found> {
    let Some(rules) = RULES.as_ref() else { return Vec::new() };
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(captures) = rules.all.captures_at(text, at) {
        let Some(whole) = captures.get(0) else { break };
        let matched = rules.list.iter().find(|(base, _)| captures.get(*base).is_some());
        let frame = matched.and_then(|(base, rule)| {
            let (before, after) = (text.get(..whole.start())?, text.get(whole.end()..)?);
            let piece = Piece { captures: &captures, base: *base, before, after };
            let alone = !cuts_number(before, whole.as_str(), after)
                && !rule.not_after.iter().any(|end| before.ends_with(end))
                && !rule.not_before.iter().any(|start| after.starts_with(start));
            if alone { (rule.read)(&piece) } else { None }
        });
        let one_on = whole.start() + whole.as_str().chars().next().map_or(1, char::len_utf8);
        at = if frame.is_some() { whole.end().max(one_on) } else { one_on };
        found.extend(frame.map(|frame| Found { start: whole.start(), end: whole.end(), frame, until: None }));
        if at > text.len() {
            break;
        }
    }
    found
}

/// Whether a match begins or ends inside of a number.
fn cuts_number(before: &str, matched: &str, after: &str) -> bool {
    let digit = |c: char| c.is_ascii_digit();
    (matched.starts_with(digit) && before.ends_with(digit))
        || (matched.ends_with(digit) && after.starts_with(digit))
}

struct Rules {
    /// All of them in one expression, each in a group of its own.
    all: Regex,
    /// Each with the number of its group.
    list: Vec<(usize, Rule)>,
}

static RULES: LazyLock<Option<Rules>> = LazyLock::new(|| {
    let rules: Vec<Rule> = chinese::rules().into_iter().chain(english::rules()).collect();
    let patterns: Vec<String> = rules.iter().map(|rule| format!("({})", rule.pattern)).collect();
    let (mut list, mut next) = (Vec::new(), 1);
    for rule in rules {
        let groups = Regex::new(&rule.pattern).ok()?.captures_len();
        list.push((next, rule));
        next += groups;
    }
    Some(Rules { all: Regex::new(&patterns.join("|")).ok()?, list })
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_a_valid_expression() {
        assert!(RULES.as_ref().is_some_and(|rules| rules.list.len() > 40));
    }

    #[test]
    fn numbers_are_said_in_many_ways() {
        for (text, expected) in [
            ("08", Some(8)),
            ("十", Some(10)),
            ("二十三", Some(23)),
            ("两", Some(2)),
            ("twelve", Some(12)),
            ("二三", None),
            ("十十", None),
            ("many", None),
        ] {
            assert_eq!(number(text), expected, "{text}");
        }
    }
}
