//! `clear`: shows what would be cleared, asks, and clears exactly what it showed.

use anyhow::Result;

use super::app::App;
use super::args::ClearArgs;
use super::exit::{Exit, Usage};
use super::forget::confirmed;
use super::render;
use crate::memory::Audience;
use crate::wire::Method;
use crate::wire::clear::{ClearParams, ClearResult};

pub(super) async fn run(app: &App, args: ClearArgs) -> Result<Exit> {
    let decided = args.dry_run || args.yes;
    if !decided && !app.can_ask() {
        return Err(Usage(app.lang.say("forget.needs_yes", &[])).into());
    }
    let params = ClearParams {
        user: app.user()?,
        audience: Audience::Private,
        day: args.what.day,
        before: args.what.before,
        query: args.what.query,
        files: args.files,
        dry_run: true,
        selection: None,
        offset: 0,
    };
    let shown = look(app, &params).await?;
    if args.dry_run || shown.count == 0 {
        app.answer(&shown, || render::clear(app.lang, &shown))?;
        return Ok(Exit::Well);
    }
    if !args.yes {
        app.print(&render::clear(app.lang, &shown));
        if !confirmed(app, "clear.ask", shown.count)? {
            app.print(&app.lang.say("forget.kept", &[]));
            return Ok(Exit::Well);
        }
    }
    let exactly = ClearParams { dry_run: false, selection: Some(shown.selection), ..params };
    let done: ClearResult = app.call(Method::Clear, &exactly).await?;
    app.answer(&done, || render::cleared(app.lang, &done))?;
    Ok(if done.not_cut.is_empty() { Exit::Well } else { Exit::Error })
}

/// Everything that would be cleared, page by page.
async fn look(app: &App, params: &ClearParams) -> Result<ClearResult> {
    let mut shown: ClearResult = app.call(Method::Clear, params).await?;
    while shown.more {
        let next = ClearParams { offset: shown.items.len() as u32, ..params.clone() };
        let page: ClearResult = app.call(Method::Clear, &next).await?;
        shown.items.extend(page.items);
        shown.more = page.more;
    }
    Ok(shown)
}
