//! Reading the form between `*** Begin Patch` and `*** End Patch`: places by their lines, without
//! numbers.

use super::hunk::push;
use super::{Action, FilePatch, Hunk, HunkLine, ParseError, ParseFault, Patch, Side, fault, shown};

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const ADD: &str = "*** Add File: ";
const UPDATE: &str = "*** Update File: ";
const DELETE: &str = "*** Delete File: ";
const MOVE: &str = "*** Move to: ";
const END_OF_FILE: &str = "*** End of File";

/// Where the envelope begins, if the text has one before any other patch.
pub(super) fn begin(lines: &[&[u8]]) -> Option<usize> {
    let other = |line: &&[u8]| line.starts_with(b"diff ") || line.starts_with(b"--- ");
    let at = lines.iter().position(|line| is(line, BEGIN))?;
    (!lines[..at].iter().any(other)).then_some(at)
}

fn is(line: &[u8], text: &str) -> bool {
    line.trim_ascii() == text.as_bytes()
}

fn named<'a>(line: &'a [u8], key: &str) -> Option<&'a str> {
    let rest = line.trim_ascii().strip_prefix(key.trim_end().as_bytes())?;
    std::str::from_utf8(rest).ok().map(str::trim)
}

/// Reads the envelope that begins at `at`.
pub(super) fn parse(lines: &[&[u8]], at: usize) -> Result<Patch, ParseError> {
    let mut patch = Patch { files: Vec::new(), notes: Vec::new() };
    let mut at = at + 1;
    loop {
        let Some(line) = lines.get(at) else {
            return Err(fault(lines.len().saturating_sub(1), ParseFault::NoEnd));
        };
        if is(line, END) {
            break;
        }
        if line.trim_ascii().is_empty() {
            at += 1;
            continue;
        }
        let (file, next) = file(lines, at)?;
        patch.files.push(file);
        at = next;
    }
    // A second envelope would be left out without a word.
    if let Some(more) = lines[at..].iter().position(|line| is(line, BEGIN)) {
        return Err(envelope(at + more, lines));
    }
    match patch.files.is_empty() {
        true => Err(fault(at, ParseFault::NoFiles)),
        false => Ok(patch),
    }
}

fn envelope(at: usize, lines: &[&[u8]]) -> ParseError {
    fault(at, ParseFault::Envelope { text: shown(lines[at]) })
}

fn file(lines: &[&[u8]], at: usize) -> Result<(FilePatch, usize), ParseError> {
    let line = lines[at];
    let new = |path: &str, action: Action| FilePatch {
        line: at + 1,
        path: path.to_owned(),
        or_path: None,
        action,
        hunks: Vec::new(),
        executable: None,
        utf8: true,
    };
    let checked = |path: &'_ str| match path.is_empty() {
        true => Err(fault(at, ParseFault::Name { text: shown(line) })),
        false => Ok(()),
    };
    if let Some(path) = named(line, ADD) {
        checked(path)?;
        let (hunk, next) = added(lines, at + 1)?;
        let mut file = new(path, Action::Create);
        file.hunks.extend(hunk);
        return Ok((file, next));
    }
    if let Some(path) = named(line, DELETE) {
        checked(path)?;
        return Ok((new(path, Action::Delete { shown: false }), at + 1));
    }
    let Some(path) = named(line, UPDATE) else { return Err(envelope(at, lines)) };
    checked(path)?;
    let mut file = new(path, Action::Edit);
    let mut next = at + 1;
    if let Some(to) = lines.get(next).and_then(|line| named(line, MOVE)) {
        if to.is_empty() {
            return Err(fault(next, ParseFault::Name { text: shown(lines[next]) }));
        }
        file.action = Action::Move { to: to.to_owned() };
        next += 1;
    }
    let next = updated(lines, next, &mut file)?;
    if file.hunks.is_empty() && file.action == Action::Edit {
        return Err(fault(at, ParseFault::EmptyHunk { hunk: 1 }));
    }
    Ok((file, next))
}

/// The lines of an added file.
fn added(lines: &[&[u8]], from: usize) -> Result<(Option<Hunk>, usize), ParseError> {
    let mut hunk = empty(from);
    let mut at = from;
    while let Some(line) = lines.get(at).filter(|line| !line.starts_with(b"***")) {
        match line {
            [b'+', text @ ..] => {
                hunk.lines.push(HunkLine { side: Side::Added, text: text.to_vec(), newline: true });
            }
            // A blank line is part of the file only where more of it follows.
            [] if !lines[at..]
                .iter()
                .find(|line| !line.is_empty())
                .is_some_and(|line| line.starts_with(b"+")) => {}
            [] => hunk.lines.push(HunkLine { side: Side::Added, text: Vec::new(), newline: true }),
            [b'\\', ..] if !hunk.lines.is_empty() => {
                if let Some(last) = hunk.lines.last_mut() {
                    last.newline = false;
                }
            }
            _other => return Err(envelope(at, lines)),
        }
        at += 1;
    }
    let any = !hunk.lines.is_empty();
    Ok((any.then_some(hunk), at))
}

/// The hunks of an updated file.
fn updated(lines: &[&[u8]], from: usize, file: &mut FilePatch) -> Result<usize, ParseError> {
    let mut at = from;
    let mut open: Option<Hunk> = None;
    // Blank lines are lines of a hunk where more of it follows.
    let mut blank = 0;
    while let Some(line) = lines.get(at) {
        if is(line, END_OF_FILE) {
            let Some(mut hunk) = open.take() else { return Err(envelope(at, lines)) };
            hunk.to_end = true;
            close(file, Some(hunk))?;
            blank = 0;
        } else if line.starts_with(b"***") {
            break;
        } else if line.starts_with(b"@@") {
            // One anchor below the other narrows the place.
            let stacked = open.as_ref().is_some_and(|hunk| hunk.lines.is_empty());
            if !stacked {
                close(file, open.take())?;
            }
            blank = 0;
            let hunk = open.get_or_insert_with(|| empty(at));
            match super::hunk::numbers(line) {
                Ok(Some(numbers)) => hunk.at = Some(numbers.old_start),
                Ok(None) => hunk.anchors.extend(anchor(line)),
                Err(()) => return Err(fault(at, ParseFault::HunkHeader { text: shown(line) })),
            }
        } else if line.is_empty() {
            blank += 1;
        } else {
            let number = file.hunks.len() + 1;
            let hunk = open.get_or_insert_with(|| empty(at));
            let marked = std::iter::repeat_n(&b""[..], blank).chain([*line]);
            blank = 0;
            marked.into_iter().try_for_each(|line| push(hunk, line)).map_err(
                |kind| match kind {
                    ParseFault::NoMark { text, .. } => {
                        fault(at, ParseFault::NoMark { hunk: number, text })
                    }
                    other => fault(at, other),
                },
            )?;
        }
        at += 1;
    }
    close(file, open)?;
    Ok(at)
}

fn empty(at: usize) -> Hunk {
    Hunk { line: at + 1, at: None, anchors: Vec::new(), to_end: false, lines: Vec::new() }
}

/// `@@ def f():` without its marks; none for a bare `@@`.
fn anchor(line: &[u8]) -> Option<Vec<u8>> {
    let text = line.strip_prefix(b"@@")?.trim_ascii();
    let text = text.strip_suffix(b"@@").unwrap_or(text).trim_ascii();
    (!text.is_empty() && text != b"...").then(|| text.to_vec())
}

/// Adds a hunk to the file.
fn close(file: &mut FilePatch, hunk: Option<Hunk>) -> Result<(), ParseError> {
    let Some(hunk) = hunk else { return Ok(()) };
    if hunk.lines.is_empty() {
        let number = file.hunks.len() + 1;
        return Err(fault(hunk.line - 1, ParseFault::EmptyHunk { hunk: number }));
    }
    file.hunks.push(hunk);
    Ok(())
}
