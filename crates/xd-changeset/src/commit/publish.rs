//! Carrying out a plan, and taking it back when something fails.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::check::Stats;
use super::copies::copy_over;
use super::hands::in_turn;
use super::journal::{self, Progress, Record};
use super::plan::{Mark, Plan, Step};
use super::prepare::prepare;
use super::restore::{self, place_new};
use super::{ApplyError, During as _, Failure};
use crate::disk::{Disk, is_unsupported};
use crate::{Applied, ChangeSet, Drift, DriftKind, RelPath, StalePreview};

/// Why a commit is taken back.
enum Stop {
    Failed(Failure),
    /// A file changed between the check and the moment it was replaced.
    Raced(RelPath),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Stop::Failed(failure)
    }
}

/// Carries out the plan of `set`, whose sources are as `stats` says; on any failure every file is
/// as it was.
pub(super) fn run(
    disk: &dyn Disk,
    set: &ChangeSet,
    plan: &Plan,
    stats: &Stats,
) -> Result<Applied, ApplyError> {
    let journal = journal::path();
    if let Err(failure) = journal::begin(disk, plan).during("write the journal", &journal) {
        // Nothing is done yet: a journal that stays is taken back to the same.
        let _ = journal::forget(disk);
        return Err(failure.into());
    }
    let mut progress = Progress::Planned;
    let mut linked = false;
    let stop = match carry_out(disk, set, plan, stats, &mut progress, &mut linked) {
        Ok(()) => match journal::add(disk, &Record::Committed, plan.durable)
            .during("write the journal", &journal)
        {
            Ok(()) => {
                let in_place = plan.in_place();
                let mut applied = Applied::of(set, |path| in_place.contains(path));
                applied.leftovers = restore::clear_committed(disk, plan, linked).is_err();
                return Ok(applied);
            }
            // The word of completion may have reached the disk: it must be revoked before
            // anything is taken back.
            Err(cause) => match journal::add(disk, &Record::Aborting, plan.durable) {
                Ok(()) => Stop::Failed(cause),
                Err(_) => return Err(ApplyError::Undecided { cause }),
            },
        },
        Err(stop) => stop,
    };
    take_back(disk, plan, progress, stop)
}

fn take_back(
    disk: &dyn Disk,
    plan: &Plan,
    progress: Progress,
    stop: Stop,
) -> Result<Applied, ApplyError> {
    let unrestored = match restore::take_back(disk, plan, progress) {
        Ok(conflicts) => conflicts,
        Err(failure) => vec![(failure.path.clone(), failure.to_string())],
    };
    match (unrestored.is_empty(), stop) {
        (true, Stop::Failed(failure)) => {
            // What cannot be cleared now is cleared by the next use: every file is as it was.
            let _ = restore::clear_taken_back(disk, plan);
            Err(failure.into())
        }
        (true, Stop::Raced(path)) => {
            let _ = restore::clear_taken_back(disk, plan);
            Err(StalePreview { drifts: vec![Drift { path, what: DriftKind::Raced }] }.into())
        }
        (false, Stop::Failed(cause)) => Err(ApplyError::RollbackFailed { cause, unrestored }),
        (false, Stop::Raced(path)) => {
            let source = io::Error::new(
                io::ErrorKind::ResourceBusy,
                "it changed at the very moment of the apply",
            );
            let cause = Failure { action: "replace", path, source };
            Err(ApplyError::RollbackFailed { cause, unrestored })
        }
    }
}

fn carry_out(
    disk: &dyn Disk,
    set: &ChangeSet,
    plan: &Plan,
    stats: &Stats,
    progress: &mut Progress,
    linked: &mut bool,
) -> Result<(), Stop> {
    prepare(disk, set, plan, stats)?;
    for step in &plan.steps {
        vacate(disk, plan, step)?;
    }
    if plan.chained {
        sync_folders(disk, plan)?;
        journal::add(disk, &Record::Vacated, plan.durable)
            .during("write the journal", &journal::path())?;
        *progress = Progress::Vacated;
    }
    // Every name that is to be filled is free by now, or is exchanged: in any order.
    let displaced = Mutex::new(Vec::new());
    in_turn(disk.hands(false), &plan.steps, |step| -> Result<(), Stop> {
        if let Some(old) = fill(disk, plan, step)? {
            displaced.lock().unwrap_or_else(PoisonError::into_inner).push(old);
        }
        Ok(())
    })?;
    let displaced = displaced.into_inner().unwrap_or_else(PoisonError::into_inner);
    *linked = displaced.iter().any(|old| old.is_linked);
    in_turn(disk.hands(plan.durable), &displaced, |old| {
        unless_raced(disk, old.target, old.at, old.before)
    })?;
    sync_folders(disk, plan)?;
    Ok(())
}

fn vacate(disk: &dyn Disk, plan: &Plan, step: &Step) -> Result<(), Stop> {
    match step {
        Step::Delete { target, spare, before } => {
            place_new(disk, plan.durable, target, spare).during("delete", target)?;
            unless_raced(disk, target, spare, before)
        }
        Step::Move { source, hold, before, .. } => {
            place_new(disk, plan.durable, source, hold).during("move", source)?;
            unless_raced(disk, source, hold, before)
        }
        Step::Swap { .. } | Step::Create { .. } | Step::InPlace { .. } | Step::SetMode { .. } => {
            Ok(())
        }
    }
}

/// The displaced file must be what was checked; otherwise another writer came in between, and
/// what it wrote goes back to its place.
fn unless_raced(
    disk: &dyn Disk,
    path: &RelPath,
    displaced: &RelPath,
    before: &Mark,
) -> Result<(), Stop> {
    match before.is_at(disk, displaced).during("read", displaced)? {
        true => Ok(()),
        false => Err(Stop::Raced(path.clone())),
    }
}

/// A file that gave its name to another, which is to be compared once more: by now nobody can
/// reach it by its name and change it.
struct Displaced<'a> {
    target: &'a RelPath,
    at: &'a RelPath,
    before: &'a Mark,
    /// Whether names could not be exchanged, so that it got a second name first.
    is_linked: bool,
}

fn fill<'a>(disk: &dyn Disk, plan: &Plan, step: &'a Step) -> Result<Option<Displaced<'a>>, Stop> {
    match step {
        Step::Swap { target, fresh, spare, before, .. } => match disk.exchange(fresh, target) {
            Ok(()) => return Ok(Some(Displaced { target, at: fresh, before, is_linked: false })),
            Err(error) if is_unsupported(&error) => {
                swap_by_link(disk, plan, target, fresh, spare).during("replace", target)?;
                return Ok(Some(Displaced { target, at: spare, before, is_linked: true }));
            }
            Err(error) => Err(error).during("replace", target)?,
        },
        Step::Create { target, fresh, .. } => {
            place_new(disk, plan.durable, fresh, target).during("create", target)?;
        }
        Step::Move { target, hold, .. } => {
            place_new(disk, plan.durable, hold, target).during("create", target)?;
        }
        Step::InPlace { target, redo, before, after, .. } => {
            unless_raced(disk, target, target, before)?;
            copy_over(disk, redo, target, after.hash).during("overwrite", target)?;
            if before.mode != after.mode {
                disk.set_mode(target, after.mode).during("set the mode of", target)?;
            }
            sync(disk, plan, target)?;
        }
        Step::SetMode { target, after, .. } => {
            disk.set_mode(target, *after).during("set the mode of", target)?;
            sync(disk, plan, target)?;
        }
        Step::Delete { .. } => {}
    }
    Ok(None)
}

/// Replaces `target` where names cannot be exchanged: the old file first gets a second name.
fn swap_by_link(
    disk: &dyn Disk,
    plan: &Plan,
    target: &RelPath,
    fresh: &RelPath,
    spare: &RelPath,
) -> io::Result<()> {
    disk.link(target, spare)?;
    if plan.durable {
        disk.sync_folder(target.parent().as_ref())?;
    }
    disk.rename(fresh, target)
}

fn sync(disk: &dyn Disk, plan: &Plan, path: &RelPath) -> Result<(), Failure> {
    if plan.durable { disk.sync(path).during("sync", path) } else { Ok(()) }
}

pub(super) fn sync_folders(disk: &dyn Disk, plan: &Plan) -> Result<(), Failure> {
    if !plan.durable {
        return Ok(());
    }
    let folders: Vec<_> = plan.folders().into_iter().collect();
    in_turn(disk.hands(true), &folders, |folder| match disk.sync_folder(folder.as_ref()) {
        // A folder that was to be made and never was, or is gone again.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.during("sync the folder of", folder.as_ref().unwrap_or(&journal::path())),
    })
}
