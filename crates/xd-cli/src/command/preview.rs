//! A staged action as a block on the screen.

use serde_json::{Value, json};
use xd_changeset::{ChangeSet, FileSummary};
use xd_render::{Line, Preview, PreviewState, Role, draw_preview};
use xd_resolve::{ActionState, Staged, StagedAction};
use xd_write::{Proposed, stage_change_set};

use super::block_on;
use crate::{
    failure::{Failure, Status},
    place::Place,
    screen::Screen,
};

/// How many unchanged lines are shown around a change.
pub(crate) const CONTEXT_LINES: usize = 3;

/// The drawing of a pending `action`: its remarks, then the diff of its change set, or the preview
/// that its producer wrote where it has none.
pub(crate) fn of(action: &StagedAction, stale: Option<String>, see_all: Option<String>) -> Preview {
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

/// Stages a proposal and prints its preview.
pub(super) fn stage(
    place: &Place,
    proposed: Proposed,
    summary: &Value,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let files = proposed.change_set.files();
    let preview = proposed.preview.clone();
    let staged = block_on(stage_change_set(&*place.session, &place.workspace, proposed))?
        .map_err(|error| Failure::new(error, "Nothing was staged; mend this and run it again."))?;
    if screen.is_json() {
        screen.json(&json!({
            "v": 1,
            "staged": {
                "number": staged.number().get(),
                "id": staged.action().id(),
                "label": staged.action().label(),
                "files": files,
                "summary": summary,
                "preview": preview,
            }
        }));
    } else {
        self::staged(&staged, screen);
    }
    Ok(Status::Done)
}

/// Prints what was just staged, and how to decide about it.
pub(super) fn staged(staged: &Staged, screen: &mut Screen) {
    let number = staged.number();
    let preview = of(staged.action(), None, Some(format!("xd show {number}")));
    let options = screen.options().clone();
    draw_preview(&preview, &options, &mut |lines| screen.lines(&lines));
    screen.text(&format!(
        "\nStaged as @{number}; no file is changed yet.\n  apply:   xd resolve {number} \"why\"\n  \
         discard: xd reject {number} \"why\""
    ));
}

/// The remarks among `details`, then the diff of the change: what is shown is what is applied.
pub(crate) fn text(details: Option<&Value>, change_set: &ChangeSet) -> String {
    let notes = notes(details);
    let gap = if notes.is_empty() { "" } else { "\n\n" };
    format!("{}{gap}{}", notes.join("\n"), change_set.unified(CONTEXT_LINES))
}

/// The remarks among `details`.
pub(crate) fn notes(details: Option<&Value>) -> Vec<&str> {
    let notes = details.and_then(|details| details.get("notes")).and_then(Value::as_array);
    notes.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The first of `files`, a line each behind `indent`, and how many more there are.
pub(crate) fn files(files: &[FileSummary], indent: &str) -> Vec<Line> {
    /// How many files are named.
    const NAMED: usize = 3;
    let mut lines = Vec::new();
    for file in files.iter().take(NAMED) {
        let mut line = Line::of(&format!("{indent}{} {}", file.verb, file.path), Role::Muted);
        line.add(&format!("  +{}", file.added), Role::Added);
        line.add(&format!(" -{}", file.removed), Role::Removed);
        lines.push(line);
    }
    if files.len() > NAMED {
        let rest = format!("{indent}and {} more files", files.len() - NAMED);
        lines.push(Line::of(&rest, Role::Muted));
    }
    lines
}

/// What is drawn of `state`.
pub(crate) fn state(state: ActionState) -> PreviewState {
    match state {
        ActionState::Pending => PreviewState::Pending,
        ActionState::Taken(_) => PreviewState::BeingResolved,
        ActionState::Applied => PreviewState::Applied,
        ActionState::Discarded => PreviewState::Discarded,
        ActionState::Void => PreviewState::Void,
        ActionState::Withdrawn => PreviewState::Withdrawn,
    }
}
