//! `forget`: forgets memories by id, by day, or by what a search for them returns.

use super::{convert, search};
use crate::daemon::core::Core;
use crate::memory::Scope;
use crate::service::forget::{Which, forget, preview};
use crate::service::recall::Options;
use crate::wire::methods::{ForgetParams, ForgetResult};
use crate::wire::{Error, Event};

/// Forgets, or says what would be forgotten.
pub async fn handle(core: &Core, params: ForgetParams) -> Result<ForgetResult, Error> {
    let scope = convert::scope(&params.user, params.audience)?;
    let which = which(core, &scope, &params).await?;
    let memories = preview(&core.store, &scope, which).await.map_err(convert::forget)?;
    if !params.dry_run {
        let summaries = match params.day {
            Some(day) => core.take_back_days(&scope, Some(day), day).await.map_err(convert::store)?,
            None => Vec::new(),
        };
        let paused = core.promote.pause().await;
        let forgotten = forget(&core.store, &scope, &memories).await.map_err(convert::forget)?;
        tracing::info!(forgotten, "forgot on request");
        core.tell(Event::Forgotten { memories: forgotten as u32 });
        drop(paused);
        core.take_off_pages(scope.user(), &[memories.as_slice(), &summaries].concat()).await;
    }
    Ok(ForgetResult {
        still_in_files: memories.iter().filter_map(convert::source).collect(),
        items: memories.into_iter().map(convert::item).collect(),
        forgotten: !params.dry_run,
    })
}

async fn which(core: &Core, scope: &Scope, params: &ForgetParams) -> Result<Which, Error> {
    match (params.ids.as_slice(), params.day, params.query.as_deref()) {
        ([_, ..], None, None) => Ok(Which::Ids(params.ids.clone())),
        ([], Some(day), None) => Ok(Which::Day(day)),
        ([], None, Some(query)) => {
            let found = search::run(core, scope, query, Options::default()).await?;
            Ok(Which::Ids(found.hits.into_iter().map(|hit| hit.memory.id).collect()))
        }
        _ => Err(convert::invalid("ids, day, query", "give exactly one of them")),
    }
}
