//! Nothing acknowledged is lost, whenever the daemon dies.

use std::collections::BTreeMap;
use std::sync::Arc;

use ocmemd::memory::MemoryId;
use ocmemd::wire::methods::{ListParams, ListResult, Method, RememberParams, RememberResult, StatusParams};
use ocmemd::wire::status::{AdviceCode, Status};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::support::{Home, Running};

const ROUNDS: usize = 50;
const WRITERS: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_memory_survives_fifty_kills() {
    let home = Home::new();
    let mut acknowledged: BTreeMap<MemoryId, String> = BTreeMap::new();
    // A fixed linear congruential sequence: the moments differ from each other, not from run to run.
    let mut moment = 12_345_u64;
    for round in 0..ROUNDS {
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let die_after = (moment >> 33) as usize % 12;
        let running = Arc::new(home.start());
        let (acks, mut acked) = mpsc::channel(1);
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            writers.spawn(write(Arc::clone(&running), format!("第{round}轮第{writer}位"), acks.clone()));
        }
        drop(acks);
        for _ in 0..=die_after {
            let (id, text) = acked.recv().await.expect("a writer was answered");
            acknowledged.insert(id, text);
        }
        running.kill();
        // What was answered before the end counts too.
        while let Some((id, text)) = acked.recv().await {
            acknowledged.insert(id, text);
        }
        while writers.join_next().await.is_some() {}
    }

    let running = home.start();
    let status: Status = running.call(Method::Status, StatusParams {}).await;
    assert!(
        status.advice.iter().all(|advice| advice.code != AdviceCode::StoreRepaired),
        "{:?}",
        status.advice
    );
    let stored = everything(&running).await;
    let lost: Vec<_> = acknowledged.iter().filter(|(id, text)| stored.get(*id) != Some(*text)).collect();
    assert!(acknowledged.len() >= ROUNDS, "the writers hardly wrote: {}", acknowledged.len());
    assert!(lost.is_empty(), "lost {} of {}: {lost:?}", lost.len(), acknowledged.len());
    let (_, text) = acknowledged.last_key_value().unwrap();
    assert!(
        running.search(text).await.hits.iter().any(|hit| hit.item.content == *text),
        "{text} lost its words"
    );
}

/// Remembers one thing after the other until the daemon is gone.
async fn write(running: Arc<Running>, name: String, acks: mpsc::Sender<(MemoryId, String)>) {
    let mut client = running.client().await;
    for number in 0.. {
        let text = format!("{name}写下的第{number}件事");
        let params = RememberParams { user: "owner".into(), text: text.clone(), ..RememberParams::default() };
        let Ok(kept) = client.call::<_, RememberResult>(Method::Remember, &params).await else { return };
        if acks.send((kept.item.id, text)).await.is_err() {
            return;
        }
    }
}

async fn everything(running: &Running) -> BTreeMap<MemoryId, String> {
    let mut all = BTreeMap::new();
    loop {
        let params = ListParams {
            user: "owner".into(),
            limit: Some(1_000),
            offset: all.len() as u32,
            ..ListParams::default()
        };
        let page: ListResult = running.call(Method::List, params).await;
        if page.items.is_empty() {
            return all;
        }
        all.extend(page.items.into_iter().map(|item| (item.id, item.content)));
    }
}
