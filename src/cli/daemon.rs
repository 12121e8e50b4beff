//! `daemon`: resolves what the daemon needs, and passes the system's signals on.

use std::ffi::OsString;

use anyhow::{Context, Result, bail};
use chrono::DateTime;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::app::App;
use super::args::DaemonArgs;
use super::exit::Exit;
use crate::clock::{Clock, Zone};
use crate::daemon;

/// For tests only: the instant at which the daemon's clock begins.
const TEST_CLOCK: &str = "OCMEMD_TEST_CLOCK";

pub(super) fn run(app: &App, args: &DaemonArgs) -> Result<Exit> {
    app.log(true, args.log_json)?;
    let config = app.config()?;
    let clock = clock(config.zone, std::env::var_os(TEST_CLOCK))?;
    let socket = app.socket()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(async {
        let stop = CancellationToken::new();
        tokio::select! {
            ended = daemon::run(config, app.paths.clone(), &socket, clock, stop.clone()) => Ok(ended?),
            forced = signals(stop.clone()) => forced,
        }
    });
    // What still runs after that was given its time, or is to be forced.
    runtime.shutdown_background();
    ended.map(|()| Exit::Well)
}

/// The real clock, or one that begins at `start`.
fn clock(zone: Zone, start: Option<OsString>) -> Result<Clock> {
    let Some(start) = start else { return Ok(Clock::system(zone)) };
    let start = start.to_string_lossy();
    let at = DateTime::parse_from_rfc3339(&start).with_context(|| {
        format!("{TEST_CLOCK} is {start:?}; set an instant such as 2026-03-15T23:58:00+08:00, or unset it")
    })?;
    Ok(Clock::starting_at(at.to_utc(), zone))
}

/// The first signal asks the daemon to stop; returns with an error at the second, which does not wait for that.
async fn signals(stop: CancellationToken) -> Result<()> {
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    for first in [true, false] {
        tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} }
        if first {
            tracing::info!("stopping; a second signal forces it");
            stop.cancel();
        }
    }
    bail!("forced to stop before everything had finished")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_clock_begins_where_it_is_told_and_what_cannot_be_read_is_refused() {
        let zone = Zone::Fixed(chrono_tz::Asia::Shanghai);
        let moved = clock(zone, Some("2026-03-15T23:58:00+08:00".into())).unwrap();
        assert!(moved.is_for_tests() && moved.today().to_string() == "2026-03-15");
        assert!(!clock(zone, None).unwrap().is_for_tests());
        for wrong in ["", "周日", "2026-03-15 23:58"] {
            let error = clock(zone, Some(wrong.into())).unwrap_err().to_string();
            assert!(error.contains(TEST_CLOCK) && error.contains(&format!("{wrong:?}")), "{error}");
        }
    }
}
