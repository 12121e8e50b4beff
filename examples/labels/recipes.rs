//! `{{name}}` in labelled text: invented secrets, and what only looks like one. The text itself holds none.

use sha2::{Digest, Sha256};

/// `text` with its recipes expanded, the same everywhere within one `item`.
pub fn expand(text: &str, item: &str) -> String {
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once("{{") {
        expanded.push_str(before);
        match tail.split_once("}}") {
            Some((name, after)) => {
                expanded.push_str(&make(name.trim(), item));
                rest = after;
            }
            None => {
                expanded.push_str("{{");
                rest = tail;
            }
        }
    }
    expanded + rest
}

fn make(name: &str, item: &str) -> String {
    let mut random = Random::new(name, item);
    match name {
        "openai_key" => format!("sk-proj-{}", random.letters(48)),
        "github_token" => format!("ghp_{}", random.letters(36)),
        "aws_secret" => format!("AKIA{} {}", random.letters(16).to_uppercase(), random.letters(40)),
        "password" => format!("{}#{}", random.letters(8), random.digits(3)),
        "jwt" => {
            format!("eyJhbGciOiJIUzI1NiJ9.eyJ{}.{}", random.letters(30), random.letters(43))
        }
        "private_key" => {
            let body = random.letters(64);
            format!("-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----")
        }
        "phone_cn" => format!("138{}", random.digits(8)),
        "idcard_valid" => id_card(&format!("110105199{}0{}{}", random.digit(), 1 + random.digit() % 9, {
            format!("1{}{}", random.digit(), random.digits(3))
        })),
        "bank_card_valid" => luhn(&format!("622202{}", random.digits(12))),
        "sha256" => Sha256::digest(item).iter().map(|byte| format!("{byte:02x}")).collect(),
        "uuid" => uuid::Uuid::from_u128(random.state.into()).to_string(),
        "order_number" => format!("2026{}", random.digits(12)),
        "semver" => format!("{}.{}.{}", 1 + random.digit() % 8, random.digit(), random.digit()),
        unknown => format!("{{{{{unknown}}}}}"),
    }
}

/// The eighteen characters of an identity card: seventeen digits and their check (ISO 7064, MOD 11-2).
fn id_card(digits: &str) -> String {
    let digits: String = digits.chars().take(17).collect();
    let sum: u32 = digits
        .chars()
        .filter_map(|c| c.to_digit(10))
        .zip(0..17)
        .map(|(digit, at)| digit * (2_u32.pow(17 - at) % 11))
        .sum();
    let check = "10X98765432".chars().nth((sum % 11) as usize).unwrap_or('0');
    format!("{digits}{check}")
}

/// A card's number with its check digit (ISO/IEC 7812-1).
fn luhn(digits: &str) -> String {
    let sum: u32 = digits
        .chars()
        .rev()
        .filter_map(|c| c.to_digit(10))
        .enumerate()
        .map(|(at, digit)| if at % 2 == 0 { digit * 2 / 10 + digit * 2 % 10 } else { digit })
        .sum();
    format!("{digits}{}", (10 - sum % 10) % 10)
}

/// Numbers that look random and are the same for the same recipe and item.
struct Random {
    state: u64,
}

impl Random {
    fn new(name: &str, item: &str) -> Self {
        let digest = Sha256::digest(format!("{name}/{item}"));
        Self { state: digest.iter().take(8).fold(1, |state, byte| state << 8 | u64::from(*byte)) }
    }

    fn next(&mut self) -> u64 {
        // Knuth's linear congruential generator; the high bits are the good ones.
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.state >> 33
    }

    fn digit(&mut self) -> u64 {
        self.next() % 10
    }

    fn digits(&mut self, count: usize) -> String {
        (0..count).map(|_| self.digit().to_string()).collect()
    }

    fn letters(&mut self, count: usize) -> String {
        const LETTERS: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ0123456789";
        (0..count).map(|_| char::from(LETTERS[self.next() as usize % LETTERS.len()])).collect()
    }
}
