//! Recovery: the next use of a workspace finds an interrupted commit and finishes it or takes it
//! back (`CONTRACT F3`). Stopped itself at any point, it simply runs again.

use super::journal::{self, Progress};
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
            RecoverError::Failed(_) | RecoverError::Conflicts(_) => ApplyError::Recover(error),
        }
    }
}

/// What recovery would do, and to which files.
pub(super) fn look(disk: &dyn Disk) -> Result<Option<Recovery>, RecoverError> {
    let path = journal::path();
    if disk.stat_if_any(&path).during("look at", &path)?.is_none() {
        return Ok(None);
    }
    Ok(Some(match journal::read(disk).during("read", &path)? {
        None => Recovery { outcome: RecoveryOutcome::NotBegun, files: Vec::new() },
        Some((plan, Progress::Committed)) => {
            Recovery { outcome: RecoveryOutcome::Completed, files: plan.targets() }
        }
        Some((
            plan,
            Progress::Planned | Progress::Vacated | Progress::Unfilled | Progress::Closed,
        )) => Recovery { outcome: RecoveryOutcome::TakenBack, files: plan.targets() },
    }))
}

/// Recovers, under the lock. None where there was nothing to do.
pub(super) fn recover(disk: &dyn Disk) -> Result<Option<Recovery>, RecoverError> {
    let path = journal::path();
    if disk.stat_if_any(&path).during("look at", &path)?.is_none() {
        return Ok(None);
    }
    let Some((plan, progress)) = journal::read(disk).during("read", &path)? else {
        // A plan that is not whole was never acted on.
        disk.remove_if_any(&path).during("remove", &path)?;
        return Ok(Some(Recovery { outcome: RecoveryOutcome::NotBegun, files: Vec::new() }));
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
