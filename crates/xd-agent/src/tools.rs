//! Tools that look and run (feature `tools`): `grep`, `glob`, `bash`.
//!
//! # The rules
//! - **Invariant G7:** `grep` and `glob` read below the workspace root alone, whatever path, link
//!   or pattern they are given; `.git` and `.xd` are never looked into (`CONTRACT W3`).
//! - **Invariant G8:** every answer is bounded, says what there is in all, and names how to get at
//!   the rest.
//! - **Invariant G9:** a command of `bash` has of the environment what [`BashTool::new`] was given
//!   and nothing else; nothing that it started outlives its call.
//!
//! `grep` and `glob` have the tier [`Read`](xd_resolve::Tier::Read) and run beside each other;
//! `bash` has the tier [`Exec`](xd_resolve::Tier::Exec) and runs alone (`CONTRACT W6`).
//!
//! # Example
//! ```
//! use std::sync::Arc;
//! use serde_json::json;
//! use xd_agent::tools::{GlobTool, GrepTool};
//! use xd_resolve::ToolCall;
//! use xd_session::Session;
//! use xd_write::{CallScope, Host, Workspace};
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
//! # runtime.block_on(async {
//! std::fs::write(folder.path().join("a.rs"), "fn main() {}\nfn other() {}\n").unwrap();
//! let host = Host::builder(Arc::new(Session::new()), Workspace::open(folder.path()).unwrap())
//!     .tool(GrepTool::default())
//!     .tool(GlobTool::default())
//!     .build();
//! let call = ToolCall::new("1", "grep", json!({ "pattern": r"fn \w+" }));
//! let results = host.run_batch(&[call], &CallScope::model()).await;
//! assert_eq!(
//!     results[0].content,
//!     ["a.rs:1: fn main() {}\na.rs:2: fn other() {}\n\n2 matching lines in 1 file."]
//! );
//! # });
//! ```

mod arguments;
mod bash;
mod environment;
mod glob;
mod grep;
mod kept_output;
mod matches;
mod walk;

pub use bash::BashTool;
pub use environment::{ORDINARY_VARIABLES, shell_environment};
pub use glob::GlobTool;
pub use grep::GrepTool;
