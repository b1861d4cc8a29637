//! What a tool call decides, if it decides anything.

use xd_protocol::{Confirm, Target, confirm_of, parse_xd_url};

use crate::ToolCall;

/// The confirm that `call` makes: a `write` to `xd://resolve` or `xd://reject` (`CONTRACT G2`), or
/// a call whose very name is such an address (`CONTRACT U11`).
///
/// The gate and the dispatcher both ask here, so that what satisfies is what is carried out.
#[must_use]
pub fn confirm_of_call(call: &ToolCall) -> Option<Confirm> {
    if let Some(Target::Device(device)) = parse_xd_url(&call.name) {
        return Confirm::of(device);
    }
    confirm_of(&call.name, call.str_argument("path")?)
}
