//! The files of a session below `.xd/`.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, OpenOptions},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use xd_changeset::ChangeSet;
use xd_protocol::Verdict;
use xd_resolve::{Decider, DecisionRecord, RecordError, Recorder, StagedAction, Tier};

use super::{LogEvent, LogLine, StateLock, event::files_of};
use crate::{Workspace, inert::inert_json};

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
}

impl StateError {
    pub(super) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::Io { what, source }
    }
}

/// A staged action as it is kept: everything but its number and its effect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ActionFile {
    /// What it is called.
    pub label: String,
    /// The tool that staged it.
    pub source_tool_name: String,
    /// How far its apply reaches.
    pub tier: Tier,
    /// The producer's details.
    pub details: Option<Value>,
    /// The change.
    pub change_set: Arc<ChangeSet>,
    /// The whole preview.
    pub preview: String,
}

/// The state of one session of a workspace. Cheap to clone; clones write to the same log.
#[derive(Debug, Clone)]
pub struct StateFolder {
    folder: Arc<Dir>,
    session: Arc<str>,
    appending: Arc<Mutex<()>>,
}

impl StateFolder {
    /// Opens, or makes, the state of `session` (a plain word) in `workspace`.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn open(workspace: &Workspace, session: &str) -> Result<Self, StateError> {
        check_name(session)?;
        let error = || StateError::io("");
        let root = Dir::open_ambient_dir(workspace.path(), ambient_authority()).map_err(error())?;
        root.create_dir_all(".xd").map_err(error())?;
        let state = root.open_dir(".xd").map_err(error())?;
        let mut options = OpenOptions::new();
        // It ignores itself in git, from its first moment on.
        match state.open_with(".gitignore", options.write(true).create_new(true)) {
            Ok(mut file) => file.write_all(b"*\n").map_err(StateError::io(".gitignore"))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(StateError::io(".gitignore")(error)),
        }
        let path = format!("sessions/{session}");
        state.create_dir_all(format!("{path}/staged")).map_err(StateError::io(&path))?;
        let folder = state.open_dir(&path).map_err(StateError::io(&path))?;
        Ok(Self { folder: Arc::new(folder), session: session.into(), appending: Arc::default() })
    }

    /// Opens the state of `session` only if it is there, making nothing.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn open_existing(workspace: &Workspace, session: &str) -> Result<Option<Self>, StateError> {
        check_name(session)?;
        let root = Dir::open_ambient_dir(workspace.path(), ambient_authority())
            .map_err(StateError::io(""))?;
        match root.open_dir(format!(".xd/sessions/{session}")) {
            Ok(folder) => Ok(Some(Self {
                folder: Arc::new(folder),
                session: session.into(),
                appending: Arc::default(),
            })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StateError::io(format!("sessions/{session}"))(error)),
        }
    }

    /// Waits up to `patience` until this process alone changes the session.
    ///
    /// # Errors
    /// [`StateError::Locked`] with the holder.
    pub fn lock(&self, patience: Duration) -> Result<StateLock, StateError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file =
            self.folder.open_with("lock", &options).map_err(StateError::io(self.name("lock")))?;
        StateLock::acquire(file.into_std(), patience)
    }

    /// The log's lines, oldest first. A torn last line is left out.
    ///
    /// # Errors
    /// [`StateError::Damaged`] where a whole line cannot be read.
    pub fn log(&self) -> Result<Vec<LogLine>, StateError> {
        let bytes = self.log_bytes()?;
        let whole = &bytes[..whole_lines(&bytes)];
        let lines = whole.split(|&b| b == b'\n').filter(|line| !line.is_empty()).enumerate();
        lines
            .map(|(i, line)| {
                serde_json::from_slice(line).map_err(|error| StateError::Damaged {
                    what: format!("{}, line {}", self.name("log.jsonl"), i + 1),
                    message: error.to_string(),
                })
            })
            .collect()
    }

    /// The kept action `number`.
    ///
    /// # Errors
    /// [`StateError`].
    pub fn action(&self, number: u64) -> Result<ActionFile, StateError> {
        let path = action_path(number);
        let bytes = self.folder.read(&path).map_err(StateError::io(self.name(&path)))?;
        serde_json::from_slice(&bytes).map_err(|error| StateError::Damaged {
            what: self.name(&path),
            message: error.to_string(),
        })
    }

    fn log_bytes(&self) -> Result<Vec<u8>, StateError> {
        match self.folder.read("log.jsonl") {
            Ok(bytes) => Ok(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(StateError::io(self.name("log.jsonl"))(error)),
        }
    }

    /// Appends one line and waits until it is on the disk. What a crash left of a half line is cut
    /// off first.
    pub(super) fn append(&self, event: LogEvent) -> Result<(), StateError> {
        let time = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let line = serde_json::to_string(&LogLine { v: 1, time, event }).map_err(|error| {
            StateError::Damaged { what: self.name("log.jsonl"), message: error.to_string() }
        })?;
        let line = inert_json(&line) + "\n";
        let error = || StateError::io(self.name("log.jsonl"));
        let _one_at_a_time = self.appending.lock().unwrap_or_else(PoisonError::into_inner);
        let mut options = OpenOptions::new();
        let mut file = self
            .folder
            .open_with("log.jsonl", options.read(true).append(true).create(true))
            .map_err(error())?
            .into_std();
        cut_torn_tail(&mut file).map_err(error())?;
        file.write_all(line.as_bytes()).map_err(error())?;
        file.sync_data().map_err(error())
    }

    fn keep(&self, number: u64, action: &ActionFile) -> Result<(), StateError> {
        let path = action_path(number);
        let error = || StateError::io(self.name(&path));
        let bytes = serde_json::to_vec(action).map_err(|error| StateError::Damaged {
            what: self.name(&path),
            message: error.to_string(),
        })?;
        let mut file = self.folder.create(&path).map_err(error())?.into_std();
        file.write_all(&bytes).map_err(error())?;
        file.sync_all().map_err(error())?;
        let staged = self.folder.open("staged").map_err(error())?;
        staged.sync_all().map_err(error())
    }

    pub(super) fn dir(&self) -> &Arc<Dir> {
        &self.folder
    }

    pub(super) fn name(&self, file: &str) -> String {
        format!("sessions/{}/{file}", self.session)
    }
}

fn check_name(session: &str) -> Result<(), StateError> {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let is_plain = session.bytes().all(plain) && !session.starts_with('.');
    match is_plain && (1..=128).contains(&session.len()) {
        true => Ok(()),
        false => Err(StateError::Name { name: session.to_owned() }),
    }
}

fn action_path(number: u64) -> String {
    format!("staged/{number}.json")
}

/// Cuts what a crash left of a half line. Looks at the last byte alone where there is none.
fn cut_torn_tail(file: &mut std::fs::File) -> io::Result<()> {
    let length = file.seek(SeekFrom::End(0))?;
    if length == 0 {
        return Ok(());
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last != *b"\n" {
        let mut bytes = Vec::new();
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        file.set_len(whole_lines(&bytes) as u64)?;
    }
    Ok(())
}

/// How many bytes of a log are whole lines.
fn whole_lines(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1)
}

impl Recorder for StateFolder {
    fn staged(&self, action: &StagedAction) -> Result<(), RecordError> {
        let number = action.number().get();
        if let Some(change_set) = action.change_set() {
            let kept = ActionFile {
                label: action.label().to_owned(),
                source_tool_name: action.source_tool_name().to_owned(),
                tier: action.tier(),
                details: action.details().cloned(),
                change_set: Arc::clone(change_set),
                preview: action.preview(),
            };
            self.keep(number, &kept).map_err(record_error)?;
        }
        self.append(LogEvent::Staged {
            number,
            source_tool_name: action.source_tool_name().to_owned(),
            label: action.label().to_owned(),
            tier: action.tier(),
            durable: action.change_set().is_some(),
        })
        .map_err(record_error)
    }

    fn taken(
        &self,
        action: &StagedAction,
        verdict: Verdict,
        reason: &str,
        decider: Decider,
    ) -> Result<(), RecordError> {
        let number = action.number().get();
        let (action, reason) = (verdict.into(), reason.to_owned());
        self.append(LogEvent::Taken { number, action, reason, who: decider }).map_err(record_error)
    }

    fn decided(
        &self,
        action: &StagedAction,
        record: &DecisionRecord<'_>,
    ) -> Result<(), RecordError> {
        self.append(LogEvent::Decided {
            number: action.number().get(),
            source_tool_name: action.source_tool_name().to_owned(),
            label: action.label().to_owned(),
            action: record.verdict.map(Into::into),
            reason: record.reason.to_owned(),
            who: record.decider,
            outcome: record.outcome.clone(),
            files: action.change_set().map(|set| files_of(set)).unwrap_or_default(),
        })
        .map_err(record_error)
    }
}

fn record_error(error: StateError) -> RecordError {
    RecordError(Box::new(error))
}
