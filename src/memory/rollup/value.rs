//! What a clause is worth to somebody who reads only the page.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use regex::Regex;

use super::merge::Draft;
use crate::memory::Mark;
use crate::memory::statement::{Change, Features, holds, join};
use crate::memory::worth::{self, Topic};

/// What each new number or name adds, up to three of them.
const NEWS: i32 = 3;
/// What a place (a path, an address) adds, which nobody guesses.
const PLACE: i32 = 2;
/// What a word of lasting adds.
const LASTING: i32 = 2;
/// What the cause or the cure adds where something is fixed.
const CAUSE: i32 = 5;
/// What the new value adds where something changed: without it the line says the opposite.
const NEW_VALUE: i32 = 4;
/// What adds where a life may depend on it.
const VITAL: i32 = 6;
/// What an aside takes away.
const ASIDE: i32 = -3;
/// What a subject adds: the first clause has it.
const SUBJECT: i32 = 2;

/// What the first clause of `draft` is worth by itself, without what the whole line is worth.
pub(super) fn first_alone(draft: &Draft, values: &[i32]) -> i32 {
    values.first().map_or(0, |first| first - line(draft).max(0))
}

/// What each clause of a draft is worth, in the order they stand.
pub(super) fn of(draft: &Draft) -> Vec<i32> {
    let rules = rules();
    let line = line(draft);
    let change = Change::of(&join(&draft.clauses));
    let mut told: BTreeSet<String> = BTreeSet::new();
    let mut values = Vec::with_capacity(draft.clauses.len());
    for clause in &draft.clauses {
        let text = clause.text.to_lowercase();
        let features = Features::of(&clause.text);
        let news = features.values().filter(|value| !told.contains(*value)).count() as i32;
        let is_place = |value: &String| {
            value.chars().nth(3).is_some() && (value.contains(['/', '_']) || value.matches('.').count() > 1)
        };
        let is_cause = draft.topic == Topic::Fixes && rules.cause.is_match(&text);
        let is_new = change.explicit && change.new.iter().any(|new| holds(&text, new));
        let news = news + i32::from(rules.count.is_match(&text));
        let mut value = NEWS * news.min(3);
        value += PLACE * i32::from(features.values().any(is_place));
        value += LASTING * i32::from(worth::is_durable(&text));
        value += CAUSE * i32::from(is_cause);
        value += VITAL * i32::from(rules.vital.is_match(&text));
        value += NEW_VALUE * i32::from(is_new);
        value += ASIDE * i32::from(rules.aside.is_match(&text) && !is_cause);
        if values.is_empty() {
            value += SUBJECT + line;
        } else if news > 0 {
            value += line.max(0) / 2;
        }
        told.extend(features.values().cloned());
        values.push(value);
    }
    values
}

/// What a whole line is worth beyond its words.
fn line(draft: &Draft) -> i32 {
    let topic = match draft.topic {
        Topic::Fixes => 3,
        Topic::Decisions | Topic::People | Topic::Configuration => 2,
        Topic::Plans => 1,
        Topic::Projects => 0,
    };
    let doubtful = match (draft.doubtful, draft.specific) {
        (false, _) => 0,
        (true, true) => 1,
        (true, false) => 4,
    };
    let said_again = draft.sources.len().saturating_sub(1).min(3) as i32;
    topic
        + 6 * i32::from(draft.mark == Mark::User)
        + 6 * i32::from(draft.for_ever)
        + 2 * i32::from(draft.durable)
        + 3 * said_again
        - doubtful
        - 8 * i32::from(draft.routine)
        + 6 * i32::from(draft.open)
        - 6 * i32::from(draft.ends.is_some())
}

struct Rules {
    aside: Regex,
    cause: Regex,
    count: Regex,
    vital: Regex,
}

fn rules() -> &'static Rules {
    static RULES: OnceLock<Rules> = OnceLock::new();
    RULES.get_or_init(|| Rules {
        // What only gives a reason, a reaction, or how it was announced.
        aside: rule(r"^(已(经)?(连续|执行|坚持|运行)|理由|因为|毕竟|显得|反正|顺便|已通知|已告知|已告诉|已备注|已登记|已贴|说是|听说|免得|省得|感觉|确实|挺|后来|之后)|同步改了|也登记了|换好了$|(了解|知道)了$|电话存在|^(because|since|as|so that|which|who|she|he|they|everybody|everyone|said again|again|by the way|apparently|also)\b|is updated|was updated|rejected|reminded|by phone|was firm"),
        cause: rule(r"原因|根因|查了|查明|因为.*(没|错|坏)|后(正常|恢复|解决|跑通|好了)|恢复|解决|改用|调到|关掉|重配|重装|改为|就(好|正常)|fixed|by turning|now |cause|due to|after |helped|replaced|turned out"),
        vital: rule(r"过敏|不耐受|忌口|血型|禁忌|急救|\ballerg|intoleran|blood type|emergenc"),
        count: rule(r"\b(one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty|hundred|thousand|million|billion|half|twice|double)\b"),
    })
}

fn rule(text: &str) -> Regex {
    crate::memory::statement::expression(text)
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_rule_compiles() {
        let rules = super::rules();
        for rule in [&rules.aside, &rules.cause, &rules.count, &rules.vital] {
            assert_ne!(rule.as_str(), "$^");
        }
    }
}
