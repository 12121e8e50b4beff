use std::cell::{Cell, RefCell};

use chrono_tz::{America, Asia};
use tempfile::TempDir;
use tokio::sync::Mutex;

use super::*;
use crate::clock::Zone;
use crate::memory::UserId;
use crate::memory::trust::HOLD;

/// A calendar in a folder that goes with it, whose jobs only note that they ran.
struct Desk {
    _folder: TempDir,
    store: Store,
    clock: Clock,
    calendar: Mutex<Calendar>,
    running: Cell<Duration>,
    /// What ran, and where.
    ran: RefCell<Vec<String>>,
    /// How often jobs of that kind are still to fail.
    failing: Cell<(JobKind, u32)>,
}

fn utc(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap().to_utc()
}

fn places() -> Vec<Place> {
    let place = |name: &str| Place {
        scope: Scope::private(UserId::new(name).unwrap()),
        workspace: format!("/家/{name}"),
    };
    vec![place("小明")]
}

impl Desk {
    /// In Shanghai, whose wall clock shows `now`.
    fn new(now: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("db")).unwrap();
        let clock = Clock::manual(utc(now), Zone::Fixed(Asia::Shanghai));
        let calendar = Mutex::new(calendar(&store, &clock, places()));
        let (running, failing) = (Cell::default(), Cell::new((JobKind::Rollup, 0)));
        Self { _folder: folder, store, clock, calendar, running, ran: RefCell::default(), failing }
    }

    /// The wall clock shows `now`, and a minute of running has passed.
    async fn look(&self, now: &str) -> Outlook {
        self.look_after(Duration::from_secs(60), now).await
    }

    async fn look_after(&self, passed: Duration, now: &str) -> Outlook {
        self.clock.set(utc(now));
        self.running.set(self.running.get() + passed);
        let run = async |task: Task| {
            let (kind, left) = self.failing.get();
            if left > 0 && task.job.kind() == kind {
                self.failing.set((kind, left - 1));
                return Err("写不进去".to_owned());
            }
            self.ran.borrow_mut().push(task.job.to_string());
            Ok("三天".to_owned())
        };
        self.calendar.lock().await.look(|| self.running.get(), run).await.unwrap()
    }

    /// The program ends and begins again.
    fn restart(&self) {
        *self.calendar.try_lock().unwrap() = calendar(&self.store, &self.clock, places());
        self.running.set(Duration::ZERO);
    }

    /// What ran since this was last asked.
    fn ran(&self) -> Vec<String> {
        self.ran.take()
    }

    /// What is on record, as job and outcome.
    async fn record(&self) -> Vec<(String, Outcome)> {
        let Place { scope, workspace } = places().remove(0);
        let runs = self.store.read(move |reader| reader.runs(&scope, &workspace)).await.unwrap();
        runs.into_iter().map(|run| (run.job.to_string(), run.outcome)).collect()
    }
}

fn calendar(store: &Store, clock: &Clock, places: Vec<Place>) -> Calendar {
    let schedules =
        Schedules { rollup: "0 59 23 * * SUN".parse().unwrap(), sweep: "0 30 4 * * MON".parse().unwrap() };
    Calendar::new(store.clone(), clock.clone(), schedules, places)
}

#[tokio::test]
async fn the_week_becomes_a_page_on_sunday_night_and_the_sweep_follows_once() {
    let desk = Desk::new("2026-03-13T09:00:00+08:00");
    let outlook = desk.look("2026-03-13T09:00:00+08:00").await;
    assert_eq!(outlook.zone, Asia::Shanghai);
    let next: Vec<_> = outlook.jobs.iter().map(|job| (job.kind, job.next.unwrap())).collect();
    let expected =
        [(JobKind::Rollup, "2026-03-15T23:59:00+08:00"), (JobKind::Sweep, "2026-03-16T04:30:00+08:00")];
    assert_eq!(next, expected.map(|(kind, at)| (kind, utc(at))));
    for now in ["2026-03-14T08:00:00+08:00", "2026-03-15T08:00:00+08:00", "2026-03-15T23:58:59+08:00"] {
        desk.look(now).await;
    }
    assert_eq!(desk.ran(), [""; 0]);
    desk.look("2026-03-15T23:59:00+08:00").await;
    desk.look("2026-03-15T23:59:30+08:00").await;
    let outlook = desk.look("2026-03-16T04:30:00+08:00").await;
    desk.restart();
    desk.look("2026-03-16T08:00:00+08:00").await;
    assert_eq!(desk.ran(), ["rollup 2026-W11", "sweep 2026-03-16"]);
    let last = outlook.jobs[0].last.clone().unwrap();
    assert_eq!((last.outcome, last.detail.as_str(), last.failures), (Outcome::Done, "三天", 0));
}

#[tokio::test]
async fn what_the_daemon_missed_is_made_up_at_its_next_start_once() {
    let desk = Desk::new("2026-03-13T09:00:00+08:00");
    desk.look("2026-03-13T09:00:00+08:00").await;
    desk.restart();
    desk.look("2026-03-31T08:00:00+08:00").await;
    assert_eq!(desk.ran(), ["rollup 2026-W11", "rollup 2026-W12", "rollup 2026-W13"], "the sweep waits");
    desk.look_after(HOLD, "2026-03-31T09:00:00+08:00").await;
    assert_eq!(desk.ran(), ["sweep 2026-03-30"]);
    desk.restart();
    desk.look("2026-03-31T09:01:00+08:00").await;
    assert_eq!(desk.ran(), [""; 0]);
}

#[tokio::test]
async fn a_run_that_was_cut_short_is_begun_again() {
    let desk = Desk::new("2026-03-13T09:00:00+08:00");
    desk.look("2026-03-13T09:00:00+08:00").await;
    desk.clock.set(utc("2026-03-16T00:00:00+08:00"));
    {
        let begun = tokio::sync::Notify::new();
        let mut calendar = desk.calendar.lock().await;
        let never = async |_| {
            begun.notify_one();
            std::future::pending().await
        };
        tokio::select! {
            _ = calendar.look(|| Duration::ZERO, never) => panic!("it never ends"),
            () = begun.notified() => {}
        }
    }
    assert_eq!(desk.record().await, [("rollup 2026-W11".to_owned(), Outcome::Running)]);
    desk.restart();
    desk.look("2026-03-16T00:01:00+08:00").await;
    assert_eq!(desk.ran(), ["rollup 2026-W11"]);
    assert_eq!(desk.record().await, [("rollup 2026-W11".to_owned(), Outcome::Done)]);
}

#[tokio::test]
async fn a_run_that_fails_is_tried_again_ever_more_seldom_and_shows() {
    let desk = Desk::new("2026-03-15T20:00:00+08:00");
    desk.look("2026-03-15T20:00:00+08:00").await;
    desk.failing.set((JobKind::Rollup, 9));
    let mut now = utc("2026-03-16T05:00:00+08:00");
    let mut waits = Vec::new();
    for failures in 1..=9 {
        let outlook = desk.look(&now.to_rfc3339()).await;
        let job = &outlook.jobs[0];
        let failing = job.failing.clone().unwrap();
        assert_eq!(
            (failing.outcome, failing.detail.as_str(), failing.failures),
            (Outcome::Failed, "写不进去", failures)
        );
        assert_eq!((job.next, failing.retry_at), (failing.retry_at, job.next));
        let retry_at = job.next.unwrap();
        waits.push((retry_at - now).num_minutes());
        if failures == 4 {
            desk.restart();
        }
        desk.look(&(retry_at - TimeDelta::seconds(1)).to_rfc3339()).await;
        now = retry_at;
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    assert_eq!(desk.ran(), ["sweep 2026-03-16"], "other jobs do not wait for it");
    // A clock set back does not lengthen the wait by the size of the step.
    let outlook = desk.look(&(now - TimeDelta::hours(3)).to_rfc3339()).await;
    assert_eq!((desk.ran(), &outlook.jobs[0].failing), (vec!["rollup 2026-W11".to_owned()], &None));
}

#[tokio::test]
async fn a_week_done_by_a_clock_that_was_ahead_is_done_again_when_it_has_ended() {
    let desk = Desk::new("2026-03-13T09:00:00+08:00");
    desk.look("2026-03-13T09:00:00+08:00").await;
    desk.look("2026-03-16T09:01:00+08:00").await;
    assert_eq!(desk.ran(), ["rollup 2026-W11"], "the sweep does not believe it");
    desk.look("2026-03-13T09:02:00+08:00").await;
    desk.look_after(HOLD, "2026-03-13T10:02:00+08:00").await;
    assert_eq!(desk.record().await, [("rollup 2026-W11".to_owned(), Outcome::Early)]);
    desk.look_after(Duration::from_secs(62 * 3600), "2026-03-16T00:00:00+08:00").await;
    desk.look_after(Duration::from_secs(10 * 3600), "2026-03-16T10:00:00+08:00").await;
    assert_eq!(desk.ran(), ["rollup 2026-W11", "sweep 2026-03-16"]);
    assert!(desk.record().await.iter().all(|(_, outcome)| *outcome == Outcome::Done));
}

#[tokio::test]
async fn a_step_back_at_the_very_moment_leaves_one_page_of_the_week() {
    let desk = Desk::new("2026-03-15T23:58:30+08:00");
    desk.look("2026-03-15T23:58:30+08:00").await;
    desk.look("2026-03-15T23:59:30+08:00").await;
    desk.look("2026-03-15T22:59:30+08:00").await;
    assert_eq!(desk.ran(), ["rollup 2026-W11"]);
    desk.look_after(HOLD, "2026-03-15T23:59:30+08:00").await;
    desk.look("2026-03-16T00:00:30+08:00").await;
    assert_eq!(desk.ran(), ["rollup 2026-W11"], "the same page, with what the last hour brought");
    assert_eq!(desk.record().await, [("rollup 2026-W11".to_owned(), Outcome::Done)]);
}

#[tokio::test]
async fn a_traveller_has_one_page_a_week() {
    let desk = Desk::new("2026-03-10T09:00:00+08:00");
    desk.look("2026-03-10T09:00:00+08:00").await;
    desk.look_after(HOLD * 122, "2026-03-15T12:00:00+08:00").await;
    desk.clock.travel(America::New_York);
    desk.look_after(HOLD * 12, "2026-03-16T00:30:00+08:00").await;
    assert_eq!(desk.ran(), [""; 0], "it is Sunday noon in New York");
    desk.look_after(HOLD * 12, "2026-03-16T00:30:00-04:00").await;
    assert_eq!(desk.ran(), ["rollup 2026-W11"]);
    desk.clock.travel(Asia::Shanghai);
    desk.look_after(HOLD, "2026-03-16T13:30:00+08:00").await;
    assert_eq!(desk.ran(), ["sweep 2026-03-16"]);
    desk.clock.travel(America::New_York);
    desk.look_after(HOLD * 8, "2026-03-16T09:30:00-04:00").await;
    assert_eq!(desk.ran(), [""; 0]);
}

#[tokio::test]
async fn a_clock_a_year_ahead_sweeps_nothing_until_it_has_held() {
    let desk = Desk::new("2026-03-17T09:00:00+08:00");
    desk.look("2026-03-17T09:00:00+08:00").await;
    for restart in [false, true] {
        if restart {
            desk.restart();
        }
        let outlook = desk.look("2027-04-21T09:00:00+08:00").await;
        let sweep = &outlook.jobs[1];
        assert!(sweep.held && outlook.doubt.is_some_and(|doubt| doubt.step > TimeDelta::days(390)));
        assert_eq!(sweep.next, Some(utc("2027-04-21T10:00:00+08:00")));
        desk.look_after(HOLD / 2, "2027-04-21T09:30:00+08:00").await;
        let outlook = desk.look_after(HOLD / 4, "2026-03-17T10:00:00+08:00").await;
        assert!(!outlook.jobs[1].held && outlook.doubt.is_some(), "nothing is due there");
    }
    assert!(desk.ran().iter().all(|job| job.starts_with("rollup")));
    desk.look_after(HOLD, "2026-03-17T11:00:00+08:00").await;
    assert!(
        desk.record().await.iter().all(|(_, outcome)| *outcome == Outcome::Early),
        "none of these weeks has ended"
    );
    desk.look_after(HOLD * 137, "2026-03-23T04:30:00+08:00").await;
    assert_eq!(desk.ran(), ["rollup 2026-W12", "sweep 2026-03-23"]);
}

#[tokio::test]
async fn a_first_start_in_the_future_or_before_the_clock_was_set_blocks_nothing() {
    let desk = Desk::new("1970-01-01T00:00:10Z");
    assert_eq!(desk.look("1970-01-01T00:00:10Z").await.jobs, []);
    desk.look("2031-01-01T09:00:00+08:00").await;
    desk.look("2026-03-10T09:00:00+08:00").await;
    desk.look_after(HOLD, "2026-03-10T10:00:00+08:00").await;
    desk.look_after(HOLD * 134, "2026-03-16T00:00:00+08:00").await;
    assert_eq!(desk.ran(), ["rollup 2026-W11"]);
}

#[tokio::test]
async fn a_clock_wrongly_set_back_undoes_nothing() {
    let desk = Desk::new("2026-03-10T09:00:00+08:00");
    desk.look("2026-03-10T09:00:00+08:00").await;
    desk.look_after(HOLD * 140, "2026-03-16T05:00:00+08:00").await;
    assert_eq!(desk.ran().len(), 2);
    desk.look("2003-01-01T00:00:00+08:00").await;
    desk.look_after(HOLD / 2, "2003-01-01T00:30:00+08:00").await;
    desk.look("2026-03-16T05:32:00+08:00").await;
    desk.look_after(HOLD, "2026-03-16T06:32:00+08:00").await;
    assert_eq!(desk.ran(), [""; 0]);
}

#[tokio::test]
async fn every_workspace_has_a_calendar_of_its_own() {
    let desk = Desk::new("2026-03-10T09:00:00+08:00");
    desk.look("2026-03-10T09:00:00+08:00").await;
    desk.clock.set(utc("2026-03-17T09:00:00+08:00"));
    let mut two = places();
    two.push(Place { workspace: "/家/新".to_owned(), ..two[0].clone() });
    let mut calendar = calendar(&desk.store, &desk.clock, two);
    let ran = RefCell::new(Vec::new());
    let run = async |task: Task| {
        ran.borrow_mut().push(format!("{} {}", task.job, task.place.workspace));
        Ok(String::new())
    };
    calendar.look(|| Duration::ZERO, run).await.unwrap();
    desk.clock.set(utc("2026-03-23T09:00:00+08:00"));
    let outlook = calendar.look(|| HOLD * 144, run).await.unwrap();
    let expected = [
        "rollup 2026-W11 /家/小明",
        "rollup 2026-W12 /家/小明",
        "sweep 2026-03-23 /家/小明",
        "rollup 2026-W12 /家/新",
        "sweep 2026-03-23 /家/新",
    ];
    assert_eq!((ran.take(), outlook.jobs.len()), (expected.map(str::to_owned).to_vec(), 4));
}
