//! An entry in the making.

use chrono::{NaiveDate, NaiveTime};

use super::stamp::{self, Stamp};
use super::{bullet, marks};
use crate::memory::entry::ContentHash;
use crate::memory::{Entry, Importance, Mark, Redacted};

/// An entry before the file as a whole is known.
#[derive(Debug, Clone)]
pub(super) struct Draft {
    pub content: String,
    pub context: String,
    pub day: Option<NaiveDate>,
    pub time: Option<NaiveTime>,
    pub mark: Mark,
    pub session: Option<String>,
    pub lines: (u32, u32),
    /// Routine by its words or by its many twins.
    pub routine: bool,
    /// Whether it only tells when its block was written.
    pub meta: bool,
}

impl Draft {
    pub fn finish(self) -> Entry {
        let importance = match self.mark {
            Mark::User => Importance::ASKED,
            _ if self.routine => Importance::ROUTINE,
            _ => Importance::NORMAL,
        };
        Entry {
            hash: content_hash(&self.content),
            content: Redacted::derived(self.content),
            context: Redacted::derived(self.context),
            day: self.day,
            time: self.time,
            mark: self.mark,
            importance,
            session: self.session,
            lines: self.lines,
        }
    }
}

/// The hash of what is said, whatever bullets and indentation it is said with.
pub fn content_hash(content: &str) -> ContentHash {
    let lines: Vec<&str> =
        content.lines().map(str::trim).map(|line| bullet::marked(line).unwrap_or(line)).collect();
    ContentHash::of(lines.join("\n").trim_end().as_bytes())
}

/// A line's text and what stood around it.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Peeled {
    pub text: String,
    pub mark: Option<Mark>,
    pub stamp: Stamp,
    pub session: Option<String>,
}

/// Takes marks, stamp and session off a line. The box of a task stays.
pub(super) fn peel(line: &str) -> Peeled {
    let (task, text) = bullet::task(line).unwrap_or(("", line));
    let mut peeled = Peeled { text: text.to_owned(), ..Peeled::default() };
    // A mark, a stamp, a session, a mark: more than that is text.
    for _ in 0..4 {
        if let Some((mark, rest)) = marks::leading(&peeled.text).filter(|_| peeled.mark.is_none()) {
            peeled.mark = Some(mark);
            peeled.text = stamp::skip_separators(rest).0.to_owned();
        } else if let Some((stamp, rest)) =
            stamp::leading(&peeled.text).filter(|_| peeled.stamp == Stamp::default())
        {
            peeled.stamp = stamp;
            peeled.text = rest;
        } else if let Some((id, rest)) = marks::leading_session(&peeled.text)
            .filter(|_| peeled.session.is_none() && peeled.stamp != Stamp::default())
        {
            (peeled.session, peeled.text) = (Some(id.to_owned()), rest.to_owned());
        }
    }
    peel_end(&mut peeled);
    if !task.is_empty() {
        peeled.text = format!("{task} {}", peeled.text).trim_end().to_owned();
    }
    peeled
}

/// Takes session and mark off the end of a line.
pub(super) fn peel_end(peeled: &mut Peeled) {
    for _ in 0..2 {
        let text = peeled.text.trim_end();
        if let Some((id, rest)) = marks::session(text) {
            (peeled.session, peeled.text) = (Some(id.to_owned()), rest.to_owned());
        } else if let Some((mark, rest)) = marks::trailing(text).filter(|_| peeled.mark.is_none()) {
            (peeled.mark, peeled.text) = (Some(mark), rest.to_owned());
        }
    }
}
