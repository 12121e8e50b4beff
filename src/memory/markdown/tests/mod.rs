//! One invented sample per form that people's notes have, and the ways in which files are odd.

mod formats;
mod odd;

use chrono::NaiveDate;
use chrono_tz::Asia::Shanghai;

use super::*;
use crate::memory::redact::redact;

fn note(name: &str, text: &str) -> Note {
    parse(&redact(text).0, &NoteFile { name: name.to_owned(), zone: Shanghai })
}

fn day(text: &str) -> Option<NaiveDate> {
    Some(text.parse().unwrap())
}

/// The entries of a note of 2026-05-01 as `time|context|content`, lines divided by ` ⏎ `.
fn told(text: &str) -> Vec<String> {
    told_of("memory/2026-05-01.md", text)
}

fn told_of(name: &str, text: &str) -> Vec<String> {
    let show = |entry: &Entry| {
        let time = entry.time.map(|time| time.format("%H:%M").to_string()).unwrap_or_default();
        format!("{time}|{}|{}", entry.context.as_str(), entry.content.as_str().replace('\n', " ⏎ "))
    };
    note(name, text).entries.iter().map(show).collect()
}
