//! `remember`: keeps what the user asks to keep.

use anyhow::Result;

use super::app::App;
use super::args::RememberArgs;
use super::exit::Exit;
use super::render;
use crate::memory::Audience;
use crate::wire::methods::{Method, RememberParams, RememberResult};

pub(super) async fn run(app: &App, args: RememberArgs) -> Result<Exit> {
    let params = RememberParams {
        user: app.user()?,
        audience: Audience::Private,
        text: app.text(args.text)?,
        session: args.session,
    };
    let kept: RememberResult = app.call(Method::Remember, &params).await?;
    app.answer(&kept, || {
        let key = if kept.deduped { "remember.deduped" } else { "remember.kept" };
        let mut text = format!("{}\n{}", app.lang.say(key, &[]), render::item(app.lang, &kept.item));
        if kept.redacted > 0 {
            text.push('\n');
            text.push_str(&app.lang.say("remember.redacted", &[("count", &kept.redacted.to_string())]));
        }
        text
    })?;
    Ok(Exit::Well)
}
