//! Server-sent events out of bytes that come in fragments of any size.
//!
//! A push decoder of our own: fragments may split a line end, a letter, anything; a line and an
//! event are bounded, so that a hostile server cannot fill the memory.

/// One event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    /// Its name; empty where the stream gives none.
    pub(crate) event: String,
    /// Its data, lines joined by line feeds.
    pub(crate) data: String,
}

/// The stream is none of server-sent events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FrameError {
    /// One event has more than [`Frames::MOST`] bytes.
    #[error("one event has more than {} bytes", Frames::MOST)]
    TooLong,
    /// An event is not UTF-8.
    #[error("an event is not UTF-8")]
    NotUtf8,
}

/// Makes events of bytes. Linear in the bytes.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    line: Vec<u8>,
    event: String,
    data: Vec<u8>,
    has_data: bool,
    after_cr: bool,
    begun: bool,
}

impl Frames {
    /// The most bytes that one event may have.
    pub(crate) const MOST: usize = 16 << 20;

    /// Takes the next bytes and appends the events that they complete to `out`.
    ///
    /// # Errors
    /// [`FrameError`]; the decoder is of no use afterwards.
    pub(crate) fn push(&mut self, bytes: &[u8], out: &mut Vec<Frame>) -> Result<(), FrameError> {
        for &byte in bytes {
            let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                // The second half of a CRLF ends nothing more.
                b'\n' if after_cr => {}
                b'\r' | b'\n' => self.end_line(out)?,
                _ if self.line.len() + self.data.len() >= Self::MOST => {
                    return Err(FrameError::TooLong);
                }
                _ => self.line.push(byte),
            }
        }
        Ok(())
    }

    /// The stream is at its end: what an unfinished event holds, for servers that leave out the
    /// last blank line.
    ///
    /// # Errors
    /// [`FrameError`].
    pub(crate) fn end(&mut self, out: &mut Vec<Frame>) -> Result<(), FrameError> {
        if !self.line.is_empty() {
            self.end_line(out)?;
        }
        self.end_line(out)
    }

    fn end_line(&mut self, out: &mut Vec<Frame>) -> Result<(), FrameError> {
        let mut line = std::mem::take(&mut self.line);
        if !std::mem::replace(&mut self.begun, true) && line.starts_with(b"\xef\xbb\xbf") {
            line.drain(..3);
        }
        if line.is_empty() {
            return self.dispatch(out);
        }
        let (field, value) = match line.iter().position(|&byte| byte == b':') {
            Some(at) => {
                let value = &line[at + 1..];
                (&line[..at], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (&line[..], &b""[..]),
        };
        match field {
            b"event" => self.event = text(value.to_vec())?,
            b"data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            // Comments, ids, and what nobody knows.
            _ => {}
        }
        Ok(())
    }

    fn dispatch(&mut self, out: &mut Vec<Frame>) -> Result<(), FrameError> {
        let event = std::mem::take(&mut self.event);
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            out.push(Frame { event, data: text(data)? });
        }
        Ok(())
    }
}

fn text(bytes: Vec<u8>) -> Result<String, FrameError> {
    String::from_utf8(bytes).map_err(|_| FrameError::NotUtf8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decode(pieces: &[&[u8]]) -> Result<Vec<Frame>, FrameError> {
        let (mut frames, mut out) = (Frames::default(), Vec::new());
        for piece in pieces {
            frames.push(piece, &mut out)?;
        }
        frames.end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn every_split_of_every_line_end_gives_the_same_events() {
        for end in ["\n", "\r\n", "\r"] {
            let text = "\u{feff}: hello\nevent: ping\ndata: {\"a\":\"ä🦀\"}\ndata:second\nid: 4\n\n\n\ndata\n\nretry: 5\n\nevent: lost\n\ndata: [DONE]"
                .replace('\n', end);
            let whole = decode(&[text.as_bytes()]).expect("well-formed");
            let event = |event: &str, data: &str| Frame { event: event.into(), data: data.into() };
            assert_eq!(
                whole,
                [event("ping", "{\"a\":\"ä🦀\"}\nsecond"), event("", ""), event("", "[DONE]")]
            );
            let single: Vec<&[u8]> = text.as_bytes().chunks(1).collect();
            assert_eq!(decode(&single).expect("one byte at a time"), whole);
            for at in 0..text.len() {
                let (left, right) = text.as_bytes().split_at(at);
                assert_eq!(decode(&[left, right]).expect("two pieces"), whole, "split at {at}");
            }
        }
    }

    #[test]
    fn what_is_no_text_or_too_long_is_said() {
        assert_eq!(decode(&[b"data: \xff\n\n"]), Err(FrameError::NotUtf8));
        let long = vec![b'a'; Frames::MOST + 1];
        assert_eq!(decode(&[b"data: ", &long]), Err(FrameError::TooLong));
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_pieces_come_to_the_same_and_never_panic(
            bytes in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b':'), Just(b'd'), any::<u8>()], 0..200),
            size in 1_usize..9,
        ) {
            let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
            prop_assert_eq!(decode(&pieces), decode(&[&bytes]));
        }
    }
}
