use chrono::{DateTime, TimeDelta, Utc};
use tempfile::TempDir;

use super::*;
use crate::clock::Zone;
use crate::memory::entry::ContentHash;
use crate::memory::redact::redact;
use crate::memory::{Audience, Kind, Mark, NewMemory, Redacted, Source, UserId, indexed};

const HOW: How = How { unused_days: 180, dry_run: false, accept: false, clock_believed: true };
const LOW: Importance = Importance::HINT;

/// A store and a clock that begin on a day in March, at ten in the morning.
struct House {
    folder: TempDir,
    store: Store,
    clock: Clock,
    scope: Scope,
    start: DateTime<Utc>,
}

impl House {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("memory.sqlite")).unwrap();
        let start: DateTime<Utc> = "2026-03-13T02:00:00Z".parse().unwrap();
        let clock = Clock::manual(start, Zone::Fixed(chrono_tz::Asia::Shanghai));
        Self { folder, store, clock, scope: Scope::private(UserId::new("林").unwrap()), start }
    }

    fn on_day(&self, day: i64) {
        self.clock.set(self.start + TimeDelta::days(day));
    }

    fn memory(&self, text: &str, importance: Importance) -> NewMemory {
        NewMemory {
            id: MemoryId(format!("mem_{text}")),
            user: self.scope.user().clone(),
            session: None,
            kind: Kind::Fact,
            mark: Mark::None,
            importance,
            audience: Audience::Private,
            content: redact(text).0,
            context: Redacted::default(),
            day: Some(self.clock.today()),
            time: None,
            source: Some(Source {
                workspace: "/w".to_owned(),
                file: "memory/2026-03-13.md".to_owned(),
                lines: (3, 3),
            }),
            hash: ContentHash::of(text.as_bytes()),
            created_at: self.clock.now(),
            expires_at: None,
            access_count: 0,
            last_accessed_at: self.clock.now(),
        }
    }

    async fn store(&self, memory: NewMemory) {
        let scope = self.scope.clone();
        let terms = indexed::terms(&memory.context, &memory.content, memory.day);
        self.store.write(move |writer| writer.insert(&scope, &memory, &terms)).await.unwrap();
    }

    /// Stores a memory that matters little.
    async fn low(&self, text: &str) {
        self.store(self.memory(text, LOW)).await;
    }

    /// Stores so much that a fifth of it is more than a few.
    async fn plenty(&self) {
        for number in 0..30 {
            self.store(self.memory(&format!("重要的事之{number}"), Importance::NORMAL)).await;
        }
    }

    async fn sweep(&self, how: How) -> Swept {
        sweep(&self.store, &self.clock, &self.scope, how).await.unwrap()
    }

    async fn left(&self) -> u64 {
        let scope = self.scope.clone();
        self.store.read(move |reader| Ok(reader.counts(&scope)?.memories)).await.unwrap()
    }

    async fn is_left(&self, text: &str) -> bool {
        let (scope, id) = (self.scope.clone(), MemoryId(format!("mem_{text}")));
        self.store.read(move |reader| Ok(reader.get(&scope, &id)?.is_some())).await.unwrap()
    }

    /// Whether any file of the database holds the text.
    fn on_disk(&self, text: &str) -> bool {
        std::fs::read_dir(self.folder.path()).unwrap().any(|file| {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            bytes.windows(text.len()).any(|window| window == text.as_bytes())
        })
    }
}

fn texts(swept: &Swept) -> Vec<&str> {
    swept.memories.iter().map(|(memory, _)| memory.content.as_str()).collect()
}

#[tokio::test]
async fn what_matters_little_goes_on_the_first_day_after_180_without_use() {
    let house = House::new();
    house.plenty().await;
    house.low("打印机在二楼").await;
    house.on_day(180);
    assert!(texts(&house.sweep(HOW).await).is_empty(), "180 days are not more than 180");
    house.on_day(181);
    let swept = house.sweep(HOW).await;
    assert!(swept.done);
    assert_eq!((texts(&swept), swept.memories[0].1, swept.of), (vec!["打印机在二楼"], Why::Unused, 31));
    assert_eq!(house.left().await, 30, "what matters stays, however old");
    assert!(texts(&house.sweep(HOW).await).is_empty());
}

#[tokio::test]
async fn days_are_the_users_not_so_many_hours() {
    let house = House::new();
    house.plenty().await;
    // Ten in the morning and half an hour to midnight are the same day.
    house.clock.set("2026-03-13T15:30:00Z".parse().unwrap());
    house.low("打印机在二楼").await;
    house.clock.set("2026-09-09T16:30:00Z".parse().unwrap());
    assert_eq!(house.clock.today().to_string(), "2026-09-10");
    assert_eq!(texts(&house.sweep(HOW).await), ["打印机在二楼"]);
}

#[tokio::test]
async fn a_use_begins_the_time_anew() {
    let house = House::new();
    house.plenty().await;
    house.low("用过的").await;
    house.low("没用过的").await;
    house.on_day(170);
    let (scope, day, now) = (house.scope.clone(), house.clock.today(), house.clock.now());
    let ids = [MemoryId("mem_用过的".to_owned())];
    house.store.write(move |writer| writer.touch(&scope, &ids, Some("s1"), day, now)).await.unwrap();
    house.on_day(181);
    assert_eq!(texts(&house.sweep(HOW).await), ["没用过的"]);
    house.on_day(351);
    assert_eq!(texts(&house.sweep(HOW).await), ["用过的"]);
}

#[tokio::test]
async fn a_dry_run_lists_exactly_what_goes_and_takes_nothing() {
    let house = House::new();
    house.plenty().await;
    for text in ["甲的杂事", "乙的杂事", "丙的杂事"] {
        house.low(text).await;
    }
    house.on_day(200);
    let would = house.sweep(How { dry_run: true, ..HOW }).await;
    assert!(!would.done && house.left().await == 33);
    let did = house.sweep(HOW).await;
    assert_eq!(would.memories, did.memories);
    assert_eq!((did.memories.len(), did.done, house.left().await), (3, true, 30));
}

#[tokio::test]
async fn more_than_a_fifth_waits_until_somebody_accepts_it() {
    let house = House::new();
    for number in 0..8 {
        house.store(house.memory(&format!("要事{number}"), Importance::NORMAL)).await;
    }
    house.low("杂事一").await;
    house.low("杂事二").await;
    house.low("杂事三").await;
    house.on_day(181);
    let swept = house.sweep(HOW).await;
    assert_eq!((swept.held, swept.done, swept.memories.len(), swept.of), (Some(Held::TooMuch), false, 3, 11));
    assert_eq!(house.sweep(How { dry_run: true, ..HOW }).await.held, Some(Held::TooMuch));
    assert_eq!(house.left().await, 11);
    assert!(house.sweep(How { accept: true, ..HOW }).await.done);
    assert_eq!(house.left().await, 8);

    // Exactly a fifth is not more than a fifth.
    house.low("杂事四").await;
    house.low("杂事五").await;
    house.on_day(400);
    assert!(house.sweep(HOW).await.done);
}

#[tokio::test]
async fn a_clock_that_is_not_believed_deletes_nothing_whatever_is_accepted() {
    let house = House::new();
    house.plenty().await;
    house.low("上个月的杂事").await;
    house.on_day(400);
    let doubted = How { clock_believed: false, accept: true, ..HOW };
    let swept = house.sweep(doubted).await;
    assert_eq!((swept.held, swept.done, swept.memories.len()), (Some(Held::Clock), false, 1));
    house.on_day(1);
    assert!(texts(&house.sweep(HOW).await).is_empty());
    assert!(house.is_left("上个月的杂事").await);
}

#[tokio::test]
async fn impossible_stamps_are_neither_immortal_nor_older_than_the_memory() {
    let house = House::new();
    house.plenty().await;
    let future: DateTime<Utc> = "2099-01-01T00:00:00Z".parse().unwrap();
    let epoch = DateTime::UNIX_EPOCH;
    let year_nought: DateTime<Utc> = "0000-06-01T00:00:00Z".parse().unwrap();
    let yesterday = house.start - TimeDelta::days(1);
    for (text, created_at, last_accessed_at) in [
        ("将来用过", yesterday, future),
        ("来自将来", future, future),
        ("零时用过", yesterday, epoch),
        ("元年用过", yesterday, year_nought),
        ("负数用过", yesterday, epoch - TimeDelta::days(400)),
        ("全是零", epoch, epoch),
    ] {
        house.store(NewMemory { created_at, last_accessed_at, ..house.memory(text, LOW) }).await;
    }
    assert!(texts(&house.sweep(HOW).await).is_empty(), "none of them is old yet");
    house.on_day(180);
    assert_eq!(texts(&house.sweep(HOW).await), ["零时用过", "元年用过", "负数用过"], "as old as they are");
    house.on_day(181);
    assert_eq!(
        texts(&house.sweep(HOW).await),
        ["将来用过", "来自将来", "全是零"],
        "clamped at the first look"
    );
    assert_eq!(house.left().await, 30);
}

#[tokio::test]
async fn summaries_have_thirty_days_unless_a_file_holds_them() {
    let house = House::new();
    house.plenty().await;
    let summary = |text: &str| NewMemory { kind: Kind::Summary, ..house.memory(text, Importance::NORMAL) };
    house.store(NewMemory { source: None, ..summary("对话摘要") }).await;
    house.store(summary("周报里的摘要")).await;
    house.on_day(30);
    assert!(texts(&house.sweep(HOW).await).is_empty());
    house.on_day(31);
    let swept = house.sweep(HOW).await;
    assert_eq!((texts(&swept), swept.memories[0].1), (vec!["对话摘要"], Why::OldSummary));
}

#[tokio::test]
async fn every_user_is_swept_alone_with_a_workspace_or_without() {
    let house = House::new();
    house.plenty().await;
    house.low("林的杂事").await;
    let other = Scope::private(UserId::new("陈").unwrap());
    let mut mine = house.memory("陈的杂事", LOW);
    (mine.user, mine.source) = (other.user().clone(), None);
    let scope = other.clone();
    house.store.write(move |writer| writer.insert(&scope, &mine, &["杂事".to_owned()])).await.unwrap();
    let all = house.store.read(|reader| reader.scopes_of_all_users()).await.unwrap();
    assert_eq!(all, [house.scope.clone(), other.clone()]);
    house.on_day(181);
    assert_eq!(texts(&house.sweep(HOW).await), ["林的杂事"]);
    let swept = sweep(&house.store, &house.clock, &other, How { accept: true, ..HOW }).await.unwrap();
    assert_eq!((texts(&swept), swept.of), (vec!["陈的杂事"], 1));
}

#[tokio::test]
async fn what_went_leaves_tombstones_no_orphans_and_no_bytes() {
    let house = House::new();
    house.plenty().await;
    let secret = "绝密的暗号是青松白鹤".repeat(200);
    house.low(&secret).await;
    house.store.checkpoint().await.unwrap();
    assert!(house.on_disk("青松白鹤"));
    let size = || std::fs::metadata(house.folder.path().join("memory.sqlite")).unwrap().len();
    let before = size();
    house.on_day(181);
    assert!(house.sweep(HOW).await.done);
    assert!(!house.on_disk("青松白鹤"));
    assert!(size() < before, "free pages go back to the disk");
    let scope = house.scope.clone();
    house
        .store
        .write(move |writer| {
            let stones = writer.tombstones(&scope, "/w", "memory/2026-03-13.md")?;
            assert_eq!(stones.get(&ContentHash::of(secret.as_bytes())), Some(&1));
            assert!(writer.check()?.is_clean());
            Ok(())
        })
        .await
        .unwrap();
}
