//! What a provider allows in the way of forcing (`CONTRACT G9`).

use serde::{Deserialize, Serialize};

use crate::ToolChoice;

/// How far a provider lets a request force a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Forcing {
    /// A named tool.
    Named,
    /// A named tool, but not in a request that thinks.
    NamedUnlessThinking,
    /// Some tool, none by name.
    SomeTool,
    /// Not at all.
    AutoOnly,
    /// Nobody knows: counts as not at all.
    #[default]
    Unknown,
}

/// Whether a request lets the model think before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Thinking {
    /// It does.
    On,
    /// It does not.
    #[default]
    Off,
}

impl Forcing {
    /// What is left once a provider has refused a forced choice in a request of this kind
    /// (`CONTRACT G9`).
    #[must_use]
    pub fn after_refusal(self, thinking: Thinking) -> Self {
        match (self, thinking) {
            // It refused while thinking; without, it was never asked.
            (Self::Named, Thinking::On) => Self::NamedUnlessThinking,
            (
                Self::Named
                | Self::NamedUnlessThinking
                | Self::SomeTool
                | Self::AutoOnly
                | Self::Unknown,
                _,
            ) => Self::AutoOnly,
        }
    }

    /// The choice that comes nearest to `choice` and is not refused, or none where the request's own
    /// has to do (**Invariant S5**).
    #[must_use]
    pub fn allowed(self, choice: ToolChoice, thinking: Thinking) -> Option<ToolChoice> {
        match choice {
            ToolChoice::Auto | ToolChoice::None => Some(choice),
            ToolChoice::Named(tool) => self.choice_for(&tool, thinking),
            // Who can be asked for a tool by name, or for some tool, can be asked for some.
            ToolChoice::Required => self.choice_for("", thinking).map(|_| ToolChoice::Required),
        }
    }

    /// The choice that comes nearest to forcing `tool` and is not refused, or none where the
    /// reminder has to do (**Invariant S5**).
    #[must_use]
    pub fn choice_for(self, tool: &str, thinking: Thinking) -> Option<ToolChoice> {
        match (self, thinking) {
            (Self::Named, Thinking::On | Thinking::Off)
            | (Self::NamedUnlessThinking, Thinking::Off) => {
                Some(ToolChoice::Named(tool.to_owned()))
            }
            (Self::SomeTool, Thinking::On | Thinking::Off) => Some(ToolChoice::Required),
            (Self::NamedUnlessThinking, Thinking::On)
            | (Self::AutoOnly | Self::Unknown, Thinking::On | Thinking::Off) => None,
        }
    }
}
