//! What tells one statement from another: its words, its numbers, its names, whether it denies.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use regex::Regex;

use crate::memory::segment::{self, Language};

/// What a statement holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Features {
    /// The words it is found by, without stop words.
    pub words: BTreeSet<String>,
    /// Numbers, times, versions, addresses: whatever holds a digit.
    pub numbers: BTreeSet<String>,
    /// What is counted, with its number: a number of days contradicts another number of days, not one of hours.
    pub measures: BTreeSet<(String, String)>,
    /// Identifiers, foreign words in Chinese text, capitalised words in English, quoted names.
    pub names: BTreeSet<String>,
    /// Names of persons and places, as far as the dictionary knows them.
    pub people: BTreeSet<String>,
    /// Of numbers and names those that hold now: what two statements about one thing have in common.
    pub anchors: BTreeSet<String>,
    /// Whether it denies or forbids.
    pub negated: bool,
    /// Whether it is in Chinese.
    pub chinese: bool,
}

const NEGATIONS: &[&str] = &[
    "不", "没", "无", "未", "别", "非", "勿", "莫", "not", "no", "never", "none", "without", "n't", "cannot",
];
/// Denied only in form.
const NOT_NEGATIONS: &[&str] = &[
    "别再",
    "别忘",
    "别踩",
    "不要忘",
    "don't forget",
    "never forget",
    "不过",
    "不错",
    "不同",
    "特别",
    "别的",
    "分别",
    "not only",
    "无线",
    "无锡",
    "非常",
    "未来",
];

impl Features {
    /// What `text` holds.
    pub fn of(text: &str) -> Self {
        let chinese = Language::of(text) == Language::Chinese;
        let normal = segment::normalise(text);
        let mut features =
            Self { words: segment::query(text).into_iter().collect(), chinese, ..Self::default() };
        let plain = text.replace(['：', '，'], " ");
        for token in tokens().find_iter(&plain) {
            let raw = token.as_str().trim_end_matches(['.', ':', '-', '/', '+', '@']);
            let sentence_start = token.start() == 0;
            let after = plain.get(token.start() + raw.len()..).unwrap_or_default();
            features.token(raw, sentence_start, after);
        }
        for found in numerals().captures_iter(&normal) {
            let number = found.get(1).and_then(|found| numeral(found.as_str()));
            let unit = found.get(2).map(|unit| unit.as_str().chars().take(1).collect::<String>());
            features.measures.extend(unit.zip(number.clone()));
            features.numbers.extend(number);
        }
        for found in quoted().captures_iter(text) {
            features.names.extend(found.iter().skip(1).flatten().map(|name| name.as_str().to_lowercase()));
        }
        for found in weekdays().captures_iter(&normal) {
            let day = found.get(1).and_then(|day| "一二三四五六日".find(day.as_str()));
            features.names.extend(WEEKDAYS.get(day.map_or(6, |at| at / 3)).map(|day| (*day).to_owned()));
        }
        for tag in segment::jieba().tag(&normal, true) {
            if matches!(tag.tag, "nr" | "nrt" | "nrfg" | "ns" | "nt") && tag.word.chars().nth(1).is_some() {
                features.people.insert(tag.word.to_owned());
            }
        }
        features.anchors =
            features.values().filter(|value| value.chars().nth(1).is_some()).cloned().collect();
        let mut bare = normal;
        for word in NOT_NEGATIONS {
            bare = bare.replace(word, "");
        }
        let spaced = format!(" {} ", bare.replace(|c: char| !c.is_alphanumeric() && c != '\'', " "));
        features.negated = NEGATIONS.iter().any(|no| {
            if no.is_ascii() && *no != "n't" {
                spaced.contains(&format!(" {no} "))
            } else {
                spaced.contains(no)
            }
        });
        features
    }

    fn token(&mut self, raw: &str, sentence_start: bool, after: &str) {
        let lower = raw.to_lowercase();
        if raw.contains(|c: char| c.is_ascii_digit()) {
            // 20GB is 20 GB, 08:00 is 8:00.
            let number = match lower.find(|c: char| c.is_ascii_alphabetic() || c == '%') {
                Some(at) if at > 0 && lower.chars().skip(at).all(|c| c.is_ascii_alphabetic() || c == '%') => {
                    lower.get(..at).unwrap_or(&lower)
                }
                _ => &lower,
            };
            let number = match number.strip_prefix('0') {
                Some(rest) if rest.contains(':') && !rest.starts_with(':') => rest,
                _ => number,
            };
            let number = number.trim_end_matches('-').to_owned();
            self.measures.insert((unit(&lower, &number, after), number.clone()));
            self.numbers.insert(number);
        } else if raw.chars().nth(1).is_some() {
            let joined = raw.contains(['/', '.', '_', '~']) || raw.contains('-') && self.chinese;
            let capital = raw.chars().next().is_some_and(char::is_uppercase);
            let inner = raw.chars().skip(1).any(char::is_uppercase);
            if joined || self.chinese || inner || (capital && !sentence_start) {
                let weekday = WEEKDAYS.iter().find(|day| lower.trim_end_matches('s') == **day);
                self.names.insert(weekday.map_or(lower, |day| (*day).to_owned()));
            }
        }
    }

    /// Numbers and names together.
    pub fn values(&self) -> impl Iterator<Item = &String> {
        self.numbers.iter().chain(&self.names)
    }

    /// Whether it names or numbers anything.
    pub fn is_specific(&self) -> bool {
        !self.numbers.is_empty() || !self.names.is_empty()
    }
}

/// What a number counts: the word behind it, or what its form says.
fn unit(token: &str, number: &str, after: &str) -> String {
    if let Some(unit) = token.strip_prefix(number).filter(|unit| !unit.is_empty()) {
        return unit.to_owned();
    }
    let form = [(':', "time"), ('/', "path"), ('_', "name")].into_iter().find(|(c, _)| number.contains(*c));
    if let Some((_, form)) = form {
        return form.to_owned();
    }
    if number.matches('.').count() == 3 {
        return "address".to_owned();
    }
    let after = after.trim_start();
    match after.chars().next() {
        Some(c) if c.is_ascii_alphabetic() => {
            after.chars().take_while(char::is_ascii_alphabetic).collect::<String>().to_lowercase()
        }
        Some(c) if c.is_alphabetic() || matches!(c, '%' | '°') => c.to_string(),
        _ => String::new(),
    }
}

/// 十二 as 12; `None` for 一, which mostly is an article.
fn numeral(text: &str) -> Option<String> {
    let digit = |c: char| match c {
        '两' => Some(2),
        c => "零一二三四五六七八九".chars().position(|d| d == c),
    };
    let (mut sum, mut last) = (0, 0);
    for c in text.chars() {
        match c {
            '十' => (sum, last) = (sum + last.max(1) * 10, 0),
            '百' => (sum, last) = (sum + last.max(1) * 100, 0),
            '千' => (sum, last) = (sum + last.max(1) * 1000, 0),
            c => last = digit(c)?,
        }
    }
    let number = sum + last;
    (number > 1).then(|| number.to_string())
}

fn tokens() -> &'static Regex {
    static TOKENS: OnceLock<Regex> = OnceLock::new();
    TOKENS.get_or_init(|| super::expression(r"[A-Za-z0-9~/][A-Za-z0-9_./:~+@%-]*"))
}

fn numerals() -> &'static Regex {
    static NUMERALS: OnceLock<Regex> = OnceLock::new();
    NUMERALS.get_or_init(|| {
        super::expression(r"([零一二三四五六七八九十百千两]+)(年|个|天|章|次|条|点|小时|月|号|周|组|张|字|步|桌|元|块|楼|层|岁|人|份|批|台|套|公里|米|斤|克|度)")
    })
}

/// The same in both languages, so that 每周二 and "Tuesdays" meet.
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

fn weekdays() -> &'static Regex {
    static DAYS: OnceLock<Regex> = OnceLock::new();
    DAYS.get_or_init(|| super::expression("(?:周|星期|礼拜|、)([一二三四五六日天])(?:$|[^个次年月天、]|、)"))
}

fn quoted() -> &'static Regex {
    static QUOTED: OnceLock<Regex> = OnceLock::new();
    QUOTED.get_or_init(|| super::expression(r"「([^」]{1,20})」|《([^》]{1,20})》|『([^』]{1,20})』"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn numbers_and_names_are_found_in_chinese() {
        let features = Features::of("《山海》定为十二章，放在 ~/book/v3.4，08:00 由 backup-tool 上传 20GB");
        assert_eq!(features.numbers, set(&["12", "20", "8:00", "~/book/v3.4"]));
        assert_eq!(features.names, set(&["backup-tool", "山海"]));
        let measures: Vec<(&str, &str)> =
            features.measures.iter().map(|(unit, number)| (unit.as_str(), number.as_str())).collect();
        assert_eq!(measures, [("gb", "20"), ("path", "~/book/v3.4"), ("time", "8:00"), ("章", "12")]);
        assert!(features.chinese && !features.negated);
    }

    #[test]
    fn capitals_are_names_in_english_but_not_at_the_start() {
        let features = Features::of("Gloves from Harrow are stored in /srv/gloves, 8 boxes");
        assert_eq!(features.names, set(&["harrow", "/srv/gloves"]));
        assert_eq!(features.numbers, set(&["8"]));
    }

    #[test]
    fn a_denial_is_told_from_words_that_look_like_one() {
        assert!(Features::of("他不吃辣").negated && Features::of("no sugar in the tea").negated);
        assert!(!Features::of("天气不错，别忘了带伞").negated && !Features::of("another note").negated);
    }
}
