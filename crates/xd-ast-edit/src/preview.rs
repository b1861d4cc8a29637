//! The preview of a proposal as text: whole for a person, bounded for a model (`CONTRACT A3`).

use std::fmt::Write as _;

use xd_changeset::{Change, FileDiff};

use crate::propose::Proposal;
use crate::summary::counted;

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// A preview that is cut is, with the list of the files behind the cut, at most this many bytes
/// longer than its bound on differences.
const REST: usize = 16 * 1024;
/// Room for the line that counts the files that are not listed.
const COUNTED: usize = 80;
/// At most this many bytes of a cut preview are remarks; the whole one has them all.
const REMARKS: usize = 4 * 1024;

/// How much of a preview is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Everything.
    Whole,
    /// Differences of at most this many bytes, cut at a line; the rest is summarised by file, each
    /// with its count, in 16 KiB more. Files that do not fit even there are counted.
    Bytes(usize),
}

impl Bound {
    /// What a model gets: 32 KiB of differences, and 48 KiB in all.
    pub const MODEL: Self = Self::Bytes(32 * 1024);
}

impl Proposal {
    /// The label of the staged action: `AST Edit: 2 replacements in 1 file`.
    #[must_use]
    pub fn label(&self) -> String {
        self.summary.counts.label()
    }

    /// The result of applying it: `Applied 2 replacements in 1 file.`
    #[must_use]
    pub fn applied(&self) -> String {
        self.summary.counts.applied()
    }

    /// The preview: the label, what there is to remark, then each file with its count and its
    /// differences. How many lines it has does not depend on what the files are called. `number` is the staged action's, where it is known; it tells a reader of a cut
    /// preview where the rest is.
    #[must_use]
    pub fn preview(&self, bound: Bound, number: Option<u64>) -> String {
        let mut text = self.label();
        text.push('\n');
        let (room, remarks) = match bound {
            Bound::Whole => (usize::MAX, usize::MAX),
            Bound::Bytes(bytes) => (bytes, REMARKS),
        };
        for note in self.summary.notes() {
            if text.len() + note.len() > remarks {
                text.push_str("[More remarks are in the whole preview.]\n");
                break;
            }
            text.push_str(&note);
            text.push('\n');
        }
        let mut left = room.saturating_sub(if room == usize::MAX { 0 } else { text.len() });
        let mut cut: Option<usize> = None;
        for (index, change) in self.change_set.changes().iter().enumerate() {
            let diff = change.diff(CONTEXT);
            let block = format!("\n{}\n{diff}", self.header(&diff));
            if block.len() <= left {
                text.push_str(&block);
                left -= block.len();
                continue;
            }
            // As many whole lines as fit; at least the header, so that every preview shows a place.
            let end = block[..floor(&block, left)].rfind('\n').map_or(0, |end| end + 1);
            if end > 0 {
                text.push_str(&block[..end]);
            }
            cut = Some(index);
            break;
        }
        if let Some(first) = cut {
            self.rest(&mut text, room.saturating_add(REST), first, number);
        }
        text
    }

    /// `src/a.rs: 2 replacements (+3 -1)`.
    fn header(&self, diff: &FileDiff) -> String {
        let replacements = self.replacements_in(diff.path.as_str());
        format!(
            "{}: {} (+{} -{})",
            diff.path,
            counted(replacements, "replacement"),
            diff.added,
            diff.removed
        )
    }

    fn replacements_in(&self, path: &str) -> usize {
        let files = &self.summary.files;
        files.binary_search_by(|file| file.path.as_str().cmp(path)).map_or_else(
            |_| {
                files
                    .iter()
                    .find(|file| file.path.as_str() == path)
                    .map_or(0, |file| file.replacements)
            },
            |index| files[index].replacements,
        )
    }

    /// The summary of the files from the cut on, in as much of `room` as `text` leaves.
    fn rest(&self, text: &mut String, room: usize, first: usize, number: Option<u64>) {
        let place = match number {
            Some(number) => format!("Read the whole preview at xd://resolve@{number}.\n"),
            None => {
                "Read the whole preview at xd://resolve@<n>, where <n> is the action's number.\n"
                    .to_owned()
            }
        };
        let changes = &self.change_set.changes()[first..];
        let _ =
            writeln!(text, "\n[Cut here. Not shown in full, {}:]", counted(changes.len(), "file"));
        let replaced = |change: &Change| self.replacements_in(change.path().as_str());
        for (listed, change) in changes.iter().enumerate() {
            let line = format!("{}: {}\n", change.path(), counted(replaced(change), "replacement"));
            if text.len() + line.len() + COUNTED + place.len() > room {
                let rest = &changes[listed..];
                let (files, more) = (counted(rest.len(), "more file"), rest.iter().map(replaced));
                let _ = writeln!(text, "and {files} ({})", counted(more.sum(), "replacement"));
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
