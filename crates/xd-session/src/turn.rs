//! What is asked before a turn, and what the session asks of it.

use xd_protocol::StageNumber;

use crate::{Forcing, PlanNotice, Reminder, SoftRequirement, Thinking, ToolChoice};

/// What an agent loop tells the session before a turn.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// The tools of the coming request.
    pub tools: Vec<String>,
    /// The tool choice that the request would carry without the session.
    pub static_choice: ToolChoice,
    /// What the provider allows.
    pub forcing: Forcing,
    /// Whether the request thinks.
    pub thinking: Thinking,
}

impl TurnRequest {
    /// A turn with `tools`, choice `auto`, a provider that can force by name, no thinking.
    pub fn with_tools<T: Into<String>>(tools: impl IntoIterator<Item = T>) -> Self {
        Self {
            tools: tools.into_iter().map(Into::into).collect(),
            static_choice: ToolChoice::Auto,
            forcing: Forcing::Named,
            thinking: Thinking::Off,
        }
    }

    pub(crate) fn has(&self, tool: &str) -> bool {
        self.tools.iter().any(|t| t == tool)
    }
}

/// What the session asks of a turn.
#[derive(Debug, Clone)]
pub struct TurnPlan {
    /// The tool choice to send.
    pub tool_choice: ToolChoice,
    /// A message to append at the tail of the history, before the request and before the reminder,
    /// for good: plan mode has begun or ended, and the model was not told yet.
    pub plan_notice: Option<PlanNotice>,
    /// A message to append at the tail of the history, before the request, for good.
    pub reminder: Option<Reminder>,
    /// The requirement in force, where one is.
    pub requirement: Option<SoftRequirement>,
    /// The choice by which the gate, a hard directive or else the request itself wanted to force,
    /// where the provider does not allow it: the turn goes with what it allows of the request's own
    /// choice, by reminder where one is due.
    pub forcing_unavailable: Option<ToolChoice>,
    /// The tool choice is a hard directive's, for this turn alone (`CONTRACT Q1`).
    pub directive: bool,
    /// The tool that a hard directive, or else the request's own choice, named and that is not
    /// active (`CONTRACT Q6`).
    pub unavailable: Option<String>,
    /// The budget of this action is spent: do not send the turn, end the run.
    pub parked: Option<StageNumber>,
    pub(crate) forced: bool,
}

impl TurnPlan {
    /// Whether the turn forces: the finalizing tool by name or, where the provider cannot name one,
    /// some tool.
    #[must_use]
    pub fn forces(&self) -> bool {
        self.forced
    }
}
