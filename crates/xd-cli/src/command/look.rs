//! `xd status` and `xd show`: what is pending, and what it would do.

use std::{path::Path, sync::Arc};

use serde_json::{Value, json};
use xd_protocol::StageNumber;
use xd_render::{Line, Role, preview_block};
use xd_resolve::{ActionState, StagedAction};

use super::preview;
use crate::{
    failure::{Failure, Status},
    place::View,
    screen::Screen,
};

/// Lists what is pending, newest first, with what went stale.
pub(crate) fn status(directory: &Path, screen: &mut Screen) -> Result<Status, Failure> {
    let view = View::open(directory)?;
    let pending = view.actions().pending();
    if screen.is_json() {
        let pending: Vec<Value> =
            pending.iter().map(|action| describe(&view, action, "pending")).collect();
        screen.json(&json!({ "v": 1, "pending": pending }));
        return Ok(Status::Done);
    }
    match pending.len() {
        0 => screen.text("Nothing is pending."),
        1 => screen.text("1 staged action is pending."),
        n => screen.text(&format!("{n} staged actions are pending, newest first.")),
    }
    let width = pending.iter().map(|action| action.number().to_string().len()).max().unwrap_or(0);
    for action in &pending {
        screen.lines(&row(&view, action, width));
    }
    if let Some(head) = pending.first() {
        let n = head.number();
        screen.text(&format!(
            "\nLook: xd show {n}   Apply: xd resolve {n} \"why\"   Discard: xd reject {n} \"why\""
        ));
    }
    Ok(Status::Done)
}

/// Prints the whole preview of one action, whatever became of it.
pub(crate) fn show(
    directory: &Path,
    number: Option<u64>,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let view = View::open(directory)?;
    let Some((action, state)) = find(&view, number)? else { return Ok(nothing(screen)) };
    if screen.is_json() {
        let mut described = describe(&view, &action, state_word(state));
        described["preview"] = action.preview().into();
        screen.json(&json!({ "v": 1, "action": described }));
        return Ok(Status::Done);
    }
    if state != ActionState::Pending {
        screen.text(&format!("Staged action @{} is {}.", action.number(), state_word(state)));
    }
    let preview = preview::of(&action, stale(&view, &action), None);
    screen.lines(&preview_block(&preview, &screen.whole()));
    Ok(Status::Done)
}

/// Prints the change of one pending action as a plain unified diff.
pub(crate) fn diff(
    directory: &Path,
    number: Option<u64>,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let view = View::open(directory)?;
    let Some((action, _)) = find(&view, number)? else { return Ok(nothing(screen)) };
    let Some(change_set) = action.change_set() else {
        return Err(Failure::new(
            format!(
                "the files of staged action @{} are not at hand: it is decided",
                action.number()
            ),
            "`xd show` prints its preview; git has the change if it was applied.",
        ));
    };
    screen.bytes(change_set.unified(preview::CONTEXT_LINES).as_bytes());
    Ok(Status::Done)
}

/// The action that a number names; without one, the head if there is any.
fn find(
    view: &View,
    number: Option<u64>,
) -> Result<Option<(Arc<StagedAction>, ActionState)>, Failure> {
    let Some(number) = number else {
        return Ok(view.actions().head().map(|head| (head, ActionState::Pending)));
    };
    let found = StageNumber::new(number).and_then(|number| view.actions().get(number));
    let unknown = || {
        let hint = "`xd status` lists what is pending, `xd log` what was decided.";
        Failure::new(format!("no staged action has number {number}"), hint)
    };
    found.map(Some).ok_or_else(unknown)
}

fn nothing(screen: &mut Screen) -> Status {
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "action": null }));
    } else {
        screen.text("Nothing is pending. `xd log` lists what was decided.");
    }
    Status::Nothing
}

fn row(view: &View, action: &StagedAction, width: usize) -> Vec<Line> {
    let mut line = Line::of(&format!("  @{:<width$}  ", action.number()), Role::Title);
    line.add(action.label(), Role::Text);
    let mut lines = vec![line];
    let indent = " ".repeat(width + 5);
    let files = action.change_set().map(|set| set.files()).unwrap_or_default();
    /// How many files a row names.
    const NAMED: usize = 3;
    for file in files.iter().take(NAMED) {
        let mut line = Line::of(&format!("{indent}{} {}", file.verb, file.path), Role::Muted);
        line.add(&format!("  +{}", file.added), Role::Added);
        line.add(&format!(" -{}", file.removed), Role::Removed);
        lines.push(line);
    }
    if files.len() > NAMED {
        lines.push(Line::of(
            &format!("{indent}and {} more files", files.len() - NAMED),
            Role::Muted,
        ));
    }
    if let Some(stale) = stale(view, action) {
        for part in stale.lines() {
            lines.push(Line::of(&format!("{indent}{part}"), Role::Error));
        }
    }
    lines
}

/// What makes a pending action stale, in words.
fn stale(view: &View, action: &StagedAction) -> Option<String> {
    let (_, state) = view.actions().get(action.number())?;
    if state != ActionState::Pending {
        return None;
    }
    action.change_set()?.check(view.workspace.root()).err().map(|stale| stale.to_string())
}

fn describe(view: &View, action: &StagedAction, state: &str) -> Value {
    json!({
        "number": action.number().get(),
        "id": action.id(),
        "label": action.label(),
        "source_tool_name": action.source_tool_name(),
        "state": state,
        "tier": action.tier(),
        "files": action.change_set().map(|set| set.files()).unwrap_or_default(),
        "stale": stale(view, action),
    })
}

fn state_word(state: ActionState) -> &'static str {
    match state {
        ActionState::Pending => "pending",
        ActionState::Taken(_) => "being resolved",
        ActionState::Applied => "applied",
        ActionState::Discarded => "discarded",
        ActionState::Void => "void",
        ActionState::Withdrawn => "withdrawn",
    }
}
