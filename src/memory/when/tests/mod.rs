mod en;
mod left_alone;
mod properties;
mod zh;

use super::*;

/// A Friday.
const TODAY: &str = "2026-03-13";

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

/// The spans as `first` or `first/last`, with `*` if they repeat and `?` if they are not quite sure.
fn shown(text: &str, today: &str) -> String {
    let shown = find(text, day(today)).into_iter().map(|span| {
        let days = if span.first == span.last {
            span.first.to_string()
        } else {
            format!("{}/{}", span.first, span.last)
        };
        let repeats = if span.repeats == Repeats::Never { "" } else { "*" };
        format!("{days}{repeats}{}", if span.sureness < 1.0 { "?" } else { "" })
    });
    shown.collect::<Vec<_>>().join(" ")
}

fn check(cases: &[(&str, &str)]) {
    let wrong: Vec<String> = cases
        .iter()
        .map(|(text, expected)| (text, expected, shown(text, TODAY)))
        .filter(|(_, expected, found)| *expected != found)
        .map(|(text, expected, found)| format!("{text}: expected '{expected}', found '{found}'"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} are wrong:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn a_span_without_a_year_is_near_the_same_days_of_every_year() {
    let march = find("3月做了什么", day(TODAY))[0];
    assert_eq!(march.precision(), Precision::Month);
    for (asked, expected) in [("2019-03-31", 0), ("2024-02-29", 1), ("2030-04-02", 2)] {
        assert_eq!(march.distance(day(asked)), expected, "{asked}");
    }
    let new_year = find("元旦", day(TODAY))[0];
    assert_eq!(new_year.distance(day("2023-12-31")), 1);
    let february = find("二月", day(TODAY))[0];
    assert_eq!(february.distance(day("2024-02-29")), 0);
    let spring = find("春节", day(TODAY))[0];
    assert_eq!((spring.distance(day("2024-02-10")), spring.distance(day("2024-02-20"))), (0, 4));
    let fifth = find("5号", day(TODAY))[0];
    assert_eq!((fifth.distance(day("2025-11-05")), fifth.distance(day("2025-11-30"))), (0, 5));
    let exact = find("2025年3月13日", day(TODAY))[0];
    assert_eq!(exact.distance(day("2024-03-13")), 365);
}

#[test]
fn two_spans_are_as_far_apart_as_their_nearest_days() {
    let march = find("2026年3月", day(TODAY))[0];
    assert_eq!(march.gap(day("2026-02-01"), day("2026-02-26")), 3);
    assert_eq!(march.gap(day("2026-03-30"), day("2026-04-26")), 0);
}

#[test]
fn days_named_relatively_are_spelt_out() {
    assert_eq!(spell_out("上周三的会", day(TODAY)), " 3月4日 的会");
    assert_eq!(spell_out("大前天和前天", day(TODAY)), " 3月10日 和 3月11日 ");
    assert_eq!(spell_out("what did I eat last Tuesday?", day(TODAY)), "what did i eat  3月10日 ?");
    for unchanged in ["3月4日的会", "上个月的会", "周三的会", "昨天的会", "端口是多少"]
    {
        assert_eq!(spell_out(unchanged, day(TODAY)), unchanged);
    }
}
