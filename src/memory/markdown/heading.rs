//! Headings: when, whose mark, and the words that say something.

use super::stamp::{self, Place, Stamp};
use super::{bullet, marks};
use crate::memory::Mark;

/// Words that every daily note has in its headings; alone they say nothing.
const TEMPLATE: &[&str] = &[
    "日记",
    "日志",
    "工作日志",
    "每日日志",
    "每日记录",
    "工作记录",
    "记录",
    "笔记",
    "今日记录",
    "日报",
    "周记",
    "流水",
    // The sections of the published format.
    "记忆记录",
    "用户明确要求",
    "自动记录关键信息",
    "已同步长期记忆",
    "已同步到长期记忆",
    "daily",
    "log",
    "logs",
    "note",
    "notes",
    "journal",
    "diary",
    "memory",
    "memories",
    "entry",
    "entries",
    "am",
    "pm",
    "for",
    "of",
];

/// What a heading says.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Heading {
    /// Its words without dates, times, marks and ornaments; empty if nothing is left that says something.
    pub title: String,
    pub stamp: Stamp,
    pub mark: Option<Mark>,
}

/// The level of a heading line and its text.
pub(super) fn level(line: &str) -> Option<(u8, &str)> {
    let text = line.trim_start_matches('#');
    let level =
        u8::try_from(line.chars().take_while(|c| *c == '#').count()).ok().filter(|n| (1..=6).contains(n))?;
    // `#word` is a tag; `##标题` is a heading typed in haste.
    let spaced = text.is_empty() || text.starts_with(char::is_whitespace);
    (spaced || level > 1).then(|| (level, text.trim().trim_end_matches('#').trim_end()))
}

/// Reads the text of a heading; `year` is the one that `5月6日` falls in.
pub(super) fn parse(text: &str, year: Option<i32>) -> Heading {
    let mut heading = Heading::default();
    let (mut words, mut rest) = (String::new(), text);
    while let Some(c) = rest.chars().next() {
        let fresh =
            words.chars().next_back().is_none_or(|before| !before.is_ascii_alphanumeric() && before != '.');
        let found = stamp::parse(rest, Place::Heading(year)).filter(|_| fresh);
        if let Some((mark, after)) = marks::leading(rest) {
            heading.mark = heading.mark.or(Some(mark));
            rest = after;
        } else if let Some((stamp, after)) = found {
            heading.stamp.fill(stamp);
            rest = after;
        } else if let Some(after) = stamp::skip_weekday(rest).filter(|_| fresh) {
            rest = after;
        } else {
            push(&mut words, c);
            rest = rest.strip_prefix(c).unwrap_or_default();
        }
    }
    heading.title = title(&words);
    heading
}

/// Appends `c`; brackets that a stamp left empty go.
fn push(words: &mut String, c: char) {
    let open = |c: char| matches!(c, '(' | '（' | '[' | '【' | '［');
    let closes = matches!(c, ')' | '）' | ']' | '】' | '］');
    if closes && words.trim_end_matches(is_separator).ends_with(open) {
        while words.pop().is_some_and(|last| !open(last)) {}
        return;
    }
    words.push(c);
}

/// The words that are left, if they say something.
fn title(words: &str) -> String {
    let outside = |c: char| is_separator(c) || is_decoration(c);
    let words = words.trim_matches(outside);
    let words = bullet::numbered(words).unwrap_or(words).trim_matches(outside);
    let mut tokens = words.split(|c: char| !c.is_alphanumeric()).filter(|token| !token.is_empty());
    if tokens.all(|token| TEMPLATE.iter().any(|word| token.eq_ignore_ascii_case(word))) {
        return String::new();
    }
    words.trim_matches('*').trim().to_owned()
}

fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '-' | '–' | '—' | '―' | '|' | '｜' | ':' | '：' | ',' | '，' | '、' | '·' | '~' | '～' | '/'
        )
}

/// Emoji, arrows, and the characters that join emoji.
pub(super) fn is_decoration(c: char) -> bool {
    const SIGNS: &[(char, char)] =
        &[('\u{2190}', '\u{2bff}'), ('\u{1f000}', '\u{1faff}'), ('\u{e0020}', '\u{e007f}')];
    matches!(c, '\u{fe0f}' | '\u{200d}' | '\u{20e3}')
        || SIGNS.iter().any(|(first, last)| (*first..=*last).contains(&c))
}
