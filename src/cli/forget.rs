//! `forget`: shows what would be forgotten, asks, and forgets exactly what it showed.

use std::io::{self, BufRead, Write};

use anyhow::Result;

use super::app::App;
use super::args::ForgetArgs;
use super::exit::{Exit, Usage};
use super::render;
use crate::memory::Audience;
use crate::wire::methods::{ForgetParams, ForgetResult, Method};

pub(super) async fn run(app: &App, args: ForgetArgs) -> Result<Exit> {
    let decided = args.dry_run || args.yes;
    if !decided && !app.can_ask() {
        return Err(Usage(app.lang.say("forget.needs_yes", &[])).into());
    }
    let params = ForgetParams {
        user: app.user()?,
        audience: Audience::Private,
        ids: args.what.ids,
        day: args.what.day,
        query: args.what.query,
        dry_run: true,
    };
    let shown: ForgetResult = app.call(Method::Forget, &params).await?;
    if args.dry_run || shown.items.is_empty() {
        app.answer(&shown, || render::forget(app.lang, &shown))?;
        return Ok(Exit::Well);
    }
    if !args.yes {
        app.print(&render::forget(app.lang, &shown));
        if !confirmed(app, "forget.ask", shown.items.len() as u64)? {
            app.print(&app.lang.say("forget.kept", &[]));
            return Ok(Exit::Well);
        }
    }
    // By id: what came to match in the meantime was not shown.
    let ids = shown.items.into_iter().map(|item| item.id).collect();
    let exactly = ForgetParams { ids, day: None, query: None, dry_run: false, ..params };
    let done: ForgetResult = app.call(Method::Forget, &exactly).await?;
    app.answer(&done, || render::forget(app.lang, &done))?;
    Ok(Exit::Well)
}

/// Asks a person; anything but a yes is a no.
pub(super) fn confirmed(app: &App, question: &str, count: u64) -> Result<bool> {
    let mut out = io::stdout().lock();
    write!(out, "{} ", app.lang.say(question, &[("count", &count.to_string())]))?;
    out.flush()?;
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes", "是", "好"].contains(&answer.trim().to_lowercase().as_str()))
}
