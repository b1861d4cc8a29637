//! What a call leads to, found once: what a person approves is what runs (`CONTRACT W6`, cases 50
//! and 121).

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use serde_json::Value;
use xd_protocol::{
    Confirm, Device, READ_TOOL, Reason, Selection, StageNumber, Verdict, WRITE_TOOL,
};
use xd_resolve::{ActionStore, StagedAction, Tier, ToolCall, ToolResult};

use crate::{
    Host, Tool, ToolContext, device, tier,
    write::{self, WriteTarget},
};

/// What a call leads to. Nothing that happens while a person is asked changes it: neither a refresh
/// of the devices, nor what is staged or decided meanwhile (**Invariant W11**).
pub(crate) struct Bound {
    /// The mounted tool that it runs.
    pub(crate) device: Option<BoundDevice>,
    /// The action that it would apply.
    pub(crate) applies: Option<Arc<StagedAction>>,
    /// The reason that it gives, where it is a confirm.
    pub(crate) reason: String,
    /// How far it reaches.
    pub(crate) tier: Tier,
}

/// A mounted tool with its arguments.
pub(crate) struct BoundDevice {
    pub(crate) name: String,
    pub(crate) tool: Arc<dyn Tool>,
    pub(crate) arguments: Value,
}

impl BoundDevice {
    /// Whether the tool is still the one that is mounted under its name.
    pub(crate) fn is_mounted(&self, host: &Host) -> bool {
        let registry = host.registry();
        let mounted = registry.get(&self.name);
        mounted.is_some_and(|tool| std::ptr::addr_eq(Arc::as_ptr(tool), Arc::as_ptr(&self.tool)))
    }
}

impl Host {
    /// What `call` leads to. A bare confirm means the head of its batch.
    ///
    /// # Errors
    /// The answer to a call that runs nothing whoever approves it: no such tool or device, a
    /// broken address, documents, arguments that do not fit, a confirm without a reason.
    pub(crate) fn bind(&self, call: &ToolCall, context: &ToolContext) -> Result<Bound, ToolResult> {
        let routed = {
            let registry = self.registry();
            self.route(call, &registry).map(|(device, body)| (device, body.into_owned()))
        };
        let (mut device, mut reason) = (None, String::new());
        match routed {
            Some((target, body)) => (device, reason) = self.bind_device(target, &body)?,
            None => match call.name.as_str() {
                READ_TOOL => {}
                WRITE_TOOL => match write::target(&call.arguments)? {
                    WriteTarget::Device(target, body) => {
                        (device, reason) = self.bind_device(target, body)?;
                    }
                    WriteTarget::Draft(..) | WriteTarget::File(..) => {}
                },
                name => match self.tool(name) {
                    Some(tool) => {
                        if let Some(confirm) = tool.confirms(&call.arguments) {
                            reason = confirm?.reason;
                        }
                    }
                    None => return Err(self.unknown_tool(name)),
                },
            },
        }
        let head = context.batch.head();
        let actions = self.session().actions();
        let applies = confirm_in(self, call).and_then(|it| would_apply(actions, it, head));
        let tier = match (&device, &applies) {
            (Some(device), _) => tier::of_tool(device.tool.as_ref(), &device.arguments),
            (None, Some(action)) => action.tier(),
            (None, None) => tier::of_call(self, call, head),
        };
        Ok(Bound { device, applies, reason: reason.trim().to_owned(), tier })
    }

    fn bind_device(
        &self,
        target: Device<'_>,
        body: &Value,
    ) -> Result<(Option<BoundDevice>, String), ToolResult> {
        match target {
            Device::Tool(name) => {
                let (tool, arguments) = device::prepare(self, name, body)?;
                let name = name.as_str().to_owned();
                Ok((Some(BoundDevice { name, tool, arguments }), String::new()))
            }
            Device::Propose => self.may_propose().map(|()| (None, String::new())),
            Device::Resolve(_) | Device::Reject(_) => {
                device::reason(target, body).map(|reason| (None, reason.to_owned()))
            }
        }
    }
}

/// The action that `confirm` would apply, `head` being what one without a number means.
pub(crate) fn would_apply(
    actions: &ActionStore,
    Confirm { verdict, selection }: Confirm,
    head: Option<StageNumber>,
) -> Option<Arc<StagedAction>> {
    let number = match (verdict, selection) {
        (Verdict::Discard, _) => return None,
        (Verdict::Apply, Selection::Head) => head?,
        (Verdict::Apply, Selection::Numbered(number)) => number,
    };
    actions.get(number).map(|(action, _)| action)
}

/// The confirm that `call` is for `host`, in whichever form it offers.
pub(crate) fn confirm_in(host: &Host, call: &ToolCall) -> Option<Confirm> {
    // The gate asks the same, so that what satisfies is what decides (`CONTRACT U9`).
    if let Some(confirm) = host.session().finalizer().confirm_of(call) {
        return Some(confirm);
    }
    // A tool that decides under a name of its own, beside the addresses.
    let tool = host.tool(&call.name)?;
    let said = catch_unwind(AssertUnwindSafe(|| tool.confirms(&call.arguments))).ok().flatten();
    let said = said?.ok()?;
    Some(Confirm { verdict: said.verdict, selection: Selection::Head })
}

/// Why `reason` is none, as an answer.
pub(crate) fn refused_reason(reason: &str) -> Result<&str, ToolResult> {
    match Reason::new(reason) {
        Ok(reason) => Ok(reason.as_str()),
        Err(fault) => Err(ToolResult::error(fault.to_string())),
    }
}
