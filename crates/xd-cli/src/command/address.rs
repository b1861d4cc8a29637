//! `xd read` and `xd write`: the protocol's own form, for an agent whose only tool is a shell.

use std::{io::Read as _, path::Path};

use serde_json::json;
use xd_protocol::{Address, classify};
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
    let view = View::open(directory)?;
    let call = ToolCall::new("shell", "read", json!({ "path": address }));
    answer(&view.host(), call, screen)
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
    let place = Place::open(directory)?;
    let call = ToolCall::new("shell", "write", json!({ "path": address, "content": content }));
    answer(&place.host(), call, screen)
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

fn answer(host: &Host, call: ToolCall, screen: &mut Screen) -> Result<Status, Failure> {
    let scope = CallScope::of(Decider::Model);
    let result: ToolResult = block_on(host.run_batch(&[call], &scope))?.pop().unwrap_or_default();
    let status = if result.is_error { Status::Refused } else { Status::Done };
    if screen.is_json() {
        screen.json(&json!({ "v": 1, "result": result }));
    } else {
        screen.text(&result.joined());
    }
    Ok(status)
}
