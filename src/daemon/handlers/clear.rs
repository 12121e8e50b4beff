//! `clear`: a day, everything before a day, or what a search finds; with our own lines in the notes if that is wanted.

use super::{convert, search};
use crate::daemon::core::Core;
use crate::memory::Scope;
use crate::service::clear::{clear, plan};
use crate::service::forget::Which;
use crate::service::recall::Options;
use crate::wire::clear::{ClearParams, ClearResult, NotCut};
use crate::wire::{Error, Event};
use crate::workspace::Workspace;

/// Clears, or says what would be cleared.
pub async fn handle(core: &Core, params: ClearParams) -> Result<ClearResult, Error> {
    let scope = convert::scope(&params.user, params.audience)?;
    let which = which(core, &scope, &params).await?;
    let own: Vec<Workspace> =
        core.workspaces.iter().filter(|workspace| workspace.owner() == scope.user()).cloned().collect();
    let plan =
        plan(&core.store, &scope, which, params.files.then_some(&own)).await.map_err(convert::forget)?;
    if params.selection.as_ref().is_some_and(|shown| *shown != plan.selection) {
        let reason = "what was shown is not what would be cleared by now; look again. Nothing was cleared";
        return Err(convert::invalid("selection", reason));
    }
    let (memories, selection) = (plan.memories.clone(), plan.selection.clone());
    let lines_cut: usize = plan.own.iter().map(|own| own.lines.len()).sum();
    let mut not_cut = plan.not_cut.clone();
    if !params.dry_run {
        let said = match (params.day, params.before) {
            (Some(day), _) => Some((Some(day), day)),
            (None, before) => before.and_then(|before| before.pred_opt()).map(|to| (None, to)),
        };
        let summaries = match said {
            Some((from, to)) => core.take_back_days(&scope, from, to).await.map_err(convert::store)?,
            None => Vec::new(),
        };
        let paused = core.promote.pause().await;
        let cleared = clear(&core.store, &scope, plan).await.map_err(convert::forget)?;
        drop(paused);
        tracing::info!(memories = cleared.memories, "cleared on request");
        core.tell(Event::Forgotten { memories: cleared.memories as u32 });
        for (workspace, file) in &cleared.changed {
            core.take_in(workspace, file).await;
        }
        core.take_off_pages(scope.user(), &[memories.as_slice(), &summaries].concat()).await;
        not_cut = cleared.not_cut;
    }
    let in_files = memories.iter().filter(|memory| memory.source.is_some()).count();
    let count = memories.len() as u64;
    let (items, more) = convert::page(memories, params.offset);
    Ok(ClearResult {
        items,
        more,
        count,
        selection,
        cleared: !params.dry_run,
        lines_cut: lines_cut as u64,
        still_in_files: in_files.saturating_sub(lines_cut) as u64,
        not_cut: not_cut
            .into_iter()
            .map(|failed| NotCut { file: failed.file, reason: failed.reason })
            .collect(),
    })
}

async fn which(core: &Core, scope: &Scope, params: &ClearParams) -> Result<Which, Error> {
    match (params.day, params.before, params.query.as_deref()) {
        (Some(day), None, None) => Ok(Which::Day(day)),
        (None, Some(day), None) => Ok(Which::Before(day)),
        (None, None, Some(query)) => {
            let found = search::run(core, scope, query, Options::default()).await?;
            Ok(Which::Ids(found.hits.into_iter().map(|hit| hit.memory.id).collect()))
        }
        _ => Err(convert::invalid("day, before, query", "give exactly one of them")),
    }
}
