//! Errors for people: one line what, one line what to do.

use std::{fmt::Display, process::ExitCode};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// It did what was asked.
    Done,
    /// There was nothing to do.
    Nothing,
    /// It was refused or failed; nothing was changed.
    Refused,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Done => Self::SUCCESS,
            Status::Nothing => Self::from(1),
            Status::Refused => Self::from(2),
        }
    }
}

/// Why a command could not do its work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// What went wrong.
    pub(crate) what: String,
    /// What to do about it.
    pub(crate) hint: String,
}

impl Failure {
    pub(crate) fn new(what: impl Display, hint: impl Display) -> Self {
        Self { what: what.to_string(), hint: hint.to_string() }
    }
}
