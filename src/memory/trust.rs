//! Whether the clock can be believed: what deletes by age must not follow a clock that is a year ahead for a minute.
//!
//! Between two looks the wall clock should move as far as the machine ran. Where it moved a day more, or less, it was
//! set, or the machine slept (its running time stands still meanwhile), and the two cannot be told apart. So the clock
//! is doubted until it has held for an hour of running: a wrong clock is mostly put right within minutes of being
//! connected, and a laptop that slept over the weekend loses nothing by waiting.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

/// A step of the clock that is not believed at once.
pub const STEP: TimeDelta = TimeDelta::days(1);
/// How long the machine must run without another such step before the clock is believed again.
pub const HOLD: Duration = Duration::from_secs(60 * 60);

/// What is remembered of the clock from look to look.
#[derive(Debug, Clone)]
pub struct Trust {
    /// The wall clock and the running time at the last look.
    last: Option<(DateTime<Utc>, Duration)>,
    doubt: Option<Doubt>,
}

/// Why the clock is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Doubt {
    /// How far it moved beyond the time that passed; negative where it was set back.
    pub step: TimeDelta,
    /// The running time at which that was seen.
    since: Duration,
}

impl Trust {
    /// At the start of the program; `newest` is the last moment that was believed before.
    pub fn new(newest: Option<DateTime<Utc>>) -> Self {
        Self { last: newest.map(|at| (at, Duration::ZERO)), doubt: None }
    }

    /// Looks at the clock; `running` is how long the program has been running by a clock that nobody can set.
    pub fn look(&mut self, now: DateTime<Utc>, running: Duration) -> Option<Doubt> {
        if let Some((at, then)) = self.last {
            let ran = TimeDelta::from_std(running.saturating_sub(then)).unwrap_or_default();
            let step = (now - at) - ran;
            if step.abs() > STEP {
                self.doubt = Some(Doubt { step, since: running });
            }
        }
        self.last = Some((now, running));
        self.doubt = self.doubt.filter(|doubt| !doubt.left(running).is_zero());
        self.doubt
    }
}

impl Doubt {
    /// How much longer the clock has to hold.
    pub fn left(&self, running: Duration) -> Duration {
        HOLD.saturating_sub(running.saturating_sub(self.since))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    fn at(text: &str) -> DateTime<Utc> {
        DateTime::parse_from_rfc3339(text).unwrap().to_utc()
    }

    #[test]
    fn a_clock_that_moves_as_time_passes_is_believed() {
        let mut trust = Trust::new(None);
        let start = at("2026-03-13T08:00:00Z");
        for day in 0..30 {
            let passed = Duration::from_secs(86_400 * day);
            assert_eq!(trust.look(start + passed, passed), None);
        }
        let slept_a_night = start + TimeDelta::days(29) + TimeDelta::hours(10);
        assert_eq!(trust.look(slept_a_night, Duration::from_secs(86_400 * 29)), None);
    }

    #[test]
    fn a_step_of_more_than_a_day_is_doubted_until_it_has_held() {
        let now = at("2026-03-13T08:00:00Z");
        for step in [TimeDelta::days(400), TimeDelta::days(-400), TimeDelta::hours(25)] {
            let mut trust = Trust::new(None);
            assert_eq!(trust.look(now, MINUTE), None);
            let doubt = trust.look(now + step, MINUTE).unwrap();
            assert_eq!((doubt.step, doubt.left(MINUTE)), (step, HOLD));
            assert!(trust.look(now + step + HOLD - MINUTE, HOLD).is_some());
            assert_eq!(trust.look(now + step + HOLD, HOLD + MINUTE), None);
            // Put right again, it has to hold once more.
            assert_eq!(trust.look(now + HOLD, HOLD + MINUTE).map(|doubt| doubt.step), Some(-step));
        }
    }

    #[test]
    fn a_second_step_begins_the_waiting_anew() {
        let mut trust = Trust::new(None);
        let now = at("2026-03-13T08:00:00Z");
        trust.look(now, Duration::ZERO);
        trust.look(now + TimeDelta::days(3), MINUTE);
        assert_eq!(
            trust.look(now + TimeDelta::days(9), 50 * MINUTE).map(|d| d.left(50 * MINUTE)),
            Some(HOLD)
        );
        assert!(trust.look(now + TimeDelta::days(9), 70 * MINUTE).is_some());
    }

    #[test]
    fn at_the_start_the_last_believed_moment_is_what_counts() {
        let newest = Some(at("2026-03-13T08:00:00Z"));
        for (now, believed) in [
            ("2026-03-13T08:00:30Z", true),
            ("2026-03-14T07:00:00Z", true),
            ("2026-03-14T09:00:00Z", false),
            ("2027-04-17T08:00:00Z", false),
            ("1970-01-01T00:00:00Z", false),
        ] {
            assert_eq!(Trust::new(newest).look(at(now), Duration::ZERO).is_none(), believed, "{now}");
        }
        assert_eq!(Trust::new(None).look(at("2027-04-17T08:00:00Z"), Duration::ZERO), None);
    }
}
