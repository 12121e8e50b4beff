//! `context`: the memory block for one input.

use std::sync::Arc;

use super::convert;
use super::search::{MAX_HITS, hit};
use crate::daemon::core::Core;
use crate::service::context::{self, Request};
use crate::service::recall::Options;
use crate::wire::Error;
use crate::wire::methods::{ContextParams, ContextResult, Empty};

/// The largest budget a request may name, in tokens.
pub const MAX_BUDGET: u32 = 100_000;

/// Makes the block, and counts what is in it as used.
pub async fn handle(core: &Arc<Core>, params: ContextParams) -> Result<ContextResult, Error> {
    let scope = convert::scope(&params.user, params.audience)?;
    let session = convert::session(params.session)?;
    let settings = &core.config;
    let top_k = convert::within("top_k", params.top_k, settings.long_term.top_k, 1..=MAX_HITS)?;
    let budget =
        convert::within("budget", params.budget, settings.context.working_memory_budget, 0..=MAX_BUDGET)?;
    let input = convert::bounded("input", &params.input)?;
    if !settings.context.inject_memory {
        return Ok(ContextResult { empty: Some(Empty::SwitchedOff), ..ContextResult::default() });
    }
    let options = Options { top_k: Some(top_k), min_score: None };
    let request = Request {
        scope: &scope,
        input,
        session: session.as_deref(),
        loaded: &params.loaded,
        budget_tokens: budget,
        options,
    };
    let made = context::build(&core.recall(), &core.turns, request, &core.frame()).await;
    let made = made.map_err(convert::recall)?;
    core.health.context.record_ms(made.answer.timings.total_ms);
    core.health.embedded(&made.answer);
    core.touch(scope, made.used.iter().map(|hit| hit.memory.id.clone()).collect(), session);
    Ok(ContextResult {
        block: made.block,
        tokens: made.tokens as u32,
        items: made.used.into_iter().map(|found| hit(found, params.explain)).collect(),
        summary: made.summary,
        recent: made.recent.into_iter().map(convert::recent).collect(),
        left_out: made.left_out as u32,
        legs: made.answer.legs,
        empty: made.answer.empty,
        timings: made.answer.timings,
    })
}
