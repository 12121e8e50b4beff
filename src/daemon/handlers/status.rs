//! `status`: the truth about the daemon, and what to do where it is not well.

use std::collections::BTreeMap;
use std::path::Path;

use chrono::{DateTime, Utc};

use super::convert;
use crate::daemon::core::Core;
use crate::daemon::models::{Models, REBUILDING, Resident, Trouble};
use crate::service::calendar::{JobOutlook, Outlook};
use crate::service::ingest::{FileNotes, Reconciled, name_of, scope_of};
use crate::store::{
    ConversationCounts, FileState, Generation, GenerationState, Run, SCHEMA, StoreError, WorkspaceCounts,
};
use crate::watch::Mode;
use crate::wire::methods::{LegName, StatusParams};
use crate::wire::status::{
    Advice, AdviceCode, CalendarStatus, Conversations, Daemon, JobStatus, LatencyStatus, LegStatus, Memories,
    ModelStatus, RunStatus, SecretFile, SkippedFile, State, Status, StoreStatus, WatchStatus,
    WorkspaceStatus,
};
use crate::wire::{Error, PROTOCOL};
use crate::workspace::Workspace;

/// Files with trouble that are named one by one in a workspace's status.
const NAMED: usize = 20;

/// What the store knows, read on one snapshot.
struct Stored {
    counts: Vec<WorkspaceCounts>,
    active: Option<Generation>,
    rebuilding: Option<u64>,
    conversations: ConversationCounts,
    files: Vec<Vec<FileState>>,
}

/// Looks at everything and says how it is.
pub async fn handle(core: &Core, _: StatusParams) -> Result<Status, Error> {
    let stored = look(core).await.map_err(convert::store)?;
    let failing = takes_writes(core).await.err();
    let models = core.models.borrow().clone();
    let outlook = core.health.calendar();
    let workspaces = core.workspaces.iter().zip(&stored.files);
    let workspaces =
        workspaces.map(|(workspace, files)| workspace_status(core, workspace, files, &stored)).collect();
    let daemon = Daemon {
        pid: std::process::id(),
        binary: std::env::current_exe().map(|path| path.display().to_string()).unwrap_or_default(),
        started_at: core.started_at,
        test_clock: core.clock.is_for_tests().then(|| core.clock.now()),
        uptime_s: core.started.elapsed().as_secs(),
        workspaces,
        watch: watch_status(core),
        memories: memories(&stored),
        conversations: conversations(&stored),
        model: models.answering.as_ref().or(models.building.as_ref()).map(model_status),
        store: StoreStatus {
            path: core.config.storage.sqlite_path.display().to_string(),
            bytes: size(&core.config.storage.sqlite_path),
            schema: SCHEMA,
            generation: stored.active.as_ref().map(|active| active.id),
        },
        latency: LatencyStatus {
            context: core.health.context.percentiles(),
            search: core.health.search.percentiles(),
            embed: core.health.embed.percentiles(),
        },
        calendar: outlook.as_ref().map(calendar_status),
        legs: legs(&models),
        errors: core.health.errors(),
    };
    let mut advice = advice(core, &daemon, &models);
    advice.extend(outlook.iter().flat_map(calendar_advice));
    if let Some(error) = failing {
        advice.push(line(AdviceCode::StoreFailing, true, [("reason", error.to_string())]));
    }
    advice.extend(core.unlisted(&stored.counts).map(|(owner, root, count)| {
        let detail = [("root", root.to_owned()), ("owner", owner.to_string()), ("count", count.to_string())];
        line(AdviceCode::WorkspaceUnlisted, false, detail)
    }));
    let degraded = advice.iter().any(|advice| advice.degrades);
    Ok(Status {
        state: if degraded { State::Degraded } else { State::Ok },
        version: env!("CARGO_PKG_VERSION").to_owned(),
        protocol: PROTOCOL,
        socket: core.socket.display().to_string(),
        daemon: Some(daemon),
        advice,
    })
}

/// Tries it: what the database said an hour ago tells nothing about now.
async fn takes_writes(core: &Core) -> Result<(), StoreError> {
    let now = core.clock.now().to_rfc3339();
    core.store.write(move |writer| writer.set_meta("last_status_at", &now)).await
}

async fn look(core: &Core) -> Result<Stored, StoreError> {
    let places: Vec<_> =
        core.workspaces.iter().map(|workspace| (scope_of(workspace), name_of(workspace))).collect();
    core.store
        .read(move |reader| {
            let generations = reader.generations()?;
            let building = generations.iter().find(|one| one.state == GenerationState::Building);
            Ok(Stored {
                counts: reader.counts_of_all_users()?,
                conversations: reader.conversations_of_all_users()?,
                rebuilding: building.map(|one| reader.waiting_of_all_users(one.id)).transpose()?,
                files: places
                    .iter()
                    .map(|(scope, root)| reader.files(scope, root))
                    .collect::<Result<_, _>>()?,
                active: generations.into_iter().find(|one| one.state == GenerationState::Active),
            })
        })
        .await
}

/// The database's size with its log, in bytes.
fn size(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let files = [path, Path::new(&log)];
    files.iter().filter_map(|file| std::fs::metadata(file).ok()).map(|file| file.len()).sum()
}

fn memories(stored: &Stored) -> Memories {
    let indexed = stored.counts.iter().map(|one| one.counts.memories).sum();
    let waiting = stored.counts.iter().map(|one| one.counts.waiting()).sum();
    Memories { indexed, waiting, rebuilding: stored.rebuilding }
}

fn conversations(stored: &Stored) -> Conversations {
    let ConversationCounts { sessions, messages, jobs } = stored.conversations;
    Conversations { sessions, messages, jobs }
}

fn workspace_status(
    core: &Core,
    workspace: &Workspace,
    files: &[FileState],
    stored: &Stored,
) -> WorkspaceStatus {
    let root = name_of(workspace);
    let scan = core.last_scan(&root);
    let indexed = stored.counts.iter().filter(|one| one.workspace.as_deref() == Some(&root));
    let secrets = files.iter().flat_map(|state| {
        let notes: FileNotes = serde_json::from_str(&state.notes).unwrap_or_default();
        notes.secrets.into_iter().map(|(kind, line)| SecretFile { file: state.file.clone(), line, kind })
    });
    let secrets: Vec<SecretFile> = secrets.collect();
    let skipped = scan.iter().flat_map(|scan| scan.skipped.clone());
    WorkspaceStatus {
        owner: workspace.owner().to_string(),
        reachable: scan.as_ref().is_none_or(|scan| scan.unreachable.is_none()),
        files: files.len() as u64,
        entries_on_disk: files.iter().map(|state| u64::from(state.entries)).sum(),
        entries_indexed: indexed.map(|one| one.counts.memories).sum(),
        skipped_count: scan.as_ref().map_or(0, |scan| scan.skipped.len() as u64),
        skipped: skipped.map(|(file, reason)| SkippedFile { file, reason }).take(NAMED).collect(),
        secrets_count: secrets.len() as u64,
        secrets: secrets.into_iter().take(NAMED).collect(),
        held_deletions: held(scan.as_ref()),
        root,
    }
}

fn held(scan: Option<&Reconciled>) -> u64 {
    scan.and_then(|scan| scan.held.as_ref()).map_or(0, |(_, count)| *count)
}

fn watch_status(core: &Core) -> WatchStatus {
    let (last_event_at, last_reconcile_at) = core.health.last_seen();
    WatchStatus { mode: core.watcher.health().mode.as_str().to_owned(), last_event_at, last_reconcile_at }
}

fn model_status(resident: &Resident) -> ModelStatus {
    let (embedder, identity) = (&resident.embedder, resident.embedder.identity());
    ModelStatus {
        name: identity.name.clone(),
        hash: identity.hash.clone(),
        dimension: identity.dimension as u32,
        source: identity.source.clone(),
        precision: format!(
            "{} for queries, {} for batches",
            embedder.precisions().query,
            embedder.precisions().batch
        ),
        load_ms: embedder.load_time().as_millis() as u64,
    }
}

fn calendar_status(outlook: &Outlook) -> CalendarStatus {
    let job = |one: &JobOutlook| JobStatus {
        job: one.kind,
        workspace: one.place.workspace.clone(),
        next: one.next,
        last: one.last.as_ref().map(run_status),
        failing: one.failing.as_ref().map(run_status),
    };
    CalendarStatus { zone: outlook.zone.to_string(), jobs: outlook.jobs.iter().map(job).collect() }
}

fn run_status(run: &Run) -> RunStatus {
    RunStatus {
        period: run.job.period(),
        outcome: run.outcome,
        started_at: run.started_at,
        ended_at: run.ended_at,
        detail: run.detail.clone(),
        failures: run.failures,
        retry_at: run.retry_at,
    }
}

fn calendar_advice(outlook: &Outlook) -> Vec<Advice> {
    let wall = |at: Option<DateTime<Utc>>| {
        at.map(|at| at.with_timezone(&outlook.zone).format("%Y-%m-%d %H:%M").to_string()).unwrap_or_default()
    };
    let failed = outlook.jobs.iter().filter_map(|one| one.failing.as_ref().map(|run| (one, run)));
    let failed = failed.map(|(one, run)| {
        let detail = [
            ("job", one.kind.as_str().to_owned()),
            ("period", run.job.period()),
            ("root", one.place.workspace.clone()),
            ("reason", run.detail.clone()),
            ("failures", run.failures.to_string()),
            ("retry", wall(run.retry_at)),
        ];
        line(AdviceCode::JobFailed, true, detail)
    });
    let held = outlook.jobs.iter().find(|one| one.held).zip(outlook.doubt).map(|(one, doubt)| {
        let detail = [("hours", doubt.step.num_hours().to_string()), ("until", wall(one.next))];
        line(AdviceCode::ClockDoubted, false, detail)
    });
    failed.chain(held).collect()
}

fn legs(models: &Models) -> Vec<LegStatus> {
    let vector = match (&models.answering, &models.trouble) {
        (Some(_), _) => None,
        (None, Some(trouble)) => Some(trouble.to_string()),
        (None, None) => Some(REBUILDING.to_owned()),
    };
    let leg = |leg, why_not: Option<String>| LegStatus { leg, works: why_not.is_none(), why_not };
    vec![leg(LegName::Vector, vector), leg(LegName::Keyword, None), leg(LegName::Recent, None)]
}

/// What is not well. Each line is a pure function of what was seen, so that nothing well is ever complained of.
fn advice(core: &Core, daemon: &Daemon, models: &Models) -> Vec<Advice> {
    let mut lines = model_advice(models, &daemon.memories);
    if daemon.workspaces.is_empty() {
        lines.push(line(AdviceCode::NoWorkspace, true, []));
    }
    for workspace in &daemon.workspaces {
        let unreachable = core.last_scan(&workspace.root).and_then(|scan| scan.unreachable);
        lines.extend(workspace_advice(workspace, unreachable));
    }
    let watching = core.watcher.health();
    if watching.mode == Mode::Polling {
        let reason = watching.trouble.map(|trouble| trouble.to_string()).unwrap_or_default();
        lines.push(line(AdviceCode::WatchPolling, true, [("reason", reason)]));
    }
    if !core.repaired.is_clean() {
        lines.push(line(AdviceCode::StoreRepaired, false, [("what", core.repaired.to_string())]));
    }
    lines
}

fn model_advice(models: &Models, memories: &Memories) -> Vec<Advice> {
    let trouble = match &models.trouble {
        Some(Trouble::Loading) => Some(line(AdviceCode::ModelLoading, true, [])),
        Some(Trouble::Missing(reason)) => Some(line(AdviceCode::NoModel, true, [("reason", reason.clone())])),
        Some(Trouble::Failed(reason)) => {
            Some(line(AdviceCode::ModelFailed, true, [("reason", reason.clone())]))
        }
        None if !models.is_resident() => Some(line(AdviceCode::ModelLoading, true, [])),
        None => None,
    };
    let mut lines: Vec<Advice> = trouble.into_iter().collect();
    if let Some(left) = memories.rebuilding {
        let degrades = models.answering.is_none();
        lines.push(line(AdviceCode::Rebuilding, degrades, [("left", left.to_string())]));
    }
    if memories.waiting > 0 && models.answering.is_some() {
        lines.push(line(AdviceCode::Waiting, false, [("waiting", memories.waiting.to_string())]));
    }
    lines
}

fn workspace_advice(workspace: &WorkspaceStatus, unreachable: Option<String>) -> Vec<Advice> {
    let root = || ("root", workspace.root.clone());
    let mut lines = Vec::new();
    if let Some(reason) = unreachable {
        lines.push(line(AdviceCode::WorkspaceUnreachable, true, [root(), ("reason", reason)]));
    } else if let Some(first) = workspace.skipped.first() {
        let count = workspace.skipped_count.to_string();
        let detail =
            [root(), ("file", first.file.clone()), ("reason", first.reason.clone()), ("count", count)];
        lines.push(line(AdviceCode::FilesSkipped, false, detail));
    }
    if workspace.held_deletions > 0 {
        let count = ("count", workspace.held_deletions.to_string());
        lines.push(line(AdviceCode::DeletionsHeld, true, [root(), count]));
    }
    if let Some(first) = workspace.secrets.first() {
        let detail = [
            root(),
            ("file", first.file.clone()),
            ("line", first.line.to_string()),
            ("kind", first.kind.clone()),
            ("count", workspace.secrets_count.to_string()),
        ];
        lines.push(line(AdviceCode::SecretsInFiles, false, detail));
    }
    lines
}

fn line<const N: usize>(code: AdviceCode, degrades: bool, detail: [(&str, String); N]) -> Advice {
    let detail: BTreeMap<String, String> =
        detail.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    Advice { code, degrades, detail }
}
