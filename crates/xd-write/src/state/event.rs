//! The lines of the log.

use serde::{Deserialize, Serialize};
use xd_changeset::{ChangeSet, FileState, Hash, RelPath, Verb};
use xd_resolve::{Decider, DispatchAction, Outcome, Tier};

use crate::PlanRecord;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// The version of the shape: 1.
    pub v: u32,
    /// When, in UTC, as RFC 3339.
    pub time: String,
    /// What happened.
    #[serde(flatten)]
    pub event: LogEvent,
}

/// What happened to a staged action, or to plan mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum LogEvent {
    /// It was staged.
    Staged {
        /// Its number.
        number: u64,
        /// The tool that staged it.
        source_tool_name: String,
        /// What it is called.
        label: String,
        /// How far its apply reaches.
        tier: Tier,
        /// Whether it has a change set, so that it survives a restart.
        durable: bool,
        /// The hash of the bytes of its kept file, which is believed only as it was staged. None
        /// where it has no change set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<Hash>,
        /// The action whose files it puts back as they were (`CONTRACT F6`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        undoes: Option<u64>,
        /// The action that it is made anew from (`CONTRACT F7`).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        supersedes: Option<u64>,
        /// The pending action that it is a part of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<LoggedPart>,
    },
    /// Somebody decided; the effect starts now.
    Taken {
        /// Its number.
        number: u64,
        /// Apply or discard.
        action: DispatchAction,
        /// Why.
        reason: String,
        /// Who.
        who: Decider,
    },
    /// The decision was carried out, or failed.
    Decided {
        /// Its number.
        number: u64,
        /// The tool that staged it.
        source_tool_name: String,
        /// What it is called.
        label: String,
        /// Apply or discard; none at a session boundary.
        action: Option<DispatchAction>,
        /// Why.
        reason: String,
        /// Who.
        who: Decider,
        /// What came of it.
        #[serde(flatten)]
        outcome: Outcome,
        /// The files that it names, before and after. Written only where the outcome is `applied`.
        files: Vec<LoggedFile>,
    },
    /// Somebody who had to be asked said no to a confirm: it is pending as before.
    Declined {
        /// Its number.
        number: u64,
        /// The tool that staged it.
        source_tool_name: String,
        /// What it is called.
        label: String,
        /// What the confirm would have done.
        action: DispatchAction,
        /// The reason that the confirm gave.
        reason: String,
        /// What was said to it; may be empty.
        words: String,
        /// Who said no.
        who: Decider,
    },
    /// Somebody who had to be asked approved a confirm for a reason of their own: what is taken next
    /// is taken by them, for that reason.
    Approved {
        /// Its number.
        number: u64,
        /// The tool that staged it.
        source_tool_name: String,
        /// What it is called.
        label: String,
        /// What the confirm does.
        action: DispatchAction,
        /// The reason that the confirm gave.
        reason: String,
        /// The reason that was given instead.
        instead: String,
        /// Who approved it.
        who: Decider,
    },
    /// Plan mode was entered or left, or a plan submitted or decided on (`CONTRACT P2, P3`).
    Plan {
        /// What, by whom, why.
        #[serde(flatten)]
        record: PlanRecord,
    },
}

/// What a part leaves pending. By the one line that says that the part is decided so, the rest
/// stands under the number of the whole (**Invariant W13**).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedPart {
    /// The number of the action that it is a part of.
    pub of: u64,
    /// The decision on the part that the rest is for.
    pub action: DispatchAction,
    /// What the rest is called.
    pub label: String,
    /// The hash of the bytes of the rest's kept file.
    pub digest: Hash,
}

impl LoggedPart {
    /// Whether a decision of this kind, by `who`, that ended so leaves the rest. A host that clears
    /// away a part which could not be decided leaves the whole whole.
    pub(super) fn is_left_by(
        &self,
        action: Option<DispatchAction>,
        who: Decider,
        outcome: &Outcome,
    ) -> bool {
        match (self.action, action, outcome) {
            (DispatchAction::Apply, Some(DispatchAction::Apply), Outcome::Applied) => true,
            (DispatchAction::Discard, Some(DispatchAction::Discard), Outcome::Discarded) => {
                who != Decider::Host
            }
            (DispatchAction::Apply | DispatchAction::Discard, _, _) => false,
        }
    }
}

/// A file of a decided action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoggedFile {
    /// Its path; for a move the new one.
    pub path: RelPath,
    /// What is done to it.
    pub verb: Verb,
    /// What it was; none where it is created.
    pub before: Option<FileState>,
    /// What it becomes; none where it is deleted.
    pub after: Option<FileState>,
}

impl LogEvent {
    /// The number of the action; none where it is about no action.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Staged { number, .. }
            | Self::Taken { number, .. }
            | Self::Decided { number, .. }
            | Self::Declined { number, .. }
            | Self::Approved { number, .. } => Some(*number),
            Self::Plan { .. } => None,
        }
    }
}

/// The files of a change set.
pub(super) fn files_of(change_set: &ChangeSet) -> Vec<LoggedFile> {
    change_set
        .changes()
        .iter()
        .map(|change| LoggedFile {
            path: change.path().clone(),
            verb: change.verb(),
            before: change.from_state().cloned(),
            after: change.to_state(),
        })
        .collect()
}
