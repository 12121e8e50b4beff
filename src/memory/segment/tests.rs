use std::collections::HashSet;

use chrono::NaiveDate;

use super::*;

/// Whether words alone would find `stored` by asking `question`.
fn finds(stored: &str, question: &str) -> bool {
    let stored: HashSet<String> = document(stored).into_iter().collect();
    query(question).iter().any(|word| stored.contains(word))
}

#[test]
fn chinese_words_of_one_and_two_characters_are_found() {
    let tea = "我在杭州学习二胡，喜欢喝龙井茶";
    for question in ["杭州", "二胡", "茶", "杭州二胡", "龙井茶好喝吗"] {
        assert!(finds(tea, question), "{question}");
    }
    let step = "步骤2 重跑gen-itgc后清零";
    for question in ["itgc", "ＧＥＮ", "gen-itgc", "步骤", "清零了吗"] {
        assert!(finds(step, question), "{question}");
    }
    assert!(!finds(tea, "部署端口"));
}

#[test]
fn japanese_and_korean_are_found_by_their_parts() {
    let japanese = "杭州でカメラの使い方を学んだ";
    for question in ["カメラ", "使い方", "カ"] {
        assert!(finds(japanese, question), "{question}");
    }
    let korean = "나는 항저우에서 얼후를 배운다";
    for question in ["항저우", "얼후", "얼"] {
        assert!(finds(korean, question), "{question}");
    }
    assert!(!finds(japanese, "ピアノ"));
}

#[test]
fn a_question_of_stop_words_alone_has_no_words() {
    for question in ["的", "了", "", "  ", "？！", "is it the", "\"", "''", "*", "(", "-", "\u{0}\u{7}", "……"]
    {
        assert_eq!(query(question), Vec::<String>::new(), "{question:?}");
    }
}

#[test]
fn query_syntax_is_only_text() {
    let todo = "TODO: fix the pre-edit hook AND don't use NEAR(a b) in C++ 1.2.3 [SYNC]";
    for question in [
        "TODO: fix",
        "pre-edit",
        "^fix",
        "fix*",
        "col:fix",
        "{c}:fix",
        "don't use",
        "C++",
        "1.2.3",
        "[SYNC]",
        "NEAR(",
        "a\u{0}fix",
    ] {
        assert!(finds(todo, question), "{question}");
    }
    for word in document(todo).iter().chain(&query(todo)) {
        assert!(!word.contains(|c: char| c.is_whitespace() || c.is_control()), "{word:?}");
    }
}

#[test]
fn identifiers_are_words_whole_and_in_their_parts() {
    let table: [(&str, &[&str]); 8] = [
        ("gen-itgc", &["gen-itgc", "gen", "itgc"]),
        ("~/bin/backup.sh", &["~/bin/backup.sh", "bin", "backup.sh", "backup", "sh"]),
        ("v1.2.3", &["v1.2.3", "1.2.3"]),
        ("192.168.1.10:8081", &["192.168.1.10:8081", "192.168.1.10", "8081"]),
        ("C++", &["c++", "c"]),
        ("OCMEMD_HOME=/srv", &["ocmemd_home=/srv", "ocmemd_home", "ocmemd", "hom", "srv"]),
        ("（ＺＸ－４４７１）", &["zx-4471", "zx", "4471"]),
        (".env.", &[".env", "env"]),
    ];
    for (text, expected) in table {
        assert_eq!(document(text), expected, "{text}");
        assert_eq!(query(text), expected, "{text}");
    }
    assert!(finds("- 部署 agent：work-agent (端口 8081)", "work-agent 端口是多少？"));
}

#[test]
fn english_words_meet_in_their_stem() {
    for (a, b) in [
        ("running", "run"),
        ("making", "make"),
        ("liked", "likes"),
        ("studies", "studied"),
        ("boxes", "box"),
        ("falling", "fall"),
        ("Lisa's", "Lisa"),
        ("Lisa’s", "lisa"),
        ("hobbies", "hobby"),
        ("matches", "match"),
    ] {
        assert_eq!(document(a), document(b), "{a} {b}");
    }
    for (a, b) in [("sing", "s"), ("bus", "bu"), ("class", "clas-s"), ("bed", "b"), ("spring", "spr")] {
        assert_ne!(document(a), document(b), "{a} {b}");
    }
}

#[test]
fn a_day_is_found_however_the_question_writes_it() {
    let day: HashSet<String> =
        date_words(NaiveDate::from_ymd_opt(2026, 3, 13).unwrap()).into_iter().collect();
    let whole = [
        "3月13日",
        "3月13号",
        "三月十三号",
        "2026年3月13日",
        "2026-03-13",
        "2026/3/13",
        "March 13th",
        "13 March",
        "the 13th of March, 2026",
        "Mar 13, 2026",
    ];
    for question in whole {
        let words = query(question);
        assert!(words.contains(&"3月13日".to_owned()), "{question}: {words:?}");
        assert!(words.iter().all(|word| day.contains(word)), "{question}: {words:?}");
    }
    for question in [
        "13号",
        "三月",
        "3月份",
        "2026年",
        "二〇二六年三月",
        "周五",
        "星期五",
        "礼拜五",
        "on Friday",
        "March 2026",
        "十三日",
    ] {
        let words = query(question);
        assert!(!words.is_empty() && words.iter().all(|word| day.contains(word)), "{question}: {words:?}");
    }
}

#[test]
fn what_only_looks_like_a_date_is_none() {
    for (text, word) in [
        ("13号楼", "13日"),
        ("一周五次", "星期五"),
        ("每周三次", "星期三"),
        ("版本 2026.44.1", "2026年"),
        ("3个月", "3月"),
        ("99月", "99月"),
    ] {
        assert!(!document(text).contains(&word.to_owned()), "{text}: {:?}", document(text));
    }
    assert!(document("周一周五都开会").contains(&"星期五".to_owned()));
}

#[test]
fn the_language_of_a_question_is_that_of_most_of_its_words() {
    for (text, language) in [
        ("work-agent 端口是多少？", Language::Chinese),
        ("帮我看看 docker compose 的配置", Language::Chinese),
        ("What is the port of work-agent?", Language::English),
        ("How do I say 你好 in a polite letter to my boss?", Language::English),
        ("", Language::English),
    ] {
        assert_eq!(Language::of(text), language, "{text}");
    }
}

#[test]
fn long_texts_and_words_are_bounded() {
    let endless = "x".repeat(100_000);
    assert_eq!(document(&endless), Vec::<String>::new());
    assert_eq!(document(&format!("key-{endless}")), ["key"]);
    let many: String = (0..10_000).map(|n| format!("w{n} ")).collect();
    assert!(document(&many).len() <= MAX_CHARS);
    assert_eq!(query(&many).len(), MAX_QUERY_WORDS);
}
