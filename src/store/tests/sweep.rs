//! What ends, what is used, and what is given back to the disk.

use std::fs;

use chrono::TimeDelta;
use rusqlite::Connection;

use super::super::{Filter, Store, schema};
use super::*;

#[tokio::test]
async fn what_has_ended_is_in_no_leg_and_in_no_list() {
    let home = Home::new();
    let generation = home.generation().await;
    let anna = user("anna");
    for (text, ends) in [("会议室 三楼", Some(0)), ("会议室 五楼", Some(1)), ("会议室 七楼", None)]
    {
        let mut new = memory(&anna, text);
        new.importance = Importance::ASKED;
        new.expires_at = ends.map(|hours| noon() + TimeDelta::hours(hours));
        let (scope, id, words) = (anna.clone(), new.id.clone(), terms(text));
        home.store.write(move |store| store.insert(&scope, &new, &words)).await.unwrap();
        home.embed(&anna, generation, &id, &[vec![1.0, 0.0, 0.0]]).await;
    }
    for (scope, expected) in [
        (anna.clone(), 3),
        (anna.clone().as_of(noon() - TimeDelta::milliseconds(1)), 3),
        (anna.clone().as_of(noon()), 2),
        (anna.clone().as_of(noon() + TimeDelta::hours(1)), 1),
    ] {
        assert_eq!(home.search(&scope, "会议室").await.len(), expected);
        // The ended one is as near as the others, and takes nobody's place.
        assert_eq!(home.nearest(&scope, generation, &[1.0, 0.0, 0.0], expected).await.len(), expected);
        let found = home
            .store
            .read(move |store| {
                let recent = store.recent(&scope, noon().date_naive(), Importance::HIGH, 9)?;
                Ok((recent.len(), store.list(&scope, &Filter::default(), 9, 0)?.len()))
            })
            .await
            .unwrap();
        assert_eq!(found, (expected, expected));
    }
}

#[tokio::test]
async fn uses_are_counted_by_days_and_by_sessions() {
    let home = Home::new();
    let anna = user("anna");
    let (_, used) = home.remember(&anna, "常用").await;
    let (_, unused) = home.remember(&anna, "不用").await;
    let (_, others) = home.remember(&user("bert"), "别人的").await;
    home.store
        .write(move |store| {
            let day = |n| noon().date_naive() + chrono::Days::new(n);
            for (session, n) in [(Some("s1"), 0), (Some("s1"), 0), (Some("s2"), 0), (None, 0), (None, 1)] {
                store.touch(&anna, std::slice::from_ref(&used), session, day(n), noon())?;
            }
            let uses = store.uses(&anna, &[used.clone(), unused.clone(), others])?;
            let counts: Vec<_> = uses.iter().map(|one| (&one.id, one.days, one.sessions)).collect();
            assert_eq!(counts, [(&used, 2, 2), (&unused, 0, 0)]);
            Ok(())
        })
        .await
        .unwrap();
}

/// A database as it was made before: the first step only, and free pages that nobody gives back.
fn old_database(path: &std::path::Path) {
    let mut connection = schema::connect(path).unwrap();
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())).unwrap();
    schema::migrate(&mut connection, path, &schema::STEPS[..1]).unwrap();
    let table = "CREATE VIRTUAL TABLE vec_g1 USING vec0 (user integer partition key, audience integer, \
                 embedding float[3] distance_metric=cosine, chunk_size=32)";
    connection.execute_batch(table).unwrap();
    connection
        .execute_batch(
            "INSERT INTO users (id) VALUES ('anna'); INSERT INTO generations VALUES (1, 'm', 'h', 3, 'active');
             INSERT INTO files VALUES (1, '/w', 'MEMORY.md', 'abc', 0, 1, '{}');",
        )
        .unwrap();
    let vector = |n: i64| [1.0_f32, n as f32, 0.0].iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<u8>>();
    for n in 1..=200_i64 {
        connection
            .execute(
                "INSERT INTO memories VALUES (?1, 'mem_' || ?1, 1, NULL, 'fact', 'none', 3, 0, '话', '', NULL, NULL, \
                 NULL, NULL, NULL, NULL, 'h', 1, NULL, 0, 1, 1)",
                [n],
            )
            .unwrap();
        connection.execute("INSERT INTO words (rowid, terms) VALUES (?1, '1~话')", [n]).unwrap();
        connection.execute("INSERT INTO embedded VALUES (1, ?1, 1)", [n]).unwrap();
        let values = rusqlite::params![n * 64, vector(n)];
        connection
            .execute("INSERT INTO vec_g1 (rowid, user, audience, embedding) VALUES (?1, 1, 0, ?2)", values)
            .unwrap();
    }
    // Whole chunks go, so that the chunks left have gaps between their numbers.
    for n in 20..=120_i64 {
        connection.execute("DELETE FROM vec_g1 WHERE rowid = ?1", [n * 64]).unwrap();
        connection.execute("DELETE FROM words WHERE rowid = ?1", [n]).unwrap();
        connection.execute("DELETE FROM memories WHERE key = ?1", [n]).unwrap();
    }
}

#[tokio::test]
async fn an_old_database_learns_to_shrink_and_keeps_every_vector_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("memory.sqlite");
    old_database(&path);
    let store = Store::open(&path).unwrap();
    assert!(store.write(|store| store.check()).await.unwrap().is_clean());
    let anna = user("anna");
    let found = store.read(move |store| store.nearest(&anna, 1, &[1.0, 150.0, 0.0], 4_096)).await.unwrap();
    assert_eq!((found.len(), found[0].0), (99, RowId(150)));
    let mode = store.read(|store| {
        Ok(store.connection.pragma_query_value(None, "auto_vacuum", |row| row.get::<_, i64>(0))?)
    });
    assert_eq!(mode.await, Ok(2));
    let scope = user("anna");
    let files = store.read(move |store| store.files(&scope, "/w")).await.unwrap();
    assert_eq!(files[0].hash.0, "", "every file is taken in once more");
    store.close().await.unwrap();
    assert!(fs::exists(schema::backup_path(&path, 1)).unwrap());
}

#[tokio::test]
async fn a_new_database_gives_back_what_is_deleted() {
    let home = Home::new();
    let anna = user("anna");
    let (_, id) = home.remember(&anna, &"很长的话".repeat(100_000)).await;
    home.remember(&anna, "短话").await;
    assert!(home.store.compact().await.unwrap());
    let before = fs::metadata(home.path()).unwrap().len();
    home.store.write(move |store| store.delete(&anna, &[id])).await.unwrap();
    assert!(home.store.compact().await.unwrap());
    let after = fs::metadata(home.path()).unwrap().len();
    assert!(after < before / 2, "{before} {after}");
    let free: i64 = Connection::open(home.path())
        .unwrap()
        .pragma_query_value(None, "freelist_count", |row| row.get(0))
        .unwrap();
    assert_eq!(free, 0);
}

#[tokio::test]
async fn a_bullet_is_ours_until_it_is_cut_and_again_when_it_is_written_again() {
    let home = Home::new();
    let anna = user("anna");
    home.store
        .write(move |store| {
            let (ours, other) = (ContentHash::of(b"- 10:30 a"), ContentHash::of(b"- 10:30 b"));
            store.put_written(&anna, "/w", "memory/x.md", &[ours.clone(), other.clone()])?;
            store.put_written(&anna, "/w", "memory/x.md", std::slice::from_ref(&ours))?;
            store.put_cut(&anna, "/w", "memory/x.md", std::slice::from_ref(&ours))?;
            assert_eq!(store.written(&anna, "/w", "memory/x.md")?, [other].into());
            assert_eq!(store.cut_out(&anna, "/w", "memory/x.md")?, [ours.clone()].into());
            assert!(store.written(&user("bert"), "/w", "memory/x.md")?.is_empty());
            assert!(store.written(&anna, "/w", "memory/y.md")?.is_empty());
            store.put_written(&anna, "/w", "memory/x.md", &[ours])?;
            assert!(store.cut_out(&anna, "/w", "memory/x.md")?.is_empty());
            Ok(())
        })
        .await
        .unwrap();
}
