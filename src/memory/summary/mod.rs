//! What becomes of a conversation's messages when they leave the window: the background in a sentence, then the key
//! points one a line. Without a language model both are extracted, and the summary says so.

mod signals;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::HashSet;

use chrono::{NaiveDate, NaiveDateTime};
use unicode_segmentation::UnicodeSegmentation;

use super::chunk::ends_sentence;
use super::conversation::Role;
use super::preview::preview;
use super::segment::Language;
use signals::{Point, names_a_relative_day};

/// The longest background, in user-perceived characters.
pub const BACKGROUND: usize = 100;
/// The longest line of a point, in user-perceived characters, without its label.
const LINE: usize = 120;
/// A sentence that short, in user-perceived characters, says something only with a number in it.
const SHORT: usize = 4;
/// What parts the topics of a background.
const TOPICS: &str = "；";

/// Who made a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryBy {
    /// The tables: its sentences stand in the conversation as they are.
    Rules,
    /// A language model, in its own words.
    Model,
}

/// A message to be summarised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said<'a> {
    /// Who.
    pub role: Role,
    /// On the user's wall clock.
    pub at: NaiveDateTime,
    /// What.
    pub content: &'a str,
}

/// What stands for a conversation's messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Who made it.
    pub by: SummaryBy,
    /// What the conversation is about, within [`BACKGROUND`] characters.
    pub background: String,
    /// Wishes, preferences, open points, decisions, facts: one a line, in the order they were said.
    pub points: Vec<String>,
}

/// The headings of summaries as memories, in Chinese and in English.
const HEADINGS: [(SummaryBy, [&str; 2]); 2] = [
    (SummaryBy::Rules, ["对话摘要（按规则摘录）", "Summary of a conversation (extracted by rules)"]),
    (SummaryBy::Model, ["对话摘要", "Summary of a conversation"]),
];

impl Summary {
    /// The text: the background, then a line for each point.
    pub fn text(&self) -> String {
        let lines = self.points.iter().map(|point| format!("- {point}"));
        let background = (!self.background.is_empty()).then(|| self.background.clone());
        background.into_iter().chain(lines).collect::<Vec<_>>().join("\n")
    }

    /// Each line by itself, the first one with the heading: that it is a summary, and who made it.
    pub fn lines(&self) -> Vec<String> {
        let background = match Language::of(&self.background) {
            _ if self.background.is_empty() => self.heading().to_owned(),
            Language::Chinese => format!("{}：{}", self.heading(), self.background),
            Language::English => format!("{}: {}", self.heading(), self.background),
        };
        [background].into_iter().chain(self.points.iter().cloned()).collect()
    }

    /// What stands above it: that it is a summary, and who made it.
    pub fn heading(&self) -> &'static str {
        let headings = HEADINGS.iter().find(|(by, _)| *by == self.by).map(|(_, headings)| headings);
        headings.map_or("", |[chinese, english]| match Language::of(&self.text()) {
            Language::Chinese => chinese,
            Language::English => english,
        })
    }

    /// A summary as it was kept, from its heading and its text.
    pub fn read(heading: &str, text: &str) -> Self {
        let by = HEADINGS.iter().find(|(_, headings)| headings.contains(&heading));
        let (points, background): (Vec<&str>, Vec<&str>) =
            text.lines().partition(|line| line.starts_with("- "));
        Self {
            by: by.map_or(SummaryBy::Rules, |(by, _)| *by),
            background: background.join(" "),
            points: points.into_iter().map(|line| line.trim_start_matches("- ").to_owned()).collect(),
        }
    }

    /// What its points say, each without its label, with the day it was said on where the label names that. What was
    /// merely mentioned is left out.
    pub fn statements(&self) -> Vec<(Option<NaiveDate>, &str)> {
        let told = self.points.iter().filter(|point| !Point::Plain.labels(point));
        told.map(|point| match Point::of_line(point) {
            Point::Plain => (None, point.as_str()),
            _ => unlabelled(point),
        })
        .collect()
    }

    /// This summary with the next one of the same conversation: the first topic and the last, and the points of both,
    /// each once. Beyond `max_tokens` those go of which there are most, the oldest first.
    pub fn fold(self, next: Self, max_tokens: usize, count: &dyn Fn(&str) -> usize) -> Self {
        let by = if self.by == next.by { self.by } else { SummaryBy::Rules };
        let mut points = self.points;
        points.extend(next.points);
        let mut folded = Self { by, background: background(&self.background, &next.background), points };
        folded.drop_repeated();
        while !folded.points.is_empty() && count(&folded.text()) > max_tokens {
            folded.points.remove(most_common(&folded.points));
        }
        folded.shorten_background(max_tokens, count);
        folded
    }

    fn drop_repeated(&mut self) {
        let mut seen = HashSet::new();
        self.points.retain(|point| seen.insert(point.clone()));
    }

    /// A window may be so small that not even the background fits.
    fn shorten_background(&mut self, max_tokens: usize, count: &dyn Fn(&str) -> usize) {
        let mut length = self.background.graphemes(true).count();
        while length > 0 && count(&self.text()) > max_tokens {
            length = length * 3 / 4;
            self.background = preview(&self.background, length);
        }
    }
}

/// A sentence of the conversation and what it is about.
struct Sentence<'a> {
    said: Said<'a>,
    text: &'a str,
    point: Point,
}

/// Extracts the sentences that tell most, at most `max_tokens` of them together with the background.
///
/// What the user says comes before what the agent says, of whom only decisions, facts and open points count. Code,
/// quotations, tool output and pleasantries are left out; a question counts if nobody answered it.
pub fn by_rules(messages: &[Said<'_>], max_tokens: usize, count: &dyn Fn(&str) -> usize) -> Summary {
    let answered = messages.iter().rposition(|said| said.role == Role::Assistant);
    let sentences: Vec<Sentence<'_>> = messages
        .iter()
        .enumerate()
        .flat_map(|(at, said)| {
            let is_answered = answered.is_some_and(|answered| answered > at);
            sentences(said.content).into_iter().filter_map(move |text| sentence(*said, text, is_answered))
        })
        .collect();
    let language = Language::of(&sentences.iter().map(|one| one.text).collect::<Vec<_>>().join("\n"));
    let background = topics(messages);

    let mut summary = Summary { by: SummaryBy::Rules, background, points: Vec::new() };
    summary.shorten_background(max_tokens, count);
    let mut left = max_tokens.saturating_sub(count(&summary.text()));
    let mut chosen = Vec::new();
    for at in by_worth(&sentences) {
        let Some(line) = sentences.get(at).map(|one| one.line(language)) else { continue };
        // A line costs what it costs alone and its line end.
        let cost = count(&format!("\n- {line}"));
        if cost <= left && !chosen.iter().any(|(_, other)| *other == line) {
            left -= cost;
            chosen.push((at, line));
        }
    }
    chosen.sort_by_key(|(at, _)| *at);
    summary.points = chosen.into_iter().map(|(_, line)| line).collect();
    summary
}

/// A labelled line without its label, and the day that stands in the label's brackets.
fn unlabelled(line: &str) -> (Option<NaiveDate>, &str) {
    let Some((label, text)) = line.split_once(['：', ':']) else { return (None, line) };
    // Between the brackets stands a time with a colon of its own.
    let (label, text) = match label.contains(['（', '(']) && !label.ends_with(['）', ')']) {
        true => line.split_once("）：").or_else(|| line.split_once("): ")).unwrap_or((label, text)),
        false => (label, text),
    };
    let words = label.split(|c: char| !(c.is_ascii_digit() || c == '-'));
    (words.filter_map(|word| word.parse().ok()).next(), text.trim_start())
}

fn sentence<'a>(said: Said<'a>, text: &'a str, is_answered: bool) -> Option<Sentence<'a>> {
    let is_short = text.graphemes(true).count() < SHORT && !text.contains(|c: char| c.is_ascii_digit());
    let point = Point::of(text).filter(|_| !is_short)?;
    let asks = text.ends_with(['？', '?', '吗', '呢']);
    let point = match (said.role, asks) {
        (Role::User, true) if is_answered => return None,
        (Role::User, true) => Point::Open,
        (Role::User, false) => point,
        (Role::Assistant, false) if matches!(point, Point::Decision | Point::Fact | Point::Open) => point,
        _ => return None,
    };
    Some(Sentence { said, text, point })
}

/// The order in which sentences are chosen: of each point one, then of each the second, so that no point crowds out the
/// others; the user's own before the agent's; what was merely said, and what only repeats a sentence with other numbers,
/// at the end.
fn by_worth(sentences: &[Sentence<'_>]) -> Vec<usize> {
    let mut seen = HashSet::new();
    let mut order: Vec<(usize, &Sentence<'_>, bool)> = Vec::with_capacity(sentences.len());
    for (at, sentence) in sentences.iter().enumerate() {
        let words: String = sentence.text.chars().filter(|c| !c.is_ascii_digit()).collect();
        order.push((at, sentence, !seen.insert(words)));
    }
    order.sort_by_key(|(_, one, repeats)| (*repeats, one.said.role != Role::User));
    let mut met: Vec<Point> = Vec::with_capacity(order.len());
    let mut keyed: Vec<_> = order
        .into_iter()
        .map(|(at, one, repeats)| {
            let before = met.iter().filter(|point| **point == one.point).count();
            met.push(one.point);
            ((repeats, one.point == Point::Plain, before, Reverse(one.point)), at)
        })
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(_, at)| at).collect()
}

/// The oldest point of the kind of which there are most.
fn most_common(points: &[String]) -> usize {
    let kinds: Vec<Point> = points.iter().map(|point| Point::of_line(point)).collect();
    let count = |kind: Point| kinds.iter().filter(|other| **other == kind).count();
    let most = kinds.iter().copied().max_by_key(|kind| (count(*kind), Reverse(*kind)));
    kinds.iter().position(|kind| Some(*kind) == most).unwrap_or_default()
}

impl Sentence<'_> {
    /// The label, whose it is if not the user's, when it was said if that matters, and the sentence.
    fn line(&self, language: Language) -> String {
        let agent = match language {
            Language::Chinese => "助手",
            Language::English => "assistant",
        };
        let when = if self.point == Point::Decision {
            Some(self.said.at.format("%Y-%m-%d %H:%M").to_string())
        } else if names_a_relative_day(self.text) {
            Some(self.said.at.format("%Y-%m-%d").to_string())
        } else {
            None
        };
        let who = (self.said.role == Role::Assistant).then(|| agent.to_owned());
        let about: Vec<String> = who.into_iter().chain(when).collect();
        let (label, text) = (self.point.label(language), preview(self.text, LINE));
        match (language, about.is_empty()) {
            (Language::Chinese, true) => format!("{label}：{text}"),
            (Language::Chinese, false) => format!("{label}（{}）：{text}", about.join("，")),
            (Language::English, true) => format!("{label}: {text}"),
            (Language::English, false) => format!("{label} ({}): {text}", about.join(", ")),
        }
    }
}

/// What the conversation began with and what it came to: the first and the last thing the user said that says anything.
fn topics(messages: &[Said<'_>]) -> String {
    let said = |role: Role| {
        let of_role = messages.iter().filter(move |said| said.role == role);
        of_role.flat_map(|said| sentences(said.content)).filter(|text| Point::of(text).is_some())
    };
    let mut all: Vec<&str> = said(Role::User).collect();
    if all.is_empty() {
        all.extend(said(Role::Assistant));
    }
    match (all.first(), all.last()) {
        (Some(first), Some(last)) if all.len() > 1 => background(first, last),
        (Some(only), _) => preview(only, BACKGROUND),
        _ => String::new(),
    }
}

/// The first topic of the one background and the last of the other, together within [`BACKGROUND`] characters.
fn background(before: &str, after: &str) -> String {
    let first = before.split(TOPICS).next().unwrap_or_default().trim();
    let last = after.rsplit(TOPICS).next().unwrap_or_default().trim();
    let length = |text: &str| text.graphemes(true).count();
    match (first.is_empty(), last.is_empty() || first == last) {
        (true, _) => preview(last, BACKGROUND),
        (false, true) => preview(first, BACKGROUND),
        (false, false) => {
            let room = BACKGROUND - length(TOPICS);
            let first = preview(first, room.saturating_sub(length(last)).max(room / 2));
            let last = preview(last, room - length(&first));
            format!("{first}{TOPICS}{last}")
        }
    }
}

/// The sentences of a message, without code and quotations.
fn sentences(text: &str) -> Vec<&str> {
    let mut fenced = false;
    let prose = text.lines().filter(|line| {
        let line = line.trim_start();
        let fence = line.starts_with("```") || line.starts_with("~~~");
        fenced ^= fence;
        !fence && !fenced && !line.starts_with(['>', '|'])
    });
    prose.flat_map(sentences_of_line).collect()
}

fn sentences_of_line(line: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    let mut start = 0;
    let mut graphemes = line.grapheme_indices(true).peekable();
    while let Some((at, grapheme)) = graphemes.next() {
        let next = graphemes.peek().map(|(_, next)| *next);
        if next.is_none() || ends_sentence(grapheme, next) {
            let end = at + grapheme.len();
            let text = line.get(start..end).unwrap_or_default().trim();
            sentences.push(without_marks(text).trim_end_matches(['。', '；', ';', '.']));
            start = end;
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

/// A line without the marks of lists and headings it begins with.
fn without_marks(mut text: &str) -> &str {
    while let Some(rest) = ["- ", "* ", "+ ", "#"].iter().find_map(|mark| text.strip_prefix(mark)) {
        text = rest.trim_start();
    }
    text
}
