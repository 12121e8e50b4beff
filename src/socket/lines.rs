//! Lines of bounded length; what is no line is skipped up to the next line end and reported, never an end of the stream.

use std::io;

use tokio_util::bytes::BytesMut;
use tokio_util::codec::{Decoder, Encoder, LinesCodec, LinesCodecError};

use crate::wire::MAX_MESSAGE_BYTES;

/// What stood between two line ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// A text within the limit.
    Text(String),
    /// More than [`MAX_MESSAGE_BYTES`]; it was thrown away while it came.
    TooLong,
    /// Not UTF-8.
    NotText,
}

/// Splits a stream into [`Line`]s and joins texts to one.
///
/// An error of the codec inside would make a framed reader stop and then wait for bytes that may already be there, so
/// the two faults a peer can commit are items here.
#[derive(Debug, Clone)]
pub struct Lines(LinesCodec);

impl Default for Lines {
    fn default() -> Self {
        Self(LinesCodec::new_with_max_length(MAX_MESSAGE_BYTES))
    }
}

fn item(decoded: Result<Option<String>, LinesCodecError>) -> io::Result<Option<Line>> {
    match decoded {
        Ok(text) => Ok(text.map(Line::Text)),
        Err(LinesCodecError::MaxLineLengthExceeded) => Ok(Some(Line::TooLong)),
        Err(LinesCodecError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
            Ok(Some(Line::NotText))
        }
        Err(LinesCodecError::Io(error)) => Err(error),
    }
}

impl Decoder for Lines {
    type Item = Line;
    type Error = io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> io::Result<Option<Line>> {
        item(self.0.decode(bytes))
    }

    fn decode_eof(&mut self, bytes: &mut BytesMut) -> io::Result<Option<Line>> {
        item(self.0.decode_eof(bytes))
    }
}

impl Encoder<String> for Lines {
    type Error = io::Error;

    fn encode(&mut self, line: String, bytes: &mut BytesMut) -> io::Result<()> {
        self.0.encode(line, bytes).map_err(|error| match error {
            LinesCodecError::Io(error) => error,
            LinesCodecError::MaxLineLengthExceeded => io::ErrorKind::InvalidInput.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_after_a_fault_is_read_from_what_is_already_there() {
        let mut bytes = BytesMut::new();
        bytes.extend_from_slice(&vec![b'x'; MAX_MESSAGE_BYTES + 1]);
        bytes.extend_from_slice("\n\u{7532}\r\n".as_bytes());
        bytes.extend_from_slice(b"\xff\n\nend");
        let mut lines = Lines::default();
        let mut next = || lines.decode(&mut bytes).unwrap();
        assert_eq!(next(), Some(Line::TooLong));
        assert_eq!(next(), Some(Line::Text("甲".into())));
        assert_eq!(next(), Some(Line::NotText));
        assert_eq!(next(), Some(Line::Text(String::new())));
        assert_eq!(next(), None);
        assert_eq!(lines.decode_eof(&mut bytes).unwrap(), Some(Line::Text("end".into())));
    }
}
