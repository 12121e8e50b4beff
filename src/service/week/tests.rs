//! What conversations bring to the week's page.

use std::fs;

use chrono::{DateTime, TimeDelta};
use chrono_tz::Asia::Shanghai;
use tempfile::TempDir;

use super::*;
use crate::clock::{Clock, Zone};
use crate::config::ShortTerm;
use crate::memory::block::Frame;
use crate::memory::conversation::Role;
use crate::memory::{MemoryId, Scope, UserId};
use crate::service::ingest::Ingest;
use crate::service::rollup::Rollup;
use crate::service::turn::{Spoken, Turns};

/// A workspace with one note of 2026-W11, on Friday of that week.
struct Desk {
    _folder: TempDir,
    workspace: Workspace,
    store: Store,
    clock: Clock,
    turns: Turns,
    rollup: Rollup,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("工作区");
        fs::create_dir_all(root.join("memory")).unwrap();
        fs::write(root.join("memory/2026-03-10.md"), "- 10:00 网关端口改成 18080\n").unwrap();
        let workspace = Workspace::new(root, UserId::new("主人").unwrap());
        let store = Store::open(&folder.path().join("memory.sqlite")).unwrap();
        let now = DateTime::parse_from_rfc3339("2026-03-13T10:30:00+08:00").unwrap().to_utc();
        let clock = Clock::manual(now, Zone::Fixed(Shanghai));
        let turns = Turns::new(store.clone(), clock.clone(), &ShortTerm::default(), Frame::default());
        let rollup = Rollup::new(store.clone(), Ingest::new(store.clone(), clock.clone()), clock.clone());
        Self { _folder: folder, workspace, store, clock, turns, rollup }
    }

    /// Somebody says something, and a summary stands for it.
    async fn say(&self, user: &str, audience: Audience, text: &str) {
        let scope = Scope::new(UserId::new(user).unwrap(), audience);
        let spoken = Spoken { id: None, role: Role::User, content: text.to_owned(), at: None };
        self.turns.keep(&scope, "s1", None, vec![spoken]).await.unwrap();
        let by_rules = |messages| self.turns.by_rules(messages);
        assert_eq!(self.turns.close(&scope, "s1", &by_rules).await, Ok(1));
    }

    async fn entries(&self) -> Vec<(String, String)> {
        let notes = read(&self.store, &self.workspace, week(), Shanghai, None).await.unwrap();
        let said = notes.entries.into_iter();
        said.map(|found| (found.file, found.entry.content.as_str().to_owned())).collect()
    }

    async fn page(&self) -> String {
        self.rollup.week(&self.workspace, week(), None, false).await.unwrap().unwrap().after
    }

    /// The summaries of the owner's conversations go, by whatever way.
    async fn without_summaries(&self) {
        let (scope, filter) =
            (scope_of(&self.workspace), Filter { kind: Some(Kind::Summary), ..Filter::default() });
        let gone = self.store.write(move |writer| {
            let summaries = writer.list(&scope, &filter, 99, 0)?;
            let ids: Vec<MemoryId> = summaries.into_iter().map(|(_, memory)| memory.id).collect();
            writer.forget(&scope, &ids)
        });
        assert!(gone.await.unwrap() > 0);
    }
}

fn week() -> Week {
    "2026-W11".parse().unwrap()
}

#[tokio::test]
async fn a_week_has_what_the_summaries_of_its_owners_own_conversations_say() {
    let desk = Desk::new();
    desk.say("主人", Audience::Private, "展会摊位就定 B 区 17 号。阳台上的番茄熟了。我对花生过敏").await;
    desk.say("主人", Audience::Shared, "周五团建定在 3 月 20 日").await;
    desk.say("客人", Audience::Private, "我决定买 3 号楼").await;
    let of = |file: &str, text: &str| (file.to_owned(), text.to_owned());
    let wanted = [
        of("memory/2026-03-10.md", "网关端口改成 18080"),
        of("", "展会摊位就定 B 区 17 号"),
        of("", "我对花生过敏"),
    ];
    assert_eq!(desk.entries().await, wanted);
    let page = desk.page().await;
    for said in ["18080", "B 区 17 号", "花生"] {
        assert!(page.contains(said), "{page}");
    }

    desk.clock.set(desk.clock.now() + TimeDelta::days(7));
    desk.say("主人", Audience::Private, "发布定在 4 月 2 日").await;
    assert_eq!(desk.entries().await, wanted, "that is of another week");
    assert_eq!(desk.page().await, page);
}

#[tokio::test]
async fn a_forgotten_summary_leaves_the_page_and_one_that_had_its_time_stays_on_it() {
    let desk = Desk::new();
    desk.say("主人", Audience::Private, "展会摊位就定 B 区 17 号").await;
    assert!(desk.page().await.contains("B 区 17 号"));
    desk.without_summaries().await;
    assert!(!desk.page().await.contains("B 区 17 号"));

    desk.say("主人", Audience::Private, "发布定在 4 月 2 日").await;
    assert!(desk.page().await.contains("4 月 2 日"));
    desk.without_summaries().await;
    desk.clock.set(desk.clock.now() + TimeDelta::days(33));
    let page = desk.page().await;
    assert!(page.contains("4 月 2 日"), "{page}");
    assert_eq!(desk.page().await, page);
}
