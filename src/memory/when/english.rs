//! How days are named in English. The text is lower-case, so that a name of a month that is also a word or a person
//! needs a preposition, a day or a year beside it.

use chrono::Weekday;

use super::feast::FeastDay;
use super::frame::{Frame, InWeek, Month, On, Part, Unit, Year};
use super::scan::{Piece, Rule, number};

/// One, two, three …, in their order.
pub(super) const NUMBERS: &[&str] =
    &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];

const COUNT: &str = "([0-9]{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve\
                     |(?:a )?couple of|a few|few|several|half an?)";
const MONTH: &str = "(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?\
                     |sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const DAY: &str = "([0-9]{1,2})(?:st|nd|rd|th)?";
/// The same, where the ending tells that it is a day.
const ORDINAL: &str = "([0-9]{1,2})(?:st|nd|rd|th)";
const START: &str = "(?-u:\\b)";
const END: &str = "(?-u:\\b)";

pub(super) fn rules() -> Vec<Rule> {
    let feasts = FEASTS.iter().map(|(names, day)| Rule::new(whole(names), *day));
    feasts.chain(dates()).chain(turns()).chain(counted()).chain(weekdays_and_days()).collect()
}

/// A pattern that begins and ends with a word.
fn whole(pattern: &str) -> String {
    format!("{START}(?:{pattern}){END}")
}

/// Months with days and years, the fullest first.
fn dates() -> Vec<Rule> {
    vec![
        Rule::new(whole(&format!(r"{MONTH}\.?,? ([0-9]{{4}})")), |piece| {
            Some(Frame { month: Some(month(piece, 1)?), year: Some(year(piece, 2)?), ..Frame::default() })
        }),
        Rule::new(
            whole(&format!(
                r"{MONTH}\.? (?:the )?{DAY} ?(?:-|to|through|until|till) ?(?:the )?{DAY}(?:,? ([0-9]{{4}}))?"
            )),
            |piece| {
                let days = days(piece, 2, 3)?;
                let frame = Frame { month: Some(month(piece, 1)?), days: Some(days), ..Frame::default() };
                Some(Frame { year: year(piece, 4), ..frame })
            },
        ),
        Rule::new(whole(&format!(r"{MONTH}\.? (?:the )?{DAY}(?:,? ([0-9]{{4}}))?")), |piece| {
            let frame =
                Frame { month: Some(month(piece, 1)?), days: Some(days(piece, 2, 2)?), ..Frame::default() };
            Some(Frame { year: year(piece, 3), ..frame })
        })
        .not_before(&[":", "%", " people", " minutes", " hours", " times", " percent"]),
        Rule::new(
            whole(&format!(
                r"{DAY} ?(?:-|to|through|until|till) ?(?:the )?{DAY} (?:of )?{MONTH}(?:,? ([0-9]{{4}}))?"
            )),
            |piece| {
                let days = days(piece, 1, 2)?;
                let frame = Frame { month: Some(month(piece, 3)?), days: Some(days), ..Frame::default() };
                Some(Frame { year: year(piece, 4), ..frame })
            },
        ),
        Rule::new(whole(&format!(r"{DAY} (?:of )?{MONTH}(?:,? ([0-9]{{4}}))?")), |piece| {
            let frame =
                Frame { month: Some(month(piece, 2)?), days: Some(days(piece, 1, 1)?), ..Frame::default() };
            Some(Frame { year: year(piece, 3), ..frame })
        }),
        Rule::new(
            whole(&format!("(?:between|from) {MONTH} (?:and|to|until|till|through) {MONTH}")),
            |piece| {
                let (first, last) = (month_number(piece, 1)?, month_number(piece, 2)?);
                let count = (last + 12).checked_sub(first)? % 12 + 1;
                Some(Frame { month: Some(Month::Named { first, count }), ..Frame::default() })
            },
        )
        .not_before(&[" 0", " 1", " 2", " 3", " 4", " 5", " 6", " 7", " 8", " 9"]),
        Rule::new(whole(MONTH), |piece| {
            let month = Some(month(piece, 1)?);
            Some(Frame { month, needs_company: !is_a_month(piece), ..Frame::default() })
        }),
        Rule::new(whole(&format!("on (?:the )?{ORDINAL}")), |piece| {
            Some(Frame { days: Some(days(piece, 1, 1)?), ..Frame::default() })
        })
        .not_before(&[
            " floor",
            " street",
            " avenue",
            " place",
            " birthday",
            " anniversary",
            " grade",
            " try",
        ]),
        Rule::new(whole("(?:end|close) of (?:the|this) year"), |_| {
            Some(Frame { month: Some(Month::Named { first: 12, count: 1 }), ..Frame::default() }.vaguely())
        }),
        Rule::new(whole("(end|start|beginning|middle) of (?:the|this) month"), |piece| {
            let part = match piece.get(1)? {
                "end" => Part::End,
                "middle" => Part::Middle,
                _ => Part::Start,
            };
            Some(Frame { part: Some(part), ..Frame::default() })
        }),
        Rule::new(
            whole("(early|mid|middle of|late|beginning of|start of|first week of|end of|last week of)"),
            |piece| {
                let part = Some(match piece.get(1)? {
                    "mid" | "middle of" => Part::Middle,
                    "late" | "end of" | "last week of" => Part::End,
                    _ => Part::Start,
                });
                Some(Frame { part, needs_company: true, ..Frame::default() })
            },
        ),
        Rule::new(whole("((?:19|20)[0-9]{2})"), |piece| {
            let said =
                ["in", "since", "of", "during", "from", "year", "until", "before", "after", "by", "back in"];
            let needs_company = !said.iter().any(|word| ends_with_word(piece.before, word));
            Some(Frame { year: Some(year(piece, 1)?), needs_company, ..Frame::default() })
        })
        .not_before(&[".", ":", "/", "-", " people", " words", " tokens", " mb", "%"]),
        Rule::new(whole("q([1-4])"), |piece| Frame::quarter(piece.number(1)?)),
        Rule::new(whole("(first|second|third|fourth) quarter"), |piece| {
            let ordinals = ["first", "second", "third", "fourth"];
            Frame::quarter(
                u32::try_from(ordinals.iter().position(|word| Some(*word) == piece.get(1))?).ok()? + 1,
            )
        }),
        Rule::new(
            whole(
                "(?:(?:back in(?: the)?|over the|during the|that|back) )?(spring|summer|autumn|fall|winter)",
            ),
            |piece| {
                let first = match piece.get(1)? {
                    "spring" => 3,
                    "summer" => 6,
                    "winter" => 12,
                    _ => 9,
                };
                let said = piece.whole() != piece.get(1)?;
                Some(Frame { needs_company: !said, ..Frame::season(first) })
            },
        ),
    ]
}

fn month_number(piece: &Piece, group: usize) -> Option<u32> {
    let name = piece.get(group)?;
    let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    u32::try_from(names.iter().position(|short| name.starts_with(short))?).ok().map(|at| at + 1)
}

fn month(piece: &Piece, group: usize) -> Option<Month> {
    month_number(piece, group).map(|first| Month::Named { first, count: 1 })
}

fn days(piece: &Piece, from: usize, to: usize) -> Option<(u32, u32)> {
    let (from, to) = (piece.number(from)?, piece.number(to)?);
    (1 <= from && from <= to && to <= 31).then_some((from, to))
}

fn year(piece: &Piece, group: usize) -> Option<Year> {
    let year = piece.number(group)?;
    (1900..=2199).contains(&year).then_some(Year::Named(i32::try_from(year).ok()?))
}

fn ends_with_word(text: &str, word: &str) -> bool {
    let before = text.trim_end().strip_suffix(word);
    before.is_some_and(|before| !before.ends_with(|c: char| c.is_ascii_alphanumeric()))
}

/// May, March, April, June and August are also words or names, and so are the short forms.
fn is_a_month(piece: &Piece) -> bool {
    const SURE: &[&str] = &["january", "february", "july", "september", "october", "november", "december"];
    const PREPOSITIONS: &[&str] = &[
        "in", "since", "until", "till", "during", "from", "through", "by", "of", "early", "mid", "late",
        "this", "last", "next", "between", "before", "after", "around", "mid-", "past", "every",
    ];
    let name = piece.whole();
    SURE.contains(&name) || PREPOSITIONS.iter().any(|word| ends_with_word(piece.before, word))
}

/// "Last", "this" and "next", with the units they turn.
fn turns() -> Vec<Rule> {
    vec![
        Rule::new(whole("(week|month|year) before last"), |piece| unit_on(piece.get(1)?, -2)),
        Rule::new(whole("(week|month|year) after next"), |piece| unit_on(piece.get(1)?, 2)),
        Rule::new(
            whole(
                "(last|past|previous|this|current|next|coming) (week|month|year|weekend|quarter|night|morning|afternoon|evening)",
            ),
            |piece| {
                let turn = turn(piece.get(1)?);
                unit_on(piece.get(2)?, turn)
            },
        ),
        Rule::new(whole(&format!("(?:last|past|previous) {COUNT} (day|week|month|year)s?")), |piece| {
            let (_, most) = count(piece.get(1)?)?;
            Some(Frame::lasting(most, unit(piece, 2)?))
        }),
        Rule::new(whole("(last|this|next)"), |piece| {
            Some(Frame { turn: Some(turn(piece.get(1)?)), needs_company: true, ..Frame::default() })
        }),
    ]
}

fn turn(word: &str) -> i32 {
    match word {
        "last" | "past" | "previous" => -1,
        "next" | "coming" => 1,
        _ => 0,
    }
}

fn unit_on(unit: &str, count: i32) -> Option<Frame> {
    let on = On { count, about: false };
    Some(match unit {
        "week" => Frame { week: Some(on), ..Frame::default() },
        "weekend" => Frame { week: Some(on), weekday: Some(InWeek::Weekend), ..Frame::default() },
        "month" => Frame { month: Some(Month::On(on)), ..Frame::default() },
        "year" => Frame { year: Some(Year::On(on)), ..Frame::default() },
        "night" | "morning" | "afternoon" | "evening" if count <= 0 => {
            Frame::offset(count.into(), count.into())
        }
        _ => return None,
    })
}

/// Three days ago, in two weeks.
fn counted() -> Vec<Rule> {
    vec![
        Rule::new(whole(&format!("{COUNT} (day|week|month|year)s? (?:ago|back|before now)")), |piece| {
            away(piece, -1)
        }),
        Rule::new(whole(&format!("{COUNT} (day|week|month|year)s? from now")), |piece| away(piece, 1)),
        Rule::new(whole("the other day"), |_| Some(Frame::offset(-7, -2).vaguely())),
    ]
}

/// How many, at least and at most.
fn count(text: &str) -> Option<(i64, i64)> {
    Some(match text {
        "a" | "an" => (1, 1),
        "couple of" | "a couple of" => (2, 3),
        "a few" | "few" | "several" => (2, 7),
        _ => {
            let number = number(text)?.into();
            (number, number)
        }
    })
}

fn unit(piece: &Piece, group: usize) -> Option<Unit> {
    Some(match piece.get(group)? {
        "day" => Unit::Day,
        "week" => Unit::Week,
        "month" => Unit::Month,
        _ => Unit::Year,
    })
}

/// So many units ago (−1), or from now (1).
fn away(piece: &Piece, sign: i32) -> Option<Frame> {
    match piece.get(1)? {
        "half a" | "half an" => Frame::half(unit(piece, 2)?, sign),
        many => Frame::away(count(many)?, unit(piece, 2)?, sign),
    }
}

fn weekdays_and_days() -> Vec<Rule> {
    vec![
        Rule::new(whole("(?:on )?(mon|tues|wednes|thurs|fri|satur|sun)day"), |piece| {
            let habit = ["every", "each", "most", "any", "and every", "per", "good", "black"];
            let named = !habit.iter().any(|word| ends_with_word(piece.before, word));
            named.then(|| Frame { weekday: weekday(piece.get(1)), ..Frame::default() })
        }),
        Rule::new(whole("the day before yesterday"), |_| on_day(-2)),
        Rule::new(whole("the day after tomorrow"), |_| on_day(2)),
        Rule::new(whole("yesterday"), |_| on_day(-1)),
        Rule::new(whole("today|tonight"), |_| on_day(0)),
        Rule::new(whole("tomorrow"), |_| on_day(1)),
    ]
}

fn on_day(days: i64) -> Option<Frame> {
    Some(Frame::offset(days, days))
}

fn weekday(name: Option<&str>) -> Option<InWeek> {
    Some(InWeek::Day(match name? {
        "mon" => Weekday::Mon,
        "tues" => Weekday::Tue,
        "wednes" => Weekday::Wed,
        "thurs" => Weekday::Thu,
        "fri" => Weekday::Fri,
        "satur" => Weekday::Sat,
        _ => Weekday::Sun,
    }))
}

/// A feast that is also the name of a tree, a card or a song: with a preposition, a year, or a word of time.
fn said_as_a_time(piece: &Piece, frame: Option<Frame>) -> Option<Frame> {
    let before = [
        "over", "at", "during", "on", "last", "this", "next", "since", "until", "before", "after", "around",
        "by", "for",
    ];
    let behind =
        [" day", " eve", " holiday", " break", " time", " morning", " dinner", " party", " week", "?"];
    let thing =
        [" tree", " card", " carol", " song", " cake", " sweater", " jumper", " gift", " present", " market"];
    let said = before.iter().any(|word| ends_with_word(piece.before, word))
        || behind.iter().any(|word| piece.after.starts_with(word));
    if thing.iter().any(|word| piece.after.starts_with(word)) {
        return None;
    }
    Some(Frame { needs_company: !said, ..frame? })
}

fn feast(day: FeastDay, before: u64, after: u64) -> Option<Frame> {
    Some(Frame::feast(day, before, after))
}

type FeastRow = (&'static str, fn(&Piece) -> Option<Frame>);

#[rustfmt::skip]
const FEASTS: &[FeastRow] = &[
    ("(?:chinese|lunar) new year(?:'s)?(?: day)?|(?:the )?spring festival", |_| feast(FeastDay::Lunar(1, 1), 1, 6)),
    ("(?:the )?lantern festival", |_| feast(FeastDay::Lunar(1, 15), 0, 0)),
    ("(?:the )?dragon boat festival", |_| feast(FeastDay::Lunar(5, 5), 1, 1)),
    ("(?:the )?mid-autumn(?: festival)?", |_| feast(FeastDay::Lunar(8, 15), 1, 1)),
    ("(?:the )?qingming(?: festival)?", |_| feast(FeastDay::Solar(4, 5), 1, 1)),
    ("new year's eve", |_| feast(FeastDay::Solar(12, 31), 0, 0)),
    ("new year's day|new year's", |_| feast(FeastDay::Solar(1, 1), 0, 0)),
    ("valentine's day", |_| feast(FeastDay::Solar(2, 14), 0, 0)),
    ("easter", |piece| said_as_a_time(piece, feast(FeastDay::Easter, 2, 1))),
    ("mother's day", |_| feast(FeastDay::Nth(2, 5, Weekday::Sun), 0, 0)),
    ("father's day", |_| feast(FeastDay::Nth(3, 6, Weekday::Sun), 0, 0)),
    ("independence day|(?:the )?fourth of july", |_| feast(FeastDay::Solar(7, 4), 0, 0)),
    ("national day", |_| feast(FeastDay::Solar(10, 1), 0, 6)),
    ("halloween", |piece| said_as_a_time(piece, feast(FeastDay::Solar(10, 31), 0, 0))),
    ("thanksgiving", |piece| said_as_a_time(piece, feast(FeastDay::Nth(4, 11, Weekday::Thu), 0, 1))),
    ("christmas eve", |_| feast(FeastDay::Solar(12, 24), 0, 0)),
    ("christmas(?: day)?", |piece| said_as_a_time(piece, feast(FeastDay::Solar(12, 25), 1, 1))),
];
