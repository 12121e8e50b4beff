//! What tells a sentence that is worth keeping from one that is not: the tables of the extractive summary.

use std::sync::LazyLock;

use regex::Regex;

use crate::memory::segment::Language;

/// What a line of a summary is about, the least worth keeping first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Point {
    /// Said by the user, and no more is known of it.
    Plain,
    /// A name, a number, a place, an amount, a cause.
    Fact,
    /// Not settled yet.
    Open,
    /// How the user likes things.
    Preference,
    /// What the user wants done.
    Wish,
    /// What was settled.
    Decision,
}

/// One row: the point, its label and the words that show it, in Chinese and in English.
type Row = (Point, [&'static str; 2], &'static str, &'static str);

/// Of several points in a sentence the one shown first counts, but for the last two, which only count alone.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    (Point::Decision, ["决定", "Decision"],
        "决定|敲定|商定|拍板|定(?:了|下|在|为|的是)|就(?:用|选|按|订|买|去|走|这么)|选(?:了|定|用|择)|改(?:成|为|到|用|约)|\
         换成|采用|最终|结论是|同意|批准|取消了|推迟到|提前到|安排在|约(?:在|好|了)|不(?:做|上|搞)了",
        "decided?|agreed|settled|we(?:'ll| will) (?:use|go|take)|let's (?:use|go|take)|going with|switch(?:ed)? to|chose|\
         cancell?ed|postponed|moved to|scheduled for"),
    (Point::Preference, ["偏好", "Preference"],
        "喜欢|讨厌|最爱|不爱|爱(?:吃|喝|看|听|用|玩)|偏好|偏爱|更(?:想|愿意)|习惯|以后|今后|一律|每次都|总是|从(?:来)?不|\
         别(?:再|用|给|叫)|不(?:能|可以)?(?:吃|喝|碰)|受不了|过敏|忌口",
        "prefer(?:s|red)?|i (?:really )?(?:like|love|hate|dislike)|favou?rite|always|never|i don't (?:like|want|use)|\
         from now on|allergic|can't stand"),
    (Point::Wish, ["心愿", "Wish"],
        "想(?:要|让|把|请|做|去|买|找|学|换|给|知道)|我想|希望|需要|要求|需求|诉求|打算|计划|准备(?:去|在|做|把)|目标|\
         帮(?:我|忙)|请(?:你|帮|把|给)|要(?:把|先|做|去|给)|务必|必须",
        "(?:i|we) (?:want|need|hope|plan|would like|have to|must)|(?:i|we)'d like|please|goal|help me|requirements?"),
    (Point::Open, ["未决", "Open"],
        "待(?:定|办|确认|讨论|回复)|还没|还不(?:知道|确定|清楚)|没(?:想好|定|确定|收到|找到|解决)|尚未|未(?:解决|确认|完成)|\
         回头|下次|之后再|再(?:说|议|看看|想想)|后续|有待|等(?:他|她|对方|客户|通知|回复|消息|结果)|卡(?:在|住)",
        "todo|tbd|pending|unresolved|undecided|not sure|to be (?:decided|confirmed)|waiting (?:for|on)|follow up|\
         still (?:need|have to|open|unclear)|not yet|blocked"),
    (Point::Fact, ["信息", "Fact"],
        r"\d|我(?:叫|姓|是|住|在)|名字|叫(?:做|作)?\p{Han}|生日|地址|电话|邮箱|端口|账号|版本|路径|位于|放在|截止|预算|价格|公司|负责|\
         联系人|原因|因为|《[^》]+》|[A-Za-z][A-Za-z0-9-]*[./_][A-Za-z0-9./_-]+|[A-Z][a-z]+ [A-Z][a-z]+",
        "my (?:name|wife|husband|son|daughter|boss|team|address|birthday)|i (?:am|live|work)|i'm|\
         is (?:called|named|located)|because|caused by|deadline|budget|version|port"),
    (Point::Plain, ["提到", "Said"], "", ""),
];

/// Words that a sentence of pleasantries is made of, and nothing else.
const PLEASANTRIES: &str = r"(?ix)^ [\s\p{P}\p{S}]* (?: (?:
    你好|您好|嗨|哈喽|早上好|晚上好|早|晚安|在吗|谢谢|多谢|感谢|辛苦|不客气|好的?|行|可以的?|嗯+|对的?|是的|没错|哦|噢|哈+|收到|
    明白|知道|了解|继续|再见|拜拜|没事|没问题|太好|不错|真棒|
    hi|hello|hey|thanks?|thx|you|okay|ok|sure|yes|no|yep|great|cool|nice|good|morning|night|bye|got|it|continue|right|
    fine|very|much|so
    ) [呀啊哦啦了吧呢哈你您嘞]* [\s\p{P}\p{S}]* )* $";

/// Days that mean something only together with the day on which they were named.
const RELATIVE_DAYS: &str = "今[天晚早]|明[天早晚]|[后昨前]天|[上下这本](?:周|个?月|星期|礼拜)|周[一二三四五六日末]|星期[一二三四五六日天]|\
    (?i)(?-u:\\b)(?:today|tonight|tomorrow|yesterday|(?:next|last|this) [a-z]+day|(?:next|last|this) (?:week|month|year))(?-u:\\b)";

static POINTS: LazyLock<Vec<(Point, Regex)>> = LazyLock::new(|| {
    let worded = ROWS.iter().filter(|(_, _, chinese, _)| !chinese.is_empty());
    let compiled = worded.filter_map(|(point, _, chinese, english)| {
        Some((*point, Regex::new(&format!(r"{chinese}|(?i)(?-u:\b)(?:{english})(?-u:\b)")).ok()?))
    });
    compiled.collect()
});
static EMPTY: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PLEASANTRIES).ok());
static RELATIVE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(RELATIVE_DAYS).ok());

impl Point {
    /// What a sentence is about; `None` if it is a mere pleasantry.
    pub(super) fn of(sentence: &str) -> Option<Self> {
        if EMPTY.as_ref().is_some_and(|empty| empty.is_match(sentence)) {
            return None;
        }
        let shown = POINTS.iter().filter_map(|(point, words)| Some((words.find(sentence)?.start(), *point)));
        let first = shown.min_by_key(|(at, point)| (*point == Self::Fact, *at));
        Some(first.map_or(Self::Plain, |(_, point)| point))
    }

    /// How a line about it begins.
    pub(super) fn label(self, language: Language) -> &'static str {
        let labels = ROWS.iter().find(|(point, ..)| *point == self).map(|(_, labels, ..)| labels);
        labels.map_or("", |[chinese, english]| match language {
            Language::Chinese => chinese,
            Language::English => english,
        })
    }

    /// What a line is about, by its label.
    pub(super) fn of_line(line: &str) -> Self {
        ROWS.iter().map(|(point, ..)| *point).find(|point| point.labels(line)).unwrap_or(Self::Plain)
    }

    /// Whether a line begins with the label of this point.
    pub(super) fn labels(self, line: &str) -> bool {
        Language::ALL.iter().any(|language| line.starts_with(self.label(*language)))
    }
}

/// Whether a sentence names a day that means nothing without its own.
pub(super) fn names_a_relative_day(sentence: &str) -> bool {
    RELATIVE.as_ref().is_some_and(|relative| relative.is_match(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(POINTS.len(), ROWS.len() - 1);
        assert!(EMPTY.is_some() && RELATIVE.is_some());
    }

    #[test]
    fn sentences_are_told_by_what_they_show_first() {
        for (sentence, point) in [
            ("那就用 PostgreSQL，预算 3 万", Some(Point::Decision)),
            ("We decided to ship on May 3", Some(Point::Decision)),
            ("我女儿对花生过敏", Some(Point::Preference)),
            ("I prefer short answers", Some(Point::Preference)),
            ("我想把端口改成 8081", Some(Point::Wish)),
            ("客户希望封面是深蓝色", Some(Point::Wish)),
            ("酒店还没订", Some(Point::Open)),
            ("The logo is still open", Some(Point::Open)),
            ("测试服务器是 10.2.3.4", Some(Point::Fact)),
            ("他叫王伟", Some(Point::Fact)),
            ("阳台上的番茄熟了", Some(Point::Plain)),
            ("好的，谢谢！", None),
            ("嗯嗯 👍", None),
            ("OK, thank you very much!", None),
            ("", None),
        ] {
            assert_eq!(Point::of(sentence), point, "{sentence}");
        }
    }

    #[test]
    fn a_line_is_known_by_its_label_in_either_language() {
        for (point, ..) in ROWS {
            for language in Language::ALL {
                assert_eq!(Point::of_line(&format!("{}：甲", point.label(language))), *point);
            }
        }
        assert!(names_a_relative_day("下个月搬家") && names_a_relative_day("see you next Friday"));
        assert!(!names_a_relative_day("3 月 5 日搬家"));
    }
}
