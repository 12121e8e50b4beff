//! A line of a note reduced to what it states, and how two statements stand to each other: the same thing in other
//! words, the newer state of the same thing, or two things.

mod alike;
mod change;
mod clean;
mod features;

use regex::Regex;

pub use alike::Likeness;
pub(in crate::memory) use change::holds;
pub use change::{Change, Replaced, latest, replaced, says_old};
pub use clean::{Clause, clauses, join, speakers, unmarked};
pub use features::Features;

/// An expression; one that matches nothing if it does not compile, which the tests rule out.
pub(in crate::memory) fn expression(text: &str) -> Regex {
    Regex::new(text).or_else(|_| Regex::new("$^")).unwrap_or_else(|_| unreachable!("`$^` is an expression"))
}
