//! A write to a device: a confirm, a proposal, or a mounted tool's run.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use xd_protocol::{
    Confirm, Device, DeviceName, Selection, StageNumber, Verdict, notice, split_selector,
};
use xd_resolve::{ActionState, Form, StagedAction, ToolResult, device_result};

use crate::{
    DeviceBody, Host, Tool, ToolContext,
    bound::{BoundDevice, refused_reason},
    host::{aborted, outcome},
    propose,
    restage::{RESTAGE, can_restage},
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
        Device::Propose => propose::propose(host, context.decider(), body).await,
        Device::Tool(name) => match prepare(host, name, body) {
            Ok((tool, arguments)) => {
                let name = name.as_str().to_owned();
                run(host, context, BoundDevice { name, tool, arguments }).await
            }
            Err(answer) => answer,
        },
    }
}

async fn confirm_with(
    host: &Host,
    context: &ToolContext,
    confirm: Confirm,
    body: &Value,
) -> ToolResult {
    let reason = match text(confirm.verdict, body) {
        Ok(reason) => reason,
        Err(answer) => return answer,
    };
    let decider = context.scope.decider;
    let mut result = host.session().confirm(&context.batch, confirm, reason, decider).await;
    let number = match confirm.selection {
        Selection::Head => context.batch.head(),
        Selection::Numbered(number) => Some(number),
    };
    if let Some(number) = number
        && confirm.verdict == Verdict::Apply
        && !result.is_error
    {
        result.content.extend(stale_since(host, number));
    }
    device_result(confirm.verdict.device(), json!({ "reason": reason.trim() }), result)
}

/// The reason that a write of `body` to `device` gives, if it is a confirm.
///
/// # Errors
/// The answer where it is none (`CONTRACT D2`).
pub(crate) fn reason<'b>(device: Device<'_>, body: &'b Value) -> Result<&'b str, ToolResult> {
    let Some(confirm) = Confirm::of(device) else { return Ok("") };
    let text = text(confirm.verdict, body)?;
    refused_reason(text).map_err(|fault| {
        device_result(confirm.verdict.device(), json!({ "reason": text.trim() }), fault)
    })
}

fn text(verdict: Verdict, body: &Value) -> Result<&str, ToolResult> {
    match body {
        Value::String(reason) => Ok(reason),
        Value::Null => Ok(""),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(ToolResult::error(format!(
                "The content for xd://{} must be plain text: one sentence that says why.",
                verdict.device()
            )))
        }
    }
}

/// What `applied` made stale of the actions that are still pending, in a sentence each (`CONTRACT
/// F7`).
pub(crate) fn stale_since(host: &Host, applied: StageNumber) -> Vec<String> {
    let actions = host.session().actions();
    let Some((applied, ActionState::Applied)) = actions.get(applied) else { return Vec::new() };
    let Some(changed) = applied.change_set() else { return Vec::new() };
    let stale = |action: &Arc<StagedAction>| {
        let change_set = action.change_set().filter(|change_set| change_set.touches(changed))?;
        let shared: Vec<String> = change_set
            .paths()
            .into_iter()
            .filter(|path| changed.paths().contains(path))
            // Shown, not taken as it is: a name may hold a line break.
            .map(ToString::to_string)
            .collect();
        let n = action.number();
        let again = match (host.session().finalizer().form(), can_restage(&host.registry())) {
            (Form::Devices, true) => format!(
                "Write {{\"number\": {n}}} to xd://{RESTAGE} to make it anew, or a reason to xd://reject@{n}."
            ),
            (Form::Devices, false) => {
                format!("Discard it with a reason to xd://reject@{n} and stage it anew.")
            }
            (Form::HiddenTool, _) => {
                let tool = host.session().finalizer().tool_name();
                format!(
                    "Discard it with the `{tool}` tool once it is the newest, and stage it anew."
                )
            }
        };
        Some(format!(
            "Staged action @{n} is stale now: it was previewed before this one changed {}. {again}",
            shared.join(", ")
        ))
    };
    actions.pending().iter().filter_map(stale).collect()
}

/// Runs a mounted tool. Whatever comes of it, a panic and an abort included, the result carries the
/// device's metadata (`CONTRACT R6`).
pub(crate) async fn run(
    host: &Host,
    context: &Arc<ToolContext>,
    device: BoundDevice,
) -> ToolResult {
    // Another tool under the same name is not what was approved (case 50).
    if !device.is_mounted(host) {
        let BoundDevice { name, arguments, .. } = device;
        let error = ToolResult::error(format!(
            "Not executed: xd://{name} was replaced or taken away while this call was being \
             approved, so what was approved is not there any more. Read xd://{name}, then decide \
             anew."
        ));
        return device_result(&name, arguments, error);
    }
    let BoundDevice { name, tool, arguments } = device;
    // The call is made within the guarded future: a tool may panic before it answers one.
    let call = async { tool.call(Arc::clone(context), arguments.clone()).await };
    let result = tokio::select! {
        // What is already done is an answer, also where the cancellation came with it.
        biased;
        result = AssertUnwindSafe(call).catch_unwind() => match result {
            Ok(call) => outcome(&name, call),
            Err(_) => ToolResult::error(format!(
                "The device xd://{name} failed: it panicked. Nothing else was affected."
            )),
        },
        () = context.cancel().cancelled() => aborted(),
    };
    device_result(&name, arguments, result)
}

/// The tool behind `name` with arguments that fit its schema, or the answer where nothing is to
/// run: its documents, or what is wrong (`CONTRACT R3`).
pub(crate) fn prepare(
    host: &Host,
    name: DeviceName<'_>,
    body: &Value,
) -> Result<(Arc<dyn Tool>, Value), ToolResult> {
    let mount = {
        let registry = host.registry();
        match registry.mounted(name.as_str()) {
            Some(mount) => mount.clone(),
            None => return Err(unknown(&registry, name)),
        }
    };
    let docs = || mount.docs(host.session().prompts());
    match DeviceBody::decode(body) {
        Ok(DeviceBody::Docs) => Err(ToolResult::text(docs())),
        Ok(DeviceBody::Arguments(arguments)) => match mount.fitting(arguments) {
            Ok(arguments) => Ok((Arc::clone(&mount.tool), arguments)),
            Err(mismatch) => Err(ToolResult::error(format!(
                "xd://{name} was not run: {mismatch}.\n\n{}",
                docs()
            ))),
        },
        Err(fault) => Err(ToolResult::error(format!(
            "xd://{name} was not run: {fault}. Write a JSON object with its arguments, or read \
             xd://{name} for its documents. {}",
            mount.example()
        ))),
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
