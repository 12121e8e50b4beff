//! `init`: finds or takes the workspace, makes what it needs, and writes the configuration.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;

use super::app::App;
use super::args::InitArgs;
use super::exit::{Exit, Usage};
use super::lang::Lang;
use crate::clock::Clock;
use crate::config::{self, Config};
use crate::memory::UserId;
use crate::workspace::{self, Workspace};

/// What was done.
#[derive(Debug, Serialize)]
struct Done {
    /// The workspace.
    workspace: PathBuf,
    /// Its owner.
    owner: String,
    /// What was made in it.
    created: Vec<String>,
    /// What OpenClaw would expect in it.
    missing: Vec<&'static str>,
    /// The configuration file.
    config: PathBuf,
    /// Whether the file was written or changed, or knew the workspace already.
    config_changed: bool,
}

pub(super) fn run(app: &App, args: InitArgs) -> Result<Exit> {
    let config = app.config_if_any()?;
    let path = match args.workspace {
        Some(path) => std::path::absolute(&path)?,
        None => find(app)?,
    };
    let known = config.workspaces.iter().find(|workspace| workspace.path == path);
    let owner = match (args.owner, known) {
        (Some(owner), _) => UserId::new(&owner).map_err(|error| Usage(format!("--owner: {error}")))?,
        (None, Some(known)) => known.owner.clone(),
        (None, None) => UserId::new(config::DEFAULT_OWNER)?,
    };
    if let Some(known) = known.filter(|known| known.owner != owner) {
        let values = [("owner", known.owner.as_str()), ("config", &app.config_file().display().to_string())];
        return Err(Usage(app.lang.say("init.other_owner", &values)).into());
    }
    let (config_changed, today) = (known.is_none(), Clock::system(config.zone).today());
    let workspace = Workspace::new(path.clone(), owner.clone());
    let created = workspace.create(today)?;
    if config_changed {
        add_to_config(&app.config_file(), &config::Workspace { path: path.clone(), owner: owner.clone() })?;
    }
    let done = Done {
        workspace: path,
        owner: owner.to_string(),
        created,
        missing: workspace.missing_files(),
        config: app.config_file(),
        config_changed,
    };
    app.answer(&done, || text(app.lang, &done))?;
    Ok(Exit::Well)
}

fn add_to_config(file: &Path, workspace: &config::Workspace) -> Result<()> {
    if file.exists() {
        Config::add_workspace(file, workspace)?;
    } else {
        Config::write_initial(file, std::slice::from_ref(workspace))?;
    }
    Ok(())
}

/// The likeliest folder that is there; where none is, the error names those that were looked for.
fn find(app: &App) -> Result<PathBuf> {
    let candidates = workspace::discover(|name| std::env::var_os(name));
    if let Some(found) = candidates.iter().find(|candidate| candidate.exists) {
        return std::path::absolute(&found.path).context("the working directory cannot be read");
    }
    let looked: Vec<String> =
        candidates.iter().map(|candidate| candidate.path.display().to_string()).collect();
    Err(Usage(app.lang.say("init.not_found", &[("looked", &looked.join(", "))])).into())
}

fn text(lang: Lang, done: &Done) -> String {
    let workspace = done.workspace.display().to_string();
    let config = done.config.display().to_string();
    let mut lines = vec![lang.say("init.workspace", &[("workspace", &workspace), ("owner", &done.owner)])];
    if !done.created.is_empty() {
        lines.push(lang.say("init.created", &[("files", &done.created.join(", "))]));
    }
    if !done.missing.is_empty() {
        lines.push(lang.say("init.missing", &[("files", &done.missing.join(", "))]));
    }
    let key = if done.config_changed { "init.config_written" } else { "init.config_kept" };
    lines.push(lang.say(key, &[("config", &config)]));
    lines.push(lang.say("init.next", &[]));
    lines.join("\n")
}
