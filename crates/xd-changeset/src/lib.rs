//! Byte-exact change sets over many files, applied in all files or in none.
//!
//! Layer: data at the bottom; depends on no other crate of this workspace.
//! May use: hashing, line comparison and serialisation; with the feature `commit` also files,
//! through directory handles below one workspace root.
//! Never touches: the network, the environment, the terminal, anything outside that root, and
//! without `commit` no file at all.

mod applied;
mod change;
mod content;
mod diff;
mod edit;
mod rel_path;
mod set;
mod stale;
mod stored;

pub use applied::{Applied, AppliedFile};
pub use change::{Change, FileKind, FileState, Verb};
pub use content::{Content, Hash};
pub use diff::{DiffLine, FileDiff, Hunk, LineTag};
pub use edit::{ByteEdit, EditError, OverlapError, apply_edits};
pub use rel_path::{RelPath, RelPathError};
pub use set::{ChangeSet, FileSummary, InvalidChangeSet};
pub use stale::{Drift, DriftKind, StalePreview};
