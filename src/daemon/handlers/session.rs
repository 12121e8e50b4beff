//! `session.start`: what is loaded when a session starts.

use super::context::MAX_BUDGET;
use super::convert;
use crate::daemon::core::Core;
use crate::memory::segment::Language;
use crate::service::ingest::name_of;
use crate::service::session::{self, Start};
use crate::wire::Error;
use crate::wire::methods::Empty;
use crate::wire::turn::{Lang, SessionStartParams, SessionStartResult};

/// Loads. It counts as no access: everything of the last days is loaded, whether it is of use or not.
pub async fn handle(core: &Core, params: SessionStartParams) -> Result<SessionStartResult, Error> {
    let scope = convert::scope(&params.user, params.audience)?;
    let session = convert::host_id("session", params.session)?;
    let settings = &core.config.context;
    let budget = convert::within("budget", params.budget, settings.working_memory_budget, 0..=MAX_BUDGET)?;
    let start = Start {
        workspace: core.workspace_of(scope.user()).map(name_of),
        scope: scope.clone(),
        loaded: params.loaded,
        budget_tokens: if settings.inject_memory { budget } else { 0 },
        language: params.lang.map(|lang| match lang {
            Lang::Zh => Language::Chinese,
            Lang::En => Language::English,
        }),
        today: core.clock.today(),
        now: core.clock.now(),
    };
    let started = session::start(&core.store, start, &core.frame()).await.map_err(convert::store)?;
    let window = core.turns.window(&scope, &session).await.map_err(convert::store)?;
    Ok(SessionStartResult {
        block: started.block,
        tokens: started.tokens as u32,
        items: started.used.into_iter().map(convert::item).collect(),
        left_out: started.left_out as u32,
        greeting: started.greeting,
        summary: window.summary.map(|summary| summary.lines()).unwrap_or_default(),
        recent: window.messages.into_iter().map(convert::recent).collect(),
        empty: (!settings.inject_memory).then_some(Empty::SwitchedOff),
    })
}
