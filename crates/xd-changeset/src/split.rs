//! Taking some files or hunks of a change set apart from the others.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::edit::{AssembleError, assemble};
use crate::{ByteEdit, Change, ChangeSet, Content, FileState, InvalidChangeSet, RelPath};

/// What is picked of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pick {
    /// All that happens to it.
    Whole,
    /// These hunks, counted from 1 as [`ChangeSet::diff`] shows them.
    Hunks(BTreeSet<usize>),
}

/// A change set in two: what was picked, and the others.
///
/// **Invariant C7:** the part and then the rest after it make exactly the bytes that the whole set
/// makes, the part alone touches nothing that was not picked, and the rest alone nothing that was.
/// Whatever both share is as it was: line endings, marks, a missing last line feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// What was picked, starting from what the whole set starts from.
    pub part: ChangeSet,
    /// The others, starting from what the part makes of the files.
    pub rest_after: ChangeSet,
    /// The others, starting from what the whole set starts from: where the part is never applied.
    pub rest_alone: ChangeSet,
    /// How many single changes were picked: hunks, and files that only change as a whole.
    pub picked: usize,
    /// How many there are in all.
    pub all: usize,
}

/// Why a change set cannot be split so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SplitError {
    /// The set does not touch the path.
    #[error("'{0}' is not among the files of this change")]
    Unknown(RelPath),
    /// The file has no such hunk.
    #[error("'{path}' has {have} hunks, counted from 1; {hunk} is none of them")]
    NoSuchHunk {
        /// The file.
        path: RelPath,
        /// The number given.
        hunk: usize,
        /// How many it has.
        have: usize,
    },
    /// What happens to the file cannot be divided: it is created, deleted, moved or binary.
    #[error("'{path}' is {what} and has no single hunks; pick the whole file")]
    WholeOnly {
        /// The file.
        path: RelPath,
        /// What happens to it, in a word that follows "is".
        what: &'static str,
    },
    /// One change needs the name that another one leaves.
    #[error("'{filled}' takes the name that '{vacated}' leaves; pick both or neither")]
    Entangled {
        /// The name that a file gets.
        filled: RelPath,
        /// What leaves it, by its name afterwards.
        vacated: RelPath,
    },
    /// Nothing is picked.
    #[error("nothing is picked")]
    Nothing,
    /// All is picked, so that nothing would be left.
    #[error("every change is picked; decide about the whole instead")]
    Everything,
    /// A content cannot be had, or the halves are no change sets.
    #[error(transparent)]
    Invalid(#[from] InvalidChangeSet),
}

/// One change, apart.
enum Apart {
    /// All of it belongs to one side.
    Picked(Change),
    Left(Change),
    /// Some hunks belong to either.
    Both(Box<Divided>),
}

/// A change of which some hunks are picked.
struct Divided {
    part: Change,
    rest_after: Change,
    rest_alone: Change,
    picked: usize,
    all: usize,
}

impl Change {
    /// How many changes it is made of that can be picked one by one: its hunks with `context_lines`
    /// around them or, where it only happens as a whole, 1.
    pub fn parts(&self, context_lines: usize) -> usize {
        hunks(self, context_lines).map_or(1, |hunks| hunks.len().max(1))
    }
}

impl ChangeSet {
    /// Takes what `picks` names, by the path of each file (for a move either name), apart from the
    /// others. Hunks are those of [`diff`](Self::diff) with as many `context_lines`. A change of the
    /// mode of a file that is divided stays with the rest.
    ///
    /// # Errors
    /// [`SplitError`].
    ///
    /// ```
    /// use std::collections::BTreeMap;
    /// use xd_changeset::{ByteEdit, Change, ChangeSet, Content, FileKind, FileState, Pick, RelPath};
    ///
    /// let path = RelPath::new("a.txt")?;
    /// let before = Content::new("1\n\n\n2\n");
    /// let from = FileState::of(FileKind::File, &before, 0o644);
    /// let edits = vec![ByteEdit::new(0..1, "one"), ByteEdit::new(4..5, "two")];
    /// let after = Content::new("one\n\n\ntwo\n");
    /// let whole = Change::Edit { path: path.clone(), from, before, edits, after, mode: 0o644 };
    /// let set = ChangeSet::new(vec![whole])?;
    ///
    /// let picks = BTreeMap::from([(path, Pick::Hunks([2].into()))]);
    /// let split = set.split(&picks, 0)?;
    /// assert!(split.part.unified(0).contains("-2\n+two"));
    /// assert!(split.rest_after.unified(0).contains("-1\n+one"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn split(
        &self,
        picks: &BTreeMap<RelPath, Pick>,
        context_lines: usize,
    ) -> Result<Split, SplitError> {
        let names = |path: &RelPath, change: &Change| {
            change.path() == path || change.source() == Some(path)
        };
        for path in picks.keys() {
            if !self.changes().iter().any(|change| names(path, change)) {
                return Err(SplitError::Unknown(path.clone()));
            }
        }
        let (mut part, mut after, mut alone) = (Vec::new(), Vec::new(), Vec::new());
        let (mut picked, mut all) = (0, 0);
        for change in self.changes() {
            let pick = picks.iter().find(|(path, _)| names(path, change)).map(|(_, pick)| pick);
            match apart(change, pick, context_lines)? {
                Apart::Picked(change) => {
                    let units = change.parts(context_lines);
                    (picked, all) = (picked + units, all + units);
                    part.push(change);
                }
                Apart::Left(change) => {
                    all += change.parts(context_lines);
                    after.push(change.clone());
                    alone.push(change);
                }
                Apart::Both(divided) => {
                    (picked, all) = (picked + divided.picked, all + divided.all);
                    part.push(divided.part);
                    after.push(divided.rest_after);
                    alone.push(divided.rest_alone);
                }
            }
        }
        match (part.is_empty(), after.is_empty()) {
            (true, _) => return Err(SplitError::Nothing),
            (false, true) => return Err(SplitError::Everything),
            (false, false) => {}
        }
        for (ours, theirs) in [(&part, &after), (&after, &part)] {
            for change in ours {
                let Some(filled) = change.fills() else { continue };
                if let Some(other) = theirs.iter().find(|other| other.vacates() == Some(filled)) {
                    let vacated = other.path().clone();
                    return Err(SplitError::Entangled { filled: filled.clone(), vacated });
                }
            }
        }
        Ok(Split {
            part: self.half(part)?,
            rest_after: self.half(after)?,
            rest_alone: self.half(alone)?,
            picked,
            all,
        })
    }

    /// The same, but for what `path` becomes: `after`. A file that becomes what it was is left out, or
    /// keeps its change of mode alone. What happens otherwise, and what it starts from, stays.
    ///
    /// # Errors
    /// [`SplitError::Unknown`] where the set gives the path no content; [`SplitError::Nothing`] where
    /// nothing would be left to change.
    pub fn with_content(&self, path: &RelPath, after: Content) -> Result<ChangeSet, SplitError> {
        let mut found = false;
        let mut changes = Vec::with_capacity(self.len());
        for change in self.changes() {
            if change.path() != path {
                changes.push(change.clone());
                continue;
            }
            let (path, after) = (path.clone(), after.clone());
            let other = match change.clone() {
                Change::Edit { from, before, mode, .. }
                | Change::Replace { from, before, mode, .. } => match (before == after, mode) {
                    (false, mode) => Some(Change::Replace { path, from, before, after, mode }),
                    (true, mode) if mode == from.mode => None,
                    (true, mode) => Some(Change::SetMode { path, from, mode }),
                },
                Change::Create { kind, mode, .. } => {
                    Some(Change::Create { path, kind, after, mode })
                }
                Change::Move { source, from, before, mode, .. } => {
                    Some(Change::Move { source, path, from, before, after, mode })
                }
                other @ (Change::Delete { .. } | Change::SetMode { .. }) => {
                    changes.push(other);
                    continue;
                }
            };
            found = true;
            changes.extend(other);
        }
        match (found, changes.is_empty()) {
            (false, _) => Err(SplitError::Unknown(path.clone())),
            (true, true) => Err(SplitError::Nothing),
            (true, false) => Ok(self.half(changes)?),
        }
    }

    /// Some of this set's changes, with the folders that come or go with them.
    fn half(&self, changes: Vec<Change>) -> Result<ChangeSet, InvalidChangeSet> {
        let of = |folders: &[RelPath], name: fn(&Change) -> Option<&RelPath>| {
            let above: BTreeSet<_> =
                changes.iter().filter_map(name).flat_map(RelPath::ancestors).collect();
            folders.iter().filter(|folder| above.contains(*folder)).cloned().collect()
        };
        let (made, removed): (Vec<_>, Vec<_>) =
            (of(self.makes_folders(), Change::fills), of(self.removes_folders(), Change::vacates));
        ChangeSet::with_folders(changes, made, removed)
    }
}

fn apart(change: &Change, pick: Option<&Pick>, context: usize) -> Result<Apart, SplitError> {
    let wanted = match pick {
        None => return Ok(Apart::Left(change.clone())),
        Some(Pick::Whole) => return Ok(Apart::Picked(change.clone())),
        Some(Pick::Hunks(wanted)) => wanted,
    };
    let path = change.path();
    let Some(hunks) = hunks(change, context) else {
        return Err(SplitError::WholeOnly { path: path.clone(), what: what(change) });
    };
    if let Some(&hunk) = wanted.iter().find(|hunk| !(1..=hunks.len()).contains(*hunk)) {
        return Err(SplitError::NoSuchHunk { path: path.clone(), hunk, have: hunks.len() });
    }
    match wanted.len() {
        0 => return Ok(Apart::Left(change.clone())),
        n if n == hunks.len() => return Ok(Apart::Picked(change.clone())),
        _some => {}
    }
    let (Change::Edit { from, before, after, mode, .. }
    | Change::Replace { from, before, after, mode, .. }) = change
    else {
        return Err(SplitError::WholeOnly { path: path.clone(), what: what(change) });
    };
    let unreadable = |error: std::io::Error| InvalidChangeSet::Unreadable {
        path: path.clone(),
        reason: error.to_string(),
    };
    let new = after.bytes().map_err(unreadable)?;
    let (mut part, mut rest_after, mut rest_alone) = (Vec::new(), Vec::new(), Vec::new());
    let (mut inserted, mut removed) = (0, 0);
    for (hunk, stretches) in (1..).zip(&hunks) {
        for (old, text) in stretches {
            let text = &new[text.clone()];
            if wanted.contains(&hunk) {
                part.push(ByteEdit::new(old.clone(), text));
                inserted += text.len();
                removed += old.len();
            } else {
                let moved = |at: usize| at + inserted - removed;
                rest_after.push(ByteEdit::new(moved(old.start)..moved(old.end), text));
                rest_alone.push(ByteEdit::new(old.clone(), text));
            }
        }
    }
    let edited = |from: FileState, before: Content, edits: Vec<ByteEdit>, mode: u32| {
        let after = made(path, &before, &edits)?;
        Ok::<_, InvalidChangeSet>(Change::Edit {
            path: path.clone(),
            from,
            before,
            edits,
            after,
            mode,
        })
    };
    let part = edited(from.clone(), before.clone(), part, from.mode)?;
    let between = part.after().cloned().unwrap_or_else(|| before.clone());
    let state = FileState::of(from.kind, &between, from.mode);
    Ok(Apart::Both(Box::new(Divided {
        part,
        rest_after: edited(state, between, rest_after, *mode)?,
        rest_alone: edited(from.clone(), before.clone(), rest_alone, *mode)?,
        picked: wanted.len(),
        all: hunks.len(),
    })))
}

/// What the edits make of the content.
fn made(path: &RelPath, before: &Content, edits: &[ByteEdit]) -> Result<Content, InvalidChangeSet> {
    let mut bytes = Vec::new();
    assemble(before, edits, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })
    .map_err(|error: AssembleError| InvalidChangeSet::of_edits(path, error))?;
    Ok(Content::new(bytes))
}

/// The hunks of a change that can be divided, with the bytes of each.
type Hunks = Vec<Vec<(Range<usize>, Range<usize>)>>;

fn hunks(change: &Change, context: usize) -> Option<Hunks> {
    match change {
        Change::Edit { .. } | Change::Replace { .. } => crate::diff::stretches(change, context),
        Change::Create { .. }
        | Change::Delete { .. }
        | Change::Move { .. }
        | Change::SetMode { .. } => None,
    }
}

fn what(change: &Change) -> &'static str {
    match change {
        Change::Edit { .. } | Change::Replace { .. } => "binary",
        Change::Create { .. } => "created",
        Change::Delete { .. } => "deleted",
        Change::Move { .. } => "moved",
        Change::SetMode { .. } => "only given another mode",
    }
}
