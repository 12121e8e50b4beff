//! Flush markers, taken by the real daemon: whenever they are dropped, and wherever it dies over them.

use std::fs;
use std::process::Stdio;
use std::sync::mpsc;

use chrono::{DateTime, TimeDelta, Utc};
use ocmemd::memory::Kind;
use ocmemd::wire::Event;
use ocmemd::wire::methods::{
    FlushMessage, FlushParams, FlushResult, ListParams, ListResult, Method, StatusParams,
};
use ocmemd::wire::status::Status;
use rustix::process::{Pid, Signal, kill_process};

use crate::support::{Home, LONG, Running, wait_for};

/// Every step of a flush.
const POINTS: [&str; 9] = [
    "flush.read",
    "flush.kept",
    "flush.planned",
    "flush.appended",
    "flush.ingested",
    "flush.finished",
    "flush.stored",
    "flush.summarised",
    "flush.removed",
];

/// Drops a marker as hosts do: under another name first.
fn drop_marker(home: &Home, name: &str, text: &str) {
    let folder = home.workspace().join(".ocmemd/flush");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(format!("{name}.tmp")), text).unwrap();
    fs::rename(folder.join(format!("{name}.tmp")), folder.join(name)).unwrap();
}

fn marker(at: DateTime<Utc>, user: &str, content: &str) -> String {
    let messages = serde_json::json!([{ "role": "user", "content": content, "id": "m1" }]);
    serde_json::json!({
        "v": 1, "session_id": "s1", "user_id": user, "created_at": at, "messages": messages
    })
    .to_string()
}

/// Waits until no marker is left.
async fn all_taken(home: &Home, running: &Running) {
    let mut events = running.events().await;
    while waiting(home) > 0 {
        wait_for(&mut events, |event| matches!(event, Event::Flushed { .. })).await;
    }
}

fn waiting(home: &Home) -> usize {
    let listed = fs::read_dir(home.workspace().join(".ocmemd/flush")).unwrap();
    listed.filter(|entry| entry.as_ref().unwrap().path().is_file()).count()
}

fn notes(home: &Home) -> Vec<String> {
    let listed = fs::read_dir(home.workspace().join("memory")).unwrap();
    let mut notes: Vec<_> = listed.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
    notes.sort();
    notes
}

async fn contents(running: &Running, user: &str) -> Vec<String> {
    listed(running, user, |kind| kind != Kind::Summary).await
}

async fn listed(running: &Running, user: &str, wanted: impl Fn(Kind) -> bool) -> Vec<String> {
    let params = ListParams { user: user.into(), ..ListParams::default() };
    let listed: ListResult = running.call(Method::List, params).await;
    let wanted = listed.items.into_iter().filter(|item| wanted(item.kind));
    let mut contents: Vec<_> = wanted.map(|item| item.content).collect();
    contents.sort();
    contents
}

#[tokio::test]
async fn a_marker_dropped_while_the_daemon_is_down_is_taken_when_it_starts() {
    let home = Home::new();
    drop_marker(&home, "1.json", &marker(Utc::now(), "owner", "网关端口改成 18080"));
    let running = home.start();
    all_taken(&home, &running).await;
    assert!(notes(&home)[0].contains(" 网关端口改成 18080 <!-- s:s1 -->\n"), "{:?}", notes(&home));
    assert_eq!(contents(&running, "owner").await, ["网关端口改成 18080"]);
}

#[tokio::test]
async fn a_marker_dropped_while_the_daemon_runs_is_taken_with_its_event() {
    let home = Home::new();
    let running = home.start();
    let mut events = running.events().await;
    drop_marker(&home, "1.json", &marker(Utc::now(), "owner", "我喜欢乌龙茶"));
    let taken = wait_for(&mut events, |event| matches!(event, Event::Flushed { .. })).await;
    assert_eq!(taken, Event::Flushed { markers: 1, captured: 1 });
    assert_eq!((waiting(&home), contents(&running, "owner").await), (0, vec!["我喜欢乌龙茶".to_owned()]));
}

#[tokio::test]
async fn the_method_and_the_command_do_what_a_marker_does() {
    let home = Home::new();
    assert_eq!(home.run(&["flush"]).status.code(), Some(3), "nobody is there");
    let running = home.start();
    let message = |content: &str| FlushMessage { role: "user".into(), content: content.into(), id: None };
    let params = FlushParams {
        user: "owner".into(),
        session: Some("s1".into()),
        messages: vec![message("我们决定用 SQLite"), message("谢谢")],
        ..FlushParams::default()
    };
    for (captured, known, summarised) in [(1, 0, 2), (0, 1, 0)] {
        let done: FlushResult = running.call(Method::Flush, &params).await;
        assert_eq!((done.captured, done.known, done.summarised), (captured, known, summarised));
        assert!(done.file.unwrap().starts_with("memory/"));
    }
    assert_eq!(contents(&running, "owner").await, ["我们决定用 SQLite"]);

    drop_marker(&home, "half.json", "{\"v\":1,");
    let said = home.run(&["flush", "--session", "s1", "--json"]);
    assert!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));
    assert!(home.workspace().join(".ocmemd/flush/rejected/half.json.reason.txt").exists());
    let status: Status = running.call(Method::Status, StatusParams {}).await;
    let errors = status.daemon.unwrap().errors;
    assert!(errors.iter().any(|error| error.message.contains("half.json.reason.txt")), "{errors:?}");
}

#[tokio::test]
async fn wherever_the_daemon_dies_the_next_one_ends_in_the_same_state() {
    let at = Utc::now() - TimeDelta::minutes(2);
    let prepared = || {
        let home = Home::new();
        drop_marker(&home, "1.json", &marker(at, "owner", "网关端口改成 18080。请记住：车位是 B2-117"));
        drop_marker(&home, "2.json", &marker(at, "guest", "我对花生过敏"));
        home
    };
    let undisturbed = state(&prepared()).await;
    assert_eq!((undisturbed.1.len(), undisturbed.2.len(), undisturbed.3.len()), (2, 1, 1));
    for point in POINTS {
        let home = prepared();
        die_at(&home, point);
        assert_eq!(state(&home).await, undisturbed, "{point}");
    }
}

/// What there is once a daemon has started and taken everything.
async fn state(home: &Home) -> (Vec<String>, Vec<String>, Vec<String>, Vec<String>) {
    let running = home.start();
    all_taken(home, &running).await;
    let summaries = listed(&running, "guest", |kind| kind == Kind::Summary).await;
    (notes(home), contents(&running, "owner").await, contents(&running, "guest").await, summaries)
}

/// Runs a daemon until it dies at that point.
fn die_at(home: &Home, point: &str) {
    let mut command = home.command(&["daemon"]);
    let mut child = command.env("OCMEMD_TEST_FAULT", point).stderr(Stdio::null()).spawn().unwrap();
    let pid = Pid::from_child(&child);
    let (died, dying) = mpsc::channel();
    std::thread::spawn(move || died.send(child.wait().unwrap()));
    let status = dying.recv_timeout(LONG).unwrap_or_else(|_| {
        let _ = kill_process(pid, Signal::KILL);
        panic!("the daemon did not come to {point}");
    });
    assert!(!status.success(), "{point}: {status}");
}
