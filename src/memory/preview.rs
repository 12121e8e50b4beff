//! One line that shows what a text begins with.

use unicode_segmentation::UnicodeSegmentation;

/// What stands for the part that is not shown.
const ELLIPSIS: &str = "…";

/// The beginning of `text` on one line: white space (line ends too) becomes single spaces, and what exceeds
/// `max_graphemes` user-perceived characters ends in `…`, which counts as one of them.
pub fn preview(text: &str, max_graphemes: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.graphemes(true).nth(max_graphemes).is_none() {
        return line;
    }
    let Some(kept) = max_graphemes.checked_sub(1) else { return String::new() };
    let beginning: String = line.graphemes(true).take(kept).collect();
    beginning.trim_end().to_owned() + ELLIPSIS
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::{ELLIPSIS, preview};

    #[test]
    fn a_preview_is_one_line_of_at_most_so_many_characters() {
        for (text, max, shown) in [
            ("网关端口是 18080", 20, "网关端口是 18080"),
            ("第一行\r\n\n  第二行", 20, "第一行 第二行"),
            ("一二三四五", 5, "一二三四五"),
            ("一二三四五六", 5, "一二三四…"),
            ("一二三 四五六", 5, "一二三…"),
            ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 2, "👨‍👩‍👧‍👦…"),
            ("一二", 1, "…"),
            ("一二", 0, ""),
            ("", 0, ""),
        ] {
            assert_eq!(preview(text, max), shown, "{text:?} in {max}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_cut_inside_a_character(
            parts in prop::collection::vec(
                prop::sample::select(vec!["固", "é", "e\u{301}", "\u{200c}", "\u{2007}", "👨‍👩‍👧‍👦", "a", "\n"]),
                0..1_500,
            ),
            max in 0_usize..200,
        ) {
            let text = parts.concat();
            let shown = preview(&text, max);
            prop_assert!(shown.graphemes(true).count() <= max);
            let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let beginning: Vec<_> = shown.trim_end_matches(ELLIPSIS).graphemes(true).collect();
            let original: Vec<_> = line.graphemes(true).take(beginning.len()).collect();
            prop_assert_eq!(beginning, original);
        }
    }
}
