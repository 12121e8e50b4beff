//! How days are named in Chinese, and in digits.

use chrono::Weekday;

use super::chinese_feasts;
use super::frame::{Frame, InWeek, Month, On, Part, Unit, Year};
use super::scan::{Piece, Rule, number};

/// A number of a day, month or count.
const N: &str = "([0-9]{1,3}|[一二两三四五六七八九十]{1,3})";
/// A count: a number, half of one, or a few.
const COUNT: &str = "(半|几|数|好几|[0-9]{1,3}|[一二两三四五六七八九十]{1,3})";
const UNIT: &str = "(?:个半?(月|星期|礼拜)|(天|周|年|星期|礼拜))";

pub(super) fn rules() -> Vec<Rule> {
    dates().into_iter().chain(weeks_and_days()).chain(counted()).chain(chinese_feasts::rules()).collect()
}

/// Years, months and days of months, the fullest first.
fn dates() -> Vec<Rule> {
    vec![
        Rule::new("([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})", |piece| {
            let version = piece
                .after
                .strip_prefix('.')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
            if version { None } else { date(piece) }
        }),
        Rule::new("(20[0-9]{2})(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])", date),
        Rule::new("([0-9]{4})[-/](0[1-9]|1[0-2]|[1-9])", |piece| {
            Some(Frame { year: Some(year(piece, 1)?), month: Some(month(piece, 2)?), ..Frame::default() })
        })
        .not_before(&["-", "/", "."]),
        Rule::new(format!(r"([0-9]{{2}})\s*年\s*{N}\s*月"), |piece| {
            let year = Some(Year::Named(i32::try_from(number(piece.get(1)?)?).ok()? + 2000));
            Some(Frame { year, month: Some(month(piece, 2)?), ..Frame::default() })
        }),
        Rule::new(
            r"([0-9]{4}|[〇零一二三四五六七八九]{4})\s*年(?:度)?(?:年?(底|末|初)|(年中))?",
            |piece| {
                let ends = end_of_year(piece, 2);
                Some(Frame { year: Some(year(piece, 1)?), month: ends, ..Frame::default() })
            },
        )
        .not_before(&["级"]),
        Rule::new(
            "(大前|去|今|明|前|后|上一|下一|本)年(?:度)?(?:年?(底|末|初)|(年中))?",
            |piece| {
                let count = match piece.get(1)? {
                    "大前" => -3,
                    "前" => -2,
                    "去" | "上一" => -1,
                    "明" | "下一" => 1,
                    "后" => 2,
                    _ => 0,
                };
                let year = Some(Year::On(On { count, about: false }));
                Some(Frame { year, month: end_of_year(piece, 2), ..Frame::default() })
            },
        )
        .not_after(&["过", "年"])
        .not_before(&["轻"]),
        Rule::new("年(底|末|初)", |piece| {
            Some(Frame { month: Some(end_of_year(piece, 1)?), ..Frame::default() }.vaguely())
        })
        .not_after(&[
            "每", "一", "二", "两", "三", "四", "五", "六", "七", "八", "九", "十", "几", "多", "半", "青",
            "少", "成", "周", "整", "往",
        ]),
        Rule::new("(上|下)半年", |piece| {
            let first = if piece.get(1)? == "上" { 1 } else { 7 };
            Some(Frame { month: Some(Month::Named { first, count: 6 }), ..Frame::default() })
        }),
        Rule::new("第?([一二三四1-4])季度", |piece| Frame::quarter(piece.number(1)?)),
        Rule::new(format!(r"{N}\s*[-~到至、]\s*{N}\s*月(?:份)?"), |piece| {
            let (first, last) = (piece.number(1)?, piece.number(2)?);
            let sound = (1..=12).contains(&first) && (1..=12).contains(&last);
            let count = (last + 12).checked_sub(first)? % 12 + 1;
            sound.then(|| Frame { month: Some(Month::Named { first, count }), ..Frame::default() })
        })
        .not_before(MONTH_NOT_BEFORE),
        Rule::new(format!(r"{N}\s*月\s*{N}\s*(?:[日号]\s*)?[-~到至]\s*{N}\s*[日号]"), |piece| {
            Some(Frame { month: Some(month(piece, 1)?), days: Some(days(piece, 2, 3)?), ..Frame::default() })
        }),
        Rule::new(format!(r"{N}\s*月\s*{N}\s*[日号]"), |piece| {
            Some(Frame { month: Some(month(piece, 1)?), days: Some(day(piece, 2)?), ..Frame::default() })
        }),
        Rule::new(format!(r"{N}\s*月(?:份)?\s*(初|底|末|上旬|中旬|下旬|中)?"), |piece| {
            Some(Frame { month: Some(month(piece, 1)?), part: part(piece, 2), ..Frame::default() })
        })
        .not_before(MONTH_NOT_BEFORE),
        Rule::new(
            r"(上上|下下|上一|下一|上|下|本|这)个?月(?:份)?\s*(初|底|末|上旬|中旬|下旬|中)?",
            |piece| {
                let month = Some(Month::On(On { count: turns(piece.get(1)?), about: false }));
                Some(Frame { month, part: part(piece, 2), ..Frame::default() })
            },
        )
        .not_before(MONTH_NOT_BEFORE),
        Rule::new("月(初|底|末)", |piece| Some(Frame { part: part(piece, 1), ..Frame::default() }))
            .not_after(&["每", "每个", "个"]),
        Rule::new("([上中下]旬)", |piece| Some(Frame { part: part(piece, 1), ..Frame::default() }))
            .not_after(&["每月", "每个月"]),
        Rule::new("(?:第一个?|头一个?|首)(?:周|星期)", |_| {
            Some(Frame { part: Some(Part::Start), needs_company: true, ..Frame::default() })
        })
        .not_before(WEEKDAYS),
        Rule::new("最后一个?(?:周|星期)", |_| {
            Some(Frame { part: Some(Part::End), needs_company: true, ..Frame::default() })
        })
        .not_before(WEEKDAYS),
        Rule::new(format!(r"{N}\s*(?:[日号]\s*)?[-~到至]\s*{N}\s*[日号]"), |piece| {
            let days = days(piece, 1, 2)?;
            alone(piece).then(|| Frame { days: Some(days), ..Frame::default() })
        })
        .not_before(NUMBERED),
        Rule::new(
            r"([0-9]{1,2}|[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])\s*号",
            |piece| {
                let days = Some(day(piece, 1)?);
                alone(piece).then(|| Frame { days, ..Frame::default() })
            },
        )
        .not_before(NUMBERED),
        Rule::new(r"([0-9]{1,2}|[二三]?十[一二三四五六七八九]|[二三]十)日", |piece| {
            let days = Some(day(piece, 1)?);
            alone(piece).then(|| Frame { days, ..Frame::default() })
        })
        .not_before(&["游", "内", "间", "均", "元", "语", "本", "程", "志", "用", "报", "线", "龄"]),
    ]
}

/// Year, month and day in the first three groups.
fn date(piece: &Piece) -> Option<Frame> {
    let (year, month, days) = (year(piece, 1)?, month(piece, 2)?, day(piece, 3)?);
    Some(Frame { year: Some(year), month: Some(month), days: Some(days), ..Frame::default() })
}

/// 三月龄, 二月兰 and their like are no months.
const MONTH_NOT_BEFORE: &[&str] = &["嫂", "龄", "饼", "兰", "球", "亮", "光", "色", "牙"];
const WEEKDAYS: &[&str] = &["一", "二", "三", "四", "五", "六", "日", "天"];
/// 3号楼, 10号线: numbered things.
const NUMBERED: &[&str] = &[
    "楼", "线", "馆", "店", "门", "厅", "院", "机", "位", "床", "桌", "房", "仓", "车", "口", "井", "台",
    "库", "厂", "站", "柜", "窗", "公路", "选手", "技师", "员工", "球", "字", "码", "电池", "文件", "坑",
    "路", "桥", "棚", "箱", "柴油", "汽油", "人",
];

/// Whether a day of the month has nothing before it that makes a habit or a thing of it.
fn alone(piece: &Piece) -> bool {
    let habit = ["每月", "每个月", "第", "编号", "no.", "-", "/", "."];
    !habit.iter().any(|end| piece.before.ends_with(end))
        && !piece.before.ends_with(|c: char| c.is_ascii_alphabetic())
}

fn year(piece: &Piece, group: usize) -> Option<Year> {
    let year = number(piece.get(group)?).or_else(|| numerals(piece.get(group)?))?;
    (1900..=2199).contains(&year).then_some(Year::Named(i32::try_from(year).ok()?))
}

/// 二〇二六.
fn numerals(text: &str) -> Option<u32> {
    text.chars().try_fold(0, |sum, c| {
        let digit =
            if c == '零' { Some(0) } else { "〇一二三四五六七八九".chars().position(|d| d == c) };
        Some(sum * 10 + u32::try_from(digit?).ok()?)
    })
}

fn month(piece: &Piece, group: usize) -> Option<Month> {
    let first = piece.number(group)?;
    (1..=12).contains(&first).then_some(Month::Named { first, count: 1 })
}

fn day(piece: &Piece, group: usize) -> Option<(u32, u32)> {
    let day = piece.number(group)?;
    (1..=31).contains(&day).then_some((day, day))
}

fn days(piece: &Piece, from: usize, to: usize) -> Option<(u32, u32)> {
    let (from, to) = (day(piece, from)?.0, day(piece, to)?.0);
    (from <= to).then_some((from, to))
}

/// 初, 中 and 底 behind a month; in 3月中国队 and 三月初一 they belong to what follows.
fn part(piece: &Piece, group: usize) -> Option<Part> {
    let follows = |words: &[&str]| words.iter().any(|word| piece.after.starts_with(word));
    match piece.get(group)? {
        "初" if follows(&["一", "二", "三", "四", "五", "六", "七", "八", "九", "十", "中", "次"]) => {
            None
        }
        "中" if follows(&[
            "国", "学", "文", "午", "华", "医", "介", "奖", "间", "秋", "心", "药", "考", "等",
        ]) =>
        {
            None
        }
        "初" | "上旬" => Some(Part::Start),
        "中" | "中旬" => Some(Part::Middle),
        "底" | "末" | "下旬" => Some(Part::End),
        _ => None,
    }
}

/// 年初, 年底 and, in the group behind, 年中.
fn end_of_year(piece: &Piece, group: usize) -> Option<Month> {
    let (first, count) = match (piece.get(group), piece.get(group + 1)) {
        (Some("初"), _) => (1, 2),
        (Some(_), _) => (12, 1),
        (None, Some(_)) => (6, 2),
        (None, None) => return None,
    };
    Some(Month::Named { first, count })
}

/// 上, 上上, 下 …, in steps.
fn turns(word: &str) -> i32 {
    let count = |of| word.chars().filter(|c| *c == of).count() as i32;
    count('下') - count('上')
}

/// 上周三, 周三, 昨天.
fn weeks_and_days() -> Vec<Rule> {
    vec![
        Rule::new(
            "(上上|下下|上一|下一|上|下|本|这一|这)个?(?:周|星期|礼拜)([一二三四五六日天末])?",
            |piece| {
                let week = Some(On { count: turns(piece.get(1)?), about: false });
                // 本周期, 下周期: a period, unless an examination follows.
                let period = piece.after.starts_with('期')
                    && !["期中", "期末"].iter().any(|exam| piece.after.starts_with(exam));
                (!period).then(|| Frame { week, weekday: weekday(piece, 2), ..Frame::default() })
            },
        )
        .not_before(&["围", "边"]),
        Rule::new("(?:周|星期|礼拜)([一二三四五六日天])", |piece| {
            Some(Frame { weekday: weekday(piece, 1), ..Frame::default() })
        })
        .not_after(&[
            "每", "一", "二", "两", "三", "四", "五", "六", "七", "八", "九", "十", "几", "数", "半", "各",
            "个", "逢", "双", "单",
        ])
        .not_before(&["次", "遍", "回", "趟", "天", "个", "节", "顿", "福", "围", "都"]),
        Rule::new("(大前|前|大后|后)天|(前)[晚日]|(昨|今|明)[天日晚夜儿早晨]", |piece| {
            let named = [1, 2, 3].into_iter().find_map(|group| piece.get(group))?;
            let days = match named {
                "大前" => -3,
                "前" => -2,
                "昨" => -1,
                "明" => 1,
                "后" => 2,
                "大后" => 3,
                _ => 0,
            };
            let joined = match named {
                "今" => &["如", "当", "至今为", "而"][..],
                "明" => &["聪", "文", "说", "证", "发", "清", "照", "声", "表", "透", "光", "黎"],
                "前" | "后" => &[
                    "提", "目", "以", "之", "从", "先", "日", "生", "最", "今", "向", "往", "几", "个", "天",
                    "周", "月", "年", "背", "然", "随", "此", "空",
                ],
                _ => &[],
            };
            let apart = !joined.iter().any(|word| piece.before.ends_with(word));
            apart.then(|| Frame::offset(days, days))
        })
        .not_before(&["头条", "方舟", "气", "养成", "性", "形成"]),
        Rule::new("前[几两些]天", |_| Some(Frame::offset(-7, -2).vaguely()))
            .not_after(&["以", "之", "提", "目", "从"]),
    ]
}

fn weekday(piece: &Piece, group: usize) -> Option<InWeek> {
    Some(InWeek::Day(match piece.get(group)? {
        "一" => Weekday::Mon,
        "二" => Weekday::Tue,
        "三" => Weekday::Wed,
        "四" => Weekday::Thu,
        "五" => Weekday::Fri,
        "六" => Weekday::Sat,
        "日" | "天" => Weekday::Sun,
        _ => return Some(InWeek::Weekend),
    }))
}

/// 三天前, 两周后, 最近三个月.
fn counted() -> Vec<Rule> {
    vec![
        Rule::new(format!(r"{COUNT}\s*多?{UNIT}多?[之以]?(前|后)"), |piece| {
            let unit = unit(piece, 2)?;
            let ago = piece.get(4)? == "前";
            let sign = if ago { -1 } else { 1 };
            let away = match piece.get(1)? {
                "半" => Frame::half(unit, sign),
                many => Frame::away(count(many)?, unit, sign),
            }?;
            // 三天后 counts from now, or from what was said before.
            Some(if ago { away } else { away.vaguely() })
        })
        .not_after(&["第", "每", "最"])
        .not_before(&[
            "台", "端", "面", "女", "任", "提", "往", "进", "途", "沿", "置", "者", "期", "来", "悔",
        ]),
        Rule::new(format!(r"(?:最近|过去|近)的?\s*{COUNT}\s*多?{UNIT}"), |piece| {
            let (_, most) = count(piece.get(1)?)?;
            Some(Frame::lasting(most, unit(piece, 2)?))
        })
        .not_after(&["附", "靠", "接"])
        .not_before(&["前", "后", "之", "以前"]),
    ]
}

/// The unit in one of the two groups of [`UNIT`].
fn unit(piece: &Piece, group: usize) -> Option<Unit> {
    Some(match piece.get(group).or(piece.get(group + 1))? {
        "天" => Unit::Day,
        "月" => Unit::Month,
        "年" => Unit::Year,
        _ => Unit::Week,
    })
}

/// How many, at least and at most: 三, 两三, 几.
fn count(text: &str) -> Option<(i64, i64)> {
    if matches!(text, "几" | "数" | "好几") {
        return Some((2, 7));
    }
    if let Some(number) = number(text) {
        return Some((number.into(), number.into()));
    }
    let mut numerals = text.chars().map(|c| number(c.encode_utf8(&mut [0; 4])).map(i64::from));
    let (least, most) = (numerals.next()??, numerals.next()??);
    (numerals.next().is_none() && most == least + 1).then_some((least, most))
}
