//! What a confirm came to, read from its call and its result.

use serde_json::Value;
use xd_protocol::notice::NOTHING_TO_REJECT;
use xd_resolve::{ToolCall, ToolResult};

use crate::call::{CallView, Kind};

/// How a confirm ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The staged action was applied.
    Applied,
    /// The staged action was discarded.
    Discarded,
    /// Nothing was decided; whatever was pending still is.
    Failed,
    /// It was a reject, and nothing was pending (`CONTRACT D3`).
    NothingPending,
}

/// A decision on a staged action, as far as the result tells: foreign results leave things out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// How it ended.
    pub outcome: Outcome,
    /// The action's label: `AST Edit: 2 replacements in 1 file`.
    pub label: Option<String>,
    /// The tool that staged it.
    pub source: Option<String>,
    /// The reason given.
    pub reason: Option<String>,
    /// What went wrong, where it failed.
    pub message: Option<String>,
}

impl Decision {
    /// The decision that `call` and `result` make up; none where the call confirms nothing.
    ///
    /// A write to `xd://resolve` or `xd://reject`, a call by that name and a call of the hidden
    /// `resolve` tool all count (`CONTRACT V5`). Details of any other shape are treated as missing.
    #[must_use]
    pub fn of(call: &ToolCall, result: &ToolResult) -> Option<Self> {
        let applies = match CallView::of(call).kind()? {
            Kind::Resolve(_) => true,
            Kind::Reject(_) => false,
            Kind::Propose | Kind::Device | Kind::File | Kind::Refused | Kind::Tool => return None,
        };
        let details = result.details.as_ref();
        let device = details.and_then(|details| details.get("xdev"));
        let inner = device.and_then(|device| device.get("inner")).or(details);
        let text = |of: Option<&Value>, key: &str| -> Option<String> {
            let text = of?.get(key)?.as_str()?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let reason = text(inner, "reason")
            .or_else(|| text(device.and_then(|device| device.get("args")), "reason"))
            .or_else(|| text(Some(&call.arguments), "content"))
            .or_else(|| text(Some(&call.arguments), "reason"));
        // The details know better than the address only where they say so.
        let applied = text(inner, "action").map_or(applies, |action| action == "apply");
        let outcome = match (result.is_error, applied) {
            (true, _) => Outcome::Failed,
            (false, true) => Outcome::Applied,
            (false, false) if result.joined().starts_with(NOTHING_TO_REJECT) => {
                Outcome::NothingPending
            }
            (false, false) => Outcome::Discarded,
        };
        Some(Self {
            outcome,
            label: text(inner, "label"),
            source: text(inner, "source_tool_name"),
            reason,
            message: result.is_error.then(|| result.joined()),
        })
    }
}
