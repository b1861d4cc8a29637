//! What outlives the process: the record of one session and the actions staged in it.
//!
//! ```text
//! .xd/
//!   .gitignore                 `*`
//!   sessions/<name>/
//!     log.jsonl                one line an event, append-only (`CONTRACT L1`)
//!     staged/<n>.json          an action with its change set
//!     staged/<n>.without-<m>.json
//!                              what is left of it once its part m is decided
//!     local/<draft>            a draft, `local://<draft>` (`CONTRACT P4`)
//!     lock                     held while a process changes the session
//! ```
//! The log is the truth: what is pending is what it says. An event is on the disk before anybody
//! is told of it (**Invariant W5**). A kept action is believed only with the bytes whose hash the
//! log names: what is shown is what is applied. One that is damaged or gone makes that action void
//! and leaves the others as they are; a damaged log is refused, for numbers could be used again.

mod drafts;
mod error;
mod event;
mod folder;
mod hashed;
mod history;
mod lock;
mod logged;
mod restore;

pub use drafts::FileDrafts;
pub use error::StateError;
pub use event::{LogEvent, LogLine};
pub use folder::{ActionFile, StateFolder};
pub use history::{Direction, History, NoTarget, UndoTarget};
pub use lock::StateLock;
pub use restore::{Restored, Settled};
