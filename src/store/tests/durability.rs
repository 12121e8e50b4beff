//! What is acknowledged is there, and what failed is not.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;

use super::super::schema;
use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_thousand_writes_of_fifty_tasks_are_a_thousand_rows() {
    let home = Home::new();
    let mut tasks = tokio::task::JoinSet::new();
    for task in 0..50 {
        let store = home.store.clone();
        tasks.spawn(async move {
            let scope = user(&format!("user{}", task % 5));
            for n in 0..20 {
                let (writing, new) = (scope.clone(), memory(&scope, &format!("第 {task} {n}")));
                store.write(move |store| store.insert(&writing, &new, &terms("话"))).await.unwrap();
                let reading = scope.clone();
                let seen = store.read(move |store| store.counts(&reading)).await.unwrap();
                assert!(seen.memories > n, "a reader sees what was acknowledged");
            }
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended.unwrap();
    }
    let counts = home.store.read(|store| store.counts_of_all_users()).await.unwrap();
    assert_eq!(counts.iter().map(|user| user.counts.memories).collect::<Vec<_>>(), [200; 5]);
    home.store.close().await.unwrap();
    let again = Store::open(&home.path()).unwrap();
    let report = again.write(|store| store.check()).await.unwrap();
    assert!(report.is_clean(), "{report:?}");
}

#[tokio::test]
async fn a_request_that_fails_or_panics_undoes_only_itself() {
    let home = Home::new();
    let anna = user("anna");
    let write = |text: &'static str, fate: fn() -> Result<(), StoreError>| {
        let (store, scope) = (home.store.clone(), anna.clone());
        async move {
            store
                .write(move |store| {
                    store.insert(&scope, &memory(&scope, text), &terms(text))?;
                    fate()
                })
                .await
        }
    };
    let (first, failed, panicked, last) = tokio::join!(
        write("先", || Ok(())),
        write("错", || Err(StoreError::Busy)),
        write("崩", || panic!("on purpose")),
        write("后", || Ok(())),
    );
    assert_eq!((first, last), (Ok(()), Ok(())));
    assert_eq!((failed, panicked), (Err(StoreError::Busy), Err(StoreError::Panicked)));
    for (text, hits) in [("先", 1), ("错", 0), ("崩", 0), ("后", 1)] {
        assert_eq!(home.search(&anna, text).await.len(), hits, "{text}");
    }
    let read: Result<(), _> = home.store.read(|_| panic!("on purpose")).await;
    assert_eq!(read, Err(StoreError::Panicked));
}

#[tokio::test]
async fn a_full_disk_is_said_and_passes() {
    let home = Home::new();
    let anna = user("anna");
    let big: String = "满".repeat(100_000);
    let limit = |pages: i64| {
        move |store: &Writer<'_>| {
            store.connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?;
            Ok(())
        }
    };
    home.store.write(limit(60)).await.unwrap();
    let (scope, new) = (anna.clone(), memory(&anna, &big));
    let full = home.store.write(move |store| store.insert(&scope, &new, &terms("满"))).await;
    assert_eq!(full, Err(StoreError::Full));
    assert_eq!(home.search(&anna, "满").await, []);
    home.store.write(limit(1_000_000)).await.unwrap();
    home.remember(&anna, "空 了").await;
    assert_eq!(home.search(&anna, "空").await.len(), 1);
}

#[tokio::test]
async fn what_is_deleted_leaves_no_words_no_vectors_and_no_bytes() {
    let home = Home::new();
    let generation = home.generation().await;
    let anna = user("anna");
    let secret = "绝密暗号九千";
    let (row, id) = home.remember(&anna, secret).await;
    let (_, kept) = home.remember(&anna, "留下").await;
    for id in [&id, &kept] {
        home.embed(&anna, generation, id, &vec![vec![1.0, 0.0, 0.0]; 16]).await;
    }
    assert!(home.store.checkpoint().await.unwrap());
    assert!(fs::read(home.path()).unwrap().windows(secret.len()).any(|bytes| bytes == secret.as_bytes()));
    let scope = anna.clone();
    assert_eq!(home.store.write(move |store| store.delete(&scope, &[id])).await, Ok(1));
    assert!(home.store.checkpoint().await.unwrap());
    assert_eq!(home.search(&anna, secret).await, []);
    let near = home.nearest(&anna, generation, &[1.0, 0.0, 0.0], 9).await;
    assert!(near.len() == 1 && near[0].0 != row);
    for file in fs::read_dir(home.path().parent().unwrap()).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.windows(secret.len()).any(|bytes| bytes == secret.as_bytes()), "{}", path.display());
    }
    assert!(home.store.write(|store| store.check()).await.unwrap().is_clean());
}

#[tokio::test]
async fn a_closed_store_refuses_and_its_files_are_private() {
    let home = Home::new();
    home.remember(&user("anna"), "话").await;
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(home.path().parent().unwrap()), 0o700);
    for file in fs::read_dir(home.path().parent().unwrap()).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
    home.store.close().await.unwrap();
    home.store.close().await.unwrap();
    assert_eq!(home.store.write(|_| Ok(())).await, Err(StoreError::Closed));
    assert_eq!(home.store.read(|_| Ok(())).await, Err(StoreError::Closed));
    assert_eq!(fs::read_dir(home.path().parent().unwrap()).unwrap().count(), 1, "no log is left");
}

#[test]
fn a_step_that_breaks_leaves_the_version_before_and_can_be_taken_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.sqlite");
    let mut connection = schema::connect(&path).unwrap();
    let first = "CREATE TABLE t (a); INSERT INTO t VALUES ('旧');";
    schema::migrate(&mut connection, &path, &[first]).unwrap();
    let broken = "ALTER TABLE t ADD COLUMN b; SELECT no_such_function();";
    assert!(schema::migrate(&mut connection, &path, &[first, broken]).is_err());
    drop(connection);

    let mut connection = schema::connect(&path).unwrap();
    schema::migrate(&mut connection, &path, &[first, "ALTER TABLE t ADD COLUMN b DEFAULT 2;"]).unwrap();
    let row = connection.query_row("SELECT a, b FROM t", [], |row| Ok((row.get(0)?, row.get(1)?)));
    assert_eq!(row, Ok(("旧".to_owned(), 2)));
    let backup = Connection::open(schema::backup_path(&path, 1)).unwrap();
    assert_eq!(backup.query_row("SELECT a FROM t", [], |row| row.get(0)), Ok("旧".to_owned()));

    let refused = schema::migrate(&mut connection, &path, &[first]);
    assert_eq!(refused, Err(StoreError::SchemaTooNew { found: 2, known: 1 }));
}

#[test]
fn a_file_that_is_no_database_is_called_damaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.sqlite");
    fs::write(&path, "这不是数据库".repeat(100)).unwrap();
    assert!(matches!(Store::open(&path), Err(StoreError::Corrupt(_))));
}
