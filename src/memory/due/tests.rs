use std::collections::BTreeSet;

use chrono_tz::{America, Asia, Europe, Pacific};

use super::*;

fn schedules() -> Schedules {
    Schedules { rollup: "0 59 23 * * SUN".parse().unwrap(), sweep: "0 30 4 * * MON".parse().unwrap() }
}

fn wall(text: &str) -> NaiveDateTime {
    NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S").unwrap()
}

fn utc(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap().to_utc()
}

/// What is due of that job, with what is done already, as periods.
fn due(schedules: &Schedules, kind: JobKind, now: &str, since: &str, done: &[&str]) -> Vec<String> {
    let done: BTreeSet<Job> = done.iter().map(|period| Job::parse(kind, period).unwrap()).collect();
    let jobs = schedules.due(wall(now), wall(since), |job| done.contains(&job));
    jobs.into_iter().filter(|job| job.kind() == kind).map(Job::period).collect()
}

fn rollups(now: &str, since: &str, done: &[&str]) -> Vec<String> {
    due(&schedules(), JobKind::Rollup, now, since, done)
}

#[test]
fn weeks_at_the_turn_of_the_year_have_the_iso_years_name() {
    for (sunday, week, first, last) in [
        ("2027-01-03", "2026-W53", "2026-12-28", "2027-01-03"),
        ("2025-01-05", "2025-W01", "2024-12-30", "2025-01-05"),
        ("2026-01-04", "2026-W01", "2025-12-29", "2026-01-04"),
        ("2028-12-31", "2028-W52", "2028-12-25", "2028-12-31"),
    ] {
        let since = format!("{first} 09:00:00");
        assert_eq!(rollups(&format!("{sunday} 23:58:59"), &since, &[]), [""; 0]);
        assert_eq!(rollups(&format!("{sunday} 23:59:00"), &since, &[]), [week]);
        let week: Week = week.parse().unwrap();
        assert_eq!(
            (week.monday().to_string(), week.sunday().to_string()),
            (first.to_owned(), last.to_owned())
        );
    }
}

#[test]
fn a_change_of_clocks_moves_the_instant_and_not_the_time_of_day() {
    let schedules = schedules();
    for (zone, saturday, expected) in [
        (Europe::Berlin, "2026-03-28 23:59:30", "2026-03-29T21:59:00Z"),
        (Europe::Berlin, "2026-10-24 23:59:30", "2026-10-25T22:59:00Z"),
        (America::New_York, "2026-03-07 23:59:30", "2026-03-09T03:59:00Z"),
        (America::New_York, "2026-10-31 23:59:30", "2026-11-02T04:59:00Z"),
    ] {
        let next = instant(zone, schedules.next_rollup(wall(saturday), |_| false).unwrap());
        assert_eq!(next, utc(expected), "{zone}");
        let since = wall("2026-01-01 00:00:00");
        let shown = |at: DateTime<Utc>| at.with_timezone(&zone).naive_local();
        let count = |at| schedules.due(shown(at), since, |job| matches!(job, Job::Sweep(_))).len();
        assert_eq!(count(next), count(next - TimeDelta::seconds(1)) + 1, "{zone}: due at that very second");
    }
}

#[test]
fn every_missed_week_is_made_up_once_the_oldest_first_and_none_before_the_first_start() {
    let since = "2026-03-12 10:00:00";
    assert_eq!(rollups("2026-03-15 12:00:00", since, &[]), [""; 0]);
    assert_eq!(rollups("2026-03-31 08:00:00", since, &[]), ["2026-W11", "2026-W12", "2026-W13"]);
    assert_eq!(rollups("2026-03-31 08:00:00", since, &["2026-W12"]), ["2026-W11", "2026-W13"]);
    assert_eq!(rollups("2026-03-31 08:00:00", since, &["2026-W11", "2026-W12", "2026-W13"]), [""; 0]);
}

#[test]
fn a_time_after_midnight_is_meant_for_the_week_before_and_one_on_sunday_evening_for_the_week_that_ends() {
    for (rollup, before, from) in [
        ("0 10 0 * * MON", "2026-03-16 00:09:59", "2026-03-16 00:10:00"),
        ("0 0 20 * * SUN", "2026-03-15 19:59:59", "2026-03-15 20:00:00"),
        ("0 0 9 * * WED", "2026-03-18 08:59:59", "2026-03-18 09:00:00"),
        ("0 0 18 * * *", "2026-03-15 17:59:59", "2026-03-15 18:00:00"),
        ("0 0 6 1 * *", "2026-04-01 05:59:59", "2026-04-01 06:00:00"),
    ] {
        let schedules = Schedules { rollup: rollup.parse().unwrap(), ..schedules() };
        let due = |now| due(&schedules, JobKind::Rollup, now, "2026-03-09 07:00:00", &[]);
        assert_eq!(due(before), [""; 0], "{rollup}");
        assert_eq!(due(from).first().map(String::as_str), Some("2026-W11"), "{rollup}");
        let next = schedules
            .next_rollup(wall("2026-03-09 07:00:00"), |job| job < Job::Rollup("2026-W11".parse().unwrap()));
        assert_eq!(next, Some(wall(from)), "{rollup}");
    }
}

#[test]
fn many_missed_sweeps_are_one_and_none_is_due_before_its_first_time() {
    let sweeps = |now, done: &[&str]| due(&schedules(), JobKind::Sweep, now, "2026-03-10 08:00:00", done);
    assert_eq!(sweeps("2026-03-16 04:29:59", &[]), [""; 0], "the Monday before the start is not made up");
    assert_eq!(sweeps("2026-03-16 04:30:00", &[]), ["2026-03-16"]);
    assert_eq!(sweeps("2026-05-08 12:00:00", &["2026-03-16"]), ["2026-05-04"]);
    assert_eq!(sweeps("2026-05-08 12:00:00", &["2026-05-04"]), [""; 0]);
    let next =
        |now, done: &[&str]| schedules().next_sweep(wall(now), |job| done.contains(&job.period().as_str()));
    assert_eq!(next("2026-05-04 04:30:00", &[]), Some(wall("2026-05-11 04:30:00")));
    assert_eq!(next("2026-05-08 12:00:00", &["2026-05-11"]), Some(wall("2026-05-18 04:30:00")));
}

#[test]
fn what_a_zone_skips_is_over_when_it_is_skipped_and_what_comes_twice_counts_once() {
    let friday_noon: Schedule = "0 0 12 * * FRI".parse().unwrap();
    let skipped = wall("2011-12-30 12:00:00");
    assert_eq!(instant(Pacific::Apia, skipped), utc("2011-12-30T10:00:00Z"), "Saturday begins");
    assert_eq!(friday_noon.latest(wall("2011-12-31 00:00:00")), Some(skipped));
    assert_eq!(friday_noon.next(wall("2011-12-29 23:59:59")), Some(skipped));
    assert_eq!(instant(America::New_York, wall("2026-03-08 02:30:00")), utc("2026-03-08T07:00:00Z"));
    assert_eq!(instant(America::New_York, wall("2026-11-01 01:30:00")), utc("2026-11-01T05:30:00Z"));
    assert_eq!(instant(Asia::Shanghai, wall("2026-03-15 23:59:00")), utc("2026-03-15T15:59:00Z"));
    let week: Week = "2011-W52".parse().unwrap();
    assert_eq!(week.days().count(), 7, "the week of the missing Friday has seven dates all the same");
}

#[test]
fn a_week_is_one_week_wherever_the_user_travels() {
    let sunday_night = utc("2026-03-15T16:30:00Z");
    let shown = |zone: Tz| sunday_night.with_timezone(&zone).naive_local();
    let since = wall("2026-03-10 08:00:00");
    let week = Job::Rollup("2026-W11".parse().unwrap());
    assert_eq!(schedules().due(shown(Asia::Shanghai), since, |_| false), [week]);
    assert_eq!(schedules().due(shown(America::New_York), since, |job| job == week), []);
    let next = schedules().next_rollup(shown(America::New_York), |job| job == week).unwrap();
    assert_eq!(next, wall("2026-03-22 23:59:00"), "it is Sunday still, but this Sunday's is done");
}

#[test]
fn what_is_no_schedule_or_never_comes_is_refused_by_name() {
    for wrong in ["每周日", "59 23 * * SUN", "0 59 23 * * SUN 2026", "0 59 24 * * SUN", "0 0 0 30 2 *", ""]
    {
        let error = wrong.parse::<Schedule>().unwrap_err();
        assert!(error.to_string().contains(&format!("{wrong:?}")), "{error}");
    }
}

#[test]
fn a_jobs_name_and_period_make_the_job_again() {
    for job in [Job::Rollup("2026-W53".parse().unwrap()), Job::Sweep("2026-03-16".parse().unwrap())] {
        assert_eq!(Job::parse(job.kind(), &job.period()), Some(job));
    }
    assert_eq!(Job::parse(JobKind::Rollup, "2026-W54"), None);
    assert_eq!(Job::parse(JobKind::Sweep, "2026-W11"), None);
}
