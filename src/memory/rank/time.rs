//! The time part: recency, where the question asks for it.

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

    #[test]
    fn recency_falls_by_a_fiftieth_a_day() {
        assert_eq!(recency(0, 0.02), 1.0);
        assert_eq!(recency(-3, 0.02), 1.0);
        assert!((recency(50, 0.02) - (-1.0_f64).exp()).abs() < 1e-12);
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
