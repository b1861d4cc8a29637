//! Taking a commit back, and clearing away after it: the same code whether the commit failed in
//! this process or was interrupted in an earlier one. Every part may run any number of times.

use std::io;

use super::copies::{copy_over, is_copy, is_torn};
use super::hands::in_turn;
use super::journal::{self, Progress, Record};
use super::plan::{Plan, Step};
use super::publish::sync_folders;
use super::{During as _, Failure};
use crate::RelPath;
use crate::disk::{Disk, Stat, is_unsupported};

/// Paths that could not be put back, with the reason in words.
pub(super) type Conflicts = Vec<(RelPath, String)>;

/// Puts every file back to what it was before the commit, as far as it came, and records it.
/// With conflicts nothing is recorded: what was displaced stays where the plan says.
pub(super) fn take_back(
    disk: &dyn Disk,
    plan: &Plan,
    progress: Progress,
) -> Result<Conflicts, Failure> {
    let mut conflicts = Conflicts::new();
    // Whether a filled name can be told from one that never was vacated, or is back already.
    let may_be_filled = match progress {
        Progress::Planned => !plan.chained,
        Progress::Vacated => true,
        Progress::Unfilled => false,
        Progress::Committed | Progress::Closed => return Ok(conflicts),
    };
    // Contents and modes first: a moved file that was also written by another of its names is
    // known again only once it is what it was.
    let (names, contents): (Vec<_>, Vec<_>) = plan
        .steps
        .iter()
        .rev()
        .partition(|step| matches!(step, Step::Create { .. } | Step::Move { .. }));
    let mut uncertain = false;
    for step in contents.into_iter().chain(names) {
        let known = conflicts.len();
        note(&mut conflicts, step.target(), unfill(disk, plan, step, may_be_filled))?;
        // What is exchanged has one name, which is no moved file's.
        uncertain |= conflicts.len() > known && !matches!(step, Step::Swap { .. });
    }
    if progress == Progress::Vacated {
        if uncertain {
            // With files back at their names, the next try could not tell them from the moved ones.
            still_away(disk, plan, &mut conflicts)?;
            return Ok(conflicts);
        }
        sync_folders(disk, plan)?;
        record(disk, plan, &Record::Unfilled)?;
    }
    for step in plan.steps.iter().rev() {
        note(&mut conflicts, step.target(), unvacate(disk, plan, step))?;
    }
    sync_folders(disk, plan)?;
    if conflicts.is_empty() {
        record(disk, plan, &Record::Closed)?;
    }
    Ok(conflicts)
}

/// Names the files that wait beside their places until the rest can be taken back.
fn still_away(disk: &dyn Disk, plan: &Plan, conflicts: &mut Conflicts) -> Result<(), Failure> {
    for (home, away) in plan.steps.iter().filter_map(vacated) {
        if stat(disk, away)?.is_some() {
            let why = format!("it waits as '{away}' until the others can be put back");
            conflicts.push((home.clone(), why));
        }
    }
    Ok(())
}

/// The name that a step vacates, and the one that its file has meanwhile.
fn vacated(step: &Step) -> Option<(&RelPath, &RelPath)> {
    match step {
        Step::Delete { target, spare, .. } => Some((target, spare)),
        Step::Move { source, hold, .. } => Some((source, hold)),
        Step::Swap { .. } | Step::Create { .. } | Step::InPlace { .. } | Step::SetMode { .. } => {
            None
        }
    }
}

fn record(disk: &dyn Disk, plan: &Plan, record: &Record) -> Result<(), Failure> {
    journal::add(disk, record, plan.durable).during("write the journal", &journal::path())
}

/// Why a step cannot be taken back.
enum Obstacle {
    /// Somebody else has changed the file meanwhile.
    Foreign(&'static str),
    Failed(Failure),
}

impl From<Failure> for Obstacle {
    fn from(failure: Failure) -> Self {
        Obstacle::Failed(failure)
    }
}

fn note(
    conflicts: &mut Conflicts,
    path: &RelPath,
    result: Result<(), Obstacle>,
) -> Result<(), Failure> {
    match result {
        Ok(()) => {}
        Err(Obstacle::Foreign(why)) => conflicts.push((path.clone(), why.to_owned())),
        Err(Obstacle::Failed(failure)) => conflicts.push((path.clone(), failure.to_string())),
    }
    Ok(())
}

/// Frees a name that the commit filled.
fn unfill(disk: &dyn Disk, plan: &Plan, step: &Step, may_be_filled: bool) -> Result<(), Obstacle> {
    match step {
        Step::Swap { target, fresh, spare, after, before } => {
            if before.is_at(disk, target).during("read", target)? {
                return Ok(());
            }
            if !after.is_at(disk, target).during("read", target)? {
                let displaced = before.is_at(disk, fresh).during("read", fresh)?
                    || before.is_at(disk, spare).during("read", spare)?;
                return if displaced {
                    Err(Obstacle::Foreign("it was changed meanwhile"))
                } else {
                    Ok(())
                };
            }
            if stat(disk, spare)?.is_some() {
                disk.rename(spare, target).during("put back", target)?;
            } else if stat(disk, fresh)?.is_some() {
                // Whatever was displaced goes back, also what another writer put there.
                disk.rename(fresh, target).during("put back", target)?;
            } else {
                return Err(Obstacle::Foreign("its former content is gone"));
            }
            Ok(())
        }
        Step::Create { target, fresh, after, .. } => {
            match (stat(disk, fresh)?, stat(disk, target)?) {
                (Some(fresh), Some(there)) if fresh.identity == there.identity => {
                    disk.remove(target).during("take back", target)?;
                }
                (None, Some(_))
                    if may_be_filled && after.is_at(disk, target).during("read", target)? =>
                {
                    place_new(disk, plan.durable, target, fresh).during("take back", target)?;
                }
                (Some(_), Some(_) | None) | (None, Some(_) | None) => {}
            }
            Ok(())
        }
        Step::Move { source, target, hold, before } => {
            let filled = may_be_filled
                && stat(disk, hold)?.is_none()
                && (plan.chained || stat(disk, source)?.is_none())
                && before.is_at(disk, target).during("read", target)?;
            let gone =
                !plan.chained && stat(disk, hold)?.is_none() && stat(disk, source)?.is_none();
            if filled {
                place_new(disk, plan.durable, target, hold).during("take back", target)?;
            } else if gone {
                return Err(Obstacle::Foreign("it was changed after it had been moved"));
            } else if let Some(there) = stat(disk, target)? {
                // Half of a rename may be all that reached the disk: the file has both names. In
                // a chain it cannot be, and two names may be what it had.
                let other = if plan.chained {
                    stat(disk, hold)?
                } else {
                    stat(disk, hold)?.or(stat(disk, source)?)
                };
                if other.is_some_and(|other| other.identity == there.identity) {
                    disk.remove(target).during("take back", target)?;
                }
            }
            Ok(())
        }
        Step::InPlace { .. } => overwrite_back(disk, plan, step),
        Step::SetMode { target, before, after } => match stat(disk, target)? {
            Some(there) if there.mode == *after => {
                disk.set_mode(target, *before).during("set the mode of", target)?;
                Ok(sync(disk, plan, target)?)
            }
            Some(there) if there.mode == *before => Ok(()),
            Some(_) => Err(Obstacle::Foreign("its mode was changed meanwhile")),
            None => Err(Obstacle::Foreign("it was removed meanwhile")),
        },
        Step::Delete { .. } => Ok(()),
    }
}

/// Writes the former bytes back into a file that was overwritten in place, whole or in part.
fn overwrite_back(disk: &dyn Disk, plan: &Plan, step: &Step) -> Result<(), Obstacle> {
    let Step::InPlace { target, undo, redo, before, after } = step else { return Ok(()) };
    let Some((there, is)) = disk.look(target, before.kind).during("read", target)? else {
        return Err(Obstacle::Foreign("it was removed meanwhile"));
    };
    let whole = is == Some(before.hash);
    if whole && there.mode == before.mode {
        return Ok(());
    }
    // The copies are made and synced before the file is touched.
    if is.is_none() || !is_copy(disk, undo, before.hash).during("read", undo)? {
        return Err(Obstacle::Foreign("it was changed meanwhile"));
    }
    if !whole {
        let ours = is_copy(disk, redo, after.hash).during("read", redo)?
            && is_torn(disk, target, undo, redo).during("read", target)?;
        if !ours {
            return Err(Obstacle::Foreign("it was changed meanwhile"));
        }
        copy_over(disk, undo, target, before.hash).during("put back", target)?;
    }
    if there.mode != before.mode {
        disk.set_mode(target, before.mode).during("set the mode of", target)?;
    }
    Ok(sync(disk, plan, target)?)
}

/// Gives a vacated name back to its file.
fn unvacate(disk: &dyn Disk, plan: &Plan, step: &Step) -> Result<(), Obstacle> {
    let Some((home, away)) = vacated(step) else { return Ok(()) };
    match (stat(disk, away)?, stat(disk, home)?) {
        (None, _) => Ok(()),
        (Some(_), None) => Ok(place_new(disk, plan.durable, away, home).during("put back", home)?),
        (Some(away_is), Some(home_is)) if away_is.identity == home_is.identity => {
            Ok(disk.remove(away).during("remove", away)?)
        }
        (Some(_), Some(_)) => {
            Err(Obstacle::Foreign("something else is there now; the file is kept beside it"))
        }
    }
}

fn stat(disk: &dyn Disk, path: &RelPath) -> Result<Option<Stat>, Failure> {
    match disk.stat_if_any(path) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(None),
        other => other.during("look at", path),
    }
}

fn sync(disk: &dyn Disk, plan: &Plan, path: &RelPath) -> Result<(), Failure> {
    if plan.durable { disk.sync(path).during("sync", path) } else { Ok(()) }
}

/// Clears away after a commit that is complete: what was displaced, then the journal. `linked`
/// says whether files may have been given a second name.
pub(super) fn clear_committed(disk: &dyn Disk, plan: &Plan, linked: bool) -> Result<(), Failure> {
    in_turn(disk.hands(plan.durable), &plan.steps, |step| match step {
        Step::Swap { fresh, spare, .. } => {
            remove(disk, fresh)?;
            if linked { remove(disk, spare) } else { Ok(()) }
        }
        Step::Delete { spare, .. } => remove(disk, spare),
        Step::InPlace { undo, redo, .. } => {
            remove(disk, undo)?;
            remove(disk, redo)
        }
        Step::Create { .. } | Step::Move { .. } | Step::SetMode { .. } => Ok(()),
    })?;
    for folder in &plan.prunes {
        remove_folder(disk, folder)?;
    }
    finish(disk, plan)
}

/// Clears away after a commit that was taken back: what had been prepared, then the journal.
pub(super) fn clear_taken_back(disk: &dyn Disk, plan: &Plan) -> Result<(), Failure> {
    for step in &plan.steps {
        match step {
            Step::Swap { fresh, spare, .. } => {
                remove(disk, fresh)?;
                remove(disk, spare)?;
            }
            Step::Create { fresh, .. } => remove(disk, fresh)?,
            Step::InPlace { undo, redo, .. } => {
                remove(disk, undo)?;
                remove(disk, redo)?;
            }
            Step::Delete { .. } | Step::Move { .. } | Step::SetMode { .. } => {}
        }
    }
    for folder in plan.makes.iter().rev() {
        remove_folder(disk, folder)?;
    }
    finish(disk, plan)
}

fn remove(disk: &dyn Disk, path: &RelPath) -> Result<(), Failure> {
    match disk.remove_if_any(path) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(()),
        other => other.during("remove", path),
    }
}

/// Removes a folder that is empty. One that somebody uses by now stays.
fn remove_folder(disk: &dyn Disk, path: &RelPath) -> Result<(), Failure> {
    use io::ErrorKind::{DirectoryNotEmpty, NotADirectory, NotFound, ResourceBusy};
    match disk.remove_folder(path) {
        Err(error)
            if matches!(
                error.kind(),
                DirectoryNotEmpty | NotADirectory | NotFound | ResourceBusy
            ) =>
        {
            Ok(())
        }
        other => other.during("remove", path),
    }
}

/// Removes the journal once what it says to clear is durably cleared.
fn finish(disk: &dyn Disk, plan: &Plan) -> Result<(), Failure> {
    sync_folders(disk, plan)?;
    if plan.durable {
        for folder in &plan.prunes {
            let _ = disk.sync_folder(folder.parent().as_ref());
        }
    }
    remove(disk, &journal::path())
}

/// Renames where nothing is at `to`. Where the file system cannot do that in one step, by a
/// second name; where it has no second names either, after looking.
pub(super) fn place_new(
    disk: &dyn Disk,
    durable: bool,
    from: &RelPath,
    to: &RelPath,
) -> io::Result<()> {
    match disk.rename_new(from, to) {
        Err(error) if is_unsupported(&error) => {}
        other => return other,
    }
    match disk.link(from, to) {
        Ok(()) => {
            if durable {
                disk.sync_folder(to.parent().as_ref())?;
            }
            disk.remove(from)
        }
        Err(error) if is_unsupported(&error) || error.kind() == io::ErrorKind::PermissionDenied => {
            match disk.stat_if_any(to)? {
                None => disk.rename(from, to),
                Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
            }
        }
        Err(error) => Err(error),
    }
}
