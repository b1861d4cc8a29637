//! The stored form of a change set, which is checked again when it is read back.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use crate::{ByteEdit, Change, ChangeSet, Content, FileKind, FileState, InvalidChangeSet, RelPath};

/// A change set as read from storage, not yet believed.
#[derive(Deserialize)]
pub(crate) struct StoredSet {
    #[serde(deserialize_with = "changes")]
    changes: Vec<Change>,
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
        ChangeSet::with_folders(stored.changes, stored.makes_folders, stored.removes_folders)
    }
}

/// The changes, one at a time: what has no room in memory is put aside before the next is read.
fn changes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Change>, D::Error> {
    struct OneByOne;

    impl<'de> de::Visitor<'de> for OneByOne {
        type Value = Vec<Change>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of changes")
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, mut stored: A) -> Result<Vec<Change>, A::Error> {
            let room = Room::new();
            let mut changes = Vec::new();
            while let Some(change) = stored.next_element::<StoredChange>()? {
                changes.push(believe(change, &room).map_err(de::Error::custom)?);
            }
            Ok(changes)
        }
    }

    deserializer.deserialize_seq(OneByOne)
}

/// Where the contents of the set go. Without `commit` no file is ever touched, and all stay in
/// memory.
struct Room {
    #[cfg(feature = "commit")]
    spill: crate::spill::Spill,
}

impl Room {
    fn new() -> Self {
        Self {
            #[cfg(feature = "commit")]
            spill: crate::spill::Spill::private(),
        }
    }

    #[cfg(feature = "commit")]
    fn keep(&self, path: &RelPath, content: Content) -> Result<Content, InvalidChangeSet> {
        self.spill.keep(content).map_err(|error| InvalidChangeSet::NoRoom {
            path: path.clone(),
            reason: error.to_string(),
        })
    }

    #[cfg(not(feature = "commit"))]
    fn keep(&self, _path: &RelPath, content: Content) -> Result<Content, InvalidChangeSet> {
        Ok(content)
    }

    #[cfg(feature = "commit")]
    fn edited(
        &self,
        path: &RelPath,
        before: &Content,
        edits: &[ByteEdit],
    ) -> Result<Content, InvalidChangeSet> {
        use crate::spill::Unfilled;
        self.spill.edited(before, edits).map_err(|error| match error {
            Unfilled::Source(error) => InvalidChangeSet::of_edits(path, error),
            Unfilled::Scratch(error) => {
                InvalidChangeSet::NoRoom { path: path.clone(), reason: error.to_string() }
            }
        })
    }

    #[cfg(not(feature = "commit"))]
    fn edited(
        &self,
        path: &RelPath,
        before: &Content,
        edits: &[ByteEdit],
    ) -> Result<Content, InvalidChangeSet> {
        let mut bytes = Vec::new();
        crate::edit::assemble(before, edits, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
        .map_err(|error| InvalidChangeSet::of_edits(path, error))?;
        Ok(Content::new(bytes))
    }
}

fn believe(stored: StoredChange, room: &Room) -> Result<Change, InvalidChangeSet> {
    Ok(match stored {
        StoredChange::Edit { path, from, before, edits, mode } => {
            let before = room.keep(&path, before)?;
            let after = room.edited(&path, &before, &edits)?;
            Change::Edit { path, from, before, edits, after, mode }
        }
        StoredChange::Replace { path, from, before, after, mode } => {
            let (before, after) = (room.keep(&path, before)?, room.keep(&path, after)?);
            Change::Replace { path, from, before, after, mode }
        }
        StoredChange::Create { path, kind, after, mode } => {
            let after = room.keep(&path, after)?;
            Change::Create { path, kind, after, mode }
        }
        StoredChange::Delete { path, from, before } => {
            let before = room.keep(&path, before)?;
            Change::Delete { path, from, before }
        }
        StoredChange::Move { source, path, from, before, after, mode } => {
            let before = room.keep(&path, before)?;
            let after = if after == before { before.clone() } else { room.keep(&path, after)? };
            Change::Move { source, path, from, before, after, mode }
        }
        StoredChange::SetMode { path, from, mode } => Change::SetMode { path, from, mode },
    })
}
