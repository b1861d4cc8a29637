//! Drafts: texts beside the working tree, under `local://` (`CONTRACT P4`).
//!
//! A draft is where a plan is written while nothing else may be. A session's drafts are its own;
//! a host keeps them in the session's state folder ([`StateFolder::drafts`]) or, by default, in
//! memory.
//!
//! [`StateFolder::drafts`]: crate::StateFolder::drafts

mod memory;
mod name;

use std::{fmt, io};

use xd_changeset::Hash;

pub use memory::MemoryDrafts;
pub use name::{DraftFault, DraftName};

/// Where the drafts of one session are kept.
pub trait DraftStore: Send + Sync + fmt::Debug {
    /// The text of a draft; none where it does not exist.
    ///
    /// # Errors
    /// [`DraftError`].
    fn read(&self, name: &DraftName) -> Result<Option<String>, DraftError>;

    /// Makes `text` the whole draft, in one step, where what is there is as `expected`.
    ///
    /// # Errors
    /// [`DraftError`]; the draft is as it was.
    fn put(&self, name: &DraftName, text: &str, expected: Expected) -> Result<Put, DraftError>;

    /// The names of all drafts, sorted.
    ///
    /// # Errors
    /// [`DraftError`].
    fn names(&self) -> Result<Vec<DraftName>, DraftError>;
}

/// What must be there for a draft to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Whatever is or is not.
    Anything,
    /// Nothing.
    Nothing,
    /// The text with this hash.
    Text(Hash),
}

impl Expected {
    /// Whether `found` is what was expected.
    pub(crate) fn is(self, found: Option<&str>) -> bool {
        match (self, found) {
            (Self::Anything, _) | (Self::Nothing, None) => true,
            (Self::Nothing, Some(_)) | (Self::Text(_), None) => false,
            (Self::Text(hash), Some(text)) => Hash::of(text.as_bytes()) == hash,
        }
    }
}

/// What writing a draft did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// It is new.
    Created,
    /// It has another text.
    Replaced,
    /// Something else was there than expected; nothing was written.
    Differs,
}

/// A draft cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DraftError {
    /// The system refuses.
    #[error("the draft store cannot be used ({what}): {source}")]
    Io {
        /// Which file.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// The draft is no UTF-8 text.
    #[error("the draft {what} is not UTF-8 text")]
    NotText {
        /// Which file.
        what: String,
    },
}
