//! A staged action as a block on the screen.

use serde_json::Value;
use xd_changeset::ChangeSet;
use xd_render::{Preview, PreviewState};
use xd_resolve::{ActionState, StagedAction};

/// How many unchanged lines are shown around a change.
pub(super) const CONTEXT_LINES: usize = 3;

/// The drawing of a pending `action`: its remarks, then the diff of its change set, or the preview
/// that its producer wrote where it has none.
pub(super) fn of(action: &StagedAction, stale: Option<String>, see_all: Option<String>) -> Preview {
    let text = match action.change_set() {
        Some(change_set) => text(action.details(), change_set),
        None => action.preview(),
    };
    Preview {
        number: Some(action.number().get()),
        label: Some(action.label().to_owned()),
        source: Some(action.source_tool_name().to_owned()),
        state: PreviewState::Pending,
        stale,
        text,
        see_all,
    }
}

/// The remarks among `details`, then the diff of the change: what is shown is what is applied.
pub(super) fn text(details: Option<&Value>, change_set: &ChangeSet) -> String {
    let notes = details.and_then(|details| details.get("notes")).and_then(Value::as_array);
    let notes: Vec<&str> = notes.into_iter().flatten().filter_map(Value::as_str).collect();
    let gap = if notes.is_empty() { "" } else { "\n\n" };
    format!("{}{gap}{}", notes.join("\n"), change_set.unified(CONTEXT_LINES))
}

/// What is drawn of `state`.
pub(super) fn state(state: ActionState) -> PreviewState {
    match state {
        ActionState::Pending => PreviewState::Pending,
        ActionState::Taken(_) => PreviewState::BeingResolved,
        ActionState::Applied => PreviewState::Applied,
        ActionState::Discarded => PreviewState::Discarded,
        ActionState::Void => PreviewState::Void,
        ActionState::Withdrawn => PreviewState::Withdrawn,
    }
}
