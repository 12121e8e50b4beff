//! The way from the watcher to whoever looks: not a queue but what is still to be looked at, merged.
//!
//! A queue can be full; this cannot. Who reads slowly finds the same file once, and after many files one `Rescan`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// From how many waiting files on a look at the whole workspace is the cheaper one.
pub const MAX_WAITING_FILES: usize = 256;

/// Something in a workspace may have changed. Only the disk knows what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// Look at these notes, relative to the workspace; some may be gone, some unchanged.
    Files {
        /// The workspace, as its root was named.
        workspace: String,
        /// Never empty.
        files: BTreeSet<String>,
    },
    /// Look at the flush markers.
    Markers {
        /// The workspace, as its root was named.
        workspace: String,
    },
    /// Look at the whole workspace, flush markers included.
    Rescan {
        /// The workspace, as its root was named.
        workspace: String,
        /// Why the files could not be told.
        reason: Reason,
    },
}

/// Why a whole workspace has to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A folder came, went or was renamed; files put into it at once raise no events.
    Folder,
    /// The root or its `memory` folder came, went or was replaced, and is watched anew.
    Rearmed,
    /// The system lost events, or could not read them.
    Lost,
    /// More than [`MAX_WAITING_FILES`] notes changed before they were looked at.
    Many,
}

/// The receiving end: one for each watcher.
#[derive(Debug)]
pub struct Hints(Arc<Waiting>);

impl Hints {
    /// The next hint, flush markers first, workspaces in turn by name; `None` when the watcher has stopped. Nothing is lost when the
    /// future is dropped before it is ready.
    pub async fn recv(&mut self) -> Option<Hint> {
        loop {
            if let Some(hint) = self.0.take() {
                return Some(hint);
            }
            if self.0.lock().closed {
                return None;
            }
            self.0.changed.notified().await;
        }
    }
}

/// What waits to be looked at, shared by both ends.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    work: BTreeMap<String, Work>,
    markers: BTreeSet<String>,
    closed: bool,
}

#[derive(Debug)]
enum Work {
    Files(BTreeSet<String>),
    Rescan(Reason),
}

impl Waiting {
    /// The receiving end.
    pub fn hints(self: &Arc<Self>) -> Hints {
        Hints(Arc::clone(self))
    }

    /// Adds one note to look at.
    pub fn look(&self, workspace: &str, file: String) {
        let mut state = self.lock();
        let work = state.work.entry(workspace.to_owned()).or_insert_with(|| Work::Files(BTreeSet::new()));
        if let Work::Files(files) = work {
            files.insert(file);
            if files.len() > MAX_WAITING_FILES {
                *work = Work::Rescan(Reason::Many);
            }
        }
        drop(state);
        self.changed.notify_one();
    }

    /// Asks for a look at the flush markers.
    pub fn look_at_markers(&self, workspace: &str) {
        self.lock().markers.insert(workspace.to_owned());
        self.changed.notify_one();
    }

    /// Asks for a look at the whole workspace.
    pub fn rescan(&self, workspace: &str, reason: Reason) {
        self.lock().work.insert(workspace.to_owned(), Work::Rescan(reason));
        self.changed.notify_one();
    }

    /// Lets the receiver end once it has taken what waits.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    fn take(&self) -> Option<Hint> {
        let mut state = self.lock();
        if let Some(workspace) = state.markers.pop_first() {
            return Some(Hint::Markers { workspace });
        }
        let (workspace, work) = state.work.pop_first()?;
        Some(match work {
            Work::Files(files) => Hint::Files { workspace, files },
            Work::Rescan(reason) => Hint::Rescan { workspace, reason },
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_reader_loses_nothing() {
        let waiting = Arc::new(Waiting::default());
        let mut hints = waiting.hints();
        for file in ["memory/乙.md", "memory/甲.md", "memory/乙.md"] {
            waiting.look("工作区", file.to_owned());
        }
        waiting.rescan("别处", Reason::Lost);
        waiting.look("别处", "MEMORY.md".to_owned());
        waiting.look_at_markers("工作区");
        waiting.look_at_markers("工作区");
        waiting.close();

        assert_eq!(hints.recv().await, Some(Hint::Markers { workspace: "工作区".into() }));
        assert_eq!(hints.recv().await, Some(Hint::Rescan { workspace: "别处".into(), reason: Reason::Lost }));
        let files = ["memory/甲.md".to_owned(), "memory/乙.md".to_owned()].into();
        assert_eq!(hints.recv().await, Some(Hint::Files { workspace: "工作区".into(), files }));
        assert_eq!(hints.recv().await, None);
    }

    #[tokio::test]
    async fn too_many_files_become_one_rescan() {
        let waiting = Arc::new(Waiting::default());
        let mut hints = waiting.hints();
        for number in 0..=MAX_WAITING_FILES {
            waiting.look("甲", format!("memory/{number}.md"));
        }
        assert_eq!(hints.recv().await, Some(Hint::Rescan { workspace: "甲".into(), reason: Reason::Many }));
    }
}
