//! The calendar as users meet it: the real daemon, with its clock set to the end of a week.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command};

use ocmemd::wire::Event;
use ocmemd::wire::methods::{Method, StatusParams};
use ocmemd::wire::rollup::{PromoteParams, PromoteResult, RollupParams, RollupResult};
use ocmemd::wire::status::Status;

use crate::support::{Home, wait_for};

/// Seven seconds before the rollup of 2026-W11, in the zone of the tests.
const SUNDAY: &str = "2026-03-15T23:58:53+08:00";
const TUESDAY: &str = "2026-03-17T09:30:00+08:00";
const PAGE: &str = "memory/2026-11.md";

/// A home with the notes of a week, and a Monday after it.
fn home() -> Home {
    let home = Home::new();
    home.configure("[time]\nzone = \"Asia/Shanghai\"\n");
    let day = |day: u32, lines: &str| {
        home.note(
            &format!("memory/2026-03-{day:02}.md"),
            &format!("## 2026-03-{day:02} 记忆记录\n\n### [AUTO] 自动记录关键信息\n{lines}"),
        );
    };
    day(
        9,
        "- 09:00 早间检查：一切正常\n- 10:00 网关端口由 9070 改为 9071\n- 11:30 决定：备份改用 restic，每天 02:15 跑\n",
    );
    day(11, "- 09:00 早间检查：一切正常\n- 15:00 用户偏好：周报用中文写，不超过一页\n");
    day(15, "- 20:10 Bug 修复：订单导出乱码，原因：文件没有写 BOM\n");
    home.note("memory/2026-03-16.md", "- 08:00 下周的事：仓库搬到二楼\n");
    home.note("MEMORY.md", "# 长期记忆\n\n- 常用语言：中文\n");
    home
}

/// Every file of the workspace but the clock times, which are those of the run.
fn files(home: &Home) -> BTreeMap<String, String> {
    fn walk(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(root, &path, found);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.insert(name, without_times(&fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&home.workspace(), &home.workspace(), &mut found);
    found
}

fn without_times(text: &str) -> String {
    let timed = |line: &str| line.strip_prefix("- ").and_then(|line| line.split_once(" ✅")).is_some();
    text.lines()
        .map(|line| match line.split_once(" ✅").filter(|_| timed(line)) {
            Some((_, rest)) => format!("- ✅{rest}\n"),
            None => format!("{line}\n"),
        })
        .collect()
}

fn page_of(home: &Home) -> Option<String> {
    fs::read_to_string(home.workspace().join(PAGE)).ok()
}

#[tokio::test]
async fn on_sunday_night_the_week_becomes_a_page_and_what_is_permanent_reaches_memory_md() {
    let home = home();
    let running = home.start_with(&[("OCMEMD_TEST_CLOCK", SUNDAY)]);
    let mut events = running.events().await;
    // At the start it is not due; within seven seconds, so at the second look, it is.
    for _ in 0..3 {
        if page_of(&home).is_none() {
            wait_for(&mut events, |event| matches!(event, Event::CalendarLooked)).await;
        }
    }
    let page = page_of(&home).unwrap();
    for kept in ["9071", "restic", "BOM"] {
        assert!(page.contains(kept), "{page}");
    }
    for left_out in ["一切正常", "二楼"] {
        assert!(!page.contains(left_out), "{page}");
    }
    let memory = fs::read_to_string(home.workspace().join("MEMORY.md")).unwrap();
    assert!(memory.starts_with("# 长期记忆\n\n- 常用语言：中文\n"), "the user's part stays: {memory}");
    assert!(memory.contains("9071") && !memory.contains("一切正常"), "{memory}");
    let status: Status = running.call(Method::Status, StatusParams {}).await;
    let shown = serde_json::to_string(&status.daemon).unwrap();
    assert!(shown.contains("2026-03-15"), "status shows that the clock is none: {shown}");
}

#[tokio::test]
async fn a_sunday_night_that_was_slept_through_is_made_up_once() {
    let home = home();
    // The daemon was there before that Sunday, else the week would not be its own to make up.
    let before = home.start_with(&[("OCMEMD_TEST_CLOCK", "2026-03-14T12:00:00+08:00")]);
    assert!(before.stop().success());
    assert_eq!(page_of(&home), None, "the week has not ended");

    let running = home.start_with(&[("OCMEMD_TEST_CLOCK", TUESDAY)]);
    running.looked().await;
    assert!(running.stop().success());
    let page = page_of(&home).unwrap();
    assert!(page.contains("restic") && !page.contains("二楼"), "{page}");

    home.note("memory/2026-03-10.md", "- 10:00 决定：值班表改成两周一轮\n");
    let again = home.start_with(&[("OCMEMD_TEST_CLOCK", "2026-03-17T10:30:00+08:00")]);
    again.looked().await;
    assert!(again.stop().success());
    assert_eq!(page_of(&home), Some(page), "a week is rolled up once");
}

/// What a run leaves that nothing disturbed.
async fn undisturbed() -> BTreeMap<String, String> {
    let home = home();
    home.start_with(&[("OCMEMD_TEST_CLOCK", "2026-03-14T12:00:00+08:00")]).stop();
    let running = home.start_with(&[("OCMEMD_TEST_CLOCK", TUESDAY)]);
    running.looked().await;
    assert!(running.stop().success());
    files(&home)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_between_any_two_steps_it_ends_as_if_nothing_had_been() {
    let wanted = undisturbed().await;
    assert!(wanted.contains_key(PAGE) && wanted["memory/2026-03-17.md"].contains('✅'), "{wanted:?}");
    for fault in [
        "calendar.begun",
        "rollup.recorded",
        "rollup.page_written",
        "rollup.settled",
        "promotion.decided",
        "promotion.block_written",
        "promotion.archived",
        "promotion.noted",
        "promotion.ended",
        "calendar.ran",
        "calendar.ended",
    ] {
        let home = home();
        home.start_with(&[("OCMEMD_TEST_CLOCK", "2026-03-14T12:00:00+08:00")]).stop();
        let ended = home.run_to_its_end(&[("OCMEMD_TEST_CLOCK", TUESDAY), ("OCMEMD_TEST_FAULT", fault)]);
        assert!(!ended.success(), "{fault} was passed unharmed");
        let running = home.start_with(&[("OCMEMD_TEST_CLOCK", TUESDAY)]);
        running.looked().await;
        assert!(running.stop().success());
        assert_eq!(files(&home), wanted, "{fault}");
    }
}

const PROCESSES: usize = 20;
const LINES: usize = 8;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_processes_append_while_pages_are_made_and_no_line_is_lost() {
    let home = home();
    let running = home.start_with(&[("OCMEMD_TEST_CLOCK", "2026-03-14T12:00:00+08:00")]);
    let note = home.workspace().join("memory/2026-03-14.md");
    let mut processes: Vec<Child> = (0..PROCESSES)
        .map(|process| {
            let script = format!(
                "i=0; while [ $i -lt {LINES} ]; do printf -- '- 12:00 决定：项目{process}x%s用 restic 备份\n' $i >> \"$1\"; i=$((i+1)); done"
            );
            Command::new("sh").args(["-c", &script, "sh"]).arg(&note).spawn().unwrap()
        })
        .collect();
    for _ in 0..50 {
        let owner = || "owner".to_owned();
        let _: RollupResult =
            running.call(Method::Rollup, RollupParams { user: owner(), ..RollupParams::default() }).await;
        let _: PromoteResult =
            running.call(Method::Promote, PromoteParams { user: owner(), ..PromoteParams::default() }).await;
    }
    assert!(processes.iter_mut().all(|process| process.wait().unwrap().success()));
    let text = fs::read_to_string(&note).unwrap();
    for process in 0..PROCESSES {
        for line in 0..LINES {
            let wanted = format!("- 12:00 决定：项目{process}x{line}用 restic 备份");
            assert_eq!(text.lines().filter(|found| *found == wanted).count(), 1, "{wanted}");
        }
    }
    let memory = fs::read_to_string(home.workspace().join("MEMORY.md")).unwrap();
    assert!(memory.starts_with("# 长期记忆\n\n- 常用语言：中文\n\n<!-- ocmemd:begin -->\n"), "{memory}");
    assert!(memory.ends_with("<!-- ocmemd:end -->\n"), "{memory}");

    let params = RollupParams { user: "owner".into(), ..RollupParams::default() };
    let first: RollupResult = running.call(Method::Rollup, &params).await;
    let page = page_of(&home);
    let again: RollupResult = running.call(Method::Rollup, &params).await;
    assert!(!again.pages[0].changed && again.pages[0].after == first.pages[0].after);
    assert_eq!(page_of(&home), page, "twice is once, byte for byte");
}

#[tokio::test]
async fn what_a_person_does_to_a_page_stays() {
    let home = home();
    let running = home.start_with(&[("OCMEMD_TEST_CLOCK", "2026-03-14T12:00:00+08:00")]);
    running.looked().await;
    let params = RollupParams { user: "owner".into(), ..RollupParams::default() };
    let _: RollupResult = running.call(Method::Rollup, &params).await;
    let page = page_of(&home).unwrap();
    let line = page.lines().find(|line| line.contains("9071")).unwrap();
    let edited = format!("开头的话\n\n{}", page.replace(line, "- 03-09 网关端口是 9072，以此为准"));
    home.note(PAGE, &edited);
    home.note("memory/2026-03-13.md", "- 10:00 决定：值班表改成两周一轮\n");
    let _: RollupResult = running.call(Method::Rollup, &params).await;
    let page = page_of(&home).unwrap();
    assert!(page.starts_with("开头的话\n\n"), "{page}");
    assert!(page.contains("- 03-09 网关端口是 9072，以此为准"), "{page}");
    assert!(!page.contains("9071"), "what was taken off stays off: {page}");
    assert!(page.contains("值班表"), "the rest follows the notes: {page}");
    let _: RollupResult = running.call(Method::Rollup, &params).await;
    assert_eq!(page_of(&home), Some(page));
}
