//! What recall costs on top of the query's embedding, at 1,000, 10,000 and 100,000 memories of one user, and what
//! `context` costs through the socket. Made-up weights in the shape of bge-small-zh-v1.5, made-up vectors.

use std::path::Path;
use std::time::{Duration, Instant};

use chrono::{DateTime, Days, NaiveDate};
use criterion::{Criterion, criterion_group, criterion_main};
use ocmemd::client::Client;
use ocmemd::clock::{Clock, Zone};
use ocmemd::config::{Config, Sources};
use ocmemd::embed::{Embedder, ModelFolder, Options};
use ocmemd::memory::entry::ContentHash;
use ocmemd::memory::redact::redact;
use ocmemd::memory::{
    Audience, Importance, Kind, Mark, MemoryId, NewMemory, Redacted, Scope, UserId, indexed,
};
use ocmemd::paths::Paths;
use ocmemd::service::recall::{self, Recall, Settings};
use ocmemd::store::Store;
use ocmemd::wire::methods::{ContextParams, ContextResult, Method};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

#[allow(dead_code)] // the tests use more of it
#[path = "../tests/support/made_up_model.rs"]
mod made_up_model;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];
const QUESTION: &str = "网关的端口是多少？";
const COMMIT: usize = 500;

fn scope() -> Scope {
    Scope::private(UserId::new("owner").unwrap())
}

fn memory(number: usize) -> NewMemory {
    let things = ["网关", "数据库", "备份脚本", "相册", "打印机", "路由器", "日报任务", "缓存"];
    let thing = things[number % things.len()];
    let text = redact(&format!("第 {number} 号{thing}的端口改成 {}，重启后正常", 1_024 + number % 60_000)).0;
    let now = DateTime::UNIX_EPOCH;
    NewMemory {
        id: MemoryId::random(),
        user: scope().user().clone(),
        session: None,
        kind: Kind::Fact,
        mark: Mark::None,
        importance: Importance::NORMAL,
        audience: Audience::Private,
        hash: ContentHash::of(text.as_str().as_bytes()),
        content: text,
        context: Redacted::default(),
        day: NaiveDate::from_ymd_opt(2026, 1, 1)
            .and_then(|day| day.checked_add_days(Days::new(number as u64 % 300))),
        time: None,
        source: None,
        created_at: now,
        expires_at: None,
        access_count: 0,
        last_accessed_at: now,
    }
}

/// Fills the store with memories and vectors of the model's generation.
async fn fill(store: &Store, embedder: &Embedder, size: usize) {
    let identity = embedder.identity().clone();
    let generation = store
        .write(move |writer| {
            writer.begin_generation(&identity.name, &ContentHash(identity.hash.clone()), identity.dimension)
        })
        .await
        .unwrap();
    let mut state = 1_u64;
    for start in (0..size).step_by(COMMIT) {
        let mut batch = Vec::new();
        for number in start..(start + COMMIT).min(size) {
            let vector: Vec<f32> = (0..generation.dimension)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 40) as f32 / (1 << 23) as f32 - 1.0
                })
                .collect();
            let length = vector.iter().map(|component| component * component).sum::<f32>().sqrt();
            batch.push((
                memory(number),
                vector.iter().map(|component| component / length).collect::<Vec<f32>>(),
            ));
        }
        let id = generation.id;
        store
            .write(move |writer| {
                for (memory, vector) in batch {
                    let terms = indexed::terms(&memory.context, &memory.content, memory.day);
                    writer.insert(&scope(), &memory, &terms)?;
                    if let Some((_, stored)) = writer.get(&scope(), &memory.id)? {
                        writer.put_vectors(&scope(), id, &stored, &[vector])?;
                    }
                }
                Ok(())
            })
            .await
            .unwrap();
    }
}

fn load(folder: &Path) -> Embedder {
    made_up_model::write(folder, made_up_model::BGE_SMALL, "pooling_mode_cls_token");
    Embedder::load(&ModelFolder::open(folder).unwrap(), Options::default()).unwrap()
}

fn search(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let embedder = load(folder.path());
    let mut group = criterion.benchmark_group("search beside the embedding");
    group.sample_size(20).measurement_time(Duration::from_secs(5));
    for size in SIZES {
        let home = tempfile::tempdir().unwrap();
        let store = Store::open(&home.path().join("store.db")).unwrap();
        runtime.block_on(fill(&store, &embedder, size));
        let clock = Clock::manual(DateTime::UNIX_EPOCH, Zone::Fixed(chrono_tz::Asia::Shanghai));
        let recall = Recall::new(store, Ok(embedder.clone()), Settings::default(), clock);
        let (scope, question) = (scope(), redact(QUESTION).0);
        runtime.block_on(recall.warm(&scope)).unwrap();
        group.bench_function(format!("{size} memories"), |b| {
            b.iter_custom(|times| {
                let mut spent = 0.0;
                for _ in 0..times {
                    let found = recall.search(&scope, &question, recall::Options::default());
                    let timings = runtime.block_on(found).unwrap().timings;
                    spent += timings.total_ms - timings.embed_ms;
                }
                Duration::from_secs_f64(spent / 1e3)
            });
        });
    }
}

fn context(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let home = tempfile::tempdir().unwrap();
    let paths = Paths::resolve(Some(home.path()), &|_| None).unwrap();
    let model = home.path().join("model");
    std::fs::create_dir_all(&model).unwrap();
    let embedder = load(&model);
    let flags = vec![("storage.embedding_model".to_owned(), model.display().to_string())];
    let config = Config::load(&paths, &Sources { flags, ..Sources::default() }).unwrap();
    let store = Store::open(&config.storage.sqlite_path).unwrap();
    runtime.block_on(fill(&store, &embedder, SIZES[0]));
    runtime.block_on(store.close()).unwrap();

    let (socket, stop) = (home.path().join("run/ocmemd.sock"), CancellationToken::new());
    let (place, stopping) = (socket.clone(), stop.clone());
    let clock = Clock::manual(DateTime::UNIX_EPOCH, Zone::Fixed(chrono_tz::Asia::Shanghai));
    let daemon = runtime.spawn(async move {
        ocmemd::daemon::run(config, paths, &place, clock, stopping).await.map_err(|e| e.to_string())
    });
    let params = ContextParams { user: "owner".into(), input: QUESTION.into(), ..ContextParams::default() };
    let mut client = runtime.block_on(async {
        loop {
            let Ok(mut client) = Client::connect(&socket).await else {
                tokio::task::yield_now().await;
                continue;
            };
            let made: ContextResult = client.call(Method::Context, &params).await.unwrap();
            if made.legs.iter().all(|leg| leg.ran) {
                return client;
            }
        }
    });
    criterion.benchmark_group("through the socket").sample_size(20).bench_function(
        "context, 1000 memories",
        |b| {
            b.iter_custom(|times| {
                let start = Instant::now();
                for _ in 0..times {
                    let made: Result<ContextResult, _> =
                        runtime.block_on(client.call(Method::Context, &params));
                    made.unwrap();
                }
                start.elapsed()
            });
        },
    );
    stop.cancel();
    runtime.block_on(daemon).unwrap().unwrap();
}

criterion_group!(benches, search, context);
criterion_main!(benches);
