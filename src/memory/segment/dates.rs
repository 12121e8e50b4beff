//! Dates as words: one spelling for every way a date is written, in notes as in questions.
//!
//! A day is found under its parts and as a whole, so that 3月13号, 2026-03-13, "March 13th" and a question that says
//! only 13号 or 3月 meet in the same words. Relative dates (昨天, last Friday) are not resolved here.

use std::sync::OnceLock;

use chrono::{Datelike, NaiveDate};
use regex::{Captures, Regex};

use super::english;

const WEEKDAYS: [(&str, &str); 7] = [
    ("星期一", "monday"),
    ("星期二", "tuesday"),
    ("星期三", "wednesday"),
    ("星期四", "thursday"),
    ("星期五", "friday"),
    ("星期六", "saturday"),
    ("星期日", "sunday"),
];

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The words a day is found by: `2026年`, `3月`, `13日`, `3月13日`, `2026-03-13`, `2026年3月`, `星期五`, `march`, `friday`.
pub fn date_words(day: NaiveDate) -> Vec<String> {
    let (chinese, english) = WEEKDAYS[day.weekday().num_days_from_monday() as usize];
    let mut words = Date { year: Some(day.year()), month: Some(day.month()), day: Some(day.day()) }.words();
    words.extend([format!("{}年{}月", day.year(), day.month()), chinese.to_owned()]);
    words.extend([MONTHS[day.month0() as usize], english].map(english::stem));
    words
}

/// Moves the dates and weekdays of a normalised text into `words`, in one spelling, and returns the text without them.
pub(super) fn spell_dates(text: &str, words: &mut Vec<String>) -> String {
    let mut text = text.to_owned();
    for rule in rules() {
        text = rule
            .replace_all(&text, |found: &Captures| match read(found) {
                Some(spelt) => {
                    words.extend(spelt);
                    format!("{} ", found.name("before").map_or("", |before| before.as_str()))
                }
                None => found[0].to_owned(),
            })
            .into_owned();
    }
    text
}

/// A date of which some parts may not be named.
struct Date {
    year: Option<i32>,
    month: Option<u32>,
    day: Option<u32>,
}

impl Date {
    fn is_possible(&self) -> bool {
        self.month.is_none_or(|month| (1..=12).contains(&month))
            && self.day.is_none_or(|day| (1..=31).contains(&day))
    }

    /// Each part, and the wholes that they make.
    fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.year.map(|year| format!("{year}年")));
        words.extend(self.month.map(|month| format!("{month}月")));
        words.extend(self.day.map(|day| format!("{day}日")));
        if let (Some(month), Some(day)) = (self.month, self.day) {
            words.push(format!("{month}月{day}日"));
            words.extend(self.year.map(|year| format!("{year}-{month:02}-{day:02}")));
        } else if let (Some(year), Some(month)) = (self.year, self.month) {
            words.push(format!("{year}年{month}月"));
        }
        words
    }
}

/// What one match says; `None` if it only looks like a date.
fn read(found: &Captures) -> Option<Vec<String>> {
    let part = |name| found.name(name).map(|part| part.as_str());
    if part("tail").is_some() {
        return None;
    }
    if let Some(weekday) = part("weekday") {
        // 一周五次 counts weeks, it names no Friday.
        let counted = part("before").is_some() && part("week") == Some("周");
        let index = "一二三四五六".chars().position(|c| weekday.starts_with(c)).unwrap_or(6);
        return (!counted).then(|| vec![WEEKDAYS[index].0.to_owned()]);
    }
    let name = part("name").and_then(|name| MONTHS.iter().position(|month| month.starts_with(name)));
    let date = Date {
        year: part("year").and_then(number).map(|year| year as i32),
        month: part("month").and_then(number).or(name.map(|index| index as u32 + 1)),
        day: part("day").and_then(number),
    };
    date.is_possible().then(|| {
        let mut words = date.words();
        words.extend(name.map(|index| english::stem(MONTHS[index])));
        words
    })
}

/// A number in digits or in Chinese numerals: 13, 十三, 二〇二六.
pub(in crate::memory) fn number(text: &str) -> Option<u32> {
    let digit = |c: char| match c {
        '零' => Some(0),
        c => "〇一二三四五六七八九".chars().position(|d| d == c).map(|at| at as u32),
    };
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return text.parse().ok();
    }
    let whole = |part: &str| part.chars().try_fold(0, |number, c| Some(number * 10 + digit(c)?));
    match text.split_once('十') {
        Some((tens, ones)) => Some(if tens.is_empty() { 10 } else { whole(tens)? * 10 } + whole(ones)?),
        None => whole(text),
    }
}

/// The ways dates are written, the fullest first: what one rule took, a later one does not see.
fn rules() -> &'static [Regex] {
    static RULES: OnceLock<Vec<Regex>> = OnceLock::new();
    const NUMBER: &str = r"(?:[0-9]{1,2}|[一二三四五六七八九十]{1,3})";
    const NAME: &str = "(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?\
                        |sep(?:t|tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
    RULES.get_or_init(|| {
        [
            r"(?-u:\b)(?P<year>[0-9]{4})[-/.](?P<month>[0-9]{1,2})[-/.](?P<day>[0-9]{1,2})(?-u:\b)".to_owned(),
            format!(r"(?P<year>[0-9]{{4}}|[〇零一二三四五六七八九]{{4}})\s*年\s*(?:(?P<month>{NUMBER})\s*月(?:份|\s*(?P<day>{NUMBER})\s*[日号])?)?"),
            format!(r"(?P<month>{NUMBER})\s*月(?:份|\s*(?P<day>{NUMBER})\s*[日号])?"),
            // 3号楼, 10号线 and their like are places.
            r"(?P<day>[0-9]{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])号(?P<tail>[楼线馆店门厅院机位床桌房仓车口井台])?".to_owned(),
            r"(?P<day>[0-9]{1,2}|[二三]?十[一二三四五六七八九]?)日".to_owned(),
            r"(?P<before>[一两二三四五六七八九十半几数])?(?P<week>周|星期|礼拜)(?P<weekday>[一二三四五六日天])(?P<tail>[次遍回趟])?".to_owned(),
            format!(r"\b{NAME}\.?\s+(?:the\s+)?(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>[0-9]{{4}})\b)?"),
            format!(r"\b(?P<day>[0-9]{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?{NAME}\b(?:,?\s+(?P<year>[0-9]{{4}})\b)?"),
            format!(r"\b{NAME}\.?,?\s+(?P<year>[0-9]{{4}})\b"),
        ]
        .iter()
        .filter_map(|rule| Regex::new(rule).ok())
        .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_a_valid_expression() {
        assert_eq!(rules().len(), 9);
    }

    #[test]
    fn chinese_numerals_are_numbers() {
        for (text, expected) in
            [("十", 10), ("十三", 13), ("二十", 20), ("三十一", 31), ("七", 7), ("二〇二六", 2026), ("08", 8)]
        {
            assert_eq!(number(text), Some(expected), "{text}");
        }
    }
}
