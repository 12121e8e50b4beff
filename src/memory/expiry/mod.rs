//! When a memory ends, by its own words: 到周五, 本周内, 3月5日前, "through November 28", "expires: 2026-05-01".
//!
//! An end is more than a day that is named: words before or behind the day say that something lasts until then, or is to
//! be done by then. What happens on a day, what comes again and again, and what is told of the past has no end, and a
//! text that says much else besides keeps it: a memory too many costs less than one that is lost.

mod places;
#[cfg(test)]
mod tests;

use std::sync::LazyLock;

use chrono::{Days, Months, NaiveDate};
use regex::Regex;

use super::segment;
use places::{Place, places};

/// What ends within so many days of being said is temporary; a passport that is valid for years is not.
const TEMPORARY_DAYS: i64 = 92;

/// A range of days that is longer than this is a period of life.
const RANGE_DAYS: i64 = 31;

/// The last day on which what `content` says matters; `None` if its words name no end. `day` is the day on which it was
/// said: without one, only days that are named whole are understood.
pub fn end(content: &str, day: Option<NaiveDate>) -> Option<NaiveDate> {
    if DONE_TASKS.iter().any(|done| content.trim_start().starts_with(done)) {
        return None;
    }
    let (mut all, mut ending, mut stated) = (0, 0, false);
    let mut latest: Option<NaiveDate> = None;
    for sentence in sentences(&without_struck(content)) {
        let length = sentence.chars().filter(|c| c.is_alphanumeric()).count();
        all += length;
        if let Some(found) = of_sentence(&segment::normalise(&sentence), day) {
            ending += length;
            // What is written as a property holds for all that is said.
            stated |= found.stated;
            latest = latest.max(Some(found.last));
        }
    }
    latest.filter(|_| stated || ending * 2 >= all)
}

/// Whether what was said on `day` and ends on `end` matters only for a while.
pub fn is_temporary(end: NaiveDate, day: NaiveDate) -> bool {
    (end - day).num_days() <= TEMPORARY_DAYS
}

/// An end as a sentence names it.
struct End {
    last: NaiveDate,
    /// Named as a property (有效期至, "expires:"), not in passing.
    stated: bool,
}

fn of_sentence(sentence: &str, day: Option<NaiveDate>) -> Option<End> {
    let words = WORDS.as_ref()?;
    if words.habit.is_match(sentence) {
        return None;
    }
    let counted = day.and_then(|day| counted(sentence, day));
    let named = places(sentence, day).into_iter().filter_map(|place| words.end_at(sentence, place, day));
    named.chain(counted).max_by_key(|end| (end.last, end.stated))
}

/// What stands around a day and makes it an end.
struct Words {
    /// Stated as a property, directly before the day.
    stated: Regex,
    /// Up to the day, directly before it.
    until: Regex,
    /// The same signs where they only belong to a verb: 改到, 收到, 推迟至.
    moved: Regex,
    /// As of the day, if it is not in the future; else up to it.
    as_of: Regex,
    /// To be done by the day.
    by: Regex,
    /// Up to the day, directly behind it and its time.
    stop: Regex,
    /// To be done by the day, or within the time, directly behind.
    within: Regex,
    /// What makes a range of days a state and not an event.
    state: Regex,
    /// Told of the past.
    past: Regex,
    /// Comes again and again.
    habit: Regex,
}

static WORDS: LazyLock<Option<Words>> = LazyLock::new(|| {
    let regex = |pattern: &str| Regex::new(pattern).ok();
    // Between the word and the day may stand an article, a time of day, brackets and emphasis.
    let gap = r#"(?:[\s:("'*`\[]|\b(?:the|on|at|of|around|noon|midnight|this|end of day|close of business|[0-9]{1,2}(?::[0-9]{2})? ?[ap]m)\b)*$"#;
    let clock = r"^(?:[\s*`\])]|上午|中午|下午|傍晚|晚上|早上|凌晨|夜里|晚|[0-9一二三四五六七八九十两]{1,3}(?:[点时](?:半|整|[0-9一二三四五]{1,3}分?)?|:[0-9]{2})|零点|下班|收工|睡觉|当天)*";
    Some(Words {
        stated: regex(&format!(
            r"(?:有效期限?(?:延长?|延期)?(?:至|到|截至|截止|为|是)?|有效[至到]|(?:到期|过期|失效|截止)(?:日期?|时间)?|期限(?:至|到|为|是)?|仅限|只限|\b(?:expir(?:es?|y|ation)(?: date| on| at)?|valid(?: until| till| thru| through| to)|good (?:until|through|till)|best before|deadline(?: is)?)){gap}"
        ))?,
        until: regex(&format!(
            r"(?:[到至]|\b(?:until|till|'til|through|thru|ends?|ending|no later than)){gap}"
        ))?,
        moved: regex(
            r"(?:改|推迟|推|延期|延迟|延|挪|移|换|调整?|提前|约|(?:^|[^续])订|定|安排|排|等|拖|(?:^|[^开])放|送|寄|发|来|回|飞|赶|搬|遇|收|达|得|迟|(?:^|[^续])签|报|感|做|提|拿|看|想|听|学|碰|轮|找|买|说|谈|存|抓|传|转|拉|升|降|涨|跌|增|减|加|分|顺延|临|赢|输|甚|以|乃|不|\b(?:moved|postponed|pushed|rescheduled|changed|went|walk(?:ed)?|go|going|got) ?)(?:[到至]|through|thru|until|till)\s*$",
        )?,
        as_of: regex(&format!(r"(?:截至|截止|截至到|截止到){gap}"))?,
        by: regex(&format!(r"\b(?:by|before){gap}"))?,
        stop: regex(&format!(
            r"{clock}(?:为止|止(?:$|[\s,)])|截止|到期|过期|失效|作废|结束|终止|有效)(?:$|[^后了前])"
        ))?,
        within: regex(&format!(
            r"{clock}(?:之?内(?:$|[^部容测存网地外衣心裤战置核涵])|[之以]前(?:$|[^的])|前(?:$|[^的往端台后天年者面景沿提任世途女男妻夫辈缀言])|,? ?(?:only|at the latest|deadline)\b)"
        ))?,
        state: regex(
            r"出差|休假|请假|放假|年假|婚假|产假|不在|外出|停机|停电|停水|停用|维护|暂|临时|期间|优惠|打折|促销|\b(?:out of office|ooo|on leave|vacation|away|closed|maintenance|on sale|temporar(?:y|ily)|travell?ing)\b",
        )?,
        past: regex(r"已|[^为除]了(?:$|[^解])|✅|\balready\b")?,
        habit: regex(
            r"每(?:天|日|周|星期|礼拜|个?月|年|晚|早|次|逢|隔|到)|通常|平时|一般都?[会在要]|\b(?:every|each|daily|weekly|monthly|yearly|usually|always)\b",
        )?,
    })
});

impl Words {
    /// The end that the words around a day make of it.
    fn end_at(&self, sentence: &str, place: Place, day: Option<NaiveDate>) -> Option<End> {
        let (before, after) = (sentence.get(..place.start)?, sentence.get(place.end..)?);
        if day.is_some_and(|day| place.last < day) {
            return None;
        }
        let end = |stated| Some(End { last: place.last, stated });
        if self.as_of.is_match(before) {
            return if day == Some(place.last) { None } else { end(false) };
        }
        if self.stated.is_match(before) {
            return end(true);
        }
        if place.range {
            let short = day.is_some_and(|day| (place.last - day).num_days() <= RANGE_DAYS);
            return if short && self.state.is_match(sentence) { end(false) } else { None };
        }
        let until = self.until.is_match(before) && !self.moved.is_match(before);
        // 到今天为止, "until today": the past up to now.
        if !(until && place.today) && (until || self.stop.is_match(after)) {
            return end(false);
        }
        let due = self.by.is_match(before) || self.within.is_match(after);
        if due && !self.past.is_match(clause(sentence, place)) { end(false) } else { None }
    }
}

/// The part between commas that names the day.
fn clause(sentence: &str, place: Place) -> &str {
    let before = sentence.get(..place.start).unwrap_or_default();
    let after = sentence.get(place.end..).unwrap_or_default();
    let start = before.rfind(',').map_or(0, |comma| comma + 1);
    let end = after.find(',').map_or(sentence.len(), |comma| place.end + comma);
    sentence.get(start..end).unwrap_or_default()
}

/// An end that is counted from the day: 有效期7天, "expires in 3 days".
fn counted(sentence: &str, day: NaiveDate) -> Option<End> {
    let found = COUNTED.as_ref()?.captures(sentence)?;
    let groups =
        |wanted: &[&str]| wanted.iter().find_map(|name| found.name(name)).map(|found| found.as_str());
    let count = match groups(&["n1", "n2", "n3"])? {
        "a" | "an" | "one" => 1,
        "two" | "两" => 2,
        "three" => 3,
        text => segment::number(text)?,
    };
    let unit = groups(&["u1", "u2", "u3"])?;
    let last = match unit {
        "天" | "日" | "day" => day.checked_add_days(Days::new(count.into())),
        "周" | "星期" | "week" => day.checked_add_days(Days::new(7 * u64::from(count))),
        "hour" | "小时" => day.checked_add_days(Days::new(u64::from(count).div_ceil(24))),
        "年" | "year" => day.checked_add_months(Months::new(count.checked_mul(12)?)),
        _ => day.checked_add_months(Months::new(count)),
    }?;
    Some(End { last, stated: true })
}

static COUNTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let (number, unit) = ("[0-9]{1,4}|[一二两三四五六七八九十]{1,3}", "小时|天|日|周|星期|月|年");
    Regex::new(&format!(
        r"有效期[:为是\s]*(?P<n1>{number})\s*个?(?P<u1>{unit})|(?P<n2>{number})\s*个?(?P<u2>{unit})(?:之?内有效|后(?:过期|失效|到期|作废))|\b(?:valid for|expires? in)\s+(?P<n3>[0-9]{{1,4}}|an?|one|two|three)\s+(?P<u3>hour|day|week|month|year)s?\b"
    ))
    .ok()
});

/// What a done task begins with: it is over, and has no end to come.
const DONE_TASKS: [&str; 3] = ["[x]", "[X]", "✅"];

/// The text without what is struck through, which was done or withdrawn.
fn without_struck(text: &str) -> String {
    let parts: Vec<&str> = text.split("~~").collect();
    // An even number of marks; a last one alone strikes nothing.
    let lone = parts.len().is_multiple_of(2);
    let kept = parts.iter().enumerate().filter(|(at, _)| at % 2 == 0 || (lone && *at + 1 == parts.len()));
    kept.map(|(_, part)| *part).collect()
}

/// The sentences and lines of a text.
fn sentences(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let stops = matches!(c, '\n' | '。' | '！' | '？' | '；' | '!' | '?' | ';')
            || (c == '.' && chars.peek().is_none_or(|next| next.is_whitespace()));
        if stops {
            found.push(String::new());
        } else if let Some(last) = found.last_mut() {
            last.push(c);
        }
    }
    found
}
