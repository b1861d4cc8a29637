//! One existing file while a change set is being made.

use std::collections::BTreeMap;

use super::BuildError;
use crate::disk::{Disk, Stat};
use crate::edit::AssembleError;
use crate::spill::{Spill, Unfilled};
use crate::{ByteEdit, Change, Content, FileKind, FileState, InvalidChangeSet, RelPath};

/// A file and what is to become of it.
#[derive(Debug)]
pub(super) struct StagedFile {
    path: RelPath,
    stat: Stat,
    kind: FileKind,
    before: Content,
    fate: Fate,
    edits: Vec<ByteEdit>,
    mode: Option<u32>,
}

#[derive(Debug)]
enum Fate {
    Stays,
    Replaced(Content),
    Deleted,
    Moved(RelPath),
}

impl StagedFile {
    pub(super) fn new(path: RelPath, stat: Stat, kind: FileKind, before: Content) -> Self {
        Self { path, stat, kind, before, fate: Fate::Stays, edits: Vec::new(), mode: None }
    }

    pub(super) fn before(&self) -> &Content {
        &self.before
    }

    pub(super) fn identity(&self) -> (u64, u64) {
        self.stat.identity
    }

    pub(super) fn has_other_names(&self) -> bool {
        self.kind == FileKind::File && self.stat.links > 1
    }

    /// Whether new content is written into the file rather than put in its place: the commit does
    /// so where other names link to it or its owner could not be kept otherwise.
    pub(super) fn is_written_in_place(&self, disk: &dyn Disk) -> bool {
        self.has_other_names() || !disk.can_own(self.stat.owner)
    }

    pub(super) fn is_deleted(&self) -> bool {
        matches!(self.fate, Fate::Deleted)
    }

    /// Whether its name is free afterwards.
    pub(super) fn is_leaving(&self) -> bool {
        match self.fate {
            Fate::Deleted | Fate::Moved(_) => true,
            Fate::Stays | Fate::Replaced(_) => false,
        }
    }

    fn twice(&self) -> BuildError {
        InvalidChangeSet::ChangedTwice(self.path.clone()).into()
    }

    fn refuse_link(&self) -> Result<(), BuildError> {
        match self.kind {
            FileKind::File => Ok(()),
            FileKind::Symlink => Err(InvalidChangeSet::LinkEdited(self.path.clone()).into()),
        }
    }

    pub(super) fn edit(&mut self, edits: &[ByteEdit]) -> Result<(), BuildError> {
        self.refuse_link()?;
        match self.fate {
            Fate::Stays | Fate::Moved(_) => {
                self.edits.extend_from_slice(edits);
                Ok(())
            }
            Fate::Replaced(_) | Fate::Deleted => Err(self.twice()),
        }
    }

    pub(super) fn replace(&mut self, after: &Content) -> Result<(), BuildError> {
        self.refuse_link()?;
        match self.fate {
            Fate::Stays if self.edits.is_empty() => {
                self.fate = Fate::Replaced(after.clone());
                Ok(())
            }
            Fate::Stays | Fate::Replaced(_) | Fate::Deleted | Fate::Moved(_) => Err(self.twice()),
        }
    }

    /// A file created at the name of one deleted by the same set.
    pub(super) fn replace_deleted(&mut self, after: &Content) -> Result<(), BuildError> {
        self.refuse_link()?;
        self.fate = Fate::Replaced(after.clone());
        Ok(())
    }

    pub(super) fn delete(&mut self) -> Result<(), BuildError> {
        match self.fate {
            Fate::Stays if self.edits.is_empty() && self.mode.is_none() => {
                self.fate = Fate::Deleted;
                Ok(())
            }
            Fate::Stays | Fate::Replaced(_) | Fate::Deleted | Fate::Moved(_) => Err(self.twice()),
        }
    }

    pub(super) fn rename(&mut self, to: RelPath) -> Result<(), BuildError> {
        match self.fate {
            Fate::Stays if to == self.path => Ok(()),
            Fate::Stays => {
                self.fate = Fate::Moved(to);
                Ok(())
            }
            Fate::Replaced(_) | Fate::Deleted | Fate::Moved(_) => Err(self.twice()),
        }
    }

    pub(super) fn set_mode(&mut self, mode: u32) -> Result<(), BuildError> {
        self.refuse_link()?;
        match self.fate {
            Fate::Stays | Fate::Replaced(_) | Fate::Moved(_)
                if self.mode.is_none_or(|before| before == mode) =>
            {
                self.mode = Some(mode);
                Ok(())
            }
            Fate::Stays | Fate::Replaced(_) | Fate::Moved(_) | Fate::Deleted => Err(self.twice()),
        }
    }

    /// Adds an executable bit beside each readable one.
    pub(super) fn make_executable(&mut self) {
        let mode = self.mode.unwrap_or(self.stat.mode);
        self.mode = Some(mode | (mode & 0o444) >> 2);
    }

    fn edited(&self, spill: &Spill) -> Result<Content, BuildError> {
        if self.edits.is_empty() {
            return Ok(self.before.clone());
        }
        let path = || self.path.clone();
        spill.edited(&self.before, &self.edits).map_err(|error| match error {
            Unfilled::Source(AssembleError::Edit(source)) => {
                BuildError::Edits { path: path(), source }
            }
            Unfilled::Source(AssembleError::Unreadable(source)) => {
                BuildError::Io { path: path(), source }
            }
            Unfilled::Scratch(source) => BuildError::NoRoom { path: path(), source },
        })
    }

    /// What becomes of the file, or none where it stays as it is.
    pub(super) fn change(&self, spill: &Spill) -> Result<Option<Change>, BuildError> {
        let path = self.path.clone();
        let from = FileState::of(self.kind, &self.before, self.stat.mode);
        let before = self.before.clone();
        let mode = self.mode.unwrap_or(from.mode);
        Ok(match &self.fate {
            Fate::Deleted => Some(Change::Delete { path, from, before }),
            Fate::Moved(to) => {
                let after = self.edited(spill)?;
                if self.has_other_names() && (after != before || mode != from.mode) {
                    let why = "it has several names (hard links), and a move with a change would part them; \
                               do it in two steps";
                    return Err(BuildError::CannotKeep { path, why });
                }
                Some(Change::Move { source: path, path: to.clone(), from, before, after, mode })
            }
            Fate::Replaced(after) if *after == before => set_mode(path, from, mode),
            Fate::Replaced(after) => {
                Some(Change::Replace { path, from, before, after: after.clone(), mode })
            }
            Fate::Stays => {
                let after = self.edited(spill)?;
                if after == before {
                    return Ok(set_mode(path, from, mode));
                }
                let mut edits = self.edits.clone();
                edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
                Some(Change::Edit { path, from, before, edits, after, mode })
            }
        })
    }
}

fn set_mode(path: RelPath, from: FileState, mode: u32) -> Option<Change> {
    (mode != from.mode).then_some(Change::SetMode { path, from, mode })
}

/// Two names of one file must not become different things: the later write would undo the
/// earlier one.
pub(super) fn refuse_same_file(
    files: &BTreeMap<RelPath, StagedFile>,
    spill: &Spill,
) -> Result<(), BuildError> {
    let mut seen: BTreeMap<(u64, u64), &StagedFile> = BTreeMap::new();
    for file in files.values().filter(|file| file.has_other_names() && !file.is_leaving()) {
        let Some(change) = file.change(spill)? else { continue };
        let Some(first) = seen.insert(file.identity(), file) else { continue };
        let same = first.change(spill)?.is_some_and(|other| other.to_state() == change.to_state());
        if !same {
            return Err(BuildError::SameFile {
                first: first.path.clone(),
                second: file.path.clone(),
            });
        }
    }
    Ok(())
}
