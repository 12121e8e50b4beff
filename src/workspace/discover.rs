//! Finding the agent's folder, and what the agent would miss in it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Workspace;

/// The files that the agent's host expects in a workspace.
pub const EXPECTED: [&str; 6] = ["AGENTS.md", "IDENTITY.md", "MEMORY.md", "SOUL.md", "TOOLS.md", "USER.md"];

/// Who named a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// `OPENCLAW_WORKSPACE_DIR`.
    Variable,
    /// `agents.defaults.workspace` in the host's `openclaw.json`.
    HostConfiguration,
    /// The folder `workspace` in the host's state folder: `OPENCLAW_STATE_DIR`, else `~/.openclaw`.
    StateFolder,
}

/// A folder that may be the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The folder.
    pub path: PathBuf,
    /// Who named it.
    pub origin: Origin,
    /// Whether it is there.
    pub exists: bool,
}

/// The folders that may be the workspace, likeliest first: what somebody named goes before what is usual. `variable`
/// looks up the environment. The host's configuration is read only where it is plain JSON.
pub fn discover(variable: impl Fn(&str) -> Option<OsString>) -> Vec<Candidate> {
    let folder = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = folder("HOME");
    let state = folder("OPENCLAW_STATE_DIR").or_else(|| Some(home.as_ref()?.join(".openclaw")));
    let named = [
        (folder("OPENCLAW_WORKSPACE_DIR"), Origin::Variable),
        (state.as_ref().and_then(|state| configured(state, home.as_deref())), Origin::HostConfiguration),
        (state.map(|state| state.join("workspace")), Origin::StateFolder),
    ];
    let mut candidates: Vec<Candidate> = Vec::new();
    for (path, origin) in named {
        let Some(path) = path else { continue };
        if candidates.iter().all(|candidate| candidate.path != path) {
            candidates.push(Candidate { exists: path.is_dir(), path, origin });
        }
    }
    candidates
}

/// What the host's configuration names as its agents' workspace.
fn configured(state: &Path, home: Option<&Path>) -> Option<PathBuf> {
    let text = std::fs::read_to_string(state.join("openclaw.json")).ok()?;
    let value: Value = serde_json::from_str(&text).ok()?;
    let path = value.pointer("/agents/defaults/workspace")?.as_str().filter(|path| !path.is_empty())?;
    match path.strip_prefix("~/") {
        Some(below) => Some(home?.join(below)),
        None => Some(PathBuf::from(path)),
    }
}

impl Workspace {
    /// The files of [`EXPECTED`] that are not there.
    pub fn missing_files(&self) -> Vec<&'static str> {
        EXPECTED.into_iter().filter(|file| !self.root().join(file).is_file()).collect()
    }
}
