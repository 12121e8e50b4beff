//! What is said in a session: who speaks, and which messages of a delivery are new.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who says a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// What a tool put out. A stub stands for it: neither the window nor any memory holds it.
    Tool,
    /// The host's own instructions, which are no part of the conversation.
    System,
}

/// So many messages in a row are not the same by chance.
const SURE: usize = 4;

/// Whether the host names a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// It does not: what it says is all by which it is known again.
    No,
    /// By a name that was not met yet: the same words may well have been said again.
    New,
    /// By a name that was met.
    Known,
}

/// From where on the messages of a delivery are new, `delivered.len()` if none is: hosts send a turn twice, and some
/// send the whole session each time.
///
/// `stored` is what is known of the session, oldest first, as far back as it is kept. Of a turn with a new name only a
/// delivery that goes on where the session ends, or is the whole session, is taken for one that repeats it.
pub fn first_new<T: PartialEq>(stored: &[T], delivered: &[T], named: Named) -> usize {
    let whole = delivered.len();
    let repeats_from = match named {
        Named::No => 2,
        Named::Known => SURE,
        Named::New => usize::MAX,
    };
    if whole >= repeats_from && stored.windows(whole).any(|part| part == delivered) {
        return whole;
    }
    let known = (1..=whole).rev().find(|end| {
        let same = common_end(stored, delivered.get(..*end).unwrap_or_default());
        let (sure, from_start, goes_on) = (same >= SURE, same == *end, *end < whole);
        match named {
            Named::No => sure || from_start,
            _ if from_start && same == stored.len() => sure || goes_on && same > 1,
            _ => sure && goes_on,
        }
    });
    known.unwrap_or_default()
}

/// How many of the last elements are the same.
fn common_end<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Named::{self, Known, New, No};
    use super::first_new;

    fn new<'d>(stored: &str, delivered: &'d str, named: Named) -> &'d str {
        let chars: Vec<char> = delivered.chars().collect();
        let from = first_new(&stored.chars().collect::<Vec<_>>(), &chars, named);
        let bytes: usize = chars.iter().take(from).map(|c| c.len_utf8()).sum();
        delivered.get(bytes..).unwrap()
    }

    #[test]
    fn a_delivery_that_was_there_brings_nothing_new() {
        for delivered in ["甲乙", "丙丁", "乙丙", "丁", "甲乙丙丁"] {
            assert_eq!(new("甲乙丙丁", delivered, No), "", "{delivered}");
        }
        assert_eq!(new("甲乙丙丁", "甲乙丙丁", New), "", "a whole session under another name");
        assert_eq!(new("甲乙丙丁戊己", "甲乙丙丁", Known), "", "or under its own, late");
    }

    #[test]
    fn a_whole_session_brings_its_end() {
        for named in [No, New, Known] {
            assert_eq!(new("甲乙", "甲乙丙丁", named), "丙丁");
            assert_eq!(new("甲乙丙丁", "甲乙丙丁戊己", named), "戊己");
            assert_eq!(new("丙丁戊己", "甲乙丙丁戊己庚", named), "庚", "what is older is not kept any more");
        }
        assert_eq!(new("甲乙丙", "丙丁", No), "丁", "the second half of a turn");
    }

    #[test]
    fn the_same_words_said_again_are_new() {
        assert_eq!(new("好好甲乙", "好", No), "好", "one word proves nothing, unless it is the last");
        assert_eq!(new("甲乙好可", "好可", New), "好可", "another turn by its name");
        assert_eq!(new("甲可", "乙可", No), "乙可", "the same answer to another question");
        assert_eq!(new("", "甲乙", No), "甲乙");
        assert_eq!(new("甲乙", "", No), "");
    }

    proptest! {
        #[test]
        fn delivering_twice_stores_once(
            turns in prop::collection::vec("[甲乙丙丁戊己庚辛]{1,4}", 1..12),
            whole_session in any::<bool>(),
        ) {
            let mut stored = String::new();
            for turn in &turns {
                let said = if whole_session { format!("{stored}{turn}") } else { turn.clone() };
                let fresh = new(&stored, &said, No).to_owned();
                stored.push_str(&fresh);
                prop_assert_eq!(new(&stored, &said, No), "");
            }
        }
    }
}
