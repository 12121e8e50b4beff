//! The user's language, and the sentences in it.

use std::ffi::OsString;

use rust_i18n::{replace_patterns, t};

/// The languages there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Lang {
    /// Chinese.
    Zh,
    /// English.
    En,
}

impl Lang {
    /// The named language, else the one of `OCMEMD_LANG`, `LC_ALL`, `LC_MESSAGES` or `LANG`, else the system's.
    pub(super) fn detect(named: Option<Self>, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let variables = ["OCMEMD_LANG", "LC_ALL", "LC_MESSAGES", "LANG"];
        let set = || variables.iter().find_map(|name| env(name).filter(|value| !value.is_empty()));
        named.unwrap_or_else(|| Self::of_locale(&set().or_else(sys_locale::get_locale).unwrap_or_default()))
    }

    fn of_locale(locale: &str) -> Self {
        if locale.to_lowercase().starts_with("zh") { Self::Zh } else { Self::En }
    }

    fn code(self) -> &'static str {
        match self {
            Self::Zh => "zh",
            Self::En => "en",
        }
    }

    /// The sentence of that key, filled with values by name.
    pub(super) fn say(self, key: &str, values: &[(&str, &str)]) -> String {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        let values: Vec<String> = values.iter().map(|(_, value)| (*value).to_owned()).collect();
        replace_patterns(&t!(key, locale = self.code()), &names, &values)
    }
}

/// The language that `--lang` names, for help and errors of the parser itself.
pub(super) fn named(arguments: &[OsString]) -> Option<Lang> {
    let texts: Vec<&str> = arguments.iter().filter_map(|argument| argument.to_str()).collect();
    let after = texts.windows(2).find(|pair| pair[0] == "--lang").map(|pair| pair[1]);
    let value = after.or_else(|| texts.iter().find_map(|text| text.strip_prefix("--lang=")));
    value.and_then(|value| clap::ValueEnum::from_str(value, true).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(named: Option<Lang>, vars: &[(&str, &str)]) -> Lang {
        Lang::detect(named, &|name| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_flag_wins_then_the_variables_in_order() {
        assert_eq!(detect(Some(Lang::En), &[("LANG", "zh_CN.UTF-8")]), Lang::En);
        assert_eq!(detect(None, &[("LANG", "zh_CN.UTF-8")]), Lang::Zh);
        assert_eq!(detect(None, &[("LC_ALL", "C"), ("LANG", "zh_CN.UTF-8")]), Lang::En);
        assert_eq!(detect(None, &[("LC_ALL", ""), ("LC_MESSAGES", "zh_TW"), ("LANG", "de_DE")]), Lang::Zh);
        assert_eq!(detect(None, &[("OCMEMD_LANG", "en"), ("LC_ALL", "zh_CN")]), Lang::En);
    }

    #[test]
    fn every_sentence_exists_in_both_languages_with_the_same_blanks() {
        let text = include_str!("locales/app.yml");
        let blank = regex::Regex::new(r"%\{(\w+)\}").unwrap();
        let mut keys: Vec<(&str, [Option<Vec<&str>>; 2])> = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.starts_with("_version")) {
            let language = ["  en: ", "  zh: "].iter().position(|prefix| line.starts_with(prefix));
            match (language, keys.last_mut()) {
                (Some(language), Some((_, found))) => {
                    let mut blanks: Vec<&str> = blank.find_iter(line).map(|found| found.as_str()).collect();
                    blanks.sort_unstable();
                    found[language] = Some(blanks);
                }
                _ if !line.trim().is_empty() => keys.push((line.trim_end_matches(':'), [None, None])),
                _ => {}
            }
        }
        assert!(keys.len() > 60, "{}", keys.len());
        for (key, [en, zh]) in keys {
            assert!(en.is_some() && en == zh, "{key}: {en:?} {zh:?}");
            assert_ne!(Lang::Zh.say(key, &[]), key);
        }
    }
}
