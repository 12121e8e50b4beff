//! The calendar's job: looks at the start and every ten seconds at what is due, and runs it.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::core::Core;
use crate::memory::Scope;
use crate::memory::calendar::Week;
use crate::memory::due::Job;
use crate::schedule::Tick;
use crate::service::calendar::{Calendar, Place, Task};
use crate::service::ingest::{Reconcile, name_of, scope_of};
use crate::service::sweep::{self, How};
use crate::store::StoreError;
use crate::wire::Event;
use crate::workspace::Workspace;

/// How often is looked; the decision is the calendar's, so that this need not be exact.
pub const EVERY: &str = "*/10 * * * * *";

/// Looks once, then at each tick.
pub async fn follow(core: Arc<Core>, mut ticks: mpsc::Receiver<Tick>) {
    let places = core.workspaces.iter();
    let places = places.map(|one| Place { scope: scope_of(one), workspace: name_of(one) }).collect();
    let schedules = core.config.schedule.clone();
    for workspace in &core.workspaces {
        if let Err(error) = core.promote.finish(workspace).await {
            core.health.survived(core.clock.now(), "finishing a promotion", &error.to_string());
        }
    }
    let mut calendar = Calendar::new(core.store.clone(), core.clock.clone(), schedules, places);
    loop {
        let looked = calendar.look(|| core.started.elapsed(), |task| guarded(Arc::clone(&core), task)).await;
        match looked {
            Ok(outlook) => {
                core.health.looked(outlook);
                core.tell(Event::CalendarLooked);
            }
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
async fn run(core: &Arc<Core>, task: &Task) -> Result<String, String> {
    let root = &task.place.workspace;
    let workspace = core.workspace(root).ok_or_else(|| format!("{root} is no longer a workspace"))?;
    match task.job {
        Job::Rollup(week) => roll_up(core, workspace, week).await,
        Job::Sweep(_) => sweep_all(core, workspace, &task.place.scope).await,
    }
}

/// The week's page, then what of it is permanent.
async fn roll_up(core: &Arc<Core>, workspace: &Workspace, week: Week) -> Result<String, String> {
    // What says the same in other words is told by its meaning, where there is a model.
    core.load_model().await;
    core.reconcile(workspace, Reconcile::default()).await.map_err(in_words)?;
    let rolled = core.roll_up(workspace, week, false).await.map_err(in_words)?;
    let promoted = core.promote(workspace, week, false).await.map_err(in_words)?;
    let lines = rolled.map_or(0, |rolled| rolled.lines);
    Ok(format!("{lines} lines, {} promoted", promoted.synced.len()))
}

/// The memories of the workspace's owner; with the first workspace also those of users who have none, and what anybody
/// said more than some days ago.
async fn sweep_all(core: &Core, workspace: &Workspace, owner: &Scope) -> Result<String, String> {
    let mut scopes = vec![owner.clone()];
    if core.workspaces.first() == Some(workspace) {
        sweep_messages(core).await.map_err(in_words)?;
        let all = core.store.read(|reader| reader.scopes_of_all_users()).await.map_err(in_words)?;
        scopes.extend(all.into_iter().filter(|scope| core.workspace_of(scope.user()).is_none()));
    }
    let how = How {
        unused_days: core.config.forgetting.unused_days,
        dry_run: false,
        accept: false,
        clock_believed: true,
    };
    let (mut forgotten, mut held) = (0, Vec::new());
    for scope in scopes {
        let swept = sweep::sweep(&core.store, &core.clock, &scope, how).await.map_err(in_words)?;
        let count = swept.memories.len();
        match swept.held {
            Some(_) => held.push(format!("{count} of {} memories of {}", swept.of, scope.user())),
            None => forgotten += count,
        }
    }
    if forgotten > 0 {
        core.tell(Event::Forgotten { memories: forgotten as u32 });
        core.show_pages_anew(workspace).await.map_err(in_words)?;
    }
    if !held.is_empty() {
        let held = held.join(", ");
        return Err(format!(
            "would forget {held}, more than a fifth: look with `ocmemd sweep --dry-run`, go on with `ocmemd sweep --accept`"
        ));
    }
    Ok(format!("{forgotten} forgotten"))
}

/// What no summary stands for yet gets one first.
async fn sweep_messages(core: &Core) -> Result<(), StoreError> {
    let mut swept = core.turns.sweep().await?;
    if swept.open > 0 {
        core.summarise_waiting().await?;
        let rest = core.turns.sweep().await?;
        swept.messages += rest.messages;
    }
    tracing::info!(messages = swept.messages, "let old messages go");
    Ok(())
}

fn in_words(error: impl std::error::Error) -> String {
    error.to_string()
}
