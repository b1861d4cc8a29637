//! The inside of a JSON string, decoded byte by byte.

/// Decodes the bytes between the quotes of a JSON string, in chunks of any size.
///
/// What is half there (an escape, a UTF-8 sequence, the first of a surrogate pair) waits in here, so
/// that the decoded text only ever grows. What can never become a character becomes U+FFFD.
#[derive(Debug, Clone, Default)]
pub(crate) struct TextDecoder {
    state: State,
    /// The first of a surrogate pair, waiting for the second.
    high: Option<u16>,
    /// The bytes of an unfinished UTF-8 sequence.
    partial: [u8; 4],
    partial_len: usize,
}

#[derive(Debug, Clone, Copy, Default)]
enum State {
    #[default]
    Plain,
    Escape,
    Unicode {
        digits: u8,
        value: u16,
    },
}

impl TextDecoder {
    /// Takes one byte. True where it is the closing quote.
    pub(crate) fn push(&mut self, byte: u8, out: &mut String) -> bool {
        match self.state {
            State::Plain => match byte {
                b'"' => {
                    self.settle(out);
                    return true;
                }
                b'\\' => {
                    self.settle_bytes(out);
                    self.state = State::Escape;
                }
                _ => {
                    self.settle_high(out);
                    self.raw(byte, out);
                }
            },
            State::Escape => self.escape(byte, out),
            State::Unicode { digits, value } => self.unicode(byte, digits, value, out),
        }
        false
    }

    /// Takes bytes that stand for themselves, as in the source of a number or an object.
    pub(crate) fn raw(&mut self, byte: u8, out: &mut String) {
        if self.partial_len == 0 && byte.is_ascii() {
            out.push(char::from(byte));
            return;
        }
        self.partial[self.partial_len] = byte;
        self.partial_len += 1;
        loop {
            let bytes = &self.partial[..self.partial_len];
            match std::str::from_utf8(bytes) {
                Ok(text) => {
                    out.push_str(text);
                    self.partial_len = 0;
                }
                Err(error) => {
                    out.push_str(std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or(""));
                    let Some(bad) = error.error_len() else {
                        let from = error.valid_up_to();
                        self.partial.copy_within(from..self.partial_len, 0);
                        self.partial_len -= from;
                        return;
                    };
                    out.push('\u{fffd}');
                    let from = error.valid_up_to() + bad;
                    self.partial.copy_within(from..self.partial_len, 0);
                    self.partial_len -= from;
                }
            }
            if self.partial_len == 0 {
                return;
            }
        }
    }

    /// Gives up on everything unfinished: no more bytes belong to it.
    pub(crate) fn settle(&mut self, out: &mut String) {
        self.settle_bytes(out);
        self.settle_high(out);
    }

    fn settle_bytes(&mut self, out: &mut String) {
        if self.partial_len > 0 {
            self.partial_len = 0;
            out.push('\u{fffd}');
        }
    }

    fn settle_high(&mut self, out: &mut String) {
        if self.high.take().is_some() {
            out.push('\u{fffd}');
        }
    }

    fn escape(&mut self, byte: u8, out: &mut String) {
        self.state = State::Plain;
        let c = match byte {
            b'u' => {
                self.state = State::Unicode { digits: 0, value: 0 };
                return;
            }
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'"' | b'\\' | b'/' => char::from(byte),
            // No escape of JSON; the letter itself is the least surprising reading.
            _ => {
                self.settle_high(out);
                self.raw(byte, out);
                return;
            }
        };
        self.settle_high(out);
        out.push(c);
    }

    fn unicode(&mut self, byte: u8, digits: u8, value: u16, out: &mut String) {
        let Some(digit) = char::from(byte).to_digit(16) else {
            // A cut escape: mark it and read on, in the plain state, with this very byte.
            self.state = State::Plain;
            self.settle_high(out);
            out.push('\u{fffd}');
            if byte == b'\\' {
                self.state = State::Escape;
            } else {
                self.raw(byte, out);
            }
            return;
        };
        let value = value << 4 | digit as u16;
        if digits < 3 {
            self.state = State::Unicode { digits: digits + 1, value };
            return;
        }
        self.state = State::Plain;
        match (self.high.take(), value) {
            (Some(high), 0xdc00..=0xdfff) => {
                let code = 0x10000 + ((u32::from(high) - 0xd800) << 10) + u32::from(value) - 0xdc00;
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            (lost, 0xd800..=0xdbff) => {
                out.extend(lost.map(|_| '\u{fffd}'));
                self.high = Some(value);
            }
            (lost, _) => {
                out.extend(lost.map(|_| '\u{fffd}'));
                out.push(char::from_u32(u32::from(value)).unwrap_or('\u{fffd}'));
            }
        }
    }
}
