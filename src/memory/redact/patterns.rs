//! The table of what is looked for.

use std::sync::LazyLock;

use regex::{Regex, RegexSet};

use super::Span;
use super::checks::{Check, Said, Word};

/// One row: what a secret looks like, and what decides whether a find is one.
struct Rule {
    kind: &'static str,
    /// Its first group is the secret, or, without groups, the whole find. Boundaries are ASCII (`(?-u:\b)`), so that
    /// a key right behind a Chinese character is found, and so that the fast automaton can be used.
    pattern: String,
    check: Check,
}

/// Keys whose form alone tells what they are.
#[rustfmt::skip]
const KEYS: &[(&str, &str, Check)] = &[
    // OpenAI, Anthropic, OpenRouter, and the many that copied `sk-`.
    ("api_key", r"(?-u:\b)sk-(?:proj|svcacct|admin|ant|or)-[A-Za-z0-9_-]{16,}", Check::Whole),
    ("api_key", r"(?-u:\b)sk-[A-Za-z0-9_-]{16,}", Check::LongRun),
    // GitHub, GitLab, npm, PyPI
    ("api_key", r"(?-u:\b)gh[opsru]_[A-Za-z0-9]{20,}", Check::Whole),
    ("api_key", r"(?-u:\b)github_pat_[A-Za-z0-9_]{20,}", Check::Whole),
    ("api_key", r"(?-u:\b)gl(?:pat|ptt|dt|rt|cbt|oas|soat|ft|imt|agent)-[A-Za-z0-9_-]{20,}", Check::Whole),
    ("api_key", r"(?-u:\b)npm_[A-Za-z0-9]{30,}", Check::Whole),
    ("api_key", r"(?-u:\b)pypi-[A-Za-z0-9_-]{50,}", Check::Whole),
    // AWS: the id, and the secret that follows an id
    ("api_key", r"(?-u:\b)A(?:KI|SI|BI|CC)A[A-Z0-9]{16}(?-u:\b)", Check::Whole),
    ("api_key", r"(?-u:\b)A(?:KI|SI)A[A-Z0-9]{16}[ \t\r\n,:/|，：]+([A-Za-z0-9/+]{40})(?-u:\b)", Check::Whole),
    // Google, Slack, Stripe, Hugging Face
    ("api_key", r"(?-u:\b)AIza[A-Za-z0-9_-]{35}", Check::Whole),
    ("api_key", r"(?-u:\b)(?:ya29\.|GOCSPX-)[A-Za-z0-9_-]{20,}", Check::Whole),
    ("api_key", r"(?-u:\b)(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}", Check::LongRun),
    ("api_key", r"hooks\.slack\.com/services/(T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{16,})", Check::Whole),
    ("api_key", r"(?-u:\b)[rs]k_(?:live|test)_[A-Za-z0-9]{10,}", Check::Whole),
    ("api_key", r"(?-u:\b)whsec_[A-Za-z0-9+/=]{20,}", Check::Whole),
    ("api_key", r"(?-u:\b)hf_[A-Za-z0-9]{30,}", Check::Whole),
    // Groq, xAI, Perplexity, SendGrid, DigitalOcean
    ("api_key", r"(?-u:\b)(?:gsk_|xai-|pplx-)[A-Za-z0-9]{40,}", Check::Whole),
    ("api_key", r"(?-u:\b)SG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}", Check::Whole),
    ("api_key", r"(?-u:\b)do[opr]_v1_[0-9a-f]{64}", Check::Whole),
    // Alibaba Cloud, Tencent Cloud, Zhipu; the webhooks of WeCom and Feishu
    ("api_key", r"(?-u:\b)LTAI[A-Za-z0-9]{12,24}(?-u:\b)", Check::Whole),
    ("api_key", r"(?-u:\b)AKID[A-Za-z0-9]{28,}(?-u:\b)", Check::Whole),
    ("api_key", r"(?-u:\b)[0-9a-f]{32}\.[A-Za-z0-9]{16}(?-u:\b)", Check::Whole),
    ("api_key", r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=([0-9A-Za-z-]{16,})", Check::Whole),
    ("api_key", r"open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/([0-9A-Za-z-]{16,})", Check::Whole),
    // Telegram bots
    ("token", r"(?-u:\b)[0-9]{8,10}:[A-Za-z0-9_-]{35}(?-u:\b)", Check::Whole),
    ("jwt", r"(?-u:\b)eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){0,3}", Check::Whole),
    ("token", r#"(?i-u:\bauthorization)["'`*]{0,3}[ \t]*[:=：＝][ \t]*["'`]?(?i-u:basic|bearer|token|digest)?[ \t]*"#,
        Check::Header),
    ("token", r"(?i-u:\bbearer)[ \t]+", Check::Header),
    // The password of a URL; for databases also one with characters that ought to be escaped.
    ("password", r#"(?-u:\b)[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/?#:"'<>]*:([^\s/?#"'<>，。；、）]+)@"#, Check::InUrl),
    ("password", concat!(
        r"(?i-u:\b(?:postgres(?:ql)?|mysql|mariadb|rediss?|mongodb(?:\+srv)?|amqps?|mssql|clickhouse))",
        r#"://[^\s/?#:"'<>]*:([^\s"'<>，。；、）]+)@"#), Check::InUrl),
    // 密码从 old 改成了 new: the old one stands behind a word (see below), this is the new one.
    ("password", r"(?:密码|密碼|口令)从[ \t]*[!-~]{1,64}[ \t]*(?:更?改|换|变)(?:成|为)了?[ \t]*",
        Check::Value(Word::Password, Said::Strong)),
    // A pin is a part of many things: only what looks like a secret behind it is one.
    ("password", r"(?i-u:\b(?:pin|passcode)(?:[ ]?code|[ ]number)?(?:[ ]is(?:[ ]now)?|[ ]was|[ ]?[:=]))[ \t]*([0-9]{4,8})(?-u:\b)", Check::Whole),
    ("password", r"(?i-u:\b(?:pin|passcode)(?:[ ]?code|[ ]number)?(?:[ ]is(?:[ ]now)?|[ ]was|[ ]?[:=]))[ \t]*",
        Check::Value(Word::Password, Said::Weak)),
    ("id_card", r"[1-9１-９][0-9０-９]{5}[ -]?[0-9０-９]{8}[ -]?[0-9０-９]{3}[0-9０-９XxＸｘ]", Check::IdCard),
    ("bank_card", r"[0-9０-９](?:[ －-]?[0-9０-９]){12,}", Check::BankCard),
    ("phone", concat!(r"(?:(?:[+＋]|00)?(?:86|８６)[ －-]?)?[1１][3-9３-９][0-9０-９]",
        r"[ －-]?[0-9０-９]{4}[ －-]?[0-9０-９]{4}"), Check::Mobile),
];

/// Words behind which a secret stands: the placeholder, what its values look like, the words, and whether the value may
/// follow without a space (`密码abc12345`).
#[rustfmt::skip]
const WORDS: &[(&str, Word, &str, bool)] = &[
    ("password", Word::Password, r"密码|密碼|口令|(?i-u:pin)[ ]?码", true),
    ("password", Word::Password, r"(?i-u:pass(?:word|wd|phrase)|pwd)", false),
    ("api_key", Word::Key, concat!(
        r"(?i-u:(?:api|access|secret|app|private|signing|encryption|auth|master|client|account)[_ -]?key",
        r"(?:[_-]?(?:id|secret))?)"), false),
    ("api_key", Word::Key, r"密钥|秘钥|私钥", true),
    ("secret", Word::Key, r"(?i-u:secret)", false),
    ("token", Word::Token, r"(?i-u:token)|令牌", false),
];

/// What may stand between the word and its separator: quotes, emphasis, a note in brackets.
const BETWEEN: &str = r#"["'”*`\\]{0,4}(?:[ \t]?[（(][^）)\n]{0,20}[）)])?["'*`]{0,4}[ \t\u{3000}]*"#;

/// `password for the router`
const FOR: &str = r"(?:(?i-u:for|of)[ \t][^\n:=：|]{1,30}?[ \t\u{3000}]*)?";

/// `密码就是`, `口令已经改成了`; `:`, `=`, `→`: what follows is the value.
const STRONG: &str = concat!(
    "(?:(?:我|你|他|她|它|就|还|也|都|又|已经?|现在|目前|暂时|统一|默认|仍然?|先|被){0,3}",
    "(?:是|为|用|叫|从|(?:更?改|换|设置?|重置|变|更新)(?:成|为)了?)",
    r"[ \t]*(?:[:=：＝]{1,2})?|[:=：＝]{1,2}>?|→|->)[ \t\u{3000}]*",
);

/// `password is`: what follows may be the value, as it may after a table's `|`, or just a space.
const IS: &str = r"(?i-u:(?:(?:is|was|has been|got|now)[ \t]+)?(?:changed|set|reset|updated|rotated)[ \t]+to|is|was)[ \t]+";

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let keys = KEYS.iter().map(|(kind, pattern, check)| Rule {
        kind,
        pattern: (*pattern).to_owned(),
        check: *check,
    });
    let words = WORDS.iter().flat_map(|(kind, word, words, adjacent)| {
        let space = if *adjacent { "" } else { r"(?:[ \t]|\|)" };
        let strong = format!("(?:{words}){BETWEEN}{FOR}{STRONG}");
        let weak = format!(r"(?:{words}){space}{BETWEEN}(?:{FOR}{IS})?(?:\|[ \t]*)?");
        [(strong, Said::Strong), (weak, Said::Weak)].map(|(pattern, said)| Rule {
            kind,
            pattern,
            check: Check::Value(*word, said),
        })
    });
    keys.chain(words).collect()
});

/// One pass that tells which rules are worth running: nearly always none.
static ANY: LazyLock<Option<RegexSet>> =
    LazyLock::new(|| RegexSet::new(RULES.iter().map(|rule| &rule.pattern)).ok());

static EACH: LazyLock<Vec<Option<Regex>>> =
    LazyLock::new(|| RULES.iter().map(|rule| Regex::new(&rule.pattern).ok()).collect());

/// All secrets of a text, row by row; they may overlap.
pub(super) fn find(text: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    let Some(any) = ANY.as_ref() else { return spans };
    for rank in any.matches(text) {
        if let (Some(rule), Some(Some(regex))) = (RULES.get(rank), EACH.get(rank)) {
            run(text, rank, rule, regex, &mut spans);
        }
    }
    spans
}

fn run(text: &str, rank: usize, rule: &Rule, regex: &Regex, spans: &mut Vec<Span>) {
    let mut at = 0;
    while let Some(captures) = regex.captures_at(text, at) {
        let Some(whole) = captures.get(0) else { return };
        let found = captures.get(1).unwrap_or(whole).range();
        let secret = rule.check.decide(text, found);
        at = secret.as_ref().map_or(whole.end(), |secret| secret.end.max(whole.end()));
        spans.extend(secret.map(|bytes| Span { bytes, rank, kind: rule.kind }));
    }
}

#[cfg(test)]
mod tests {
    use super::{ANY, EACH, RULES};

    #[test]
    fn every_pattern_of_the_table_compiles() {
        assert_eq!(EACH.iter().flatten().count(), RULES.len());
        assert!(ANY.is_some());
    }
}
