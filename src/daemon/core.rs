//! What the daemon's parts share: handles, records, and the few acts that several of them do.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use chrono::{DateTime, NaiveDate, Utc};
use tokio::sync::{Notify, broadcast, watch};

use super::health::Health;
use super::models::{self, Models};
use crate::clock::Clock;
use crate::config::{Config, TimePart};
use crate::memory::block::Frame;
use crate::memory::calendar::Week;
use crate::memory::rank::{TimeMode, Weights};
use crate::memory::{Memory, MemoryId, Scope, UserId, layout};
use crate::paths::Paths;
use crate::service::flush::{Flush, Flushed, Taken};
use crate::service::ingest::{Changes, Ingest, IngestError, Reconcile, Reconciled, name_of, scope_of};
use crate::service::look;
use crate::service::page::PageError;
use crate::service::promote::{Promote, Promoted};
use crate::service::recall::{Recall, Settings};
use crate::service::remember::Remember;
use crate::service::rollup::{Rolled, Rollup};
use crate::service::turn::Turns;
use crate::service::week::{self, Answering, WeekEntry};
use crate::store::{Report, Store, StoreError, WorkspaceCounts};
use crate::watch::Watcher;
use crate::wire::Event;
use crate::workspace::Workspace;

/// Events that a slow subscriber may lag behind.
const EVENTS: usize = 256;

/// Everything that handlers and jobs share.
pub struct Core {
    /// The settings.
    pub config: Config,
    /// The folders.
    pub paths: Paths,
    /// The time.
    pub clock: Clock,
    /// The database.
    pub store: Store,
    /// Takes notes in.
    pub ingest: Ingest,
    /// Keeps what users ask to keep.
    pub remember: Remember,
    /// Makes the pages of weeks.
    pub rollup: Rollup,
    /// Carries what is permanent into `MEMORY.md`.
    pub promote: Promote,
    /// Keeps what sessions hold before they are compacted.
    pub flush: Flush,
    /// Keeps conversations.
    pub turns: Turns,
    /// What is resident.
    pub models: watch::Sender<Models>,
    /// The daemon's records of itself.
    pub health: Health,
    /// Told to subscribers.
    pub events: broadcast::Sender<Event>,
    /// The watched workspaces.
    pub workspaces: Vec<Workspace>,
    /// Tells the vector job that memories may be waiting.
    pub waiting: Notify,
    /// Tells the conversation job that something may follow from what was said.
    pub talked: Notify,
    /// What was repaired when the store was opened.
    pub repaired: Report,
    /// Where clients connect.
    pub socket: PathBuf,
    /// When the daemon started.
    pub started_at: DateTime<Utc>,
    /// The same, for measuring.
    pub started: Instant,
    /// How files are watched.
    pub watcher: Watcher,
    /// The last comparison of each workspace with the index, by its folder.
    scans: Mutex<BTreeMap<String, Reconciled>>,
    /// Held while a model is being loaded.
    loading: tokio::sync::Mutex<()>,
}

/// What [`Core::new`] is made of.
pub struct Parts {
    /// The settings.
    pub config: Config,
    /// The folders.
    pub paths: Paths,
    /// The time.
    pub clock: Clock,
    /// The database.
    pub store: Store,
    /// What was repaired in it.
    pub repaired: Report,
    /// The watched workspaces.
    pub workspaces: Vec<Workspace>,
    /// How files are watched.
    pub watcher: Watcher,
    /// Where clients connect.
    pub socket: PathBuf,
}

impl Core {
    /// Puts the parts together.
    pub fn new(parts: Parts) -> Self {
        let Parts { config, paths, clock, store, repaired, workspaces, watcher, socket } = parts;
        let ingest = Ingest::new(store.clone(), clock.clone());
        let none = Err(String::new());
        let budget = config.promotion.max_chars as usize;
        let recall = Recall::new(store.clone(), none, recall_settings(&config), clock.clone());
        let turns = Turns::new(store.clone(), clock.clone(), &config.short_term, frame(&config));
        Self {
            remember: Remember::new(store.clone(), ingest.clone(), clock.clone()),
            rollup: Rollup::new(store.clone(), ingest.clone(), clock.clone()),
            promote: Promote::new(store.clone(), ingest.clone(), clock.clone(), budget),
            flush: Flush::new(store.clone(), ingest.clone(), clock.clone(), frame(&config), turns.clone()),
            turns,
            ingest,
            models: watch::Sender::new(Models::none(&recall)),
            health: Health::default(),
            events: broadcast::Sender::new(EVENTS),
            waiting: Notify::new(),
            talked: Notify::new(),
            started_at: clock.now(),
            started: Instant::now(),
            scans: Mutex::default(),
            loading: tokio::sync::Mutex::default(),
            config,
            paths,
            clock,
            store,
            repaired,
            workspaces,
            watcher,
            socket,
        }
    }

    /// The workspace of that folder.
    pub fn workspace(&self, root: &str) -> Option<&Workspace> {
        self.workspaces.iter().find(|workspace| name_of(workspace) == root)
    }

    /// The workspace that a user's own memories are written to: the first that is his.
    pub fn workspace_of(&self, user: &UserId) -> Option<&Workspace> {
        self.workspaces.iter().find(|workspace| workspace.owner() == user)
    }

    /// Recall with the model that answers now.
    pub fn recall(&self) -> Recall {
        self.models.borrow().recall.clone()
    }

    /// The model that answers now, with its generation; `None` without one.
    fn answering(&self) -> Option<Answering> {
        let models = self.models.borrow();
        models.answering.as_ref().map(|resident| (resident.embedder.clone(), resident.generation))
    }

    /// Makes the page of a week from its notes as they are now, and tells. A dry run does neither.
    ///
    /// # Errors
    /// [`PageError`].
    pub async fn roll_up(
        &self,
        workspace: &Workspace,
        week: Week,
        dry_run: bool,
    ) -> Result<Option<Rolled>, PageError> {
        let rolled = self.rollup.week(workspace, week, self.answering().as_ref(), dry_run).await?;
        if !dry_run {
            self.waiting.notify_one();
            let changed = rolled.as_ref().is_some_and(|rolled| rolled.changed);
            self.tell(Event::RolledUp { workspace: name_of(workspace), week: week.to_string(), changed });
        }
        Ok(rolled)
    }

    /// Promotes from a week, and tells. A dry run does neither.
    ///
    /// # Errors
    /// [`PageError`].
    pub async fn promote(
        &self,
        workspace: &Workspace,
        week: Week,
        dry_run: bool,
    ) -> Result<Promoted, PageError> {
        let promoted = self.promote.week(workspace, week, self.answering().as_ref(), dry_run).await?;
        if !dry_run {
            self.tell_promoted(workspace, &promoted);
        }
        Ok(promoted)
    }

    /// What stands around injected memories.
    pub fn frame(&self) -> Frame {
        frame(&self.config)
    }

    /// Takes in one file, and tells.
    pub async fn take_in(&self, workspace: &Workspace, file: &str) {
        match self.ingest.file(workspace, file).await {
            Ok(changes) => {
                self.tell_changes(&name_of(workspace), file, changes);
                if changes.added + changes.updated > 0 {
                    self.promote_at_once(workspace, file).await;
                }
            }
            Err(error) => self.health.survived(self.clock.now(), "reading a note", &error.to_string()),
        }
    }

    /// Promotes what a note says is permanent; what cannot be promoted now is on Sunday.
    pub async fn promote_at_once(&self, workspace: &Workspace, file: &str) {
        match self.promote.at_once(workspace, file).await {
            Ok(promoted) => self.tell_promoted(workspace, &promoted),
            Err(error) => {
                self.health.survived(self.clock.now(), "promoting to MEMORY.md", &error.to_string())
            }
        }
    }

    /// Compares a workspace with the index, keeps the result for `status`, and tells.
    ///
    /// # Errors
    /// [`IngestError`]; it is among the survived errors too.
    pub async fn reconcile(&self, workspace: &Workspace, how: Reconcile) -> Result<Reconciled, IngestError> {
        let root = name_of(workspace);
        let compared = self.ingest.reconcile(workspace, how).await;
        // Even where it ended early, some files may have been taken in.
        self.waiting.notify_one();
        let report = compared.inspect_err(|error| {
            self.health.survived(self.clock.now(), "comparing notes with the index", &error.to_string());
        })?;
        self.health.reconciled(self.clock.now());
        for (file, changes) in &report.changed {
            self.tell_changes(&root, file, *changes);
        }
        self.tell(Event::Reconciled { files: report.files });
        self.scans().insert(root, report.clone());
        Ok(report)
    }

    /// Takes the flush markers that wait in a workspace, and tells.
    pub async fn take_markers(&self, workspace: &Workspace) -> Taken {
        let taken = self.flush.markers(workspace).await;
        for trouble in &taken.troubles {
            self.health.survived(self.clock.now(), "taking a flush marker", trouble);
        }
        if taken.markers > 0 {
            self.tell_flushed(&name_of(workspace), &taken.flushed, taken.markers);
        }
        if taken.flushed.captured > 0 {
            self.refresh_on_sunday(workspace).await;
        }
        taken
    }

    /// On a Sunday the week's page follows each flush: the machine may not be awake at night.
    pub async fn refresh_on_sunday(&self, workspace: &Workspace) {
        let today = self.clock.today();
        if today != Week::of(today).sunday() {
            return;
        }
        if let Err(error) = self.roll_up(workspace, Week::of(today), false).await {
            self.health.survived(self.clock.now(), "refreshing the week's page", &error.to_string());
        }
    }

    /// Takes what a user had forgotten off the pages that were made of it. A page that cannot be written now is made
    /// anew with the next rollup of its week.
    pub async fn take_off_pages(&self, user: &UserId, forgotten: &[Memory]) {
        for workspace in self.workspaces.iter().filter(|workspace| workspace.owner() == user) {
            let root = name_of(workspace);
            let sources = forgotten.iter().filter_map(|memory| Some((memory, memory.source.as_ref()?)));
            let here: Vec<_> = sources.filter(|(_, source)| source.workspace == root).collect();
            let summarised: Vec<WeekEntry> = forgotten.iter().flat_map(week::entries_of_summary).collect();
            let mut entries: Vec<(String, String)> =
                here.iter().map(|(memory, source)| (source.file.clone(), memory.hash.0.clone())).collect();
            entries.extend(summarised.iter().map(WeekEntry::key));
            if let Err(error) = self.promote.take_back(workspace, &entries).await {
                self.health.survived(self.clock.now(), "taking a line off MEMORY.md", &error.to_string());
            }
            let days = here.iter().filter_map(|(memory, _)| memory.day);
            let weeks: BTreeSet<Week> =
                days.chain(summarised.iter().filter_map(|said| said.entry.day)).map(Week::of).collect();
            for week in weeks {
                if !workspace.root().join(layout::weekly_file(week)).exists() {
                    continue;
                }
                if let Err(error) = self.roll_up(workspace, week, false).await {
                    self.health.survived(
                        self.clock.now(),
                        "taking a line off a week's page",
                        &error.to_string(),
                    );
                }
            }
        }
    }

    /// Looks at our own pages again: a line stands for entries once all of them are forgotten.
    ///
    /// # Errors
    /// [`IngestError`].
    pub async fn show_pages_anew(&self, workspace: &Workspace) -> Result<(), IngestError> {
        let (scope, root) = (scope_of(workspace), name_of(workspace));
        let known = self.store.read(move |reader| reader.files(&scope, &root)).await?;
        for state in known.into_iter().filter(|state| layout::week_of(&state.file).is_some()) {
            let changes = self.ingest.again(workspace, &state.file).await?;
            self.tell_changes(&name_of(workspace), &state.file, changes);
        }
        Ok(())
    }

    /// Makes the summaries that were asked for, one after the other, and tells.
    ///
    /// # Errors
    /// [`StoreError`]; what failed waits to be tried again.
    pub async fn summarise_waiting(&self) -> Result<(), StoreError> {
        let by_rules = |messages| self.turns.by_rules(messages);
        while let Some(messages) = self.turns.summarise_next(&by_rules).await? {
            self.tell_summarised(messages as u32);
        }
        Ok(())
    }

    /// Takes back what was said to a user's agent on days that he had forgotten, from the beginning without `from`.
    /// Answers the summaries that went with it; what else they stood for has another one by then.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing was taken back.
    pub async fn take_back_days(
        &self,
        scope: &Scope,
        from: Option<NaiveDate>,
        to: NaiveDate,
    ) -> Result<Vec<Memory>, StoreError> {
        let taken = self.turns.take_back_days(scope, from, to).await?;
        tracing::info!(taken.messages, "took back what was said");
        if let Err(error) = self.summarise_waiting().await {
            self.health.survived(self.clock.now(), "summarising a conversation", &error.to_string());
        }
        Ok(taken.summaries)
    }

    fn tell_summarised(&self, messages: u32) {
        if messages > 0 {
            self.waiting.notify_one();
            self.tell(Event::Summarised { messages });
        }
    }

    /// Tells what a flush brought, and lets its memories get their vectors.
    pub fn tell_flushed(&self, root: &str, flushed: &Flushed, markers: u32) {
        for (file, changes) in &flushed.changes {
            self.tell_changes(root, file, *changes);
        }
        self.tell_summarised(flushed.summarised);
        self.waiting.notify_one();
        tracing::info!(
            markers,
            captured = flushed.captured,
            known = flushed.known,
            "kept what sessions held"
        );
        self.tell(Event::Flushed { markers, captured: flushed.captured });
    }

    /// Of these counts, those of workspaces that are no longer configured for that user: they are recalled all the same.
    pub fn unlisted<'c>(
        &self,
        counts: &'c [WorkspaceCounts],
    ) -> impl Iterator<Item = (&'c UserId, &'c str, u64)> {
        let listed =
            |owner: &UserId, root: &str| self.workspace(root).is_some_and(|known| known.owner() == owner);
        counts.iter().filter_map(move |counted| {
            let root = counted.workspace.as_deref()?;
            (!listed(&counted.user, root)).then_some((&counted.user, root, counted.counts.memories))
        })
    }

    /// The last comparison of a workspace with the index.
    pub fn last_scan(&self, root: &str) -> Option<Reconciled> {
        self.scans().get(root).cloned()
    }

    /// Loads the configured model if it is not resident; the daemon goes on without it.
    pub async fn load_model(self: &Arc<Self>) {
        let core = Arc::clone(self);
        // On its own, so that a client who goes away leaves no half-loaded model behind.
        let loading = tokio::spawn(async move {
            let _alone = core.loading.lock().await;
            if core.models.borrow().is_resident() {
                return;
            }
            let folder = models::folder(&core.config, &core.paths.models_dir);
            let owners: Vec<Scope> = core.workspaces.iter().map(scope_of).collect();
            let dimension = core.config.long_term.vector_dim;
            let loaded = models::load(&core.store, folder, dimension, &owners, &core.models).await;
            if let Err(error) = loaded {
                core.health.survived(core.clock.now(), "loading the model", &error.to_string());
            }
            core.waiting.notify_one();
        });
        // A panic in there is a fault that was logged; the model stays away.
        let _ = loading.await;
    }

    /// Counts that memories were given to the agent. No answer waits for that, nor fails with it.
    pub fn touch(self: &Arc<Self>, scope: Scope, ids: Vec<MemoryId>, session: Option<String>) {
        if ids.is_empty() {
            return;
        }
        let core = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = look::touch(&core.store, &scope, ids, session, &core.clock).await {
                core.health.survived(core.clock.now(), "counting an access", &error.to_string());
            }
        });
    }

    /// Tells subscribers. That nobody listens is no error.
    pub fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    /// Tells what a note brought, and lets its memories get their vectors.
    pub fn tell_changes(&self, root: &str, file: &str, changes: Changes) {
        let Changes { added, updated, removed } = changes;
        if added + updated + removed == 0 {
            return;
        }
        tracing::info!(file, added, updated, removed, "took in a note");
        if added + updated > 0 {
            self.waiting.notify_one();
        }
        self.tell(Event::Ingested {
            workspace: root.to_owned(),
            file: file.to_owned(),
            added,
            updated,
            removed,
        });
    }

    fn tell_promoted(&self, workspace: &Workspace, promoted: &Promoted) {
        if !promoted.synced.is_empty() {
            self.waiting.notify_one();
            let lines = promoted.synced.len() as u32;
            tracing::info!(lines, "carried into MEMORY.md");
            self.tell(Event::Promoted { workspace: name_of(workspace), lines });
        }
    }

    fn scans(&self) -> MutexGuard<'_, BTreeMap<String, Reconciled>> {
        self.scans.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What stands around injected memories.
fn frame(config: &Config) -> Frame {
    Frame { system_prefix: config.context.system_prefix.clone(), ..Frame::default() }
}

/// The recall settings of a configuration.
fn recall_settings(config: &Config) -> Settings {
    let (recall, long_term) = (&config.recall, &config.long_term);
    Settings {
        // The configuration has checked them.
        weights: Weights::new(recall.vector_weight, recall.keyword_weight, recall.time_weight)
            .unwrap_or_default(),
        time: match recall.time {
            TimePart::Asked => TimeMode::Asked,
            TimePart::Recency => TimeMode::Recency,
        },
        time_decay_factor: long_term.time_decay_factor,
        candidates: recall.candidates as usize,
        recent_days: u64::from(recall.recent_days),
        top_k: long_term.top_k as usize,
        min_score: long_term.min_score,
    }
}
