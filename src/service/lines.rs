//! Which lines of the notes are ours, and taking them back.
//!
//! Other programs write the same form, so form proves nothing: a line is ours because we noted the hash of its bytes
//! for that very file before we wrote it. One that anybody changed since is theirs.

use std::collections::{BTreeMap, HashSet};

use super::ingest::name_of;
use crate::memory::entry::ContentHash;
use crate::memory::markdown::{self, NoteFile};
use crate::memory::redact::redact;
use crate::memory::{Memory, MemoryId, Scope, Source};
use crate::store::{Store, StoreError};
use crate::workspace::{Bullet, Workspace, WorkspaceError, bullets};

/// Notes that these bullets, about to be written into `file`, are ours (see [`crate::workspace::Note::hash`]). Whoever writes into
/// a note calls this first: a crash between the two then leaves a name for a line that nobody wrote, which harms nothing.
///
/// # Errors
/// What the store says; then the line must not be written.
pub async fn claim(
    store: &Store,
    scope: &Scope,
    workspace: &Workspace,
    file: &str,
    bullets: Vec<ContentHash>,
) -> Result<(), StoreError> {
    let (scope, root, file) = (scope.clone(), name_of(workspace), file.to_owned());
    store.write(move |writer| writer.put_written(&scope, &root, &file, &bullets)).await
}

/// Lines of ours in one file that hold memories.
#[derive(Debug, Clone)]
pub struct OwnLines {
    /// Whose notes.
    pub workspace: Workspace,
    /// The file, relative to the workspace.
    pub file: String,
    /// Each line with the memory that was read from it.
    pub lines: Vec<(MemoryId, Bullet)>,
}

/// A file whose lines could not be looked at or cut, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotCut {
    /// Relative to the workspace.
    pub file: String,
    /// For a person.
    pub reason: String,
}

/// Which of the memories stand in lines of ours.
///
/// # Errors
/// What the store says; a file that cannot be read is part of the answer.
pub async fn own_lines(
    store: &Store,
    scope: &Scope,
    workspaces: &[Workspace],
    memories: &[Memory],
) -> Result<(Vec<OwnLines>, Vec<NotCut>), StoreError> {
    let mut by_file: BTreeMap<(&str, &str), Vec<(&Memory, &Source)>> = BTreeMap::new();
    for (memory, source) in memories.iter().filter_map(|memory| Some((memory, memory.source.as_ref()?))) {
        by_file.entry((&source.workspace, &source.file)).or_default().push((memory, source));
    }
    let (mut own, mut failed) = (Vec::new(), Vec::new());
    for ((root, file), memories) in by_file {
        let Some(workspace) = workspaces.iter().find(|workspace| name_of(workspace) == root) else {
            continue;
        };
        let (of, place, name) = (scope.clone(), root.to_owned(), file.to_owned());
        let ours = store.read(move |reader| reader.written(&of, &place, &name)).await?;
        if ours.is_empty() {
            continue;
        }
        match read(workspace, file).await {
            Ok(mut bullets) => {
                bullets.retain(|bullet| ours.contains(&bullet.hash));
                let lines = matched(file, bullets, memories);
                if !lines.is_empty() {
                    own.push(OwnLines { workspace: workspace.clone(), file: file.to_owned(), lines });
                }
            }
            Err(reason) => failed.push(NotCut { file: file.to_owned(), reason }),
        }
    }
    Ok((own, failed))
}

/// Cuts the lines out of their file. Those that are gone or were changed meanwhile stay as they are.
///
/// # Errors
/// [`NotCut`]; then nothing was cut.
pub async fn cut(own: OwnLines) -> Result<Vec<Bullet>, NotCut> {
    let OwnLines { workspace, file, lines } = own;
    let name = file.clone();
    let done = tokio::task::spawn_blocking(move || {
        let hashes: Vec<ContentHash> = lines.into_iter().map(|(_, bullet)| bullet.hash).collect();
        workspace.cut(&name, &hashes)
    });
    let reason = match done.await {
        Ok(Ok(cut)) => return Ok(cut),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "cutting failed inside the program; please report it".to_owned(),
    };
    Err(NotCut { file, reason })
}

async fn read(workspace: &Workspace, file: &str) -> Result<Vec<Bullet>, String> {
    let (workspace, name) = (workspace.clone(), file.to_owned());
    let read = tokio::task::spawn_blocking(move || workspace.read(&name));
    match read.await {
        Ok(Ok(read)) => Ok(bullets(&read.text)),
        Ok(Err(error)) => Err(WorkspaceError::from(error).to_string()),
        Err(_) => Err("reading failed inside the program; please report it".to_owned()),
    }
}

/// Each memory with the bullet that says it, at its time; of several alike the nearest to where it was read.
fn matched(file: &str, bullets: Vec<Bullet>, memories: Vec<(&Memory, &Source)>) -> Vec<(MemoryId, Bullet)> {
    let said: Vec<_> = bullets.iter().map(|bullet| said(file, &bullet.text)).collect();
    let mut taken = HashSet::new();
    let mut found = Vec::new();
    for (memory, source) in memories {
        let says = Some((&memory.hash, memory.time));
        let alike = (0..).zip(&bullets).zip(&said).filter(|((place, _), said)| {
            !taken.contains(place) && said.as_ref().map(|(hash, time)| (hash, *time)) == says
        });
        let nearest = alike.min_by_key(|((_, bullet), _)| bullet.lines.0.abs_diff(source.lines.0));
        if let Some(((place, bullet), _)) = nearest {
            taken.insert(place);
            found.push((memory.id.clone(), bullet.clone()));
        }
    }
    found
}

/// What a bullet is read as: the hash of what it says, and its time.
fn said(file: &str, bullet: &str) -> Option<(ContentHash, Option<chrono::NaiveTime>)> {
    let note = NoteFile { name: file.to_owned(), zone: chrono_tz::Tz::UTC };
    let entry = markdown::parse(&redact(bullet).0, &note).entries.into_iter().next()?;
    Some((entry.hash, entry.time))
}
