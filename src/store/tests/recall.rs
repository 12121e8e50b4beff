//! Who finds what.

use super::*;

#[tokio::test]
async fn words_are_found_whatever_they_look_like() {
    let home = Home::new();
    let anna = user("anna");
    let (row, _) = home
        .remember(
            &anna,
            "TODO: fix the pre-edit hook AND don't use NEAR(a b) in C++ 1.2.3 [SYNC] 杭州 二胡 🥲",
        )
        .await;
    let hits =
        ["TODO: fix", "pre-edit", "AND", "don't", "C++", "1.2.3", "[SYNC]", "杭州", "二胡", "🥲", "todo:"];
    for query in hits {
        assert_eq!(home.search(&anna, query).await, [row], "{query}");
    }
    let misses = [
        "\"",
        "''",
        "*",
        "NEAR(",
        "NOT",
        "^fix",
        "{c}:fix",
        "-",
        "(",
        "DROP TABLE",
        "fix*",
        "col:x",
        "",
        " ",
        "\0",
        "\"\"\"",
        "杭",
        "🥳",
        "1~",
        "~",
    ];
    for query in misses {
        assert_eq!(home.search(&anna, query).await, [], "{query:?}");
    }
    assert_eq!(home.search(&anna, "f\0ix a\0b").await, [row], "control characters are left out");
}

#[tokio::test]
async fn word_statistics_come_from_the_users_own_memories() {
    let home = Home::new();
    let (anna, bert) = (user("anna"), user("bert"));
    let (row, id) = home.remember(&anna, "杭州 二胡 二胡").await;
    home.remember(&anna, "杭州").await;
    for _ in 0..5 {
        home.remember(&bert, "二胡 龙井").await;
    }
    let scope = anna.clone();
    let asked = terms("二胡 杭州 龙井");
    let stats = home.store.read(move |store| store.word_stats(&scope, &asked)).await.unwrap();
    assert_eq!((stats.documents, stats.mean_length), (2, 2.0));
    assert_eq!(stats.document_frequency, [1, 2, 0]);
    let scope = anna.clone();
    let kept = home.store.read(move |store| store.terms_of(&scope, &[row])).await.unwrap();
    assert_eq!(kept, [(row, terms("杭州 二胡 二胡"))]);
    let scope = anna.clone();
    home.store.write(move |store| store.delete(&scope, &[id])).await.unwrap();
    let asked = terms("二胡 杭州");
    let stats = home.store.read(move |store| store.word_stats(&anna, &asked)).await.unwrap();
    assert_eq!((stats.documents, stats.mean_length, stats.document_frequency), (1, 1.0, vec![0, 1]));
}

#[tokio::test]
async fn a_user_is_not_crowded_out_by_another_with_five_thousand_memories() {
    let home = Home::new();
    let generation = home.generation().await;
    let (anna, bert) = (user("anna"), user("bert"));
    let crowd = anna.clone();
    home.store
        .write(move |store| {
            for n in 0..5_000_u32 {
                let new = memory(&crowd, &format!("端口 {n}"));
                store.insert(&crowd, &new, &terms("端口"))?;
                let (_, stored) = store.get(&crowd, &new.id)?.unwrap();
                store.put_vectors(&crowd, generation, &stored, &[vec![1.0, n as f32 / 1e6, 0.0]])?;
            }
            Ok(())
        })
        .await
        .unwrap();
    let mut own = Vec::new();
    for n in 0..3 {
        let (row, id) = home.remember(&bert, &format!("端口 b{n}")).await;
        home.embed(&bert, generation, &id, &[vec![0.5, 0.5, n as f32]]).await;
        own.push(row);
    }
    for k in [3, 20, 5_000] {
        let found = home.nearest(&bert, generation, &[1.0, 0.0, 0.0], k).await;
        assert_eq!(found.iter().map(|(row, _)| *row).collect::<Vec<_>>(), own);
    }
    let mut words = home.search(&bert, "端口").await;
    words.sort();
    assert_eq!(words, own);
    assert_eq!(home.nearest(&anna, generation, &[1.0, 0.0, 0.0], 5_000).await.len(), 4_096);
}

#[tokio::test]
async fn the_best_part_of_a_memory_counts_once() {
    let home = Home::new();
    let generation = home.generation().await;
    let anna = user("anna");
    let (long, id) = home.remember(&anna, "很长的一段").await;
    let mut parts = vec![vec![0.0, 1.0, 0.0]; 15];
    parts.push(vec![1.0, 0.0, 0.0]);
    assert!(home.embed(&anna, generation, &id, &parts).await);
    let (short, id) = home.remember(&anna, "短").await;
    home.embed(&anna, generation, &id, &[vec![0.0, 0.0, 1.0]]).await;
    let found = home.nearest(&anna, generation, &[1.0, 0.0, 0.0], 2).await;
    assert_eq!(found.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [long, short]);
    assert!((found[0].1 - 1.0).abs() < 1e-6 && found[1].1.abs() < 1e-6, "{found:?}");
    let vectors =
        home.store.read(move |store| store.vectors_of(&anna, generation, &[long, short])).await.unwrap();
    assert_eq!(vectors, [(long, parts), (short, vec![vec![0.0, 0.0, 1.0]])]);
}

#[tokio::test]
async fn a_group_sees_nothing_that_was_said_in_private() {
    let home = Home::new();
    let generation = home.generation().await;
    let (private, shared) = (user("anna"), group("anna"));
    let (secret, secret_id) = home.remember(&private, "体检 结果").await;
    let (open, open_id) = home.remember(&shared, "体检 通知").await;
    for (scope, id) in [(&private, &secret_id), (&shared, &open_id)] {
        home.embed(scope, generation, id, &[vec![1.0, 0.0, 0.0]]).await;
    }
    assert_eq!(home.search(&shared, "体检").await, [open]);
    assert_eq!(home.search(&private, "体检").await.len(), 2);
    let near = home.nearest(&shared, generation, &[1.0, 0.0, 0.0], 5).await;
    assert_eq!(near.iter().map(|(row, _)| *row).collect::<Vec<_>>(), [open]);
    assert_eq!(home.nearest(&private, generation, &[1.0, 0.0, 0.0], 5).await.len(), 2);
    home.store
        .write(move |store| {
            let all = [secret, open];
            let seen = |found: Vec<(RowId, _)>| found.into_iter().map(|(row, _)| row).collect::<Vec<_>>();
            assert_eq!(store.get(&shared, &secret_id)?, None);
            assert_eq!(seen(store.get_many(&shared, &all)?), [open]);
            assert_eq!(seen(store.recent(&shared, noon().date_naive(), Importance::NORMAL, 9)?), [open]);
            assert_eq!(store.terms_of(&shared, &all)?.len(), 1);
            assert_eq!(store.vectors_of(&shared, generation, &all)?.len(), 1);
            assert_eq!(store.sample_vectors(&shared, generation, 9)?.len(), 1);
            assert_eq!(store.counts(&shared)?.memories, 1);
            assert_eq!(store.forget(&shared, &[secret_id])?, 0);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn ids_of_others_are_not_found() {
    let home = Home::new();
    let generation = home.generation().await;
    let (anna, bert, nobody) = (user("anna"), user("bert"), user("nobody"));
    let (row, id) = home.remember(&anna, "同一句 话").await;
    let (other, _) = home.remember(&bert, "同一句 话").await;
    home.embed(&anna, generation, &id, &[vec![1.0, 0.0, 0.0]]).await;
    assert_eq!(home.search(&bert, "同一句").await, [other]);
    let vectors = home.nearest(&bert, generation, &[1.0, 0.0, 0.0], 9).await;
    assert_eq!(vectors, []);
    home.store
        .write(move |store| {
            for foreign in [&bert, &nobody] {
                assert_eq!(store.get(foreign, &id)?, None);
                assert_eq!(store.get_many(foreign, &[row])?, []);
                assert_eq!(store.find_by_prefix(foreign, &id.0, 9)?, []);
                assert_eq!(store.vectors_of(foreign, generation, &[row])?, []);
                assert_eq!(store.terms_of(foreign, &[row])?, []);
                assert!(!store.move_lines(foreign, &id, (9, 9))?);
                assert_eq!(store.delete(foreign, std::slice::from_ref(&id))?, 0);
            }
            let error = store.insert(&bert, &memory(&anna, "别人的"), &[]).unwrap_err();
            assert_eq!(error, StoreError::ForeignMemory);
            assert_eq!(store.find_by_prefix(&anna, &id.0[..8], 9)?.len(), 1);
            Ok(())
        })
        .await
        .unwrap();
}

#[tokio::test]
async fn vectors_without_a_direction_or_of_another_length_are_refused() {
    let home = Home::new();
    let generation = home.generation().await;
    let anna = user("anna");
    let (_, id) = home.remember(&anna, "话").await;
    for bad in [vec![0.0; 3], vec![f32::NAN, 1.0, 0.0], vec![f32::INFINITY, 0.0, 0.0], vec![1.0, 0.0]] {
        let (scope, id) = (anna.clone(), id.clone());
        let refused = home
            .store
            .write(move |store| {
                let (_, memory) = store.get(&scope, &id)?.unwrap();
                let on_query = store.nearest(&scope, generation, &bad, 3).unwrap_err();
                assert!(matches!(on_query, StoreError::BadVector(_)));
                store.put_vectors(&scope, generation, &memory, &[bad])
            })
            .await;
        assert!(matches!(refused, Err(StoreError::BadVector(_))), "{refused:?}");
    }
}
