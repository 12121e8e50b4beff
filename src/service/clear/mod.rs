//! Clearing: forgetting a day, everything before a day, or what a search finds; and taking our own lines back out of the notes.

use std::collections::HashSet;

use super::forget::{ForgetError, Which, leave_the_disk, select};
use super::lines::{self, NotCut, OwnLines};
use crate::memory::entry::ContentHash;
use crate::memory::{Memory, MemoryId, Scope};
use crate::store::Store;
use crate::workspace::Workspace;

/// At most this many memories are cleared at once; it is one transaction, for which other writers wait.
pub const MAX_CLEARED: usize = 20_000;

/// What a clearing takes: the same whether it is only looked at or done.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The memories.
    pub memories: Vec<Memory>,
    /// Names this choice, so that exactly what was shown is cleared.
    pub selection: String,
    /// Lines of ours that are cut out of the notes; none where that is not wanted.
    pub own: Vec<OwnLines>,
    /// Files that hold some of the memories and could not be looked at.
    pub not_cut: Vec<NotCut>,
}

/// What was cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cleared {
    /// How many memories.
    pub memories: usize,
    /// Files out of which lines were cut, by workspace.
    pub changed: Vec<(Workspace, String)>,
    /// Files whose lines should have been cut and still stand.
    pub not_cut: Vec<NotCut>,
}

/// Chooses what is cleared. With `workspaces` (those of the scope's user), the lines that we wrote are cut too.
///
/// # Errors
/// [`ForgetError`].
pub async fn plan(
    store: &Store,
    scope: &Scope,
    which: Which,
    workspaces: Option<&[Workspace]>,
) -> Result<Plan, ForgetError> {
    let memories = select(store, scope, which, MAX_CLEARED).await?;
    let (own, not_cut) = match workspaces {
        Some(workspaces) => lines::own_lines(store, scope, workspaces, &memories).await?,
        None => (Vec::new(), Vec::new()),
    };
    let ids: Vec<&str> = memories.iter().map(|memory| memory.id.0.as_str()).collect();
    let selection = ContentHash::of(ids.join("\n").as_bytes()).0.chars().take(16).collect();
    Ok(Plan { memories, selection, own, not_cut })
}

/// Clears what was planned: first out of recall, in one transaction, then out of the notes. What stands in lines of ours that are
/// cut needs no tombstone, which would stop the same words said later; the line itself stays away also from a restored note.
///
/// # Errors
/// [`ForgetError::Store`]; then nothing was cleared. A file that cannot be changed is part of the answer.
pub async fn clear(store: &Store, scope: &Scope, plan: Plan) -> Result<Cleared, ForgetError> {
    let Plan { memories, own, mut not_cut, .. } = plan;
    let of = scope.clone();
    let cutting: Vec<_> = own
        .iter()
        .map(|own| {
            let bullets = own.lines.iter().map(|(_, bullet)| bullet.hash.clone()).collect::<Vec<_>>();
            (super::ingest::name_of(&own.workspace), own.file.clone(), bullets)
        })
        .collect();
    let cut: HashSet<&MemoryId> = own.iter().flat_map(|own| own.lines.iter().map(|(id, _)| id)).collect();
    let (cut, rest): (Vec<MemoryId>, Vec<MemoryId>) =
        memories.iter().map(|memory| memory.id.clone()).partition(|id| cut.contains(id));
    let memories = store
        .write(move |writer| {
            for (root, file, bullets) in &cutting {
                writer.put_cut(&of, root, file, bullets)?;
            }
            Ok(writer.delete(&of, &cut)? + writer.forget(&of, &rest)?)
        })
        .await?;
    let mut changed = Vec::new();
    for own in own {
        let place = (own.workspace.clone(), own.file.clone());
        match lines::cut(own).await {
            Ok(cut) if cut.is_empty() => {}
            Ok(_) => changed.push(place),
            Err(failed) => not_cut.push(failed),
        }
    }
    leave_the_disk(store).await;
    Ok(Cleared { memories, changed, not_cut })
}

#[cfg(test)]
mod tests;
