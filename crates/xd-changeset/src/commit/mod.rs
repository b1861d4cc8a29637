//! Applying a change set: all files or none, also when something fails half-way or the process
//! or the machine stops.
//!
//! The order of one commit:
//! 1. take the lock; finish what an interrupted commit left; check every target;
//! 2. write the plan under another name, make it durable, and name it the journal;
//! 3. write every new content beside its target and make it durable;
//! 4. put everything into place by renames, in the plan's order;
//! 5. make the folders durable, then the journal's word that the commit is complete;
//! 6. clear away what was displaced, then the journal.
//!
//! **Invariant C2:** nothing of a target changes before the plan is durable, and nothing that
//! was displaced is removed before the word of completion is.
//! **Invariant C3:** after a stop at any point recovery finds the word of completion and clears
//! away, or does not find it and takes everything back.

mod check;
mod copies;
mod hands;
mod journal;
mod lock;
mod plan;
mod prepare;
mod publish;
mod recover;
mod restore;

#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod journal_tests;
#[cfg(test)]
mod proof_tests;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod scenarios;

use std::io;
use std::time::Duration;

use crate::disk::Disk;
use crate::root::Root;
use crate::{Applied, ChangeSet, Recovery, RelPath, StalePreview};

pub(crate) use lock::whose;
pub use recover::RecoverError;

/// How to apply a change set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// Whether everything is forced to the disk, so that the promise holds across a power cut.
    /// Without it, it holds across the end of the process alone, and is faster. Default: true.
    pub durable: bool,
    /// How long to wait for another commit in the same workspace (`CONTRACT F8`).
    /// Default: 5 seconds.
    pub lock_wait: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self { durable: true, lock_wait: Duration::from_secs(5) }
    }
}

impl Options {
    /// The usual options: durable, with a wait of 5 seconds for the lock.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether everything is forced to the disk.
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// Sets how long to wait for another commit.
    pub fn lock_wait(mut self, wait: Duration) -> Self {
        self.lock_wait = wait;
        self
    }
}

/// A change set was not applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The files are not what the preview started from. Nothing was written (`CONTRACT F2`).
    #[error(
        "{}{}Nothing was written. Read the present files and stage the change again.",
        .0, gap(.0)
    )]
    Stale(#[from] StalePreview),
    /// Another commit holds the workspace. Nothing was written (`CONTRACT F8`).
    #[error(transparent)]
    Locked(#[from] Locked),
    /// An earlier commit was interrupted and cannot be recovered. Nothing was written.
    #[error("{0}")]
    Recover(#[source] RecoverError),
    /// Something failed. Every file is as it was.
    #[error("cannot {action} '{path}': {source}. Every file is as it was before")]
    Io {
        /// What was being done, as a verb.
        action: &'static str,
        /// The file it was done to.
        path: RelPath,
        /// The system's reason.
        source: io::Error,
    },
    /// Something failed, and taking back what had been done failed too. The journal is kept, and
    /// the next use of the workspace tries again.
    #[error(
        "{cause}. Taking the change back failed too, for: {}. The next use of the workspace tries again",
        list(unrestored)
    )]
    RollbackFailed {
        /// What failed first.
        cause: Failure,
        /// Every path that is not as it was, with the reason.
        unrestored: Vec<(RelPath, String)>,
    },
    /// Everything was written, but the word of completion could not be made durable and could
    /// not be taken back either. The next use of the workspace decides: all of it or nothing.
    #[error(
        "{cause}. Every file was written, but not for certain; the next use of the workspace decides"
    )]
    Undecided {
        /// What failed.
        cause: Failure,
    },
}

/// Another commit holds the workspace (`CONTRACT F8`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("another commit {}holds this workspace; gave up after {:.1} s. Try again when it is done", who(holder), waited.as_secs_f32())]
pub struct Locked {
    /// The process that holds it, where it could be told.
    pub holder: Option<u32>,
    /// How long this one waited.
    pub waited: Duration,
}

/// One operation that failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} '{path}': {source}")]
pub struct Failure {
    /// What was being done, as a verb.
    pub action: &'static str,
    /// The file it was done to.
    pub path: RelPath,
    /// The system's reason.
    pub source: io::Error,
}

/// What stands between the fact and what came of it: a list ends its line.
fn gap(stale: &StalePreview) -> &'static str {
    if stale.drifts.len() == 1 { " " } else { "\n" }
}

fn who(holder: &Option<u32>) -> String {
    holder.map(|pid| format!("(process {pid}) ")).unwrap_or_default()
}

fn list(paths: &[(RelPath, String)]) -> String {
    paths.iter().map(|(path, why)| format!("'{path}' ({why})")).collect::<Vec<_>>().join(", ")
}

impl From<Failure> for ApplyError {
    fn from(Failure { action, path, source }: Failure) -> Self {
        ApplyError::Io { action, path, source }
    }
}

/// Names the operation that failed.
trait During<T> {
    fn during(self, action: &'static str, path: &RelPath) -> Result<T, Failure>;
}

impl<T> During<T> for io::Result<T> {
    fn during(self, action: &'static str, path: &RelPath) -> Result<T, Failure> {
        self.map_err(|source| Failure { action, path: path.clone(), source })
    }
}

impl ChangeSet {
    /// Compares every target with the state that the change set starts from: content, kind,
    /// mode, existence; never a time (`CONTRACT F2`). Writes nothing.
    pub fn check(&self, root: &Root) -> Result<(), StalePreview> {
        check::check(&*root.pinned(), self).map(drop)
    }

    /// Writes exactly the previewed bytes, in all files or in none (`CONTRACT F2`,
    /// `CONTRACT F3`). Checks every target under the lock first; recovers an interrupted commit
    /// first. An empty set does nothing.
    ///
    /// Blocks until done; it cannot be cancelled half-way. Call it where blocking is allowed and
    /// let it finish.
    pub fn apply(&self, root: &Root, options: Options) -> Result<Applied, ApplyError> {
        if self.is_empty() {
            return Ok(Applied::of(self, |_| false));
        }
        if !lock::has_state_folder(root.disk()) {
            // A stale set is refused without leaving a trace, not even the state folder.
            self.check(root)?;
        }
        let _lock = lock::take(root.disk(), options.lock_wait)?;
        let disk = root.pinned();
        let recovered = recover::recover(&*disk)?;
        let applied = apply_locked(&*disk, self, options.durable)?;
        Ok(Applied { recovered, ..applied })
    }

    /// The set that takes back what `applied` says was written (`CONTRACT F6`). It refuses, like
    /// any set, where a file no longer is what was written. The same as
    /// [`inverse`](Self::inverse), after comparing that `applied` came from this set.
    pub fn undo_of(&self, applied: &Applied) -> Option<ChangeSet> {
        let same = self.len() == applied.files.len()
            && self.changes().iter().zip(&applied.files).all(|(change, file)| {
                *change.path() == file.path && change.to_state() == file.after
            });
        same.then(|| self.inverse())
    }
}

impl Root {
    /// Finds a commit that was interrupted and finishes it or takes it back (`CONTRACT F3`).
    /// None where there is nothing to do. `apply` and `build` do this by themselves.
    pub fn recover(&self, lock_wait: Duration) -> Result<Option<Recovery>, RecoverError> {
        if !self.is_interrupted() {
            return Ok(None);
        }
        let _lock = lock::take(self.disk(), lock_wait)?;
        recover::recover(&*self.pinned())
    }

    /// What [`recover`](Self::recover) would do now, without doing it. A commit in progress in
    /// another process shows here too. None where there is nothing to do.
    pub fn interrupted(&self) -> Result<Option<Recovery>, RecoverError> {
        recover::look(self.disk())
    }

    /// Whether there is a journal, or one that was begun: of a commit in progress, or of an
    /// interrupted one.
    pub fn is_interrupted(&self) -> bool {
        [journal::path(), journal::draft()]
            .iter()
            .any(|path| self.disk().stat_if_any(path).is_ok_and(|stat| stat.is_some()))
    }

    /// Recovers with the usual wait.
    pub(crate) fn settle(&self) -> Result<(), RecoverError> {
        self.recover(Options::default().lock_wait).map(drop)
    }
}

/// The commit itself, under the lock and with nothing left to recover.
fn apply_locked(disk: &dyn Disk, set: &ChangeSet, durable: bool) -> Result<Applied, ApplyError> {
    let stats = check::check(disk, set)?;
    let plan = plan::Plan::make(disk, set, &stats, durable).map_err(ApplyError::from)?;
    publish::run(disk, set, &plan, &stats)
}

/// A durable commit on a given disk, past the lock.
#[cfg(test)]
fn apply_locked_for_tests(
    disk: &crate::disk::sim::SimDisk,
    set: &ChangeSet,
) -> Result<Applied, ApplyError> {
    apply_locked_either_way(disk, set, true)
}

/// A commit on a given disk, durable or not, past the lock.
#[cfg(test)]
fn apply_locked_either_way(
    disk: &crate::disk::sim::SimDisk,
    set: &ChangeSet,
    durable: bool,
) -> Result<Applied, ApplyError> {
    match lock::make_state_folder(disk) {
        Ok(()) => apply_locked(disk, set, durable),
        Err(failure) => Err(failure.into()),
    }
}
