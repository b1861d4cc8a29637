//! The history in memory, with the transcript behind it.

use std::{collections::VecDeque, io};

use xd_resolve::ToolCall;

use crate::{Entry, Message, Transcript};

/// The messages of an agent. They only ever grow (**Invariant G1**).
#[derive(Default)]
pub(crate) struct History {
    messages: Vec<Message>,
    transcript: Option<Box<dyn Transcript>>,
    /// What the transcript could not keep yet, in order: nothing is written past it, so that a
    /// failure leaves no gap.
    backlog: VecDeque<Entry>,
    failure: Option<io::Error>,
}

impl History {
    pub(crate) fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The calls at its end that have no result yet, in call order.
    pub(crate) fn open_calls(&self) -> Vec<ToolCall> {
        let mut answered = Vec::new();
        for message in self.messages.iter().rev() {
            match message {
                Message::ToolResult { call_id, .. } => answered.push(call_id),
                Message::Assistant { calls, .. } => {
                    let open = calls.iter().filter(|call| !answered.contains(&&call.id));
                    return open.cloned().collect();
                }
                Message::User { .. } | Message::Custom { .. } => break,
            }
        }
        Vec::new()
    }

    /// Begins with messages that the transcript already holds.
    pub(crate) fn resume(&mut self, messages: Vec<Message>) {
        self.messages = messages;
    }

    pub(crate) fn keep_in(&mut self, transcript: Box<dyn Transcript>) {
        self.transcript = Some(transcript);
    }

    pub(crate) fn push(&mut self, message: Message) {
        self.push_reminding(message, None);
    }

    pub(crate) fn push_reminding(&mut self, message: Message, reminds: Option<u64>) {
        self.note(Entry::Message { message: message.clone(), reminds });
        self.messages.push(message);
    }

    /// Writes a line, after those that could not be written before.
    pub(crate) fn note(&mut self, entry: Entry) {
        let Some(transcript) = &mut self.transcript else { return };
        self.backlog.push_back(entry);
        while let Some(next) = self.backlog.front() {
            if let Err(error) = transcript.append(next) {
                self.failure.get_or_insert(error);
                return;
            }
            self.backlog.pop_front();
        }
    }

    /// What the transcript could not keep since the last look. The messages are whole all the same.
    pub(crate) fn take_failure(&mut self) -> Option<io::Error> {
        self.failure.take()
    }
}
