//! Recovery: the next use of a workspace finds an interrupted commit and finishes it or takes it
//! back (`CONTRACT F3`). Stopped itself at any point, it simply runs again.

use std::io;

use super::journal::{self, Progress};
use super::plan::Plan;
use super::{ApplyError, During as _, Failure, Locked, restore};
use crate::disk::Disk;
use crate::{Recovery, RecoveryOutcome, RelPath};

/// An interrupted commit cannot be recovered.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecoverError {
    /// Another commit holds the workspace.
    #[error(transparent)]
    Locked(#[from] Locked),
    /// The state folder cannot be used.
    #[error("{0}. The workspace's state folder '.xd' must be writable")]
    State(Failure),
    /// Reading or writing failed; nothing is lost, and the next use tries again.
    #[error(
        "an interrupted commit could not be recovered: {0}. Mend the cause and run the recovery again"
    )]
    Failed(Failure),
    /// Files were changed by others after the interruption, so that they cannot be put back.
    #[error(
        "an interrupted commit cannot be taken back, because files were changed meanwhile: {}. \
         Their former contents are kept beside them as '.xd-…'; put things in order, remove '.xd/journal', and go on",
        super::list(.0)
    )]
    Conflicts(Vec<(RelPath, String)>),
    /// The journal cannot be read, so that nobody can tell what an interrupted commit had done.
    /// Nothing was touched. No stop and no failed write leaves that: somebody wrote into it, or the
    /// disk lost it (or the power went during a commit that was not to be durable).
    #[error(
        "an interrupted commit cannot be recovered: its journal '.xd/journal' is damaged, and \
         nothing was touched. What the commit displaced is kept beside the files as '.xd-…', \
         and copies of files that are written in place are in '.xd'; put things in order, remove \
         '.xd/journal', and go on"
    )]
    Damaged,
}

impl From<Failure> for RecoverError {
    fn from(failure: Failure) -> Self {
        RecoverError::Failed(failure)
    }
}

impl From<RecoverError> for ApplyError {
    fn from(error: RecoverError) -> Self {
        match error {
            RecoverError::Locked(locked) => ApplyError::Locked(locked),
            RecoverError::State(failure) => failure.into(),
            RecoverError::Failed(_) | RecoverError::Conflicts(_) | RecoverError::Damaged => {
                ApplyError::Recover(error)
            }
        }
    }
}

/// The plan of an interrupted commit and how far that came. None where there is no journal.
fn read(disk: &dyn Disk) -> Result<Option<(Plan, Progress)>, RecoverError> {
    let path = journal::path();
    match journal::read(disk) {
        Err(error) if error.kind() == io::ErrorKind::InvalidData => Err(RecoverError::Damaged),
        other => Ok(other.during("read", &path)?),
    }
}

/// What recovery would do, and to which files.
pub(super) fn look(disk: &dyn Disk) -> Result<Option<Recovery>, RecoverError> {
    Ok(match read(disk)? {
        None => {
            let draft = journal::draft();
            disk.stat_if_any(&draft).during("look at", &draft)?.map(|_| not_begun())
        }
        Some((plan, Progress::Committed)) => {
            Some(Recovery { outcome: RecoveryOutcome::Completed, files: plan.targets() })
        }
        Some((
            plan,
            Progress::Planned | Progress::Vacated | Progress::Unfilled | Progress::Closed,
        )) => Some(Recovery { outcome: RecoveryOutcome::TakenBack, files: plan.targets() }),
    })
}

fn not_begun() -> Recovery {
    Recovery { outcome: RecoveryOutcome::NotBegun, files: Vec::new() }
}

/// Recovers, under the lock. None where there was nothing to do.
pub(super) fn recover(disk: &dyn Disk) -> Result<Option<Recovery>, RecoverError> {
    let journal = read(disk)?;
    let draft = journal::draft();
    let begun = disk.stat_if_any(&draft).during("look at", &draft)?.is_some();
    if begun {
        disk.remove_if_any(&draft).during("remove", &draft)?;
    }
    let Some((plan, progress)) = journal else {
        // Nothing is done before the journal has its name.
        return Ok(begun.then(not_begun));
    };
    let files = plan.targets();
    let outcome = match progress {
        Progress::Committed => {
            restore::clear_committed(disk, &plan, true)?;
            RecoveryOutcome::Completed
        }
        Progress::Planned | Progress::Vacated | Progress::Unfilled => {
            let conflicts = restore::take_back(disk, &plan, progress)?;
            if !conflicts.is_empty() {
                return Err(RecoverError::Conflicts(conflicts));
            }
            restore::clear_taken_back(disk, &plan)?;
            RecoveryOutcome::TakenBack
        }
        Progress::Closed => {
            restore::clear_taken_back(disk, &plan)?;
            RecoveryOutcome::TakenBack
        }
    };
    Ok(Some(Recovery { outcome, files }))
}
