//! A write to a device: a confirm, a proposal, or a mounted tool's run.

use std::sync::Arc;

use serde_json::{Value, json};
use xd_protocol::{Confirm, Device, DeviceName, notice, split_selector};
use xd_resolve::{ToolResult, device_result};

use crate::{
    DeviceBody, Host, Tool, ToolContext,
    arguments::{drop_habitual_i, mismatch},
    host::outcome,
    propose, registry,
};

/// Carries a write of `body` to `device` out.
pub(crate) async fn write(
    host: &Host,
    context: &Arc<ToolContext>,
    device: Device<'_>,
    body: &Value,
) -> ToolResult {
    match device {
        Device::Resolve(_) | Device::Reject(_) => match Confirm::of(device) {
            Some(confirm) => confirm_with(host, context, confirm, body).await,
            None => ToolResult::error(notice::NOTHING_TO_APPLY),
        },
        Device::Propose => propose::propose(host, body).await,
        Device::Tool(name) => run(host, context, name, body).await,
    }
}

async fn confirm_with(
    host: &Host,
    context: &ToolContext,
    confirm: Confirm,
    body: &Value,
) -> ToolResult {
    let reason = match body {
        Value::String(reason) => reason.as_str(),
        Value::Null => "",
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            return ToolResult::error(format!(
                "The content for xd://{} must be plain text: one sentence that says why.",
                confirm.verdict.device()
            ));
        }
    };
    let decider = context.scope.decider;
    let result = host.session().confirm(&context.batch, confirm, reason, decider).await;
    device_result(confirm.verdict.device(), json!({ "reason": reason.trim() }), result)
}

async fn run(
    host: &Host,
    context: &Arc<ToolContext>,
    name: DeviceName<'_>,
    body: &Value,
) -> ToolResult {
    match prepare(host, name, body) {
        Ok((tool, arguments)) => {
            let call = tool.call(Arc::clone(context), arguments.clone()).await;
            device_result(name.as_str(), arguments, outcome(name.as_str(), call))
        }
        Err(answer) => answer,
    }
}

/// The tool behind `name` with arguments that fit its schema, or the answer where nothing is to
/// run: its documents, or what is wrong.
pub(crate) fn prepare(
    host: &Host,
    name: DeviceName<'_>,
    body: &Value,
) -> Result<(Arc<dyn Tool>, Value), ToolResult> {
    let tool = {
        let registry = host.registry();
        match registry.get(name.as_str()) {
            Some(tool) => Arc::clone(tool),
            None => return Err(unknown(&registry, name)),
        }
    };
    let docs = || registry::docs(tool.as_ref(), host.session().prompts());
    let schema = &tool.definition().input_schema;
    let mut arguments = match DeviceBody::decode(body) {
        Ok(DeviceBody::Docs) => return Err(ToolResult::text(docs())),
        Ok(DeviceBody::Arguments(arguments)) => arguments,
        Err(fault) => {
            return Err(ToolResult::error(format!(
                "xd://{name} was not run: {fault}. Write a JSON object with its arguments, or read \
                 xd://{name} for its documents. Example: {}",
                registry::example(schema)
            )));
        }
    };
    drop_habitual_i(&mut arguments, schema);
    let arguments = Value::Object(arguments);
    match mismatch(&arguments, schema) {
        Some(mismatch) => {
            Err(ToolResult::error(format!("xd://{name} was not run: {mismatch}.\n\n{}", docs())))
        }
        None => Ok((tool, arguments)),
    }
}

/// An unknown device; a read selector glued to a name is pointed out (case 38).
fn unknown(registry: &crate::Registry, name: DeviceName<'_>) -> ToolResult {
    if let Some((base, _)) = split_selector(name.as_str())
        && (registry.get(base).is_some() || xd_protocol::is_reserved(base))
    {
        return ToolResult::error(format!(
            "Unknown device 'xd://{name}': what stands behind ':' selects lines of a read. \
             Write to 'xd://{base}'."
        ));
    }
    registry.unknown(name)
}
