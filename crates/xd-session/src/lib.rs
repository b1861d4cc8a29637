//! Tool-choice queue, directives, the soft-requirement gate, and a session's life.
//!
//! *Layer:* above `xd-resolve`. *Uses:* `xd-protocol`, `xd-resolve`, and `xd-prompts` for the text
//! of the reminder. *Never touches:* files, the environment, a clock, a runtime. [`Gate`] and
//! [`ToolChoiceQueue`] are state machines without I/O; [`Session`] holds them behind one lock
//! beside the shared store of staged actions, tells the gate what happens and does what it decides.
//!
//! # The rules
//! - **Invariant S1:** the gate asks for exactly what the stack says is pending, unless that
//!   action was lifted or parked (`CONTRACT D6, G1`).
//! - **Invariant S2:** within one prompt the turns spent on one head are bounded, whatever happens
//!   in them; a head that comes up while a turn looks shares the budget of that turn's head
//!   (`CONTRACT G6, G7`).
//! - **Invariant S3:** staging never changes `tool_choice`; only a turn that did not comply makes
//!   the next one, and that one alone, force (`CONTRACT S2, G5`).
//! - **Invariant S4:** a reminder is appended at most once for a head (`CONTRACT G3`).
//! - **Invariant S5:** a request is never asked to force a tool that is not among its tools, nor
//!   in a way that its provider is said to refuse or has refused, whoever chose it
//!   (`CONTRACT G9, G11`).
//! - **Invariant S6:** plan mode is entered only where a reviewer is installed, every state of it
//!   reaches "off", and whichever way it ends, what entering changed is restored once
//!   (`CONTRACT P3`).
//! - **Invariant S7:** while plan mode is on no staged action that changes the working tree is
//!   applied, whoever confirms it and by whatever route (`CONTRACT W7`).
//! - **Invariant S8:** what a provider answers to a session that has ended is void in the one after
//!   it, with all its calls (`CONTRACT D13`).
//! - **Invariant S9:** one predicate says which calls are confirms, to the gate and to whoever
//!   carries calls out, in either form (`CONTRACT U9, D15`).
//!
//! # Example
//! ```
//! use xd_resolve::{StageRequest, ToolResult};
//! use xd_session::{Session, ToolChoice, TurnRequest};
//!
//! let session = Session::new();
//! session.begin_prompt();
//! let request = TurnRequest::with_tools(["read", "write"]);
//! assert!(session.next_turn(&request).requirement.is_none());
//!
//! let apply = |_reason| async { Ok(ToolResult::text("Done.")) };
//! session.actions().stage(StageRequest::new("Rename: 1 file", apply)).unwrap();
//!
//! // The requirement rides in one appended message; the tool choice stays as it was.
//! let plan = session.next_turn(&request);
//! assert_eq!(plan.tool_choice, ToolChoice::Auto);
//! assert!(plan.reminder.unwrap().text.contains("PREVIEW — no files changed."));
//! // The next turn on the same head brings no second reminder.
//! assert!(session.next_turn(&request).reminder.is_none());
//! ```
//!
//! # Where to read on
//! [`Session::next_turn_of`] and [`Session::judge`] for an agent loop, [`Gate`] for the rules of
//! the requirement and for every tool choice, [`ToolChoiceQueue`] for hard directives,
//! [`Capabilities`] for what providers allow and have refused, [`PlanState`] for plan mode,
//! [`Refusals`] for a model that repeats what is forbidden.

mod boundary;
mod capability;
mod directive;
mod gate;
mod guards;
mod plan;
mod queue;
mod refusals;
mod session;
mod turn;

pub use boundary::Boundary;
pub use capability::{Capabilities, Forcing, Thinking};
pub use directive::{Directive, Finalizer, Reminder, SoftRequirement};
pub use gate::{Asking, Budget, CallKind, Decision, Gate, Judgement, Opening, TurnEnd};
pub use plan::{
    Approving, NoReviewer, NotProposed, OpenReview, PlanAnswer, PlanDigest, PlanMachine,
    PlanNotice, PlanPhase, PlanReview, PlanReviewer, PlanState, PlanStep, PlanTicket, Proposal,
};
pub use queue::{
    DirectiveOptions, InvokedHandler, OnRejected, RejectReason, RejectedHandler, ResolvedHandler,
    ToolChoice, ToolChoiceQueue,
};
pub use refusals::{RefusalLimits, Refusals, Repeat};
pub use session::{SESSION_ENDED, Session};
pub use turn::{TurnPlan, TurnRequest};
