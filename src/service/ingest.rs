//! From notes on disk to memories in the index: read, redact, parse, compare, store the difference.
//!
//! Idempotent by content hash: a file that says what it said is not touched. What cannot be looked at keeps its
//! memories. All of a file's changes are one transaction.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::{NaiveDate, NaiveDateTime, NaiveTime};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::clock::Clock;
use crate::memory::diff::{self, Known, Pair};
use crate::memory::entry::ContentHash;
use crate::memory::markdown::{self, NoteFile};
use crate::memory::redact::redact;
use crate::memory::{
    Audience, Entry, Importance, Kind, Mark, Memory, MemoryId, NewMemory, Scope, Source, UserId, expiry,
    indexed,
};
use crate::store::{FileState as Ingested, PageState, Store, StoreError, Writer};
use crate::workspace::{
    Deletions, FileState, Hold, ReadError, RootState, Skipped, Workspace, bullets, judge,
};

/// What kept a file or a workspace from being taken in.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The file could not be read; its memories stay.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A fault of ours while reading a note.
    #[error("{file} could not be taken in: reading its entries failed")]
    Parse {
        /// Relative to the workspace.
        file: String,
    },
}

/// What a file brought.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Changes {
    /// New memories.
    pub added: u32,
    /// Memories that say something else now.
    pub updated: u32,
    /// Memories whose entry is gone.
    pub removed: u32,
}

impl Changes {
    fn add(&mut self, other: Self) {
        self.added += other.added;
        self.updated += other.updated;
        self.removed += other.removed;
    }
}

/// What a comparison of a whole workspace with the index found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reconciled {
    /// Notes there are.
    pub files: u32,
    /// Notes that said something new, and what, by file.
    pub changed: Vec<(String, Changes)>,
    /// Everything together.
    pub changes: Changes,
    /// Notes and folders that were not read, and why.
    pub skipped: Vec<(String, String)>,
    /// Why the workspace could not be looked at, if it could not.
    pub unreachable: Option<String>,
    /// Deletions that wait for a person, and how many memories they concern.
    pub held: Option<(Hold, u64)>,
}

/// What is worth telling of a file; kept beside its hash.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileNotes {
    /// Secrets that were cut out: the type and the line.
    pub secrets: Vec<(String, u32)>,
}

/// How to reconcile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reconcile {
    /// Reads the entries of every file again, not only of those whose content changed.
    pub full: bool,
    /// Applies deletions that were held back.
    pub accept_deletions: bool,
}

/// A note, read and cut into entries with their words.
struct Prepared {
    file: String,
    hash: ContentHash,
    entries: Vec<(Entry, Vec<String>)>,
    notes: FileNotes,
    /// As it stands in the file.
    text: String,
}

/// Takes notes in, one file at a time.
#[derive(Debug, Clone)]
pub struct Ingest {
    store: Store,
    clock: Clock,
    /// Two comparisons of the same file at once would both find the same entries new.
    turn: Arc<Mutex<()>>,
}

impl Ingest {
    /// Takes notes into `store`.
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock, turn: Arc::default() }
    }

    /// Looks at one file: takes it in if it changed, lets its memories go if it is gone.
    ///
    /// # Errors
    /// [`IngestError`]; whatever it is, what the index knows of the file stays.
    pub async fn file(&self, workspace: &Workspace, file: &str) -> Result<Changes, IngestError> {
        let _turn = self.turn.lock().await;
        self.look(workspace, file, false).await
    }

    /// Reads one file again although its content may not have changed: what is left out of it may be another by now.
    ///
    /// # Errors
    /// As [`Ingest::file`].
    pub async fn again(&self, workspace: &Workspace, file: &str) -> Result<Changes, IngestError> {
        let _turn = self.turn.lock().await;
        self.look(workspace, file, true).await
    }

    /// Compares the whole workspace with the index.
    ///
    /// # Errors
    /// [`IngestError::Store`]; a file that cannot be read is part of the answer.
    pub async fn reconcile(&self, workspace: &Workspace, how: Reconcile) -> Result<Reconciled, IngestError> {
        let looked = workspace.clone();
        let scan = tokio::task::spawn_blocking(move || looked.scan())
            .await
            .map_err(|_| IngestError::Parse { file: workspace.root().display().to_string() })?;
        let root = scan.root();
        let mut report = Reconciled {
            files: scan.files.len() as u32,
            changed: Vec::new(),
            changes: Changes::default(),
            skipped: scan.skipped.iter().map(skipped).collect(),
            unreachable: match &root {
                RootState::Present => None,
                RootState::Unreachable { folder, why } if folder.is_empty() => Some(why.to_string()),
                RootState::Unreachable { folder, why } => Some(format!("{folder}: {why}")),
            },
            held: None,
        };
        for found in &scan.files {
            // One file at a time, so that whoever remembers something meanwhile waits for one file only.
            let _turn = self.turn.lock().await;
            match self.look(workspace, &found.file, how.full).await {
                Ok(changes) if changes == Changes::default() => {}
                Ok(changes) => {
                    report.changes.add(changes);
                    report.changed.push((found.file.clone(), changes));
                }
                Err(IngestError::Store(error)) => return Err(error.into()),
                Err(error) => report.skipped.push((found.file.clone(), error.to_string())),
            }
        }
        let known = self.known_files(workspace).await?;
        let gone: Vec<String> = known
            .iter()
            .filter(|known| matches!(scan.state(&known.file), FileState::Gone))
            .map(|known| known.file.clone())
            .collect();
        match judge(known.len(), gone.len(), &root) {
            Deletions::Hold(hold @ Hold::Most { .. }) if !how.accept_deletions => {
                let entries = known.iter().filter(|known| gone.contains(&known.file));
                report.held = Some((hold, entries.map(|known| u64::from(known.entries)).sum()));
            }
            Deletions::Hold(Hold::Unreachable { .. }) => {}
            Deletions::Apply | Deletions::Hold(Hold::Most { .. }) => {
                for file in gone {
                    let _turn = self.turn.lock().await;
                    if workspace.root().join(&file).exists() {
                        continue; // It came back since the scan.
                    }
                    let changes = self.let_go(scope_of(workspace), name_of(workspace), &file).await?;
                    report.changes.add(changes);
                    report.changed.push((file, changes));
                }
            }
        }
        Ok(report)
    }

    /// Lets go of everything that was read from a workspace which is no longer configured for `owner`.
    ///
    /// # Errors
    /// What the store says; what was let go of by then stays gone.
    pub async fn forsake(&self, owner: &UserId, root: &str) -> Result<Changes, StoreError> {
        let (scope, place) = (Scope::private(owner.clone()), root.to_owned());
        let of = scope.clone();
        let known = self.store.read(move |reader| reader.files(&of, &place)).await?;
        let mut changes = Changes::default();
        for state in known {
            let _turn = self.turn.lock().await;
            changes.add(self.let_go(scope.clone(), root.to_owned(), &state.file).await?);
        }
        Ok(changes)
    }

    async fn look(&self, workspace: &Workspace, file: &str, full: bool) -> Result<Changes, IngestError> {
        let before = self.known_file(workspace, file).await?;
        let before = if full { None } else { before.map(|known| known.hash) };
        let (place, name, zone) = (workspace.clone(), file.to_owned(), self.clock.zone());
        let prepared =
            tokio::task::spawn_blocking(move || prepare(&place, name, zone, before.as_ref())).await;
        match prepared.map_err(|_| IngestError::Parse { file: file.to_owned() })? {
            Ok(Some(prepared)) => self.store_changes(workspace, prepared).await,
            Ok(None) => Ok(Changes::default()),
            Err(ReadError::Gone { .. }) => self.let_go_if_alone(workspace, file).await,
            Err(error) => Err(error.into()),
        }
    }

    async fn known_files(&self, workspace: &Workspace) -> Result<Vec<Ingested>, StoreError> {
        let (scope, root) = (scope_of(workspace), name_of(workspace));
        self.store.read(move |reader| reader.files(&scope, &root)).await
    }

    async fn known_file(&self, workspace: &Workspace, file: &str) -> Result<Option<Ingested>, StoreError> {
        let (scope, root, file) = (scope_of(workspace), name_of(workspace), file.to_owned());
        self.store.read(move |reader| reader.file(&scope, &root, &file)).await
    }

    /// A single file that is gone goes at once only where that cannot be the first sign of a whole folder going.
    async fn let_go_if_alone(&self, workspace: &Workspace, file: &str) -> Result<Changes, IngestError> {
        let known = self.known_files(workspace).await?;
        let looked = workspace.clone();
        let scan = tokio::task::spawn_blocking(move || looked.scan())
            .await
            .map_err(|_| IngestError::Parse { file: file.to_owned() })?;
        let gone = known.iter().filter(|known| matches!(scan.state(&known.file), FileState::Gone)).count();
        match judge(known.len(), gone, &scan.root()) {
            Deletions::Apply => Ok(self.let_go(scope_of(workspace), name_of(workspace), file).await?),
            Deletions::Hold(_) => Ok(Changes::default()),
        }
    }

    async fn let_go(&self, scope: Scope, root: String, file: &str) -> Result<Changes, StoreError> {
        let file = file.to_owned();
        self.store
            .write(move |writer| {
                let entries = writer.entries_of_file(&scope, &root, &file)?;
                let ids: Vec<MemoryId> = entries.into_iter().map(|(_, memory)| memory.id).collect();
                let removed = writer.delete(&scope, &ids)? as u32;
                writer.remove_file(&scope, &root, &file)?;
                Ok(Changes { removed, ..Changes::default() })
            })
            .await
    }

    async fn store_changes(&self, workspace: &Workspace, prepared: Prepared) -> Result<Changes, IngestError> {
        let (scope, root, clock) = (scope_of(workspace), name_of(workspace), self.clock.clone());
        let changes = self.store.write(move |writer| apply(writer, &scope, &root, prepared, &clock)).await?;
        Ok(changes)
    }
}

/// Reads a file and cuts it into entries; `None` if it says what it said before.
fn prepare(
    workspace: &Workspace,
    file: String,
    zone: chrono_tz::Tz,
    before: Option<&ContentHash>,
) -> Result<Option<Prepared>, ReadError> {
    let read = workspace.read(&file)?;
    if before == Some(&read.hash) {
        return Ok(None);
    }
    let (text, findings) = redact(&read.text);
    let note = markdown::parse(&text, &NoteFile { name: file.clone(), zone });
    let words = |entry: &Entry| indexed::terms(&entry.context, &entry.content, entry.day);
    let entries =
        note.entries.into_iter().map(|entry| (words(&entry), entry)).map(|(words, entry)| (entry, words));
    let secrets = findings.into_iter().map(|finding| (finding.kind.to_owned(), finding.line)).collect();
    Ok(Some(Prepared {
        file,
        hash: read.hash,
        entries: entries.collect(),
        notes: FileNotes { secrets },
        text: read.text,
    }))
}

/// Stores the difference between what the file says and what is known of it.
fn apply(
    writer: &Writer<'_>,
    scope: &Scope,
    root: &str,
    prepared: Prepared,
    clock: &Clock,
) -> Result<Changes, StoreError> {
    let Prepared { file, hash, mut entries, notes, text } = prepared;
    leave_cut(writer, scope, root, &file, &text, &mut entries)?;
    bury(writer, scope, root, &file, &mut entries)?;
    stand_behind(writer, scope, root, &file, &mut entries)?;
    let memories: Vec<Memory> =
        writer.entries_of_file(scope, root, &file)?.into_iter().map(|(_, memory)| memory).collect();
    let found: Vec<Entry> = entries.iter().map(|(entry, _)| entry.clone()).collect();
    let known: Vec<Known> = memories.iter().map(known).collect();
    let diff = diff::diff(&known, &found);
    let by_id: HashMap<&MemoryId, &Memory> = memories.iter().map(|memory| (&memory.id, memory)).collect();
    let new = |id: MemoryId, entry: &Entry| memory_of(id, entry, scope, root, &file, clock);
    let mut changes = Changes::default();
    for Pair { id, found } in diff.kept.iter().chain(&diff.moved).chain(&diff.changed) {
        let (entry, words) = &entries[*found];
        let read = new(id.clone(), entry);
        match by_id.get(id) {
            Some(memory) if same_but_lines(memory, &read) => {
                if memory.source.as_ref().is_some_and(|source| source.lines != entry.lines) {
                    writer.move_lines(scope, id, entry.lines)?;
                }
            }
            _ => {
                writer.update(scope, &read, words)?;
                changes.updated += 1;
            }
        }
    }
    for at in &diff.added {
        let (entry, words) = &entries[*at];
        writer.insert(scope, &new(MemoryId::random(), entry), words)?;
        changes.added += 1;
    }
    changes.removed = writer.delete(scope, &diff.removed)? as u32;
    let state = Ingested {
        workspace: root.to_owned(),
        file,
        hash,
        ingested_at: clock.now(),
        entries: entries.len() as u32,
        notes: serde_json::to_string(&notes).unwrap_or_default(),
    };
    writer.put_file(scope, &state)?;
    Ok(changes)
}

/// Leaves out what stands in lines of ours that were cut out, and that somebody put back: a restored copy, a sync tool.
fn leave_cut(
    writer: &Writer<'_>,
    scope: &Scope,
    root: &str,
    file: &str,
    text: &str,
    entries: &mut Vec<(Entry, Vec<String>)>,
) -> Result<(), StoreError> {
    let cut = writer.cut_out(scope, root, file)?;
    if !cut.is_empty() {
        let back = bullets(text).into_iter().filter(|bullet| cut.contains(&bullet.hash));
        let lines: HashSet<u32> = back.map(|bullet| bullet.lines.0).collect();
        entries.retain(|(entry, _)| !lines.contains(&entry.lines.0));
    }
    Ok(())
}

/// Leaves out the entries that were forgotten while the file held them. Where the file holds fewer of them by now, the
/// tombstone shrinks with it, so that the same words written later are a new memory.
fn bury(
    writer: &Writer<'_>,
    scope: &Scope,
    root: &str,
    file: &str,
    entries: &mut Vec<(Entry, Vec<String>)>,
) -> Result<(), StoreError> {
    if entries.is_empty() {
        // An editor or a sync tool may have emptied the file for a moment only.
        return Ok(());
    }
    let tombstones = writer.tombstones(scope, root, file)?;
    let mut left: HashMap<ContentHash, u32> = tombstones.clone();
    entries.retain(|(entry, _)| match left.get_mut(&entry.hash) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    for (hash, unmet) in left.into_iter().filter(|(_, unmet)| *unmet > 0) {
        let met = tombstones.get(&hash).copied().unwrap_or_default() - unmet;
        writer.set_tombstone(scope, root, file, &hash, met)?;
    }
    Ok(())
}

/// Leaves out the lines of a page of ours while any entry they were made of is remembered: they would crowd it out of
/// recall. Once all are forgotten, the line stands for them.
fn stand_behind(
    writer: &Writer<'_>,
    scope: &Scope,
    root: &str,
    file: &str,
    entries: &mut Vec<(Entry, Vec<String>)>,
) -> Result<(), StoreError> {
    let mut covered = HashSet::new();
    for state in [PageState::Written, PageState::Writing] {
        let lines = writer.page(scope, root, file, state)?.map(|page| page.lines).unwrap_or_default();
        for line in lines {
            if writer.any_remembered(scope, root, &line.entries)? {
                covered.insert(line.hash);
            }
        }
    }
    entries.retain(|(entry, _)| !covered.contains(&entry.hash.0));
    Ok(())
}

fn known(memory: &Memory) -> Known {
    Known {
        id: memory.id.clone(),
        hash: memory.hash.clone(),
        lines: memory.source.as_ref().map_or((0, 0), |source| source.lines),
        content: memory.content.clone(),
        context: memory.context.clone(),
        day: memory.day,
        time: memory.time,
        mark: memory.mark,
    }
}

fn same_but_lines(memory: &Memory, read: &NewMemory) -> bool {
    memory.content == read.content.as_str()
        && memory.context == read.context.as_str()
        && (memory.day, memory.time, memory.mark) == (read.day, read.time, read.mark)
        && (memory.importance, &memory.session) == (read.importance, &read.session)
        && memory.expires_at == read.expires_at
}

/// How important an entry is that may end: what matters for a while only is temporary, unless the user asked for it.
fn importance(entry: &Entry, end: Option<NaiveDate>) -> Importance {
    let temporary = end.zip(entry.day).is_some_and(|(end, day)| expiry::is_temporary(end, day));
    if temporary && entry.mark != Mark::User {
        entry.importance.min(Importance::ROUTINE)
    } else {
        entry.importance
    }
}

fn memory_of(id: MemoryId, entry: &Entry, scope: &Scope, root: &str, file: &str, clock: &Clock) -> NewMemory {
    let now = clock.now();
    let end = expiry::end(entry.content.as_str(), entry.day);
    // A note dated ahead of time (or by a wrong clock) did not come to be in the future.
    let written =
        entry.day.map(|day| clock.instant(NaiveDateTime::new(day, entry.time.unwrap_or(NaiveTime::MIN))));
    let created_at = written.map_or(now, |written| written.min(now));
    NewMemory {
        id,
        user: scope.user().clone(),
        session: entry.session.clone(),
        kind: Kind::Fact,
        mark: entry.mark,
        importance: importance(entry, end),
        audience: Audience::Private,
        content: entry.content.clone(),
        context: entry.context.clone(),
        day: entry.day,
        time: entry.time,
        source: Some(Source { workspace: root.to_owned(), file: file.to_owned(), lines: entry.lines }),
        hash: entry.hash.clone(),
        created_at,
        expires_at: end.map(|end| clock.end_of(end)),
        access_count: 0,
        last_accessed_at: created_at,
    }
}

fn skipped(skipped: &Skipped) -> (String, String) {
    (skipped.path.clone(), skipped.why.to_string())
}

/// The scope of a workspace's notes: its owner's, in private.
pub fn scope_of(workspace: &Workspace) -> Scope {
    Scope::private(workspace.owner().clone())
}

/// The workspace as memories name it.
pub fn name_of(workspace: &Workspace) -> String {
    workspace.root().display().to_string()
}
