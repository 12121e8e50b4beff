//! `flush`: keeps what a session holds before it is compacted.

use super::convert;
use crate::daemon::core::Core;
use crate::memory::Audience;
use crate::service::flush::Held;
use crate::service::ingest::name_of;
use crate::wire::Error;
use crate::wire::flush::MAX_FLUSH_MESSAGES;
use crate::wire::methods::{FlushParams, FlushResult};

/// Answers when everything is durable: the markers that wait in the user's workspace, then what the request carries.
pub async fn handle(core: &Core, params: FlushParams) -> Result<FlushResult, Error> {
    let scope = convert::scope(&params.user, params.audience)?;
    let session = convert::session(params.session)?;
    if params.messages.len() > MAX_FLUSH_MESSAGES {
        let many = params.messages.len();
        let message =
            format!("at most {MAX_FLUSH_MESSAGES} messages, these are {many}: send them in several calls");
        return Err(convert::invalid("messages", message));
    }
    for message in &params.messages {
        convert::bounded("messages", &message.content)?;
    }
    // What was said before a group is not written into the owner's own page.
    let workspace = match scope.audience() {
        Audience::Private => core.workspace_of(scope.user()),
        Audience::Shared => None,
    };
    let mut result = FlushResult::default();
    if let Some(workspace) = workspace {
        let taken = core.take_markers(workspace).await;
        result = FlushResult {
            captured: taken.flushed.captured,
            known: taken.flushed.known,
            redacted: taken.flushed.redacted,
            summarised: taken.flushed.summarised,
            markers: taken.markers,
            file: None,
        };
    }
    let held = Held { scope, session, at: params.created_at, messages: params.messages };
    let flushed = core.flush.keep(workspace, held).await.map_err(convert::flush)?;
    let root = workspace.map(name_of).unwrap_or_default();
    core.tell_flushed(&root, &flushed, 0);
    if let Some(workspace) = workspace.filter(|_| flushed.captured > 0) {
        core.refresh_on_sunday(workspace).await;
    }
    Ok(FlushResult {
        captured: result.captured + flushed.captured,
        known: result.known + flushed.known,
        redacted: result.redacted + flushed.redacted,
        summarised: result.summarised + flushed.summarised,
        file: flushed.changes.into_iter().map(|(file, _)| file).next_back(),
        ..result
    })
}
