//! What of a note is worth keeping, told by its words: the gate before a week's page and long-term memory.
//!
//! Tables of cues decide, Chinese and English alike; no case is handled by itself. What no cue speaks against is kept.

mod tables;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};

use super::segment::{self, Language};

/// Whether a line is worth keeping, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Worth {
    /// Heartbeats, checks and reports that all is well.
    Routine,
    /// Politeness, weather, moods, meals, jokes, and what is none of the user's.
    Chatter,
    /// A wish, a dream, or a thought nobody decided on.
    Hypothetical,
    /// What a program printed.
    ToolOutput,
    /// A fact, a preference, a decision, a setting, a fix, a milestone, a plan.
    Keep,
}

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topic {
    /// Projects, services, and what went on with them.
    Projects,
    /// Hosts, ports, paths, versions, settings, schedules.
    Configuration,
    /// What was decided or found.
    Decisions,
    /// What broke, why, and what helped.
    Fixes,
    /// Preferences, health, and people.
    People,
    /// What is yet to come.
    Plans,
}

impl Topic {
    /// All, in the order a page shows them.
    pub const ALL: [Self; 6] =
        [Self::Projects, Self::Configuration, Self::Decisions, Self::Fixes, Self::People, Self::Plans];

    /// Its heading.
    pub fn title(self, language: Language) -> &'static str {
        match (self, language) {
            (Self::Projects, Language::Chinese) => "项目与服务",
            (Self::Configuration, Language::Chinese) => "配置",
            (Self::Decisions, Language::Chinese) => "决定与结论",
            (Self::Fixes, Language::Chinese) => "修复",
            (Self::People, Language::Chinese) => "偏好与人",
            (Self::Plans, Language::Chinese) => "计划",
            (Self::Projects, Language::English) => "Projects and services",
            (Self::Configuration, Language::English) => "Configuration",
            (Self::Decisions, Language::English) => "Decisions",
            (Self::Fixes, Language::English) => "Fixes",
            (Self::People, Language::English) => "Preferences and people",
            (Self::Plans, Language::English) => "Plans",
        }
    }

    /// The topic with this heading, in either language.
    pub fn titled(title: &str) -> Option<Self> {
        let is = |topic: &Self| Language::ALL.into_iter().any(|language| topic.title(language) == title);
        Self::ALL.into_iter().find(is)
    }
}

/// Whether `content`, found under the headings `context`, is worth keeping.
///
/// A line the user asked for is worth keeping whatever this says; that is for the caller to know.
pub fn judge(content: &str, context: &str) -> Worth {
    let cues = cues();
    let text = segment::normalise(content);
    let text = text.trim();
    let heading = segment::normalise(context);
    if hits(&cues.tool_output, text) {
        return Worth::ToolOutput;
    }
    if (hits(&cues.routine, text) || hits(&cues.routine, &heading)) && !tells_trouble(text) {
        return Worth::Routine;
    }
    if hits(&cues.hypothetical, text) {
        return Worth::Hypothetical;
    }
    let durable = hits(&cues.durable, text);
    let chats = hits(&cues.chatter, text) || (hits(&cues.chat_headings, &heading) && !names_something(text));
    let technical = text.contains(|c: char| c.is_ascii_digit())
        && matches!(topic(content, ""), Some(Topic::Configuration | Topic::Fixes | Topic::Decisions));
    // Talk about the weather may hold 改到; what is said to last, or names a number, may be meant.
    if chats && !technical && !(durable && says_it_lasts(text)) {
        return Worth::Chatter;
    }
    Worth::Keep
}

/// What `content`, found under the headings `context`, is about; `None` if nothing tells.
pub fn topic(content: &str, context: &str) -> Option<Topic> {
    let text = segment::normalise(content);
    let heading = segment::normalise(context);
    let mut scores = Topic::ALL.map(|topic| (topic, 0));
    for (topic, weight, cue) in &cues().topics {
        let said = if cue.is_match(text.trim()) { *weight } else { 0 };
        // A heading says what most of its lines are about, not each.
        let headed = u32::from(cue.is_match(&heading));
        for (_, score) in scores.iter_mut().filter(|(of, _)| of == topic) {
            *score += said + headed;
        }
    }
    let best = scores.iter().map(|(_, score)| *score).max().unwrap_or_default();
    let order =
        [Topic::People, Topic::Fixes, Topic::Decisions, Topic::Configuration, Topic::Plans, Topic::Projects];
    let is_best = |topic: &Topic| best > 0 && scores.contains(&(*topic, best));
    order.into_iter().find(is_best)
}

/// Whether the user wants it kept for ever: 永远记住, "always remember".
pub fn is_for_ever(content: &str) -> bool {
    hits(&cues().always, &segment::normalise(content))
}

/// Whether the line itself, or a heading above it, asks to keep it: 记住, "remember:".
pub fn is_asked_for(content: &str, context: &str) -> bool {
    let cues = cues();
    hits(&cues.asked, segment::normalise(content).trim())
        || hits(&cues.asked_headings, &segment::normalise(context))
}

/// Whether `content` is said to last: a rule, a habit, a preference, a decision.
pub fn is_durable(content: &str) -> bool {
    hits(&cues().durable, &segment::normalise(content))
}

/// Whether `content` speaks of routine, even if something was wrong this time.
pub fn is_of_routine(content: &str) -> bool {
    hits(&cues().routine, segment::normalise(content).trim())
}

/// Whether `content` tells of trouble that is not denied in the same breath.
pub fn tells_of_trouble(content: &str) -> bool {
    tells_trouble(&segment::normalise(content))
}

/// Whether the headings say that this was only tried on the way.
pub fn is_on_the_way(context: &str) -> bool {
    hits(&cues().trials, &segment::normalise(context))
}

fn tells_trouble(text: &str) -> bool {
    let cues = cues();
    match &cues.no_trouble {
        Some(denied) => hits(&cues.trouble, &denied.replace_all(text, "")),
        None => hits(&cues.trouble, text),
    }
}

/// Whether `content` says in so many words that it lasts, rather than that something changed.
pub fn is_lasting(content: &str) -> bool {
    says_it_lasts(&segment::normalise(content))
}

/// Words that outweigh a cue of chatter, unlike a mere change of plans.
fn says_it_lasts(text: &str) -> bool {
    static WORDS: OnceLock<Option<Regex>> = OnceLock::new();
    const LASTING: &str = r"记住|记下|永远|一律|统一|以后|从此|今后|每次|总是|从不|必须|不许|禁止|只[用喝吃要]|不[吃喝碰]|不能吃|过敏|忌口|偏好|约定|规定|决定|结论|敲定|定为|remember|always|never|from now on|\bevery\b|\bmust\b|prefer|\bwants?\b|allerg|decided|decision|\bfinal\b|settled|agreed|\brule\b|policy|no longer";
    WORDS.get_or_init(|| compile(LASTING)).as_ref().is_some_and(|words| words.is_match(text))
}

/// Whether a line under a heading of chat names something one may want to know: a number, a path, a quoted name.
fn names_something(text: &str) -> bool {
    text.chars().any(|c| c.is_ascii_digit() || matches!(c, '/' | '「' | '《' | '`'))
        || hits(&cues().durable, text)
}

struct Cues {
    routine: Vec<Regex>,
    trouble: Vec<Regex>,
    no_trouble: Option<Regex>,
    chatter: Vec<Regex>,
    chat_headings: Vec<Regex>,
    hypothetical: Vec<Regex>,
    tool_output: Vec<Regex>,
    durable: Vec<Regex>,
    always: Vec<Regex>,
    trials: Vec<Regex>,
    asked: Vec<Regex>,
    asked_headings: Vec<Regex>,
    topics: Vec<(Topic, u32, Regex)>,
}

fn cues() -> &'static Cues {
    static CUES: OnceLock<Cues> = OnceLock::new();
    CUES.get_or_init(|| Cues {
        routine: all(tables::ROUTINE),
        trouble: all(tables::TROUBLE),
        no_trouble: compile(tables::NO_TROUBLE),
        chatter: all(tables::CHATTER),
        chat_headings: all(tables::CHAT_HEADINGS),
        hypothetical: all(tables::HYPOTHETICAL),
        tool_output: all(tables::TOOL_OUTPUT),
        durable: all(tables::DURABLE),
        always: all(tables::ALWAYS),
        trials: all(tables::TRIALS),
        asked: all(tables::ASKED),
        asked_headings: all(tables::ASKED_HEADINGS),
        topics: tables::TOPICS
            .iter()
            .filter_map(|(topic, weight, cue)| Some((*topic, *weight, compile(cue)?)))
            .collect(),
    })
}

fn all(table: &[&str]) -> Vec<Regex> {
    table.iter().filter_map(|cue| compile(cue)).collect()
}

/// A cue; the tests see to it that each compiles.
fn compile(cue: &str) -> Option<Regex> {
    RegexBuilder::new(cue).size_limit(1 << 24).build().ok()
}

fn hits(cues: &[Regex], text: &str) -> bool {
    cues.iter().any(|cue| cue.is_match(text))
}
