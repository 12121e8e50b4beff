//! List markers as people type them, and what a list item says when it says nothing.

/// Markers that need white space after them, since they also begin ordinary text.
const SPACED: &[char] = &['-', '*', '+', '–', '·', '－'];
/// Markers that nothing else begins with.
const FREE: &[char] = &['•', '‣', '◦', '▪', '●', '○', '・', '■', '□'];
/// What stands for "nothing yet", compared without brackets, emphasis and case.
const PLACEHOLDERS: &[&str] = &[
    "待补充",
    "待填写",
    "待更新",
    "待定",
    "暂无",
    "无",
    "空",
    "没有",
    "略",
    "none",
    "n/a",
    "na",
    "tbd",
    "todo",
    "nil",
    "empty",
    "to be filled",
    "optional",
];

/// The text of a list item, without its marker; `None` if the line is none.
pub(super) fn item(text: &str) -> Option<&str> {
    marked(text).or_else(|| numbered(text))
}

/// The text behind a bullet character.
pub(super) fn marked(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix(FREE) {
        return Some(rest.trim_start());
    }
    let rest = text.strip_prefix(SPACED)?;
    match rest.chars().next() {
        None => Some(rest),
        Some(c) if c.is_whitespace() => Some(rest.trim_start()),
        // Chinese is often typed right behind the dash; `-5` and `--flag` are not list items.
        Some('\u{4e00}'..='\u{9fff}' | '【') if text.starts_with(['-', '－']) => Some(rest),
        Some(_) => None,
    }
}

/// The text behind `1.`, `1)`, `1、`, `（1）`.
pub(super) fn numbered(text: &str) -> Option<&str> {
    let open = text.strip_prefix(['(', '（']);
    let digits = open.unwrap_or(text);
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit() || ('０'..='９').contains(&c));
    let count = digits.chars().count() - rest.chars().count();
    if !(1..=3).contains(&count) {
        return None;
    }
    if open.is_some() {
        return rest.strip_prefix([')', '）']).map(str::trim_start);
    }
    if let Some(rest) = rest.strip_prefix(['、', '．', '）']) {
        return Some(rest.trim_start());
    }
    let rest = rest.strip_prefix(['.', ')'])?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim_start())
}

/// The `[x] ` or `[ ] ` that a task begins with, and the task.
pub(super) fn task(text: &str) -> Option<(&str, &str)> {
    ["[ ]", "[x]", "[X]", "[-]", "[~]"]
        .iter()
        .find_map(|mark| Some((*mark, text.strip_prefix(mark)?.trim_start())))
}

/// The key and value of `**键**：值`, the colon inside or outside the bold.
pub(super) fn key_value(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.strip_prefix("**")?.split_once("**")?;
    let colon = [':', '：'];
    let (key, value) = match key.trim_end().strip_suffix(colon) {
        Some(key) => (key, rest),
        None => (key, rest.trim_start().strip_prefix(colon)?),
    };
    (!key.trim().is_empty()).then(|| (key.trim(), value.trim()))
}

/// Whether `text` says nothing: empty, a dash, an unfilled box, 待补充, a key without a value.
pub(super) fn is_placeholder(text: &str) -> bool {
    let text = task(text).map_or(text, |(_, task)| task);
    let text = key_value(text).map_or(text, |(_, value)| value);
    let bare = text.trim_matches(|c: char| c.is_whitespace() || (is_mark(c) && !matches!(c, '/' | '%')));
    bare.is_empty() && !text.chars().any(is_sign)
        || PLACEHOLDERS.iter().any(|word| bare.eq_ignore_ascii_case(word))
}

/// Punctuation of both widths.
fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation()
        || matches!(c, '\u{2010}'..='\u{2027}' | '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}' | '\u{ff3b}'..='\u{ff65}')
}

/// A sign that answers by itself: 状态：✅.
fn is_sign(c: char) -> bool {
    super::heading::is_decoration(c)
}
