//! The page of a week: what its notes say, by topic, once each, with its day, in at most half the room.
//!
//! [`roll_up`] chooses and merges and never invents: each line is made of clauses of the notes. `gather` takes what is
//! worth keeping, `merge` joins what says the same, `page` fits it into its room.

mod gather;
mod lasting;
mod merge;
mod page;
#[cfg(test)]
mod tests;
mod value;

use chrono::NaiveDate;

pub use lasting::{end_of, is_dated};

use super::calendar::Week;
use super::segment::Language;
use super::worth::Topic;
use super::{Entry, Mark};

/// Of more entries in a week the least important are left out before they are compared: comparing takes time that
/// grows with the square.
pub const MAX_ENTRIES: usize = 500;
/// The longest page, in characters, however much the week holds.
pub const MAX_PAGE_CHARS: usize = 24_000;
/// A page of a short week may be as long as this, in characters.
pub const MIN_PAGE_CHARS: usize = 200;
/// A longer entry is cut behind this many characters.
pub const MAX_ENTRY_CHARS: usize = 2_000;

/// An entry of the week.
#[derive(Debug, Clone, Copy)]
pub struct Noted<'n> {
    /// As read from its file.
    pub entry: &'n Entry,
    /// Of its passage; without one its words alone speak.
    pub vector: Option<&'n [f32]>,
    /// On how many separate days or in how many sessions it reached a prompt.
    pub uses: u32,
}

/// What entries of the week say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What it says, made of clauses of the notes.
    pub text: String,
    /// What it is about.
    pub topic: Topic,
    /// The day of its newest word.
    pub day: NaiveDate,
    /// Whether the user asked for it.
    pub mark: Mark,
    /// Whether it shall be kept for ever.
    pub for_ever: bool,
    /// On how many days it was said, or in how many days or sessions it was used: the greater.
    pub uses: u32,
    /// The last day on which it matters, if it names one.
    pub ends: Option<NaiveDate>,
    /// The entries it comes from, by their place in the input.
    pub sources: Vec<usize>,
}

impl Statement {
    /// Its line on the page, without a line end.
    pub fn bullet(&self) -> String {
        page::bullet(self.day, &self.text).trim_end().to_owned()
    }
}

/// A week's page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The week.
    pub week: Week,
    /// The language of its headings.
    pub language: Language,
    /// What it says, in the order of the page.
    pub lines: Vec<Statement>,
    /// What no longer holds, with its day.
    pub archive: Vec<(NaiveDate, String)>,
    /// How many statements had no room.
    pub left_out: usize,
    /// Everything worth keeping, whole, whether it has room on the page or not: what long-term memory chooses from.
    pub statements: Vec<Statement>,
}

/// Makes the page of `week` of its entries; those of other days are passed over.
///
/// `size` is how many characters the week's notes have: the page has at most half as many, except that it may always
/// have [`MIN_PAGE_CHARS`]. The same input makes the same page.
pub fn roll_up(week: Week, notes: &[Noted], size: usize) -> Page {
    let gathered = gather::gather(week, notes);
    let merged = merge::merge(&gathered);
    page::fit(week, &gathered, merged, size)
}
