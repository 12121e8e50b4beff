//! `list`: memories by day, kind or file, newest first.

use super::convert;
use crate::daemon::core::Core;
use crate::service::look;
use crate::store::Filter;
use crate::wire::Error;
use crate::wire::methods::{ListParams, ListResult};

/// Shows a page of memories.
pub async fn handle(core: &Core, params: ListParams) -> Result<ListResult, Error> {
    let scope = convert::scope(&params.user, params.audience)?;
    let scope = if params.ended { scope } else { scope.as_of(core.clock.now()) };
    let limit = convert::within("limit", params.limit, 50, 1..=1_000)?;
    let filter = Filter {
        kind: params.kind,
        from: params.since,
        to: params.until,
        file: params.file,
        ..Filter::default()
    };
    let listed = look::list(&core.store, &scope, filter, limit, params.offset as usize).await;
    let (memories, more) = listed.map_err(convert::store)?;
    Ok(ListResult { items: memories.into_iter().map(convert::item).collect(), more })
}
