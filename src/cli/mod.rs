//! The command line: one file per command, text in the user's language for people, `--json` for programs.

mod app;
mod args;
mod clear;
mod daemon;
mod exit;
mod flush;
mod forget;
mod init;
mod lang;
mod look;
mod model;
mod reindex;
mod remember;
mod render;
mod rollup;
mod schema;
mod settings;
mod status;
mod sweep;

use std::ffi::OsString;
use std::process::ExitCode;

use anyhow::Result;
use clap::error::ErrorKind;

use app::App;
pub use args::Cli;
use args::Command;
use exit::Exit;
use lang::Lang;

impl Cli {
    /// Reads the arguments; prints help, version or what is wrong with them, and ends there with its exit code.
    ///
    /// # Errors
    /// The exit code: 0 for help and version, 2 for a usage that is wrong.
    pub fn read(arguments: Vec<OsString>) -> Result<Self, ExitCode> {
        let lang = Lang::detect(lang::named(&arguments), &|name| std::env::var(name).ok());
        args::parse(lang, arguments).map_err(|error| {
            // Where nobody listens there is nobody to tell.
            let _ = error.print();
            match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Well.into(),
                _ => Exit::Usage.into(),
            }
        })
    }

    /// Whether this is the daemon itself.
    pub fn is_daemon(&self) -> bool {
        matches!(self.command, Command::Daemon(_))
    }

    /// Runs the command, and tells what went wrong on standard error.
    pub fn run(self) -> ExitCode {
        let (lang, json) =
            (Lang::detect(self.global.lang, &|name| std::env::var(name).ok()), self.global.json);
        let done = App::new(self.global, lang).and_then(|app| dispatch(&app, self.command));
        done.unwrap_or_else(|error| exit::tell(&error, lang, json)).into()
    }
}

fn dispatch(app: &App, command: Command) -> Result<Exit> {
    match command {
        Command::Init(args) => init::run(app, args),
        Command::Daemon(args) => daemon::run(app, &args),
        Command::Model(args) => model::run(app, &args),
        Command::Config(args) => settings::run(app, &args),
        Command::Schema(args) => schema::run(app, &args),
        Command::Completions(args) => args::completions(app, &args),
        Command::Status(args) => app.block_on(status::run(app, &args)),
        Command::Search(args) => app.block_on(look::search(app, args)),
        Command::Context(args) => app.block_on(look::context(app, args)),
        Command::List(args) => app.block_on(look::list(app, args)),
        Command::Get(args) => app.block_on(look::get(app, args)),
        Command::Remember(args) => app.block_on(remember::run(app, args)),
        Command::Flush(args) => app.block_on(flush::run(app, args)),
        Command::Forget(args) => app.block_on(forget::run(app, args)),
        Command::Rollup(args) => app.block_on(rollup::rollup(app, args)),
        Command::Promote(args) => app.block_on(rollup::promote(app, args)),
        Command::Clear(args) => app.block_on(clear::run(app, args)),
        Command::Sweep(args) => app.block_on(sweep::run(app, &args)),
        Command::Reindex(args) => app.block_on(reindex::run(app, &args)),
    }
}
