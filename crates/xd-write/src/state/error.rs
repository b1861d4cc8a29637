//! Why a session's state cannot be used.

use std::{io, time::Duration};

use cap_std::fs::{Metadata, MetadataExt as _};
use serde_json::error::Category;
use xd_changeset::RecoverError;

/// The session's state cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// A file of it cannot be used.
    #[error("the workspace's state (.xd/{what}) cannot be used: {source}")]
    Io {
        /// Which file, from `.xd/`.
        what: String,
        /// What the system said.
        source: io::Error,
    },
    /// A line of the log is broken although others follow it, or a staged action's file is.
    #[error("the workspace's state (.xd/{what}) is damaged: {message}")]
    Damaged {
        /// Which file, from `.xd/`, with the line.
        what: String,
        /// What is wrong.
        message: String,
    },
    /// Where a folder of it belongs is something else: a link is not followed, not even to a
    /// folder (`CONTRACT W3`).
    #[error("the workspace's state cannot be kept: '{path}' is {found}, not a folder")]
    NotAFolder {
        /// Its path in the workspace.
        path: String,
        /// What is there, with its article.
        found: &'static str,
    },
    /// The session's name would not be one folder below `.xd/sessions`.
    #[error(
        "{name:?} cannot name a session; use letters, digits, '-', '_' and '.', and begin with none of the last"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// Another process has it.
    #[error(
        "the workspace's state is held by {holder}; waited {waited:?}. Try again when it is done"
    )]
    Locked {
        /// Who.
        holder: String,
        /// How long was waited.
        waited: Duration,
    },
    /// A commit was interrupted and can be neither ended nor taken back now.
    #[error(transparent)]
    Interrupted(RecoverError),
}

/// Why a text is not `what`, in words that do not speak of this program's inside: what the JSON
/// parser says is told only of a fault in the JSON itself, and without the place, which it counts
/// from another start than the file's.
pub(super) fn unreadable(what: &str, error: &serde_json::Error) -> String {
    let plain = format!("it is no {what}");
    match error.classify() {
        Category::Data | Category::Io => plain,
        Category::Syntax | Category::Eof => {
            let said = error.to_string();
            let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
            format!("{plain}: {said}")
        }
    }
}

impl StateError {
    /// As [`io`](Self::io), for something in a folder of which `owner` tells: where that is another user's, it says whose, and
    /// the way out.
    pub(super) fn io_of(
        owner: io::Result<Metadata>,
        what: impl Into<String>,
    ) -> impl FnOnce(io::Error) -> Self {
        let (owner, what) = (owner.map(|found| found.uid()), what.into());
        move |error| {
            let source = match owner {
                Ok(owner)
                    if error.kind() == io::ErrorKind::PermissionDenied
                        && owner != rustix::process::geteuid().as_raw() =>
                {
                    let why = format!(
                        "{error}; '.xd' belongs to user {owner}: work as that user, or have it \
                         given to you or moved away"
                    );
                    io::Error::new(error.kind(), why)
                }
                Ok(_) | Err(_) => error,
            };
            Self::Io { what, source }
        }
    }

    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}
