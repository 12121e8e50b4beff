//! Reads keys and values from the file, the environment and the command line, each with its place.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::Value;
use toml::de::{DeTable, DeValue};

use super::error::{Origin, Problem};
use super::raw::RawWorkspace;
use super::rules;

/// What stands before the name of every environment variable of ours.
const ENV_PREFIX: &str = "OCMEMD_";

/// One value and its place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Placed {
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// What was read so far: later layers replace earlier values; problems are gathered.
#[derive(Debug, Default)]
pub(super) struct Layers {
    pub(super) values: BTreeMap<&'static str, Placed>,
    pub(super) workspaces: Vec<(RawWorkspace, Origin)>,
    pub(super) problems: Vec<Problem>,
}

impl Layers {
    /// Takes one value, if the key exists and may hold it.
    fn take(&mut self, key: &str, value: Value, origin: Origin) {
        match rules::rule(key) {
            None => self.problems.push(Problem::unknown(origin, key)),
            Some((key, allowed)) if !allowed.accepts(&value) => {
                self.problems.push(Problem::value(origin, key, &value, allowed));
            }
            Some((key, _)) => {
                self.values.insert(key, Placed { value, origin });
            }
        }
    }

    /// The built-in values.
    pub(super) fn defaults(&mut self, defaults: &toml::Table) {
        for (section, keys) in defaults {
            for (name, value) in keys.as_table().into_iter().flatten() {
                self.take(&format!("{section}.{name}"), value.clone(), Origin::Default);
            }
        }
    }

    /// The file's text.
    pub(super) fn file(&mut self, path: &Path, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let place = |offset: usize| Origin::File(path.to_owned(), line_of(text, offset));
        let document = match DeTable::parse(text) {
            Ok(document) => document.into_inner(),
            Err(error) => {
                let origin = place(error.span().map_or(0, |span| span.start));
                return self.problems.push(Problem::Syntax(origin, error.message().to_owned()));
            }
        };
        for (section, content) in document {
            let origin = place(section.span().start);
            let section = section.into_inner();
            let span = content.span();
            match content.into_inner() {
                DeValue::Array(blocks) if section == "workspace" => {
                    for block in blocks {
                        let at = block.span().start;
                        match block.into_inner() {
                            DeValue::Table(keys) => self.workspace(keys, place(at), &place),
                            other => self.not_workspaces(place(at), &to_value(other, span.clone())),
                        }
                    }
                }
                other if section == "workspace" => self.not_workspaces(origin, &to_value(other, span)),
                DeValue::Table(keys) if rules::is_section(&section) => {
                    for (name, value) in keys {
                        let origin = place(name.span().start);
                        let span = value.span();
                        let key = format!("{section}.{}", name.into_inner());
                        self.take(&key, to_value(value.into_inner(), span), origin);
                    }
                }
                other if rules::is_section(&section) => self.problems.push(Problem::Value {
                    origin,
                    key: section.to_string(),
                    got: to_value(other, span).to_string(),
                    allowed: format!("a section [{section}]"),
                }),
                _ => self.problems.push(Problem::unknown(origin, &section)),
            }
        }
    }

    fn workspace(&mut self, keys: DeTable<'_>, origin: Origin, place: &dyn Fn(usize) -> Origin) {
        let mut block = toml::Table::new();
        for (name, value) in keys {
            let at = place(name.span().start);
            let span = value.span();
            let (name, value) = (name.into_inner().into_owned(), to_value(value.into_inner(), span));
            let key = format!("workspace.{name}");
            if !rules::WORKSPACE_KEYS.contains(&name.as_str()) {
                self.problems.push(Problem::unknown(at, &key));
            } else if !rules::Allowed::Name.accepts(&value) {
                self.problems.push(Problem::value(at, &key, &value, rules::Allowed::Name));
            } else {
                block.insert(name, value);
            }
        }
        match RawWorkspace::deserialize(block) {
            Ok(workspace) => self.workspaces.push((workspace, origin)),
            Err(error) => {
                self.problems.push(Problem::Syntax(origin, format!("[[workspace]]: {}", error.message())))
            }
        }
    }

    fn not_workspaces(&mut self, origin: Origin, got: &Value) {
        self.problems.push(Problem::Value {
            origin,
            key: "workspace".to_owned(),
            got: got.to_string(),
            allowed: "blocks that begin with [[workspace]] and hold path and owner".to_owned(),
        });
    }

    /// The variables `OCMEMD_SECTION__KEY`. Others of the prefix, without the double underscore, are not keys.
    pub(super) fn env(&mut self, vars: &[(OsString, OsString)]) {
        for (name, text) in vars {
            let Some(name) = name.to_str() else { continue };
            let Some((section, key)) = name.strip_prefix(ENV_PREFIX).and_then(|rest| rest.split_once("__"))
            else {
                continue;
            };
            let key = format!("{section}.{key}").to_lowercase();
            self.take_text(&key, &text.to_string_lossy(), Origin::Env(name.to_owned()));
        }
    }

    /// `--set KEY=VALUE`, as often as it was given.
    pub(super) fn flags(&mut self, flags: &[(String, String)]) {
        for (key, text) in flags {
            self.take_text(key, text, Origin::Flag);
        }
    }

    fn take_text(&mut self, key: &str, text: &str, origin: Origin) {
        let value = match rules::rule(key) {
            Some((_, allowed)) => allowed.read(text),
            None => Value::String(text.to_owned()),
        };
        self.take(key, value, origin);
    }
}

/// A parsed value without its place; what TOML parses but cannot be held (a number beyond 64 bits) as its text.
fn to_value(value: DeValue<'_>, span: std::ops::Range<usize>) -> Value {
    let text = format!("{value:?}");
    Value::deserialize(toml::Spanned::new(span, value).into_deserializer()).unwrap_or(Value::String(text))
}

/// The line of a byte offset, from 1.
pub(super) fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}
