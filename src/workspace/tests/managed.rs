//! Blocks are replaced and lines are added by many at once, and nobody loses anything.

use std::process::Command;

use super::*;
use crate::memory::managed::{BEGIN, END};

fn replace(ws: &Workspace, file: &str, block: &str) -> Result<Replaced, WorkspaceError> {
    let read = match ws.read(file) {
        Ok(read) => Some(read.hash),
        Err(ReadError::Gone { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    ws.replace_block(file, read.as_ref(), &redact(block).0)
}

fn said(ws: &Workspace, file: &str) -> String {
    fs::read_to_string(ws.root().join(file)).unwrap()
}

#[test]
fn a_page_keeps_its_rights_and_every_byte_around_the_block() {
    let (_folder, ws) = workspace();
    let page = "\u{feff}# 记忆\r\n<!-- openclaw:dreaming:start -->\r\n- 梦\r\n<!-- openclaw:dreaming:end -->\r\n没有换行";
    put(&ws, "MEMORY.md", page);
    let path = ws.root().join("MEMORY.md");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(replace(&ws, "MEMORY.md", "- 端口 8080").unwrap(), Replaced::Written);
    let block = |lines: &str| format!("{page}\r\n\r\n{BEGIN}\r\n{lines}{END}\r\n");
    assert_eq!(said(&ws, "MEMORY.md"), block("- 端口 8080\r\n"));
    assert_eq!(replace(&ws, "MEMORY.md", "- 端口 8080\n").unwrap(), Replaced::Same);
    assert_eq!(replace(&ws, "MEMORY.md", "").unwrap(), Replaced::Written);
    assert_eq!(said(&ws, "MEMORY.md"), block(""));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    let left: Vec<_> = fs::read_dir(ws.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "nothing but the page and the folder: {left:?}");
}

#[test]
fn a_page_that_is_not_there_is_made_and_one_that_changed_is_left_alone() {
    let (_folder, ws) = workspace();
    fs::remove_dir(ws.root().join("memory")).unwrap();
    let week = "memory/2026-11.md";
    assert_eq!(ws.replace_block(week, None, &redact("# 周记").0).unwrap(), Replaced::Written);
    assert_eq!(said(&ws, week), format!("{BEGIN}\n# 周记\n{END}\n"));
    let block = redact("- 新").0;
    for read in [None, Some(ContentHash::of("别的".as_bytes()))] {
        let refused = ws.replace_block(week, read.as_ref(), &block).unwrap_err();
        assert!(matches!(refused, WorkspaceError::Changed { .. }));
    }
    let read = ws.read(week).unwrap().hash;
    fs::remove_file(ws.root().join(week)).unwrap();
    assert!(matches!(ws.replace_block(week, Some(&read), &block), Err(WorkspaceError::Changed { .. })));
    assert!(!ws.root().join(week).exists(), "what is gone is not made again");
}

#[test]
fn broken_markers_and_links_are_refused_and_left_as_they_are() {
    let (folder, ws) = workspace();
    let broken = format!("# 记忆\n{BEGIN}\n- 甲\n");
    put(&ws, "MEMORY.md", &broken);
    let refused = replace(&ws, "MEMORY.md", "- 新").unwrap_err().to_string();
    assert!(refused.contains("MEMORY.md") && refused.contains("line 2"), "{refused}");
    assert_eq!(said(&ws, "MEMORY.md"), broken);

    fs::write(folder.path().join("secret.md"), "密").unwrap();
    symlink(folder.path().join("secret.md"), ws.root().join("USER.md")).unwrap();
    assert!(replace(&ws, "USER.md", "- 新").is_err());
    assert!(matches!(replace(&ws, "../secret.md", "- 新"), Err(WorkspaceError::Read(_))));
    assert_eq!(fs::read_to_string(folder.path().join("secret.md")).unwrap(), "密");
}

#[test]
fn the_archive_takes_the_same_lines_once() {
    let (_folder, ws) = workspace();
    let archive = |lines: &[&str]| {
        let lines: Vec<_> = lines.iter().map(|line| redact(line).0).collect();
        ws.archive("MEMORY.md", &lines).unwrap();
    };
    archive(&["- 甲", "- 乙"]);
    archive(&["- 甲", "- 乙"]);
    archive(&["- 乙"]);
    archive(&["乙"]);
    archive(&[]);
    let path = ws.root().join(".ocmemd/archive/MEMORY.md");
    assert_eq!(fs::read_to_string(&path).unwrap(), "- 甲\n- 乙\n乙\n");
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(path), mode(ws.root().join(".ocmemd"))), (0o600, 0o700));
    for name in ["../x.md", "a/b", ".x", "", ".."] {
        assert!(ws.archive(name, &[redact("- 甲").0]).is_err(), "{name}");
    }
    fs::remove_dir_all(ws.root().join(".ocmemd")).unwrap();
    symlink("/tmp", ws.root().join(".ocmemd")).unwrap();
    assert!(ws.archive("MEMORY.md", &[redact("- 甲").0]).is_err(), "a link leads anywhere");
}

#[test]
fn many_lines_are_one_write_and_a_second_call_adds_only_what_is_missing() {
    let (_folder, ws) = workspace();
    let texts = ["网关端口改成 18080", "我喜欢乌龙茶\n热的", "发布选在周二"].map(|text| redact(text).0);
    let time = NaiveTime::from_hms_opt(10, 30, 0).unwrap();
    let note = |at: usize, section| Note { section, time, text: &texts[at], session: Some("s1") };
    let (auto, user) = (Section::Auto, Section::User);
    assert_eq!(ws.append_missing(day(), &[note(0, auto), note(1, auto)]).unwrap(), (TODAY.into(), 2));
    let all = [note(0, auto), note(1, auto), note(2, user)];
    assert_eq!(ws.append_missing(day(), &all).unwrap(), (TODAY.into(), 1));
    assert_eq!(ws.append_missing(day(), &all).unwrap(), (TODAY.into(), 0));
    let expected = "## 2026-03-13 记忆记录\n\n### [AUTO] 自动记录关键信息\n- 10:30 网关端口改成 18080 <!-- s:s1 -->\n\
        - 10:30 我喜欢乌龙茶\n  热的 <!-- s:s1 -->\n\n### [USER] 用户明确要求\n- 10:30 发布选在周二 <!-- s:s1 -->\n";
    assert_eq!(text(&ws), expected);
    let other = day().succ_opt().unwrap();
    assert_eq!(ws.append_missing(other, &[]).unwrap().1, 0);
    assert!(!ws.root().join("memory/2026-03-14.md").exists());
}

const PROCESSES: usize = 20;
const LINES: usize = 8;
const APPEND_TO: &str = "OCMEMD_TEST_APPEND_TO";

/// What each process of the next test does; by itself it does nothing.
#[test]
fn appends_when_it_is_told_to() {
    let Some(root) = std::env::var_os(APPEND_TO) else { return };
    let ws = Workspace::new(root.into(), UserId::new("主人").unwrap());
    for line in 0..LINES {
        let text = format!("进程 {} 的第 {line} 句", std::process::id());
        append(&ws, Section::Auto, &text, None).unwrap();
    }
}

#[test]
fn twenty_processes_lose_no_line_while_the_block_is_replaced_fifty_times() {
    let (_folder, ws) = workspace();
    put(&ws, TODAY, "## 早\n- 我的一行");
    let appender = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["workspace::tests::managed::appends_when_it_is_told_to", "--exact"]);
        command.env(APPEND_TO, ws.root()).stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let processes: Vec<_> = (0..PROCESSES).map(|_| appender()).collect();
    for round in 0..50 {
        while let Err(error) = replace(&ws, TODAY, &format!("- 第 {round} 版")) {
            assert!(
                matches!(
                    error,
                    WorkspaceError::Changed { .. } | WorkspaceError::Read(ReadError::Changing { .. })
                ),
                "{error}"
            );
        }
    }
    let ids: Vec<u32> = processes
        .into_iter()
        .map(|mut process| {
            let id = process.id();
            assert!(process.wait().unwrap().success());
            id
        })
        .collect();
    let text = text(&ws);
    assert!(text.starts_with("## 早\n- 我的一行\n") && text.contains("- 第 49 版\n"), "{text}");
    for id in ids {
        for line in 0..LINES {
            assert_eq!(text.matches(&format!("- 10:30 进程 {id} 的第 {line} 句\n")).count(), 1, "{text}");
        }
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("- ")).count(), 2 + PROCESSES * LINES);
}
