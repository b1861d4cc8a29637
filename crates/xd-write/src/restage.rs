//! A stale action made anew against the present files, under a number of its own (`CONTRACT F7`).

use std::sync::Arc;

use serde_json::{Value, json};
use xd_changeset::{ChangeSet, Content, RelPath, RestageError, SplitError};
use xd_protocol::{StageNumber, Verdict};
use xd_resolve::{
    ActionState, ActionStore, Decider, Ending, Lineage, Resolution, StageError, Staged,
    StagedAction, StagingSession, Tier, ToolResult, queue_resolve_handler,
};

use crate::{
    Bound, FnTool, PreviewText, Proposed, Registry, Tool, ToolContext, ToolDefinition, ToolFailure,
    Workspace,
};

/// The name of [`restage_tool`].
pub(crate) const RESTAGE: &str = "restage";
const DESCRIPTION: &str = "Make a stale staged action anew against the present files.\n\
                           It is refused where its edits touch what changed. The new action has a \
                           number of its own and supersedes the old one.";

/// An action that was made anew.
#[derive(Debug)]
pub struct Restaged {
    /// The new one.
    pub staged: Staged,
    /// The old one, which is discarded now.
    pub superseded: StageNumber,
}

/// Why nothing was made anew; what was pending still is.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RestageFailure {
    /// Nothing is pending.
    #[error("nothing is pending, so there is nothing to stage again")]
    NothingPending,
    /// No action has this number.
    #[error("no staged action has number {0}")]
    Unknown(StageNumber),
    /// It is decided, or somebody is deciding it.
    #[error("staged action @{number} is {}; nothing was staged", .state.as_str())]
    NotPending {
        /// Which.
        number: StageNumber,
        /// What it is.
        state: ActionState,
    },
    /// It has no change set, so that only its producer could make it anew.
    #[error("staged action @{0} has no change set; only the tool that staged it can stage it anew")]
    NoChangeSet(StageNumber),
    /// Its files are as they were previewed.
    #[error("staged action @{0} is not stale: it can be applied as it is")]
    NotStale(StageNumber),
    /// The files already are what it would make of them.
    #[error("staged action @{0} would change nothing any more: the files already are so")]
    NothingLeft(StageNumber),
    /// What changed touches what it would change.
    #[error("staged action @{number} {source}")]
    Touches {
        /// Which.
        number: StageNumber,
        /// Which files, and why.
        source: RestageError,
    },
    /// The text of the file cannot be put in its place.
    #[error("staged action @{number} cannot be edited so: {source}")]
    Content {
        /// Which.
        number: StageNumber,
        /// Why not.
        source: SplitError,
    },
    /// The new one could not be staged.
    #[error(transparent)]
    Stage(#[from] StageError),
}

/// Makes the pending action `number`, or without one the head, anew against the present files,
/// where its edits do not touch what changed: a new action with a number and a preview of its own.
/// The old one is discarded, and the log says by which it is superseded.
///
/// # Errors
/// [`RestageFailure`].
///
/// # Cancel safety
/// Dropped half-way it may leave both pending; the old one is stale and cannot be applied.
pub async fn restage<S>(
    session: &S,
    workspace: &Workspace,
    number: Option<StageNumber>,
    decider: Decider,
) -> Result<Restaged, RestageFailure>
where
    S: StagingSession + ?Sized,
{
    let store = session.action_store().ok_or(StageError::NoStore)?;
    let old = pending(store, number)?;
    let proposed = anew(workspace, &old)?;
    let why = "made anew against the present files";
    supersede(session, store, workspace, (&old, proposed, why), decider).await
}

/// Puts in place of the pending action `old` one that makes `after` of the file `path`, as a person
/// edited it: a new action with a number and a preview of its own. The old one is discarded, and the
/// log says by which it is superseded. So no number ever comes to mean what nobody staged under it.
///
/// # Errors
/// [`RestageFailure`].
///
/// # Cancel safety
/// As [`restage`].
pub async fn restage_edited(
    store: &Arc<ActionStore>,
    workspace: &Workspace,
    old: &StagedAction,
    (path, after): (&RelPath, Content),
    decider: Decider,
) -> Result<Restaged, RestageFailure> {
    let number = old.number();
    let former = old.change_set().ok_or(RestageFailure::NoChangeSet(number))?;
    let change_set = match former.with_content(path, after) {
        Ok(change_set) => change_set,
        Err(SplitError::Nothing) => return Err(RestageFailure::NothingLeft(number)),
        Err(source) => return Err(RestageFailure::Content { number, source }),
    };
    let label = match old.label().strip_suffix(EDITED) {
        Some(_) => old.label().to_owned(),
        None => format!("{}{EDITED}", old.label()),
    };
    let proposed = proposed(old, label, change_set);
    supersede(store, store, workspace, (old, proposed, "edited in the review"), decider).await
}

/// How the label of an action ends that a person edited.
const EDITED: &str = ", edited";

async fn supersede<S>(
    session: &S,
    store: &Arc<ActionStore>,
    workspace: &Workspace,
    (old, proposed, how): (&StagedAction, Proposed, &str),
    decider: Decider,
) -> Result<Restaged, RestageFailure>
where
    S: StagingSession + ?Sized,
{
    let number = old.number();
    let request =
        proposed.into_request(workspace).tier(old.tier()).lineage(Lineage::Supersedes(number));
    let staged = queue_resolve_handler(session, request).await?;
    let why = format!("Superseded by @{}, {how}.", staged.number());
    match store.confirm(number, Verdict::Discard, why, decider).await {
        Resolution::Ran { ending: Ending::Discarded, .. } => {
            Ok(Restaged { staged, superseded: number })
        }
        // Somebody decided the old one just now: then that decision stands, and no second offer.
        Resolution::Ran { .. } | Resolution::Refused(_) => {
            let why = format!("Staged action @{number} was decided meanwhile.");
            drop(store.confirm(staged.number(), Verdict::Discard, why, Decider::Host).await);
            let state = store.get(number).map_or(ActionState::Void, |(_, state)| state);
            Err(RestageFailure::NotPending { number, state })
        }
    }
}

fn pending(
    store: &Arc<ActionStore>,
    number: Option<StageNumber>,
) -> Result<Arc<StagedAction>, RestageFailure> {
    let Some(number) = number else {
        return store.head().ok_or(RestageFailure::NothingPending);
    };
    match store.get(number).ok_or(RestageFailure::Unknown(number))? {
        (action, ActionState::Pending) => Ok(action),
        (_, state) => Err(RestageFailure::NotPending { number, state }),
    }
}

/// The same change against the present files.
fn anew(workspace: &Workspace, old: &StagedAction) -> Result<Proposed, RestageFailure> {
    let number = old.number();
    let former = old.change_set().ok_or(RestageFailure::NoChangeSet(number))?;
    if former.check(workspace.root()).is_ok() {
        return Err(RestageFailure::NotStale(number));
    }
    let change_set = former
        .restage(workspace.root())
        .map_err(|source| RestageFailure::Touches { number, source })?;
    if change_set.is_empty() {
        return Err(RestageFailure::NothingLeft(number));
    }
    let label = label(old.label(), former.len(), change_set.len());
    Ok(proposed(old, label, change_set))
}

/// What `old` proposed, of another change.
fn proposed(old: &StagedAction, label: String, change_set: ChangeSet) -> Proposed {
    let detail = |key: &str| old.details().and_then(|details| details.get(key));
    let notes = detail("notes").and_then(Value::as_array).into_iter().flatten();
    let notes: Vec<String> = notes.filter_map(Value::as_str).map(ToOwned::to_owned).collect();
    Proposed {
        preview: text(&label, &notes, &change_set, Bound::Whole, None),
        label,
        source_tool_name: old.source_tool_name().to_owned(),
        success: detail("success").and_then(Value::as_str).unwrap_or("Applied.").to_owned(),
        notes,
        change_set,
    }
}

fn text(
    title: &str,
    notes: &[String],
    change_set: &ChangeSet,
    bound: Bound,
    number: Option<u64>,
) -> String {
    PreviewText { title, notes, change_set, counts: None }.text(bound, number)
}

/// The tool `restage`: [`restage`] for a model, best mounted as a device. Where it is, what went
/// stale says so.
#[must_use]
pub fn restage_tool() -> impl Tool {
    let definition = ToolDefinition::new(
        RESTAGE,
        DESCRIPTION,
        json!({
            "type": "object",
            "properties": { "number": {
                "type": "integer",
                "minimum": 1,
                "description": "The number of the stale action; without it, the newest pending one.",
            } },
            "additionalProperties": false,
        }),
    );
    FnTool::new(definition, Tier::Write, call).shared().staging()
}

/// Whether [`restage_tool`] is mounted, and not another tool of that name.
pub(crate) fn can_restage(registry: &Registry) -> bool {
    registry.get(RESTAGE).is_some_and(|tool| tool.definition().description == DESCRIPTION)
}

async fn call(context: Arc<ToolContext>, arguments: Value) -> Result<ToolResult, ToolFailure> {
    let number = match arguments.get("number") {
        None | Some(Value::Null) => None,
        Some(given) => match given.as_u64().and_then(StageNumber::new) {
            Some(number) => Some(number),
            None => {
                let text = format!("`number` counts from 1; {given} is none.");
                return Ok(ToolResult::error(text));
            }
        },
    };
    let again = restage(&*context, context.workspace(), number, context.decider()).await;
    let restaged = match again {
        Ok(restaged) => restaged,
        Err(failure) => return Ok(ToolResult::error(format!("{failure}."))),
    };
    let staged = &restaged.staged;
    let notes = [format!("It supersedes @{}, which is discarded.", restaged.superseded)];
    let preview = match staged.action().change_set() {
        Some(set) => {
            let number = Some(staged.number().get());
            text(staged.action().label(), &notes, set, Bound::MODEL, number)
        }
        None => staged.action().preview(),
    };
    Ok(staged.result(&preview))
}

/// What it is called now. Files that already are as they would be made are in it no more.
fn label(former: &str, were: usize, are: usize) -> String {
    match were == are {
        true => former.to_owned(),
        false => format!("{former}, of which {are} of {were} files are left"),
    }
}
