//! What is loaded when a session starts: today, the three days before, `MEMORY.md`, and who agent and user are.

use std::cmp::Reverse;
use std::collections::HashSet;

use chrono::{DateTime, Days, NaiveDate, Utc};

use super::context::{is_loaded, line};
use crate::memory::block::{self, BlockItem, Frame};
use crate::memory::segment::Language;
use crate::memory::{Memory, Scope, layout, tokens};
use crate::store::{Filter, Reader, Store, StoreError};
use crate::wire::turn::Loaded;

/// Days before today that are loaded.
const DAYS_BEFORE: u64 = 3;
/// Memories of one day that are looked at.
const OF_A_DAY: usize = 1_000;
/// The files behind the days, in their order.
const FILES: [&str; 4] = ["MEMORY.md", "IDENTITY.md", "USER.md", "SOUL.md"];

/// What is asked for at a session's start.
#[derive(Debug, Clone)]
pub struct Start {
    /// Whose memories, and who will see them.
    pub scope: Scope,
    /// The user's workspace as memories name it, where he has one.
    pub workspace: Option<String>,
    /// What the host has loaded by itself.
    pub loaded: Loaded,
    /// Tokens of the block, at most.
    pub budget_tokens: usize,
    /// The greeting's language; by default that of the memories.
    pub language: Option<Language>,
    /// The user's day.
    pub today: NaiveDate,
    /// This instant.
    pub now: DateTime<Utc>,
}

/// What a session starts with.
#[derive(Debug, Clone, PartialEq)]
pub struct Started {
    /// The delimited block; empty when there is nothing.
    pub block: String,
    /// Its tokens, estimated.
    pub tokens: usize,
    /// The memories in it, in its order.
    pub used: Vec<Memory>,
    /// Memories that did not fit.
    pub left_out: usize,
    /// A few lines for the user.
    pub greeting: String,
}

/// What the store holds for a start: memories with their place in the load order, and two counts.
struct Found {
    memories: Vec<(usize, Memory)>,
    all: u64,
    today: usize,
}

/// Loads what a session starts with. Where not all of it fits, what stands earlier in the order comes first, of a day or
/// file the important before the rest.
///
/// # Errors
/// What the store says.
pub async fn start(store: &Store, start: Start, frame: &Frame) -> Result<Started, StoreError> {
    let asked = start.clone();
    let Found { memories, all, today } = store.read(move |reader| find(reader, &asked)).await?;
    let lines: Vec<String> = memories.iter().map(|(_, memory)| line(memory)).collect();
    let items: Vec<BlockItem<'_>> = memories
        .iter()
        .zip(&lines)
        .map(|((_, memory), line)| BlockItem { day: memory.day, content: line })
        .collect();
    let mut first: Vec<usize> = (0..memories.len()).collect();
    first.sort_by_key(|at| {
        memories.get(*at).map(|(place, memory)| (*place, Reverse(memory.importance), Reverse(*at)))
    });
    let built = block::build_by_priority(&items, &first, "", start.budget_tokens, frame, &tokens::estimate);
    let language = start.language.unwrap_or_else(|| match lines.is_empty() {
        true => Language::Chinese,
        false => Language::of(&lines.concat()),
    });
    let left_out = memories.len() - built.used.len();
    let used = memories.into_iter().enumerate().filter(|(at, _)| built.used.binary_search(at).is_ok());
    Ok(Started {
        block: built.text,
        tokens: built.tokens,
        used: used.map(|(_, (_, memory))| memory).collect(),
        left_out,
        greeting: greeting(language, all, today),
    })
}

/// Everything that is to be loaded, in the order in which it stands in the block.
fn find(reader: &Reader<'_>, start: &Start) -> Result<Found, StoreError> {
    let Start { scope, workspace, loaded, today, now, .. } = start;
    let mut memories = Vec::new();
    let mut of_today = 0;
    for before in 0..=DAYS_BEFORE {
        let Some(day) = today.checked_sub_days(Days::new(before)) else { continue };
        let filter = Filter { from: Some(day), to: Some(day), ..Filter::default() };
        let listed = reader.list(scope, &filter, OF_A_DAY, 0)?;
        // Newest first as listed; the files of the root come in their own place.
        let of_day = listed.into_iter().rev().map(|(_, memory)| memory).filter(|memory| !is_root(memory));
        let of_day: Vec<Memory> = of_day.collect();
        if before == 0 {
            of_today = of_day.len();
        }
        memories.extend(of_day.into_iter().map(|memory| (before as usize, memory)));
    }
    for (file, place) in FILES.iter().zip(DAYS_BEFORE as usize + 1..) {
        let Some(workspace) = workspace else { continue };
        let entries = reader.entries_of_file(scope, workspace, file)?;
        memories.extend(entries.into_iter().map(|(_, memory)| (place, memory)));
    }
    let mut said = HashSet::new();
    memories.retain(|(_, memory)| {
        let over = memory.expires_at.is_some_and(|expires_at| expires_at <= *now);
        !over && !is_loaded(memory, loaded) && said.insert(memory.content.clone())
    });
    Ok(Found { memories, all: reader.counts(scope)?.memories, today: of_today })
}

fn is_root(memory: &Memory) -> bool {
    memory.source.as_ref().is_some_and(|source| layout::ROOT_FILES.contains(&source.file.as_str()))
}

fn greeting(language: Language, all: u64, today: usize) -> String {
    match language {
        Language::Chinese => {
            let all = if all == 0 { "还没有内容".to_owned() } else { format!("{all} 条已就绪") };
            let today =
                if today == 0 { "还没有新记录".to_owned() } else { format!("{today} 条新记录") };
            format!("📚 记忆已加载：\n- 长期记忆：{all}\n- 今日记忆：{today}")
        }
        Language::English => {
            let all = if all == 0 { "nothing yet".to_owned() } else { format!("{all} ready") };
            let today = if today == 0 { "nothing new yet".to_owned() } else { format!("{today} new") };
            format!("📚 Memory loaded:\n- Long-term memories: {all}\n- Today's memories: {today}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greeting_says_what_is_ready() {
        assert_eq!(
            greeting(Language::Chinese, 128, 2),
            "📚 记忆已加载：\n- 长期记忆：128 条已就绪\n- 今日记忆：2 条新记录"
        );
        assert_eq!(
            greeting(Language::English, 0, 0),
            "📚 Memory loaded:\n- Long-term memories: nothing yet\n- Today's memories: nothing new yet"
        );
    }
}
