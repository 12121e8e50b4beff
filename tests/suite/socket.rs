//! The socket as its users meet it: a real one, in a folder of its own, with a handler that does as it is told.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ocmemd::client::{Client, ClientError};
use ocmemd::socket::listener::bind;
use ocmemd::socket::{BindError, Handler, Limits, Lock, LockError, serve};
use ocmemd::wire::{Error, Event, MAX_MESSAGE_BYTES, Method};
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::sync::{Semaphore, broadcast, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

const PATIENCE: Duration = Duration::from_secs(20);

/// `search` echoes, `get` panics, `list` waits for `gate`, `reindex` answers with a megabyte.
struct Obedient {
    gate: Semaphore,
    began: mpsc::UnboundedSender<()>,
    dropped: mpsc::UnboundedSender<()>,
    events: broadcast::Sender<Event>,
}

struct TellWhenDropped(mpsc::UnboundedSender<()>);

impl Drop for TellWhenDropped {
    fn drop(&mut self) {
        let _ = self.0.send(());
    }
}

impl Handler for Obedient {
    async fn call(&self, method: Method, params: Value) -> Result<Value, Error> {
        match method {
            Method::Get => panic!("asked to"),
            Method::List => {
                let _guard = TellWhenDropped(self.dropped.clone());
                let _ = self.began.send(());
                let _permit = self.gate.acquire().await;
                Ok(params)
            }
            Method::Reindex => Ok("大".repeat(MAX_MESSAGE_BYTES / 3).into()),
            _ => Ok(params),
        }
    }

    fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }
}

struct Daemon {
    folder: tempfile::TempDir,
    handler: Arc<Obedient>,
    began: mpsc::UnboundedReceiver<()>,
    dropped: mpsc::UnboundedReceiver<()>,
    shutdown: CancellationToken,
    served: JoinHandle<Lock>,
}

impl Daemon {
    fn start(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bound = bind(&socket_in(&folder)).unwrap();
        let (began_tx, began) = mpsc::unbounded_channel();
        let (dropped_tx, dropped) = mpsc::unbounded_channel();
        let handler = Arc::new(Obedient {
            gate: Semaphore::new(0),
            began: began_tx,
            dropped: dropped_tx,
            events: broadcast::channel(4).0,
        });
        let shutdown = CancellationToken::new();
        let served = tokio::spawn(serve(bound, handler.clone(), limits, shutdown.clone()));
        Self { folder, handler, began, dropped, shutdown, served }
    }

    fn socket(&self) -> PathBuf {
        socket_in(&self.folder)
    }

    async fn raw(&self) -> Raw {
        Raw(BufReader::new(UnixStream::connect(self.socket()).await.unwrap()))
    }

    async fn client(&self) -> Client {
        Client::connect(&self.socket()).await.unwrap().with_deadline(PATIENCE)
    }
}

fn socket_in(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("run/ocmemd.sock")
}

/// A client that says whatever bytes it likes.
struct Raw(BufReader<UnixStream>);

impl Raw {
    async fn say(&mut self, bytes: &[u8]) {
        in_time(self.0.write_all(bytes)).await.unwrap();
    }

    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        in_time(self.0.read_line(&mut line)).await.unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    async fn ask(&mut self, line: &str) -> Value {
        self.say(format!("{line}\n").as_bytes()).await;
        self.hear().await
    }

    async fn still_answers(&mut self) {
        let answer = self.ask(r#"{"jsonrpc":"2.0","id":"还在","method":"search","params":{"a":1}}"#).await;
        assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": "还在", "result": { "a": 1 } }));
    }
}

async fn in_time<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(PATIENCE, future).await.expect("it takes too long")
}

fn request(id: usize, method: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{{\"n\":{id}}}}}\n")
}

fn kind(answer: &Value) -> &str {
    answer["error"]["data"]["kind"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_message_up_to_the_limit_is_taken_and_a_longer_one_is_refused_and_skipped() {
    let daemon = Daemon::start(Limits::default());
    let mut raw = daemon.raw().await;
    let of_length = |bytes: usize| {
        let frame = r#"{"jsonrpc":"2.0","id":1,"method":"status","params":""}"#;
        let text = "x".repeat(bytes - frame.len());
        frame.replace(r#""params":"""#, &format!(r#""params":"{text}""#))
    };
    for (bytes, taken) in
        [(MAX_MESSAGE_BYTES - 1, true), (MAX_MESSAGE_BYTES, true), (MAX_MESSAGE_BYTES + 1, false)]
    {
        let line = of_length(bytes);
        assert_eq!(line.len(), bytes);
        // The echo is a little shorter than the question, so the limit of answers lets it pass.
        let answer = raw.ask(&line).await;
        assert_eq!(answer["id"] == json!(1), taken, "{bytes}");
        if !taken {
            assert_eq!(kind(&answer), "too_large");
            assert!(answer["error"]["message"].as_str().unwrap().contains("1048576"));
        }
    }
    for _ in 0..10 {
        raw.say(&vec![b'x'; MAX_MESSAGE_BYTES]).await;
    }
    assert_eq!(kind(&raw.hear().await), "too_large", "before the line has an end");
    raw.say(b"x\n").await;
    raw.still_answers().await;
}

#[tokio::test]
async fn an_answer_over_the_limit_is_an_error_of_its_request() {
    let daemon = Daemon::start(Limits::default());
    let answer = daemon.raw().await.ask(request(3, "reindex").trim_end()).await;
    assert_eq!((&answer["id"], kind(&answer)), (&json!(3), "too_large"));
}

#[tokio::test]
async fn every_bad_request_is_answered_under_its_id_and_the_connection_lives() {
    let daemon = Daemon::start(Limits::default());
    let mut raw = daemon.raw().await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":9,"method":"list","params":{}{}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let table = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"记住"}"#, json!(1), "unknown_method"),
        (r#"{"jsonrpc":"2.0","id":"二"}"#, json!("二"), "invalid_request"),
        (r#"{"jsonrpc":"2.0","id":3,"method":4}"#, json!(3), "invalid_request"),
        (r#"{"id":4,"method":"status"}"#, json!(4), "invalid_request"),
        (r#"{"jsonrpc":"1.0","id":5,"method":"status"}"#, json!(5), "invalid_request"),
        (r#"{"jsonrpc":"2.0","method":"status"}"#, Value::Null, "invalid_request"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"status"}"#, Value::Null, "invalid_request"),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"status"}"#, Value::Null, "invalid_request"),
        (r#"{"jsonrpc":"2.0","id":6,"method":"subscribe","params":["x"]}"#, json!(6), "invalid_params"),
        (r#"{"jsonrpc":"2.0","id":7,"method":"subscribe","params":{"x":1}}"#, json!(7), "invalid_params"),
        (
            r#"{"jsonrpc":"2.0","id":8,"method":"search","params":{"user":"a","user":"b"}}"#,
            json!(8),
            "invalid_request",
        ),
        (deep.as_str(), json!(9), "invalid_request"),
        (r#"[]"#, Value::Null, "invalid_request"),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"status"}]"#, Value::Null, "invalid_request"),
        (r#"{}"#, Value::Null, "invalid_request"),
        (r#"null"#, Value::Null, "invalid_request"),
        (r#""x""#, Value::Null, "invalid_request"),
        (r#"{"jsonrpc":"2.0","id":10,"method":"search","params":{"#, Value::Null, "parse"),
        (r#"{"jsonrpc":"2.0","id":11,"method":"search","params":{"a":"\ud83d"}}"#, json!(11), "parse"),
        (r#"{"jsonrpc":"2.0","id":12,"method":"search","params":{"a":1e999}}"#, json!(12), "parse"),
        (r#"{"jsonrpc":"2.0","id":13,"method":"get"}"#, json!(13), "internal"),
    ];
    for (line, id, expected) in table {
        let answer = raw.ask(line).await;
        assert_eq!((&answer["id"], kind(&answer)), (&id, expected), "{line}\n{answer}");
        raw.still_answers().await;
    }
    raw.say(b"\xff\xfe\n").await;
    assert_eq!(kind(&raw.hear().await), "parse");
    raw.still_answers().await;
}

#[tokio::test]
async fn a_thousand_pipelined_requests_are_each_answered_once() {
    let daemon = Daemon::start(Limits::default());
    let stream = UnixStream::connect(daemon.socket()).await.unwrap();
    let (read, mut write) = stream.into_split();
    let all: String = (0..1_000).map(|id| request(id, "search")).collect();
    // Says all and has no more to say, as a pipe into `nc` does; the answers still come.
    tokio::spawn(async move { write.write_all(all.as_bytes()).await.unwrap() });
    let mut lines = BufReader::new(read).lines();
    let mut answered = HashSet::new();
    while let Some(line) = in_time(lines.next_line()).await.unwrap() {
        let answer: Value = serde_json::from_str(&line).unwrap();
        let id = answer["id"].as_u64().unwrap();
        assert_eq!(answer["result"]["n"], id);
        assert!(answered.insert(id), "{id} twice");
    }
    assert_eq!(answered.len(), 1_000);
}

#[tokio::test]
async fn a_client_that_goes_away_takes_its_work_along() {
    let mut daemon = Daemon::start(Limits::default());
    let mut raw = daemon.raw().await;
    raw.say(request(1, "list").as_bytes()).await;
    in_time(daemon.began.recv()).await.unwrap();
    drop(raw);
    in_time(daemon.dropped.recv()).await.unwrap();
    assert_eq!(daemon.handler.gate.available_permits(), 0);
}

#[tokio::test]
async fn a_slow_request_holds_up_no_other_and_the_limits_are_named() {
    let limits = Limits { connections: 1, burst: 3, per_second: 1, ..Limits::default() };
    let mut daemon = Daemon::start(limits);
    let mut raw = daemon.raw().await;
    raw.say(request(1, "list").as_bytes()).await;
    in_time(daemon.began.recv()).await.unwrap();
    raw.still_answers().await;

    let refused = daemon.raw().await.hear().await;
    assert_eq!(kind(&refused), "busy");
    assert!(refused["error"]["message"].as_str().unwrap().starts_with("1 connections"));

    let many: String = (2..20).map(|id| request(id, "search")).collect();
    raw.say(many.as_bytes()).await;
    let mut busy = 0;
    for _ in 2..20 {
        let answer = raw.hear().await;
        busy += usize::from(kind(&answer) == "busy");
    }
    assert!(busy > 0, "no limit was felt");
}

#[tokio::test]
async fn shutdown_lets_a_request_in_flight_end_and_tells_subscribers() {
    let mut daemon = Daemon::start(Limits::default());
    let mut events = daemon.client().await.subscribe().await.unwrap();
    let mut raw = daemon.raw().await;
    raw.say(request(1, "list").as_bytes()).await;
    in_time(daemon.began.recv()).await.unwrap();
    daemon.shutdown.cancel();
    assert_eq!(in_time(events.next()).await.unwrap(), Some(Event::Stopping));
    assert_eq!(in_time(events.next()).await.unwrap(), None);
    daemon.handler.gate.add_permits(1);
    assert_eq!(raw.hear().await["result"]["n"], 1);
    in_time(daemon.served).await.unwrap();
    assert!(!daemon.folder.path().join("run/ocmemd.sock").exists());
}

#[tokio::test]
async fn shutdown_does_not_wait_longer_than_the_limit() {
    let mut daemon = Daemon::start(Limits { drain: Duration::ZERO, ..Limits::default() });
    let mut raw = daemon.raw().await;
    raw.say(request(1, "list").as_bytes()).await;
    in_time(daemon.began.recv()).await.unwrap();
    daemon.shutdown.cancel();
    in_time(daemon.served).await.unwrap();
    in_time(daemon.dropped.recv()).await.unwrap();
}

#[tokio::test]
async fn a_subscriber_hears_what_happens_and_how_much_it_missed() {
    let daemon = Daemon::start(Limits { queue: 1, ..Limits::default() });
    let mut events = daemon.client().await.subscribe().await.unwrap();
    let happened = Event::Reconciled { files: 3 };
    daemon.handler.events.send(happened.clone()).unwrap();
    assert_eq!(in_time(events.next()).await.unwrap(), Some(happened.clone()));
    // The channel holds four; on this one thread the daemon cannot hear any before all are sent.
    for _ in 0..10 {
        daemon.handler.events.send(happened.clone()).unwrap();
    }
    assert_eq!(in_time(events.next()).await.unwrap(), Some(Event::Missed { events: 6 }));
    assert_eq!(in_time(events.next()).await.unwrap(), Some(happened));
}

#[tokio::test]
async fn the_client_tells_its_troubles_apart() {
    let daemon = Daemon::start(Limits::default());
    let missing = Client::connect(&daemon.folder.path().join("没有.sock")).await.unwrap_err();
    assert!(matches!(missing, ClientError::NotRunning { .. }));

    let mut client = daemon.client().await;
    let failed = client.call::<_, Value>(Method::Get, &json!({})).await.unwrap_err();
    assert!(matches!(failed, ClientError::Rpc(error) if error.code == -32603));

    let mut client = client.with_deadline(Duration::from_millis(1));
    let late = client.call::<_, Value>(Method::List, &json!({})).await.unwrap_err();
    assert!(matches!(late, ClientError::Timeout { method: Method::List, .. }));
    daemon.handler.gate.add_permits(1);
    let mut client = client.with_deadline(PATIENCE);
    let echo: Value = client.call(Method::Search, &json!({ "query": "端口" })).await.unwrap();
    assert_eq!(echo, json!({ "query": "端口" }), "not the late answer");
}

#[tokio::test]
async fn the_socket_and_its_folder_are_closed_to_others() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    fs::create_dir(&run).unwrap();
    fs::set_permissions(&run, fs::Permissions::from_mode(0o777)).unwrap();
    let _bound = bind(&socket_in(&folder)).unwrap();
    let mode = |path: &Path| path.symlink_metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&run), 0o700);
    for name in ["ocmemd.sock", "ocmemd.sock.lock"] {
        assert_eq!(mode(&run.join(name)), 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_second_daemon_is_refused_with_the_pid_of_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let first = bind(&socket_in(&folder)).unwrap();
    let second = bind(&socket_in(&folder)).unwrap_err();
    let BindError::Lock(LockError::AlreadyRunning { pid }) = second else { panic!("{second}") };
    assert_eq!(pid, Some(std::process::id()));
    UnixStream::connect(socket_in(&folder)).await.expect("the first still listens");
    drop(first);
    bind(&socket_in(&folder)).unwrap();
}

#[tokio::test]
async fn a_stale_socket_is_replaced_and_a_live_one_never_even_without_its_lock() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("run")).unwrap();
    let left = std::os::unix::net::UnixListener::bind(socket_in(&folder)).unwrap();
    assert!(matches!(
        bind(&socket_in(&folder)),
        Err(BindError::Lock(LockError::AlreadyRunning { pid: None }))
    ));
    drop(left);
    assert!(matches!(Client::connect(&socket_in(&folder)).await, Err(ClientError::NotRunning { .. })));
    let _bound = bind(&socket_in(&folder)).unwrap();
    Client::connect(&socket_in(&folder)).await.unwrap();
}

#[tokio::test]
async fn what_is_not_a_socket_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (socket, file) = (socket_in(&folder), folder.path().join("笔记.md"));
    fs::create_dir(folder.path().join("run")).unwrap();
    fs::write(&file, "用户的").unwrap();

    fs::write(&socket, "也是用户的").unwrap();
    assert!(matches!(bind(&socket), Err(BindError::Occupied(_))));
    assert_eq!(fs::read_to_string(&socket).unwrap(), "也是用户的");

    fs::remove_file(&socket).unwrap();
    symlink(&file, &socket).unwrap();
    assert!(matches!(bind(&socket), Err(BindError::Occupied(_))));
    assert_eq!(fs::read_to_string(&file).unwrap(), "用户的");

    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), folder.path().join("link")).unwrap();
    assert!(matches!(bind(&folder.path().join("link/ocmemd.sock")), Err(BindError::Folder(_))));
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_end_the_connection(lines in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let daemon = Daemon::start(Limits::default());
            let mut raw = daemon.raw().await;
            for line in lines {
                raw.say(&line).await;
                raw.say(b"\n").await;
            }
            raw.say(request(77, "search").as_bytes()).await;
            // Faults are answered as well, in whatever order.
            while raw.hear().await["id"] != 77 {}
        });
    }
}
