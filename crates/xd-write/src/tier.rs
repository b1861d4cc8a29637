//! How far a call reaches (`CONTRACT W6`).

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::Value;
use xd_protocol::{Address, Confirm, Device, StageNumber, Target, classify};
use xd_resolve::{ActionStore, Tier, ToolCall};

use crate::{
    DeviceBody, Host, Registry, Tool,
    bound::{confirm_in, would_apply},
    local,
};

/// The tier of a call. What is malformed or unknown reaches as far as anything can.
/// `head` is what a confirm without a number means.
pub(crate) fn of_call(host: &Host, call: &ToolCall, head: Option<StageNumber>) -> Tier {
    let actions = host.session().actions();
    if let Some(confirm) = confirm_in(host, call) {
        return of_confirm(actions, confirm, head);
    }
    let registry = host.registry();
    if let Some((device, body)) = host.route(call, &registry) {
        return of_device(&registry, device, &body);
    }
    match call.name.as_str() {
        "read" => Tier::Read,
        "write" => match call.str_argument("path").map(classify) {
            Some(Address::Path(_)) => Tier::Write,
            Some(Address::Xd(Target::Device(device))) => {
                let body = call.arguments.get("content").cloned().unwrap_or(Value::Null);
                of_device(&registry, device, &body)
            }
            // A draft is no file of the working tree, but it is no look either.
            Some(Address::Foreign(foreign)) if matches!(local::rest_of(foreign), Some(Ok(_))) => {
                Tier::Write
            }
            Some(
                Address::Xd(Target::Root)
                | Address::Malformed(_)
                | Address::NearMiss(_)
                | Address::Foreign(_),
            )
            | None => Tier::Exec,
        },
        name => host.tool(name).map_or(Tier::Exec, |tool| of_tool(tool.as_ref(), &call.arguments)),
    }
}

/// What `tool` says of these arguments; the farthest where it cannot say or panics.
pub(crate) fn of_tool(tool: &dyn Tool, arguments: &Value) -> Tier {
    let tier = catch_unwind(AssertUnwindSafe(|| tool.tier(arguments)));
    tier.ok().flatten().unwrap_or(Tier::Exec)
}

/// The tier of a confirm. One of `resolve` takes that of the staged action (**Invariant W4**); one
/// that would find nothing only reads.
pub(crate) fn of_confirm(
    actions: &ActionStore,
    confirm: Confirm,
    head: Option<StageNumber>,
) -> Tier {
    would_apply(actions, confirm, head).map_or(Tier::Read, |action| action.tier())
}

/// The tier of a write to `device` that is no confirm.
fn of_device(registry: &Registry, device: Device<'_>, body: &Value) -> Tier {
    match device {
        // Confirms were told apart before.
        Device::Resolve(_) | Device::Reject(_) => Tier::Exec,
        // It hands work over to a person; it must not pass for a look.
        Device::Propose => Tier::Write,
        Device::Tool(name) => match (registry.get(name.as_str()), DeviceBody::decode(body)) {
            (Some(_), Ok(DeviceBody::Docs)) => Tier::Read,
            (Some(tool), Ok(DeviceBody::Arguments(arguments))) => {
                of_tool(tool.as_ref(), &Value::Object(arguments))
            }
            (Some(_), Err(_)) | (None, _) => Tier::Exec,
        },
    }
}
