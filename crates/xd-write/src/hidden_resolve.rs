//! The hidden `resolve` tool: the earlier form of confirming (`CONTRACT D15`).

use std::sync::Arc;

use serde_json::{Value, json};
use xd_protocol::{Confirm, Selection};
use xd_resolve::{BoxFuture, HiddenResolve, Tier, ToolResult};
use xd_session::{Finalizer, Session};

use crate::{Tool, ToolContext, ToolDefinition, ToolFailure, bound::refused_reason, tier};

/// The tool `resolve {action: "apply" | "discard", reason}`, for hosts that offer it instead of the
/// devices. It decides on the head of the same stack, by the session's one way to confirm: the
/// guards, the gate and the record know no difference, and neither do producers.
///
/// A [`Host`](crate::Host) over a session with [`Finalizer::HiddenTool`] has it by itself.
///
/// Its results are those of the devices with two exceptions: their details are not wrapped, and
/// without anything pending both actions fail with one sentence.
#[derive(Debug)]
pub struct HiddenResolveTool {
    session: Arc<Session>,
    definition: ToolDefinition,
}

impl HiddenResolveTool {
    /// The tool for `session`.
    #[must_use]
    pub fn new(session: Arc<Session>) -> Self {
        Self { session, definition: definition() }
    }
}

fn definition() -> ToolDefinition {
    ToolDefinition::new(
        Finalizer::HiddenTool.tool_name(),
        "Finalizes the most recent staged preview.\n\
         Call it only while a preview is pending: with the action \"apply\" to apply the change, \
         with \"discard\" to drop it.",
        json!({
            "type": "object",
            "properties": {
                "action": { "type": "string", "enum": ["apply", "discard"] },
                "reason": { "type": "string", "description": "Why, in one sentence; it is kept in the log." }
            },
            "required": ["action", "reason"],
            "additionalProperties": false
        }),
    )
}

impl Tool for HiddenResolveTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// That of the action which it would apply, were it called in a batch that begins now
    /// (`CONTRACT W6`).
    fn tier(&self, arguments: &Value) -> Option<Tier> {
        let verdict = HiddenResolve::decode(arguments).ok()?.verdict;
        let confirm = Confirm { verdict, selection: Selection::Head };
        let actions = self.session.actions();
        Some(tier::of_confirm(actions, confirm, actions.begin_batch().head()))
    }

    fn confirms(&self, arguments: &Value) -> Option<Result<HiddenResolve, ToolResult>> {
        Some(match HiddenResolve::decode(arguments) {
            Ok(call) => match refused_reason(&call.reason) {
                Ok(_) => Ok(call),
                Err(answer) => Err(answer),
            },
            Err(fault) => Err(ToolResult::error(fault.to_string())),
        })
    }

    fn call(
        &self,
        context: Arc<ToolContext>,
        arguments: Value,
    ) -> BoxFuture<'_, Result<ToolResult, ToolFailure>> {
        Box::pin(async move {
            let HiddenResolve { verdict, reason } = match HiddenResolve::decode(&arguments) {
                Ok(call) => call,
                Err(fault) => return Ok(ToolResult::error(fault.to_string())),
            };
            let confirm = Confirm { verdict, selection: Selection::Head };
            let (reason, decider) = (context.reason(&reason), context.decider());
            Ok(self.session.confirm(&context.batch, confirm, reason, decider).await)
        })
    }
}
