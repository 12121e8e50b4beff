//! The sets: `NAME.memories.jsonl` and `NAME.queries.jsonl`, and questions that no memory answers.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use chrono::{DateTime, Days, Months, NaiveDate, NaiveDateTime, Utc};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A memory as a set holds it.
#[derive(Debug, Deserialize)]
pub struct MemoryLine {
    pub id: String,
    pub user_id: String,
    pub text: String,
    pub created_at: String,
}

/// A question as a set holds it.
#[derive(Debug, Clone, Deserialize)]
pub struct QueryLine {
    pub qid: String,
    #[serde(default)]
    pub user_id: String,
    pub query: String,
    #[serde(default)]
    pub relevant: Vec<String>,
    #[serde(default)]
    pub ignore: Vec<String>,
    pub asked_at: Option<String>,
}

/// One set: memories and questions by user.
pub struct Set {
    pub name: String,
    pub users: BTreeMap<String, Vec<MemoryLine>>,
    pub queries: Vec<QueryLine>,
}

impl Set {
    /// The newest memory of a user: his clock where a question does not say when it was asked.
    pub fn newest(&self, user: &str) -> Result<DateTime<Utc>> {
        let times = self.users.get(user).into_iter().flatten().map(|memory| moment(&memory.created_at));
        Ok(times.collect::<Result<Vec<_>>>()?.into_iter().max().unwrap_or_default())
    }
}

/// The sets of a folder, with the wanted names and users only (all, where none is named).
pub fn load(folder: &Path, names: &[String], users: &[String]) -> Result<Vec<Set>> {
    let mut found: Vec<String> = fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .filter_map(|entry| {
            entry.ok()?.file_name().to_str()?.strip_suffix(".memories.jsonl").map(str::to_owned)
        })
        .filter(|name| names.is_empty() || names.contains(name))
        .collect();
    found.sort();
    if found.is_empty() {
        bail!("{} holds no NAME.memories.jsonl of these names", folder.display());
    }
    let wanted = |user: &str| users.is_empty() || users.iter().any(|name| name == user);
    found
        .into_iter()
        .map(|name| {
            let mut set = Set { name, users: BTreeMap::new(), queries: Vec::new() };
            for memory in lines::<MemoryLine>(&folder.join(format!("{}.memories.jsonl", set.name)))? {
                if wanted(&memory.user_id) {
                    set.users.entry(memory.user_id.clone()).or_default().push(memory);
                }
            }
            set.queries = lines(&folder.join(format!("{}.queries.jsonl", set.name)))?;
            set.queries.retain(|query: &QueryLine| wanted(&query.user_id));
            Ok(set)
        })
        .collect()
}

/// Questions of a file, with the file's name without its ending.
pub fn questions(path: &Path) -> Result<(String, Vec<QueryLine>)> {
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok((name, lines(path)?))
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let parsed = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    parsed
        .map(|(at, line)| {
            serde_json::from_str(line).with_context(|| format!("{} line {}", path.display(), at + 1))
        })
        .collect()
}

/// A time, the evening of a day, or the last evening of a month, in UTC.
pub fn moment(text: &str) -> Result<DateTime<Utc>> {
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return Ok(time.to_utc());
    }
    if let Ok(time) = text.parse::<NaiveDateTime>() {
        return Ok(time.and_utc());
    }
    let day = match text.parse::<NaiveDate>() {
        Ok(day) => Some(day),
        Err(_) => {
            format!("{text}-01").parse::<NaiveDate>().ok().map(|first| first + Months::new(1) - Days::new(1))
        }
    };
    let evening = day.and_then(|day| day.and_hms_opt(20, 0, 0));
    Ok(evening.with_context(|| format!("'{text}' is no time"))?.and_utc())
}
