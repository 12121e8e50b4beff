//! When two texts are the same for a label: width, case, space, quotes and ways of writing a time do not count.

use unicode_normalization::UnicodeNormalization;

/// `text` as it is compared.
pub fn normal(text: &str) -> String {
    let folded: String = text
        .nfkc()
        .flat_map(char::to_lowercase)
        .filter(|c| !c.is_whitespace() && !"「」『』\"'“”‘’`*".contains(*c))
        .map(|c| match c {
            '号' => '日',
            '–' | '—' => '-',
            c => c,
        })
        .collect();
    // 08:00 is 8:00.
    let chars: Vec<char> = folded.chars().collect();
    let is_leading_zero = |at: usize| {
        let digit = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(char::is_ascii_digit);
        chars[at] == '0'
            && !digit(at.checked_sub(1))
            && digit(Some(at + 1))
            && chars.get(at + 2) == Some(&':')
    };
    (0..chars.len()).filter(|at| !is_leading_zero(*at)).map(|at| chars[at]).collect()
}

/// Whether `text` holds `wanted`, not as a part of a longer number. Both are compared as [`normal`] has them.
pub fn holds(text: &str, wanted: &str) -> bool {
    let (text, wanted) = (normal(text), normal(wanted));
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    text.match_indices(&wanted).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !(digit(before) && digit(found.chars().next()) || digit(after) && digit(found.chars().next_back()))
    })
}
