//! The place closest to a text that is not in the file, and what differs there.

use std::fmt;

use crate::closest::{Closest, closest};
use crate::fold::Folded;
use crate::locate::occurrences;
use crate::wording::line_list;

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
    /// Whether nothing was looked for, because the call has many faults.
    pub unsought: bool,
}

impl NearMiss {
    /// Nothing, because nothing was looked for.
    pub(crate) fn unsought() -> Self {
        Self { unsought: true, ..Self::default() }
    }
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

/// Finds what is closest to `old` in `file`, where it does not stand.
///
/// The cost is linear in the file: lines in common with the text vote for a place, and failing
/// these, a count of common runs of three characters does. Only the winner is compared line by
/// line.
#[must_use]
pub fn near_miss(file: &[u8], old: &str, new: Option<&str>) -> NearMiss {
    let folded = Folded::of(file);
    if file.is_empty() {
        return NearMiss { hint: Some(Hint::EmptyFile), ..NearMiss::default() };
    }
    let hint = hint(file, &folded, old, new);
    let closest = match &hint {
        // The other hints name the place themselves.
        None | Some(Hint::AlreadyThere { .. } | Hint::CarriageReturns) => {
            closest(folded.bytes(), Folded::of(old.as_bytes()).bytes())
        }
        Some(_) => None,
    };
    NearMiss { hint, closest, unsought: false }
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

impl fmt::Display for NearMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.hint {
            Some(hint) => write!(f, "{hint}")?,
            None if self.closest.is_none() && !self.unsought => {
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
