//! Where the hunks of a file go: exactly where all their old lines stand, or nowhere.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;

use xd_changeset::ByteEdit;

use super::{FilePatch, Hunk, HunkLine, Side, joined};
use crate::ending::fit;
use crate::locate::positions;
use crate::near_miss::{Hint, NearMiss, near_miss};
use crate::wording::{counted, excerpt, line_list};

/// Hunks of a file for which near misses are looked for.
const LOOKED: usize = 5;
/// Places that are listed; the others are counted.
const LISTED: usize = 10;

/// What a patch does to the bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patched {
    /// One edit a hunk, sorted and disjoint.
    pub edits: Vec<ByteEdit>,
    /// Hunks that were placed elsewhere than they say, a sentence each.
    pub notes: Vec<String>,
}

/// Every hunk of a file that has no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", listed(.0))]
pub struct HunkFaults(pub Vec<HunkFault>);

/// A hunk that has no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("hunk {hunk} (patch line {line}): {kind}")]
pub struct HunkFault {
    /// The hunk of its file, from 1.
    pub hunk: usize,
    /// The line of the patch, from 1, where it begins.
    pub line: usize,
    /// Why.
    pub kind: HunkFaultKind,
}

/// Why a hunk has no place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HunkFaultKind {
    /// Its old lines stand nowhere.
    NotFound {
        /// What is closest.
        near: Box<NearMiss>,
    },
    /// Its old lines stand in several places, and none is where the hunk says.
    Ambiguous {
        /// All places.
        total: usize,
        /// The lines of the first ones.
        lines: Vec<usize>,
    },
    /// Its old lines stand before the place of the hunk above it only.
    OutOfOrder {
        /// The line where they stand.
        line: usize,
    },
    /// It has no old lines, and the file is not empty: nothing says where it goes.
    NoContext,
    /// It says that it reaches to the end of the file, and more follows.
    NotAtEnd {
        /// The line where its old lines stand.
        line: usize,
    },
    /// An anchor (`@@ …`) stands nowhere.
    NoAnchor {
        /// The anchor as an excerpt.
        anchor: String,
    },
    /// After the hunk the file would have a line without an end before other lines.
    EndsInside,
}

fn listed(faults: &[HunkFault]) -> String {
    let mut lines: Vec<String> = faults.iter().take(LISTED).map(HunkFault::to_string).collect();
    if faults.len() > LISTED {
        lines.push(format!(
            "{} of this file have no place either",
            counted(faults.len() - LISTED, "more hunk")
        ));
    }
    lines.join("\n")
}

impl fmt::Display for HunkFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HunkFaultKind::NotFound { near } => match &near.hint {
                Some(Hint::AlreadyThere { lines, total }) => write!(
                    f,
                    "its old lines are not in the file and its new ones are ({}): the hunk looks \
                     already applied",
                    line_list(lines, *total)
                ),
                Some(_) | None => write!(f, "its old lines occur 0 times{near}"),
            },
            HunkFaultKind::Ambiguous { total, lines } => write!(
                f,
                "its old lines occur {total} times ({}); give more context lines, or the line \
                 number in the header",
                line_list(lines, *total)
            ),
            HunkFaultKind::OutOfOrder { line } => write!(
                f,
                "its old lines stand at line {line}, before the place of the hunk above it; give \
                 the hunks of a file in order"
            ),
            HunkFaultKind::NoContext => f.write_str(
                "it only adds lines and shows none around them; give the lines before or after",
            ),
            HunkFaultKind::NotAtEnd { line } => write!(
                f,
                "its old lines stand at line {line}, and the file does not end there as the hunk \
                 says"
            ),
            HunkFaultKind::NoAnchor { anchor } => {
                write!(f, "no line of the file is {anchor}, which the hunk is said to follow")
            }
            HunkFaultKind::EndsInside => {
                f.write_str("its last new line has no line end, and more lines follow in the file")
            }
        }
    }
}

impl FilePatch {
    /// Places every hunk in the bytes of the file. Nothing is skipped and nothing is approximate:
    /// a hunk goes where all its old lines stand. That is the line it says, moved by as much as
    /// the hunk before; else the one other place, which a note tells.
    ///
    /// Carriage returns before line feeds count where the patch has them as the file does, and
    /// otherwise do not; then new lines end as those around them, and a missing last line end
    /// stays missing.
    ///
    /// # Errors
    /// [`HunkFaults`], every hunk that has no place.
    pub fn apply_to_bytes(&self, bytes: &[u8]) -> Result<Patched, HunkFaults> {
        self.place(bytes, Manner::Exact, 0).or_else(|_| self.place(bytes, Manner::Loose, LOOKED))
    }

    fn place(&self, bytes: &[u8], manner: Manner, look: usize) -> Result<Patched, HunkFaults> {
        let file = Lines::of(bytes, manner);
        let mut placed = Patched { edits: Vec::new(), notes: Vec::new() };
        let mut faults = Vec::new();
        let (mut from, mut drift) = (0, 0);
        for (index, hunk) in self.hunks.iter().enumerate() {
            let fault = |kind| HunkFault { hunk: index + 1, line: hunk.line, kind };
            let spot = match find(&file, hunk, from, drift, faults.len() < look) {
                Ok(spot) => spot,
                Err(kind) => {
                    faults.push(fault(kind));
                    continue;
                }
            };
            let lines = spot.line..spot.line + hunk.old_lines().count();
            match file.edit(hunk, &lines) {
                Ok(edit) => placed.edits.push(edit),
                Err(kind) => faults.push(fault(kind)),
            }
            drift = spot.drift;
            from = lines.end;
            placed.notes.extend(
                spot.note
                    .map(|note| format!("hunk {} (patch line {}) {note}", index + 1, hunk.line)),
            );
        }
        match faults.is_empty() {
            true => Ok(placed),
            false => Err(HunkFaults(faults)),
        }
    }
}

/// Whether carriage returns count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Exact,
    Loose,
}

impl Manner {
    /// The part of a line that counts.
    fn text(self, line: &[u8]) -> &[u8] {
        match self {
            Manner::Exact => line,
            Manner::Loose => line.strip_suffix(b"\r").unwrap_or(line),
        }
    }
}

/// Where a hunk goes.
struct Spot {
    line: usize,
    drift: isize,
    note: Option<String>,
}

/// The lines of a file, without their line feeds.
struct Lines<'a> {
    bytes: &'a [u8],
    ranges: Vec<Range<usize>>,
    /// Whether the last line has a line feed.
    ended: bool,
    manner: Manner,
    hashes: Vec<u64>,
}

impl<'a> Lines<'a> {
    fn of(bytes: &'a [u8], manner: Manner) -> Self {
        let mut ranges = Vec::new();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', bytes) {
            ranges.push(start..end);
            start = end + 1;
        }
        let ended = start == bytes.len();
        if !ended {
            ranges.push(start..bytes.len());
        }
        let hashes = ranges.iter().map(|range| hash(manner.text(&bytes[range.clone()]))).collect();
        Self { bytes, ranges, ended, manner, hashes }
    }

    fn len(&self) -> usize {
        self.ranges.len()
    }

    fn text(&self, line: usize) -> &'a [u8] {
        self.manner.text(&self.bytes[self.ranges[line].clone()])
    }

    fn is_last(&self, line: usize) -> bool {
        line + 1 == self.len()
    }

    /// Whether all old lines of the hunk stand at `line`.
    fn holds(&self, hunk: &Hunk, line: usize) -> bool {
        let old = hunk.old_lines().count();
        line + old <= self.len()
            && (!hunk.to_end || line + old == self.len())
            && hunk.old_lines().zip(line..).all(|(old, at)| {
                let newline = !self.is_last(at) || self.ended;
                let ends = match self.manner {
                    Manner::Exact => old.newline == newline,
                    // A hand that writes a patch rarely says that the last line has no end.
                    Manner::Loose => old.newline || !newline,
                };
                ends && self.manner.text(&old.text) == self.text(at)
            })
    }

    /// All places of the hunk's old lines from `from` on.
    fn places(&self, hunk: &Hunk, from: usize) -> Vec<usize> {
        let old: Vec<u64> =
            hunk.old_lines().map(|line| hash(self.manner.text(&line.text))).collect();
        let from = from.min(self.len());
        let mut found = positions(&self.hashes[from..], &old);
        found.iter_mut().for_each(|at| *at += from);
        found.retain(|at| self.holds(hunk, *at));
        found
    }

    /// The edit that puts the hunk's new lines in the place of `lines`.
    fn edit(&self, hunk: &Hunk, lines: &Range<usize>) -> Result<ByteEdit, HunkFaultKind> {
        let offset = |line: usize| match self.ranges.get(line) {
            Some(range) => range.start,
            None => self.bytes.len(),
        };
        let range = offset(lines.start)..offset(lines.end);
        let at_end = lines.end == self.len();
        let mut text = match self.manner {
            Manner::Exact => joined(hunk.new_lines()),
            Manner::Loose => {
                let bare: Vec<HunkLine> = hunk
                    .new_lines()
                    .map(|line| HunkLine {
                        text: self.manner.text(&line.text).to_vec(),
                        ..line.clone()
                    })
                    .collect();
                fit(self.bytes, &range, &joined(bare.iter()))
            }
        };
        let marked = |mut lines: Vec<&HunkLine>| lines.pop().is_some_and(|line| !line.newline);
        let said = marked(hunk.old_lines().collect()) || marked(hunk.new_lines().collect());
        if self.manner == Manner::Loose && at_end && !self.ended && !said && text.ends_with(b"\n") {
            text.pop();
            if text.ends_with(b"\r") && !hunk.new_lines().any(|line| line.text.ends_with(b"\r")) {
                text.pop();
            }
        }
        if !at_end && !text.is_empty() && !text.ends_with(b"\n") {
            return Err(HunkFaultKind::EndsInside);
        }
        Ok(ByteEdit::new(range, text))
    }
}

fn hash(line: &[u8]) -> u64 {
    line.iter().fold(0xcbf2_9ce4_8422_2325, |state, byte| {
        (state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Finds the place of a hunk at or after `from`.
///
/// Looks for near misses only where `look`.
fn find(
    file: &Lines<'_>,
    hunk: &Hunk,
    from: usize,
    drift: isize,
    look: bool,
) -> Result<Spot, HunkFaultKind> {
    if hunk.old_lines().next().is_none() {
        return match file.len() {
            0 => Ok(Spot { line: 0, drift, note: None }),
            _some => Err(HunkFaultKind::NoContext),
        };
    }
    let from = after_anchors(file, hunk, from)?;
    let said = hunk.at.map(|at| at.saturating_sub(1).cast_signed());
    let expected = said.and_then(|said| usize::try_from(said + drift).ok());
    let spot = |line: usize, note: Option<String>| {
        let drift = said.map_or(drift, |said| line.cast_signed() - said);
        Spot { line, drift, note }
    };
    let moved = |line: usize| {
        let said = said.filter(|said| *said != line.cast_signed())?;
        Some(format!(
            "says line {} and was found at line {} (offset {:+})",
            said + 1,
            line + 1,
            line.cast_signed() - said
        ))
    };
    if let Some(line) = expected.filter(|line| *line >= from && file.holds(hunk, *line)) {
        if let Some(other) = edge(file, hunk).filter(|other| *other >= from && *other != line) {
            let lines = numbers(&[line.min(other), line.max(other)]);
            return Err(HunkFaultKind::Ambiguous { total: 2, lines });
        }
        return Ok(spot(line, moved(line)));
    }
    let places = file.places(hunk, from);
    match places.as_slice() {
        [line] => Ok(spot(*line, moved(*line))),
        [] => Err(nowhere(file, hunk, from, look)),
        // The first place below its anchor is the one that the anchor is given for.
        [line, more @ ..] if !hunk.anchors.is_empty() => {
            let note = format!(
                "stands at line {} and again at {}; the first below its anchor was taken",
                line + 1,
                line_list(&numbers(more), more.len())
            );
            Ok(spot(*line, Some(note)))
        }
        several => Err(HunkFaultKind::Ambiguous { total: several.len(), lines: numbers(several) }),
    }
}

/// The place at an end of the file that the hunk's context points to, if its old lines stand there.
///
/// A made patch shows as many lines below a change as above; fewer below mean that the file ended
/// there, fewer above that it began. Where the line that the hunk says is another, the file has
/// moved, and nobody can tell which of the two is meant.
fn edge(file: &Lines<'_>, hunk: &Hunk) -> Option<usize> {
    let context = |line: &&HunkLine| line.side == Side::Context;
    let above = hunk.lines.iter().take_while(context).count();
    let below = hunk.lines.iter().rev().take_while(context).count();
    let line = match above.cmp(&below) {
        Ordering::Equal => return None,
        Ordering::Less => 0,
        Ordering::Greater => file.len().checked_sub(hunk.old_lines().count())?,
    };
    file.holds(hunk, line).then_some(line)
}

fn numbers(lines: &[usize]) -> Vec<usize> {
    lines.iter().take(LISTED).map(|line| line + 1).collect()
}

/// The line below the hunk's anchors.
fn after_anchors(file: &Lines<'_>, hunk: &Hunk, from: usize) -> Result<usize, HunkFaultKind> {
    let mut below = from;
    for anchor in &hunk.anchors {
        let is = |line: &usize| file.text(*line).trim_ascii() == anchor.trim_ascii();
        let mut found = (below..file.len()).filter(is);
        let Some(line) = found.next() else {
            let anchor = excerpt(&String::from_utf8_lossy(anchor), 0);
            return Err(HunkFaultKind::NoAnchor { anchor });
        };
        let more: Vec<usize> = found.collect();
        if !more.is_empty() {
            // Several anchors of one name say nothing; the place must be the only one then.
            let all = file.places(hunk, line);
            match all.as_slice() {
                [] | [_] => {}
                several => {
                    return Err(HunkFaultKind::Ambiguous {
                        total: several.len(),
                        lines: numbers(several),
                    });
                }
            }
        }
        // The anchor itself may be repeated as the first line of the hunk.
        let repeated = hunk.old_lines().next().is_some_and(|old| {
            old.text.trim_ascii() == anchor.trim_ascii() && file.holds(hunk, line)
        });
        below = if repeated { line } else { line + 1 };
    }
    Ok(below)
}

/// Why a hunk whose old lines are not at or after `from` has no place.
fn nowhere(file: &Lines<'_>, hunk: &Hunk, from: usize, look: bool) -> HunkFaultKind {
    if hunk.to_end {
        let open = Hunk { to_end: false, ..hunk.clone() };
        if let Some(line) = file.places(&open, from).first() {
            return HunkFaultKind::NotAtEnd { line: line + 1 };
        }
    }
    if let Some(line) = file.places(hunk, 0).first() {
        return HunkFaultKind::OutOfOrder { line: line + 1 };
    }
    if !look {
        return HunkFaultKind::NotFound { near: Box::new(NearMiss::unsought()) };
    }
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let (old, new) = (text(joined(hunk.old_lines())), text(joined(hunk.new_lines())));
    HunkFaultKind::NotFound { near: Box::new(near_miss(file.bytes, &old, Some(&new))) }
}
