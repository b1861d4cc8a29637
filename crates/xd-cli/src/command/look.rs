//! `xd status` and `xd show`: what is pending, and what it would do.

use std::{path::Path, sync::Arc};

use serde_json::{Value, json};
use xd_changeset::ChangeSet;
use xd_protocol::StageNumber;
use xd_render::{Line, Options, PreviewState, Role, draw_preview};
use xd_resolve::{ActionState, StagedAction};
use xd_write::{ActionFile, LogEvent, LogLine};

use super::preview;
use crate::{
    arguments::SessionArgument,
    failure::{Failure, Status},
    place::{View, state_failure},
    screen::Screen,
    sessions::{self, Elsewhere},
};

/// Lists what is pending, newest first, with what went stale, and what is being resolved.
pub(crate) fn status(
    directory: &Path,
    session: &SessionArgument,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let view = View::open_in(directory, session, screen)?;
    let elsewhere = sessions::elsewhere(&view.workspace, &view.name);
    let pending = view.actions().pending();
    let taken = being_resolved(&view);
    if screen.is_json() {
        let described = |actions: &[Arc<StagedAction>], state: PreviewState| -> Vec<Value> {
            actions.iter().map(|action| describe(&view, action, state.word())).collect()
        };
        let mut answer = json!({ "v": 1, "pending": described(&pending, PreviewState::Pending) });
        if !taken.is_empty() {
            answer["being_resolved"] = described(&taken, PreviewState::BeingResolved).into();
        }
        if let Some(busy) = &view.busy {
            answer["busy"] = busy.as_str().into();
        }
        if !elsewhere.is_empty() {
            let other =
                |other: &Elsewhere| json!({ "session": other.name.as_str(), "open": other.open });
            answer["elsewhere"] = elsewhere.iter().map(other).collect();
        }
        screen.json(&answer);
        return Ok(Status::Done);
    }
    let all = pending.iter().chain(&taken);
    let width = all.map(|action| action.number().to_string().len()).max().unwrap_or(0);
    let by = match &view.busy {
        Some(busy) => format!("by {busy}"),
        None => "by a process that is gone".to_owned(),
    };
    match (taken.len(), &view.busy) {
        (0, None) => {}
        (0, Some(busy)) => screen.text(&format!("{busy} is at work here just now.")),
        (1, _) => screen.text(&format!("1 staged action is being resolved {by}.")),
        (n, _) => screen.text(&format!("{n} staged actions are being resolved {by}.")),
    }
    for action in &taken {
        let lines = row(&view, action, width, screen.options());
        screen.lines(&lines);
    }
    match pending.len() {
        0 if taken.is_empty() => screen.text("Nothing is pending."),
        0 => screen.text("Nothing else is pending."),
        1 => screen.text("1 staged action is pending."),
        n => screen.text(&format!("{n} staged actions are pending, newest first.")),
    }
    for action in &pending {
        let lines = row(&view, action, width, screen.options());
        screen.lines(&lines);
    }
    if let Some(head) = pending.first() {
        let (n, flag) = (head.number(), view.name.flag());
        screen.text(&format!(
            "\nLook: xd show{flag} {n}   Apply: xd resolve{flag} {n} \"why\"   Discard: xd \
             reject{flag} {n} \"why\""
        ));
    }
    for Elsewhere { name, open } in &elsewhere {
        let (flag, actions) = (name.flag(), if *open == 1 { "action" } else { "actions" });
        screen.text(&format!(
            "Session {} has {open} open staged {actions}: xd status{flag}",
            name.as_str()
        ));
    }
    Ok(Status::Done)
}

/// The actions that somebody is resolving, newest first.
fn being_resolved(view: &View) -> Vec<Arc<StagedAction>> {
    let states = view.actions().states();
    let taken = states.iter().rev().filter(|(_, state)| matches!(state, ActionState::Taken(_)));
    taken.filter_map(|(number, _)| Some(view.actions().get(*number)?.0)).collect()
}

/// Prints the whole preview of one action, whatever became of it.
pub(crate) fn show(
    directory: &Path,
    session: &SessionArgument,
    number: Option<u64>,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let view = View::open_in(directory, session, screen)?;
    let Some((action, state)) = find(&view, number)? else { return Ok(nothing(screen)) };
    let word = preview::state(state).word();
    let kept = kept(&view, &action, state);
    let text = match (action.change_set(), &kept) {
        (Some(change_set), _) => preview::text(action.details(), change_set),
        (None, Some(kept)) => preview::text(kept.details.as_ref(), &kept.change_set),
        (None, None) => action.preview(),
    };
    let decision = decision(&view, &action, state)?;
    if screen.is_json() {
        let mut described = describe(&view, &action, word);
        described["preview"] = text.into();
        if let Some(kept) = kept {
            described["files"] = json!(kept.change_set.files());
        }
        // As they stand in the log: `outcome` only once there is one.
        if let Some(Value::Object(line)) = decision.map(|line| json!(line)) {
            for key in ["action", "reason", "who", "outcome", "message", "time"] {
                if let Some(value) = line.get(key) {
                    described[key] = value.clone();
                }
            }
        }
        screen.json(&json!({ "v": 1, "action": described }));
        return Ok(Status::Done);
    }
    screen.page();
    if state != ActionState::Pending {
        let reason = decision.map(|line| reason(line.event)).unwrap_or_default();
        let why = if reason.is_empty() { String::new() } else { format!(" Reason: {reason}") };
        screen.text(&format!("Staged action @{} is {word}.{why}", action.number()));
    }
    let preview = xd_render::Preview {
        state: preview::state(state),
        text,
        ..preview::of(&action, stale(&view, &action), None)
    };
    let options = screen.whole();
    draw_preview(&preview, &options, &mut |lines| screen.lines(&lines));
    Ok(Status::Done)
}

/// Prints the change of one action as a plain unified diff.
pub(crate) fn diff(
    directory: &Path,
    session: &SessionArgument,
    number: Option<u64>,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let view = View::open_in(directory, session, screen)?;
    let Some((action, state)) = find(&view, number)? else { return Ok(nothing(screen)) };
    let kept = kept(&view, &action, state).map(|kept| kept.change_set);
    let Some(change_set) = action.change_set().or(kept.as_ref()) else {
        return Err(Failure::new(
            format!("the files of staged action @{} are not at hand", action.number()),
            "`xd show` says what is known of it; git has the change if it was applied.",
        ));
    };
    screen.page();
    if screen.is_terminal() {
        screen.text(&ChangeSet::unified(change_set, preview::CONTEXT_LINES));
    } else {
        screen.bytes(&ChangeSet::patch(change_set, preview::CONTEXT_LINES));
    }
    Ok(Status::Done)
}

/// What is kept of a decided action, as far as it still is what was staged.
fn kept(view: &View, action: &StagedAction, state: ActionState) -> Option<ActionFile> {
    if state.is_open() {
        return None;
    }
    view.state.as_ref()?.action(action.number().get()).ok()
}

/// The last that the log says of an action that is no longer pending.
fn decision(
    view: &View,
    action: &StagedAction,
    state: ActionState,
) -> Result<Option<LogLine>, Failure> {
    let Some(log) = view.state.as_ref().filter(|_| state != ActionState::Pending) else {
        return Ok(None);
    };
    let number = action.number().get();
    let says = |line: &LogLine| match &line.event {
        LogEvent::Staged { .. }
        | LogEvent::Declined { .. }
        | LogEvent::Approved { .. }
        | LogEvent::Plan { .. } => false,
        LogEvent::Taken { number: of, .. } | LogEvent::Decided { number: of, .. } => *of == number,
    };
    Ok(log.log().map_err(state_failure)?.into_iter().rfind(says))
}

fn reason(event: LogEvent) -> String {
    match event {
        LogEvent::Staged { .. }
        | LogEvent::Declined { .. }
        | LogEvent::Approved { .. }
        | LogEvent::Plan { .. } => String::new(),
        LogEvent::Taken { reason, .. } | LogEvent::Decided { reason, .. } => reason,
    }
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
        let flag = view.name.flag();
        let hint =
            format!("`xd status{flag}` lists what is pending, `xd log{flag}` what was decided.");
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

fn row(view: &View, action: &StagedAction, width: usize, options: &Options) -> Vec<Line> {
    let mut line = Line::of(&format!("  @{:<width$}  ", action.number()), Role::Title);
    line.add(action.label(), Role::Text);
    let stale = stale(view, action);
    if stale.is_some() {
        line.add("  stale", Role::Error);
    }
    let mut lines = vec![line];
    let indent = " ".repeat(width + 5);
    let files = action.change_set().map(|set| set.files()).unwrap_or_default();
    lines.extend(preview::files(&files, &indent, options));
    if let Some(stale) = stale {
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
