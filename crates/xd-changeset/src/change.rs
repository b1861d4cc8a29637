//! One change of one file, and the state that it starts from.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{ByteEdit, Content, Hash, RelPath};

/// What a name stands for. Nothing else can be changed; folders are made as needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A symbolic link, as itself; its content is the text of its target.
    Symlink,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::File => "a file",
            FileKind::Symlink => "a symbolic link",
        })
    }
}

/// What a file was when the change set was made, or is afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileState {
    /// A file or a link.
    pub kind: FileKind,
    /// The hash of the contents (of the target's text for a link).
    pub hash: Hash,
    /// The length of the contents in bytes.
    pub len: u64,
    /// The permission bits (`0o7777`). Always `0o777` for a link, which has none of its own.
    pub mode: u32,
}

impl FileState {
    /// The state of a file with this content.
    pub fn of(kind: FileKind, content: &Content, mode: u32) -> Self {
        let mode = match kind {
            FileKind::File => mode,
            FileKind::Symlink => 0o777,
        };
        Self { kind, hash: content.hash(), len: content.len(), mode }
    }
}

/// What a change does, in one word. It is also the word shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verb {
    /// Parts of a file change.
    Edit,
    /// The whole content of an existing file changes.
    Replace,
    /// A file comes into being.
    Create,
    /// A file goes.
    Delete,
    /// A file changes its name.
    Move,
    /// Only the permission bits change.
    SetMode,
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verb::Edit => "edit",
            Verb::Replace => "replace",
            Verb::Create => "create",
            Verb::Delete => "delete",
            Verb::Move => "move",
            Verb::SetMode => "set mode",
        })
    }
}

/// One change (`CONTRACT F1`). `from` is the state that it starts from; apply refuses when the
/// file is in any other (`CONTRACT F2`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Byte ranges of a file are replaced.
    Edit {
        /// The file.
        path: RelPath,
        /// Its state before.
        from: FileState,
        /// Its content before.
        before: Content,
        /// The edits, sorted by position, disjoint.
        edits: Vec<ByteEdit>,
        /// The content afterwards: `edits` put into `before`. Not stored, since it follows.
        #[serde(skip)]
        after: Content,
        /// Its permission bits afterwards.
        mode: u32,
    },
    /// The whole content of an existing file is replaced.
    Replace {
        /// The file.
        path: RelPath,
        /// Its state before.
        from: FileState,
        /// Its content before.
        before: Content,
        /// Its content afterwards.
        after: Content,
        /// Its permission bits afterwards.
        mode: u32,
    },
    /// A file is created where nothing is.
    Create {
        /// The file.
        path: RelPath,
        /// A file or a link.
        kind: FileKind,
        /// Its content.
        after: Content,
        /// Its permission bits.
        mode: u32,
    },
    /// A file is deleted.
    Delete {
        /// The file.
        path: RelPath,
        /// Its state before.
        from: FileState,
        /// Its content before, so that the deletion can be shown and undone.
        before: Content,
    },
    /// A file gets another name where nothing is, and possibly other content.
    Move {
        /// The former name.
        source: RelPath,
        /// The new name.
        path: RelPath,
        /// Its state before.
        from: FileState,
        /// Its content before.
        before: Content,
        /// Its content afterwards; equal to `before` for a plain move.
        after: Content,
        /// Its permission bits afterwards.
        mode: u32,
    },
    /// Only the permission bits of a file change.
    SetMode {
        /// The file.
        path: RelPath,
        /// Its state before.
        from: FileState,
        /// Its permission bits afterwards.
        mode: u32,
    },
}

impl Change {
    /// What it does, in one word.
    pub fn verb(&self) -> Verb {
        match self {
            Change::Edit { .. } => Verb::Edit,
            Change::Replace { .. } => Verb::Replace,
            Change::Create { .. } => Verb::Create,
            Change::Delete { .. } => Verb::Delete,
            Change::Move { .. } => Verb::Move,
            Change::SetMode { .. } => Verb::SetMode,
        }
    }

    /// The file; for a move its new name.
    pub fn path(&self) -> &RelPath {
        match self {
            Change::Edit { path, .. }
            | Change::Replace { path, .. }
            | Change::Create { path, .. }
            | Change::Delete { path, .. }
            | Change::Move { path, .. }
            | Change::SetMode { path, .. } => path,
        }
    }

    /// The name that must exist before: none for a create, the former name for a move.
    pub fn source(&self) -> Option<&RelPath> {
        match self {
            Change::Create { .. } => None,
            Change::Move { source, .. } => Some(source),
            Change::Edit { path, .. }
            | Change::Replace { path, .. }
            | Change::Delete { path, .. }
            | Change::SetMode { path, .. } => Some(path),
        }
    }

    /// The name that must be free before: of a create or a move.
    pub fn fills(&self) -> Option<&RelPath> {
        match self {
            Change::Create { path, .. } | Change::Move { path, .. } => Some(path),
            Change::Edit { .. }
            | Change::Replace { .. }
            | Change::Delete { .. }
            | Change::SetMode { .. } => None,
        }
    }

    /// The name that is free afterwards: of a delete or a move.
    pub fn vacates(&self) -> Option<&RelPath> {
        match self {
            Change::Delete { path, .. } => Some(path),
            Change::Move { source, .. } => Some(source),
            Change::Edit { .. }
            | Change::Replace { .. }
            | Change::Create { .. }
            | Change::SetMode { .. } => None,
        }
    }

    /// The state that it starts from; none for a create.
    pub fn from_state(&self) -> Option<&FileState> {
        match self {
            Change::Create { .. } => None,
            Change::Edit { from, .. }
            | Change::Replace { from, .. }
            | Change::Delete { from, .. }
            | Change::Move { from, .. }
            | Change::SetMode { from, .. } => Some(from),
        }
    }

    /// The content before; none for a create and for a change of mode alone.
    pub fn before(&self) -> Option<&Content> {
        match self {
            Change::Create { .. } | Change::SetMode { .. } => None,
            Change::Edit { before, .. }
            | Change::Replace { before, .. }
            | Change::Delete { before, .. }
            | Change::Move { before, .. } => Some(before),
        }
    }

    /// The content afterwards; none for a delete and for a change of mode alone.
    pub fn after(&self) -> Option<&Content> {
        match self {
            Change::Delete { .. } | Change::SetMode { .. } => None,
            Change::Edit { after, .. }
            | Change::Replace { after, .. }
            | Change::Create { after, .. }
            | Change::Move { after, .. } => Some(after),
        }
    }

    /// The state afterwards; none for a delete.
    pub fn to_state(&self) -> Option<FileState> {
        match self {
            Change::Delete { .. } => None,
            Change::SetMode { from, mode, .. } => Some(FileState { mode: *mode, ..from.clone() }),
            Change::Create { kind, after, mode, .. } => Some(FileState::of(*kind, after, *mode)),
            Change::Edit { from, after, mode, .. }
            | Change::Replace { from, after, mode, .. }
            | Change::Move { from, after, mode, .. } => {
                Some(FileState::of(from.kind, after, *mode))
            }
        }
    }

    /// The change that takes this one back.
    pub(crate) fn inverse(&self) -> Change {
        match self.clone() {
            Change::Edit { path, from, before, after, mode, .. }
            | Change::Replace { path, from, before, after, mode } => Change::Replace {
                path,
                from: FileState::of(from.kind, &after, mode),
                before: after,
                after: before,
                mode: from.mode,
            },
            Change::Create { path, kind, after, mode } => {
                Change::Delete { path, from: FileState::of(kind, &after, mode), before: after }
            }
            Change::Delete { path, from, before } => {
                Change::Create { path, kind: from.kind, after: before, mode: from.mode }
            }
            Change::Move { source, path, from, before, after, mode } => Change::Move {
                source: path,
                path: source,
                from: FileState::of(from.kind, &after, mode),
                before: after,
                after: before,
                mode: from.mode,
            },
            Change::SetMode { path, from, mode } => {
                Change::SetMode { path, mode: from.mode, from: FileState { mode, ..from } }
            }
        }
    }
}
