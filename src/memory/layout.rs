//! Which files of a workspace are notes, by name alone.

use chrono::NaiveDate;

use super::calendar::Week;

/// The notes that lie in the workspace's root.
pub const ROOT_FILES: [&str; 5] = ["IDENTITY.md", "MEMORY.md", "SOUL.md", "TOOLS.md", "USER.md"];

/// The folder of the daily notes, below the root.
pub const FOLDER: &str = "memory";

/// What the daemon keeps for itself in a workspace; the host does not look into it.
pub const OWN_FOLDER: &str = ".ocmemd";

/// Where the host drops flush markers, below the root.
pub const MARKER_FOLDER: &str = ".ocmemd/flush";

/// The longest name of one file or folder, in bytes: what common file systems hold.
const MAX_NAME_BYTES: usize = 255;

/// The daily note of `day`, relative to the workspace.
pub fn daily_file(day: NaiveDate) -> String {
    format!("{FOLDER}/{}.md", day.format("%Y-%m-%d"))
}

/// The page of `week`, relative to the workspace.
pub fn weekly_file(week: Week) -> String {
    format!("{FOLDER}/{}.md", week.stem())
}

/// The week whose page `file` is, by its name.
pub fn week_of(file: &str) -> Option<Week> {
    let week = file.strip_prefix("memory/")?.strip_suffix(".md")?.parse().ok()?;
    (weekly_file(week) == file).then_some(week)
}

/// Whether `file`, relative to the workspace with `/`, names a note: one of [`ROOT_FILES`], or a Markdown file at
/// any depth below [`FOLDER`]. A name that could lead out of the workspace never does, and neither does a hidden one.
pub fn is_note(file: &str) -> bool {
    match file.split_once('/') {
        None => ROOT_FILES.contains(&file),
        Some((FOLDER, below)) => below.split('/').all(is_visible) && is_markdown(below),
        Some(_) => false,
    }
}

/// Whether one component of a path may be part of a note's name. Hidden names hold what editors and tools keep for
/// themselves; `.` and `..` are hidden too.
pub fn is_visible(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && name.len() <= MAX_NAME_BYTES
        && !name.chars().any(|c| c.is_control() || c == '\\' || c == '/')
}

/// Whether a name in [`MARKER_FOLDER`] is that of a flush marker: `*.json` or `*.flush`, and no hidden one, which may
/// still be written to.
pub fn is_marker(name: &str) -> bool {
    !name.starts_with('.') && !name.contains('/') && [".json", ".flush"].iter().any(|end| name.ends_with(end))
}

/// Whether a name ends in `.md`, in either case.
pub fn is_markdown(name: &str) -> bool {
    name.rsplit_once('.')
        .is_some_and(|(stem, extension)| !stem.is_empty() && extension.eq_ignore_ascii_case("md"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_told_by_their_names() {
        let long = format!("memory/{}.md", "记".repeat(100));
        for note in [
            "MEMORY.md",
            "memory/2026-03-13.md",
            "memory/项目/网关 端口.md",
            "memory/a/b/C.MD",
            "memory/%2e%2e.md",
        ] {
            assert!(is_note(note), "{note}");
        }
        for other in [
            "",
            "AGENTS.md",
            "memory",
            "memory/",
            "memory/x.txt",
            "memory/.md",
            "memory/.x.md",
            "memory/.obsidian/x.md",
            "memory/x.md~",
            "memory/4913",
            "memory//x.md",
            "notes/x.md",
            "../MEMORY.md",
            "memory/../../x.md",
            "memory/./x.md",
            "/etc/x.md",
            "memory/a\\b.md",
            "memory/a\0b.md",
            "memory/a\nb.md",
            "~root/x.md",
            &long,
        ] {
            assert!(!is_note(other), "{other:?}");
        }
        let newyear = Week::of(NaiveDate::from_ymd_opt(2027, 1, 3).unwrap());
        assert_eq!(weekly_file(newyear), "memory/2026-53.md");
        assert_eq!(week_of("memory/2026-53.md"), Some(newyear));
        for other in [
            "memory/2026-54.md",
            "memory/2026-1.md",
            "memory/2026-W53.md",
            "memory/2026-03-13.md",
            "2026-53.md",
        ] {
            assert_eq!(week_of(other), None, "{other}");
        }
        assert_eq!(daily_file(NaiveDate::from_ymd_opt(2026, 3, 3).unwrap()), "memory/2026-03-03.md");
    }
}
