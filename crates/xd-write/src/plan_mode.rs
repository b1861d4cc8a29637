//! What a call reaches, and what plan mode holds back of it (`CONTRACT W7`, cases 87, 93, 95).

use serde_json::{Value, json};
use xd_protocol::{Device, READ_TOOL, Verdict, WRITE_TOOL, notice};
use xd_resolve::{ActionState, Guard, PlanMode, Tier, ToolCall, ToolResult, device_result};

use crate::{
    Host, Rule, ToolContext,
    bound::{Bound, confirm_in},
    local,
    write::{self, WriteTarget},
};

/// What a call reaches, whichever way it was called. Asked of the parsed address, never of the
/// text of a path (case 87).
pub(crate) struct Subject {
    /// The name that rules know it by.
    pub(crate) name: String,
    kind: Kind,
}

enum Kind {
    /// It reads.
    Look,
    /// It writes this text to this file.
    File { path: String, text: String },
    /// It writes a draft.
    Draft,
    /// It decides on a staged action, as a device's write.
    Confirm,
    /// It decides on a staged action, through the hidden tool (`CONTRACT D15`).
    HiddenConfirm,
    /// It submits a plan.
    Propose,
    /// It runs a tool or a device.
    Run,
}

impl Subject {
    /// What `call` reaches.
    pub(crate) fn of(host: &Host, call: &ToolCall) -> Self {
        let registry = host.registry();
        if let Some((device, _)) = host.route(call, &registry) {
            return Self::of_device(device);
        }
        match call.name.as_str() {
            READ_TOOL => Self { name: READ_TOOL.to_owned(), kind: Kind::Look },
            WRITE_TOOL => match write::target(&call.arguments) {
                Ok(WriteTarget::Device(device, _)) => Self::of_device(device),
                Ok(WriteTarget::Draft(..)) => Self { name: "local".to_owned(), kind: Kind::Draft },
                Ok(WriteTarget::File(path, text)) => Self {
                    name: WRITE_TOOL.to_owned(),
                    kind: Kind::File { path: path.to_owned(), text: text.to_owned() },
                },
                // It leads nowhere; what it says is its answer.
                Err(_) => Self { name: WRITE_TOOL.to_owned(), kind: Kind::Run },
            },
            name => {
                let is_confirm = confirm_in(host, call).is_some();
                let kind = if is_confirm { Kind::HiddenConfirm } else { Kind::Run };
                Self { name: name.to_owned(), kind }
            }
        }
    }

    fn of_device(device: Device<'_>) -> Self {
        let kind = match device {
            Device::Resolve(_) | Device::Reject(_) => Kind::Confirm,
            Device::Propose => Kind::Propose,
            Device::Tool(_) => Kind::Run,
        };
        Self { name: device.name().to_owned(), kind }
    }

    /// Whether it is what plan mode is for: a draft or a proposal, which a person sees anyway.
    pub(crate) fn is_planning(&self) -> bool {
        match self.kind {
            Kind::Draft | Kind::Propose => true,
            Kind::Look | Kind::File { .. } | Kind::Confirm | Kind::HiddenConfirm | Kind::Run => {
                false
            }
        }
    }

    /// The file that it writes.
    pub(crate) fn file(&self) -> Option<&str> {
        match &self.kind {
            Kind::File { path, .. } => Some(path),
            Kind::Look
            | Kind::Draft
            | Kind::Confirm
            | Kind::HiddenConfirm
            | Kind::Propose
            | Kind::Run => None,
        }
    }
}

/// Plan mode as it holds for a call: on where it is, or was when its batch began. A model that ends
/// it within a batch has not heard yet that it did.
pub(crate) fn of_call(host: &Host, context: &ToolContext) -> PlanMode {
    match (context.plan_mode, host.session().plan_mode()) {
        (PlanMode::Off, PlanMode::Off) => PlanMode::Off,
        (PlanMode::On, _) | (_, PlanMode::On) => PlanMode::On,
    }
}

/// The refusal of what plan mode holds back.
pub(crate) fn hold_back(
    host: &Host,
    call: &ToolCall,
    subject: &Subject,
    bound: &Bound,
    context: &ToolContext,
) -> Result<(), ToolResult> {
    let now = host.session().plan_mode();
    match of_call(host, context) {
        PlanMode::Off => return Ok(()),
        PlanMode::On => {}
    }
    let (because, hint, allows) = match now {
        PlanMode::On => (notice::PLAN_MODE_ON, notice::PLAN_MODE_HINT, notice::PLAN_MODE_ALLOWS),
        PlanMode::Off => (ENDED_IN_BATCH, "", ""),
    };
    match &subject.kind {
        Kind::Look | Kind::Draft | Kind::Propose => Ok(()),
        Kind::File { path, text } => Err(ToolResult::error(format!(
            "Not written: {because}{}{hint}",
            local::kept(host, file_name(path), text),
        ))),
        // The store's guard would say the same; asked here nobody is bothered before.
        Kind::Confirm => may_apply(host, bound, context, now).map_err(|refusal| {
            device_result(&subject.name, json!({ "reason": bound.reason }), refusal)
        }),
        Kind::HiddenConfirm => may_apply(host, bound, context, now),
        Kind::Run => {
            let free = bound.tier == Tier::Read
                || only_stages(host, call, bound)
                || host.policy().rules().rule(&subject.name) == Rule::Allowed;
            if free {
                return Ok(());
            }
            Err(ToolResult::error(format!(
                "Not executed: {because} `{}` is not declared read-only for these arguments.{allows}",
                xd_protocol::Excerpt(&subject.name),
            )))
        }
    }
}

/// How a refusal begins where plan mode ended within the batch.
const ENDED_IN_BATCH: &str = "plan mode was on when this batch of calls began, and holds for all of \
                              it. It is off now: make the call again in the next turn.";

/// What is added to a refusal that has come before (case 93).
pub(crate) fn stop_repeating(times: u32, mode: PlanMode, ends: bool) -> String {
    let instead = match mode {
        PlanMode::On => notice::PLAN_MODE_ALLOWS,
        PlanMode::Off => " Do something else, or say in words what you need.",
    };
    let end = if ends { " This run ends here." } else { "" };
    format!(
        "This same call was refused {times} times in this prompt: stop repeating it.{instead}{end}"
    )
}

/// A tool that only stages changes nothing before a confirm, and a confirm is held back.
fn only_stages(host: &Host, call: &ToolCall, bound: &Bound) -> bool {
    match (&bound.device, host.tool(&call.name)) {
        (Some(device), _) => device.tool.only_stages(),
        (None, Some(tool)) => tool.only_stages(),
        (None, None) => false,
    }
}

/// What the store's guard would say of an apply; one that is decided already says so itself.
fn may_apply(
    host: &Host,
    bound: &Bound,
    context: &ToolContext,
    now: PlanMode,
) -> Result<(), ToolResult> {
    let Some(action) = &bound.applies else { return Ok(()) };
    let state = host.session().actions().get(action.number()).map(|it| it.1);
    match (state, now, action.tier()) {
        (Some(ActionState::Pending), PlanMode::On, _) => {
            host.session().plan().check(action, Verdict::Apply, context.scope.decider)
        }
        // One that is taken may be pending again before the confirm comes to it.
        (
            Some(ActionState::Pending | ActionState::Taken(_)),
            PlanMode::Off,
            Tier::Write | Tier::Exec,
        ) => Err(ToolResult::error(format!(
            "Not applied: {ENDED_IN_BATCH} Staged action @{} stays as it is.",
            action.number()
        ))),
        (
            Some(
                ActionState::Pending
                | ActionState::Taken(_)
                | ActionState::Applied
                | ActionState::Discarded
                | ActionState::Void
                | ActionState::Withdrawn,
            )
            | None,
            ..,
        ) => Ok(()),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or_default()
}

/// The text body of a device that takes plain text.
pub(crate) fn plain(body: &Value) -> Option<&str> {
    match body {
        Value::String(text) => Some(text),
        Value::Null => Some(""),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
    }
}
