//! Reading forward over text of both widths.

/// Text being read, in which full-width digits and signs count as their ASCII twins.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a>(pub &'a str);

impl Cursor<'_> {
    pub fn peek(self) -> Option<char> {
        self.0.chars().next().map(|c| match c {
            '０'..='９' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
            '：' => ':',
            '－' => '-',
            '／' => '/',
            '（' => '(',
            '）' => ')',
            c if c.is_whitespace() => ' ',
            c => c,
        })
    }

    pub fn step(&mut self) {
        let mut chars = self.0.chars();
        chars.next();
        self.0 = chars.as_str();
    }

    pub fn eat(&mut self, wanted: char) -> bool {
        self.eat_any(&[wanted]).is_some()
    }

    pub fn eat_any(&mut self, wanted: &[char]) -> Option<char> {
        let found = self.peek().filter(|c| wanted.contains(c))?;
        self.step();
        Some(found)
    }

    /// Eats `word`, whatever its case.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let mut at = *self;
        for wanted in word.chars() {
            match at.0.chars().next() {
                Some(c) if c.eq_ignore_ascii_case(&wanted) => at.step(),
                _ => return false,
            }
        }
        *self = at;
        true
    }

    /// Eats white space, a few characters of it: a heading is tried at every place.
    pub fn spaces(&mut self) {
        for _ in 0..8 {
            if !self.eat(' ') {
                break;
            }
        }
    }

    /// A number of `least` to `most` digits, and whether it begins with a zero.
    pub fn number(&mut self, least: usize, most: usize) -> Option<(u32, bool)> {
        let (mut at, mut value, mut count) = (*self, 0, 0);
        let leading_zero = at.peek() == Some('0');
        while let Some(digit) = at.peek().and_then(|c| c.to_digit(10)) {
            count += 1;
            if count > most {
                return None;
            }
            value = value * 10 + digit;
            at.step();
        }
        (count >= least).then(|| {
            *self = at;
            (value, leading_zero)
        })
    }
}

/// Whether a word could not go on here.
pub(super) fn at_boundary(at: Cursor<'_>) -> bool {
    at.peek().is_none_or(|c| !c.is_alphanumeric())
}

/// Whether Latin letters or digits do not go on here (Chinese may follow at once).
pub(super) fn at_latin_boundary(at: Cursor<'_>) -> bool {
    at.peek().is_none_or(|c| !c.is_ascii_alphanumeric())
}
