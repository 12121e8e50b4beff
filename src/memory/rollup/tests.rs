use super::*;
use crate::memory::markdown::{NoteFile, parse};
use crate::memory::redact::redact;

fn week() -> Week {
    "2026-W17".parse().unwrap()
}

/// The entries of notes by the day of April 2026 they were written on.
fn entries(notes: &[(u32, &str)]) -> Vec<Entry> {
    let parsed = notes.iter().flat_map(|(day, text)| {
        let file = NoteFile { name: format!("memory/2026-04-{day:02}.md"), zone: chrono_tz::UTC };
        parse(&redact(text).0, &file).entries
    });
    parsed.collect()
}

fn page_of(entries: &[Entry], size: usize) -> Page {
    let notes: Vec<Noted> = entries.iter().map(|entry| Noted { entry, vector: None, uses: 0 }).collect();
    roll_up(week(), &notes, size)
}

fn page(notes: &[(u32, &str)]) -> String {
    page_of(&entries(notes), 4_000).render()
}

fn lines(page: &str) -> Vec<&str> {
    page.lines().filter(|line| line.starts_with("- ")).collect()
}

#[test]
fn one_fact_said_on_two_days_is_one_line_with_the_later_day() {
    let page = page(&[
        (20, "- 仓库门禁的管理地址是 10.8.0.14\n- 阿飞对花粉过敏"),
        (22, "- 仓库门禁管理地址 10.8.0.14，已写进手册"),
    ]);
    let lines = lines(&page);
    assert_eq!(lines.len(), 2, "{page}");
    assert!(lines.iter().any(|line| line.starts_with("- 04-22") && line.contains("10.8.0.14")), "{page}");
}

#[test]
fn other_numbers_names_and_denials_are_other_facts() {
    for (a, b) in [
        ("论坛服务端口 8101", "商店服务端口 8102"),
        ("张伟喜欢喝红茶", "李娜喜欢喝红茶"),
        ("第一次压测跑了 42 秒", "第二次压测跑了 24 秒"),
        ("The north gate opens at 6:30", "The south gate opens at 7:30"),
    ] {
        let page = page(&[(20, &format!("- {a}")), (21, &format!("- {b}"))]);
        assert_eq!(lines(&page).len(), 2, "{page}");
    }
}

#[test]
fn the_newest_state_stands_and_the_old_one_is_archived_as_such() {
    let page = page(&[(20, "- 投影亮度调到 70"), (23, "- 投影亮度改成 55，会议室太亮")]);
    let (now, archive) = page.split_once("## 归档").unwrap();
    assert!(now.contains("55") && !now.contains("70"), "{page}");
    assert!(archive.contains("- 04-20 原：投影亮度调到 70"), "{page}");
}

#[test]
fn a_change_that_names_the_old_value_needs_no_archive() {
    let page = page(&[(20, "- 论坛跑在 8101 端口"), (21, "- 论坛端口由 8101 改为 8109")]);
    assert_eq!(lines(&page), ["- 04-21 论坛端口由 8101 改为 8109"], "{page}");
}

#[test]
fn routine_chatter_wishes_and_output_have_no_line() {
    let page = page(&[
        (20, "- 08:00 巡检：一切正常\n- 午饭吃了馄饨\n- 要是有钱就买艘船\n- `ping` printed {\"ok\":true}"),
        (21, "- 08:00 浇花机器人回到充电座\n- 新合同放在 /srv/contracts"),
        (22, "- 08:00 浇花机器人回到充电座"),
        (23, "- 08:00 浇花机器人回到充电座"),
    ]);
    assert_eq!(lines(&page), ["- 04-21 新合同放在 /srv/contracts"], "{page}");
}

#[test]
fn what_ended_by_sunday_is_left_out() {
    let page = page(&[(20, "- 展会满减到 4 月 24 日结束\n- 电梯维修到 4 月 30 日为止，走楼梯")]);
    let lines = lines(&page);
    assert_eq!(lines.len(), 1, "{page}");
    assert!(lines[0].contains("4 月 30 日"), "{page}");
}

#[test]
fn what_stood_beside_a_secret_stays_without_it_or_goes() {
    let page = page(&[(20, "- 后台密码是 Zk82mPq7x1\n- 摄像头掉线，密码：Zk82mPq7x1，重启交换机后恢复")]);
    assert!(!page.contains("Zk82") && !page.contains("脱敏"), "{page}");
    assert!(page.contains("重启交换机后恢复"), "{page}");
}

#[test]
fn only_the_days_of_the_week_count() {
    let page = page(&[(19, "- 周日的合同放在 /srv/a"), (20, "- 周一的合同放在 /srv/b")]);
    assert_eq!(lines(&page).len(), 1, "{page}");
    assert!(page.starts_with("# 2026-W17\n") && page.contains("/srv/b"), "{page}");
}

#[test]
fn headings_are_in_the_language_of_the_notes() {
    assert!(page(&[(20, "- The gateway moved from port 9001 to 9002")]).contains("## Configuration"));
    assert!(page(&[(20, "- 网关端口由 9001 改为 9002")]).contains("## 配置"));
}

#[test]
fn a_page_has_half_the_room_and_says_what_it_left_out() {
    let mut note = String::new();
    for at in 0..60 {
        let word = char::from_u32(0x4e00 + 97 * at).unwrap();
        note.push_str(&format!("- 第 {at} 号柜{word}：存放样品 {}，由管理员每周五检查一次\n", 1000 + 7 * at));
    }
    let entries = entries(&[(21, &note)]);
    let page = page_of(&entries, note.chars().count());
    let text = page.render();
    assert!(
        2 * text.chars().count() <= note.chars().count(),
        "{} of {}",
        text.chars().count(),
        note.chars().count()
    );
    assert!(page.left_out > 0 && text.contains(&format!("另有 {} 条未列入", page.left_out)), "{text}");
    assert_eq!(page.statements.len(), page.left_out + page.lines.len());
}

#[test]
fn a_huge_day_stays_within_its_limits() {
    let mut note = String::new();
    for at in 0..MAX_ENTRIES + 50 {
        note.push_str(&format!("- 样品 S{at} 放在 /srv/samples/{at}\n"));
    }
    let entries = entries(&[(21, &note)]);
    let page = page_of(&entries, note.chars().count());
    assert!(page.render().chars().count() <= MAX_PAGE_CHARS);
    assert!(page.left_out >= 50);
}

#[test]
fn the_same_notes_make_the_same_bytes() {
    let notes = [(20, "- 甲项目上线\n- 记住：发票抬头写全称"), (21, "- 甲项目已上线，域名 a.example.com")];
    assert_eq!(page(&notes), page(&notes));
    assert_eq!(page(&[]), "# 2026-W17\n");
}

#[test]
fn vectors_join_what_shares_no_word() {
    let entries = entries(&[
        (
            20,
            "- 给客户写信一律不加感叹号\n- 机房温度上限 27 度\n- 新海报放在 1 号柜\n- 电表每月 3 号抄\n- 阿飞对花粉过敏\n- 打印机地址 10.8.0.9\n- 车停在 B2",
        ),
        (22, "- 回邮件勿用惊叹标点"),
    ]);
    // Each alone, but the first and the last, which point the same way.
    let vectors: Vec<Vec<f32>> = (0..entries.len())
        .map(|at| {
            let mut vector = vec![0.0; entries.len()];
            vector[if at + 1 == entries.len() { 0 } else { at }] = 1.0;
            vector
        })
        .collect();
    let notes: Vec<Noted> = entries
        .iter()
        .zip(&vectors)
        .map(|(entry, vector)| Noted { entry, vector: Some(vector), uses: 0 })
        .collect();
    let page = roll_up(week(), &notes, 4_000);
    assert_eq!(page.lines.len(), entries.len() - 1, "{}", page.render());
}
