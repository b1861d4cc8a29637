//! What changed since the preview, said so that a model or a person can act on it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{FileKind, Hash, RelPath};

/// The files are no longer what the change set starts from (`CONTRACT F2`). Names every such path
/// and what changed.
///
/// Its text is the fact alone, for whoever only looks. What came of an apply that met it, and what
/// to do then, is said by `ApplyError::Stale`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub struct StalePreview {
    /// Every path that differs, sorted. Never empty.
    pub drifts: Vec<Drift>,
}

/// One path that is not what it was at the preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drift {
    /// The path.
    pub path: RelPath,
    /// What changed.
    pub what: DriftKind,
}

/// What changed about a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DriftKind {
    /// The bytes differ.
    Content {
        /// The hash at the preview.
        was: Hash,
        /// The hash now.
        is: Hash,
        /// Which lines differ, in a phrase (`line 3 was changed, 2 lines were added after line 9`).
        lines: String,
    },
    /// The file is gone.
    Vanished,
    /// Something is where nothing was (`CONTRACT F5`).
    Appeared,
    /// It is another kind of thing now.
    Kind {
        /// The kind at the preview.
        was: FileKind,
        /// The kind now: `a folder`, `a symbolic link`, …
        is: String,
    },
    /// The permission bits differ.
    Mode {
        /// The bits at the preview.
        was: u32,
        /// The bits now.
        is: u32,
    },
    /// It changed between the check and the moment it was to be replaced; it was put back.
    Raced,
    /// A folder on the way is no longer a plain folder (it was swapped for a link or a file).
    Folder {
        /// What is there now.
        is: String,
    },
    /// It cannot be read, so that its state is unknown.
    Unreadable {
        /// The system's reason.
        reason: String,
    },
}

impl fmt::Display for StalePreview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The preview is stale: ")?;
        match self.drifts.as_slice() {
            [only] => write!(f, "'{}' {}.", only.path, only.what),
            several => {
                write!(f, "{} paths changed since.", several.len())?;
                for drift in several {
                    write!(f, "\n- '{}' {}.", drift.path, drift.what)?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for DriftKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DriftKind::Content { lines, .. } => write!(f, "changed since the preview ({lines})"),
            DriftKind::Vanished => f.write_str("no longer exists"),
            DriftKind::Appeared => f.write_str("exists now, and did not at the preview"),
            DriftKind::Kind { was, is } => write!(f, "was {was} and is {is} now"),
            DriftKind::Mode { was, is } => write!(f, "had mode {was:o} and has mode {is:o} now"),
            DriftKind::Raced => f.write_str("changed at the very moment of the apply"),
            DriftKind::Folder { is } => write!(f, "cannot be reached any more: {is}"),
            DriftKind::Unreadable { reason } => write!(f, "cannot be read: {reason}"),
        }
    }
}
