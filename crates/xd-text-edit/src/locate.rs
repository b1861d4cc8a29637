//! Where a text stands in a file: every place, counted with overlaps.

use std::ops::Range;

use memchr::memmem;

use crate::fold::{Folded, line_at};

/// At most this many places are kept; the others are counted.
pub(crate) const PLACES_KEPT: usize = 10;

/// Where a text stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Occurrences {
    /// All of them. Two that share bytes are two.
    pub total: usize,
    /// How many do not overlap, taken from the left: what `replace_all` replaces.
    pub apart: usize,
    /// The byte ranges of the first ten, each with its line from 1.
    pub first: Vec<Place>,
}

/// One place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Its bytes.
    pub range: Range<usize>,
    /// The line in which it begins, from 1.
    pub line: usize,
}

/// Counts the places where `text` stands in `bytes`, overlapping ones too (case 11), with `\r\n`
/// and `\n` taken for the same.
///
/// The cost is linear in the two lengths. An empty text stands nowhere.
///
/// ```
/// let found = xd_text_edit::locate(b"q\r\nq\r\nq\r\n", b"q\nq\n");
/// assert_eq!((found.total, found.apart), (2, 1));
/// assert_eq!(found.first[1].range, 3..9);
/// ```
#[must_use]
pub fn locate(bytes: &[u8], text: &[u8]) -> Occurrences {
    let (bytes_folded, text) = (Folded::of(bytes), Folded::of(text));
    occurrences(bytes, &bytes_folded, text.bytes())
}

/// [`locate`] in contents that are folded, or taken exactly, already.
pub(crate) fn occurrences(raw: &[u8], folded: &Folded<'_>, text: &[u8]) -> Occurrences {
    let mut first = Vec::new();
    let mut total = 0;
    each(folded.bytes(), text, |at| {
        total += 1;
        if first.len() < PLACES_KEPT {
            let range = folded.raw_range(&(at..at + text.len()));
            first.push(Place { line: line_at(raw, range.start), range });
        }
    });
    let apart = if overlaps_itself(text) { apart(folded.bytes(), text).count() } else { total };
    Occurrences { total, apart, first }
}

/// The offsets of the places that do not overlap, from the left.
pub(crate) fn apart<'a>(bytes: &'a [u8], text: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let found = (!text.is_empty()).then(|| memmem::find_iter(bytes, text));
    found.into_iter().flatten()
}

/// Whether a text could overlap another occurrence of itself.
fn overlaps_itself(text: &[u8]) -> bool {
    borders(text).last().is_some_and(|border| *border > 0)
}

/// For every beginning of `text`, the length of the longest shorter beginning that also ends it.
fn borders<T: PartialEq>(text: &[T]) -> Vec<usize> {
    let mut borders = vec![0; text.len()];
    let mut border = 0;
    for at in 1..text.len() {
        while border > 0 && text[at] != text[border] {
            border = borders[border - 1];
        }
        if text[at] == text[border] {
            border += 1;
        }
        borders[at] = border;
    }
    borders
}

/// Calls `found` with the offset of every place, ascending.
///
/// Searching on from the byte after each find would be quadratic on a text that overlaps itself;
/// where it does, one pass over its borders (Knuth, Morris and Pratt) finds all.
fn each(bytes: &[u8], text: &[u8], mut found: impl FnMut(usize)) {
    let borders = borders(text);
    if borders.last().is_none_or(|border| *border == 0) {
        return apart(bytes, text).for_each(found);
    }
    let Some(start) = memmem::find(bytes, text) else { return };
    by_borders(&bytes[start..], text, &borders, |at| found(start + at));
}

/// The offsets in `items`, ascending, at which `pattern` stands; overlapping ones too.
pub(crate) fn positions<T: PartialEq>(items: &[T], pattern: &[T]) -> Vec<usize> {
    let mut found = Vec::new();
    if !pattern.is_empty() {
        by_borders(items, pattern, &borders(pattern), |at| found.push(at));
    }
    found
}

fn by_borders<T: PartialEq>(
    items: &[T],
    pattern: &[T],
    borders: &[usize],
    mut found: impl FnMut(usize),
) {
    let mut matched = 0;
    for (at, item) in items.iter().enumerate() {
        while matched > 0 && (matched == pattern.len() || *item != pattern[matched]) {
            matched = borders[matched - 1];
        }
        if *item == pattern[matched] {
            matched += 1;
        }
        if matched == pattern.len() {
            found(at + 1 - matched);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // CONTRACT S7, case 11
    #[test]
    fn case_011_overlapping_places_are_all_counted() {
        let found = locate(b"q\nq\nq\n", b"q\nq\n");
        assert_eq!((found.total, found.apart), (2, 1));
        assert_eq!(found.first.iter().map(|place| place.line).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(locate(b"abc", b"").total, 0);
        assert_eq!(locate(b"", b"a").total, 0);
    }

    #[test]
    fn a_text_that_overlaps_itself_everywhere_costs_one_pass() {
        let found = locate(&vec![b'a'; 1 << 20], &vec![b'a'; 1 << 19]);
        assert_eq!((found.total, found.apart), ((1 << 19) + 1, 2));
        assert_eq!(found.first.len(), PLACES_KEPT);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn case_011_counting_equals_the_slow_method(
            bytes in "[ab\r\n]{0,40}", text in "[ab\r\n]{1,5}",
        ) {
            let (bytes, text) = (bytes.as_bytes(), text.as_bytes());
            let folded = Folded::of(bytes);
            let needle = Folded::of(text);
            let slow: Vec<usize> = (0..folded.bytes().len())
                .filter(|at| folded.bytes()[*at..].starts_with(needle.bytes()))
                .collect();
            let found = locate(bytes, text);
            prop_assert_eq!(found.total, slow.len());
            for (place, at) in found.first.iter().zip(&slow) {
                prop_assert_eq!(&place.range, &folded.raw_range(&(*at..at + needle.bytes().len())));
            }
        }
    }
}
