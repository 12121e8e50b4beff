//! What a name of days is put together from, and which days that is.

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};

use super::feast::{Feast, FeastDay, lunar};
use super::{Repeats, Span};

/// Seasons and feasts are meant as a time, or as what they are like; "a few days" are two or seven.
const VAGUE: f64 = 0.7;
/// A day of the month alone says little.
const BARE_DAY: f64 = 0.5;
/// A weekday alone is the last one, or a habit.
const BARE_WEEKDAY: f64 = 0.7;
/// "Last Tuesday" is said of the last one there was, and of the one in last week.
const OTHER_READING: f64 = 0.7;

/// The parts of a name of days. Rules read one or two of them; what stands side by side is joined.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Frame {
    pub year: Option<Year>,
    pub month: Option<Month>,
    /// Days of a month, from and to.
    pub days: Option<(u32, u32)>,
    pub part: Option<Part>,
    pub week: Option<On>,
    pub weekday: Option<InWeek>,
    pub feast: Option<Feast>,
    /// Day and month of the Chinese calendar.
    pub lunar: Option<(u8, u8)>,
    /// "Last", "this" or "next", before what follows: −1, 0, 1.
    pub turn: Option<i32>,
    /// Days from today, from and to.
    pub offset: Option<(i64, i64)>,
    /// Means nothing alone: a season, a bare number that could be a year.
    pub needs_company: bool,
    /// What the words leave open, as a factor.
    pub doubt: Option<f64>,
}

/// A distance in units from now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct On {
    pub count: i32,
    /// "Two weeks ago" is about that long ago; "last week" is that week.
    pub about: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Year {
    Named(i32),
    On(On),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Month {
    /// Months of a year: the first, and how many; a season, a quarter and a half are such.
    Named {
        first: u32,
        count: u32,
    },
    On(On),
}

/// Of a month its thirds; of a year its beginning, middle and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InWeek {
    Day(Weekday),
    Weekend,
}

/// What time is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    /// So many days, roughly.
    fn days(self) -> i64 {
        match self {
            Self::Day => 1,
            Self::Week => 7,
            Self::Month => 30,
            Self::Year => 365,
        }
    }
}

type FirstLast = (NaiveDate, NaiveDate);

/// Either of two, unless there are both.
fn one<T>(a: Option<T>, b: Option<T>) -> Option<Option<T>> {
    if a.is_some() && b.is_some() { None } else { Some(a.or(b)) }
}

impl Frame {
    /// A season, by its first month; what is meant without a year is not said.
    pub(super) fn season(first: u32) -> Self {
        let month = Some(Month::Named { first, count: 3 });
        Self { month, needs_company: true, doubt: Some(VAGUE), ..Self::default() }
    }

    /// The first to the fourth quarter of a year.
    pub(super) fn quarter(number: u32) -> Option<Self> {
        let first = (1..=4).contains(&number).then_some(3 * number)? - 2;
        Some(Self { month: Some(Month::Named { first, count: 3 }), ..Self::default() })
    }

    /// A feast, with so many days before and after its day.
    pub(super) fn feast(day: FeastDay, before: u64, after: u64) -> Self {
        Self { feast: Some(Feast { day, before, after }), doubt: Some(VAGUE), ..Self::default() }
    }

    /// Days from today, from and to.
    pub(super) fn offset(from: i64, to: i64) -> Self {
        Self { offset: Some((from.min(to), from.max(to))), ..Self::default() }
    }

    /// The same, not quite sure.
    pub(super) fn vaguely(self) -> Self {
        Self { doubt: Some(VAGUE), ..self }
    }

    /// At least and at most so many units ago (`sign` −1) or from now (1).
    pub(super) fn away((least, most): (i64, i64), unit: Unit, sign: i32) -> Option<Self> {
        let days = unit.days() * i64::from(sign);
        if least != most {
            return Some(Self::offset(least * days, most * days).vaguely());
        }
        let on = On { count: i32::try_from(least).ok()?.checked_mul(sign)?, about: true };
        Some(match unit {
            Unit::Day => Self::offset(least * days, least * days),
            Unit::Week => Self { week: Some(on), ..Self::default() },
            Unit::Month => Self { month: Some(Month::On(on)), ..Self::default() },
            Unit::Year => Self { year: Some(Year::On(on)), ..Self::default() },
        })
    }

    /// Half a unit ago or from now.
    pub(super) fn half(unit: Unit, sign: i32) -> Option<Self> {
        match unit {
            Unit::Year => Self::away((6, 6), Unit::Month, sign),
            Unit::Month => Self::away((2, 2), Unit::Week, sign),
            Unit::Week | Unit::Day => None,
        }
    }

    /// The last units up to today.
    pub(super) fn lasting(count: i64, unit: Unit) -> Self {
        Self::offset(-count * unit.days(), 0).vaguely()
    }

    /// The two read as one name; `None` if they name two things.
    pub(super) fn join(self, next: Self) -> Option<Self> {
        let weeks = |frame: &Self| frame.week.is_some();
        let months = |frame: &Self| frame.month.is_some() || frame.days.is_some();
        let only_weekday = |frame: &Self| Self { weekday: None, ..*frame } == Self::default();
        let apart = (weeks(&self) && months(&next))
            || (months(&self) && weeks(&next))
            || (self.offset.is_some() && !only_weekday(&next))
            || (next.offset.is_some() && !only_weekday(&self))
            || next.turn.is_some()
            || !self.is_company_for(&next)
            || !next.is_company_for(&self);
        if apart {
            return None;
        }
        Some(Self {
            year: one(self.year, next.year)?,
            month: one(self.month, next.month)?,
            days: one(self.days, next.days)?,
            part: one(self.part, next.part)?,
            week: one(self.week, next.week)?,
            weekday: one(self.weekday, next.weekday)?,
            feast: one(self.feast, next.feast)?,
            lunar: one(self.lunar, next.lunar)?,
            turn: self.turn,
            offset: one(self.offset, next.offset)?,
            needs_company: false,
            doubt: self.doubt.or(next.doubt),
        })
    }

    /// Whether `other`, if it means nothing alone, means something beside this: a season and what is also a word or a
    /// person (May) only with a year, or after "last" and "next".
    fn is_company_for(&self, other: &Self) -> bool {
        let named = other.month.is_some() || other.feast.is_some();
        !(other.needs_company && named) || self.year.is_some() || self.turn.is_some() || self.part.is_some()
    }

    /// Fills in from a frame before it, of the same list or range, what this one leaves out.
    pub(super) fn inherit(&mut self, from: &Self) {
        if self.days.is_some() && self.month.is_none() {
            self.month = from.month;
        }
        if (self.month.is_some() || self.feast.is_some()) && self.year.is_none() {
            self.year = from.year;
            self.turn = self.turn.or(from.turn);
        }
        if self.weekday.is_some() && self.week.is_none() && from.weekday.is_some() {
            self.week = from.week;
            self.turn = self.turn.or(from.turn);
        }
    }

    /// Whether it is a weekday and nothing else.
    pub(super) fn is_bare_weekday(&self) -> bool {
        self.weekday.is_some() && *self == Self { weekday: self.weekday, ..Self::default() }
    }

    /// Whether it is a day of a month that is not said.
    pub(super) fn is_bare_day(&self) -> bool {
        self.days.is_some() && self.month.is_none() && self.year.is_none()
    }

    /// The days that it names on the day `today`.
    pub(super) fn spans(&self, today: NaiveDate) -> Vec<Span> {
        let mut spans: Vec<Span> = self.span(today).into_iter().collect();
        if let (Some(turn @ (-1 | 1)), Some(InWeek::Day(weekday)), None) =
            (self.turn, self.weekday, self.week)
        {
            let other = in_week(today, turn, InWeek::Day(weekday));
            let other = other.filter(|(first, _)| spans.iter().all(|span| span.first != *first));
            spans.extend(other.map(|days| Span { sureness: OTHER_READING, ..Span::relative(days) }));
        }
        for span in &mut spans {
            span.sureness *= self.doubt.unwrap_or(1.0);
        }
        spans
    }

    fn span(&self, today: NaiveDate) -> Option<Span> {
        if self.needs_company {
            return None;
        }
        if let Some((from, to)) = self.offset {
            return Some(Span::relative((plus(today, from)?, plus(today, to)?)));
        }
        if let Some(feast) = self.feast {
            return self.of_a_year(today, Repeats::Feast(feast), |year| feast.in_year(year));
        }
        if let Some((month, day)) = self.lunar {
            return self
                .of_a_year(today, Repeats::Never, |year| lunar(year, month, day).map(|day| (day, day)));
        }
        match self.month {
            Some(Month::Named { first, count }) => {
                return self.of_a_year(today, Repeats::Yearly, |year| {
                    self.in_months(NaiveDate::from_ymd_opt(year, first, 1)?, count)
                });
            }
            Some(Month::On(on)) => return self.months_on(today, on).map(Span::relative),
            None => {}
        }
        if self.week.is_some() || self.weekday.is_some() {
            return self.of_a_week(today);
        }
        match self.year {
            Some(Year::Named(year)) => Some(Span::once(self.in_year(year)?)),
            Some(Year::On(on)) if on.about && self.part.is_none() => {
                Some(Span::relative(about(shift(today, on.count.checked_mul(12)?)?, 182)?))
            }
            Some(Year::On(on)) => Some(Span::relative(self.in_year(today.year().checked_add(on.count)?)?)),
            None => self.of_any_month(today),
        }
    }

    /// What recurs from year to year: in the year that is said, else in the one where it is nearest to today.
    fn of_a_year(
        &self,
        today: NaiveDate,
        repeats: Repeats,
        in_year: impl Fn(i32) -> Option<FirstLast>,
    ) -> Option<Span> {
        let this = today.year();
        match (self.year, self.turn) {
            (Some(Year::Named(year)), _) => in_year(year).map(Span::once),
            (Some(Year::On(on)), _) => in_year(this.checked_add(on.count)?).map(Span::relative),
            (None, Some(-1)) => {
                let ended = [this, this - 1, this - 2].into_iter().filter_map(in_year);
                ended.filter(|(_, last)| *last < today).map(Span::relative).next()
            }
            (None, Some(0)) => in_year(this).map(Span::relative),
            (None, Some(_)) => {
                let coming = [this, this + 1, this + 2].into_iter().filter_map(in_year);
                coming.filter(|(first, _)| *first > today).map(Span::relative).next()
            }
            (None, None) => {
                let near = [this, this - 1, this + 1].into_iter().filter_map(in_year).map(Span::once);
                let nearest = near.min_by_key(|span| span.distance(today))?;
                Some(Span { repeats, ..nearest })
            }
        }
    }

    fn months_on(&self, today: NaiveDate, on: On) -> Option<FirstLast> {
        if on.about && self.days.is_none() && self.part.is_none() {
            return about(shift(today, on.count)?, 15);
        }
        self.in_months(shift(today.with_day(1)?, on.count)?, 1)
    }

    /// The named days of a month, the named third of it, or the whole of `count` months.
    fn in_months(&self, first: NaiveDate, count: u32) -> Option<FirstLast> {
        let end = shift(first, i32::try_from(count).ok()?)?.pred_opt()?;
        match (self.days, self.part) {
            (Some((from, to)), _) => Some((first.with_day(from)?, first.with_day(to)?)),
            (None, Some(Part::Start)) => Some((first, first.with_day(10)?)),
            (None, Some(Part::Middle)) => Some((first.with_day(11)?, first.with_day(20)?)),
            (None, Some(Part::End)) => Some((end.with_day(21)?, end)),
            (None, None) => Some((first, end)),
        }
    }

    fn in_year(&self, year: i32) -> Option<FirstLast> {
        let (first, last) = match self.part {
            None => (1, 12),
            Some(Part::Start) => (1, 3),
            Some(Part::Middle) => (5, 8),
            Some(Part::End) => (10, 12),
        };
        let first_of_last = NaiveDate::from_ymd_opt(year, last, 1)?;
        Some((NaiveDate::from_ymd_opt(year, first, 1)?, shift(first_of_last, 1)?.pred_opt()?))
    }

    fn of_a_week(&self, today: NaiveDate) -> Option<Span> {
        let days = match (self.week, self.weekday, self.turn) {
            (Some(on), None, _) if on.about => about(plus(today, 7 * i64::from(on.count))?, 3)?,
            (Some(on), None, _) => {
                let monday = monday(today, on.count)?;
                (monday, plus(monday, 6)?)
            }
            (Some(on), Some(within), _) => in_week(today, on.count, within)?,
            (None, Some(within), Some(0)) => in_week(today, 0, within)?,
            (None, Some(InWeek::Weekend), Some(turn)) => in_week(today, turn, InWeek::Weekend)?,
            (None, Some(within), Some(1)) => {
                [0, 1].into_iter().filter_map(|on| in_week(today, on, within)).find(|days| days.0 > today)?
            }
            (None, Some(within), turn) => {
                let ago = [0, -1].into_iter().filter_map(|on| in_week(today, on, within));
                let days = ago.into_iter().find(|days| days.1 < today)?;
                let sureness = if turn.is_some() { 1.0 } else { BARE_WEEKDAY };
                return Some(Span { sureness, ..Span::relative(days) });
            }
            (None, None, _) => return None,
        };
        Some(Span::relative(days))
    }

    /// A day, or a part, of a month that is not named: of the one where it is nearest to today.
    fn of_any_month(&self, today: NaiveDate) -> Option<Span> {
        if self.days.is_none() && self.part.is_none() {
            return None;
        }
        let this = today.with_day(1)?;
        let months = [0, -1, 1].into_iter().filter_map(|on| self.in_months(shift(this, on)?, 1));
        let nearest = months.map(Span::once).min_by_key(|span| span.distance(today))?;
        Some(Span { sureness: BARE_DAY, repeats: Repeats::Monthly, ..nearest })
    }
}

/// The Monday of the week that is so many weeks from that of `today`.
fn monday(today: NaiveDate, weeks: i32) -> Option<NaiveDate> {
    plus(today, 7 * i64::from(weeks) - i64::from(today.weekday().num_days_from_monday()))
}

fn in_week(today: NaiveDate, weeks: i32, within: InWeek) -> Option<FirstLast> {
    let monday = monday(today, weeks)?;
    match within {
        InWeek::Day(weekday) => {
            let day = plus(monday, weekday.num_days_from_monday().into())?;
            Some((day, day))
        }
        InWeek::Weekend => Some((plus(monday, 5)?, plus(monday, 6)?)),
    }
}

/// `day` and `around` days to either side.
fn about(day: NaiveDate, around: i64) -> Option<FirstLast> {
    Some((plus(day, -around)?, plus(day, around)?))
}

/// `days` after `day`.
pub(super) fn plus(day: NaiveDate, days: i64) -> Option<NaiveDate> {
    let count = Days::new(days.unsigned_abs());
    if days < 0 { day.checked_sub_days(count) } else { day.checked_add_days(count) }
}

/// `months` after `day`; the last day of a shorter month where it has no such day.
pub(super) fn shift(day: NaiveDate, months: i32) -> Option<NaiveDate> {
    let count = Months::new(months.unsigned_abs());
    if months < 0 { day.checked_sub_months(count) } else { day.checked_add_months(count) }
}
