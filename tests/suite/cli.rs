//! What people type, what they read, and the exit codes. Where only the command line is in question, a stand-in answers
//! in the daemon's place and keeps what it was asked.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::UnixListener;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::Home;

/// What a command said.
fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn memory() -> Value {
    json!({
        "id": "mem_0123456789abcdef", "content": "部署 agent：work-agent (端口 8081)", "kind": "fact", "mark": "user",
        "importance": 5, "day": "2026-03-07", "created_at": "2026-03-07T06:00:00Z", "access_count": 0,
        "source": { "workspace": "/w", "file": "memory/2026-03-07.md", "lines": [3, 3] },
    })
}

/// Answers every request with `result`; what was asked comes out of the channel.
fn stand_in(home: &Home, result: Value) -> Receiver<Value> {
    let folder = home.path().join("run");
    fs::create_dir_all(&folder).unwrap();
    let listener = UnixListener::bind(folder.join("ocmemd.sock")).unwrap();
    let (asked, requests) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut line = String::new();
            if BufReader::new(stream.try_clone().unwrap()).read_line(&mut line).unwrap() == 0 {
                continue;
            }
            let request: Value = serde_json::from_str(&line).unwrap();
            let outcome = if result.get("code").is_some() { "error" } else { "result" };
            let mut answer = json!({ "jsonrpc": "2.0", "id": request["id"] });
            answer[outcome] = result.clone();
            writeln!(stream, "{answer}").unwrap();
            asked.send(request).unwrap();
        }
    });
    requests
}

#[test]
fn init_makes_the_workspace_ready_and_a_second_time_changes_nothing() {
    let home = Home::new();
    fs::remove_file(home.path().join("config.toml")).unwrap();
    fs::remove_dir_all(home.workspace()).unwrap();
    let workspace = home.workspace().display().to_string();
    let first = home.run(&["init", &workspace, "--owner", "小明", "--json"]);
    assert!(first.status.success(), "{}", err(&first));
    let done: Value = serde_json::from_str(&out(&first)).unwrap();
    assert_eq!(done["config_changed"], true);
    assert_eq!(done["created"].as_array().unwrap().len(), 2);
    assert!(done["missing"].as_array().unwrap().contains(&"SOUL.md".into()));

    let before = fs::read_to_string(home.path().join("config.toml")).unwrap();
    let second = home.run(&["init", &workspace]);
    assert!(second.status.success() && out(&second).contains("knows it already"), "{}", out(&second));
    assert_eq!(fs::read_to_string(home.path().join("config.toml")).unwrap(), before);
    let other = home.run(&["init", &workspace, "--owner", "小红"]);
    assert_eq!(other.status.code(), Some(2), "{}", err(&other));

    let more = home.path().join("second");
    assert!(home.run(&["init", more.to_str().unwrap()]).status.success());
    let shown: Value = serde_json::from_str(&out(&home.run(&["config", "show", "--json"]))).unwrap();
    assert_eq!(shown["workspaces"].as_array().unwrap().len(), 2);
    assert_eq!(shown["workspaces"][0]["owner"], "小明");
}

#[test]
fn init_finds_the_hosts_workspace_or_names_where_it_looked() {
    let home = Home::new();
    fs::remove_file(home.path().join("config.toml")).unwrap();
    let lost = home.run(&["init"]);
    assert_eq!(lost.status.code(), Some(2));
    assert!(err(&lost).contains(".openclaw/workspace"), "{}", err(&lost));
    fs::create_dir_all(home.path().join(".openclaw/workspace")).unwrap();
    let found = home.run(&["init"]);
    assert!(out(&found).contains(".openclaw/workspace"), "{}", err(&found));
}

#[test]
fn without_a_daemon_every_client_command_says_so_and_ends_with_three() {
    let home = Home::new();
    let commands: [&[&str]; 10] = [
        &["search", "端口"],
        &["context", "端口"],
        &["remember", "端口是 8081"],
        &["forget", "mem_0", "--yes"],
        &["clear", "2026-03-13", "--yes"],
        &["sweep"],
        &["list"],
        &["get", "mem_0"],
        &["reindex"],
        &["status"],
    ];
    for command in commands {
        let output = home.run(command);
        assert_eq!(output.status.code(), Some(3), "{command:?}: {}", err(&output));
        assert!((out(&output) + &err(&output)).contains("ocmemd daemon"), "{command:?}");
    }
    let json = home.run(&["list", "--json"]);
    let error: Value = serde_json::from_str(&err(&json)).unwrap();
    assert_eq!(error["error"]["kind"], "not_running");
}

#[test]
fn texts_are_in_the_users_language() {
    let home = Home::new();
    let said = |variables: &[(&str, &str)], arguments: &[&str]| {
        out(&home.command(arguments).envs(variables.iter().copied()).output().unwrap())
    };
    assert!(said(&[], &["status"]).contains("Not running"));
    assert!(said(&[("LANG", "zh_CN.UTF-8")], &["status"]).contains("没有运行"));
    assert!(said(&[("LC_ALL", "en_US.UTF-8"), ("LANG", "zh_CN.UTF-8")], &["status"]).contains("Not running"));
    assert!(said(&[("LANG", "zh_CN.UTF-8")], &["status", "--lang", "en"]).contains("Not running"));
    assert!(said(&[("LANG", "zh_CN.UTF-8")], &["--help"]).contains("搜索记忆"));
}

#[test]
fn a_search_is_asked_for_the_owner_and_shown_without_colours() {
    let home = Home::new();
    let hit = {
        let mut hit = memory();
        hit["score"] = 0.83.into();
        hit
    };
    let legs = json!([{ "leg": "vector", "ran": false, "candidates": 0, "why_not": "no model" }]);
    let timings =
        json!({ "segment_ms": 0.1, "embed_ms": 0.0, "search_ms": 1.0, "rank_ms": 0.1, "total_ms": 1.2 });
    let requests = stand_in(&home, json!({ "hits": [hit], "legs": legs, "timings": timings }));
    let output = home.run(&["search", "work-agent 端口是多少？", "--top-k", "3", "--explain"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let asked = requests.recv().unwrap();
    assert_eq!(asked["method"], "search");
    assert_eq!(asked["params"]["user"], "owner");
    assert_eq!(asked["params"]["top_k"], 3);
    let text = out(&output);
    for part in ["1. 0.83", "2026-03-07", "8081", "memory/2026-03-07.md:3", "no model", "total 1.2 ms"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "{text:?}");

    home.run(&["search", "x", "--user", "小红", "--shared"]);
    let asked = requests.recv().unwrap();
    assert_eq!((&asked["params"]["user"], &asked["params"]["audience"]), (&json!("小红"), &json!("shared")));
}

#[test]
fn an_error_of_the_daemon_is_an_error_and_not_an_empty_answer() {
    let home = Home::new();
    let _requests = stand_in(
        &home,
        json!({ "code": -32003, "message": "no such memory", "data": { "kind": "not_found" } }),
    );
    let output = home.run(&["get", "mem_0"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).is_empty() && err(&output).contains("no such memory"), "{}", err(&output));
}

#[test]
fn forget_asks_before_and_forgets_exactly_what_it_showed() {
    let home = Home::new();
    let requests = stand_in(&home, json!({ "items": [memory()], "forgotten": false, "still_in_files": [] }));
    let refused = home.run(&["forget", "--day", "2026-03-07"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(err(&refused).contains("--yes"), "{}", err(&refused));

    let dry = home.run(&["forget", "--day", "2026-03-07", "--dry-run"]);
    assert!(dry.status.success() && out(&dry).contains("Would be forgotten: 1"), "{}", out(&dry));
    assert_eq!(requests.recv().unwrap()["params"]["dry_run"], true);

    assert!(home.run(&["forget", "--query", "旧端口", "--yes"]).status.success());
    let (look, deed) = (requests.recv().unwrap(), requests.recv().unwrap());
    assert_eq!((&look["params"]["dry_run"], &look["params"]["query"]), (&json!(true), &json!("旧端口")));
    assert_eq!(deed["params"]["dry_run"], false);
    assert_eq!(deed["params"]["ids"], json!(["mem_0123456789abcdef"]));
    assert!(deed["params"]["query"].is_null());
    assert!(requests.try_recv().is_err());
}

#[test]
fn clear_asks_before_and_clears_exactly_what_it_showed() {
    let home = Home::new();
    let answer = json!({
        "items": [memory()], "more": false, "count": 1, "selection": "abc", "cleared": false, "lines_cut": 1,
        "still_in_files": 0, "not_cut": [],
    });
    let requests = stand_in(&home, answer);
    let refused = home.run(&["clear", "2026-03-07"]);
    assert_eq!(refused.status.code(), Some(2));
    let dry = home.run(&["clear", "--before", "2026-03-08", "--files", "--dry-run"]);
    assert!(dry.status.success() && out(&dry).contains("Would be cleared: 1"), "{}", out(&dry));
    let look = &requests.recv().unwrap()["params"];
    assert_eq!(
        (&look["dry_run"], &look["files"], &look["before"]),
        (&json!(true), &json!(true), &json!("2026-03-08"))
    );

    assert!(home.run(&["clear", "2026-03-07", "--yes"]).status.success());
    let (look, deed) = (requests.recv().unwrap(), requests.recv().unwrap());
    assert_eq!((&look["params"]["dry_run"], &look["params"]["selection"]), (&json!(true), &Value::Null));
    assert_eq!((&deed["params"]["dry_run"], &deed["params"]["selection"]), (&json!(false), &json!("abc")));
    assert_eq!(deed["params"]["day"], "2026-03-07");
}

#[test]
fn a_sweep_that_waits_says_so_and_is_no_success() {
    let home = Home::new();
    let mut item = memory();
    item["why"] = "unused".into();
    let answer =
        json!({ "items": [item], "more": false, "count": 3, "of": 9, "held": "too_much", "done": false });
    let requests = stand_in(&home, answer);
    let held = home.run(&["sweep"]);
    assert_eq!(held.status.code(), Some(1));
    assert!(out(&held).contains("3 of 9") && out(&held).contains("--accept"), "{}", out(&held));
    assert_eq!(requests.recv().unwrap()["params"]["accept"], false);
    assert!(home.run(&["sweep", "--dry-run"]).status.success());
    assert_eq!(requests.recv().unwrap()["params"]["dry_run"], true);
}

#[test]
fn wrong_usage_ends_with_two_and_a_wrong_configuration_names_its_line() {
    let home = Home::new();
    for command in [
        &["forget"][..],
        &["forget", "mem_0", "--day", "2026-03-07"],
        &["clear"],
        &["clear", "2026-03-07", "--before", "2026-03-08"],
        &["list", "--since", "昨天"],
        &["x"],
        &[],
    ] {
        assert_eq!(home.run(command).status.code(), Some(2), "{command:?}");
    }
    home.configure("[long_term]\ntopk = 5\n");
    let checked = home.run(&["config", "check"]);
    assert_eq!(checked.status.code(), Some(1));
    assert!(err(&checked).contains("config.toml:2: there is no key `long_term.topk`"), "{}", err(&checked));
}

#[test]
fn config_show_tells_where_each_value_comes_from() {
    let home = Home::new();
    home.configure("[long_term]\ntop_k = 6\n");
    let mut command = home.command(&["config", "show", "--set", "recall.time=recency"]);
    let text = out(&command.env("OCMEMD_LONG_TERM__MIN_SCORE", "0.5").output().unwrap());
    let line = |key: &str| text.lines().find(|line| line.starts_with(key)).unwrap_or_default().to_owned();
    assert!(line("top_k").contains("= 6 ") && line("top_k").ends_with("config.toml:2"), "{text}");
    assert!(line("min_score").ends_with("# OCMEMD_LONG_TERM__MIN_SCORE"), "{text}");
    assert!(line("time = ").ends_with("# --set"), "{text}");
    assert!(line("window_size").ends_with("# default"), "{text}");
}

#[test]
fn a_bare_environment_is_an_error_that_says_what_to_set() {
    let folder = TempDir::new().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ocmemd"));
    let output = command.env_clear().current_dir(folder.path()).arg("status").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("HOME") && err(&output).contains("--home"), "{}", err(&output));

    let mut command = Command::new(env!("CARGO_BIN_EXE_ocmemd"));
    command
        .env_clear()
        .env("HOME", folder.path())
        .env("XDG_RUNTIME_DIR", "relative")
        .env("XDG_STATE_HOME", "too");
    let output = command.current_dir(folder.path()).arg("status").output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", err(&output));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "asking for the status makes no folder");
}

#[test]
fn schema_and_completions_are_printed_and_a_text_may_come_from_standard_input() {
    let home = Home::new();
    let schema: Value = serde_json::from_str(&out(&home.run(&["schema", "search"]))).unwrap();
    assert!(schema["params"]["$defs"]["SearchParams"]["properties"]["query"].is_object());
    assert_eq!(home.run(&["schema", "sing"]).status.code(), Some(2));
    assert!(out(&home.run(&["completions", "bash"])).contains("remember"));

    let requests = stand_in(&home, json!({ "item": memory(), "deduped": false, "redacted": 1 }));
    let mut child =
        home.command(&["remember", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all("出差订靠走道的座位\n".as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(requests.recv().unwrap()["params"]["text"], "出差订靠走道的座位");
    assert!(out(&output).contains("placeholders: 1"), "{}", out(&output));
}
