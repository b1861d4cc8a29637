//! Carrying out a plan, and taking it back when something fails.

use std::collections::BTreeSet;
use std::io;

use super::journal::{self, Progress, Record};
use super::plan::{Mark, Plan, Step};
use super::restore::{self, place_new};
use super::{ApplyError, During as _, Failure};
use crate::disk::{Disk, is_unsupported};
use crate::{
    Applied, Change, ChangeSet, Content, Drift, DriftKind, FileKind, RelPath, StalePreview,
};

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

/// Carries out the plan of `set`; on any failure every file is as it was.
pub(super) fn run(disk: &dyn Disk, set: &ChangeSet, plan: &Plan) -> Result<Applied, ApplyError> {
    let journal = journal::path();
    if let Err(failure) = journal::begin(disk, plan).during("write the journal", &journal) {
        // Nothing is done yet, so that an unreadable journal and none mean the same.
        let _ = disk.remove_if_any(&journal);
        return Err(failure.into());
    }
    let mut progress = Progress::Planned;
    let stop = match carry_out(disk, set, plan, &mut progress) {
        Ok(()) => match journal::add(disk, &Record::Committed, plan.durable)
            .during("write the journal", &journal)
        {
            Ok(()) => {
                let in_place = plan.in_place();
                let mut applied = Applied::of(set, |path| in_place.contains(path));
                applied.leftovers = restore::clear_committed(disk, plan).is_err();
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
    progress: &mut Progress,
) -> Result<(), Stop> {
    prepare(disk, set, plan)?;
    for step in &plan.steps {
        vacate(disk, plan, step)?;
    }
    if plan.chained {
        sync_folders(disk, plan)?;
        journal::add(disk, &Record::Vacated, plan.durable)
            .during("write the journal", &journal::path())?;
        *progress = Progress::Vacated;
    }
    for step in &plan.steps {
        fill(disk, set, plan, step)?;
    }
    sync_folders(disk, plan)?;
    Ok(())
}

/// Writes every new content beside its target. Nothing that anyone uses changes.
fn prepare(disk: &dyn Disk, set: &ChangeSet, plan: &Plan) -> Result<(), Failure> {
    for folder in &plan.makes {
        match disk.make_folder(folder, 0o777) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(error).during("create", folder);
            }
            Ok(()) | Err(_) => {}
        }
    }
    // A file moved into a folder whose own name is lost would be lost with it.
    let parents: BTreeSet<_> = plan.makes.iter().map(RelPath::parent).collect();
    for folder in parents.iter().filter(|_| plan.durable) {
        disk.sync_folder(folder.as_ref())
            .during("sync", folder.as_ref().unwrap_or(&plan.makes[0]))?;
    }
    for step in &plan.steps {
        match step {
            Step::Swap { target, fresh, after, .. } => {
                prepare_file(
                    disk,
                    plan,
                    fresh,
                    content(set, target, Side::After)?,
                    after,
                    Some(target),
                )?;
            }
            Step::Create { target, fresh, after, like } => {
                prepare_file(
                    disk,
                    plan,
                    fresh,
                    content(set, target, Side::After)?,
                    after,
                    like.as_ref(),
                )?;
            }
            Step::InPlace { target, undo, redo, before, after } => {
                prepare_file(
                    disk,
                    plan,
                    undo,
                    content(set, target, Side::Before)?,
                    &private(before),
                    None,
                )?;
                prepare_file(
                    disk,
                    plan,
                    redo,
                    content(set, target, Side::After)?,
                    &private(after),
                    None,
                )?;
                if plan.durable {
                    disk.sync_folder(undo.parent().as_ref()).during("sync", undo)?;
                }
            }
            Step::Delete { .. } | Step::Move { .. } | Step::SetMode { .. } => {}
        }
    }
    Ok(())
}

/// Copies of contents in the state folder are nobody else's business.
fn private(mark: &Mark) -> Mark {
    Mark { mode: 0o600, ..*mark }
}

fn prepare_file(
    disk: &dyn Disk,
    plan: &Plan,
    path: &RelPath,
    content: &Content,
    mark: &Mark,
    like: Option<&RelPath>,
) -> Result<(), Failure> {
    match mark.kind {
        FileKind::Symlink => {
            let bytes = content.bytes().during("read the new target of", path)?;
            let target = std::str::from_utf8(&bytes).map_err(|_| {
                io::Error::new(io::ErrorKind::InvalidData, "the link's target is not UTF-8")
            });
            return target.and_then(|target| disk.create_link(path, target)).during("create", path);
        }
        FileKind::File => match content.slice() {
            Some(bytes) => disk.create(path, bytes, mark.mode).during("create", path)?,
            None => create_in_pieces(disk, path, content, mark.mode).during("create", path)?,
        },
    }
    if let Some(like) = like {
        disk.copy_attributes(like, path).during("copy the owner and attributes of", like)?;
        // An access list brings its own idea of the mode.
        if disk.stat(path).during("look at", path)?.mode != mark.mode {
            disk.set_mode(path, mark.mode).during("set the mode of", path)?;
        }
    }
    if plan.durable { disk.sync(path).during("sync", path) } else { Ok(()) }
}

/// Makes a file of a content that is not in memory. One that was damaged where it was kept is
/// found here (`Invariant C6`), before anything is put into place.
fn create_in_pieces(
    disk: &dyn Disk,
    path: &RelPath,
    content: &Content,
    mode: u32,
) -> io::Result<()> {
    // Its owner must be able to add to it until it is whole.
    disk.create(path, &[], 0o600)?;
    content.pieces(&mut |piece| disk.append(path, piece))?;
    disk.set_mode(path, mode)
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

fn fill(disk: &dyn Disk, set: &ChangeSet, plan: &Plan, step: &Step) -> Result<(), Stop> {
    match step {
        Step::Swap { target, fresh, spare, before, .. } => match disk.exchange(fresh, target) {
            Ok(()) => unless_raced(disk, target, fresh, before),
            Err(error) if is_unsupported(&error) => {
                swap_by_link(disk, plan, target, fresh, spare).during("replace", target)?;
                unless_raced(disk, target, spare, before)
            }
            Err(error) => Err(error).during("replace", target)?,
        },
        Step::Create { target, fresh, .. } => {
            Ok(place_new(disk, plan.durable, fresh, target).during("create", target)?)
        }
        Step::Move { target, hold, .. } => {
            Ok(place_new(disk, plan.durable, hold, target).during("create", target)?)
        }
        Step::InPlace { target, before, after, .. } => {
            unless_raced(disk, target, target, before)?;
            let bytes = content(set, target, Side::After)?
                .bytes()
                .during("read the new content of", target)?;
            disk.overwrite(target, &bytes).during("overwrite", target)?;
            if before.mode != after.mode {
                disk.set_mode(target, after.mode).during("set the mode of", target)?;
            }
            Ok(sync(disk, plan, target)?)
        }
        Step::SetMode { target, after, .. } => {
            disk.set_mode(target, *after).during("set the mode of", target)?;
            Ok(sync(disk, plan, target)?)
        }
        Step::Delete { .. } => Ok(()),
    }
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
    for folder in plan.folders() {
        match disk.sync_folder(folder.as_ref()) {
            // A folder that was to be made and never was, or is gone again.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            other => {
                other.during("sync the folder of", folder.as_ref().unwrap_or(&journal::path()))?
            }
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Before,
    After,
}

/// The content of the change that ends at `target`.
fn content<'a>(set: &'a ChangeSet, target: &RelPath, side: Side) -> Result<&'a Content, Failure> {
    let content = |change: &'a Change| match side {
        Side::Before => change.before(),
        Side::After => change.after(),
    };
    // Sorted by path; of two changes at one path, one creates and the other deletes.
    let start = set.changes().partition_point(|change| change.path() < target);
    set.changes()[start..]
        .iter()
        .take_while(|change| change.path() == target)
        .find_map(content)
        .ok_or_else(|| io::ErrorKind::NotFound.into())
        .during("find the new content of", target)
}
