//! Contents with their line ends folded: `\r\n` read as `\n`, with the way back to the bytes.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

/// Contents in which every `\r\n` is `\n`. A lone carriage return is a byte like any other.
#[derive(Debug)]
pub(crate) struct Folded<'a> {
    bytes: Cow<'a, [u8]>,
    /// Folded offsets of the line feeds that lost their carriage return, ascending.
    shortened: Vec<usize>,
}

impl<'a> Folded<'a> {
    /// Folds `raw`. Borrows where there is nothing to fold.
    pub(crate) fn of(raw: &'a [u8]) -> Self {
        let mut found = memmem::find_iter(raw, b"\r\n").peekable();
        if found.peek().is_none() {
            return Self::exactly(raw);
        }
        let mut bytes = Vec::with_capacity(raw.len());
        let mut shortened = Vec::new();
        let mut from = 0;
        for at in found {
            bytes.extend_from_slice(&raw[from..at]);
            shortened.push(bytes.len());
            from = at + 1;
        }
        bytes.extend_from_slice(&raw[from..]);
        Self { bytes: Cow::Owned(bytes), shortened }
    }

    /// Takes `raw` as it is.
    pub(crate) fn exactly(raw: &'a [u8]) -> Self {
        Self { bytes: Cow::Borrowed(raw), shortened: Vec::new() }
    }

    /// The folded bytes.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The raw offset of a folded one. At a shortened line end it is that of the carriage return,
    /// so that a range that begins there holds the whole line end.
    pub(crate) fn raw(&self, folded: usize) -> usize {
        folded + self.shortened.partition_point(|at| *at < folded)
    }

    /// The raw range of a folded one.
    pub(crate) fn raw_range(&self, folded: &Range<usize>) -> Range<usize> {
        self.raw(folded.start)..self.raw(folded.end)
    }
}

/// The number of the line, from 1, that the offset lies in.
pub(crate) fn line_at(bytes: &[u8], offset: usize) -> usize {
    memchr::memchr_iter(b'\n', &bytes[..offset.min(bytes.len())]).count() + 1
}

/// The lines of `bytes` without their line feeds; a line feed at the end begins no further line.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    let all = if bytes.is_empty() { None } else { Some(body.split(|byte| *byte == b'\n')) };
    all.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folded_offset_finds_its_way_back() {
        let raw = b"a\r\nb\n\r\n\rc\r\r\nd\r";
        let folded = Folded::of(raw);
        assert_eq!(folded.bytes(), b"a\nb\n\n\rc\r\nd\r");
        for start in 0..=folded.bytes().len() {
            for end in start..=folded.bytes().len() {
                let range = folded.raw_range(&(start..end));
                let again = Folded::of(&raw[range]);
                assert_eq!(again.bytes(), &folded.bytes()[start..end]);
            }
        }
        assert_eq!((folded.raw(1), folded.raw(2)), (1, 3));
        assert!(matches!(Folded::of(b"a\n\rb").bytes, Cow::Borrowed(_)));
    }

    #[test]
    fn lines_are_counted_from_one() {
        assert_eq!([0, 1, 2, 9].map(|at| line_at(b"a\nb\n", at)), [1, 1, 2, 3]);
        assert_eq!(lines(b"a\n\nb").count(), 3);
        assert_eq!(lines(b"a\n").count(), 1);
        assert_eq!(lines(b"\n").collect::<Vec<_>>(), [b""]);
        assert_eq!(lines(b"").count(), 0);
    }
}
