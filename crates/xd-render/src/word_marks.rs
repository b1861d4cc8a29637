//! The words in which a removed and an added line differ.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};
use unicode_segmentation::UnicodeSegmentation;

/// The most words on both sides together that are compared. The comparison is quadratic at worst.
const WORDS: usize = 1200;

/// The parts of `old` and of `new` that the other has not, as byte ranges in order.
///
/// None where the two have so little in common that marks would only be noise, and where they are
/// too long to compare.
pub(crate) fn word_marks(old: &str, new: &str) -> Option<[Vec<Range<usize>>; 2]> {
    let (olds, news) = (words(old), words(new));
    if olds.len() + news.len() > WORDS {
        return None;
    }
    let text_of = |words: &[(usize, &str)]| -> Vec<String> {
        words.iter().map(|(_, word)| (*word).to_owned()).collect()
    };
    let ops = capture_diff_slices(Algorithm::Myers, &text_of(&olds), &text_of(&news));
    let (mut marks, mut shared) = ([Vec::new(), Vec::new()], 0);
    for op in ops {
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                shared += olds[old_index..old_index + len]
                    .iter()
                    .map(|(_, word)| word.trim().len())
                    .sum::<usize>();
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                mark(&olds, old_index, old_len, old.len(), &mut marks[0]);
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                mark(&news, new_index, new_len, new.len(), &mut marks[1]);
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                mark(&olds, old_index, old_len, old.len(), &mut marks[0]);
                mark(&news, new_index, new_len, new.len(), &mut marks[1]);
            }
        }
    }
    let weight = |text: &str| text.split_whitespace().map(str::len).sum::<usize>();
    (shared * 3 >= weight(old).min(weight(new))).then_some(marks)
}

fn words(text: &str) -> Vec<(usize, &str)> {
    text.split_word_bound_indices().collect()
}

/// Adds the bytes of `count` words from `first` on to `marks`, joined to the range before where the
/// two touch.
fn mark(
    words: &[(usize, &str)],
    first: usize,
    count: usize,
    length: usize,
    marks: &mut Vec<Range<usize>>,
) {
    if count == 0 {
        return;
    }
    let start = words[first].0;
    let end = words.get(first + count).map_or(length, |word| word.0);
    match marks.last_mut() {
        Some(last) if last.end == start => last.end = end,
        Some(_) | None => marks.push(start..end),
    }
}
