//! Line ends of new text: those of the place where it lands (`CONTRACT F4`, cases 137 and 139).

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// More lines than this are not compared one by one; they end as most around them do.
const COMPARED: usize = 4_000;

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Lf,
    CrLf,
}

impl Ending {
    pub(crate) fn bytes(self) -> &'static [u8] {
        match self {
            Ending::Lf => b"\n",
            Ending::CrLf => b"\r\n",
        }
    }

    /// The ending of a line that is given with it.
    fn of_line(line: &[u8]) -> Option<Self> {
        match line {
            [.., b'\r', b'\n'] => Some(Ending::CrLf),
            [.., b'\n'] => Some(Ending::Lf),
            _other => None,
        }
    }
}

/// What the lines of a stretch end with.
struct Tally {
    lf: usize,
    crlf: usize,
}

impl Tally {
    fn of(bytes: &[u8]) -> Self {
        let all = memchr::memchr_iter(b'\n', bytes).count();
        let crlf = memchr::memmem::find_iter(bytes, b"\r\n").count();
        Self { lf: all - crlf, crlf }
    }

    fn is_mixed(&self) -> bool {
        self.lf > 0 && self.crlf > 0
    }

    fn most(&self) -> Option<Ending> {
        match (self.lf, self.crlf) {
            (0, 0) => None,
            (lf, crlf) if crlf > lf => Some(Ending::CrLf),
            (_, _) => Some(Ending::Lf),
        }
    }
}

/// The ending of a line that is put at `at`: as the line there, else as the one before it, else as
/// most of the file, else a line feed.
pub(crate) fn around(bytes: &[u8], at: usize) -> Ending {
    let at = at.min(bytes.len());
    if let Some(end) = memchr::memchr(b'\n', &bytes[at..]) {
        // The carriage return may lie before the place.
        return Ending::of_line(&bytes[..at + end + 1]).unwrap_or(Ending::Lf);
    }
    if let Some(end) = memchr::memrchr(b'\n', &bytes[..at]) {
        return Ending::of_line(&bytes[..end + 1]).unwrap_or(Ending::Lf);
    }
    Ending::Lf
}

/// `new`, whose line ends are folded, with the endings of the bytes in `range` that it replaces.
///
/// Where these are all alike the new ones are like them; where they are mixed, lines that stay
/// keep theirs and a changed line ends as the one in whose place it comes.
pub(crate) fn fit(bytes: &[u8], range: &Range<usize>, new: &[u8]) -> Vec<u8> {
    let replaced = &bytes[range.clone()];
    let tally = Tally::of(replaced);
    if tally.is_mixed() {
        return fit_mixed(replaced, new, tally.most().unwrap_or(Ending::Lf));
    }
    let ending = tally.most().unwrap_or_else(|| around(bytes, range.end));
    let mut out = Vec::with_capacity(new.len());
    for line in new.split_inclusive(|byte| *byte == b'\n') {
        push_line(&mut out, line, ending);
    }
    out
}

/// Adds a line whose end is folded with another one; a piece without a line feed as it is.
fn push_line(out: &mut Vec<u8>, line: &[u8], ending: Ending) {
    match line.strip_suffix(b"\n") {
        Some(text) => {
            out.extend_from_slice(text);
            out.extend_from_slice(ending.bytes());
        }
        None => out.extend_from_slice(line),
    }
}

fn fit_mixed(replaced: &[u8], new: &[u8], most: Ending) -> Vec<u8> {
    let feed = |byte: &u8| *byte == b'\n';
    let old: Vec<&[u8]> = replaced.split_inclusive(feed).collect();
    let new: Vec<&[u8]> = new.split_inclusive(feed).collect();
    let mut endings = vec![most; new.len()];
    if old.len() <= COMPARED && new.len() <= COMPARED {
        let bare = |line: &&[u8]| -> Vec<u8> {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            line.strip_suffix(b"\r").unwrap_or(line).to_vec()
        };
        let (old_bare, new_bare): (Vec<_>, Vec<_>) =
            (old.iter().map(bare).collect(), new.iter().map(bare).collect());
        let ending = |at: usize| {
            old[..=at].iter().rev().find_map(|line| Ending::of_line(line)).unwrap_or(most)
        };
        for op in capture_diff_slices(Algorithm::Myers, &old_bare, &new_bare) {
            match op {
                DiffOp::Equal { old_index, new_index, len } => {
                    for step in 0..len {
                        endings[new_index + step] = ending(old_index + step);
                    }
                }
                DiffOp::Delete { .. } => {}
                DiffOp::Insert { old_index, new_index, new_len } => {
                    let like = ending(old_index.saturating_sub(1).min(old.len() - 1));
                    endings[new_index..new_index + new_len].fill(like);
                }
                DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                    for step in 0..new_len {
                        endings[new_index + step] = ending(old_index + step.min(old_len - 1));
                    }
                }
            }
        }
    }
    let mut out = Vec::new();
    for (line, ending) in new.into_iter().zip(endings) {
        push_line(&mut out, line, ending);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_139_new_lines_end_as_the_replaced_ones() {
        assert_eq!(fit(b"a\r\nb\r\n", &(0..3), b"x\ny\n"), b"x\r\ny\r\n");
        assert_eq!(fit(b"a\nb\r\n", &(0..2), b"x\ny\n"), b"x\ny\n");
        // Nothing to go by in the match itself: the line that it stands in, or the one before.
        assert_eq!(fit(b"a\r\nb", &(3..4), b"x\ny"), b"x\r\ny");
        assert_eq!(fit(b"ab\r\nc\n", &(0..2), b"x\ny"), b"x\r\ny");
        assert_eq!(fit(b"ab", &(0..2), b"x\ny"), b"x\ny");
    }

    #[test]
    fn case_137_mixed_ends_stay_where_the_lines_stay() {
        let file = b"a\r\nb\nc\r\n";
        assert_eq!(fit(file, &(0..8), b"a\nX\nc\n"), b"a\r\nX\nc\r\n");
        assert_eq!(fit(file, &(0..8), b"a\nb\nmore\nc\n"), b"a\r\nb\nmore\nc\r\n");
        assert_eq!(fit(file, &(0..8), b"c\n"), b"c\r\n");
        assert_eq!(fit(file, &(0..8), b""), b"");
    }

    #[test]
    fn a_place_within_a_line_end_is_read_whole() {
        assert_eq!(around(b"a\r\nb", 2), Ending::CrLf);
        assert_eq!(around(b"a\r\nb", 4), Ending::CrLf);
        assert_eq!(around(b"", 0), Ending::Lf);
    }
}
