//! Taking lines of the daemon's own out of a note again: the one way in which a line ever leaves a user's file.

use std::fs;
use std::ops::Range;

use super::append::Under;
use super::disk::{io_error, lock, sync_folder, write_beside};
use super::{ReadError, Workspace, WorkspaceError};
use crate::memory::entry::ContentHash;

/// How often a note that changes under our hands is looked at again.
const TRIES: usize = 3;

/// A bullet of the form that [`Workspace::append_today`] writes, under one of its headings. Other programs may write the same form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bullet {
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// Its lines, without their ends.
    pub text: String,
    /// Of `text`; what [`super::Note::hash`] said when it was written.
    pub hash: ContentHash,
}

/// The bullets of that form in a note, in its order.
pub fn bullets(text: &str) -> Vec<Bullet> {
    spans(text).into_iter().map(|(_, bullet)| bullet).collect()
}

impl Workspace {
    /// Cuts out of the note `file` one bullet each of those hashes that it holds, and answers which it cut. Everything else stays
    /// byte for byte. Blocks while another process appends to the note; it is on disk when this returns.
    ///
    /// # Errors
    /// [`WorkspaceError`] says why nothing was cut.
    pub fn cut(&self, file: &str, hashes: &[ContentHash]) -> Result<Vec<Bullet>, WorkspaceError> {
        let path = self.resolve(file)?;
        if !path.exists() {
            return Ok(Vec::new());
        }
        let failed = |source| io_error(file, source);
        let locked = lock(&path, 0o666).map_err(failed)?;
        for _ in 0..TRIES {
            let old = self.read(file)?;
            let (kept, cut) = without(&old.text, hashes);
            if cut.is_empty() {
                return Ok(cut);
            }
            let beside = write_beside(&path, kept.as_bytes(), &locked).map_err(failed)?;
            // Programs that know no lock may have written meanwhile.
            if self.read(file).is_ok_and(|now| now.hash == old.hash) {
                fs::rename(&beside, &path).map_err(failed)?;
                path.parent().map_or(Ok(()), sync_folder).map_err(failed)?;
                return Ok(cut);
            }
            let _ = fs::remove_file(&beside);
        }
        Err(ReadError::Changing { file: file.to_owned() }.into())
    }
}

/// The text without the first bullet of each hash, and those bullets.
fn without(text: &str, hashes: &[ContentHash]) -> (String, Vec<Bullet>) {
    let mut wanted = hashes.to_vec();
    let (mut kept, mut cut, mut from) = (String::with_capacity(text.len()), Vec::new(), 0);
    for (span, bullet) in spans(text) {
        let Some(place) = wanted.iter().position(|hash| *hash == bullet.hash) else { continue };
        wanted.swap_remove(place);
        kept.push_str(text.get(from..span.start).unwrap_or_default());
        from = span.end;
        cut.push(bullet);
    }
    kept.push_str(text.get(from..).unwrap_or_default());
    (kept, cut)
}

/// Each bullet with the bytes it takes, its last line end included.
fn spans(text: &str) -> Vec<(Range<usize>, Bullet)> {
    let (mut found, mut open): (Vec<(Range<usize>, Bullet)>, bool) = (Vec::new(), false);
    let (mut under, mut start) = (Under::default(), 0);
    for (number, whole) in (1..).zip(text.split_inclusive('\n')) {
        let (line, end) = (whole.trim_end_matches(['\n', '\r']), start + whole.len());
        under.pass(line);
        let goes_on = open && line.starts_with("  ");
        open = under.ours() && (goes_on || is_first(line));
        match found.last_mut().filter(|_| open && goes_on) {
            Some((span, bullet)) => {
                span.end = end;
                bullet.lines.1 = number;
                bullet.text.extend(["\n", line]);
            }
            None if open => {
                let bullet = Bullet {
                    lines: (number, number),
                    text: line.to_owned(),
                    hash: ContentHash(String::new()),
                };
                found.push((start..end, bullet));
            }
            None => {}
        }
        start = end;
    }
    for (_, bullet) in &mut found {
        bullet.hash = ContentHash::of(bullet.text.as_bytes());
    }
    found
}

/// Whether a line begins as ours do: `- 10:30 `.
fn is_first(line: &str) -> bool {
    const PATTERN: &[u8] = b"- 00:00 ";
    line.len() > PATTERN.len()
        && line.bytes().zip(PATTERN).all(|(byte, wanted)| match wanted {
            b'0' => byte.is_ascii_digit(),
            wanted => byte == *wanted,
        })
}
