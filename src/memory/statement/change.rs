//! What changed: the new state that a statement names, and the old one that it replaces.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use regex::Regex;

use super::Features;
use super::expression as rule;

/// What a statement says of a change or of a state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Change {
    /// The words of what changed: port, order board.
    pub subject: BTreeSet<String>,
    /// Which of several it is: the second room, the home agent, oven B.
    pub which: BTreeSet<String>,
    /// Values that no longer hold.
    pub old: BTreeSet<String>,
    /// Values that hold now.
    pub new: BTreeSet<String>,
    /// Whether it says that something changed, rather than how something is.
    pub explicit: bool,
}

/// A value that no longer holds, and what holds instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The statement that says so, by its place.
    pub by: usize,
    /// The words of what changed.
    pub subject: BTreeSet<String>,
    /// The old value.
    pub old: String,
    /// What holds now.
    pub new: BTreeSet<String>,
    /// Whether the change names the old value itself.
    pub told: bool,
}

/// What marks a value as old, so that it may stay where it is.
const SAID_OLD: &str = r"旧|原|老|从.*(改|换|挪|迁|移|调|升|降|变)|停|下线|关机|不再|别再|嫌|\bold\b|\bformer|\bwas\b|\bmoved?\b|\bfrom\b|no longer|\bstops?\b|\binstead\b";
/// Behind these the word before 改成 is what changes, not the old value.
const ATTRIBUTES: &[char] = &[
    '速', '度', '口', '址', '名', '价', '期', '间', '音', '量', '式', '型', '色', '率', '点', '号', '法',
    '案', '员', '路', '径', '本', '额', '数', '限', '率', '务', '费', '表', '单', '班', '天', '议', '会',
    '费', '程', '话',
];

impl Change {
    /// Reads `text`, clause by clause: of several subjects the first counts.
    pub fn of(text: &str) -> Self {
        let mut change = Self::default();
        for row in rules() {
            for found in row.expression.captures_iter(text) {
                let part = |name| found.name(name).map(|part| part.as_str().trim());
                let old = part("old").filter(|old| !row.names_only || is_value(old));
                let old = old.filter(|old| part("new").is_none() || !is_attribute(old));
                change.old.extend(old.into_iter().flat_map(|old| values(old, row.specific)));
                change.new.extend(part("new").into_iter().flat_map(|new| values(new, false)));
                change.explicit |= old.is_some() || part("new").is_some();
                if change.subject.is_empty() {
                    let start = found.get(0).map_or(0, |whole| whole.start());
                    let attribute = part("old").filter(|old| is_attribute(old)).unwrap_or_default();
                    let before = text.get(..start).unwrap_or_default();
                    let own = part("subject").unwrap_or_default();
                    let about = format!("{} {own} {attribute}", last_sentence(before));
                    (change.subject, change.which) = (subject(&about), which(&about));
                }
            }
        }
        if !change.explicit {
            change.state(text);
        }
        let new = change.new.clone();
        change.old.retain(|old| !new.contains(old));
        change
    }

    /// `photo-sync runs on 8070`: no change, but a state that a later change can replace.
    fn state(&mut self, text: &str) {
        let first = text.split(['，', '；', '。', ';']).next().unwrap_or(text);
        if let Some(at) = first.find(|c: char| c.is_ascii_digit()) {
            let about = first.get(..at).unwrap_or_default();
            (self.subject, self.which) = (subject(about), which(about));
            self.new = Features::of(first).numbers;
        } else if let Some((about, value)) = first.split_once(['：', ':']) {
            (self.subject, self.which) = (subject(about), which(about));
            self.new = values(value.trim(), false).into_iter().collect();
        }
    }

    /// Whether it is about the same thing as `other`: one's subject mostly lies within the other's.
    pub fn is_about(&self, other: &Self) -> bool {
        let (few, many) = match self.subject.len() <= other.subject.len() {
            true => (&self.subject, &other.subject),
            false => (&other.subject, &self.subject),
        };
        let shared = few.intersection(many).count();
        let other = !self.which.is_empty() && !other.which.is_empty() && self.which.is_disjoint(&other.which);
        !other && shared > 0 && 3 * shared >= 2 * few.len()
    }
}

impl Replaced {
    /// Whether `clause`, a part of a statement with `words`, still says the old value as if it held.
    pub fn is_said_by(&self, clause: &str, words: &BTreeSet<String>) -> bool {
        let shared = self.subject.intersection(words).count();
        let about = shared > 0 && 2 * shared >= self.subject.len();
        about
            && holds(clause, &self.old)
            && !self.new.iter().any(|new| holds(clause, new))
            && !says_old(clause)
    }
}

/// Whether a clause says itself that what it names is old.
pub fn says_old(clause: &str) -> bool {
    static MARKS: OnceLock<Regex> = OnceLock::new();
    MARKS.get_or_init(|| rule(SAID_OLD)).is_match(&clause.to_lowercase())
}

/// What no longer holds, by `changes` in the order of time.
///
/// A later change takes the place of an earlier one about the same; what came back is no longer old.
pub fn replaced(changes: &[Change]) -> Vec<Replaced> {
    let mut list: Vec<Replaced> = Vec::new();
    for (by, change) in changes.iter().enumerate() {
        list.retain(|known| {
            !(change.new.contains(&known.old)
                && change.explicit
                && !known.subject.is_disjoint(&change.subject))
        });
        let earlier = changes.iter().take(by).filter(|earlier| {
            change.explicit
                && !change.new.is_empty()
                && earlier.is_about(change)
                && same_kind(earlier, change)
        });
        let overtaken = earlier.flat_map(|earlier| earlier.new.difference(&change.new)).cloned();
        for old in change.old.iter().cloned().chain(overtaken) {
            let told = change.old.contains(&old);
            list.push(Replaced { by, subject: change.subject.clone(), old, new: change.new.clone(), told });
        }
    }
    list
}

/// `text` as it holds now: without the old value of a change, and without the clauses that only tell of it.
pub fn latest(text: &str) -> String {
    static FROM: OnceLock<[Regex; 2]> = OnceLock::new();
    let [zh, en] = FROM.get_or_init(|| {
        [
            rule(r"(?:由|从)\s*[^，。；,;（）()]{1,24}?\s*(?P<verb>改为|改成|改到|换成|换到|换为|挪到|迁到|移到|搬到|调到|调成|升到|升级到|降到|变成|变为)"),
            rule(r"\s+from (?:port |version )?[\w.:/-]+(?: [\w%°]+)? (?P<verb>to )"),
        ]
    });
    let old = Change::of(text).old;
    let mut clauses = super::clauses(text, &[]);
    let mut at = 0;
    clauses.retain(|clause| {
        at += 1;
        let tells_old = old.iter().any(|old| holds(&clause.text, old))
            || TELLS_OLD.iter().any(|w| clause.text.starts_with(w));
        at == 1 || !tells_old
    });
    if let Some(first) = clauses.first_mut() {
        let shorter = en.replace(&first.text, " $verb");
        first.text = zh.replace(&shorter, "$verb").into_owned();
    }
    if let Some(last) = clauses.last_mut() {
        last.joint.clear();
    }
    super::join(&clauses)
}

/// How a clause begins that tells what became of the old.
const TELLS_OLD: &[&str] = &["原", "旧", "老的", "之前", "以前", "old ", "the old ", "formerly"];

/// A number replaces a number, a name a name.
fn same_kind(a: &Change, b: &Change) -> bool {
    let numeric = |change: &Change| change.new.iter().any(|new| new.contains(|c: char| c.is_ascii_digit()));
    numeric(a) == numeric(b)
}

/// Whether a clause holds a value as a whole, not as a part of a longer number.
pub(in crate::memory) fn holds(clause: &str, value: &str) -> bool {
    let clause = clause.to_lowercase();
    // Most clauses hold nothing like it: 三 may be a 3, else the value stands there as it is.
    if !clause.contains(value) && !clause.contains(NUMERALS) {
        return false;
    }
    let features = Features::of(&clause);
    if features.values().any(|held| held == value) {
        return true;
    }
    !value.contains(|c: char| c.is_ascii_digit()) && clause.contains(value)
}

const NUMERALS: &[char] = &['二', '两', '三', '四', '五', '六', '七', '八', '九', '十', '百', '千'];

fn subject(text: &str) -> BTreeSet<String> {
    let features = Features::of(text);
    features.words.into_iter().filter(|word| !features.numbers.contains(word)).collect()
}

/// What tells one of several like things from the others.
fn which(text: &str) -> BTreeSet<String> {
    static ONE_OF: OnceLock<Regex> = OnceLock::new();
    const CUE: &str = r"[一二三四五六七八九十甲乙丙丁东西南北左右前后][号楼层栋室间台组班厅门区]|\b[A-Z]\b";
    let mut which: BTreeSet<String> = Features::of(text).values().cloned().collect();
    which.extend(ONE_OF.get_or_init(|| rule(CUE)).find_iter(text).map(|found| found.as_str().to_owned()));
    which
}

/// What stands right before a change: the last clause that says something. A short key (`退房：`) belongs to it, a
/// heading does not.
fn last_sentence(text: &str) -> &str {
    let says = |part: &&str| part.chars().any(char::is_alphanumeric);
    let clause = text.rsplit(['。', '；', ';']).find(says).unwrap_or(text);
    match clause.rsplit_once(['：', ':']) {
        Some((head, rest)) if says(&rest) && head.chars().count() >= HEADING_CHARS => rest,
        _ => clause,
    }
}

/// From so many characters on, what stands before a colon is a heading.
const HEADING_CHARS: usize = 8;

fn is_value(text: &str) -> bool {
    text.contains(|c: char| c.is_ascii_digit()) || text.chars().next().is_some_and(char::is_uppercase)
}

fn is_attribute(text: &str) -> bool {
    !text.contains(|c: char| c.is_ascii_digit()) && text.ends_with(ATTRIBUTES)
}

/// The values of a phrase: its numbers, else its names, else the phrase.
fn values(phrase: &str, specific: bool) -> Vec<String> {
    let features = Features::of(phrase);
    if !features.numbers.is_empty() {
        return features.numbers.into_iter().collect();
    }
    let phrase = phrase.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let names: Vec<String> = features.names.into_iter().collect();
    match names.is_empty() {
        false => names,
        true if specific || !(2..=16).contains(&phrase.chars().count()) => Vec::new(),
        true => vec![phrase],
    }
}

struct Rule {
    expression: Regex,
    /// `old` counts only with a digit or a capital.
    names_only: bool,
    /// `old` counts only by its numbers and names, not as a phrase.
    specific: bool,
}

fn rules() -> &'static [Rule] {
    const ZH: &str = r"(?:改为|改成|改到|改用|改走|换成|换到|换为|换了|挪到|迁到|移到|搬到|调到|调成|调为|升到|升级到|升级为|降到|降为|变成|变为|涨到|切到|切换到|提前到|推迟到|延长到|缩短到)";
    const PART: &str = r"[^，。；：,;（）()\n]{1,24}";
    // A word, and what belongs to it: Node 22, 27 °C, Byrne & Co.
    const EN: &str =
        r"(?:the |a |an |port |version )?[^\s,;()]+(?: [^\s,;()]*[0-9°%][^\s,;()]*| &| [A-Z][\w-]*)*";
    static RULES: OnceLock<Vec<Rule>> = OnceLock::new();
    RULES.get_or_init(|| {
        [
            (format!(r"(?:由|从)\s*(?P<old>{PART}?)\s*{ZH}\s*了?(?P<new>{PART})"), false, false),
            (format!(r"(?P<old>[^，。；：,;\s（）()了把将从由]{{2,10}}?)\s*(?:改成|改为|换成|换为|替换为)\s*(?P<new>{PART})"), false, false),
            (format!(r"{ZH}\s*(?P<new>{PART})"), false, false),
            (format!(r"(?:统一(?:写|用|为|成)|固定(?:地址|为|在)|现在(?:是|用|监听|在|改)|定为|设为)\s*(?P<new>{PART})"), false, false),
            (r"(?:现在|如今|目前)\s*(?P<subject>\p{Han}{2,8}?)\s*(?P<new>[0-9][^，。；,;（）()\n]{0,16})".to_owned(), false, false),
            (format!(r"(?:别再|不再|不要再|不用再)(?:出现|使用|用|写|叫|发|提)?\s*(?P<old>{PART})"), false, true),
            (r"旧[^，。；]{0,12}[（(](?P<old>[^）)]{1,30})[）)]".to_owned(), false, true),
            (format!(r"(?:原来|原先|之前|以前|原本)(?:是|为|用|叫)\s*(?P<old>{PART})"), false, false),
            (r"(?P<old>[0-9.]+)\s*(?:他|她|用户|我)?(?:还是|仍然?|也)?嫌".to_owned(), true, true),
            (format!(r"\b(?i:moved?|changed?|switched|went|goes|raised|lowered|upgraded|migrated|renamed|bumped|cut|increased|reduced|shifted|pushed|extended|shortened)\b(?P<subject>[^;]{{0,40}}?)\bfrom (?P<old>{EN}) to (?P<new>{EN})"), false, false),
            (format!(r"\b(?i:moved? to|changed? to|switched to|set to|becomes?|is now(?: on| at| in)?|are now(?: on| at| in)?|(?:runs?|lives?|listens?|sits?|works?) now (?:on|at|in)|now (?:uses?|runs? on|listens? on)|upgraded to|replaced (?:by|with)|go(?:es)? to) (?P<new>{EN})"), false, false),
            (r"(?P<old>[A-Z][\w-]+) (?:stops|is out|is gone|retires|was replaced|is replaced|closes|ends)\b".to_owned(), true, false),
            (r"(?P<new>[A-Z][\w-]+)(?: & [A-Z][\w-]+)? (?:takes? over|replaces?|is the new)\b".to_owned(), false, false),
            (r"\b(?i:replac(?:es|ing)|instead of|no longer (?:on|at|uses?)|not on|rather than) (?P<old>[\w.:/-]+)".to_owned(), false, true),
            (r"\b(?i:was|were|used to be|formerly|previously|before it was) (?P<old>[\w.:/-]+)".to_owned(), true, true),
        ]
        .into_iter()
        .map(|(expression, names_only, specific)| Rule { expression: rule(&expression), names_only, specific })
        .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values_of(set: &BTreeSet<String>) -> Vec<&str> {
        set.iter().map(String::as_str).collect()
    }

    #[test]
    fn old_and_new_are_read_from_either_language() {
        for (text, old, new) in [
            ("网关端口由 7001 改为 7002", vec!["7001"], vec!["7002"]),
            ("阿福换了粮：大地改成蓝海", vec!["大地"], vec!["蓝海"]),
            ("音量改成 30，40 他还是嫌吵", vec!["40"], vec!["30"]),
            ("以后封面统一用 A5，别再用 B5", vec!["b5"], vec!["a5"]),
            ("Moved the forum from port 81 to 82", vec!["81"], vec!["82"]),
            ("Bread now comes fresh: Alder stops in May, Birch takes over", vec!["alder"], vec!["birch"]),
        ] {
            let change = Change::of(text);
            assert!(change.explicit, "{text}");
            assert_eq!((values_of(&change.old), values_of(&change.new)), (old, new), "{text}");
        }
    }

    #[test]
    fn a_state_is_no_change() {
        let state = Change::of("论坛跑在 81 端口");
        assert!(!state.explicit && state.new.contains("81") && state.subject.contains("论坛"));
    }

    #[test]
    fn the_later_state_wins_and_what_came_back_is_not_old() {
        let states = ["音量调到 40", "音量改成 30", "音量改成 40"].map(Change::of);
        let old = |upto: usize| {
            replaced(states.get(..upto).unwrap()).into_iter().map(|found| found.old).collect::<Vec<_>>()
        };
        assert_eq!(old(2), ["40"]);
        assert_eq!(old(3), ["30"]);
    }

    #[test]
    fn one_of_several_does_not_replace_another() {
        for (a, b) in [
            ("一号机房温度改成 25 度", "二号机房温度改成 27 度"),
            ("home-agent 端口改为 8101", "work-agent 端口改为 8102"),
            ("Oven A set to 220 °C", "Oven B set to 180 °C"),
        ] {
            assert_eq!(replaced(&[a, b].map(Change::of)), [], "{a} / {b}");
        }
    }

    #[test]
    fn the_same_value_of_another_thing_stays() {
        let list = replaced(&[Change::of("论坛从 81 挪到 82，81 留给商店")]);
        let said = |text: &str| list.iter().any(|old| old.is_said_by(text, &Features::of(text).words));
        assert!(said("论坛在 81 端口"));
        assert!(!said("商店在 81 端口"));
        assert!(!said("论坛的旧端口 81 关了"));
    }
}
