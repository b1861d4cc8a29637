//! A change set as line differences: data for renderers, and unified text.

mod lines;
mod unified;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{ByteEdit, Change, ChangeSet, Content, FileKind, RelPath, Verb};

/// The line differences of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDiff {
    /// The file; for a move its new name.
    pub path: RelPath,
    /// The former name of a moved file.
    pub source: Option<RelPath>,
    /// What happens to it.
    pub verb: Verb,
    /// A file or a link.
    pub kind: FileKind,
    /// Permission bits before; none for a create.
    pub old_mode: Option<u32>,
    /// Permission bits afterwards; none for a delete.
    pub new_mode: Option<u32>,
    /// Length before in bytes; 0 for a create.
    pub old_len: u64,
    /// Length afterwards in bytes; 0 for a delete.
    pub new_len: u64,
    /// Whether either side holds a NUL byte near its start, or is kept on disk and cannot be read
    /// back. There are no hunks then.
    pub binary: bool,
    /// Lines added, over all hunks.
    pub added: usize,
    /// Lines removed, over all hunks.
    pub removed: usize,
    /// Where the two sides differ, in order.
    pub hunks: Vec<Hunk>,
}

/// One stretch of differing lines with the equal lines around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hunk {
    /// The number of its first line before, counted from 1; where `old_lines` is 0 the number of
    /// the line that it follows.
    pub old_start: usize,
    /// How many lines before it covers.
    pub old_lines: usize,
    /// The number of its first line afterwards, likewise.
    pub new_start: usize,
    /// How many lines afterwards it covers.
    pub new_lines: usize,
    /// Its lines.
    pub lines: Vec<DiffLine>,
}

/// One line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    /// Which sides have it.
    pub tag: LineTag,
    /// Its number before, counted from 1.
    pub old_number: Option<usize>,
    /// Its number afterwards, counted from 1.
    pub new_number: Option<usize>,
    /// The text without its line feed; a carriage return stays. Bytes that are not UTF-8 are
    /// shown as `\xE9`.
    pub text: String,
    /// Whether it is the last line of its side and has no line feed.
    pub missing_newline: bool,
}

/// Which sides of a difference have a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineTag {
    /// Both.
    Context,
    /// Only the side before.
    Removed,
    /// Only the side afterwards.
    Added,
}

impl ChangeSet {
    /// The line differences of every file, in the order of the changes, with up to
    /// `context_lines` equal lines around each difference.
    ///
    /// The cost is linear in the contents for edits; for replacements it is bounded by a
    /// heuristic that may then show more lines than the fewest.
    pub fn diff(&self, context_lines: usize) -> Vec<FileDiff> {
        self.changes().iter().map(|change| change.diff(context_lines)).collect()
    }

    /// The whole set in the unified format: `--- a/x`, `+++ b/x`, `/dev/null` for creations and
    /// deletions, git's extended headers for moves, modes and binary files, and for every file of a
    /// set that has one without hunks. Never shortened.
    ///
    /// Bytes that are not UTF-8 are shown as `\xE9`, so such a difference is for reading only;
    /// [`patch`](Self::patch) has them as they are.
    pub fn unified(&self, context_lines: usize) -> String {
        unified::all(&self.diff(context_lines))
    }

    /// The whole set as `git apply` takes it: the [unified](Self::unified) text with every byte of the
    /// contents as it is. Binary files have their lines too, as with `git diff --text`; only a file
    /// that is kept on disk and cannot be read back has none.
    pub fn patch(&self, context_lines: usize) -> Vec<u8> {
        let mut sides = Vec::with_capacity(self.changes().len());
        let diffs: Vec<FileDiff> = self
            .changes()
            .iter()
            .map(|change| {
                let contents = sides_of(change, |_| true);
                let diff = diff_of(change, contents.as_ref(), context_lines);
                sides.push(contents);
                diff
            })
            .collect();
        let mut patch = Vec::new();
        for (text, sides) in unified::each(&diffs).zip(&sides) {
            match sides {
                Some((old, new)) => text.write_raw(old, new, &mut patch),
                None => patch.extend(text.to_string().into_bytes()),
            }
        }
        patch
    }
}

impl Change {
    /// The line differences of this change.
    pub fn diff(&self, context_lines: usize) -> FileDiff {
        diff_of(self, sides(self).as_ref(), context_lines)
    }
}

/// The differences between two `sides` of a change; a binary file where there are none.
fn diff_of(
    change: &Change,
    sides: Option<&(Bytes<'_>, Bytes<'_>)>,
    context_lines: usize,
) -> FileDiff {
    let to = change.to_state();
    let from = change.from_state();
    let (binary, hunks) = match sides {
        Some((old, new)) => (false, lines::hunks(old, new, edits(change), context_lines)),
        None => (true, Vec::new()),
    };
    let count =
        |tag| hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.tag == tag).count();
    FileDiff {
        path: change.path().clone(),
        source: change.source().filter(|source| *source != change.path()).cloned(),
        verb: change.verb(),
        kind: to.as_ref().or(from).map_or(FileKind::File, |state| state.kind),
        old_mode: from.map(|state| state.mode),
        new_mode: to.as_ref().map(|state| state.mode),
        old_len: from.map_or(0, |state| state.len),
        new_len: to.as_ref().map_or(0, |state| state.len),
        binary,
        added: count(LineTag::Added),
        removed: count(LineTag::Removed),
        hunks,
    }
}

/// Lines added and removed by a change; none of a binary file.
pub(crate) fn count(change: &Change) -> (usize, usize) {
    sides(change).map_or((0, 0), |(old, new)| lines::count(&old, &new, edits(change)))
}

/// Which lines differ, in a phrase for people (`line 3 was changed`).
#[cfg(feature = "commit")]
pub(crate) fn describe(was: &[u8], is: &[u8]) -> String {
    lines::describe(was, is)
}

/// The stretches of bytes that differ, whole lines each: of the old side and of the new one.
#[cfg(feature = "commit")]
pub(crate) fn drift(
    was: &[u8],
    is: &[u8],
) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    lines::drift(was, is)
}

/// Bytes in memory, or read from disk for the moment.
type Bytes<'a> = Cow<'a, [u8]>;

/// Both contents, for as long as they are compared; two empty ones where they are equal, as for a
/// plain move. None where there are no lines to compare.
fn sides(change: &Change) -> Option<(Bytes<'_>, Bytes<'_>)> {
    sides_of(change, |bytes| !lines::is_binary(bytes))
}

/// The same, of contents that have lines.
fn sides_of(change: &Change, has_lines: impl Fn(&[u8]) -> bool) -> Option<(Bytes<'_>, Bytes<'_>)> {
    let (before, after) = (change.before(), change.after());
    if before == after {
        return Some((Cow::Borrowed(&[]), Cow::Borrowed(&[])));
    }
    Some((side(before, &has_lines)?, side(after, &has_lines)?))
}

fn side<'c>(content: Option<&'c Content>, has_lines: &dyn Fn(&[u8]) -> bool) -> Option<Bytes<'c>> {
    match content {
        Some(content) => content.bytes().ok().filter(|bytes| has_lines(bytes)),
        None => Some(Cow::Borrowed(&[])),
    }
}

fn edits(change: &Change) -> Option<&[ByteEdit]> {
    match change {
        Change::Edit { edits, .. } => Some(edits),
        Change::Replace { .. }
        | Change::Create { .. }
        | Change::Delete { .. }
        | Change::Move { .. }
        | Change::SetMode { .. } => None,
    }
}
