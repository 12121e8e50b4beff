//! Text cut into the words it is found by.
//!
//! Documents and questions go through the same cut, so that both sides meet in the same words: lower-case, full-width
//! folded to half-width (NFKC), Chinese by `jieba` as whole words and their parts, English by its stem, identifiers
//! whole and in their parts, dates in one spelling. Two things differ: a question loses its stop words, and a document
//! gains the single characters of its Chinese words, so that 茶 finds 龙井茶.

mod dates;
mod english;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use jieba_rs::Jieba;
use unicode_normalization::UnicodeNormalization;

pub use dates::date_words;
pub(in crate::memory) use dates::number;

/// The most characters of one text that are cut; what follows is not findable by words.
pub const MAX_CHARS: usize = 16_384;
/// The longest word, in characters: a longer one is kept in its parts only.
pub const MAX_WORD_CHARS: usize = 64;
/// The most words of one question; later ones are dropped.
pub const MAX_QUERY_WORDS: usize = 256;

/// The words a document is found by, repeated as often as they occur.
pub fn document(text: &str) -> Vec<String> {
    cut(text, true)
}

/// The distinct words of a question, without stop words, in the order they are said.
///
/// Empty when the question says nothing that words could find (`的`, `???`).
pub fn query(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in cut(text, false) {
        if words.len() == MAX_QUERY_WORDS {
            break;
        }
        if !is_stop_word(&word) && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// What language a text is in, as far as ranking cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Language {
    /// Chinese, and what is written as densely.
    Chinese,
    /// English, and what is written with spaces.
    English,
}

impl Language {
    /// Both, in the order they are stored.
    pub const ALL: [Self; 2] = [Self::Chinese, Self::English];

    /// The language of a text: Chinese if it has as many Chinese characters as words of spaced letters, because
    /// Chinese notes are full of English names and English ones hardly hold a Chinese word.
    pub fn of(text: &str) -> Self {
        let (mut dense, mut spaced, mut in_word) = (0_usize, 0_usize, false);
        for class in text.chars().map(Class::of) {
            dense += usize::from(matches!(class, Class::Han | Class::Dense));
            spaced += usize::from(class == Class::Spaced && !in_word);
            in_word = matches!(class, Class::Spaced | Class::Joint);
        }
        if dense > 0 && dense >= spaced { Self::Chinese } else { Self::English }
    }

    /// `zh` or `en`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Chinese => "zh",
            Self::English => "en",
        }
    }
}

/// The dictionary, loaded when the first text is cut (0.3 s, 32 MB).
pub(in crate::memory) fn jieba() -> &'static Jieba {
    static JIEBA: OnceLock<Jieba> = OnceLock::new();
    JIEBA.get_or_init(Jieba::new)
}

/// Lower-case NFKC without control characters, at most [`MAX_CHARS`] characters long.
pub(in crate::memory) fn normalise(text: &str) -> String {
    text.nfkc()
        .flat_map(char::to_lowercase)
        .map(|c| match c {
            '\u{2018}' | '\u{2019}' => '\'',
            '\u{2010}'..='\u{2014}' => '-',
            c if c.is_control() => ' ',
            c => c,
        })
        .take(MAX_CHARS)
        .collect()
}

fn cut(text: &str, document: bool) -> Vec<String> {
    let mut words = Words { list: Vec::new(), document };
    let rest = dates::spell_dates(&normalise(text), &mut words.list);
    for (class, run) in runs(&rest) {
        match class {
            Class::Han => words.chinese(run),
            Class::Dense => words.dense(run),
            Class::Spaced | Class::Joint => words.identifier(run),
            Class::Picture => words.add(run),
            Class::Gap => {}
        }
    }
    words.list
}

/// What a character is to the cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Chinese characters.
    Han,
    /// Other scripts without spaces between words: kana, Hangul syllables, Thai.
    Dense,
    /// Letters and digits of scripts that put spaces between words.
    Spaced,
    /// What holds identifiers together: `192.168.1.10:8081`, `~/bin/backup.sh`.
    Joint,
    /// An emoji or another pictograph, a word by itself.
    Picture,
    /// Everything else.
    Gap,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            '々' | '〇' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}' => {
                Self::Han
            }
            '.' | '-' | '_' | '/' | '\\' | ':' | '@' | '~' | '+' | '#' | '%' | '&' | '=' | '\'' => {
                Self::Joint
            }
            '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}' => Self::Picture,
            '\u{1e00}'..='\u{1fff}' if c.is_alphanumeric() => Self::Spaced,
            c if !c.is_alphanumeric() => Self::Gap,
            c if c < '\u{e00}' => Self::Spaced,
            _ => Self::Dense,
        }
    }

    /// Whether a character of class `next` continues a run of this class.
    fn continues(self, next: Self) -> bool {
        let identifier = |class| matches!(class, Self::Spaced | Self::Joint);
        self != Self::Picture && (self == next || identifier(self) && identifier(next))
    }
}

/// The maximal runs of one class, with identifiers and their joints in one run.
fn runs(text: &str) -> impl Iterator<Item = (Class, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut chars = rest.char_indices();
        let class = Class::of(chars.next()?.1);
        let end = chars.find(|&(_, c)| !class.continues(Class::of(c))).map_or(rest.len(), |(at, _)| at);
        let (run, tail) = rest.split_at(end);
        rest = tail;
        Some((class, run))
    })
}

struct Words {
    list: Vec<String>,
    document: bool,
}

impl Words {
    fn add(&mut self, word: &str) {
        if !word.is_empty() && word.chars().count() <= MAX_WORD_CHARS {
            self.list.push(word.to_owned());
        }
    }

    fn chinese(&mut self, run: &str) {
        for token in jieba().cut_for_search(run, true) {
            self.add(token.word);
        }
        if self.document {
            for token in jieba().cut(run, true) {
                if token.word.chars().nth(1).is_some() {
                    self.characters(token.word);
                }
            }
        }
    }

    fn characters(&mut self, word: &str) {
        self.list.extend(word.chars().map(String::from));
    }

    /// Pairs of neighbours; a document also has each character, for questions of a single one.
    fn dense(&mut self, run: &str) {
        let chars: Vec<char> = run.chars().collect();
        if chars.len() == 1 || self.document {
            self.characters(run);
        }
        self.list.extend(chars.windows(2).map(|pair| pair.iter().collect()));
    }

    /// The whole, then what lies between its joints: first between `/`, `:` and their like, then between dots,
    /// hyphens and underscores. A dotted number (address, version) is not taken apart further.
    fn identifier(&mut self, run: &str) {
        let whole = run
            .trim_start_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '~' | '/' | '.'))
            .trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '+' | '#' | '%'));
        if !whole.contains(char::is_alphanumeric) {
            return;
        }
        if english::is_word(whole) {
            return self.add(&english::stem(whole));
        }
        self.add(whole);
        for section in whole.split(|c: char| !c.is_alphanumeric() && !matches!(c, '.' | '-' | '_')) {
            let section = section.trim_matches(|c: char| !c.is_alphanumeric());
            if section != whole {
                self.part(section);
            }
            if let Some(number) = section.strip_prefix('v').filter(|rest| is_dotted_number(rest)) {
                self.add(number);
            } else if !is_dotted_number(section) {
                let pieces = section.split(|c: char| !c.is_alphanumeric());
                pieces.filter(|piece| *piece != section).for_each(|piece| self.part(piece));
            }
        }
    }

    fn part(&mut self, part: &str) {
        if english::is_word(part) { self.add(&english::stem(part)) } else { self.add(part) }
    }
}

fn is_dotted_number(text: &str) -> bool {
    text.contains('.')
        && text.split('.').all(|part| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit()))
}

fn is_stop_word(word: &str) -> bool {
    english::is_stop_word(word) || CHINESE_STOP_WORDS.contains(&word)
}

/// Words that hold a Chinese sentence together and say nothing about what it is about.
const CHINESE_STOP_WORDS: &[&str] = &[
    "的",
    "了",
    "着",
    "过",
    "地",
    "得",
    "之",
    "吗",
    "呢",
    "吧",
    "啊",
    "呀",
    "嘛",
    "哦",
    "么",
    "是",
    "在",
    "有",
    "和",
    "与",
    "及",
    "或",
    "而",
    "且",
    "但",
    "也",
    "都",
    "就",
    "才",
    "还",
    "又",
    "再",
    "很",
    "太",
    "被",
    "把",
    "让",
    "给",
    "对",
    "从",
    "到",
    "向",
    "以",
    "于",
    "为",
    "由",
    "这",
    "那",
    "这个",
    "那个",
    "这些",
    "那些",
    "这样",
    "那样",
    "哪",
    "哪个",
    "哪些",
    "哪里",
    "哪儿",
    "什么",
    "怎么",
    "怎样",
    "怎么样",
    "如何",
    "为什么",
    "多少",
    "几",
    "谁",
    "何",
    "我",
    "你",
    "您",
    "他",
    "她",
    "它",
    "我们",
    "你们",
    "他们",
    "她们",
    "咱们",
    "自己",
    "一个",
    "一下",
    "一些",
    "个",
    "以及",
    "因为",
    "所以",
    "如果",
    "但是",
    "然后",
    "可以",
    "是否",
    "有没有",
    "是不是",
    "请问",
    "上",
    "下",
    "里",
    "中",
    "时",
    "会",
    "要",
    "能",
    "说",
];
