//! The memory block for one input: what recall finds, as much of it as the budget allows, in its frame.

use super::recall::{Answer, Hit, Options, Recall, RecallError};
use crate::memory::block::{self, BlockItem, Frame};
use crate::memory::redact::redact;
use crate::memory::{Memory, Scope, tokens};

/// A block and what it is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// The delimited block; empty when nothing is relevant or nothing fits.
    pub block: String,
    /// Its tokens, estimated.
    pub tokens: usize,
    /// The memories in it, in its order.
    pub used: Vec<Hit>,
    /// Relevant memories that did not fit.
    pub left_out: usize,
    /// What recall said, without its hits.
    pub answer: Answer,
}

/// Makes the block for `input`. An input that still carries a block of ours is asked without it, so that recall never
/// feeds itself.
///
/// # Errors
/// What recall says.
pub async fn build(
    recall: &Recall,
    scope: &Scope,
    input: &str,
    frame: &Frame,
    budget_tokens: usize,
    options: Options,
) -> Result<Context, RecallError> {
    let input = block::strip(input, frame);
    let mut answer = recall.search(scope, &redact(&input).0, options).await?;
    let hits = std::mem::take(&mut answer.hits);
    let lines: Vec<String> = hits.iter().map(|hit| line(&hit.memory)).collect();
    let items: Vec<BlockItem<'_>> =
        hits.iter().zip(&lines).map(|(hit, line)| BlockItem { day: hit.memory.day, content: line }).collect();
    let built = block::build(items.iter(), &input, budget_tokens, frame, &tokens::estimate);
    let left_out = hits.len() - built.used.len();
    let used =
        hits.into_iter().enumerate().filter(|(at, _)| built.used.contains(at)).map(|(_, hit)| hit).collect();
    Ok(Context { block: built.text, tokens: built.tokens, used, left_out, answer })
}

/// What a memory says where nothing else is seen: a bullet often means nothing without its heading.
fn line(memory: &Memory) -> String {
    if memory.context.is_empty() {
        return memory.content.clone();
    }
    format!("{}：{}", memory.context, memory.content)
}
