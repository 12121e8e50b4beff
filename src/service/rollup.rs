//! The page of a week: made from its notes, written into its own block of its own file, kept with a record of what it
//! says, so that a hand edit shows and stays.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::Days;
use tokio::sync::Mutex;

use super::ingest::{Ingest, name_of, scope_of};
use super::page::{self, ATTEMPTS, PageError};
use super::sweep::SUMMARY_DAYS;
use super::week::{self, Answering, WeekEntry, WeekNotes};
use crate::clock::Clock;
use crate::fault;
use crate::memory::calendar::Week;
use crate::memory::entry::ContentHash;
use crate::memory::markdown::{self, NoteFile};
use crate::memory::redact::redact;
use crate::memory::rollup::{self, Noted, Page};
use crate::memory::{layout, managed};
use crate::store::{PageLine, PageRecord, PageState, Store, StoreError};
use crate::workspace::{FileText, Workspace, WorkspaceError};

/// A week rolled up.
#[derive(Debug, Clone, PartialEq)]
pub struct Rolled {
    /// Which.
    pub week: Week,
    /// The page's file, relative to the workspace.
    pub file: String,
    /// Lines on it.
    pub lines: u32,
    /// What had no room.
    pub left_out: u32,
    /// Characters of the week's notes.
    pub notes_chars: u64,
    /// What its block said before.
    pub before: String,
    /// What it says, or would say.
    pub after: String,
    /// Whether that differs.
    pub changed: bool,
}

/// Rolls weeks up.
#[derive(Debug, Clone)]
pub struct Rollup {
    store: Store,
    ingest: Ingest,
    clock: Clock,
    /// One page at a time.
    turn: Arc<Mutex<()>>,
}

/// What a person did to a page since it was written.
#[derive(Debug, Default)]
struct Edits {
    /// Lines that are the person's, as they stand there.
    kept: Vec<(String, ContentHash)>,
    /// Lines that the person took off.
    removed: Vec<PageLine>,
}

impl Rollup {
    /// Rolls up what `store` and the notes hold.
    pub fn new(store: Store, ingest: Ingest, clock: Clock) -> Self {
        Self { store, ingest, clock, turn: Arc::default() }
    }

    /// Makes the page of `week`; `None` if the week has no notes and no page. A dry run writes nothing.
    ///
    /// The same notes make the same bytes. A line that a person wrote or changed on the page stays, one that was taken off
    /// stays off.
    ///
    /// # Errors
    /// [`PageError`]; nothing is half written, and another run does the same again.
    pub async fn week(
        &self,
        workspace: &Workspace,
        week: Week,
        model: Option<&Answering>,
        dry_run: bool,
    ) -> Result<Option<Rolled>, PageError> {
        let _turn = self.turn.lock().await;
        let notes = week::read(&self.store, workspace, week, self.clock.zone(), model).await?;
        let file = layout::weekly_file(week);
        let (notes, page) = tokio::task::spawn_blocking(move || {
            let page = make(week, &notes);
            (notes, page)
        })
        .await
        .map_err(|_| PageError::Panicked)?;
        for _ in 1..ATTEMPTS {
            match self.write(workspace, &file, &notes, page.clone(), dry_run).await {
                Err(PageError::Workspace(WorkspaceError::Changed { .. })) => {}
                done => return done,
            }
        }
        self.write(workspace, &file, &notes, page, dry_run).await
    }

    async fn write(
        &self,
        workspace: &Workspace,
        file: &str,
        notes: &WeekNotes,
        mut page: Page,
        dry_run: bool,
    ) -> Result<Option<Rolled>, PageError> {
        let disk = page::read(workspace, file).await?;
        if disk.is_none() && page.lines.is_empty() {
            return Ok(None);
        }
        let text = disk.as_ref().map_or("", |disk| disk.text.as_str());
        let parts = managed::split(text)
            .map_err(|source| WorkspaceError::Broken { file: file.to_owned(), source })?;
        let before = page::plain(parts.block.unwrap_or_default());
        let note = NoteFile { name: file.to_owned(), zone: self.clock.zone() };
        // A page that a person deleted whole is made anew.
        let record = match parts.block {
            Some(_) => self.record_of(workspace, file, &before).await?,
            None => None,
        };
        let edits = edits(&before, record.as_ref(), &note, |line| self.outlived(page.week, notes, line));
        take_off(&mut page, &notes.entries, &edits.removed);
        let after = with_kept(page.render(), &page, &edits.kept);

        let rolled = Rolled {
            week: page.week,
            file: file.to_owned(),
            lines: (page.lines.len() + edits.kept.len()) as u32,
            left_out: page.left_out as u32,
            notes_chars: notes.chars as u64,
            changed: before != after,
            before,
            after,
        };
        if dry_run {
            return Ok(Some(rolled));
        }
        let record = PageRecord {
            block: ContentHash::of(rolled.after.as_bytes()),
            lines: lines_of(&rolled.after, &page, notes, edits, &note),
        };
        self.replace(workspace, file, disk, &rolled.after, record).await?;
        self.ingest.again(workspace, file).await?;
        Ok(Some(rolled))
    }

    /// Whether a line was made of summaries alone which have had their time, so that the page alone tells of them.
    fn outlived(&self, week: Week, notes: &WeekNotes, line: &PageLine) -> bool {
        let over = week.sunday().checked_add_days(Days::new(SUMMARY_DAYS.into()));
        let is_there = |hash: &str| notes.entries.iter().any(|found| found.entry.hash.0 == hash);
        let gone = |(file, hash): &(String, String)| file.is_empty() && !is_there(hash);
        over.is_some_and(|over| self.clock.today() > over)
            && !line.entries.is_empty()
            && line.entries.iter().all(gone)
    }

    /// The record of what stands there: of the page that was being written when something cut it short, or of the one
    /// before.
    async fn record_of(
        &self,
        workspace: &Workspace,
        file: &str,
        block: &str,
    ) -> Result<Option<PageRecord>, StoreError> {
        let (scope, root, file) = (scope_of(workspace), name_of(workspace), file.to_owned());
        let hash = ContentHash::of(block.as_bytes());
        self.store
            .read(move |reader| {
                let writing = reader.page(&scope, &root, &file, PageState::Writing)?;
                let written = reader.page(&scope, &root, &file, PageState::Written)?;
                let is_there = |record: &PageRecord| record.block == hash;
                Ok(writing.filter(is_there).or(written))
            })
            .await
    }

    async fn replace(
        &self,
        workspace: &Workspace,
        file: &str,
        disk: Option<FileText>,
        after: &str,
        record: PageRecord,
    ) -> Result<(), PageError> {
        let (scope, root, name) = (scope_of(workspace), name_of(workspace), file.to_owned());
        let writing = {
            let (scope, root, name) = (scope.clone(), root.clone(), name.clone());
            move |writer: &crate::store::Writer<'_>| {
                writer.put_page(&scope, &root, &name, PageState::Writing, &record)
            }
        };
        self.store.write(writing).await?;
        fault::point("rollup.recorded");
        page::write(workspace, file, disk, after).await?;
        fault::point("rollup.page_written");
        self.store.write(move |writer| writer.settle_page(&scope, &root, &name)).await?;
        fault::point("rollup.settled");
        Ok(())
    }
}

fn make(week: Week, notes: &WeekNotes) -> Page {
    let noted: Vec<Noted<'_>> = notes.entries.iter().map(WeekEntry::noted).collect();
    rollup::roll_up(week, &noted, notes.chars)
}

/// What differs between a block and the record of it. A block without a record is ours as it is; what `outlived` its
/// origin stays as if a person had written it.
fn edits(
    block: &str,
    record: Option<&PageRecord>,
    note: &NoteFile,
    outlived: impl Fn(&PageLine) -> bool,
) -> Edits {
    let Some(record) = record else { return Edits::default() };
    let known: HashMap<&str, &PageLine> =
        record.lines.iter().map(|line| (line.hash.as_str(), line)).collect();
    let present = entries_of(block, note);
    let hashes: HashSet<&str> = present.iter().map(|(hash, _)| hash.0.as_str()).collect();
    let is_theirs = |hash: &ContentHash| {
        known.get(hash.0.as_str()).is_none_or(|line| line.kept || line.removed || outlived(line))
    };
    let removed = record.lines.iter().filter(|line| !line.kept && !hashes.contains(line.hash.as_str()));
    Edits {
        removed: removed.map(|line| PageLine { removed: true, ..line.clone() }).collect(),
        kept: present
            .iter()
            .filter(|(hash, _)| is_theirs(hash))
            .map(|(hash, line)| (line.clone(), hash.clone()))
            .collect(),
    }
}

/// The entries of a block, by content hash, with the lines they stand on.
fn entries_of(block: &str, note: &NoteFile) -> Vec<(ContentHash, String)> {
    let lines: Vec<&str> = block.lines().collect();
    let text = |(first, last): (u32, u32)| {
        let range = (first as usize).saturating_sub(1)..(last as usize).min(lines.len());
        lines.get(range).unwrap_or_default().join("\n")
    };
    let entries = markdown::parse(&redact(block).0, note).entries;
    entries.into_iter().map(|entry| (entry.hash, text(entry.lines))).collect()
}

/// Takes off what a person took off: what says no more than that did.
fn take_off(page: &mut Page, notes: &[week::WeekEntry], removed: &[PageLine]) {
    let gone: HashSet<(&str, &str)> = removed
        .iter()
        .flat_map(|line| &line.entries)
        .map(|(file, hash)| (file.as_str(), hash.as_str()))
        .collect();
    page.lines.retain(|line| {
        let mut from = line.sources.iter().filter_map(|at| notes.get(*at));
        !from.all(|found| gone.contains(&(found.file.as_str(), found.entry.hash.0.as_str())))
    });
}

/// The page with the lines that a person wrote on it, below the others.
fn with_kept(mut text: String, page: &Page, kept: &[(String, ContentHash)]) -> String {
    if !kept.is_empty() {
        text.push_str(&format!("\n## {}\n", page.by_hand()));
        kept.iter().for_each(|(line, _)| text.extend([line.as_str(), "\n"]));
    }
    text
}

/// What is kept on record of the lines of a page.
fn lines_of(after: &str, page: &Page, notes: &WeekNotes, edits: Edits, note: &NoteFile) -> Vec<PageLine> {
    let kept: HashSet<ContentHash> = edits.kept.into_iter().map(|(_, hash)| hash).collect();
    let by_line: HashMap<String, &[usize]> =
        page.lines.iter().map(|line| (line.bullet(), line.sources.as_slice())).collect();
    let entry = |at: &usize| notes.entries.get(*at).map(WeekEntry::key);
    let ours = entries_of(after, note).into_iter().map(|(hash, line)| PageLine {
        entries: by_line.get(&line).map(|at| at.iter().filter_map(entry).collect()).unwrap_or_default(),
        kept: kept.contains(&hash),
        hash: hash.0,
        removed: false,
    });
    ours.chain(edits.removed).collect()
}

#[cfg(test)]
mod tests {
    use chrono_tz::Tz;

    use super::*;
    use crate::clock::Zone;
    use crate::memory::{MemoryId, UserId};
    use crate::service::ingest::Reconcile;

    const NOTE: &str =
        "## 2026-03-11\n- 09:00 早间检查：一切正常\n- 10:00 网关端口是 9071\n- 11:30 决定：备份改用 restic\n";

    async fn indexed(store: &Store, workspace: &Workspace, file: &str) -> Vec<(MemoryId, String)> {
        let (scope, root, file) = (scope_of(workspace), name_of(workspace), file.to_owned());
        let found = store.read(move |reader| reader.entries_of_file(&scope, &root, &file)).await.unwrap();
        found.into_iter().map(|(_, memory)| (memory.id, memory.content)).collect()
    }

    #[tokio::test]
    async fn a_line_stands_behind_its_entries_and_replaces_them_once_they_are_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::new(folder.path().join("工作区"), UserId::new("小明").unwrap());
        std::fs::create_dir_all(workspace.root().join("memory")).unwrap();
        std::fs::write(workspace.root().join("memory/2026-03-11.md"), NOTE).unwrap();
        let store = Store::open(&folder.path().join("db")).unwrap();
        let sunday = "2026-03-15T23:59:00Z".parse().unwrap();
        let clock = Clock::manual(sunday, Zone::Fixed(Tz::UTC));
        let ingest = Ingest::new(store.clone(), clock.clone());
        ingest.reconcile(&workspace, Reconcile::default()).await.unwrap();
        let rollup = Rollup::new(store.clone(), ingest.clone(), clock);
        let week: Week = "2026-W11".parse().unwrap();
        let rolled = rollup.week(&workspace, week, None, false).await.unwrap().unwrap();
        assert!(rolled.after.contains("03-11 网关端口是 9071"), "{}", rolled.after);
        let page = layout::weekly_file(week);
        assert_eq!(indexed(&store, &workspace, &page).await, [], "the entries are all there");

        let gone = indexed(&store, &workspace, "memory/2026-03-11.md").await;
        let port = gone.iter().find(|(_, content)| content.contains("9071")).unwrap().0.clone();
        let scope = scope_of(&workspace);
        store.write(move |writer| writer.forget(&scope, &[port])).await.unwrap();
        ingest.again(&workspace, &page).await.unwrap();
        let shown: Vec<String> =
            indexed(&store, &workspace, &page).await.into_iter().map(|(_, content)| content).collect();
        assert_eq!(shown, ["网关端口是 9071"], "the other line still stands behind its entry");
        store.close().await.unwrap();
    }
}
