use proptest::prelude::*;

use super::*;
use crate::memory::tokens::estimate;

fn at(minute: u32) -> NaiveDateTime {
    chrono::NaiveDate::from_ymd_opt(2026, 3, 13).unwrap().and_hms_opt(10, minute, 0).unwrap()
}

fn said<'a>(talk: &[(Role, &'a str)]) -> Vec<Said<'a>> {
    talk.iter()
        .zip(0..)
        .map(|((role, content), minute)| Said { role: *role, at: at(minute), content })
        .collect()
}

fn summary(talk: &[(Role, &str)]) -> Summary {
    by_rules(&said(talk), 1_000, &estimate)
}

#[test]
fn a_conversation_becomes_its_background_and_its_points() {
    let made = summary(&[
        (Role::User, "你好！"),
        (Role::Assistant, "你好，今天做点什么？"),
        (Role::User, "帮我规划五一去成都的旅行，预算 8000 元。我妈不吃辣。"),
        (Role::Assistant, "好的。要住哪个区？\n```\nrg 成都 ~/trips\n```"),
        (Role::User, "就订春熙路的亚朵，5 月 1 日到 4 日。回程票还没买。"),
        (Role::Tool, "[工具输出 200 字]"),
        (Role::Assistant, "已确认：亚朵酒店 1,260 元，订单号 A2026。玩得开心！"),
        (Role::User, "谢谢"),
    ]);
    assert_eq!(
        made.text(),
        "帮我规划五一去成都的旅行，预算 8000 元；回程票还没买\n\
         - 心愿：帮我规划五一去成都的旅行，预算 8000 元\n\
         - 偏好：我妈不吃辣\n\
         - 决定（2026-03-13 10:04）：就订春熙路的亚朵，5 月 1 日到 4 日\n\
         - 未决：回程票还没买\n\
         - 信息（助手）：已确认：亚朵酒店 1,260 元，订单号 A2026"
    );
    assert_eq!((made.by, made.heading()), (SummaryBy::Rules, "对话摘要（按规则摘录）"));
}

#[test]
fn english_is_summarised_in_english() {
    let made = summary(&[
        (Role::User, "Hi! I need a new laptop for travelling. I prefer 13 inch screens."),
        (Role::Assistant, "The X13 weighs 1.1 kg. Do you need a touch screen?"),
        (Role::User, "No. We'll take the X13 for 1,200 euros. Delivery is to be confirmed tomorrow."),
    ]);
    assert_eq!(
        made.text(),
        "I need a new laptop for travelling；Delivery is to be confirmed tomorrow\n\
         - Wish: I need a new laptop for travelling\n\
         - Preference: I prefer 13 inch screens\n\
         - Fact (assistant): The X13 weighs 1.1 kg\n\
         - Decision (2026-03-13 10:02): We'll take the X13 for 1,200 euros\n\
         - Open (2026-03-13): Delivery is to be confirmed tomorrow"
    );
    assert_eq!(made.heading(), "Summary of a conversation (extracted by rules)");
}

#[test]
fn a_question_is_open_only_until_it_is_answered() {
    let asked = [(Role::User, "网关的端口是多少？")];
    assert_eq!(summary(&asked).points, ["未决：网关的端口是多少？"]);
    assert!(summary(&[asked[0], (Role::Assistant, "稍等。")]).points.is_empty());
}

#[test]
fn a_summary_is_read_back_as_it_was_kept() {
    let made = summary(&[(Role::User, "我叫林晓，住在杭州。帮我订 3 月 20 日的票")]);
    assert_eq!(Summary::read(made.heading(), &made.text()), made);
    let by_model = Summary { by: SummaryBy::Model, ..made };
    assert_eq!(Summary::read(by_model.heading(), &by_model.text()), by_model);
    assert_eq!(summary(&[(Role::User, "好的，谢谢")]).text(), "");
}

#[test]
fn folding_keeps_the_first_topic_the_last_and_what_tells_most() {
    let first = summary(&[(Role::User, "帮我装修书房。书桌要 1.6 米。墙刷成白色吧")]);
    let second = summary(&[(Role::User, "灯还没选好。我们决定 4 月 2 日开工")]);
    let folded = first.clone().fold(second.clone(), 1_000, &estimate);
    assert_eq!(folded.background, "帮我装修书房；我们决定 4 月 2 日开工");
    assert_eq!(folded.points, [first.points.clone(), second.points.clone()].concat());
    assert_eq!(folded.clone().fold(second.clone(), 1_000, &estimate), folded, "the same again adds nothing");
    let small = first.fold(second, estimate(&folded.text()) - 1, &estimate);
    assert!(!small.points.iter().any(|point| point.contains("白色")), "{small:?}");
    assert!(small.points.iter().any(|point| point.contains("开工")), "{small:?}");
}

#[test]
fn the_middle_of_a_long_conversation_is_in_the_summary() {
    let mut talk: Vec<(Role, String)> = Vec::new();
    for round in 0..20 {
        let user = match round {
            9 => "对了，我女儿叫豆豆，9 月上小学".to_owned(),
            11 => "展会的摊位就定在 B 区 17 号".to_owned(),
            _ => format!("第 {round} 段文案再帮我润色一下，语气轻松些"),
        };
        talk.push((Role::User, user));
        talk.push((Role::Assistant, "改好了，你看看这一版怎么样？".repeat(5)));
    }
    let talk: Vec<(Role, &str)> = talk.iter().map(|(role, text)| (*role, text.as_str())).collect();
    let text = by_rules(&said(&talk), 400, &estimate).text();
    assert!(text.contains("豆豆") && text.contains("B 区 17 号"), "{text}");
    assert!(estimate(&text) <= 400);
}

fn talk() -> impl Strategy<Value = Vec<(Role, String)>> {
    let role = prop::sample::select(vec![Role::User, Role::Assistant, Role::Tool, Role::System]);
    let text = "(我想|决定|8081|豆豆|。|；|？|\n|- |```\n|> |I like |tea|\\. |👨‍👩‍👧‍👦|【|好的|明天){0,60}";
    prop::collection::vec((role, text), 0..12)
}

proptest! {
    #[test]
    fn a_summary_keeps_to_its_budget_and_to_what_was_said(talk in talk(), max in 0_usize..300) {
        let talk: Vec<(Role, &str)> = talk.iter().map(|(role, text)| (*role, text.as_str())).collect();
        let made = by_rules(&said(&talk), max, &estimate);
        prop_assert!(estimate(&made.text()) <= max);
        prop_assert!(made.background.graphemes(true).count() <= BACKGROUND);
        for point in &made.points {
            let labelled = point.split_once('：').or(point.split_once(": ")).unwrap();
            let text = labelled.1.trim().trim_end_matches('…');
            let whole = |content: &str| content.split_whitespace().collect::<Vec<_>>().join(" ");
            prop_assert!(talk.iter().any(|(_, content)| whole(content).contains(text)), "{point}");
        }
        let mut points = made.points.clone();
        points.sort();
        points.dedup();
        prop_assert_eq!(points.len(), made.points.len());
        prop_assert_eq!(Summary::read(made.heading(), &made.text()), made);
    }

    #[test]
    fn folding_keeps_to_the_budget_however_often(talks in prop::collection::vec(talk(), 1..6), max in 0_usize..300) {
        let mut folded: Option<Summary> = None;
        for talk in &talks {
            let talk: Vec<(Role, &str)> = talk.iter().map(|(role, text)| (*role, text.as_str())).collect();
            let next = by_rules(&said(&talk), max, &estimate);
            folded = Some(match folded {
                Some(before) => before.fold(next, max, &estimate),
                None => next,
            });
            let text = folded.as_ref().map(Summary::text).unwrap_or_default();
            prop_assert!(estimate(&text) <= max);
        }
        prop_assert!(folded.unwrap().background.graphemes(true).count() <= BACKGROUND);
    }
}

#[test]
fn statements_stand_without_labels_and_with_the_day_they_were_said_on() {
    let points = [
        "决定（2026-03-13 10:00）：预算定了：3 万",
        "信息（助手，2026-03-12）：明天 9:30 开会",
        "偏好：我不吃香菜",
        "Decision (2026-03-13 10:00): we use 10:30",
        "提到：阳台上的番茄熟了",
        "模型自己写的一句",
    ];
    let points = points.map(str::to_owned).to_vec();
    let summary = Summary { by: SummaryBy::Rules, background: "聊了预算".to_owned(), points };
    let day = |day| chrono::NaiveDate::from_ymd_opt(2026, 3, day);
    let said = [
        (day(13), "预算定了：3 万"),
        (day(12), "明天 9:30 开会"),
        (None, "我不吃香菜"),
        (day(13), "we use 10:30"),
        (None, "模型自己写的一句"),
    ];
    assert_eq!(summary.statements(), said);
}
