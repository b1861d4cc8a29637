//! `xd resolve` and `xd reject`: a person decides.

use std::path::Path;

use serde_json::json;
use xd_protocol::{Confirm, Selection, StageNumber, Verdict};
use xd_render::Renderers;
use xd_resolve::{Decider, ToolCall, ToolResult, device_result};

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
    let confirm = Confirm { verdict, selection };
    let batch = place.session.actions().begin_batch();
    let result = block_on(place.session.confirm(&batch, confirm, &reason, Decider::Person))?;
    let status = match (nothing, result.is_error) {
        (true, _) => Status::Nothing,
        (false, true) => Status::Refused,
        (false, false) => Status::Done,
    };
    print(&confirm, &reason, result, screen);
    Ok(status)
}

/// Prints the block of a decision, or the plain words of a refusal.
fn print(confirm: &Confirm, reason: &str, result: ToolResult, screen: &mut Screen) {
    let tool = confirm.verdict.device();
    let path = match confirm.selection {
        Selection::Head => format!("xd://{tool}"),
        Selection::Numbered(number) => format!("xd://{tool}@{number}"),
    };
    let result = device_result(tool, json!({ "reason": reason.trim() }), result);
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "result": result }));
        return;
    }
    let decided = xd_resolve::resolve_dispatch_details(&result).is_some();
    if decided {
        let call = ToolCall::new("", "write", json!({ "path": path, "content": reason }));
        screen.lines(&Renderers::new().draw(&call, &result, screen.options()));
    }
    screen.text(&result.joined());
}
