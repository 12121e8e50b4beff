//! `rollup` and `promote`: the calendar's work, now.

use anyhow::Result;
use similar::TextDiff;

use super::app::App;
use super::args::{PromoteArgs, RollupArgs};
use super::exit::Exit;
use crate::wire::methods::Method;
use crate::wire::rollup::{PromoteParams, PromoteResult, RollupParams, RollupResult, WeeklyPage};

pub(super) async fn rollup(app: &App, args: RollupArgs) -> Result<Exit> {
    let spinner = app.spinner(&app.lang.say("rollup.running", &[]));
    let params = RollupParams {
        user: app.user()?,
        week: args.week.map(|week| week.to_string()),
        since: args.since,
        dry_run: args.dry_run,
    };
    let done: Result<RollupResult> = app.call(Method::Rollup, &params).await;
    spinner.finish_and_clear();
    let done = done?;
    app.answer(&done, || {
        let mut texts: Vec<String> = Vec::new();
        for page in &done.pages {
            texts.push(headline(app, page, done.written));
            if args.diff {
                texts.push(diff(page));
            } else if args.dry_run {
                texts.push(page.after.clone());
            }
        }
        if texts.is_empty() { app.lang.say("rollup.nothing", &[]) } else { texts.join("\n") }
    })?;
    Ok(Exit::Well)
}

fn headline(app: &App, page: &WeeklyPage, written: bool) -> String {
    let key = match (page.changed, written) {
        (false, _) => "rollup.same",
        (true, true) => "rollup.written",
        (true, false) => "rollup.would",
    };
    let share = (page.page_chars * 100).checked_div(page.notes_chars).unwrap_or_default();
    let values = [
        ("week", page.week.clone()),
        ("file", page.file.clone()),
        ("lines", page.lines.to_string()),
        ("share", share.to_string()),
    ];
    let values: Vec<(&str, &str)> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut text = app.lang.say(key, &values);
    if page.left_out > 0 {
        text.push('\n');
        text.push_str(&app.lang.say("rollup.left_out", &[("count", &page.left_out.to_string())]));
    }
    text
}

fn diff(page: &WeeklyPage) -> String {
    let diff = TextDiff::from_lines(&page.before, &page.after);
    diff.unified_diff().context_radius(1).header(&page.file, &page.file).to_string()
}

pub(super) async fn promote(app: &App, args: PromoteArgs) -> Result<Exit> {
    let params = PromoteParams {
        user: app.user()?,
        week: args.week.map(|week| week.to_string()),
        dry_run: args.dry_run,
    };
    let done: PromoteResult = app.call(Method::Promote, &params).await?;
    app.answer(&done, || {
        let parts = [
            (if done.written { "promote.promoted" } else { "promote.would" }, &done.promoted),
            ("promote.archived", &done.archived),
            ("promote.doubts", &done.doubts),
        ];
        let mut lines = Vec::new();
        for (key, found) in parts.into_iter().filter(|(_, found)| !found.is_empty()) {
            lines.push(app.lang.say(key, &[("count", &found.len().to_string())]));
            lines.extend(found.iter().map(|line| format!("  {line}")));
        }
        if lines.is_empty() { app.lang.say("promote.nothing", &[]) } else { lines.join("\n") }
    })?;
    Ok(Exit::Well)
}
