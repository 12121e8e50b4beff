use std::fs;

use chrono::{DateTime, Utc};
use tempfile::TempDir;

use super::*;
use crate::clock::{Clock, Zone};
use crate::memory::UserId;
use crate::service::ingest::{Ingest, Reconcile};
use crate::service::remember::Remember;

const TODAY: &str = "memory/2026-03-13.md";

/// A workspace whose owner remembers things, at a time of our own.
struct House {
    _folder: TempDir,
    workspace: Workspace,
    store: Store,
    clock: Clock,
    ingest: Ingest,
    remember: Remember,
    scope: Scope,
}

impl House {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("工作区");
        fs::create_dir_all(root.join("memory")).unwrap();
        let owner = UserId::new("主人").unwrap();
        let workspace = Workspace::new(root, owner.clone());
        let store = Store::open(&folder.path().join("memory.sqlite")).unwrap();
        let now: DateTime<Utc> = "2026-03-13T02:30:00Z".parse().unwrap();
        let clock = Clock::manual(now, Zone::Fixed(chrono_tz::Asia::Shanghai));
        let ingest = Ingest::new(store.clone(), clock.clone());
        let remember = Remember::new(store.clone(), ingest.clone(), clock.clone());
        Self { _folder: folder, workspace, store, clock, ingest, remember, scope: Scope::private(owner) }
    }

    async fn keep(&self, text: &str, session: Option<&str>) -> Memory {
        self.remember.keep(&self.scope, Some(&self.workspace), text, session).await.unwrap().memory
    }

    fn text(&self) -> String {
        fs::read_to_string(self.workspace.root().join(TODAY)).unwrap()
    }

    async fn put(&self, text: &str) {
        fs::write(self.workspace.root().join(TODAY), text).unwrap();
        self.ingest.file(&self.workspace, TODAY).await.unwrap();
    }

    async fn clear(&self, which: Which, files: bool) -> Cleared {
        let workspaces = [self.workspace.clone()];
        let plan = plan(&self.store, &self.scope, which, files.then_some(&workspaces[..])).await.unwrap();
        let cleared = clear(&self.store, &self.scope, plan).await.unwrap();
        for (workspace, file) in &cleared.changed {
            self.ingest.file(workspace, file).await.unwrap();
        }
        cleared
    }

    /// What is remembered, in the order of the file.
    async fn left(&self) -> Vec<String> {
        let (scope, root) = (self.scope.clone(), super::super::ingest::name_of(&self.workspace));
        let found =
            self.store.read(move |reader| reader.entries_of_file(&scope, &root, TODAY)).await.unwrap();
        found.into_iter().map(|(_, memory)| memory.content).collect()
    }

    async fn read_all_anew(&self) {
        let how = Reconcile { full: true, ..Reconcile::default() };
        self.ingest.reconcile(&self.workspace, how).await.unwrap();
    }
}

fn today() -> Which {
    Which::Day("2026-03-13".parse().unwrap())
}

#[tokio::test]
async fn our_lines_are_cut_and_everything_else_stays_byte_for_byte() {
    let house = House::new();
    house.put("# 我的一天\r\n- 早上跑步  \r\n\r\n").await;
    house.keep("网关端口改成 8080\n备用端口 8081", Some("agent:main")).await;
    house.keep("喜欢乌龙茶", None).await;
    let ours = house.text();
    let theirs = format!("{ours}- 10:31 别的程序记的一条 <!-- s:x -->\r\n- 10:30 手写的\r\n\r\n末尾没有换行");
    house.put(&theirs).await;
    let cleared = house.clear(today(), true).await;
    assert_eq!(cleared.memories, 6);
    assert_eq!(cleared.not_cut, []);
    let expected = theirs
        .replace("- 10:30 网关端口改成 8080\r\n  备用端口 8081 <!-- s:agent:main -->\r\n", "")
        .replace("- 10:30 喜欢乌龙茶\r\n", "");
    assert_eq!(house.text(), expected);
    assert_eq!(house.left().await, Vec::<String>::new());
    house.read_all_anew().await;
    assert_eq!(house.left().await, Vec::<String>::new(), "what stays in the file stays forgotten");
    assert_eq!(
        fs::read_dir(house.workspace.root().join("memory")).unwrap().count(),
        1,
        "no file is left over"
    );
}

#[tokio::test]
async fn without_files_the_notes_stay_as_they_are() {
    let house = House::new();
    house.keep("喜欢乌龙茶", None).await;
    let before = house.text();
    assert_eq!(house.clear(today(), false).await.memories, 1);
    assert_eq!(house.text(), before);
    house.read_all_anew().await;
    assert_eq!(house.left().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_line_that_somebody_changed_or_copied_is_not_ours() {
    let house = House::new();
    house.keep("喜欢乌龙茶", None).await;
    house.keep("备份在三点", None).await;
    let changed = house.text().replace("喜欢乌龙茶", "喜欢龙井茶");
    let copied = format!("{changed}\n## 杂记\n- 10:30 备份在三点\n");
    house.put(&copied).await;
    house.clear(today(), true).await;
    assert_eq!(house.text(), copied.replacen("- 10:30 备份在三点\n", "", 1));
}

#[tokio::test]
async fn what_was_cut_stays_away_from_a_restored_note_and_may_be_said_again() {
    let house = House::new();
    house.keep("喜欢乌龙茶", None).await;
    let backup = house.text();
    house.clear(today(), true).await;
    house.put(&format!("{backup}- 11:00 新的一条\n")).await;
    assert_eq!(house.left().await, ["新的一条"]);
    house.put("## 2026-03-13 记忆记录\n").await;
    house.keep("喜欢乌龙茶", None).await;
    assert_eq!(house.left().await, ["喜欢乌龙茶"], "in the same minute, in the same words");
    house.clear(today(), true).await;
    house.clock.set("2026-03-13T03:30:00Z".parse().unwrap());
    house.keep("喜欢乌龙茶", None).await;
    assert_eq!(house.left().await, ["喜欢乌龙茶"]);
    assert!(house.text().contains("- 11:30 喜欢乌龙茶"));
}

#[tokio::test]
async fn before_a_day_leaves_that_day_and_what_has_no_day() {
    let house = House::new();
    house.keep("今天的", None).await;
    for (file, text) in [("memory/2026-03-12.md", "- 昨天的事\n"), ("MEMORY.md", "- 没有日期的事\n")]
    {
        fs::write(house.workspace.root().join(file), text).unwrap();
        house.ingest.file(&house.workspace, file).await.unwrap();
    }
    let before = Which::Before("2026-03-13".parse().unwrap());
    let workspaces = [house.workspace.clone()];
    let first = plan(&house.store, &house.scope, before.clone(), Some(&workspaces)).await.unwrap();
    let texts: Vec<_> = first.memories.iter().map(|memory| memory.content.as_str()).collect();
    assert_eq!((texts, first.own.len()), (vec!["昨天的事"], 0));
    let again = plan(&house.store, &house.scope, before.clone(), None).await.unwrap();
    assert_eq!(first.selection, again.selection);
    house.clear(before.clone(), true).await;
    let gone = plan(&house.store, &house.scope, before, None).await.unwrap();
    assert!(gone.memories.is_empty() && gone.selection != first.selection);
    assert_eq!(house.left().await, ["今天的"]);
}

#[tokio::test]
async fn a_note_that_cannot_be_looked_at_is_named_and_its_memories_go_all_the_same() {
    let house = House::new();
    house.keep("喜欢乌龙茶", None).await;
    let path = house.workspace.root().join(TODAY);
    fs::rename(&path, path.with_extension("away")).unwrap();
    std::os::unix::fs::symlink("elsewhere", &path).unwrap();
    let cleared = house.clear(today(), true).await;
    assert_eq!((cleared.memories, cleared.not_cut.len()), (1, 1));
    assert_eq!(cleared.not_cut[0].file, TODAY);
}
