//! Feasts: which days they are in a year, by the sun, by the moon, or by the weekday.

use chrono::{Days, NaiveDate, Weekday};
use icu_calendar::Date;
use icu_calendar::cal::ChineseTraditional;
use icu_calendar::types::Month;

/// When a feast begins, and for how many days people speak of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Feast {
    pub(super) day: FeastDay,
    /// Days that belong to it before its day.
    pub(super) before: u64,
    /// Days that belong to it after its day.
    pub(super) after: u64,
}

/// The day of a year that a feast is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FeastDay {
    /// Month and day.
    Solar(u8, u8),
    /// Month and day of the Chinese calendar's year that begins in this one.
    Lunar(u8, u8),
    /// The so-manieth weekday of a month.
    Nth(u8, u8, Weekday),
    /// Easter Sunday.
    Easter,
}

impl Feast {
    /// Its first and its last day in the year that begins on the first of January `year`; what belongs to the Chinese
    /// year's last month falls into the next one.
    pub(super) fn in_year(self, year: i32) -> Option<(NaiveDate, NaiveDate)> {
        let day = match self.day {
            FeastDay::Solar(month, day) => NaiveDate::from_ymd_opt(year, month.into(), day.into()),
            FeastDay::Lunar(month, day) => lunar(year, month, day),
            FeastDay::Nth(nth, month, weekday) => {
                NaiveDate::from_weekday_of_month_opt(year, month.into(), weekday, nth)
            }
            FeastDay::Easter => easter(year),
        }?;
        Some((day.checked_sub_days(Days::new(self.before))?, day.checked_add_days(Days::new(self.after))?))
    }
}

/// A day of the Chinese calendar, never of a leap month.
pub(super) fn lunar(year: i32, month: u8, day: u8) -> Option<NaiveDate> {
    // Far from our time the calendar is computed, slowly, and nobody asks.
    if !(1900..=2100).contains(&year) {
        return None;
    }
    let date = Date::try_new(year.into(), Month::new(month), day, ChineseTraditional::new()).ok()?;
    NaiveDate::from_num_days_from_ce_opt(i32::try_from(date.to_rata_die().to_i64_date()).ok()?)
}

/// Easter Sunday by the Gregorian computus (Meeus, Jones and Butcher).
fn easter(year: i32) -> Option<NaiveDate> {
    let golden = year.rem_euclid(19);
    let (century, in_century) = (year.div_euclid(100), year.rem_euclid(100));
    let moon = (century - (century + 8) / 25 + 1).div_euclid(3);
    let epact = (19 * golden + century - century / 4 - moon + 15).rem_euclid(30);
    let weekday = (32 + 2 * (century % 4) + 2 * (in_century / 4) - epact - in_century % 4).rem_euclid(7);
    let late = (golden + 11 * epact + 22 * weekday) / 451;
    let days = epact + weekday - 7 * late + 114;
    NaiveDate::from_ymd_opt(year, (days / 31) as u32, (days % 31 + 1) as u32)
}

#[cfg(test)]
mod tests {
    use chrono::Datelike;

    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn feasts_of_the_moon_are_on_the_days_people_kept_them() {
        for (year, new_year, dragon_boat, mid_autumn) in [
            (2015, "02-19", "06-20", "09-27"),
            (2017, "01-28", "05-30", "10-04"),
            (2020, "01-25", "06-25", "10-01"),
            (2023, "01-22", "06-22", "09-29"),
            (2024, "02-10", "06-10", "09-17"),
            (2025, "01-29", "05-31", "10-06"),
            (2026, "02-17", "06-19", "09-25"),
            (2033, "01-31", "06-01", "09-08"),
            (2040, "02-12", "06-14", "09-20"),
        ] {
            for ((month, of_month), expected) in
                [((1, 1), new_year), ((5, 5), dragon_boat), ((8, 15), mid_autumn)]
            {
                assert_eq!(lunar(year, month, of_month), Some(day(&format!("{year}-{expected}"))));
            }
        }
    }

    #[test]
    fn easter_moves_by_the_moon_too() {
        for expected in ["2018-04-01", "2019-04-21", "2024-03-31", "2025-04-20", "2026-04-05", "2038-04-25"] {
            assert_eq!(easter(day(expected).year()), Some(day(expected)));
        }
    }

    #[test]
    fn what_is_no_day_of_that_calendar_is_none() {
        assert_eq!(lunar(2025, 13, 1), None);
        assert_eq!(lunar(2025, 1, 31), None);
        assert_eq!(lunar(999_999, 1, 1), None);
    }
}
