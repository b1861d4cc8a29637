//! The agent loop: a model, its tools, one session; events out.
//!
//! *Layer:* above `xd-write`. *Uses:* `xd-protocol`, `xd-resolve`, `xd-session`, `xd-write`, tokio.
//! *Touches:* the files of transcripts and scripts, others only through the host's tools; the
//! network with the feature `http`, processes with the feature `tools`, without which nothing of
//! either is built. *Never touches:* the terminal, the environment.
//!
//! # The rules
//! - **Invariant G1:** what was sent stays: every request's messages begin with all messages of
//!   the request before, unchanged (`CONTRACT G3`).
//! - **Invariant G2:** tools and system text are the same bytes in every request of an agent; a
//!   forced turn differs in `tool_choice` and in appended messages alone (`CONTRACT G11`).
//! - **Invariant G3:** every tool call in the history has exactly one result, right behind it,
//!   however the run ends (`CONTRACT G5, G12`).
//! - **Invariant G4:** a run ends: with the model's last word, with
//!   [`Stop::Unresolved`], with [`Stop::Forbidden`], or at the turn limit (`CONTRACT G7`).
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use xd_agent::{Agent, Reply, ScriptedModel, Stop};
//! use xd_session::Session;
//! use xd_write::{Host, Workspace};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! # runtime.block_on(async {
//! let workspace = Workspace::open(folder.path()).unwrap();
//! let host = Arc::new(Host::builder(Arc::new(Session::new()), workspace).build());
//! let model = ScriptedModel::new([
//!     Reply::call("write", serde_json::json!({ "path": "a.txt", "content": "hello\n" })),
//!     Reply::text("Done."),
//! ]);
//! let mut agent = Agent::new(model, host);
//! assert_eq!(agent.prompt("Write a greeting.").await.unwrap(), Stop::Done);
//! # assert_eq!(std::fs::read_to_string(folder.path().join("a.txt")).unwrap(), "hello\n");
//! # });
//! ```
//!
//! # Where to read on
//! [`Agent::prompt`] for the loop, [`Model`] to bring a model, [`Event`] and [`Delta`] for what a
//! front end hears, `provider` for models over HTTP (feature `http`), `tools` for
//! tools that look and run (feature `tools`), [`CapabilityTable`] for what
//! may be asked of them, [`ScriptedModel`] and [`Recording`] for runs that are repeated.
//! `examples/assemble.rs` puts an agent together from the parts.

mod agent;
mod capability;
mod delta;
mod event;
mod history;
mod message;
mod model;
#[cfg(feature = "http")]
pub mod provider;
mod provider_error;
mod record;
mod script;
#[cfg(feature = "tools")]
pub mod tools;
mod transcript;

pub use agent::{Agent, AgentError, Stop};
pub use capability::{CapabilityOverride, CapabilityRow, CapabilityTable, ROWS};
pub use delta::{Delta, DeltaSink, Unheard};
pub use event::Event;
pub use message::{Message, Reply, StopReason, Usage, Verbatim};
pub use model::{Model, ModelError, Request};
pub use provider_error::ProviderError;
pub use record::Recording;
pub use script::{ScriptError, ScriptedModel};
pub use transcript::{Entry, Resumed, Transcript, TranscriptError, TranscriptFile};
