//! The last safety net: whatever reaches the log passes the redactor once more.

use std::io::{self, Write};

use crate::memory::redact::redact;

/// A writer that gathers one event and passes it on without secrets when it is dropped.
/// The subscriber makes one for each event, so that a secret is never cut in two.
pub(super) struct Redacting<W: Write> {
    inner: W,
    event: Vec<u8>,
}

impl<W: Write> Redacting<W> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, event: Vec::new() }
    }
}

impl<W: Write> Write for Redacting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.event.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<W: Write> Drop for Redacting<W> {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.event);
        let (clean, _) = redact(&text);
        // A log that cannot be written has nobody left to tell.
        let _ = self.inner.write_all(clean.as_str().as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_passed_on_whole_and_once() {
        let mut out = Vec::new();
        let mut writer = Redacting::new(&mut out);
        writer.write_all("看到 ".as_bytes()).unwrap();
        writer.write_all("3 个文件\n".as_bytes()).unwrap();
        writer.flush().unwrap();
        drop(writer);
        assert_eq!(out, "看到 3 个文件\n".as_bytes());
    }
}
