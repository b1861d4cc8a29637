//! What the session asks of the next turn (`CONTRACT G1–G3`).

use std::sync::Arc;

use serde_json::{Value, json};
use xd_prompts::{Prompts, ResolveReminder, ResolveReminderHiddenTool};
use xd_protocol::{StageNumber, WRITE_TOOL, notice};
use xd_resolve::{ActionStore, Form, HiddenResolve, StagedAction, ToolCall, confirm_of_call};

use crate::ToolChoice;

/// What the session asks of the next turn.
#[derive(Debug, Clone)]
pub enum Directive {
    /// A hard choice from the queue; asking has consumed it.
    Hard(ToolChoice),
    /// The head is to be resolved; asking changed nothing.
    Soft(SoftRequirement),
    /// Nothing.
    None,
}

/// By which tool a host lets its model finalize.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Finalizer {
    /// `write` to `xd://resolve` and `xd://reject`.
    #[default]
    Write,
    /// The earlier form: a hidden `resolve` tool (`CONTRACT D15`).
    HiddenTool,
}

impl Finalizer {
    /// The tool's name.
    #[must_use]
    pub const fn tool_name(self) -> &'static str {
        match self {
            Self::Write => WRITE_TOOL,
            Self::HiddenTool => "resolve",
        }
    }

    /// The form that texts are worded in.
    #[must_use]
    pub const fn form(self) -> Form {
        match self {
            Self::Write => Form::Devices,
            Self::HiddenTool => Form::HiddenTool,
        }
    }

    /// Whether `call` decides on a staged action, in this form (`CONTRACT G2`).
    #[must_use]
    pub fn is_confirm(self, call: &ToolCall) -> bool {
        match self {
            Self::Write => confirm_of_call(call).is_some(),
            Self::HiddenTool => {
                call.name == self.tool_name() && HiddenResolve::decode(&call.arguments).is_ok()
            }
        }
    }

    /// The paired result of a call that was not executed (`CONTRACT G5`).
    #[must_use]
    pub fn not_executed(self) -> String {
        match self {
            Self::Write => notice::NOT_EXECUTED.to_owned(),
            Self::HiddenTool => notice::NOT_EXECUTED.replace("`write`", "`resolve`"),
        }
    }
}

/// The requirement that a turn resolves the head.
#[derive(Debug, Clone)]
pub struct SoftRequirement {
    /// Changes exactly when the head changes: the head's id.
    pub id: String,
    /// The head's number.
    pub number: StageNumber,
    /// By which tool it is met.
    pub finalizer: Finalizer,
    /// The message for the tail of the history. The session hands it out once for a head.
    pub reminder: Reminder,
}

impl SoftRequirement {
    /// The requirement for `head`, with the reminder rendered from `prompts`.
    pub(crate) fn new(
        head: &StagedAction,
        actions: &ActionStore,
        finalizer: Finalizer,
        prompts: &Prompts,
    ) -> Self {
        let (id, number) = (head.id(), head.number());
        let reminder = Reminder::new(head, actions, finalizer, prompts);
        Self { id, number, finalizer, reminder }
    }

    /// The tool that meets the requirement: `write`.
    #[must_use]
    pub const fn tool_name(&self) -> &'static str {
        self.finalizer.tool_name()
    }

    /// Whether `call` meets it.
    #[must_use]
    pub fn satisfies(&self, call: &ToolCall) -> bool {
        self.finalizer.is_confirm(call)
    }
}

/// A hidden custom message for the tail of the history (`CONTRACT G3`).
#[derive(Debug, Clone, PartialEq)]
pub struct Reminder {
    /// What the model reads.
    pub text: Arc<str>,
    /// `{tool_name}`: the tool whose preview it reminds of.
    pub details: Value,
}

impl Reminder {
    /// The custom type of the message.
    pub const CUSTOM_TYPE: &'static str = "resolve-reminder";
    /// Whether a front end draws the message.
    pub const DISPLAY: bool = false;

    fn new(
        head: &StagedAction,
        actions: &ActionStore,
        finalizer: Finalizer,
        prompts: &Prompts,
    ) -> Self {
        let tool_name = head.source_tool_name().to_owned();
        let number = head.number().get();
        // All of them: the template counts, and names only the newest.
        let (pending, _) = actions.pending_numbers(usize::MAX);
        let pending = pending.into_iter().map(StageNumber::get).collect();
        let details = json!({ "tool_name": tool_name });
        let rendered = match finalizer {
            Finalizer::Write => prompts.render(&ResolveReminder { tool_name, number, pending }),
            Finalizer::HiddenTool => {
                prompts.render(&ResolveReminderHiddenTool { tool_name, number, pending })
            }
        };
        // A template has rendered with its samples before it was accepted. Should one still fail,
        // the protocol's own words are better than a turn without any.
        let text = rendered.unwrap_or_else(|error| {
            tracing::warn!(%error, "the reminder's template failed");
            notice::STAGED.to_owned()
        });
        Self { text: text.into(), details }
    }
}
