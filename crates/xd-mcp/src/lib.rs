//! Staged edits for every agent that speaks the Model Context Protocol.
//!
//! *Layer:* a front end, above the producers and below the binary. *Uses:* `xd-write` and all below
//! it, `xd-ast-edit`, `xd-text-edit`, rmcp, tokio; axum behind the feature `http`. *Touches:* the
//! standard streams or one listening socket, the workspace and its state. *Never touches:* the
//! environment; it prints nothing but protocol, and logs through `tracing`.
//!
//! A client gets the tools `read`, `write`, `edit` and `ast_edit`, with the addresses behind them.
//! An edit answers with its preview; a `write` to `xd://resolve` or `xd://reject` decides it.
//!
//! # The rules
//! - **Invariant X1:** there is one stack a workspace. A call sees what any process has staged or
//!   decided before it, and what it does is in the record before it answers (`CONTRACT E3, L1`).
//! - **Invariant X2:** while something is pending that the caller knew of, no call that would
//!   change files runs, but a confirm; looking is never refused (`CONTRACT G5, G6`).
//! - **Invariant X3:** a person's silence or cancellation decides nothing, a refusal applies nothing
//!   (cases 160 and 164).
//! - **Invariant X4:** a confirm that has begun ends under the workspace's lock and is recorded,
//!   whoever stops waiting for it (`CONTRACT D12`).
//! - **Invariant X5:** a confirm without a number decides no action that its connection was not shown,
//!   where it could mean another one (`CONTRACT D14`).
//! - **Invariant X6:** every request gets one answer, whatever came in; a broken message ends no
//!   connection, and an id in use starts nothing twice.
//! - **Invariant X7:** what a tool elsewhere proposes is staged as it should be or not at all, and a
//!   change set of it is bound to what the proposal says it starts from (`CONTRACT F2, S7`).
//! - **Invariant X8:** no call to another server is made twice: neither a tool's, nor the apply or the
//!   discard of what it proposed; where the outcome is not known, that is said (`CONTRACT D11`).
//!
//! # Sharing
//! The stack is that of the shell: the session `shell` of the workspace's state. Every call takes
//! the state's lock, restores the session if its log is not as this process left it, runs, and
//! gives the lock back; calls of `read` take no lock. So `xd status`, other clients and other
//! servers see the same numbers, and a restart loses nothing that has a change set.
//!
//! # Example
//! ```
//! use rmcp::{ServiceExt as _, model::CallToolRequestParams};
//! use xd_mcp::{Options, serve};
//! use xd_write::Workspace;
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # std::fs::write(folder.path().join("a.txt"), "old\n").unwrap();
//! # let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
//! # runtime.block_on(async {
//! let workspace = Workspace::open(folder.path()).unwrap();
//! let (ours, theirs) = tokio::io::duplex(64 * 1024);
//! let (reads, writes) = tokio::io::split(ours);
//! let server = tokio::spawn(serve(Options::new(workspace), reads, writes));
//!
//! let client = ().serve(theirs).await.unwrap();
//! let arguments = serde_json::json!({
//!     "edits": [{ "path": "a.txt", "old_text": "old", "new_text": "new" }]
//! });
//! let call = CallToolRequestParams::new("edit")
//!     .with_arguments(arguments.as_object().unwrap().clone());
//! let preview = client.call_tool(call).await.unwrap();
//! assert_eq!(preview.structured_content.unwrap()["staged"]["number"], 1);
//!
//! client.cancel().await.unwrap();
//! server.await.unwrap().unwrap();
//! # });
//! ```
//!
//! # Where to read on
//! [`Options`] for what a host decides, [`serve_stdio`] and [`serve_http`] to run a server,
//! [`Ask`] for a person who confirms in the client, [`tools`] for what a client is offered,
//! [`devices`] for the other way round: tools of other servers in a host of ours.

mod answer;
mod asking;
mod call;
mod changes;
mod connection;
#[cfg(feature = "devices")]
pub mod devices;
#[cfg(feature = "http")]
mod http;
mod inert;
mod lines;
mod offer;
mod options;
mod plan;
mod progress;
mod prompts;
mod question;
mod resources;
mod server;
mod stack;
mod stamp;
mod stdio;

#[cfg(feature = "http")]
pub use http::{HttpError, HttpOptions, HttpServer, serve_http};
pub use offer::{INSTRUCTIONS, tools};
pub use options::{Ask, Options};
pub use resources::{DEVICES, LOG, PENDING};
pub use server::Server;
pub use stdio::{ServeError, serve, serve_stdio};
