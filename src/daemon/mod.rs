//! The daemon: puts the parts together, runs them, and takes them apart again in the right order.

mod calendar;
mod core;
mod handlers;
mod health;
mod jobs;
mod models;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use self::core::{Core, Parts};
use self::models::WrongDimension;
use crate::clock::Clock;
use crate::config::Config;
use crate::embed::ModelFolder;
use crate::memory::indexed;
use crate::memory::redact::redact;
use crate::paths::{Paths, PathsError};
use crate::schedule::{Schedule, ScheduleError};
use crate::service::ingest::name_of;
use crate::socket::{self, BindError, Limits, Lock, LockError};
use crate::store::{Report, Store, StoreError};
use crate::watch::{Root, Watcher};
use crate::workspace::Workspace;

/// How long requests and jobs may take to finish when the daemon is told to go.
const DRAIN: Duration = Duration::from_secs(10);
/// How much of that the requests in flight get.
const REQUESTS: Duration = Duration::from_secs(8);

/// What keeps a daemon from starting, or ends it.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The folders.
    #[error(transparent)]
    Paths(#[from] PathsError),
    /// Another daemon is alone with the database.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The socket cannot be made.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The timer.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The configured dimension is not the model's.
    #[error(transparent)]
    Dimension(#[from] WrongDimension),
    /// A job ended although nobody told it to.
    #[error("the {0} job ended unexpectedly; the last lines of the log say more")]
    JobEnded(&'static str),
}

/// Runs a daemon on the socket `place` until `stop` is cancelled, then drains it.
///
/// # Errors
/// [`DaemonError`]; a model that is missing or broken is none, the daemon runs without it.
pub async fn run(
    config: Config,
    paths: Paths,
    place: &Path,
    clock: Clock,
    stop: CancellationToken,
) -> Result<(), DaemonError> {
    paths.create_state_dir()?;
    let alone = Lock::take(&paths.state_dir.join("ocmemd.lock"))?;
    refuse_wrong_dimension(&config, &paths)?;
    let (store, repaired) = open_store(&config).await?;
    let workspaces: Vec<Workspace> = config
        .workspaces
        .iter()
        .map(|workspace| Workspace::new(workspace.path.clone(), workspace.owner.clone()))
        .collect();
    for workspace in &workspaces {
        if let Err(error) = workspace.make_marker_folder() {
            tracing::warn!(%error, "flush markers cannot be dropped there");
        }
    }
    let (watcher, hints) = Watcher::start(workspaces.iter().map(root).collect());
    let (remind_notes, ticks) = mpsc::channel(1);
    let (remind_calendar, moments) = mpsc::channel(1);
    let reminders = [(config.watch.reconcile.as_str(), remind_notes), (calendar::EVERY, remind_calendar)];
    let schedule = Schedule::start(&reminders).await?;
    let bound = socket::listener::bind(place)?;
    let limits =
        Limits { connections: config.socket.max_connections as usize, drain: REQUESTS, ..Limits::default() };
    let core = Arc::new(Core::new(Parts {
        config,
        paths,
        clock,
        store: store.clone(),
        repaired,
        workspaces,
        watcher,
        socket: place.to_owned(),
    }));

    let mut jobs = JoinSet::new();
    let stopping = stop.child_token();
    let follow = until(stopping.clone(), jobs::follow_notes(Arc::clone(&core), hints, ticks));
    jobs.spawn(async { ("notes", follow.await) });
    let follow = until(stopping.clone(), calendar::follow(Arc::clone(&core), moments));
    jobs.spawn(async { ("calendar", follow.await) });
    let vectors = until(stopping.clone(), jobs::make_vectors(Arc::clone(&core)));
    jobs.spawn(async { ("vectors", vectors.await) });
    let conversations = until(stopping.clone(), jobs::follow_conversations(Arc::clone(&core)));
    jobs.spawn(async { ("conversations", conversations.await) });
    let served = socket::serve(bound, Arc::new(handlers::Api(Arc::clone(&core))), limits, stopping.clone());
    jobs.spawn(async {
        // The socket's own lock may go with it: the database's is what the next daemon waits for.
        drop(served.await);
        ("socket", ())
    });
    tracing::info!(socket = %place.display(), "ready");

    let ended = tokio::select! {
        () = stop.cancelled() => None,
        Some(job) = jobs.join_next() => Some(job.map_or("unknown", |(name, ())| name)),
    };
    stopping.cancel();
    drain(jobs).await;
    // The timer is only a reminder: that it does not stop in time harms nothing.
    let _ = schedule.shutdown().await;
    let mut resident = Vec::new();
    core.models.send_modify(|models| resident = models.let_go());
    for model in resident {
        model.embedder.shutdown();
    }
    store.close().await?;
    drop(alone);
    match ended {
        Some(name) if !stop.is_cancelled() => Err(DaemonError::JobEnded(name)),
        _ => Ok(()),
    }
}

/// Lets the jobs finish what they are at, for a while.
async fn drain(mut jobs: JoinSet<(&'static str, ())>) {
    let all = async { while jobs.join_next().await.is_some() {} };
    if tokio::time::timeout(DRAIN, all).await.is_err() {
        tracing::warn!(seconds = DRAIN.as_secs(), "not everything had finished in time");
    }
}

/// Drops a job at its next rest once the daemon is told to go: what it is at is idempotent.
async fn until(stop: CancellationToken, job: impl Future<Output = ()>) {
    stop.run_until_cancelled(job).await;
}

fn root(workspace: &Workspace) -> Root {
    Root { workspace: name_of(workspace), path: workspace.root().to_owned() }
}

/// A model that is not there, or not whole, is no reason not to start: that is told by `status`.
fn refuse_wrong_dimension(config: &Config, paths: &Paths) -> Result<(), WrongDimension> {
    if config.long_term.vector_dim.is_none() {
        return Ok(());
    }
    let folder = models::folder(config, &paths.models_dir);
    match ModelFolder::open(&folder) {
        Ok(folder) => models::check_dimension(config.long_term.vector_dim, folder.identity()),
        Err(_) => Ok(()),
    }
}

/// Opens the database, and gives memories their words again where they had lost them.
async fn open_store(config: &Config) -> Result<(Store, Report), StoreError> {
    let path = config.storage.sqlite_path.clone();
    let opened = tokio::task::spawn_blocking(move || Store::open(&path)).await;
    let store = opened.unwrap_or(Err(StoreError::Closed))?;
    let report = store
        .write(|writer| {
            let report = writer.check()?;
            for (scope, memory) in &report.without_words {
                let (context, content) = (redact(&memory.context).0, redact(&memory.content).0);
                writer.put_words(scope, &memory.id, &indexed::terms(&context, &content, memory.day))?;
            }
            Ok(report)
        })
        .await?;
    if !report.is_clean() {
        tracing::warn!(what = %report, "repaired derived data");
    }
    Ok((store, report))
}
