//! Undo and redo: the inverse of what was applied, as an action of its own (`CONTRACT F6`).

use std::sync::Arc;

use xd_changeset::{Drift, DriftKind, StalePreview};
use xd_protocol::{StageNumber, Verdict};
use xd_resolve::{
    ActionStore, Decider, Ending, Lineage, PlanMode, Resolution, StageError, ToolResult,
    dispatch_result,
};

use crate::{
    Bound, Direction, History, NoTarget, PreviewText, Proposed, StateError, StateFolder,
    UndoTarget, Workspace,
};

/// What was undone or redone.
#[derive(Debug)]
pub struct Undone {
    /// The action that did it.
    pub number: StageNumber,
    /// The change that it was about.
    pub change: StageNumber,
    /// The result of its apply, as of every apply (`CONTRACT D7`).
    pub result: ToolResult,
}

/// Why nothing was undone or redone; no file was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UndoError {
    /// There is nothing to undo, or to redo.
    #[error(transparent)]
    NoTarget(#[from] NoTarget),
    /// The change is not at hand.
    #[error("staged action @{number} cannot be {}: its change was not kept", .direction.past())]
    NotKept {
        /// Which change.
        number: StageNumber,
        /// What was asked.
        direction: Direction,
    },
    /// Files are not what was written.
    #[error("staged action @{number} cannot be {}: {}", .direction.past(), differs(.stale))]
    Differs {
        /// Which change.
        number: StageNumber,
        /// What was asked.
        direction: Direction,
        /// Which files differ, and how.
        stale: StalePreview,
    },
    /// It could not be staged.
    #[error(transparent)]
    Stage(#[from] StageError),
    /// Its apply was refused or failed; the action is discarded.
    #[error("staged action @{number} was not {}: {message}", .direction.past())]
    Failed {
        /// Which change.
        number: StageNumber,
        /// What was asked.
        direction: Direction,
        /// What the apply answered.
        message: String,
    },
    /// The state cannot be used.
    #[error(transparent)]
    State(#[from] StateError),
}

/// What differs, in the words of an undo: what counts here is not the preview but the last apply.
fn differs(stale: &StalePreview) -> String {
    let told = |drift: &Drift| {
        let what = match &drift.what {
            DriftKind::Content { lines, .. } => format!("changed since ({lines})"),
            DriftKind::Appeared => "exists now, and did not then".to_owned(),
            what => what.to_string(),
        };
        format!("'{}' {what}", drift.path)
    };
    let told: Vec<String> = stale.drifts.iter().map(told).collect();
    told.join("; ")
}

impl StateFolder {
    /// Puts back what an apply wrote, or writes again what was put back: the change of `number`, or
    /// without one the last that there is. It is staged as an action with a change set of its own
    /// and applied at once for `reason`, so that it has the promises of every apply: all files or
    /// none, only where they are untouched, once, and recorded.
    ///
    /// `store` must be the one that this state was restored into.
    ///
    /// # Errors
    /// [`UndoError`]; no file is written and nothing stays pending.
    ///
    /// # Cancel safety
    /// Dropped before the apply has begun it may leave the undo pending, like any staged action;
    /// an apply that has begun ends and is recorded.
    pub async fn undo(
        &self,
        store: &Arc<ActionStore>,
        workspace: &Workspace,
        (direction, number): (Direction, Option<StageNumber>),
        reason: &str,
        decider: Decider,
    ) -> Result<Undone, UndoError> {
        let target = History::of(&self.log()?).target(direction, number)?;
        let proposed = self.inverse(workspace, direction, target)?;
        let request = proposed.into_request(workspace).lineage(Lineage::Undoes(target.invert));
        let staged = store.stage(request)?.number();
        let resolution = store.confirm(staged, Verdict::Apply, reason, decider).await;
        let applied =
            matches!(resolution, Resolution::Ran { ending: Ending::Applied, late: false, .. });
        if applied {
            let result = dispatch_result(resolution, Verdict::Apply, reason, PlanMode::Off);
            return Ok(Undone { number: staged, change: target.change, result });
        }
        let message = message_of(resolution, reason);
        let why = format!("The {} failed: {message}", direction.title().to_lowercase());
        // Whoever took it meanwhile has it; otherwise nothing stays pending that nobody asked for.
        drop(store.confirm(staged, Verdict::Discard, why, Decider::Host).await);
        Err(UndoError::Failed { number: target.change, direction, message })
    }

    /// The inverse of what was applied last about the change, checked against the files.
    fn inverse(
        &self,
        workspace: &Workspace,
        direction: Direction,
        UndoTarget { change, invert }: UndoTarget,
    ) -> Result<Proposed, UndoError> {
        let kept = |number: StageNumber| match self.action(number.get()) {
            Ok(kept) => Ok(kept),
            Err(StateError::Damaged { .. }) => {
                Err(UndoError::NotKept { number: change, direction })
            }
            Err(error) => Err(error.into()),
        };
        let change_set = kept(invert)?.change_set.inverse();
        change_set.check(workspace.root()).map_err(|stale| UndoError::Differs {
            number: change,
            direction,
            stale,
        })?;
        let former = kept(change)?.label;
        let label = format!("{}: @{change} {former}", direction.title());
        let past = direction.past();
        let past = past[..1].to_uppercase() + &past[1..];
        Ok(Proposed {
            preview: PreviewText {
                title: &label,
                notes: &[],
                change_set: &change_set,
                counts: None,
            }
            .text(Bound::Whole, None),
            label,
            source_tool_name: direction.title().to_lowercase(),
            success: format!("{past} @{change} ({former})."),
            notes: Vec::new(),
            change_set,
        })
    }
}

/// What an apply that did not come to its end answered.
fn message_of(resolution: Resolution, reason: &str) -> String {
    let answer = |result: Option<ToolResult>| {
        result.and_then(|result| result.content.into_iter().next()).unwrap_or_default()
    };
    match resolution {
        Resolution::Ran { result, .. } => answer(result),
        refused @ Resolution::Refused(_) => {
            answer(Some(dispatch_result(refused, Verdict::Apply, reason, PlanMode::Off)))
        }
    }
}
