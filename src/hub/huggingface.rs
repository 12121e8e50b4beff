//! Models from the hub, through its cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};

use hf_hub::api::sync::{Api, ApiBuilder, ApiError};
use hf_hub::{Cache, CacheRepo, Repo, RepoType};

use super::error::HubError;
use super::{DEFAULT_REPOSITORY, Progress, Settings, check_hash};

/// The hub's own address.
pub(super) const ENDPOINT: &str = "https://huggingface.co";

const WEIGHTS: &str = "model.safetensors";
/// A model's files, and whether it can do without.
const FILES: [(&str, bool); 7] = [
    ("config.json", true),
    ("tokenizer.json", true),
    ("1_Pooling/config.json", true),
    ("modules.json", false),
    ("sentence_bert_config.json", false),
    ("config_sentence_transformers.json", false),
    (WEIGHTS, true),
];

/// The revision of the default model that was measured, and the hash of its weights.
const DEFAULT_REVISION: &str = "7999e1d3359715c523056ef9478215996d62a620";
const DEFAULT_WEIGHTS: &str = "354763b9b1357bc9c44f62c6be2276321081ed2567773608c0d0785b61d5a026";

/// A broken download is taken up again as often as this, each time where it stopped.
const ATTEMPTS: usize = 3;

struct Hub<'a> {
    repository: &'a str,
    settings: &'a Settings,
    api: Api,
    repo: Repo,
    cache: CacheRepo,
}

/// Fills `folder` with the model's files; returns where they came from and their names.
pub(super) fn fill(
    folder: &Path,
    repository: &str,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<(String, Vec<String>), HubError> {
    let revision = if repository == DEFAULT_REPOSITORY { DEFAULT_REVISION } else { "main" };
    let hub = Hub::new(repository, revision, settings)?;
    if !settings.offline {
        hub.reach()?;
    }
    let mut files = Vec::new();
    for (file, needed) in FILES {
        let cached = match hub.checked(file, progress) {
            Err(HubError::NotFound { .. } | HubError::Offline { .. }) if !needed => continue,
            result => result?,
        };
        let target = folder.join(file);
        target.parent().map_or(Ok(()), fs::create_dir_all).map_err(|error| HubError::io(&target, error))?;
        // The cache may lie on another disk, where no second name can be given.
        fs::hard_link(&cached, &target)
            .or_else(|_| fs::copy(&cached, &target).map(drop))
            .map_err(|error| HubError::io(&target, error))?;
        files.push(file.to_owned());
    }
    Ok((format!("{repository}@{revision} from {}", settings.endpoint), files))
}

impl<'a> Hub<'a> {
    fn new(repository: &'a str, revision: &'a str, settings: &'a Settings) -> Result<Self, HubError> {
        let repo = Repo::with_revision(repository.to_owned(), RepoType::Model, revision.to_owned());
        let cache = Cache::new(settings.cache.clone());
        let api = ApiBuilder::from_cache(cache.clone())
            .with_endpoint(settings.endpoint.clone())
            .with_progress(false)
            .build()
            .map_err(|error| HubError::Broken { file: repository.to_owned(), reason: error.to_string() })?;
        Ok(Self { repository, settings, api, cache: cache.repo(repo.clone()), repo })
    }

    /// Asks for the configuration's head, to learn within `settings.reach` whether the hub answers at all.
    fn reach(&self) -> Result<(), HubError> {
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .timeout_global(Some(self.settings.reach))
            .http_status_as_error(false)
            .build()
            .into();
        match agent.head(self.api.repo(self.repo.clone()).url("config.json")).call() {
            Err(error) => Err(HubError::Unreachable {
                endpoint: self.settings.endpoint.clone(),
                reason: error.to_string(),
            }),
            Ok(answer) => match answer.status().as_u16() {
                // The hub answers 401 for a model that does not exist.
                status @ (401 | 403 | 404) => Err(self.not_found("config.json", status)),
                _ => Ok(()),
            },
        }
    }

    /// A file of the cache, fetched if need be, whose hash is the expected one where one is known.
    fn checked(&self, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, HubError> {
        if let Some(cached) = self.cache.get(file) {
            match self.check(file, &cached) {
                Err(HubError::WrongHash { .. }) if !self.settings.offline => {}
                result => return result,
            }
        }
        if self.settings.offline {
            return Err(HubError::Offline { repository: self.repository.to_owned(), file: file.to_owned() });
        }
        let fetched = self.download(file, progress)?;
        self.check(file, &fetched)
    }

    /// The real file behind a name in the cache. What has the wrong hash is deleted.
    fn check(&self, file: &str, cached: &Path) -> Result<PathBuf, HubError> {
        let blob = cached.canonicalize().map_err(|error| HubError::io(cached, error))?;
        let tag = blob.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let pinned = self.repository == DEFAULT_REPOSITORY && file == WEIGHTS;
        let expected = match pinned {
            true => DEFAULT_WEIGHTS.to_owned(),
            // The hub tags its large files with their SHA-256, and the cache names them by their tag.
            false if tag.len() == 64 => tag,
            false => return Ok(blob),
        };
        check_hash(&blob, file, &expected).map(|()| blob.clone()).inspect_err(|_| {
            let _ = fs::remove_file(cached);
            let _ = fs::remove_file(&blob);
        })
    }

    fn download(&self, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, HubError> {
        let mut result = self.attempt(file, progress);
        for _ in 1..ATTEMPTS {
            match result {
                Err(HubError::Broken { .. }) => result = self.attempt(file, progress),
                _ => break,
            }
        }
        result
    }

    /// One download on a thread of its own, so that one which stands still can be left behind.
    fn attempt(&self, file: &str, progress: &mut dyn FnMut(Progress)) -> Result<PathBuf, HubError> {
        let (sender, events) = channel();
        let (api, name) = (self.api.repo(self.repo.clone()), file.to_owned());
        std::thread::spawn(move || {
            let result = api.download_with_progress(&name, Reporter(sender.clone()));
            let _ = sender.send(Event::Done(result));
        });
        let mut state = Progress { file: file.to_owned(), bytes: 0, total: None };
        loop {
            match events.recv_timeout(self.settings.stall) {
                Ok(Event::Total(total)) => (state.bytes, state.total) = (0, Some(total)),
                Ok(Event::Read(bytes)) => state.bytes += bytes,
                Ok(Event::Done(result)) => return result.map_err(|error| self.explain(file, error)),
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.settings.stall.as_secs();
                    return Err(HubError::Stalled { file: file.to_owned(), seconds });
                }
                Err(RecvTimeoutError::Disconnected) => return Err(broken(file, "the answer made no sense")),
            }
            progress(state.clone());
        }
    }

    fn explain(&self, file: &str, error: ApiError) -> HubError {
        match &error {
            ApiError::RequestError(request) => match **request {
                ureq::Error::StatusCode(status @ (401 | 403 | 404)) => return self.not_found(file, status),
                // What is there of the file does not fit the file that the hub has.
                ureq::Error::StatusCode(416) => self.forget_parts(),
                _ => {}
            },
            ApiError::InvalidResume => self.forget_parts(),
            _ => {}
        }
        broken(file, error)
    }

    fn not_found(&self, file: &str, status: u16) -> HubError {
        HubError::NotFound {
            endpoint: self.settings.endpoint.clone(),
            repository: self.repository.to_owned(),
            file: file.to_owned(),
            status,
        }
    }

    fn forget_parts(&self) {
        let blobs = self.cache.blob_path("");
        for part in fs::read_dir(blobs).into_iter().flatten().flatten() {
            if part.path().extension().is_some_and(|extension| extension == "part") {
                let _ = fs::remove_file(part.path());
            }
        }
    }
}

fn broken(file: &str, reason: impl ToString) -> HubError {
    HubError::Broken { file: file.to_owned(), reason: reason.to_string() }
}

enum Event {
    Total(u64),
    Read(u64),
    Done(Result<PathBuf, ApiError>),
}

struct Reporter(Sender<Event>);

impl hf_hub::api::Progress for Reporter {
    fn init(&mut self, size: usize, _file: &str) {
        let _ = self.0.send(Event::Total(size as u64));
    }

    fn update(&mut self, size: usize) {
        let _ = self.0.send(Event::Read(size as u64));
    }

    fn finish(&mut self) {}
}
