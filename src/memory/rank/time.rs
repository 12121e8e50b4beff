//! The time part: how well a memory's date meets the dates that a question names; where it names none, recency, if the
//! question asks for it.

use chrono::NaiveDate;

use crate::memory::when::{Precision, Span};

/// How much of the recency a question that does not ask for it lets through: enough to order what is otherwise equal.
const TIE: f64 = 0.005;

/// `exp(−decay·days)`, 1 today and for what lies ahead; the published decay is 0.02 a day.
pub fn recency(days: i64, decay: f64) -> f64 {
    (-decay * days.max(0) as f64).exp()
}

/// The time part of [`super::TimeMode::Asked`], before its gate: the whole recency if the question asks for the recent,
/// else a breath of it.
pub fn asked(recency: f64, asked: bool) -> f64 {
    if asked { recency } else { TIE * recency }
}

/// How well a memory meets the nearest of the `asked` spans, in 0–1: by its own day, or by what its text tells of other
/// days, as far as these lie in the span.
///
/// 1 within the span and `0.7·exp(−days/h)` outside, times how sure the words are.
///
/// Worth 12 R@5 and 12 MRR@10 on lifebench, where most questions name a date; with the resolved day among the words.
pub fn date_match(asked: &[Span], day: NaiveDate, told: &[Span]) -> f64 {
    let one = |asked: &Span| {
        let told = told.iter().map(|told| {
            let share = (asked.length() as f64 / told.length() as f64).min(1.0);
            TOLD * told.sureness * share * nearness(asked, told.first, told.last)
        });
        asked.sureness * told.fold(nearness(asked, day, day), f64::max)
    };
    asked.iter().map(one).fold(0.0, f64::max)
}

/// What a day that is told of counts, beside the day on which it was told.
const TOLD: f64 = 0.9;
/// What the day beside a span counts, before it fades.
const OUTSIDE: f64 = 0.7;

fn nearness(asked: &Span, first: NaiveDate, last: NaiveDate) -> f64 {
    match asked.gap(first, last) {
        0 => 1.0,
        days => OUTSIDE * (-(days as f64) / fading(asked.precision())).exp(),
    }
}

/// In how many days what lies outside falls to 1/e: the longer the named time, the less exactly it is meant.
fn fading(precision: Precision) -> f64 {
    match precision {
        Precision::Day => 1.5,
        Precision::Week | Precision::Third => 3.0,
        Precision::Month | Precision::Season | Precision::Year => 4.0,
    }
}

/// Whether a question asks for what is recent or latest.
pub fn asks_for_the_recent(question: &str) -> bool {
    let question = question.to_lowercase();
    let words: Vec<&str> =
        question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    CHINESE.iter().any(|word| question.contains(word))
        || words.iter().any(|word| ENGLISH.contains(word))
        || words.windows(2).any(|pair| ENGLISH_PAIRS.contains(&[pair[0], pair[1]]))
}

const CHINESE: &[&str] = &[
    "最近",
    "近来",
    "近期",
    "近日",
    "这几天",
    "这两天",
    "这阵子",
    "这段时间",
    "现在",
    "目前",
    "眼下",
    "如今",
    "当前",
    "上次",
    "上一次",
    "上回",
    "刚才",
    "刚刚",
    "最新",
    "最后一次",
];

const ENGLISH: &[&str] =
    &["recent", "recently", "latest", "lately", "newest", "now", "currently", "nowadays"];

const ENGLISH_PAIRS: &[[&str; 2]] =
    &[["last", "time"], ["these", "days"], ["right", "now"], ["at", "present"]];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::when;

    #[test]
    fn recency_falls_by_a_fiftieth_a_day() {
        assert_eq!(recency(0, 0.02), 1.0);
        assert_eq!(recency(-3, 0.02), 1.0);
        assert!((recency(50, 0.02) - (-1.0_f64).exp()).abs() < 1e-12);
    }

    /// The match of a memory of `day` that says `text`, with a question asked on 2026-03-13.
    fn matched(question: &str, day: &str, text: &str) -> f64 {
        let (today, day) = ("2026-03-13".parse().unwrap(), day.parse().unwrap());
        date_match(&when::find(question, today), day, &when::find(text, day))
    }

    #[test]
    fn a_memory_of_the_named_days_matches_whole_and_its_neighbours_less() {
        for (question, day, expected) in [
            ("上周三的会", "2026-03-04", 1.0),
            ("上周三的会", "2026-03-05", 0.7 * (-1.0_f64 / 1.5).exp()),
            ("3月上旬的会", "2026-03-10", 1.0),
            ("3月上旬的会", "2024-03-13", 0.7 * (-1.0_f64).exp()),
            ("back in February", "2025-02-28", 1.0),
            ("back in February", "2026-03-04", 0.7 * (-1.0_f64).exp()),
            ("去年夏天", "2025-07-01", 0.7),
            ("5号的会", "2025-11-05", 0.5),
            ("3月4日和3月9日", "2026-03-09", 1.0),
        ] {
            assert!((matched(question, day, "") - expected).abs() < 1e-9, "{question} {day}");
        }
        assert!(matched("上周三的会", "2026-02-04", "") < 1e-6);
        assert_eq!(matched("端口是多少", "2026-03-13", ""), 0.0);
    }

    #[test]
    fn what_a_memory_tells_of_another_day_counts_nearly_as_much() {
        for (text, expected) in
            [("昨天去看了牙", 0.9), ("3月4日看了牙", 0.9), ("去看了牙", 0.7 * (-1.0_f64 / 1.5).exp())]
        {
            assert!((matched("3月4日看牙", "2026-03-05", text) - expected).abs() < 1e-9, "{text}");
        }
        // A memory about the whole month says little about one of its days.
        assert!(matched("3月4日看牙", "2026-01-05", "三月的安排") < 0.03);
        assert!((matched("3月的安排", "2026-01-05", "3月4日看牙") - 0.9).abs() < 1e-9);
    }

    #[test]
    fn some_questions_ask_for_the_recent() {
        for question in [
            "我最近在看什么书？",
            "上次开会说了什么",
            "What did I read recently?",
            "my LATEST idea",
            "When did we meet the last time?",
        ] {
            assert!(asks_for_the_recent(question), "{question}");
        }
        for question in [
            "我喜欢什么茶？",
            "work-agent 端口是多少？",
            "What is my name?",
            "Who knows Nowak?",
            "the last chapter",
            "",
        ] {
            assert!(!asks_for_the_recent(question), "{question}");
        }
    }
}
