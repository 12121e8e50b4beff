//! The calendar's job: looks at the start and every half minute at what is due, and runs it.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::core::Core;
use crate::memory::due::Job;
use crate::schedule::Tick;
use crate::service::calendar::{Calendar, Place, Task};
use crate::service::ingest::{name_of, scope_of};

/// How often is looked; the decision is the calendar's, so that this need not be exact.
pub const EVERY: &str = "*/30 * * * * *";

/// Looks once, then at each tick.
pub async fn follow(core: Arc<Core>, mut ticks: mpsc::Receiver<Tick>) {
    let places = core.workspaces.iter();
    let places = places.map(|one| Place { scope: scope_of(one), workspace: name_of(one) }).collect();
    let schedules = core.config.schedule.clone();
    let mut calendar = Calendar::new(core.store.clone(), core.clock.clone(), schedules, places);
    loop {
        let looked = calendar.look(|| core.started.elapsed(), |task| guarded(Arc::clone(&core), task)).await;
        match looked {
            Ok(outlook) => core.health.looked(outlook),
            Err(error) => {
                core.health.survived(core.clock.now(), "keeping the calendar", &error.to_string());
            }
        }
        if ticks.recv().await.is_none() {
            return;
        }
    }
}

/// Runs a job so that a fault in it is the failure of that run and not the end of the daemon.
async fn guarded(core: Arc<Core>, task: Task) -> Result<String, String> {
    let (job, root) = (task.job, task.place.workspace.clone());
    let running = tokio::spawn(async move { run(&core, &task).await });
    let result = AbortOnDropHandle::new(running).await.unwrap_or_else(|fault| Err(fault.to_string()));
    match &result {
        Ok(detail) => tracing::info!(%job, root, detail, "ran what the calendar asked for"),
        Err(error) => tracing::warn!(%job, root, error, "what the calendar asked for failed"),
    }
    result
}

/// What each job does: says what was done, or why it failed, in words that hold nothing of a memory's text.
async fn run(_core: &Core, task: &Task) -> Result<String, String> {
    match task.job {
        Job::Rollup(week) => Err(format!("nothing can roll up {week} yet")),
        Job::Sweep(_) => Err("nothing can sweep yet".to_owned()),
    }
}
