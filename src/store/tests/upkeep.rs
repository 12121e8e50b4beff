//! Changing, forgetting, generations and repair.

use chrono::{NaiveDate, NaiveTime, TimeDelta};

use super::*;
use crate::memory::due::{Job, Outcome};
use crate::store::{Calibration, FileState, Filter, GenerationState, MAX_PARTS, Run};

const NORTH: [f32; 3] = [0.0, 1.0, 0.0];

#[tokio::test]
async fn a_changed_memory_keeps_its_id_gets_new_words_and_waits_for_vectors() {
    let home = Home::new();
    let generation = home.generation().await;
    let anna = user("anna");
    let (row, id) = home.remember(&anna, "端口 8080").await;
    home.embed(&anna, generation, &id, &[NORTH.to_vec()]).await;
    let scope = anna.clone();
    home.store
        .write(move |store| {
            let (_, before) = store.get(&scope, &id)?.unwrap();
            assert!(store.move_lines(&scope, &id, (7, 8))?);
            assert_eq!(store.pending_of_all_users(generation, 9)?.len(), 0, "lines are not meaning");
            let same =
                NewMemory { id: id.clone(), importance: Importance::ASKED, ..memory(&scope, "端口 8080") };
            assert!(store.update(&scope, &same, &terms("端口 8080"))?);
            assert_eq!(store.pending_of_all_users(generation, 9)?.len(), 0, "neither is importance");
            let new = NewMemory { id: id.clone(), ..memory(&scope, "端口 8081") };
            assert!(store.update(&scope, &new, &terms("端口 8081"))?);
            let waiting = store.pending_of_all_users(generation, 9)?;
            assert_eq!(waiting[0].1.content, "端口 8081");
            assert!(
                !store.put_vectors(&scope, generation, &before, &[NORTH.to_vec()])?,
                "made of the old text"
            );
            assert!(store.put_vectors(&scope, generation, &waiting[0].1, &[])?, "nothing to embed");
            assert_eq!(store.pending_of_all_users(generation, 9)?.len(), 0);
            let gone = NewMemory { id: MemoryId::random(), ..new };
            assert!(!store.update(&scope, &gone, &[])?);
            Ok(())
        })
        .await
        .unwrap();
    assert_eq!(home.search(&anna, "8080").await, []);
    assert_eq!(home.search(&anna, "8081").await, [row]);
}

#[tokio::test]
async fn the_forgotten_stays_gone_until_the_tombstone_is_lifted() {
    let home = Home::new();
    let anna = user("anna");
    let (_, first) = home.remember(&anna, "同一句").await;
    let (_, second) = home.remember(&anna, "同一句").await;
    home.store
        .write(move |store| {
            let (_, stored) = store.get(&anna, &first)?.unwrap();
            let source = stored.source.unwrap();
            let (workspace, file) = (source.workspace.as_str(), source.file.as_str());
            assert_eq!(store.forget(&anna, &[first])?, 1);
            assert_eq!(store.tombstones(&anna, workspace, file)?.get(&stored.hash), Some(&1));
            assert_eq!(store.forget(&anna, std::slice::from_ref(&second))?, 1);
            assert_eq!(store.forget(&anna, &[second])?, 0, "twice is once");
            assert_eq!(store.tombstones(&anna, workspace, file)?.get(&stored.hash), Some(&2));
            assert!(store.tombstones(&anna, workspace, "memory/2026-03-15.md")?.is_empty());
            assert!(store.tombstones(&user("bert"), workspace, file)?.is_empty());
            store.set_tombstone(&anna, workspace, file, &stored.hash, 0)?;
            assert!(store.tombstones(&anna, workspace, file)?.is_empty());
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn the_old_generation_answers_until_the_new_one_is_activated() {
    let home = Home::new();
    let old = home.generation().await;
    let anna = user("anna");
    let (row, id) = home.remember(&anna, "杭州").await;
    home.embed(&anna, old, &id, &[NORTH.to_vec()]).await;
    let model = ContentHash::of(b"another model");
    let begin = move |store: &Writer<'_>| store.begin_generation("another", &model, 2);
    let new = home.store.write(begin.clone()).await.unwrap();
    assert_eq!(home.store.write(begin).await.unwrap(), new, "begun twice is resumed");
    assert_eq!(new.state, GenerationState::Building);
    assert_eq!(home.nearest(&anna, old, &NORTH, 1).await.len(), 1);
    home.embed(&anna, new.id, &id, &[vec![1.0, 0.0]]).await;
    home.store.write(move |store| store.activate(new.id)).await.unwrap();
    assert_eq!(home.nearest(&anna, new.id, &[1.0, 0.0], 1).await, [(row, 1.0)]);
    let scope = anna.clone();
    let gone = home.store.read(move |store| store.nearest(&scope, old, &NORTH, 1)).await;
    assert_eq!(gone, Err(StoreError::NoGeneration(old)));
    assert_eq!(home.store.read(|store| store.generations()).await.unwrap().len(), 1);
    let third = ContentHash::of(b"third");
    let dropped =
        home.store.write(move |store| Ok(store.begin_generation("third", &third, 4)?.id)).await.unwrap();
    let fourth = ContentHash::of(b"fourth");
    home.store.write(move |store| store.begin_generation("fourth", &fourth, 4)).await.unwrap();
    let left = home.store.read(|store| store.generations()).await.unwrap();
    assert_eq!(left.len(), 2);
    assert!(left.iter().all(|generation| generation.id != dropped));
    assert!(home.store.write(|store| store.check()).await.unwrap().is_clean());
}

#[tokio::test]
async fn damage_is_found_in_both_directions_and_repaired() {
    let home = Home::new();
    let generation = home.generation().await;
    let anna = user("anna");
    let mut rows = Vec::new();
    for text in ["一", "二", "三", "四"] {
        let (row, id) = home.remember(&anna, text).await;
        home.embed(&anna, generation, &id, &[NORTH.to_vec()]).await;
        rows.push(row.0);
    }
    let damage = format!(
        "DELETE FROM words WHERE rowid = {}; DELETE FROM vec_g{generation} WHERE rowid = {}; \
         DELETE FROM embedded WHERE memory = {}; INSERT INTO words (rowid, terms) VALUES (999, '1~鬼'); \
         UPDATE users SET terms = 77; DELETE FROM words_content WHERE id = {};",
        rows[0],
        rows[1] * MAX_PARTS as i64,
        rows[2],
        rows[3],
    );
    home.store.write(move |store| Ok(store.connection.execute_batch(&damage)?)).await.unwrap();
    let report = home.store.write(|store| store.check()).await.unwrap();
    assert!(report.words_rebuilt);
    assert_eq!((report.stray_words, report.stray_vectors, report.wrong_totals), (1, 2, 1));
    let lost: Vec<_> = report.without_words.iter().map(|(_, memory)| memory.content.as_str()).collect();
    assert_eq!(lost, ["一", "四"]);
    home.store
        .write(move |store| {
            for (scope, memory) in &report.without_words {
                assert!(store.put_words(scope, &memory.id, &terms(&memory.content))?);
            }
            assert_eq!(store.pending_of_all_users(generation, 9)?.len(), 2);
            assert!(store.check()?.is_clean());
            Ok(())
        })
        .await
        .unwrap();
    for text in ["一", "四"] {
        assert_eq!(home.search(&anna, text).await.len(), 1, "{text}");
    }
}

#[tokio::test]
async fn an_access_counts_once_per_session_and_day() {
    let home = Home::new();
    let anna = user("anna");
    let (_, id) = home.remember(&anna, "话").await;
    home.store
        .write(move |store| {
            let today = noon().date_naive();
            let tomorrow = today.succ_opt().unwrap();
            let later = noon() + chrono::TimeDelta::days(1);
            for (session, day) in [("s1", today), ("s1", today), ("s2", today), ("s1", tomorrow)] {
                store.touch(&anna, std::slice::from_ref(&id), Some(session), day, later)?;
            }
            store.touch(&user("bert"), std::slice::from_ref(&id), None, today, later)?;
            let (_, memory) = store.get(&anna, &id)?.unwrap();
            assert_eq!((memory.access_count, memory.last_accessed_at), (3, later));
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn lists_files_counts_and_settings_come_back_as_they_went() {
    let home = Home::new();
    let generation = home.generation().await;
    let anna = user("anna");
    let (row, id) = home.remember(&anna, "话").await;
    home.embed(&anna, generation, &id, &[NORTH.to_vec()]).await;
    home.remember(&anna, "又一句").await;
    home.store
        .write(move |store| {
            let all = store.list(&anna, &Filter::default(), 9, 0)?;
            assert_eq!(all.len(), 2);
            assert_eq!(store.list(&anna, &Filter::default(), 9, 1)?, all[1..]);
            let summaries = Filter { kind: Some(Kind::Summary), ..Filter::default() };
            assert_eq!(store.list(&anna, &summaries, 9, 0)?, []);
            assert_eq!(store.recent(&anna, noon().date_naive(), Importance::HIGH, 9)?, []);
            assert_eq!(store.entries_of_file(&anna, "/w", "memory/2026-03-14.md")?.len(), 2);
            let counts = store.counts(&anna)?;
            assert_eq!((counts.memories, counts.embedded, counts.waiting()), (2, 1, 1));
            assert_eq!(store.counts_of_all_users()?[0].counts, counts);
            assert_eq!(store.sample_vectors(&anna, generation, 9)?, [(row, NORTH.to_vec())]);

            let state = FileState {
                workspace: "/w".to_owned(),
                file: "MEMORY.md".to_owned(),
                hash: ContentHash::of(b"x"),
                ingested_at: noon(),
                entries: 2,
                notes: "[]".to_owned(),
            };
            store.put_file(&anna, &state)?;
            store.put_file(&anna, &state)?;
            assert_eq!(store.files(&anna, "/w")?, [state]);
            assert_eq!(store.files(&user("bert"), "/w")?, []);
            store.remove_file(&anna, "/w", "MEMORY.md")?;
            assert_eq!(store.files(&anna, "/w")?, []);

            let calibration = Calibration { median: 0.8, sd: 0.03, n: 200 };
            store.put_calibration(&anna, generation, "zh", &calibration)?;
            assert_eq!(store.calibration(&anna, generation, "zh")?, Some(calibration));
            assert_eq!(store.calibration(&anna, generation, "en")?, None);
            store.set_meta("k", "v")?;
            assert_eq!(store.meta("k")?, Some("v".to_owned()));
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn what_a_flush_plans_is_known_until_long_after() {
    let home = Home::new();
    let (anna, bert) = (user("anna"), user("bert"));
    let hash = ContentHash::of("网关端口是 18080".as_bytes());
    let when = (NaiveDate::from_ymd_opt(2026, 3, 14).unwrap(), NaiveTime::from_hms_opt(10, 30, 0).unwrap());
    let later = (NaiveDate::from_ymd_opt(2026, 3, 15).unwrap(), NaiveTime::MIN);
    home.store
        .write(move |store| {
            let plan = |scope: &Scope, when, now| store.plan_flush(scope, &hash, when, now).unwrap();
            let (here, there) = (plan(&anna, when, noon()), plan(&anna, later, noon()));
            assert_eq!((here.day, here.time, here.done), (when.0, when.1, false));
            assert_eq!(here, there, "it stays where it was planned");
            store.finish_flush(&anna, std::slice::from_ref(&hash))?;
            assert!(plan(&anna, later, noon()).done && !plan(&bert, later, noon()).done);
            let long_after = noon() + TimeDelta::days(31);
            assert!(!plan(&anna, later, long_after).done, "done and long ago");
            assert_eq!(plan(&bert, when, long_after).day, later.0, "what was never done is still planned");
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn a_run_replaces_the_try_before_and_belongs_to_one_workspace_of_one_user() {
    let home = Home::new();
    let anna = user("anna");
    let begun = Run {
        job: Job::Rollup("2026-W53".parse().unwrap()),
        outcome: Outcome::Running,
        started_at: noon(),
        ended_at: None,
        detail: String::new(),
        failures: 2,
        retry_at: None,
    };
    let later = noon() + chrono::TimeDelta::minutes(2);
    let failed = Run {
        outcome: Outcome::Failed,
        ended_at: Some(noon()),
        detail: "写不进去".to_owned(),
        failures: 3,
        retry_at: Some(later),
        ..begun.clone()
    };
    let sweep = Run { job: Job::Sweep(noon().date_naive()), outcome: Outcome::Done, ..begun.clone() };
    home.store
        .write(move |store| {
            assert_eq!((store.runs(&anna, "/w")?, store.calendar_since(&anna, "/w")?), (vec![], None));
            for run in [&begun, &failed, &sweep] {
                store.put_run(&anna, "/w", run)?;
            }
            assert_eq!(store.runs(&anna, "/w")?, [failed, sweep]);
            assert_eq!(store.runs(&anna, "/v")?, []);
            store.set_calendar_since(&anna, "/w", later)?;
            store.set_calendar_since(&anna, "/w", noon())?;
            assert_eq!(store.calendar_since(&anna, "/w")?, Some(noon()));
            store.put_run(&user("bert"), "/w", &begun)?;
            assert_eq!(store.runs(&user("bert"), "/w")?, [begun]);
            assert_eq!(store.runs(&anna, "/w")?.len(), 2);
            assert_eq!(store.calendar_since(&user("bert"), "/w")?, None);
            Ok(())
        })
        .await
        .unwrap();
}
