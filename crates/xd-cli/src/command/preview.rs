//! A staged action as a block on the screen.

use serde_json::Value;
use xd_render::Preview;
use xd_resolve::StagedAction;

/// How many unchanged lines are shown around a change.
pub(super) const CONTEXT_LINES: usize = 3;

/// The drawing of `action`: its remarks, then the diff of its change set, or the preview that its
/// producer wrote where it has none.
pub(super) fn of(action: &StagedAction, stale: Option<String>, see_all: Option<String>) -> Preview {
    let text = match action.change_set() {
        Some(change_set) => {
            let notes =
                action.details().and_then(|details| details.get("notes")).and_then(Value::as_array);
            let notes: Vec<&str> = notes.into_iter().flatten().filter_map(Value::as_str).collect();
            let gap = if notes.is_empty() { "" } else { "\n\n" };
            format!("{}{gap}{}", notes.join("\n"), change_set.unified(CONTEXT_LINES))
        }
        None => action.preview(),
    };
    Preview {
        number: Some(action.number().get()),
        label: Some(action.label().to_owned()),
        source: Some(action.source_tool_name().to_owned()),
        stale,
        text,
        see_all,
    }
}
