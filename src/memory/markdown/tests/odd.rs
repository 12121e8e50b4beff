use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

#[test]
fn line_ends_and_byte_order_mark_make_no_difference() {
    let text = "## [USER]\n- 09:05 喜欢乌龙茶\n  - 不加糖\n- 21:40 最后一行";
    let twin = note("memory/2026-05-01.md", &format!("{text}\n"));
    assert_eq!(twin.entries.len(), 2);
    for odd in [
        format!("\u{feff}{}", text.replace('\n', "\r\n")),
        text.replace('\n', "\r"),
        text.replace("  - ", "\t• "),
    ] {
        let odd = note("memory/2026-05-01.md", &odd);
        let hashes = |note: &Note| note.entries.iter().map(|e| e.hash.clone()).collect::<Vec<_>>();
        assert_eq!(hashes(&odd), hashes(&twin));
        assert!(odd.entries.iter().all(|e| !e.content.as_str().contains(['\r', '\u{feff}'])));
    }
}

#[test]
fn rules_and_banners_swallow_nothing() {
    assert_eq!(
        told("---\n**Seed list**\n*rows: 4\n---\n## [USER]\n- 07:10 种了罗勒"),
        ["||**Seed list** ⏎ *rows: 4", "07:10||种了罗勒"]
    );
    assert_eq!(told("---\ntitle: never closed\n- 甲\n"), ["||title: never closed", "||甲"]);
    assert_eq!(
        told("- 09:00 note: key: value # not yaml\n\n---\n- 乙"),
        ["09:00||note: key: value # not yaml", "||乙"]
    );
}

#[test]
fn full_width_and_odd_bullets_equal_their_twins() {
    for line in [
        "- 14:30 午休",
        "- 14：30 午休",
        "－ １４：３０　午休",
        "• 14:30 午休",
        "* 14:30 午休",
        "•14:30 午休",
        "-【14:30】午休",
    ] {
        assert_eq!(told(line), ["14:30||午休"], "{line}");
    }
    assert_eq!(told("- ０９：０５　喝绿茶"), ["09:05||喝绿茶"]);
    assert_eq!(told("• 9:05 tea"), ["09:05||tea"]);
}

#[test]
fn what_no_clock_shows_is_text() {
    for text in ["24:00 x", "25:61 x", "3:1 ratio", "10:305 x", "127.0.0.1:30 x", "10:30x y"] {
        assert_eq!(told(&format!("- {text}")), [format!("||{text}")]);
    }
    assert_eq!(told("- 10:30"), [""; 0]);
    assert_eq!(told("- 09:00 -5℃ 结冰"), ["09:00||-5℃ 结冰"]);
    assert_eq!(told("- -5 度"), ["||-5 度"]);
}

#[test]
fn twelve_hours_and_parts_of_the_day() {
    for (stamp, expected) in [
        ("下午 2:20", "14:20"),
        ("凌晨 12:30", "00:30"),
        ("晚上 9:05", "21:05"),
        ("晚上 01:30", "01:30"),
        ("中午 12:10", "12:10"),
        ("中午 1:10", "13:10"),
        ("上午 11:59", "11:59"),
        ("3:00 PM", "15:00"),
        ("12:05am", "00:05"),
        ("[08:20 UTC]", "16:20"),
        ("08:20 PDT", "23:20"),
        ("08:20 CST", "08:20"),
        ("09:12 Asia/Tokyo", "08:12"),
        ("2026-05-01T08:20:00Z", "16:20"),
        ("2026-05-01T08:20:00+09:00", "07:20"),
        ("2026-05-01 (周五) 08:20", "08:20"),
    ] {
        assert_eq!(told(&format!("- {stamp} 事")), [format!("{expected}||事")], "{stamp}");
    }
}

#[test]
fn a_zone_may_move_the_day() {
    let entry = &note("memory/2026-05-01.md", "- 2026-05-01 23:30 UTC 事").entries[0];
    assert_eq!(entry.day, day("2026-05-02"));
}

#[test]
fn headings_in_fences_are_no_headings() {
    let text = "## 脚本\n- 备份命令：\n  ```bash\n  # 每天\n  cp a b\n  ```\n- 乙\n";
    assert_eq!(told(text), ["|脚本|备份命令： ⏎ ```bash ⏎ # 每天 ⏎ cp a b ⏎ ```", "|脚本|乙"]);
    assert_eq!(told("```\n## 甲\n```\n"), ["||``` ⏎ ## 甲 ⏎ ```"]);
}

#[test]
fn an_open_fence_swallows_nothing_and_a_long_one_is_left_out() {
    assert_eq!(told("- 甲\n```bash\n## 乙\n- 丙\n"), ["||甲", "|乙|丙"]);
    let long = note("memory/2026-05-01.md", &format!("- 甲\n```\n{}```\n- 乙\n", "日志 x\n".repeat(40)));
    assert_eq!((long.entries.len(), long.skipped.of(Reason::LongFence)), (2, 1));
    let encoded = note("memory/2026-05-01.md", &format!("```\n{}\n```\n", "QUJD".repeat(50)));
    assert_eq!((encoded.entries.len(), encoded.skipped.of(Reason::LongFence)), (0, 1));
}

#[test]
fn comments_are_not_content() {
    assert_eq!(
        told(
            "- 甲<!-- 注 -->乙\n<!-- 多\n行\n-->\n- 丙 `<!-- s:x -->`\n- 丁 <!-- 没有结束\n- 戊 <!-- 注 -->"
        ),
        ["||甲乙", "||丙 `<!-- s:x -->`", "||丁 <!-- 没有结束", "||戊",]
    );
}

#[test]
fn bullets_hold_what_hangs_on_them() {
    let text = "- 甲\n  续行\n  - 子一\n    1. 孙\n\n  - 子二\n  -\n\n  另一段\n- 乙\n\n不属于乙\n";
    assert_eq!(told(text), ["||甲 ⏎ 续行 ⏎ - 子一 ⏎ 1. 孙 ⏎ - 子二 ⏎ 另一段", "||乙", "||不属于乙"]);
}

#[test]
fn a_line_that_introduces_a_list_stands_above_it() {
    assert_eq!(
        told("## 部署\n端口分配：\n- 网关 18080\n- 面板 18081\n\n都已生效。\n"),
        ["|部署 / 端口分配|网关 18080", "|部署 / 端口分配|面板 18081", "|部署|都已生效。"]
    );
}

#[test]
fn lines_that_begin_with_a_time_are_entries_of_their_own() {
    assert_eq!(told("09:05 喝茶\n加了蜂蜜\n10:30 开会\n"), ["09:05||喝茶 ⏎ 加了蜂蜜", "10:30||开会"]);
}

#[test]
fn twins_at_two_times_are_two_entries() {
    let twins = note("memory/2026-05-01.md", "- 09:00 喝绿茶\n- 21:00 喝绿茶\n");
    assert_eq!(twins.entries.len(), 2);
    assert_eq!(twins.entries[0].hash, twins.entries[1].hash);
}

#[test]
fn footers_are_left_out_only_as_footers() {
    assert_eq!(told("- 甲\n\n最后更新：2026-05-01 22:00\n\n---\n*小爪记*\n"), ["||甲"]);
    assert_eq!(told("- 甲\n\n— 小爪 🐾\n"), ["||甲"]);
    assert_eq!(told("*用户很开心*\n\n- 甲\n"), ["||*用户很开心*", "||甲"]);
    assert_eq!(told("- 甲\n\n自动生成周报的脚本在 ~/bin\n"), ["||甲", "||自动生成周报的脚本在 ~/bin"]);
}

#[test]
fn hostile_text_takes_linear_time() {
    for part in ["<!-- ", "<!--\n", "```a\n", "~~~~a\n", "[", "(s-", "  ", " )"] {
        for before in ["- ", "# a"] {
            let text = format!("{before}{}x", part.repeat(24_000 / part.len()));
            let is_quick = |_| {
                let start = Instant::now();
                note("memory/2026-05-01.md", &text);
                start.elapsed() < Duration::from_secs(3)
            };
            // It takes less than half a second; looking ahead from each place would take many. A busy machine may
            // try again.
            assert!((0..3).any(is_quick), "{before:?} {part:?}");
        }
    }
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-*•－+>#| 　\t]{0,4}[甲乙丙端口：:，0-9０-９a-c👨‍👩‍👧é]{0,12}",
        "(##? |- |\\*\\*)?(下午|上午|凌晨)? ?[0-9]{1,2}[:：][0-9]{1,2}( ?[-~] ?[0-9:]{0,5})?( PM| UTC| GMT\\+8)?[）)\\]*]{0,3} [甲乙]{0,3}",
        Just("```".to_owned()),
        Just("---".to_owned()),
        Just("| 甲 | 乙 |".to_owned()),
        Just("|---|---|".to_owned()),
        Just("# Session: 2026-05-05 08:21:33 UTC".to_owned()),
        "(user|assistant|System): ?\\[?[2026\\-0-5 :甲]{0,12}\\]?",
        "<!--[甲 s:]{0,5}(-->)?",
        "\\PC{0,20}",
    ]
}

proptest! {
    #[test]
    fn no_text_makes_it_panic_and_no_word_is_invented(lines in prop::collection::vec(line(), 0..30)) {
        let text = lines.join("\n");
        let found = note("memory/2026-05-01.md", &text);
        let count = u32::try_from(lines.len()).unwrap().max(1);
        for entry in &found.entries {
            prop_assert!(!entry.content.as_str().trim().is_empty());
            prop_assert!(1 <= entry.lines.0 && entry.lines.0 <= entry.lines.1 && entry.lines.1 <= count);
        }
        for pair in found.entries.windows(2) {
            prop_assert!(pair[0].lines.1 < pair[1].lines.0, "{:?} {:?}", pair[0], pair[1]);
        }
        let windows = note("memory/2026-05-01.md", &text.replace('\n', "\r\n"));
        prop_assert_eq!(windows, found);
    }

    #[test]
    fn any_string_is_read(text in "\\PC{0,200}|[\\s\\S]{0,200}") {
        note("memory/2026-05-01.md", &text);
        note("USER.md", &text);
    }
}
