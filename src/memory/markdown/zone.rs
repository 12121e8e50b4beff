//! Written zones, and their times on the user's clock.

use chrono::{NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone};
use chrono_tz::Tz;

use super::cursor::{Cursor, at_latin_boundary};

/// A written zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Zone {
    /// Minutes east of Greenwich.
    East(i32),
    Named(Tz),
}

/// Zones by their letters, in minutes east. CST is China's and America's: it converts nothing.
const ZONES: &[(&str, Option<i32>)] = &[
    ("UTC", Some(0)),
    ("GMT", Some(0)),
    ("CST", None),
    ("PST", Some(-480)),
    ("PDT", Some(-420)),
    ("EST", Some(-300)),
    ("EDT", Some(-240)),
    ("CET", Some(60)),
    ("CEST", Some(120)),
    ("JST", Some(540)),
];

impl Zone {
    /// A day and time of this zone on the clock of `zone`; `None` for a time that its clocks jumped over.
    pub fn local(self, day: NaiveDate, time: NaiveTime, zone: Tz) -> Option<NaiveDateTime> {
        let there = day.and_time(time);
        let utc = match self {
            Self::East(minutes) => there.checked_sub_signed(TimeDelta::minutes(i64::from(minutes)))?,
            Self::Named(written) => written.from_local_datetime(&there).earliest()?.naive_utc(),
        };
        Some(zone.from_utc_datetime(&utc).naive_local())
    }
}

/// `GMT+8`, `UTC`, `PDT`, `Asia/Shanghai`, `Z`, `+08:00`, in brackets or not.
pub(super) fn zone(at: &mut Cursor<'_>) -> Option<Zone> {
    let mut ahead = *at;
    if ahead.eat('Z') && at_latin_boundary(ahead) {
        *at = ahead;
        return Some(Zone::East(0));
    }
    ahead = *at;
    ahead.spaces();
    let bracket = ahead.eat('(');
    let (zone, mut ahead) = lettered(ahead).or_else(|| named(ahead)).or_else(|| offset(*at))?;
    if !bracket || ahead.eat(')') {
        *at = ahead;
        return zone;
    }
    None
}

/// A zone by its letters, perhaps with an offset.
fn lettered(at: Cursor<'_>) -> Option<(Option<Zone>, Cursor<'_>)> {
    ZONES.iter().find_map(|(letters, minutes)| {
        let mut ahead = at;
        if !ahead.eat_word(letters) {
            return None;
        }
        let base = (*minutes).map(Zone::East);
        if let Some((offset, ahead)) = numeric(ahead) {
            return Some((offset, ahead));
        }
        at_latin_boundary(ahead).then_some((base, ahead))
    })
}

/// `+8`, `-07:00`.
fn numeric(mut at: Cursor<'_>) -> Option<(Option<Zone>, Cursor<'_>)> {
    let sign = at.eat_any(&['+', '-'])?;
    let (hours, _) = at.number(1, 2).filter(|(hours, _)| *hours <= 14)?;
    let mut ahead = at;
    let minutes = match ahead.eat(':').then(|| ahead.number(2, 2)).flatten() {
        Some((minutes, _)) => {
            at = ahead;
            minutes
        }
        None => 0,
    };
    let east = i32::try_from(hours * 60 + minutes).ok()?;
    at_latin_boundary(at).then_some((Some(Zone::East(if sign == '-' { -east } else { east })), at))
}

/// `+08:00` right behind a time. Behind `-` it could be the end of a range.
fn offset(at: Cursor<'_>) -> Option<(Option<Zone>, Cursor<'_>)> {
    let mut ahead = at;
    ahead.eat('+').then_some(())?;
    ahead.number(2, 2)?;
    ahead.eat(':').then(|| numeric(at)).flatten()
}

/// A zone by its name in the zone database.
fn named(at: Cursor<'_>) -> Option<(Option<Zone>, Cursor<'_>)> {
    let rest = at.0.trim_start_matches(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '_'));
    let name = at.0.strip_suffix(rest).filter(|name| name.contains('/'))?;
    Some((Some(Zone::Named(name.parse().ok()?)), Cursor(rest)))
}
