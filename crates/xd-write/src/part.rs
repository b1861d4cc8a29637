//! Deciding about some files or hunks of a pending action; the others stay pending under its number.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use xd_changeset::{ChangeSet, Pick, RelPath, SplitError};
use xd_protocol::{StageNumber, Verdict};
use xd_resolve::{
    ActionStore, Decider, Ending, Lineage, PlanMode, Resolution, StageError, StageRequest,
    StagedAction, ToolResult, dispatch_result,
};

use crate::{Bound, PreviewText, Proposed, Workspace};

/// The lines of context by which hunks are told apart and counted, in every preview.
const CONTEXT: usize = 3;

/// A part that was decided.
#[derive(Debug)]
pub struct PartDecided {
    /// The number of the part, under which it is applied or discarded, and can be undone.
    pub number: StageNumber,
    /// The number of the whole, under which the rest is pending.
    pub of: StageNumber,
    /// How many single changes the part has: hunks, and files that only change as a whole.
    pub picked: usize,
    /// How many are left.
    pub left: usize,
    /// The result of the decision, as of every decision (`CONTRACT D7`).
    pub result: ToolResult,
}

/// Why no part was decided; the whole is pending as before.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PartFailure {
    /// It has no change set, so that nothing can be told apart.
    #[error("staged action @{0} has no change set; it is decided as a whole")]
    NoChangeSet(StageNumber),
    /// The change set cannot be divided so.
    #[error("staged action @{number}: {source}")]
    Split {
        /// Which action.
        number: StageNumber,
        /// Why not.
        source: SplitError,
    },
    /// The part could not be staged.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// The decision was refused or failed. Its text names the paths that differ, where it is that.
    #[error("{message}")]
    Failed {
        /// Which action.
        number: StageNumber,
        /// What the decision answered.
        message: String,
    },
}

/// Applies or discards what `picks` names of the pending action `whole`, for `reason`: as an action
/// of its own, with a number, a line in the log and every promise of an apply. What is left is
/// pending under the number of the whole from the same moment on, also if the process dies at any
/// (**Invariant W13**).
///
/// `whole` is the action whose change was looked at: where another part of it was decided
/// meanwhile, nothing happens.
///
/// # Errors
/// [`PartFailure`]; nothing is written, and the whole is pending as before.
///
/// # Cancel safety
/// Dropped before the decision begins it may leave the part pending beside the whole, in which it
/// still is; whichever of both is applied makes the other one stale. A decision that has begun ends
/// and is recorded.
pub async fn decide_part(
    store: &Arc<ActionStore>,
    workspace: &Workspace,
    whole: Arc<StagedAction>,
    picks: &BTreeMap<RelPath, Pick>,
    verdict: Verdict,
    reason: &str,
    decider: Decider,
) -> Result<PartDecided, PartFailure> {
    let number = whole.number();
    let set = whole.change_set().ok_or(PartFailure::NoChangeSet(number))?;
    let split =
        set.split(picks, CONTEXT).map_err(|source| PartFailure::Split { number, source })?;
    let (picked, left) = (split.picked, split.all - split.picked);
    let (label, all) = (whole_label(whole.label()), split.all);
    let part = Half {
        label: format!("{label}, {picked} of {all} changes of @{number}"),
        success: format!("Applied {picked} of the {all} changes of @{number} ({label})."),
        notes: Vec::new(),
        change_set: split.part,
    };
    let left_set = match verdict {
        Verdict::Apply => split.rest_after,
        Verdict::Discard => split.rest_alone,
    };
    let rest = Half {
        label: format!("{label}{LEFT}{left} of {all} changes left"),
        success: format!("Applied the {left} changes that were left of @{number} ({label})."),
        notes: notes(&whole),
        change_set: left_set,
    };
    let mut rest = rest.request(workspace, &whole);
    if let Some(lineage @ (Lineage::Undoes(_) | Lineage::Supersedes(_))) = whole.lineage() {
        rest = rest.lineage(lineage);
    }
    let request = part.request(workspace, &whole).part_of(Arc::clone(&whole), verdict, rest);
    let part = store.stage(request)?.number();
    let resolution = store.confirm(part, verdict, reason, decider).await;
    let decided = match &resolution {
        Resolution::Ran { ending: Ending::Applied | Ending::Discarded, late: false, .. } => true,
        Resolution::Ran { .. } | Resolution::Refused(_) => false,
    };
    let result = dispatch_result(resolution, verdict, reason, PlanMode::Off);
    if decided {
        return Ok(PartDecided { number: part, of: number, picked, left, result });
    }
    let message = result.content.first().cloned().unwrap_or_default();
    // Nothing stays pending that nobody asked for.
    let why = format!("The part could not be decided: {message}");
    drop(store.confirm(part, Verdict::Discard, why, Decider::Host).await);
    Err(PartFailure::Failed { number, message })
}

/// Between the label of a whole and what is said of its rest.
const LEFT: &str = ", ";
/// How the label of a rest ends.
const LEFT_END: &str = " changes left";

/// What an action was called before any part of it was decided.
fn whole_label(label: &str) -> &str {
    let counted = |tail: &str| {
        let tail = tail.strip_suffix(LEFT_END)?;
        let (left, all) = tail.split_once(" of ")?;
        (left.parse::<usize>().is_ok() && all.parse::<usize>().is_ok()).then_some(())
    };
    match label.rsplit_once(LEFT) {
        Some((whole, tail)) if counted(tail).is_some() => whole,
        Some(_) | None => label,
    }
}

/// What was remarked about the whole holds for what is left of it.
fn notes(whole: &StagedAction) -> Vec<String> {
    let notes = whole.details().and_then(|details| details.get("notes")).and_then(Value::as_array);
    let notes = notes.into_iter().flatten().filter_map(Value::as_str);
    notes.map(ToOwned::to_owned).collect()
}

/// The part, or what is left.
struct Half {
    label: String,
    success: String,
    notes: Vec<String>,
    change_set: ChangeSet,
}

impl Half {
    fn request(self, workspace: &Workspace, whole: &StagedAction) -> StageRequest {
        let Self { label, success, notes, change_set } = self;
        let text =
            PreviewText { title: &label, notes: &notes, change_set: &change_set, counts: None };
        let preview = text.text(Bound::Whole, None);
        let source_tool_name = whole.source_tool_name().to_owned();
        Proposed { label, source_tool_name, success, notes, preview, change_set }
            .into_request(workspace)
            .tier(whole.tier())
    }
}
