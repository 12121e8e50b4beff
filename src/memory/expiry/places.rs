//! Where a sentence names a day, and which day that is for what lasts until then: the coming one.

use std::sync::LazyLock;

use chrono::{Datelike, Days, Months, NaiveDate};
use regex::{Captures, Regex};

use crate::memory::when::{self, Repeats};

/// A time just past is more likely spoken of as past than as next year's.
const JUST_PAST_DAYS: i64 = 90;

/// A name of days in a normalised text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// The last day that it names.
    pub last: NaiveDate,
    /// Whether it is the end of a range of days: 周四到周日.
    pub range: bool,
    /// Whether it names the very day on which it is said: 今天.
    pub today: bool,
}

/// The days that the text names, as far as they can be told; without a day on which it is said, only what is named whole.
pub(super) fn places(text: &str, day: Option<NaiveDate>) -> Vec<Place> {
    let mut found = match day {
        Some(day) => coming(text, day),
        None => Vec::new(),
    };
    for named in when::named(text, day.unwrap_or_default()) {
        let Some(words) = text.get(named.start..named.end) else { continue };
        let whole = named.span.repeats == Repeats::Never && !named.span.relative;
        let last = match day {
            Some(day) => ahead(named.span, day),
            None => whole.then_some(named.span.last),
        };
        let Some(last) = last else { continue };
        let range =
            named.span.first != named.span.last && RANGE.as_ref().is_some_and(|to| to.is_match(words));
        let today = named.span.relative && named.span.first == last && Some(last) == day;
        let place = Place { start: named.start, end: named.end, last, range, today };
        // Of two readings of the same words the longer counts, but for one that looks back.
        let over = day.is_some_and(|day| last < day);
        let overlaps = |other: &Place| other.start < place.end && place.start < other.end;
        let shorter = |other: &Place| !over && other.end - other.start < place.end - place.start;
        if found.iter().all(|other| !overlaps(other) || shorter(other)) {
            found.retain(|other| !overlaps(other));
            found.push(place);
        }
    }
    let names: Vec<(usize, usize)> = found.iter().map(|place| (place.start, place.end)).collect();
    for place in &mut found {
        // Two names with nothing but 到 between them; Tue–Sun are opening hours.
        place.range |= names.iter().any(|(start, end)| {
            let is_to = |between| TO.as_ref().is_some_and(|to| to.is_match(between));
            let whole = text.get(*start..place.end).unwrap_or_default();
            text.get(*end..place.start).is_some_and(is_to)
                && !HOURS.as_ref().is_some_and(|hours| hours.is_match(whole))
        });
    }
    found
}

/// The last day of a span that may have been found in the past although the next one is meant.
fn ahead(span: when::Span, day: NaiveDate) -> Option<NaiveDate> {
    let past = (day - span.last).num_days();
    let months = match span.repeats {
        _ if past <= 0 => 0,
        Repeats::Monthly => 1,
        Repeats::Yearly if past > JUST_PAST_DAYS => 12,
        _ => 0,
    };
    let later = span.last.checked_add_months(Months::new(months))?;
    let whole_month = end_of_month(span.last)? == span.last;
    if whole_month { end_of_month(later) } else { Some(later) }
}

/// Days that are named without saying which: a weekday, the end of the month. Here always the next ones.
fn coming(text: &str, day: NaiveDate) -> Vec<Place> {
    let Some(rules) = COMING.as_ref() else { return Vec::new() };
    let mut found: Vec<Place> = Vec::new();
    for (rule, read) in rules {
        for words in rule.captures_iter(text) {
            let (Some(name), Some(last)) = (words.get(1), read(&words, day)) else { continue };
            if found.iter().all(|other| name.end() <= other.start || other.end <= name.start()) {
                found.push(Place { start: name.start(), end: name.end(), last, range: false, today: false });
            }
        }
    }
    found
}

type Read = fn(&Captures<'_>, NaiveDate) -> Option<NaiveDate>;

static TO: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\s*(?:[到至~〜-]|to|through|thru|until|till)\s*$").ok());

/// Two weekdays joined by a dash.
static HOURS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\s*[~〜–-]\s*(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*$")
        .ok()
});

static RANGE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[到至~〜-]| to | through | thru | until | till ").ok());

/// Each with the name of days as its first group.
static COMING: LazyLock<Option<Vec<(Regex, Read)>>> = LazyLock::new(|| {
    let rules: [(&str, Read); 9] = [
        (
            r"(?:^|[^上下每第几一二三四五六])((?:[这本]个?)?(?:周|星期|礼拜)(?:[一二三四五六日天]|末))",
            |words, day| weekday(&words[1], day),
        ),
        (
            r"\b((?:this |coming |next |last )?(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?)\b",
            |words, day| if words[1].starts_with(['n', 'l']) { None } else { weekday(&words[1], day) },
        ),
        (r"((?:[这本]个?)?月[底末])", |_, day| end_of_month(day)),
        (r"((?:今年|本年)?年[底末])", |_, day| NaiveDate::from_ymd_opt(day.year(), 12, 31)),
        (r"(今[晚夜]|\b(?:tonight|eod|(?:the )?end of (?:the |this )?day)\b)", |_, day| Some(day)),
        (r"\b(eow|(?:the )?end of (?:the |this )?week)\b", |_, day| weekday("日", day)),
        (r"\b(eom|month[- ]end|(?:the )?end of (?:the |this )?month)\b", |_, day| end_of_month(day)),
        (r"\b(eoq|(?:the )?end of (?:the |this )?quarter)\b", |_, day| {
            end_of_month(NaiveDate::from_ymd_opt(day.year(), day.month0() / 3 * 3 + 3, 1)?)
        }),
        (r"\b(eoy|year[- ]end|(?:the )?end of (?:the |this )?year)\b", |_, day| {
            NaiveDate::from_ymd_opt(day.year(), 12, 31)
        }),
    ];
    rules.into_iter().map(|(rule, read)| Some((Regex::new(rule).ok()?, read))).collect()
});

/// The first such weekday from `day` on; a weekend ends on Sunday.
fn weekday(name: &str, day: NaiveDate) -> Option<NaiveDate> {
    const CHINESE: [&[char]; 7] = [&['一'], &['二'], &['三'], &['四'], &['五'], &['六'], &['日', '天', '末']];
    const ENGLISH: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    let chinese = CHINESE.iter().position(|signs| name.ends_with(*signs));
    let wanted = chinese.or_else(|| ENGLISH.iter().position(|short| name.contains(short)))?;
    let ahead = (wanted + 7 - day.weekday().num_days_from_monday() as usize) % 7;
    day.checked_add_days(Days::new(ahead as u64))
}

fn end_of_month(day: NaiveDate) -> Option<NaiveDate> {
    day.with_day(1)?.checked_add_months(Months::new(1))?.pred_opt()
}
