//! `reindex`: compares the files with the index now.

use std::sync::Arc;

use super::convert;
use crate::daemon::core::Core;
use crate::service::ingest::{Reconcile, name_of};
use crate::wire::Error;
use crate::wire::methods::{ReindexParams, ReindexResult};

/// Compares every workspace, and tries to load the model if it is not there.
pub async fn handle(core: &Arc<Core>, params: ReindexParams) -> Result<ReindexResult, Error> {
    core.load_model().await;
    let how = Reconcile { full: params.full, accept_deletions: params.accept_deletions };
    let mut result = ReindexResult::default();
    for workspace in &core.workspaces {
        let report = core.reconcile(workspace, how).await.map_err(convert::ingest)?;
        result.files += report.files;
        result.changed_files += report.changed.len() as u32;
        result.added += report.changes.added;
        result.updated += report.changes.updated;
        result.removed += report.changes.removed;
        result.skipped += report.skipped.len() as u32;
        result.held += report.held.map_or(0, |(_, memories)| memories);
        if report.unreachable.is_some() {
            result.unreachable.push(name_of(workspace));
        }
    }
    let counts = core.store.read(|reader| reader.counts_of_all_users()).await.map_err(convert::store)?;
    for (owner, root, memories) in core.unlisted(&counts) {
        if params.accept_deletions {
            result.removed += core.ingest.forsake(owner, root).await.map_err(convert::store)?.removed;
        } else {
            result.held += memories;
        }
    }
    result.waiting = counts.iter().map(|counted| counted.counts.waiting()).sum();
    Ok(result)
}
