//! What a call proposes, and its preview: whole for a person, bounded for a model (`CONTRACT A3`).

use std::fmt::Write as _;

use xd_changeset::{Change, ChangeSet, FileDiff, Verb};
use xd_write::Proposed;

use crate::summary::{Summary, Unit};
use crate::wording::counted;

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// A preview that is cut is, with the list of the files behind the cut, at most this many bytes
/// longer than its bound on differences.
const REST: usize = 16 * 1024;
/// Room for the line that counts the files that are not listed.
const COUNTED: usize = 80;
/// At most this many bytes of a cut preview are remarks; the whole one has them all.
const REMARKS: usize = 4 * 1024;

/// Changes to stage, with what there is to say about them.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The changes; never empty.
    pub change_set: ChangeSet,
    /// Counts and remarks.
    pub summary: Summary,
}

/// How much of a preview is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Everything.
    Whole,
    /// Differences of at most this many bytes, cut at a line; the rest is listed by file in 16 KiB
    /// more. Files that do not fit even there are counted.
    Bytes(usize),
}

impl Bound {
    /// What a model gets: 32 KiB of differences, and 48 KiB in all.
    pub const MODEL: Self = Self::Bytes(32 * 1024);
}

impl Proposal {
    /// The label of the staged action: `Edit: 2 replacements in 1 file`.
    #[must_use]
    pub fn label(&self) -> String {
        self.summary.counts.label()
    }

    /// The result of applying it: `Applied 2 replacements in 1 file.`
    #[must_use]
    pub fn applied(&self) -> String {
        self.summary.counts.applied()
    }

    /// What is staged of it: the change set, its label and the whole preview.
    #[must_use]
    pub fn into_proposed(self) -> Proposed {
        let tool = match self.summary.counts.unit {
            Unit::Replacement => crate::edit_tool::NAME,
            Unit::Hunk => crate::patch_tool::NAME,
        };
        Proposed {
            label: self.label(),
            source_tool_name: tool.to_owned(),
            success: self.applied(),
            notes: self.summary.notes.clone(),
            preview: self.preview(Bound::Whole, None),
            change_set: self.change_set,
        }
    }

    /// The preview: the label, what there is to remark, then each file with its count and its
    /// differences. `number` is the staged action's, where it is known; it tells a reader of a cut
    /// preview where the rest is.
    #[must_use]
    pub fn preview(&self, bound: Bound, number: Option<u64>) -> String {
        let mut text = self.label();
        text.push('\n');
        let (room, remarks) = match bound {
            Bound::Whole => (usize::MAX, usize::MAX),
            Bound::Bytes(bytes) => (bytes, REMARKS.min(bytes)),
        };
        for note in &self.summary.notes {
            if text.len() + note.len() > remarks {
                text.push_str("[More remarks are in the whole preview.]\n");
                break;
            }
            let _ = writeln!(text, "Note: {note}");
        }
        let mut left = room.saturating_sub(text.len());
        for (index, change) in self.change_set.changes().iter().enumerate() {
            let diff = change.diff(CONTEXT);
            let block = format!("\n{}\n{diff}", self.header(index, &diff));
            if block.len() <= left {
                text.push_str(&block);
                left -= block.len();
                continue;
            }
            // As many whole lines as fit.
            let end = block[..floor(&block, left)].rfind('\n').map_or(0, |end| end + 1);
            text.push_str(&block[..end]);
            self.rest(&mut text, room.saturating_add(REST), index, number);
            break;
        }
        text
    }

    /// `src/a.rs: 2 replacements (+3 -1)`; `src/b.rs: created (+4 -0)`.
    fn header(&self, index: usize, diff: &FileDiff) -> String {
        let source = diff.source.as_ref().map(|source| format!("{source} → ")).unwrap_or_default();
        let what = self.what(index, diff.verb);
        format!("{source}{}: {what} (+{} -{})", diff.path, diff.added, diff.removed)
    }

    fn what(&self, index: usize, verb: Verb) -> String {
        let counts = || {
            let changes = self.summary.files.get(index).map_or(0, |file| file.changes);
            counted(changes, self.summary.counts.unit.noun())
        };
        match verb {
            Verb::Edit | Verb::Replace => counts(),
            Verb::Create => "created".to_owned(),
            Verb::Delete => "deleted".to_owned(),
            Verb::Move => format!("moved, {}", counts()),
            Verb::SetMode => "another mode".to_owned(),
        }
    }

    /// The files from the cut on, in as much of `room` as `text` leaves.
    fn rest(&self, text: &mut String, room: usize, first: usize, number: Option<u64>) {
        let place = match number {
            Some(number) => format!("Read the whole preview at xd://resolve@{number}.\n"),
            None => {
                "Read the whole preview at xd://resolve@<n>, where <n> is the action's number.\n"
                    .to_owned()
            }
        };
        let changes: &[Change] = &self.change_set.changes()[first..];
        let _ =
            writeln!(text, "\n[Cut here. Not shown in full, {}:]", counted(changes.len(), "file"));
        for (listed, change) in changes.iter().enumerate() {
            let line = format!("{}: {}\n", change.path(), self.what(first + listed, change.verb()));
            if text.len() + line.len() + COUNTED + place.len() > room {
                let _ = writeln!(text, "and {}", counted(changes.len() - listed, "more file"));
                break;
            }
            text.push_str(&line);
        }
        text.push_str(&place);
    }
}

/// The largest character boundary of `text` that is not behind `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
