//! A file as lines: line ends of every system, no byte-order mark, no comments, no frontmatter, fences known.

use super::{Reason, Skipped};

/// One line that is left to be read.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// Its number in the file, from 1.
    pub number: u32,
    /// Columns of white space before the text.
    pub indent: usize,
    /// The text without the white space around it; inside a fence with its indentation.
    pub text: String,
    /// The fence it belongs to (its own fence lines included), numbered from 1.
    pub fence: Option<u32>,
    /// The session that a trailing comment names.
    pub session: Option<String>,
}

/// Reads `text` into lines. Comments and frontmatter are gone, their line numbers with them.
pub(super) fn read(text: &str, skipped: &mut Skipped) -> Vec<Line> {
    let raw: Vec<&str> = split(text).collect();
    let matter = frontmatter(&raw);
    if matter > 0 {
        skipped.count(Reason::Frontmatter);
    }
    let mut lines: Vec<Line> =
        (1..).zip(&raw).skip(matter).map(|(number, line)| Line::new(number, line)).collect();
    fences(&mut lines);
    comments(&mut lines);
    for line in lines.iter_mut().filter(|line| line.fence.is_none()) {
        line.text = line.text.trim().to_owned();
    }
    lines
}

/// Splits at `\n`, `\r\n` and a lone `\r`.
fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n')
        .map(|line| line.strip_suffix('\r').unwrap_or(line))
        .flat_map(|line| line.split('\r'))
        .map(|line| line.trim_start_matches('\u{feff}'))
}

impl Line {
    fn new(number: u32, raw: &str) -> Self {
        let blanks = raw.chars().take_while(|c| c.is_whitespace());
        let indent = blanks.map(|c| if c == '\t' { 4 } else { 1 + usize::from(c == '\u{3000}') }).sum();
        Self { number, indent, text: raw.trim_end().to_owned(), fence: None, session: None }
    }
}

/// How many lines from the top are frontmatter: `---`, only `key: value` lines, `---`. A rule that opens a file is
/// followed by something else, and is text.
fn frontmatter(raw: &[&str]) -> usize {
    if raw.first().is_none_or(|line| line.trim_end() != "---") {
        return 0;
    }
    let mut list_may_follow = false;
    for (index, line) in raw.iter().enumerate().skip(1) {
        if line.trim_end() == "---" && index > 1 {
            return index + 1;
        }
        let listed = list_may_follow && line.starts_with(' ') && line.trim_start().starts_with("- ");
        match line.split_once(':') {
            Some((key, value)) if is_key(key) && (value.is_empty() || value.starts_with(' ')) => {
                list_may_follow = value.trim().is_empty();
            }
            _ if listed => {}
            _ => return 0,
        }
    }
    0
}

/// A word as YAML keys are written.
fn is_key(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// The character and length of the run that opens a fence, and whether the line could close one.
fn fence_run(text: &str) -> Option<(char, usize, bool)> {
    let text = text.trim_start();
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = text.trim_start_matches(mark);
    let length = text.chars().take_while(|c| *c == mark).count();
    let is_inline_code = mark == '`' && info.contains('`');
    (length >= 3 && !is_inline_code).then(|| (mark, length, info.trim().is_empty()))
}

/// Numbers the fences. One that nothing closes is no fence, so that it cannot swallow the rest of the file.
fn fences(lines: &mut [Line]) {
    let runs: Vec<_> = lines.iter().map(|line| fence_run(&line.text)).collect();
    // The longest run after each line that could close a fence: of backticks, of tildes.
    let mut longest_after = vec![(0, 0); runs.len()];
    let mut longest = (0, 0);
    for (after, run) in longest_after.iter_mut().zip(&runs).rev() {
        *after = longest;
        match run {
            Some(('`', length, true)) => longest.0 = longest.0.max(*length),
            Some((_, length, true)) => longest.1 = longest.1.max(*length),
            _ => {}
        }
    }
    let mut open: Option<(char, usize)> = None;
    let mut number = 0;
    for ((line, run), after) in lines.iter_mut().zip(runs).zip(longest_after) {
        let Some((mark, length)) = open else {
            let Some((mark, length, _)) = run else { continue };
            let can_close = if mark == '`' { after.0 } else { after.1 };
            if can_close < length {
                line.text.clear();
                continue;
            }
            open = Some((mark, length));
            number += 1;
            line.fence = Some(number);
            continue;
        };
        line.fence = Some(number);
        if run.is_some_and(|(m, l, closes)| closes && m == mark && l >= length) {
            open = None;
        }
    }
}

/// Takes the comments out and keeps the session that one names. A line that was only a comment goes; a `<!--` in
/// inline code, or that another `<!--` follows before `-->`, is text.
fn comments(lines: &mut Vec<Line>) {
    let mut gone = vec![false; lines.len()];
    for index in 0..lines.len() {
        let (Some(line), false) = (lines.get(index), gone.get(index) == Some(&true)) else { continue };
        if line.fence.is_some() || !line.text.contains("<!--") {
            continue;
        }
        let text = line.text.clone();
        let (mut kept, mut rest, mut ticks, mut session) = (String::new(), text.as_str(), 0, None);
        while let Some((before, after)) = rest.split_once("<!--") {
            kept.push_str(before);
            ticks += before.matches('`').count();
            let within = after.split("<!--").next().unwrap_or_default();
            if let Some((comment, _)) = within.split_once("-->").filter(|_| ticks % 2 == 0) {
                session = comment.trim().strip_prefix("s:").map(|id| id.trim().to_owned()).or(session);
                rest = after.split_once("-->").map_or("", |(_, rest)| rest);
            } else if let Some(end) =
                (ticks % 2 == 0 && within.len() == after.len()).then(|| comment_end(lines, index)).flatten()
            {
                gone.iter_mut().take(end).skip(index + 1).for_each(|gone| *gone = true);
                if let Some(last) = lines.get_mut(end) {
                    last.text = last.text.split_once("-->").map_or("", |(_, rest)| rest).to_owned();
                    if let (true, Some(gone)) = (last.text.trim().is_empty(), gone.get_mut(end)) {
                        *gone = true;
                    }
                }
                rest = "";
            } else {
                kept.push_str("<!--");
                rest = after;
            }
        }
        kept.push_str(rest);
        if let (true, Some(gone)) = (kept.trim().is_empty(), gone.get_mut(index)) {
            *gone = true;
        }
        if let Some(line) = lines.get_mut(index) {
            line.text = kept;
            line.session = session.filter(|id| !id.is_empty());
        }
    }
    let mut gone = gone.into_iter();
    lines.retain(|_| gone.next() != Some(true));
}

/// The line on which a comment ends that line `index` left open.
fn comment_end(lines: &[Line], index: usize) -> Option<usize> {
    let (offset, line) = lines
        .iter()
        .enumerate()
        .skip(index + 1)
        .find(|(_, l)| l.text.contains("-->") || l.text.contains("<!--"))?;
    let head = line.text.split("<!--").next().unwrap_or_default();
    head.contains("-->").then_some(offset)
}
