//! One handler per method: parameters in, result or error out.

mod clear;
mod context;
mod convert;
mod flush;
mod forget;
mod get;
mod list;
mod reindex;
mod remember;
mod rollup;
mod search;
mod session;
mod status;
mod sweep;
#[cfg(test)]
mod tests;
mod turn;

use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use tokio::sync::broadcast;

use super::core::Core;
use crate::socket::Handler;
use crate::wire::{Error, ErrorKind, Event, Method, parse_params};

/// Answers the socket's requests.
pub struct Api(pub Arc<Core>);

impl Handler for Api {
    async fn call(&self, method: Method, params: Value) -> Result<Value, Error> {
        let core = &self.0;
        match method {
            Method::SessionStart => answer(session::handle(core, parse_params(params)?).await?),
            Method::Turn => answer(turn::handle(core, parse_params(params)?).await?),
            Method::Context => answer(context::handle(core, parse_params(params)?).await?),
            Method::Search => answer(search::handle(core, parse_params(params)?).await?),
            Method::Remember => answer(remember::handle(core, parse_params(params)?).await?),
            Method::Flush => answer(flush::handle(core, parse_params(params)?).await?),
            Method::Forget => answer(forget::handle(core, parse_params(params)?).await?),
            Method::Clear => answer(clear::handle(core, parse_params(params)?).await?),
            Method::Sweep => answer(sweep::handle(core, parse_params(params)?).await?),
            Method::Get => answer(get::handle(core, parse_params(params)?).await?),
            Method::List => answer(list::handle(core, parse_params(params)?).await?),
            Method::Rollup => answer(rollup::rollup(core, parse_params(params)?).await?),
            Method::Promote => answer(rollup::promote(core, parse_params(params)?).await?),
            Method::Reindex => answer(reindex::handle(core, parse_params(params)?).await?),
            Method::Status => answer(status::handle(core, parse_params(params)?).await?),
            Method::Subscribe => Err(Error::new(ErrorKind::Internal, "the socket answers this itself")),
        }
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.0.events.subscribe()
    }
}

fn answer(result: impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(result).map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))
}
