//! Rewriting the part of a page that is the daemon's own, and keeping what left it.

use std::fs;
use std::io::{Read, Seek, SeekFrom};

use super::disk::{io_error, lock, sync_folder, write_beside, write_whole};
use super::{MAX_FILE_BYTES, ReadError, Workspace, WorkspaceError};
use crate::memory::entry::ContentHash;
use crate::memory::{Redacted, layout, managed};

/// What became of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Replaced {
    /// The page says something new.
    Written,
    /// It said that already, and was left alone.
    Same,
}

impl Workspace {
    /// Puts `block` between the managed markers of `file` (see [`managed::replace`]), which is still as it was when it
    /// was read: `read` is the hash of [`Workspace::read`], or `None` where the file was not there. The rest of the
    /// page stays byte for byte. It is on disk when this returns.
    ///
    /// The page is replaced under its append lock, so no line of [`Workspace::append_today`] is lost to it.
    ///
    /// # Errors
    /// [`WorkspaceError::Changed`] if the page is another one by now: read it again and come back.
    /// [`WorkspaceError::Broken`] if its markers are. Whatever it is, nothing was written.
    pub fn replace_block(
        &self,
        file: &str,
        read: Option<&ContentHash>,
        block: &Redacted,
    ) -> Result<Replaced, WorkspaceError> {
        let path = self.resolve(file)?;
        let failed = |source| io_error(file, source);
        let changed = || WorkspaceError::Changed { file: file.to_owned() };
        self.make_folder()?;
        if read.is_some() && !path.exists() {
            return Err(changed());
        }
        let locked = lock(&path, 0o666).map_err(failed)?;
        let old = self.read(file)?;
        let empty = ContentHash::of(b"");
        let expected = read.unwrap_or(&empty);
        if old.hash != *expected {
            return Err(changed());
        }
        let new = managed::replace(&old.text, block.as_str())
            .map_err(|source| WorkspaceError::Broken { file: file.to_owned(), source })?;
        if new == old.text {
            return Ok(Replaced::Same);
        }
        if new.len() as u64 > MAX_FILE_BYTES {
            return Err(WorkspaceError::Full { file: file.to_owned() });
        }
        let beside = write_beside(&path, new.as_bytes(), &locked).map_err(failed)?;
        // Programs that know no lock may have written meanwhile.
        let renamed = match self.read(file) {
            Ok(now) if now.hash == *expected => fs::rename(&beside, &path).map_err(failed),
            Ok(_) | Err(ReadError::Changing { .. } | ReadError::Gone { .. }) => Err(changed()),
            Err(error) => Err(error.into()),
        };
        if renamed.is_err() {
            let _ = fs::remove_file(&beside);
        }
        renamed?;
        path.parent().map_or(Ok(()), sync_folder).map_err(failed)?;
        Ok(Replaced::Written)
    }

    /// Adds lines to `.ocmemd/archive/NAME`, which is for the workspace's owner alone. Lines that are the last ones
    /// there already are not added again. They are on disk when this returns.
    ///
    /// # Errors
    /// [`WorkspaceError`] says why nothing was written.
    pub fn archive(&self, name: &str, lines: &[Redacted]) -> Result<(), WorkspaceError> {
        if !layout::is_visible(name) {
            return Err(ReadError::NotANote { file: name.to_owned() }.into());
        }
        let folder = self.own_folder(&["archive"])?;
        let failed = |source| io_error(name, source);
        let mut open = lock(&folder.join(name), 0o600).map_err(failed)?;
        let mut new: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        let length = open.metadata().map_err(failed)?.len();
        // One byte more than the lines, to see where the first of them would begin.
        open.seek(SeekFrom::Start(length.saturating_sub(new.len() as u64 + 1))).map_err(failed)?;
        let mut tail = Vec::new();
        open.read_to_end(&mut tail).map_err(failed)?;
        let is_there = new.is_empty()
            || tail == new.as_bytes()
            || tail.strip_suffix(new.as_bytes()).is_some_and(|before| before.ends_with(b"\n"));
        if is_there {
            return Ok(());
        }
        if !tail.is_empty() && !tail.ends_with(b"\n") {
            new.insert(0, '\n');
        }
        write_whole(&mut open, length, new.as_bytes()).map_err(failed)?;
        open.sync_all().and_then(|()| sync_folder(&folder)).map_err(failed)
    }
}
