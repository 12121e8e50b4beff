//! Which reading counts as use: the table of `ARCHITECTURE.md`, through the handlers, with its consequence for the sweep.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tempfile::TempDir;

use super::*;
use crate::clock::{Clock, Zone};
use crate::config::{Config, Sources};
use crate::daemon::core::Parts;
use crate::memory::entry::ContentHash;
use crate::memory::redact::redact;
use crate::memory::{
    Audience, Importance, Kind, Mark, MemoryId, NewMemory, Redacted, Scope, UserId, indexed,
};
use crate::paths::Paths;
use crate::store::{Report, Store};
use crate::watch::Watcher;
use crate::wire::methods as m;
use crate::wire::sweep::{SweepParams, SweepResult};

const USER: &str = "林";
const LITTLE: &str = "打印机的墨盒放在二楼储物间";

/// A daemon's handlers, without a socket and with a clock of our own.
struct House {
    _home: TempDir,
    core: Arc<Core>,
}

impl House {
    /// With one memory that matters little, and so many others that a fifth of them is more than that.
    async fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::resolve(Some(home.path()), &|_| None).unwrap();
        let start: DateTime<Utc> = "2026-03-13T02:00:00Z".parse().unwrap();
        let core = Arc::new(Core::new(Parts {
            config: Config::load(&paths, &Sources::default()).unwrap(),
            clock: Clock::manual(start, Zone::Fixed(chrono_tz::Asia::Shanghai)),
            store: Store::open(&home.path().join("memory.sqlite")).unwrap(),
            repaired: Report::default(),
            workspaces: Vec::new(),
            watcher: Watcher::start(Vec::new()).0,
            socket: home.path().join("none.sock"),
            paths,
        }));
        let house = Self { _home: home, core };
        house.store("mem_little", LITTLE, Importance::HINT, None).await;
        for number in 0..9 {
            house
                .store(&format!("mem_{number}"), &format!("第{number}件大事"), Importance::NORMAL, None)
                .await;
        }
        house
    }

    async fn store(&self, id: &str, text: &str, importance: Importance, expires_at: Option<DateTime<Utc>>) {
        let now = self.core.clock.now();
        let memory = NewMemory {
            id: MemoryId(id.to_owned()),
            user: UserId::new(USER).unwrap(),
            session: None,
            kind: Kind::Fact,
            mark: Mark::None,
            importance,
            audience: Audience::Private,
            content: redact(text).0,
            context: Redacted::default(),
            day: Some(self.core.clock.today()),
            time: None,
            source: None,
            hash: ContentHash::of(text.as_bytes()),
            created_at: now,
            expires_at,
            access_count: 0,
            last_accessed_at: now,
        };
        let scope = Scope::private(memory.user.clone());
        let terms = indexed::terms(&memory.context, &memory.content, memory.day);
        self.core.store.write(move |writer| writer.insert(&scope, &memory, &terms)).await.unwrap();
    }

    async fn call(&self, method: Method, params: Value) -> Value {
        Api(Arc::clone(&self.core)).call(method, params).await.unwrap()
    }

    async fn accesses(&self, id: &str) -> u64 {
        let got = self.call(Method::Get, serde_json::json!({ "user": USER, "id": id })).await;
        got["item"]["access_count"].as_u64().unwrap()
    }

    /// Until every access of before is counted: they are counted in their order, and this one is the last.
    async fn counted(&self) {
        let before = self.accesses("mem_0").await;
        let params = serde_json::json!({ "user": USER, "id": "mem_0", "for_agent": true, "session": "last" });
        self.call(Method::Get, params).await;
        let waited = async { while self.accesses("mem_0").await == before {} };
        tokio::time::timeout(Duration::from_secs(60), waited).await.unwrap();
    }
}

/// What is read, the parameters, and whether that is use.
fn table() -> Vec<(&'static str, Method, Value, bool)> {
    let asked = |more: Value| {
        let mut params = serde_json::json!({ "user": USER });
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    vec![
        ("injected by context", Method::Context, asked(json(r#"{"input":"打印机的墨盒放在"}"#)), true),
        (
            "given to the agent by search",
            Method::Search,
            asked(json(r#"{"query":"打印机的墨盒","for_agent":true}"#)),
            true,
        ),
        (
            "given to the agent by get",
            Method::Get,
            asked(json(r#"{"id":"mem_little","for_agent":true}"#)),
            true,
        ),
        ("found by hand", Method::Search, asked(json(r#"{"query":"打印机的墨盒"}"#)), false),
        (
            "a candidate that did not fit",
            Method::Context,
            asked(json(r#"{"input":"打印机的墨盒放在","budget":0}"#)),
            false,
        ),
        (
            "below the score",
            Method::Search,
            asked(json(r#"{"query":"打印机的墨盒","for_agent":true,"min_score":1.0}"#)),
            false,
        ),
        ("looked at by hand", Method::Get, asked(json(r#"{"id":"mem_little"}"#)), false),
        ("listed", Method::List, asked(json("{}")), false),
        (
            "shown before forgetting",
            Method::Forget,
            asked(json(r#"{"ids":["mem_little"],"dry_run":true}"#)),
            false,
        ),
        (
            "shown before clearing",
            Method::Clear,
            asked(json(r#"{"day":"2026-03-13","dry_run":true}"#)),
            false,
        ),
        ("listed by a sweep", Method::Sweep, asked(json(r#"{"dry_run":true}"#)), false),
        ("looked at by a sweep", Method::Sweep, asked(json("{}")), false),
        ("reindexed", Method::Reindex, json(r#"{"full":true}"#), false),
        ("counted by status", Method::Status, json("{}"), false),
    ]
}

#[tokio::test]
async fn what_reached_a_prompt_counts_and_looking_does_not() {
    for (name, method, params, is_use) in table() {
        let house = House::new().await;
        house.core.clock.set(house.core.clock.now() + TimeDelta::days(170));
        house.call(method, params.clone()).await;
        house.call(method, params).await;
        house.counted().await;
        assert_eq!(house.accesses("mem_little").await, u64::from(is_use), "{name}: once a session and day");
        house.core.clock.set(house.core.clock.now() + TimeDelta::days(11));
        let params = SweepParams { user: USER.to_owned(), ..SweepParams::default() };
        let swept: SweepResult = sweep::handle(&house.core, params).await.unwrap();
        assert_eq!((swept.done, swept.count), (true, u64::from(!is_use)), "{name}");
    }
}

#[tokio::test]
async fn a_list_leaves_out_what_has_ended_unless_it_is_asked_for() {
    let house = House::new().await;
    house.store("mem_ended", "墨盒本周内免费更换", Importance::HINT, Some(house.core.clock.now())).await;
    let listed = |ended: bool| {
        let params = m::ListParams { user: USER.to_owned(), ended, ..m::ListParams::default() };
        let house = &house;
        async move { list::handle(&house.core, params).await.unwrap().items.len() }
    };
    assert_eq!((listed(false).await, listed(true).await), (10, 11));
    let params = m::SearchParams {
        user: USER.to_owned(),
        query: "墨盒免费更换".to_owned(),
        ..m::SearchParams::default()
    };
    let found = search::handle(&house.core, params).await.unwrap().hits;
    assert!(found.iter().all(|hit| hit.item.id.0 != "mem_ended"), "{found:?}");
}
