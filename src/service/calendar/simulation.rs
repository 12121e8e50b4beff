//! Years of a user's life, hour by hour, through the real calendar and the real store: nights and holidays asleep,
//! shutdowns, crashes in the middle of a job, jobs that fail, clocks that are days wrong for a while, and journeys.
//!
//! What must hold is said here a second time and more simply, from the true time that only the simulation knows. The
//! dice are seeded: a failure tells voyage and hour, with the last things that happened.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;

use chrono::{Datelike, NaiveDate, NaiveTime, Weekday};
use chrono_tz::{America, Asia, Europe, Pacific};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::*;
use crate::clock::Zone;
use crate::memory::calendar::Week;
use crate::memory::trust::{HOLD, STEP};
use crate::memory::{UserId, layout};
use crate::service::ingest::Ingest;
use crate::service::rollup::Rollup;
use crate::service::sweep::{How, sweep};
use crate::workspace::Workspace;

const HOUR: Duration = Duration::from_secs(60 * 60);
/// Nothing befalls the user at the beginning and at the end.
const CALM: TimeDelta = TimeDelta::days(14);
const ZONES: [Tz; 4] = [Asia::Shanghai, America::New_York, Pacific::Apia, Europe::London];

/// Which life is lived.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Voyage {
    /// From the first Wednesday of this year on.
    pub year: i32,
    /// For so many years.
    pub years: i32,
    /// The zone at home.
    pub home: Tz,
    /// Whether the user leaves it.
    pub travels: bool,
    /// Of the dice.
    pub seed: u64,
}

/// A linear congruential generator, with the constants of Knuth's MMIX.
struct Dice(u64);

impl Dice {
    /// From 0 to below `sides`.
    fn roll(&mut self, sides: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as i64 % sides
    }

    fn one_in(&mut self, chance: i64) -> bool {
        self.roll(chance) == 0
    }

    /// So many hours, more or less than now.
    fn hours_off(&mut self, most: i64) -> TimeDelta {
        TimeDelta::hours((1 + self.roll(most)) * (1 - 2 * self.roll(2)))
    }
}

/// A job as it was last done.
struct DoneOnce {
    /// What the clock showed.
    at: DateTime<Utc>,
    /// Whether a look has seen an earlier time since: only then may it be done again.
    was_ahead: bool,
    /// Whether such a look believed the clock: then it must be done again, if its time comes.
    must_again: bool,
}

/// The true state of affairs.
struct World {
    voyage: Voyage,
    truth: DateTime<Utc>,
    end: DateTime<Utc>,
    /// How far the clock is wrong.
    offset: TimeDelta,
    /// How long the program has been running.
    running: Duration,
    clock: Clock,
    /// What the clock showed at the last look, and how long the program had been running.
    last: (DateTime<Utc>, Duration),
    /// What the clock showed when there was last no doubt about it.
    believed: DateTime<Utc>,
    /// The running time at which the clock was certainly seen to step by more than a day.
    stepped: Option<Duration>,
    done: BTreeMap<Job, DoneOnce>,
    /// The latest that the clock showed when something was done.
    latest: DateTime<Utc>,
    trail: VecDeque<String>,
}

impl World {
    fn new(voyage: Voyage) -> Self {
        let first = NaiveDate::from_ymd_opt(voyage.year, 1, 1).unwrap();
        let wednesday = first.iter_days().find(|day| day.weekday() == Weekday::Wed).unwrap();
        let truth = wednesday.and_hms_opt(12, 7, 0).unwrap().and_utc();
        Self {
            voyage,
            truth,
            end: truth + TimeDelta::weeks(i64::from(voyage.years) * 52),
            offset: TimeDelta::zero(),
            running: Duration::ZERO,
            clock: Clock::manual(truth, Zone::Fixed(voyage.home)),
            last: (truth, Duration::ZERO),
            believed: truth,
            stepped: None,
            done: BTreeMap::new(),
            latest: truth,
            trail: VecDeque::new(),
        }
    }

    fn note(&mut self, what: String) {
        if self.trail.len() == 12 {
            self.trail.pop_front();
        }
        self.trail.push_back(format!("{}: {what}", self.truth));
    }

    /// Where and when, for whoever reads of a failure.
    fn place(&self) -> String {
        format!("{:?} at {} (clock {})\n{:#?}", self.voyage, self.truth, self.clock.now(), self.trail)
    }

    fn wall(&self) -> NaiveDateTime {
        self.clock.local(self.clock.now())
    }

    /// Sets the clock for the next look, and keeps account of what can be known about it.
    fn begin_look(&mut self) {
        let now = self.truth + self.offset;
        self.clock.set(now);
        let (step, limit) = if self.running.is_zero() {
            // A new program compares with a record that may be some hours old.
            self.stepped = None;
            (now - self.believed, STEP + RENEWED)
        } else {
            let ran = TimeDelta::from_std(self.running - self.last.1).unwrap();
            (now - self.last.0 - ran, STEP)
        };
        if step.abs() > limit {
            self.stepped = Some(self.running);
        }
        self.last = (now, self.running);
        for done in self.ahead_of(now) {
            done.was_ahead = true;
        }
    }

    /// What was done at what is not yet `now`.
    fn ahead_of(&mut self, now: DateTime<Utc>) -> impl Iterator<Item = &mut DoneOnce> {
        let any = self.latest > now;
        self.done.values_mut().filter(move |done| any && done.at > now)
    }

    fn is_surely_doubted(&self) -> bool {
        self.stepped.is_some_and(|at| self.running - at < HOLD)
    }

    /// A job is begun: may it?
    fn judge(&self, job: Job) {
        let (wall, place) = (self.wall(), || self.place());
        let from = match job {
            Job::Rollup(week) => week.sunday().and_hms_opt(23, 59, 0),
            Job::Sweep(day) => {
                assert_eq!(day.weekday(), Weekday::Mon, "{}", place());
                assert!(!self.is_surely_doubted(), "{job}: the clock is not to be believed: {}", place());
                day.and_hms_opt(4, 30, 0)
            }
        };
        assert!(wall >= from.unwrap(), "{job} at {wall}, before its time: {}", place());
        if let Some(before) = self.done.get(&job) {
            assert!(before.was_ahead, "{job} was done at {} already: {}", before.at, place());
        }
    }

    fn record(&mut self, job: Job) {
        let at = self.clock.now();
        self.latest = self.latest.max(at);
        self.done.insert(job, DoneOnce { at, was_ahead: false, must_again: false });
    }

    /// A look ended in the middle of a job: whether the clock was believed was on record before.
    fn end_cut_short(&mut self) {
        if !self.is_surely_doubted() {
            self.believed = self.clock.now();
        }
    }

    /// A look is over: nothing may be left that is due.
    fn end_look(&mut self, outlook: &Outlook) {
        let now = self.clock.now();
        if outlook.doubt.is_none() {
            self.believed = now;
            for done in self.ahead_of(now) {
                done.must_again = true;
            }
        }
        assert_eq!(outlook.zone, self.clock.zone());
        let wall = self.wall();
        let ends = wall.date().weekday() == Weekday::Sun
            && wall.time() >= NaiveTime::from_hms_opt(23, 59, 0).unwrap();
        let week = Week::of(wall.date());
        let latest = Job::Rollup(if ends { week } else { week.previous() });
        let first = Week::of(self.clock.local(World::new(self.voyage).truth).date());
        let failing = &outlook.jobs[0].failing;
        assert!(
            latest < Job::Rollup(first) || failing.is_some() || self.done.contains_key(&latest),
            "{latest} is due and was not done: {}",
            self.place()
        );
    }
}

/// What happens to the jobs of the next look.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fate {
    /// They are done.
    Well,
    /// So many of them fail.
    Failing(u32),
    /// The program ends in the middle of the first.
    CutShort,
}

/// Lives through a voyage: `job` is what each run does, with the clock that the calendar goes by.
pub(crate) async fn simulate(voyage: Voyage, job: impl AsyncFn(&Task, &Clock) -> Result<String, String>) {
    // Where there is a folder in memory, thousands of durable writes take no time.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let store = Store::open(&folder.path().join("db")).unwrap();
    let place = Place {
        scope: Scope::private(UserId::new("小明").unwrap()),
        workspace: "/家/工作区".to_owned(),
    };
    let schedules =
        Schedules { rollup: "0 59 23 * * SUN".parse().unwrap(), sweep: "0 30 4 * * MON".parse().unwrap() };
    let world = RefCell::new(World::new(voyage));
    let clock = world.borrow().clock.clone();
    let fate = Cell::new(Fate::Well);
    let cut_short = Notify::new();
    let run = async |task: Task| {
        world.borrow().judge(task.job);
        match fate.get() {
            Fate::Well => {}
            Fate::Failing(left) => {
                fate.set(if left > 1 { Fate::Failing(left - 1) } else { Fate::Well });
                return Err("磁盘已满".to_owned());
            }
            Fate::CutShort => {
                cut_short.notify_one();
                std::future::pending().await
            }
        }
        let detail = job(&task, &clock).await?;
        world.borrow_mut().record(task.job);
        Ok(detail)
    };
    let start = || Calendar::new(store.clone(), clock.clone(), schedules.clone(), vec![place.clone()]);
    let mut calendar = start();
    let mut life = Life::new(voyage.seed);
    while world.borrow().truth < world.borrow().end {
        let is_new = life.live(&mut world.borrow_mut(), &fate);
        if is_new {
            calendar = start();
        }
        let running = world.borrow().running;
        world.borrow_mut().begin_look();
        tokio::select! {
            outlook = calendar.look(|| running, run) => world.borrow_mut().end_look(&outlook.unwrap()),
            () = cut_short.notified() => {
                fate.set(Fate::Well);
                life.is_cut_short = true;
                world.borrow_mut().end_cut_short();
                world.borrow_mut().note("cut short in the middle of a job".to_owned());
            }
        }
    }
    let Place { scope, workspace } = place;
    let runs = store.read(move |reader| reader.runs(&scope, &workspace)).await.unwrap();
    settle(&world.borrow(), &runs);
    store.close().await.unwrap();
}

/// What befalls the user and the machine.
struct Life {
    dice: Dice,
    /// Hours for which the clock is still wrong.
    wrong_for: i64,
    is_cut_short: bool,
}

impl Life {
    fn new(seed: u64) -> Self {
        Self { dice: Dice(seed), wrong_for: 0, is_cut_short: false }
    }

    /// Lives on for an hour, or until something that took longer is over; whether the program is a new one then.
    fn live(&mut self, world: &mut World, fate: &Cell<Fate>) -> bool {
        let (begun, dice) = (World::new(world.voyage).truth, &mut self.dice);
        world.truth += TimeDelta::hours(1);
        world.running += HOUR;
        let mut is_new = std::mem::take(&mut self.is_cut_short);
        if self.wrong_for > 0 {
            self.wrong_for -= 1;
            if self.wrong_for == 0 {
                world.offset = TimeDelta::zero();
                world.note("the clock is put right".to_owned());
            }
        }
        if world.truth - begun < CALM || world.end - world.truth < CALM {
            world.clock.travel(world.voyage.home);
            fate.set(Fate::Well);
        } else if world.offset.is_zero() && self.wrong_for == 0 && dice.one_in(300) {
            world.offset = if dice.one_in(2) { dice.hours_off(24) } else { dice.hours_off(240) };
            self.wrong_for = 1 + dice.roll(48);
            world.note(format!("the clock is wrong by {} for {} h", world.offset, self.wrong_for));
        } else if world.offset.is_zero() && dice.one_in(12) {
            let hours = 1 + if dice.one_in(9) { dice.roll(120) } else { dice.roll(12) };
            world.truth += TimeDelta::hours(hours);
            if dice.one_in(3) {
                world.running += HOUR * hours as u32;
            }
            world.note(format!("slept for {hours} h"));
        } else if world.offset.is_zero() && dice.one_in(250) {
            let hours = 1 + if dice.one_in(3) { dice.roll(24 * 25) } else { dice.roll(48) };
            world.truth += TimeDelta::hours(hours);
            world.note(format!("off for {hours} h"));
            is_new = true;
        } else if dice.one_in(100) {
            world.note("restarted".to_owned());
            is_new = true;
        } else if dice.one_in(150) {
            fate.set(if dice.one_in(2) { Fate::CutShort } else { Fate::Failing(1 + dice.roll(5) as u32) });
        } else if world.voyage.travels && dice.one_in(400) {
            let zone = ZONES[dice.roll(4) as usize];
            world.clock.travel(zone);
            world.note(format!("travelled to {zone}"));
        }
        if is_new {
            world.running = Duration::ZERO;
        }
        is_new
    }
}

/// What must be on record in the end: every week since the start once, each with its seven days, and no other.
fn settle(world: &World, runs: &[Run]) {
    let date = |at: DateTime<Utc>| at.with_timezone(&world.voyage.home).date_naive();
    let (first, last) =
        (Week::of(date(World::new(world.voyage).truth)), Week::of(date(world.end)).previous());
    let done: Vec<&Run> = runs.iter().filter(|run| run.outcome == Outcome::Done).collect();
    let days: Vec<NaiveDate> = done
        .iter()
        .filter_map(|run| match run.job {
            Job::Rollup(week) => Some(week.days()),
            Job::Sweep(_) => None,
        })
        .flatten()
        .collect();
    let expected: Vec<NaiveDate> =
        first.monday().iter_days().take_while(|day| *day <= last.sunday()).collect();
    assert_eq!(days, expected, "each day once: {}", world.place());
    assert!(done.iter().all(|run| run.ended_at.is_some_and(|at| at <= world.end)), "{}", world.place());
    let sweeps = done.iter().filter(|run| run.job.kind() == JobKind::Sweep).count();
    let weeks = usize::try_from(world.voyage.years * 52).unwrap();
    assert!(sweeps > weeks / 2 && sweeps <= weeks, "{sweeps} sweeps: {}", world.place());
    for (job, done) in &world.done {
        let is_over = match job {
            Job::Rollup(week) => *week <= last,
            Job::Sweep(_) => false,
        };
        assert!(!(is_over && done.must_again), "{job} was done too early, and not again: {}", world.place());
    }
}

/// What happens on the days of a week.
const FACTS: [&str; 7] = [
    "决定：备份改用 restic",
    "网关端口是 18080",
    "Bug 修复：导出乱码，原因：没有写 BOM",
    "用户偏好：周报用中文写",
    "域名 shop.example.com 放在阿林的账号下",
    "小林负责值班表",
    "日志目录是 /srv/logs",
];

/// Where the jobs of a voyage do their real work: a workspace with a note for each week, and its store.
struct Notebook {
    folder: TempDir,
    workspace: Workspace,
    store: Store,
    weeks: Vec<Week>,
}

impl Notebook {
    fn new(voyage: Voyage) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let workspace = Workspace::new(folder.path().join("工作区"), UserId::new("小明").unwrap());
        fs::create_dir_all(workspace.root().join("memory")).unwrap();
        let store = Store::open(&folder.path().join("db")).unwrap();
        let first = Week::of(World::new(voyage).truth.date_naive());
        let weeks: Vec<Week> = std::iter::successors(Some(first), |week| Some(week.next()))
            .take(usize::try_from(voyage.years * 52 + 4).unwrap())
            .collect();
        for week in &weeks {
            let routine = "- 09:00 早间检查：备份正常，磁盘正常，网关运行中，没有待办\n".repeat(2);
            let day = |(day, fact): (NaiveDate, &str)| format!("## {day}\n{routine}- 18:00 {fact}\n\n");
            let days: String = week.days().zip(FACTS).map(day).collect();
            fs::write(workspace.root().join(layout::daily_file(week.monday())), days).unwrap();
        }
        Self { folder, workspace, store, weeks }
    }

    async fn work(&self, task: &Task, clock: &Clock) -> Result<String, String> {
        let ingest = Ingest::new(self.store.clone(), clock.clone());
        match task.job {
            Job::Rollup(week) => {
                let rollup = Rollup::new(self.store.clone(), ingest, clock.clone());
                let rolled = rollup.week(&self.workspace, week, None, false).await;
                let rolled = rolled.map_err(|error| error.to_string())?;
                Ok(rolled.map_or(0, |rolled| rolled.lines).to_string())
            }
            Job::Sweep(_) => {
                let how = How { unused_days: 180, dry_run: false, accept: false, clock_believed: true };
                let swept = sweep(&self.store, clock, &task.place.scope, how).await;
                swept.map(|swept| swept.memories.len().to_string()).map_err(|error| error.to_string())
            }
        }
    }

    /// Every week that is over has one page, with its seven days and no other.
    fn check(&self, voyage: Voyage) {
        let end = World::new(voyage).end.with_timezone(&voyage.home).date_naive();
        for week in self.weeks.iter().filter(|week| **week < Week::of(end)) {
            let page = fs::read_to_string(self.workspace.root().join(layout::weekly_file(*week))).unwrap();
            let lines = page.lines().filter_map(|line| line.strip_prefix("- "));
            let told: BTreeSet<&str> = lines.filter_map(|line| line.split(' ').next()).collect();
            let days: BTreeSet<String> = week.days().map(|day| day.format("%m-%d").to_string()).collect();
            assert!(told.iter().eq(days.iter()), "{week}: {page}");
        }
        assert!(self.folder.path().exists());
    }
}

async fn live_seven_years(year: i32, home: Tz, travels: bool) {
    let voyage = Voyage { year, years: 7, home, travels, seed: 0x5eed };
    let notebook = Notebook::new(voyage);
    simulate(voyage, async |task: &Task, clock: &Clock| notebook.work(task, clock).await).await;
    notebook.check(voyage);
}

#[tokio::test]
async fn seven_years_at_home_in_shanghai() {
    live_seven_years(2021, Asia::Shanghai, false).await;
}

#[tokio::test]
async fn seven_years_of_travelling_from_new_york() {
    live_seven_years(2021, America::New_York, true).await;
}

#[tokio::test]
async fn seven_years_in_apia_with_its_missing_day() {
    live_seven_years(2009, Pacific::Apia, false).await;
}

#[tokio::test]
async fn seven_years_of_travelling_from_london() {
    live_seven_years(2009, Europe::London, true).await;
}
