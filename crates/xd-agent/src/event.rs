//! What a front end hears of a run.

use serde::Serialize;
use xd_resolve::{ToolCall, ToolResult};
use xd_session::ToolChoice;

use crate::{Delta, Stop, Usage};

/// One event of a run, in the order in which things happen.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// The user said something.
    Prompt {
        /// The text.
        text: String,
    },
    /// A request is about to be sent.
    Turn {
        /// Counted from 1 in the agent's life.
        turn: u64,
        /// The tool choice that it carries.
        tool_choice: ToolChoice,
        /// Whether it forces the finalizing tool.
        forced: bool,
    },
    /// A hidden message was appended to the history.
    Hidden {
        /// What kind it is.
        custom_type: String,
        /// What the model reads.
        text: String,
    },
    /// A piece of an answer that is still coming. What it adds up to follows as
    /// [`Text`](Self::Text) and [`Call`](Self::Call).
    Delta {
        /// The piece.
        delta: Delta,
    },
    /// All pieces of this turn so far are void: the answer broke off and is asked for again. It
    /// comes only where [`Agent::with_withdrawal`](crate::Agent::with_withdrawal) allows it.
    Withdrawn,
    /// What a turn cost, where the provider says it.
    Usage {
        /// The turn.
        turn: u64,
        /// The tokens.
        usage: Usage,
    },
    /// The model said something.
    Text {
        /// The text.
        text: String,
    },
    /// The model called a tool.
    Call {
        /// The call.
        call: ToolCall,
    },
    /// A call has its result.
    Result {
        /// The call's id.
        call_id: String,
        /// Whether it was run.
        executed: bool,
        /// The result.
        result: ToolResult,
    },
    /// The gate, a hard directive or the request's own choice wanted to force a tool, and the
    /// provider does not allow it: the turn goes without, by reminder where one is due
    /// (`CONTRACT G9`).
    ForcingUnavailable {
        /// The tool; none where any would have done.
        tool: Option<String>,
    },
    /// A hard directive named a tool that is not active (`CONTRACT Q6`).
    ToolUnavailable {
        /// The tool.
        tool: String,
    },
    /// The run ended.
    Stopped {
        /// How.
        stop: Stop,
    },
}

impl Event {
    /// That `choice` cannot be forced.
    pub(crate) fn forcing_unavailable(choice: &ToolChoice) -> Self {
        let tool = match choice {
            ToolChoice::Named(tool) => Some(tool.clone()),
            ToolChoice::Required | ToolChoice::Auto | ToolChoice::None => None,
        };
        Self::ForcingUnavailable { tool }
    }
}
