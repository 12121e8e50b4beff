//! `remember`: keeps something the user asked to keep.

use std::sync::Arc;

use super::convert;
use crate::daemon::core::Core;
use crate::memory::Audience;
use crate::wire::Error;
use crate::wire::methods::{RememberParams, RememberResult};

/// Answers when the memory is durable and findable by its words.
pub async fn handle(core: &Arc<Core>, params: RememberParams) -> Result<RememberResult, Error> {
    let scope = convert::scope(&params.user, params.audience)?;
    let text = convert::bounded("text", &params.text)?;
    let session = convert::session(params.session)?;
    // A note is the owner's own page: what was said before a group is kept in the index alone, marked as shared.
    let workspace = match scope.audience() {
        Audience::Private => core.workspace_of(scope.user()),
        Audience::Shared => None,
    };
    let kept =
        core.remember.keep(&scope, workspace, text, session.as_deref()).await.map_err(convert::remember)?;
    core.waiting.notify_one();
    if let (Some(workspace), Some(source)) = (workspace.cloned(), kept.memory.source.clone()) {
        let core = Arc::clone(core);
        // The answer does not wait for MEMORY.md: the line is safe in its note.
        tokio::spawn(async move { core.promote_at_once(&workspace, &source.file).await });
    }
    Ok(RememberResult { item: convert::item(kept.memory), deduped: kept.deduped, redacted: kept.redacted })
}
