//! What a model is told when plan mode begins or ends.

use std::sync::Arc;

use serde_json::{Value, json};
use xd_prompts::{PlanMode as PlanModePrompt, Prompts};
use xd_protocol::notice;
use xd_resolve::PlanMode;

use super::state::Untold;

/// A hidden custom message for the tail of the history: plan mode is on, or off again.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanNotice {
    /// What the model reads.
    pub text: Arc<str>,
    /// Whether plan mode is on.
    pub mode: PlanMode,
}

impl PlanNotice {
    /// The custom type of the message.
    pub const CUSTOM_TYPE: &'static str = "plan-mode";
    /// Whether a front end draws the message.
    pub const DISPLAY: bool = false;

    pub(crate) fn new(untold: Untold, prompts: &Prompts) -> Self {
        match untold {
            Untold::On { slug } => {
                let text = prompts.render(&PlanModePrompt { slug }).unwrap_or_else(|error| {
                    tracing::warn!(%error, "the template of plan mode failed");
                    format!(
                        "In this conversation {}{}",
                        notice::PLAN_MODE_ON,
                        notice::PLAN_MODE_ALLOWS
                    )
                });
                Self { text: text.into(), mode: PlanMode::On }
            }
            Untold::Off => Self { text: notice::PLAN_MODE_LEFT.into(), mode: PlanMode::Off },
        }
    }

    /// The message's details: `{mode}`.
    #[must_use]
    pub fn details(&self) -> Value {
        json!({ "mode": match self.mode { PlanMode::On => "on", PlanMode::Off => "off" } })
    }
}
