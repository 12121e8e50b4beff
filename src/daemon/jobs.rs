//! The daemon's named workers. Each runs until it is told to stop; one that ends before is a fault.

use std::sync::Arc;

use tokio::sync::mpsc;

use super::core::Core;
use super::models::Models;
use crate::memory::segment;
use crate::schedule::Tick;
use crate::service::ingest::{Reconcile, scope_of};
use crate::service::vectors::{VectorsError, embed_some};
use crate::watch::{Hint, Hints};
use crate::wire::Event;

/// Compares everything once, then follows hints and ticks.
pub async fn follow_notes(core: Arc<Core>, mut hints: Hints, mut ticks: mpsc::Receiver<Tick>) {
    reconcile_all(&core).await;
    loop {
        tokio::select! {
            hint = hints.recv() => match hint {
                Some(hint) => follow(&core, hint).await,
                None => return,
            },
            tick = ticks.recv() => match tick {
                Some(Tick) => {
                    core.watcher.rearm();
                    core.load_model().await;
                    reconcile_all(&core).await;
                    // What failed before is tried again, and what was forgotten leaves the log.
                    core.waiting.notify_one();
                    core.talked.notify_one();
                    if let Err(error) = core.store.checkpoint().await {
                        core.health.survived(core.clock.now(), "writing back the database's log", &error.to_string());
                    }
                }
                None => return,
            },
        }
    }
}

async fn reconcile_all(core: &Core) {
    for workspace in &core.workspaces {
        // What went wrong is among the survived errors; the next tick tries again.
        let _ = core.reconcile(workspace, Reconcile::default()).await;
        core.take_markers(workspace).await;
    }
}

async fn follow(core: &Core, hint: Hint) {
    core.health.noticed(core.clock.now());
    match hint {
        Hint::Files { workspace, files } => {
            if let Some(workspace) = core.workspace(&workspace) {
                for file in files {
                    core.take_in(workspace, &file).await;
                }
            }
        }
        Hint::Rescan { workspace, reason } => {
            tracing::debug!(?reason, "looking at a whole workspace");
            if let Some(workspace) = core.workspace(&workspace) {
                let _ = core.reconcile(workspace, Reconcile::default()).await;
                core.take_markers(workspace).await;
            }
        }
        Hint::Markers { workspace } => {
            if let Some(workspace) = core.workspace(&workspace) {
                core.take_markers(workspace).await;
            }
        }
    }
}

/// Does what follows from conversations: what was asked for, one after the other, and first what was under way when the
/// daemon last ended.
pub async fn follow_conversations(core: Arc<Core>) {
    if let Err(error) = core.store.write(|writer| writer.release_jobs_of_all_users()).await {
        core.health.survived(core.clock.now(), "taking up the work on conversations", &error.to_string());
    }
    loop {
        // What failed is tried again at the next turn or tick.
        if let Err(error) = core.summarise_waiting().await {
            core.health.survived(core.clock.now(), "summarising a conversation", &error.to_string());
        }
        core.talked.notified().await;
    }
}

/// Loads the model, then gives memories their vectors: of the answering model first, then of the one being built.
pub async fn make_vectors(core: Arc<Core>) {
    core.load_model().await;
    loop {
        let models = core.models.borrow().clone();
        let busy = match embed_next(&core, &models).await {
            Ok(busy) => busy,
            Err(error) => {
                core.health.survived(core.clock.now(), "making vectors", &error.to_string());
                false
            }
        };
        if !busy {
            warm(&core).await;
            core.waiting.notified().await;
        }
    }
}

/// Measures what questions need measured, before one waits for it.
async fn warm(core: &Core) {
    // The Chinese dictionary is loaded with the first Chinese text.
    let _ = tokio::task::spawn_blocking(|| segment::query("预热")).await;
    for workspace in &core.workspaces {
        if let Err(error) = core.recall().warm(&scope_of(workspace)).await {
            core.health.survived(core.clock.now(), "calibrating the model", &error.to_string());
        }
    }
}

/// One batch for whichever model has something to do; `false` when none has.
async fn embed_next(core: &Core, models: &Models) -> Result<bool, VectorsError> {
    if let Some(answering) = &models.answering {
        let made = embed_some(&core.store, &answering.embedder, answering.generation).await?;
        if made > 0 {
            core.tell(Event::Embedded { memories: made as u32 });
            return Ok(true);
        }
    }
    let Some(building) = &models.building else { return Ok(false) };
    let made = embed_some(&core.store, &building.embedder, building.generation).await?;
    if made > 0 {
        core.tell(Event::Embedded { memories: made as u32 });
        return Ok(true);
    }
    let generation = building.generation;
    core.store.write(move |writer| writer.activate(generation)).await?;
    let model = building.embedder.identity().name.clone();
    tracing::info!(model, "another model answers from now on");
    core.models.send_modify(Models::switch);
    core.tell(Event::Switched { model });
    Ok(true)
}
