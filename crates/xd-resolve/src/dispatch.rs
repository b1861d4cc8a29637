//! From a confirm to the text that a model reads.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use xd_protocol::{Confirm, Reason, Verdict, notice};

use crate::{ActionState, ActionStore, Batch, Decider, Ending, Refusal, Resolution, ToolResult};

impl ActionStore {
    /// Carries a confirm out: checks the reason, finds the action, takes it, runs it
    /// (`CONTRACT D1–D2`).
    ///
    /// # Cancel safety
    /// As [`ActionStore::confirm`].
    pub async fn resolve(
        self: &Arc<Self>,
        batch: &Batch,
        confirm: Confirm,
        body: &str,
        decider: Decider,
    ) -> Resolution {
        let reason = match Reason::new(body) {
            Ok(reason) => reason,
            Err(fault) => return Resolution::Refused(Refusal::Reason(fault)),
        };
        match batch.select(confirm, self) {
            Ok(number) => self.confirm(number, confirm.verdict, reason.as_str(), decider).await,
            Err(refusal) => Resolution::Refused(refusal),
        }
    }

    /// [`resolve`](Self::resolve) and [`dispatch_result`] in one, outside plan mode.
    pub async fn dispatch(
        self: &Arc<Self>,
        batch: &Batch,
        confirm: Confirm,
        body: &str,
        decider: Decider,
    ) -> ToolResult {
        let resolution = self.resolve(batch, confirm, body, decider).await;
        dispatch_result(resolution, confirm.verdict, body, PlanMode::Off)
    }
}

/// Why a void action is void.
const SESSION_ENDED: &str = "its session has ended";

/// Whether the session plans, which some texts mention (`CONTRACT D5`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanMode {
    /// It plans.
    On,
    /// It does not.
    Off,
}

/// By what a model finalizes; the texts name nothing that it does not have (`CONTRACT D15`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// `write` to the devices.
    #[default]
    Devices,
    /// The hidden `resolve` tool.
    HiddenTool,
}

/// What the texts of a confirm depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wording {
    /// Whether the session plans.
    pub plan_mode: PlanMode,
    /// By what the model finalizes.
    pub form: Form,
}

impl From<PlanMode> for Wording {
    fn from(plan_mode: PlanMode) -> Self {
        Self { plan_mode, form: Form::Devices }
    }
}

/// The tool result of a confirm (`CONTRACT D3–D10`).
#[must_use]
pub fn dispatch_result(
    resolution: Resolution,
    verdict: Verdict,
    body: &str,
    wording: impl Into<Wording>,
) -> ToolResult {
    let wording = wording.into();
    match resolution {
        Resolution::Refused(refusal) => refused(refusal, verdict, body, wording),
        Resolution::Ran { action, verdict, reason, ending, result, late, unrecorded } => {
            let inner = DispatchDetails {
                action: verdict.into(),
                reason: reason.to_string(),
                source_tool_name: Some(action.source_tool_name().to_owned()),
                label: Some(action.label().to_owned()),
                source_result_details: result.as_ref().and_then(|r| r.details.clone()),
            };
            let label = action.label();
            let mut result = result.unwrap_or_else(|| {
                ToolResult::text(notice::Discarded { label, reason: &reason }.to_string())
            });
            let number = action.number();
            if late {
                result.content.push(format!("Staged action @{number} is void: {SESSION_ENDED}."));
            } else if ending == Ending::Kept {
                let attempted = verdict;
                result.content.push(match wording.form {
                    Form::Devices => notice::StillPending { number, attempted }.to_string(),
                    Form::HiddenTool => {
                        notice::StillPendingForTool { number, attempted }.to_string()
                    }
                });
            }
            if let Some(error) = unrecorded {
                result.content.push(format!("This outcome stands, but {error}."));
            }
            result.with_details(inner.to_value())
        }
    }
}

fn refused(refusal: Refusal, verdict: Verdict, body: &str, wording: Wording) -> ToolResult {
    let hint = match wording.plan_mode {
        PlanMode::On => notice::PLAN_MODE_HINT,
        PlanMode::Off => "",
    };
    match refusal {
        Refusal::NothingPending => match verdict {
            Verdict::Apply | Verdict::Discard if wording.form == Form::HiddenTool => {
                ToolResult::error(notice::NOTHING_TO_RESOLVE)
            }
            Verdict::Discard => {
                let reason = body.trim();
                ToolResult::text(format!("{}{hint}", notice::NOTHING_TO_REJECT))
                    .with_details(json!({ "action": verdict.as_str(), "reason": reason }))
            }
            Verdict::Apply => ToolResult::error(format!("{}{hint}", notice::NOTHING_TO_APPLY)),
        },
        Refusal::Reason(fault) => ToolResult::error(fault.to_string()),
        Refusal::Unknown(n) if wording.form == Form::HiddenTool => ToolResult::error(format!(
            "No staged action has number {n}. The tool `resolve` decides the most recent one and \
             takes no number. Example: {{\"action\": \"{}\", \"reason\": \"<one sentence>\"}}",
            verdict.as_str()
        )),
        Refusal::Unknown(n) => ToolResult::error(format!(
            "No staged action has number {n}. Read xd://resolve@<n> for one that exists, or write \
             to xd://{} for the most recent.",
            verdict.device()
        )),
        Refusal::AlreadyBeingResolved(n) => {
            ToolResult::error(format!("Staged action @{n} is already being resolved."))
        }
        Refusal::AlreadyDecided(n, state) => ToolResult::error(format!(
            "Staged action @{n} is {}. Nothing was done.",
            match state {
                ActionState::Applied => "already applied".to_owned(),
                ActionState::Discarded => "already discarded".to_owned(),
                ActionState::Void => format!("void: {SESSION_ENDED}"),
                ActionState::Withdrawn => "withdrawn: the host took it over".to_owned(),
                ActionState::Pending | ActionState::Taken(_) => "still open".to_owned(),
            }
        )),
        Refusal::SecondBareConfirm { .. } if wording.form == Form::HiddenTool => ToolResult::error(
            "Not done: several actions were pending when this batch began, and one batch \
                 decides one. Call `resolve` again in the next turn for the one below.",
        ),
        Refusal::SecondBareConfirm { named, total } => ToolResult::error(format!(
            "Not done: several actions were pending when this batch began, so a second xd://{} \
             without a number could mean another one than you think. Name it: {}",
            verdict.device(),
            notice::NumberedAddresses { first: &named, total },
        )),
        Refusal::NotYetSeen(n) if wording.form == Form::HiddenTool => ToolResult::error(format!(
            "Not done: staged action @{n} was staged in this same batch. Look at its preview, then \
             call `resolve`."
        )),
        Refusal::NotYetSeen(n) => ToolResult::error(format!(
            "Not done: staged action @{n} was staged in this same batch. Look at its preview, then \
             write your reason to xd://{}@{n}.",
            verdict.device()
        )),
        Refusal::Forbidden(result) => ToolResult { is_error: true, ..result },
        Refusal::NotRecorded(error) => ToolResult::error(format!(
            "Nothing was done: {error}. The action is still pending; free the record and retry."
        )),
    }
}

/// The details of a carried-out confirm (`CONTRACT D7`).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DispatchDetails {
    /// Apply or discard.
    pub action: DispatchAction,
    /// The reason given.
    pub reason: String,
    /// The tool that had staged; none where nothing was pending (`CONTRACT D3`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_tool_name: Option<String>,
    /// The action's label; none where nothing was pending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The details of the producer's own result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_result_details: Option<Value>,
}

/// A [`Verdict`] as details spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DispatchAction {
    /// `apply`.
    Apply,
    /// `discard`.
    Discard,
}

impl From<Verdict> for DispatchAction {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Apply => Self::Apply,
            Verdict::Discard => Self::Discard,
        }
    }
}

impl From<DispatchAction> for Verdict {
    fn from(action: DispatchAction) -> Self {
        match action {
            DispatchAction::Apply => Self::Apply,
            DispatchAction::Discard => Self::Discard,
        }
    }
}

impl DispatchDetails {
    fn to_value(&self) -> Value {
        serde_json::to_value(self).expect("strings and JSON values serialise")
    }
}

/// Wraps the result of a device into that of the `write` call which ran it (`CONTRACT D8`).
#[must_use]
pub fn device_result(tool: &str, args: Value, mut result: ToolResult) -> ToolResult {
    let inner = result.details.take().unwrap_or(Value::Null);
    result.with_details(
        json!({ "xdev": { "tool": tool, "mode": "execute", "args": args, "inner": inner } }),
    )
}

/// Reads back what a `write` to `xd://resolve` or `xd://reject` carried in its details; nothing
/// for a result of any other shape (`CONTRACT D8`).
#[must_use]
pub fn resolve_dispatch_details(result: &ToolResult) -> Option<DispatchDetails> {
    let xdev = result.details.as_ref()?.get("xdev")?;
    let tool = xdev.get("tool")?.as_str()?;
    let executed = xdev.get("mode")?.as_str()? == "execute";
    xdev.get("args")?.get("reason")?.as_str()?;
    let inner = DispatchDetails::deserialize(xdev.get("inner")?).ok()?;
    let agrees = tool == Verdict::from(inner.action).device();
    (executed && agrees).then_some(inner)
}
