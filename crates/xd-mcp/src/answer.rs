//! What a call answers: text for the model, and the same facts as data.

use std::collections::BTreeMap;

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};
use xd_changeset::{ChangeSet, StalePreview, Verb};
use xd_protocol::{StageNumber, notice};
use xd_resolve::{ActionState, StagedAction, ToolResult};
use xd_write::{Bound, PreviewText};

use crate::{call::states, stack::Opened};

/// How many files and actions are listed as data; texts and resources have all of them.
const LISTED: usize = 200;

/// What stood in the stack before a call.
pub(crate) struct Before(BTreeMap<StageNumber, ActionState>);

impl Before {
    pub(crate) fn of(opened: &Opened) -> Self {
        Self(states(opened))
    }
}

/// What a call answers.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) content: Vec<String>,
    pub(crate) is_error: bool,
    /// None for `read`, which has no output schema.
    pub(crate) structured: Option<Value>,
    /// What the call has staged.
    pub(crate) staged: Vec<StageNumber>,
}

impl Answer {
    /// A result without data.
    pub(crate) fn of(result: ToolResult) -> Self {
        let ToolResult { content, is_error, details: _ } = result;
        Self { content, is_error, structured: None, staged: Vec::new() }
    }

    /// A call that was not executed.
    pub(crate) fn refused(result: ToolResult, opened: &Opened) -> Self {
        let structured = json!({ "outcome": "refused", "pending": pending(opened) });
        Self { structured: Some(structured), ..Self::of(result) }
    }

    /// A call that ran: what it staged and decided is told by comparing the stack.
    pub(crate) fn worked(result: ToolResult, opened: &Opened, before: &Before) -> Self {
        let now = states(opened);
        let staged: Vec<StageNumber> =
            now.keys().filter(|number| !before.0.contains_key(number)).copied().collect();
        let decided: Vec<(StageNumber, ActionState)> = now
            .iter()
            .filter(|(number, state)| {
                before.0.get(number).is_some_and(|former| former != *state && !state.is_open())
            })
            .map(|(number, state)| (*number, *state))
            .collect();
        let outcome = if !staged.is_empty() {
            "staged"
        } else if decided.iter().any(|(_, state)| *state == ActionState::Applied) {
            "applied"
        } else if decided.iter().any(|(_, state)| *state == ActionState::Discarded) {
            "discarded"
        } else if result.is_error {
            "failed"
        } else if result.content.first().is_some_and(|text| text.starts_with(NOTHING)) {
            "nothing"
        } else {
            "done"
        };
        let mut structured = Map::new();
        structured.insert("outcome".to_owned(), outcome.into());
        let newest = staged.last().and_then(|number| opened.session.actions().get(*number));
        if let Some((action, _)) = newest {
            structured.insert("staged".to_owned(), described(&action, &result, opened));
        }
        if !decided.is_empty() {
            let decided = decided
                .iter()
                .take(LISTED)
                .map(|(number, state)| json!({ "number": number.get(), "state": state.as_str() }));
            structured.insert("decided".to_owned(), decided.collect());
        }
        structured.insert("pending".to_owned(), pending(opened));
        Self { structured: Some(structured.into()), staged, ..Self::of(result) }
    }

    /// A pending action's preview once more, as the call that staged it answered it.
    pub(crate) fn again(action: &StagedAction, opened: &Opened) -> Self {
        let (first, total) = opened.session.actions().pending_numbers(NAMED);
        let notice = notice::StagedNotice { first: &first, total };
        let text = format!("{notice}\n\n{}", bounded(action, Bound::MODEL));
        let result = ToolResult::text(text);
        let structured = json!({
            "outcome": "staged",
            "staged": described(action, &result, opened),
            "pending": pending(opened),
        });
        Self { structured: Some(structured), ..Self::of(result) }
    }

    /// The result that goes out.
    pub(crate) fn into_result(self, with_data: bool) -> CallToolResult {
        let content = self.content.into_iter().map(ContentBlock::text).collect();
        let mut result = match self.is_error {
            true => CallToolResult::error(content),
            false => CallToolResult::success(content),
        };
        if with_data {
            let default = if self.is_error { "failed" } else { "done" };
            result.structured_content = Some(
                self.structured.unwrap_or_else(|| json!({ "outcome": default, "pending": [] })),
            );
        }
        result
    }
}

const NAMED: usize = 8;
const NOTHING: &str = notice::NO_REPLACEMENTS;

/// The schema of the data that `write`, `edit` and `ast_edit` answer with.
pub(crate) fn schema() -> Value {
    let number = json!({ "type": "integer", "minimum": 1 });
    let count = json!({ "type": "integer", "minimum": 0 });
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    json!({
        "type": "object",
        "properties": {
            "outcome": { "type": "string", "enum": [
                "staged", "applied", "discarded", "done", "nothing", "refused", "failed"
            ] },
            "staged": {
                "type": "object",
                "properties": {
                    "number": number,
                    "label": text,
                    "tool": text,
                    "apply": text,
                    "discard": text,
                    "files": { "type": "array", "items": {
                        "type": "object",
                        "properties": {
                            "path": text,
                            "from": text,
                            "change": { "type": "string", "enum": [
                                "edit", "replace", "create", "delete", "move", "set_mode"
                            ] },
                            "added": count,
                            "removed": count,
                            "replacements": count
                        },
                        "required": ["path", "change", "added", "removed"]
                    } },
                    "counts": {
                        "type": "object",
                        "properties": {
                            "files": count,
                            "added": count,
                            "removed": count,
                            "replacements": count
                        },
                        "required": ["files", "added", "removed"]
                    },
                    "stale": texts
                },
                "required": ["number", "label", "tool", "apply", "discard", "files", "counts", "stale"]
            },
            "decided": { "type": "array", "items": {
                "type": "object",
                "properties": { "number": number, "state": text },
                "required": ["number", "state"]
            } },
            "pending": { "type": "array", "items": {
                "type": "object",
                "properties": { "number": number, "label": text, "tool": text, "stale": texts },
                "required": ["number", "label", "tool", "stale"]
            } }
        },
        "required": ["outcome", "pending"]
    })
}

/// What is pending, newest first.
pub(crate) fn pending(opened: &Opened) -> Value {
    let actions = opened.session.actions().pending();
    let mut listed: Vec<_> = actions.iter().collect();
    listed.sort_by_key(|action| std::cmp::Reverse(action.number()));
    let data = listed.into_iter().take(LISTED).map(|action| {
        json!({
            "number": action.number().get(),
            "label": action.label(),
            "tool": action.source_tool_name(),
            "stale": stale(action, opened),
        })
    });
    data.collect()
}

/// A staged action as data.
fn described(action: &StagedAction, result: &ToolResult, opened: &Opened) -> Value {
    let number = action.number().get();
    let summary = summary_of(result);
    let (files, counts) = match action.change_set() {
        Some(set) => counted(set, summary),
        None => (json!([]), json!({ "files": 0, "added": 0, "removed": 0 })),
    };
    json!({
        "number": number,
        "label": action.label(),
        "tool": action.source_tool_name(),
        "apply": format!("xd://resolve@{number}"),
        "discard": format!("xd://reject@{number}"),
        "files": files,
        "counts": counts,
        "stale": stale(action, opened),
    })
}

/// The producer's own counts, wherever its details stand.
fn summary_of(result: &ToolResult) -> Option<&Value> {
    let details = result.details.as_ref()?;
    details
        .get("summary")
        .or_else(|| details.pointer("/xdev/inner/summary"))
        .or_else(|| details.pointer("/inner/summary"))
}

fn counted(set: &ChangeSet, summary: Option<&Value>) -> (Value, Value) {
    let of_file = |path: &str| {
        let files = summary?.get("files")?.as_array()?;
        let file = files.iter().find(|file| file["path"] == path)?;
        ["replacements", "changes"].iter().find_map(|key| file[*key].as_u64())
    };
    let (mut added, mut removed) = (0, 0);
    let mut files = Vec::new();
    for change in set.changes() {
        let diff = change.diff(0);
        added += diff.added;
        removed += diff.removed;
        if files.len() == LISTED {
            continue;
        }
        let path = diff.path.to_string();
        let mut file = json!({
            "path": path,
            "change": word(diff.verb),
            "added": diff.added,
            "removed": diff.removed,
        });
        if let Some(source) = &diff.source {
            file["from"] = source.to_string().into();
        }
        if let Some(replacements) = of_file(&path) {
            file["replacements"] = replacements.into();
        }
        files.push(file);
    }
    let mut counts = json!({ "files": set.len(), "added": added, "removed": removed });
    let total = |key: &str| summary?.pointer(&format!("/counts/{key}"))?.as_u64();
    if let Some(replacements) = total("replacements").or_else(|| total("changes")) {
        counts["replacements"] = replacements.into();
    }
    (files.into(), counts)
}

fn word(verb: Verb) -> &'static str {
    match verb {
        Verb::Edit => "edit",
        Verb::Replace => "replace",
        Verb::Create => "create",
        Verb::Delete => "delete",
        Verb::Move => "move",
        Verb::SetMode => "set_mode",
    }
}

/// The paths that are no longer what the action starts from (`CONTRACT F2`).
fn stale(action: &StagedAction, opened: &Opened) -> Vec<String> {
    let Some(set) = action.change_set() else { return Vec::new() };
    match set.check(opened.host.workspace().root()) {
        Ok(()) => Vec::new(),
        Err(StalePreview { drifts }) => {
            drifts.iter().take(LISTED).map(|drift| drift.path.to_string()).collect()
        }
    }
}

/// A preview within bounds, with the differences of every file as far as they fit (case 156).
pub(crate) fn bounded(action: &StagedAction, bound: Bound) -> String {
    let Some(change_set) = action.change_set() else { return action.preview() };
    let notes: Vec<String> = action
        .details()
        .and_then(|details| details.get("notes")?.as_array().cloned())
        .into_iter()
        .flatten()
        .filter_map(|note| note.as_str().map(ToOwned::to_owned))
        .collect();
    PreviewText { title: action.label(), notes: &notes, change_set, counts: None }
        .text(bound, Some(action.number().get()))
}
