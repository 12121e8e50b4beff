//! `daemon`: resolves what the daemon needs, and passes the system's signals on.

use anyhow::{Result, bail};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::app::App;
use super::args::DaemonArgs;
use super::exit::Exit;
use crate::clock::Clock;
use crate::daemon;

pub(super) fn run(app: &App, args: &DaemonArgs) -> Result<Exit> {
    app.log(true, args.log_json)?;
    let config = app.config()?;
    let clock = Clock::system(config.zone);
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
