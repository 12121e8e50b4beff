//! Conversations over the real socket: kept, summarised, resumed, and never mixed.

use std::sync::Arc;

use chrono::Days;
use ocmemd::clock::{Clock, Zone};
use ocmemd::memory::conversation::Role;
use ocmemd::memory::{Audience, Kind};
use ocmemd::wire::Event;
use ocmemd::wire::methods::{
    ContextParams, ContextResult, ListParams, ListResult, Method, ReindexParams, ReindexResult, StatusParams,
};
use ocmemd::wire::status::Status;
use ocmemd::wire::turn::{
    Loaded, SessionStartParams, SessionStartResult, TurnMessage, TurnParams, TurnResult,
};
use tokio::task::JoinSet;

use crate::support::{Home, Running, wait_for};

const SESSION: &str = "agent:main:main";

/// A turn of a question and its answer.
fn turn(user: &str, name: &str, question: &str) -> TurnParams {
    let message = |role, content: &str| TurnMessage { role, content: content.to_owned(), id: None, at: None };
    TurnParams {
        user: user.into(),
        session: SESSION.into(),
        turn: Some(name.into()),
        messages: vec![message(Role::User, question), message(Role::Assistant, "好的，这就去办。")],
        ..TurnParams::default()
    }
}

async fn say(running: &Running, user: &str, name: &str, question: &str) -> TurnResult {
    running.call(Method::Turn, turn(user, name, question)).await
}

fn asks(user: &str, input: &str) -> ContextParams {
    ContextParams {
        user: user.into(),
        input: input.into(),
        session: Some(SESSION.into()),
        ..ContextParams::default()
    }
}

async fn context(running: &Running, user: &str, input: &str) -> ContextResult {
    running.call(Method::Context, asks(user, input)).await
}

async fn summaries(running: &Running, user: &str) -> Vec<String> {
    let params = ListParams { user: user.into(), kind: Some(Kind::Summary), ..ListParams::default() };
    let listed: ListResult = running.call(Method::List, params).await;
    listed.items.into_iter().map(|item| item.content).collect()
}

/// Twenty rounds, of which the tenth and the twelfth say what matters.
async fn twenty_rounds(running: &Running) {
    let mut events = running.events().await;
    for round in 0..20 {
        let question = match round {
            9 => "对了，我女儿叫豆豆，9 月上小学".to_owned(),
            11 => "展会的摊位就定在 B 区 17 号".to_owned(),
            _ => format!("第 {round} 段文案再帮我润色一下"),
        };
        assert_eq!(say(running, "owner", &format!("t{round}"), &question).await.stored, 2);
        if round == 10 {
            wait_for(&mut events, |event| matches!(event, Event::Summarised { .. })).await;
        }
    }
}

#[tokio::test]
async fn the_middle_of_twenty_rounds_is_remembered_and_a_restart_resumes() {
    let home = Home::new();
    let running = home.start();
    twenty_rounds(&running).await;
    let before = context(&running, "owner", "接着来").await;
    assert!(before.summary.iter().any(|line| line.contains("豆豆")), "{before:?}");
    assert!(before.recent.iter().any(|recent| recent.content == "展会的摊位就定在 B 区 17 号"), "{before:?}");
    assert!(before.block.contains("本次对话此前：对话摘要（按规则摘录）：") && before.tokens <= 1_500);
    assert!(
        before
            .block
            .contains("- 用户说：第 19 段文案再帮我润色一下\n- 助手说：好的，这就去办。\n【当前输入】")
    );
    running.kill();

    let running = home.start();
    let after = context(&running, "owner", "接着来").await;
    assert_eq!((after.block, after.recent, after.summary), (before.block, before.recent, before.summary));
    let status: Status = running.call(Method::Status, StatusParams {}).await;
    let conversations = status.daemon.unwrap().conversations;
    assert_eq!((conversations.sessions, conversations.messages), (1, 40));
    let elsewhere = ContextParams { session: Some("another".into()), ..asks("owner", "豆豆上小学") };
    let made: ContextResult = running.call(Method::Context, elsewhere).await;
    assert!(made.block.contains("豆豆") && made.recent.is_empty(), "a new session finds it too: {made:?}");
}

#[tokio::test]
async fn what_the_host_holds_itself_is_left_out() {
    let home = Home::new();
    home.note("memory/2026-03-02.md", "- 备份脚本放在 ~/bin/backup.sh\n");
    home.note("memory/2026-03-03.md", "- 备份脚本每天 3 点运行\n");
    let running = home.start();
    let _: ReindexResult = running.call(Method::Reindex, ReindexParams::default()).await;
    let mut long_ago = turn("owner", "t1", "我们说说备份脚本");
    long_ago.messages[0].at = Some("2026-03-05T02:00:00Z".parse().unwrap());
    long_ago.messages[1].at = Some("2026-03-05T02:00:05Z".parse().unwrap());
    let _: TurnResult = running.call(Method::Turn, long_ago).await;
    say(&running, "owner", "t2", "备份脚本是谁写的").await;
    let with = |files: &[&str], since: Option<&str>| ContextParams {
        loaded: Loaded {
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            messages_since: since.map(|at| at.parse().unwrap()),
        },
        ..asks("owner", "备份脚本")
    };
    let all: ContextResult = running.call(Method::Context, with(&[], None)).await;
    assert_eq!((all.items.len(), all.recent.len()), (2, 4), "{all:?}");
    let less: ContextResult =
        running.call(Method::Context, with(&["memory/2026-03-02.md"], Some("2026-03-06T00:00:00Z"))).await;
    assert_eq!((less.items.len(), less.recent.len()), (1, 2), "{less:?}");
    assert!(less.items[0].item.content.contains("3 点") && less.recent[0].content.contains("我们说说"));
}

#[tokio::test]
async fn a_block_that_comes_back_is_not_remembered() {
    let home = Home::new();
    home.note("memory/2026-03-02.md", "- 网关端口是 18080\n");
    let running = home.start();
    let _: ReindexResult = running.call(Method::Reindex, ReindexParams::default()).await;
    let made = context(&running, "owner", "网关端口是多少？").await;
    assert!(made.block.contains("18080"));
    let question = format!("{}网关端口是多少？", made.block.replace('\n', "\r\n"));
    say(&running, "owner", "t1", &question).await;
    let again: TurnResult = running.call(Method::Turn, turn("owner", "t1", "网关端口是多少？")).await;
    assert_eq!((again.stored, again.known), (0, 2), "with the block or without it is the same");
    let recent = context(&running, "owner", "还有呢").await.recent;
    assert_eq!(
        recent.iter().map(|one| one.content.as_str()).collect::<Vec<_>>(),
        ["网关端口是多少？", "好的，这就去办。"]
    );
}

#[tokio::test]
async fn a_group_does_not_see_what_was_said_in_private() {
    let home = Home::new();
    let running = home.start();
    say(&running, "owner", "t1", "我的血压有点高").await;
    let before_group = TurnParams { audience: Audience::Shared, ..turn("owner", "t2", "周五去团建") };
    let _: TurnResult = running.call(Method::Turn, before_group).await;
    let shared = ContextParams { audience: Audience::Shared, ..asks("owner", "血压") };
    let made: ContextResult = running.call(Method::Context, shared).await;
    assert!(made.block.contains("团建") && !made.block.contains("血压有点高"), "{}", made.block);
    let own = context(&running, "owner", "最近怎么样").await;
    assert!(own.block.contains("血压有点高") && own.block.contains("团建"), "{}", own.block);
    assert!(context(&running, "guest", "血压").await.block.is_empty(), "nor does another user");
}

#[tokio::test]
async fn limits_are_named_and_nothing_is_stored_then() {
    let home = Home::new();
    let running = home.start();
    let mut client = running.client().await;
    let message = |content: String| TurnMessage { role: Role::User, content, id: None, at: None };
    let named = turn("owner", "t1", "好");
    for (params, said) in [
        (
            TurnParams { messages: Vec::new(), ..named.clone() },
            "params.messages: 1 to 1000 messages, these are 0",
        ),
        (TurnParams { messages: vec![message("好".into()); 1_001], ..named.clone() }, "these are 1001"),
        (
            TurnParams {
                messages: vec![message("好".into()), message("长".repeat(100_001))],
                ..named.clone()
            },
            "params.messages[1].content: at most 100000 characters",
        ),
        (TurnParams { session: String::new(), ..named.clone() }, "params.session: 1 to 256 characters"),
        (TurnParams { turn: Some("a\nb".into()), ..named }, "params.turn: 1 to 256 characters"),
    ] {
        let refused = client.call::<_, TurnResult>(Method::Turn, &params).await.unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
    let status: Status = running.call(Method::Status, StatusParams {}).await;
    assert_eq!(status.daemon.unwrap().conversations.messages, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_users_at_once_do_not_mix() {
    const USERS: usize = 50;
    const ROUNDS: usize = 12;
    let home = Home::new();
    let running = Arc::new(home.start());
    let mut talking = JoinSet::new();
    for user in 0..USERS {
        let running = Arc::clone(&running);
        talking.spawn(async move {
            let (name, mut client) = (format!("用户{user}"), running.client().await);
            for round in 0..ROUNDS {
                let params =
                    turn(&name, &format!("t{round}"), &format!("我的门牌是 D{user}-{round}，请记好"));
                let kept: TurnResult = client.call(Method::Turn, &params).await.unwrap();
                assert_eq!(kept.stored, 2);
                let made: ContextResult =
                    client.call(Method::Context, &asks(&name, "我的门牌是多少？")).await.unwrap();
                assert!(made.block.contains(&format!("D{user}-{round}")), "{}", made.block);
                for other in made.block.split('D').skip(1) {
                    assert!(other.starts_with(&format!("{user}-")), "{name} got D{other}");
                }
            }
        });
    }
    talking.join_all().await;
    let status: Status = running.call(Method::Status, StatusParams {}).await;
    let conversations = status.daemon.unwrap().conversations;
    assert_eq!((conversations.sessions, conversations.messages), (USERS as u64, (USERS * ROUNDS * 2) as u64));
}

#[tokio::test]
async fn a_kill_between_any_two_steps_loses_nothing_and_doubles_nothing() {
    for point in ["turn.stored", "turn.summary_made", "turn.summary_stored"] {
        let home = Home::new();
        let running = home.start_with(&[("OCMEMD_TEST_FAULT", point)]);
        let mut client = running.client().await;
        let mut sent = 0;
        for round in 0..11 {
            sent = round;
            let params = turn("owner", &format!("t{round}"), &format!("第 {round} 件事是去 {round} 号楼"));
            if client.call::<_, TurnResult>(Method::Turn, &params).await.is_err() {
                break;
            }
        }
        running.dead();

        let running = home.start();
        let mut events = running.events().await;
        // Whoever got no answer sends it again; so does whoever is not sure.
        for round in 0..11 {
            say(&running, "owner", &format!("t{round}"), &format!("第 {round} 件事是去 {round} 号楼")).await;
        }
        while summaries(&running, "owner").await.is_empty() {
            wait_for(&mut events, |event| matches!(event, Event::Summarised { .. })).await;
        }
        let [summary] = &summaries(&running, "owner").await[..] else { panic!("{point}: one summary") };
        for round in 0..10 {
            let line = format!("第 {round} 件事是去 {round} 号楼");
            assert_eq!(
                summary.lines().filter(|said| said.starts_with("- ") && said.ends_with(&line)).count(),
                1,
                "{point} after {sent}: {summary}"
            );
        }
        let status: Status = running.call(Method::Status, StatusParams {}).await;
        assert_eq!(status.daemon.unwrap().conversations.messages, 22, "{point}");
    }
}

#[tokio::test]
async fn a_session_starts_with_today_three_days_memory_and_who_they_are() {
    let home = Home::new();
    home.configure("[time]\nzone = \"Asia/Shanghai\"\n");
    let today = Clock::system(Zone::Fixed(chrono_tz::Asia::Shanghai)).today();
    let file = |before: u64| format!("memory/{}.md", today.checked_sub_days(Days::new(before)).unwrap());
    home.note(&file(0), "- 00:01 [USER] 今天要交周报\n- 00:02 网关已升级\n");
    home.note(&file(1), "- 前一天的事\n");
    home.note(&file(3), "- 三天前的事\n");
    home.note(&file(4), "- 四天前的事\n");
    home.note("MEMORY.md", "- 网关端口是 18080\n");
    home.note("USER.md", "- 称呼：林晓\n");
    home.note("SOUL.md", "- 说话简短\n");
    home.note("IDENTITY.md", "- 名字：小记\n");
    let running = home.start();
    let _: ReindexResult = running.call(Method::Reindex, ReindexParams::default()).await;
    let params =
        SessionStartParams { user: "owner".into(), session: SESSION.into(), ..SessionStartParams::default() };
    let started: SessionStartResult = running.call(Method::SessionStart, params.clone()).await;
    let said: Vec<&str> = started.items.iter().map(|item| item.content.as_str()).collect();
    assert_eq!(
        said,
        [
            "今天要交周报",
            "网关已升级",
            "前一天的事",
            "三天前的事",
            "网关端口是 18080",
            "名字：小记",
            "称呼：林晓",
            "说话简短"
        ]
    );
    assert_eq!(started.greeting, "📚 记忆已加载：\n- 长期记忆：9 条已就绪\n- 今日记忆：2 条新记录");
    assert!(
        started.block.starts_with("以下是")
            && started.block.ends_with("【当前输入】\n")
            && started.left_out == 0
    );

    let loaded = Loaded { files: vec!["MEMORY.md".into(), file(0)], messages_since: None };
    let less = SessionStartParams { loaded, budget: Some(85), ..params.clone() };
    let less: SessionStartResult = running.call(Method::SessionStart, less).await;
    assert_eq!(less.items[0].content, "前一天的事");
    assert!(less.left_out > 0 && less.tokens <= 85, "{less:?}");

    let shared = SessionStartParams { audience: Audience::Shared, ..params };
    let shared: SessionStartResult = running.call(Method::SessionStart, shared).await;
    assert!(shared.items.is_empty() && shared.block.is_empty(), "{shared:?}");
    assert_eq!(shared.greeting, "📚 记忆已加载：\n- 长期记忆：还没有内容\n- 今日记忆：还没有新记录");
}

#[tokio::test]
async fn the_weekly_sweep_lets_messages_go_after_seven_days_and_their_summary_stays() {
    let home = Home::new();
    home.configure("[time]\nzone = \"Asia/Shanghai\"\n");
    // A Monday, some seconds before the sweep.
    home.start_with(&[("OCMEMD_TEST_CLOCK", "2026-03-15T12:00:00+08:00")]).stop();
    let running = home.start_with(&[("OCMEMD_TEST_CLOCK", "2026-03-16T04:29:50+08:00")]);
    let mut events = running.events().await;
    for (name, day) in [("t1", "05"), ("t2", "14")] {
        let mut turn = turn("owner", name, "书房定在二楼");
        let at = format!("2026-03-{day}T10:00:00+08:00").parse().unwrap();
        turn.messages.iter_mut().for_each(|message| message.at = Some(at));
        let _: TurnResult = running.call(Method::Turn, turn).await;
    }
    let messages = async || {
        let status: Status = running.call(Method::Status, StatusParams {}).await;
        status.daemon.unwrap().conversations.messages
    };
    assert_eq!(messages().await, 4);
    wait_for(&mut events, |event| matches!(event, Event::Summarised { .. })).await;
    wait_for(&mut events, |event| matches!(event, Event::CalendarLooked)).await;
    assert_eq!(messages().await, 2);
    assert_eq!(summaries(&running, "owner").await.len(), 1);
}

#[tokio::test]
async fn a_day_that_is_forgotten_leaves_the_conversation_too() {
    let home = Home::new();
    let running = home.start();
    say(&running, "owner", "t1", "我工资是 3 万").await;
    let day = context(&running, "owner", "接着说").await.recent[0].at;
    let day = Clock::system(Zone::System).local(day).date();
    for params in [
        serde_json::json!({ "user": "owner", "day": day, "dry_run": true }),
        serde_json::json!({ "user": "owner", "day": day }),
    ] {
        assert_eq!(context(&running, "owner", "接着说").await.recent.len(), 2);
        let _: serde_json::Value = running.call(Method::Forget, params).await;
    }
    assert_eq!(context(&running, "owner", "接着说").await.recent, []);
    say(&running, "owner", "t1", "我工资是 3 万").await;
    assert_eq!(context(&running, "owner", "接着说").await.recent, [], "a turn that comes again stays away");
}
