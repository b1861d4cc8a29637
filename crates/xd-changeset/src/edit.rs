//! Byte edits of one file, and putting them together in one pass.

use std::fmt;
use std::io;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::Content;
use crate::content::bytes_as_text;

/// Bytes `range` of a file replaced by `text`. An empty range inserts; an empty text deletes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByteEdit {
    /// Byte offsets into the file as it was before any edit.
    pub range: Range<usize>,
    /// The bytes that take the place of the range.
    #[serde(with = "bytes_as_text")]
    pub text: Vec<u8>,
}

impl ByteEdit {
    /// Replaces `range` by `text`.
    pub fn new(range: Range<usize>, text: impl Into<Vec<u8>>) -> Self {
        Self { range, text: text.into() }
    }
}

/// Two edits want the same bytes. Ranges are byte offsets, end excluded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "two edits overlap: bytes {}..{} and bytes {}..{}; make them one edit or keep them apart",
    first.start, first.end, second.start, second.end
)]
pub struct OverlapError {
    /// The one that begins earlier.
    pub first: Range<usize>,
    /// The one that begins later.
    pub second: Range<usize>,
}

/// Why edits cannot be put together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditError {
    /// Two of them overlap.
    #[error(transparent)]
    Overlap(#[from] OverlapError),
    /// One reaches beyond the file, or ends before it begins.
    #[error("the edit of bytes {}..{} does not lie within the file of {len} bytes", range.start, range.end)]
    OutOfBounds {
        /// The edit's range.
        range: Range<usize>,
        /// The length of the file in bytes.
        len: usize,
    },
}

/// Puts `edits`, in any order, into `source` in one pass.
///
/// Edits that touch do not overlap. Insertions at one offset land in the order given, and before
/// a replacement that begins there. The cost is linear in the bytes plus sorting the edits.
///
/// ```
/// use xd_changeset::{ByteEdit, apply_edits};
///
/// let edits = [ByteEdit::new(4..5, "B"), ByteEdit::new(0..1, "A")];
/// assert_eq!(apply_edits(b"a = b\r\n", &edits).unwrap(), b"A = B\r\n");
/// ```
pub fn apply_edits(source: &[u8], edits: &[ByteEdit]) -> Result<Vec<u8>, EditError> {
    let order = sorted(source.len(), edits)?;
    let removed: usize = edits.iter().map(|edit| edit.range.len()).sum();
    let inserted: usize = edits.iter().map(|edit| edit.text.len()).sum();
    let mut out = Vec::with_capacity(source.len() - removed + inserted);
    let mut at = 0;
    for edit in order {
        out.extend_from_slice(&source[at..edit.range.start]);
        out.extend_from_slice(&edit.text);
        at = edit.range.end;
    }
    out.extend_from_slice(&source[at..]);
    Ok(out)
}

/// The edits by position, checked to be disjoint and within `len`.
pub(crate) fn sorted(len: usize, edits: &[ByteEdit]) -> Result<Vec<&ByteEdit>, EditError> {
    let mut order: Vec<&ByteEdit> = edits.iter().collect();
    for edit in &order {
        if edit.range.start > edit.range.end || edit.range.end > len {
            return Err(EditError::OutOfBounds { range: edit.range.clone(), len });
        }
    }
    order.sort_by_key(|edit| (edit.range.start, edit.range.end));
    for pair in order.windows(2) {
        let [first, second] = pair else { continue };
        if second.range.start < first.range.end {
            let (first, second) = (first.range.clone(), second.range.clone());
            return Err(OverlapError { first, second }.into());
        }
    }
    Ok(order)
}

/// Why the result of edits cannot be had.
#[derive(Debug)]
pub(crate) enum AssembleError {
    Edit(EditError),
    Unreadable(io::Error),
}

/// Hands over, in order, what `edits` make of `before`, without holding either whole.
pub(crate) fn assemble(
    before: &Content,
    edits: &[ByteEdit],
    take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> Result<(), AssembleError> {
    let len = usize::try_from(before.len()).unwrap_or(usize::MAX);
    let order = sorted(len, edits).map_err(AssembleError::Edit)?;
    let mut rest = order.into_iter().peekable();
    // Where the next byte of `before` lies, and how far the edit begun last takes bytes away.
    let (mut at, mut gone) = (0, 0);
    before
        .pieces(&mut |mut piece| {
            loop {
                let skip = gone.max(at) - at;
                let skipped = skip.min(piece.len());
                (piece, at) = (&piece[skipped..], at + skipped);
                // An edit at the very end of a piece waits for the next one.
                match rest.next_if(|edit| edit.range.start < at + piece.len()) {
                    Some(edit) => {
                        let (kept, after) = piece.split_at(edit.range.start - at);
                        take(kept)?;
                        take(&edit.text)?;
                        (piece, at, gone) = (after, edit.range.start, edit.range.end);
                    }
                    None => {
                        at += piece.len();
                        return take(piece);
                    }
                }
            }
        })
        .and_then(|()| rest.try_for_each(|edit| take(&edit.text)))
        .map_err(AssembleError::Unreadable)
}

impl fmt::Display for ByteEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {}..{} → {} bytes", self.range.start, self.range.end, self.text.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The obvious method: last edit first, each splicing the whole text.
    fn spliced(source: &[u8], edits: &[ByteEdit]) -> Vec<u8> {
        let mut out = source.to_vec();
        for edit in edits.iter().rev() {
            out.splice(edit.range.clone(), edit.text.iter().copied());
        }
        out
    }

    #[test]
    fn f5_case_009_overlapping_edits_name_both_ranges() {
        let edits = [ByteEdit::new(4..9, "x"), ByteEdit::new(0..5, "y")];
        let error = apply_edits(b"0123456789", &edits).unwrap_err();
        assert_eq!(error, EditError::Overlap(OverlapError { first: 0..5, second: 4..9 }));
        assert!(error.to_string().contains("0..5") && error.to_string().contains("4..9"));
        let twice = [ByteEdit::new(1..2, "x"), ByteEdit::new(1..2, "x")];
        assert!(matches!(apply_edits(b"abc", &twice), Err(EditError::Overlap(_))));
    }

    #[test]
    fn an_edit_inside_another_overlaps_and_an_insertion_at_its_edge_does_not() {
        let inside = [ByteEdit::new(0..4, "x"), ByteEdit::new(2..2, "y")];
        assert!(apply_edits(b"abcd", &inside).is_err());
        let edge = [ByteEdit::new(1..3, "X"), ByteEdit::new(3..3, ">"), ByteEdit::new(1..1, "<")];
        assert_eq!(apply_edits(b"abcd", &edge).unwrap(), b"a<X>d");
    }

    #[test]
    fn ranges_outside_the_file_are_refused() {
        for range in [3..5, 5..5] {
            let edits = [ByteEdit::new(range.clone(), "")];
            assert_eq!(apply_edits(b"abcd", &edits), Err(EditError::OutOfBounds { range, len: 4 }));
        }
    }

    #[test]
    fn case_027_ten_thousand_edits_equal_the_slow_method() {
        let source = vec![b'a'; 1 << 20];
        let edits: Vec<_> =
            (0..10_000).map(|i| ByteEdit::new(i * 100..i * 100 + 1, "12345678")).collect();
        assert_eq!(apply_edits(&source, &edits).unwrap().len(), source.len() + 70_000);
        let small: Vec<_> = edits.iter().take(300).cloned().collect();
        assert_eq!(apply_edits(&source, &small).unwrap(), spliced(&source, &small));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn f4_assembly_equals_the_slow_method(
            source in proptest::collection::vec(any::<u8>(), 0..200),
            cuts in proptest::collection::vec((0usize..20, 0usize..6, proptest::collection::vec(any::<u8>(), 0..5)), 0..12),
        ) {
            let mut at = 0;
            let mut edits = Vec::new();
            for (skip, len, text) in cuts {
                let start = (at + skip).min(source.len());
                let end = (start + len).min(source.len());
                edits.push(ByteEdit::new(start..end, text));
                at = end + 1;
                if at > source.len() { break }
            }
            let expect = spliced(&source, &edits);
            let mut shuffled = edits.clone();
            shuffled.reverse();
            prop_assert_eq!(&apply_edits(&source, &edits).unwrap(), &expect);
            prop_assert_eq!(&apply_edits(&source, &shuffled).unwrap(), &expect);
            let mut streamed = Vec::new();
            let mut take = |piece: &[u8]| {
                streamed.extend_from_slice(piece);
                Ok(())
            };
            assemble(&Content::new(source), &edits, &mut take).unwrap();
            prop_assert_eq!(streamed, expect);
        }
    }
}
