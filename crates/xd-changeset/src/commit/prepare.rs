//! Writing what a commit will put into place, before anything that anyone uses changes.

use std::collections::BTreeSet;
use std::io;

use super::check::Stats;
use super::hands::in_turn;
use super::plan::{Mark, Plan, Step};
use super::{During as _, Failure};
use crate::disk::{Disk, NewFile, Stat};
use crate::{Change, ChangeSet, Content, FileKind, RelPath};

/// Writes every new content beside its target. Nothing that anyone uses changes.
pub(super) fn prepare(
    disk: &dyn Disk,
    set: &ChangeSet,
    plan: &Plan,
    stats: &Stats,
) -> Result<(), Failure> {
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
    in_turn(disk.hands(plan.durable), &plan.steps, |step| {
        prepare_step(disk, set, plan, stats, step)
    })?;
    let copies = plan.steps.iter().find_map(|step| match step {
        Step::InPlace { undo, .. } => Some(undo),
        Step::Swap { .. }
        | Step::Create { .. }
        | Step::Delete { .. }
        | Step::Move { .. }
        | Step::SetMode { .. } => None,
    });
    match copies {
        Some(undo) if plan.durable => disk.sync_folder(undo.parent().as_ref()).during("sync", undo),
        Some(_) | None => Ok(()),
    }
}

fn prepare_step(
    disk: &dyn Disk,
    set: &ChangeSet,
    plan: &Plan,
    stats: &Stats,
    step: &Step,
) -> Result<(), Failure> {
    let after = |target| content(set, target, Side::After);
    let lent = |path| Some((path, stats.get(path)));
    let result = match step {
        Step::Swap { target, fresh, after: mark, .. } => {
            prepare_file(disk, plan, fresh, after(target)?, mark, lent(target))
        }
        Step::Create { target, fresh, after: mark, like } => {
            prepare_file(disk, plan, fresh, after(target)?, mark, like.as_ref().and_then(lent))
        }
        Step::InPlace { target, undo, redo, before, after: mark } => {
            let was = content(set, target, Side::Before)?;
            prepare_file(disk, plan, undo, was, &private(before), None)?;
            prepare_file(disk, plan, redo, after(target)?, &private(mark), None)
        }
        Step::Delete { .. } | Step::Move { .. } | Step::SetMode { .. } => Ok(()),
    };
    // The names beside the targets mean nothing to whoever reads of the failure.
    result.map_err(|failure| Failure { path: step.target().clone(), ..failure })
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
    like: Option<(&RelPath, Option<&Stat>)>,
) -> Result<(), Failure> {
    let (like, lender) = (like.map(|(path, _)| path), like.and_then(|(_, stat)| stat));
    match mark.kind {
        FileKind::Symlink => {
            let bytes = content.bytes().during("read the new target of", path)?;
            let target = std::str::from_utf8(&bytes).map_err(|_| {
                io::Error::new(io::ErrorKind::InvalidData, "the link's target is not UTF-8")
            });
            target.and_then(|target| disk.create_link(path, target)).during("create", path)
        }
        FileKind::File => {
            let durable = plan.durable;
            let new = NewFile { path, content, mode: mark.mode, like, lender, durable };
            disk.prepare(&new).map_err(|unmade| {
                let path = if unmade.of_like { like.unwrap_or(path) } else { path };
                Failure { action: unmade.action, path: path.clone(), source: unmade.source }
            })
        }
    }
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
