//! What is permanent, carried into the managed block of `MEMORY.md`, and into the day's note that it was.
//!
//! A promotion is decided once and kept in the store until it is everywhere: in `MEMORY.md`, in the archive, in the
//! note. Whoever was cut short between two steps goes on from there.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use chrono::{Days, NaiveTime, Timelike};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::ingest::{Ingest, name_of, scope_of};
use super::lines;
use super::page::{self, ATTEMPTS, PageError};
use super::week::{self, Answering, WeekEntry};
use crate::clock::Clock;
use crate::fault;
use crate::memory::calendar::Week;
use crate::memory::entry::ContentHash;
use crate::memory::markdown::{self, NoteFile};
use crate::memory::promote::{self, Existing, Promotion};
use crate::memory::redact::redact;
use crate::memory::rollup::{self, Noted};
use crate::memory::{Mark, MemoryId, Redacted, layout, managed, statement};
use crate::store::{Filter, PageLine, PageRecord, PageState, PendingPromotion, Store};
use crate::workspace::{Note, Section, Workspace, WorkspaceError};

/// The page of what is permanent.
const MEMORY: &str = "MEMORY.md";

/// Where what left it is kept, below `.ocmemd/archive`.
const ARCHIVE: &str = "MEMORY.md";

/// Older notes than this many days wait for a rollup: a workspace with years of them would be promoted whole.
const RECENT: u64 = 7;

/// Memories that are looked through for what the notes tell of a line that is taken back.
const ALL: usize = 100_000;

/// What was promoted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Promoted {
    /// New lines of the block.
    pub synced: Vec<String>,
    /// Lines that left it.
    pub archived: Vec<String>,
    /// What does not agree and was left alone.
    pub doubts: Vec<String>,
}

/// Promotes.
#[derive(Debug, Clone)]
pub struct Promote {
    store: Store,
    ingest: Ingest,
    clock: Clock,
    /// Characters that the block may have.
    budget: usize,
    /// One promotion at a time.
    turn: Arc<Mutex<()>>,
}

/// Statements that may be promoted, each with the entries it was made of.
struct Candidates {
    lines: Vec<promote::Line>,
    /// By the place in `lines`: the file and the content hash of each entry.
    entries: Vec<Vec<(String, String)>>,
}

impl Promote {
    /// Promotes into the notes' own workspace, within `budget` characters.
    pub fn new(store: Store, ingest: Ingest, clock: Clock, budget: usize) -> Self {
        Self { store, ingest, clock, budget, turn: Arc::default() }
    }

    /// Promotes what is permanent of `week`, and what was used often whatever its week. A dry run writes nothing.
    ///
    /// # Errors
    /// [`PageError`]; another run goes on where this one ended.
    pub async fn week(
        &self,
        workspace: &Workspace,
        week: Week,
        model: Option<&Answering>,
        dry_run: bool,
    ) -> Result<Promoted, PageError> {
        let _turn = self.turn.lock().await;
        let notes = week::read(&self.store, workspace, week, self.clock.zone(), model).await?;
        let mut weeks = week::often_used(&self.store, workspace, promote::OFTEN).await?;
        weeks.remove(&week);
        weeks.insert(week, notes.entries);
        self.promote(workspace, weeks, dry_run).await
    }

    /// Promotes at once what the user wants kept for ever, and what he asked for of configuration, preferences and
    /// identity, of the entries of one file. Most files have nothing of it, and then nothing is read or written.
    ///
    /// # Errors
    /// As [`Promote::week`].
    pub async fn at_once(&self, workspace: &Workspace, file: &str) -> Result<Promoted, PageError> {
        let _turn = self.turn.lock().await;
        let of_file = week::entries_of_file(&self.store, workspace, file).await?;
        let today = self.clock.today();
        let recent = today - Days::new(RECENT)..=today;
        let mut weeks: BTreeMap<Week, Vec<WeekEntry>> = BTreeMap::new();
        for found in of_file {
            let entry = &found.entry;
            let Some(day) = entry.day.filter(|day| recent.contains(day)) else { continue };
            if promote::is_promoted_at_once(entry.content.as_str(), entry.context.as_str(), entry.mark, day) {
                weeks.entry(Week::of(day)).or_default().push(found);
            }
        }
        if weeks.is_empty() {
            return Ok(Promoted::default());
        }
        self.promote(workspace, weeks, false).await
    }

    /// Keeps anything from being promoted while what it returns is held: what is being forgotten must not be carried
    /// into `MEMORY.md` meanwhile.
    pub async fn pause(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.turn).lock_owned().await
    }

    /// Finishes what was decided before the program ended.
    ///
    /// # Errors
    /// As [`Promote::week`].
    pub async fn finish(&self, workspace: &Workspace) -> Result<(), PageError> {
        let _turn = self.turn.lock().await;
        self.settle(workspace).await
    }

    async fn promote(
        &self,
        workspace: &Workspace,
        weeks: BTreeMap<Week, Vec<WeekEntry>>,
        dry_run: bool,
    ) -> Result<Promoted, PageError> {
        if !dry_run {
            self.settle(workspace).await?;
        }
        let candidates = tokio::task::spawn_blocking(move || candidates(&weeks)).await;
        let candidates = candidates.map_err(|_| PageError::Panicked)?;
        for _ in 1..ATTEMPTS {
            match self.write(workspace, &candidates, dry_run).await {
                Err(PageError::Workspace(WorkspaceError::Changed { .. })) => {}
                done => return done,
            }
        }
        self.write(workspace, &candidates, dry_run).await
    }

    async fn write(
        &self,
        workspace: &Workspace,
        candidates: &Candidates,
        dry_run: bool,
    ) -> Result<Promoted, PageError> {
        let disk = page::read(workspace, MEMORY).await?;
        let text = disk.as_ref().map_or("", |disk| disk.text.as_str());
        let text = redact(text).0;
        let parts = managed::split(text.as_str())
            .map_err(|source| WorkspaceError::Broken { file: MEMORY.to_owned(), source })?;
        let (own, block) = ([parts.before, parts.after].concat(), parts.block.unwrap_or_default());
        let now = self.clock.local(self.clock.now());
        let existing = Existing { own: &own, block };
        let promotion = promote::promote(&candidates.lines, &existing, now.date(), self.budget);
        let promoted = Promoted::of(&promotion);
        if dry_run || page::plain(&promotion.block) == page::plain(block) {
            return Ok(promoted);
        }
        let redacted = |lines: &[String]| lines.iter().map(|line| redact(line).0).collect();
        let pending = PendingPromotion {
            block: page::hash(&promotion.block),
            day: now.date(),
            time: NaiveTime::from_hms_opt(now.hour(), now.minute(), 0).unwrap_or_default(),
            synced: redacted(&promotion.synced),
            archived: redacted(&promotion.archived),
        };
        let record = self.record(workspace, candidates, &promotion, &pending.block).await?;
        let (scope, root) = (scope_of(workspace), name_of(workspace));
        self.store
            .write(move |writer| {
                writer.put_page(&scope, &root, MEMORY, PageState::Written, &record)?;
                writer.put_promotion(&scope, &root, &pending)
            })
            .await?;
        fault::point("promotion.decided");
        page::write(workspace, MEMORY, disk, &promotion.block).await?;
        fault::point("promotion.block_written");
        self.settle(workspace).await?;
        Ok(promoted)
    }

    /// Carries what was decided through: into the archive, into the day's note, into the index. What never reached the
    /// block came to nothing, and is decided anew.
    async fn settle(&self, workspace: &Workspace) -> Result<(), PageError> {
        let (scope, root) = (scope_of(workspace), name_of(workspace));
        let (of, place) = (scope.clone(), root.clone());
        let pending = self.store.read(move |reader| reader.pending_promotion(&of, &place)).await?;
        let Some(pending) = pending else { return Ok(()) };
        let mut written = None;
        if self.has_block(workspace, &pending.block).await? {
            let synced = synced(&pending);
            let bullets = synced.iter().map(|text| sync_note(text, pending.time).hash());
            let bullets = bullets.collect::<Result<Vec<_>, _>>()?;
            let note = layout::daily_file(pending.day);
            lines::claim(&self.store, &scope, workspace, &note, bullets).await?;
            let place = workspace.clone();
            let carried = tokio::task::spawn_blocking(move || carry(&place, &pending, &synced)).await;
            written = Some(carried.map_err(|_| PageError::Panicked)??);
        }
        self.store.write(move |writer| writer.end_promotion(&scope, &root)).await?;
        fault::point("promotion.ended");
        if let Some(note) = written {
            self.ingest.file(workspace, MEMORY).await?;
            self.ingest.file(workspace, &note).await?;
        }
        Ok(())
    }

    /// Takes back the lines that were made of forgotten entries (file and content hash), unless another entry that says
    /// the same is still remembered. They do not go to the archive.
    ///
    /// # Errors
    /// As [`Promote::week`].
    pub async fn take_back(
        &self,
        workspace: &Workspace,
        forgotten: &[(String, String)],
    ) -> Result<(), PageError> {
        let _turn = self.turn.lock().await;
        let (scope, root, forgotten) = (scope_of(workspace), name_of(workspace), forgotten.to_vec());
        let (of, place) = (scope.clone(), root.clone());
        let (record, gone) = self
            .store
            .read(move |reader| {
                let Some(record) = reader.page(&of, &place, MEMORY, PageState::Written)? else {
                    return Ok((None, HashSet::new()));
                };
                let mut gone = HashSet::new();
                for line in record
                    .lines
                    .iter()
                    .filter(|line| line.entries.iter().any(|entry| forgotten.contains(entry)))
                {
                    if !reader.any_remembered(&of, &place, &line.entries)? {
                        gone.insert(line.hash.clone());
                    }
                }
                Ok((Some(record), gone))
            })
            .await?;
        let Some(mut record) = record.filter(|_| !gone.is_empty()) else { return Ok(()) };
        let Some(disk) = page::read(workspace, MEMORY).await? else { return Ok(()) };
        let parts = managed::split(&disk.text)
            .map_err(|source| WorkspaceError::Broken { file: MEMORY.to_owned(), source })?;
        let note = NoteFile { name: MEMORY.to_owned(), zone: self.clock.zone() };
        let (block, gone_lines) = without(parts.block.unwrap_or_default(), &gone, &note);
        record.lines.retain(|line| !gone.contains(&line.hash));
        record.block = page::hash(&block);
        page::write(workspace, MEMORY, Some(disk), &block).await?;
        self.store
            .write(move |writer| {
                writer.put_page(&scope, &root, MEMORY, PageState::Written, &record)?;
                let all =
                    writer.list(&scope, &Filter { workspace: Some(root), ..Filter::default() }, ALL, 0)?;
                let told = all.into_iter().map(|(_, memory)| memory).filter(|memory| {
                    let text = memory.content.trim_start_matches('✅').trim();
                    memory.mark == Mark::Sync && gone_lines.iter().any(|line| line.starts_with(text))
                });
                let told: Vec<MemoryId> = told.map(|memory| memory.id).collect();
                writer.forget(&scope, &told)
            })
            .await?;
        self.ingest.file(workspace, MEMORY).await?;
        Ok(())
    }

    async fn has_block(&self, workspace: &Workspace, wanted: &ContentHash) -> Result<bool, PageError> {
        let disk = page::read(workspace, MEMORY).await?;
        let parts = disk.as_ref().and_then(|disk| managed::split(&disk.text).ok());
        Ok(page::hash(parts.and_then(|parts| parts.block).unwrap_or_default()) == *wanted)
    }

    /// Which entries each line of the new block was made of, as far as that is known: of the lines before, and of those that are new.
    async fn record(
        &self,
        workspace: &Workspace,
        candidates: &Candidates,
        promotion: &Promotion,
        block: &ContentHash,
    ) -> Result<PageRecord, PageError> {
        let (scope, root) = (scope_of(workspace), name_of(workspace));
        let before =
            self.store.read(move |reader| reader.page(&scope, &root, MEMORY, PageState::Written)).await?;
        let mut known: HashMap<String, Vec<(String, String)>> =
            before.into_iter().flat_map(|page| page.lines).map(|line| (line.hash, line.entries)).collect();
        let note = NoteFile { name: MEMORY.to_owned(), zone: self.clock.zone() };
        let made_of = |content: &str| {
            let at = candidates
                .lines
                .iter()
                .position(|line| content.starts_with(&statement::latest(&line.statement.text)));
            at.and_then(|at| candidates.entries.get(at)).cloned()
        };
        let lines = markdown::parse(&redact(&promotion.block).0, &note).entries.into_iter().map(|entry| {
            let entries = known.remove(&entry.hash.0).or_else(|| made_of(entry.content.as_str()));
            PageLine { hash: entry.hash.0, entries: entries.unwrap_or_default(), ..PageLine::default() }
        });
        Ok(PageRecord { block: block.clone(), lines: lines.collect() })
    }
}

impl Promoted {
    fn of(promotion: &Promotion) -> Self {
        let doubt = |doubt: &promote::Doubt| format!("{} ↔ {}", doubt.kept, doubt.against);
        Self {
            synced: promotion.synced.clone(),
            archived: promotion.archived.clone(),
            doubts: promotion.doubts.iter().map(doubt).collect(),
        }
    }
}

/// What each week has to say, with its entries.
fn candidates(weeks: &BTreeMap<Week, Vec<WeekEntry>>) -> Candidates {
    let mut found = Candidates { lines: Vec::new(), entries: Vec::new() };
    for (week, entries) in weeks {
        let noted: Vec<Noted<'_>> = entries.iter().map(WeekEntry::noted).collect();
        for statement in rollup::roll_up(*week, &noted, 0).statements {
            let of = statement.sources.iter().filter_map(|at| entries.get(*at));
            found.entries.push(of.map(WeekEntry::key).collect());
            found.lines.push(promote::Line { statement, from: week.to_string() });
        }
    }
    found
}

/// Into the archive and into the day's note; returns the note.
fn carry(
    workspace: &Workspace,
    pending: &PendingPromotion,
    synced: &[Redacted],
) -> Result<String, WorkspaceError> {
    let archived: Vec<_> =
        pending.archived.iter().map(|line| redact(&format!("- {} {line}", pending.day)).0).collect();
    if !archived.is_empty() {
        workspace.archive(ARCHIVE, &archived)?;
    }
    fault::point("promotion.archived");
    let notes: Vec<Note<'_>> = synced.iter().map(|text| sync_note(text, pending.time)).collect();
    let (note, _) = workspace.append_missing(pending.day, &notes)?;
    fault::point("promotion.noted");
    Ok(note)
}

/// What the day's note says of a promotion.
fn synced(pending: &PendingPromotion) -> Vec<Redacted> {
    pending.synced.iter().map(|line| redact(&format!("✅ {line}")).0).collect()
}

fn sync_note(text: &Redacted, time: NaiveTime) -> Note<'_> {
    Note { section: Section::Sync, time, text, session: None }
}

/// The block without those entries, and without headings that have nothing left below; and what the entries said.
fn without(block: &str, gone: &HashSet<String>, note: &NoteFile) -> (String, Vec<String>) {
    let entries = markdown::parse(&redact(block).0, note).entries;
    let cut: HashSet<usize> = entries
        .iter()
        .filter(|entry| gone.contains(&entry.hash.0))
        .flat_map(|entry| entry.lines.0 as usize..=entry.lines.1 as usize)
        .collect();
    let left: Vec<&str> =
        (1..).zip(block.lines()).filter(|(number, _)| !cut.contains(number)).map(|(_, line)| line).collect();
    let is_bare = |at: usize| {
        let below = left.iter().skip(at + 1).find(|line| !line.trim().is_empty());
        left.get(at).is_some_and(|line| line.starts_with('#'))
            && below.is_none_or(|line| line.starts_with('#'))
    };
    let said = entries.iter().filter(|entry| gone.contains(&entry.hash.0));
    let said = said.map(|entry| entry.content.as_str().to_owned()).collect();
    ((0..left.len()).filter(|at| !is_bare(*at)).flat_map(|at| [left[at], "\n"]).collect(), said)
}
