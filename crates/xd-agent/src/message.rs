//! The history: what was said, called and answered.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xd_resolve::{ToolCall, ToolResult};
use xd_session::{PlanNotice, Reminder};

/// One message of the history. A message never changes once it is in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// What the user said.
    User {
        /// The text.
        text: String,
    },
    /// What the model said and called.
    Assistant {
        /// The text; may be empty.
        text: String,
        /// The calls, in order.
        calls: Vec<ToolCall>,
        /// The same as its provider sent it, where that has more to it: thinking with its
        /// signature, arguments to the byte.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        verbatim: Option<Verbatim>,
    },
    /// The result of one call of the assistant message before.
    ToolResult {
        /// The call's id.
        call_id: String,
        /// Its result.
        result: ToolResult,
    },
    /// A message of the host to the model, which a front end draws or hides.
    Custom {
        /// What kind it is: `resolve-reminder`.
        custom_type: String,
        /// Whether a front end draws it.
        display: bool,
        /// What the model reads.
        text: String,
        /// Structured data for the host.
        details: Value,
    },
}

impl Message {
    /// The type of the message that asks on after a turn without a call.
    pub const GO_ON: &'static str = "resolve-pending";

    pub(crate) fn reminder(reminder: &Reminder) -> Self {
        Self::Custom {
            custom_type: Reminder::CUSTOM_TYPE.to_owned(),
            display: Reminder::DISPLAY,
            text: reminder.text.to_string(),
            details: reminder.details.clone(),
        }
    }

    /// Tells the model of staged actions that are gone.
    pub(crate) fn void(numbers: &[u64], reason: &str) -> Self {
        let named: Vec<String> = numbers.iter().map(|n| format!("@{n}")).collect();
        Self::Custom {
            custom_type: "resolve-void".to_owned(),
            display: true,
            text: format!(
                "These staged actions are void, because {reason}: {}. They can no longer be \
                 applied; stage anew what is still wanted.",
                named.join(", ")
            ),
            details: serde_json::json!({ "numbers": numbers }),
        }
    }

    pub(crate) fn plan_notice(notice: &PlanNotice) -> Self {
        Self::Custom {
            custom_type: PlanNotice::CUSTOM_TYPE.to_owned(),
            display: PlanNotice::DISPLAY,
            text: notice.text.to_string(),
            details: notice.details(),
        }
    }

    /// Providers answer a user's or a tool's message, never their own: a turn without a call
    /// needs one before the next.
    pub(crate) fn go_on(tool: &str) -> Self {
        Self::Custom {
            custom_type: Self::GO_ON.to_owned(),
            display: false,
            text: format!(
                "No tool was called. Call the `{tool}` tool to resolve the pending action."
            ),
            details: Value::Null,
        }
    }
}

/// What a model said, in the words of its provider's wire format, to be sent back unchanged.
///
/// Only the same model over the same wire reads it; to any other the message is its text and its
/// calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verbatim {
    /// The wire format: `anthropic-messages`.
    pub wire: String,
    /// The model, as requests name it.
    pub model: String,
    /// The JSON text. What it holds is known to the wire's own module.
    pub json: String,
}

/// Why a model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// It was done, or waits for the results of its calls.
    #[default]
    EndTurn,
    /// It was cut at the token limit.
    Length,
    /// Somebody aborted it.
    Aborted,
}

/// What a turn cost, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Read anew.
    pub input: u64,
    /// Read from the provider's cache.
    pub cached: u64,
    /// Written.
    pub output: u64,
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// The text; may be empty.
    #[serde(default)]
    pub text: String,
    /// The calls, in order.
    #[serde(default)]
    pub calls: Vec<ToolCall>,
    /// Why it stopped.
    #[serde(default)]
    pub stop: StopReason,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
    /// The same as the provider sent it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbatim: Option<Verbatim>,
}

impl Reply {
    /// A reply of text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            calls: Vec::new(),
            stop: StopReason::EndTurn,
            usage: Usage::default(),
            verbatim: None,
        }
    }

    /// A reply of one call. Its id is empty: a scripted model gives it one.
    pub fn call(name: impl Into<String>, arguments: Value) -> Self {
        Self::text("").and_call(name, arguments)
    }

    /// The same reply with one call more.
    #[must_use]
    pub fn and_call(mut self, name: impl Into<String>, arguments: Value) -> Self {
        self.calls.push(ToolCall::new("", name, arguments));
        self
    }

    /// The same reply, stopped for another reason.
    #[must_use]
    pub fn stopped(mut self, stop: StopReason) -> Self {
        self.stop = stop;
        self
    }
}
