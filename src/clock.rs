//! The only place that reads the wall clock, and the one function that knows the user's day.
//!
//! Everything else is handed a [`Clock`], so that tests own the time and a changed zone is noticed at the next decision.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

/// Where the user's zone comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Zone {
    /// The system's zone, read again each time it is asked for, because people travel.
    System,
    /// A zone fixed by configuration.
    Fixed(Tz),
}

/// A source of time together with the user's zone.
#[derive(Debug, Clone)]
pub struct Clock {
    source: Source,
    zone: Zone,
}

#[derive(Debug, Clone)]
enum Source {
    System,
    /// The system's clock, so many milliseconds ahead.
    Shifted(i64),
    Manual(Arc<Manual>),
}

/// A clock moved by hand.
#[derive(Debug)]
struct Manual {
    /// Milliseconds since the epoch.
    millis: AtomicI64,
    /// Where the user went, if anywhere.
    zone: Mutex<Option<Tz>>,
}

impl Clock {
    /// The real clock.
    pub fn system(zone: Zone) -> Self {
        Self { source: Source::System, zone }
    }

    /// The real clock, moved so that it shows `start` now and runs on from there.
    pub fn starting_at(start: DateTime<Utc>, zone: Zone) -> Self {
        Self { source: Source::Shifted((start - Utc::now()).num_milliseconds()), zone }
    }

    /// Whether this is not the real time.
    pub fn is_for_tests(&self) -> bool {
        !matches!(self.source, Source::System)
    }

    /// A clock that stands still at `now` until [`Clock::set`] moves it; clones move together.
    pub fn manual(now: DateTime<Utc>, zone: Zone) -> Self {
        let manual = Manual { millis: AtomicI64::new(now.timestamp_millis()), zone: Mutex::default() };
        Self { source: Source::Manual(Arc::new(manual)), zone }
    }

    /// Moves a manual clock. The system clock is nobody's to move: there it does nothing.
    pub fn set(&self, now: DateTime<Utc>) {
        if let Source::Manual(manual) = &self.source {
            manual.millis.store(now.timestamp_millis(), Ordering::SeqCst);
        }
    }

    /// Takes a manual clock to another zone, as a traveller does with the system's.
    pub fn travel(&self, zone: Tz) {
        if let Source::Manual(manual) = &self.source {
            *manual.zone.lock().unwrap_or_else(PoisonError::into_inner) = Some(zone);
        }
    }

    /// This instant.
    pub fn now(&self) -> DateTime<Utc> {
        match &self.source {
            Source::System => Utc::now(),
            Source::Shifted(millis) => Utc::now() + TimeDelta::milliseconds(*millis),
            Source::Manual(manual) => {
                DateTime::from_timestamp_millis(manual.millis.load(Ordering::SeqCst)).unwrap_or_default()
            }
        }
    }

    /// The user's zone: the configured one, else the system's, else UTC.
    pub fn zone(&self) -> Tz {
        if let Source::Manual(manual) = &self.source
            && let Some(zone) = *manual.zone.lock().unwrap_or_else(PoisonError::into_inner)
        {
            return zone;
        }
        match self.zone {
            Zone::Fixed(zone) => zone,
            Zone::System => system_zone(),
        }
    }

    /// `at` on the user's wall clock.
    pub fn local(&self, at: DateTime<Utc>) -> NaiveDateTime {
        at.with_timezone(&self.zone()).naive_local()
    }

    /// The instant at which the user's wall clock shows `local`: the first of two where clocks go back, and the same
    /// distance from midnight UTC where they skip it.
    pub fn instant(&self, local: NaiveDateTime) -> DateTime<Utc> {
        self.zone().from_local_datetime(&local).earliest().map_or_else(|| local.and_utc(), |at| at.to_utc())
    }

    /// The instant at which the user's `day` is over.
    pub fn end_of(&self, day: NaiveDate) -> DateTime<Utc> {
        self.instant(day.succ_opt().unwrap_or(day).and_time(NaiveTime::MIN))
    }

    /// The user's day now.
    pub fn today(&self) -> NaiveDate {
        self.local(self.now()).date()
    }
}

/// The system's zone; UTC where the system names none or one that the zone database does not know.
fn system_zone() -> Tz {
    iana_time_zone::get_timezone().ok().and_then(|name| name.parse().ok()).unwrap_or(Tz::UTC)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_is_the_zones_not_utcs() {
        let late = DateTime::parse_from_rfc3339("2026-03-13T16:30:00Z").unwrap().to_utc();
        let clock = Clock::manual(late, Zone::Fixed(chrono_tz::Asia::Shanghai));
        assert_eq!(clock.today(), NaiveDate::from_ymd_opt(2026, 3, 14).unwrap());
        clock.set(DateTime::parse_from_rfc3339("2026-03-13T15:59:59Z").unwrap().to_utc());
        assert_eq!(clock.clone().today(), NaiveDate::from_ymd_opt(2026, 3, 13).unwrap());
    }
}
