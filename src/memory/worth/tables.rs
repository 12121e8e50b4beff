//! The cues, as regular expressions over the lower-case text. One kind a table, Chinese and English together: a
//! new way of saying something is a new row.

use super::Topic;

/// What machines and jobs say over and over while all is well.
pub(super) const ROUTINE: &[&str] = &[
    r"心跳|heartbeat|keep-?alive",
    r"(健康|例行|定时|日常|早间|晚间|夜间|每日|每周|早上|晚上|开机|巡店|开店|关店)(检查|巡检|自检|巡查|点检)",
    r"(health|routine|morning|evening|nightly|daily|hourly|scheduled|status|opening|closing) ?(check|ping|probe)",
    r"(日报|早报|晚报|周报)已(推送|发)|[，, ]0 ?个(错误|失败|异常)\s*$|(播报|打卡|签到|同步|巡检|备份|提醒|推送|轮询|例行任务|日报|早报|晚报)(已)?(完成|正常|成功|已发送|已发|结束)\s*[。!！✅]*(\([^()]*\))?$",
    r"(一切|全部|各项|系统|服务|磁盘|备份|状态)[：: ]?(都)?正常[，,。]?(无待办|无异常|无事项|没有待办)?\s*$",
    r"(正常|在线|ok|良好)[^。]{0,16}(无|没有)(任何)?(告警|异常|报警|待办|故障)",
    r"^(早|晚|夜)?(巡检|点检|巡店|巡更|巡查|例检|自检)[：:，, ]|^(patrol|round|rounds|walk-?through|check-?in)\b.{0,8}:",
    r"无待办|无异常|无告警|没有新(消息|邮件|任务)|no (new )?(tasks|alerts|messages|mail|issues|incidents|problems)\b|(completed|finished|ran) (with ?out|with no) (errors?|issues)|\b(uptime|load) [0-9.]+\b.{0,12}$|^ping ok|nothing (new|unusual|special)\b|all (fine|good|green|ok|clear|quiet|well)\b|nothing to (report|do)",
    r"(backup|sync|digest|briefing|report|reminder|news|job) (done|sent|finished|completed|complete|ok|delivered|played)\s*[.✅]*(\([^()]*\))?$",
    r"^(状态|status)[：:]\s*(正常|ok|fine|green)|下一次[：:]|next (run|check)[：:]",
    r"^(no_reply|heartbeat_ok|ok|done|完成|正常)\s*$",
    r"^(记录时间|recorded( at)?|saved( at)?)[：:]",
];

/// What makes routine worth a look, unless it is denied.
pub(super) const TROUBLE: &[&str] = &[
    r"超时|失败|错误|异常|告警|报警|需关注|卡住|离线|掉线|断开|崩溃|不可用|写满|宕机|中断",
    r"time(d )?out|fail|error|warning|offline|needs attention|stuck|crash|down\b|unreachable|disk full",
];

/// A denied trouble is none.
pub(super) const NO_TROUBLE: &str = r"(无|没有|未见|未发现|零)(任何)?(超时|失败|错误|异常|告警|报警)|(no|without|zero|0) (failures?|errors?|warnings?|timeouts?)";

/// Politeness, weather, moods, meals, jokes, gossip, and what else fills a day.
pub(super) const CHATTER: &[&str] = &[
    // Politeness.
    r"谢谢|感谢|辛苦了|早上好|早安|晚安|晚上好|下午好|你好呀?[，。!！]|拜拜|哈哈|嘿嘿|打了?个?招呼|寒暄|问候",
    r"good (morning|night|evening|afternoon)|\bthank(s|ed| you)\b|said (hi|hello|bye)|\bhello\b|\bcheers\b|\blol\b|\bhaha|congratulat",
    // Weather.
    r"(今天|明天|昨天|外面|外头|早上|晚上|又|开始)下(大|小|暴|毛毛)?[雨雪]|^下(大|小|暴)?[雨雪]|下[雨雪]了|刮(大)?风|天气(不错|很|好|真|太|转|挺|变|又|热|冷|预报说)|天(好)?[冷热]|降温|升温|太阳(很|真)?(大|好)|晚霞|彩虹|雾霾|沙尘|流星雨",
    r"\b(it|the|about the|about) (is |was )?(rain|snow|weather|heat|cold|fog|storm|wind)\b|\b(rain|snow)(ed|ing|s|y) (all|again|outside|today|the)|\bit('s| is| was) (sunny|cloudy|cold|hot|raining|snowing|windy|freezing)|nice weather|lovely (day|weather)|sunset|rainbow",
    // Moods and passing states of the body.
    r"有点(想|吵|烦|累|困|酸|冷|热|闷|丧|饿|晕|感慨|失落|小)|心情|开心|高兴|郁闷|烦死|累死|累坏|困死|吵死|没睡好|没睡醒|睡过头|吐槽|抱怨|发牢骚|叹气|感慨|想睡|犯困|腰酸|头疼|肚子疼|赖床|想家|(好|真|太|很)累|夸(我|奖)|打喷嚏|好无聊|很无聊",
    r"\b(sleepy|tired|annoyed|grumpy|bored|cheerful|moody|exhausted|yawn\w*|sigh\w*|grumbl\w*|complain\w*|moan\w*|vented|venting|cranky|hungry)\b|in a (good|bad|great|foul) mood|(good|bad) mood|feeling (good|down|great|low)|slept (badly|poorly|well)|overslept",
    // What was eaten or drunk that day.
    r"(早饭|午饭|晚饭|中饭|早餐|午餐|晚餐|夜宵|宵夜|中午|晚上|早上)(吃|点|是|叫)(了|的)?|点了?(个)?外卖|味道(一般|不错|还行|很|真|太)|多喝了|喝多了|喝了(杯|两|三|点)|真好吃|好吃|难吃|喝了?奶茶|聚餐|吃(了)?(火锅|烧烤|夜宵)|下午茶",
    r"\b(had|ate|ordered|grabbed) .{0,40}(for|at) (lunch|dinner|breakfast|supper)|\b(lunch|dinner|breakfast) (was|is|today)|tasted|delicious|yummy|(coffee|cake|pizza) was|had (a )?(pizza|coffee|noodles|cake|soup|sandwich)",
    // Jokes and games.
    r"笑话|开玩笑|玩笑|段子|逗(得|乐)|笑死|自嘲|打趣|讲了个(故事|梗)|八卦|追剧|刷剧|看(了)?球|打翻|淋湿|忘带伞|节日快乐|生日快乐|新年快乐|看了(一?部|一?集|一?场)|打(了)?(一?局|一?把)游戏|做了个梦|梦见|堆了?雪人",
    r"\bjok(e|ed|es|ing)\b|\blaugh(ed|s|ing|ter)?\b|\bpun\b|\bfunny\b|\bteas(ed|ing)\b|gossip|watched (a|the|an) (movie|film|show|match|game|episode)|dreamt|had a dream|knocked over|early to bed|early night|long day|watched the (final|match|game|race)\w*|barked|meow\w*|chewed|purr\w*",
    // What others said and did, and what is none of the user's.
    r"有(人|同学|家长|朋友|同事|位|个)[^，。]{0,6}(说|问|讲|吐槽)|有人在[^，。]{0,6}(说|问|讲)|邻居[^，。]{0,5}(说|讲|聊|家)|听说|据说|路人|网友|隔壁[^，。]{0,6}(说|讲|家|在)|群里[^，。]{0,6}(说|讲|聊|讨论|都在)|群友|没表态|朋友圈|热搜|出租车司机|快递(小哥|员)说",
    r"\b(a|an|some|another|one) (\w+ )?(customer|guest|neighbou?r|stranger|passenger|tourist|visitor|guy|woman|man|kid|driver|friend|patient|student|colleague|coworker) (\w+ )?(said|says|joked|asked|told|mentioned|wondered|thinks?|claimed|laughed)|\b(someone|somebody|everyone|people)\b.{0,24}\b(said|says|mentioned|joked|asked|claimed|thinks?|complained)\b|the neighbou?rs?|neighbou?r (plans|wants|says|said|is|has)|overheard|heard that|rumou?r|went viral|in the (group )?chat (said|joked)",
    // Small talk.
    r"闲聊|随便聊|瞎聊|聊了?(一会|会儿|几句|聊|起|到)|会不会(写|唱|画|跳|讲)|唠(了|嗑)|问(了)?(我)?(一下)?(今天|今晚|明天|外面|几点)|[问说].{0,12}(有没有|好不好|是不是|会不会).{0,8}(没有|不知道|不会|吗)|守岁|堵车|迟到|路上",
    r"\bchatted\b|small ?talk|\b(talked|chat|spoke) about .{0,30}(for a (bit|while)|again)|asked (if|whether|how|what) .{0,40}(weather|day|time|feel)|wondered|stuck in traffic|traffic jam|parking (ticket|spot|fine)|missed the (bus|train)",
];

/// Headings under which people chat.
pub(super) const CHAT_HEADINGS: &[&str] = &[
    r"闲聊|闲话|聊天|随聊|杂谈|碎碎念|日常|心情|吐槽|八卦",
    r"\b(chat|talk|small ?talk|chatter|banter|mood|fun|misc|gossip)\b",
];

/// What never was decided.
pub(super) const HYPOTHETICAL: &[&str] = &[
    r"幻想|空想|白日梦|做梦都|随口|随便(说说|聊聊|想想|问问)|(只是|就是|不过)(说说|想想|聊聊|听听|一说|随便)|听听而已|没答应也没拒绝|要是.{0,16}就(换|买|搬|租|开)|说着玩|开个脑洞|脑洞|瞎想|畅想",
    r"(还)?没(想好|决定|定下来|定论|拿定主意)|尚未决定|未决定|还(没|不)确定(要不要|是否)|再说吧|以后再说|八字(还)?没",
    r"要是有(一?笔)?(钱|时间|机会)|等(我|他|她)?(以后)?(有钱|退休|发财|中奖)|中了?(彩票|大奖)|如果(哪天|有一天|有朝一日|以后|明年|将来)|(哪天|有朝一日|说不定|将来|有空).{0,12}(想|可能|也许|考虑|去|开|买|搬)",
    r"(如果|要是|假如|万一|倘若).{0,24}(可能|也许|或许|说不定|大概|考虑|不如|的话.{0,6}(想|可能|考虑))",
    r"也许(可以|会|能|该|哪天)|或许(可以|会|能|该)|说不定(会|能|哪)|考虑(过)?要不要|要不要.{0,12}(再看|再想|没)|在想要不要|真想|好想",
    r"\b(some ?day|one day)\b|\bdream(ing|t|s|ed)? (of|about|aloud)|daydream|dreaming aloud|thinking (aloud|out loud)|just (an idea|a thought|a dream|talk|musing|thinking)|wishful|fantas(y|is|iz)",
    r"\b(maybe|perhaps)\b.{0,60}|\bmight\b|\b(if .{0,60} (could|would|might|may))\b|would (love|like) to .{0,40}(if|someday|one day)|if money|\bif .{0,40}(she|he|they|i|we)('d| would| might| could)\b|\bwish(es|ed)? (for|that|they|she|he|we|to)\b|if (i|we|she|he|they) (had|won|were)\b",
    r"(not|never|nothing|isn't|un-?) ?(yet )?(been )?(decided|settled|sure|certain)|no decision|no plans\b|undecided|toying with|pondering|mulling|would be (nice|fun|cool)",
];

/// What a machine printed.
pub(super) const TOOL_OUTPUT: &[&str] = &[
    r#"\{\s*"[\w.-]+"\s*:"#,
    r"^\s*(\$|>|#!|>>>)\s|traceback \(most recent|stack ?trace|^\s*at [\w.$<>]+\(|exit (code|status) \d|\b(stdout|stderr)\b",
    r"(printed|printed out|output(s|ted)?|returned|responded|输出|打印|返回)(了|：|:|\s)+\s*[\[{<`]",
    r"^\s*(\[?(info|debug|warn|error|trace)\]?)[\s:].*|\b\d+ (packets|bytes|rows|files) (transmitted|received|affected|changed)\b|^http/\d|\b(get|post|put) /\S* \d{3}\b",
    r"(tool|function)_?(call|result|output)|工具(输出|返回|结果)[：:]",
];

/// What is said to last, or what one has to know.
pub(super) const DURABLE: &[&str] = &[
    r"记住|记下|记一下|别忘|永远|一律|统一|以后|从此|今后|每次|总是|从不|一直|必须|不许|禁止|只用|只喝|只吃|不吃|不喝|不碰|不能吃|仅限|不可|不得|务必|过敏|忌口|偏好|喜欢|不喜欢|讨厌|习惯|约定|规定|规矩|原则|每(天|周|月|年|日|晚|季|逢)|决定|结论|敲定|拍板|定为|定在|定下|改为|改成|签约|上线|里程碑",
    r"\bremember\b|\balways\b|\bnever\b|from now on|\bevery (time|day|week|month|sunday|monday|tuesday|wednesday|thursday|friday|saturday)\b|\b(mon|tues|wednes|thurs|fri|satur|sun)days\b|\bweekends\b|\bmust\b|\bonly\b|\bprefer\w*|\bwants?\b|\blikes?\b|\bhates?\b|\ballerg\w+|\bintoleran\w+|\bdecided\b|\bdecision\b|\bfinal\b|\bsettled\b|\bagreed\b|\brule\b|\bpolicy\b|\bno longer\b|\bmilestone\b|\bsigned\b|\blaunched\b",
];

/// Being told to keep it, for ever or at all.
pub(super) const ALWAYS: &[&str] = &[
    r"永远(要)?(记住|记得|别忘|不要忘)|永久(记住|记录|保存)|一直(记住|记得)|(这|那)(条|个|件事)要?(永远|一直)?(记住|记牢)|长期记住",
    r"always remember|never forget|remember (this |it |that )?(forever|for good|permanently|always)|keep (this|it|that) (in mind )?(forever|permanently)",
];

/// Headings under which stands what was tried on the way.
pub(super) const TRIALS: &[&str] = &[
    r"试过|尝试|试了|调试(过程|记录)|排查过程|折腾",
    r"\b(tried|attempts?|trial|debug(ging)? (log|notes))\b",
];

/// Being asked to keep it.
pub(super) const ASKED: &[&str] = &[
    r"^(请|要|帮我|帮忙)?(永远|永久|一直|务必)?(记住|记得|记一下|记下来?|记个|备忘)[：:，, ]|(这|那)(条|个|件事)要?(永远)?记住",
    r"^(please |always )?remember( this| that)?[:, ]|^(note to self|don't forget|make a note|take note)\b|^keep in mind",
];

/// Headings under which stands what one asked to keep.
pub(super) const ASKED_HEADINGS: &[&str] = &[r"记住|必记|要记|备忘", r"\bremember\b|\bkeep in mind\b"];

/// Topics by cue; of those with most hits the one that stands first. The number is what a hit counts.
#[rustfmt::skip]
pub(super) const TOPICS: &[(Topic, u32, &str)] = &[
    (Topic::People, 4, r"过敏|忌口|不耐受|偏好|喜欢|不喜欢|讨厌|不吃|不喝|不碰|只喝|只吃|生日|血型|吃药|服药|用药|换药|降压|剂量|\ballerg\w+|intoleran\w+|prefer\w*|\blikes?\b|\bhates?\b|dislikes?|birthday|medic(ine|ation)|\bdose\b|\bpills?\b"),
    (Topic::People, 3, r"联系(我|方式)|称呼|叫我|回复(里|用|要|中|一律)?|语气|表情|emoji|\bwants?\b|\b(write|text|call|message|reach|ping) (to )?(me|her|him|us)\b|contact|short answers|nickname"),
    (Topic::People, 3, r"\basked (for|to|that)\b|\binsist\w*|\bfirm about\b|要求|希望(以后|每次)|坚持要"),
    (Topic::People, 3, r"\bno (milk|dairy|nuts|gluten|sugar|meat|alcohol)\b|upsets (her|his|their)|a rash"),
    (Topic::People, 3, r"\b(answers?|repl(y|ies)|responses?)\b.{0,24}\b(should|must|under|at most|short|brief|plain|no)\b|回答(要|用|里|一律|时)|素食|吃素|清真|不沾|\bveg(an|etarian|gie)\b|\bhalal\b|\bkosher\b"),
    (Topic::People, 2, r"女儿|儿子|妻子|丈夫|老婆|老公|妈妈|爸爸|孙女|孙子|外婆|奶奶|爷爷|老伴|哥哥|姐姐|弟弟|妹妹|朋友|同学|同事|入职|新来|助手|帮工|结算日|住在|\b(daughter|son|wife|husband|mother|father|sister|brother|friend|helper|colleague|partner|joined|hired|assistant|trainee|speaks)\b"),
    (Topic::People, 2, r"新(前台|同事|员工|教练|助理|店员|实习生)|起上班|\b(intern|trainee|newcomer|apprentice)\b|\bstarts on\b"),
    (Topic::People, 2, r"负责|主管|对接人|接手|归.{1,6}管|\bin charge\b|\bresponsible\b|\btakes care of\b|\blooks after\b"),
    (Topic::Plans, 5, r"^\[ \]|^(待办|todo)[：:]"),
    (Topic::Plans, 4, r"定在.{0,12}(月|周|日|号|点)|\b(is|are|takes place|set) (on|for) (january|february|march|april|may|june|july|august|september|october|november|december)"),
    (Topic::Plans, 3, r"计划|打算|准备(去|在|做|买|开)|目标|下次|下个?月|下周|明年|年夜饭|预约|约在|截止|即将|来住|出差|休假|年假|\bplan(s|ned|ning)?\b|\bgoals?\b|\bnext (week|month|year|visit|appointment|check)|\bappointment|\bbooked\b|\bdeadline|\bdue\b|\bwill\b|scheduled for"),
    (Topic::Fixes, 4, r"修复|修好|解决|根因|排查|后(恢复|正常|好了)|恢复(正常|了)?|的坑|那个坑|踩坑|教训|bug|报错|报 |崩溃|打不开|起不来|\bfix(ed|es)?\b|\bcrash\w*|root cause|\bresolved\b|\bworkaround\b|turned out|lesson"),
    (Topic::Fixes, 2, r"原因|失败|故障|写满|离线|卡住|\berrors?\b|\bfail\w*|\bbroke(n)?\b|because of|caused by"),
    (Topic::Decisions, 6, r"里程碑|\bmilestone\b"),
    (Topic::Decisions, 4, r"决定|结论|敲定|拍板|定为|定价|约定|正式(停|启|采|上|定)|停掉|停用|停售|下架|下线|不做|签约|里程碑|最终|\bdecision\b|\bdecided\b|\bsettled\b|\bfinal\b|\bagreed\b|\bconclusion\b|\bsigned\b|\bmilestone\b|\bapproved\b|\brejected\b"),
    (Topic::Decisions, 2, r"(房|单|售|平日|周末|会员|底|报)价|收费|定金|押金|折扣|费率|\b(rates?|prices?|fees?|deposits?|surcharge)\b"),
    (Topic::Configuration, 3, r"端口|路径|地址|域名|监听|部署|版本|升级|配置|脚本|定时|cron|反代|缓存|保留|声音|语速|音量|模型|密钥|环境变量|存放|放在|目录|数据库|参数|阈值|上限|自动(备份|提醒|续)|备份(到|在|放)|\bport\b|\bpath\b|\baddress\b|\bdomain\b|\bversion\b|\bupgrade\w*|\bconfig\w*|\bscript\b|\bbackups?\b|\bexports?\b|\bset to\b|\bserver\b|\bhost\b|\bdatabase\b|\bmodel\b|\bsetting\b|\bthreshold\b|kept for|retention|stored in|lives (on|in|at)|runs (on|at)"),
    (Topic::Configuration, 3, r"改为|改成|改到|换成|换到|换为|调到|调为|迁到|挪到|改送|改用|改走|改由|改在|提前到|推迟到|延长到|缩短到|固定(地址|为|在)|\b(moved|changed|switched|migrated|takes over|become|becomes)\b"),
    (Topic::Configuration, 2, r"(^|\s|`)[~/][\w.~/-]+/|\b\d{1,3}(\.\d{1,3}){3}\b|https?://|\b[\w-]+\.(com|cn|example|local|net|org|io|sh|py|toml|yml|yaml|json|csv)\b|每(天|周|月|日|年|小时|周日|周一|晚)|\b(every|each) (day|week|month|night|hour|\w+day)"),
    (Topic::Configuration, 2, r"抬头|统一(用|写|放)|命名|文件名|\bnaming\b|file names?|\bformat\b|\bhouse rule\b"),
    (Topic::Configuration, 2, r"(在|放到|放进|收在|存到).{0,10}(柜|抽屉|格|盒|架|箱|书房|车库|仓库|包里|袋)|自动(扣|缴|续|充)|路由器|后台|网关|宽带|\b(drawer|shelf|cabinet|locker|box)\b|writes? to|\blimits?\b|\bthrottle"),
    (Topic::Projects, 2, r"^\[x\]|项目|服务|新建|上线|发布|内测|公测|版本计划|进度|写完|完成|签约|合同|客户|交付|入库|\bproject\b|\bservice\b|\blaunch\w*|\breleas\w*|\bshipped\b|\blive\b|\bfinished\b|\bwrote\b|\bdelivered\b|\barrived\b|\bordered\b"),
];
