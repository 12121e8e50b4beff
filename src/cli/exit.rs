//! Exit codes, and the errors that have one of their own.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use super::lang::Lang;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exit {
    /// All is well.
    Well = 0,
    /// An error.
    Error = 1,
    /// Wrong usage.
    Usage = 2,
    /// The daemon is not running.
    NotRunning = 3,
    /// The daemon is degraded.
    Degraded = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Nobody answers on the socket.
#[derive(Debug, thiserror::Error)]
#[error("nobody answers on {}; start the daemon with `ocmemd daemon`", .0.display())]
pub(super) struct NotRunning(pub(super) PathBuf);

/// The command cannot be done as it was typed; the text says how it can.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Usage(pub(super) String);

/// Tells an error on standard error, as text or as JSON, and gives its exit code.
pub(super) fn tell(error: &anyhow::Error, lang: Lang, json: bool) -> Exit {
    let (exit, kind, text) = if let Some(NotRunning(socket)) = error.downcast_ref() {
        let socket = socket.display().to_string();
        (Exit::NotRunning, "not_running", lang.say("error.not_running", &[("socket", &socket)]))
    } else if let Some(Usage(text)) = error.downcast_ref() {
        (Exit::Usage, "usage", text.clone())
    } else {
        (Exit::Error, "error", format!("{error:#}"))
    };
    let line = if json {
        serde_json::json!({ "error": { "kind": kind, "message": text } }).to_string()
    } else {
        lang.say("error.line", &[("text", &text)])
    };
    // Where nobody listens there is nobody to tell.
    let _ = writeln!(anstream::stderr(), "{line}");
    exit
}
