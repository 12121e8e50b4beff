//! Which runs are due: decided anew each time from the schedule, the user's wall clock and what is on record.
//!
//! Schedules are followed on the wall clock, as people mean them. A time that the clocks skip (by an hour in spring, by
//! a whole day where a zone changes sides of the date line) is over as soon as they have skipped it; a time that they
//! show twice counts the first time. So nothing is kept about what comes next, and a machine that slept, a daemon that
//! was stopped, a clock that was set and a user who travels are all one case: the next decision is right.

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Days, NaiveDate, NaiveDateTime, NaiveTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;
use croner::Cron;
use croner::parser::{CronParser, Seconds};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::calendar::Week;

/// How long before its end a week may be rolled up: Sunday 23:59 is meant for the week that ends, and so is a time on
/// Sunday evening; a time before Sunday noon is meant for the week before.
const EARLIEST: TimeDelta = TimeDelta::hours(12);

/// The longest that clocks ever skip is a day; this is what is searched for the end of a gap.
const LONGEST_GAP_MINUTES: i64 = 2 * 24 * 60;

/// The jobs that the calendar runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum JobKind {
    /// The page of a week.
    Rollup,
    /// Forgetting what nobody needs.
    Sweep,
}

impl JobKind {
    /// `rollup` or `sweep`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rollup => "rollup",
            Self::Sweep => "sweep",
        }
    }
}

/// How a run ended, or that it has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It began. Where nothing runs any more, it was cut short and is begun again.
    Running,
    /// It was done, and is not done again.
    Done,
    /// It failed, and is tried again.
    Failed,
    /// It was done by a clock that was ahead, and is done again when its time has come.
    Early,
}

/// One thing to run, with what it is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Job {
    /// Make the page of this week.
    Rollup(Week),
    /// Forget what nobody needs; the day is the one on whose schedule it runs.
    Sweep(NaiveDate),
}

impl Job {
    /// Which job it is.
    pub fn kind(self) -> JobKind {
        match self {
            Self::Rollup(_) => JobKind::Rollup,
            Self::Sweep(_) => JobKind::Sweep,
        }
    }

    /// What it is of: `2026-W11`, or `2026-03-16`. A job runs once for each.
    pub fn period(self) -> String {
        match self {
            Self::Rollup(week) => week.to_string(),
            Self::Sweep(day) => day.to_string(),
        }
    }

    /// The job of that kind and [period](Self::period); `None` where the text is no such period.
    pub fn parse(kind: JobKind, period: &str) -> Option<Self> {
        match kind {
            JobKind::Rollup => period.parse().ok().map(Self::Rollup),
            JobKind::Sweep => period.parse().ok().map(Self::Sweep),
        }
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind().as_str(), self.period())
    }
}

/// A text that is no schedule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is no schedule: six cron fields are needed (second minute hour day month weekday) that some day meets, such as \"0 59 23 * * SUN\""
)]
pub struct ScheduleError(String);

/// Times on the wall clock, as a cron expression of six fields names them.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedule(Cron);

impl FromStr for Schedule {
    type Err = ScheduleError;

    fn from_str(text: &str) -> Result<Self, ScheduleError> {
        let wrong = || ScheduleError(text.to_owned());
        if text.split_whitespace().count() != 6 {
            return Err(wrong());
        }
        let cron = CronParser::builder().seconds(Seconds::Required).build().parse(text);
        let schedule = Self(cron.map_err(|_| wrong())?);
        // The 30th of February parses, and never comes.
        schedule.next(NaiveDateTime::default()).map(|_| schedule).ok_or_else(wrong)
    }
}

impl Schedule {
    /// The last of its times not after `wall`.
    pub fn latest(&self, wall: NaiveDateTime) -> Option<NaiveDateTime> {
        // As if the wall clock were UTC's: it then knows neither gaps nor hours that come twice.
        self.0.find_previous_occurrence(&wall.and_utc(), true).ok().map(|at| at.naive_utc())
    }

    /// The first of its times not before `wall`.
    pub fn next(&self, wall: NaiveDateTime) -> Option<NaiveDateTime> {
        self.0.find_next_occurrence(&wall.and_utc(), true).ok().map(|at| at.naive_utc())
    }
}

/// When the calendar's jobs run.
#[derive(Debug, Clone, PartialEq)]
pub struct Schedules {
    /// The rollup of the week that ends, or ended, around that time.
    pub rollup: Schedule,
    /// The sweep; at most one a day.
    pub sweep: Schedule,
}

impl Schedules {
    /// What is due when the wall clock shows `now`, the oldest first: each week since the one in which `since` lies that
    /// `done` does not know, and one sweep, however many were missed.
    pub fn due(&self, now: NaiveDateTime, since: NaiveDateTime, done: impl Fn(Job) -> bool) -> Vec<Job> {
        let weeks = self.latest_week(now).into_iter().flat_map(|latest| {
            std::iter::successors(Some(Week::of(since.date())), |week| Some(week.next()))
                .take_while(move |week| *week <= latest)
        });
        let sweep = self.sweep.latest(now).filter(|time| *time > since).map(|time| Job::Sweep(time.date()));
        weeks.map(Job::Rollup).chain(sweep).filter(|job| !done(*job)).collect()
    }

    /// The time on the wall clock at which the next rollup falls due that is not due at `now`.
    pub fn next_rollup(&self, now: NaiveDateTime, done: impl Fn(Job) -> bool) -> Option<NaiveDateTime> {
        let after = self.latest_week(now)?.next();
        let mut weeks = std::iter::successors(Some(after), |week| Some(week.next()));
        let open = weeks.find(|week| !done(Job::Rollup(*week)))?;
        self.rollup.next(now.max(end_of(open) - EARLIEST))
    }

    /// The time on the wall clock at which the next sweep falls due that is not due at `now`.
    pub fn next_sweep(&self, now: NaiveDateTime, done: impl Fn(Job) -> bool) -> Option<NaiveDateTime> {
        let mut next = self.sweep.next(now + TimeDelta::seconds(1))?;
        while done(Job::Sweep(next.date())) {
            next = self.sweep.next(midnight(next.date() + Days::new(1)))?;
        }
        Some(next)
    }

    /// The last week whose rollup is due: the last that had ended, or was about to, at the schedule's latest time.
    fn latest_week(&self, now: NaiveDateTime) -> Option<Week> {
        self.rollup.latest(now).map(|time| Week::of((time + EARLIEST).date()).previous())
    }
}

/// The midnight that ends a week.
fn end_of(week: Week) -> NaiveDateTime {
    midnight(week.next().monday())
}

fn midnight(day: NaiveDate) -> NaiveDateTime {
    day.and_time(NaiveTime::MIN)
}

/// The instant from which on the time `wall` is over in the zone: the first of two where clocks show it twice, the end of
/// the gap where they skip it.
pub fn instant(zone: Tz, wall: NaiveDateTime) -> DateTime<Utc> {
    let shown = |wall: NaiveDateTime| zone.from_local_datetime(&wall).earliest().map(|at| at.to_utc());
    let later = || (1..=LONGEST_GAP_MINUTES).find_map(|minutes| shown(wall + TimeDelta::minutes(minutes)));
    shown(wall).or_else(later).unwrap_or_else(|| wall.and_utc())
}
