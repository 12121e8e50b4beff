use chrono::Days;
use proptest::prelude::*;

use super::*;

/// Pieces that times are made of, and what stands between them.
const PIECES: &[&str] = &[
    "2025年",
    "去年",
    "前年",
    "3月",
    "十二月",
    "底",
    "初",
    "中旬",
    "31号",
    "5日",
    "29日",
    "上周",
    "下周",
    "周三",
    "周末",
    "个",
    "三天前",
    "999天前",
    "半年",
    "两年前",
    "999年前",
    "前",
    "后",
    "昨天",
    "到",
    "至",
    "和",
    "、",
    "的",
    "-",
    "春节",
    "国庆",
    "夏天",
    "正月",
    "初五",
    "last ",
    "next ",
    "March ",
    "2024 ",
    "31 ",
    "the ",
    "of ",
    "Tuesday ",
    "winter ",
    "Christmas ",
    "two ",
    "weeks ",
    "months ",
    "ago ",
    "to ",
    "between ",
    "and ",
    "end of ",
    "Q4 ",
    "Easter ",
    ", ",
];

fn any_day() -> impl Strategy<Value = NaiveDate> {
    (0_u64..90_000).prop_map(|days| day("1890-01-01") + Days::new(days))
}

fn spoken() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES), 0..8).prop_map(|pieces| pieces.concat())
}

fn is_sound(text: &str, today: NaiveDate) {
    for span in find(text, today) {
        assert!(span.first <= span.last, "{text}: {span:?}");
        assert!(span.sureness > 0.0 && span.sureness <= 1.0, "{text}: {span:?}");
        assert!(span.length() >= 1 && span.distance(span.first) == 0 && span.distance(span.last) == 0);
        assert!(span.distance(today) >= 0);
    }
    let _ = spell_out(text, today);
}

proptest! {
    #[test]
    fn whatever_is_said_first_is_not_after_last(text in spoken(), today in any_day()) {
        is_sound(&text, today);
    }

    #[test]
    fn no_text_is_too_odd(text in "\\PC{0,40}", today in any_day()) {
        is_sound(&text, today);
    }

    #[test]
    fn extreme_days_are_survived(text in spoken(), early in any::<bool>()) {
        is_sound(&text, if early { NaiveDate::MIN } else { NaiveDate::MAX });
    }

    #[test]
    fn a_written_day_is_that_day(today in any_day(), days in 0_u64..60_000) {
        let named = day("1950-01-01") + Days::new(days);
        for text in [
            named.format("%Y-%m-%d").to_string(),
            named.format("%Y年%-m月%-d日").to_string(),
            named.format("%B %-d, %Y").to_string(),
            named.format("the %-dth of %B, %Y").to_string(),
        ] {
            let found = find(&text, today);
            prop_assert_eq!(found.len(), 1, "{}", text);
            prop_assert_eq!((found[0].first, found[0].last), (named, named), "{}", text);
        }
    }

    #[test]
    fn days_ago_and_weekdays_are_counted_back(today in any_day(), ago in 1_u64..200) {
        let named = today - Days::new(ago);
        let found = find(&format!("{ago}天前"), today);
        prop_assert_eq!((found[0].first, found[0].last), (named, named));
        let last_week = find(&format!("上周{}", ['一', '二', '三', '四', '五', '六', '日'][(ago % 7) as usize]), today);
        prop_assert_eq!(last_week[0].first.weekday().num_days_from_monday(), (ago % 7) as u32);
        prop_assert_eq!(last_week[0].first.iso_week(), (today - Days::new(7)).iso_week());
    }

    #[test]
    fn distance_counts_the_days_to_the_nearest_end(today in any_day(), away in -400_i64..400) {
        let named = find("2020-05-05~2020-05-09", today)[0];
        let asked = if away < 0 { named.first } else { named.last } + chrono::Duration::days(away);
        prop_assert_eq!(named.distance(asked), away.abs());
    }

    #[test]
    fn what_repeats_each_year_is_never_half_a_year_away(today in any_day(), asked in any_day()) {
        for text in ["3月13日", "十一月", "元旦", "12月28日到1月3日"] {
            prop_assert!(find(text, today)[0].distance(asked) <= 184, "{}", text);
        }
    }
}
