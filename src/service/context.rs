//! The memory block for one input: what recall finds, then what the session itself said before, as much of it as the
//! budget allows, in its frame.

use std::collections::HashSet;

use super::recall::{Answer, Hit, Options, Recall, RecallError};
use super::turn::{Turns, Window};
use crate::memory::block::{self, BlockItem, Frame};
use crate::memory::conversation::Role;
use crate::memory::redact::redact;
use crate::memory::segment::Language;
use crate::memory::{Memory, Scope, tokens};
use crate::store::Message;
use crate::wire::turn::Loaded;

/// What a block is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// Whose memories, and who will see them.
    pub scope: &'a Scope,
    /// What the user just said.
    pub input: &'a str,
    /// The session it is said in.
    pub session: Option<&'a str>,
    /// What the host has put into its prompt by itself.
    pub loaded: &'a Loaded,
    /// Tokens of the block, at most.
    pub budget_tokens: usize,
    /// What this request wants otherwise than the settings.
    pub options: Options,
}

/// A block and what it is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    /// The delimited block; empty when nothing is relevant or nothing fits.
    pub block: String,
    /// Its tokens, estimated.
    pub tokens: usize,
    /// The memories in it, in its order.
    pub used: Vec<Hit>,
    /// The lines of the session's summary in it.
    pub summary: Vec<String>,
    /// The session's messages in it, oldest first.
    pub recent: Vec<Message>,
    /// Relevant memories that did not fit.
    pub left_out: usize,
    /// What recall said, without its hits.
    pub answer: Answer,
}

/// What may stand in a block.
enum Piece {
    Memory(Box<Hit>),
    /// A line of the session's summary.
    Earlier(String),
    Recent(Message),
}

/// Makes the block for an input: memories first, then the session's summary, then its last messages. Where not all of
/// them fit, the newest turn comes before the summary, and that before older messages. Nothing stands there twice.
///
/// An input that still carries a block of ours is asked without it, so that recall never feeds itself.
///
/// # Errors
/// What recall says, or the store.
pub async fn build(
    recall: &Recall,
    turns: &Turns,
    request: Request<'_>,
    frame: &Frame,
) -> Result<Context, RecallError> {
    let Request { scope, input, session, loaded, budget_tokens, options } = request;
    let input = block::strip(input, frame);
    let (mut answer, hits) = search(recall, scope, &input, loaded, options).await?;
    let window = match session {
        Some(session) => turns.window(scope, session).await?,
        None => Window::default(),
    };
    let relevant = hits.len();
    let pieces = without_repeated(pieces(hits, window, loaded), &input);
    let lines: Vec<String> = pieces.iter().map(Piece::line).collect();
    let items: Vec<BlockItem<'_>> = pieces.iter().zip(&lines).map(|(piece, line)| piece.item(line)).collect();
    let first = by_priority(&pieces);
    let built = block::build_by_priority(&items, &first, &input, budget_tokens, frame, &tokens::estimate);
    if !built.used.is_empty() {
        answer.empty = None;
    }
    let mut context = Context {
        block: built.text,
        tokens: built.tokens,
        used: Vec::new(),
        summary: Vec::new(),
        recent: Vec::new(),
        left_out: 0,
        answer,
    };
    for (at, piece) in pieces.into_iter().enumerate() {
        if built.used.binary_search(&at).is_ok() {
            match piece {
                Piece::Memory(hit) => context.used.push(*hit),
                Piece::Earlier(line) => context.summary.push(line),
                Piece::Recent(message) => context.recent.push(message),
            }
        }
    }
    context.left_out = relevant - context.used.len();
    Ok(context)
}

/// What recall finds beyond what the host has loaded.
async fn search(
    recall: &Recall,
    scope: &Scope,
    input: &str,
    loaded: &Loaded,
    options: Options,
) -> Result<(Answer, Vec<Hit>), RecallError> {
    // Where some are left out, others take their place.
    let more = if loaded.files.is_empty() { 1 } else { LOOK_FURTHER };
    let wider = Options { top_k: options.top_k.map(|top_k| top_k * more), ..options };
    let mut answer = recall.search(scope, &redact(input).0, wider).await?;
    let mut hits = std::mem::take(&mut answer.hits);
    hits.retain(|hit| !is_loaded(&hit.memory, loaded));
    hits.truncate(options.top_k.unwrap_or(usize::MAX));
    Ok((answer, hits))
}

/// How many times as many hits are looked at where the host has loaded some of them by itself.
const LOOK_FURTHER: usize = 4;

/// Whether the host has loaded the file that a memory was read from.
pub(super) fn is_loaded(memory: &Memory, loaded: &Loaded) -> bool {
    memory.source.as_ref().is_some_and(|source| loaded.files.contains(&source.file))
}

/// Everything that may stand in the block, in its order.
fn pieces(hits: Vec<Hit>, window: Window, loaded: &Loaded) -> Vec<Piece> {
    let is_held = |at: Option<_>| at.zip(loaded.messages_since).is_some_and(|(at, since)| at >= since);
    let earlier = window.summary.filter(|_| !is_held(window.since)).map(|summary| summary.lines());
    let recent = window
        .messages
        .into_iter()
        // That a tool put something out tells the agent nothing.
        .filter(|message| message.role != Role::Tool && !is_held(Some(message.at)));
    let hits = hits.into_iter().map(|hit| Piece::Memory(Box::new(hit)));
    hits.chain(earlier.into_iter().flatten().map(Piece::Earlier)).chain(recent.map(Piece::Recent)).collect()
}

/// A line that the input or one of the pieces before says already is left out, and so is a message.
fn without_repeated(pieces: Vec<Piece>, input: &str) -> Vec<Piece> {
    let mut said = HashSet::from([plain(input)]);
    pieces
        .into_iter()
        .filter(|piece| match piece {
            Piece::Memory(hit) => {
                said.extend(hit.memory.content.lines().map(plain));
                said.insert(plain(&hit.memory.content));
                true
            }
            Piece::Earlier(line) => said.insert(plain(line)),
            Piece::Recent(message) => !said.contains(&plain(&message.content)),
        })
        .collect()
}

/// A text without its bullet and its white space, for comparison.
fn plain(text: &str) -> String {
    text.trim_start_matches("- ").chars().filter(|c| !c.is_whitespace()).collect()
}

/// The order in which pieces are chosen.
fn by_priority(pieces: &[Piece]) -> Vec<usize> {
    let newest = pieces.iter().rev().find_map(|piece| match piece {
        Piece::Recent(message) => Some(message.turn),
        _ => None,
    });
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by_key(|at| match pieces.get(*at) {
        Some(Piece::Memory(_)) | None => (0, *at),
        Some(Piece::Recent(message)) if Some(message.turn) == newest => (1, usize::MAX - at),
        Some(Piece::Earlier(_)) => (2, *at),
        Some(Piece::Recent(_)) => (3, usize::MAX - at),
    });
    order
}

impl Piece {
    fn item<'a>(&self, line: &'a str) -> BlockItem<'a> {
        let day = match self {
            Self::Memory(hit) => hit.memory.day,
            Self::Earlier(_) | Self::Recent(_) => None,
        };
        BlockItem { day, content: line }
    }

    fn line(&self) -> String {
        match self {
            Self::Memory(hit) => line(&hit.memory),
            Self::Earlier(line) => match Language::of(line) {
                Language::Chinese => format!("本次对话此前：{line}"),
                Language::English => format!("Earlier in this conversation: {line}"),
            },
            Self::Recent(Message { role, content, .. }) => match (Language::of(content), role) {
                (Language::Chinese, Role::User) => format!("用户说：{content}"),
                (Language::Chinese, _) => format!("助手说：{content}"),
                (Language::English, Role::User) => format!("The user said: {content}"),
                (Language::English, _) => format!("The assistant said: {content}"),
            },
        }
    }
}

/// What a memory says where nothing else is seen: a bullet often means nothing without its heading.
pub(super) fn line(memory: &Memory) -> String {
    if memory.context.is_empty() {
        return memory.content.clone();
    }
    format!("{}：{}", memory.context, memory.content)
}
