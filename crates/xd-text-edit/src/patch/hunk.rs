//! The lines of one hunk of a unified patch: by the numbers of its header where they fit, by the
//! marks of the lines where they do not.

use super::{Hunk, HunkLine, ParseError, ParseFault, Side, fault, shown};

/// The numbers of a hunk's header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Numbers {
    pub(super) old_start: usize,
    pub(super) old: usize,
    pub(super) new_start: usize,
    pub(super) new: usize,
}

/// Reads `@@ -1,2 +3,4 @@ …`; none for a header without numbers (`@@`, `@@ … @@`, `@@ fn f()`).
pub(super) fn numbers(line: &[u8]) -> Result<Option<Numbers>, ()> {
    let text = String::from_utf8_lossy(line);
    let Some(rest) = text.strip_prefix("@@") else { return Err(()) };
    let Some(rest) = rest.trim_start().strip_prefix('-') else { return Ok(None) };
    let mut parts = rest.split_ascii_whitespace();
    let span = |text: Option<&str>| -> Result<(usize, usize), ()> {
        let text = text.ok_or(())?;
        let (start, count) = text.split_once(',').unwrap_or((text, "1"));
        Ok((start.parse().map_err(|_| ())?, count.parse().map_err(|_| ())?))
    };
    let (old_start, old) = span(parts.next())?;
    let (new_start, new) = span(parts.next().and_then(|text| text.strip_prefix('+')))?;
    match parts.next() {
        Some(end) if end.starts_with("@@") => Ok(Some(Numbers { old_start, old, new_start, new })),
        Some(_) | None => Err(()),
    }
}

/// Reads the hunk whose header is at `at`; answers it, where the next line is, and a remark.
pub(super) fn parse(
    lines: &[&[u8]],
    at: usize,
    number: usize,
) -> Result<(Hunk, usize, Option<String>), ParseError> {
    let header = numbers(lines[at])
        .map_err(|()| fault(at, ParseFault::HunkHeader { text: shown(lines[at]) }))?;
    let by_numbers = header.and_then(|numbers| by_numbers(lines, at + 1, numbers));
    let (taken, next) = match by_numbers {
        Some(end) => (&lines[at + 1..end], end),
        None => by_marks(lines, at + 1, number)?,
    };
    let mut hunk = Hunk {
        line: at + 1,
        at: header.map(|numbers| numbers.old_start),
        anchors: Vec::new(),
        to_end: false,
        lines: Vec::with_capacity(taken.len()),
    };
    for (step, line) in taken.iter().enumerate() {
        push(&mut hunk, line).map_err(|kind| fault(at + 1 + step, kind))?;
    }
    if hunk.lines.is_empty() {
        return Err(fault(at, ParseFault::EmptyHunk { hunk: number }));
    }
    check_markers(&hunk).map_err(|kind| fault(at, kind))?;
    let (old, new) = (hunk.old_lines().count(), hunk.new_lines().count());
    // A side without lines is numbered by the line before it.
    hunk.at = hunk.at.map(|at| at + usize::from(old == 0));
    let note = header.filter(|said| (said.old, said.new) != (old, new)).map(|said| {
        format!(
            "hunk {number} (patch line {}) says -{},{} +{},{} and has {old} old and {new} new \
             lines; its lines were taken",
            at + 1,
            said.old_start,
            said.old,
            said.new_start,
            said.new
        )
    });
    Ok((hunk, next, note))
}

/// Adds a line with its mark to a hunk.
pub(super) fn push(hunk: &mut Hunk, line: &[u8]) -> Result<(), ParseFault> {
    let (side, text) = match line {
        // Some tools and many hands drop the blank of an empty line.
        [] | b"\r" => (Side::Context, line),
        [b' ', text @ ..] => (Side::Context, text),
        [b'-', text @ ..] => (Side::Removed, text),
        [b'+', text @ ..] => (Side::Added, text),
        [b'\\', ..] => {
            let Some(last) = hunk.lines.last_mut() else { return Err(ParseFault::Marker) };
            last.newline = false;
            return Ok(());
        }
        _other => return Err(ParseFault::NoMark { hunk: 0, text: shown(line) }),
    };
    hunk.lines.push(HunkLine { side, text: text.to_vec(), newline: true });
    Ok(())
}

/// The mark for a missing line feed stands at the last line of a side only.
fn check_markers(hunk: &Hunk) -> Result<(), ParseFault> {
    let well = |lines: Vec<&HunkLine>| {
        lines.split_last().is_none_or(|(_, before)| before.iter().all(|line| line.newline))
    };
    match well(hunk.old_lines().collect()) && well(hunk.new_lines().collect()) {
        true => Ok(()),
        false => Err(ParseFault::Marker),
    }
}

/// Where the hunk ends by its numbers, if its lines fit them and something else follows.
fn by_numbers(lines: &[&[u8]], from: usize, numbers: Numbers) -> Option<usize> {
    let (mut old, mut new) = (numbers.old, numbers.new);
    let mut at = from;
    while old > 0 || new > 0 {
        match lines.get(at)?.first() {
            None | Some(b' ' | b'\r') => {
                old = old.checked_sub(1)?;
                new = new.checked_sub(1)?;
            }
            Some(b'-') => old = old.checked_sub(1)?,
            Some(b'+') => new = new.checked_sub(1)?,
            Some(b'\\') if at > from => {}
            Some(_) => return None,
        }
        at += 1;
    }
    while lines.get(at).is_some_and(|line| line.starts_with(b"\\")) {
        at += 1;
    }
    let next = lines[at..].iter().position(|line| !is_blank(line)).map(|blank| at + blank);
    match next {
        Some(next) if !is_boundary(lines, next) && has_mark(lines[next]) => None,
        Some(_) | None => Some(at),
    }
}

/// The lines up to the next thing that is no line of a hunk.
fn by_marks<'a>(
    lines: &'a [&'a [u8]],
    from: usize,
    number: usize,
) -> Result<(&'a [&'a [u8]], usize), ParseError> {
    let end = (from..lines.len()).find(|at| is_boundary(lines, *at)).unwrap_or(lines.len());
    let body = &lines[from..end];
    let unmarked = body.iter().position(|line| !is_blank(line) && !has_mark(line));
    let stop = unmarked.unwrap_or(body.len());
    if let Some(at) = unmarked
        && body[at..].iter().any(|line| has_mark(line))
    {
        let text = shown(body[at]);
        return Err(fault(from + at, ParseFault::NoMark { hunk: number, text }));
    }
    // Blank lines at the end part it from what follows.
    let len = body[..stop].iter().rposition(|line| !is_blank(line)).map_or(0, |last| last + 1);
    Ok((&body[..len], from + stop))
}

fn is_blank(line: &[u8]) -> bool {
    matches!(line, [] | b"\r")
}

fn has_mark(line: &[u8]) -> bool {
    matches!(line.first(), Some(b' ' | b'-' | b'+' | b'\\'))
}

/// Whether the line at `at` begins something else than a line of a hunk.
pub(super) fn is_boundary(lines: &[&[u8]], at: usize) -> bool {
    let line = lines[at];
    let next = |step: usize| lines.get(at + step).copied().unwrap_or_default();
    line.starts_with(b"@@")
        || line.starts_with(b"diff ")
        || line.starts_with(b"Index: ")
        || (line.starts_with(b"--- ") && next(1).starts_with(b"+++ ") && next(2).starts_with(b"@@"))
        || is_signature(lines, at)
}

/// Whether the mail signature that git puts below a patch begins here.
pub(super) fn is_signature(lines: &[&[u8]], at: usize) -> bool {
    let version = |line: &&[u8]| line.first().is_some_and(u8::is_ascii_digit);
    matches!(lines[at], b"-- " | b"--" | b"-- \r")
        && (at + 1 == lines.len() || lines.get(at + 1).is_some_and(version))
}
