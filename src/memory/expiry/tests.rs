use super::*;

/// Friday, 13 March 2026.
const SAID: &str = "2026-03-13";

fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

/// Every text of which the rules say something else than the table.
fn wrong(table: &[(&str, Option<&str>)]) -> Vec<String> {
    let said = |(text, expected): &(&str, Option<&str>)| {
        let found = end(text, Some(day(SAID)));
        (found != expected.map(day)).then(|| format!("{text}: {found:?}, not {expected:?}"))
    };
    table.iter().filter_map(said).collect()
}

#[test]
fn chinese_ends_are_understood() {
    let table: Vec<(&str, Option<&str>)> = [
        ("小周在外地盯布展，到周日都不接会", "2026-03-15"),
        ("到周五为止用备用域名", "2026-03-13"),
        ("停车证临时借给小何，到下周三", "2026-03-18"),
        ("电梯检修到星期二，走楼梯", "2026-03-17"),
        ("本周内请用 9090 端口调试", "2026-03-15"),
        ("这周内把体检报告交给前台", "2026-03-15"),
        ("本月内办完居住证", "2026-03-31"),
        ("今天内给客户回电话", "2026-03-13"),
        ("今天下班前把合同扫描件发出去", "2026-03-13"),
        ("今晚前要选好酒店", "2026-03-13"),
        ("明天中午12点前确认人数", "2026-03-14"),
        ("食堂截至 3 月 20 日只收现金", "2026-03-20"),
        ("报名截止3月20日", "2026-03-20"),
        ("3 月 25 日截止报名，还有 12 个名额", "2026-03-25"),
        ("4月5日前交房租押金", "2026-04-05"),
        ("4月5日之前都住在酒店", "2026-04-05"),
        ("大促活动到 11 月 13 日 24 点结束", "2026-11-13"),
        ("展览开放至4月30日", "2026-04-30"),
        ("优惠券有效期至2026年5月1日", "2026-05-01"),
        ("优惠码 SPRING，有效期：2026-04-01", "2026-04-01"),
        ("会员有效期到 2026-06-30", "2026-06-30"),
        ("试用账号3月28日到期", "2026-03-28"),
        ("临时口令3月16日失效", "2026-03-16"),
        ("月底前报销差旅", "2026-03-31"),
        ("到月底都在上海办公", "2026-03-31"),
        ("这个周末之前别发版", "2026-03-15"),
        ("周五之前没空开会", "2026-03-13"),
        ("验证链接三天内有效", "2026-03-16"),
        ("临时门禁卡有效期7天", "2026-03-20"),
        ("分享链接24小时后过期", "2026-03-14"),
        ("3月16日到20日停机维护", "2026-03-20"),
        ("老吴周一到周三出差，有事找小林", "2026-03-18"),
        ("下周一到下周三休假", "2026-03-18"),
        ("健身房闭馆到4月2日", "2026-04-02"),
        ("今天有效的取餐码是 A07", "2026-03-13"),
        ("仅限今天免配送费", "2026-03-13"),
        ("到15号为止车位归小何用", "2026-03-15"),
        ("到10号为止请用旧发票抬头", "2026-04-10"),
        ("花园浇水拜托邻居，直到下周五", "2026-03-20"),
        ("~~本周内换灯泡~~ 到下周二前换好水龙头", "2026-03-17"),
    ]
    .into_iter()
    .map(|(text, end)| (text, Some(end)))
    .collect();
    assert_eq!(wrong(&table), Vec::<String>::new());
}

#[test]
fn english_ends_are_understood() {
    let table: Vec<(&str, Option<&str>)> = [
        ("Use the spare badge until Tuesday", "2026-03-17"),
        ("Lift is out of order until Friday", "2026-03-13"),
        ("Plum cake at half price through March 28", "2026-03-28"),
        ("Black-week prices through November 28", "2026-11-28"),
        ("Send the invoices by end of month", "2026-03-31"),
        ("Hand in the slides by the end of the week", "2026-03-15"),
        ("Reply to the landlord by Monday", "2026-03-16"),
        ("Pay the deposit before April 5", "2026-04-05"),
        ("Guest wifi code, expires: 2026-05-01", "2026-05-01"),
        ("The staging token expires on March 20", "2026-03-20"),
        ("Trial licence valid until 2026-04-12", "2026-04-12"),
        ("Voucher valid through April 30, 2026", "2026-04-30"),
        ("Free parking ends Sunday", "2026-03-15"),
        ("Today only: skip the standup", "2026-03-13"),
        ("Oven B is away for repair until Mar 24, bake with oven A", "2026-03-24"),
        ("Deadline: March 31", "2026-03-31"),
        ("Keep the old endpoint up till next Wednesday", "2026-03-18"),
        ("The link is valid for 7 days", "2026-03-20"),
        ("One-time code expires in 2 hours", "2026-03-14"),
        ("Call the plumber by tomorrow", "2026-03-14"),
        ("Submit the form no later than 5 pm on Thursday", "2026-03-19"),
        ("Office closed March 16 to March 20", "2026-03-20"),
        ("Friday deadline for the grant report", "2026-03-13"),
    ]
    .into_iter()
    .map(|(text, end)| (text, Some(end)))
    .collect();
    assert_eq!(wrong(&table), Vec::<String>::new());
}

#[test]
fn a_day_that_is_only_named_is_no_end() {
    let table: Vec<(&str, Option<&str>)> = [
        // What happens on a day.
        "周五下午三点在三楼开评审会",
        "2 月 5 日晚上六点年夜饭",
        "3月20日团建，去莫干山",
        "3月20日到22日在莫干山团建",
        "下周三体检，要空腹",
        "Dentist on Friday at 9:30",
        "From April 1 the shop is open Wed–Sun 9:00–17:00, closed on Mondays",
        "The release is planned for March 20",
        "Team dinner on April 2",
        // What comes again.
        "每天到 6 点关灯",
        "每周五前交周报",
        "每年3月31日前报税",
        "周一到周五九点上班",
        "Backups run every night until Sunday's full run",
        "Timesheets are usually in by Friday",
        // Moved, arrived, reached: another word.
        "评审会改到周五",
        "发布推迟到3月20日",
        "快递周五收到，放到3月20日再拆",
        "等到周五再说",
        "The call was moved to Friday",
        "Launch postponed until April 5",
        // Told of the past, or as of now.
        "截至3月13日共收到 120 份问卷",
        "截至昨天完成了一半",
        "到今天为止跑了 300 公里",
        "3月5日前的日志已经删除",
        "3月5日之前一直住在杭州",
        "本周内完成了数据迁移",
        "今天之前已经提交",
        "As of March 13, 40 people signed up",
        "I lived in Leeds until 2019",
        "until today nobody complained",
        // Other words with the same signs.
        "本周内部会议讨论了预算",
        "今天内测版发给了十个人",
        "周五前端评审，周六后端评审",
        "3月20日前后去一趟苏州",
        "3月20日结束后再谈合作",
        // Done.
        "~~本周内交报告~~",
        "[x] Renew the domain (until Nov 2028)",
        "[x] 月底前报销差旅",
        // No day at all.
        "到公司后先开窗",
        "Gift boxes are out of stock until spring",
        "读完第三章之前的内容",
        "端口是 8081",
        "",
    ]
    .into_iter()
    .map(|text| (text, None))
    .collect();
    assert_eq!(wrong(&table), Vec::<String>::new());
}

#[test]
fn much_that_stays_is_not_lost_with_a_little_that_ends() {
    let long = "网关迁到新机房，地址 10.2.0.8，端口 18080，账号由小林保管。备份脚本放在 ~/bin/backup.sh，每晚三点运行。\
                旧机房到周五为止还能登录";
    assert_eq!(end(long, Some(day(SAID))), None);
    assert_eq!(end("旧机房到周五为止还能登录。用完说一声", Some(day(SAID))), Some(day("2026-03-13")));
    let stated = "仓库的访客口令，只给搬家公司的人用，进门后左转第二间，钥匙挂在墙上。用完请还给前台的小陈。有效期至 2026-04-01";
    assert_eq!(end(stated, Some(day(SAID))), Some(day("2026-04-01")));
    assert_eq!(
        end("本周内换灯泡\n4月2日前换滤芯", Some(day(SAID))),
        Some(day("2026-04-02")),
        "the later of two"
    );
}

#[test]
fn without_a_day_only_whole_dates_are_understood() {
    for (text, expected) in [
        ("护照有效期至 2031-08-15", Some("2031-08-15")),
        ("Licence expires: 2027-01-31", Some("2027-01-31")),
        ("本周内请用 9090 端口", None),
        ("到周五为止", None),
        ("4月5日前交押金", None),
    ] {
        assert_eq!(end(text, None), expected.map(day), "{text}");
    }
}

#[test]
fn a_day_without_its_year_or_month_is_the_coming_one_unless_it_is_just_past() {
    for (text, said, expected) in [
        ("到1月10日之前都用旧版接口", "2026-12-20", Some("2027-01-10")),
        ("到8月31日都免年费", "2026-01-05", Some("2026-08-31")),
        ("到月底都在上海办公", "2026-02-02", Some("2026-02-28")),
        ("到5号为止", "2026-03-28", Some("2026-04-05")),
        ("3月5日前交材料", "2026-03-07", None),
        ("until Friday", "2026-03-14", Some("2026-03-20")),
    ] {
        assert_eq!(end(text, Some(day(said))), expected.map(day), "{text}");
    }
}

#[test]
fn what_lasts_for_years_is_not_temporary() {
    assert!(is_temporary(day("2026-05-01"), day(SAID)));
    assert!(!is_temporary(day("2031-08-15"), day(SAID)));
}

#[test]
fn nothing_that_is_written_breaks_it() {
    for text in [
        "到",
        "到周",
        "~~",
        "~~~~~~",
        "前",
        "until",
        "expires:",
        "有效期99999天",
        "until 9999-12-31",
        "到13月45日前",
        "\u{0}到周五\u{0}",
    ] {
        let _ = (
            end(text, Some(day(SAID))),
            end(text, None),
            end(text, Some(NaiveDate::MAX)),
            end(text, Some(NaiveDate::MIN)),
        );
    }
}
