//! `flush`: keeps what sessions hold before they are compacted.

use anyhow::Result;

use super::app::App;
use super::args::FlushArgs;
use super::exit::Exit;
use crate::wire::methods::{FlushParams, FlushResult, Method};

pub(super) async fn run(app: &App, args: FlushArgs) -> Result<Exit> {
    let params = FlushParams { user: app.user()?, session: args.session, ..FlushParams::default() };
    let done: FlushResult = app.call(Method::Flush, &params).await?;
    app.answer(&done, || {
        let numbers = [
            ("captured", done.captured.to_string()),
            ("known", done.known.to_string()),
            ("summarised", done.summarised.to_string()),
            ("markers", done.markers.to_string()),
        ];
        let values: Vec<(&str, &str)> = numbers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        app.lang.say("flush.done", &values)
    })?;
    Ok(Exit::Well)
}
