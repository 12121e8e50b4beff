//! The model's threads: one answers queries, others index at low priority; all share the loaded weights.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};

use super::error::EmbedError;
use super::folder::{Identity, ModelFolder};
use super::model::{Model, Precisions};
use crate::memory::Redacted;

/// Requests that may wait for a thread; whoever comes later waits for room.
const QUEUE: usize = 64;

/// How far indexing stands back behind everything else.
#[cfg(target_os = "linux")]
const INDEX_NICENESS: i32 = 10;

type Answer<T> = oneshot::Sender<Result<T, EmbedError>>;
type Vectors = Vec<Vec<Vec<f32>>>;

/// How an [`Embedder`] is set up.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Threads that index, each with its own batch. One is enough to keep up with a person's notes.
    pub index_threads: NonZeroUsize,
}

impl Default for Options {
    fn default() -> Self {
        Self { index_threads: NonZeroUsize::MIN }
    }
}

/// A handle to the model's threads. The last one to go stops and joins them.
#[derive(Clone)]
pub struct Embedder(Arc<Inner>);

struct Inner {
    model: Arc<Model>,
    queues: Mutex<Option<Queues>>,
    stopping: Arc<AtomicBool>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Clone)]
struct Queues {
    queries: mpsc::Sender<(Redacted, Answer<Vec<f32>>)>,
    passages: mpsc::Sender<(Vec<Redacted>, Answer<Vectors>)>,
}

impl Embedder {
    /// Loads the model and starts its threads; blocks for as long as that takes.
    ///
    /// # Errors
    /// [`EmbedError`] names the file that is missing or damaged.
    pub fn load(folder: &ModelFolder, options: Options) -> Result<Self, EmbedError> {
        let model = Arc::new(Model::load(folder)?);
        let stopping = Arc::new(AtomicBool::new(false));
        let (queries, query_queue) = mpsc::channel(QUEUE);
        let (passages, passage_queue) = mpsc::channel(QUEUE);
        let passage_queue = Arc::new(Mutex::new(passage_queue));

        let mut threads = Vec::new();
        let (for_queries, stop) = (model.clone(), stopping.clone());
        threads.push(spawn("embed-query", move || answer_queries(&for_queries, query_queue, &stop))?);
        for _ in 0..options.index_threads.get() {
            let (model, queue, stopping) = (model.clone(), passage_queue.clone(), stopping.clone());
            threads.push(spawn("embed-index", move || index(&model, &queue, &stopping))?);
        }
        let queues = Mutex::new(Some(Queues { queries, passages }));
        Ok(Self(Arc::new(Inner { model, queues, stopping, threads: Mutex::new(threads) })))
    }

    /// The unit vector of a question. Of a question longer than the model reads at once, the beginning counts.
    ///
    /// # Errors
    /// [`EmbedError::EmptyText`] for a text without a word, [`EmbedError::Stopped`] after [`Embedder::shutdown`].
    pub async fn query(&self, text: &Redacted) -> Result<Vec<f32>, EmbedError> {
        ask(self.0.queues()?.queries, text.clone()).await
    }

    /// The unit vectors of passages: one each, several for a text longer than the model reads at once, none for a
    /// text without a word. A caller who stops waiting stops the work.
    ///
    /// # Errors
    /// [`EmbedError::Stopped`] after [`Embedder::shutdown`], otherwise what went wrong with the computation.
    pub async fn passages(&self, texts: Vec<Redacted>) -> Result<Vectors, EmbedError> {
        ask(self.0.queues()?.passages, texts).await
    }

    /// Who the model is.
    pub fn identity(&self) -> &Identity {
        self.0.model.identity()
    }

    /// Numbers in a vector.
    pub fn dimension(&self) -> usize {
        self.identity().dimension
    }

    /// How long loading took.
    pub fn load_time(&self) -> Duration {
        self.0.model.load_time()
    }

    /// The precisions found quickest on this machine.
    pub fn precisions(&self) -> Precisions {
        self.0.model.precisions()
    }

    /// The tokens the model reads for a passage, its prompt and special tokens included.
    pub fn count_tokens(&self, passage: &str) -> usize {
        self.0.model.count_tokens(passage)
    }

    /// Stops taking requests, lets each thread finish the batch it is at, and joins the threads. Blocks for as long
    /// as that takes, a second or two at most. Requests that were waiting are answered with [`EmbedError::Stopped`].
    pub fn shutdown(&self) {
        self.0.stop();
    }
}

impl Inner {
    fn queues(&self) -> Result<Queues, EmbedError> {
        lock(&self.queues).clone().ok_or(EmbedError::Stopped)
    }

    fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        lock(&self.queues).take();
        for thread in lock(&self.threads).drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the model ended in a panic");
            }
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Queues a request and waits for its answer.
async fn ask<Q, A>(queue: mpsc::Sender<(Q, Answer<A>)>, request: Q) -> Result<A, EmbedError> {
    let (answer, answered) = oneshot::channel();
    queue.send((request, answer)).await.map_err(|_| EmbedError::Stopped)?;
    drop(queue);
    answered.await.map_err(|_| EmbedError::Stopped)?
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, EmbedError> {
    std::thread::Builder::new()
        .name(name.to_owned())
        .spawn(work)
        .map_err(|error| EmbedError::Compute(format!("no thread for the model: {error}")))
}

fn answer_queries(
    model: &Model,
    mut queue: mpsc::Receiver<(Redacted, Answer<Vec<f32>>)>,
    stopping: &AtomicBool,
) {
    while let Some((text, answer)) = queue.blocking_recv() {
        if stopping.load(Ordering::Relaxed) {
            return;
        }
        if !answer.is_closed() {
            // A caller that left in the meantime needs no answer.
            let _ = answer.send(guarded(|| model.query(&text)));
        }
    }
}

fn index(
    model: &Model,
    queue: &Mutex<mpsc::Receiver<(Vec<Redacted>, Answer<Vectors>)>>,
    stopping: &AtomicBool,
) {
    // Linux gives each thread a niceness of its own; elsewhere it would slow the whole daemon.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(INDEX_NICENESS) {
        tracing::debug!(%error, "indexing runs at normal priority");
    }
    loop {
        let next = lock(queue).blocking_recv();
        let Some((texts, answer)) = next else { return };
        let go_on = || match stopping.load(Ordering::Relaxed) || answer.is_closed() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        };
        let result = guarded(|| model.passages(&texts, go_on)?.ok_or(EmbedError::Stopped));
        // A caller that left in the meantime needs no answer.
        let _ = answer.send(result);
        if stopping.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// A panic inside the model is an error of this request, not the end of the thread.
fn guarded<T>(work: impl FnOnce() -> Result<T, EmbedError>) -> Result<T, EmbedError> {
    // What a panic says may quote the text it failed on.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(EmbedError::Compute("it panicked; please report it".to_owned())))
}

/// The threads never hold a lock while they compute, so what a panic left behind is whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
