use crate::daemon::core::Core;
use crate::wire::Error;
use crate::wire::methods::*;
pub async fn handle(core: &Core, p: ContextParams) -> Result<ContextResult, Error> { let _ = core; let _ = p; Ok(ContextResult::default()) }
