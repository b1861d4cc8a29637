//! Staged actions, their stack, and exactly-once dispatch of a decision.
//!
//! *Layer:* above `xd-protocol`. *Uses:* `xd-protocol`, the data part of `xd-changeset`, serde.
//! *Never touches:* files, the environment, a clock, a runtime; futures here run on whatever polls
//! them. Effects are reached through four narrow traits: [`Effect`] (what an action does),
//! [`Recorder`] (where decisions are written down), [`Guard`] (who may forbid one) and [`Detach`]
//! (who finishes an apply whose caller went away).
//!
//! # The rules
//! - **Invariant R1:** staging answers with a number or fails; numbers rise and are never used
//!   again (`CONTRACT S1, S5`).
//! - **Invariant R2:** the stack alone says what is pending; there is no second marker
//!   (`CONTRACT D6`).
//! - **Invariant R3:** a staged action leaves the stack at most once, whoever confirms it and
//!   however often (`CONTRACT D11`).
//! - **Invariant R4:** an apply has not started, or it runs to its end and is recorded, also when
//!   nobody waits for it any more (`CONTRACT D12`).
//! - **Invariant R5:** a failed apply leaves the action where it was in the stack
//!   (`CONTRACT D9, D10`).
//! - **Invariant R6:** a confirm without a number means the head of the moment at which its batch
//!   began, never an action that slid into its place (`CONTRACT D14`).
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use xd_protocol::{Confirm, Selection, Verdict};
//! use xd_resolve::{ActionStore, Decider, StageRequest, ToolResult, block_on};
//!
//! let store = Arc::new(ActionStore::new());
//! let request = StageRequest::new("Rename: 1 file", |_reason| async {
//!     Ok(ToolResult::text("Renamed."))
//! });
//! let number = store.stage(request).unwrap().number();
//!
//! let batch = store.begin_batch();
//! let confirm = Confirm { verdict: Verdict::Apply, selection: Selection::Head };
//! let result = block_on(store.dispatch(&batch, confirm, "The new name is clearer.", Decider::Model));
//! assert_eq!(result.content, ["Renamed."]);
//! assert_eq!(number.get(), 1);
//! assert!(!store.has_pending());
//! ```
//!
//! # Where to read on
//! [`queue_resolve_handler`] for producers, [`ActionStore`] for hosts, [`Stack`] for the state
//! machine beneath, [`dispatch`](ActionStore::dispatch) for the answers a model reads,
//! [`PendingActionStore`] for the earlier form.

mod action;
mod batch;
mod confirming;
mod detach;
mod dispatch;
mod order;
mod pending;
mod record;
mod route;
mod stack;
mod stage;
mod store;
mod sync;
mod tool;

pub use action::{ApplyError, BoxFuture, Effect, Lineage, StageRequest, StagedAction};
pub use batch::{Batch, Epoch};
pub use confirming::{Confirming, Resolution};
pub use detach::{Detach, ThreadDetach, block_on};
pub use dispatch::{
    DispatchAction, DispatchDetails, Form, PlanMode, Wording, device_result, dispatch_result,
    resolve_dispatch_details,
};
pub use order::{CallOrder, CallSlot};
pub use pending::{HiddenResolve, HiddenResolveFault, PendingAction, PendingActionStore};
pub use record::{Decider, DecisionRecord, Declined, Outcome, RecordError, Recorder};
pub use route::confirm_of_call;
pub use stack::{ActionState, Ending, NotTaken, Stack};
pub use stage::{StageError, Staged, StagingSession, queue_resolve_handler};
pub use store::{ActionStore, Guard, Refusal};
pub use tool::{Tier, ToolCall, ToolResult};
