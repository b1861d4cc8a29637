//! What every request of a model carries beside its history.

use serde::Deserialize;
use serde_json::{Map, Value};

/// The settings of a model. They are the same in every request of its life: a forced turn differs
/// from the one before in `tool_choice` and appended messages alone (`CONTRACT G11`).
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How many tokens an answer may have. Without, the provider's own limit holds, where the wire
    /// has one; Anthropic's has none, and gets 32,000.
    pub max_tokens: Option<u32>,
    /// How the model thinks.
    pub thinking: ThinkingSetting,
    /// Fields of the request's body that nothing here has a name for, as they are. They go before
    /// the messages, in their own order.
    pub extra: Map<String, Value>,
    /// Leaves out the marks that tell the provider what to cache, for gateways that do not know
    /// them.
    pub no_cache_marks: bool,
    /// Leaves out the field that asks chat completions for usage, for servers that do not know it.
    pub no_stream_options: bool,
}

/// How a model thinks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingSetting {
    /// As it does by itself; nothing is sent.
    #[default]
    Default,
    /// Not at all.
    Off,
    /// As much as it takes, at this effort.
    Effort(Effort),
    /// Within a budget of tokens, for models that take one.
    Budget(u32),
}

/// How hard a model thinks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Hardly.
    Minimal,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
    /// More, for models that know it.
    Xhigh,
    /// As much as there is, for models that know it.
    Max,
}

impl Effort {
    /// The name on every wire.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }
}
