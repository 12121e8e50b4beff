use super::*;

const TODAY: &str = "2026-04-26";

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn line(on: &str, text: &str, mark: Mark) -> Line {
    let statement = Statement {
        text: text.to_owned(),
        topic: worth::topic(text, "").unwrap_or(Topic::Projects),
        day: day(on),
        mark,
        for_ever: worth::is_for_ever(text),
        uses: 1,
        ends: end_of(text, day(on)),
        sources: vec![0],
    };
    Line { statement, from: on.to_owned() }
}

fn auto(on: &str, text: &str) -> Line {
    line(on, text, Mark::Auto)
}

fn asked(on: &str, text: &str) -> Line {
    line(on, text, Mark::User)
}

fn promoted(lines: &[Line], own: &str, block: &str) -> Promotion {
    promote(lines, &Existing { own, block }, day(TODAY), DEFAULT_BUDGET)
}

#[test]
fn what_lasts_is_promoted_with_where_it_came_from() {
    let promotion = promoted(
        &[
            auto("2026-04-20", "论坛端口由 8101 改为 8109"),
            auto("2026-04-21", "阿飞对花粉过敏"),
            asked("2026-04-22", "扫描件一律存 PDF"),
        ],
        "",
        "",
    );
    for text in [
        "### 配置\n- 论坛端口改为 8109（2026-04-20）",
        "### 偏好与人\n- 阿飞对花粉过敏（2026-04-21）",
        "- 扫描件一律存 PDF（2026-04-22，用户要求）",
    ] {
        assert!(promotion.block.contains(text), "{}", promotion.block);
    }
    assert_eq!(promotion.synced.len(), 3);
}

#[test]
fn what_passes_is_not_promoted() {
    let mut often = auto("2026-04-20", "窗帘已经洗了");
    let lines = [
        auto("2026-04-20", "展位半价到 5 月 3 日结束"),
        auto("2026-04-20", "08:00 心跳检查：同步超时"),
        auto("2026-04-20", "[ ] 买墨盒"),
        asked("2026-04-20", "明天下午带钥匙"),
        often.clone(),
    ];
    assert_eq!(promoted(&lines, "", "").block, "");
    often.statement.uses = OFTEN;
    assert!(promoted(&[often], "", "").block.contains("窗帘"));
}

#[test]
fn the_newer_state_wins_whatever_arrives_first() {
    let (old, new) =
        (auto("2026-04-02", "论坛端口由 8090 改为 8101"), auto("2026-04-20", "论坛端口由 8101 改为 8109"));
    for lines in [[old.clone(), new.clone()], [new.clone(), old.clone()]] {
        let promotion = promoted(&lines, "", "");
        assert!(promotion.block.contains("8109") && !promotion.block.contains("8101"), "{}", promotion.block);
    }
    // An older file, read a week later.
    let block = promoted(&[new], "", "").block;
    let later = promoted(&[old], "", &block);
    assert_eq!(later.block, block);
    assert_eq!(later.archived.len(), 1);
}

#[test]
fn what_is_dated_in_the_future_waits() {
    let block = "- 论坛端口 8101（2026-W15）\n";
    let promotion = promoted(&[auto("2026-06-01", "论坛端口由 8101 改为 8109")], "", block);
    assert!(promotion.block.contains("8101") && promotion.archived.is_empty(), "{}", promotion.block);
}

#[test]
fn the_superseded_leaves_the_block_for_the_archive() {
    let promotion = promoted(
        &[auto("2026-04-20", "论坛端口由 8101 改为 8109")],
        "",
        "- 论坛跑在 8101 端口（2026-W15）\n- 车位在 B2\n",
    );
    assert!(
        !promotion.block.contains("跑在") && promotion.block.contains("- 车位在 B2\n"),
        "{}",
        promotion.block
    );
    assert_eq!(promotion.archived, ["论坛跑在 8101 端口（2026-W15）"]);
}

#[test]
fn what_the_user_asked_for_yields_only_to_a_change_that_names_it() {
    let block = promoted(&[asked("2026-04-01", "投影亮度统一用 70")], "", "").block;
    let unclear = promoted(&[auto("2026-04-20", "投影亮度改成 55")], "", &block);
    assert_eq!(unclear.block, block);
    assert_eq!(
        unclear.doubts,
        [Doubt { kept: "投影亮度统一用 70".into(), against: "投影亮度改成 55".into() }]
    );
    let clear = promoted(&[auto("2026-04-20", "投影亮度由 70 改为 55")], "", &block);
    assert!(clear.block.contains("55") && !clear.block.contains("70"), "{}", clear.block);
    assert!(clear.doubts.is_empty());
}

#[test]
fn what_the_users_own_part_says_is_not_repeated() {
    let own = "# 记忆\n- 阿飞（儿子）花粉过敏\n- 论坛跑在 8101 端口\n";
    let promotion = promoted(
        &[auto("2026-04-20", "阿飞对花粉过敏"), auto("2026-04-21", "论坛端口由 8101 改为 8109")],
        own,
        "",
    );
    assert!(!promotion.block.contains("花粉") && promotion.block.contains("8109"), "{}", promotion.block);
}

#[test]
fn the_least_important_falls_out_first_and_never_what_was_asked_for() {
    let lines: Vec<Line> = (0..20)
        .map(|at| {
            let text = format!("样品 S{at} 存放在 /srv/samples/{at}");
            if at == 0 { asked("2026-04-20", &text) } else { auto("2026-04-20", &text) }
        })
        .collect();
    let promotion = promote(&lines, &Existing { own: "", block: "" }, day(TODAY), 120);
    assert!(promotion.block.contains("/srv/samples/0（"), "{}", promotion.block);
    assert!(promotion.block.chars().count() < 160, "{}", promotion.block);
    let full = promote(&lines, &Existing { own: "", block: &promotion.block }, day(TODAY), 1);
    assert_eq!(full.block.lines().filter(|line| line.starts_with("- ")).count(), 1, "{}", full.block);
}

#[test]
fn twice_makes_the_same_block() {
    let lines = [
        auto("2026-04-20", "The forum moved from port 8101 to 8109"),
        asked("2026-04-21", "Prices are always shown with tax"),
        auto("2026-04-22", "阿飞对花粉过敏，出门带药"),
    ];
    let first = promoted(&lines, "", "- Parking is on B2\n").block;
    let second = promoted(&lines, "", &first);
    assert_eq!(second.block, first);
    assert!(second.synced.is_empty() && second.archived.is_empty() && second.doubts.is_empty());
}

#[test]
fn only_what_is_core_or_for_ever_is_promoted_at_once() {
    let at_once = |text: &str, mark| is_promoted_at_once(text, "", mark, day(TODAY));
    assert!(at_once("永远记住：门卡在抽屉里", Mark::None));
    assert!(at_once("以后回复都用英文，我不喜欢表情", Mark::User));
    assert!(at_once("备份路径改为 /srv/backup", Mark::User));
    assert!(!at_once("备份路径改为 /srv/backup", Mark::Auto));
    assert!(!at_once("明天下午带钥匙", Mark::User));
}
