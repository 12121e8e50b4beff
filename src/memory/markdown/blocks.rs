//! Lines put together: a bullet with what hangs on it, a paragraph, a fence, a row of a table.

use super::lines::Line;
use super::stamp::{self, Stamp};
use super::{Reason, Skipped, bullet, heading, marks, table};

/// A longer fence is a listing or a paste, not something to remember.
const MAX_FENCE_LINES: usize = 24;
const MAX_FENCE_CHARS: usize = 1_200;
/// A run of so many characters without a space is encoded data.
const ENCODED_RUN: usize = 120;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Heading(u8),
    Item,
    Paragraph,
    Quote,
    Code,
    Row,
    Rule,
}

/// Lines that belong together.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub kind: Kind,
    /// Without marker and indentation of the block itself.
    pub lines: Vec<String>,
    /// First and last line in the file.
    pub range: (u32, u32),
    pub session: Option<String>,
    /// The stamp in the first cell of a row.
    pub stamp: Option<Stamp>,
}

/// Puts lines together.
pub(super) fn assemble(lines: &[Line], skipped: &mut Skipped) -> Vec<Block> {
    let mut builder = Builder::default();
    let mut at = 0;
    while let Some(rest) = lines.get(at..).filter(|rest| !rest.is_empty()) {
        at += builder.take(rest, skipped);
    }
    builder.blocks
}

#[derive(Default)]
struct Builder {
    blocks: Vec<Block>,
    /// Whether the last block may still grow.
    open: bool,
    /// The columns before the last block's first line.
    indent: usize,
    /// Whether a blank line came since.
    gap: bool,
}

impl Builder {
    /// Takes what begins at the first of `lines`; gives how many lines that were.
    fn take(&mut self, lines: &[Line], skipped: &mut Skipped) -> usize {
        let Some(line) = lines.first() else { return 1 };
        if line.fence.is_some() {
            return self.fence(lines, skipped);
        }
        if line.text.is_empty() {
            self.gap = true;
        } else if let Some((level, text)) = heading::level(&line.text) {
            self.start(Kind::Heading(level), line, text);
            self.open = false;
        } else if is_rule(&line.text) {
            self.start(Kind::Rule, line, "");
            self.open = false;
        } else if lines
            .get(1)
            .is_some_and(|next| next.fence.is_none() && table::opens(&line.text, &next.text))
        {
            return self.table(lines);
        } else if let Some(text) = line.text.strip_prefix(['>', '＞']) {
            self.quote(line, text.trim_start_matches(['>', '＞']).trim_start());
        } else if let Some(text) = bullet::item(&line.text) {
            self.item(line, text);
        } else {
            self.text(line);
        }
        1
    }

    fn start(&mut self, kind: Kind, line: &Line, text: &str) {
        self.blocks.push(Block {
            kind,
            lines: vec![text.to_owned()],
            range: (line.number, line.number),
            session: line.session.clone(),
            stamp: None,
        });
        (self.open, self.indent, self.gap) = (true, line.indent, false);
    }

    fn extend(&mut self, line: &Line, text: &str) {
        if let Some(block) = self.blocks.last_mut() {
            block.lines.push(text.to_owned());
            block.range.1 = line.number;
            block.session = line.session.clone().or(block.session.take());
        }
        self.gap = false;
    }

    fn kind(&self) -> Option<Kind> {
        self.blocks.last().filter(|_| self.open).map(|block| block.kind)
    }

    /// Whether `line` stands far enough to the right to hang on the open block.
    fn hangs(&self, line: &Line) -> bool {
        matches!(self.kind(), Some(Kind::Item | Kind::Paragraph)) && line.indent >= self.indent + 2
    }

    fn item(&mut self, line: &Line, text: &str) {
        if self.hangs(line) {
            if !bullet::is_placeholder(text) {
                self.extend(line, &line.text);
            }
        } else {
            self.start(Kind::Item, line, text);
        }
    }

    fn text(&mut self, line: &Line) {
        let goes_on = match self.kind() {
            _ if self.hangs(line) => true,
            // Without a blank line between, but for lines that begin with a time or a mark of their own.
            Some(Kind::Item | Kind::Paragraph) => {
                !self.gap
                    && marks::leading(&line.text).is_none()
                    && stamp::leading(&line.text).is_none_or(|(stamp, _)| stamp.time.is_none())
            }
            Some(Kind::Code) => !self.gap,
            _ => false,
        };
        if goes_on {
            self.extend(line, &line.text);
        } else {
            self.start(Kind::Paragraph, line, &line.text);
        }
    }

    fn quote(&mut self, line: &Line, text: &str) {
        let goes_on = self.kind() == Some(Kind::Quote) && !self.gap && !text.is_empty();
        if goes_on || self.hangs(line) {
            self.extend(line, text);
        } else if !text.is_empty() {
            self.start(Kind::Quote, line, text);
        } else {
            self.gap = true;
        }
    }

    fn table(&mut self, lines: &[Line]) -> usize {
        let header = lines.first().map(|line| table::cells(&line.text)).unwrap_or_default();
        let rows = lines.iter().skip(2).take_while(|line| line.fence.is_none() && line.text.contains('|'));
        let mut count = 2;
        for line in rows {
            count += 1;
            let cells = table::cells(&line.text);
            if let Some(text) = table::row(&header, &cells) {
                self.start(Kind::Row, line, &text);
                if let Some(block) = self.blocks.last_mut() {
                    block.stamp = cells.first().and_then(|cell| stamp::whole(cell));
                }
            }
        }
        self.open = false;
        count
    }

    fn fence(&mut self, lines: &[Line], skipped: &mut Skipped) -> usize {
        let Some(line) = lines.first() else { return 1 };
        let fence: Vec<&Line> = lines.iter().take_while(|next| next.fence == line.fence).collect();
        if is_listing(&fence) {
            skipped.count(Reason::LongFence);
            return fence.len();
        }
        let introduced =
            self.blocks.last().and_then(|b| b.lines.last()).is_some_and(|l| l.ends_with([':', '：']));
        let joins = matches!(self.kind(), Some(Kind::Item | Kind::Paragraph)) && (!self.gap || introduced);
        let mut fence_lines = fence.iter();
        if !joins && !self.hangs(line) {
            self.start(Kind::Code, line, line.text.trim());
            fence_lines.next();
        }
        let indent = line.indent;
        for line in fence_lines {
            let mut chars = line.text.chars();
            let blanks = chars.clone().take(indent).take_while(|c| c.is_whitespace()).count();
            chars.by_ref().take(blanks).for_each(drop);
            self.extend(line, chars.as_str());
        }
        fence.len()
    }
}

/// Whether a fence is too long to be remembered, or holds encoded data.
fn is_listing(fence: &[&Line]) -> bool {
    let chars: usize = fence.iter().map(|line| line.text.chars().count()).sum();
    let encoded = |word: &str| word.is_ascii() && word.len() >= ENCODED_RUN;
    fence.len() > MAX_FENCE_LINES
        || chars > MAX_FENCE_CHARS
        || fence.iter().any(|line| line.text.split_whitespace().any(encoded))
}

/// `---`, `* * *`, `====`
fn is_rule(text: &str) -> bool {
    let mut signs = text.chars().filter(|c| !c.is_whitespace());
    let Some(sign) = signs.next().filter(|c| matches!(c, '-' | '*' | '_' | '=' | '—' | '－')) else {
        return false;
    };
    signs.clone().count() >= 2 && signs.all(|c| c == sign)
}
