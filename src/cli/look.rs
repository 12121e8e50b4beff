//! `search`, `context`, `list` and `get`: what looks at memories and changes none.

use anyhow::Result;

use super::app::App;
use super::args::{ContextArgs, GetArgs, ListArgs, SearchArgs};
use super::exit::Exit;
use super::render;
use crate::memory::Audience;
use crate::wire::methods::{
    ContextParams, ContextResult, GetParams, GetResult, ListParams, ListResult, Method, SearchParams,
    SearchResult,
};
use crate::wire::turn::Loaded;

fn audience(shared: bool) -> Audience {
    if shared { Audience::Shared } else { Audience::Private }
}

pub(super) async fn search(app: &App, args: SearchArgs) -> Result<Exit> {
    let params = SearchParams {
        user: app.user()?,
        audience: audience(args.look.shared),
        query: app.text(args.query)?,
        top_k: args.look.top_k,
        min_score: args.min_score,
        explain: args.look.explain,
        session: args.look.session,
        for_agent: args.for_agent,
    };
    let found: SearchResult = app.call(Method::Search, &params).await?;
    app.answer(&found, || render::search(app.lang, &found, params.explain))?;
    Ok(Exit::Well)
}

pub(super) async fn context(app: &App, args: ContextArgs) -> Result<Exit> {
    let params = ContextParams {
        user: app.user()?,
        audience: audience(args.look.shared),
        input: app.text(args.input)?,
        session: args.look.session,
        loaded: Loaded::default(),
        budget: args.budget,
        top_k: args.look.top_k,
        explain: args.look.explain,
    };
    let made: ContextResult = app.call(Method::Context, &params).await?;
    app.answer(&made, || render::context(app.lang, &made, params.explain))?;
    Ok(Exit::Well)
}

pub(super) async fn list(app: &App, args: ListArgs) -> Result<Exit> {
    let params = ListParams {
        user: app.user()?,
        audience: Audience::Private,
        since: args.since,
        until: args.until,
        kind: args.kind,
        file: args.file,
        ended: args.ended,
        limit: args.limit,
        offset: args.offset,
    };
    let listed: ListResult = app.call(Method::List, &params).await?;
    app.answer(&listed, || render::list(app.lang, &listed))?;
    Ok(Exit::Well)
}

pub(super) async fn get(app: &App, args: GetArgs) -> Result<Exit> {
    let params = GetParams {
        user: app.user()?,
        audience: Audience::Private,
        id: args.id,
        session: None,
        for_agent: args.for_agent,
    };
    let got: GetResult = app.call(Method::Get, &params).await?;
    app.answer(&got, || render::item(app.lang, &got.item))?;
    Ok(Exit::Well)
}
