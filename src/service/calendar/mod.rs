//! The calendar: looks every now and then at what is due, runs it one job at a time, and keeps a record of each run.
//!
//! What a job does is handed in. That it was begun, and how it ended, is durable before anything else happens: a job
//! that was cut short is begun again at the next look, one that failed is tried again later, and one that was done
//! is never done again, but for one that a wrong clock did too early.

#[cfg(test)]
pub(crate) mod simulation;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, TimeDelta, TimeZone, Utc};
use chrono_tz::Tz;

use crate::clock::Clock;
use crate::fault;
use crate::memory::Scope;
use crate::memory::due::{Job, JobKind, Outcome, Schedules, instant};
use crate::memory::trust::{Doubt, Trust};
use crate::store::{Run, Store, StoreError};

/// A failed job is tried again after a minute, then after twice as long each time, and at least once an hour.
const LONGEST_WAIT_MINUTES: i64 = 60;

/// The last moment at which the clock was believed, in the store's settings.
const BELIEVED: &str = "calendar.believed_at";
/// How old that record may become before it is renewed.
const RENEWED: TimeDelta = TimeDelta::hours(6);

/// Seconds since the epoch at the beginning of 2001. A clock that shows an earlier time was never set, and nothing is
/// decided by it.
const CLOCK_WAS_SET: i64 = 978_307_200;

/// What a calendar is kept for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Whose it is.
    pub scope: Scope,
    /// The workspace, as memories name it.
    pub workspace: String,
}

/// One job to run, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Where.
    pub place: Place,
    /// What.
    pub job: Job,
}

/// How the calendar stands after a look.
#[derive(Debug, Clone, PartialEq)]
pub struct Outlook {
    /// The zone in which it was decided.
    pub zone: Tz,
    /// Each job of each workspace.
    pub jobs: Vec<JobOutlook>,
    /// Why the clock is not believed, where it is not: sweeps wait meanwhile.
    pub doubt: Option<Doubt>,
}

/// How one job of one workspace stands.
#[derive(Debug, Clone, PartialEq)]
pub struct JobOutlook {
    /// Where.
    pub place: Place,
    /// Which job.
    pub kind: JobKind,
    /// When it runs next, or is tried again.
    pub next: Option<DateTime<Utc>>,
    /// The run that began last.
    pub last: Option<Run>,
    /// The oldest run that failed and has not succeeded since.
    pub failing: Option<Run>,
    /// Whether it is due, and waits only for the clock to be believed.
    pub held: bool,
}

/// The calendar of all workspaces.
pub struct Calendar {
    store: Store,
    clock: Clock,
    schedules: Schedules,
    places: Vec<Place>,
    /// What the clock did so far, once it was looked at.
    trust: Option<Trust>,
    /// What the store knows, once it was read: only this calendar writes it.
    books: Option<Books>,
}

/// What is on record.
struct Books {
    /// The moment last recorded as believed.
    believed_at: Option<DateTime<Utc>>,
    /// Of each place, in their order.
    pages: Vec<Page>,
}

/// What is on record of one place.
struct Page {
    since: DateTime<Utc>,
    runs: BTreeMap<Job, Run>,
}

impl Page {
    fn is_done(&self, job: Job) -> bool {
        self.runs.get(&job).is_some_and(|run| run.outcome == Outcome::Done)
    }

    /// When the job is tried again, if it failed and that is still to come. A time further off than any wait was
    /// written by another clock, and is not waited for.
    fn retry_at(&self, job: Job, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let retry_at = self.runs.get(&job).and_then(|run| run.retry_at)?;
        (now < retry_at && retry_at - now <= TimeDelta::minutes(LONGEST_WAIT_MINUTES)).then_some(retry_at)
    }
}

/// One look at the clock.
#[derive(Clone, Copy)]
struct Moment {
    now: DateTime<Utc>,
    zone: Tz,
    /// Why it is not believed, and how much longer.
    doubt: Option<(Doubt, Duration)>,
}

impl Moment {
    fn wall(&self, at: DateTime<Utc>) -> NaiveDateTime {
        self.zone.from_utc_datetime(&at.naive_utc()).naive_local()
    }
}

impl Calendar {
    /// A calendar of `places`. Nothing happens before the first look.
    pub fn new(store: Store, clock: Clock, schedules: Schedules, places: Vec<Place>) -> Self {
        Self { store, clock, schedules, places, trust: None, books: None }
    }

    /// Runs what is due, one job at a time, until nothing is; what comes due or stops being due meanwhile is noticed.
    ///
    /// `running` tells how long the program has been running by a clock that nobody can set. `run` does one job and
    /// says what it did, or why it failed, in words that hold nothing of a memory's text.
    ///
    /// # Errors
    /// What the store says. Nothing is lost by that: the next look begins with what is on record.
    pub async fn look<F: Future<Output = Result<String, String>>>(
        &mut self,
        running: impl Fn() -> Duration,
        run: impl Fn(Task) -> F,
    ) -> Result<Outlook, StoreError> {
        loop {
            if self.clock.now().timestamp() < CLOCK_WAS_SET {
                return Ok(Outlook { zone: self.clock.zone(), jobs: Vec::new(), doubt: None });
            }
            // They are put back only where all that was written is on record.
            let mut books = match self.books.take() {
                Some(books) => books,
                None => self.open().await?,
            };
            let moment = self.moment(&books, running());
            if moment.doubt.is_none() {
                self.put_right(&mut books, moment.now).await?;
            }
            let due: Vec<Vec<Job>> = books.pages.iter().map(|page| self.due(page, moment)).collect();
            let Some((number, job)) = first_free(&books.pages, &due, moment) else {
                let outlook = self.outlook(&books.pages, &due, moment);
                self.books = Some(books);
                return Ok(outlook);
            };
            self.run_one(
                &mut books.pages[number].runs,
                Task { place: self.places[number].clone(), job },
                &run,
            )
            .await?;
            self.books = Some(books);
        }
    }

    /// Reads what is on record; a place that is new begins now.
    async fn open(&self) -> Result<Books, StoreError> {
        let (places, now) = (self.places.clone(), self.clock.now());
        let read = move |writer: &crate::store::Writer<'_>| {
            let mut pages = Vec::new();
            for Place { scope, workspace } in &places {
                let since = match writer.calendar_since(scope, workspace)? {
                    Some(since) => since,
                    None => {
                        writer.set_calendar_since(scope, workspace, now)?;
                        now
                    }
                };
                let runs = writer.runs(scope, workspace)?;
                pages.push(Page { since, runs: runs.into_iter().map(|run| (run.job, run)).collect() });
            }
            let believed_at = writer.meta(BELIEVED)?.and_then(|text| text.parse().ok());
            Ok(Books { believed_at, pages })
        };
        self.store.write(read).await
    }

    /// Looks at the clock and the zone, both read anew for each decision.
    fn moment(&mut self, books: &Books, running: Duration) -> Moment {
        let now = self.clock.now();
        let trust = self.trust.get_or_insert_with(|| Trust::new(books.believed_at));
        let doubt = trust.look(now, running).map(|doubt| (doubt, doubt.left(running)));
        Moment { now, zone: self.clock.zone(), doubt }
    }

    /// Takes back what a clock that was ahead has left: runs that ended in what is now the future count no longer, and
    /// a calendar that began there begins now.
    async fn put_right(&self, books: &mut Books, now: DateTime<Utc>) -> Result<(), StoreError> {
        let mut begun = Vec::new();
        let mut early = Vec::new();
        for (page, place) in books.pages.iter_mut().zip(&self.places) {
            if page.since > now {
                page.since = now;
                begun.push(place.clone());
            }
            for run in page.runs.values_mut() {
                if run.outcome == Outcome::Done && run.ended_at.is_some_and(|ended| ended > now) {
                    run.outcome = Outcome::Early;
                    early.push((place.clone(), run.clone()));
                }
            }
        }
        let is_fresh = books.believed_at.is_some_and(|at| at <= now && now - at < RENEWED);
        if begun.is_empty() && early.is_empty() && is_fresh {
            return Ok(());
        }
        books.believed_at = Some(now);
        let write = move |writer: &crate::store::Writer<'_>| {
            for Place { scope, workspace } in &begun {
                writer.set_calendar_since(scope, workspace, now)?;
            }
            for (Place { scope, workspace }, run) in &early {
                writer.put_run(scope, workspace, run)?;
            }
            writer.set_meta(BELIEVED, &now.to_rfc3339())
        };
        self.store.write(write).await
    }

    fn due(&self, page: &Page, moment: Moment) -> Vec<Job> {
        self.schedules.due(moment.wall(moment.now), moment.wall(page.since), |job| page.is_done(job))
    }

    /// Runs one job. That it begins is on record before it does, and how it ended before anything else is begun.
    async fn run_one<F: Future<Output = Result<String, String>>>(
        &self,
        runs: &mut BTreeMap<Job, Run>,
        task: Task,
        run: &impl Fn(Task) -> F,
    ) -> Result<(), StoreError> {
        let job = task.job;
        let begun = Run {
            job,
            outcome: Outcome::Running,
            started_at: self.clock.now(),
            ended_at: None,
            detail: String::new(),
            failures: runs.get(&job).map_or(0, |before| before.failures),
            retry_at: None,
        };
        self.keep(&task.place, &begun).await?;
        fault::point("calendar.begun");
        let place = task.place.clone();
        let result = run(task).await;
        fault::point("calendar.ran");
        let ended = self.clock.now();
        let ended = match result {
            Ok(detail) => Run { outcome: Outcome::Done, ended_at: Some(ended), detail, failures: 0, ..begun },
            Err(detail) => {
                let failures = begun.failures.saturating_add(1);
                let retry_at = Some(ended + wait(failures));
                Run { outcome: Outcome::Failed, ended_at: Some(ended), detail, failures, retry_at, ..begun }
            }
        };
        self.keep(&place, &ended).await?;
        fault::point("calendar.ended");
        runs.insert(job, ended);
        Ok(())
    }

    async fn keep(&self, place: &Place, run: &Run) -> Result<(), StoreError> {
        let (Place { scope, workspace }, run) = (place.clone(), run.clone());
        self.store.write(move |writer| writer.put_run(&scope, &workspace, &run)).await
    }

    /// How all stands, with what is due and has to wait.
    fn outlook(&self, pages: &[Page], due: &[Vec<Job>], moment: Moment) -> Outlook {
        let mut jobs = Vec::new();
        for ((page, place), due) in pages.iter().zip(&self.places).zip(due) {
            for kind in [JobKind::Rollup, JobKind::Sweep] {
                let runs = || page.runs.values().filter(|run| run.job.kind() == kind);
                let due: Vec<Job> = due.iter().copied().filter(|job| job.kind() == kind).collect();
                let held = !due.is_empty() && kind == JobKind::Sweep && moment.doubt.is_some();
                jobs.push(JobOutlook {
                    place: place.clone(),
                    kind,
                    next: self.next(page, kind, &due, moment),
                    last: runs().max_by_key(|run| run.started_at).cloned(),
                    failing: runs().find(|run| run.outcome == Outcome::Failed).cloned(),
                    held,
                });
            }
        }
        Outlook { zone: moment.zone, jobs, doubt: moment.doubt.map(|(doubt, _)| doubt) }
    }

    /// When a job runs next: what is due and waits comes first, then the schedule.
    fn next(&self, page: &Page, kind: JobKind, due: &[Job], moment: Moment) -> Option<DateTime<Utc>> {
        let (now, wall) = (moment.now, moment.wall(moment.now));
        let done = |job| page.is_done(job);
        let scheduled = match kind {
            JobKind::Rollup => self.schedules.next_rollup(wall, done),
            JobKind::Sweep => self.schedules.next_sweep(wall, done),
        };
        let held = match (kind, moment.doubt, due) {
            (JobKind::Sweep, Some((_, left)), [_, ..]) => {
                TimeDelta::from_std(left).ok().map(|left| now + left)
            }
            _ => None,
        };
        let retries = due.iter().filter_map(|job| page.retry_at(*job, now));
        retries.min().max(held).or(scheduled.map(|wall| instant(moment.zone, wall)))
    }
}

/// The first place, by number, with something due that need not wait.
fn first_free(pages: &[Page], due: &[Vec<Job>], moment: Moment) -> Option<(usize, Job)> {
    pages.iter().zip(due).enumerate().find_map(|(number, (page, due))| {
        let is_free = |job: &Job| {
            page.retry_at(*job, moment.now).is_none()
                && (moment.doubt.is_none() || job.kind() != JobKind::Sweep)
        };
        due.iter().copied().find(is_free).map(|job| (number, job))
    })
}

/// How long a job waits after having failed so often in a row.
fn wait(failures: u32) -> TimeDelta {
    TimeDelta::minutes(LONGEST_WAIT_MINUTES.min(1 << failures.saturating_sub(1).min(6)))
}
