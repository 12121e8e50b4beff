//! Dates and times as people write them: both clocks, parts of the day, ranges, zones, full-width characters.

use chrono::{NaiveDate, NaiveTime, Timelike};

use super::cursor::{Cursor, at_boundary, at_latin_boundary};
use super::zone::{Zone, zone};

/// When something was, as far as one place of a note says.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Stamp {
    pub day: Option<NaiveDate>,
    pub time: Option<NaiveTime>,
    /// The zone the time is written in.
    pub zone: Option<Zone>,
    /// The part of the day, such as 下午.
    pub part: Option<Part>,
    /// Whether the hour may be one of twelve: no leading zero, and nothing beside it says which half.
    pub vague: bool,
}

/// A part of the day, by what it does to the hours of a twelve-hour clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Night,
    Morning,
    Noon,
    Afternoon,
    Evening,
}

/// Where a stamp stands: a heading may say more loosely when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Line,
    /// With the year that `5月6日` falls in.
    Heading(Option<i32>),
}

const PARTS: &[(&str, Part)] = &[
    ("凌晨", Part::Night),
    ("半夜", Part::Night),
    ("清晨", Part::Morning),
    ("早上", Part::Morning),
    ("早晨", Part::Morning),
    ("早间", Part::Morning),
    ("上午", Part::Morning),
    ("中午", Part::Noon),
    ("午间", Part::Noon),
    ("下午", Part::Afternoon),
    ("午后", Part::Afternoon),
    ("傍晚", Part::Afternoon),
    ("晚上", Part::Evening),
    ("晚间", Part::Evening),
    ("夜里", Part::Evening),
    ("深夜", Part::Evening),
    ("Morning", Part::Morning),
    ("Noon", Part::Noon),
    ("Afternoon", Part::Afternoon),
    ("Evening", Part::Evening),
];

const WEEKDAYS: &[&str] = &[
    "周一",
    "周二",
    "周三",
    "周四",
    "周五",
    "周六",
    "周日",
    "周天",
    "星期一",
    "星期二",
    "星期三",
    "星期四",
    "星期五",
    "星期六",
    "星期日",
    "星期天",
    "礼拜一",
    "礼拜二",
    "礼拜三",
    "礼拜四",
    "礼拜五",
    "礼拜六",
    "礼拜天",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "Mon",
    "Tues",
    "Tue",
    "Wed",
    "Thurs",
    "Thur",
    "Thu",
    "Fri",
    "Sat",
    "Sun",
];

/// What stands between a stamp and the text.
const SEPARATORS: &[char] =
    &['-', '–', '—', '―', '－', '~', '～', ':', '：', '|', '｜', ',', '，', '、', '·'];

impl Part {
    /// The time meant by `time` on a twelve-hour clock.
    fn apply(self, time: NaiveTime) -> NaiveTime {
        let hour = time.hour();
        let meant = match (self, hour) {
            (Self::Night | Self::Evening, 12) => 0,
            (Self::Noon, 1..=3) | (Self::Afternoon, 1..=11) | (Self::Evening, 5..=11) => hour + 12,
            _ => hour,
        };
        time.with_hour(meant).unwrap_or(time)
    }
}

impl Stamp {
    /// The time, read as one of the part of the day that a heading names if it may be one.
    pub fn time_in(&self, part: Option<Part>) -> Option<NaiveTime> {
        match part {
            Some(part) if self.vague => self.time.map(|time| part.apply(time)),
            _ => self.time,
        }
    }

    /// Takes over what `later` says and this does not.
    pub fn fill(&mut self, later: Self) {
        self.day = self.day.or(later.day);
        if self.time.is_none() {
            (self.time, self.zone, self.vague) = (later.time, later.zone, later.vague);
        }
        self.part = self.part.or(later.part);
    }
}

/// The stamp that a line begins with, and the text behind it. A date that no sign divides from the text stays in it.
pub(super) fn leading(text: &str) -> Option<(Stamp, String)> {
    const WRAPS: &[(&str, &str)] = &[
        ("**", "**"),
        ("__", "__"),
        ("[", "]"),
        ("【", "】"),
        ("（", "）"),
        ("(", ")"),
        ("`", "`"),
        ("", ""),
    ];
    let (open, close, inner) =
        WRAPS.iter().find_map(|(open, close)| Some((*open, *close, text.strip_prefix(open)?)))?;
    let (stamp, rest) = parse(inner, Place::Line)?;
    let unclosed_bold = matches!(open, "**" | "__");
    let (rest, reopen) = match rest.strip_prefix(close) {
        Some(rest) => (rest, ""),
        None if unclosed_bold => (rest, open),
        None => return None,
    };
    let (mut after, divided) = skip_separators(rest);
    let mut reopen = reopen;
    if let Some(rest) = after.strip_prefix(reopen).filter(|_| !reopen.is_empty()) {
        (after, reopen) = (rest.trim_start(), "");
    }
    let named = divided || !open.is_empty() || after.is_empty();
    if stamp.time.is_none() && !named {
        return rest.starts_with(char::is_whitespace).then(|| (stamp, text.to_owned()));
    }
    Some((stamp, format!("{reopen}{after}")))
}

/// The stamp that `text` is, if it is nothing else.
pub(super) fn whole(text: &str) -> Option<Stamp> {
    let text = text.trim_matches(|c: char| c == '*' || c.is_whitespace());
    parse(text, Place::Line).filter(|(_, rest)| rest.trim().is_empty()).map(|(stamp, _)| stamp)
}

/// Drops white space and the signs that divide a stamp from the text; tells whether there were any signs.
pub(super) fn skip_separators(text: &str) -> (&str, bool) {
    let mut text = text.trim_start();
    let mut divided = false;
    while let Some(rest) = text.strip_prefix(SEPARATORS) {
        // A minus belongs to its number.
        if divided || (text.starts_with('-') && rest.starts_with(|c: char| c.is_ascii_digit())) {
            break;
        }
        divided = true;
        // —— is one sign.
        text = rest.trim_start_matches(['—', '-']).trim_start();
    }
    (text, divided)
}

/// Reads one stamp at the start of `text`; the rest begins right behind it.
pub(super) fn parse(text: &str, place: Place) -> Option<(Stamp, &str)> {
    let mut at = Cursor(text);
    let mut stamp = Stamp { day: date(&mut at, place), ..Stamp::default() };
    let after_day = at;
    if stamp.day.is_some() {
        at.eat('T');
        weekday(&mut at);
        at.spaces();
    }
    let part = part(&mut at);
    at.spaces();
    if let Some(mut clock) = clock(&mut at, place) {
        stamp.zone = zone(&mut at);
        if let Some(end) = range(&mut at, place) {
            clock.halve_like(&end);
            stamp.zone = stamp.zone.or_else(|| zone(&mut at));
        }
        stamp.time = Some(part.map_or(clock.time, |part| part.apply(clock.time)));
        stamp.vague = clock.vague && part.is_none();
        stamp.part = part;
        return Some((stamp, at.0));
    }
    if stamp.day.is_none() && place != Place::Line && part.is_some() && at_boundary(at) {
        return Some((Stamp { part, ..stamp }, at.0));
    }
    stamp.day?;
    let mut at = after_day;
    weekday(&mut at);
    Some((stamp, at.0))
}

/// A weekday with its brackets, anywhere in a heading.
pub(super) fn skip_weekday(text: &str) -> Option<&str> {
    let mut at = Cursor(text);
    weekday(&mut at).then_some(at.0)
}

/// `2026-05-06`, `2026/5/6`, `2026.05.06`, `2026年5月6日`; in a heading also `5月6日`.
fn date(at: &mut Cursor<'_>, place: Place) -> Option<NaiveDate> {
    let mut ahead = *at;
    let day = match ahead.number(4, 4) {
        Some((year, _)) => {
            let sign = ahead.eat_any(&['-', '/', '.', '年'])?;
            let (month, _) = ahead.number(1, 2)?;
            let sign_again = ahead.eat_any(&['-', '/', '.', '月'])?;
            if (sign == '年') != (sign_again == '月') || (sign != '年' && sign != sign_again) {
                return None;
            }
            let (day, _) = ahead.number(1, 2)?;
            ahead.eat_any(&['日', '号']);
            NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?
        }
        None => {
            let Place::Heading(Some(year)) = place else { return None };
            let (month, _) = ahead.number(1, 2)?;
            ahead.eat_any(&['月'])?;
            let (day, _) = ahead.number(1, 2)?;
            ahead.eat_any(&['日', '号'])?;
            NaiveDate::from_ymd_opt(year, month, day)?
        }
    };
    // `2026-05-06.md` and `2026-05-06-notes` are names.
    let mut behind = ahead;
    let in_name = behind.eat_any(&['-', '.', '_', '/']).is_some() && !at_boundary(behind);
    let goes_on = ahead.peek().is_some_and(|c| c.is_ascii_alphanumeric() && c != 'T');
    (!in_name && !goes_on).then(|| {
        *at = ahead;
        day
    })
}

/// Eats a weekday, in brackets or not, with a comma before it.
fn weekday(at: &mut Cursor<'_>) -> bool {
    let mut ahead = *at;
    ahead.spaces();
    ahead.eat_any(&[',', '，']);
    ahead.spaces();
    let bracket = ahead.eat('(');
    let found = WEEKDAYS.iter().any(|word| {
        let mut word_end = ahead;
        let eaten = word_end.eat_word(word) && at_latin_boundary(word_end);
        if eaten {
            ahead = word_end;
        }
        eaten
    });
    if found && (!bracket || ahead.eat(')')) {
        *at = ahead;
        return true;
    }
    false
}

fn part(at: &mut Cursor<'_>) -> Option<Part> {
    PARTS.iter().find(|(word, _)| at.eat_word(word)).map(|(_, part)| *part)
}

/// A time on a clock, and whether its half of the day is open.
struct Clock {
    time: NaiveTime,
    vague: bool,
    /// `PM` stood beside it.
    after_noon: bool,
}

impl Clock {
    /// In `3:00-4:00 PM` the end says the half for both.
    fn halve_like(&mut self, end: &Self) {
        let later = self.time.with_hour(self.time.hour() + 12);
        if let Some(later) = later.filter(|later| end.after_noon && self.vague && *later <= end.time) {
            self.time = later;
            self.vague = false;
        }
    }
}

/// `14:20`, `9:05:30`, `3:00 PM`; in a heading also `3点半` and `3 PM`.
/// What no clock shows (24:00, 25:61, 3:1) is no time.
fn clock(at: &mut Cursor<'_>, place: Place) -> Option<Clock> {
    let mut ahead = *at;
    let (hour, leading_zero) = ahead.number(1, 2)?;
    let loose = place != Place::Line;
    let (mut minute, mut second, mut needs_half) = (0, 0, false);
    if ahead.eat(':') {
        (minute, _) = ahead.number(2, 2)?;
        if ahead.eat(':') {
            match ahead.number(2, 2) {
                Some((number, _)) => second = number,
                // The colon divides the time from the text.
                None if place == Place::Line => ahead = restart(*at)?,
                None => return None,
            }
        }
    } else if loose && ahead.eat('点') {
        if ahead.eat('半') {
            minute = 30;
        } else if let Some((number, _)) = ahead.number(1, 2) {
            minute = number;
            ahead.eat('分');
        } else {
            ahead.eat('整');
        }
    } else if loose {
        needs_half = true;
    } else {
        return None;
    }
    let half = half(&mut ahead);
    let mut behind = ahead;
    behind.eat('Z');
    if (needs_half && half.is_none()) || !at_latin_boundary(behind) {
        return None;
    }
    let hour_meant = match half {
        Some(true) if hour < 12 => hour + 12,
        Some(false) if hour == 12 => 0,
        _ => hour,
    };
    let time = NaiveTime::from_hms_opt(hour_meant, minute, second)?;
    *at = ahead;
    let vague = half.is_none() && !leading_zero && (1..=12).contains(&hour);
    Some(Clock { time, vague, after_noon: half == Some(true) })
}

/// The place behind `H:MM`, for a colon that turned out to divide.
fn restart(mut at: Cursor<'_>) -> Option<Cursor<'_>> {
    at.number(1, 2)?;
    at.eat(':').then_some(())?;
    at.number(2, 2)?;
    Some(at)
}

/// `AM` (false) or `PM` (true).
fn half(at: &mut Cursor<'_>) -> Option<bool> {
    let mut ahead = *at;
    ahead.spaces();
    let half = [("a.m.", false), ("p.m.", true), ("am", false), ("pm", true)]
        .iter()
        .find(|(word, _)| ahead.eat_word(word))
        .map(|(_, half)| *half)?;
    at_latin_boundary(ahead).then(|| {
        *at = ahead;
        half
    })
}

/// Eats the rest of `10:00-11:30`, of an open `22:00-` and of `15:00+`; gives the end where there is one.
fn range(at: &mut Cursor<'_>, place: Place) -> Option<Clock> {
    if at.eat('+') {
        return None;
    }
    let mut ahead = *at;
    ahead.spaces();
    ahead.eat_any(&['-', '–', '—', '~', '～', '至', '到', '→'])?;
    let open_end = ahead;
    ahead.eat_any(&['-', '—']);
    ahead.spaces();
    let part = part(&mut ahead);
    ahead.spaces();
    if let Some(mut end) = clock(&mut ahead, place) {
        end.time = part.map_or(end.time, |part| part.apply(end.time));
        *at = ahead;
        return Some(end);
    }
    if open_end.peek().is_none_or(|c| matches!(c, ')' | ']' | '】')) {
        *at = open_end;
    }
    None
}
