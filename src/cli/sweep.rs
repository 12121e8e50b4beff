//! `sweep`: lets go what matters little and was long not used, or lists it.

use anyhow::Result;

use super::app::App;
use super::args::SweepArgs;
use super::exit::Exit;
use super::render;
use crate::wire::Method;
use crate::wire::sweep::{SweepParams, SweepResult};

pub(super) async fn run(app: &App, args: &SweepArgs) -> Result<Exit> {
    let params = SweepParams { user: app.user()?, dry_run: args.dry_run, accept: args.accept, offset: 0 };
    let mut swept: SweepResult = app.call(Method::Sweep, &params).await?;
    // What was let go cannot be asked for again; what would go is listed to the end.
    while args.dry_run && swept.more {
        let next = SweepParams { offset: swept.items.len() as u32, ..params.clone() };
        let page: SweepResult = app.call(Method::Sweep, &next).await?;
        swept.items.extend(page.items);
        swept.more = page.more;
    }
    app.answer(&swept, || render::sweep(app.lang, &swept))?;
    Ok(if swept.held.is_some() && !args.dry_run { Exit::Error } else { Exit::Well })
}
