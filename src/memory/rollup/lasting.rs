//! Until when something holds, as far as any part of it says so: what has an end in it is no long-term memory. When a
//! whole memory ends, and leaves recall, is [`super::super::expiry`]'s, which asks for more.

use std::sync::OnceLock;

use chrono::{Datelike, Days, NaiveDate};
use regex::{Captures, Regex};

use crate::memory::calendar::Week;
use crate::memory::segment;

/// A day without a year lies at most so many days before the day it was said on.
const BACK: i64 = 90;

/// The last day on which `text`, said on `day`, still matters; `None` if it names no end.
pub fn end_of(text: &str, day: NaiveDate) -> Option<NaiveDate> {
    let text = segment::normalise(text);
    rules().iter().flat_map(|rule| rule.captures_iter(&text)).filter_map(|found| read(&found, day)).max()
}

/// Whether `text` speaks of one day to come or gone, rather than of what holds from some day on.
pub fn is_dated(text: &str) -> bool {
    static DATED: OnceLock<Option<Regex>> = OnceLock::new();
    const CUES: &str = r"(今天|今晚|明天|明晚|后天|大后天|昨天|这个?周末|(本|这|下)个?(周|星期)[一二三四五六日天]|\d{1,2}\s*月\s*\d{1,2}\s*[日号])(?P<on>\s*(起|开始|之后|以后))?|\b(?P<from>from|since|starting( on)?|as of)? ?((today|tonight|tomorrow|this weekend|(this|next) (mon|tues|wednes|thurs|fri|satur|sun)day)\b|(january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sep|oct|nov|dec)\.? \d{1,2}\b)";
    let cues = DATED.get_or_init(|| Regex::new(CUES).ok());
    let text = segment::normalise(text);
    cues.as_ref().is_some_and(|cues| {
        cues.captures_iter(&text).any(|found| found.name("on").is_none() && found.name("from").is_none())
    })
}

fn read(found: &Captures, day: NaiveDate) -> Option<NaiveDate> {
    let number = |name| found.name(name).and_then(|part| part.as_str().parse::<u32>().ok());
    let month = number("month").or_else(|| {
        let name = found.name("name")?.as_str();
        MONTHS.iter().position(|month| name.starts_with(month)).map(|at| at as u32 + 1)
    });
    if let Some(weekday) = found.name("weekday") {
        let at = "一二三四五六日"
            .chars()
            .position(|c| weekday.as_str().starts_with(c))
            .or_else(|| WEEKDAYS.iter().position(|name| weekday.as_str().starts_with(name)));
        let week = if found.name("next").is_some() { Week::of(day).next() } else { Week::of(day) };
        return week.days().nth(at.unwrap_or(6));
    }
    if found.name("week").is_some() {
        return Some(Week::of(day).sunday());
    }
    if found.name("day_only").is_some() {
        return Some(day);
    }
    let month = month?;
    match (number("year"), number("day")) {
        (Some(year), Some(of)) => NaiveDate::from_ymd_opt(year as i32, month, of),
        (Some(year), None) => last_of(year as i32, month),
        (None, Some(of)) => [0, 1].into_iter().find_map(|later| {
            let date = NaiveDate::from_ymd_opt(day.year() + later, month, of)?;
            (date.signed_duration_since(day).num_days() >= -BACK).then_some(date)
        }),
        (None, None) => last_of(day.year() + i32::from(month < day.month()), month),
    }
}

fn last_of(year: i32, month: u32) -> Option<NaiveDate> {
    let (year, month) = if month == 12 { (year + 1, 1) } else { (year, month + 1) };
    NaiveDate::from_ymd_opt(year, month, 1)?.checked_sub_days(Days::new(1))
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

fn rules() -> &'static [Regex] {
    const DATE: &str = r"(?:(?P<year>\d{4})\s*年\s*)?(?P<month>\d{1,2})\s*月\s*(?P<day>\d{1,2})\s*[日号]";
    const NAME: &str = r"(?P<name>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?";
    const WEEKDAY: &str = r"(?P<weekday>mon|tue|wed|thu|fri|sat|sun)[a-z]*day";
    static RULES: OnceLock<Vec<Regex>> = OnceLock::new();
    RULES.get_or_init(|| {
        [
            format!(r"(?:到|至|截止|截至|直到|有效期)(?:到|至|：|:)?\s*{DATE}"),
            format!(r"{DATE}[^，。；,;]{{0,6}}?(?:截止|结束|到期|为止|失效|恢复|复原|返回|回来|回国|晚回)"),
            r"(?P<from>\d{1,2})\s*月\s*\d{1,2}\s*[日号]?\s*(?:到|至|-|~)\s*(?P<day>\d{1,2})\s*[日号]".to_owned(),
            r"\d{1,2}-\d{1,2}\s*(?:至|到|~)\s*(?P<month>\d{1,2})-(?P<day>\d{1,2})".to_owned(),
            r"(?:expires?|until|有效期|截止)(?: on)?[：:]?\s*(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})".to_owned(),
            r"(?:周|星期)[一二三四五六日天]?\s*(?:到|至)\s*(?P<next>下)?(?:个|本|这)?(?:周|星期)(?P<weekday>[一二三四五六日天])".to_owned(),
            r"(?:^|[^\p{Han}]|，|先|只|暂)(?:到|至)(?P<next>下)?(?:本|这)?(?:周|星期)(?P<weekday>[一二三四五六日天])".to_owned(),
            r"(?P<week>本周内|这周内|本周(?:先|暂|限|特)|仅限本周|this week only|for (?:the rest of )?this week)".to_owned(),
            r"(?P<day_only>仅限今天|今天(?:限定|特价|先)|today only|just (?:for )?today|for today)".to_owned(),
            format!(r"\b(?:until|till|through|thru|ends?(?: on)?|expires?(?: on)?|back on|valid to)\s+(?:the end of )?{NAME}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<year>\d{{4}}))?"),
            format!(r"\b(?:until|till|through|thru|ends?(?: on)?|expires?(?: on)?|valid to)\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of )?{NAME}(?:\s+(?P<year>\d{{4}}))?"),
            format!(r"\b(?:until|till|through|thru|ends?(?: in)?|expires?(?: in)?|valid to)\s+(?:the end of )?{NAME}(?:\s+(?P<year>\d{{4}}))?\s*(?:$|[^\s\d\w]|\s[^\d])"),
            format!(r"\b(?:until|till|through|thru|ends?(?: on)?|back on)\s+(?P<next>next )?{WEEKDAY}"),
        ]
        .iter()
        // A range within one month ends in the month it begins in.
        .map(|rule| rule.replace("?P<from>", "?P<month>"))
        .filter_map(|rule| Regex::new(&rule).ok())
        .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_compiles() {
        assert_eq!(rules().len(), 13);
    }

    #[test]
    fn ends_are_read_against_the_day_they_were_said_on() {
        // A Wednesday.
        let said: NaiveDate = "2026-04-15".parse().unwrap();
        for (text, end) in [
            ("满减活动到 4 月 20 日结束", "2026-04-20"),
            ("4 月 18 日到 21 日展会", "2026-04-21"),
            ("出差（04-16 至 05-02）", "2026-05-02"),
            ("本周四到周六小周不在", "2026-04-18"),
            ("周五到下周二停水", "2026-04-21"),
            ("1 月 3 日截止报名", "2027-01-03"),
            ("lift is out until April 19", "2026-04-19"),
            ("Lease runs until Nov 2028", "2028-11-30"),
            ("closed until next Tuesday", "2026-04-21"),
            ("half price this week only", "2026-04-19"),
            ("expires: 2026-05-01", "2026-05-01"),
        ] {
            assert_eq!(end_of(text, said), Some(end.parse().unwrap()), "{text}");
        }
    }

    #[test]
    fn one_day_is_told_from_what_holds_from_then_on() {
        for text in
            ["记得明天带钥匙", "这周五修空调", "6 月 1 日交房租", "call Bo on June 3", "tomorrow is off"]
        {
            assert!(is_dated(text), "{text}");
        }
        for text in ["6 月 1 日起九点开门", "每周五修空调", "open at nine from June 3"] {
            assert!(!is_dated(text), "{text}");
        }
    }

    #[test]
    fn a_beginning_and_a_daily_range_are_no_end() {
        let said = "2026-04-15".parse().unwrap();
        for text in [
            "5 月 1 日起改为 9 点开门",
            "每天 8 点到 10 点开放",
            "from May 1 we open at nine",
            "每月 5 号结算",
        ] {
            assert_eq!(end_of(text, said), None, "{text}");
        }
    }
}
