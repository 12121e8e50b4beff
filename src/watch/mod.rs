//! Notices that notes may have changed and that flush markers were dropped. An event of the file system is only a hint to look: the disk decides.
//!
//! Only folders are watched, for a watch on a file ends at the first save by temporary file and rename. Each
//! workspace has five watches: the nearest existing folder above its root (a root that is removed and created again
//! is otherwise silent for good), the root itself for the files in it, `memory` with all below, and the daemon's own
//! folder and the one in it where markers are dropped.
//!
//! No event is certain to come: network mounts raise none, and a note that is deleted within [`DEBOUNCE`] of being
//! replaced goes unreported by the debouncer. So whoever watches also reconciles now and then, in every mode.

mod decide;
mod hints;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::{ErrorKind, RecommendedWatcher, RecursiveMode};
use notify_debouncer_full::{DebounceEventResult, Debouncer, NoCache, new_debouncer_opt};

use crate::memory::layout::{FOLDER, MARKER_FOLDER, OWN_FOLDER};
use decide::{Place, Verdict, decide};
use hints::Waiting;
pub use hints::{Hint, Hints, MAX_WAITING_FILES, Reason};

/// How long a file is left alone after an event, so that one save is one look.
pub const DEBOUNCE: Duration = Duration::from_millis(200);

/// How often events are looked through: the latest hint comes after [`DEBOUNCE`] and one of these.
const TICK: Duration = Duration::from_millis(100);

/// A workspace to watch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    /// The name that its hints carry.
    pub workspace: String,
    /// Its folder. It need not exist yet.
    pub path: PathBuf,
}

/// How changes are noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The kernel tells (Linux).
    Inotify,
    /// The system tells (macOS).
    FsEvents,
    /// Not everything could be watched: what is not is seen at the next reconcile.
    Polling,
}

impl Mode {
    const NATIVE: Self = if cfg!(target_os = "macos") { Self::FsEvents } else { Self::Inotify };

    /// The mode as `status` shows it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Inotify => "inotify",
            Self::FsEvents => "fsevents",
            Self::Polling => "polling",
        }
    }
}

/// Why something is not watched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WatchError {
    /// The kernel watches no more folders for this user. It calls this "no space left on device".
    #[error(
        "the limit of watched folders is reached (fs.inotify.max_user_watches): changes are seen at the next \
         reconcile only; raise it with: sudo sysctl fs.inotify.max_user_watches=524288"
    )]
    Watches,
    /// The kernel opens no more watchers for this user. It calls this "too many open files".
    #[error(
        "the limit of watchers is reached (fs.inotify.max_user_instances, or the open files of this process): \
         changes are seen at the next reconcile only; raise it with: sudo sysctl fs.inotify.max_user_instances=1024"
    )]
    Instances,
    /// Anything else, such as a folder that may not be read.
    #[error("{path} cannot be watched ({reason}): changes are seen at the next reconcile only")]
    Folder {
        /// The folder, or what the error was about.
        path: String,
        /// In the system's words.
        reason: String,
    },
}

impl WatchError {
    fn new(path: &Path, error: &notify::Error) -> Self {
        const TOO_MANY_OPEN: i32 = rustix::io::Errno::MFILE.raw_os_error();
        match &error.kind {
            ErrorKind::MaxFilesWatch => Self::Watches,
            ErrorKind::Io(error) if error.raw_os_error() == Some(TOO_MANY_OPEN) => Self::Instances,
            _ => Self::Folder { path: path.display().to_string(), reason: error.to_string() },
        }
    }
}

/// How the watching goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// How changes are noticed.
    pub mode: Mode,
    /// Why not everything is watched; `Some` exactly when polling.
    pub trouble: Option<WatchError>,
    /// When the last event came that was worth a hint.
    pub last_event: Option<Instant>,
}

/// Watches workspaces until it is dropped.
pub struct Watcher(Arc<Inner>);

impl Watcher {
    /// Starts to watch. What cannot be watched is no error but a [`Mode::Polling`] with its reason, for the notes can
    /// still be looked at. The first look at all of them is the caller's.
    pub fn start(roots: Vec<Root>) -> (Self, Hints) {
        let inner = Arc::new(Inner {
            roots,
            places: Mutex::default(),
            backend: Mutex::default(),
            waiting: Arc::default(),
            trouble: Mutex::default(),
            last_event: Mutex::default(),
        });
        let hints = inner.waiting.hints();
        inner.arm();
        (Self(inner), hints)
    }

    /// Watches everything anew. Worth a try at each reconcile while [`Mode::Polling`]: limits are raised, and folders
    /// become readable.
    pub fn rearm(&self) {
        self.0.arm();
    }

    /// How the watching goes.
    pub fn health(&self) -> Health {
        let trouble = lock(&self.0.trouble).clone();
        let mode = if trouble.is_some() { Mode::Polling } else { Mode::NATIVE };
        Health { mode, trouble, last_event: *lock(&self.0.last_event) }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.0.waiting.close();
    }
}

type Backend = Debouncer<RecommendedWatcher, NoCache>;

/// Locks are taken one at a time but for `backend`, which may be held while the others are taken.
struct Inner {
    roots: Vec<Root>,
    places: Mutex<Vec<Place>>,
    /// The running watcher and the folders it was asked to watch.
    backend: Mutex<Option<(Backend, Vec<PathBuf>)>>,
    waiting: Arc<Waiting>,
    trouble: Mutex<Option<WatchError>>,
    last_event: Mutex<Option<Instant>>,
}

impl Inner {
    /// Forgets all watches and sets them anew: those on folders that were replaced are blind, and those on folders
    /// that were moved away see what no longer concerns anybody.
    fn arm(self: &Arc<Self>) {
        let mut backend = lock(&self.backend);
        let mut trouble = None;
        if backend.is_none() {
            match self.connect() {
                Ok(connected) => *backend = Some((connected, Vec::new())),
                Err(error) => trouble = Some(error),
            }
        }
        *lock(&self.places) = self.roots.iter().map(place).collect();
        if let Some((watcher, watched)) = backend.as_mut() {
            for path in watched.drain(..) {
                // It may be gone, and its watch with it.
                let _ = watcher.unwatch(path);
            }
            for (path, mode) in self.roots.iter().flat_map(|root| folders(&root.path)) {
                match watcher.watch(&path, mode) {
                    Ok(()) => watched.push(path),
                    Err(error) => trouble = trouble.or(Some(WatchError::new(&path, &error))),
                }
            }
        }
        self.note(trouble);
    }

    /// Keeps what is wrong, and logs it when it is new.
    fn note(&self, trouble: Option<WatchError>) {
        let mut known = lock(&self.trouble);
        if let Some(error) = trouble.as_ref().filter(|error| known.as_ref() != Some(error)) {
            tracing::warn!("{error}");
        }
        *known = trouble;
    }

    fn connect(self: &Arc<Self>) -> Result<Backend, WatchError> {
        let inner = Arc::downgrade(self);
        let handle = move |result: DebounceEventResult| {
            if let Some(inner) = inner.upgrade() {
                inner.handle(result);
            }
        };
        new_debouncer_opt(DEBOUNCE, Some(TICK), handle, NoCache, notify::Config::default())
            .map_err(|error| WatchError::new(Path::new("the workspace"), &error))
    }

    fn handle(self: &Arc<Self>, result: DebounceEventResult) {
        let places = lock(&self.places).clone();
        let mut rearm = vec![false; places.len()];
        let mut worth = false;
        match result {
            Ok(events) => {
                for event in &events {
                    worth |= self.take(event, &places, &mut rearm);
                }
            }
            Err(errors) => self.fail(&errors),
        }
        if rearm.contains(&true) {
            // First watch, then look: what happens in between is then seen at least once.
            self.arm();
            let touched = places.iter().zip(rearm).filter(|(_, rearm)| *rearm);
            touched.for_each(|(place, _)| self.waiting.rescan(&place.workspace, Reason::Rearmed));
        }
        if worth {
            *lock(&self.last_event) = Some(Instant::now());
        }
    }

    /// Passes on what one event means; whether it meant anything.
    fn take(&self, event: &notify::Event, places: &[Place], rearm: &mut [bool]) -> bool {
        if event.need_rescan() {
            places.iter().for_each(|place| self.waiting.rescan(&place.workspace, Reason::Lost));
            return true;
        }
        let mut worth = false;
        for (place, rearm) in places.iter().zip(rearm) {
            for path in &event.paths {
                let verdict = decide(place, event.kind, path);
                worth |= verdict != Verdict::Ignore;
                match verdict {
                    Verdict::Ignore => {}
                    Verdict::Look(file) => self.waiting.look(&place.workspace, file),
                    Verdict::Marker => self.waiting.look_at_markers(&place.workspace),
                    Verdict::Rescan(reason) => self.waiting.rescan(&place.workspace, reason),
                    Verdict::Rearm => *rearm = true,
                }
            }
        }
        worth
    }

    /// Events could not be read, or a new folder could not be watched.
    fn fail(&self, errors: &[notify::Error]) {
        for error in errors {
            let path = error.paths.first().map_or(Path::new("a new folder"), PathBuf::as_path);
            self.note(Some(WatchError::new(path, error)));
        }
        self.roots.iter().for_each(|root| self.waiting.rescan(&root.workspace, Reason::Lost));
    }
}

/// The folders to watch for a workspace; those that exist.
fn folders(root: &Path) -> Vec<(PathBuf, RecursiveMode)> {
    let above = root.ancestors().skip(1).find(|folder| folder.is_dir()).map(Path::to_owned);
    let wanted = [
        (above, RecursiveMode::NonRecursive),
        (Some(root.to_owned()), RecursiveMode::NonRecursive),
        (Some(root.join(FOLDER)), RecursiveMode::Recursive),
        (Some(root.join(OWN_FOLDER)), RecursiveMode::NonRecursive),
        (Some(root.join(MARKER_FOLDER)), RecursiveMode::NonRecursive),
    ];
    let wanted = wanted.into_iter().filter_map(|(folder, mode)| Some((folder?, mode)));
    wanted.filter(|(folder, _)| folder.is_dir()).collect()
}

fn place(root: &Root) -> Place {
    let mut names = vec![root.path.clone()];
    names.extend(resolved(&root.path).filter(|name| *name != root.path));
    Place { workspace: root.workspace.clone(), names }
}

/// `path` with the links in its existing part followed.
fn resolved(path: &Path) -> Option<PathBuf> {
    path.ancestors().find_map(|above| {
        let rest = path.strip_prefix(above).ok()?;
        // Joining nothing would add a slash at the end.
        let real = above.canonicalize().ok()?;
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
