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
    let same = Same::of(old, new);
    let (olds, news) = (words(old, &same), words(new, &same));
    if olds.len() + news.len() > WORDS {
        return None;
    }
    let text_of = |words: &[(usize, &str)]| -> Vec<String> {
        words.iter().map(|(_, word)| (*word).to_owned()).collect()
    };
    let ops = capture_diff_slices(Algorithm::Myers, &text_of(&olds), &text_of(&news));
    let (mut marks, mut shared) = ([Vec::new(), Vec::new()], same.weight(old));
    for op in ops {
        match op {
            DiffOp::Equal { old_index, len, .. } => {
                shared += olds[old_index..old_index + len]
                    .iter()
                    .map(|(_, word)| word.trim().len())
                    .sum::<usize>();
            }
            DiffOp::Delete { old_index, old_len, .. } => {
                mark(&olds, old_index, old_len, old.len() - same.end, &mut marks[0]);
            }
            DiffOp::Insert { new_index, new_len, .. } => {
                mark(&news, new_index, new_len, new.len() - same.end, &mut marks[1]);
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                mark(&olds, old_index, old_len, old.len() - same.end, &mut marks[0]);
                mark(&news, new_index, new_len, new.len() - same.end, &mut marks[1]);
            }
        }
    }
    (shared * 3 >= weight(old).min(weight(new))).then_some(marks)
}

/// What two lines begin and end with alike, up to a blank on either side: most of a line that was
/// changed in one place. There the words need not be looked for.
struct Same {
    /// Bytes from the start; behind them a word begins.
    start: usize,
    /// Bytes up to the end; before them a word ends.
    end: usize,
}

impl Same {
    /// Nothing where a line is not ASCII: there a blank may be a part of what is behind it.
    fn of(old: &str, new: &str) -> Self {
        let (a, b) = (old.as_bytes(), new.as_bytes());
        if !a.is_ascii() || !b.is_ascii() {
            return Self { start: 0, end: 0 };
        }
        let alike = a.iter().zip(b).take_while(|(x, y)| x == y).count();
        // Behind a blank, and before what is no blank: there a word begins on both sides.
        let begins = |at: usize| {
            let solid = |text: &[u8]| text.get(at).is_some_and(|byte| *byte != b' ');
            a[at - 1] == b' ' && solid(a) && solid(b)
        };
        let start = (1..=alike).rev().find(|&at| begins(at)).unwrap_or(0);
        let (a, b) = (&a[start..], &b[start..]);
        let alike = a.iter().rev().zip(b.iter().rev()).take_while(|(x, y)| x == y).count();
        let ends = |upto: usize| {
            let solid = |text: &[u8]| {
                text.len().checked_sub(upto + 1).is_some_and(|before| text[before] != b' ')
            };
            a[a.len() - upto] == b' ' && solid(a) && solid(b)
        };
        let end = (1..=alike).rev().find(|&upto| ends(upto)).unwrap_or(0);
        Self { start, end }
    }

    /// How much of `text` it is, blanks left out.
    fn weight(&self, text: &str) -> usize {
        weight(&text[..self.start]) + weight(&text[text.len() - self.end..])
    }
}

fn weight(text: &str) -> usize {
    text.split_whitespace().map(str::len).sum()
}

/// The words of `text` between what is the `same`.
fn words<'t>(text: &'t str, same: &Same) -> Vec<(usize, &'t str)> {
    let middle = &text[same.start..text.len() - same.end];
    middle.split_word_bound_indices().map(|(at, word)| (same.start + at, word)).collect()
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
