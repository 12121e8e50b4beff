//! Heartbeats and other routine: kept small, kept low.

use std::collections::HashMap;

use super::draft::Draft;
use super::{Reason, Skipped};
use crate::memory::Mark;

/// So many timed entries that differ only in numbers are routine.
const ROUTINE_COUNT: usize = 3;
/// Words of a routine entry, in lower case.
const ROUTINE: &[&str] =
    &["heartbeat", "心跳", "健康检查", "例行检查", "例行巡检", "定时巡检", "health check", "routine check"];
/// Words of the temporary, where an entry begins with them.
const TEMPORARY: &[&str] = &[
    "临时：",
    "临时:",
    "[临时]",
    "【临时】",
    "（临时）",
    "(临时)",
    "temporary:",
    "temp:",
    "[temp]",
    "[temporary]",
];
/// What makes a routine entry worth a look, unless a word of negation stands before it.
const TROUBLE: &[&str] = &[
    "超时",
    "失败",
    "错误",
    "异常",
    "告警",
    "报警",
    "关注",
    "重启",
    "修复",
    "不可用",
    "断开",
    "崩溃",
    "掉线",
    "变更",
    "timeout",
    "timed out",
    "fail",
    "error",
    "warn",
    "restart",
    "down",
    "❌",
    "⚠",
];
const NEGATIONS: &[&str] = &["无", "没有", "未见", "未发现", "零", "no ", "without "];

/// Of the timed entries that say the same but for their numbers, keeps the first and the last, and marks them as
/// routine; marks those that are routine by their words.
pub(super) fn collapse(drafts: &mut Vec<Draft>, skipped: &mut Skipped) {
    let mut alike: HashMap<(String, String), Vec<usize>> = HashMap::new();
    for (index, draft) in drafts.iter().enumerate() {
        if draft.time.is_some() && draft.mark != Mark::User {
            alike.entry((mask(&draft.content), mask(&draft.context))).or_default().push(index);
        }
    }
    let mut drop = vec![false; drafts.len()];
    for group in alike.values().filter(|group| group.len() >= ROUTINE_COUNT) {
        for (place, index) in group.iter().enumerate() {
            if let (Some(draft), Some(drop)) = (drafts.get_mut(*index), drop.get_mut(*index)) {
                draft.routine = true;
                *drop = place > 0 && place + 1 < group.len();
            }
        }
    }
    for draft in drafts.iter_mut() {
        draft.routine |= is_routine(&draft.content, &draft.context);
    }
    let mut drop = drop.into_iter();
    drafts.retain(|_| {
        let dropped = drop.next() == Some(true);
        if dropped {
            skipped.count(Reason::Repeated);
        }
        !dropped
    });
}

/// `text` with each number as one sign.
fn mask(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_numeric() {
            masked.push(c);
        } else if !masked.ends_with('\u{0}') {
            masked.push('\u{0}');
        }
    }
    masked
}

fn is_routine(content: &str, context: &str) -> bool {
    let text = format!("{content}\n{context}").to_lowercase();
    TEMPORARY.iter().any(|word| text.starts_with(word))
        || (ROUTINE.iter().any(|word| text.contains(word)) && !TROUBLE.iter().any(|word| tells(&text, word)))
}

/// Whether `text` says `word` without denying it.
fn tells(text: &str, word: &str) -> bool {
    let mut parts = text.split(word).peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_some() && !NEGATIONS.iter().any(|no| part.ends_with(no)) {
            return true;
        }
    }
    false
}
