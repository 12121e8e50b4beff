//! `get`: one memory by its id.

use std::sync::Arc;

use super::convert;
use crate::daemon::core::Core;
use crate::service::look;
use crate::wire::Error;
use crate::wire::methods::{GetParams, GetResult};

/// Shows one memory.
pub async fn handle(core: &Arc<Core>, params: GetParams) -> Result<GetResult, Error> {
    let scope = convert::scope(&params.user, params.audience)?;
    let session = convert::session(params.session)?;
    let memory = look::get(&core.store, &scope, &params.id).await.map_err(convert::get)?;
    if params.for_agent {
        core.touch(scope, vec![memory.id.clone()], session);
    }
    Ok(GetResult { item: convert::item(memory) })
}
