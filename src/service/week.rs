//! The notes of a week as rollup and promotion see them: what the files say, with the vectors that the index has of it.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use chrono::NaiveDate;
use chrono_tz::Tz;

use super::ingest::{name_of, scope_of};
use crate::embed::{EmbedError, Embedder};
use crate::memory::calendar::Week;
use crate::memory::entry::ContentHash;
use crate::memory::markdown::{self, NoteFile, content_hash};
use crate::memory::redact::redact;
use crate::memory::rollup::Noted;
use crate::memory::summary::Summary;
use crate::memory::{Audience, Entry, Kind, Mark, Memory, Redacted, indexed, layout};
use crate::store::{Filter, Store, StoreError};
use crate::workspace::{ReadError, RootState, Workspace};

/// Memories of a week that are looked at to find the files with its days.
const MEMORIES: usize = 50_000;

/// The model that answers now, with its generation of vectors.
pub type Answering = (Embedder, i64);

/// What kept a week's notes from being read. Nothing was concluded from what could be read.
#[derive(Debug, thiserror::Error)]
pub enum WeekError {
    /// The workspace's folder is not there; it may be on a disk that is not mounted.
    #[error("the notes of {workspace} cannot be reached: {why}")]
    Unreachable {
        /// Its folder.
        workspace: String,
        /// In the system's words.
        why: String,
    },
    /// A note that is there but cannot be read just now.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The model.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file that made the reader give up; that is a fault of ours.
    #[error("reading the week's notes failed unexpectedly; the log says more")]
    Panicked,
}

/// An entry of a week.
#[derive(Debug, Clone, PartialEq)]
pub struct WeekEntry {
    /// As read from its file.
    pub entry: Entry,
    /// The file, relative to the workspace; empty for what a summary of a conversation says.
    pub file: String,
    /// Its first vector; `None` without a model.
    pub vector: Option<Vec<f32>>,
    /// On how many days, or in how many sessions, it reached a prompt: the greater.
    pub uses: u32,
}

impl WeekEntry {
    /// As a rollup takes it.
    pub fn noted(&self) -> Noted<'_> {
        Noted { entry: &self.entry, vector: self.vector.as_deref(), uses: self.uses }
    }

    /// What it is known by: its file and its content hash.
    pub fn key(&self) -> (String, String) {
        (self.file.clone(), self.entry.hash.0.clone())
    }
}

/// A week's notes.
#[derive(Debug, Clone, PartialEq)]
pub struct WeekNotes {
    /// By day, then in the order of the files.
    pub entries: Vec<WeekEntry>,
    /// Characters that they have in their files, with their headings.
    pub chars: usize,
}

/// Reads the entries of `week`, whatever file of the workspace they stand in, and what the summaries of the owner's
/// conversations say; weekly pages and the profile are no notes, and what the user had forgotten stays forgotten.
///
/// # Errors
/// [`WeekError`].
pub async fn read(
    store: &Store,
    workspace: &Workspace,
    week: Week,
    zone: Tz,
    model: Option<&Answering>,
) -> Result<WeekNotes, WeekError> {
    let indexed_files = files_with_days_of(store, workspace, week).await?;
    let place = workspace.clone();
    let look = move || parse_all(&place, week, zone, &indexed_files);
    let mut notes = tokio::task::spawn_blocking(look).await.map_err(|_| WeekError::Panicked)??;
    bury(store, workspace, &mut notes.entries).await?;
    notes.entries.extend(summarised(store, workspace, week).await?);
    notes.entries.sort_by_key(|found| (found.entry.day, found.file.clone(), found.entry.lines));
    add_what_is_known(store, workspace, &mut notes.entries, model.map(|(_, generation)| *generation)).await?;
    if let Some((embedder, _)) = model {
        embed_the_rest(&mut notes.entries, embedder).await?;
    }
    Ok(notes)
}

/// The entries of one file as the index has them.
///
/// # Errors
/// What the store says.
pub async fn entries_of_file(
    store: &Store,
    workspace: &Workspace,
    file: &str,
) -> Result<Vec<WeekEntry>, StoreError> {
    let (scope, root, file) = (scope_of(workspace), name_of(workspace), file.to_owned());
    let found = store.read(move |reader| reader.entries_of_file(&scope, &root, &file)).await?;
    Ok(found.into_iter().filter_map(|(_, memory)| as_entry(memory, 0)).collect())
}

/// What was used on at least so many days or in so many sessions, by the week it belongs to.
///
/// # Errors
/// What the store says.
pub async fn often_used(
    store: &Store,
    workspace: &Workspace,
    least: u32,
) -> Result<BTreeMap<Week, Vec<WeekEntry>>, StoreError> {
    let (scope, root) = (scope_of(workspace), name_of(workspace));
    let found = store.read(move |reader| reader.often_used(&scope, &root, least)).await?;
    let mut weeks: BTreeMap<Week, Vec<WeekEntry>> = BTreeMap::new();
    for found in found.into_iter().filter_map(|(memory, uses)| as_entry(memory, uses)) {
        if let Some(day) = found.entry.day.filter(|_| layout::week_of(&found.file).is_none()) {
            weeks.entry(Week::of(day)).or_default().push(found);
        }
    }
    Ok(weeks)
}

/// A memory as the entry it was read from; `None` for what no file holds.
fn as_entry(memory: Memory, uses: u32) -> Option<WeekEntry> {
    let source = memory.source?;
    let entry = Entry {
        content: redact(&memory.content).0,
        context: redact(&memory.context).0,
        day: memory.day,
        time: memory.time,
        mark: memory.mark,
        importance: memory.importance,
        session: memory.session,
        lines: source.lines,
        hash: memory.hash,
    };
    Some(WeekEntry { entry, file: source.file, vector: None, uses })
}

/// What a summary of a conversation says, line by line, each of the day it was said on if that is of the summary's week.
/// Nothing of one that a file holds, nor of what was said before a group: that is for no page of the owner's.
pub fn entries_of_summary(memory: &Memory) -> Vec<WeekEntry> {
    let Memory { kind: Kind::Summary, source: None, audience: Audience::Private, day: Some(last), .. } =
        memory
    else {
        return Vec::new();
    };
    let week = Week::of(*last);
    let summary = Summary::read(&memory.context, &memory.content);
    let entry = |(day, text): (Option<NaiveDate>, &str)| Entry {
        content: redact(text).0,
        context: redact("").0,
        day: day.filter(|day| week.holds(*day)).or(memory.day),
        time: None,
        mark: memory.mark,
        importance: memory.importance,
        session: memory.session.clone(),
        lines: (0, 0),
        hash: content_hash(text),
    };
    let entries = summary.statements().into_iter().map(entry);
    entries.map(|entry| WeekEntry { entry, file: String::new(), vector: None, uses: 0 }).collect()
}

/// What the summaries of the week say that no file holds.
async fn summarised(store: &Store, workspace: &Workspace, week: Week) -> Result<Vec<WeekEntry>, StoreError> {
    let scope = scope_of(workspace);
    let (from, to) = (Some(week.monday()), Some(week.sunday()));
    let filter = Filter { kind: Some(Kind::Summary), from, to, ..Filter::default() };
    let listed = store.read(move |reader| reader.list(&scope, &filter, MEMORIES, 0)).await?;
    // Newest first as listed.
    Ok(listed.iter().rev().flat_map(|(_, memory)| entries_of_summary(memory)).collect())
}

/// The files that the index knows to hold entries of the week: a note need not be named by its day.
async fn files_with_days_of(
    store: &Store,
    workspace: &Workspace,
    week: Week,
) -> Result<BTreeSet<String>, StoreError> {
    let (scope, root) = (scope_of(workspace), name_of(workspace));
    let filter = Filter {
        from: Some(week.monday()),
        to: Some(week.sunday()),
        workspace: Some(root),
        ..Filter::default()
    };
    let listed = store.read(move |reader| reader.list(&scope, &filter, MEMORIES, 0)).await?;
    Ok(listed.into_iter().filter_map(|(_, memory)| memory.source).map(|source| source.file).collect())
}

fn parse_all(
    workspace: &Workspace,
    week: Week,
    zone: Tz,
    indexed: &BTreeSet<String>,
) -> Result<WeekNotes, WeekError> {
    let scan = workspace.scan();
    if let RootState::Unreachable { why, .. } = scan.root() {
        let workspace = name_of(workspace);
        return Err(WeekError::Unreachable { workspace, why: why.to_string() });
    }
    let mut notes = WeekNotes { entries: Vec::new(), chars: 0 };
    for found in scan.files {
        let note = NoteFile { name: found.file, zone };
        let by_name = note.day().is_some_and(|day| week.holds(day));
        if note.is_profile()
            || layout::week_of(&note.name).is_some()
            || !(by_name || indexed.contains(&note.name))
        {
            continue;
        }
        let read = match workspace.read(&note.name) {
            Ok(read) => read,
            // What will not be read as it is, `status` names.
            Err(
                ReadError::Gone { .. }
                | ReadError::NotUtf8 { .. }
                | ReadError::Skipped { .. }
                | ReadError::NotANote { .. },
            ) => continue,
            Err(error) => return Err(error.into()),
        };
        let parsed = markdown::parse(&redact(&read.text).0, &note).entries.into_iter();
        let of_week: Vec<Entry> =
            parsed.filter(|entry| entry.day.is_some_and(|day| week.holds(day))).collect();
        notes.chars += match by_name {
            true => chars_of(&read.text, &of_week),
            false => of_week.iter().map(|entry| entry.content.as_str().chars().count()).sum(),
        };
        let file = note.name;
        let found = |entry| WeekEntry { entry, file: file.clone(), vector: None, uses: 0 };
        notes.entries.extend(of_week.into_iter().map(found));
    }
    Ok(notes)
}

/// The characters of a day's note without what a promotion adds to it: the page made after it is the one made before.
fn chars_of(text: &str, entries: &[Entry]) -> usize {
    let promoted: BTreeSet<usize> = entries
        .iter()
        .filter(|entry| entry.mark == Mark::Sync)
        .flat_map(|entry| entry.lines.0 as usize..=entry.lines.1 as usize)
        .collect();
    let is_ours = |line: &str| {
        line.starts_with("### [SYNC]") || (line.starts_with("## ") && line.ends_with(" 记忆记录"))
    };
    (1..)
        .zip(text.lines())
        .filter(|(number, line)| !promoted.contains(number) && !line.is_empty() && !is_ours(line))
        .map(|(_, line)| line.chars().count() + 1)
        .sum()
}

/// Leaves out what was forgotten, as often as it was.
async fn bury(store: &Store, workspace: &Workspace, entries: &mut Vec<WeekEntry>) -> Result<(), StoreError> {
    let (scope, root) = (scope_of(workspace), name_of(workspace));
    let files: BTreeSet<String> = entries.iter().map(|found| found.file.clone()).collect();
    let mut buried: HashMap<(String, ContentHash), u32> = store
        .read(move |reader| {
            let mut all = HashMap::new();
            for file in files {
                let tombstones = reader.tombstones(&scope, &root, &file)?;
                all.extend(tombstones.into_iter().map(|(hash, count)| ((file.clone(), hash), count)));
            }
            Ok(all)
        })
        .await?;
    entries.retain(|found| match buried.get_mut(&(found.file.clone(), found.entry.hash.clone())) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    });
    Ok(())
}

/// What the index has of an entry: its first vector, and how often it was used.
type Known = (Option<Vec<f32>>, u32);

/// Gives entries what the index has of them: their vectors, and how often they were used.
async fn add_what_is_known(
    store: &Store,
    workspace: &Workspace,
    entries: &mut [WeekEntry],
    generation: Option<i64>,
) -> Result<(), StoreError> {
    let (scope, root) = (scope_of(workspace), name_of(workspace));
    let files: BTreeSet<String> = entries.iter().map(|found| found.file.clone()).collect();
    let known: HashMap<(String, String), Known> = store
        .read(move |reader| {
            let mut all = HashMap::new();
            for file in files {
                let memories = reader.entries_of_file(&scope, &root, &file)?;
                let (rows, ids): (Vec<_>, Vec<_>) =
                    memories.iter().map(|(row, memory)| (*row, memory.id.clone())).unzip();
                let mut vectors: HashMap<_, _> = match generation {
                    Some(generation) => reader.vectors_of(&scope, generation, &rows)?.into_iter().collect(),
                    None => HashMap::new(),
                };
                let uses: HashMap<_, _> =
                    reader.uses(&scope, &ids)?.into_iter().map(|uses| (uses.id.clone(), uses)).collect();
                for (row, memory) in memories {
                    let vector = vectors.remove(&row).and_then(|parts| parts.into_iter().next());
                    let uses = uses.get(&memory.id).map_or(0, |uses| uses.days.max(uses.sessions));
                    all.insert((file.clone(), memory.hash.0), (vector, uses));
                }
            }
            Ok(all)
        })
        .await?;
    for found in entries {
        if let Some((vector, uses)) = known.get(&found.key()) {
            found.vector.clone_from(vector);
            found.uses = *uses;
        }
    }
    Ok(())
}

/// Embeds what has no vector in the index yet.
async fn embed_the_rest(entries: &mut [WeekEntry], embedder: &Embedder) -> Result<(), EmbedError> {
    let missing: Vec<usize> = (0..entries.len()).filter(|at| entries[*at].vector.is_none()).collect();
    let passage = |at: &usize| indexed::passage(&entries[*at].entry.context, &entries[*at].entry.content);
    let texts: Vec<Redacted> = missing.iter().map(passage).collect();
    if !texts.is_empty() {
        for (at, parts) in missing.into_iter().zip(embedder.passages(texts).await?) {
            entries[at].vector = parts.into_iter().next();
        }
    }
    Ok(())
}
