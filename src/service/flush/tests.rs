use std::fs;

use chrono_tz::Asia::Shanghai;
use tempfile::TempDir;

use super::*;
use crate::clock::Zone;
use crate::config::ShortTerm;
use crate::memory::{Kind, Memory};
use crate::store::Filter;

/// A workspace and a store, on 2026-03-13 at 10:30 in Shanghai.
struct Desk {
    _folder: TempDir,
    workspace: Workspace,
    store: Store,
    clock: Clock,
    flush: Flush,
    turns: Turns,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("工作区");
        fs::create_dir_all(root.join("memory")).unwrap();
        let workspace = Workspace::new(root, UserId::new("主人").unwrap());
        workspace.make_marker_folder().unwrap();
        let store = Store::open(&folder.path().join("memory.sqlite")).unwrap();
        let clock = Clock::manual(at("2026-03-13T10:30:00+08:00"), Zone::Fixed(Shanghai));
        let ingest = Ingest::new(store.clone(), clock.clone());
        let turns = Turns::new(store.clone(), clock.clone(), &ShortTerm::default(), Frame::default());
        let flush = Flush::new(store.clone(), ingest, clock.clone(), Frame::default(), turns.clone());
        Self { _folder: folder, workspace, store, clock, flush, turns }
    }

    fn marker(&self, name: &str, json: serde_json::Value) {
        fs::write(self.workspace.root().join(".ocmemd/flush").join(name), json.to_string()).unwrap();
    }

    fn waiting(&self) -> usize {
        self.workspace.markers(None).unwrap().whole.len()
    }

    fn note(&self, day: &str) -> String {
        fs::read_to_string(self.workspace.root().join(format!("memory/{day}.md"))).unwrap_or_default()
    }

    async fn memories(&self, user: &str, audience: Audience) -> Vec<Memory> {
        let scope = Scope::new(UserId::new(user).unwrap(), audience);
        let listed = self.store.read(move |reader| reader.list(&scope, &Filter::default(), 100, 0)).await;
        let (_, memories): (Vec<_>, Vec<_>) = listed.unwrap().into_iter().unzip();
        memories.into_iter().filter(|memory: &Memory| memory.kind != Kind::Summary).collect()
    }
}

fn at(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap().to_utc()
}

fn said(content: &str) -> serde_json::Value {
    serde_json::json!([{ "role": "user", "content": content }])
}

#[tokio::test]
async fn a_marker_becomes_lines_of_the_day_once() {
    let desk = Desk::new();
    let messages = serde_json::json!([
        { "role": "user", "content": "你好！网关端口改成 18080。", "id": "m1" },
        { "role": "assistant", "content": "好的，我们决定用 18080。", "id": "m2" },
        { "role": "toolResult", "content": "端口是 1" },
        { "role": "user", "content": "请记住：车位是 B2-117", "id": "m3" },
    ]);
    let marker = serde_json::json!({ "v": 1, "session_id": "agent:main", "messages": messages });
    desk.marker("1.json", marker.clone());
    let taken = desk.flush.markers(&desk.workspace).await;
    assert_eq!((taken.markers, taken.flushed.captured, taken.troubles), (1, 2, vec![]));
    let note = "## 2026-03-13 记忆记录\n\n### [AUTO] 自动记录关键信息\n- 10:30 网关端口改成 18080 <!-- s:agent:main -->\n\n\
        ### [USER] 用户明确要求\n- 10:30 车位是 B2-117 <!-- s:agent:main -->\n";
    assert_eq!(desk.note("2026-03-13"), note);
    let memories = desk.memories("主人", Audience::Private).await;
    let marks: Vec<_> = memories.iter().map(|memory| (memory.mark, memory.session.as_deref())).collect();
    assert!(
        marks.contains(&(Mark::Auto, Some("agent:main")))
            && marks.contains(&(Mark::User, Some("agent:main")))
    );

    // Delivered again, under another name, on another day.
    desk.clock.set(at("2026-03-14T00:10:00+08:00"));
    desk.marker("2.json", marker.clone());
    let again = desk.flush.markers(&desk.workspace).await;
    assert_eq!((again.markers, again.flushed.captured, again.flushed.known), (1, 0, 2));
    assert_eq!((desk.note("2026-03-13").as_str(), desk.note("2026-03-14").as_str()), (note, ""));
    assert_eq!(desk.waiting(), 0);
}

#[tokio::test]
async fn what_was_cut_short_is_finished_where_it_was_planned() {
    let desk = Desk::new();
    let owner = scope_of(&desk.workspace);
    let message = FlushMessage { role: "user".into(), content: "我喜欢乌龙茶".into(), id: None };
    let held = Held { scope: owner.clone(), session: None, at: None, messages: vec![message] };
    let (lines, _) = lines(&held, &Frame::default());
    let (hash, when, now) = (lines[0].hash.clone(), desk.flush.when(None), desk.clock.now());
    desk.store.write(move |writer| writer.plan_flush(&owner, &hash, when, now)).await.unwrap();
    desk.clock.set(at("2026-03-14T08:00:00+08:00"));
    for captured in [1, 0] {
        let flushed = desk.flush.keep(Some(&desk.workspace), held.clone()).await.unwrap();
        assert_eq!(flushed.captured, captured);
    }
    assert_eq!(desk.note("2026-03-13").matches("- 10:30 我喜欢乌龙茶\n").count(), 1);
    assert_eq!(desk.note("2026-03-14"), "");
}

#[tokio::test]
async fn a_flush_is_dated_as_it_says_where_that_can_be() {
    let desk = Desk::new();
    for (name, created_at, content) in [
        ("1.json", "2026-03-12T23:50:00+08:00", "端口改成 1001"),
        ("2.json", "2026-03-13T02:00:00Z", "端口改成 1002"),
        ("3.json", "2026-03-13T02:31:00Z", "端口改成 1003"),
        ("4.json", "1999-01-01T00:00:00Z", "端口改成 1004"),
    ] {
        desk.marker(name, serde_json::json!({ "v": 1, "created_at": created_at, "messages": said(content) }));
    }
    assert_eq!(desk.flush.markers(&desk.workspace).await.flushed.captured, 4);
    assert!(desk.note("2026-03-12").contains("- 23:50 端口改成 1001\n"));
    let today = desk.note("2026-03-13");
    for line in ["- 10:00 端口改成 1002\n", "- 10:30 端口改成 1003\n", "- 10:30 端口改成 1004\n"]
    {
        assert!(today.contains(line), "{today}");
    }
}

#[tokio::test]
async fn others_and_groups_never_reach_the_owners_page() {
    let desk = Desk::new();
    let guest = serde_json::json!({ "v": 1, "user_id": "客人", "messages": said("我对花生过敏") });
    let group = serde_json::json!({ "v": 1, "audience": "shared", "messages": said("我们决定周二开会") });
    for name in ["1.json", "2.json"] {
        desk.marker(name, guest.clone());
        desk.marker(&format!("g{name}"), group.clone());
    }
    let taken = desk.flush.markers(&desk.workspace).await;
    assert_eq!((taken.markers, taken.flushed.captured, taken.flushed.known), (4, 2, 2));
    assert_eq!(desk.note("2026-03-13"), "");
    let theirs = desk.memories("客人", Audience::Private).await;
    assert_eq!((theirs.len(), theirs[0].content.as_str(), theirs[0].mark), (1, "我对花生过敏", Mark::Auto));
    assert_eq!(desk.memories("客人", Audience::Shared).await.len(), 0);
    let shared = desk.memories("主人", Audience::Shared).await;
    assert_eq!((shared.len(), shared[0].content.as_str()), (1, "我们决定周二开会"));
}

#[tokio::test]
async fn neither_secrets_nor_what_was_recalled_is_written() {
    let desk = Desk::new();
    let frame = Frame::default();
    let block = format!("{}\n{}\n- 我喜欢咖啡\n{}\n", frame.system_prefix, frame.head, frame.input_head);
    let content = format!("{block}服务器密码是 Xk29-hunter2，服务器地址是 10.0.0.7");
    desk.marker("1.json", serde_json::json!({ "v": 1, "messages": said(&content) }));
    let taken = desk.flush.markers(&desk.workspace).await;
    let note = desk.note("2026-03-13");
    assert_eq!((taken.flushed.captured, taken.flushed.redacted), (1, 1), "{note}");
    assert!(note.contains("10.0.0.7") && note.contains("[已脱敏:"), "{note}");
    assert!(!note.contains("hunter2") && !note.contains("咖啡"), "{note}");
}

#[tokio::test]
async fn a_marker_stays_until_it_can_be_written_and_goes_aside_where_it_never_can() {
    let desk = Desk::new();
    let today = desk.workspace.root().join("memory/2026-03-13.md");
    fs::write(&today, [0xc4, 0xe3]).unwrap();
    desk.marker("1.json", serde_json::json!({ "v": 1, "messages": said("端口改成 18080") }));
    let taken = desk.flush.markers(&desk.workspace).await;
    assert_eq!((taken.markers, desk.waiting()), (0, 1));
    assert!(taken.troubles[0].starts_with("1.json is left") && taken.troubles[0].contains("UTF-8"));
    fs::remove_file(&today).unwrap();
    assert_eq!(desk.flush.markers(&desk.workspace).await.flushed.captured, 1);

    desk.marker("2.json", serde_json::json!({ "v": 1, "user_id": "../x" }));
    desk.marker("3.json", serde_json::json!({ "v": 1, "session_id": "a b", "messages": said("端口改成 2") }));
    let taken = desk.flush.markers(&desk.workspace).await;
    assert_eq!((taken.markers, taken.troubles.len(), desk.waiting()), (0, 2, 0));
    let reason = |name: &str| {
        let file = format!(".ocmemd/flush/rejected/{name}.reason.txt");
        fs::read_to_string(desk.workspace.root().join(file)).unwrap()
    };
    assert!(reason("2.json").contains("user_id") && reason("3.json").contains("session_id"));
}

#[tokio::test]
async fn a_marker_without_messages_has_todays_note_read_again() {
    let desk = Desk::new();
    fs::write(desk.workspace.root().join("memory/2026-03-13.md"), "- 09:00 宿主自己写的一行\n").unwrap();
    fs::write(desk.workspace.root().join(".ocmemd/flush/all.flush"), "").unwrap();
    let taken = desk.flush.markers(&desk.workspace).await;
    assert_eq!((taken.markers, taken.flushed.changes.len()), (1, 1));
    assert_eq!(desk.memories("主人", Audience::Private).await.len(), 1);
    assert_eq!(desk.waiting(), 0);
}

#[tokio::test]
async fn what_a_flush_carries_is_kept_with_the_session_and_summarised_once() {
    let desk = Desk::new();
    let owner = scope_of(&desk.workspace);
    let spoken =
        |text: &str| Spoken { id: None, role: conversation::Role::User, content: text.to_owned(), at: None };
    let before = vec![spoken("网关端口改成 18080"), spoken("我对花生过敏")];
    desk.turns.keep(&owner, "s1", Some("t1".to_owned()), before).await.unwrap();
    let messages = serde_json::json!([
        { "role": "system", "content": "你是一个助手" },
        { "role": "user", "content": "网关端口改成 18080" },
        { "role": "user", "content": "我对花生过敏" },
        { "role": "toolResult", "content": "端口是 1" },
        { "role": "user", "content": "发布定在 3 月 20 日" },
    ]);
    let marker = serde_json::json!({ "v": 1, "session_id": "s1", "messages": messages });
    for (name, summarised) in [("1.json", 4), ("2.json", 0)] {
        desk.marker(name, marker.clone());
        let taken = desk.flush.markers(&desk.workspace).await;
        assert_eq!((taken.markers, taken.flushed.summarised, taken.troubles), (1, summarised, vec![]));
    }
    let of = owner.clone();
    let summaries = desk.store.read(move |reader| reader.summaries(&of, "s1", 9)).await.unwrap();
    let [summary] = &summaries[..] else { panic!("{summaries:?}") };
    let said = |text| summary.memory.content.matches(text).count();
    assert!(said("- 决定（2026-03-13 10:30）：网关端口改成 18080") == 1 && said("3 月 20 日") > 0);
    assert_eq!(summary.memory.expires_at, Some(desk.clock.now() + TimeDelta::days(30)));
}

#[tokio::test]
async fn an_empty_marker_has_the_sessions_of_all_users_summarised() {
    let desk = Desk::new();
    let talk = [("主人", Audience::Private), ("主人", Audience::Shared), ("客人", Audience::Private)];
    for (user, audience) in talk {
        let scope = Scope::new(UserId::new(user).unwrap(), audience);
        let message = FlushMessage { role: "user".into(), content: "我喜欢乌龙茶".into(), id: None };
        desk.turns.keep(&scope, "s1", None, vec![spoken(&message)]).await.unwrap();
    }
    fs::write(desk.workspace.root().join(".ocmemd/flush/all.flush"), "").unwrap();
    let taken = desk.flush.markers(&desk.workspace).await;
    assert_eq!((taken.markers, taken.flushed.summarised, desk.waiting()), (1, 3, 0));
    assert_eq!(desk.turns.open_sessions(None).await, Ok(vec![]));
}
