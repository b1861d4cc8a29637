//! `xd read` and `xd write`: the protocol's own form, for an agent whose only tool is a shell.

use std::{io::Read as _, path::Path};

use serde_json::{Value, json};
use xd_protocol::{Address, Confirm, Reason, Selection, Target, classify, parse_xd_url};
use xd_resolve::{Decider, ToolCall, ToolResult};
use xd_write::{CallScope, Host};

use super::block_on;
use crate::{
    failure::{Failure, Status},
    place::{Place, View},
    screen::Screen,
};

/// Reads an address.
pub(crate) fn read(
    directory: &Path,
    address: &str,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    must_be_an_address(address, "cat")?;
    let view = View::open(directory, screen)?;
    let call = ToolCall::new("shell", "read", json!({ "path": address }));
    let result = run(&view.host(), call)?;
    let status = if result.is_error { Status::Refused } else { Status::Done };
    print(&result, status, screen);
    Ok(status)
}

/// Writes to an address.
pub(crate) fn write(
    directory: &Path,
    address: &str,
    text: &str,
    screen: &mut Screen,
) -> Result<Status, Failure> {
    must_be_an_address(address, "your own tools")?;
    let mut content = text.to_owned();
    if text == "-" {
        content.clear();
        std::io::stdin().read_to_string(&mut content).map_err(|error| {
            Failure::new(format!("standard input: {error}"), "Give UTF-8 text.")
        })?;
    }
    let place = Place::open(directory, screen)?;
    let bare_confirm = is_bare_confirm(address) && Reason::new(&content).is_ok();
    let nothing_pending = !place.session.actions().has_pending();
    let call = ToolCall::new("shell", "write", json!({ "path": address, "content": content }));
    let result = run(&place.host(), call)?;
    let status = if (bare_confirm && nothing_pending) || replaced_nothing(&result) {
        Status::Nothing
    } else if result.is_error {
        Status::Refused
    } else {
        Status::Done
    };
    print(&result, status, screen);
    Ok(status)
}

/// Whether `address` decides about the most recent action, whichever that is.
fn is_bare_confirm(address: &str) -> bool {
    let Some(Target::Device(device)) = parse_xd_url(address) else { return false };
    Confirm::of(device).is_some_and(|confirm| confirm.selection == Selection::Head)
}

/// Whether `result` is that of a rewrite which found nothing to replace (`CONTRACT S6`).
fn replaced_nothing(result: &ToolResult) -> bool {
    let counted = result.details.as_ref().and_then(|details| {
        details.pointer("/xdev/inner/summary/counts/replacements").and_then(Value::as_u64)
    });
    !result.is_error && counted == Some(0)
}

/// A path is none of our business here; a slip of an address goes on, to be named by the protocol.
fn must_be_an_address(address: &str, instead: &str) -> Result<(), Failure> {
    match classify(address) {
        Address::Path(path) => Err(Failure::new(
            format!("'{path}' is a file path, not an xd:// address"),
            format!("Use {instead} for files; `xd read xd://` lists the devices."),
        )),
        Address::Xd(_) | Address::Malformed(_) | Address::NearMiss(_) | Address::Foreign(_) => {
            Ok(())
        }
    }
}

fn run(host: &Host, call: ToolCall) -> Result<ToolResult, Failure> {
    let scope = CallScope::of(Decider::Model);
    Ok(block_on(host.run_batch(&[call], &scope))?.pop().unwrap_or_default())
}

/// Prints the tool result as the agent is to read it, refusals included.
fn print(result: &ToolResult, status: Status, screen: &mut Screen) {
    if screen.is_json() {
        let mut answer = json!({ "v": 1, "result": result });
        if status == Status::Refused {
            answer["error"] = result.joined().into();
            answer["hint"] =
                "`xd read xd://` lists the devices; `xd status` what is pending.".into();
        }
        screen.json(&answer);
    } else {
        screen.text(&result.joined());
    }
}
