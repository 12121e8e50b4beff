//! `config`: every value and where it comes from, or what is wrong with them.

use anyhow::Result;
use serde_json::json;

use super::app::App;
use super::args::{ConfigArgs, ConfigCommand};
use super::exit::Exit;
use super::render::DIM;
use crate::config::Config;

pub(super) fn run(app: &App, args: &ConfigArgs) -> Result<Exit> {
    let config = app.config()?;
    match args.command {
        ConfigCommand::Show => show(app, &config)?,
        ConfigCommand::Check => {
            let file = app.config_file().display().to_string();
            let (key, found) =
                if app.config_file().exists() { ("config.well", true) } else { ("config.none", false) };
            let answer = json!({ "ok": true, "file": file, "found": found });
            app.answer(&answer, || app.lang.say(key, &[("config", &file)]))?;
        }
    }
    Ok(Exit::Well)
}

fn show(app: &App, config: &Config) -> Result<()> {
    let workspaces: Vec<_> = config
        .workspaces
        .iter()
        .map(|workspace| json!({ "path": workspace.path, "owner": workspace.owner.as_str() }))
        .collect();
    let settings: Vec<_> = config
        .settings
        .iter()
        .map(|setting| {
            json!({ "key": setting.key, "value": setting.value, "origin": setting.origin.to_string() })
        })
        .collect();
    app.answer(&json!({ "workspaces": workspaces, "settings": settings }), || text(config))
}

/// As it would stand in a file, with the origins as comments.
fn text(config: &Config) -> String {
    let mut text = String::new();
    let mut section = "";
    for setting in &config.settings {
        let Some((of, name)) = setting.key.split_once('.') else { continue };
        if of != section {
            section = of;
            text.push_str(&format!("[{section}]\n"));
        }
        let line = format!("{name} = {}", setting.value);
        text.push_str(&format!("{line:<44} {DIM}# {}{DIM:#}\n", setting.origin));
    }
    for workspace in &config.workspaces {
        let path = toml::Value::from(workspace.path.to_string_lossy().into_owned());
        let owner = toml::Value::from(workspace.owner.as_str());
        text.push_str(&format!("[[workspace]]\npath = {path}\nowner = {owner}\n"));
    }
    text
}
