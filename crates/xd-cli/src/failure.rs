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
    /// A run of the agent ended before the model's last word.
    Unfinished,
    /// Somebody aborted it.
    Aborted,
    /// A signal of this number ended it.
    Signalled(u8),
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        match status {
            Status::Done => Self::SUCCESS,
            Status::Nothing | Status::Unfinished => Self::from(1),
            Status::Refused => Self::from(2),
            // As a shell says of what Ctrl-C ended.
            Status::Aborted => Self::from(130),
            Status::Signalled(signal) => Self::from(128 + signal),
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
        Self { what: one_line(&what.to_string()), hint: one_line(&hint.to_string()) }
    }
}

/// The lines of `text` in one: an error is one line what, and one line what to do.
fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(line);
    }
    out
}
