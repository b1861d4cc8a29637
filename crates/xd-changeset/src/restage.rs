//! Making a stale change set anew against the present files, where its edits do not touch what
//! changed (`CONTRACT F7`).

use std::io;
use std::ops::Range;

use crate::commit::RecoverError;
use crate::disk::Stat;
use crate::edit::AssembleError;
use crate::root::Root;
use crate::spill::{Spill, Unfilled};
use crate::{ByteEdit, Change, ChangeSet, Content, FileKind, FileState, InvalidChangeSet, RelPath};

/// A stale change set cannot be made anew; the old one is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestageError {
    /// Some changes touch what changed meanwhile.
    #[error("cannot be staged again by itself: {}. Read the present files and stage the change anew", said(.0))]
    Touches(Vec<NotRestaged>),
    /// The changes no longer make a change set.
    #[error(transparent)]
    Invalid(#[from] InvalidChangeSet),
    /// An interrupted commit is in the way and cannot be recovered.
    #[error(transparent)]
    Recover(#[from] RecoverError),
}

/// One change that cannot be carried over, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotRestaged {
    /// The file.
    pub path: RelPath,
    /// The reason, in a phrase that follows the path.
    pub why: String,
}

fn said(several: &[NotRestaged]) -> String {
    several.iter().map(|one| format!("'{}' {}", one.path, one.why)).collect::<Vec<_>>().join("; ")
}

impl ChangeSet {
    /// The same changes against the present files. Edits are carried over where the lines they
    /// touch are unchanged, however far these moved; moves and modes take the present content;
    /// replacements and deletions only hold for the content that was previewed.
    ///
    /// Answers an equal set where nothing changed. Writes nothing.
    pub fn restage(&self, root: &Root) -> Result<ChangeSet, RestageError> {
        root.settle()?;
        let spill = Spill::of(root.shared_disk());
        let mut changes = Vec::with_capacity(self.len());
        let mut refused = Vec::new();
        for change in self.changes() {
            match carry_over(root, &spill, change) {
                Ok(change) => changes.extend(change),
                Err(why) => refused.push(NotRestaged {
                    path: change.source().unwrap_or(change.path()).clone(),
                    why,
                }),
            }
        }
        if let Some(path) = changes.iter().filter_map(Change::fills).find(|path| {
            root.disk().stat_if_any(path).is_ok_and(|stat| stat.is_some())
                && !changes.iter().any(|change| change.vacates() == Some(path))
        }) {
            refused.push(NotRestaged { path: path.clone(), why: "exists now".to_owned() });
        }
        match refused.is_empty() {
            true => Ok(ChangeSet::with_folders(
                changes,
                self.makes_folders().to_vec(),
                self.removes_folders().to_vec(),
            )?),
            false => Err(RestageError::Touches(refused)),
        }
    }
}

/// The change against the present file; none where the file already is what it would make.
fn carry_over(root: &Root, spill: &Spill, change: &Change) -> Result<Option<Change>, String> {
    let (Some(path), Some(was)) = (change.source(), change.from_state()) else {
        return Ok(Some(change.clone()));
    };
    let (stat, present) = look(root, spill, path, was.kind)?;
    let from = FileState::of(was.kind, &present, stat.mode);
    // A mode that the set does not mean to change is whatever it is now.
    let mode = |wanted: u32| if wanted == was.mode { stat.mode } else { wanted };
    if change.to_state().is_some_and(|to| to == from) && change.source() == Some(change.path()) {
        return Ok(None);
    }
    if present.hash() != was.hash
        && change.before().is_some_and(|before| change.after() != Some(before))
    {
        let Change::Edit { path, before, edits, mode: wanted, .. } = change else {
            return Err("changed, and the preview holds for the former content alone".to_owned());
        };
        let unreadable = |error| format!("cannot be compared: {error}");
        let was = before.bytes().map_err(unreadable)?;
        let edits = shifted(&was, &present.bytes().map_err(unreadable)?, edits)?;
        let after = match spill.edited(&present, &edits) {
            Ok(after) => after,
            Err(Unfilled::Source(AssembleError::Edit(error))) => return Err(error.to_string()),
            Err(Unfilled::Source(AssembleError::Unreadable(error))) => {
                return Err(unreadable(error));
            }
            Err(Unfilled::Scratch(error)) => return Err(no_room(&error)),
        };
        let (path, mode) = (path.clone(), mode(*wanted));
        return Ok((after != present || mode != from.mode).then_some(Change::Edit {
            path,
            from,
            before: present,
            edits,
            after,
            mode,
        }));
    }
    Ok(match change.clone() {
        Change::Edit { path, before, edits, after, mode: wanted, .. } => {
            Some(Change::Edit { path, from, before, edits, after, mode: mode(wanted) })
        }
        Change::Replace { path, before, after, mode: wanted, .. } => {
            Some(Change::Replace { path, from, before, after, mode: mode(wanted) })
        }
        Change::Move { source, path, after, before, mode: wanted, .. } => {
            let after = if after == before { present.clone() } else { after };
            Some(Change::Move { source, path, from, before: present, after, mode: mode(wanted) })
        }
        Change::SetMode { path, mode, .. } => {
            (mode != from.mode).then_some(Change::SetMode { path, from, mode })
        }
        Change::Delete { path, before, .. } => Some(Change::Delete { path, from, before }),
        create @ Change::Create { .. } => Some(create),
    })
}

fn no_room(error: &io::Error) -> String {
    format!("is large and cannot be kept on disk: {error}; free some space")
}

fn look(
    root: &Root,
    spill: &Spill,
    path: &RelPath,
    kind: FileKind,
) -> Result<(Stat, Content), String> {
    let disk = root.disk();
    let stat =
        disk.stat_if_any(path).map_err(|error| error.to_string())?.ok_or("no longer exists")?;
    if stat.kind.changeable() != Some(kind) {
        return Err(format!("is {} now", stat.kind));
    }
    match spill.file_at(disk, path, kind, stat.len) {
        Ok(content) => Ok((stat, content)),
        Err(Unfilled::Source(error)) => Err(format!("cannot be read: {error}")),
        Err(Unfilled::Scratch(error)) => Err(no_room(&error)),
    }
}

/// The edits at the places where their lines are now.
fn shifted(before: &[u8], present: &[u8], edits: &[ByteEdit]) -> Result<Vec<ByteEdit>, String> {
    let drift = crate::diff::drift(before, present);
    let line = |offset: usize| before[..offset].iter().filter(|byte| **byte == b'\n').count() + 1;
    edits
        .iter()
        .map(|edit| {
            let mut moved = edit.range.clone();
            for (old, new) in &drift {
                if touch(&edit.range, old) {
                    return Err(format!(
                        "changed where the preview edits it (line {} then)",
                        line(edit.range.start)
                    ));
                }
                if old.end <= edit.range.start {
                    moved.start = moved.start + new.len() - old.len();
                    moved.end = moved.end + new.len() - old.len();
                }
            }
            Ok(ByteEdit::new(moved, edit.text.clone()))
        })
        .collect()
}

/// Whether an edit and a drift concern the same bytes, or the same gap between two.
fn touch(edit: &Range<usize>, drift: &Range<usize>) -> bool {
    if edit.is_empty() || drift.is_empty() {
        let inside = edit.start <= drift.end && drift.start <= edit.end;
        // Lines that came in at the very end or start of the edited bytes leave these whole.
        return inside && (edit.is_empty() || (edit.start < drift.start && drift.start < edit.end));
    }
    edit.start < drift.end && drift.start < edit.end
}
