//! Which days a text speaks of: dates and their parts, feasts and seasons, and what is so long ago, in Chinese and in
//! English, seen from the day on which it is said.
//!
//! Rules (`chinese`, `chinese_feasts`, `english`) read the small pieces that days are named by; pieces that stand side by side make
//! one name (上个月 + 5号, "last" + "Tuesday"), and a name and a day make a [`Span`]. What only looks like a time
//! (五一路, 3号楼, "may I") is left alone: a day too few costs less than a wrong one.

mod chinese;
mod chinese_feasts;
mod english;
mod feast;
mod frame;
mod scan;
#[cfg(test)]
mod tests;

use chrono::{Datelike, NaiveDate};

pub use feast::Feast;

use frame::{Frame, shift};

use super::segment;

/// Days that a text names, first and last included.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// The first day; of what repeats, of the time that is nearest to the day of asking.
    pub first: NaiveDate,
    /// The last day, never before the first.
    pub last: NaiveDate,
    /// Whether the same days of other months or years are meant as well, because none was named.
    pub repeats: Repeats,
    /// How sure it is that these days are meant, above 0 and up to 1: 0.5 for a day without a month, 0.7 for feasts
    /// and seasons.
    pub sureness: f64,
    /// Whether it was named by its distance from the day of asking (昨天, "last March").
    pub relative: bool,
}

/// How what was named comes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// It was named whole.
    Never,
    /// On the same days of each month: 5号.
    Monthly,
    /// On the same days of each year: 3月.
    Yearly,
    /// When the feast comes again: 春节.
    Feast(Feast),
}

/// How long the named time is; the words differ in how exact they are as it grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Precision {
    /// One day.
    Day,
    /// Up to nine days: a week, a weekend, a feast.
    Week,
    /// Up to eleven: a third of a month.
    Third,
    /// Up to 31.
    Month,
    /// Up to half a year: a season, a quarter.
    Season,
    /// Longer.
    Year,
}

/// The days that `text` names, said on the day `today`, in the order they are said.
///
/// A day inside a longer span of the same text (2月…2月10日) makes the longer one half as sure.
pub fn find(text: &str, today: NaiveDate) -> Vec<Span> {
    let mut spans: Vec<Span> =
        named(&segment::normalise(text), today).into_iter().map(|named| named.span).collect();
    let all = spans.clone();
    for span in &mut spans {
        if all.iter().any(|other| other.length() < span.length() && span.gap(other.first, other.last) == 0) {
            span.sureness *= NARROWED;
        }
    }
    spans
}

/// The text, normalised, with the days that it names by their distance from `today` written as dates.
///
/// A question cut into words then finds what 上周三 was by the words of that day: +8 R@5 where relative days are asked for
/// (103 dated questions of lifebench, rewritten). Today and the days beside it stay as they are: people mention them in
/// passing, and their words cost 1.6 R@5 on madial, where nobody asks for a day.
pub fn spell_out(text: &str, today: NaiveDate) -> String {
    let mut text = segment::normalise(text);
    for Named { start, end, span } in named(&text, today).into_iter().rev() {
        let day = span.first;
        let meant = span.relative && span.precision() == Precision::Day && span.sureness == 1.0;
        if meant && span.distance(today) > 1 {
            text.replace_range(start..end, &format!(" {}月{}日 ", day.month(), day.day()));
        }
    }
    text
}

/// What a day in a longer span leaves of the longer one's sureness.
const NARROWED: f64 = 0.5;

/// A span and where it is named in the normalised text.
pub(in crate::memory) struct Named {
    pub start: usize,
    pub end: usize,
    pub span: Span,
}

pub(in crate::memory) fn named(text: &str, today: NaiveDate) -> Vec<Named> {
    let mut found: Vec<Named> = Vec::new();
    let frames = scan::frames(text);
    let dated = frames.iter().any(|found| !found.frame.is_bare_weekday());
    for found_frame in frames {
        let scan::Found { start, end, frame, until } = found_frame;
        // 周一到周五 are habits, and so is the weekday in 我一月通常在周三晚上打球.
        if frame.is_bare_weekday() && (dated || until.is_some()) {
            continue;
        }
        let spans = match until {
            Some(until) => range(&frame, until, today).into_iter().collect(),
            None => frame.spans(today),
        };
        found.extend(spans.into_iter().map(|span| Named { start, end, span }));
    }
    found
}

/// From the first day of one to the last day of the other.
fn range(from: &Frame, mut until: Frame, today: NaiveDate) -> Option<Span> {
    until.inherit(from);
    let (from, mut until) = (*from.spans(today).first()?, *until.spans(today).first()?);
    if until.last < from.first && from.repeats != Repeats::Never {
        until.last = shift(until.last, 12)?;
    }
    (from.first <= until.last).then_some(Span {
        last: until.last,
        sureness: from.sureness.min(until.sureness),
        ..from
    })
}

impl Span {
    fn once((first, last): (NaiveDate, NaiveDate)) -> Self {
        Self { first, last, repeats: Repeats::Never, sureness: 1.0, relative: false }
    }

    fn relative(days: (NaiveDate, NaiveDate)) -> Self {
        Self { relative: true, ..Self::once(days) }
    }

    /// How many days it has, at least one.
    pub fn length(&self) -> i64 {
        (self.last - self.first).num_days() + 1
    }

    /// How exact it is, by its length.
    pub fn precision(&self) -> Precision {
        match self.length() {
            ..=1 => Precision::Day,
            2..=9 => Precision::Week,
            10..=11 => Precision::Third,
            12..=31 => Precision::Month,
            32..=184 => Precision::Season,
            _ => Precision::Year,
        }
    }

    /// How many days `day` is away from it, 0 within; from the nearest of its times if it repeats.
    pub fn distance(&self, day: NaiveDate) -> i64 {
        self.gap(day, day)
    }

    /// How many days lie between it and other days, 0 if they have one in common; from the nearest of its times if it
    /// repeats.
    pub fn gap(&self, first: NaiveDate, last: NaiveDate) -> i64 {
        let here = gap((self.first, self.last), (first, last));
        let years = first.year() - self.first.year();
        let months = 12 * years + first.month() as i32 - self.first.month() as i32;
        let again = [-1, 0, 1].into_iter().filter_map(|step| match self.repeats {
            Repeats::Never => None,
            Repeats::Monthly => self.months_on(months + step),
            Repeats::Yearly => self.months_on(12 * (years + step)),
            Repeats::Feast(feast) => feast.in_year(first.year() + step),
        });
        again.map(|days| gap(days, (first, last))).fold(here, i64::min)
    }

    /// The same days of another month: a month stays whole, and a day that the other one does not have is none.
    fn months_on(&self, months: i32) -> Option<(NaiveDate, NaiveDate)> {
        let (first, mut last) = (shift(self.first, months)?, shift(self.last, months)?);
        let ends_a_month = self.last.succ_opt().is_none_or(|next| next.day() == 1);
        if ends_a_month && self.length() > 1 {
            last = shift(last.with_day(1)?, 1)?.pred_opt()?;
        }
        (first.day() == self.first.day()).then_some((first, last))
    }
}

fn gap(a: (NaiveDate, NaiveDate), b: (NaiveDate, NaiveDate)) -> i64 {
    (b.0 - a.1).num_days().max((a.0 - b.1).num_days()).max(0)
}
