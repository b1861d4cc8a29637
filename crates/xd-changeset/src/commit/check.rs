//! Comparing every target with what the change set starts from (`CONTRACT F2`).

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::sync::{Mutex, PoisonError};

use super::hands::in_turn;
use crate::disk::{Disk, Stat};
use crate::{Change, ChangeSet, Content, Drift, DriftKind, FileState, RelPath, StalePreview};

/// What the sources are, by path, for the plan.
pub(super) type Stats = BTreeMap<RelPath, Stat>;

pub(super) fn check(disk: &dyn Disk, set: &ChangeSet) -> Result<Stats, StalePreview> {
    let found = Mutex::new((Stats::new(), Vec::<Drift>::new()));
    let looked: Result<(), Infallible> = in_turn(disk.hands(false), set.changes(), |change| {
        if let (Some(path), Some(from)) = (change.source(), change.from_state()) {
            let seen = source(disk, path, from, change.before());
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            match seen {
                Ok(stat) => drop(found.0.insert(path.clone(), stat)),
                Err(what) => found.1.push(Drift { path: path.clone(), what }),
            }
        }
        Ok(())
    });
    let Ok(()) = looked;
    let (stats, mut drifts) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let leaving: BTreeMap<&RelPath, ()> =
        set.changes().iter().filter_map(Change::vacates).map(|path| (path, ())).collect();
    for change in set.changes() {
        let Some(path) = change.fills() else { continue };
        if leaving.contains_key(path) {
            continue;
        }
        let itself = change
            .source()
            .and_then(|source| stats.get(source))
            .map(|stat| (stat.identity, stat.links));
        if let Err(what) = free(disk, path, itself) {
            drifts.push(Drift { path: path.clone(), what });
        }
    }
    if drifts.is_empty() {
        return Ok(stats);
    }
    drifts.sort_by(|a, b| a.path.cmp(&b.path));
    Err(StalePreview { drifts })
}

/// Whether the file at `path` is as `from` says.
fn source(
    disk: &dyn Disk,
    path: &RelPath,
    from: &FileState,
    before: Option<&Content>,
) -> Result<Stat, DriftKind> {
    let (stat, is) = match disk.examine(path, from.kind) {
        Ok(Some((stat, Some(is)))) => (stat, is),
        Ok(Some((stat, None))) => {
            return Err(DriftKind::Kind { was: from.kind, is: stat.kind.to_string() });
        }
        Ok(None) => return Err(DriftKind::Vanished),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(DriftKind::Vanished),
        Err(error) => return Err(unreachable_because(error)),
    };
    if is != from.hash {
        let lines = describe(disk, path, from, before, stat.len);
        return Err(DriftKind::Content { was: from.hash, is, lines });
    }
    if stat.mode != from.mode {
        return Err(DriftKind::Mode { was: from.mode, is: stat.mode });
    }
    Ok(stat)
}

/// Which lines differ; for large contents, and those that cannot be had, only how many bytes.
fn describe(
    disk: &dyn Disk,
    path: &RelPath,
    from: &FileState,
    before: Option<&Content>,
    len: u64,
) -> String {
    let lines = before.filter(|_| from.len.max(len) <= Content::LARGE).and_then(|before| {
        let (was, is) = (before.bytes().ok()?, disk.contents(path, from.kind).ok()?);
        Some(crate::diff::describe(&was, &is))
    });
    lines.unwrap_or_else(|| format!("{} bytes then, {len} bytes now", from.len))
}

/// Whether nothing is at `path`, or only the moved file itself under a name that the file system
/// takes for the same.
fn free(
    disk: &dyn Disk,
    path: &RelPath,
    itself: Option<((u64, u64), u64)>,
) -> Result<(), DriftKind> {
    match disk.stat_if_any(path) {
        Ok(None) => Ok(()),
        Ok(Some(stat)) if itself == Some((stat.identity, 1)) => Ok(()),
        Ok(Some(_)) => Err(DriftKind::Appeared),
        Err(error) => Err(unreachable_because(error)),
    }
}

fn unreachable_because(error: io::Error) -> DriftKind {
    match error.kind() {
        io::ErrorKind::NotADirectory => {
            DriftKind::Folder { is: "a folder on the way is a link or a file now".to_owned() }
        }
        _other => DriftKind::Unreadable { reason: error.to_string() },
    }
}
