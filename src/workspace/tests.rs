mod flush;
mod managed;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::thread;

use chrono::{NaiveDate, NaiveTime};
use tempfile::TempDir;

use super::*;
use crate::memory::entry::ContentHash;
use crate::memory::redact::redact;

fn workspace() -> (TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("工作区");
    fs::create_dir_all(root.join("memory")).unwrap();
    (folder, Workspace::new(root, UserId::new("主人").unwrap()))
}

fn day() -> NaiveDate {
    NaiveDate::from_ymd_opt(2026, 3, 13).unwrap()
}

const TODAY: &str = "memory/2026-03-13.md";

fn append(
    ws: &Workspace,
    section: Section,
    text: &str,
    session: Option<&str>,
) -> Result<Appended, WorkspaceError> {
    let time = NaiveTime::from_hms_opt(10, 30, 0).unwrap();
    ws.append_today(day(), &Note { section, time, text: &redact(text).0, session })
}

fn put(ws: &Workspace, file: &str, bytes: impl AsRef<[u8]>) {
    let path = ws.root().join(file);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn text(ws: &Workspace) -> String {
    fs::read_to_string(ws.root().join(TODAY)).unwrap()
}

#[test]
fn a_day_is_written_in_the_published_format() {
    let (_folder, ws) = workspace();
    let first = append(&ws, Section::User, "网关端口改成 8080", Some("agent:main:main")).unwrap();
    assert_eq!(first, Appended { file: TODAY.into(), line: 4 });
    assert_eq!(append(&ws, Section::User, "喜欢乌龙茶", None).unwrap().line, 5);
    assert_eq!(append(&ws, Section::Auto, "部署脚本在 ~/bin", Some("s1")).unwrap().line, 8);
    let expected = "## 2026-03-13 记忆记录\n\n### [USER] 用户明确要求\n- 10:30 网关端口改成 8080 <!-- s:agent:main:main -->\n\
                    - 10:30 喜欢乌龙茶\n\n### [AUTO] 自动记录关键信息\n- 10:30 部署脚本在 ~/bin <!-- s:s1 -->\n";
    assert_eq!(text(&ws), expected);
}

#[test]
fn what_others_wrote_stays_as_it_was() {
    let own = "## 2026-03-13 记忆记录\n\n### [AUTO] 自动记录关键信息\n";
    let crlf = "\r\n## 2026-03-13 记忆记录\r\n\r\n### [AUTO] 自动记录关键信息\r\n- 10:30 记\r\n";
    let table = [
        ("# 2026-03-13\n\n- 甲", format!("\n\n{own}- 10:30 记\n")),
        ("\u{feff}## 系统\r\n- 甲\r\n", crlf.to_owned()),
        (own, "- 10:30 记\n".to_owned()),
        // A section of the agent's own came after ours.
        (&format!("{own}- 乙\n\n## 系统\n- 丙\n"), format!("\n{own}- 10:30 记\n")),
        (&format!("{own}- 乙\n\n### 杂记\n- 丙\n"), "\n### [AUTO] 自动记录关键信息\n- 10:30 记\n".to_owned()),
        // A tag is no heading, and neither is a comment in a fence.
        (&format!("{own}- 乙\n#网关\n"), "- 10:30 记\n".to_owned()),
        (&format!("{own}```\n# 注释\n```\n"), "- 10:30 记\n".to_owned()),
    ];
    for (old, added) in table {
        let (_folder, ws) = workspace();
        put(&ws, TODAY, old);
        let line = append(&ws, Section::Auto, "记", None).unwrap().line;
        assert_eq!(text(&ws), format!("{old}{added}"));
        assert_eq!(text(&ws).lines().nth(line as usize - 1), Some("- 10:30 记"));
    }
}

#[test]
fn a_text_cannot_break_out_of_its_bullet() {
    let (_folder, ws) = workspace();
    let nasty = "第一行\r\n# 标题\n\n- 另一条\n```\n---\n<!-- s:别人 -->\n\u{7}完";
    let line = append(&ws, Section::User, nasty, Some("s1")).unwrap().line as usize;
    let text = text(&ws);
    let lines: Vec<_> = text.lines().skip(line - 1).collect();
    assert_eq!(
        lines,
        [
            "- 10:30 第一行",
            "  \\# 标题",
            "  - 另一条",
            "  \\```",
            "  \\---",
            "  &lt;!-- s:别人 -->",
            "  完 <!-- s:s1 -->"
        ]
    );
    assert!(matches!(append(&ws, Section::User, " \n\t", None), Err(WorkspaceError::Empty)));
    for session in ["", "a b", "x-->", "a\nb", &"s".repeat(257)] {
        assert!(matches!(append(&ws, Section::User, "好", Some(session)), Err(WorkspaceError::Session)));
    }
}

#[test]
fn sixteen_writers_at_once_leave_whole_lines_and_one_heading() {
    let (_folder, ws) = workspace();
    fs::remove_dir(ws.root().join("memory")).unwrap();
    let places: Vec<_> = thread::scope(|scope| {
        let writer = |number: usize| {
            let ws = &ws;
            move || {
                let write =
                    |turn| append(ws, Section::User, &format!("第{number}人第{turn}句"), None).unwrap();
                (0..8)
                    .map(|turn| (write(turn).line, format!("- 10:30 第{number}人第{turn}句")))
                    .collect::<Vec<_>>()
            }
        };
        let writers: Vec<_> = (0..16).map(|number| scope.spawn(writer(number))).collect();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let text = text(&ws);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 3 + 16 * 8);
    assert_eq!(
        text.matches("##").count(),
        2,
        "one heading of the day, one (### holds ## once) of the section"
    );
    for (line, said) in places {
        assert_eq!(lines[line as usize - 1], said);
    }
}

#[test]
fn nothing_is_written_where_it_could_not_be_read_again() {
    let (folder, ws) = workspace();
    put(&ws, TODAY, [0xc4, 0xe3, 0xba, 0xc3]);
    let refused = append(&ws, Section::User, "好", None).unwrap_err();
    assert!(refused.to_string().contains("iconv"), "{refused}");

    let full = vec![b'x'; MAX_FILE_BYTES as usize - 1];
    put(&ws, TODAY, &full);
    assert!(matches!(append(&ws, Section::User, "好", None), Err(WorkspaceError::Full { .. })));
    assert_eq!(fs::read(ws.root().join(TODAY)).unwrap(), full);

    let away = Workspace::new(folder.path().join("没有"), UserId::new("主人").unwrap());
    assert!(matches!(append(&away, Section::User, "好", None), Err(WorkspaceError::Unreachable(_))));
    assert!(!away.root().exists());
}

#[test]
fn a_note_is_read_as_it_stands() {
    let (_folder, ws) = workspace();
    let bytes = "\u{feff}## [USER]\r\n- 09:05 喜欢乌龙茶\r\n- 21:40 最后一行".as_bytes();
    put(&ws, TODAY, bytes);
    let read = ws.read(TODAY).unwrap();
    assert_eq!((read.text.as_bytes(), read.hash), (bytes, ContentHash::of(bytes)));

    put(&ws, "memory/gbk.md", b"- one\n- \xc4\xe3\xba\xc3\n");
    let error = ws.read("memory/gbk.md").unwrap_err();
    assert!(matches!(&error, ReadError::NotUtf8 { line: 2, .. }), "{error}");
    assert!(error.to_string().contains("memory/gbk.md"));
    put(&ws, "memory/big.md", vec![b'x'; MAX_FILE_BYTES as usize + 1]);
    assert!(matches!(ws.read("memory/big.md"), Err(ReadError::Skipped { why: Why::TooLarge(_), .. })));
    assert!(matches!(ws.read("memory/没有.md"), Err(ReadError::Gone { .. })));
    assert!(matches!(ws.read("memory/没有/x.md"), Err(ReadError::Skipped { why: Why::Missing, .. })));
}

#[test]
fn no_name_leads_out_of_the_workspace() {
    let (folder, ws) = workspace();
    fs::write(folder.path().join("secret.md"), "密").unwrap();
    symlink(folder.path().join("secret.md"), ws.root().join("memory/link.md")).unwrap();
    symlink(folder.path(), ws.root().join("memory/out")).unwrap();
    for name in [
        "../secret.md",
        "memory/../../secret.md",
        "/etc/passwd",
        "..",
        ".",
        "memory/a\\b.md",
        "memory/a\0.md",
    ] {
        assert!(matches!(ws.read(name), Err(ReadError::NotANote { .. })), "{name:?}");
    }
    for name in ["memory/link.md", "memory/out/secret.md"] {
        assert!(matches!(ws.read(name), Err(ReadError::Skipped { why: Why::Link, .. })), "{name:?}");
    }
    symlink(folder.path().join("secret.md"), ws.root().join(TODAY)).unwrap();
    assert!(append(&ws, Section::User, "好", None).is_err());
    assert_eq!(fs::read_to_string(folder.path().join("secret.md")).unwrap(), "密");
}

#[test]
fn a_scan_lists_the_notes_and_names_what_it_skips() {
    let (folder, ws) = workspace();
    for file in
        ["MEMORY.md", "AGENTS.md", TODAY, "memory/项目/网关.md", "memory/.obsidian/x.md", "memory/x.txt"]
    {
        put(&ws, file, "- 忆\n");
    }
    put(&ws, "memory/big.md", vec![b'x'; MAX_FILE_BYTES as usize + 1]);
    put(&ws, &format!("memory/{}x.md", "深/".repeat(MAX_DEPTH + 1)), "- 深\n");
    symlink(folder.path(), ws.root().join("memory/out")).unwrap();
    fs::create_dir(ws.root().join("USER.md")).unwrap();

    let scan = ws.scan();
    let files: Vec<_> = scan.files.iter().map(|found| (found.file.as_str(), found.size)).collect();
    assert_eq!(files, [("MEMORY.md", 6), (TODAY, 6), ("memory/项目/网关.md", 6)]);
    let deep = format!("memory/{}", ["深"; MAX_DEPTH + 1].join("/"));
    let skipped: Vec<_> = scan.skipped.iter().map(|skipped| (skipped.path.as_str(), &skipped.why)).collect();
    let large = Why::TooLarge(MAX_FILE_BYTES + 1);
    let expected = [
        ("USER.md", &Why::NotAFile),
        ("memory/big.md", &large),
        ("memory/out", &Why::Link),
        (deep.as_str(), &Why::TooDeep),
    ];
    assert_eq!(skipped, expected);
    assert_eq!(scan.root(), RootState::Present);
    assert_eq!(scan.state("memory/没有.md"), FileState::Gone);
    assert_eq!(scan.state("memory/outside.md"), FileState::Gone);
    assert_eq!(scan.state("memory/out/x.md"), FileState::Unreadable(&Why::Link));
    assert_eq!(scan.state(TODAY), FileState::Present(&scan.files[1]));
}

#[test]
fn what_cannot_be_looked_at_is_not_gone() {
    let (folder, ws) = workspace();
    let known = ["MEMORY.md", TODAY, "memory/a/x.md"];
    let fill = || known.iter().for_each(|file| put(&ws, file, "- 忆\n"));
    let gone = |scan: &Scan| known.into_iter().filter(|file| scan.state(file) == FileState::Gone).count();
    fill();

    fs::rename(ws.root(), folder.path().join("away")).unwrap();
    let scan = ws.scan();
    assert_eq!((gone(&scan), scan.root() == RootState::Present), (0, false), "the root vanished");
    fs::create_dir(ws.root()).unwrap();
    let scan = ws.scan();
    assert_eq!((gone(&scan), scan.root() == RootState::Present), (1, false), "an empty folder in its place");
    assert!(matches!(judge(3, gone(&scan), &scan.root()), Deletions::Hold(Hold::Unreachable { .. })));

    fill();
    let shut = |path: &str, mode| {
        fs::set_permissions(ws.root().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    for path in ["memory", "memory/a"] {
        shut(path, 0o000);
        // Whoever may read everything sees no difference.
        if fs::read_dir(ws.root().join(path)).is_err() {
            let scan = ws.scan();
            assert_eq!(gone(&scan), 0, "{path} is unreadable");
            assert!(matches!(scan.state("memory/a/x.md"), FileState::Unreadable(Why::Refused(_))));
            assert!(!matches!(ws.read("memory/a/x.md"), Err(ReadError::Gone { .. })));
        }
        shut(path, 0o755);
    }
    fs::remove_file(ws.root().join("MEMORY.md")).unwrap();
    assert_eq!(gone(&ws.scan()), 1);
}

#[test]
fn only_few_notes_are_forgotten_without_asking() {
    let present = RootState::Present;
    for (known, gone, apply) in [
        (50, 1, true),
        (50, 25, true),
        (50, 26, false),
        (50, 45, false),
        (50, 50, false),
        (4, 2, true),
        (3, 2, true),
        (4, 3, false),
        (2, 2, false),
        (1, 1, true),
        (0, 0, true),
    ] {
        assert_eq!(judge(known, gone, &present) == Deletions::Apply, apply, "{gone} of {known}");
    }
}

#[test]
fn a_workspace_is_made_once_and_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let ws = Workspace::new(folder.path().join("新/工作区"), UserId::new("主人").unwrap());
    assert_eq!(ws.create(day()).unwrap(), ["memory", TODAY]);
    assert_eq!(text(&ws), "## 2026-03-13 记忆记录\n");
    assert!(ws.create(day()).unwrap().is_empty());
    append(&ws, Section::User, "好", None).unwrap();
    assert_eq!(text(&ws), "## 2026-03-13 记忆记录\n\n### [USER] 用户明确要求\n- 10:30 好\n");
    put(&ws, "SOUL.md", "");
    assert_eq!(ws.missing_files(), ["AGENTS.md", "IDENTITY.md", "MEMORY.md", "TOOLS.md", "USER.md"]);
}

#[test]
fn the_workspace_is_found_where_it_was_named() {
    let home = tempfile::tempdir().unwrap();
    let path = |below: &str| home.path().join(below);
    let found = |variables: &[(&str, PathBuf)]| {
        let mut all: BTreeMap<_, _> = [("HOME".to_owned(), home.path().to_owned().into_os_string())].into();
        all.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))));
        let candidates = discover(|name| all.get(name).cloned());
        candidates.into_iter().map(|found| (found.path, found.origin, found.exists)).collect::<Vec<_>>()
    };
    let usual = (path(".openclaw/workspace"), Origin::StateFolder, true);
    fs::create_dir_all(path(".openclaw/workspace")).unwrap();
    assert_eq!(found(&[]), std::slice::from_ref(&usual));

    fs::write(path(".openclaw/openclaw.json"), r#"{"agents":{"defaults":{"workspace":"~/助手"}}}"#).unwrap();
    let named = (path("别处"), Origin::Variable, false);
    let configured = (path("助手"), Origin::HostConfiguration, false);
    assert_eq!(found(&[("OPENCLAW_WORKSPACE_DIR", path("别处"))]), [named, configured, usual.clone()]);

    fs::write(path(".openclaw/openclaw.json"), "{agents: not json}").unwrap();
    assert_eq!(found(&[("OPENCLAW_WORKSPACE_DIR", PathBuf::new())]), [usual]);
    let state = (path("state/workspace"), Origin::StateFolder, false);
    assert_eq!(found(&[("OPENCLAW_STATE_DIR", path("state"))]), [state]);
    assert!(discover(|_| None).is_empty());
}
