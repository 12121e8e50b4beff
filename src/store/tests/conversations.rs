//! Turns, their messages and their jobs.

use chrono::TimeDelta;

use super::*;
use crate::memory::Redacted;
use crate::memory::conversation::Role;
use crate::store::{Delivered, Job, JobKind, Message, NewMessage, NewTurn, TurnKey};

const SESSION: &str = "agent:main:main";

fn said(text: &str) -> NewMessage {
    let role = if text.starts_with('答') { Role::Assistant } else { Role::User };
    NewMessage { id: None, role, content: redact(text).0, hash: ContentHash::of(text.as_bytes()), at: None }
}

fn turn(id: &str, texts: &str) -> NewTurn {
    let id = (!id.is_empty()).then(|| id.to_owned());
    NewTurn { id, messages: texts.split_whitespace().map(said).collect() }
}

impl Home {
    async fn put(&self, scope: &Scope, turn: NewTurn) -> Delivered {
        let scope = scope.clone();
        self.store.write(move |store| store.put_turn(&scope, SESSION, turn, noon())).await.unwrap()
    }

    async fn open(&self, scope: &Scope) -> Vec<Message> {
        let scope = scope.clone();
        self.store.read(move |store| store.open_messages(&scope, SESSION)).await.unwrap()
    }

    async fn texts(&self, scope: &Scope) -> String {
        let messages = self.open(scope).await;
        messages.into_iter().map(|message| message.content).collect::<Vec<_>>().join(" ")
    }

    /// Lets a new memory stand for all open messages.
    async fn summarise(&self, scope: &Scope) -> MemoryId {
        let (of, messages) = (scope.clone(), self.open(scope).await);
        let summary = NewMemory {
            kind: Kind::Summary,
            session: Some(SESSION.to_owned()),
            source: None,
            ..memory(scope, "摘要")
        };
        self.store
            .write(move |store| {
                let row = store.insert(&of, &summary, &[])?;
                store.summarised(&of, Some(row), &messages)?;
                Ok(summary.id)
            })
            .await
            .unwrap()
    }

    async fn claim(&self, kind: JobKind) -> Option<Job> {
        self.store.write(move |store| store.claim_job_of_all_users(&[kind], noon())).await.unwrap()
    }

    async fn enqueue(&self, scope: &Scope, kind: JobKind, turn: Option<TurnKey>) {
        let scope = scope.clone();
        self.store.write(move |store| store.enqueue(kind, &scope, SESSION, turn)).await.unwrap();
    }
}

fn counts(delivered: Delivered) -> (u32, u32) {
    (delivered.stored, delivered.known)
}

#[tokio::test]
async fn a_turn_is_stored_once_however_often_it_comes() {
    let home = Home::new();
    let anna = user("anna");
    assert_eq!(counts(home.put(&anna, turn("t1", "问一 答一")).await), (2, 0));
    assert_eq!(counts(home.put(&anna, turn("t1", "问一 答一")).await), (0, 2));
    assert_eq!(counts(home.put(&anna, turn("t1", "问一 答一 又答一")).await), (1, 2), "it was not whole yet");
    assert_eq!(counts(home.put(&anna, turn("t2", "问一 答一")).await), (2, 0), "said again, in another turn");
    assert_eq!(
        counts(home.put(&anna, turn("", "问一 答一")).await),
        (0, 2),
        "without a name it is the last one"
    );
    assert_eq!(counts(home.put(&anna, turn("", "问三 答三")).await), (2, 0));
    let whole = "问一 答一 又答一 问一 答一 问三 答三 问四 答四";
    assert_eq!(counts(home.put(&anna, turn("t4", whole)).await), (2, 7), "the whole session so far");
    assert_eq!(home.texts(&anna).await, whole);
    assert_eq!(counts(home.put(&anna, turn("t4", whole)).await), (0, 9));
    assert_eq!(counts(home.put(&anna, turn("t6", "问六")).await), (1, 0));
    assert_eq!(counts(home.put(&anna, turn("t4", whole)).await), (0, 9), "and late");
    assert_eq!(counts(home.put(&anna, turn("t5", "")).await), (0, 0));
}

#[tokio::test]
async fn messages_with_ids_are_known_by_them() {
    let home = Home::new();
    let anna = user("anna");
    let with_ids = |texts: &[(&str, &str)]| {
        let message = |(id, text): &(&str, &str)| NewMessage { id: Some((*id).to_owned()), ..said(text) };
        NewTurn { id: None, messages: texts.iter().map(message).collect() }
    };
    home.put(&anna, with_ids(&[("m1", "好"), ("m2", "答好")])).await;
    let again =
        home.put(&anna, with_ids(&[("m1", "好"), ("m2", "答好"), ("m3", "好"), ("m4", "答好")])).await;
    assert_eq!(counts(again), (2, 2));
    assert_eq!(
        counts(home.put(&anna, with_ids(&[("m5", "好"), ("m6", "答好")])).await),
        (2, 0),
        "said again"
    );
    assert_eq!(home.texts(&anna).await, "好 答好 好 答好 好 答好");
}

#[tokio::test]
async fn a_late_turn_takes_its_place_and_no_clock_mixes_up_a_turn() {
    let home = Home::new();
    let anna = user("anna");
    let at = |minutes: i64, texts: &str| {
        let mut turn = turn(texts, texts);
        turn.messages.iter_mut().for_each(|message| message.at = Some(noon() - TimeDelta::minutes(minutes)));
        turn
    };
    home.put(&anna, at(30, "问一 答一")).await;
    home.put(&anna, at(10, "问三 答三")).await;
    home.put(&anna, at(20, "问二 答二")).await;
    let mut odd = at(5, "问四 答四");
    odd.messages[1].at = Some(noon() - TimeDelta::minutes(60));
    home.put(&anna, odd).await;
    home.put(&anna, at(-60, "问五 答五")).await;
    assert_eq!(home.texts(&anna).await, "问一 答一 问二 答二 问三 答三 问四 答四 问五 答五");
    assert_eq!(home.open(&anna).await.last().unwrap().at, noon(), "nothing was said in the future");
}

#[tokio::test]
async fn neither_users_nor_audiences_see_each_others_messages() {
    let home = Home::new();
    home.put(&user("anna"), turn("t1", "私下 答私下")).await;
    home.put(&group("anna"), turn("t1", "群里 答群里")).await;
    home.put(&user("ben"), turn("t1", "别人 答别人")).await;
    assert_eq!(home.texts(&group("anna")).await, "群里 答群里");
    assert_eq!(home.texts(&user("anna")).await, "私下 答私下 群里 答群里");
    assert_eq!(home.texts(&user("ben")).await, "别人 答别人");
    assert_eq!(home.texts(&user("nobody")).await, "");
    home.summarise(&user("anna")).await;
    let seen = |scope: Scope| home.store.read(move |store| Ok(store.summaries(&scope, SESSION, 9)?.len()));
    assert_eq!((seen(user("anna")).await.unwrap(), seen(group("anna")).await.unwrap()), (1, 0));
}

#[tokio::test]
async fn summarised_messages_leave_the_session_but_for_its_newest_turn() {
    let home = Home::new();
    let anna = user("anna");
    home.put(&anna, turn("t1", "问一 答一")).await;
    home.put(&anna, turn("t2", "问二 答二")).await;
    home.summarise(&anna).await;
    let left = home.open(&anna).await;
    assert!(left.iter().all(|message| message.summarised) && left.len() == 2, "{left:?}");
    home.put(&anna, turn("t3", "问三")).await;
    assert_eq!(home.texts(&anna).await, "问三");
    assert_eq!(counts(home.put(&anna, turn("t1", "问一 答一")).await), (0, 2), "it is still known");
}

#[tokio::test]
async fn what_a_turn_had_stored_is_taken_back_with_its_summary() {
    let home = Home::new();
    let anna = user("anna");
    home.put(&anna, turn("t1", "问一 答一")).await;
    let second = home.put(&anna, turn("t2", "秘密 答秘密")).await.turn.unwrap();
    let (_, fact) = home.remember(&anna, "秘密 事实").await;
    let summary = home.summarise(&anna).await;
    let (of, id) = (anna.clone(), fact.clone());
    let taken = home
        .store
        .write(move |store| {
            assert!(store.bind_to_turn(&of, second, &id)? && store.bind_to_turn(&of, second, &id)?);
            assert!(!store.bind_to_turn(&user("ben"), second, &id)?, "another's");
            assert!(!store.bind_to_turn(&of, TurnKey(99), &id)?, "no such turn");
            assert_eq!(store.take_back(&user("ben"), second)?, []);
            store.take_back(&of, second)
        })
        .await
        .unwrap();
    assert_eq!(taken.into_iter().map(|memory| memory.id).collect::<Vec<_>>(), std::slice::from_ref(&fact));
    assert_eq!(home.texts(&anna).await, "问一 答一", "open again, since the summary is gone");
    let of = anna.clone();
    let gone = home.store.read(move |store| Ok((store.get(&of, &fact)?, store.get(&of, &summary)?))).await;
    assert_eq!(gone.unwrap(), (None, None));
    assert_eq!(
        counts(home.put(&anna, turn("t2", "秘密 答秘密")).await),
        (0, 2),
        "and it does not come again"
    );
    assert_eq!(counts(home.put(&anna, turn("", "问一 答一 秘密 答秘密 问三")).await), (1, 4));
}

#[tokio::test]
async fn old_messages_go_once_a_summary_stands_for_them() {
    let home = Home::new();
    let anna = user("anna");
    home.put(&anna, turn("t1", "问一 答一")).await;
    let sweep = |messages: TimeDelta, turns: TimeDelta| {
        home.store.write(move |store| store.sweep_messages_of_all_users(noon() + messages, noon() + turns))
    };
    let (day, month) = (TimeDelta::days(1), TimeDelta::days(30));
    let swept = sweep(day, -month).await.unwrap();
    assert_eq!((swept.messages, swept.open), (0, 2), "nothing is lost");
    let job = home.claim(JobKind::Close).await.unwrap();
    assert_eq!((&job.scope, job.session.as_str()), (&anna, SESSION));
    home.summarise(&anna).await;
    assert_eq!(sweep(day, -month).await.unwrap().messages, 2);
    assert_eq!(home.texts(&anna).await, "");
    assert_eq!(
        counts(home.put(&anna, turn("t1", "问一 答一")).await),
        (0, 2),
        "the turn is known for longer"
    );
    sweep(day, day).await.unwrap();
    assert_eq!(counts(home.put(&anna, turn("t1", "问一 答一")).await), (2, 0));
}

#[tokio::test]
async fn a_job_is_done_once_unless_it_is_asked_for_again_meanwhile() {
    let home = Home::new();
    let anna = user("anna");
    home.enqueue(&anna, JobKind::Summary, None).await;
    home.enqueue(&anna, JobKind::Summary, None).await;
    home.enqueue(&group("anna"), JobKind::Summary, None).await;
    let job = home.claim(JobKind::Summary).await.unwrap();
    let other = home.claim(JobKind::Summary).await.unwrap();
    assert_eq!((job.scope.clone(), other.scope.clone()), (anna.clone(), group("anna")));
    assert_eq!(home.claim(JobKind::Summary).await, None);
    home.enqueue(&anna, JobKind::Summary, None).await;
    assert_eq!(home.claim(JobKind::Summary).await, None, "it runs");
    assert!(!home.store.write(move |store| store.finish_job(&job)).await.unwrap());
    let again = home.claim(JobKind::Summary).await.unwrap();
    let later = noon() + TimeDelta::minutes(1);
    home.store.write(move |store| store.retry_job(&again, later)).await.unwrap();
    assert_eq!(home.claim(JobKind::Summary).await, None, "later");
    home.store.write(|store| store.release_jobs_of_all_users()).await.unwrap();
    assert_eq!(
        home.claim(JobKind::Summary).await.map(|job| job.scope),
        Some(group("anna")),
        "after a restart"
    );
    let retried =
        home.store.write(move |store| store.claim_job_of_all_users(&[JobKind::Summary], later)).await;
    let retried = retried.unwrap().unwrap();
    assert_eq!(retried.attempts, 2);
    assert!(home.store.write(move |store| store.finish_job(&retried)).await.unwrap());
}

#[tokio::test]
async fn a_job_about_a_turn_names_it_and_others_cannot_read_it() {
    let home = Home::new();
    let anna = user("anna");
    let key = home.put(&anna, turn("t1", "问一 答一")).await.turn;
    home.enqueue(&anna, JobKind::Close, key).await;
    let job = home.claim(JobKind::Close).await.unwrap();
    let (scope, turn) = (job.scope.clone(), job.turn.unwrap());
    let messages = home.store.read(move |store| store.turn(&scope, turn)).await.unwrap();
    assert_eq!((job.turn, messages.len(), messages[0].content.as_str()), (key, 2, "问一"));
    let of_another = home.store.read(move |store| store.turn(&user("ben"), turn)).await.unwrap();
    assert_eq!(of_another, []);
    let counted = home.store.read(|store| store.conversations_of_all_users()).await.unwrap();
    assert_eq!((counted.sessions, counted.messages, counted.jobs), (1, 2, 1));
}

/// A measurement, not a test: `cargo test --lib resuming -- --ignored --nocapture`.
#[tokio::test]
#[ignore = "writes 400,000 messages"]
async fn resuming_one_session_among_a_hundred_thousand() {
    const SESSIONS: usize = 100_000;
    let home = Home::new();
    let anna = user("anna");
    for first in (0..SESSIONS).step_by(1_000) {
        let anna = anna.clone();
        home.store
            .write(move |store| {
                for number in first..first + 1_000 {
                    let messages = (0..4).map(|at| NewMessage {
                        content: Redacted::clone(
                            &redact(&format!("第 {number} 个会话的第 {at} 句话，说的是别的事")).0,
                        ),
                        ..said(&format!("{number} {at}"))
                    });
                    let turn = NewTurn { id: None, messages: messages.collect() };
                    store.put_turn(&anna, &format!("s{number}"), turn, noon())?;
                }
                Ok(())
            })
            .await
            .unwrap();
    }
    for session in ["s0", "s50000", "s99999", "s77777"] {
        let scope = anna.clone();
        let start = std::time::Instant::now();
        let messages = home.store.read(move |store| store.open_messages(&scope, session)).await.unwrap();
        println!("{session}: {} messages in {:?}", messages.len(), start.elapsed());
    }
    let start = std::time::Instant::now();
    let counted = home.store.read(|store| store.conversations_of_all_users()).await.unwrap();
    println!("counting {} sessions: {:?}", counted.sessions, start.elapsed());
}
