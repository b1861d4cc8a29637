//! The pieces in which an answer comes, and who hears of them.

use serde::Serialize;

/// One piece of an answer that is still coming.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "delta", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delta {
    /// More of the text.
    Text {
        /// What is added.
        text: String,
    },
    /// More of the thinking.
    Thinking {
        /// What is added.
        text: String,
    },
    /// A call began.
    CallStarted {
        /// Its place among the calls of the answer, from 0.
        index: usize,
        /// Its id, where the provider has given one yet.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of a call's arguments.
    CallArguments {
        /// Its place among the calls of the answer, from 0.
        index: usize,
        /// What is added: a fragment of JSON text, cut anywhere.
        fragment: String,
    },
    /// The request failed and is sent again after a pause.
    Waiting {
        /// Which attempt comes next; the first of all was 1.
        attempt: u32,
        /// The pause in milliseconds.
        after_ms: u64,
        /// Why the one before failed.
        reason: String,
    },
}

/// Hears the pieces of an answer as they come. It must not block: the answer waits for it.
pub trait DeltaSink: Send + Sync {
    /// One piece.
    fn delta(&self, delta: Delta);

    /// The answer broke off after pieces of it were handed on. True where those pieces could be
    /// taken back, so that the request may be sent again and its answer begin anew.
    fn withdraw(&self) -> bool {
        false
    }
}

/// Hears nothing, so that there is nothing to take back.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unheard;

impl DeltaSink for Unheard {
    fn delta(&self, _delta: Delta) {}

    fn withdraw(&self) -> bool {
        true
    }
}
