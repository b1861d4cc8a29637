//! What outlives the process: the record of one session and the actions staged in it.
//!
//! ```text
//! .xd/
//!   .gitignore                 `*`
//!   sessions/<name>/
//!     log.jsonl                one line an event, append-only (`CONTRACT L1`)
//!     staged/<n>.json          an action with its change set
//!     local/<draft>            a draft, `local://<draft>` (`CONTRACT P4`)
//!     lock                     held while a process changes the session
//! ```
//! The log is the truth: what is pending is what it says. An event is on the disk before anybody
//! is told of it (**Invariant W5**).

mod drafts;
mod event;
mod folder;
mod lock;
mod restore;

pub use drafts::FileDrafts;
pub use event::{LogEvent, LogLine};
pub use folder::{ActionFile, StateError, StateFolder};
pub use lock::StateLock;
