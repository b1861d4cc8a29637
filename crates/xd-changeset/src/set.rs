//! The change set: a checked, immutable list of changes.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::edit::{AssembleError, assemble};
use crate::stored::StoredSet;
use crate::{ByteEdit, Change, Content, EditError, FileKind, FileState, Hash, RelPath, Verb};

/// Changes of any number of files that are applied together or not at all (`CONTRACT F1`).
///
/// **Invariant C1:** every path is the source of at most one change and the destination of at
/// most one, a destination that exists before is vacated by the same set, none is protected
/// (`.xd`, `.git`), and every stored hash is the hash of the stored bytes. A set that breaks this
/// cannot be built, and cannot be read back from storage either.
///
/// Changes are sorted by path. Cloning is cheap: contents are shared.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "StoredSet")]
pub struct ChangeSet {
    changes: Vec<Change>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    makes_folders: Vec<RelPath>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removes_folders: Vec<RelPath>,
}

/// One line about one file of a change set.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSummary {
    /// The file; for a move its new name.
    pub path: RelPath,
    /// The former name of a moved file.
    pub source: Option<RelPath>,
    /// What happens to it.
    pub verb: Verb,
    /// Lines added. 0 for a binary file.
    pub added: usize,
    /// Lines removed. 0 for a binary file.
    pub removed: usize,
}

/// Why changes do not make a change set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidChangeSet {
    /// Two changes start from one file.
    #[error("'{0}' is changed twice; make it one change")]
    ChangedTwice(RelPath),
    /// Two changes end at one name (`CONTRACT F5`).
    #[error("two changes would both put a file at '{0}'")]
    FilledTwice(RelPath),
    /// A create or move ends at a file that the set edits.
    #[error("'{0}' is the destination of one change and is edited by another; it cannot be both")]
    FilledOverEdited(RelPath),
    /// A path lies inside another path of the set, which would have to be file and folder at once.
    #[error("'{inner}' lies inside '{outer}', which this change set treats as a file")]
    Nested {
        /// The path that is used as a folder.
        outer: RelPath,
        /// The path below it.
        inner: RelPath,
    },
    /// The path belongs to the state folder or to git.
    #[error(
        "'{0}' is off limits: '.xd' holds the workspace's state and '.git' the repository's; choose another path"
    )]
    Protected(RelPath),
    /// The stored state is not that of the stored content.
    #[error(
        "the recorded hash of '{0}' is not that of the recorded content; stage the change again"
    )]
    WrongHash(RelPath),
    /// The edits overlap or lie outside the file (`CONTRACT F5`).
    #[error("'{path}': {source}")]
    Edits {
        /// The file.
        path: RelPath,
        /// What is wrong with them.
        source: EditError,
    },
    /// The stored result is not what the edits make of the file.
    #[error(
        "the result recorded for '{0}' is not what its edits make of it; stage the change again"
    )]
    WrongResult(RelPath),
    /// A content has no room in memory and cannot be kept on disk either.
    #[error(
        "the large content of '{path}' cannot be kept on disk: {reason}. \
         Free some space and try again"
    )]
    NoRoom {
        /// The file.
        path: RelPath,
        /// The system's reason.
        reason: String,
    },
    /// A content that is kept on disk cannot be read back.
    #[error("the content kept for '{path}' cannot be read back: {reason}")]
    Unreadable {
        /// The file.
        path: RelPath,
        /// The system's reason.
        reason: String,
    },
    /// The change would change nothing.
    #[error("the change of '{0}' changes nothing; leave it out")]
    NoChange(RelPath),
    /// A mode has bits beyond `0o7777`.
    #[error("{mode:o} is no file mode ('{path}'); use octal digits up to 7777")]
    BadMode {
        /// The file.
        path: RelPath,
        /// The mode given.
        mode: u32,
    },
    /// A symbolic link is edited as if it were a file, or its target is not UTF-8.
    #[error("'{0}' is a symbolic link; it can be created, deleted and moved, not edited")]
    LinkEdited(RelPath),
}

impl ChangeSet {
    /// Checks `changes` and takes them. An empty list is a valid, empty set.
    pub fn new(changes: Vec<Change>) -> Result<Self, InvalidChangeSet> {
        Self::with_folders(changes, Vec::new(), Vec::new())
    }

    /// As [`new`](Self::new), with the folders that come into being or go with the files.
    pub(crate) fn with_folders(
        mut changes: Vec<Change>,
        makes_folders: Vec<RelPath>,
        removes_folders: Vec<RelPath>,
    ) -> Result<Self, InvalidChangeSet> {
        changes.sort_by(|a, b| a.path().cmp(b.path()).then_with(|| a.source().cmp(&b.source())));
        changes.iter().try_for_each(check_change)?;
        check_paths(&changes)?;
        if let Some(path) =
            makes_folders.iter().chain(&removes_folders).find(|path| path.is_protected())
        {
            return Err(InvalidChangeSet::Protected(path.clone()));
        }
        Ok(Self { changes, makes_folders, removes_folders })
    }

    /// The changes, sorted by path.
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Whether nothing would change (`CONTRACT S6`).
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The number of changes, which is the number of files touched.
    pub fn len(&self) -> usize {
        self.changes.len()
    }

    /// One summary a file, in the order of the changes. Costs a line comparison of each.
    pub fn files(&self) -> Vec<FileSummary> {
        self.changes
            .iter()
            .map(|change| {
                let (added, removed) = crate::diff::count(change);
                FileSummary {
                    path: change.path().clone(),
                    source: match change {
                        Change::Move { source, .. } => Some(source.clone()),
                        Change::Edit { .. }
                        | Change::Replace { .. }
                        | Change::Create { .. }
                        | Change::Delete { .. }
                        | Change::SetMode { .. } => None,
                    },
                    verb: change.verb(),
                    added,
                    removed,
                }
            })
            .collect()
    }

    /// Every path touched, the former names of moves included, sorted, each once. Policy is
    /// evaluated over these (`CONTRACT W7`).
    pub fn paths(&self) -> Vec<&RelPath> {
        let paths: BTreeSet<_> = self
            .changes
            .iter()
            .flat_map(|change| change.source().into_iter().chain([change.path()]))
            .collect();
        paths.into_iter().collect()
    }

    /// The set that takes this one back (`CONTRACT F6`): applied after this one it restores every
    /// file, and like any set it refuses where a file no longer is what this one wrote.
    ///
    /// **Invariant C5:** the inverse of the inverse restores what this set makes.
    pub fn inverse(&self) -> ChangeSet {
        let mut changes: Vec<_> = self.changes.iter().map(Change::inverse).collect();
        changes.sort_by(|a, b| a.path().cmp(b.path()).then_with(|| a.source().cmp(&b.source())));
        ChangeSet {
            changes,
            makes_folders: self.removes_folders.clone(),
            removes_folders: self.makes_folders.clone(),
        }
    }

    /// Whether the two sets touch a common path, so that applying one makes the other stale
    /// (`CONTRACT F7`).
    pub fn touches(&self, other: &ChangeSet) -> bool {
        let mine: BTreeSet<_> = self.paths().into_iter().collect();
        other.paths().into_iter().any(|path| mine.contains(path))
    }

    /// Folders that did not exist when the set was made and that applying makes.
    pub fn makes_folders(&self) -> &[RelPath] {
        &self.makes_folders
    }

    /// Folders that applying removes where they are left empty: those that the set being taken
    /// back had made.
    pub fn removes_folders(&self) -> &[RelPath] {
        &self.removes_folders
    }
}

fn check_change(change: &Change) -> Result<(), InvalidChangeSet> {
    let path = change.path();
    for path in [Some(path), change.source()].into_iter().flatten() {
        if path.is_protected() {
            return Err(InvalidChangeSet::Protected(path.clone()));
        }
    }
    if let (Some(from), Some(before)) = (change.from_state(), change.before())
        && (from.hash != before.hash() || from.len != before.len())
    {
        return Err(InvalidChangeSet::WrongHash(change.source().unwrap_or(path).clone()));
    }
    let modes =
        [change.from_state().map(|state| state.mode), change.to_state().map(|state| state.mode)];
    if let Some(mode) = modes.into_iter().flatten().find(|mode| mode & !0o7777 != 0) {
        return Err(InvalidChangeSet::BadMode { path: path.clone(), mode });
    }
    match change {
        Change::Edit { from, before, edits, after, mode, .. } => {
            match makes(before, edits, after) {
                Ok(true) => {}
                Ok(false) => return Err(InvalidChangeSet::WrongResult(path.clone())),
                Err(error) => return Err(InvalidChangeSet::of_edits(path, error)),
            }
            check_content_change(path, from, before, after, *mode)
        }
        Change::Replace { from, before, after, mode, .. } => {
            check_content_change(path, from, before, after, *mode)
        }
        Change::Create { kind, after, .. } => check_link_text(path, *kind, after),
        Change::Delete { from, before, .. } => check_link_text(path, from.kind, before),
        Change::Move { source, from, before, after, mode, .. } => {
            if source == path {
                return Err(InvalidChangeSet::NoChange(path.clone()));
            }
            check_link_text(path, from.kind, before)?;
            match from.kind {
                FileKind::File => Ok(()),
                FileKind::Symlink if before == after && *mode == from.mode => Ok(()),
                FileKind::Symlink => Err(InvalidChangeSet::LinkEdited(path.clone())),
            }
        }
        Change::SetMode { from, mode, .. } => match from.kind {
            FileKind::Symlink => Err(InvalidChangeSet::LinkEdited(path.clone())),
            FileKind::File if from.mode == *mode => Err(InvalidChangeSet::NoChange(path.clone())),
            FileKind::File => Ok(()),
        },
    }
}

impl InvalidChangeSet {
    /// Why the result of a file's edits cannot be had.
    pub(crate) fn of_edits(path: &RelPath, error: AssembleError) -> Self {
        let path = path.clone();
        match error {
            AssembleError::Edit(source) => InvalidChangeSet::Edits { path, source },
            AssembleError::Unreadable(error) => {
                InvalidChangeSet::Unreadable { path, reason: error.to_string() }
            }
        }
    }
}

/// Whether `edits` make `after` of `before`, compared as it is put together.
fn makes(before: &Content, edits: &[ByteEdit], after: &Content) -> Result<bool, AssembleError> {
    let Some(mut rest) = after.slice() else {
        let mut hasher = blake3::Hasher::new();
        assemble(before, edits, &mut |piece| {
            hasher.update(piece);
            Ok(())
        })?;
        return Ok(Hash::of_all(&hasher) == after.hash());
    };
    let mut same = true;
    assemble(before, edits, &mut |piece| {
        match rest.strip_prefix(piece) {
            Some(further) => rest = further,
            None => same = false,
        }
        Ok(())
    })?;
    Ok(same && rest.is_empty())
}

fn check_content_change(
    path: &RelPath,
    from: &FileState,
    before: &Content,
    after: &Content,
    mode: u32,
) -> Result<(), InvalidChangeSet> {
    match from.kind {
        FileKind::Symlink => Err(InvalidChangeSet::LinkEdited(path.clone())),
        FileKind::File if before == after && from.mode == mode => {
            Err(InvalidChangeSet::NoChange(path.clone()))
        }
        FileKind::File => Ok(()),
    }
}

fn check_link_text(
    path: &RelPath,
    kind: FileKind,
    content: &Content,
) -> Result<(), InvalidChangeSet> {
    match kind {
        FileKind::File => Ok(()),
        FileKind::Symlink
            if !content.is_empty()
                && content.bytes().is_ok_and(|text| {
                    std::str::from_utf8(&text).is_ok_and(|text| !text.contains('\0'))
                }) =>
        {
            Ok(())
        }
        FileKind::Symlink => Err(InvalidChangeSet::LinkEdited(path.clone())),
    }
}

/// The rules across changes: who may start and end where.
fn check_paths(changes: &[Change]) -> Result<(), InvalidChangeSet> {
    let mut sources = BTreeMap::new();
    let mut filled = BTreeSet::new();
    for change in changes {
        if let Some(source) = change.source()
            && sources.insert(source, change).is_some()
        {
            return Err(InvalidChangeSet::ChangedTwice(source.clone()));
        }
        if let Some(path) = change.fills()
            && !filled.insert(path)
        {
            return Err(InvalidChangeSet::FilledTwice(path.clone()));
        }
    }
    for change in changes {
        let Some(path) = change.fills() else { continue };
        match (sources.get(path), change) {
            (None, _) => {}
            // A file deleted and created again at one name is a replacement.
            (Some(Change::Delete { .. }), Change::Create { .. }) => {
                return Err(InvalidChangeSet::ChangedTwice(path.clone()));
            }
            (Some(Change::Delete { .. } | Change::Move { .. }), _) => {}
            (
                Some(
                    Change::Edit { .. }
                    | Change::Replace { .. }
                    | Change::SetMode { .. }
                    | Change::Create { .. },
                ),
                _,
            ) => {
                return Err(InvalidChangeSet::FilledOverEdited(path.clone()));
            }
        }
    }
    let all: BTreeSet<_> = sources.keys().copied().chain(filled).collect();
    for inner in &all {
        if let Some(outer) = inner.ancestors().find(|above| all.contains(above)) {
            return Err(InvalidChangeSet::Nested { outer, inner: (*inner).clone() });
        }
    }
    Ok(())
}
