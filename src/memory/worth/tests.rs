use super::*;

fn is(worth: Worth, lines: &[&str]) {
    for line in lines {
        assert_eq!(judge(line, ""), worth, "{line}");
    }
}

#[test]
fn every_cue_compiles() {
    use tables::*;
    for (table, count) in [
        (ROUTINE, cues().routine.len()),
        (TROUBLE, cues().trouble.len()),
        (CHATTER, cues().chatter.len()),
        (CHAT_HEADINGS, cues().chat_headings.len()),
        (HYPOTHETICAL, cues().hypothetical.len()),
        (TOOL_OUTPUT, cues().tool_output.len()),
        (DURABLE, cues().durable.len()),
        (ALWAYS, cues().always.len()),
        (TRIALS, cues().trials.len()),
        (ASKED, cues().asked.len()),
        (ASKED_HEADINGS, cues().asked_headings.len()),
    ] {
        assert_eq!(table.len(), count);
    }
    assert_eq!(TOPICS.len(), cues().topics.len());
    assert!(cues().no_trouble.is_some());
}

#[test]
fn routine_is_told_from_routine_with_trouble() {
    is(
        Worth::Routine,
        &[
            "心跳检查：网关运行中，无待办",
            "晚间巡检：一切正常",
            "08:00 天气播报完成",
            "Health check ok, 0 errors",
            "Nightly backup done",
        ],
    );
    is(Worth::Keep, &["晚间巡检：同步超时，需关注", "Health check: printer offline"]);
    assert_eq!(judge("状态：正常", "例行检查"), Worth::Routine);
}

#[test]
fn small_talk_is_told_from_what_lasts() {
    is(
        Worth::Chatter,
        &[
            "小周说今天下雨，有点烦",
            "中午吃了酸菜鱼，味道不错",
            "她讲了个笑话",
            "隔壁店老板说要涨房租",
            "Ben thanked me",
            "He was grumpy about the traffic jam",
            "Had a pizza for lunch",
        ],
    );
    is(
        Worth::Keep,
        &[
            "以后下雨天一律停拍，改室内",
            "She wants the weather page in Celsius from now on",
            "药改到晚饭后吃",
        ],
    );
    assert_eq!(judge("看见一只猫", "闲聊"), Worth::Chatter);
    assert_eq!(judge("发票抬头一律写公司全称", "闲聊"), Worth::Keep);
}

#[test]
fn wishes_are_told_from_rules_with_a_condition() {
    is(
        Worth::Hypothetical,
        &[
            "要是有钱就开个咖啡馆",
            "也许可以换个框架，还没想好",
            "Maybe one day a boat",
            "We might rent a van, not decided",
        ],
    );
    is(
        Worth::Keep,
        &["如果温度超过 30 度就开空调", "If the queue is full, restart the worker", "决定把仓库换到二楼"],
    );
}

#[test]
fn what_a_program_printed_is_no_memory() {
    is(
        Worth::ToolOutput,
        &[
            r#"`status` printed {"ok":true,"n":3}"#,
            "Traceback (most recent call last):",
            "工具输出：12 个文件",
        ],
    );
    is(Worth::Keep, &["监控接口改到 /healthz，返回 200 才算正常"]);
}

#[test]
fn topics_are_told_by_words_and_headings() {
    for (topic_is, line) in [
        (Topic::People, "小李对花生过敏"),
        (Topic::People, "He prefers tea"),
        (Topic::Configuration, "网关端口改为 9000"),
        (Topic::Configuration, "Backups live in /srv/backup"),
        (Topic::Decisions, "决定：停掉旧论坛"),
        (Topic::Fixes, "登录页打不开，根因是证书过期，换证书后恢复"),
        (Topic::Plans, "[ ] 给打印机买墨"),
        (Topic::Projects, "新官网上线"),
    ] {
        assert_eq!(topic(line, ""), Some(topic_is), "{line}");
    }
}

#[test]
fn for_ever_is_said_in_several_ways() {
    assert!(is_for_ever("永远记住：门禁卡在抽屉里"));
    assert!(is_for_ever("Always remember: the gate closes at nine"));
    assert!(!is_for_ever("记住明天带伞"));
}
