//! Which entries of a file are the ones that were there before: identity across edits.
//!
//! An entry keeps its id when lines around it come and go, and when it is edited in place. The first is told by the
//! hash; the second by where it stands (beside the same neighbours) and by its time or its words. Time is linear in
//! the file: of what stands in one gap, each entry is compared with a few.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use chrono::{NaiveDate, NaiveTime};

use super::entry::ContentHash;
use super::{Entry, Mark, MemoryId};

/// From this share of common character bigrams on, a text is an edit of another.
const SIMILAR: f64 = 0.5;
/// With how many of its gap an entry is compared.
const WINDOW: usize = 16;

/// An entry as stored, in the order of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The memory's id.
    pub id: MemoryId,
    /// Of the content.
    pub hash: ContentHash,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// What it says.
    pub content: String,
    /// The headings above it.
    pub context: String,
    /// The user's day.
    pub day: Option<NaiveDate>,
    /// The user's wall-clock time.
    pub time: Option<NaiveTime>,
    /// Who wanted it kept.
    pub mark: Mark,
}

/// An entry of the file that is a known memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The memory's id.
    pub id: MemoryId,
    /// The entry's place in what was found.
    pub found: usize,
}

/// What became of a file. Each found entry is in exactly one of `kept`, `moved`, `changed` and `added`; each known one
/// in exactly one of `kept`, `moved`, `changed` and `removed`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// Nothing differs.
    pub kept: Vec<Pair>,
    /// The same words on other lines, under another heading, at another time or with another mark.
    pub moved: Vec<Pair>,
    /// Other words, the same memory.
    pub changed: Vec<Pair>,
    /// New entries, by their place in what was found.
    pub added: Vec<usize>,
    /// Memories whose entries are gone.
    pub removed: Vec<MemoryId>,
}

/// Compares what is known of a file with what was found in it, both in the order of the file.
pub fn diff(known: &[Known], found: &[Entry]) -> Diff {
    let mut matching = Matching::new(known, found);
    matching.by_key(|k| (&k.hash, k.day, k.time), |f| (&f.hash, f.day, f.time));
    matching.by_key(|k| &k.hash, |f| &f.hash);
    matching.edits(Side::Before);
    matching.edits(Side::Behind);
    matching.finish()
}

/// On which side of a gap the neighbour stands that names it.
#[derive(Clone, Copy, PartialEq)]
enum Side {
    Before,
    Behind,
}

struct Matching<'a> {
    known: &'a [Known],
    found: &'a [Entry],
    /// For each known entry its place among the found, and the other way round.
    to_found: Vec<Option<usize>>,
    to_known: Vec<Option<usize>>,
}

/// What is unmatched between two matched neighbours: places among the known and among the found.
#[derive(Default)]
struct Gap {
    known: Vec<usize>,
    found: Vec<usize>,
}

impl<'a> Matching<'a> {
    fn new(known: &'a [Known], found: &'a [Entry]) -> Self {
        Self { known, found, to_found: vec![None; known.len()], to_known: vec![None; found.len()] }
    }

    fn pair(&mut self, known: usize, found: usize) {
        if let (Some(to_found), Some(to_known)) = (self.to_found.get_mut(known), self.to_known.get_mut(found))
        {
            (*to_found, *to_known) = (Some(found), Some(known));
        }
    }

    fn unmatched(&self, places: &[Option<usize>]) -> Vec<usize> {
        (0..).zip(places).filter(|(_, partner)| partner.is_none()).map(|(place, _)| place).collect()
    }

    /// Matches what has the same key, in the order of the file.
    fn by_key<K: Hash + Eq>(&mut self, of_known: impl Fn(&'a Known) -> K, of_found: impl Fn(&'a Entry) -> K) {
        let (known, found) = (self.known, self.found);
        let mut waiting: HashMap<K, VecDeque<usize>> = HashMap::new();
        for place in self.unmatched(&self.to_found) {
            if let Some(entry) = known.get(place) {
                waiting.entry(of_known(entry)).or_default().push_back(place);
            }
        }
        for place in self.unmatched(&self.to_known) {
            let partner = found.get(place).and_then(|entry| waiting.get_mut(&of_found(entry))?.pop_front());
            if let Some(partner) = partner {
                self.pair(partner, place);
            }
        }
    }

    /// Matches edited entries with those that stood beside the same neighbour.
    fn edits(&mut self, side: Side) {
        let mut gaps: HashMap<Option<usize>, Gap> = HashMap::new();
        for (place, gap) in gaps_of(&self.to_found, side, |place, _| place) {
            gaps.entry(gap).or_default().known.push(place);
        }
        for (place, gap) in gaps_of(&self.to_known, side, |_, partner| partner) {
            gaps.entry(gap).or_default().found.push(place);
        }
        for gap in gaps.into_values().filter(|gap| !gap.known.is_empty() && !gap.found.is_empty()) {
            let gap = self.by_time(gap);
            self.by_words(&gap);
        }
    }

    /// Matches, within a gap, what alone has its time; gives what is left.
    fn by_time(&mut self, gap: Gap) -> Gap {
        let known = singles(&gap.known, |place| self.known.get(place).and_then(|k| Some((k.day, k.time?))));
        let found = singles(&gap.found, |place| self.found.get(place).and_then(|f| Some((f.day, f.time?))));
        for (time, known) in known {
            if let Some(found) = found.get(&time) {
                self.pair(known, *found);
            }
        }
        let left = |places: &[usize], partners: &[Option<usize>]| {
            places.iter().copied().filter(|place| partners.get(*place) == Some(&None)).collect()
        };
        Gap { known: left(&gap.known, &self.to_found), found: left(&gap.found, &self.to_known) }
    }

    /// Matches, within a gap, what says nearly the same.
    fn by_words(&mut self, gap: &Gap) {
        let words =
            |place: &usize| self.known.get(*place).map(|known| bigrams(&known.content)).unwrap_or_default();
        let mut waiting: VecDeque<(usize, Vec<(char, char)>)> =
            gap.known.iter().map(|place| (*place, words(place))).collect();
        for place in &gap.found {
            let Some(entry) = self.found.get(*place) else { continue };
            let found = bigrams(entry.content.as_str());
            let scores = waiting.iter().take(WINDOW).map(|(_, known)| overlap(known, &found));
            let best = scores.enumerate().filter(|(_, score)| *score >= SIMILAR).max_by(|a, b| {
                // Of equals the first.
                a.1.total_cmp(&b.1).then(b.0.cmp(&a.0))
            });
            if let Some((known, _)) = best.and_then(|(index, _)| waiting.remove(index)) {
                self.pair(known, *place);
            } else if waiting.len() > WINDOW {
                // Nothing like the first was found so far: let the window pass on.
                waiting.rotate_left(1);
            }
        }
    }

    fn finish(self) -> Diff {
        let mut diff = Diff::default();
        for ((place, found), partner) in (0..).zip(self.found).zip(&self.to_known) {
            let Some(known) = partner.and_then(|partner| self.known.get(partner)) else {
                diff.added.push(place);
                continue;
            };
            let pair = Pair { id: known.id.clone(), found: place };
            if known.hash != found.hash {
                diff.changed.push(pair);
            } else if is_in_place(known, found) {
                diff.kept.push(pair);
            } else {
                diff.moved.push(pair);
            }
        }
        let gone = self.known.iter().zip(&self.to_found).filter(|(_, partner)| partner.is_none());
        diff.removed = gone.map(|(known, _)| known.id.clone()).collect();
        diff
    }
}

fn is_in_place(known: &Known, found: &Entry) -> bool {
    known.lines == found.lines
        && known.context == found.context.as_str()
        && (known.day, known.time, known.mark) == (found.day, found.time, found.mark)
}

/// Each unmatched place with its gap, named by the known entry of the nearest matched neighbour on `side`.
fn gaps_of(
    partners: &[Option<usize>],
    side: Side,
    known: impl Fn(usize, usize) -> usize,
) -> Vec<(usize, Option<usize>)> {
    let mut places: Vec<(usize, &Option<usize>)> = (0..).zip(partners).collect();
    if side == Side::Behind {
        places.reverse();
    }
    let (mut gap, mut unmatched) = (None, Vec::new());
    for (place, partner) in places {
        match partner {
            Some(partner) => gap = Some(known(place, *partner)),
            None => unmatched.push((place, gap)),
        }
    }
    if side == Side::Behind {
        unmatched.reverse();
    }
    unmatched
}

/// The places whose key no other one of `places` has, by key.
fn singles<K: Hash + Eq>(places: &[usize], key: impl Fn(usize) -> Option<K>) -> HashMap<K, usize> {
    let mut seen: HashMap<K, Option<usize>> = HashMap::new();
    for place in places {
        if let Some(key) = key(*place) {
            seen.entry(key).and_modify(|single| *single = None).or_insert(Some(*place));
        }
    }
    seen.into_iter().filter_map(|(key, place)| Some((key, place?))).collect()
}

/// The pairs of neighbouring characters, sorted; white space does not count.
fn bigrams(text: &str) -> Vec<(char, char)> {
    let chars = text.chars().filter(|c| !c.is_whitespace());
    let mut pairs: Vec<(char, char)> = chars.clone().zip(chars.skip(1)).collect();
    pairs.sort_unstable();
    pairs
}

/// The share of common bigrams, 0 to 1 (Dice's coefficient over multisets).
fn overlap(a: &[(char, char)], b: &[(char, char)]) -> f64 {
    let (mut left, mut right, mut common) = (a.iter().peekable(), b.iter().peekable(), 0u32);
    while let (Some(x), Some(y)) = (left.peek(), right.peek()) {
        let order = x.cmp(y);
        common += u32::from(order.is_eq());
        if order.is_le() {
            left.next();
        }
        if order.is_ge() {
            right.next();
        }
    }
    let total = a.len() + b.len();
    if total == 0 { 0.0 } else { 2.0 * f64::from(common) / total as f64 }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Importance, Redacted};
    use super::*;

    fn entry(content: &str, line: u32) -> Entry {
        Entry {
            content: Redacted::derived(content.to_owned()),
            context: Redacted::default(),
            day: NaiveDate::from_ymd_opt(2026, 5, 1),
            time: None,
            mark: Mark::None,
            importance: Importance::NORMAL,
            session: None,
            lines: (line, line),
            hash: ContentHash::of(content.as_bytes()),
        }
    }

    fn entries(contents: &[&str]) -> Vec<Entry> {
        (1..).zip(contents).map(|(line, content)| entry(content, line)).collect()
    }

    fn known(entries: &[Entry]) -> Vec<Known> {
        let known = |(place, entry): (usize, &Entry)| Known {
            id: MemoryId(format!("mem_{place}")),
            hash: entry.hash.clone(),
            lines: entry.lines,
            content: entry.content.as_str().to_owned(),
            context: entry.context.as_str().to_owned(),
            day: entry.day,
            time: entry.time,
            mark: entry.mark,
        };
        entries.iter().enumerate().map(known).collect()
    }

    fn pairs(pairs: &[Pair]) -> Vec<(&str, usize)> {
        pairs.iter().map(|pair| (pair.id.0.as_str(), pair.found)).collect()
    }

    #[test]
    fn a_line_above_moves_the_rest_and_changes_nothing() {
        let before = known(&entries(&["网关端口是 18080", "备份每天三点"]));
        let diff = diff(&before, &entries(&["新的一行", "网关端口是 18080", "备份每天三点"]));
        assert_eq!(pairs(&diff.moved), [("mem_0", 1), ("mem_1", 2)]);
        assert_eq!((diff.added, diff.removed), (vec![0], vec![]));
    }

    #[test]
    fn an_edited_entry_keeps_its_id_where_it_stands() {
        let before = known(&entries(&["早上跑步", "网关端口改成 18080 了", "晚上读书"]));
        let diff = diff(&before, &entries(&["早上跑步", "网关端口改成 18081 了", "晚上读书"]));
        assert_eq!(pairs(&diff.changed), [("mem_1", 1)]);
        assert_eq!(pairs(&diff.kept), [("mem_0", 0), ("mem_2", 2)]);
    }

    #[test]
    fn another_text_in_its_place_is_another_memory() {
        let before = known(&entries(&["早上跑步", "网关端口改成 18080 了", "晚上读书"]));
        let diff = diff(&before, &entries(&["早上跑步", "给猫预约了疫苗", "晚上读书"]));
        assert_eq!((diff.changed.len(), diff.added, diff.removed), (0, vec![1], vec![before[1].id.clone()]));
    }

    #[test]
    fn the_same_time_tells_an_edit_even_of_all_words() {
        let mut found = entries(&["早上跑步", "给猫预约了疫苗"]);
        found[1].time = NaiveTime::from_hms_opt(9, 5, 0);
        let mut before = known(&entries(&["早上跑步", "网关端口改成 18080 了"]));
        before[1].time = found[1].time;
        assert_eq!(pairs(&diff(&before, &found).changed), [("mem_1", 1)]);
    }

    #[test]
    fn twins_are_told_apart_by_their_times() {
        let mut before = entries(&["喝绿茶", "喝绿茶"]);
        before[0].time = NaiveTime::from_hms_opt(9, 0, 0);
        before[1].time = NaiveTime::from_hms_opt(21, 0, 0);
        let diff = diff(&known(&before), &before[1..]);
        assert_eq!((pairs(&diff.kept), diff.removed), (vec![("mem_1", 0)], vec![MemoryId("mem_0".into())]));
    }

    #[test]
    fn an_edited_first_or_last_line_has_one_neighbour() {
        let before = known(&entries(&["部署 agent 在 home-agent 上", "买菜", "周报写到一半了"]));
        let diff = diff(
            &before,
            &entries(&["新的", "部署 agent 在 work-agent 上", "买菜", "周报写完了一半了", "末行"]),
        );
        assert_eq!(pairs(&diff.changed), [("mem_0", 1), ("mem_2", 3)]);
        assert_eq!(diff.added, [0, 4]);
    }

    #[test]
    fn another_heading_is_a_move() {
        let before = known(&entries(&["端口 8080"]));
        let mut found = entries(&["端口 8080"]);
        found[0].context = Redacted::derived("部署".to_owned());
        assert_eq!(pairs(&diff(&before, &found).moved), [("mem_0", 0)]);
    }

    proptest! {
        #[test]
        fn a_list_against_itself_is_kept(contents in prop::collection::vec("[a-c端口]{0,3}", 0..40)) {
            let contents: Vec<&str> = contents.iter().map(String::as_str).collect();
            let found = entries(&contents);
            let diff = diff(&known(&found), &found);
            let all: Vec<usize> = diff.kept.iter().map(|pair| pair.found).collect();
            prop_assert_eq!(all, (0..found.len()).collect::<Vec<_>>());
            prop_assert!(diff.removed.is_empty());
        }

        #[test]
        fn inserts_and_deletes_leave_the_ids_of_the_rest(
            gone in prop::collection::vec(any::<bool>(), 0..40),
            inserts in prop::collection::vec(0usize..40, 0..20),
        ) {
            let texts: Vec<String> = (0..gone.len()).map(|n| format!("第{n}条")).collect();
            let before = known(&entries(&texts.iter().map(String::as_str).collect::<Vec<_>>()));
            let mut after: Vec<(String, Option<usize>)> = (0..gone.len())
                .filter(|place| !gone[*place])
                .map(|place| (texts[place].clone(), Some(place)))
                .collect();
            for (number, place) in inserts.iter().enumerate() {
                let place = (*place).min(after.len());
                after.insert(place, (format!("insert {number} {}", "x".repeat(number)), None));
            }
            let found = entries(&after.iter().map(|(text, _)| text.as_str()).collect::<Vec<_>>());
            let diff = diff(&before, &found);
            for pair in diff.kept.iter().chain(&diff.moved) {
                let old = after[pair.found].1;
                prop_assert_eq!(&pair.id, &before[old.unwrap()].id);
            }
            prop_assert_eq!(diff.kept.len() + diff.moved.len(), gone.iter().filter(|gone| !**gone).count());
        }

        #[test]
        fn everything_appears_exactly_once(
            before in prop::collection::vec("[ab端口改 ]{0,6}", 0..30),
            after in prop::collection::vec("[ab端口改 ]{0,6}", 0..30),
        ) {
            let before = known(&entries(&before.iter().map(String::as_str).collect::<Vec<_>>()));
            let found = entries(&after.iter().map(String::as_str).collect::<Vec<_>>());
            let diff = diff(&before, &found);
            let paired = || diff.kept.iter().chain(&diff.moved).chain(&diff.changed);
            let mut places: Vec<usize> = paired().map(|pair| pair.found).chain(diff.added.clone()).collect();
            places.sort_unstable();
            prop_assert_eq!(places, (0..found.len()).collect::<Vec<_>>());
            let mut ids: Vec<MemoryId> = paired().map(|pair| pair.id.clone()).chain(diff.removed.clone()).collect();
            ids.sort();
            let mut all: Vec<MemoryId> = before.iter().map(|known| known.id.clone()).collect();
            all.sort();
            prop_assert_eq!(ids, all);
        }
    }
}
