//! Real SQLite in a temporary folder.

mod conversations;
mod durability;
mod recall;
mod sweep;
mod upkeep;

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use tempfile::TempDir;

use super::{RowId, Store, StoreError, Writer};
use crate::memory::entry::ContentHash;
use crate::memory::redact::redact;
use crate::memory::{Audience, Importance, Kind, Mark, MemoryId, NewMemory, Scope, Source, UserId};

/// A store in a folder that goes with it.
struct Home {
    folder: TempDir,
    store: Store,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("state/memory.sqlite")).unwrap();
        Self { folder, store }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("state/memory.sqlite")
    }

    /// Stores one memory of `scope` with the words of `text` as its terms.
    async fn remember(&self, scope: &Scope, text: &str) -> (RowId, MemoryId) {
        let (scope, memory, terms) = (scope.clone(), memory(scope, text), terms(text));
        self.store.write(move |store| Ok((store.insert(&scope, &memory, &terms)?, memory.id))).await.unwrap()
    }

    /// A generation of three dimensions that answers at once.
    async fn generation(&self) -> i64 {
        let hash = ContentHash::of(b"model");
        self.store.write(move |store| Ok(store.begin_generation("test", &hash, 3)?.id)).await.unwrap()
    }

    async fn embed(&self, scope: &Scope, generation: i64, id: &MemoryId, vectors: &[Vec<f32>]) -> bool {
        let (scope, id, vectors) = (scope.clone(), id.clone(), vectors.to_vec());
        self.store
            .write(move |store| {
                let (_, memory) = store.get(&scope, &id)?.unwrap();
                store.put_vectors(&scope, generation, &memory, &vectors)
            })
            .await
            .unwrap()
    }

    async fn search(&self, scope: &Scope, query: &str) -> Vec<RowId> {
        let (scope, terms) = (scope.clone(), terms(query));
        self.store.read(move |store| store.words_search(&scope, &terms, 20)).await.unwrap()
    }

    async fn nearest(&self, scope: &Scope, generation: i64, query: &[f32], k: usize) -> Vec<(RowId, f32)> {
        let (scope, query) = (scope.clone(), query.to_vec());
        self.store.read(move |store| store.nearest(&scope, generation, &query, k)).await.unwrap()
    }
}

fn user(name: &str) -> Scope {
    Scope::private(UserId::new(name).unwrap())
}

fn group(name: &str) -> Scope {
    Scope::new(UserId::new(name).unwrap(), Audience::Shared)
}

fn noon() -> DateTime<Utc> {
    DateTime::parse_from_rfc3339("2026-03-14T04:00:00Z").unwrap().to_utc()
}

/// Words are what white space parts: cutting Chinese is not the store's task.
fn terms(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

fn memory(scope: &Scope, text: &str) -> NewMemory {
    NewMemory {
        id: MemoryId::random(),
        user: scope.user().clone(),
        session: None,
        kind: Kind::Fact,
        mark: Mark::None,
        importance: Importance::NORMAL,
        audience: scope.audience(),
        content: redact(text).0,
        context: redact("").0,
        day: Some(noon().date_naive()),
        time: None,
        source: Some(Source {
            workspace: "/w".to_owned(),
            file: "memory/2026-03-14.md".to_owned(),
            lines: (3, 3),
        }),
        hash: ContentHash::of(text.as_bytes()),
        created_at: noon(),
        expires_at: None,
        access_count: 0,
        last_accessed_at: noon(),
    }
}
