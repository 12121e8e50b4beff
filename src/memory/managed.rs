//! The part of a file that the daemon may rewrite, between two markers; everything around it is the user's.

use std::ops::Range;

/// The line above the part that is ours.
pub const BEGIN: &str = "<!-- ocmemd:begin -->";

/// The line below it.
pub const END: &str = "<!-- ocmemd:end -->";

/// A file's text, cut at the markers. `before`, the marker lines, `block` and `after` are all of it, byte for byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts<'t> {
    /// Up to the line of [`BEGIN`]; the whole text where there is no block.
    pub before: &'t str,
    /// The whole lines between the markers; `None` where the file has no block yet.
    pub block: Option<&'t str>,
    /// From right behind [`END`], its line end included.
    pub after: &'t str,
}

/// Markers between which nobody can tell what is whose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// Never closed.
    #[error("line {0} says `{BEGIN}`, and no `{END}` follows: put that line back, or delete line {0}")]
    NoEnd(usize),
    /// Never opened.
    #[error("line {0} says `{END}` without `{BEGIN}` above it: put that line back, or delete line {0}")]
    NoBegin(usize),
    /// More than one.
    #[error(
        "line {0} begins a second managed block: keep one block with its two marker lines, delete the other"
    )]
    Twice(usize),
    /// An example rather than a block.
    #[error(
        "line {0} is a marker of the managed block inside a code fence: take it out of the fence, or delete it"
    )]
    InFence(usize),
}

/// A line with its number, from 1, and its place in the text; its line end belongs to it.
struct Line<'t> {
    number: usize,
    bytes: Range<usize>,
    text: &'t str,
}

/// Cuts a file's text at the markers. A marker stands alone on its line; mentioned in a sentence it is text.
///
/// # Errors
/// [`Broken`] names the line and the way out.
pub fn split(text: &str) -> Result<Parts<'_>, Broken> {
    let found = markers(text)?;
    let is_begin = |line: &Line<'_>| bare(line.text) == BEGIN;
    let (begin, end) = match found.as_slice() {
        [] => return Ok(Parts { before: text, block: None, after: "" }),
        [first, ..] if !is_begin(first) => return Err(Broken::NoBegin(first.number)),
        [begin] => return Err(Broken::NoEnd(begin.number)),
        [begin, second, ..] if is_begin(second) => return Err(Broken::NoEnd(begin.number)),
        [begin, end] => (begin, end),
        [_, _, third, ..] if is_begin(third) => return Err(Broken::Twice(third.number)),
        [_, _, third, ..] => return Err(Broken::NoBegin(third.number)),
    };
    let part = |bytes: Range<usize>| text.get(bytes).unwrap_or_default();
    // A byte-order mark belongs to the file, not to our line.
    let mark = begin.text.len() - begin.text.trim_start_matches('\u{feff}').len();
    let behind = end.bytes.start + end.text.trim_end().len();
    Ok(Parts {
        before: part(0..begin.bytes.start + mark),
        block: Some(part(begin.bytes.end..end.bytes.start)),
        after: part(behind..text.len()),
    })
}

/// The text with `block` between the markers: in place of what stands there, else at the end. Everything around it
/// stays as it is; lines end as they do in the file.
///
/// # Errors
/// [`Broken`] if the markers are, or would be: a block that holds a marker itself cannot be told from the user's text.
pub fn replace(text: &str, block: &str) -> Result<String, Broken> {
    let Parts { before, block: old, after } = split(text)?;
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut new = before.to_owned();
    if old.is_none() && !text.trim_start_matches('\u{feff}').is_empty() {
        // An empty line between the user's text and ours.
        new.push_str(if text.ends_with('\n') { "" } else { end });
        new.push_str(end);
    }
    for line in std::iter::once(BEGIN).chain(block.lines()) {
        new.push_str(line);
        new.push_str(end);
    }
    new.push_str(END);
    new.push_str(if old.is_none() { end } else { after });
    split(&new)?;
    Ok(new)
}

/// The lines that are markers. One inside a fence is refused; a fence that nothing closes is none, as for the reader
/// of the notes.
fn markers(text: &str) -> Result<Vec<Line<'_>>, Broken> {
    let mut found: Vec<Line<'_>> = Vec::new();
    // The run that opened the fence we are in, and how many markers stood above it.
    let mut fence: Option<(&str, usize)> = None;
    let mut start = 0;
    for (number, text) in (1..).zip(text.split_inclusive('\n')) {
        let bytes = start..start + text.len();
        start = bytes.end;
        let line = bare(text);
        if line == BEGIN || line == END {
            found.push(Line { number, bytes, text });
            continue;
        }
        match (fence_run(line), fence) {
            (Some(run), None) => fence = Some((run, found.len())),
            (Some(run), Some((open, above))) if run.starts_with(open) && run == line => {
                if let Some(marker) = found.get(above) {
                    return Err(Broken::InFence(marker.number));
                }
                fence = None;
            }
            _ => {}
        }
    }
    Ok(found)
}

/// A line without what may stand around a marker.
fn bare(line: &str) -> &str {
    line.trim_start_matches('\u{feff}').trim()
}

/// The backticks or tildes that open or close a fence.
fn fence_run(line: &str) -> Option<&str> {
    let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let run = line.strip_suffix(info)?;
    (run.len() >= 3 && !(mark == '`' && info.contains('`'))).then_some(run)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_file_is_cut_at_the_markers_and_nowhere_else() {
        let text = "\u{feff}# 记忆\r\n见 <!-- ocmemd:begin --> 一节\r\n<!-- ocmemd:begin -->\r\n- 甲\r\n<!-- ocmemd:end -->\r\n尾";
        let parts = split(text).unwrap();
        assert_eq!(parts.before, "\u{feff}# 记忆\r\n见 <!-- ocmemd:begin --> 一节\r\n");
        assert_eq!((parts.block, parts.after), (Some("- 甲\r\n"), "\r\n尾"));
        assert_eq!(split("# 记忆\n").unwrap(), Parts { before: "# 记忆\n", block: None, after: "" });
        let first = "\u{feff}<!-- ocmemd:begin -->\n<!-- ocmemd:end -->";
        assert_eq!(split(first).unwrap(), Parts { before: "\u{feff}", block: Some(""), after: "" });
    }

    #[test]
    fn a_block_is_replaced_in_place_or_put_at_the_end() {
        let ours = |lines: &str| format!("{BEGIN}\n{lines}{END}\n");
        let table = [
            (String::new(), ours("- 新\n")),
            ("# 记忆\n- 我的".to_owned(), format!("# 记忆\n- 我的\n\n{}", ours("- 新\n"))),
            ("# 记忆\n".to_owned(), format!("# 记忆\n\n{}", ours("- 新\n"))),
            (format!("前\n{}后", ours("- 旧\n- 旧二\n")), format!("前\n{}后", ours("- 新\n"))),
            ("前\r\n".to_owned(), format!("前\r\n\r\n{}", ours("- 新\n").replace('\n', "\r\n"))),
            (format!("{BEGIN}\n{END}"), format!("{BEGIN}\n- 新\n{END}")),
            ("\u{feff}".to_owned(), format!("\u{feff}{}", ours("- 新\n"))),
            // A fence that nothing closes swallows nothing.
            ("```\n前\n".to_owned(), format!("```\n前\n\n{}", ours("- 新\n"))),
        ];
        for (old, new) in table {
            let replaced = replace(&old, "- 新").unwrap();
            assert_eq!(replaced, new);
            assert_eq!(replace(&replaced, "- 新\n").unwrap(), new, "twice is once");
        }
    }

    #[test]
    fn broken_markers_are_named_by_their_line() {
        let table = [
            (format!("甲\n{BEGIN}\n- 乙\n"), Broken::NoEnd(2)),
            (format!("甲\n{END}\n"), Broken::NoBegin(2)),
            (format!("{END}\n{BEGIN}\n"), Broken::NoBegin(1)),
            (format!("{BEGIN}\n{BEGIN}\n{END}\n"), Broken::NoEnd(1)),
            (format!("{BEGIN}\n{END}\n{BEGIN}\n{END}\n"), Broken::Twice(3)),
            (format!("{BEGIN}\n{END}\n{END}\n"), Broken::NoBegin(3)),
            (format!("````md\n```\n{BEGIN}\n{END}\n````\n"), Broken::InFence(3)),
            (format!("~~~\n{BEGIN}\n{END}\n~~~\n{BEGIN}\n{END}\n"), Broken::InFence(2)),
        ];
        for (text, broken) in table {
            assert_eq!(split(&text), Err(broken), "{text}");
            assert_eq!(replace(&text, "- 新"), Err(broken), "{text}");
        }
        assert_eq!(replace("", &format!("- 新\n{END}\n{BEGIN}")), Err(Broken::Twice(4)));
        assert!(Broken::NoEnd(7).to_string().contains("line 7"));
    }

    proptest! {
        #[test]
        fn what_is_around_the_block_stays_byte_for_byte(
            before in "(前文|<!-- openclaw:x -->|- [a-z]|```|~~~|\r\n|\n|\u{feff}| ){0,12}",
            after in "(后文|<!-- openclaw:x -->|```|\r\n|\n| ){0,12}",
            block in "(- 新|\n){0,6}",
        ) {
            let text = format!("{before}\n{BEGIN}\n旧\n{END}\n{after}");
            if let (Ok(old), Ok(new)) = (split(&text), replace(&text, &block)) {
                let parts = split(&new).unwrap();
                prop_assert_eq!((parts.before, parts.after), (old.before, old.after));
                let lines: Vec<&str> = block.lines().collect();
                prop_assert_eq!(parts.block.unwrap().lines().collect::<Vec<_>>(), lines);
            }
        }
    }
}
