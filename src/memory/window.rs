//! The short-term window of a session: which messages stand in it, and when they become a summary.
//!
//! Nothing is counted or kept here. What is due and what is visible follow from the messages alone, so that a restart
//! or a repeated step changes nothing.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::segment::Language;

/// How much stands in a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Messages, at most; the newest one stands there whatever the number.
    pub messages: usize,
    /// Tokens, the summary's among them, at most.
    pub tokens: usize,
    /// Tokens at which the messages become a summary.
    pub summary_at: usize,
}

impl Limits {
    /// What a summary may cost: a quarter of the window, and no more than half of what makes the next one due, so that
    /// each summary makes room.
    pub fn summary_tokens(self) -> usize {
        (self.tokens / 4).min(self.summary_at / 2)
    }

    fn fit(self, items: &[Item], chosen: &[usize], summary_tokens: usize) -> bool {
        chosen.len() <= self.messages && tokens(items, chosen) + summary_tokens <= self.tokens
    }
}

/// One message of a session, as the window sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Item {
    /// The turn it belongs to: a question and its answer stay together.
    pub turn: i64,
    /// What it costs.
    pub tokens: usize,
    /// Whether a summary stands for it.
    pub summarised: bool,
}

/// Which of `items`, oldest first, become a summary now; none if that is not due.
///
/// It is due once the open messages and the summary before them cost [`Limits::summary_at`], or not all of them are
/// visible. The newest turn stays open, unless it is too large for the window by itself.
pub fn due(items: &[Item], summary_tokens: usize, limits: Limits) -> Vec<usize> {
    let newest = items.last().map(|item| item.turn);
    let open = positions(items, |item| !item.summarised);
    let seen = visible(items, summary_tokens, limits);
    let all_seen = open.iter().all(|at| seen.contains(at));
    if all_seen && tokens(items, &open) + summary_tokens < limits.summary_at {
        return Vec::new();
    }
    let latest = positions(items, |item| Some(item.turn) == newest);
    if limits.fit(items, &latest, summary_tokens) {
        positions(items, |item| !item.summarised && Some(item.turn) != newest)
    } else {
        open
    }
}

/// Which of `items`, oldest first, stand in the window beside a summary of so many tokens.
///
/// Those no summary stands for, and the newest turn in any case. Whole turns go, the oldest first, until the rest fits;
/// of the newest turn its first messages go. The newest message always stays: what exceeds the window is to be cut
/// with [`shorten`].
pub fn visible(items: &[Item], summary_tokens: usize, limits: Limits) -> Vec<usize> {
    let newest = items.last().map(|item| item.turn);
    let mut chosen = positions(items, |item| !item.summarised || Some(item.turn) == newest);
    let turn = |at: &usize| items.get(*at).map(|item| item.turn);
    while chosen.len() > 1 && !limits.fit(items, &chosen, summary_tokens) {
        match chosen.iter().map(turn).find(|turn| *turn != newest) {
            Some(oldest) => chosen.retain(|at| turn(at) != oldest),
            None => drop(chosen.remove(0)),
        }
    }
    chosen
}

/// `text` cut to at most `max_tokens`, with a note of how long it was; as it is where it fits.
pub fn shorten<'t>(text: &'t str, max_tokens: usize, count: &dyn Fn(&str) -> usize) -> Cow<'t, str> {
    if count(text) <= max_tokens {
        return Cow::Borrowed(text);
    }
    let chars = text.chars().count();
    let note = match Language::of(text) {
        Language::Chinese => format!("…（已截短，原文 {chars} 字）"),
        Language::English => format!("… (cut short, {chars} characters)"),
    };
    let graphemes: Vec<&str> = text.graphemes(true).collect();
    let cut = |kept: usize| graphemes.iter().take(kept).copied().chain([note.as_str()]).collect::<String>();
    let (mut fits, mut too_long) = (0, graphemes.len());
    while too_long - fits > 1 {
        let middle = fits + (too_long - fits) / 2;
        if count(&cut(middle)) <= max_tokens { fits = middle } else { too_long = middle }
    }
    Cow::Owned(cut(fits))
}

fn positions(items: &[Item], which: impl Fn(&Item) -> bool) -> Vec<usize> {
    items.iter().enumerate().filter(|(_, item)| which(item)).map(|(at, _)| at).collect()
}

fn tokens(items: &[Item], chosen: &[usize]) -> usize {
    chosen.iter().filter_map(|at| items.get(*at)).map(|item| item.tokens).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::memory::tokens::estimate;

    const LIMITS: Limits = Limits { messages: 20, tokens: 4_000, summary_at: 3_000 };

    /// Turns of two messages, each of so many tokens.
    fn turns(count: i64, tokens: usize) -> Vec<Item> {
        (0..count).flat_map(|turn| [Item { turn, tokens, summarised: false }; 2]).collect()
    }

    fn summarise(items: &mut [Item], which: &[usize]) {
        for at in which {
            assert!(!items[*at].summarised, "twice");
            items[*at].summarised = true;
        }
    }

    #[test]
    fn an_eleventh_turn_makes_the_ten_before_it_a_summary() {
        let mut items = turns(10, 50);
        assert_eq!(due(&items, 0, LIMITS), [0_usize; 0]);
        assert_eq!(visible(&items, 0, LIMITS).len(), 20);
        items.extend([Item { turn: 10, tokens: 50, summarised: false }; 2]);
        assert_eq!(visible(&items, 0, LIMITS), (2..22).collect::<Vec<_>>(), "a whole turn went");
        let which = due(&items, 0, LIMITS);
        assert_eq!(which, (0..20).collect::<Vec<_>>());
        summarise(&mut items, &which);
        assert_eq!(visible(&items, 400, LIMITS), [20, 21]);
        assert_eq!(due(&items, 400, LIMITS), [0_usize; 0]);
    }

    #[test]
    fn three_thousand_tokens_are_enough() {
        assert_eq!(due(&turns(5, 299), 0, LIMITS), [0_usize; 0]);
        assert_eq!(due(&turns(5, 300), 0, LIMITS), (0..8).collect::<Vec<_>>());
        assert_eq!(due(&turns(5, 200), 1_000, LIMITS), (0..8).collect::<Vec<_>>(), "the summary counts too");
    }

    #[test]
    fn a_message_larger_than_the_window_stays_and_is_summarised_at_once() {
        let mut items = turns(2, 100);
        items.push(Item { turn: 2, tokens: 5_000, summarised: false });
        assert_eq!(visible(&items, 0, LIMITS), [4]);
        let which = due(&items, 0, LIMITS);
        assert_eq!(which, [0, 1, 2, 3, 4]);
        summarise(&mut items, &which);
        assert_eq!((visible(&items, 500, LIMITS), due(&items, 500, LIMITS)), (vec![4], vec![]));
    }

    #[test]
    fn a_late_turn_of_the_past_is_open_until_it_is_summarised() {
        let mut items = turns(4, 10);
        summarise(&mut items, &[0, 1, 4, 5]);
        assert_eq!(visible(&items, 100, LIMITS), [2, 3, 6, 7]);
    }

    #[test]
    fn no_window_is_too_small_for_the_newest_message() {
        for messages in [0, 1] {
            let limits = Limits { messages, tokens: 100, summary_at: 100 };
            let mut items = turns(1, 0);
            assert_eq!(visible(&items, 0, limits), [1]);
            let which = due(&items, 0, limits);
            assert_eq!(which, [0, 1]);
            summarise(&mut items, &which);
            assert_eq!((visible(&items, 25, limits), due(&items, 25, limits)), (vec![1], vec![]));
        }
        assert_eq!((visible(&[], 0, LIMITS), due(&[], 0, LIMITS)), (vec![], vec![]));
    }

    #[test]
    fn what_is_cut_says_so() {
        let long = "端口是 18080。".repeat(1_000);
        let cut = shorten(&long, 75, &estimate);
        assert!(
            cut.starts_with("端口是 18080。端口") && cut.ends_with("…（已截短，原文 10000 字）"),
            "{cut}"
        );
        assert!(estimate(&cut) <= 75);
        assert!(matches!(shorten("端口", 75, &estimate), Cow::Borrowed("端口")));
        assert!(
            shorten(&"all is well ".repeat(99), 30, &estimate).ends_with("… (cut short, 1188 characters)")
        );
    }

    /// What may happen to a session.
    #[derive(Debug, Clone)]
    enum Step {
        Turn(Vec<usize>),
        Late(Vec<usize>),
        Summarise,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let sizes = prop::collection::vec(prop_oneof![0_usize..200, 0_usize..6_000], 1..30);
        let few = prop::collection::vec(0_usize..400, 1..5);
        let step = prop_oneof![
            4 => few.clone().prop_map(Step::Turn),
            1 => sizes.prop_map(Step::Turn),
            1 => few.prop_map(Step::Late),
            4 => Just(Step::Summarise),
        ];
        prop::collection::vec(step, 0..40)
    }

    proptest! {
        #[test]
        fn the_window_keeps_its_promises(
            steps in steps(),
            (messages, tokens, share) in (0_usize..25, 100_usize..5_000, 1_usize..=10),
        ) {
            let limits = Limits { messages, tokens, summary_at: (tokens * share / 10).max(10) };
            let (mut items, mut summary) = (Vec::<Item>::new(), 0);
            for (step, turn) in steps.into_iter().zip(0_i64..) {
                match step {
                    Step::Turn(sizes) => items.extend(sizes.into_iter().map(|tokens| Item { turn, tokens, summarised: false })),
                    Step::Late(sizes) => {
                        let late = sizes.into_iter().map(|tokens| Item { turn, tokens, summarised: false });
                        items.splice(0..0, late);
                    }
                    Step::Summarise => loop {
                        let which = due(&items, summary, limits);
                        if which.is_empty() {
                            break;
                        }
                        summarise(&mut items, &which);
                        summary = limits.summary_tokens();
                    },
                }
                let seen = visible(&items, summary, limits);
                prop_assert_eq!(seen.last().copied(), items.len().checked_sub(1), "the newest message is there");
                prop_assert!(seen.is_sorted() && seen.len() <= limits.messages.max(1));
                let room = limits.tokens - summary;
                let cost: usize = seen.iter().map(|at| items[*at].tokens).sum();
                prop_assert!(cost <= room || seen.len() == 1, "only a single message may need cutting");
                let newest = items.last().map(|item| item.turn);
                for (at, item) in items.iter().enumerate().filter(|(_, item)| Some(item.turn) != newest) {
                    let whole = items.iter().enumerate().filter(|(_, other)| other.turn == item.turn && !other.summarised);
                    prop_assert!(!seen.contains(&at) || whole.clone().all(|(at, _)| seen.contains(&at)), "turns go whole");
                }
                if due(&items, summary, limits).is_empty() {
                    let open = items.iter().enumerate().filter(|(_, item)| !item.summarised);
                    prop_assert!(open.clone().all(|(at, _)| seen.contains(&at)), "nothing goes without a summary");
                }
            }
        }

        #[test]
        fn cutting_short_keeps_to_its_budget(text in "(端|口|[a-z]| |👨‍👩‍👧‍👦|é|\n){0,400}", max in 20_usize..200) {
            let cut = shorten(&text, max, &estimate);
            prop_assert!(estimate(&cut) <= max);
            prop_assert!(!cut.is_empty() || text.is_empty());
        }
    }
}
