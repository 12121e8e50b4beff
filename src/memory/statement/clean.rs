//! A line without what carries nothing: marks, sessions, "he said that", and the secrets' places.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::Regex;

use super::expression as rule;
use crate::memory::redact::PLACEHOLDER_START;

/// A part of a sentence, and what divided it from the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Clause {
    /// What it says.
    pub text: String,
    /// The punctuation and space behind it.
    pub joint: String,
}

/// So often a name has to occur before "NAME said" is cut off its lines: then it is the user's, who is understood.
const FREQUENT: usize = 3;
/// An English comma divides clauses only where both sides have so many words; it stands in lists otherwise.
const CLAUSE_WORDS: usize = 4;

/// Names whose "said" is understood, by how often they stand in `contents`.
pub fn speakers<'a>(contents: impl Iterator<Item = &'a str> + Clone) -> Vec<String> {
    let mut speakers = BTreeMap::new();
    let rules = rules();
    for found in contents.clone().filter_map(|content| rules.speaker.captures(unmarked(content))) {
        if let Some(name) = found.get(1).or(found.get(2)) {
            speakers.entry(name.as_str().to_owned()).or_insert(0);
        }
    }
    for (name, count) in &mut speakers {
        *count = contents.clone().filter(|content| content.contains(name.as_str())).count();
    }
    speakers.into_iter().filter(|(_, count)| *count >= FREQUENT).map(|(name, _)| name).collect()
}

/// A line without the box, the emoji and the session that it may begin with.
pub fn unmarked(content: &str) -> &str {
    let marks = rules().bullet.find(content).map_or(0, |found| found.end());
    content.get(marks..).unwrap_or(content)
}

/// The clauses of an entry's content. Empty when nothing is left, as of a line that was about a secret.
pub fn clauses(content: &str, speakers: &[String]) -> Vec<Clause> {
    let rules = rules();
    let dense = content.chars().any(|c| ('\u{3400}'..='\u{9fff}').contains(&c));
    let lines = content.lines().map(|line| rules.bullet.replace(line, "").trim().to_owned());
    let lines: Vec<String> = lines.filter(|line| !line.is_empty() && !rules.meta.is_match(line)).collect();
    let mut text = lines.join(if dense { "；" } else { "; " });
    for rule in [&rules.ornament, &rules.secret_aside] {
        text = rule.replace_all(&text, "").into_owned();
    }
    text = text.trim().to_owned();
    // "Remember: she said that …" has two layers; more are text.
    for _ in 0..2 {
        text = unquote(unspoken(rules.asking.replace(&text, "").trim(), speakers)).to_owned();
    }
    let mut clauses = split(&text);
    let first_is_secret = clauses.first().is_some_and(|clause| clause.text.contains(PLACEHOLDER_START));
    clauses.retain(|clause| !clause.text.contains(PLACEHOLDER_START));
    if first_is_secret {
        clauses.clear();
    }
    if let Some(last) = clauses.last_mut() {
        last.joint.clear();
    }
    clauses
}

/// The clauses in one line.
pub fn join(clauses: &[Clause]) -> String {
    let mut line = String::new();
    for (at, clause) in clauses.iter().enumerate() {
        line.push_str(&clause.text);
        let last = at + 1 == clauses.len();
        if !last {
            let dense = clause.text.chars().any(|c| c >= '\u{2e80}');
            let joint =
                if clause.joint.is_empty() { if dense { "；" } else { "; " } } else { &clause.joint };
            line.push_str(joint);
        }
    }
    line
}

/// `text` without "NAME said" at its beginning.
fn unspoken<'t>(text: &'t str, speakers: &[String]) -> &'t str {
    let rules = rules();
    let names = ["用户", "他", "她", "The user", "User", "She", "He"];
    let name = names.into_iter().chain(speakers.iter().map(String::as_str));
    let after = name.filter_map(|name| text.strip_prefix(name)).find_map(|rest| {
        let said = rules.said.find(rest)?;
        rest.get(said.end()..)
    });
    // What is left has to be a statement of its own.
    after.filter(|rest| rest.chars().count() >= 4).unwrap_or(text)
}

fn unquote(text: &str) -> &str {
    let inner = [('"', '"'), ('“', '”')]
        .into_iter()
        .find_map(|(open, close)| text.strip_prefix(open)?.strip_suffix(close))
        .filter(|inner| !inner.contains(['"', '“', '”']));
    inner.unwrap_or(text)
}

/// Divides at punctuation that stands outside of brackets and quotes.
fn split(text: &str) -> Vec<Clause> {
    let chars: Vec<char> = text.chars().collect();
    let mut clauses: Vec<Clause> = Vec::new();
    let (mut start, mut depth) = (0, 0_i32);
    for (at, c) in chars.iter().enumerate() {
        match c {
            '(' | '（' | '「' | '《' | '“' | '[' | '【' => depth += 1,
            ')' | '）' | '」' | '》' | '”' | ']' | '】' => depth -= 1,
            _ => {}
        }
        let spaced = chars.get(at + 1).is_none_or(|next| next.is_whitespace());
        let divides = match c {
            '，' | '；' | '。' | '！' => true,
            ';' | '.' | ',' | '!' => spaced,
            _ => false,
        };
        if !divides || (depth > 0 && at + 1 < chars.len()) {
            continue;
        }
        let part: String = chars.get(start..at).unwrap_or_default().iter().collect();
        let rest: String = chars.get(at + 1..).unwrap_or_default().iter().collect();
        if *c == ',' && (words(&part) < CLAUSE_WORDS || words(next_part(&rest)) < CLAUSE_WORDS) {
            continue;
        }
        let joint = if c.is_ascii() { format!("{c} ") } else { c.to_string() };
        clauses.push(Clause { text: part.trim().to_owned(), joint });
        start = at + 1;
    }
    let rest: String = chars.get(start..).unwrap_or_default().iter().collect();
    clauses.push(Clause { text: rest.trim().to_owned(), joint: String::new() });
    clauses.retain(|clause| clause.text.chars().any(char::is_alphanumeric));
    clauses
}

fn next_part(rest: &str) -> &str {
    rest.split([',', ';', '.']).next().unwrap_or(rest)
}

fn words(text: &str) -> usize {
    let dense = text.chars().filter(|c| *c >= '\u{2e80}').count();
    text.split_whitespace().count() + dense
}

struct Rules {
    bullet: Regex,
    meta: Regex,
    ornament: Regex,
    secret_aside: Regex,
    asking: Regex,
    speaker: Regex,
    said: Regex,
}

fn rules() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(|| Rules {
        bullet: rule(r"^\s*(?:[-*+•]\s+)?(?:\[[ xX]\]\s*)?(?:✅|☑️?|✔️?|❌|⚠️?|⏳|📌)?\s*(?:\((?:s-)[\w-]+\)\s*)?"),
        meta: rule(r"^\**(?:记录时间|下一次|记录人|Recorded(?: at)?|Saved(?: at)?|Next (?:run|check))\**\s*[：:]"),
        ornament: rule(r"\*\*|`|~~|<!--.*?-->|[\u{2600}-\u{27bf}\u{1f300}-\u{1faff}\u{fe0f}]"),
        secret_aside: rule(r"\s*[（(][^（）()]*\[已脱敏:[^（）()]*[）)]"),
        asking: rule(
            r"^(?:(?i:always remember|please remember|remember|noted?|reminder|fyi|(?:pre-)?(?:compaction|memory) (?:notes?|flush|summary|dump)|key (?:decision|point)|user decision(?: at [^：\n]{1,16}?)?)|(?:请|要)?(?:永远|永久|一直)?(?:记住|记得)|(?:帮我)?记(?:一下|下来?|下)|备忘|备注|提醒一下|用户(?:明确)?要求)\s*(?:[：，]|[:,](?:\s|$))\s*",
        ),
        speaker: rule(r"^(?:(\p{Han}{2,3}?)(?:说|让我|提到|提醒|告诉|表示|强调|偏好|：|:)|([A-Z][a-z]+)(?::| (?:said|says|told|reminded|mentioned|asked|wants|is|was)\b))"),
        said: rule(
            r"^(?:(?:说|让我|提到|提醒我|告诉我|表示|强调|要求|偏好)?\s*[：:，,]\s*|(?:说|让我|提到|提醒我|告诉我|表示|强调)|\s+(?:said|says|told me|reminded me|mentioned|noted|added)(?: that|:|,)?\s+|:\s+)",
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(content: &str) -> String {
        join(&clauses(content, &["小周".to_owned(), "Nora".to_owned()]))
    }

    #[test]
    fn every_rule_compiles() {
        let rules = rules();
        for rule in
            [&rules.bullet, &rules.meta, &rules.ornament, &rules.secret_aside, &rules.asking, &rules.said]
        {
            assert_ne!(rule.as_str(), "$^");
        }
        assert_ne!(rules.speaker.as_str(), "$^");
    }

    #[test]
    fn who_said_it_and_the_asking_are_cut() {
        for (content, expected) in [
            ("(s-12ab) 记住：小周说会议室改到三楼", "会议室改到三楼"),
            ("小周偏好：回邮件不写敬语", "回邮件不写敬语"),
            ("Remember: the gate closes at nine", "the gate closes at nine"),
            ("Nora: \"call me after six\"", "call me after six"),
            ("**存放**：`/data/a`\n**下一次**：9:00", "存放：/data/a"),
            ("[x] 发票已寄 ✅", "发票已寄"),
            ("小周说好", "小周说好"),
        ] {
            assert_eq!(cleaned(content), expected);
        }
    }

    #[test]
    fn the_place_of_a_secret_is_cut_with_its_clause() {
        for (content, expected) in [
            ("门禁叫 north（密码 [已脱敏:password]）", "门禁叫 north"),
            ("登录报错，token=[已脱敏:api_key]，换了新的就好", "登录报错，换了新的就好"),
            ("手机号 [已脱敏:phone] 是测试用的，别留", ""),
        ] {
            assert_eq!(cleaned(content), expected);
        }
    }

    #[test]
    fn clauses_are_divided_outside_of_brackets_and_lists() {
        let texts = |content| clauses(content, &[]).into_iter().map(|clause| clause.text).collect::<Vec<_>>();
        assert_eq!(texts("甲（一，二），乙；丙。"), ["甲（一，二）", "乙", "丙"]);
        assert_eq!(
            texts("Rows hold eggs, nuts and milk; version 1.2 is out."),
            ["Rows hold eggs, nuts and milk", "version 1.2 is out"]
        );
    }

    #[test]
    fn only_a_frequent_name_is_understood() {
        let lines = ["小周说好的", "小周让我改端口", "给小周寄书", "老钱说明天来"];
        assert_eq!(speakers(lines.into_iter()), ["小周"]);
    }
}
