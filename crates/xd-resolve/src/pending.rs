//! The earlier form: a LIFO store and a hidden `resolve` tool, as a face on the same stack
//! (`CONTRACT D15`).

use std::{error::Error, fmt, sync::Arc};

use serde_json::Value;
use xd_protocol::{Confirm, Selection, Verdict};

use crate::{
    ActionStore, Decider, Form, PlanMode, StageError, StageRequest, StagedAction, ToolResult,
    Wording, dispatch_result,
};

/// What the earlier form calls a staged action.
pub type PendingAction = StageRequest;

/// The earlier form's face on an [`ActionStore`]: the same actions, the same numbers.
#[derive(Debug, Clone)]
pub struct PendingActionStore(Arc<ActionStore>);

impl PendingActionStore {
    /// A face on `store`.
    #[must_use]
    pub fn new(store: Arc<ActionStore>) -> Self {
        Self(store)
    }

    /// The store beneath.
    #[must_use]
    pub fn store(&self) -> &Arc<ActionStore> {
        &self.0
    }

    /// Stages `action` on top.
    ///
    /// # Errors
    /// As [`ActionStore::stage`].
    pub fn push(&self, action: PendingAction) -> Result<xd_protocol::StageNumber, StageError> {
        self.0.stage(action).map(|staged| staged.number())
    }

    /// The top action, left where it is.
    #[must_use]
    pub fn peek(&self) -> Option<Arc<StagedAction>> {
        self.0.head()
    }

    /// Takes the top action out. It is the caller's then: its number answers `withdrawn`.
    #[must_use]
    pub fn pop(&self) -> Option<Arc<StagedAction>> {
        self.0.withdraw_head()
    }

    /// Whether any action is pending.
    #[must_use]
    pub fn has_pending(&self) -> bool {
        self.0.has_pending()
    }

    /// Carries a call of the hidden `resolve` tool out: the head is taken, as by a confirm. The
    /// result's details are those of `CONTRACT D7`, not wrapped.
    ///
    /// # Cancel safety
    /// As [`ActionStore::confirm`].
    pub async fn resolve(&self, arguments: &Value, decider: Decider) -> ToolResult {
        let call = match HiddenResolve::decode(arguments) {
            Ok(call) => call,
            Err(fault) => return ToolResult::error(fault.to_string()),
        };
        let confirm = Confirm { verdict: call.verdict, selection: Selection::Head };
        let batch = self.0.begin_batch();
        let resolution = self.0.resolve(&batch, confirm, &call.reason, decider).await;
        let wording = Wording { plan_mode: PlanMode::Off, form: Form::HiddenTool };
        dispatch_result(resolution, call.verdict, &call.reason, wording)
    }
}

/// The arguments of the hidden `resolve` tool: `{action: "apply" | "discard", reason}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HiddenResolve {
    /// Apply or discard.
    pub verdict: Verdict,
    /// The reason, as given.
    pub reason: String,
}

impl HiddenResolve {
    /// Reads the arguments.
    ///
    /// # Errors
    /// [`HiddenResolveFault`], which shows a valid call.
    pub fn decode(arguments: &Value) -> Result<Self, HiddenResolveFault> {
        let verdict = match arguments.get("action").and_then(Value::as_str) {
            Some("apply") => Verdict::Apply,
            Some("discard") => Verdict::Discard,
            Some(_) | None => return Err(HiddenResolveFault::Action),
        };
        let reason =
            arguments.get("reason").and_then(Value::as_str).ok_or(HiddenResolveFault::Reason)?;
        Ok(Self { verdict, reason: reason.to_owned() })
    }
}

/// What is wrong with a call of the hidden `resolve` tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HiddenResolveFault {
    /// `action` is missing or neither word.
    Action,
    /// `reason` is missing or no string.
    Reason,
}

impl fmt::Display for HiddenResolveFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fault = match self {
            Self::Action => "`action` is missing or is neither \"apply\" nor \"discard\"",
            Self::Reason => "`reason` is missing or no string; it says why, in one sentence",
        };
        write!(
            f,
            "resolve: {fault}. Example: {{\"action\": \"apply\", \"reason\": \"All call sites use the new name.\"}}"
        )
    }
}

impl Error for HiddenResolveFault {}
