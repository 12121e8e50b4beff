//! Secrets are put together at run time, so that no scanner takes this file for a leak.

use proptest::prelude::*;

use super::{Finding, redact};

fn clean(text: &str) -> String {
    redact(text).0.as_str().to_owned()
}

/// Text that only looks like a key: letters and digits.
fn noise(length: usize) -> String {
    "aB3dE5gH7jK9mN1pQ".chars().cycle().take(length).collect()
}

/// A line of a key's body.
fn body(length: usize) -> String {
    "MIIEvQIBADANBg9w0B+AQ/EFAASC".chars().cycle().take(length).collect()
}

fn marker(which: &str, kind: &str) -> String {
    let dashes = "-".repeat(5);
    format!("{dashes}{which} {kind}PRIVATE KEY{dashes}")
}

#[test]
fn keys_of_known_vendors_become_placeholders() {
    let upper = "AB3DE5GH7JK9MN1P";
    let keys = [
        ["sk-", &noise(48)].concat(),
        ["sk-", "proj-", &noise(60)].concat(),
        ["sk-", "ant-api03-", &noise(60)].concat(),
        ["gh", "p_", &noise(36)].concat(),
        ["gh", "o_", &noise(36)].concat(),
        ["github", "_pat_", &noise(22), "_", &noise(59)].concat(),
        ["AK", "IA", upper].concat(),
        ["AI", "za", &noise(35)].concat(),
        ["xo", "xb-", "123456789012-", &noise(24)].concat(),
        ["sk_", "live_", &noise(24)].concat(),
        ["h", "f_", &noise(34)].concat(),
        ["gl", "pat-", &noise(20)].concat(),
        ["np", "m_", &noise(36)].concat(),
        ["LT", "AI", &noise(20)].concat(),
    ];
    for key in keys {
        for (before, after) in
            [("密钥是", "，别外传"), ("用", "吧"), ("export KEY=", ""), ("- `", "` works"), ("", "\n")]
        {
            let text = format!("{before}{key}{after}");
            assert_eq!(clean(&text), format!("{before}[已脱敏:api_key]{after}"), "{text}");
        }
    }
}

#[test]
fn tokens_and_headers_become_placeholders() {
    let jwt = ["eyJ", &noise(20), ".eyJ", &noise(30), ".", &noise(43)].concat();
    let telegram = ["123456789:", &noise(35)].concat();
    let bearer = noise(30);
    for (text, expected) in [
        (format!("会话 {jwt}。"), "会话 [已脱敏:jwt]。".to_owned()),
        (format!("机器人 {telegram}"), "机器人 [已脱敏:token]".to_owned()),
        (
            format!("curl -H 'Authorization: Bearer {bearer}' x"),
            "curl -H 'Authorization: Bearer [已脱敏:token]' x".into(),
        ),
        (format!("authorization: Basic {bearer}=="), "authorization: Basic [已脱敏:token]".into()),
        (format!("aws_secret_access_key = {}", noise(40)), "aws_secret_access_key = [已脱敏:api_key]".into()),
        (
            format!("https://e.test/?access_token={bearer}&x=1"),
            "https://e.test/?access_token=[已脱敏:token]&x=1".into(),
        ),
    ] {
        assert_eq!(clean(&text), expected);
    }
}

#[test]
fn only_the_password_of_a_connection_string_is_masked() {
    let mask = "[已脱敏:password]";
    for (text, expected) in [
        ("redis://:pw1@h", "redis://:<>@h"),
        ("postgres://u:p%40w@h/db", "postgres://u:<>@h/db"),
        ("mysql://u:p@w:x@h/d", "mysql://u:<>@h/d"),
        ("mysql://u:p/w@h/d", "mysql://u:<>@h/d"),
        ("Server=h;Password=pw2;Db=x", "Server=h;Password=<>;Db=x"),
        ("Server=h;Password=pw;", "Server=h;Password=<>;"),
        ("连 https://me:s3cret@e.test:8443/a，再试", "连 https://me:<>@e.test:8443/a，再试"),
        ("https://e.test/a?x=1", "https://e.test/a?x=1"),
        ("https://e.test:8080/a@b", "https://e.test:8080/a@b"),
        ("postgres://h:5432/db?mail=a@b", "postgres://h:5432/db?mail=a@b"),
        ("postgres://u:${PGPASSWORD}@h/db", "postgres://u:${PGPASSWORD}@h/db"),
    ] {
        assert_eq!(clean(text), expected.replace("<>", mask));
    }
}

#[test]
fn passwords_said_in_words_lose_their_value_only() {
    for text in [
        "WiFi 密码是<hunter2x>，贴在路由器上",
        "密码：<hunter>",
        "密码:<１２３４ａｂｃｄ>",
        "- **密码**：<abc-12345>",
        "| 后台密码 | <abc12345> |",
        "口令已经改成了 <Tr0ub4dor&3>。",
        "密码改成了<qwe123>",
        "新密码就是：<Passw0rd!>",
        "NAS 的密码（旧）：<nas2024!>",
        "密码是“<芝麻开门>”",
        "密码 <abc12345> 记一下",
        "密码<abc12345>",
        "password: <hunter2>",
        "passwd=<letmein>",
        "DB_PASSWORD=<s3cr3t>",
        "pwd：<a1b2c3>",
        "The password for the router is <abc12345>.",
        "{\"password\": \"<correct horse>\", \"x\": 1}",
        "mysql --password <abc12345>",
    ] {
        let said = text.replace(['<', '>'], "");
        let start = text.find('<').unwrap();
        let end = text.find('>').unwrap();
        let expected = format!("{}[已脱敏:password]{}", &text[..start], &text[end + 1..]);
        assert_eq!(clean(&said), expected, "{said}");
    }
    let changed = "登录密码从 abc123 改成了 xyz789，别忘";
    assert_eq!(clean(changed), "登录密码从 [已脱敏:password] 改成了 [已脱敏:password]，别忘");
    for (word, kind) in
        [("api_key=", "api_key"), ("apiKey: ", "api_key"), ("token=", "token"), ("secret：", "secret")]
    {
        assert_eq!(clean(&format!("{word}{}", noise(16))), format!("{word}[已脱敏:{kind}]"));
    }
}

#[test]
fn a_pin_is_a_secret_only_where_its_value_looks_like_one() {
    let odd = ["qT7", "zW2k", "#9"].concat();
    for (text, expected) in [
        (
            "the door's pin is 4711, tell nobody".to_owned(),
            "the door's pin is [已脱敏:password], tell nobody".to_owned(),
        ),
        (format!("Ana's passcode was {odd}"), "Ana's passcode was [已脱敏:password]".to_owned()),
        (
            format!("vault password was reset to {odd}, ok"),
            "vault password was reset to [已脱敏:password], ok".to_owned(),
        ),
    ] {
        assert_eq!(clean(&text), expected);
    }
    for text in
        ["LED pin: D13", "the pin is bent", "pin 12 is ground", "the password was reset to the default"]
    {
        assert_eq!(clean(text), text);
    }
}

#[test]
fn numbers_count_only_with_their_check_digits() {
    for (text, expected) in [
        ("身份证 11010519491231002X 已办", "身份证 [已脱敏:id_card] 已办"),
        ("身份证：１１０１０５１９４９１２３１００２Ｘ", "身份证：[已脱敏:id_card]"),
        ("11010519491231002x", "[已脱敏:id_card]"),
        ("110105194912310021", "110105194912310021"),
        ("11010519491331002X", "11010519491331002X"),
        ("卡号 4111 1111 1111 1111", "卡号 [已脱敏:bank_card]"),
        ("卡号4111-1111-1111-1111。", "卡号[已脱敏:bank_card]。"),
        ("4111 1111 1111 1111 2026-03-13", "[已脱敏:bank_card] 2026-03-13"),
        ("6222020000000000000", "[已脱敏:bank_card]"),
        ("4111 1111 1111 1112", "4111 1111 1111 1112"),
        ("订单号：4111111111111111", "订单号：4111111111111111"),
        ("手机13812345678，微信同号", "手机[已脱敏:phone]，微信同号"),
        ("打 +86 138-1234-5678", "打 [已脱敏:phone]"),
        ("打 138 1234 5678 或 +8613912345678", "打 [已脱敏:phone] 或 [已脱敏:phone]"),
        ("电话：１３８１２３４５６７８", "电话：[已脱敏:phone]"),
        ("13812345678/13912345678/13712345678", "[已脱敏:phone]/[已脱敏:phone]/[已脱敏:phone]"),
        ("Tel.13812345678", "Tel.[已脱敏:phone]"),
        ("/status/13812345678", "/status/13812345678"),
        ("订单 202603138123456789", "订单 202603138123456789"),
        ("id 913812345678", "id 913812345678"),
        ("0.13812345678", "0.13812345678"),
        ("13812345678abc", "13812345678abc"),
        ("20260313-13812345678", "20260313-13812345678"),
        ("12812345678", "12812345678"),
    ] {
        assert_eq!(clean(text), expected);
    }
}

#[test]
fn no_line_of_a_private_key_survives_and_the_text_around_it_does() {
    for kind in ["", "RSA ", "OPENSSH ", "EC ", "ENCRYPTED "] {
        let lines = [marker("BEGIN", kind), body(64), body(64), body(27), marker("END", kind)];
        let (begin, cut) = (&lines[0], &lines[1..4]);
        let bulleted: String = lines.iter().map(|line| format!("- {line}\n")).collect();
        let numbered: String =
            lines.iter().enumerate().map(|(n, line)| format!("{:>3} | {line}\n", n + 1)).collect();
        for block in [
            lines.join("\n") + "\n",
            lines.join("\r\n") + "\r\n",
            format!("- 部署私钥：\n  {}\n", lines.join("\n  ")),
            bulleted,
            numbered,
            format!("{begin}\n{}\n", cut.join("\n")),
            format!("{{\"private_key\": \"{}\\n\"}}\n", lines.join("\\n")),
            format!("{} {}\n", begin, cut.join(" ")),
        ] {
            let text =
                format!("前文 v1.2\n{block}之后的话 hello\n- commit {}\n{block}结尾", "0a1b2c3d".repeat(5));
            let (redacted, findings) = redact(&text);
            let redacted = redacted.as_str();
            for secret in cut {
                assert!(!redacted.contains(secret), "{text}\n=>\n{redacted}");
            }
            assert!(redacted.starts_with("前文 v1.2\n") && redacted.ends_with("结尾"), "{redacted}");
            assert!(redacted.contains("之后的话 hello\n- commit 0a1b"), "{redacted}");
            assert_eq!(redacted.matches("[已脱敏:private_key]").count(), 2);
            assert_eq!(findings.len(), 2);
            assert_eq!(redacted.matches('\n').count(), text.matches('\n').count());
            assert_eq!(redacted.matches("\r\n").count(), text.matches("\r\n").count());
        }
    }
}

#[test]
fn findings_name_the_kind_and_the_line() {
    let text = format!("一\n二 13812345678\n{}\n{}\n密码：abc123\n", marker("BEGIN", ""), body(64));
    let found = |kind, line| Finding { kind, line };
    assert_eq!(redact(&text).1, [found("phone", 2), found("private_key", 3), found("password", 5)]);
}

#[test]
fn notes_without_secrets_stay_byte_for_byte() {
    let png = format!("```\ndata:image/png;base64,iVBORw0KGgo{}\n```", body(400));
    let corpus = include_str!("clean_notes.txt");
    assert!(corpus.lines().count() >= 60);
    for text in corpus.lines().chain([corpus, &png]) {
        assert_eq!(clean(text), text);
    }
    assert_eq!(redact(corpus).1, []);
}

#[test]
fn long_hostile_text_takes_linear_time() {
    for part in ["token=", "密码", "1381234", "sk-", "4111 ", "eyJ.", "a://:", "password for ", "--BEGIN "]
    {
        let text = part.repeat(20_000 / part.len());
        let began = std::time::Instant::now();
        redact(&text);
        assert!(began.elapsed().as_secs() < 5, "{part} took {:?}", began.elapsed());
    }
}

proptest! {
    #[test]
    fn redacting_twice_changes_nothing_and_lines_stay(
        parts in prop::collection::vec(
            prop::sample::select([marker("BEGIN", ""), marker("END", ""), body(26)].into_iter().chain([
                "固", "密码", "是", "：", ":", "=", "abc12345", "13812345678", "4111 1111 1111 1111", " ", "\n", "\r\n", "-",
                "[", "]", "[已脱敏:", "[已脱敏:phone]", "\"", "“", "token", "password", "redis://:", "@h", ";", "Authorization: ",
                "Bearer ", "11010519491231002X", "👨‍👩‍👧‍👦", "e\u{301}", "８", "*", "|", "/", "\u{200c}",
            ].map(str::to_owned)).collect::<Vec<_>>()),
            0..40,
        ),
    ) {
        let text = parts.concat();
        let (once, _) = redact(&text);
        prop_assert_eq!(once.as_str().matches('\n').count(), text.matches('\n').count());
        prop_assert_eq!(clean(once.as_str()), once.as_str());
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC{0,200}") {
        redact(&text);
    }
}
