//! Forgetting through the real daemon: the sweep, wherever it dies, and what is taken back out of the notes.

use std::fs;

use ocmemd::client::ClientError;
use ocmemd::wire::clear::{ClearParams, ClearResult};
use ocmemd::wire::methods::{
    ListParams, ListResult, ReindexParams, ReindexResult, RememberParams, RememberResult,
};
use ocmemd::wire::sweep::{SweepParams, SweepResult};
use ocmemd::wire::{Event, Method};

use crate::support::{Home, Running, wait_for};

/// A day long past: ten things of which one matters little.
const NOTE: &str = "# 2020-05-04\n\n- 例行检查：一切正常，墨盒余量青松白鹤\n- 网关端口改成 18080\n- 小林负责备份\n\
                    - 猫叫豆豆\n- 每周三打羽毛球\n- 对花生过敏\n- 数据库换成了另一种\n- 车位在地下二层\n\
                    - 英语课改到了晚上\n- 房租每月五号交\n";

async fn left(running: &Running) -> Vec<String> {
    let params = ListParams { user: "owner".into(), ended: true, ..ListParams::default() };
    let listed: ListResult = running.call(Method::List, params).await;
    let mut texts: Vec<String> = listed.items.into_iter().map(|item| item.content).collect();
    texts.sort();
    texts
}

async fn reindexed(running: &Running) {
    let _: ReindexResult =
        running.call(Method::Reindex, ReindexParams { full: true, ..ReindexParams::default() }).await;
}

fn sweep() -> SweepParams {
    SweepParams { user: "owner".into(), ..SweepParams::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sweep_that_dies_anywhere_ends_as_one_that_was_not_disturbed() {
    for fault in ["sweep.selected", "sweep.forgotten", "sweep.committed", "sweep.compacted"] {
        let home = Home::new();
        home.note("memory/2020-05-04.md", NOTE);
        let dying = home.start_with(&[("OCMEMD_TEST_FAULT", fault)]);
        reindexed(&dying).await;
        assert_eq!(left(&dying).await.len(), 10);
        let died: Result<SweepResult, ClientError> = dying.client().await.call(Method::Sweep, &sweep()).await;
        assert!(died.is_err(), "{fault}: {died:?}");
        dying.kill();

        let running = home.start();
        let _: SweepResult = running.call(Method::Sweep, sweep()).await;
        reindexed(&running).await;
        let texts = left(&running).await;
        assert_eq!(texts.len(), 9, "{fault}");
        assert!(texts.iter().all(|text| !text.contains("墨盒")), "{fault}: {texts:?}");
        assert_eq!(fs::read_to_string(home.workspace().join("memory/2020-05-04.md")).unwrap(), NOTE);
        assert!(running.stop().success());
        let gone = "青松白鹤".as_bytes();
        for file in fs::read_dir(home.path().join("state")).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            assert!(
                !bytes.windows(gone.len()).any(|window| window == gone),
                "{fault}: the text is still on disk"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cleared_day_leaves_recall_and_our_own_lines_leave_its_note() {
    let home = Home::new();
    let running = home.start();
    let params =
        RememberParams { user: "owner".into(), text: "喜欢乌龙茶".into(), ..RememberParams::default() };
    let mut events = running.events().await;
    let kept: RememberResult = running.call(Method::Remember, params).await;
    wait_for(&mut events, |event| matches!(event, Event::Promoted { lines: 1, .. })).await;
    let source = kept.item.source.unwrap();
    let path = home.workspace().join(&source.file);
    let memory_md = || fs::read_to_string(home.workspace().join("MEMORY.md")).unwrap();
    assert!(memory_md().contains("乌龙茶"));
    let text = fs::read_to_string(&path).unwrap();
    home.note(&source.file, &format!("{text}- 10:31 别的程序写的 <!-- s:x -->\n"));
    reindexed(&running).await;
    let clear =
        ClearParams { user: "owner".into(), day: kept.item.day, files: true, ..ClearParams::default() };
    let would: ClearResult =
        running.call(Method::Clear, ClearParams { dry_run: true, ..clear.clone() }).await;
    assert_eq!((would.count, would.lines_cut, would.still_in_files, would.cleared), (3, 2, 1, false));
    let stale = ClearParams { selection: Some("another".into()), ..clear.clone() };
    let refused: Result<ClearResult, ClientError> = running.client().await.call(Method::Clear, &stale).await;
    assert!(refused.unwrap_err().to_string().contains("look again"));
    let done: ClearResult =
        running.call(Method::Clear, ClearParams { selection: Some(would.selection), ..clear }).await;
    assert!(done.cleared && done.not_cut.is_empty());
    let after = fs::read_to_string(&path).unwrap();
    assert!(!after.contains("乌龙茶") && after.contains("别的程序写的"), "{after}");
    assert!(!memory_md().contains("乌龙茶"), "{}", memory_md());
    reindexed(&running).await;
    assert!(left(&running).await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_ended_is_not_recalled_and_listed_only_when_asked_for() {
    let home = Home::new();
    let note = "# 2020-05-04\n\n- 本周内请用 9090 端口调试\n- [USER] 到周五为止住在酒店\n- 护照有效期至 2049-08-15\n";
    home.configure("[time]\nzone = \"Asia/Shanghai\"\n");
    home.note("memory/2020-05-04.md", note);
    let running = home.start();
    reindexed(&running).await;
    let listed = |ended| ListParams { user: "owner".into(), ended, ..ListParams::default() };
    let all: ListResult = running.call(Method::List, listed(true)).await;
    let mut found: Vec<_> = all
        .items
        .iter()
        .map(|item| (item.content.as_str(), item.importance.get(), item.expires_at.unwrap().to_rfc3339()))
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            ("到周五为止住在酒店", 5, "2020-05-08T16:00:00+00:00".to_owned()),
            ("护照有效期至 2049-08-15", 3, "2049-08-15T16:00:00+00:00".to_owned()),
            ("本周内请用 9090 端口调试", 1, "2020-05-10T16:00:00+00:00".to_owned()),
        ]
    );
    let lasting: ListResult = running.call(Method::List, listed(false)).await;
    assert_eq!(lasting.items.len(), 1);
    assert!(running.search("9090 端口调试").await.hits.is_empty());
    assert_eq!(running.search("护照有效期").await.hits.len(), 1);
}
