//! Fixed texts against which a model's cosines are measured.
//!
//! [`questions`] can be nobody's memory; how near they come to a user's memories is what "unrelated" looks like for
//! this model and this user. [`samples`] are ordinary notes that stand in for the memories of a user who has few.
//! Both belong to the product: another text means another scale, so a change must recalibrate ([`VERSION`]).

use super::segment::Language;

/// Counts the changes of these texts; a scale measured with other texts is out of date.
pub const VERSION: u32 = 1;

/// Questions that can be nobody's memory.
pub fn questions(language: Language) -> &'static [&'static str] {
    match language {
        Language::Chinese => CHINESE_QUESTIONS,
        Language::English => ENGLISH_QUESTIONS,
    }
}

/// Ordinary personal notes of different kinds.
pub fn samples(language: Language) -> &'static [&'static str] {
    match language {
        Language::Chinese => CHINESE_SAMPLES,
        Language::English => ENGLISH_SAMPLES,
    }
}

const CHINESE_QUESTIONS: &[&str] = &[
    "高锰酸钾在酸性溶液里被还原成什么离子？",
    "苯环上的硝化反应为什么要用浓硫酸作催化剂？",
    "怎样用凯氏定氮法测定样品里的含氮量？",
    "醛和酮用托伦试剂怎么区分？",
    "阿伏伽德罗常数的数值是多少",
    "铂电极上析氢的过电位为什么那么低？",
    "锕系元素的收缩现象是什么意思？",
    "板球比赛里击球手被判腿截球出局需要哪些条件？",
    "爱尔兰式曲棍球每队上场几个人，比赛分成几节？",
    "冰壶比赛里的自由防守区规则是怎么规定的？",
    "卡巴迪进攻队员为什么要一口气不停地喊？",
    "美式橄榄球里安全分算几分？",
    "法式滚球的目标球要抛到多远才算有效",
    "澳式足球从两根门柱之间和边柱之间踢进分别得几分？",
    "葡萄牙的不动产转让税率分几档？",
    "巴西对跨州流通的货物怎么征收增值税？",
    "信托受益人取得的资本利得在新西兰要不要申报？",
    "比利时的遗产税为什么各大区不一样？",
    "固定资产加速折旧在芬兰税法里有哪些限制？",
    "瑞士各州的财富税起征点是怎样确定的？",
    "冰岛的发酵鲨鱼肉要埋多久才能吃？",
    "撒丁岛的活蛆奶酪是怎么做出来的",
    "秘鲁人烤豚鼠时用哪几种香草？",
    "格陵兰传统的腌海雀要塞进什么动物的皮里发酵？",
    "埃塞俄比亚的苔麸薄饼为什么有一层小孔？",
    "菲律宾鸭仔蛋一般孵到第几天？",
    "苏格兰羊杂碎布丁的外皮是什么材料",
    "硅藻的细胞壁是在哪种囊泡里沉积的？",
    "桥梁的颤振临界风速用什么公式估算？",
    "古格鲁吉亚字母和亚美尼亚字母谁先出现？",
];

const ENGLISH_QUESTIONS: &[&str] = &[
    "What ion is permanganate reduced to in acidic solution?",
    "Why does nitration of benzene need concentrated sulphuric acid?",
    "How does the Kjeldahl method determine nitrogen?",
    "Which reagent tells an aldehyde from a ketone by a silver mirror?",
    "What is the pKa of hydrofluoric acid?",
    "Why is the overpotential of hydrogen so low on platinum?",
    "what does the lanthanide contraction mean",
    "When is a batsman given out leg before wicket in cricket?",
    "How many players does each side field in hurling, and how long is a half?",
    "What does the free guard zone rule in curling forbid?",
    "Why must a kabaddi raider keep chanting in one breath?",
    "How many points is a safety worth in American football?",
    "At what distance does the jack have to lie in a game of petanque?",
    "What is the difference between a goal and a behind in Australian rules football?",
    "Which rates of property transfer tax apply in Portugal?",
    "How does Brazil levy value added tax on goods that cross state borders?",
    "Do beneficiaries of a trust report capital gains in New Zealand?",
    "Why does inheritance tax differ between the regions of Belgium?",
    "limits on accelerated depreciation of fixed assets under Finnish tax law",
    "How is the threshold of the wealth tax set in the Swiss cantons?",
    "How long is fermented shark buried in Iceland before it is eaten?",
    "How is the Sardinian cheese with live maggots made?",
    "Which herbs season roasted guinea pig in Peru?",
    "In the skin of what animal are little auks fermented in Greenland?",
    "Why is Ethiopian teff flatbread covered in tiny holes?",
    "On which day of incubation is balut usually boiled?",
    "What is the casing of a Scottish haggis made of?",
    "In which vesicle do diatoms deposit their cell wall?",
    "How is the critical wind speed for bridge flutter estimated?",
    "Which alphabet is older, the Georgian or the Armenian one?",
];

const CHINESE_SAMPLES: &[&str] = &[
    "用户习惯早上七点起床，先跑三公里再吃早饭。",
    "今天把家里的路由器换了，新密码写在抽屉的便签上。",
    "部署完成：后端服务监听 3000 端口，日志在 /var/log/app。",
    "女儿下周三要参加钢琴考级，记得提前一天去调音。",
    "和老同学约好周末一起去爬山，八点在地铁口碰头。",
    "决定用 PostgreSQL 替换 MySQL，迁移脚本放在 scripts 目录。",
    "用户喜欢简洁的回答，不要用表情符号。",
    "妈妈的血压偏高，医生让她少吃盐，每天早晚量一次。",
    "上午开了项目例会，讨论了下个版本的发布时间。",
    "买了一台二手显示器，花了六百块，颜色有点偏黄。",
    "修复：登录页在手机上按钮错位，原因是样式没有加前缀。",
    "我对花生过敏，点外卖时要备注。",
    "读完了那本讲城市规划的书，最喜欢关于街道的一章。",
    "房租每月五号交，这个月已经转给房东了。",
    "今天心情不太好，和同事因为排期吵了几句。",
    "猫打了疫苗，下一针在三周以后。",
    "周报写好了，主要是性能优化和两个线上问题。",
    "朋友推荐了一家川菜馆，水煮鱼很正宗，人均八十。",
    "服务器磁盘快满了，清理了旧的备份文件。",
    "计划年底去云南旅行，预算八千左右。",
    "新来的实习生叫小林，负责写自动化测试。",
    "学会了用吉他弹第一首完整的曲子。",
    "车子该保养了，约了星期六上午十点。",
    "客户反馈导出的表格打不开，先回退到上一个版本。",
    "最近睡得很晚，打算从今天开始十一点前关灯。",
    "用户的工作是产品经理，在一家做教育软件的公司。",
    "报名了驾校，科目一考试约在月底。",
    "晚饭做了番茄牛腩，孩子吃了两碗饭。",
    "备份任务每天凌晨两点运行，结果发到邮箱。",
    "生日那天收到一条围巾，是姐姐亲手织的。",
    "面试了两个候选人，第二个基础更扎实。",
    "快递放在门口的柜子里，取件码发在短信里。",
    "代码评审的约定：每个合并请求至少一个人看过。",
    "去医院拔了智齿，三天内不能吃硬的东西。",
    "整理了书架，把不看的书送给了社区图书馆。",
    "网络代理只在公司用，家里直接连。",
    "用户正在学日语，目标是明年通过二级考试。",
    "电费比上个月多了一倍，可能是空调一直开着。",
    "把会议纪要发到了群里，大家没有意见。",
    "种的薄荷长得很好，剪下来泡了水。",
];

const ENGLISH_SAMPLES: &[&str] = &[
    "The user prefers short answers with code first.",
    "Went for a run along the river this morning, five kilometres in half an hour.",
    "Deployed the backend on port 3000; logs go to /var/log/app.",
    "My sister's birthday is in June, she would like a scarf.",
    "Decided to replace MySQL with PostgreSQL, the migration scripts live in scripts/.",
    "I am allergic to peanuts, mention it when ordering food.",
    "Weekly meeting: we talked about the date of the next release.",
    "Fixed the login button that was misplaced on phones.",
    "The cat got her vaccination, the next one is due in three weeks.",
    "Had an argument with a colleague about the schedule and felt bad afterwards.",
    "Rent is due on the fifth, already paid this month.",
    "Finished the novel my friend recommended and liked the ending.",
    "The backup runs every night at two and mails its result.",
    "Planning a trip to the coast in autumn, the budget is about a thousand.",
    "Mom's blood pressure is high, the doctor told her to eat less salt.",
    "The new intern writes the automated tests.",
    "Learned to play my first whole song on the guitar.",
    "The car needs its service, booked for Saturday at ten.",
    "A customer could not open the exported table, rolled back to the last version.",
    "User: I have been sleeping badly lately. AI: Try to put your phone away an hour before bed.",
    "The user works as a product manager at a company for teaching software.",
    "Cooked beef with tomatoes for dinner, the kids had two helpings.",
    "Every merge request needs at least one review.",
    "Had a wisdom tooth pulled, no hard food for three days.",
    "Gave the books I no longer read to the library down the street.",
    "The proxy is for the office only, at home connect directly.",
    "Learning Japanese, the goal is to pass the exam next year.",
    "The electricity bill doubled, probably the heater.",
    "Sent the minutes of the meeting to everybody, nobody objected.",
    "The mint on the balcony grows well, made tea from it.",
    "Met an old friend for coffee, she is moving to another city.",
    "User: Which film should I see tonight? AI: If you want to laugh, take a comedy.",
    "The test server's address changed, update the configuration.",
    "Dad taught me how to repair a bicycle tyre.",
    "Signed up for a swimming course on Tuesday evenings.",
    "The grandchildren drew a picture that now hangs in the kitchen.",
    "I felt proud when my team won the school match.",
    "Bought a second-hand monitor, its colours are a bit yellow.",
    "Interviewed two candidates, the second one knew the basics better.",
    "The parcel is in the locker, the code came by message.",
];

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn there_are_enough_distinct_texts_in_each_language() {
        for language in Language::ALL {
            let distinct: HashSet<_> = questions(language).iter().collect();
            assert_eq!(distinct.len(), 30);
            let distinct: HashSet<_> = samples(language).iter().collect();
            assert_eq!(distinct.len(), 40);
            let mut all = questions(language).iter().chain(samples(language));
            assert!(all.all(|text| Language::of(text) == language));
        }
    }

    #[test]
    fn no_probe_is_one_of_the_unrelated_questions_that_recall_is_tested_with() {
        for (language, fixture) in [
            (Language::Chinese, include_str!("../../tests/fixtures/unrelated.zh.jsonl")),
            (Language::English, include_str!("../../tests/fixtures/unrelated.en.jsonl")),
        ] {
            assert_eq!(fixture.lines().count(), 30);
            assert!(questions(language).iter().all(|question| !fixture.contains(question)));
        }
    }
}
