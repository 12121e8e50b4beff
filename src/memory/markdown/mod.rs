//! Notes as people and agents write them, read into entries.
//!
//! An own reader, line by line: the notes hold bullets, marks and conversations that CommonMark does not know, and a
//! file that somebody is in the middle of writing must still give what it holds. [`parse`] never fails and takes time
//! linear in the text:
//!
//! `lines` (line ends, comments, frontmatter, fences) → `dump` (a conversation is cut into turns) → `blocks` (what
//! hangs together) → `reader` (when, under which headings, by whose mark) → `boilerplate` (routine is folded).

mod blocks;
mod boilerplate;
mod bullet;
mod cursor;
mod draft;
mod dump;
mod heading;
mod lines;
mod marks;
mod reader;
mod stamp;
mod table;
#[cfg(test)]
mod tests;
mod zone;

use std::collections::BTreeMap;

use chrono::NaiveDate;
use chrono_tz::Tz;

use super::{Entry, Redacted, layout};
pub use draft::content_hash;
use reader::Reader;

/// What is known of a file before it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteFile {
    /// Its path relative to the workspace, with `/`.
    pub name: String,
    /// The user's zone: times written with a zone are put on the user's clock.
    pub zone: Tz,
}

impl NoteFile {
    /// The day of a daily note: its name begins with `YYYY-MM-DD`. Weekly pages and profiles have none.
    pub fn day(&self) -> Option<NaiveDate> {
        let name = self.name.rsplit('/').next()?;
        let date: String = name.chars().take(10).collect();
        let goes_on = name.chars().nth(10).is_some_and(|c| c.is_ascii_digit());
        let is_padded = date.len() == 10 && !goes_on;
        is_padded.then(|| NaiveDate::parse_from_str(&date, "%Y-%m-%d").ok()).flatten()
    }

    /// Whether it is a page about the user or the agent, each bullet of which is an entry.
    pub fn is_profile(&self) -> bool {
        layout::ROOT_FILES.contains(&self.name.as_str())
    }
}

/// A file as read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Note {
    /// In the order of the file.
    pub entries: Vec<Entry>,
    /// What is no memory.
    pub skipped: Skipped,
}

/// Why something in a file is no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// A bullet, row or paragraph that says nothing yet.
    Placeholder,
    /// `key: value` lines between `---` at the top.
    Frontmatter,
    /// Told the agent how to keep the file.
    Instruction,
    /// A signature or "saved at".
    Footer,
    /// The name of another note.
    FileName,
    /// Only when its block was written.
    RecordTime,
    /// A fence too long to remember, or encoded data.
    LongFence,
    /// A line that only the host reads.
    Control,
    /// What the host wrote about a conversation or a message.
    Metadata,
    /// Politeness in a conversation.
    Pleasantry,
    /// Routine that said the same as the entry before and after it.
    Repeated,
}

/// How much was left out, by reason.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped(BTreeMap<Reason, u32>);

impl Skipped {
    fn count(&mut self, reason: Reason) {
        *self.0.entry(reason).or_default() += 1;
    }

    /// How many were left out for `reason`.
    pub fn of(&self, reason: Reason) -> u32 {
        self.0.get(&reason).copied().unwrap_or_default()
    }

    /// Every reason that occurred, with its count.
    pub fn iter(&self) -> impl Iterator<Item = (Reason, u32)> {
        self.0.iter().map(|(reason, count)| (*reason, *count))
    }
}

/// Reads the entries of a file.
pub fn parse(text: &Redacted, file: &NoteFile) -> Note {
    let mut skipped = Skipped::default();
    let lines = lines::read(text.as_str(), &mut skipped);
    let mut reader = Reader::new(file);
    if dump::is_dump(&lines) {
        let dump = dump::read(lines, &mut skipped);
        reader.enter_dump(dump.stamp);
        for turn in dump.turns {
            reader.enter_turn(turn.stamp);
            reader.read(blocks::assemble(&turn.lines, &mut skipped), &mut skipped);
        }
    } else {
        reader.read(blocks::assemble(&lines, &mut skipped), &mut skipped);
    }
    let mut drafts = reader.finish(&mut skipped);
    boilerplate::collapse(&mut drafts, &mut skipped);
    Note { entries: drafts.into_iter().map(draft::Draft::finish).collect(), skipped }
}
