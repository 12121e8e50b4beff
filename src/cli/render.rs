//! Answers as a person reads them. Styles are dropped where they are not shown (see [`super::app::App::print`]).

use anstyle::{AnsiColor, Style};

use super::lang::Lang;
use crate::memory::Mark;
use crate::wire::clear::ClearResult;
use crate::wire::methods::{
    ContextResult, Empty, ForgetResult, Hit, Item, ItemSource, Leg, LegName, ListResult, ScoreParts,
    SearchResult, Timings,
};
use crate::wire::sweep::{SweepHeld, SweepResult};

/// What matters less.
pub(super) const DIM: Style = Style::new().dimmed();
/// What the eye should meet first.
pub(super) const STRONG: Style = Style::new().bold();
/// All is well.
pub(super) const GOOD: Style = AnsiColor::Green.on_default().bold();
/// Something is to be done.
pub(super) const WARN: Style = AnsiColor::Yellow.on_default().bold();

/// The hits of a search, or why there are none.
pub(super) fn search(lang: Lang, found: &SearchResult, explain: bool) -> String {
    let mut parts: Vec<String> =
        found.hits.iter().enumerate().map(|(place, hit)| numbered_hit(lang, place + 1, hit)).collect();
    parts.extend(found.empty.as_ref().map(|empty| why_empty(lang, empty)));
    parts.extend(how(lang, &found.legs, &found.timings, explain));
    parts.join("\n")
}

/// The block as an agent gets it, or why there is none.
pub(super) fn context(lang: Lang, made: &ContextResult, explain: bool) -> String {
    let mut parts = Vec::new();
    if !made.block.is_empty() {
        parts.push(made.block.clone());
    }
    parts.extend(made.empty.as_ref().map(|empty| why_empty(lang, empty)));
    if explain {
        let (tokens, left_out) = (made.tokens.to_string(), made.left_out.to_string());
        parts.push(lang.say("context.size", &[("tokens", &tokens), ("left_out", &left_out)]));
        parts.extend(made.items.iter().enumerate().map(|(place, hit)| numbered_hit(lang, place + 1, hit)));
    }
    parts.extend(how(lang, &made.legs, &made.timings, explain));
    parts.join("\n")
}

/// A page of memories.
pub(super) fn list(lang: Lang, listed: &ListResult) -> String {
    let mut parts: Vec<String> = listed.items.iter().map(|one| item(lang, one)).collect();
    let key = if listed.more { "list.more" } else { "list.all" };
    parts.push(lang.say(key, &[("shown", &listed.items.len().to_string())]));
    parts.join("\n")
}

/// What was forgotten, or would be, and where the words still stand.
pub(super) fn forget(lang: Lang, result: &ForgetResult) -> String {
    if result.items.is_empty() {
        return lang.say("forget.nothing", &[]);
    }
    let count = result.items.len().to_string();
    let key = if result.forgotten { "forget.done" } else { "forget.would" };
    let mut parts = vec![lang.say(key, &[("count", &count)])];
    parts.extend(result.items.iter().map(|one| item(lang, one)));
    if !result.still_in_files.is_empty() {
        parts.push(lang.say("forget.still_in_files", &[]));
        parts.extend(result.still_in_files.iter().map(|source| format!("  {}", place(source))));
    }
    parts.join("\n")
}

/// What would be cleared, and what becomes of the notes.
pub(super) fn clear(lang: Lang, shown: &ClearResult) -> String {
    if shown.count == 0 {
        return lang.say("forget.nothing", &[]);
    }
    let mut parts = vec![lang.say("clear.would", &[("count", &shown.count.to_string())])];
    parts.extend(shown.items.iter().map(|one| item(lang, one)));
    parts.extend(clear_in_files(lang, shown));
    parts.join("\n")
}

/// What was cleared, and what became of the notes.
pub(super) fn cleared(lang: Lang, done: &ClearResult) -> String {
    let mut parts = vec![lang.say("clear.done", &[("count", &done.count.to_string())])];
    parts.extend(clear_in_files(lang, done));
    parts.join("\n")
}

fn clear_in_files(lang: Lang, result: &ClearResult) -> Vec<String> {
    let counted = [("clear.lines_cut", result.lines_cut), ("clear.still_in_files", result.still_in_files)];
    let mut lines: Vec<String> = counted
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(key, count)| lang.say(key, &[("count", &count.to_string())]))
        .collect();
    lines.extend(
        result
            .not_cut
            .iter()
            .map(|failed| lang.say("clear.not_cut", &[("file", &failed.file), ("reason", &failed.reason)])),
    );
    lines
}

/// What a sweep let go or would let go, and why it waits if it does.
pub(super) fn sweep(lang: Lang, swept: &SweepResult) -> String {
    let numbers = [("count", swept.count.to_string()), ("of", swept.of.to_string())];
    let values: Vec<(&str, &str)> = numbers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let key = match (swept.count, swept.done) {
        (0, _) => "sweep.nothing",
        (_, true) => "sweep.done",
        (_, false) => "sweep.would",
    };
    let mut parts = vec![lang.say(key, &values)];
    parts.extend(swept.items.iter().map(|one| item(lang, &one.item)));
    let held = swept.held.map(|held| match held {
        SweepHeld::Clock => "sweep.held_clock",
        SweepHeld::TooMuch => "sweep.held_too_much",
    });
    parts.extend(held.map(|key| format!("{WARN}{}{WARN:#}", lang.say(key, &values))));
    parts.join("\n")
}

/// One memory: a line about it, and what it says.
pub(super) fn item(lang: Lang, item: &Item) -> String {
    format!("{}\n{}", about(lang, item), indented(&item.content))
}

fn numbered_hit(lang: Lang, number: usize, hit: &Hit) -> String {
    let mut text = format!(
        "{STRONG}{number}. {:.2}{STRONG:#}  {}\n{}",
        hit.score,
        about(lang, &hit.item),
        indented(&hit.item.content)
    );
    if let Some(parts) = &hit.parts {
        text.push_str(&format!("\n   {DIM}{}{DIM:#}", score_parts(lang, parts)));
    }
    text
}

/// Day, mark, headings, place and name of a memory.
fn about(lang: Lang, item: &Item) -> String {
    let day = item.day.map(|day| day.to_string());
    let time = item.time.map(|time| time.format("%H:%M").to_string());
    let mark = match item.mark {
        Mark::None => None,
        Mark::User => Some("[USER]"),
        Mark::Auto => Some("[AUTO]"),
        Mark::Sync => Some("[SYNC]"),
    };
    let when = [day.as_deref(), time.as_deref(), mark].into_iter().flatten().collect::<Vec<_>>().join(" ");
    let source = match &item.source {
        Some(source) => place(source),
        None => lang.say("item.no_file", &[]),
    };
    let fields = [when, item.context.clone(), source, item.id.to_string()];
    let fields: Vec<String> = fields.into_iter().filter(|field| !field.is_empty()).collect();
    format!("{DIM}{}{DIM:#}", fields.join(" · "))
}

fn place(source: &ItemSource) -> String {
    let (first, last) = source.lines;
    let lines = if first == last { first.to_string() } else { format!("{first}-{last}") };
    format!("{}:{lines}", source.file)
}

/// Control characters are left out: a note must not command the terminal.
fn indented(text: &str) -> String {
    let visible = |line: &str| line.chars().filter(|c| !c.is_control() || *c == '\t').collect::<String>();
    text.lines().map(|line| format!("   {}", visible(line))).collect::<Vec<_>>().join("\n")
}

fn score_parts(lang: Lang, parts: &ScoreParts) -> String {
    let behind = |name: &str, value: Option<f32>| {
        value.map(|value| format!(" ({name} {value:.3})")).unwrap_or_default()
    };
    lang.say(
        "explain.parts",
        &[
            ("vector", &format!("{:.2}{}", parts.vector, behind("cosine", parts.cosine))),
            ("keyword", &format!("{:.2}{}", parts.keyword, behind("BM25", parts.bm25))),
            ("time", &format!("{:.2}", parts.time)),
        ],
    )
}

/// Why an answer is empty.
fn why_empty(lang: Lang, empty: &Empty) -> String {
    match empty {
        Empty::NoMemories => lang.say("empty.no_memories", &[]),
        Empty::SwitchedOff => lang.say("empty.switched_off", &[]),
        Empty::NothingFound => lang.say("empty.nothing_found", &[]),
        Empty::BelowThreshold { best, min_score } => {
            let (best, min_score) = (format!("{best:.2}"), format!("{min_score:.2}"));
            lang.say("empty.below_threshold", &[("best", &best), ("min_score", &min_score)])
        }
    }
}

/// The ways of looking and the time they took, if that was asked for; a way that could not be gone is always told.
fn how(lang: Lang, legs: &[Leg], timings: &Timings, explain: bool) -> Vec<String> {
    let mut lines: Vec<String> = legs
        .iter()
        .filter(|leg| explain || (!leg.ran && leg.why_not.is_some()))
        .map(|leg| {
            let (name, count) = (leg_name(lang, leg.leg), leg.candidates.to_string());
            let line = match (&leg.why_not, leg.ran) {
                (_, true) => lang.say("leg.ran", &[("leg", &name), ("count", &count)]),
                (why, false) => {
                    lang.say("leg.not", &[("leg", &name), ("why", why.as_deref().unwrap_or("?"))])
                }
            };
            format!("{DIM}{line}{DIM:#}")
        })
        .collect();
    if explain {
        let steps = [
            ("segment", timings.segment_ms),
            ("embed", timings.embed_ms),
            ("search", timings.search_ms),
            ("rank", timings.rank_ms),
            ("total", timings.total_ms),
        ]
        .map(|(name, ms)| (name, format!("{ms:.1}")));
        let values: Vec<(&str, &str)> = steps.iter().map(|(name, ms)| (*name, ms.as_str())).collect();
        lines.push(format!("{DIM}{}{DIM:#}", lang.say("explain.timings", &values)));
    }
    lines
}

/// A way of looking, in words.
pub(super) fn leg_name(lang: Lang, leg: LegName) -> String {
    let key = match leg {
        LegName::Vector => "leg.vector",
        LegName::Keyword => "leg.keyword",
        LegName::Recent => "leg.recent",
    };
    lang.say(key, &[])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Importance, Kind, MemoryId};

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn hit() -> Hit {
        let item = Item {
            id: MemoryId("mem_0123456789abcdef".to_owned()),
            content: "部署 agent：work-agent\n端口 8081".to_owned(),
            context: "部署".to_owned(),
            kind: Kind::Fact,
            mark: Mark::User,
            importance: Importance::ASKED,
            day: chrono::NaiveDate::from_ymd_opt(2026, 3, 7),
            time: chrono::NaiveTime::from_hms_opt(14, 5, 0),
            session: None,
            source: Some(ItemSource {
                workspace: "/w".to_owned(),
                file: "memory/2026-03-07.md".to_owned(),
                lines: (3, 4),
            }),
            created_at: chrono::DateTime::UNIX_EPOCH,
            expires_at: None,
            access_count: 0,
        };
        let parts = ScoreParts { vector: 0.8, keyword: 0.9, time: 0.0, cosine: Some(0.6), bm25: None };
        Hit { item, score: 0.83, parts: Some(parts) }
    }

    #[test]
    fn a_hit_shows_its_score_its_day_its_place_and_what_it_says() {
        let leg =
            Leg { leg: LegName::Vector, ran: false, candidates: 0, why_not: Some("没有模型".to_owned()) };
        let found = SearchResult { hits: vec![hit()], legs: vec![leg], ..SearchResult::default() };
        insta::assert_snapshot!(plain(&search(Lang::Zh, &found, false)), @r"
        1. 0.83  2026-03-07 14:05 [USER] · 部署 · memory/2026-03-07.md:3-4 · mem_0123456789abcdef
           部署 agent：work-agent
           端口 8081
           含义 0.80 (cosine 0.600) · 词语 0.90 · 时间 0.00
        按含义查找：没有进行，没有模型
        ");
    }

    #[test]
    fn a_note_cannot_command_the_terminal() {
        assert_eq!(indented("红\u{1b}[2J色\r\n\u{7}二\t行"), "   红[2J色\n   二\t行");
    }

    #[test]
    fn an_empty_answer_says_why() {
        let empty = Some(Empty::BelowThreshold { best: 0.312, min_score: 0.45 });
        let found = SearchResult { empty, ..SearchResult::default() };
        let text = plain(&search(Lang::En, &found, true));
        assert!(text.contains("0.31") && text.contains("0.45"), "{text}");
        assert!(text.contains("total"), "{text}");
    }

    #[test]
    fn what_was_forgotten_and_still_stands_in_files_is_told() {
        let item = hit().item;
        let source = item.source.clone().unwrap();
        let result = ForgetResult { items: vec![item], forgotten: true, still_in_files: vec![source] };
        let text = plain(&forget(Lang::Zh, &result));
        assert!(text.contains("已忘记 1 条") && text.ends_with("  memory/2026-03-07.md:3-4"), "{text}");
        assert_eq!(forget(Lang::Zh, &ForgetResult::default()), "没有可忘记的内容。");
    }
}
