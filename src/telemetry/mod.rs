//! Logs on standard error: readable by people, by journald and, on request, by programs; without secrets.

mod writer;

use std::io;

use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::format::FmtSpan;

use writer::Redacting;

/// How to log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Logging {
    /// One JSON object a line.
    pub json: bool,
    /// How often `--verbose` was given: 0 `info` for the daemon, 1 `debug`, 2 `trace`.
    pub verbose: u8,
    /// `OCMEMD_LOG`, a filter such as `info,ocmemd::watch=debug`; it wins over `verbose`.
    pub filter: Option<String>,
    /// Whether journald reads (`JOURNAL_STREAM` is set): it adds the time itself and shows no colours.
    pub journald: bool,
    /// Whether standard error shows colours.
    pub colours: bool,
    /// Whether this is the daemon, which tells what it does; other commands tell only warnings.
    pub daemon: bool,
}

/// Why logging did not start.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// A filter that cannot be read.
    #[error(
        "OCMEMD_LOG={0:?} is no filter; allowed: error, warn, info, debug, trace, or ocmemd::watch=debug,info"
    )]
    Filter(String),
    /// Something else logs already.
    #[error("logging was started twice")]
    Twice,
}

impl Logging {
    /// The filter's text. Other crates tell only warnings.
    fn filter(&self) -> String {
        let level = match (self.verbose, self.daemon) {
            (0, false) => "warn",
            (0, true) => "info",
            (1, _) => "debug",
            _ => "trace",
        };
        self.filter.clone().unwrap_or_else(|| format!("warn,ocmemd={level}"))
    }

    /// Starts logging for the whole process.
    ///
    /// # Errors
    /// [`LoggingError`] where the filter cannot be read, or logging runs already.
    pub fn start(&self) -> Result<(), LoggingError> {
        let text = self.filter();
        let filter = EnvFilter::try_new(&text).map_err(|_| LoggingError::Filter(text))?;
        let logger = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_span_events(FmtSpan::NONE)
            .with_ansi(self.colours && !self.journald && !self.json)
            .with_writer(|| Redacting::new(io::stderr()));
        let started = match (self.json, self.journald) {
            (true, _) => logger.json().flatten_event(true).try_init(),
            (false, true) => logger.without_time().try_init(),
            (false, false) => logger.try_init(),
        };
        started.map_err(|_| LoggingError::Twice)?;
        if self.daemon {
            // What a panic says may quote a memory: only where it happened is told.
            std::panic::set_hook(Box::new(|panic| {
                tracing::error!(at = panic.location().map(tracing::field::display), "a fault in the program");
            }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_wins_and_only_the_daemon_is_talkative() {
        let logging = Logging::default();
        assert_eq!(logging.filter(), "warn,ocmemd=warn");
        assert_eq!(Logging { daemon: true, ..logging.clone() }.filter(), "warn,ocmemd=info");
        assert_eq!(Logging { verbose: 1, ..logging.clone() }.filter(), "warn,ocmemd=debug");
        for daemon in [true, false] {
            let chosen = Logging { filter: Some("error".to_owned()), daemon, ..logging.clone() };
            assert_eq!(chosen.filter(), "error");
        }
    }

    #[test]
    fn a_wrong_filter_says_what_is_allowed() {
        let logging =
            Logging { filter: Some("ocmemd=很多".to_owned()), daemon: true, ..Logging::default() };
        let error = logging.start().unwrap_err().to_string();
        assert!(error.contains("allowed: error, warn, info"), "{error}");
    }
}
