//! What providers allow in the way of forcing, declared and learned (`CONTRACT G9`).

use std::collections::BTreeMap;

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
    /// Some tool, none by name, and not in a request that thinks.
    SomeToolUnlessThinking,
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
            (Self::SomeTool, Thinking::On) => Self::SomeToolUnlessThinking,
            (
                Self::Named
                | Self::NamedUnlessThinking
                | Self::SomeTool
                | Self::SomeToolUnlessThinking
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
            (Self::SomeTool, Thinking::On | Thinking::Off)
            | (Self::SomeToolUnlessThinking, Thinking::Off) => Some(ToolChoice::Required),
            (Self::NamedUnlessThinking | Self::SomeToolUnlessThinking, Thinking::On)
            | (Self::AutoOnly | Self::Unknown, Thinking::On | Thinking::Off) => None,
        }
    }
}

/// The capability table: for each model's id, what a table given beforehand says of its provider,
/// what whoever asks declares, and what the provider has refused all the same. A declaration goes
/// before the table, unless it is [`Forcing::Unknown`]. A model that nobody knows counts as not
/// forceable.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Capabilities {
    models: BTreeMap<String, Capability>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Capability {
    known: Forcing,
    declared: Forcing,
    refused: Refused,
}

/// What a provider has refused. It never grows less, so that a model costs at most two refusals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
enum Refused {
    #[default]
    Nothing,
    /// A forced choice in a request that thinks.
    WhileThinking,
    Always,
}

impl Capabilities {
    /// A table that knows no model.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The provider of `model` is said to allow `forcing`. What it has refused stays refused.
    pub fn declare(&mut self, model: &str, forcing: Forcing) {
        self.entry(model).declared = forcing;
    }

    /// The provider of `model` refused a forced choice in a request of this kind.
    pub fn refused(&mut self, model: &str, thinking: Thinking) {
        let entry = self.entry(model);
        entry.refused = match (entry.refused, thinking) {
            (Refused::Nothing, Thinking::On) => Refused::WhileThinking,
            (Refused::WhileThinking | Refused::Always, Thinking::On)
            | (Refused::Nothing | Refused::WhileThinking | Refused::Always, Thinking::Off) => {
                Refused::Always
            }
        };
    }

    /// How far the provider of `model` lets a request force: what is said of it, less what it has
    /// refused.
    #[must_use]
    pub fn of(&self, model: &str) -> Forcing {
        let Capability { known, declared, refused } =
            self.models.get(model).copied().unwrap_or_default();
        let said = if declared == Forcing::Unknown { known } else { declared };
        match refused {
            Refused::Nothing => said,
            Refused::WhileThinking => said.after_refusal(Thinking::On),
            Refused::Always => said.after_refusal(Thinking::Off),
        }
    }

    fn entry(&mut self, model: &str) -> &mut Capability {
        self.models.entry(model.to_owned()).or_default()
    }
}

impl<M: Into<String>> FromIterator<(M, Forcing)> for Capabilities {
    fn from_iter<I: IntoIterator<Item = (M, Forcing)>>(table: I) -> Self {
        let capability = |known| Capability { known, ..Capability::default() };
        let models = table.into_iter().map(|(model, known)| (model.into(), capability(known)));
        Self { models: models.collect() }
    }
}
