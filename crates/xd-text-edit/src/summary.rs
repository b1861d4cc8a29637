//! What a call came to, as data: counts, files, remarks.

use std::fmt;

use serde::{Serialize, Serializer};
use xd_changeset::{Change, ChangeSet, RelPath};

use crate::wording::counted;

/// What is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Replaced places, of the tool `edit`.
    Replacement,
    /// Hunks, of the tool `apply_patch`.
    Hunk,
}

impl Unit {
    /// The word of labels before the colon.
    fn title(self) -> &'static str {
        match self {
            Unit::Replacement => "Edit",
            Unit::Hunk => "Patch",
        }
    }

    /// The thing counted, in the singular.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Unit::Replacement => "replacement",
            Unit::Hunk => "hunk",
        }
    }
}

/// The numbers that label, preview and result show.
///
/// **Invariant T6:** they are one and the same in all three.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// What the changes are.
    pub unit: Unit,
    /// Replaced places, or hunks, of files that were there and stay.
    pub changes: usize,
    /// Files that have any.
    pub files: usize,
    /// Files that come into being.
    pub created: usize,
    /// Files that go.
    pub deleted: usize,
    /// Files that get another name.
    pub moved: usize,
    /// Files of which only the mode changes.
    pub modes: usize,
}

impl fmt::Display for Counts {
    /// `2 replacements in 1 file, 1 file created`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if self.changes > 0 {
            let changes = counted(self.changes, self.unit.noun());
            parts.push(format!("{changes} in {}", counted(self.files, "file")));
        }
        for (count, what) in [
            (self.created, "created"),
            (self.deleted, "deleted"),
            (self.moved, "moved"),
            (self.modes, "with another mode"),
        ] {
            if count > 0 {
                parts.push(format!("{} {what}", counted(count, "file")));
            }
        }
        f.write_str(&parts.join(", "))
    }
}

impl Counts {
    /// The label of the staged action: `Edit: 2 replacements in 1 file`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{}: {self}", self.unit.title())
    }

    /// The result of applying it: `Applied 2 replacements in 1 file.`
    #[must_use]
    pub fn applied(&self) -> String {
        format!("Applied {self}.")
    }
}

/// One changed file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileCount {
    /// The file; its new name where it gets one.
    #[serde(serialize_with = "as_text")]
    pub path: RelPath,
    /// Replaced places, or hunks.
    pub changes: usize,
}

/// What a call came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// The numbers.
    pub counts: Counts,
    /// The changed files, sorted by path.
    pub files: Vec<FileCount>,
    /// What there is to remark, a sentence each.
    pub notes: Vec<String>,
}

impl Summary {
    /// Counts a change set; `changes` answers how many there are in a file.
    pub(crate) fn of(
        unit: Unit,
        set: &ChangeSet,
        notes: Vec<String>,
        changes: impl Fn(&RelPath) -> usize,
    ) -> Self {
        let mut counts =
            Counts { unit, changes: 0, files: 0, created: 0, deleted: 0, moved: 0, modes: 0 };
        let mut files = Vec::new();
        for change in set.changes() {
            let in_file = match change {
                Change::Create { .. } => {
                    counts.created += 1;
                    0
                }
                Change::Delete { .. } => {
                    counts.deleted += 1;
                    0
                }
                Change::SetMode { .. } => {
                    counts.modes += 1;
                    0
                }
                Change::Move { path, .. } => {
                    counts.moved += 1;
                    changes(path)
                }
                Change::Edit { path, .. } | Change::Replace { path, .. } => changes(path),
            };
            counts.changes += in_file;
            counts.files += usize::from(in_file > 0);
            files.push(FileCount { path: change.path().clone(), changes: in_file });
        }
        Self { counts, files, notes }
    }
}

fn as_text<S: Serializer>(path: &RelPath, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(path.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn singular_and_plural_are_right() {
        let one = Counts {
            unit: Unit::Replacement,
            changes: 1,
            files: 1,
            created: 0,
            deleted: 0,
            moved: 0,
            modes: 0,
        };
        assert_eq!(one.label(), "Edit: 1 replacement in 1 file");
        assert_eq!(one.applied(), "Applied 1 replacement in 1 file.");
        let many = Counts {
            unit: Unit::Hunk,
            changes: 3,
            files: 2,
            created: 1,
            deleted: 2,
            moved: 1,
            modes: 1,
        };
        assert_eq!(
            many.label(),
            "Patch: 3 hunks in 2 files, 1 file created, 2 files deleted, 1 file moved, 1 file with another mode"
        );
        let new = Counts { changes: 0, files: 0, created: 1, ..one };
        assert_eq!(new.applied(), "Applied 1 file created.");
    }
}
