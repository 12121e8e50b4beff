//! Conversations as the host's hook writes them down: what was said stays, envelopes and control lines go.

use super::lines::Line;
use super::stamp::Stamp;
use super::{Reason, Skipped, bullet, heading};

/// Keys of the list at the top of a dump.
const HEADER_KEYS: &[&str] = &["Session Key", "Session ID", "Source"];
/// Who speaks, and whether it is kept.
const ROLES: &[(&str, bool)] = &[
    ("user:", true),
    ("User:", true),
    ("assistant:", true),
    ("Assistant:", true),
    ("System:", false),
    ("system:", false),
    ("tool:", false),
    ("toolResult:", false),
];
/// Whole lines that only the host reads.
const CONTROL: &[&str] = &["NO_REPLY", "HEARTBEAT_OK"];
/// What a prompt of the host begins with; it goes on to the next turn.
const PROMPTS: &[&str] = &[
    "Pre-compaction memory flush",
    "Read HEARTBEAT.md",
    "A new session was started via",
    "Post-Compaction Audit",
];
/// Said to be polite.
const PLEASANTRIES: &[&str] = &[
    "好",
    "好的",
    "好了",
    "好嘞",
    "行",
    "可以",
    "收到",
    "明白",
    "明白了",
    "了解",
    "知道了",
    "搞定",
    "完成",
    "没问题",
    "谢谢",
    "多谢",
    "嗯",
    "嗯嗯",
    "是的",
    "对",
    "在",
    "在吗",
    "你好",
    "早",
    "早上好",
    "晚安",
    "ok",
    "okay",
    "thanks",
    "thank you",
    "yes",
    "no",
    "sure",
    "done",
    "got it",
    "hi",
    "hello",
];

/// A conversation.
pub(super) struct Dump {
    /// When the session was, by its title.
    pub stamp: Stamp,
    pub turns: Vec<Turn>,
}

/// What one side said.
#[derive(Default)]
pub(super) struct Turn {
    /// By the envelope it came in.
    pub stamp: Stamp,
    pub lines: Vec<Line>,
}

/// Whether the lines are a dump: by its title, or by the keys below it.
pub(super) fn is_dump(lines: &[Line]) -> bool {
    let top = lines.iter().filter(|line| !line.text.is_empty()).take(6);
    top.into_iter().any(|line| title(&line.text).is_some() || is_header(&line.text))
}

/// The stamp in `# Session: 2026-05-05 08:21:33 UTC`.
fn title(line: &str) -> Option<Stamp> {
    let (_, text) = heading::level(line).filter(|(level, _)| *level == 1)?;
    Some(heading::parse(text.strip_prefix("Session:")?, None).stamp)
}

fn is_header(line: &str) -> bool {
    let item = bullet::item(line).and_then(bullet::key_value);
    item.is_some_and(|(key, _)| HEADER_KEYS.contains(&key))
}

/// Whether `text` says nothing but politeness.
pub(super) fn is_pleasantry(text: &str) -> bool {
    let bare = text.trim_matches(|c: char| !c.is_alphanumeric());
    bare.is_empty() || PLEASANTRIES.iter().any(|word| bare.eq_ignore_ascii_case(word))
}

/// Cuts a dump into turns.
pub(super) fn read(lines: Vec<Line>, skipped: &mut Skipped) -> Dump {
    let mut reader = Reader {
        dump: Dump { stamp: Stamp::default(), turns: vec![Turn::default()] },
        kept: true,
        metadata: Metadata::None,
        in_header: true,
    };
    for line in lines {
        if let Some(reason) = reader.take(line) {
            skipped.count(reason);
        }
    }
    reader.dump
}

/// Where metadata of an envelope may stand.
#[derive(PartialEq)]
enum Metadata {
    None,
    /// Its label was read: a fence will follow.
    Expected,
    Fence(u32),
}

struct Reader {
    dump: Dump,
    /// Whether what is being said now is kept.
    kept: bool,
    metadata: Metadata,
    /// Before the first turn.
    in_header: bool,
}

impl Reader {
    /// Takes one line; says why it was left out.
    fn take(&mut self, mut line: Line) -> Option<Reason> {
        if let Some(fence) = line.fence {
            let is_first = self.metadata == Metadata::Expected;
            if is_first {
                self.metadata = Metadata::Fence(fence);
            }
            if self.metadata == Metadata::Fence(fence) {
                return is_first.then_some(Reason::Metadata);
            }
            return self.keep(line);
        }
        if !line.text.is_empty() {
            self.metadata = Metadata::None;
        }
        if let Some((rest, kept)) = (line.indent == 0).then(|| role(&line.text)).flatten() {
            line.text = rest.to_owned();
            self.begin(Stamp::default(), kept);
            if !kept {
                return Some(Reason::Control);
            }
        }
        if self.in_header && (is_header(&line.text) || title(&line.text).is_some()) {
            self.dump.stamp.fill(title(&line.text).unwrap_or_default());
            return Some(Reason::Metadata);
        }
        if heading::level(&line.text)
            .is_some_and(|(_, text)| self.in_header && text == "Conversation Summary")
        {
            return None;
        }
        if let Some((stamp, rest)) = envelope(&line.text) {
            line.text = rest.to_owned();
            self.begin(stamp, true);
        }
        while let Some((_, rest)) = line.text.strip_prefix("[[").and_then(|text| text.split_once("]]")) {
            line.text = rest.trim_start().to_owned();
        }
        if PROMPTS.iter().any(|prompt| line.text.starts_with(prompt)) {
            self.kept = false;
            return Some(Reason::Control);
        }
        if line.text.contains("(untrusted") && line.text.ends_with(':') {
            self.metadata = Metadata::Expected;
            return None;
        }
        let bare = line.text.trim_matches(['*', '`', '.', '。', ' ']);
        if CONTROL.contains(&bare) || line.text.starts_with("[message_id:") {
            return Some(Reason::Control);
        }
        self.keep(line)
    }

    fn begin(&mut self, stamp: Stamp, kept: bool) {
        self.dump.turns.push(Turn { stamp, lines: Vec::new() });
        (self.kept, self.in_header) = (kept, false);
    }

    fn keep(&mut self, line: Line) -> Option<Reason> {
        if !self.kept {
            return None;
        }
        if let Some(turn) = self.dump.turns.last_mut() {
            turn.lines.push(line);
        }
        None
    }
}

/// What follows a role at the start of a line, and whether that role is kept.
fn role(text: &str) -> Option<(&str, bool)> {
    ROLES.iter().find_map(|(name, kept)| {
        let rest = text.strip_prefix(name)?;
        (rest.is_empty() || rest.starts_with(' ')).then(|| (rest.trim_start(), *kept))
    })
}

/// The stamp of `[Channel name id:1 2026-05-05 08:20 GMT+8] text`, and the text.
fn envelope(text: &str) -> Option<(Stamp, &str)> {
    let (inner, rest) = text.strip_prefix('[')?.split_once(']')?;
    let stamp = heading::parse(inner, None).stamp;
    (stamp.day.is_some() && stamp.time.is_some()).then(|| (stamp, rest.trim_start()))
}
