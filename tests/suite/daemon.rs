//! The daemon as its users meet it: real files, the real socket, the real database.

use std::fs;

use ocmemd::client::ClientError;
use ocmemd::wire::methods::{
    ContextParams, ContextResult, Empty, ForgetParams, ForgetResult, ListParams, ListResult, Method,
    ReindexParams, ReindexResult, RememberParams, RememberResult, StatusParams,
};
use ocmemd::wire::status::{AdviceCode, State, Status};
use ocmemd::wire::{ErrorKind, Event};

use crate::support::{Home, Running, wait_for};

const AGENTS: &str = "# 2026-03-02\n\n## 系统配置\n- 部署 agent：home-agent (端口 8080)\n- 部署 agent：work-agent (端口 8081)\n";

async fn reindex(running: &Running) -> ReindexResult {
    running.call(Method::Reindex, ReindexParams::default()).await
}

#[tokio::test]
async fn the_port_of_the_agent_that_was_asked_for_comes_first_with_its_day() {
    let home = Home::new();
    home.note("memory/2026-03-02.md", AGENTS);
    let running = home.start();
    reindex(&running).await;
    let found = running.search("work-agent 端口是多少？").await;
    assert!(found.hits[0].item.content.contains("8081"), "{:?}", found.hits);
    assert_eq!(found.hits[0].item.day.unwrap().to_string(), "2026-03-02");
    assert_eq!(
        found.legs.iter().filter(|leg| !leg.ran).count(),
        1,
        "without a model one leg says why it did not look"
    );
}

#[tokio::test]
async fn a_line_appended_while_the_daemon_runs_is_found_without_a_restart() {
    let home = Home::new();
    home.note("memory/2026-03-02.md", AGENTS);
    let running = home.start();
    reindex(&running).await;
    let mut events = running.events().await;
    let path = home.workspace().join("memory/2026-03-02.md");
    fs::write(&path, format!("{AGENTS}- 酸面包要提前一天订\n")).unwrap();
    wait_for(&mut events, |event| matches!(event, Event::Ingested { added: 1, .. })).await;
    assert!(running.search("酸面包").await.hits[0].item.content.contains("提前一天"));

    let beside = home.workspace().join("memory/.new.tmp");
    fs::write(&beside, format!("{AGENTS}- 柠檬树换了大一号的盆\n")).unwrap();
    fs::rename(&beside, &path).unwrap();
    wait_for(&mut events, |event| matches!(event, Event::Ingested { .. })).await;
    assert!(running.search("柠檬树").await.hits[0].item.content.contains("大一号"));
    assert!(running.search("酸面包").await.hits.is_empty(), "what left the file leaves the index");
}

#[tokio::test]
async fn what_is_remembered_stands_in_todays_note_and_is_found_at_once() {
    let home = Home::new();
    let running = home.start();
    let params =
        RememberParams {
            user: "owner".into(), text: "女儿对花生过敏".into(), ..RememberParams::default()
        };
    let kept: RememberResult = running.call(Method::Remember, &params).await;
    assert_eq!((kept.deduped, kept.item.importance.get()), (false, 5));
    let note = fs::read_to_string(home.workspace().join(&kept.item.source.clone().unwrap().file)).unwrap();
    assert!(note.contains("### [USER]") && note.contains("女儿对花生过敏"), "{note}");
    assert_eq!(running.search("花生").await.hits[0].item.id, kept.item.id);

    let again: RememberResult = running.call(Method::Remember, &params).await;
    assert_eq!((again.deduped, again.item.id), (true, kept.item.id));
}

#[tokio::test]
async fn what_is_forgotten_stays_forgotten_when_the_file_is_read_again() {
    let home = Home::new();
    home.note("memory/2026-03-02.md", AGENTS);
    let running = home.start();
    reindex(&running).await;
    let id = running.search("work-agent").await.hits[0].item.id.clone();
    let params = ForgetParams { user: "owner".into(), ids: vec![id.clone()], ..ForgetParams::default() };
    let shown: ForgetResult =
        running.call(Method::Forget, ForgetParams { dry_run: true, ..params.clone() }).await;
    assert_eq!((shown.items.len(), shown.forgotten), (1, false));
    let gone: ForgetResult = running.call(Method::Forget, &params).await;
    assert!(gone.forgotten && gone.still_in_files[0].file == "memory/2026-03-02.md");
    let _: ReindexResult =
        running.call(Method::Reindex, ReindexParams { full: true, ..ReindexParams::default() }).await;
    assert!(running.search("8081").await.hits.iter().all(|hit| hit.item.id != id));
    // An editor that truncates before it writes shows an empty file for a moment.
    home.note("memory/2026-03-02.md", "");
    reindex(&running).await;
    home.note("memory/2026-03-02.md", AGENTS);
    reindex(&running).await;
    assert!(running.search("work-agent").await.hits.iter().all(|hit| !hit.item.content.contains("8081")));
    let other = running.client().await.call::<_, ForgetResult>(Method::Forget, &params).await.unwrap_err();
    assert!(matches!(other, ClientError::Rpc(error) if error.data.kind == ErrorKind::NotFound));
}

#[tokio::test]
async fn one_users_memories_are_nobody_elses() {
    let home = Home::new();
    home.note("memory/2026-03-02.md", AGENTS);
    let running = home.start();
    reindex(&running).await;
    let mine: ListResult =
        running.call(Method::List, ListParams { user: "owner".into(), ..ListParams::default() }).await;
    let theirs: ListResult =
        running.call(Method::List, ListParams { user: "guest".into(), ..ListParams::default() }).await;
    assert_eq!((mine.items.len(), theirs.items.len()), (2, 0));
    let params =
        ContextParams { user: "guest".into(), input: "work-agent 端口".into(), ..ContextParams::default() };
    let context: ContextResult = running.call(Method::Context, params).await;
    assert_eq!((context.block.as_str(), context.empty), ("", Some(Empty::NoMemories)));
}

#[tokio::test]
async fn the_context_block_is_framed_and_keeps_within_its_budget() {
    let home = Home::new();
    home.note("memory/2026-03-02.md", AGENTS);
    let running = home.start();
    reindex(&running).await;
    let params = ContextParams {
        user: "owner".into(),
        input: "work-agent 端口是多少".into(),
        ..ContextParams::default()
    };
    let context: ContextResult = running.call(Method::Context, &params).await;
    let (head, items) = context.block.split_once("【历史记忆】").unwrap();
    assert!(
        head.contains("不是指令") && items.contains("(2026-03-02)") && items.contains("8081"),
        "{}",
        context.block
    );
    assert!(context.block.ends_with("【当前输入】\n"), "{}", context.block);
    let tiny: ContextResult =
        running.call(Method::Context, ContextParams { budget: Some(1), ..params }).await;
    assert_eq!((tiny.block.as_str(), tiny.items.len()), ("", 0));
    assert!(tiny.left_out > 0);
}

#[tokio::test]
async fn a_workspace_that_vanishes_deletes_nothing_and_is_said() {
    let home = Home::new();
    home.note("memory/2026-03-02.md", AGENTS);
    let running = home.start();
    reindex(&running).await;
    fs::rename(home.workspace(), home.path().join("away")).unwrap();
    assert_eq!(reindex(&running).await.unreachable, [home.workspace().display().to_string()]);
    let status: Status = running.call(Method::Status, StatusParams {}).await;
    assert_eq!(status.state, State::Degraded);
    assert!(
        status.advice.iter().any(|advice| advice.code == AdviceCode::WorkspaceUnreachable),
        "{:?}",
        status.advice
    );
    assert!(!running.search("work-agent").await.hits.is_empty());
    fs::rename(home.path().join("away"), home.workspace()).unwrap();
    let back = reindex(&running).await;
    assert_eq!((back.added, back.updated, back.removed, back.unreachable.len()), (0, 0, 0, 0));
}

#[tokio::test]
async fn a_secret_in_a_note_is_reported_and_not_indexed() {
    let home = Home::new();
    let secret = ["ghp", "_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"].concat();
    home.note("memory/2026-03-02.md", &format!("- 部署用的 token 是 {secret}\n"));
    let running = home.start();
    reindex(&running).await;
    let listed: ListResult =
        running.call(Method::List, ListParams { user: "owner".into(), ..ListParams::default() }).await;
    assert!(listed.items[0].content.contains("已脱敏") && !listed.items[0].content.contains("a1B2c3"));
    let status: Status = running.call(Method::Status, StatusParams {}).await;
    assert!(status.advice.iter().any(|advice| advice.code == AdviceCode::SecretsInFiles));
    running.stop();
    for entry in fs::read_dir(home.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let bytes = fs::read(&path).unwrap();
            assert!(
                !bytes.windows(10).any(|found| found == b"a1B2c3D4e5"),
                "the secret is in {}",
                path.display()
            );
        }
    }
}

#[tokio::test]
async fn a_second_daemon_is_refused_with_the_first_ones_process() {
    let home = Home::new();
    let running = home.start();
    let second = home.run(&["daemon"]);
    assert_eq!(second.status.code(), Some(1));
    let said = String::from_utf8(second.stderr).unwrap();
    assert!(said.contains(&running.pid().to_string()), "{said}");
    assert!(running.search("x").await.hits.is_empty(), "the first goes on answering");
}

#[tokio::test]
async fn a_daemon_told_to_go_goes_well() {
    let home = Home::new();
    let running = home.start();
    assert!(running.stop().success());
    assert!(!home.path().join("run/ocmemd.sock").exists());
}

#[tokio::test]
async fn the_same_words_at_once_are_kept_once_and_what_says_nothing_is_refused() {
    let home = Home::new();
    let running = home.start();
    let params =
        RememberParams {
            user: "owner".into(), text: "备份每天三点跑".into(), ..RememberParams::default()
        };
    let (one, two): (RememberResult, RememberResult) =
        tokio::join!(running.call(Method::Remember, &params), running.call(Method::Remember, &params));
    assert_eq!((one.item.id, one.deduped ^ two.deduped), (two.item.id, true));

    let nothing = RememberParams { text: "待补充".into(), ..params };
    let refused =
        running.client().await.call::<_, RememberResult>(Method::Remember, &nothing).await.unwrap_err();
    assert!(matches!(refused, ClientError::Rpc(error) if error.data.kind == ErrorKind::InvalidParams));
    let listed: ListResult =
        running.call(Method::List, ListParams { user: "owner".into(), ..ListParams::default() }).await;
    assert_eq!(listed.items.len(), 1);
}

#[tokio::test]
async fn a_memory_of_many_pieces_keeps_no_other_from_its_vector() {
    let home = Home::with_made_up_model();
    let sentence = "上周三晚上决定把数据库迁到新的机器，先停写入，再备份，最后切换域名。";
    home.note("memory/2026-03-02.md", &format!("{AGENTS}- {}\n", sentence.repeat(600)));
    let running = home.start();
    let status = running.settled().await;
    let daemon = status.daemon.unwrap();
    assert_eq!((daemon.memories.indexed, daemon.errors), (3, Vec::new()));
}

#[tokio::test]
async fn another_model_is_built_behind_the_old_one_and_then_answers() {
    let home = Home::with_made_up_model();
    home.note("memory/2026-03-02.md", AGENTS);
    let running = home.start();
    let before = running.settled().await;
    assert!(running.stop().success());

    home.use_another_made_up_model();
    let running = home.start();
    let mut events = running.events().await;
    loop {
        let now: Status = running.call(Method::Status, StatusParams {}).await;
        let (old, new) = (before.daemon.as_ref().unwrap(), now.daemon.as_ref().unwrap());
        let switched = new.store.generation > old.store.generation;
        if switched
            && new.model.as_ref().map(|model| &model.hash) != old.model.as_ref().map(|model| &model.hash)
        {
            assert_eq!((new.memories.waiting, new.memories.rebuilding), (0, None));
            return;
        }
        wait_for(&mut events, |event| matches!(event, Event::Embedded { .. } | Event::Switched { .. })).await;
    }
}

#[tokio::test]
async fn what_another_owner_left_behind_is_said_and_goes_when_that_is_accepted() {
    let home = Home::new();
    home.note("memory/2026-03-02.md", AGENTS);
    let running = home.start();
    reindex(&running).await;
    assert!(running.stop().success());
    home.configure_for("小明", "");
    let running = home.start();
    assert_eq!(reindex(&running).await.held, 2);
    let status: Status = running.call(Method::Status, StatusParams {}).await;
    assert!(
        status.advice.iter().any(|advice| advice.code == AdviceCode::WorkspaceUnlisted),
        "{:?}",
        status.advice
    );
    let accepted = ReindexParams { accept_deletions: true, ..ReindexParams::default() };
    let gone: ReindexResult = running.call(Method::Reindex, accepted).await;
    assert_eq!((gone.removed, gone.held), (2, 0));
    assert!(running.search("work-agent").await.hits.is_empty(), "the old owner's memories are gone");
    let params = ListParams { user: "小明".into(), ..ListParams::default() };
    let mine: ListResult = running.call(Method::List, params).await;
    assert_eq!(mine.items.len(), 2);
}
