//! Comparing two contents line by line.

use std::collections::HashMap;
use std::io::BufRead as _;
use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::{DiffLine, Hunk, LineTag};
use crate::ByteEdit;

/// How far from the start a NUL byte makes a file binary: what git looks at.
const BINARY_WINDOW: usize = 8000;

/// Old lines `old` became new lines `new`; one of the two may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Span {
    old: Range<usize>,
    new: Range<usize>,
}

/// The lines of a content, each with its line feed.
pub(super) struct Lines<'a> {
    bytes: &'a [u8],
    /// Where each line ends.
    ends: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub(super) fn of(bytes: &'a [u8]) -> Self {
        let mut ends = Vec::new();
        let (mut rest, mut at) = (bytes, 0);
        // Searches as fast as the machine can; a slice cannot fail to be read.
        while let Ok(length @ 1..) = rest.skip_until(b'\n') {
            at += length;
            ends.push(at);
        }
        Self { bytes, ends }
    }

    fn len(&self) -> usize {
        self.ends.len()
    }

    /// A line by its index, from 0, with its line feed.
    pub(super) fn get(&self, index: usize) -> &'a [u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.bytes[start..self.ends[index]]
    }

    /// How many line feeds precede the offset, which is the index of the line it lies in.
    fn index_at(&self, offset: usize) -> usize {
        let complete = self.ends.partition_point(|end| *end <= offset);
        // The end of a last line without a line feed still lies in that line.
        if complete == self.len()
            && offset == self.bytes.len()
            && self.bytes.last().is_some_and(|b| *b != b'\n')
        {
            complete - 1
        } else {
            complete
        }
    }
}

pub(super) fn is_binary(bytes: &[u8]) -> bool {
    bytes[..bytes.len().min(BINARY_WINDOW)].contains(&0)
}

pub(super) fn count(old: &[u8], new: &[u8], edits: Option<&[ByteEdit]>) -> (usize, usize) {
    let spans = spans(&Lines::of(old), &Lines::of(new), edits);
    (spans.iter().map(|span| span.new.len()).sum(), spans.iter().map(|span| span.old.len()).sum())
}

pub(super) fn hunks(
    old: &[u8],
    new: &[u8],
    edits: Option<&[ByteEdit]>,
    context: usize,
) -> Vec<Hunk> {
    let (old, new) = (Lines::of(old), Lines::of(new));
    let spans = spans(&old, &new, edits);
    grouped(&spans, context).map(|group| hunk(&old, &new, group, context)).collect()
}

/// The stretches of bytes that differ, whole lines each: of the old side and of the new one.
#[cfg(feature = "commit")]
pub(super) fn drift(was: &[u8], is: &[u8]) -> Vec<Stretch> {
    let (was, is) = (Lines::of(was), Lines::of(is));
    spans(&was, &is, None).iter().map(|span| stretch(&was, &is, span)).collect()
}

/// The same hunk by hunk: for each that [`hunks`] answers, its stretches.
pub(super) fn stretches(
    old: &[u8],
    new: &[u8],
    edits: Option<&[ByteEdit]>,
    context: usize,
) -> Vec<Vec<Stretch>> {
    let (old, new) = (Lines::of(old), Lines::of(new));
    grouped(&spans(&old, &new, edits), context)
        .map(|group| group.iter().map(|span| stretch(&old, &new, span)).collect())
        .collect()
}

/// Bytes of the old side, and what stands for them on the new one.
pub(crate) type Stretch = (Range<usize>, Range<usize>);

fn stretch(old: &Lines<'_>, new: &Lines<'_>, span: &Span) -> Stretch {
    let bytes = |lines: &Lines<'_>, span: &Range<usize>| {
        let at = |line: usize| if line == 0 { 0 } else { lines.ends[line - 1] };
        at(span.start)..at(span.end)
    };
    (bytes(old, &span.old), bytes(new, &span.new))
}

/// The spans that stand in one hunk, hunk by hunk.
fn grouped(spans: &[Span], context: usize) -> impl Iterator<Item = &[Span]> {
    spans.chunk_by(move |a, b| b.old.start - a.old.end <= context.saturating_mul(2))
}

/// At most three places, then how many more.
#[cfg(feature = "commit")]
pub(super) fn describe(was: &[u8], is: &[u8]) -> String {
    const SHOWN: usize = 3;
    if is_binary(was) || is_binary(is) {
        return format!("{} bytes then, {} bytes now", was.len(), is.len());
    }
    let spans = spans(&Lines::of(was), &Lines::of(is), None);
    let lines = |range: &Range<usize>| match range.len() {
        1 => format!("line {}", range.start + 1),
        _several => format!("lines {}-{}", range.start + 1, range.end),
    };
    let mut said: Vec<String> = spans
        .iter()
        .take(SHOWN)
        .map(|span| match (span.old.len(), span.new.len()) {
            (0, _) => format!("{} added", lines(&span.new)),
            (_, 0) => format!("former {} removed", lines(&span.old)),
            (_, _) => format!("{} changed", lines(&span.new)),
        })
        .collect();
    if spans.len() > SHOWN {
        said.push(format!("{} more places", spans.len() - SHOWN));
    }
    said.join(", ")
}

/// Where the sides differ, in order, no two touching.
fn spans(old: &Lines<'_>, new: &Lines<'_>, edits: Option<&[ByteEdit]>) -> Vec<Span> {
    let regions = match edits {
        Some(edits) => edited_regions(old, new, edits),
        None => vec![Span { old: 0..old.len(), new: 0..new.len() }],
    };
    let mut spans: Vec<Span> = Vec::new();
    for span in regions.into_iter().flat_map(|region| compare(old, new, region)) {
        match spans.last_mut() {
            Some(last) if last.old.end == span.old.start && last.new.end == span.new.start => {
                last.old.end = span.old.end;
                last.new.end = span.new.end;
            }
            Some(_) | None => spans.push(span),
        }
    }
    spans
}

/// The lines that the edits touch. Between them the sides are equal by construction, which
/// spares comparing a large file to find a few edits.
fn edited_regions(old: &Lines<'_>, new: &Lines<'_>, edits: &[ByteEdit]) -> Vec<Span> {
    let mut sorted: Vec<&ByteEdit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.range.start, edit.range.end));
    let mut regions: Vec<Span> = Vec::new();
    let (mut removed, mut inserted) = (0, 0);
    for edit in sorted {
        let new_start = edit.range.start + inserted - removed;
        inserted += edit.text.len();
        removed += edit.range.len();
        let region = Span {
            old: old.index_at(edit.range.start)..(old.index_at(edit.range.end) + 1).min(old.len()),
            new: new.index_at(new_start)
                ..(new.index_at(new_start + edit.text.len()) + 1).min(new.len()),
        };
        match regions.last_mut() {
            Some(last) if region.old.start < last.old.end || region.new.start < last.new.end => {
                last.old.end = last.old.end.max(region.old.end);
                last.new.end = last.new.end.max(region.new.end);
            }
            Some(_) | None => regions.push(region),
        }
    }
    regions
}

fn compare(old: &Lines<'_>, new: &Lines<'_>, mut region: Span) -> Vec<Span> {
    while !region.old.is_empty()
        && !region.new.is_empty()
        && old.get(region.old.start) == new.get(region.new.start)
    {
        region.old.start += 1;
        region.new.start += 1;
    }
    while !region.old.is_empty()
        && !region.new.is_empty()
        && old.get(region.old.end - 1) == new.get(region.new.end - 1)
    {
        region.old.end -= 1;
        region.new.end -= 1;
    }
    if region.old.is_empty() || region.new.is_empty() {
        return if region.old.is_empty() && region.new.is_empty() {
            Vec::new()
        } else {
            vec![region]
        };
    }
    let mut known: HashMap<&[u8], u32> = HashMap::new();
    let mut number = |line| {
        let next = known.len() as u32;
        *known.entry(line).or_insert(next)
    };
    let left: Vec<u32> = region.old.clone().map(|at| number(old.get(at))).collect();
    let right: Vec<u32> = region.new.clone().map(|at| number(new.get(at))).collect();
    capture_diff_slices(Algorithm::Myers, &left, &right)
        .into_iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .map(|op| {
            let (old, new) = (op.old_range(), op.new_range());
            Span {
                old: region.old.start + old.start..region.old.start + old.end,
                new: region.new.start + new.start..region.new.start + new.end,
            }
        })
        .collect()
}

fn hunk(old: &Lines<'_>, new: &Lines<'_>, spans: &[Span], context: usize) -> Hunk {
    let (first, last) = (&spans[0], &spans[spans.len() - 1]);
    let lead = first.old.start.min(context);
    let tail = (old.len() - last.old.end).min(context);
    let (old_start, new_start) = (first.old.start - lead, first.new.start - lead);
    let (old_end, new_end) = (last.old.end + tail, last.new.end + tail);
    let mut lines = Vec::with_capacity(old_end - old_start + new_end - new_start);
    let (mut old_at, mut new_at) = (old_start, new_start);
    let end = Span { old: old_end..old_end, new: new_end..new_end };
    for span in spans.iter().chain([&end]) {
        while old_at < span.old.start {
            lines.push(line(LineTag::Context, old.get(old_at), Some(old_at), Some(new_at)));
            old_at += 1;
            new_at += 1;
        }
        lines
            .extend(span.old.clone().map(|at| line(LineTag::Removed, old.get(at), Some(at), None)));
        lines.extend(span.new.clone().map(|at| line(LineTag::Added, new.get(at), None, Some(at))));
        old_at = span.old.end;
        new_at = span.new.end;
    }
    let numbered = |start: usize, end: usize| if start == end { start } else { start + 1 };
    Hunk {
        old_start: numbered(old_start, old_end),
        old_lines: old_end - old_start,
        new_start: numbered(new_start, new_end),
        new_lines: new_end - new_start,
        lines,
    }
}

fn line(tag: LineTag, bytes: &[u8], old: Option<usize>, new: Option<usize>) -> DiffLine {
    let text = bytes.strip_suffix(b"\n");
    DiffLine {
        tag,
        old_number: old.map(|at| at + 1),
        new_number: new.map(|at| at + 1),
        text: shown(text.unwrap_or(bytes)),
        missing_newline: text.is_none(),
    }
}

/// The bytes as text, those that are not UTF-8 as `\xE9`, so that no two lines look alike that
/// are not.
fn shown(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02X}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apply_edits;
    use proptest::prelude::*;

    /// Rebuilds the new side from the old one and the spans.
    fn replay(old: &[u8], new: &[u8], spans: &[Span]) -> Vec<u8> {
        let (old, new) = (Lines::of(old), Lines::of(new));
        let mut out = Vec::new();
        let mut at = 0;
        for span in spans {
            (at..span.old.start).for_each(|line| out.extend_from_slice(old.get(line)));
            span.new.clone().for_each(|line| out.extend_from_slice(new.get(line)));
            at = span.old.end;
        }
        (at..old.len()).for_each(|line| out.extend_from_slice(old.get(line)));
        out
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]
        #[test]
        fn f1_spans_by_edits_are_true(
            source in "[ab\n]{0,40}",
            cuts in proptest::collection::vec((0usize..9, 0usize..5, "[ab\n]{0,4}"), 0..5),
        ) {
            let source = source.into_bytes();
            let mut at = 0;
            let mut edits = Vec::new();
            for (skip, len, text) in cuts {
                let start = (at + skip).min(source.len());
                let end = (start + len).min(source.len());
                edits.push(ByteEdit::new(start..end, text));
                at = end + 1;
                if at > source.len() { break }
            }
            let new = apply_edits(&source, &edits).unwrap();
            let by_edits = spans(&Lines::of(&source), &Lines::of(&new), Some(&edits));
            prop_assert_eq!(replay(&source, &new, &by_edits), new.clone());
            let plain = spans(&Lines::of(&source), &Lines::of(&new), None);
            prop_assert_eq!(replay(&source, &new, &plain), new);
        }
    }

    #[test]
    fn f1_ten_thousand_edits_of_a_large_file_are_compared_in_linear_time() {
        let source: Vec<u8> =
            (0..30_000).flat_map(|n| format!("line {n} of the file\n").into_bytes()).collect();
        let edits: Vec<_> = Lines::of(&source)
            .ends
            .iter()
            .step_by(3)
            .map(|end| ByteEdit::new(end - 2..end - 1, "E!"))
            .collect();
        let new = apply_edits(&source, &edits).unwrap();
        assert_eq!(count(&source, &new, Some(&edits)), (10_000, 10_000));
    }
}
