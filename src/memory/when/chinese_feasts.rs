//! Seasons and feasts in Chinese, and days of the Chinese calendar.

use chrono::Weekday;

use super::feast::FeastDay;
use super::frame::{Frame, On, Year};
use super::scan::{Piece, Rule, number};

pub(super) fn rules() -> Vec<Rule> {
    seasons().into_iter().chain(feasts()).collect()
}

/// 夏天, with a year: by itself it is weather.
fn seasons() -> Vec<Rule> {
    const SEASONS: &[&str] = &["春", "夏", "秋", "冬"];
    vec![
        Rule::new("(今)?(春|夏|秋|冬)[天季]", |piece| season(piece.get(2)?, piece.get(1).is_some()))
            .not_after(SEASONS)
            .not_before(SEASONS),
        Rule::new("今(春|夏|秋|冬)", |piece| season(piece.get(1)?, true))
            .not_before(&["春", "夏", "秋", "冬", "奥", "令"]),
    ]
}

fn season(name: &str, this_year: bool) -> Option<Frame> {
    let first = match name {
        "春" => 3,
        "夏" => 6,
        "秋" => 9,
        _ => 12,
    };
    let year = this_year.then_some(Year::On(On { count: 0, about: false }));
    Some(Frame { year, needs_company: !this_year, ..Frame::season(first) })
}

/// Feasts, and days of the Chinese calendar.
fn feasts() -> Vec<Rule> {
    let lunar_day = "(初[一二三四五六七八九十]|廿[一二三四五六七八九]|[二三]?十[一二三四五六七八九]?)";
    let mut rules = vec![
        Rule::new(
            format!(
                "(?:(?:农历|阴历|旧历)([0-9]{{1,2}}|[一二三四五六七八九十]{{1,2}})|(正|腊))月{lunar_day}"
            ),
            |piece| {
                let month = match piece.get(2) {
                    Some("正") => 1,
                    Some(_) => 12,
                    None => piece.number(1)?,
                };
                Some(Frame {
                    lunar: Some((u8::try_from(month).ok()?, lunar_day_of(piece.get(3)?)?)),
                    ..Frame::default()
                })
            },
        ),
        Rule::new("大年(初[一二三四五六七八九十])", |piece| {
            Some(Frame { lunar: Some((1, lunar_day_of(piece.get(1)?)?)), ..Frame::default() })
        }),
    ];
    rules.extend(
        FEASTS.iter().map(|(names, not_before, read)| Rule::new(*names, *read).not_before(not_before)),
    );
    rules
}

fn lunar_day_of(text: &str) -> Option<u8> {
    let mut digits = text.chars();
    let day = match digits.next()? {
        '初' => number(digits.as_str())?,
        '廿' => 20 + number(digits.as_str())?,
        _ => number(text)?,
    };
    u8::try_from(day).ok()
}

fn feast(day: FeastDay, before: u64, after: u64) -> Option<Frame> {
    Some(Frame::feast(day, before, after))
}

/// A feast that is named by its date, or like a person: only where what follows speaks of days.
fn said_as_a_time(piece: &Piece, frame: Option<Frame>) -> Option<Frame> {
    let behind = [
        "节",
        "期间",
        "假",
        "长假",
        "小长假",
        "放假",
        "黄金周",
        "那",
        "当天",
        "前后",
        "前",
        "后",
        "去",
        "回",
        "时",
        "的时候",
        "我",
        "在",
        "出",
        "玩",
        "旅",
        ",",
        "?",
        " ",
    ];
    let name = piece.before.ends_with(|c: char| {
        "一二三四五六七八九十第李王张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗陆建".contains(c)
    });
    let dated = piece.before.ends_with('年');
    let time = dated || piece.after.is_empty() || behind.iter().any(|word| piece.after.starts_with(word));
    if time && !name { frame } else { None }
}

type FeastRow = (&'static str, &'static [&'static str], fn(&Piece) -> Option<Frame>);

/// Names, what behind them makes another thing of them, and the days that belong to the feast.
#[rustfmt::skip]
const FEASTS: &[FeastRow] = &[
    ("元旦节?", &[], |_| feast(FeastDay::Solar(1, 1), 0, 2)),
    ("除夕|大年三十|年三十", &[], |_| feast(FeastDay::Lunar(1, 1), 1, 0)),
    ("春节|农历新年|大年", &["初"], |_| feast(FeastDay::Lunar(1, 1), 1, 6)),
    ("元宵节|元宵夜|元宵当天|元宵灯会", &[], |_| feast(FeastDay::Lunar(1, 15), 0, 0)),
    ("情人节", &[], |_| feast(FeastDay::Solar(2, 14), 0, 0)),
    ("妇女节|三八节", &[], |_| feast(FeastDay::Solar(3, 8), 0, 0)),
    ("植树节", &[], |_| feast(FeastDay::Solar(3, 12), 0, 0)),
    ("愚人节", &[], |_| feast(FeastDay::Solar(4, 1), 0, 0)),
    ("清明节?", &["上河", "路", "街", "村", "桥"], |_| feast(FeastDay::Solar(4, 5), 1, 1)),
    ("劳动节|五一节|五一劳动节", &[], |_| feast(FeastDay::Solar(5, 1), 0, 4)),
    ("五一", &[], |piece| said_as_a_time(piece, feast(FeastDay::Solar(5, 1), 0, 4))),
    ("青年节", &[], |_| feast(FeastDay::Solar(5, 4), 0, 0)),
    ("母亲节", &[], |_| feast(FeastDay::Nth(2, 5, Weekday::Sun), 0, 0)),
    ("儿童节|六一节|六一儿童节", &[], |_| feast(FeastDay::Solar(6, 1), 0, 0)),
    ("六一", &[], |piece| said_as_a_time(piece, feast(FeastDay::Solar(6, 1), 0, 0))),
    ("父亲节", &[], |_| feast(FeastDay::Nth(3, 6, Weekday::Sun), 0, 0)),
    ("端午节?", &["路", "街"], |_| feast(FeastDay::Lunar(5, 5), 1, 1)),
    ("建党节", &[], |_| feast(FeastDay::Solar(7, 1), 0, 0)),
    ("建军节", &[], |_| feast(FeastDay::Solar(8, 1), 0, 0)),
    ("七夕节?", &[], |_| feast(FeastDay::Lunar(7, 7), 0, 0)),
    ("教师节", &[], |_| feast(FeastDay::Solar(9, 10), 0, 0)),
    ("中秋节?", &["路", "街"], |_| feast(FeastDay::Lunar(8, 15), 1, 1)),
    ("国庆节", &[], |_| feast(FeastDay::Solar(10, 1), 0, 6)),
    ("国庆|十一", &[], |piece| said_as_a_time(piece, feast(FeastDay::Solar(10, 1), 0, 6))),
    ("重阳节", &[], |_| feast(FeastDay::Lunar(9, 9), 0, 0)),
    ("万圣节", &[], |_| feast(FeastDay::Solar(10, 31), 0, 0)),
    ("双十一|双11", &[], |_| feast(FeastDay::Solar(11, 11), 0, 0)),
    ("双十二|双12", &[], |_| feast(FeastDay::Solar(12, 12), 0, 0)),
    ("复活节", &[], |_| feast(FeastDay::Easter, 2, 1)),
    ("感恩节", &[], |_| feast(FeastDay::Nth(4, 11, Weekday::Thu), 0, 0)),
    ("冬至", &["线"], |_| feast(FeastDay::Solar(12, 21), 0, 1)),
    ("平安夜", &[], |_| feast(FeastDay::Solar(12, 24), 0, 0)),
    ("圣诞节|圣诞", &["树", "老人", "帽", "歌", "卡", "贺卡", "袜", "装", "礼物"], |_| feast(FeastDay::Solar(12, 25), 1, 1)),
    ("腊八节|腊八那天|腊八当天", &[], |_| feast(FeastDay::Lunar(12, 8), 0, 0)),
    ("小年夜|小年那天|小年当天", &[], |_| feast(FeastDay::Lunar(12, 23), 0, 1)),
];
