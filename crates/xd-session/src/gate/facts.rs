//! What the gate is told, and what it answers.

use xd_protocol::{StageNumber, WRITE_TOOL};

use crate::{Thinking, ToolChoice};

/// What may be spent on one head within one prompt (`CONTRACT G6, G7`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Turns of every kind.
    pub turns: u8,
    /// Turns that force the finalizing tool.
    pub forced: u8,
    /// Turns of read-only calls that neither satisfy nor escalate.
    pub reads: u8,
}

impl Default for Budget {
    fn default() -> Self {
        Self { turns: 8, forced: 3, reads: 5 }
    }
}

/// The fact that a turn is about to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking<'a> {
    /// The newest action that is pending and could be resolved now.
    pub head: Option<StageNumber>,
    /// The hard choice that the turn serves.
    pub hard: Option<ToolChoice>,
    /// The finalizing tool, where it is among the tools of the request.
    pub finalizer: Option<&'a str>,
    /// The tool choice that the request carries by itself.
    pub own: ToolChoice,
    /// The id of the model that is asked.
    pub model: &'a str,
    /// Whether the request thinks.
    pub thinking: Thinking,
}

impl Asking<'_> {
    /// A request with `write` among its tools, the choice `auto`, a model without an id and no
    /// thinking, while `head` is the head.
    #[must_use]
    pub fn about(head: Option<StageNumber>) -> Self {
        Self {
            head,
            hard: None,
            finalizer: Some(WRITE_TOOL),
            own: ToolChoice::Auto,
            model: "",
            thinking: Thinking::Off,
        }
    }
}

/// What the gate asks of the coming turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Opening {
    /// Nothing.
    Off,
    /// The head is to be resolved.
    Armed {
        /// The head.
        head: StageNumber,
        /// Append the reminder: this head has had none yet.
        remind: bool,
        /// The finalizing tool is to be forced for this turn alone, as far as the model's provider
        /// can be asked to.
        force: bool,
    },
    /// The budget is spent: the action is parked and the run ends (`CONTRACT G7`).
    Parked(StageNumber),
}

/// The gate's decision on a turn that is about to be asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// What is asked of the turn.
    pub opening: Opening,
    /// The tool choice to send: never one that the provider is known to refuse (**Invariant S5**).
    pub tool_choice: ToolChoice,
    /// The choice that was to be forced, where the provider cannot be asked to: what it allows of
    /// the request's own choice goes, and the reminder has to do (`CONTRACT G9`). So too where the
    /// request's own choice forces and nothing goes before it.
    pub forcing_unavailable: Option<ToolChoice>,
}

impl Decision {
    /// Whether the turn forces the finalizing tool, by name or as some tool.
    #[must_use]
    pub fn forces(&self) -> bool {
        matches!(self.opening, Opening::Armed { force: true, .. })
            && self.forcing_unavailable.is_none()
    }
}

/// How a provider turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnEnd {
    /// The model was done.
    Complete,
    /// It was cut at the token limit; what it said may be half a call.
    Truncated,
    /// Somebody aborted it.
    Aborted,
    /// The provider failed.
    Failed,
}

/// What a call is to the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CallKind {
    /// It decides on a staged action.
    Confirm,
    /// It only looks (`CONTRACT G6`).
    Look,
    /// Anything else.
    Detour,
}

/// What to do with the calls of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Judgement {
    /// The gate was off: run them.
    Free,
    /// They comply, or only look: run them.
    Run,
    /// They do not comply: run none, answer each with the paired text.
    Skip,
    /// There was no call. Go on to the next turn; what is pending is still to be resolved.
    NoCall,
    /// The turn is void: run none, answer each, nothing is spent. It was aborted or failed
    /// (`CONTRACT G12`), or its session has ended (`CONTRACT D13`).
    Void,
}
