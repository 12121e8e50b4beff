//! `reindex`: compares the files with the index now.

use anyhow::Result;

use super::app::App;
use super::args::ReindexArgs;
use super::exit::Exit;
use crate::wire::methods::{Method, ReindexParams, ReindexResult};

pub(super) async fn run(app: &App, args: &ReindexArgs) -> Result<Exit> {
    let spinner = app.spinner(&app.lang.say("reindex.running", &[]));
    let params = ReindexParams { full: args.full, accept_deletions: args.accept_deletions };
    let done: Result<ReindexResult> = app.call(Method::Reindex, &params).await;
    spinner.finish_and_clear();
    let done = done?;
    app.answer(&done, || {
        let numbers = [
            ("files", done.files.to_string()),
            ("changed", done.changed_files.to_string()),
            ("added", done.added.to_string()),
            ("updated", done.updated.to_string()),
            ("removed", done.removed.to_string()),
            ("waiting", done.waiting.to_string()),
        ];
        let values: Vec<(&str, &str)> = numbers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let mut lines = vec![app.lang.say("reindex.done", &values)];
        if done.skipped > 0 {
            lines.push(app.lang.say("reindex.skipped", &[("skipped", &done.skipped.to_string())]));
        }
        if done.held > 0 {
            lines.push(app.lang.say("reindex.held", &[("held", &done.held.to_string())]));
        }
        lines.extend(
            done.unreachable.iter().map(|root| app.lang.say("reindex.unreachable", &[("root", root)])),
        );
        lines.join("\n")
    })?;
    Ok(if done.unreachable.is_empty() { Exit::Well } else { Exit::Degraded })
}
