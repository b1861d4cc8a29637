//! A change set as text: whole for a person, bounded for a model (`CONTRACT A3`).

use std::fmt::Write as _;

use xd_changeset::{Change, ChangeSet, FileDiff, LineTag, Verb};

/// Lines of context around a change.
const CONTEXT: usize = 3;
/// A preview that is cut is, with the list of the files behind the cut, at most this many bytes
/// longer than its bound on differences.
const REST: usize = 16 * 1024;
/// Room for the line that counts the files that are not listed.
const COUNTED: usize = 80;
/// At most this many bytes of a cut preview are remarks; the whole one has them all.
const REMARKS: usize = 4 * 1024;

/// What the text of a preview is made of.
#[derive(Debug, Clone, Copy)]
pub struct PreviewText<'a> {
    /// Its first line: the label.
    pub title: &'a str,
    /// What there is to remark, a line each.
    pub notes: &'a [String],
    /// The change.
    pub change_set: &'a ChangeSet,
    /// What was counted, where the producer counts: the noun in the singular, and how many there
    /// are in each change, in the order of the set.
    pub counts: Option<(&'a str, &'a [usize])>,
}

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

impl PreviewText<'_> {
    /// The title, what there is to remark, then each file with its count and its differences. How
    /// many lines it has does not depend on what the files are called. `number` is the staged
    /// action's, where it is known; it tells a reader of a cut preview where the rest is.
    #[must_use]
    pub fn text(&self, bound: Bound, number: Option<u64>) -> String {
        let mut text = format!("{}\n", self.title);
        let (room, remarks) = match bound {
            Bound::Whole => (usize::MAX, usize::MAX),
            Bound::Bytes(bytes) => (bytes, REMARKS.min(bytes)),
        };
        for note in self.notes {
            if text.len() + note.len() > remarks {
                text.push_str("[More remarks are in the whole preview.]\n");
                break;
            }
            text.push_str(note);
            text.push('\n');
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
            let end = block[..block.floor_char_boundary(left)].rfind('\n').map_or(0, |end| end + 1);
            text.push_str(&block[..end]);
            self.rest(&mut text, room.saturating_add(REST), index, number);
            break;
        }
        text
    }

    /// `src/a.rs: 2 replacements (+3 -1)`; `a.rs → b.rs: moved (+0 -0)`.
    fn header(&self, index: usize, diff: &FileDiff) -> String {
        let source = diff.source.as_ref().map(|source| format!("{source} → ")).unwrap_or_default();
        let what = self.what(index, diff.verb);
        let ends = line_ends(diff);
        format!("{source}{}: {what}{ends} (+{} -{})", diff.path, diff.added, diff.removed)
    }

    fn what(&self, index: usize, verb: Verb) -> String {
        let counted = self.counts.map(|(noun, counts)| (noun, counts.get(index).copied()));
        match (verb, counted) {
            (Verb::Edit | Verb::Replace, Some((noun, count))) => {
                counted_noun(count.unwrap_or(0), noun)
            }
            (Verb::Move, Some((noun, Some(count)))) if count > 0 => {
                format!("moved, {}", counted_noun(count, noun))
            }
            (Verb::Edit, None) => "edited".to_owned(),
            (Verb::Replace, None) => "replaced".to_owned(),
            (Verb::Move, _) => "moved".to_owned(),
            (Verb::Create, _) => "created".to_owned(),
            (Verb::Delete, _) => "deleted".to_owned(),
            (Verb::SetMode, _) => "another mode".to_owned(),
        }
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
        let files = counted_noun(changes.len(), "file");
        let _ = writeln!(text, "\n[Cut here. Not shown in full, {files}:]");
        for (index, change) in (first..).zip(changes) {
            let line = format!("{}: {}\n", change.path(), self.what(index, change.verb()));
            if text.len() + line.len() + COUNTED + place.len() > room {
                self.count(text, index);
                break;
            }
            text.push_str(&line);
        }
        text.push_str(&place);
    }

    /// How many files are from `first` on, and how much is in them.
    fn count(&self, text: &mut String, first: usize) {
        let rest: &[Change] = &self.change_set.changes()[first..];
        let files = counted_noun(rest.len(), "more file");
        let _ = match self.counts {
            Some((noun, counts)) => {
                let sum = counts.iter().skip(first).sum();
                writeln!(text, "and {files} ({})", counted_noun(sum, noun))
            }
            None => writeln!(text, "and {files}"),
        };
    }
}

/// How the ends of lines change, where a removed line and an added one differ in nothing else: in
/// the lines themselves nobody would see it.
fn line_ends(diff: &FileDiff) -> String {
    let (mut to_crlf, mut to_lf) = (0, 0);
    for hunk in &diff.hunks {
        for run in
            hunk.lines.chunk_by(|a, b| (a.tag == LineTag::Context) == (b.tag == LineTag::Context))
        {
            let of = |tag| run.iter().filter(move |line| line.tag == tag).map(|line| &line.text);
            for (old, new) in of(LineTag::Removed).zip(of(LineTag::Added)) {
                to_crlf += usize::from(new.strip_suffix('\r') == Some(old));
                to_lf += usize::from(old.strip_suffix('\r') == Some(new));
            }
        }
    }
    let said = |count: usize, change: &str| match count {
        0 => String::new(),
        count => format!(", {} {change}", counted_noun(count, "line end")),
    };
    said(to_crlf, "LF → CRLF") + &said(to_lf, "CRLF → LF")
}

/// `1 file`, `2 files`.
fn counted_noun(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
