//! The stored form of a change set, which is checked again when it is read back.

use serde::Deserialize;

use crate::{
    ByteEdit, Change, ChangeSet, Content, FileKind, FileState, InvalidChangeSet, RelPath,
    apply_edits,
};

/// A change set as read from storage, not yet believed.
#[derive(Deserialize)]
pub(crate) struct StoredSet {
    changes: Vec<StoredChange>,
    #[serde(default)]
    makes_folders: Vec<RelPath>,
    #[serde(default)]
    removes_folders: Vec<RelPath>,
}

/// The same as [`Change`] without what follows from the rest.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StoredChange {
    Edit {
        path: RelPath,
        from: FileState,
        before: Content,
        edits: Vec<ByteEdit>,
        mode: u32,
    },
    Replace {
        path: RelPath,
        from: FileState,
        before: Content,
        after: Content,
        mode: u32,
    },
    Create {
        path: RelPath,
        kind: FileKind,
        after: Content,
        mode: u32,
    },
    Delete {
        path: RelPath,
        from: FileState,
        before: Content,
    },
    Move {
        source: RelPath,
        path: RelPath,
        from: FileState,
        before: Content,
        after: Content,
        mode: u32,
    },
    SetMode {
        path: RelPath,
        from: FileState,
        mode: u32,
    },
}

impl TryFrom<StoredSet> for ChangeSet {
    type Error = InvalidChangeSet;

    fn try_from(stored: StoredSet) -> Result<Self, InvalidChangeSet> {
        let changes = stored.changes.into_iter().map(believe).collect::<Result<Vec<_>, _>>()?;
        ChangeSet::with_folders(changes, stored.makes_folders, stored.removes_folders)
    }
}

fn believe(stored: StoredChange) -> Result<Change, InvalidChangeSet> {
    Ok(match stored {
        StoredChange::Edit { path, from, before, edits, mode } => {
            let after = match apply_edits(before.slice(), &edits) {
                Ok(bytes) => Content::new(bytes),
                Err(source) => return Err(InvalidChangeSet::Edits { path, source }),
            };
            Change::Edit { path, from, before, edits, after, mode }
        }
        StoredChange::Replace { path, from, before, after, mode } => {
            Change::Replace { path, from, before, after, mode }
        }
        StoredChange::Create { path, kind, after, mode } => {
            Change::Create { path, kind, after, mode }
        }
        StoredChange::Delete { path, from, before } => Change::Delete { path, from, before },
        StoredChange::Move { source, path, from, before, after, mode } => {
            Change::Move { source, path, from, before, after, mode }
        }
        StoredChange::SetMode { path, from, mode } => Change::SetMode { path, from, mode },
    })
}
