//! `xd resolve` and `xd reject`: a person decides.

use std::path::Path;

use serde_json::json;
use xd_protocol::{Reason, ReasonFault, Selection, StageNumber, Verdict, WRITE_TOOL};
use xd_render::{Renderers, clean_line};
use xd_resolve::{ActionState, Decider, PlanMode, ToolCall, ToolResult, resolve_dispatch_details};
use xd_session::Session;
use xd_write::CallScope;

use super::{block_on, part};
use crate::{
    arguments::{
        CommitArguments, FirstWord, NumberAndReason, PartArguments, SessionArgument,
        number_and_reason,
    },
    failure::{Failure, Status},
    place::Place,
    screen::Screen,
};

/// Applies or discards, and prints the result's block; a refusal as an error.
pub(crate) fn run(
    directory: &Path,
    session: &SessionArgument,
    verdict: Verdict,
    (arguments, part): (&NumberAndReason, &PartArguments),
    commit: CommitArguments,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let (number, reason) =
        number_and_reason(&arguments.words).map_err(|error| no_number(&error, verdict.device()))?;
    check(verdict.device(), number, &reason)?;
    if let Some(picks) = part::picks(part)? {
        let number = number.and_then(StageNumber::new);
        return part::run(directory, session, verdict, (number, &picks, &reason), commit, screen);
    }
    let selection = number.and_then(StageNumber::new).map_or(Selection::Head, Selection::Numbered);
    let place = Place::open_to_commit(directory, session, commit, screen)?;
    let actions = place.session.actions();
    let number = match selection {
        Selection::Head => actions.head().map(|head| head.number()),
        Selection::Numbered(number) => Some(number),
    };
    let before = number.and_then(|number| Some((number, actions.get(number)?.1)));
    let (call, result) = confirm(&place, verdict, selection, &reason)?;
    let Some(number) = number else {
        nothing(verdict, &result, &place.name.flag(), screen);
        return Ok(Status::Nothing);
    };
    if result.is_error {
        let failure = refusal(&place, verdict, number, before.map(|(_, state)| state), &result);
        if !screen.is_json() {
            return Err(failure);
        }
        let Failure { what, hint } = failure;
        screen.json(&json!({ "v": 1, "error": what, "hint": hint, "result": result }));
        return Ok(Status::Refused);
    }
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "result": result }));
    } else {
        print(&place, number, &call, &result, screen);
    }
    Ok(Status::Done)
}

/// The first word is neither a number nor the begin of a reason.
pub(super) fn no_number(error: &FirstWord, command: &str) -> Failure {
    Failure::new(
        error,
        format!(
            "Give a number from `xd status` or none; a reason that begins like a number is quoted \
             whole: xd {command} \"2 callers remain.\""
        ),
    )
}

/// Checks the reason before anything is opened.
pub(super) fn check(word: &str, number: Option<u64>, reason: &str) -> Result<(), Failure> {
    let n = number.map(|n| format!("{n} ")).unwrap_or_default();
    match Reason::new(reason) {
        Ok(_) => Ok(()),
        Err(ReasonFault::TooLong { chars }) => Err(Failure::new(
            format!(
                "the reason has {chars} characters; {} is the most",
                xd_protocol::MAX_REASON_CHARS
            ),
            "Say it in a sentence. Nothing was decided.",
        )),
        // Whatever else may be wrong with a reason, a sentence is the way out.
        Err(_) => Err(Failure::new(
            "the reason is missing",
            format!("Say why in a sentence: xd {word} {n}\"All call sites use the new name.\""),
        )),
    }
}

/// Confirms as a person: the one way of every decision about a whole action.
pub(crate) fn confirm(
    place: &Place,
    verdict: Verdict,
    selection: Selection,
    reason: &str,
) -> Result<(ToolCall, ToolResult), Failure> {
    let call = call(verdict, selection, reason);
    let scope = CallScope::of(Decider::Person);
    let results = block_on(place.host().run_batch(std::slice::from_ref(&call), &scope))?;
    Ok((call, results.into_iter().next().unwrap_or_default()))
}

/// The confirm as a model would make it: a person's decision takes the same way.
fn call(verdict: Verdict, selection: Selection, reason: &str) -> ToolCall {
    let device = verdict.device();
    let path = match selection {
        Selection::Head => format!("xd://{device}"),
        Selection::Numbered(number) => format!("xd://{device}@{number}"),
    };
    ToolCall::new("shell", WRITE_TOOL, json!({ "path": path, "content": reason }))
}

/// Says that nothing is pending.
fn nothing(verdict: Verdict, result: &ToolResult, flag: &str, screen: &mut Screen) {
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "result": result }));
        return;
    }
    let done = match verdict {
        Verdict::Apply => "applied",
        Verdict::Discard => "discarded",
    };
    screen.text(&format!(
        "Nothing is pending, so nothing was {done}. `xd log{flag}` lists what was decided."
    ));
}

/// A refused or failed decision in the words of a shell.
pub(crate) fn refusal(
    place: &Place,
    verdict: Verdict,
    number: StageNumber,
    before: Option<ActionState>,
    result: &ToolResult,
) -> Failure {
    let word = verdict.device();
    let flag = place.name.flag();
    let state = match before {
        None => {
            return Failure::new(
                format!("no staged action has number {number}"),
                format!(
                    "`xd status{flag}` lists what is pending, `xd log{flag}` what was decided."
                ),
            );
        }
        Some(ActionState::Pending) => None,
        Some(ActionState::Taken(_)) => Some("already being resolved"),
        Some(ActionState::Applied) => Some("already applied"),
        Some(ActionState::Discarded) => Some("already discarded"),
        Some(ActionState::Void) => Some("void: its session has ended"),
        Some(ActionState::Withdrawn) => Some("withdrawn: the host took it over"),
    };
    if let Some(state) = state {
        return Failure::new(
            format!("staged action @{number} is {state}; nothing was done"),
            format!(
                "`xd log{flag}` says who decided it and why; `xd status{flag}` lists what is pending."
            ),
        );
    }
    let what = result.content.first().map_or("it failed", String::as_str);
    let hint = match place.session.actions().get(number) {
        Some((action, ActionState::Pending)) => {
            let stale =
                action.change_set().is_some_and(|set| set.check(place.workspace.root()).is_err());
            if place.session.plan_mode() == PlanMode::On && !stale {
                format!(
                    "Staged action @{number} is still pending. The session plans, and nothing \
                     changes until its plan is approved: `xd agent --resume={}`, where /plan turns \
                     plan mode off.",
                    place.name.as_str()
                )
            } else if stale {
                format!(
                    "Staged action @{number} is still pending: xd restage{flag} {number} makes it anew \
                     where its edits do not touch what changed, xd reject{flag} {number} \"why\" drops it."
                )
            } else {
                let other = match verdict {
                    Verdict::Apply => Verdict::Discard,
                    Verdict::Discard => Verdict::Apply,
                };
                format!(
                    "Staged action @{number} is still pending: xd {word}{flag} {number} \"why\" tries \
                     again, xd {}{flag} {number} \"why\" is the other way.",
                    other.device()
                )
            }
        }
        Some(_) | None => format!("`xd log{flag}` says what became of it."),
    };
    Failure::new(what, hint)
}

/// Prints the block of a decision and what the producer says.
fn print(
    place: &Place,
    number: StageNumber,
    call: &ToolCall,
    result: &ToolResult,
    screen: &mut Screen,
) {
    if resolve_dispatch_details(result).is_some() {
        screen.lines(&Renderers::new().draw(call, result, screen.options()));
    }
    for (index, text) in result.content.iter().enumerate() {
        // What stands behind the result itself names addresses where a shell has commands.
        if index == 0 || !text.contains("xd://") {
            screen.text(text);
        }
    }
    for line in stale_since(&place.session, number, &place.name.flag()) {
        screen.text(&line);
    }
}

/// What an apply made stale of the actions that are still pending (`CONTRACT F7`).
pub(super) fn stale_since(session: &Session, applied: StageNumber, flag: &str) -> Vec<String> {
    let actions = session.actions();
    let Some((applied, ActionState::Applied)) = actions.get(applied) else { return Vec::new() };
    let Some(changed) = applied.change_set() else { return Vec::new() };
    let pending = actions.pending();
    let touched = pending
        .iter()
        .filter(|action| action.change_set().is_some_and(|change_set| change_set.touches(changed)));
    touched
        .map(|action| {
            let n = action.number();
            format!(
                "Staged action @{n} ({}) is stale now: it was previewed before this. \
                 xd restage{flag} {n} makes it anew where its edits do not touch, xd reject{flag} {n} \"why\" \
                 drops it.",
                clean_line(action.label())
            )
        })
        .collect()
}
