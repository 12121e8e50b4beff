use super::*;
use crate::memory::{Importance, Mark};

#[test]
fn f1_a_dated_title_and_topics() {
    let text = "# 2026-05-01\n\n## 网络\n- 路由器地址是 192.168.8.1\n- 记住：备用宽带每月 5 号续费\n\n## 教训\n- 改配置前先备份\n";
    assert_eq!(
        told(text),
        ["|网络|路由器地址是 192.168.8.1", "|网络|记住：备用宽带每月 5 号续费", "|教训|改配置前先备份"]
    );
    let first = &note("memory/2026-05-01.md", text).entries[0];
    assert_eq!((first.day, first.lines, first.importance), (day("2026-05-01"), (4, 4), Importance::NORMAL));
}

#[test]
fn f1_every_form_of_the_title_says_the_day_and_nothing_else() {
    for title in [
        "2026-05-09",
        "2026-05-09 工作日志",
        "2026-05-09 - 日记",
        "日记 - 2026-05-09",
        "Daily — 2026-05-09",
        "2026-05-09 — Saturday Daily Log",
        "📅 2026-05-09 记录",
        "2026-05-09 (Sat) Notes",
        "日志 - 2026-05-09 (周六）",
        "2026年5月9日 星期六",
        "5月9日",
    ] {
        let entry = &note("memory/2026-05-01.md", &format!("# {title}\n- 换了键盘")).entries[0];
        assert_eq!((entry.day, entry.context.as_str()), (day("2026-05-09"), ""), "{title}");
    }
    assert_eq!(told("# 搬家的一天\n- 换了键盘"), ["|搬家的一天|换了键盘"]);
}

#[test]
fn f2_bullets_below_the_title() {
    assert_eq!(
        told("# 2026-05-01\n\n- Moved the photos to the NAS.\n- User likes short replies.\n"),
        ["||Moved the photos to the NAS.", "||User likes short replies."]
    );
}

#[test]
fn f3_long_bullets_without_any_heading() {
    let long = format!("Rewrote `tools/mail.py`: {}; next: the cron job.", "dedupe by id; ".repeat(60));
    assert_eq!(
        told(&format!("- {long}\n- 决定：导出文件不进 git\n")),
        [format!("||{long}"), "||决定：导出文件不进 git".to_owned()]
    );
}

#[test]
fn f4_blocks_of_keys_under_a_time_of_day() {
    let text = "## 下午 2:20 - 打印机排查\n- **状态**：缺纸\n- **下一步**：买 A4 🌙\n\n## 晚上 21:05 - 修好门铃（已完成）✅\n\n### 完成事项\n- 换了电池\n### 教训\n- 先看电量\n";
    assert_eq!(
        told(text),
        [
            "14:20|打印机排查|**状态**：缺纸 ⏎ **下一步**：买 A4 🌙",
            "21:05|修好门铃（已完成） / 完成事项|换了电池",
            "21:05|修好门铃（已完成） / 教训|先看电量",
        ]
    );
}

#[test]
fn f5_paragraphs_under_a_time() {
    assert_eq!(
        told(
            "# 2026-05-01 - 周五\n\n## 09:10 - 教小爪查资料\n\n用户想让我先\"自己查\"，\n再来问。\n\n第二段。\n### 试过的路径\n- 无头模式可用\n"
        ),
        [
            "09:10|教小爪查资料|用户想让我先\"自己查\"， ⏎ 再来问。",
            "09:10|教小爪查资料|第二段。",
            "09:10|教小爪查资料 / 试过的路径|无头模式可用",
        ]
    );
}

#[test]
fn f6_ranges_begin_where_they_begin() {
    for (heading, expected) in [
        ("### 09:00 - 10:30 | 整理相册", "09:00|整理相册|x"),
        ("### 1. 修水管（10:30-11:15）", "10:30|修水管|x"),
        ("## 学习进展 (22:00-)", "22:00|学习进展|x"),
        ("## 📅 今日总结 (08:00 - 18:00)", "08:00|今日总结|x"),
        ("## 3:00-4:30 PM 开会", "15:00|开会|x"),
        ("## 下午3点半 和房东通话", "15:30|和房东通话|x"),
    ] {
        assert_eq!(told(&format!("{heading}\n- x")), [expected], "{heading}");
    }
}

#[test]
fn f7_bold_times() {
    let text = "## 上午\n- **09:12** — 第一次聊天，起名叫小爪\n- **10:40** — 装好搜索技能\n## 下午\n- 2:30 去取快递\n";
    assert_eq!(told(text), ["09:12||第一次聊天，起名叫小爪", "10:40||装好搜索技能", "14:30||去取快递"]);
    let paragraph = "**09:12 GMT+8** — 给阳台换土\n  - 两袋营养土\n    - 买自花市\n";
    assert_eq!(told(paragraph), ["09:12||给阳台换土 ⏎ - 两袋营养土 ⏎ - 买自花市"]);
    assert_eq!(told("- **09:12 - 起名** 成功"), ["09:12||**起名** 成功"]);
}

#[test]
fn f8_routine_is_folded_and_what_differs_is_kept() {
    let text = "## 记录\n- 09:30 心跳检查：服务运行中 (pid 4321)，磁盘 40%，无异常\n- 10:00 心跳检查：服务运行中 (pid 4321)，磁盘 41%，无异常\n\n- 10:30 心跳检查：服务运行中 (pid 4321)，周报任务超时（第2次），需关注\n- 11:00 心跳检查：服务运行中 (pid 4321)，磁盘 41%，无异常\n- 11:30 心跳检查：服务运行中 (pid 4321)，磁盘 41%，无异常\n";
    let note = note("memory/2026-05-01.md", text);
    let found: Vec<_> = note
        .entries
        .iter()
        .map(|e| (e.time.unwrap().format("%H:%M").to_string(), e.importance.get()))
        .collect();
    assert_eq!(found, [("09:30".into(), 1), ("10:30".into(), 3), ("11:30".into(), 1)]);
    assert_eq!(note.skipped.of(Reason::Repeated), 2);
}

#[test]
fn f8_facts_that_differ_in_a_number_are_no_routine() {
    assert_eq!(told("- 端口 8080\n- 端口 8081\n- 端口 8082").len(), 3);
}

#[test]
fn f9_a_template_says_nothing() {
    let text = "# 2026-05-01\n\n## 今日重点\n-\n\n## 待办\n- [ ]\n- [ ] 待补充\n## 目标\n\n## 心情\n（暂无）\n- **天气**：\n";
    let note = note("memory/2026-05-01.md", text);
    assert_eq!(note.entries, []);
    assert_eq!(note.skipped.of(Reason::Placeholder), 5);
    assert_eq!(told(&format!("{text}## 想法\n- 学做豆腐\n")), ["|想法|学做豆腐"]);
}

const DUMP: &str = "# Session: 2026-05-04 22:21:33 UTC

- **Session Key**: agent:main:main
- **Session ID**: 00000000-1111-2222-3333-444444444444
- **Source**: telegram

## Conversation Summary

assistant: 好的 ✅

# 进展
| 部分 | 状态 |
|---|---|
| 前门传感器 | 正常 |
user: Conversation info (untrusted metadata):
```json
{\"message_id\": \"12\", \"sender\": \"someone\"}
```

[Tue 2026-05-05 16:22 GMT+8] 那就用第二个方案装
assistant: [[reply_to_current]] 已经按第二个方案装好。

密码箱放在书房。
user: [Telegram NAME id:123 +12h 2026-05-05 08:20 UTC] 周末提醒我浇花
[message_id: 7]
System: [2026-05-05 08:00:01 GMT+8] Exec completed
user: Pre-compaction memory flush. Store durable memories now.
assistant: NO_REPLY
user: [Tue 2026-05-05 17:00 GMT+8] Read HEARTBEAT.md if it exists
assistant: HEARTBEAT_OK
";

#[test]
fn f10_f11_of_a_dump_only_what_was_said_stays() {
    let note = note("memory/2026-05-05-0621.md", DUMP);
    assert_eq!(
        told_of("memory/2026-05-05-0621.md", DUMP),
        [
            "06:21|进展|部分: 前门传感器；状态: 正常",
            "16:22||那就用第二个方案装",
            "16:22||已经按第二个方案装好。",
            "16:22||密码箱放在书房。",
            "16:20||周末提醒我浇花",
        ]
    );
    assert!(note.entries.iter().all(|entry| entry.day == day("2026-05-05")));
    assert_eq!((note.skipped.of(Reason::Pleasantry), note.skipped.of(Reason::Control)), (1, 6));
}

#[test]
fn f10_the_day_in_the_name_is_the_users() {
    let entry =
        &note("memory/2026-05-06-chat.md", "# Session: 2026-05-04 22:21:33 UTC\n\nuser: 我对花生过敏\n")
            .entries[0];
    assert_eq!((entry.day, entry.time), (day("2026-05-06"), None));
}

#[test]
fn f12_a_list_of_files_is_no_memory() {
    let text = "# Session Summary - Tue May  5 03:00:01 UTC 2026\n<!-- 自动\n生成 -->\n## Recent Memory Files\n- 2026-05-04-summary.md\n- `2026-05-04.md`\n\n---\n*Saved: Tue May  5 03:00:01 UTC 2026*\n";
    let note = note("memory/2026-05-05.md", text);
    assert_eq!(note.entries, []);
    assert_eq!((note.skipped.of(Reason::FileName), note.skipped.of(Reason::Footer)), (2, 1));
}

#[test]
fn f13_a_row_is_told_with_its_header() {
    let text = "## ⏰ 定时任务\n| 任务 | 周期 | 说明 |\n|------|:---:|------|\n| 早报 | 每天 08:00 | 天气+日程 |\n| **价格** | 6小时 | >5% 提醒（含\\|转义） |\n| 短行 |\n| - | | |\n\n表后一段。\n";
    assert_eq!(
        told(text),
        [
            "|定时任务|任务: 早报；周期: 每天 08:00；说明: 天气+日程",
            "|定时任务|任务: **价格**；周期: 6小时；说明: >5% 提醒（含|转义）",
            "|定时任务|任务: 短行",
            "|定时任务|表后一段。",
        ]
    );
}

#[test]
fn f14_keys_with_hard_breaks_are_one_block_and_say_when() {
    let text = "**记录时间**: 2026-05-06 10:00  \n**项目**: 菜园 (内测)  \n**负责人：** 小李\n\n---\n\n种子已经到了。\n";
    let found = note("memory/2026-05-01.md", text);
    let contents: Vec<_> = found.entries.iter().map(|e| (e.content.as_str(), e.day, e.lines)).collect();
    assert_eq!(
        contents,
        [
            (
                "**记录时间**: 2026-05-06 10:00\n**项目**: 菜园 (内测)\n**负责人：** 小李",
                day("2026-05-06"),
                (1, 3)
            ),
            ("种子已经到了。", day("2026-05-06"), (7, 7)),
        ]
    );
    assert_eq!(note("memory/2026-05-01.md", "**记录时间**: 2026-05-06 10:00\n").entries, []);
}

#[test]
fn f15_tasks_stay_open_or_done() {
    let text = "## 待办\n- [x] 09:30 交水费\n- [ ] 约牙医\n  - 周三以后\n1. [ ] 写说明书\n- ✅ 寄出合同\n- ⏳ 等回复\n**User decision at 12:00 PM GMT+7:** 先不换手机\n";
    assert_eq!(
        told(text),
        [
            "09:30|待办|[x] 交水费",
            "|待办|[ ] 约牙医 ⏎ - 周三以后",
            "|待办|[ ] 写说明书",
            "|待办|✅ 寄出合同",
            "|待办|⏳ 等回复 ⏎ **User decision at 12:00 PM GMT+7:** 先不换手机",
        ]
    );
    assert_eq!(
        told("- 甲\n\n**User decision at 12:00 PM GMT+7:** 先不换手机"),
        ["||甲", "13:00||**User decision at 12:00 PM GMT+7:** 先不换手机"]
    );
}

#[test]
fn f16_the_day_of_the_entry_wins() {
    let text = "## 2026-05-06 20:10 - 部署记录\n- 甲\n\n---\n\n## 2026-05-07 (3:00 PM 日报)\n- 乙\n- 2026-05-08 14:10-14:30：丙\n  - 丁\n- 2026-05-09 15:00+：戊\n- 2026-05-10：己\n- 2026-05-11 的会取消了\n- 2026-05-12-summary.md 里有详情\n";
    let found = note("memory/2026-05-01.md", text);
    let days: Vec<_> =
        found.entries.iter().map(|e| (e.day.unwrap().to_string(), e.content.as_str())).collect();
    assert_eq!(
        days,
        [
            ("2026-05-06".into(), "甲"),
            ("2026-05-07".into(), "乙"),
            ("2026-05-08".into(), "丙\n- 丁"),
            ("2026-05-09".into(), "戊"),
            ("2026-05-10".into(), "己"),
            ("2026-05-11".into(), "2026-05-11 的会取消了"),
            ("2026-05-07".into(), "2026-05-12-summary.md 里有详情"),
        ]
    );
    let times: Vec<_> = told(text).iter().map(|line| line.chars().take(5).collect::<String>()).collect();
    assert_eq!(times[..4], ["20:10", "15:00", "14:10", "15:00"]);
    assert_eq!(found.entries[4].time, None, "a date of its own makes the heading's time void");
}

#[test]
fn f17_only_real_frontmatter_is_left_out() {
    let real = note(
        "memory/2026-05-07.md",
        "---\ntitle: 2026-06-03\ntags: no\nid: 007\nkinds:\n  - 日志\n---\n- 甲\n",
    );
    assert_eq!((real.entries.len(), real.skipped.of(Reason::Frontmatter)), (1, 1));
    assert_eq!(told("---\n- 甲\n---\n- 乙\n"), ["||甲", "||乙"]);
    assert_eq!(told("---\n状态：在家\n---\n- 乙\n"), ["||状态：在家", "||乙"]);
}

#[test]
fn marks_are_read_on_headings_and_lines() {
    let text = "## [USER] 喜好\n- 喝乌龙\n- [AUTO] 路由器换了\n## ［AUTO］\n- 甲\n- 乙 【USER】\n- 09:10 [SYNC] 丙\n## 其他\n- 丁\n【USER】\n- 戊\n- [USER](https://example.test) 己\n";
    let found = note("memory/2026-05-01.md", text);
    let marks: Vec<_> =
        found.entries.iter().map(|e| (e.content.as_str(), e.mark, e.importance.get())).collect();
    assert_eq!(
        marks,
        [
            ("喝乌龙", Mark::User, 5),
            ("路由器换了", Mark::Auto, 3),
            ("甲", Mark::Auto, 3),
            ("乙", Mark::User, 5),
            ("丙", Mark::Sync, 3),
            ("丁", Mark::None, 3),
            ("戊", Mark::User, 5),
            ("[USER](https://example.test) 己", Mark::User, 5),
        ]
    );
    assert_eq!(found.entries[0].context.as_str(), "喜好");
}

#[test]
fn the_session_at_the_end_of_a_line_is_not_content() {
    let found = note("memory/2026-05-01.md", "- 甲 <!-- s:tg-77 -->\n- 乙 (s-1a2b)\n- 丙 (s)\n");
    let sessions: Vec<_> = found.entries.iter().map(|e| (e.content.as_str(), e.session.as_deref())).collect();
    assert_eq!(sessions, [("甲", Some("tg-77")), ("乙", Some("s-1a2b")), ("丙 (s)", None)]);
    // Other writers put it behind the time; in front of no time it is text.
    let found = note("memory/2026-05-01.md", "- 10:30 (s-1a2b) 甲\n- [USER] 10:31（s-2） 乙\n- (s-3) 丙\n");
    let sessions: Vec<_> = found.entries.iter().map(|e| (e.content.as_str(), e.session.as_deref())).collect();
    assert_eq!(sessions, [("甲", Some("s-1a2b")), ("乙", Some("s-2")), ("(s-3) 丙", None)]);
}

#[test]
fn profiles_are_read_bullet_by_bullet() {
    let text = "# MEMORY.md - 长期记忆\n\n> 上限 200 行，旧的先删\n> 只写结论\n\n_随用随改。_\n\n## 主人\n- **称呼**: 阿木\n- **时区**: Asia/Shanghai\n- **生日**:\n<!-- ocmemd:begin -->\n- 2026-05-01：网关端口 18080\n<!-- ocmemd:end -->\n<!-- openclaw-memory-promotion:x -->\n\n**城市**: 苏州  \n**宠物**: 一只猫  \n";
    let found = note("MEMORY.md", text);
    let told = told_of("MEMORY.md", text);
    assert_eq!(
        told,
        [
            "|主人|**称呼**: 阿木",
            "|主人|**时区**: Asia/Shanghai",
            "|主人|网关端口 18080",
            "|主人|**城市**: 苏州",
            "|主人|**宠物**: 一只猫",
        ]
    );
    assert_eq!((found.entries[0].day, found.entries[2].day), (None, day("2026-05-01")));
    assert_eq!(found.skipped.of(Reason::Instruction), 2);
}

#[test]
fn only_daily_notes_have_a_day() {
    for (name, expected) in [
        ("memory/2026-05-01.md", day("2026-05-01")),
        ("memory/2026-05-01-request-timed-out.md", day("2026-05-01")),
        ("memory/work/2026-05-01-0821.md", day("2026-05-01")),
        ("memory/2026-11.md", None),
        ("memory/2026-W11.md", None),
        ("memory/2026-13-01.md", None),
        ("memory/2026-05-011.md", None),
        ("MEMORY.md", None),
    ] {
        assert_eq!(NoteFile { name: name.to_owned(), zone: Shanghai }.day(), expected, "{name}");
    }
}

#[test]
fn the_lines_of_a_weekly_page_have_the_day_they_begin_with() {
    let found = note(
        "memory/2026-53.md",
        "# 2026-W53\n\n## 修复\n- 12-30 导出乱码\n- 01-03 重启网关\n- 02-01 别的\n",
    );
    let days: Vec<_> = found.entries.iter().map(|e| (e.content.as_str(), e.day)).collect();
    assert_eq!(
        days,
        [("导出乱码", day("2026-12-30")), ("重启网关", day("2027-01-03")), ("02-01 别的", None)]
    );
}
