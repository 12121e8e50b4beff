//! Which messages of a conversation are worth a line in a note.
//!
//! Rules for what people plainly state, and nothing cleverer: what is not said here is left to the conversation's own
//! extraction.

use super::{Mark, Redacted};

/// Who said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The user.
    User,
    /// The agent.
    Assistant,
    /// A tool, the host, or whoever else.
    Other,
}

/// One message of a conversation, without what the daemon put into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub text: Redacted,
}

/// Something worth keeping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// On one line.
    pub text: Redacted,
    /// [`Mark::User`] if the user asked for it, else [`Mark::Auto`].
    pub mark: Mark,
    /// Which message said it, by position.
    pub message: usize,
}

/// The lengths of a sentence that may be a fact, in characters.
const CHARS: std::ops::RangeInclusive<usize> = 4..=200;

/// A message that says one of these is not for the record, all of it.
const OFF_RECORD: &[&str] = &[
    "别记",
    "不要记",
    "不用记",
    "别保存",
    "不要保存",
    " off the record ",
    " don't remember ",
    " do not remember ",
    " don't save ",
    " do not save ",
];

/// What asks to keep the rest of the sentence.
const ASKS: &[&str] = &[
    "请永远记住",
    "永远记住",
    "请帮我记住",
    "帮我记住",
    "请记住",
    "请记下",
    "记住",
    "记下来",
    "记下",
    "记一下",
    "please remember that",
    "please remember",
    "remember that",
    "remember:",
];

/// How a question or an errand begins.
const ERRANDS: &[&str] = &[
    "帮我",
    "请帮",
    "麻烦",
    "给我",
    "替我",
    "看看",
    "看一下",
    "查一下",
    "查查",
    "写一个",
    "写个",
    "怎么",
    "为什么",
    "什么",
    "谁",
    "哪",
    "几",
    "多少",
    "能不能",
    "可不可以",
    "可以",
    "有没有",
    "是不是",
    "如何",
    "请问",
    "please ",
    "can you ",
    "could you ",
    "would you ",
    "how ",
    "what ",
    "why ",
    "when ",
    "where ",
    "who ",
    "which ",
    "is ",
    "are ",
    "do ",
    "does ",
    "did ",
    "should ",
    "let's ",
    "help ",
];

/// How a question ends.
const QUESTION_ENDS: &[&str] = &["吗", "呢", "么"];

/// What makes a sentence a guess or a mood.
const UNSURE: &[&str] = &[
    "可能",
    "也许",
    "大概",
    "好像",
    "说不定",
    "如果",
    "假如",
    "心情",
    "天气",
    " maybe ",
    " perhaps ",
    " probably ",
    " i think ",
    " i guess ",
    " if ",
    " weather ",
];

/// A sentence states something where a word of the first list is followed by one of the second. An empty first list
/// is met anywhere. English words stand between spaces, so that they are whole.
const STATES: &[(&[&str], &[&str])] = &[
    // Preference and habit.
    (
        &["我", "本人", "咱"],
        &["喜欢", "偏好", "讨厌", "习惯", "更愿意", "不吃", "不喝", "爱吃", "爱喝", "最爱", "过敏", "受不了"],
    ),
    (&[], &["以后都", "以后请", "以后用", "以后不", "今后", "从今", "默认", "一律", "每次都", "过敏"]),
    (
        &[" i ", " we "],
        &[
            " prefer ",
            " like ",
            " love ",
            " hate ",
            " always ",
            " never ",
            " usually ",
            " allergic ",
            " want ",
            " use ",
        ],
    ),
    (&[], &[" from now on ", " by default "]),
    // Who and where.
    (
        &["我", "我们", "我家", "公司", "团队"],
        &["名字", "叫", "住在", "搬到", "生日", "在上班", "工作是", "负责", "电话是", "邮箱是"],
    ),
    (
        &[" my ", " our ", " i ", " we "],
        &[" name is ", " live ", " moved ", " work at ", " birthday ", " email is "],
    ),
    // Decision, change, fix.
    (
        &[],
        &[
            "决定",
            "定下",
            "敲定",
            "选定",
            "改成",
            "改为",
            "改用",
            "换成",
            "换到",
            "迁移到",
            "采用",
            "弃用",
            "不再用",
            "统一用",
            "结论是",
            "最终",
            "修复了",
            "修好了",
            "解决了",
            "上线了",
            "发布了",
        ],
    ),
    (
        &[],
        &[
            " decided ",
            " switched to ",
            " chose ",
            " agreed ",
            " settled on ",
            " moved to ",
            " fixed ",
            " deprecated ",
        ],
    ),
    // Configuration.
    (
        &[
            "端口",
            "地址",
            "域名",
            "主机",
            "服务器",
            "路径",
            "目录",
            "版本",
            "账号",
            "数据库",
            "分支",
            "仓库",
            "网关",
            "脚本",
            "备份",
        ],
        &["是", "为", "在", "用", "：", ":", "="],
    ),
    (
        &[
            " port ",
            " host ",
            " path ",
            " version ",
            " server ",
            " branch ",
            " database ",
            " repository ",
            " url ",
            " gateway ",
            " address ",
        ],
        &[" is ", " are ", " at ", " on ", "=", ":"],
    ),
    // What is fixed for a day.
    (
        &[
            "周一",
            "周二",
            "周三",
            "周四",
            "周五",
            "周六",
            "周日",
            "月",
            "明天",
            "后天",
            "下周",
            " monday ",
            " tuesday ",
            " wednesday ",
            " thursday ",
            " friday ",
            " tomorrow ",
        ],
        &[
            "发布",
            "上线",
            "开会",
            "出差",
            "截止",
            "交付",
            "体检",
            "考试",
            " release ",
            " deadline ",
            " meeting ",
        ],
    ),
];

/// The sentences of the user's messages that state a fact, a preference, a decision or a configuration, or that he
/// asked to keep. A message that asks not to be kept gives nothing.
pub fn worthwhile(messages: &[Message]) -> Vec<Captured> {
    let mut captured = Vec::new();
    for (message, said) in messages.iter().enumerate().filter(|(_, said)| said.role == Role::User) {
        let text = said.text.as_str();
        if has_any(&plain(text), OFF_RECORD) {
            continue;
        }
        let worth = sentences(text).filter_map(|sentence| judge(&sentence));
        captured.extend(worth.map(|(text, mark)| Captured { text: Redacted::derived(text), mark, message }));
    }
    captured
}

/// What a sentence is worth.
fn judge(sentence: &str) -> Option<(String, Mark)> {
    let (text, mark) = match asked_for(sentence) {
        Some(rest) => (rest, Mark::User),
        None => (sentence, Mark::Auto),
    };
    let text = text.trim_end_matches(['。', '.', '；', ';', '！', '!']).trim();
    if !CHARS.contains(&text.chars().count()) || !text.chars().any(char::is_alphabetic) {
        return None;
    }
    let plain = plain(text);
    let is_question = text.ends_with(['?', '？']) || QUESTION_ENDS.iter().any(|end| text.ends_with(end));
    let begins = |start: &&str| plain.trim_start().starts_with(*start);
    if is_question || (mark == Mark::Auto && (ERRANDS.iter().any(begins) || has_any(&plain, UNSURE))) {
        return None;
    }
    let states = mark == Mark::User || STATES.iter().any(|(first, then)| states(&plain, first, then));
    states.then(|| (text.to_owned(), mark))
}

/// What stands behind a request to remember.
fn asked_for(sentence: &str) -> Option<&str> {
    let rest = ASKS.iter().find_map(|ask| {
        let head: String = sentence.chars().take(ask.chars().count()).collect();
        (head.to_lowercase() == *ask).then(|| sentence.strip_prefix(head.as_str())).flatten()
    })?;
    Some(rest.trim_start_matches(|c: char| c.is_whitespace() || "：:，,。".contains(c)))
}

/// The sentences of a text, code fences and quotations left out.
fn sentences(text: &str) -> impl Iterator<Item = String> {
    let mut fenced = false;
    let lines = text.lines().map(str::trim).filter(move |line| {
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        fenced ^= is_fence;
        !(fenced || is_fence || line.starts_with(['>', '{', '}', '<', '|', '$']))
    });
    lines.flat_map(|line| {
        let line = ["- ", "* ", "• "].iter().find_map(|bullet| line.strip_prefix(bullet)).unwrap_or(line);
        // A full stop ends a sentence only before a space: versions and addresses hold some.
        let marked = line.replace(". ", ".\n").replace("! ", "!\n").replace("? ", "?\n");
        let ends = ['。', '！', '？', '；', '\n'];
        marked.split_inclusive(ends).map(|part| part.trim().to_owned()).collect::<Vec<_>>()
    })
}

/// Lower case, each run of white space and sentence signs one space, and one at either end.
fn plain(text: &str) -> String {
    let text = text.to_lowercase().replace('’', "'");
    let words = text.split(|c: char| c.is_whitespace() || ",.;!?，。；！？".contains(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    format!(" {} ", words.join(" "))
}

fn has_any(plain: &str, words: &[&str]) -> bool {
    words.iter().any(|word| plain.contains(word))
}

fn states(plain: &str, first: &[&str], then: &[&str]) -> bool {
    // The space between two words belongs to both.
    let behind = |word: &&str| plain.split_once(*word).map(|(_, rest)| format!(" {rest}"));
    match first {
        [] => has_any(plain, then),
        _ => first.iter().filter_map(behind).any(|rest| has_any(&rest, then)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::redact::redact;

    fn of(role: Role, text: &str) -> Vec<(String, Mark)> {
        let found = worthwhile(&[Message { role, text: redact(text).0 }]);
        found.into_iter().map(|captured| (captured.text.as_str().to_owned(), captured.mark)).collect()
    }

    #[test]
    fn what_the_user_states_is_kept() {
        for said in [
            "网关端口是 18080",
            "我喜欢喝热的乌龙茶，不加糖",
            "我们决定用 SQLite 存数据",
            "豆豆对花生过敏",
            "以后都用中文回复",
            "备份脚本在 ~/bin/backup.sh",
            "我家上个月搬到杭州了",
            "下周三发布 2.1",
            "I always fly window seat",
            "The gateway port is 18080",
            "We switched to nextest",
        ] {
            assert_eq!(of(Role::User, said), [(said.to_owned(), Mark::Auto)]);
        }
        let asked = of(Role::User, "请记住：车位是 B2-117。永远记住，奶奶的生日是九月初三！");
        let user = |text: &str| (text.to_owned(), Mark::User);
        assert_eq!(asked, [user("车位是 B2-117"), user("奶奶的生日是九月初三")]);
    }

    #[test]
    fn what_says_nothing_lasting_is_left_out() {
        for said in [
            "你好",
            "谢谢，辛苦了！",
            "网关端口是多少？",
            "我喜欢什么茶呢",
            "帮我把端口改成 8080",
            "Can you tell me which port is used",
            "可能我们会改用 Postgres",
            "今天心情不错，我喜欢",
            "```\n端口是 1\n```",
            "{\"port\": 8080, \"地址\": \"是\"}",
            "> 我们决定用 MySQL",
            "这件事别记：我决定辞职",
            "Off the record, we decided to sell",
            "",
        ] {
            assert_eq!(of(Role::User, said), [], "{said}");
        }
        let long = format!("我决定{}", "很".repeat(300));
        for (role, said) in
            [(Role::Assistant, "网关端口是 18080"), (Role::Other, "端口是 1"), (Role::User, &long)]
        {
            assert_eq!(of(role, said), []);
        }
    }

    #[test]
    fn a_message_gives_its_sentences_one_by_one() {
        let said = "早上好。\n- 端口改成 18080。顺便问下，今天几号？\n- 我们统一用 v1.2.3 版本";
        let texts: Vec<String> = of(Role::User, said).into_iter().map(|(text, _)| text).collect();
        assert_eq!(texts, ["端口改成 18080", "我们统一用 v1.2.3 版本"]);
    }
}
