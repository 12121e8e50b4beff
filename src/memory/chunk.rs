//! Cuts what is too long for the embedding model into overlapping pieces.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

/// The size a piece aims at, in user-perceived characters.
const AIM: usize = 250;
/// A piece closes at the sentence end nearest to [`AIM`] that lies between these sizes.
const WINDOW: Range<usize> = AIM / 2..AIM * 3 / 2;
/// The longest stretch without a cut; a longer sentence is cut at a comma, a space, or anywhere between characters.
const MAX_UNIT: usize = 80;

/// The most pieces of one text that are embedded, some 16,000 characters; what is behind them is found by its words.
pub const MAX_PIECES: usize = 64;

/// Splits `text` into pieces of at most `max_tokens` as measured by `count`.
///
/// What fits is one piece, however many sentences it has: a bullet stays one memory. What does not fit is cut into
/// pieces of about 250 characters that close at the nearest sentence end and begin with the last sentence (or its
/// last 80 characters) of the piece before. Together the pieces hold the whole text; blank text has none. `count` is
/// called a few times for each piece. A single user-perceived character is never cut, even if it exceeds the limit.
pub fn split<'a>(text: &'a str, max_tokens: usize, count: &dyn Fn(&str) -> usize) -> Vec<&'a str> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    if count(text) <= max_tokens {
        return vec![text];
    }
    let units = units(text);
    let mut pieces = Vec::new();
    let mut first = 0;
    while first < units.len() {
        let mut end = close(&units, first);
        while end > first + 1 && count(join(text, &units, first..end)) > max_tokens {
            end = first + (end - first) / 2;
        }
        let piece = join(text, &units, first..end);
        if end > first + 1 || count(piece) <= max_tokens {
            pieces.push(piece);
        } else {
            halve(piece, max_tokens, count, &mut pieces);
        }
        if end == units.len() {
            break;
        }
        // Never back to where this piece began: each piece must bring something new.
        first = (end - 1).max(first + 1);
    }
    pieces.retain(|piece| !piece.trim().is_empty());
    pieces
}

/// A stretch that is only cut if it exceeds the limit by itself.
struct Unit {
    bytes: Range<usize>,
    chars: usize,
    ends_sentence: bool,
}

/// Sentences, and the parts of long sentences.
fn units(text: &str) -> Vec<Unit> {
    let mut units = Vec::new();
    let (mut start, mut chars) = (0, 0);
    let mut graphemes = text.grapheme_indices(true).peekable();
    while let Some((at, grapheme)) = graphemes.next() {
        chars += 1;
        let next = graphemes.peek().map(|(_, next)| *next);
        let end = at + grapheme.len();
        let ends_sentence = ends_sentence(grapheme, next);
        let breaks = chars >= MAX_UNIT / 2 && matches!(grapheme, "，" | "、" | "," | " " | "\u{3000}" | "\t");
        if ends_sentence || breaks || chars == MAX_UNIT || next.is_none() {
            units.push(Unit { bytes: start..end, chars, ends_sentence });
            (start, chars) = (end, 0);
        }
    }
    units
}

/// A full stop ends a sentence only before a space: `v1.2` and `a.md` stay whole. A closing quote belongs to it.
pub(super) fn ends_sentence(grapheme: &str, next: Option<&str>) -> bool {
    let closed_later = next.is_some_and(|next| matches!(next, "”" | "」" | "』" | "）" | "\"" | ")"));
    match grapheme {
        "\n" | "\r\n" | "\r" => true,
        "。" | "！" | "？" | "；" => !closed_later,
        "." | "!" | "?" | ";" => next.is_none_or(|next| next.trim().is_empty()),
        "”" | "」" | "』" => next.is_none_or(|next| next.trim().is_empty()),
        _ => false,
    }
}

/// Where the piece that begins with unit `first` ends (exclusive).
fn close(units: &[Unit], first: usize) -> usize {
    let mut size = 0;
    let mut best: Option<(bool, usize, usize)> = None;
    for (index, unit) in units.iter().enumerate().skip(first) {
        size += unit.chars;
        if size >= WINDOW.end {
            break;
        }
        if index + 1 == units.len() {
            return units.len();
        }
        if size >= WINDOW.start {
            let candidate = (!unit.ends_sentence, size.abs_diff(AIM), index + 1);
            best = Some(best.map_or(candidate, |best| best.min(candidate)));
        }
    }
    best.map_or(first + 1, |(_, _, end)| end)
}

/// The text of neighbouring units.
fn join<'a>(text: &'a str, units: &[Unit], which: Range<usize>) -> &'a str {
    let bytes = units
        .get(which)
        .and_then(|units| Some(units.first()?.bytes.start..units.last()?.bytes.end))
        .unwrap_or_default();
    text.get(bytes).unwrap_or_default()
}

/// Cuts a stretch in the middle, between characters, until each part fits.
fn halve<'a>(piece: &'a str, max_tokens: usize, count: &dyn Fn(&str) -> usize, into: &mut Vec<&'a str>) {
    let starts: Vec<usize> = piece.grapheme_indices(true).map(|(at, _)| at).collect();
    if starts.len() < 2 || count(piece) <= max_tokens {
        into.push(piece);
        return;
    }
    if let Some((left, right)) =
        starts.get(starts.len() / 2).and_then(|middle| piece.split_at_checked(*middle))
    {
        halve(left, max_tokens, count, into);
        halve(right, max_tokens, count, into);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::{WINDOW, split};

    fn chars(text: &str) -> usize {
        text.chars().count()
    }

    /// Whether the pieces, in order and overlapping, hold all of `text` but for blanks.
    fn cover(text: &str, pieces: &[&str]) -> bool {
        let offset = |piece: &str| piece.as_ptr() as usize - text.as_ptr() as usize;
        let mut covered = 0;
        for piece in pieces {
            let start = offset(piece);
            if start > covered && !text[covered..start].trim().is_empty() {
                return false;
            }
            covered = covered.max(start + piece.len());
        }
        text[covered..].trim().is_empty()
    }

    #[test]
    fn what_fits_is_one_piece() {
        let bullet = "网关端口改成 18080。重启后正常；".repeat(20);
        assert_eq!(split(&bullet, 512, &chars), [bullet.as_str()]);
    }

    #[test]
    fn blank_text_has_no_pieces() {
        assert!(split("", 512, &chars).is_empty());
        assert!(split(&" ".repeat(10_000), 512, &chars).is_empty());
    }

    #[test]
    fn long_text_closes_at_sentence_ends_and_overlaps_by_a_sentence() {
        let text: String = (0..60).map(|n| format!("第 {n} 步先看日志，再改配置 v1.{n} 并重启。")).collect();
        let pieces = split(&text, 512, &chars);
        assert!(pieces.len() > 3);
        assert!(cover(&text, &pieces));
        for pair in pieces.windows(2) {
            assert!(pair[0].ends_with('。') && WINDOW.contains(&chars(pair[0])), "{}", pair[0]);
            let last = pair[0].trim_end_matches('。').rsplit('。').next().unwrap();
            assert!(pair[1].starts_with(last), "{last} / {}", pair[1]);
        }
    }

    #[test]
    fn a_long_url_is_cut_and_nothing_of_it_is_lost() {
        let url = format!("见 https://example.test/{}", "a1".repeat(1_500));
        let pieces = split(&url, 512, &chars);
        assert!(cover(&url, &pieces) && pieces.len() > 5);
        assert!(pieces.iter().all(|piece| chars(piece) <= 512));
    }

    #[test]
    fn counting_is_done_by_the_piece() {
        let calls = Cell::new(0);
        let count = |text: &str| {
            calls.set(calls.get() + 1);
            chars(text)
        };
        let text = "没有句号只有字".repeat(3_000);
        let pieces = split(&text, 512, &count);
        assert!(calls.get() <= 2 * pieces.len() + 1, "{} calls for {} pieces", calls.get(), pieces.len());
    }

    proptest! {
        #[test]
        fn pieces_fit_cover_and_cut_no_character(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "固", "é", "e\u{301}", "\u{200c}", "👨‍👩‍👧‍👦", "a", "。", ". ", "\r\n", " ", "，", "\u{2007}",
                ]),
                0..1_500,
            ),
            max in 8_usize..600,
        ) {
            let text = parts.concat();
            let pieces = split(&text, max, &chars);
            prop_assert!(cover(&text, &pieces));
            let starts: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
            for piece in &pieces {
                let start = piece.as_ptr() as usize - text.as_ptr() as usize;
                prop_assert!(starts.binary_search(&start).is_ok());
                prop_assert!(starts.binary_search(&(start + piece.len())).is_ok());
                prop_assert!(chars(piece) <= max || piece.graphemes(true).count() == 1);
            }
        }
    }
}
