//! The write and read tools, the device registry, approval and confinement.
//!
//! *Layer:* above `xd-session`. *Uses:* `xd-protocol`, `xd-resolve`, `xd-session`, `xd-changeset`,
//! `xd-prompts`, tokio. *Touches:* files below the workspace root, through the root's directory
//! handle; the clock, for the record. *Never touches:* the terminal, the environment, the network.
//!
//! # The rules
//! - **Invariant W1:** every call of a batch gets exactly one result, in call order, whatever
//!   becomes of it (`CONTRACT G5, G12`).
//! - **Invariant W2:** a path is asked what it is by the protocol's one parser before anything
//!   touches the file system (`CONTRACT U9`).
//! - **Invariant W3:** no route leads to a file outside the workspace root (`CONTRACT W3`).
//! - **Invariant W4:** a confirm of `resolve` reaches as far as the action that it applies
//!   (`CONTRACT W6`).
//! - **Invariant W5:** what is staged or decided, of actions and of plans, is in the record before
//!   anybody is told (`CONTRACT L1`).
//! - **Invariant W6:** while plan mode is on, and in the batch in which it ends, no call changes
//!   anything of the working tree; drafts and `xd://propose` pass, and what a deny rule names never
//!   runs (`CONTRACT W7, P4`).
//! - **Invariant W7:** a plan is approved as the text that was reviewed, or not at all
//!   (`CONTRACT P2`).
//! - **Invariant W8:** a device's tool gets only arguments that its schema accepts, and a schema
//!   that cannot be checked whole is not mounted (`CONTRACT R3`).
//! - **Invariant W9:** where file writes are staged, no call of `write` changes a file but a confirm
//!   (`CONTRACT S4, W1`).
//! - **Invariant W10:** a change stands after an odd number of applies, undos and redos of it, and
//!   is undone only while it stands (`CONTRACT F6`).
//! - **Invariant W11:** what a person is asked about is what runs: nothing that is staged, decided
//!   or mounted meanwhile takes its place (`CONTRACT W6`).
//! - **Invariant W12:** what is granted for a session reaches no farther than what was shown
//!   (`CONTRACT W6`).
//! - **Invariant W13:** the line that says that a part of an action is decided also says what is
//!   pending under the number of the whole from then on: there is no moment between the two.
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use serde_json::json;
//! use xd_resolve::ToolCall;
//! use xd_session::Session;
//! use xd_write::{CallScope, Host, Workspace};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! # runtime.block_on(async {
//! let workspace = Workspace::open(folder.path()).unwrap();
//! let host = Host::builder(Arc::new(Session::new()), workspace).build();
//!
//! let call = ToolCall::new("1", "write", json!({ "path": "a.txt", "content": "hello\n" }));
//! let results = host.run_batch(&[call], &CallScope::model()).await;
//! assert_eq!(results[0].content, ["Wrote a.txt (created, 6 bytes)."]);
//!
//! // A slip of an address touches nothing.
//! let call = ToolCall::new("2", "write", json!({ "path": "xd:/resolve", "content": "Fine." }));
//! let results = host.run_batch(&[call], &CallScope::model()).await;
//! assert!(results[0].is_error && results[0].content[0].contains("Did you mean 'xd://resolve'?"));
//! # });
//! ```
//!
//! # Where to read on
//! [`Host`] to assemble an agent's tools, [`Tool`], [`FnTool`] and [`CustomTool`] to write one,
//! [`Registry`] to mount them as devices, [`ArgumentSchema`] for what they accept,
//! [`stage_change_set`] to stage files, [`Policy::stage_writes`] to put what `write` does to files
//! behind the confirm too, [`DraftStore`] for `local://`, [`Rules`] for what never
//! runs, [`Host::enter_plan`] for plan mode, [`StateFolder`] for what outlives the process.

mod approval;
mod arguments;
mod away;
mod bound;
mod context;
mod custom_tool;
mod device;
mod drafts;
mod grant;
mod handler;
mod hidden_resolve;
mod host;
mod inert;
mod listing;
mod local;
mod naming;
mod nearest;
mod one_line;
mod page;
mod part;
mod permit;
mod plan_mode;
mod plan_record;
mod planning;
mod preview;
mod propose;
mod read;
mod registry;
mod restage;
mod rules;
mod schema;
mod stage;
mod state;
mod tier;
mod tool;
mod undo;
mod workspace;
mod write;

pub use approval::{Approval, ApprovalRequest, Approver, FileWrites, Policy};
pub use arguments::{BodyFault, DeviceBody};
pub use context::{CallScope, Progress, ProgressSink, ToolContext};
pub use custom_tool::{Custom, CustomAction, CustomContext, CustomTool};
pub use drafts::{DraftError, DraftFault, DraftName, DraftStore, Expected, MemoryDrafts, Put};
pub use handler::{Resource, UrlHandler};
pub use hidden_resolve::HiddenResolveTool;
pub use host::{Host, HostBuilder, WriteScope};
pub use naming::device_name;
pub use part::{PartDecided, PartFailure, decide_part};
pub use plan_record::{KeptPlan, PlanEvent, PlanRecord, PlanRecorder};
pub use planning::EnterPlanError;
pub use preview::{Bound, PreviewText};
pub use registry::{DeviceEntry, DeviceSource, MountError, RefreshError, Registry};
pub use restage::{RestageFailure, Restaged, restage, restage_edited, restage_tool};
pub use rules::{Rule, Rules};
pub use schema::{ArgumentCheck, ArgumentSchema, Mismatch, SchemaFault, SchemaFaultKind};
pub use stage::{CommitEffect, Proposed, stage_change_set};
pub use state::{
    ActionFile, Direction, FileDrafts, History, LogEvent, LogLine, NoTarget, Restored, Settled,
    StateError, StateFolder, StateLock, UndoTarget,
};
pub use tool::{Concurrency, FnTool, Tool, ToolDefinition, ToolFailure};
pub use undo::{UndoError, Undone};
pub use workspace::{Workspace, WorkspaceError};
