//! The transcript: the history as a file of JSON lines, any prefix of which can be resumed
//! (`CONTRACT E4`).
//!
//! A line is written when its message enters the history. A crash leaves a prefix, perhaps with a
//! torn last line. [`Resumed::read`] drops that line, gives every call without a result a
//! synthetic one right behind its own batch, and says what it mended.

use std::{
    collections::BTreeSet,
    fs::{File, OpenOptions},
    io::{self, Read as _, Seek as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xd_resolve::{PlanMode, ToolCall, ToolResult};
use xd_session::PlanNotice;

use crate::Message;

/// One line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Entry {
    /// A message entered the history.
    Message {
        /// The message.
        message: Message,
        /// For a reminder: the staged action that it reminds of.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reminds: Option<u64>,
    },
    /// Staged actions are void: a boundary, or a restart that they did not survive.
    Void {
        /// Their numbers.
        numbers: Vec<u64>,
        /// Why.
        reason: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Line {
    v: u32,
    #[serde(flatten)]
    entry: Entry,
}

/// Keeps the lines of a transcript.
pub trait Transcript: Send {
    /// Keeps `entry`, for good, before it returns.
    ///
    /// # Errors
    /// Where it could not be kept. Nothing of it may be left behind then: it is appended again
    /// before anything else is.
    fn append(&mut self, entry: &Entry) -> io::Result<()>;
}

/// A transcript that cannot be resumed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// The file cannot be used.
    #[error("the transcript cannot be used: {0}")]
    Io(#[from] io::Error),
    /// A line that others follow cannot be read.
    #[error(
        "line {line} of the transcript cannot be read: {message}. Cut the file before that line to resume what came before"
    )]
    Damaged {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

/// What a transcript comes to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resumed {
    /// The history, every call with exactly one result.
    pub messages: Vec<Message>,
    /// The staged actions that were reminded of.
    pub reminded: BTreeSet<u64>,
    /// The staged actions that were declared void.
    pub void: BTreeSet<u64>,
    /// The calls that had no result and got a synthetic one.
    pub orphans: Vec<ToolCall>,
    /// The synthetic results of the last batch. The transcript does not hold them yet; those of
    /// earlier batches are made again whenever it is read.
    pub unwritten: Vec<Message>,
    /// How many bytes are whole lines. What follows was torn by a crash and is not read.
    pub whole_bytes: usize,
}

/// The result of a call whose own was lost.
pub(crate) const LOST: &str = "The run was interrupted before this call had a result. It may or may not have \
     taken effect: look before you repeat it.";

impl Resumed {
    /// Reads the bytes of a transcript, or of any prefix of one.
    ///
    /// # Errors
    /// [`TranscriptError::Damaged`] for a whole line that is none of ours.
    pub fn read(bytes: &[u8]) -> Result<Self, TranscriptError> {
        let whole_bytes = bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let mut resumed = Self { whole_bytes, ..Self::default() };
        let mut batch = Batch::default();
        let lines = bytes[..whole_bytes].split(|&b| b == b'\n').enumerate();
        for (index, line) in lines.filter(|(_, line)| !line.is_empty()) {
            let damaged = |message: String| TranscriptError::Damaged { line: index + 1, message };
            let line: Line = serde_json::from_slice(line).map_err(|e| damaged(e.to_string()))?;
            if line.v != 1 {
                return Err(damaged(format!("its version is {}, not 1", line.v)));
            }
            match line.entry {
                Entry::Void { numbers, .. } => resumed.void.extend(numbers),
                Entry::Message { message, reminds } => {
                    resumed.reminded.extend(reminds);
                    resumed.take(message, &mut batch);
                }
            }
        }
        resumed.unwritten = resumed.close(&mut batch);
        Ok(resumed)
    }

    /// The staged actions that the history tells of, by the details of the results that staged
    /// them.
    #[must_use]
    pub fn staged(&self) -> BTreeSet<u64> {
        let number = |message: &Message| match message {
            Message::ToolResult { result, .. } => result.details.as_ref().and_then(staged_number),
            Message::User { .. } | Message::Assistant { .. } | Message::Custom { .. } => None,
        };
        self.messages.iter().filter_map(number).chain(self.reminded.iter().copied()).collect()
    }

    /// What the history has last told the model of plan mode; off where it says nothing. An approval
    /// of a plan, which ends plan mode, says so itself.
    #[must_use]
    pub fn plan_told(&self) -> PlanMode {
        let told = |message: &Message| match message {
            Message::Custom { custom_type, details, .. }
                if custom_type == PlanNotice::CUSTOM_TYPE =>
            {
                match details.get("mode")?.as_str()? {
                    "on" => Some(PlanMode::On),
                    _ => Some(PlanMode::Off),
                }
            }
            Message::ToolResult { result, .. } if !result.is_error => {
                let device = result.details.as_ref()?.pointer("/xdev/tool")?;
                (device == "propose").then_some(PlanMode::Off)
            }
            Message::ToolResult { .. }
            | Message::Custom { .. }
            | Message::User { .. }
            | Message::Assistant { .. } => None,
        };
        self.messages.iter().rev().find_map(told).unwrap_or(PlanMode::Off)
    }

    /// Adds `message`. A result that belongs to no open call says nothing any more and is left
    /// out; calls that are still open when another message comes have lost their results.
    fn take(&mut self, message: Message, batch: &mut Batch) {
        match message {
            Message::ToolResult { call_id, result } => batch.answer(&call_id, result),
            Message::Assistant { .. } | Message::User { .. } | Message::Custom { .. } => {
                self.close(batch);
                if let Message::Assistant { calls, .. } = &message {
                    batch.calls = calls.iter().map(|call| (call.clone(), None)).collect();
                }
                self.messages.push(message);
            }
        }
    }

    /// Ends a batch: its results in call order, synthetic ones in the places of those that were
    /// lost. Answers the synthetic ones.
    fn close(&mut self, batch: &mut Batch) -> Vec<Message> {
        let mut synthetic = Vec::new();
        for (call, result) in batch.calls.drain(..) {
            let (call_id, lost) = (call.id.clone(), result.is_none());
            let result = result.unwrap_or_else(|| {
                self.orphans.push(call);
                ToolResult::error(LOST)
            });
            let message = Message::ToolResult { call_id, result };
            if lost {
                synthetic.push(message.clone());
            }
            self.messages.push(message);
        }
        synthetic
    }
}

/// The calls of the last assistant message, with the results that have come.
#[derive(Default)]
struct Batch {
    calls: Vec<(ToolCall, Option<ToolResult>)>,
}

impl Batch {
    fn answer(&mut self, call_id: &str, result: ToolResult) {
        let open =
            self.calls.iter_mut().find(|(call, result)| call.id == call_id && result.is_none());
        if let Some((_, slot)) = open {
            *slot = Some(result);
        }
    }
}

/// A transcript in a file, forced to the disk line by line.
#[derive(Debug)]
pub struct TranscriptFile(File);

impl TranscriptFile {
    /// Opens the file at `path`, or makes it for its owner alone, and reads what is in it. What a crash tore is cut off, and
    /// synthetic results are written down, so that the file is whole again.
    ///
    /// # Errors
    /// [`TranscriptError`]; the file is as it was.
    pub fn open(path: impl AsRef<Path>) -> Result<(Self, Resumed), TranscriptError> {
        let mut file =
            OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let resumed = Resumed::read(&bytes)?;
        if resumed.whole_bytes < bytes.len() {
            file.set_len(resumed.whole_bytes as u64)?;
            file.rewind()?;
        }
        let mut transcript = Self(file);
        for message in resumed.unwritten.clone() {
            transcript.append(&Entry::Message { message, reminds: None })?;
        }
        Ok((transcript, resumed))
    }
}

impl Transcript for TranscriptFile {
    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(&Line { v: 1, entry: entry.clone() })?;
        line.push(b'\n');
        let whole = self.0.metadata()?.len();
        let kept = self.0.write_all(&line).and_then(|()| self.0.sync_data());
        // Half a line would make every later one unreadable.
        kept.inspect_err(|_| drop(self.0.set_len(whole)))
    }
}

/// The number that the details of a staging result tell, of a tool's own or of a device's write
/// (`CONTRACT D8`).
fn staged_number(details: &Value) -> Option<u64> {
    let of_device = details.get("xdev").and_then(|device| device.get("inner"));
    of_device.unwrap_or(details).get("number")?.as_u64()
}
