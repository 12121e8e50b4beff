//! `schema`: the protocol as JSON Schema.

use anyhow::Result;

use super::app::App;
use super::args::SchemaArgs;
use super::exit::{Exit, Usage};
use crate::wire::methods::Method;
use crate::wire::schema;

pub(super) fn run(app: &App, args: &SchemaArgs) -> Result<Exit> {
    let schema = match &args.method {
        None => schema::schema(),
        Some(name) => match Method::by_name(name) {
            Some(method) => schema::for_method(method),
            None => {
                let names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
                let values = [("method", name.as_str()), ("names", &names.join(", "))];
                return Err(Usage(app.lang.say("schema.unknown", &values)).into());
            }
        },
    };
    app.print(&serde_json::to_string_pretty(&schema)?);
    Ok(Exit::Well)
}
