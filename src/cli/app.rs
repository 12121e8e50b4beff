//! What every command needs: folders, configuration, the user, the daemon, and a place to print.

use std::io::{self, IsTerminal, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::args::Global;
use super::exit::{NotRunning, Usage};
use super::lang::Lang;
use crate::client::{self, Client, ClientError};
use crate::config::{Config, Sources};
use crate::paths::Paths;
use crate::socket::place::{Base, is_ours, socket_path};
use crate::telemetry::Logging;
use crate::wire::methods::Method;

/// How long an answer is waited for: reading every file again, the pages of years, or forgetting very much may take a while.
fn deadline(method: Method) -> Duration {
    match method {
        Method::Reindex | Method::Rollup | Method::Sweep | Method::Clear => Duration::from_secs(600),
        _ => client::DEADLINE,
    }
}

/// One run of the command line.
pub(super) struct App {
    pub(super) paths: Paths,
    pub(super) lang: Lang,
    pub(super) json: bool,
    global: Global,
}

impl App {
    /// Finds the folders.
    pub(super) fn new(global: Global, lang: Lang) -> Result<Self> {
        let paths = Paths::resolve(global.home.as_deref(), &|name| std::env::var_os(name))?;
        Ok(Self { paths, lang, json: global.json, global })
    }

    /// The file that is read for the configuration.
    pub(super) fn config_file(&self) -> PathBuf {
        self.global.config.clone().unwrap_or_else(|| self.paths.config_file.clone())
    }

    /// The checked configuration.
    pub(super) fn config(&self) -> Result<Config> {
        let sources = Sources {
            file: self.global.config.clone(),
            env: std::env::vars_os().collect(),
            flags: self.global.sets.clone(),
        };
        Ok(Config::load(&self.paths, &sources)?)
    }

    /// The configuration, which need not be there yet.
    pub(super) fn config_if_any(&self) -> Result<Config> {
        let paths = Paths { config_file: self.config_file(), ..self.paths.clone() };
        let env = std::env::vars_os().collect();
        Ok(Config::load(&paths, &Sources { file: None, env, flags: self.global.sets.clone() })?)
    }

    /// Whose memories: the named user, else the first workspace's owner.
    pub(super) fn user(&self) -> Result<String> {
        if let Some(user) = &self.global.user {
            return Ok(user.clone());
        }
        let config = self.config()?;
        let workspace =
            config.workspaces.first().ok_or_else(|| Usage(self.lang.say("error.no_user", &[])))?;
        Ok(workspace.owner.to_string())
    }

    /// Where the daemon's socket is, or would be.
    pub(super) fn socket(&self) -> Result<PathBuf> {
        let base = match &self.paths.home {
            Some(home) => Base::Home(home),
            None => Base::State(&self.paths.state_dir),
        };
        let uid = rustix::process::geteuid().as_raw();
        Ok(socket_path(base, |name| std::env::var_os(name), uid, |folder| is_ours(folder, uid))?)
    }

    /// Asks the daemon.
    pub(super) async fn call<R: DeserializeOwned>(
        &self,
        method: Method,
        params: &impl Serialize,
    ) -> Result<R> {
        let socket = self.socket()?;
        let asked = async {
            let mut client = Client::connect(&socket).await?.with_deadline(deadline(method));
            client.call(method, params).await
        };
        asked.await.map_err(|error| match error {
            ClientError::NotRunning { .. } => NotRunning(socket).into(),
            error => error.into(),
        })
    }

    /// Runs a client's command; one thread is plenty.
    pub(super) fn block_on<T>(&self, command: impl Future<Output = Result<T>>) -> Result<T> {
        self.log(false, false)?;
        tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(command)
    }

    /// Starts logging.
    pub(super) fn log(&self, daemon: bool, json: bool) -> Result<()> {
        let logging = Logging {
            json,
            daemon,
            verbose: self.global.verbose,
            filter: std::env::var("OCMEMD_LOG").ok().filter(|filter| !filter.is_empty()),
            journald: std::env::var_os("JOURNAL_STREAM").is_some(),
            colours: anstream::AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never,
        };
        Ok(logging.start()?)
    }

    /// Prints what a person reads; colours only reach a terminal.
    pub(super) fn print(&self, text: &str) {
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        // A reader that has gone (`| head`) has read enough.
        let _ = write!(anstream::stdout(), "{text}{end}");
    }

    /// Prints the answer: JSON if that was asked for, else the text.
    pub(super) fn answer(&self, value: &impl Serialize, text: impl FnOnce() -> String) -> Result<()> {
        let text = if self.json { serde_json::to_string_pretty(value)? } else { text() };
        self.print(&text);
        Ok(())
    }

    /// A text from the command line, or from standard input where it is `-`.
    pub(super) fn text(&self, argument: String) -> Result<String> {
        if argument != "-" {
            return Ok(argument);
        }
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).context("standard input is not UTF-8 text")?;
        Ok(text.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Turns while something takes its time; only on a terminal.
    pub(super) fn spinner(&self, what: &str) -> ProgressBar {
        let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
        spinner.enable_steady_tick(Duration::from_millis(100));
        spinner
    }

    /// Whether a person can be asked.
    pub(super) fn can_ask(&self) -> bool {
        !self.json && io::stdin().is_terminal() && io::stdout().is_terminal()
    }
}
