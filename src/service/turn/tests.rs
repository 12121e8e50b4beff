//! Real SQLite, a clock of its own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::clock::Zone;
use crate::memory::{Audience, UserId};
use crate::store::Filter;

const SESSION: &str = "agent:main:main";

struct Home {
    folder: TempDir,
    turns: Turns,
    clock: Clock,
    limits: ShortTerm,
}

impl Home {
    fn new(limits: ShortTerm) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = DateTime::parse_from_rfc3339("2026-03-13T02:00:00Z").unwrap().to_utc();
        let clock = Clock::manual(at, Zone::Fixed(chrono_tz::Asia::Shanghai));
        let store = Store::open(&path(&folder)).unwrap();
        let turns = Turns::new(store, clock.clone(), &limits, Frame::default());
        Self { folder, turns, clock, limits }
    }

    /// As after a crash: nothing was closed.
    async fn restart(&mut self) {
        let store = Store::open(&path(&self.folder)).unwrap();
        store.write(|writer| writer.release_jobs_of_all_users()).await.unwrap();
        self.turns = Turns::new(store, self.clock.clone(), &self.limits, Frame::default());
    }

    async fn say(&self, scope: &Scope, id: &str, talk: &[(Role, &str)]) -> Kept {
        self.clock.set(self.clock.now() + TimeDelta::seconds(1));
        let spoken = talk.iter().map(|(role, text)| Spoken {
            id: None,
            role: *role,
            content: (*text).to_owned(),
            at: None,
        });
        self.turns.keep(scope, SESSION, Some(id.to_owned()), spoken.collect()).await.unwrap()
    }

    async fn round(&self, scope: &Scope, number: usize, text: &str) {
        self.say(scope, &format!("t{number}"), &[(Role::User, text), (Role::Assistant, "好的。")]).await;
    }

    async fn work_off(&self) -> usize {
        let mut messages = 0;
        while let Some(done) = self.turns.summarise_next(&|said| self.turns.by_rules(said)).await.unwrap() {
            messages += done;
        }
        messages
    }

    async fn summaries(&self, scope: &Scope) -> Vec<Memory> {
        let (scope, filter) = (scope.clone(), Filter { kind: Some(Kind::Summary), ..Filter::default() });
        let listed = self.turns.store.read(move |reader| reader.list(&scope, &filter, 99, 0)).await.unwrap();
        listed.into_iter().map(|(_, memory)| memory).collect()
    }
}

fn path(folder: &TempDir) -> PathBuf {
    folder.path().join("memory.sqlite")
}

fn anna() -> Scope {
    Scope::private(UserId::new("安娜").unwrap())
}

fn contents(window: &Window) -> Vec<&str> {
    window.messages.iter().map(|message| message.content.as_str()).collect()
}

#[tokio::test]
async fn secrets_blocks_tool_output_and_instructions_are_not_kept() {
    let home = Home::new(ShortTerm::default());
    let block = format!(
        "{}\n【历史记忆】\n- (2026-03-01) 网关端口是 18080\n【当前输入】\n",
        Frame::default().system_prefix
    );
    let kept = home
        .say(
            &anna(),
            "t1",
            &[
                (Role::System, "你是一个助手"),
                (Role::User, &format!("{block}我的密码是 hunter2xyz，帮我看看日志")),
                (Role::Tool, &"2026-03-13 ERROR 连接失败\n".repeat(100)),
                (Role::Assistant, ""),
                (Role::Assistant, "端口被占用了。"),
            ],
        )
        .await;
    assert_eq!(kept, Kept { stored: 3, known: 0, passed_over: 2, redacted: 1 });
    let window = home.turns.window(&anna(), SESSION).await.unwrap();
    let [asked, tool, answered] = contents(&window)[..] else { panic!("{window:?}") };
    assert_eq!(asked, "我的密码是 [已脱敏:password]，帮我看看日志");
    assert_eq!((tool, answered), ("[工具输出，2200 字，未保留]", "端口被占用了。"));
}

#[tokio::test]
async fn the_eleventh_turn_makes_a_summary_that_stays_after_a_restart() {
    let mut home = Home::new(ShortTerm::default());
    for round in 0..10 {
        let text = if round == 4 {
            "我们决定 4 月 2 日开工，预算 3 万".to_owned()
        } else {
            format!("聊聊第 {round} 件事")
        };
        home.round(&anna(), round, &text).await;
    }
    assert_eq!(home.work_off().await, 0);
    assert_eq!(home.turns.window(&anna(), SESSION).await.unwrap().messages.len(), 20);
    home.round(&anna(), 10, "再说一件").await;
    assert_eq!(home.work_off().await, 20);
    let window = home.turns.window(&anna(), SESSION).await.unwrap();
    assert_eq!(contents(&window), ["再说一件", "好的。"]);
    let summary = window.summary.clone().unwrap();
    assert!(
        summary.points.contains(&"决定（2026-03-13 10:00）：我们决定 4 月 2 日开工，预算 3 万".to_owned()),
        "{summary:?}"
    );
    let [memory] = &home.summaries(&anna()).await[..] else { panic!("one summary") };
    assert_eq!((memory.content.clone(), memory.session.as_deref()), (summary.text(), Some(SESSION)));
    assert_eq!(memory.context, "对话摘要（按规则摘录）");
    assert_eq!(memory.expires_at, home.clock.now().checked_add_days(Days::new(SUMMARY_DAYS.into())));
    home.restart().await;
    assert_eq!(home.turns.window(&anna(), SESSION).await.unwrap(), window);
}

#[tokio::test]
async fn the_next_summary_folds_the_one_before_into_the_window() {
    let home = Home::new(ShortTerm { window_size: 4, ..ShortTerm::default() });
    for (round, text) in
        ["我叫林晓，住在杭州", "我对花生过敏", "书桌要 1.6 米", "墙刷成白色"].iter().enumerate()
    {
        home.round(&anna(), round, text).await;
    }
    home.work_off().await;
    for round in 4..9 {
        home.round(&anna(), round, "门票就订 5 月 3 日的").await;
        home.work_off().await;
    }
    let window = home.turns.window(&anna(), SESSION).await.unwrap();
    let text = window.summary.unwrap().text();
    for said in ["林晓", "花生过敏", "1.6 米", "5 月 3 日"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(home.summaries(&anna()).await.len() > 1, "each is a memory of its own");
}

#[tokio::test]
async fn a_huge_message_is_shown_short_and_summarised_whole() {
    let home = Home::new(ShortTerm::default());
    let long = format!("{}服务器的端口是 9527。", "这一段只是铺垫。".repeat(1_000));
    home.say(&anna(), "t1", &[(Role::User, &long)]).await;
    home.work_off().await;
    let window = home.turns.window(&anna(), SESSION).await.unwrap();
    let [only] = contents(&window)[..] else { panic!("one message") };
    assert!(only.ends_with("…（已截短，原文 8013 字）") && tokens::estimate(only) < 4_000, "{only}");
    assert!(window.summary.unwrap().text().contains("9527"));
}

#[tokio::test]
async fn a_writer_that_fails_is_asked_again_later_and_nothing_is_lost() {
    let home = Home::new(ShortTerm { window_size: 2, ..ShortTerm::default() });
    home.round(&anna(), 1, "我住在杭州").await;
    home.round(&anna(), 2, "我叫林晓").await;
    let failing = |_| std::future::ready(Err(StoreError::Panicked));
    assert_eq!(home.turns.summarise_next(&failing).await, Err(StoreError::Panicked));
    assert_eq!(home.work_off().await, 0, "not at once");
    home.clock.set(home.clock.now() + TimeDelta::minutes(RETRY_MINUTES));
    assert_eq!(home.work_off().await, 2);
    assert!(home.summaries(&anna()).await[0].content.contains("杭州"));
}

#[tokio::test]
async fn closing_leaves_nothing_open_and_pleasantries_make_no_memory() {
    let home = Home::new(ShortTerm::default());
    home.say(&anna(), "t1", &[(Role::User, "你好"), (Role::Assistant, "你好！")]).await;
    let by_rules = |said| home.turns.by_rules(said);
    assert_eq!(home.turns.close(&anna(), SESSION, &by_rules).await, Ok(2));
    assert_eq!(home.summaries(&anna()).await, []);
    home.round(&anna(), 2, "我住在杭州").await;
    assert_eq!(home.turns.close(&anna(), SESSION, &by_rules).await, Ok(2));
    assert_eq!(home.turns.close(&anna(), SESSION, &by_rules).await, Ok(0));
    assert_eq!(
        home.turns.window(&anna(), SESSION).await.unwrap().messages.len(),
        2,
        "the newest stay in sight"
    );
}

#[tokio::test]
async fn a_turn_taken_back_leaves_no_trace_in_window_and_summary() {
    let home = Home::new(ShortTerm { window_size: 4, ..ShortTerm::default() });
    home.round(&anna(), 0, "我住在杭州").await;
    home.round(&anna(), 1, "我工资是 3 万，别记").await;
    let turn = home.turns.window(&anna(), SESSION).await.unwrap().messages[2].turn;
    home.round(&anna(), 2, "我叫林晓").await;
    home.work_off().await;
    assert!(home.summaries(&anna()).await[0].content.contains("工资"));
    assert_eq!(home.turns.take_back(&anna(), SESSION, turn).await.unwrap(), []);
    home.work_off().await;
    home.round(&anna(), 3, "周末去爬山").await;
    home.work_off().await;
    let summaries = home.summaries(&anna()).await;
    assert!(summaries.iter().any(|memory| memory.content.contains("杭州")), "{summaries:?}");
    assert!(!summaries.iter().any(|memory| memory.content.contains("工资")), "{summaries:?}");
}

#[tokio::test]
async fn messages_go_after_seven_days_of_the_users_and_their_summary_stays() {
    let home = Home::new(ShortTerm::default());
    home.round(&anna(), 1, "我住在杭州").await;
    let said = home.clock.now();
    let swept = |messages, open| Ok(Swept { messages, open });
    // Said at ten in the morning of the 13th; the 20th is the seventh day after.
    home.clock.set(said + TimeDelta::days(7) + TimeDelta::hours(13));
    assert_eq!(home.turns.sweep().await, swept(0, 0));
    home.clock.set(said + TimeDelta::days(7) + TimeDelta::hours(14));
    assert_eq!(home.turns.sweep().await, swept(0, 2), "no summary stands for them yet");
    assert_eq!(home.work_off().await, 2);
    assert_eq!(home.turns.sweep().await, swept(2, 0));
    let window = home.turns.window(&anna(), SESSION).await.unwrap();
    assert!(window.messages.is_empty() && window.summary.unwrap().text().contains("杭州"));
}

#[tokio::test]
async fn a_day_taken_back_leaves_neither_messages_nor_summary_and_the_days_around_it_stay() {
    let home = Home::new(ShortTerm::default());
    let start = home.clock.now();
    for (day, text) in ["我住在杭州", "我工资是 3 万", "我叫林晓"].iter().enumerate() {
        home.clock.set(start + TimeDelta::days(day as i64));
        home.round(&anna(), day, text).await;
    }
    let by_rules = |said| home.turns.by_rules(said);
    home.turns.close(&anna(), SESSION, &by_rules).await.unwrap();
    let day = NaiveDate::from_ymd_opt(2026, 3, 14);
    let taken = home.turns.take_back_days(&anna(), day, day.unwrap()).await.unwrap();
    assert_eq!((taken.messages, taken.summaries.len()), (2, 1));
    assert_eq!(home.summaries(&anna()).await, [], "it stood for that day too");
    assert_eq!(home.work_off().await, 4, "the rest gets another one");
    let summary = home.summaries(&anna()).await.swap_remove(0).content;
    let says = ["杭州", "工资", "林晓"].map(|word| summary.contains(word));
    assert_eq!(says, [true, false, true], "{summary}");
    let taken = home.turns.take_back_days(&anna(), None, day.unwrap()).await.unwrap();
    assert_eq!(taken.messages, 2, "all before, too");
}

#[tokio::test]
async fn a_group_sees_neither_private_messages_nor_their_summary() {
    let home = Home::new(ShortTerm { window_size: 2, ..ShortTerm::default() });
    let group = Scope::new(anna().user().clone(), Audience::Shared);
    for (round, text) in ["我血压高", "我在吃降压药"].iter().enumerate() {
        home.round(&anna(), round, text).await;
    }
    home.round(&group, 7, "周五团建").await;
    home.work_off().await;
    let window = home.turns.window(&group, SESSION).await.unwrap();
    assert_eq!((contents(&window), &window.summary), (vec!["周五团建", "好的。"], &None));
    let own = home.turns.window(&anna(), SESSION).await.unwrap();
    assert!(own.summary.unwrap().text().contains("血压"));
}

/// What may happen to a daemon that keeps conversations.
#[derive(Debug, Clone)]
enum Step {
    Turn { session: usize, messages: usize, chars: usize },
    Again,
    Summarise,
    Fail,
    Crash,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let turn = (0_usize..2, 1_usize..6, 1_usize..120);
    let step = prop_oneof![
        6 => turn.prop_map(|(session, messages, chars)| Step::Turn { session, messages, chars }),
        1 => Just(Step::Again),
        3 => Just(Step::Summarise),
        1 => Just(Step::Fail),
        1 => Just(Step::Crash),
    ];
    prop::collection::vec(step, 1..30)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_each_message_is_in_sight_or_in_one_summary(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut home = Home::new(ShortTerm { window_size: 6, max_tokens: 400, summary_threshold: 300 });
            // The number of each message said, by session; what is said names its number.
            let mut said: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            let mut last: Option<(usize, String, Vec<Spoken>)> = None;
            let mut number = 0;
            for step in steps {
                match step {
                    Step::Turn { session, messages, chars } => {
                        home.clock.set(home.clock.now() + TimeDelta::seconds(1));
                        let spoken: Vec<Spoken> = (0..messages)
                            .map(|_| {
                                number += 1;
                                said.entry(session).or_default().push(number);
                                let content = format!("第【{number}】件事{}", "啊".repeat(chars));
                                Spoken { id: None, role: Role::User, content, at: None }
                            })
                            .collect();
                        let id = format!("t{number}");
                        home.turns.keep(&anna(), &session.to_string(), Some(id.clone()), spoken.clone()).await.unwrap();
                        last = Some((session, id, spoken));
                    }
                    Step::Again => {
                        if let Some((session, id, spoken)) = last.clone() {
                            let kept = home.turns.keep(&anna(), &session.to_string(), Some(id), spoken).await.unwrap();
                            assert_eq!(kept.stored, 0);
                        }
                    }
                    Step::Summarise => drop(home.work_off().await),
                    Step::Fail => {
                        let failing = |_| std::future::ready(Err(StoreError::Panicked));
                        let _ = home.turns.summarise_next(&failing).await;
                        home.clock.set(home.clock.now() + TimeDelta::minutes(RETRY_MINUTES));
                    }
                    Step::Crash => home.restart().await,
                }
            }
            home.work_off().await;
            for (session, numbers) in said {
                let window = home.turns.window(&anna(), &session.to_string()).await.unwrap();
                let cost: usize = window.messages.iter().map(|one| tokens::estimate(&one.content)).sum();
                let summary = window.summary.as_ref().map_or(0, |summary| tokens::estimate(&summary.text()));
                assert!(cost + summary <= 400 && (1..=6).contains(&window.messages.len()));
                let name = session.to_string();
                let summaries = home.turns.store.read(move |reader| reader.summaries(&anna(), &name, 999)).await.unwrap();
                let open: Vec<&Message> = window.messages.iter().filter(|message| !message.summarised).collect();
                // Long lines are shortened and some may not fit into a summary, but none stands in two.
                let newest = numbers.last().copied().unwrap();
                assert!(window.messages.last().unwrap().content.contains(&format!("【{newest}】")));
                for number in numbers {
                    let mark = format!("【{number}】");
                    let times = summaries.iter().filter(|summary| summary.memory.content.lines().any(|line| line.starts_with("- ") && line.contains(&mark))).count();
                    let seen = open.iter().filter(|message| message.content.contains(&mark)).count();
                    assert!(times + seen <= 1, "{number} is there {times} + {seen} times");
                }
            }
        });
    }
}
