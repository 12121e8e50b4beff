//! A sealed place for a real daemon: its own home and workspace, no inherited environment, and named events to wait for.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::Duration;

use ocmemd::client::{Client, Events};
use ocmemd::wire::Event;
use ocmemd::wire::methods::{Method, ReindexParams, ReindexResult, SearchParams, SearchResult, StatusParams};
use ocmemd::wire::status::Status;
use rustix::process::{Pid, Signal, kill_process};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tempfile::TempDir;

#[allow(dead_code)] // benches use more of it
#[path = "../support/made_up_model.rs"]
mod made_up_model;

/// Far more than anything takes; only a broken test waits that long.
pub const LONG: Duration = Duration::from_secs(180);

/// A home for one daemon.
pub struct Home {
    folder: TempDir,
}

impl Home {
    /// An empty home with an empty workspace, and no model.
    pub fn new() -> Self {
        let home = Self { folder: TempDir::new().unwrap() };
        fs::create_dir_all(home.workspace().join("memory")).unwrap();
        home.configure("");
        home
    }

    /// The same with the model that the test script provides; `None`, said aloud, where there is none.
    pub fn with_model() -> Option<Self> {
        let Some(model) = std::env::var_os("OCMEMD_TEST_MODEL") else {
            eprintln!("not run: OCMEMD_TEST_MODEL names no model folder; scripts/test provides one");
            return None;
        };
        let home = Self::new();
        home.configure(&format!(
            "[storage]\nembedding_model = {:?}\n",
            Path::new(&model).display().to_string()
        ));
        Some(home)
    }

    /// The same with a tiny model of made-up weights: its vectors mean nothing, but all the machinery runs.
    pub fn with_made_up_model() -> Self {
        let home = Self::new();
        let model = home.path().join("made-up");
        fs::create_dir_all(&model).unwrap();
        made_up_model::write(&model, made_up_model::TINY, "pooling_mode_cls_token");
        home.configure(&format!("[storage]\nembedding_model = {:?}\n", model.display().to_string()));
        home
    }

    /// Another model of the same shape: one number of its configuration differs, so its vectors are others.
    pub fn use_another_made_up_model(&self) {
        let (old, new) = (self.path().join("made-up"), self.path().join("another"));
        fs::create_dir_all(&new).unwrap();
        made_up_model::write(&new, made_up_model::TINY, "pooling_mode_mean_tokens");
        assert!(old.exists(), "the old one answers meanwhile");
        self.configure(&format!("[storage]\nembedding_model = {:?}\n", new.display().to_string()));
    }

    /// Writes the configuration: the workspace, and `more`.
    pub fn configure(&self, more: &str) {
        self.configure_for("owner", more);
    }

    /// The same, with another owner of the workspace.
    pub fn configure_for(&self, owner: &str, more: &str) {
        let workspace = self.workspace().display().to_string();
        let text = format!("{more}\n[[workspace]]\npath = {workspace:?}\nowner = {owner:?}\n");
        fs::write(self.path().join("config.toml"), text).unwrap();
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn workspace(&self) -> PathBuf {
        self.path().join("workspace")
    }

    /// Writes a note, as an editor does that writes in place.
    pub fn note(&self, file: &str, text: &str) {
        let path = self.workspace().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The real binary in this home, with nothing of the tester's environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ocmemd"));
        command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", self.path()).env("LANG", "en_US.UTF-8");
        command.env("TZ", "Asia/Shanghai").env("HF_HUB_OFFLINE", "1");
        command.arg("--home").arg(self.path()).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs a command to its end.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a daemon until it ends by itself, as at a fault that it was told to meet.
    pub fn run_to_its_end(&self, env: &[(&str, &str)]) -> ExitStatus {
        let mut command = self.command(&["daemon"]);
        let mut child = command.envs(env.iter().copied()).stderr(Stdio::null()).spawn().unwrap();
        let (ended, waiting) = mpsc::channel();
        let pid = Pid::from_child(&child);
        std::thread::spawn(move || ended.send(child.wait()));
        waiting
            .recv_timeout(LONG)
            .unwrap_or_else(|_| {
                let _ = kill_process(pid, Signal::KILL);
                panic!("the daemon went on past its fault: {env:?}")
            })
            .unwrap()
    }

    /// Starts a daemon and waits until clients can connect.
    pub fn start(&self) -> Running {
        self.start_with(&[])
    }

    /// The same, with more environment.
    pub fn start_with(&self, env: &[(&str, &str)]) -> Running {
        let mut command = self.command(&["daemon", "--verbose"]);
        let mut child = command.envs(env.iter().copied()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (ready, waiting) = mpsc::channel();
        std::thread::spawn(move || {
            let mut seen = Vec::new();
            for line in lines.map_while(Result::ok) {
                if line.contains("ready") {
                    let _ = ready.send(Ok(()));
                }
                seen.push(line);
            }
            let _ = ready.send(Err(seen.join("\n")));
        });
        waiting.recv_timeout(LONG).unwrap().unwrap_or_else(|log| panic!("the daemon did not start:\n{log}"));
        Running { child: Mutex::new(child), socket: self.path().join("run/ocmemd.sock") }
    }
}

/// A running daemon; it is killed when the test ends.
pub struct Running {
    child: Mutex<Child>,
    socket: PathBuf,
}

impl Running {
    pub fn pid(&self) -> u32 {
        self.child.lock().unwrap().id()
    }

    pub async fn client(&self) -> Client {
        Client::connect(&self.socket).await.unwrap().with_deadline(LONG)
    }

    /// Live events, from now on.
    pub async fn events(&self) -> Events {
        self.client().await.subscribe().await.unwrap()
    }

    pub async fn call<R: DeserializeOwned>(&self, method: Method, params: impl Serialize) -> R {
        self.client().await.call(method, &params).await.unwrap()
    }

    pub async fn search(&self, query: &str) -> SearchResult {
        let params = SearchParams { user: "owner".into(), query: query.into(), ..SearchParams::default() };
        self.call(Method::Search, params).await
    }

    /// Compares the files, and waits until the model answers and every memory has its vector.
    pub async fn settled(&self) -> Status {
        let mut events = self.events().await;
        let _: ReindexResult = self.call(Method::Reindex, ReindexParams::default()).await;
        loop {
            let status: Status = self.call(Method::Status, StatusParams {}).await;
            let memories = status.daemon.as_ref().unwrap().memories;
            if memories.indexed > 0 && memories.waiting == 0 && status.advice.is_empty() {
                return status;
            }
            wait_for(&mut events, |event| matches!(event, Event::Embedded { .. } | Event::Reconciled { .. }))
                .await;
        }
    }

    /// Waits until the calendar was looked at, and nothing is due any more.
    pub async fn looked(&self) -> Status {
        let mut events = self.events().await;
        loop {
            let status: Status = self.call(Method::Status, StatusParams {}).await;
            if status.daemon.as_ref().is_some_and(|daemon| daemon.calendar.is_some()) {
                return status;
            }
            wait_for(&mut events, |event| matches!(event, Event::CalendarLooked)).await;
        }
    }

    /// Ends it at once, as a crash does.
    pub fn kill(&self) {
        let mut child = self.child.lock().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Waits until it has ended by itself, as at a fault that it was told to meet.
    pub fn dead(&self) {
        let _ = self.child.lock().unwrap().wait().unwrap();
    }

    /// Asks it to go, and waits.
    pub fn stop(&self) -> ExitStatus {
        let mut child = self.child.lock().unwrap();
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        child.wait().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Ok(child) = self.child.get_mut() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits for an event that `wanted` accepts.
pub async fn wait_for(events: &mut Events, wanted: impl Fn(&Event) -> bool) -> Event {
    let found = async {
        loop {
            let event = events.next().await.expect("the daemon went away").unwrap();
            if wanted(&event) {
                return event;
            }
        }
    };
    tokio::time::timeout(LONG, found).await.expect("the event did not come")
}
