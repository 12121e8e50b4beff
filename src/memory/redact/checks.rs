//! Whether what a pattern found is a secret, and which part of it.

use std::ops::Range;
use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;

use super::{is_placeholder, slice};

/// What decides about a find.
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// The form says it all.
    Whole,
    /// It has a long run of letters and digits, unlike `sk-learn-based-tests`.
    LongRun,
    /// The credential behind `Bearer` or `Authorization:`.
    Header,
    /// The password of a URL, unless it is a variable or a port.
    InUrl,
    /// GB 11643: region, date of birth, sequence, check character.
    IdCard,
    /// An issuer's prefix with its length, and the Luhn digit (ISO/IEC 7812).
    BankCard,
    /// A Chinese mobile number that is no part of something longer.
    Mobile,
    /// What follows a word such as `密码`.
    Value(Word, Said),
}

/// What the values of a word look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// People choose passwords: nearly anything.
    Password,
    /// Machines make keys: letters and digits, seldom digits alone.
    Key,
    /// Like keys; but a number is how many tokens.
    Token,
}

/// How surely a value follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Said {
    /// After `是`, `:`, `=`.
    Strong,
    /// After a space or `is`: only what cannot be a plain word.
    Weak,
}

impl Check {
    /// The secret within a find, if it is one.
    pub(super) fn decide(self, text: &str, found: Range<usize>) -> Option<Range<usize>> {
        match self {
            Self::Whole => Some(found),
            Self::LongRun => longest_mixed_run(slice(text, found.clone())).ge(&10).then_some(found),
            Self::Header => header(text, found.end),
            Self::InUrl => in_url(slice(text, found.clone())).then_some(found),
            Self::IdCard => {
                (stands_alone(text, &found) && is_id_card(slice(text, found.clone()))).then_some(found)
            }
            Self::BankCard => bank_card(text, found),
            Self::Mobile => mobile(text, found),
            Self::Value(word, said) => value(text, found.end, word, said),
        }
    }
}

/// The longest run of ASCII letters and digits that has both.
fn longest_mixed_run(text: &str) -> usize {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|run| is_mixed(run))
        .map(str::len)
        .max()
        .unwrap_or(0)
}

fn is_mixed(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit()) && text.contains(|c: char| c.is_ascii_alphabetic())
}

fn header(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = bare(text, at);
    let credential = slice(text, bytes.clone());
    let odd = is_mixed(credential) || credential.len() >= 24 || credential.ends_with('=');
    (credential.len() >= 8 && odd && !is_reference(credential)).then(|| whole(text, bytes))
}

fn in_url(password: &str) -> bool {
    let port = password.split_once(['/', '?', '#']).is_some_and(|(port, _)| port.parse::<u16>().is_ok());
    !port && !is_placeholder(password) && !is_reference(password)
}

// Numbers

/// The value of an ASCII or full-width digit.
fn digit(c: char) -> Option<u32> {
    match c {
        '０'..='９' => Some(u32::from(c) - u32::from('０')),
        _ => c.to_digit(10),
    }
}

fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(digit).collect()
}

/// Not a part of a longer number, word, path or file name, and not called an order number.
fn stands_alone(text: &str, found: &Range<usize>) -> bool {
    static ORDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)(?:单号|编号|流水号?|订单|order(?: no\.?| id| number)?)[ \t]*(?:是|为)?[:：#]?[ \t]*$",
        )
        .ok()
    });
    let before: String = slice(text, 0..found.start).chars().rev().take(16).collect();
    let mut left = before.chars();
    let joined_left = match (left.next(), left.next()) {
        (Some(c), _) if c.is_ascii_alphanumeric() || c == '_' || digit(c).is_some() => true,
        (Some('.'), Some(c)) => digit(c).is_some(),
        (Some('-'), Some(c)) => c.is_ascii_alphanumeric() || digit(c).is_some(),
        (Some('/'), Some(c)) => c.is_ascii_alphabetic(),
        _ => false,
    };
    let mut right = slice(text, found.end..text.len()).chars();
    let joined_right = match (right.next(), right.next()) {
        (Some(c), _) if c.is_ascii_alphanumeric() || c == '_' || digit(c).is_some() => true,
        (Some('.'), Some(c)) => c.is_ascii_digit() || c.is_ascii_lowercase(),
        (Some('-'), Some(c)) => digit(c).is_some(),
        _ => false,
    };
    let before: String = before.chars().rev().collect();
    !joined_left && !joined_right && !ORDER.as_ref().is_some_and(|order| order.is_match(&before))
}

/// GB 11643-1999: weights 2^(17−i) mod 11 over the first 17 digits, ISO 7064 MOD 11-2.
fn is_id_card(text: &str) -> bool {
    let mut body = digits(text);
    let check = match text.chars().next_back() {
        Some('X' | 'x' | 'Ｘ' | 'ｘ') => 10,
        _ => body.pop().unwrap_or(11),
    };
    let number = |range: Range<usize>| body.get(range).map(|part| part.iter().fold(0, |n, d| n * 10 + d));
    let (Some(year), Some(month), Some(day)) = (number(6..10), number(10..12), number(12..14)) else {
        return false;
    };
    let born =
        (1900..2100).contains(&year) && NaiveDate::from_ymd_opt(year.cast_signed(), month, day).is_some();
    let sum = body.iter().fold(0, |sum, d| (sum + d) * 2 % 11);
    body.len() == 17 && born && (sum + check) % 11 == 1
}

/// The first card in a run of digit groups.
fn bank_card(text: &str, found: Range<usize>) -> Option<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (at, c) in slice(text, found.clone()).char_indices() {
        let (start, end) = (found.start + at, found.start + at + c.len_utf8());
        match groups.last_mut() {
            _ if digit(c).is_none() => {}
            Some(group) if group.end == start => group.end = end,
            _ => groups.push(start..end),
        }
    }
    // A card has at most five groups, of four digits and more but for the last.
    (0..groups.len())
        .flat_map(|first| (first..groups.len().min(first + 5)).map(move |last| (first, last)))
        .filter(|(first, last)| {
            groups.get(*first..*last).unwrap_or_default().iter().all(|group| group.len() >= 4)
        })
        .filter_map(|(first, last)| Some(groups.get(first)?.start..groups.get(last)?.end))
        .find(|card| is_bank_card(&digits(slice(text, card.clone()))) && stands_alone(text, card))
}

fn is_bank_card(digits: &[u32]) -> bool {
    let prefix = |length: usize| digits.iter().take(length).fold(0, |n, d| n * 10 + d);
    let issued = match digits.len() {
        13 => prefix(1) == 4,
        14 => matches!(prefix(2), 36 | 38) || matches!(prefix(3), 300..=305),
        15 => matches!(prefix(2), 34 | 37),
        16..=19 if prefix(2) == 62 || prefix(4) == 9558 || prefix(1) == 4 => true,
        16 => matches!(prefix(2), 51..=55 | 60 | 65) || matches!(prefix(4), 2221..=2720 | 3528..=3589),
        19 => matches!(prefix(2), 60 | 65 | 95),
        _ => false,
    };
    issued && luhn(digits)
}

/// ISO/IEC 7812-1, annex B: every second digit from the right is doubled.
fn luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| if place % 2 == 1 { digit * 2 / 10 + digit * 2 % 10 } else { *digit })
        .sum();
    sum.is_multiple_of(10)
}

fn mobile(text: &str, found: Range<usize>) -> Option<Range<usize>> {
    stands_alone(text, &found).then_some(found)
}

// Values behind a word

/// What a value may be read from: pairs of quotes.
const QUOTES: &[(char, char)] =
    &[('"', '"'), ('\'', '\''), ('`', '`'), ('“', '”'), ('‘', '’'), ('「', '」'), ('『', '』')];
/// The longest value in quotes, and how much of a bare one is judged, in bytes.
const MAX_VALUE: usize = 256;

/// Words that stand where a value could, and are none.
#[rustfmt::skip]
const NO_VALUES: &[&str] = &[
    "1password", "bitwarden", "keepass", "keepassxc", "lastpass", "keychain", "vault", "env", "dotenv",
    "argon2", "argon2id", "bcrypt", "scrypt", "pbkdf2", "sha1", "sha256", "sha512", "md5", "base64", "hash", "jwt", "oauth",
    "oauth2", "ssh", "utf8", "ascii", "string", "str", "text", "int", "integer", "number", "bool", "boolean", "object", "array",
    "null", "none", "nil", "undefined", "true", "false", "yes", "no", "on", "off", "ok", "na", "n/a", "tbd", "todo", "any",
    "required", "optional", "missing", "empty", "unknown", "unset", "set", "wrong", "incorrect", "correct", "invalid",
    "valid", "expired", "reset", "changed", "updated", "rotated", "revoked", "removed", "deleted", "forgotten", "lost",
    "leaked", "hidden", "redacted", "masked", "encrypted", "default", "same", "password", "passwd", "pwd", "secret", "token",
    "the", "a", "an", "see", "in", "is", "not", "must", "should", "ask", "use", "new", "old", "min", "max", "bearer", "basic",
];

fn value(text: &str, at: usize, word: Word, said: Said) -> Option<Range<usize>> {
    let opening = slice(text, at..text.len()).chars().take_while(|c| matches!(c, '*' | '\\')).count();
    let at = at + opening;
    let quoted = quoted(text, at);
    let is_quoted = quoted.is_some();
    let bytes = quoted.unwrap_or_else(|| bare(text, at));
    let value = slice(text, bytes.clone());
    let after = slice(text, bytes.end..text.len());
    let plain = value.trim_end_matches(['!', '?']).to_lowercase();
    if is_placeholder(value) || is_reference(value) || NO_VALUES.contains(&plain.as_str()) {
        return None;
    }
    let fits = match (word, said) {
        (Word::Password, Said::Strong) => is_password(value, after, is_quoted),
        (Word::Password, Said::Weak) => is_odd_password(value, after),
        (_, Said::Strong) => is_key(value, word),
        (_, Said::Weak) => value.len() >= 20 && longest_mixed_run(value) >= 16,
    };
    fits.then(|| whole(text, bytes))
}

/// The inside of a pair of quotes that closes on the same line.
fn quoted(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = slice(text, at..text.len());
    let open = rest.chars().next()?;
    let (_, close) = QUOTES.iter().find(|(quote, _)| *quote == open)?;
    let start = at + open.len_utf8();
    let inside = slice(text, start..text.len());
    let (end, _) = inside
        .char_indices()
        .take_while(|(at, c)| *at < MAX_VALUE && *c != '\n')
        .find(|(_, c)| c == close)?;
    (end > 0).then(|| {
        let inside = slice(inside, 0..end);
        start..start + inside.trim_end_matches('\\').len()
    })
}

/// A run of characters that people type into password fields, without the punctuation of the sentence around it.
fn bare(text: &str, at: usize) -> Range<usize> {
    static NEXT_FIELD: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"[;&,][A-Za-z_][A-Za-z0-9_.-]{0,40}["']?[=:]"#).ok());
    let start =
        at + slice(text, at..text.len()).chars().take_while(|c| matches!(c, '"' | '\'' | '`')).count();
    let rest = slice(text, start..text.len());
    let end = rest.char_indices().find(|(at, c)| *at >= MAX_VALUE || !is_part(*c));
    let run = slice(rest, 0..end.map_or(rest.len(), |(at, _)| at));
    let field = NEXT_FIELD.as_ref().and_then(|next| next.find(run));
    let run = slice(run, 0..field.map_or(run.len(), |next| next.start()));
    start
        ..start
            + run.trim_end_matches(['.', ',', ';', ':', ')', ']', '}', '>', '*', '|', '\\', '[', '(']).len()
}

fn is_part(c: char) -> bool {
    match c {
        '"' | '\'' | '`' => false,
        '０'..='９' | 'Ａ'..='Ｚ' | 'ａ'..='ｚ' | '＠' | '＃' | '＿' => true,
        _ => c.is_ascii_graphic(),
    }
}

/// The whole of a run that was longer than what was judged of it.
fn whole(text: &str, judged: Range<usize>) -> Range<usize> {
    if judged.len() < MAX_VALUE {
        return judged;
    }
    let rest = slice(text, judged.end..text.len());
    judged.start..judged.end + rest.find(|c| !is_part(c)).unwrap_or(rest.len())
}

/// A variable, a path, an address or a blank to fill in: where the secret is, not the secret.
fn is_reference(value: &str) -> bool {
    static REFERENCE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(concat!(
            r"^(?:\$[{(A-Z_]|<|\{|%[A-Z_]+%|~?/|\.{1,2}/|(?i:https?|file|op|vault)://|(?i:your|xxx|\.\.\.)",
            r"|[A-Za-z_][A-Za-z0-9_.]*[(\[]",
            r"|(?:import|process|os|env|config|settings|self|this|ctx|secrets|vars|args|options|req|request|response|data)\.",
            r"|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$)",
        ))
        .ok()
    });
    let mut chars = value.chars();
    let first = chars.next();
    let uniform = first.is_none_or(|first| !first.is_alphanumeric()) && chars.all(|c| Some(c) == first);
    uniform || REFERENCE.as_ref().is_some_and(|reference| reference.is_match(value))
}

/// Nearly anything; but neither a count (`密码是 8 位`) nor the first word of a sentence (`Password: ask Li`).
fn is_password(value: &str, after: &str, is_quoted: bool) -> bool {
    let size = value.chars().count();
    let number = value.chars().all(|c| digit(c).is_some() || matches!(c, '-' | '~' | '+' | '.'));
    if number {
        return size >= 3 && !counts(after);
    }
    let word = value.chars().all(|c| c.is_ascii_lowercase());
    let prose = word
        && after.strip_prefix(' ').is_some_and(|next| next.starts_with(|c: char| c.is_ascii_alphabetic()));
    size >= 2 && value.contains(char::is_alphanumeric) && (is_quoted || !prose)
}

/// Whether a number is followed by what it counts.
fn counts(after: &str) -> bool {
    after
        .trim_start_matches([' ', '+'])
        .starts_with(['位', '个', '次', '字', '天', '年', '月', '种', '条', '分', '秒', '小', '%'])
}

/// Letters and digits in one run, or a number of a password's length that is no date.
fn is_odd_password(value: &str, after: &str) -> bool {
    let number = value.chars().all(|c| digit(c).is_some());
    let size = value.chars().count();
    if number {
        let dated = size == 8 && (value.starts_with("19") || value.starts_with("20"));
        return (6..=12).contains(&size) && !dated && !counts(after);
    }
    size >= 6 && longest_mixed_run(value) >= 4
}

/// Letters and digits in one run; a long word without a digit is one only if it is no identifier.
fn is_key(value: &str, word: Word) -> bool {
    let number = value.chars().all(|c| c.is_ascii_digit());
    if number {
        return word == Word::Key && value.len() >= 6;
    }
    let mixed = is_mixed(value);
    let lower = value.len() >= 12 && value.chars().all(|c| c.is_ascii_lowercase());
    longest_mixed_run(value) >= 6 || (mixed && value.len() >= 20) || lower
}
