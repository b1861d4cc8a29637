//! Byte-exact change sets over many files, applied in all files or in none.
//!
//! Layer: data at the bottom; depends on no other crate of this workspace.
//! May use: hashing, line comparison and serialisation; with the feature `commit` also files,
//! through handles below one workspace root.
//! Never touches: the network, the environment, the terminal, anything outside that root; and
//! without `commit` no file at all.
//!
//! # The rules
//!
//! - A [`ChangeSet`] is data (`CONTRACT F1`): for every file the state it starts from, the bytes
//!   before and after, the mode. It can be shown ([`ChangeSet::unified`], [`ChangeSet::diff`]),
//!   stored (serde), compared with the disk, applied, and taken back ([`ChangeSet::inverse`]).
//! - What can be refused is refused when the set is made (`CONTRACT S7`, `CONTRACT F5`).
//! - Apply writes exactly the previewed bytes or nothing (`CONTRACT F2`), in all files or in none,
//!   also when the power goes (`CONTRACT F3`).
//! - Bytes outside the edits are never re-encoded; line endings, marks, modes, owners,
//!   attributes and links survive (`CONTRACT F4`).
//! - Nothing outside the root is reachable (`CONTRACT W3`), and `.git` and `.xd` are off limits.
//!
#![cfg_attr(feature = "commit", doc = "```")]
#![cfg_attr(not(feature = "commit"), doc = "```ignore")]
//! use xd_changeset::{ByteEdit, ChangeSet, Options, RelPath, Root};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("a.txt"), "one\r\ntwo\r\n")?;
//! let root = Root::open(folder.path())?;
//! let a = RelPath::new("a.txt")?;
//! let b = RelPath::new("new/b.txt")?;
//!
//! let set = ChangeSet::builder(&root)
//!     .edit(&a, vec![ByteEdit::new(0..3, "ONE")])
//!     .create(&b, "b\n", None)
//!     .build()?;
//! assert!(set.unified(3).contains("-one\r\n+ONE\r\n"));
//! assert_eq!(std::fs::read(folder.path().join("a.txt"))?, b"one\r\ntwo\r\n");
//!
//! set.apply(&root, Options::new())?;
//! assert_eq!(std::fs::read(folder.path().join("a.txt"))?, b"ONE\r\ntwo\r\n");
//! assert!(set.apply(&root, Options::new()).is_err(), "the files are what it made of them");
//!
//! set.inverse().apply(&root, Options::new())?;
//! assert_eq!(std::fs::read(folder.path().join("a.txt"))?, b"one\r\ntwo\r\n");
//! assert!(!folder.path().join("new").exists());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(all(feature = "commit", not(unix)))]
compile_error!(
    "applying change sets needs Unix; build with default-features = false for the data alone"
);

mod applied;
#[cfg(feature = "commit")]
mod builder;
mod change;
#[cfg(feature = "commit")]
mod commit;
mod content;
mod diff;
#[cfg(feature = "commit")]
mod disk;
mod edit;
mod rel_path;
#[cfg(feature = "commit")]
mod restage;
#[cfg(feature = "commit")]
mod root;
mod set;
mod shown;
#[cfg(feature = "commit")]
mod spill;
mod split;
#[cfg(test)]
mod split_tests;
mod stale;
mod stored;

pub use applied::{Applied, AppliedFile, Recovery, RecoveryOutcome};
#[cfg(feature = "commit")]
pub use builder::{BuildError, Builder, Place};
pub use change::{Change, FileKind, FileState, Verb};
#[cfg(feature = "commit")]
pub use commit::{ApplyError, Failure, Locked, Options, RecoverError};
pub use content::{Content, Hash, Hasher};
pub use diff::{DiffLine, FileDiff, Hunk, LineTag};
#[cfg(feature = "commit")]
pub use disk::EntryKind;
pub use edit::{ByteEdit, EditError, OverlapError, apply_edits};
pub use rel_path::{RelPath, RelPathError};
#[cfg(feature = "commit")]
pub use restage::{NotRestaged, RestageError};
#[cfg(feature = "commit")]
pub use root::{
    Entry, Metadata, PathError, ReadError, Root, RootError, WriteError, WriteOptions, Written,
};
pub use set::{ChangeSet, FileSummary, InvalidChangeSet};
pub use split::{Pick, Split, SplitError};
pub use stale::{Drift, DriftKind, StalePreview};
