//! Reading unified patches, with or without git's headers.

use super::header::Header;
use super::hunk::{self, is_signature};
use super::name::{after_marks, git_pair, quoted};
use super::{FilePatch, ParseError, ParseFault, Patch, fault, shown};

/// Reads all files of a patch.
pub(super) fn parse(lines: &[&[u8]]) -> Result<Patch, ParseError> {
    let mut patch = Patch { files: Vec::new(), notes: Vec::new() };
    let mut at = 0;
    // Before the first file and behind a mail's signature stands a letter, not a patch.
    let mut prose = true;
    while at < lines.len() {
        let line = lines[at];
        if line.starts_with(b"diff --git ") || begins_plain(lines, at) {
            let (file, next, notes) = file(lines, at)?;
            patch.files.push(file);
            patch.notes.extend(notes);
            (at, prose) = (next, false);
            continue;
        }
        if line.starts_with(b"diff --cc ") || line.starts_with(b"diff --combined ") {
            return Err(fault(at, ParseFault::Combined));
        }
        if line.starts_with(b"Binary files ") && line.ends_with(b" differ") {
            return Err(fault(at, ParseFault::Binary));
        }
        if line.starts_with(b"Only in ") && !prose {
            return Err(fault(at, ParseFault::OnlyIn));
        }
        if is_signature(lines, at) {
            prose = true;
        }
        let header = line.starts_with(b"@@ -");
        let changed = !prose && matches!(line.first(), Some(b'+' | b'-'));
        if header || changed {
            return Err(fault(at, ParseFault::Stray { text: shown(line) }));
        }
        at += 1;
    }
    match patch.files.is_empty() {
        true => Err(fault(0, ParseFault::NoFiles)),
        false => Ok(patch),
    }
}

fn begins_plain(lines: &[&[u8]], at: usize) -> bool {
    let next = lines.get(at + 1).copied().unwrap_or_default();
    lines[at].starts_with(b"--- ") && next.starts_with(b"+++ ")
}

/// Reads the headers and hunks of the file that begins at `at`.
fn file(lines: &[&[u8]], at: usize) -> Result<(FilePatch, usize, Vec<String>), ParseError> {
    let mut header = Header { at, ..Header::default() };
    let mut next = at;
    if let Some(pair) = lines[at].strip_prefix(b"diff --git ") {
        header.git = git_pair(pair);
        next += 1;
        while next < lines.len() && extended(lines, next, &mut header)? {
            next += 1;
        }
    }
    if next < lines.len() && begins_plain(lines, next) {
        let name = |at: usize| {
            after_marks(&lines[at][4..])
                .ok_or_else(|| fault(at, ParseFault::Name { text: shown(lines[at]) }))
        };
        header.old = Some(name(next)?);
        header.new = Some(name(next + 1)?);
        next += 2;
    }
    let (mut hunks, mut notes) = (Vec::new(), Vec::new());
    while next < lines.len() && lines[next].starts_with(b"@@") {
        if lines[next].starts_with(b"@@@") {
            return Err(fault(next, ParseFault::Combined));
        }
        let (hunk, after, note) = hunk::parse(lines, next, hunks.len() + 1)?;
        hunks.push(hunk);
        notes.extend(note);
        // Blank lines between hunks are nobody's.
        let blank = lines[after..].iter().take_while(|line| matches!(line, [] | [b'\r'])).count();
        let more = lines.get(after + blank).is_some_and(|line| line.starts_with(b"@@"));
        next = if more { after + blank } else { after };
    }
    let file = header.file(hunks, lines[at])?;
    let named = |note: String| format!("'{}': {note}", xd_protocol::Visible(&file.path));
    let notes = notes.into_iter().map(named).collect();
    Ok((file, next, notes))
}

/// Takes one of git's headers; false where the line is none.
fn extended(lines: &[&[u8]], at: usize, header: &mut Header) -> Result<bool, ParseError> {
    let line = lines[at].strip_suffix(b"\r").unwrap_or(lines[at]);
    if line == b"GIT binary patch"
        || (line.starts_with(b"Binary files ") && line.ends_with(b" differ"))
    {
        return Err(fault(at, ParseFault::Binary));
    }
    let Ok(text) = std::str::from_utf8(line) else { return Ok(false) };
    let unnamed = || fault(at, ParseFault::Name { text: shown(line) });
    let name = |text: &str| match text.starts_with('"') {
        true => quoted(text).map(|(name, _)| name).ok_or_else(unnamed),
        false => Ok(text.to_owned()),
    };
    let keys = [
        "old mode ",
        "new mode ",
        "new file mode ",
        "deleted file mode ",
        "rename from ",
        "rename to ",
        "copy from ",
        "copy to ",
        "similarity index ",
        "dissimilarity index ",
        "index ",
    ];
    let Some(key) = keys.into_iter().find(|key| text.starts_with(key)) else { return Ok(false) };
    let value = &text[key.len()..];
    match key {
        "old mode " => header.old_mode = Some(value.to_owned()),
        "new mode " => header.new_mode = Some(value.to_owned()),
        "new file mode " => {
            header.created = true;
            header.new_mode = Some(value.to_owned());
        }
        "deleted file mode " => {
            header.deleted = true;
            header.old_mode = Some(value.to_owned());
        }
        "rename from " => header.moved.0 = Some(name(value)?),
        "rename to " => header.moved.1 = Some(name(value)?),
        "copy from " => header.copied.0 = Some(name(value)?),
        "copy to " => header.copied.1 = Some(name(value)?),
        // Hashes and likenesses are for people; `index … 120000` tells a link.
        "index " if value.ends_with(" 120000") || value.ends_with(" 160000") => {
            header.old_mode = value.rsplit(' ').next().map(str::to_owned);
        }
        _other => {}
    }
    Ok(true)
}
