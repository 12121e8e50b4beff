//! Adding a line to a day's note, and making the places where notes lie.

use std::fs;
use std::io::{self, Read};

use chrono::{NaiveDate, NaiveTime};

use super::disk::{io_error, lock, sync_folder, write_whole};
use super::read::decode;
use super::scan::Why;
use super::{MAX_FILE_BYTES, ReadError, Workspace, WorkspaceError};
use crate::memory::Redacted;
use crate::memory::entry::ContentHash;
use crate::memory::layout::{self, FOLDER};

/// Under which heading a line stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    /// The user asked for it.
    User,
    /// Captured without being asked.
    Auto,
    /// Promoted to long-term memory.
    Sync,
}

impl Section {
    const ALL: [Self; 3] = [Self::User, Self::Auto, Self::Sync];

    fn heading(self) -> &'static str {
        match self {
            Self::User => "### [USER] 用户明确要求",
            Self::Auto => "### [AUTO] 自动记录关键信息",
            Self::Sync => "### [SYNC] 已同步长期记忆",
        }
    }
}

/// Something to write down.
#[derive(Debug, Clone, Copy)]
pub struct Note<'a> {
    /// Where it stands.
    pub section: Section,
    /// The user's wall-clock time.
    pub time: NaiveTime,
    /// What it says. Whatever it holds stays within its bullet.
    pub text: &'a Redacted,
    /// The session it was said in.
    pub session: Option<&'a str>,
}

impl Note<'_> {
    /// The hash of the lines that this becomes, by which it is known again as ours.
    ///
    /// # Errors
    /// As [`Workspace::append_today`].
    pub fn hash(&self) -> Result<ContentHash, WorkspaceError> {
        Ok(ContentHash::of(bullet(self)?.join("\n").as_bytes()))
    }
}

/// Where something was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// Relative to the workspace.
    pub file: String,
    /// The bullet's first line, from 1.
    pub line: u32,
}

impl Workspace {
    /// Adds a bullet to the note of `today`, which is made if need be. It is on disk when this returns.
    ///
    /// Blocks while another process appends to the same note.
    ///
    /// # Errors
    /// [`WorkspaceError`] says why nothing was written; what was there is as it was.
    pub fn append_today(&self, today: NaiveDate, note: &Note<'_>) -> Result<Appended, WorkspaceError> {
        let (bullet, file) = (bullet(note)?, layout::daily_file(today));
        self.make_folder()?;
        let height = bullet.len();
        let line = self.append(&file, |old| {
            let lines = below(old, today, [(note.section, bullet)]);
            let first = lines.len() - height;
            (lines, first)
        })?;
        Ok(Appended { file, line })
    }

    /// Adds those of the bullets that are not in the note of `day` yet, all in one write; whoever is unsure whether a
    /// call before was cut short calls again with the same `notes`. Returns the note and how many were added.
    ///
    /// # Errors
    /// As [`Self::append_today`]: all of it is written, or nothing.
    pub fn append_missing(
        &self,
        day: NaiveDate,
        notes: &[Note<'_>],
    ) -> Result<(String, usize), WorkspaceError> {
        let bullets: Vec<_> = notes
            .iter()
            .map(|note| Ok((note.section, bullet(note)?)))
            .collect::<Result<_, WorkspaceError>>()?;
        let (file, mut added) = (layout::daily_file(day), 0);
        if bullets.is_empty() {
            return Ok((file, added));
        }
        self.make_folder()?;
        self.append(&file, |old| {
            let there: Vec<&str> = old.lines().map(str::trim_end).collect();
            let is_there = |bullet: &[String]| there.windows(bullet.len()).any(|lines| lines == bullet);
            let missing: Vec<_> = bullets.into_iter().filter(|(_, bullet)| !is_there(bullet)).collect();
            added = missing.len();
            (below(old, day, missing), 0)
        })?;
        Ok((file, added))
    }

    /// Makes what a workspace needs, and returns the names of what was not there before: the folder `memory` and the
    /// note of `today` with its heading.
    ///
    /// # Errors
    /// [`WorkspaceError`] says what could not be made.
    pub fn create(&self, today: NaiveDate) -> Result<Vec<String>, WorkspaceError> {
        fs::create_dir_all(&self.root).map_err(|source| io_error(".", source))?;
        let mut made = Vec::new();
        if self.make_folder()? {
            made.push(FOLDER.to_owned());
        }
        let file = layout::daily_file(today);
        if !self.root.join(&file).exists() {
            self.append(&file, |old| match old {
                "" => (vec![day_heading(today)], 0),
                // Somebody else was faster.
                _ => (Vec::new(), 0),
            })?;
            made.push(file);
        }
        Ok(made)
    }

    /// Makes the folder of the daily notes, but never a root: its disk may not be mounted. Whether it was made.
    pub(super) fn make_folder(&self) -> Result<bool, WorkspaceError> {
        if !self.root.is_dir() {
            return Err(WorkspaceError::Unreachable(self.root.display().to_string()));
        }
        match fs::create_dir(self.root.join(FOLDER)) {
            Ok(()) => sync_folder(&self.root).map_err(|source| io_error(FOLDER, source)).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(source) => Err(io_error(FOLDER, source)),
        }
    }

    /// Appends the lines that `compose` makes of what `file` says, in one write and under its lock. Returns the
    /// number of the line that `compose` points at; without lines nothing is written.
    fn append(
        &self,
        file: &str,
        compose: impl FnOnce(&str) -> (Vec<String>, usize),
    ) -> Result<u32, WorkspaceError> {
        let path = self.resolve(file)?;
        let failed = |source| io_error(file, source);
        let mut open = lock(&path, 0o666).map_err(failed)?;
        let metadata = open.metadata().map_err(failed)?;
        if let Some(why) = Why::not_to_read(&metadata) {
            return Err(ReadError::Skipped { file: file.to_owned(), why }.into());
        }
        let mut bytes = Vec::new();
        open.read_to_end(&mut bytes).map_err(failed)?;
        let old = decode(file, bytes)?;

        let (lines, at) = compose(&old);
        if lines.is_empty() {
            return Ok(0);
        }
        let end = if old.contains("\r\n") { "\r\n" } else { "\n" };
        let unfinished = !old.is_empty() && !old.ends_with('\n');
        let mut new = if unfinished { end.to_owned() } else { String::new() };
        lines.iter().for_each(|line| new.extend([line.as_str(), end]));
        if (old.len() + new.len()) as u64 > MAX_FILE_BYTES {
            return Err(WorkspaceError::Full { file: file.to_owned() });
        }
        write_whole(&mut open, old.len() as u64, new.as_bytes()).map_err(failed)?;
        open.sync_all().map_err(failed)?;
        if old.is_empty() {
            path.parent().map_or(Ok(()), sync_folder).map_err(failed)?;
        }
        Ok((old.lines().count() + at + 1) as u32)
    }
}

fn day_heading(day: NaiveDate) -> String {
    format!("## {} 记忆记录", day.format("%Y-%m-%d"))
}

/// The bullets with the headings they need below `old`.
fn below(
    old: &str,
    day: NaiveDate,
    bullets: impl IntoIterator<Item = (Section, Vec<String>)>,
) -> Vec<String> {
    let (mut lines, mut above) = (Vec::new(), None);
    for (section, bullet) in bullets {
        match above {
            None => lines = headings(old, day, section),
            Some(above) if above == section => {}
            Some(_) => lines.extend([String::new(), section.heading().to_owned()]),
        }
        above = Some(section);
        lines.extend(bullet);
    }
    lines
}

/// Under which of our headings the lines of a note stand, line by line.
#[derive(Debug, Default)]
pub(super) struct Under {
    day: Option<NaiveDate>,
    section: Option<Section>,
    fenced: bool,
}

impl Under {
    /// Takes the next line into account.
    pub(super) fn pass(&mut self, line: &str) {
        let line = line.trim_start_matches('\u{feff}').trim_end();
        if line.starts_with("```") || line.starts_with("~~~") {
            self.fenced = !self.fenced;
        } else if let Some(level) = level(line).filter(|_| !self.fenced) {
            if level <= 2 {
                self.day = day_of(line);
            }
            self.section = Section::ALL.into_iter().find(|section| section.heading() == line);
        }
    }

    /// Whether the last line stands under a day and a section of ours.
    pub(super) fn ours(&self) -> bool {
        self.day.is_some() && self.section.is_some() && !self.fenced
    }
}

/// The day of a heading that [`day_heading`] made.
fn day_of(line: &str) -> Option<NaiveDate> {
    let day = line.strip_prefix("## ")?.strip_suffix(" 记忆记录")?.parse().ok()?;
    (day_heading(day) == line).then_some(day)
}

/// The headings that are missing below `old` for a line of `section`, each after an empty line.
fn headings(old: &str, day: NaiveDate, section: Section) -> Vec<String> {
    let mut under = Under::default();
    old.lines().for_each(|line| under.pass(line));
    let under_day = under.day == Some(day);
    let under_section = under_day && under.section == Some(section);
    let (day, section) = (day_heading(day), section.heading().to_owned());
    let mut lines = Vec::new();
    for heading in [(!under_day).then_some(day), (!under_section).then_some(section)] {
        if heading.is_some() && !(old.is_empty() && lines.is_empty()) {
            lines.push(String::new());
        }
        lines.extend(heading);
    }
    lines
}

/// The level of a heading; a tag such as `#网关` is none.
fn level(line: &str) -> Option<usize> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && (text.is_empty() || text.starts_with([' ', '\t']))).then_some(level)
}

/// The lines of a note's bullet.
fn bullet(note: &Note<'_>) -> Result<Vec<String>, WorkspaceError> {
    const MAX_SESSION_CHARS: usize = 256;
    let harmless = |c: char| !c.is_whitespace() && !c.is_control() && c != '<' && c != '>';
    let session = match note.session {
        None => String::new(),
        Some(id) if !id.is_empty() && id.chars().count() <= MAX_SESSION_CHARS && id.chars().all(harmless) => {
            format!(" <!-- s:{id} -->")
        }
        Some(_) => return Err(WorkspaceError::Session),
    };
    let lines = note.text.as_str().split(['\n', '\r']).map(contained).filter(|line| !line.is_empty());
    let mut lines = lines.enumerate().map(|(number, line)| match number {
        0 => format!("- {} {line}", note.time.format("%H:%M")),
        _ => format!("  {line}"),
    });
    let first = lines.next().ok_or(WorkspaceError::Empty)?;
    let mut bullet = vec![first];
    bullet.extend(lines);
    if let Some(last) = bullet.last_mut() {
        last.push_str(&session);
    }
    Ok(bullet)
}

/// One line of a text, so written that it is neither a heading, a fence nor a rule, opens no comment and holds no
/// control characters.
fn contained(line: &str) -> String {
    const BREAKING: [&str; 7] = ["#", "```", "~~~", "---", "***", "___", "==="];
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let line = line.trim().replace("<!--", "&lt;!--");
    if BREAKING.iter().any(|start| line.starts_with(start)) { format!("\\{line}") } else { line }
}
