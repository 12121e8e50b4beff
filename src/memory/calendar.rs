//! ISO weeks: what a rollup is of, and how it is named.

use std::fmt;
use std::str::FromStr;

use chrono::{Datelike, Days, NaiveDate, Weekday};

/// An ISO week with its ISO year: 2026-12-28 to 2027-01-03 is week 53 of 2026.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Week {
    monday: NaiveDate,
}

/// A text that names no week.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no week: write the ISO year and week, such as 2026-W11")]
pub struct WeekError(String);

impl Week {
    /// The week that `day` lies in.
    pub fn of(day: NaiveDate) -> Self {
        let monday = day.checked_sub_days(Days::new(u64::from(day.weekday().num_days_from_monday())));
        Self { monday: monday.unwrap_or(day) }
    }

    /// Its Monday.
    pub fn monday(self) -> NaiveDate {
        self.monday
    }

    /// Its Sunday.
    pub fn sunday(self) -> NaiveDate {
        self.monday.checked_add_days(Days::new(6)).unwrap_or(self.monday)
    }

    /// Monday to Sunday, as dates of the calendar: never 7×24 hours.
    pub fn days(self) -> impl Iterator<Item = NaiveDate> {
        self.monday.iter_days().take(7)
    }

    /// Whether `day` lies in it.
    pub fn holds(self, day: NaiveDate) -> bool {
        Self::of(day) == self
    }

    /// The week before.
    pub fn previous(self) -> Self {
        Self::of(self.monday.pred_opt().unwrap_or(self.monday))
    }

    /// The week after.
    pub fn next(self) -> Self {
        Self::of(self.sunday().succ_opt().unwrap_or(self.monday))
    }

    /// `2026-53`, as its page is named.
    pub fn stem(self) -> String {
        let week = self.monday.iso_week();
        format!("{:04}-{:02}", week.year(), week.week())
    }
}

impl fmt::Display for Week {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let week = self.monday.iso_week();
        write!(f, "{:04}-W{:02}", week.year(), week.week())
    }
}

impl FromStr for Week {
    type Err = WeekError;

    /// Reads `2026-W11`, `2026-w11` and the page's own `2026-11`.
    fn from_str(text: &str) -> Result<Self, WeekError> {
        let number =
            |text: &str| text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
        let parts = text.trim().split_once('-').and_then(|(year, week)| {
            let week = week.strip_prefix(['W', 'w']).unwrap_or(week);
            let sound = year.len() == 4 && (1..=2).contains(&week.len());
            sound.then_some((number(year)?, number(week)?))
        });
        parts
            .and_then(|(year, week)| NaiveDate::from_isoywd_opt(year as i32, week, Weekday::Mon))
            .map(|monday| Self { monday })
            .ok_or_else(|| WeekError(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn the_last_days_of_a_year_belong_to_the_iso_year() {
        for (date, week, file) in [
            ("2026-12-27", "2026-W52", "2026-52"),
            ("2026-12-28", "2026-W53", "2026-53"),
            ("2027-01-03", "2026-W53", "2026-53"),
            ("2027-01-04", "2027-W01", "2027-01"),
            ("2024-12-30", "2025-W01", "2025-01"),
            ("2025-12-29", "2026-W01", "2026-01"),
            ("2028-12-31", "2028-W52", "2028-52"),
        ] {
            let found = Week::of(day(date));
            assert_eq!((found.to_string().as_str(), found.stem().as_str()), (week, file), "{date}");
            assert_eq!(week.parse(), Ok(found));
            assert_eq!(file.parse(), Ok(found));
        }
    }

    #[test]
    fn a_week_is_seven_dates_and_neighbours_touch() {
        let week = Week::of(day("2027-01-01"));
        let days: Vec<_> = week.days().collect();
        assert_eq!((days.len(), days[0], days[6]), (7, day("2026-12-28"), day("2027-01-03")));
        assert_eq!((week.monday(), week.sunday()), (days[0], days[6]));
        assert!(days.iter().all(|day| week.holds(*day)) && !week.holds(day("2027-01-04")));
        assert_eq!(week.next().to_string(), "2027-W01");
        assert_eq!((week.previous().to_string(), week.next().previous()), ("2026-W52".to_owned(), week));
    }

    #[test]
    fn what_names_no_week_is_refused_by_name() {
        for wrong in
            ["", "2026", "2026-W54", "2027-W53", "2026-W00", "26-W01", "2026-W1a", "+026-W1", "2026-03-13"]
        {
            assert_eq!(wrong.parse::<Week>(), Err(WeekError(wrong.to_owned())));
        }
    }
}
