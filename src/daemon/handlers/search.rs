use crate::daemon::core::Core;
use crate::memory::Scope;
use crate::wire::Error;
use crate::wire::methods::*;
#[derive(Default)]
pub struct Limits { pub top_k: Option<u32> }
pub async fn run(_: &Core, _: &Scope, _: &str, _: Limits) -> Result<SearchResult, Error> { Ok(SearchResult::default()) }
pub async fn handle(core: &Core, p: SearchParams) -> Result<SearchResult, Error> { let _ = core; let _ = p; Ok(SearchResult::default()) }
