//! The place closest to a text that is not in the file, and what differs there.

use std::fmt;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::candidate::{Window, closest_window};
use crate::difference::{Difference, differences, piece};
use crate::fold::{Folded, lines};
use crate::locate::occurrences;
use crate::wording::{excerpt, line_list};

/// Lines that are shown with both sides.
const SHOWN: usize = 3;
/// A line is compared up to this many bytes.
const LINE: usize = 4 * 1024;
/// At most this many lines of the old text are compared.
pub(crate) const COMPARED: usize = 400;
/// A new text shorter than this, without its white space, stands in many places by chance.
const TELLING: usize = 4;

/// What is closest to an old text that stands nowhere in the file. Its display begins after "occurs
/// 0 times".
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NearMiss {
    /// What the whole text has wrong, where that alone explains it.
    pub hint: Option<Hint>,
    /// The closest place, where anything is close.
    pub closest: Option<Closest>,
}

/// A mistake in a text as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hint {
    /// The new text is there already.
    AlreadyThere {
        /// The first lines where it begins.
        lines: Vec<usize>,
        /// All places.
        total: usize,
    },
    /// Every line begins with its number, as listings show it; without them it is found.
    LineNumbers {
        /// The line where it is found.
        line: usize,
    },
    /// Quotes or line breaks are escaped once too often; read once more it is found.
    Escaped {
        /// The line where it is found.
        line: usize,
    },
    /// It ends with a line break, and the file ends without.
    NoFinalNewline {
        /// The line where it is found but for that.
        line: usize,
    },
    /// The file's lines end in carriage returns alone.
    CarriageReturns,
    /// The file is empty.
    EmptyFile,
}

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

/// Finds what is closest to `old` in `file`, where it does not stand.
///
/// The cost is linear in the file: lines in common with the text vote for a place, and failing
/// these, a count of common runs of three characters does. Only the winner is compared line by
/// line.
#[must_use]
pub fn near_miss(file: &[u8], old: &str, new: Option<&str>) -> NearMiss {
    let folded = Folded::of(file);
    if file.is_empty() {
        return NearMiss { hint: Some(Hint::EmptyFile), closest: None };
    }
    let hint = hint(file, &folded, old, new);
    let closest = match &hint {
        // The other hints name the place themselves.
        None | Some(Hint::AlreadyThere { .. } | Hint::CarriageReturns) => {
            closest(folded.bytes(), Folded::of(old.as_bytes()).bytes())
        }
        Some(_) => None,
    };
    NearMiss { hint, closest }
}

fn hint(file: &[u8], folded: &Folded<'_>, old: &str, new: Option<&str>) -> Option<Hint> {
    let found = |text: &str| {
        let text = Folded::of(text.as_bytes());
        Some(occurrences(file, folded, text.bytes())).filter(|found| found.total > 0)
    };
    let line =
        |text: &str| found(text).and_then(|found| found.first.first().map(|place| place.line));
    if let Some(bare) = without_numbers(old)
        && let Some(line) = line(&bare)
    {
        return Some(Hint::LineNumbers { line });
    }
    if let Some(plain) = unescaped(old)
        && let Some(line) = line(&plain)
    {
        return Some(Hint::Escaped { line });
    }
    let shorter = old.strip_suffix('\n').map(|old| old.strip_suffix('\r').unwrap_or(old));
    if let Some(shorter) = shorter.filter(|shorter| !shorter.trim().is_empty())
        && folded.bytes().ends_with(Folded::of(shorter.as_bytes()).bytes())
    {
        let at = folded.bytes().len() - Folded::of(shorter.as_bytes()).bytes().len();
        let line = crate::fold::line_at(folded.bytes(), at);
        return Some(Hint::NoFinalNewline { line });
    }
    if let Some(new) = new.filter(|new| new.trim().len() >= TELLING && !old.contains(*new))
        && let Some(found) = found(new)
    {
        let lines = found.first.iter().map(|place| place.line).collect();
        return Some(Hint::AlreadyThere { lines, total: found.total });
    }
    let bare_returns = memchr::memchr(b'\r', folded.bytes()).is_some()
        && memchr::memchr(b'\n', folded.bytes()).is_none();
    bare_returns.then_some(Hint::CarriageReturns)
}

/// The text without the line numbers that all its lines begin with.
fn without_numbers(text: &str) -> Option<String> {
    let strip = |line: &str| -> Option<String> {
        let body = line.strip_suffix('\n').unwrap_or(line);
        if body.trim().is_empty() {
            return Some(line.to_owned());
        }
        let rest = line.trim_start_matches([' ', '\t']);
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits == 0 || digits > 9 {
            return None;
        }
        let rest = &rest[digits..];
        let after = rest.strip_prefix(['\t', '→', '|', ':'])?;
        Some(after.to_owned())
    };
    let stripped: String = text.split_inclusive('\n').map(strip).collect::<Option<_>>()?;
    if stripped.trim().is_empty() {
        return None;
    }
    // Some listings set a blank between the mark and the line.
    match stripped.split_inclusive('\n').all(|line| line.starts_with(' ') || line.trim().is_empty())
    {
        true if !text.contains(['→', '\t']) => Some(
            stripped
                .split_inclusive('\n')
                .map(|line| line.strip_prefix(' ').unwrap_or(line))
                .collect(),
        ),
        true | false => Some(stripped),
    }
}

/// The text with its escapes read once more.
fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut escapes = 0;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        escapes += 1;
        match rest.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some(c @ ('"' | '\'' | '\\' | '/' | '$' | '`')) => out.push(c),
            Some(_) | None => return None,
        }
    }
    (escapes > 0).then_some(out)
}

/// Compares the winner of the candidates line by line.
fn closest(file: &[u8], old: &[u8]) -> Option<Closest> {
    let file: Vec<&[u8]> = lines(file).collect();
    let mut old: Vec<&[u8]> = lines(old).collect();
    old.truncate(COMPARED);
    let window = closest_window(&file, &old)?;
    Some(compare(&file, &old, window))
}

fn shown(line: &[u8]) -> String {
    String::from_utf8_lossy(&line[..line.len().min(LINE)]).into_owned()
}

fn compare(file: &[&[u8]], old: &[&[u8]], window: Window) -> Closest {
    let near: Vec<String> = file[window.search.clone()].iter().map(|line| shown(line)).collect();
    let text: Vec<String> = old.iter().map(|line| shown(line)).collect();
    let bare = |line: &String| {
        let mut out = String::new();
        crate::difference::bare(line, |c, _| out.push(c));
        out
    };
    let (text_bare, near_bare): (Vec<_>, Vec<_>) =
        (text.iter().map(bare).collect(), near.iter().map(bare).collect());
    let mut found = Found { first: None, lines: Vec::new() };
    let number = |at: usize| window.search.start + at + 1;
    let last = text.len() - 1;
    let mut pair = |t: usize, n: usize, found: &mut Found| {
        found.first.get_or_insert(number(n));
        let (text, mut line) = (text[t].as_str(), near[n].as_str());
        // The first and the last line of a text may be pieces of lines.
        let partial = (t == 0 || t == last).then(|| piece(text, line)).flatten();
        if let Some(piece) = partial.filter(|_| differences(text, line).contains(&Difference::Text))
        {
            line = piece;
        }
        let kinds = differences(text, line);
        if !kinds.is_empty() {
            let at = common(text, line);
            found.lines.push(DifferingLine {
                line: number(n),
                kinds,
                text: Some(excerpt(text, at)),
                file: Some(excerpt(line, at)),
            });
        }
    };
    if window.aligned {
        for t in 0..text.len().min(near.len()) {
            pair(t, t, &mut found);
        }
        for t in near.len()..text.len() {
            found.only_text(number(near.len()), &text[t]);
        }
        return found.closest(window.search.start + 1);
    }
    for op in capture_diff_slices(Algorithm::Myers, &text_bare, &near_bare) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                (0..len).for_each(|step| pair(old_index + step, new_index + step, &mut found));
            }
            DiffOp::Delete { old_index, old_len, new_index } => {
                for t in old_index..old_index + old_len {
                    found.only_text(number(new_index), &text[t]);
                }
            }
            DiffOp::Insert { old_index, new_index, new_len } => {
                // What surrounds the place is not part of it.
                if old_index == 0 || old_index == text.len() {
                    continue;
                }
                for n in new_index..new_index + new_len {
                    found.only_file(number(n), &near[n]);
                }
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                // At the edges of the window only as many lines as the text has.
                let offset = if old_index == 0 { new_len.saturating_sub(old_len) } else { 0 };
                let common = old_len.min(new_len);
                for step in 0..common {
                    pair(old_index + step, new_index + offset + step, &mut found);
                }
                for t in old_index + common..old_index + old_len {
                    found.only_text(number(new_index + new_len), &text[t]);
                }
                let inside = old_index > 0 && old_index + old_len < text.len();
                for n in (new_index + common..new_index + new_len).filter(|_| inside) {
                    found.only_file(number(n), &near[n]);
                }
            }
        }
    }
    found.closest(window.search.start + 1)
}

struct Found {
    first: Option<usize>,
    lines: Vec<DifferingLine>,
}

impl Found {
    fn only_text(&mut self, line: usize, text: &str) {
        let text = Some(excerpt(text, 0));
        self.lines.push(DifferingLine { line, kinds: Vec::new(), text, file: None });
    }

    fn only_file(&mut self, line: usize, file: &str) {
        let file = Some(excerpt(file, 0));
        self.lines.push(DifferingLine { line, kinds: Vec::new(), text: None, file });
    }

    fn closest(mut self, start: usize) -> Closest {
        let more = self.lines.len().saturating_sub(SHOWN);
        self.lines.truncate(SHOWN);
        Closest { line: self.first.unwrap_or(start), differing: self.lines, more }
    }
}

/// How many characters two lines have in common at their beginning.
fn common(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count()
}

impl fmt::Display for NearMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "{hint}")?,
            None if self.closest.is_none() => {
                f.write_str("; nothing in the file is like it: read the file again")?;
            }
            None => {}
        }
        match &self.closest {
            Some(closest) => write!(f, "{closest}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Hint::AlreadyThere { lines, total } => write!(
                f,
                ", and new_text is there already ({}): the edit looks already made",
                line_list(lines, *total)
            ),
            Hint::LineNumbers { line } => write!(
                f,
                ": its lines begin with line numbers, which are not in the file; without them it \
                 is found at line {line}"
            ),
            Hint::Escaped { line } => write!(
                f,
                ": its quotes or line breaks are escaped once too often; read once more it is \
                 found at line {line}"
            ),
            Hint::NoFinalNewline { line } => write!(
                f,
                ": it ends with a line break, and the file ends without one; leave it out and it \
                 is found at line {line}"
            ),
            Hint::CarriageReturns => {
                f.write_str(": the file's lines end in carriage returns (\\r) alone; write them so")
            }
            Hint::EmptyFile => f.write_str(": the file is empty; leave old_text empty to fill it"),
        }
    }
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
