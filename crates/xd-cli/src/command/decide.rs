//! `xd resolve` and `xd reject`: a person decides.

use std::path::Path;

use serde_json::json;
use xd_protocol::{Selection, StageNumber, Verdict, WRITE_TOOL};
use xd_render::Renderers;
use xd_resolve::{Decider, ToolCall, ToolResult, resolve_dispatch_details};
use xd_write::CallScope;

use super::block_on;
use crate::{
    arguments::DecisionArguments,
    failure::{Failure, Status},
    place::Place,
    screen::Screen,
};

/// Applies or discards, and prints the result's block.
pub(crate) fn run(
    directory: &Path,
    verdict: Verdict,
    arguments: &DecisionArguments,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    let (number, reason) = arguments.split();
    let selection = number.and_then(StageNumber::new).map_or(Selection::Head, Selection::Numbered);
    if reason.trim().is_empty() {
        let word = verdict.device();
        return Err(Failure::new(
            "the reason is missing",
            format!(
                "Say why in a sentence: xd {word} {} \"All call sites use the new name.\"",
                number.unwrap_or(1)
            ),
        ));
    }
    let place = Place::open(directory)?;
    let nothing = selection == Selection::Head && !place.session.actions().has_pending();
    let call = call(verdict, selection, &reason);
    let scope = CallScope::of(Decider::Person);
    let results = block_on(place.host().run_batch(std::slice::from_ref(&call), &scope))?;
    let result = results.into_iter().next().unwrap_or_default();
    let status = match (nothing, result.is_error) {
        (true, _) => Status::Nothing,
        (false, true) => Status::Refused,
        (false, false) => Status::Done,
    };
    print(&call, &result, screen);
    Ok(status)
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

/// Prints the block of a decision and what the producer says, or the plain words of a refusal.
fn print(call: &ToolCall, result: &ToolResult, screen: &mut Screen) {
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "result": result }));
        return;
    }
    if resolve_dispatch_details(result).is_some() {
        screen.lines(&Renderers::new().draw(call, result, screen.options()));
    }
    if !result.is_error || resolve_dispatch_details(result).is_none() {
        screen.text(&result.joined());
    }
}
