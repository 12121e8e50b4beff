//! What an event of the file system is worth: pure, and told by kind and names alone.

use std::path::{Path, PathBuf};

use notify::EventKind;
use notify::event::{CreateKind, ModifyKind, RemoveKind, RenameMode};

use super::Reason;
use crate::memory::layout::{self, FOLDER, MARKER_FOLDER, OWN_FOLDER};

/// A workspace's folder under the names by which events may call it.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub workspace: String,
    /// As configured, and as resolved: some systems report the resolved name.
    pub names: Vec<PathBuf>,
}

/// What to do about one path of one event, for one workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Ignore,
    /// A note may have changed: its name relative to the workspace.
    Look(String),
    /// A flush marker may have been dropped.
    Marker,
    /// Many notes may have changed.
    Rescan(Reason),
    /// A watched folder came, went or was replaced: what watched it may be blind now.
    Rearm,
}

/// Judges `path`, as named by an event of `kind`.
pub(super) fn decide(place: &Place, kind: EventKind, path: &Path) -> Verdict {
    // Reading is an event too: heeding it, the indexer would wake itself.
    if matches!(kind, EventKind::Access(_) | EventKind::Other) {
        return Verdict::Ignore;
    }
    if place.names.iter().any(|name| name.starts_with(path)) {
        return Verdict::Rearm;
    }
    let Some(below) = place.names.iter().find_map(|name| path.strip_prefix(name).ok()) else {
        return Verdict::Ignore;
    };
    let Some(file) = below.to_str() else {
        return Verdict::Ignore;
    };
    let is_folder = is_folder(kind);
    match file.split_once('/') {
        _ if [FOLDER, OWN_FOLDER, MARKER_FOLDER].contains(&file) => Verdict::Rearm,
        _ if is_marker(file) => {
            if comes(kind) {
                Verdict::Marker
            } else {
                Verdict::Ignore
            }
        }
        _ if layout::is_note(file) && is_folder != Some(true) => Verdict::Look(file.to_owned()),
        Some((FOLDER, below)) if is_folder != Some(false) && below.split('/').all(may_be_folder) => {
            Verdict::Rescan(Reason::Folder)
        }
        _ => Verdict::Ignore,
    }
}

fn is_marker(file: &str) -> bool {
    let name = file.strip_prefix(MARKER_FOLDER).and_then(|below| below.strip_prefix('/'));
    name.is_some_and(layout::is_marker)
}

/// Whether the event may have brought a file. The daemon itself takes markers away.
fn comes(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(RenameMode::From)))
}

/// Whether the event is about a folder, where its kind tells; a rename does not. A folder whose rights change is left
/// to the next reconcile, for many tools touch the rights of files that are no notes.
fn is_folder(kind: EventKind) -> Option<bool> {
    match kind {
        EventKind::Create(CreateKind::Folder) | EventKind::Remove(RemoveKind::Folder) => Some(true),
        EventKind::Create(CreateKind::File) | EventKind::Remove(RemoveKind::File) => Some(false),
        EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Metadata(_)) => Some(false),
        _ => None,
    }
}

/// Whether a name could be that of a folder with notes, rather than what an editor leaves behind.
fn may_be_folder(name: &str) -> bool {
    layout::is_visible(name) && !["~", "#", ".tmp", ".swp", ".swx"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, AccessMode, DataChange, MetadataKind, RenameMode};

    use super::*;

    const NEW: EventKind = EventKind::Create(CreateKind::File);
    const GONE: EventKind = EventKind::Remove(RemoveKind::File);
    const NEW_FOLDER: EventKind = EventKind::Create(CreateKind::Folder);
    const GONE_FOLDER: EventKind = EventKind::Remove(RemoveKind::Folder);
    const WRITTEN: EventKind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
    const RIGHTS: EventKind = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
    const FROM: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::From));
    const TO: EventKind = EventKind::Modify(ModifyKind::Name(RenameMode::To));
    const OPENED: EventKind = EventKind::Access(AccessKind::Open(AccessMode::Any));
    const CLOSED: EventKind = EventKind::Access(AccessKind::Close(AccessMode::Write));
    /// What a rename over an existing file leaves of the old one.
    const REPLACED: EventKind = EventKind::Remove(RemoveKind::Any);

    #[test]
    fn every_event_has_one_verdict() {
        let place = Place { workspace: "甲".into(), names: vec!["/h/工作区".into(), "/real/ws".into()] };
        let look = |file: &str| Verdict::Look(file.to_owned());
        let rescan = || Verdict::Rescan(Reason::Folder);
        let table = [
            // Notes, under either name of the workspace.
            (NEW, "/h/工作区/memory/2026-03-13.md", look("memory/2026-03-13.md")),
            (WRITTEN, "/real/ws/memory/2026-03-13.md", look("memory/2026-03-13.md")),
            (TO, "/h/工作区/MEMORY.md", look("MEMORY.md")),
            (FROM, "/h/工作区/USER.md", look("USER.md")),
            (REPLACED, "/h/工作区/MEMORY.md", look("MEMORY.md")),
            (GONE, "/h/工作区/memory/项目/网关.md", look("memory/项目/网关.md")),
            (RIGHTS, "/h/工作区/memory/x.md", look("memory/x.md")),
            // Reading.
            (OPENED, "/h/工作区/memory/x.md", Verdict::Ignore),
            (CLOSED, "/h/工作区/memory/x.md", Verdict::Ignore),
            (OPENED, "/h/工作区/memory", Verdict::Ignore),
            // What editors, databases and others leave.
            (NEW, "/h/工作区/memory/.x.tmp", Verdict::Ignore),
            (TO, "/h/工作区/memory/.x.md", Verdict::Ignore),
            (NEW, "/h/工作区/memory/4913", Verdict::Ignore),
            (TO, "/h/工作区/memory/x.md~", Verdict::Ignore),
            (NEW, "/h/工作区/memory/.#x.md", Verdict::Ignore),
            (FROM, "/h/工作区/memory/#x.md#", Verdict::Ignore),
            (FROM, "/h/工作区/memory/x.tmp", Verdict::Ignore),
            (WRITTEN, "/h/工作区/memory/x.md.swp", Verdict::Ignore),
            (WRITTEN, "/h/工作区/memory/index.sqlite-wal", Verdict::Ignore),
            (RIGHTS, "/h/工作区/memory/index.sqlite", Verdict::Ignore),
            (WRITTEN, "/h/工作区/ocmemd.log", Verdict::Ignore),
            (WRITTEN, "/h/工作区/.ocmemd/archive/MEMORY.md", Verdict::Ignore),
            (NEW_FOLDER, "/h/工作区/.ocmemd/archive", Verdict::Ignore),
            // Flush markers.
            (NEW, "/h/工作区/.ocmemd/flush/1.json", Verdict::Marker),
            (TO, "/real/ws/.ocmemd/flush/1.flush", Verdict::Marker),
            (FROM, "/h/工作区/.ocmemd/flush/1.json", Verdict::Ignore),
            (GONE, "/h/工作区/.ocmemd/flush/1.json", Verdict::Ignore),
            (NEW, "/h/工作区/.ocmemd/flush/.1.json", Verdict::Ignore),
            (NEW, "/h/工作区/.ocmemd/flush/1.json.tmp", Verdict::Ignore),
            (TO, "/h/工作区/.ocmemd/flush/rejected/1.json", Verdict::Ignore),
            (NEW_FOLDER, "/h/工作区/.ocmemd", Verdict::Rearm),
            (NEW_FOLDER, "/h/工作区/.ocmemd/flush", Verdict::Rearm),
            (NEW_FOLDER, "/h/工作区/memory/.obsidian", Verdict::Ignore),
            (NEW, "/h/工作区/AGENTS.md", Verdict::Ignore),
            (NEW, "/h/工作区/notes/x.md", Verdict::Ignore),
            (NEW, "/h/别处/memory/x.md", Verdict::Ignore),
            // Folders.
            (NEW_FOLDER, "/h/工作区/memory/项目", rescan()),
            (NEW_FOLDER, "/h/工作区/memory/像文件.md", rescan()),
            (GONE_FOLDER, "/h/工作区/memory/a/b", rescan()),
            (TO, "/h/工作区/memory/v1.2", rescan()),
            (NEW_FOLDER, "/h/工作区/memory", Verdict::Rearm),
            (RIGHTS, "/h/工作区/memory", Verdict::Rearm),
            (FROM, "/h/工作区", Verdict::Rearm),
            (GONE_FOLDER, "/real/ws", Verdict::Rearm),
            (NEW_FOLDER, "/h", Verdict::Rearm),
        ];
        for (kind, path, verdict) in table {
            assert_eq!(decide(&place, kind, Path::new(path)), verdict, "{kind:?} {path}");
        }
    }
}
