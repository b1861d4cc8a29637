//! What the session asks of the next turn (`CONTRACT G1–G3`).

use std::sync::Arc;

use serde_json::{Value, json};
use xd_prompts::{Prompts, ResolveReminder, ResolveReminderHiddenTool};
use xd_protocol::{Confirm, Selection, StageNumber, WRITE_TOOL, notice};
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

    /// The confirm that `call` makes, in this form (`CONTRACT G2`). The addresses decide in both
    /// forms, and the hidden tool beside them where a host offers it (`CONTRACT D15`).
    ///
    /// The gate, the approval and whoever carries calls out all ask here, so that what satisfies is
    /// what decides, and nothing else decides (`CONTRACT U9`).
    #[must_use]
    pub fn confirm_of(self, call: &ToolCall) -> Option<Confirm> {
        match (self, confirm_of_call(call)) {
            (_, Some(confirm)) => Some(confirm),
            (Self::HiddenTool, None) if call.name == self.tool_name() => {
                let HiddenResolve { verdict, .. } = HiddenResolve::decode(&call.arguments).ok()?;
                Some(Confirm { verdict, selection: Selection::Head })
            }
            (Self::Write | Self::HiddenTool, None) => None,
        }
    }

    /// Whether `call` decides on a staged action, in this form (`CONTRACT G2`).
    #[must_use]
    pub fn is_confirm(self, call: &ToolCall) -> bool {
        self.confirm_of(call).is_some()
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
    head: Arc<StagedAction>,
    actions: Arc<ActionStore>,
    prompts: Prompts,
}

impl SoftRequirement {
    /// The requirement for `head`. Its reminder is rendered when it is asked for.
    pub(crate) fn new(
        head: Arc<StagedAction>,
        actions: &Arc<ActionStore>,
        finalizer: Finalizer,
        prompts: &Prompts,
    ) -> Self {
        let (id, number) = (head.id(), head.number());
        let (actions, prompts) = (Arc::clone(actions), prompts.clone());
        Self { id, number, finalizer, head, actions, prompts }
    }

    /// The message for the tail of the history, rendered from the session's prompts now: it speaks
    /// of what is pending at this moment. The session hands it out once for a head, in
    /// [`TurnPlan::reminder`](crate::TurnPlan::reminder); a turn that needs none pays for none.
    #[must_use]
    pub fn reminder(&self) -> Reminder {
        Reminder::new(&self.head, &self.actions, self.finalizer, &self.prompts)
    }

    /// The tool that meets the requirement: `write`, or the hidden tool.
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
