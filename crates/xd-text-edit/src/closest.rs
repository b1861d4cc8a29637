//! The place of a file that is closest to a text, compared line by line.

use std::fmt;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::candidate::{Window, closest_window};
use crate::difference::{Difference, bare, differences, piece};
use crate::fold::lines;
use crate::wording::excerpt;

/// Lines that are shown with both sides.
const SHOWN: usize = 3;
/// A line is compared up to this many bytes.
const LINE: usize = 4 * 1024;
/// At most this many lines of the text are compared.
const COMPARED: usize = 400;

/// The place in the file that is closest to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closest {
    /// Its first line, from 1.
    pub line: usize,
    /// The first lines that differ.
    pub differing: Vec<DifferingLine>,
    /// How many more do.
    pub more: usize,
}

/// A line that is not the same in the text and in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferingLine {
    /// The line of the file, from 1; for a line that only the text has, the one it would stand at.
    pub line: usize,
    /// What differs; empty where a side has no such line.
    pub kinds: Vec<Difference>,
    /// The line of the text, as an excerpt.
    pub text: Option<String>,
    /// The line of the file, as an excerpt.
    pub file: Option<String>,
}

/// Finds the place of `file` that is closest to `text`; both have folded line ends.
pub(crate) fn closest(file: &[u8], text: &[u8]) -> Option<Closest> {
    let file: Vec<&[u8]> = lines(file).collect();
    let text: Vec<&[u8]> = lines(text).take(COMPARED).collect();
    let window = closest_window(&file, &text)?;
    let near: Vec<String> = file[window.search.clone()].iter().map(|line| shown(line)).collect();
    let text: Vec<String> = text.iter().map(|line| shown(line)).collect();
    let number = |at: usize| window.search.start + at + 1;
    let pairs = pairs(&window, &text, &near);
    let first = pairs.iter().find_map(|pair| match pair {
        Pair::Both { near, .. } => Some(number(*near)),
        Pair::Text { .. } | Pair::Near { .. } => None,
    });
    let mut differing = pairs.iter().filter_map(|pair| match *pair {
        Pair::Both { text: t, near: n } => {
            let (first, last) = (t == 0, t + 1 == text.len());
            // A text may begin and end within a line.
            let within = match (first, last) {
                (true, true) => near[n].contains(&text[t]),
                (true, false) => near[n].ends_with(&text[t]),
                (false, true) => near[n].starts_with(&text[t]),
                (false, false) => false,
            };
            let differ = || compare(number(n), &text[t], &near[n], first || last);
            if within { None } else { differ() }
        }
        Pair::Text { text: t, before } => Some(DifferingLine {
            line: number(before),
            kinds: Vec::new(),
            text: Some(excerpt(&text[t], 0)),
            file: None,
        }),
        Pair::Near { near: n } => Some(DifferingLine {
            line: number(n),
            kinds: Vec::new(),
            text: None,
            file: Some(excerpt(&near[n], 0)),
        }),
    });
    let shown: Vec<DifferingLine> = differing.by_ref().take(SHOWN).collect();
    let more = differing.count();
    Some(Closest { line: first.unwrap_or(window.search.start + 1), differing: shown, more })
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(LINE)]).into_owned()
}

/// How a line of the text and one of the file belong together, by index.
enum Pair {
    Both { text: usize, near: usize },
    Text { text: usize, before: usize },
    Near { near: usize },
}

fn pairs(window: &Window, text: &[String], near: &[String]) -> Vec<Pair> {
    let both = |(text, near): (usize, usize)| Pair::Both { text, near };
    let only = |before: usize| move |text: usize| Pair::Text { text, before };
    if window.aligned {
        let common = text.len().min(near.len());
        let rest = (common..text.len()).map(only(near.len()));
        return (0..common).zip(0..common).map(both).chain(rest).collect();
    }
    let bared = |line: &String| {
        let mut out = String::new();
        bare(line, |c, _| out.push(c));
        out
    };
    let (text_bare, near_bare): (Vec<String>, Vec<String>) =
        (text.iter().map(bared).collect(), near.iter().map(bared).collect());
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &text_bare, &near_bare) {
        let (_, old, new) = op.as_tag_tuple();
        // What surrounds the place is not part of it.
        let inside = old.start > 0 && old.end < text.len();
        match op {
            DiffOp::Equal { .. } => pairs.extend(old.zip(new).map(both)),
            DiffOp::Delete { .. } => pairs.extend(old.map(only(new.start))),
            DiffOp::Insert { .. } if !inside => {}
            DiffOp::Insert { .. } => pairs.extend(new.map(|near| Pair::Near { near })),
            DiffOp::Replace { .. } => {
                // Before the first line in common the lines next to it are meant.
                let skip = if old.start == 0 { new.len().saturating_sub(old.len()) } else { 0 };
                let common = old.len().min(new.len());
                let starts = (old.start, new.start + skip);
                pairs.extend((0..common).map(|step| both((starts.0 + step, starts.1 + step))));
                pairs.extend((old.start + common..old.end).map(only(new.end)));
                if inside {
                    pairs.extend((new.start + common..new.end).map(|near| Pair::Near { near }));
                }
            }
        }
    }
    pairs
}

/// What two lines differ in; none where they are the same. The first and the last line of a text
/// may be `partial`, pieces of the file's lines.
fn compare(number: usize, text: &str, line: &str, partial: bool) -> Option<DifferingLine> {
    let whole = differences(text, line);
    let piece =
        partial.then(|| piece(text, line)).flatten().map(|piece| (piece, differences(text, piece)));
    // Without any difference of the piece itself it is what stands beside it that tells.
    let (line, kinds) = match piece {
        Some((piece, kinds)) if !kinds.is_empty() && !whole.is_empty() => (piece, kinds),
        Some(_) | None => (line, whole),
    };
    let at = text.chars().zip(line.chars()).take_while(|(a, b)| a == b).count();
    (!kinds.is_empty()).then(|| DifferingLine {
        line: number,
        kinds,
        text: Some(excerpt(text, at)),
        file: Some(excerpt(line, at)),
    })
}

impl fmt::Display for Closest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "; the closest place is line {}", self.line)?;
        for line in &self.differing {
            write!(f, "\n{line}")?;
        }
        match self.more {
            0 => Ok(()),
            1 => f.write_str("\n  1 more line differs"),
            more => write!(f, "\n  {more} more lines differ"),
        }
    }
}

impl fmt::Display for DifferingLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line;
        match (&self.text, &self.file) {
            (Some(text), Some(file)) => {
                let kinds: Vec<String> = self.kinds.iter().map(Difference::to_string).collect();
                write!(f, "  line {line} differs in {}:", kinds.join(" and "))?;
                write!(f, "\n    given: {text}\n    file:  {file}")
            }
            (Some(text), None) => {
                write!(f, "  not in the file before line {line}:\n    given: {text}")
            }
            (None, Some(file)) => {
                write!(f, "  line {line} is not in the given text:\n    file:  {file}")
            }
            (None, None) => Ok(()),
        }
    }
}
