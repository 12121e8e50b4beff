//! `search`: the memories that meet a query.

use std::sync::Arc;

use super::convert;
use crate::daemon::core::Core;
use crate::memory::Scope;
use crate::memory::redact::redact;
use crate::service::recall::{Answer, Hit, Options};
use crate::wire::Error;
use crate::wire::methods::{self, SearchParams, SearchResult};

/// The most hits one answer may have.
pub const MAX_HITS: u32 = 100;

/// Searches, and counts the hits as used where they go to the agent.
pub async fn handle(core: &Arc<Core>, params: SearchParams) -> Result<SearchResult, Error> {
    let scope = convert::scope(&params.user, params.audience)?;
    let session = convert::session(params.session)?;
    let top_k = convert::within("top_k", params.top_k, core.config.long_term.top_k, 1..=MAX_HITS)?;
    let min_score = params.min_score.map(f64::from);
    if min_score.is_some_and(|score| !(0.0..=1.0).contains(&score)) {
        return Err(convert::invalid("min_score", "0 to 1"));
    }
    let answer = run(core, &scope, &params.query, Options { top_k: Some(top_k), min_score }).await?;
    if params.for_agent {
        core.touch(scope, answer.hits.iter().map(|hit| hit.memory.id.clone()).collect(), session);
    }
    Ok(SearchResult {
        hits: answer.hits.into_iter().map(|found| hit(found, params.explain)).collect(),
        legs: answer.legs,
        empty: answer.empty,
        timings: answer.timings,
    })
}

/// Searches, and measures.
pub async fn run(core: &Core, scope: &Scope, query: &str, options: Options) -> Result<Answer, Error> {
    let query = redact(convert::bounded("query", query)?).0;
    let answer = core.recall().search(scope, &query, options).await.map_err(convert::recall)?;
    core.health.search.record_ms(answer.timings.total_ms);
    core.health.embedded(&answer);
    Ok(answer)
}

/// A hit as answers show it.
pub fn hit(hit: Hit, explain: bool) -> methods::Hit {
    methods::Hit {
        item: convert::item(hit.memory),
        score: hit.score as f32,
        parts: explain.then_some(hit.parts),
    }
}
