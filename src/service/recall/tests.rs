use chrono::{DateTime, Utc};

use super::*;
use crate::clock::Zone;
use crate::embed::{self, ModelFolder};
use crate::memory::entry::ContentHash;
use crate::memory::redact::redact;
use crate::memory::{Audience, Kind, Mark, MemoryId, NewMemory, UserId, indexed};
use crate::service::vectors::embed_some;

const NOON: &str = "2026-03-13T04:00:00Z";

struct Notes {
    store: Store,
    scope: Scope,
    clock: Clock,
    _folder: tempfile::TempDir,
}

impl Notes {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("store.sqlite")).unwrap();
        let noon = NOON.parse::<DateTime<Utc>>().unwrap();
        let clock = Clock::manual(noon, Zone::Fixed(chrono_tz::Asia::Shanghai));
        Self { store, scope: Scope::private(UserId::new("林").unwrap()), clock, _folder: folder }
    }

    /// A note of some days ago.
    async fn add(&self, id: &str, content: &str, days_ago: u64, importance: Importance, audience: Audience) {
        let created_at = self.clock.now() - Days::new(days_ago);
        let memory = NewMemory {
            id: MemoryId(id.to_owned()),
            user: self.scope.user().clone(),
            session: None,
            kind: Kind::Fact,
            mark: Mark::None,
            importance,
            audience,
            content: redact(content).0,
            context: Redacted::default(),
            day: Some(self.clock.local(created_at).date()),
            time: None,
            source: None,
            hash: ContentHash::of(content.as_bytes()),
            created_at,
            expires_at: None,
            access_count: 0,
            last_accessed_at: created_at,
        };
        let terms = indexed::terms(&memory.context, &memory.content, memory.day);
        let scope = self.scope.clone();
        self.store.write(move |writer| writer.insert(&scope, &memory, &terms)).await.unwrap();
    }

    async fn note(&self, id: &str, content: &str) {
        self.add(id, content, 30, Importance::NORMAL, Audience::Private).await;
    }

    async fn ask(&self, question: &str) -> Answer {
        let recall = Recall::new(
            self.store.clone(),
            Err("there is no model here".to_owned()),
            Settings::default(),
            self.clock.clone(),
        );
        recall.search(&self.scope, &redact(question).0, Options::default()).await.unwrap()
    }
}

fn ids(answer: &Answer) -> Vec<&str> {
    answer.hits.iter().map(|hit| hit.memory.id.0.as_str()).collect()
}

#[tokio::test]
async fn words_alone_answer_and_the_answer_says_that_there_is_no_model() {
    let notes = Notes::new();
    notes.note("home", "部署 agent：home-agent (端口 8080)").await;
    notes.note("work", "部署 agent：work-agent (端口 8081)").await;
    notes.note("tea", "我在杭州学习二胡，喜欢喝龙井茶").await;
    let answer = notes.ask("work-agent 端口是多少？").await;
    assert_eq!(ids(&answer).first(), Some(&"work"));
    let vector = answer.legs.iter().find(|leg| leg.leg == LegName::Vector).unwrap();
    assert!(!vector.ran && vector.why_not.as_ref().unwrap().contains("there is no model here"), "{vector:?}");
    for question in ["杭州", "二胡", "茶", "杭州二胡", "3月13号前的二胡"] {
        assert!(!notes.ask(question).await.legs.is_empty());
    }
    assert_eq!(ids(&notes.ask("杭州").await), ["tea"]);
    assert_eq!(ids(&notes.ask("茶").await), ["tea"]);
}

#[tokio::test]
async fn an_exact_id_passes_the_threshold_in_small_stores_and_in_large_ones() {
    let notes = Notes::new();
    notes.note("a", "hello world").await;
    notes.note("b", "hello ticket ZX-4471").await;
    notes.note("c", "hello again").await;
    assert_eq!(ids(&notes.ask("ZX-4471").await), ["b"]);
    let scope = notes.scope.clone();
    for number in 0..300 {
        notes.note(&format!("n{number}"), &format!("第 {number} 条普通的笔记，写天气和散步")).await;
    }
    let first = notes.ask("ZX-4471").await;
    assert_eq!(ids(&first), ["b"]);
    assert!(first.hits.iter().all(|hit| (0.0..=1.0).contains(&hit.score)));
    let again = notes.ask("ZX-4471").await;
    assert_eq!((ids(&first), scope), (ids(&again), notes.scope.clone()));
}

#[tokio::test]
async fn an_empty_answer_says_why() {
    let notes = Notes::new();
    assert_eq!(notes.ask("端口").await.empty, Some(Empty::NoMemories));
    notes.note("tea", "我喜欢喝龙井茶，周末常去茶馆和朋友聊天").await;
    assert_eq!(notes.ask("黎曼猜想").await.empty, Some(Empty::NothingFound));
    let Some(Empty::BelowThreshold { best, min_score }) =
        notes.ask("黎曼猜想的证明和朋友椭圆曲线有没有关系").await.empty
    else {
        panic!("something shares a word");
    };
    assert!(best > 0.0 && best < min_score);
    let wordless = notes.ask("的？").await;
    let keyword = wordless.legs.iter().find(|leg| leg.leg == LegName::Keyword).unwrap();
    assert!(!keyword.ran && wordless.hits.is_empty());
}

#[tokio::test]
async fn a_group_sees_nothing_that_was_said_in_private() {
    let notes = Notes::new();
    notes.note("private", "体检报告放在蓝色文件夹").await;
    notes.add("shared", "团建定在蓝色港湾", 2, Importance::HIGH, Audience::Shared).await;
    let recall = Recall::new(
        notes.store.clone(),
        Err("there is no model here".to_owned()),
        Settings::default(),
        notes.clock.clone(),
    );
    let group = Scope::new(notes.scope.user().clone(), Audience::Shared);
    let all = Options { min_score: Some(0.0), ..Options::default() };
    let answer = recall.search(&group, &redact("蓝色文件夹").0, all).await.unwrap();
    assert_eq!(ids(&answer), ["shared"]);
    let stranger = Scope::private(UserId::new("陈").unwrap());
    assert_eq!(
        recall.search(&stranger, &redact("蓝色").0, all).await.unwrap().empty,
        Some(Empty::NoMemories)
    );
}

#[tokio::test]
async fn the_recent_leg_brings_what_was_important_and_relevance_decides() {
    let notes = Notes::new();
    notes.add("today", "决定下周一发布新版本", 0, Importance::ASKED, Audience::Private).await;
    notes.add("old", "三月的旧决定", 9, Importance::ASKED, Audience::Private).await;
    notes.add("routine", "心跳正常", 0, Importance::ROUTINE, Audience::Private).await;
    let answer = notes.ask("龙井茶").await;
    let recent = answer.legs.iter().find(|leg| leg.leg == LegName::Recent).unwrap();
    assert_eq!((recent.ran, recent.candidates), (true, 1));
    assert!(answer.hits.is_empty());
}

#[tokio::test]
async fn the_latest_comes_first_when_the_question_asks_for_it() {
    let notes = Notes::new();
    for number in 0..20 {
        notes.note(&format!("n{number}"), &format!("第 {number} 次散步，天气不错")).await;
    }
    notes.add("spring", "读书笔记：看完了第一章", 90, Importance::NORMAL, Audience::Private).await;
    notes.add("now", "读书笔记：看完了第二章", 1, Importance::NORMAL, Audience::Private).await;
    assert_eq!(ids(&notes.ask("最近的读书笔记").await).first(), Some(&"now"));
}

#[tokio::test]
async fn the_day_that_the_question_names_comes_first() {
    let notes = Notes::new();
    for ago in 1..15 {
        notes.add(&format!("ago{ago}"), "和老陈打羽毛球", ago, Importance::NORMAL, Audience::Private).await;
    }
    for (question, expected) in
        [("上周三和老陈打羽毛球", "ago9"), ("3月6日和老陈打羽毛球", "ago7"), ("大前天和老陈打羽毛球", "ago3")]
    {
        assert_eq!(ids(&notes.ask(question).await).first(), Some(&expected), "{question}");
    }
}

#[tokio::test]
async fn a_named_day_alone_passes_no_threshold() {
    let notes = Notes::new();
    notes.add("today", "和老陈打羽毛球", 1, Importance::NORMAL, Audience::Private).await;
    assert!(notes.ask("昨天黎曼猜想有什么新证明？").await.hits.is_empty());
}

#[tokio::test]
async fn the_same_thing_said_twice_is_answered_once() {
    let notes = Notes::new();
    notes.add("a", "跑步五公里，用时三十分钟", 20, Importance::NORMAL, Audience::Private).await;
    notes.add("b", "跑步五公里，用时三十分钟", 10, Importance::NORMAL, Audience::Private).await;
    notes.add("c", "跑步六公里，用时四十分钟", 9, Importance::NORMAL, Audience::Private).await;
    let answer = notes.ask("跑步用时").await;
    assert_eq!(answer.hits.len(), 2, "{:?}", ids(&answer));
}

#[tokio::test]
async fn a_closed_store_is_an_error_and_no_empty_answer() {
    let notes = Notes::new();
    notes.note("tea", "龙井茶").await;
    notes.store.close().await.unwrap();
    let recall = Recall::new(
        notes.store.clone(),
        Err("there is no model here".to_owned()),
        Settings::default(),
        notes.clock.clone(),
    );
    let outcome = recall.search(&notes.scope, &redact("茶").0, Options::default()).await;
    assert!(matches!(outcome, Err(RecallError::Store(StoreError::Closed))));
}

/// With a real model, where a folder is named.
#[tokio::test]
async fn meaning_finds_what_no_word_shares_and_refuses_the_unrelated() {
    let Some(folder) = std::env::var_os("OCMEMD_TEST_MODEL") else {
        println!("skipped: OCMEMD_TEST_MODEL names no model folder; scripts/test sets it");
        return;
    };
    let folder = ModelFolder::open(std::path::Path::new(&folder)).unwrap();
    let embedder = Embedder::load(&folder, embed::Options::default()).unwrap();
    let notes = Notes::new();
    notes.note("port", "部署 agent：work-agent (端口 8081)").await;
    notes.note("allergy", "小时候吃了花生会起疹子，医生说要避开").await;
    notes.note("cat", "The kitten had its vaccination at the vet on Oak Street").await;
    let identity = embedder.identity().clone();
    let generation = notes
        .store
        .write(move |writer| {
            writer.begin_generation(&identity.name, &ContentHash(identity.hash), identity.dimension)
        })
        .await
        .unwrap();
    while embed_some(&notes.store, &embedder, generation.id).await.unwrap() > 0 {}
    notes.note("waiting", "备用钥匙在鞋柜第二层").await;
    let recall = Recall::new(notes.store.clone(), Ok(embedder), Settings::default(), notes.clock.clone());
    for (question, expected) in [
        ("我对什么食物过敏？", Some("allergy")),
        ("小猫打疫苗的兽医在哪条街？", Some("cat")),
        ("备用钥匙", Some("waiting")),
        ("木星的大红斑为什么能维持几百年不散？", None),
        ("What does the Riemann hypothesis state?", None),
    ] {
        let answer = recall.search(&notes.scope, &redact(question).0, Options::default()).await.unwrap();
        assert!(answer.legs.iter().all(|leg| leg.ran), "{:?}", answer.legs);
        assert_eq!(ids(&answer).first().copied(), expected, "{question}: {:?}", answer.hits);
    }
}
