//! What an apply did.

use serde::{Deserialize, Serialize};

use crate::{ChangeSet, FileState, RelPath, Verb};

/// A change set that was applied whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// The files, in the order of the change set.
    pub files: Vec<AppliedFile>,
    /// Whether temporary files could not be cleared away. They are cleared at the next use of
    /// the workspace; the change itself is complete.
    pub leftovers: bool,
    /// The interrupted commit that was found and dealt with before, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovered: Option<Recovery>,
}

/// An interrupted commit that was found and dealt with (`CONTRACT F3`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovery {
    /// What became of it.
    pub outcome: RecoveryOutcome,
    /// The files that it was about.
    pub files: Vec<RelPath>,
}

/// What became of an interrupted commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryOutcome {
    /// It had been complete; only clearing away was left.
    Completed,
    /// Every file is as it was before.
    TakenBack,
    /// It had not begun.
    NotBegun,
}

/// One file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppliedFile {
    /// The file; for a move its new name.
    pub path: RelPath,
    /// The former name of a moved file.
    pub source: Option<RelPath>,
    /// What happened to it.
    pub verb: Verb,
    /// What it was; none where it was created.
    pub before: Option<FileState>,
    /// What it is; none where it was deleted.
    pub after: Option<FileState>,
    /// Whether its bytes were written into the existing file rather than put in its place,
    /// because other names link to it or its owner could not be kept otherwise.
    pub in_place: bool,
}

impl Applied {
    /// What applying `set` amounts to; `in_place` names the files that were written in place.
    pub fn of(set: &ChangeSet, in_place: impl Fn(&RelPath) -> bool) -> Self {
        let files = set
            .changes()
            .iter()
            .map(|change| AppliedFile {
                path: change.path().clone(),
                source: change.source().filter(|source| *source != change.path()).cloned(),
                verb: change.verb(),
                before: change.from_state().cloned(),
                after: change.to_state(),
                in_place: in_place(change.path()),
            })
            .collect();
        Self { files, leftovers: false, recovered: None }
    }
}
