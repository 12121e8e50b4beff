//! How many tokens a text costs, without a tokenizer.

/// Estimates the tokens of `text`: one for each wide character (Chinese, kana, hangul, full-width forms, emoji), one
/// for every four of the others, rounded up.
///
/// The rule errs upwards, since a budget is a promise. BERT vocabularies give each Chinese character a token of its
/// own; the vocabularies of current language models spend between 0.6 and 1.1 on it, and about four characters of
/// English on one.
pub fn estimate(text: &str) -> usize {
    let (wide, narrow) =
        text.chars().fold((0_usize, 0_usize), |(w, n), c| if is_wide(c) { (w + 1, n) } else { (w, n + 1) });
    wide + narrow.div_ceil(4)
}

/// From the CJK radicals upwards nearly everything is ideographs, syllables, full-width forms or pictures.
fn is_wide(c: char) -> bool {
    c >= '\u{2E80}'
}

#[cfg(test)]
mod tests {
    use super::estimate;

    #[test]
    fn chinese_costs_a_token_a_character_and_english_one_for_four() {
        for (text, tokens) in [
            ("", 0),
            ("部署在八零八零端口", 9),
            ("a", 1),
            ("four", 1),
            ("fives", 2),
            ("把 gateway 端口改成 18080", 5 + 4),
            ("👍", 1),
        ] {
            assert_eq!(estimate(text), tokens, "{text}");
        }
    }
}
