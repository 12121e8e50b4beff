//! Many clients at once get their own answers, and no errors.

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ocmemd::wire::methods::{ContextParams, ContextResult, Method, ReindexParams, ReindexResult};
use tokio::task::JoinSet;

use crate::support::{Home, Running};

const MEMORIES: usize = 10_000;
const CALLS: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_clients_get_the_right_answers_from_ten_thousand_memories() {
    let home = Home::new();
    for file in 0..10 {
        let mut note = format!("# 2026-03-{:02}\n\n", file + 1);
        for number in (file..MEMORIES).step_by(10) {
            writeln!(note, "- 第 {number} 号仓库的门牌是 D{number}").unwrap();
        }
        home.note(&format!("memory/2026-03-{:02}.md", file + 1), &note);
    }
    let running = Arc::new(home.start());
    let indexed: ReindexResult = running.call(Method::Reindex, ReindexParams::default()).await;
    assert_eq!(indexed.waiting as usize, MEMORIES);
    for clients in [1, 10, 50] {
        let mut asking = JoinSet::new();
        for client in 0..clients {
            asking.spawn(ask(Arc::clone(&running), client));
        }
        let mut took: Vec<Duration> = asking.join_all().await.concat();
        took.sort();
        let (median, high) = (took[took.len() / 2], took[took.len() * 95 / 100]);
        println!("{clients} clients: p50 {median:?}, p95 {high:?} of {} calls", took.len());
        assert_eq!(took.len(), clients * CALLS);
    }
}

/// Asks for doors that no other client asks for, and checks that each answer is the one to its question.
async fn ask(running: Arc<Running>, client: usize) -> Vec<Duration> {
    let mut connection = running.client().await;
    let mut took = Vec::with_capacity(CALLS);
    for call in 0..CALLS {
        let number = client * 199 + call * 7;
        let input = format!("第 {number} 号仓库的门牌是什么？");
        let params = ContextParams { user: "owner".into(), input, ..ContextParams::default() };
        let start = Instant::now();
        let made: ContextResult = connection.call(Method::Context, &params).await.unwrap();
        took.push(start.elapsed());
        assert!(made.items[0].item.content.ends_with(&format!("D{number}")), "{number}: {:?}", made.items[0]);
    }
    took
}
