//! What a commit will do, in terms of names on the disk; it is what the journal holds.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use super::check::Stats;
use super::lock::{state_folder, state_path};
use super::{During as _, Failure};
use crate::disk::Disk;
use crate::{Change, ChangeSet, FileKind, FileState, Hash, RelPath};

/// The steps of one commit. Names beside the targets begin with `.xd-`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Plan {
    pub(super) durable: bool,
    /// Folders to make, outermost first.
    pub(super) makes: Vec<RelPath>,
    /// Folders to remove afterwards where they are empty, innermost first.
    pub(super) prunes: Vec<RelPath>,
    pub(super) steps: Vec<Step>,
    /// Whether a name is both vacated and filled, so that the two must not be reordered.
    pub(super) chained: bool,
}

/// What a file must be for a step to have been done or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    pub(super) kind: FileKind,
    pub(super) hash: Hash,
    pub(super) mode: u32,
}

impl From<&FileState> for Mark {
    fn from(state: &FileState) -> Self {
        Self { kind: state.kind, hash: state.hash, mode: state.mode }
    }
}

impl Mark {
    pub(super) fn is_at(&self, disk: &dyn Disk, path: &RelPath) -> std::io::Result<bool> {
        let Some((stat, hash)) = disk.look(path, self.kind)? else { return Ok(false) };
        Ok(stat.mode == self.mode && hash == Some(self.hash))
    }
}

/// One file's part of a commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    /// `fresh` is prepared and exchanged with `target`. Where names cannot be exchanged, `target`
    /// gets the second name `spare` and is then replaced.
    Swap { target: RelPath, fresh: RelPath, spare: RelPath, before: Mark, after: Mark },
    /// `fresh` is prepared and renamed to `target`, where nothing is; `like` lends its attributes.
    Create { target: RelPath, fresh: RelPath, after: Mark, like: Option<RelPath> },
    /// `target` is renamed to `spare`.
    Delete { target: RelPath, spare: RelPath, before: Mark },
    /// `source` is renamed to `hold`, beside `target`, and then to `target`.
    Move { source: RelPath, target: RelPath, hold: RelPath, before: Mark },
    /// The bytes of `target` are overwritten; `undo` and `redo` keep both contents meanwhile.
    InPlace { target: RelPath, undo: RelPath, redo: RelPath, before: Mark, after: Mark },
    /// The permission bits of `target` change.
    SetMode { target: RelPath, before: u32, after: u32 },
}

impl Step {
    pub(super) fn target(&self) -> &RelPath {
        match self {
            Step::Swap { target, .. }
            | Step::Create { target, .. }
            | Step::Delete { target, .. }
            | Step::Move { target, .. }
            | Step::InPlace { target, .. }
            | Step::SetMode { target, .. } => target,
        }
    }

    /// The folders whose names it changes.
    pub(super) fn folders(&self) -> impl Iterator<Item = Option<RelPath>> {
        let (first, second) = match self {
            Step::Swap { target, .. }
            | Step::Create { target, .. }
            | Step::Delete { target, .. } => (Some(target.parent()), None),
            Step::Move { source, target, .. } => (Some(source.parent()), Some(target.parent())),
            Step::InPlace { .. } | Step::SetMode { .. } => (None, None),
        };
        first.into_iter().chain(second)
    }
}

impl Plan {
    /// Plans the commit of a set whose sources are as `stats` says.
    pub(super) fn make(
        disk: &dyn Disk,
        set: &ChangeSet,
        stats: &Stats,
        durable: bool,
    ) -> Result<Self, Failure> {
        let namer = Namer::new();
        let mut steps = Vec::with_capacity(set.len());
        for change in set.changes() {
            lower(disk, change, stats, &namer, &mut steps)?;
        }
        let filled: BTreeSet<_> = set.changes().iter().filter_map(Change::fills).collect();
        let chained =
            set.changes().iter().filter_map(Change::vacates).any(|path| filled.contains(path));
        let mut makes = BTreeSet::new();
        for path in filled {
            missing_folders(disk, path, &mut makes)?;
        }
        let makes = makes.into_iter().collect();
        let mut prunes = set.removes_folders().to_vec();
        prunes.sort_by(|a, b| b.cmp(a));
        Ok(Plan { durable, makes, prunes, steps, chained })
    }

    /// Every folder whose names change, the parents of made folders included.
    pub(super) fn folders(&self) -> BTreeSet<Option<RelPath>> {
        let made = self.makes.iter().map(RelPath::parent);
        self.steps.iter().flat_map(Step::folders).chain(made).collect()
    }

    /// The files that are overwritten in place.
    pub(super) fn in_place(&self) -> BTreeSet<&RelPath> {
        self.steps
            .iter()
            .filter(|step| matches!(step, Step::InPlace { .. }))
            .map(Step::target)
            .collect()
    }

    pub(super) fn targets(&self) -> Vec<RelPath> {
        self.steps.iter().map(|step| step.target().clone()).collect()
    }
}

fn lower(
    disk: &dyn Disk,
    change: &Change,
    stats: &Stats,
    namer: &Namer,
    steps: &mut Vec<Step>,
) -> Result<(), Failure> {
    let before = change.from_state().map(Mark::from);
    let after = change.to_state().as_ref().map(Mark::from);
    let target = change.path().clone();
    let stat = change.source().and_then(|source| stats.get(source));
    match (change, before, after) {
        (Change::Edit { .. } | Change::Replace { .. }, Some(before), Some(after)) => {
            let shared = stat.is_some_and(|stat| stat.links > 1 || !disk.can_own(stat.owner));
            steps.push(if before.hash == after.hash {
                Step::SetMode { target, before: before.mode, after: after.mode }
            } else if shared {
                Step::InPlace {
                    target,
                    undo: namer.state("undo"),
                    redo: namer.state("redo"),
                    before,
                    after,
                }
            } else {
                let (fresh, spare) = (namer.beside(&target), namer.beside(&target));
                Step::Swap { target, fresh, spare, before, after }
            });
        }
        (Change::Create { .. }, _, Some(after)) => {
            let fresh = namer.beside(&target);
            steps.push(Step::Create { target, fresh, after, like: None });
        }
        (Change::Delete { .. }, Some(before), _) => {
            let spare = namer.beside(&target);
            steps.push(Step::Delete { target, spare, before });
        }
        (Change::Move { source, .. }, Some(before), Some(after)) => {
            if before == after && same_device(disk, source, &target)? {
                let hold = namer.beside(&target);
                steps.push(Step::Move { source: source.clone(), target, hold, before });
            } else {
                let (fresh, spare) = (namer.beside(&target), namer.beside(source));
                steps.push(Step::Create { target, fresh, after, like: Some(source.clone()) });
                steps.push(Step::Delete { target: source.clone(), spare, before });
            }
        }
        (Change::SetMode { .. }, Some(before), Some(after)) => {
            steps.push(Step::SetMode { target, before: before.mode, after: after.mode });
        }
        (
            Change::Edit { .. }
            | Change::Replace { .. }
            | Change::Create { .. }
            | Change::Delete { .. }
            | Change::Move { .. }
            | Change::SetMode { .. },
            _,
            _,
        ) => {
            unreachable!("every change but a create has a state before, and but a delete one after")
        }
    }
    Ok(())
}

/// Whether a rename between the two folders stays on one file system. A folder that is yet to be
/// made lies on that of the nearest one that exists.
fn same_device(disk: &dyn Disk, source: &RelPath, target: &RelPath) -> Result<bool, Failure> {
    let device = disk.stat(source).during("look at", source)?.identity.0;
    for folder in target.ancestors() {
        if let Some(stat) = disk.stat_if_any(&folder).during("look at", &folder)? {
            return Ok(stat.identity.0 == device);
        }
    }
    // The root itself, which has no name; the state folder lies in it.
    let state = state_folder();
    Ok(disk.stat(&state).during("look at", &state)?.identity.0 == device)
}

fn missing_folders(
    disk: &dyn Disk,
    path: &RelPath,
    missing: &mut BTreeSet<RelPath>,
) -> Result<(), Failure> {
    for folder in path.ancestors() {
        if missing.contains(&folder)
            || disk.stat_if_any(&folder).during("look at", &folder)?.is_some()
        {
            break;
        }
        missing.insert(folder);
    }
    Ok(())
}

/// Gives out names that nothing else has: by chance for the process, and by number for the commit
/// within it. A process number would not do: with another boot or container it comes again, and the
/// names of files that an earlier commit had to leave behind with it.
struct Namer {
    commit: String,
    next: std::cell::Cell<usize>,
}

static COMMITS: AtomicU64 = AtomicU64::new(0);
static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(std::process::id()));

impl Namer {
    fn new() -> Self {
        // The simulated disk knows one commit at a time, and its every run is to be the same.
        let commit = match cfg!(test) {
            true => "0-0".to_owned(),
            false => format!("{:016x}-{:x}", *PROCESS, COMMITS.fetch_add(1, Ordering::Relaxed)),
        };
        Self { commit, next: std::cell::Cell::new(0) }
    }

    fn name(&self) -> String {
        let n = self.next.replace(self.next.get() + 1);
        format!("{}-{n}", self.commit)
    }

    fn beside(&self, path: &RelPath) -> RelPath {
        let name = format!(".xd-{}", self.name());
        path.with_file_name(&name).unwrap_or_else(|_| unreachable!("the name is plain"))
    }

    fn state(&self, what: &str) -> RelPath {
        state_path(&format!("{what}-{}", self.name()))
    }
}
