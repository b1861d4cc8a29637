//! The files of a session below `.xd/`.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, DirBuilder, DirBuilderExt as _, OpenOptions, OpenOptionsExt as _},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use xd_changeset::{ChangeSet, Hash};
use xd_protocol::Verdict;
use xd_resolve::{
    Approved, Decider, DecisionRecord, Declined, Lineage, RecordError, Recorder, StagedAction, Tier,
};

use super::{
    LogEvent, LogLine, StateError, StateLock,
    error::unreadable,
    event::{LoggedPart, files_of},
    hashed::{Unkept, Unwritten, read_hashed, write_hashed},
    logged::Logged,
};
use crate::{KeptPlan, PlanRecord, PlanRecorder, Workspace, inert::inert_json};

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
        let root = Dir::open_ambient_dir(workspace.path(), ambient_authority())
            .map_err(StateError::io(""))?;
        make_folder(&root, STATE)?;
        let mut options = private_file();
        // It ignores itself in git, from its first moment on.
        match root.open_with(".xd/.gitignore", options.write(true).create_new(true)) {
            Ok(mut file) => file.write_all(b"*\n").map_err(StateError::io(".gitignore"))?,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(refused(&root, ".xd/.gitignore", error)),
        }
        let path = format!("{SESSIONS}/{session}");
        for path in [SESSIONS, &path, &format!("{path}/staged")] {
            make_folder(&root, path)?;
        }
        let folder = root.open_dir(&path).map_err(StateError::io(from_state(&path)))?;
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
        let path = format!("{SESSIONS}/{session}");
        for path in [STATE, SESSIONS, &path] {
            if !is_folder(&root, path)? {
                return Ok(None);
            }
        }
        let folder = root.open_dir(&path).map_err(StateError::io(from_state(&path)))?;
        Ok(Some(Self {
            folder: Arc::new(folder),
            session: session.into(),
            appending: Arc::default(),
        }))
    }

    /// Waits up to `patience` until this process alone changes the session.
    ///
    /// # Errors
    /// [`StateError::Locked`] with the holder.
    pub fn lock(&self, patience: Duration) -> Result<StateLock, StateError> {
        let mut options = private_file();
        options.read(true).write(true).create(true).truncate(false);
        let file = self
            .folder
            .open_with("lock", &options)
            .map_err(StateError::io_of(self.folder.dir_metadata(), self.name("lock")))?;
        StateLock::acquire(file.into_std(), &self.name("lock"), patience)
    }

    /// The log's lines, oldest first. A torn last line is left out.
    ///
    /// # Errors
    /// [`StateError::Damaged`] where a whole line cannot be read.
    pub fn log(&self) -> Result<Vec<LogLine>, StateError> {
        Ok(self.numbered_log()?.into_iter().map(|(_, line)| line).collect())
    }

    /// The same, each with its place in the file, from 1.
    pub(super) fn numbered_log(&self) -> Result<Vec<(usize, LogLine)>, StateError> {
        let bytes = self.bytes("log.jsonl")?.unwrap_or_default();
        let whole = &bytes[..whole_lines(&bytes)];
        let lines = whole.split(|&b| b == b'\n').zip(1..).filter(|(line, _)| !line.is_empty());
        lines
            .map(|(line, at)| match serde_json::from_slice::<LogLine>(line) {
                Ok(line) if line.v == VERSION => Ok((at, line)),
                Ok(line) => {
                    let message = format!("its shape is version {}; {VERSION} is known", line.v);
                    Err(self.damaged_line(at, message))
                }
                Err(error) => Err(self.damaged_line(at, unreadable("line of this log", &error))),
            })
            .collect()
    }

    /// What the log says of plan mode, for [`Host::restore_plan`](crate::Host::restore_plan).
    ///
    /// # Errors
    /// As [`log`](Self::log).
    pub fn plan(&self) -> Result<KeptPlan, StateError> {
        let log = self.log()?;
        Ok(KeptPlan::of(log.iter().filter_map(|line| match &line.event {
            LogEvent::Plan { record } => Some(record),
            LogEvent::Staged { .. }
            | LogEvent::Taken { .. }
            | LogEvent::Decided { .. }
            | LogEvent::Declined { .. }
            | LogEvent::Approved { .. } => None,
        })))
    }

    /// The kept action `number`, as it was staged or, where parts of it were decided for themselves,
    /// what was left of it.
    ///
    /// # Errors
    /// [`StateError::Damaged`] where it is missing or is not what was staged; others as they come.
    pub fn action(&self, number: u64) -> Result<ActionFile, StateError> {
        let logged = self.fold()?.remove(&number);
        match logged {
            Some(Logged { digest, revision, .. }) => self.kept(number, revision, digest),
            None => self.kept(number, None, None),
        }
    }

    /// The kept action `number`, since the part `revision` was decided where there is one, if its
    /// bytes are those of `digest`.
    pub(super) fn kept(
        &self,
        number: u64,
        revision: Option<u64>,
        digest: Option<Hash>,
    ) -> Result<ActionFile, StateError> {
        let path = match revision {
            Some(part) => rest_path(number, part),
            None => action_path(number),
        };
        let damaged = |message: &str| StateError::Damaged {
            what: self.name(&path),
            message: message.to_owned(),
        };
        let file = self.open_plain(&path)?.ok_or_else(|| damaged("it is missing"))?;
        match read_hashed(file, digest) {
            Ok(action) => Ok(action),
            Err(Unkept::Another) => Err(damaged("it is not what was staged")),
            Err(Unkept::Io(error)) => Err(StateError::io(self.name(&path))(error)),
            Err(Unkept::Json(error)) => Err(damaged(&unreadable("staged action", &error))),
        }
    }

    /// The bytes of a file; none where nothing is there. What is no plain file is not opened.
    fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, StateError> {
        let Some(mut file) = self.open_plain(path)? else { return Ok(None) };
        let mut bytes = Vec::new();
        match file.read_to_end(&mut bytes) {
            Ok(_) => Ok(Some(bytes)),
            Err(error) => Err(StateError::io(self.name(path))(error)),
        }
    }

    /// A file to read; none where nothing is there. What is no plain file is not opened.
    fn open_plain(&self, path: &str) -> Result<Option<std::fs::File>, StateError> {
        let found = self.folder.symlink_metadata(path).and_then(|found| match found.is_file() {
            true => self.folder.open(path).map(Some),
            false => Ok(None),
        });
        match found {
            Ok(Some(file)) => Ok(Some(file.into_std())),
            Ok(None) => {
                let message = "it is not a plain file".to_owned();
                Err(StateError::Damaged { what: self.name(path), message })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StateError::io(self.name(path))(error)),
        }
    }

    /// Appends one line and waits until it is on the disk. What a crash left of a half line is cut
    /// off first.
    pub(super) fn append(&self, event: LogEvent) -> Result<(), StateError> {
        let time = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let line =
            serde_json::to_string(&LogLine { v: VERSION, time, event }).map_err(|error| {
                StateError::Damaged { what: self.name("log.jsonl"), message: error.to_string() }
            })?;
        let line = inert_json(&line) + "\n";
        let error = || StateError::io(self.name("log.jsonl"));
        let _one_at_a_time = self.appending.lock().unwrap_or_else(PoisonError::into_inner);
        let mut options = private_file();
        let mut file = self
            .folder
            .open_with("log.jsonl", options.read(true).append(true).create(true))
            .map_err(error())?
            .into_std();
        cut_torn_tail(&mut file).map_err(error())?;
        file.write_all(line.as_bytes()).map_err(error())?;
        file.sync_data().map_err(error())
    }

    /// Keeps an action in a file of its own at `path`, and answers the hash of its bytes.
    fn keep(&self, path: &str, action: &ActionFile) -> Result<Hash, StateError> {
        let error = || StateError::io(self.name(path));
        let mut options = private_file();
        options.write(true).create_new(true);
        let file = self.folder.open_with(path, &options).map_err(error())?.into_std();
        let written = write_hashed(file, action).map_err(|failed| match failed {
            Unwritten::Io(failed) => error()(failed),
            Unwritten::Json(failed) => {
                StateError::Damaged { what: self.name(path), message: failed.to_string() }
            }
        });
        if written.is_err() {
            // Half an action is worse than none; the error that matters is the one before.
            let _ = self.folder.remove_file(path);
        }
        let staged = self.folder.open("staged").map_err(error())?;
        staged.sync_all().map_err(error())?;
        written
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

/// Where the state is, from the workspace.
const STATE: &str = ".xd";
/// Where the sessions are, from the workspace.
const SESSIONS: &str = ".xd/sessions";
/// The version of the log's lines.
const VERSION: u32 = 1;

fn from_state(path: &str) -> &str {
    path.strip_prefix(".xd/").unwrap_or("")
}

/// Whether `path` is a folder; not where nothing is there. A link to one is none.
fn is_folder(root: &Dir, path: &str) -> Result<bool, StateError> {
    let found = match root.symlink_metadata(path) {
        Ok(found) if found.is_dir() => return Ok(true),
        Ok(found) if found.is_symlink() => "a symbolic link",
        Ok(found) if found.is_file() => "a file",
        Ok(_) => "something else",
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(refused(root, path, error)),
    };
    Err(StateError::NotAFolder { path: path.to_owned(), found })
}

/// Why something in the state folder cannot be used; where that is another user's, whose it is.
fn refused(root: &Dir, path: &str, error: io::Error) -> StateError {
    StateError::io_of(root.symlink_metadata(STATE), from_state(path))(error)
}

fn make_folder(root: &Dir, path: &str) -> Result<(), StateError> {
    if is_folder(root, path)? {
        return Ok(());
    }
    match make_private(root, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(refused(root, path, error))
        }
        // Another process may have been quicker.
        Ok(()) | Err(_) => Ok(()),
    }
}

/// Makes a folder for its owner alone: what is kept may come from files that nobody else may read.
pub(super) fn make_private(dir: &Dir, path: &str) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    dir.create_dir_with(path, builder.mode(0o700))
}

/// Options under which a new file is made for its owner alone. One that is there keeps its mode.
pub(super) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

/// The number whose kept action a file's name says that it is.
pub(super) fn number_of(name: &str) -> Option<u64> {
    let number = name.strip_suffix(".json")?.parse().ok()?;
    (number > 0 && name == format!("{number}.json")).then_some(number)
}

fn action_path(number: u64) -> String {
    format!("staged/{number}.json")
}

/// Where it is kept what is left of an action once its part is decided. No number's own file is
/// called so.
fn rest_path(number: u64, part: u64) -> String {
    format!("staged/{number}.without-{part}.json")
}

/// A staged action with a change set, as it is kept.
fn kept_form(action: &StagedAction) -> Option<ActionFile> {
    let change_set = action.change_set()?;
    Some(ActionFile {
        label: action.label().to_owned(),
        source_tool_name: action.source_tool_name().to_owned(),
        tier: action.tier(),
        details: action.details().cloned(),
        change_set: Arc::clone(change_set),
        preview: action.preview(),
    })
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
        // Its own file first: a number that is kept under is used up, so that no later part comes to
        // the name of a rest that a crash left.
        let keep = |path: &str, kept| self.keep(path, &kept).map_err(record_error);
        let digest = kept_form(action).map(|kept| keep(&action_path(number), kept)).transpose()?;
        let mut part = None;
        if let Some(remainder) = action.remainder()
            && let Some(rest) = kept_form(remainder.rest())
        {
            let (of, label) = (remainder.rest().number().get(), rest.label.clone());
            let digest = keep(&rest_path(of, number), rest)?;
            part = Some(LoggedPart { of, action: remainder.verdict().into(), label, digest });
        }
        let (undoes, supersedes) = match action.lineage() {
            Some(Lineage::Undoes(of)) => (Some(of.get()), None),
            Some(Lineage::Supersedes(of)) => (None, Some(of.get())),
            Some(Lineage::PartOf(_)) | None => (None, None),
        };
        self.append(LogEvent::Staged {
            number,
            source_tool_name: action.source_tool_name().to_owned(),
            label: action.label().to_owned(),
            tier: action.tier(),
            durable: action.change_set().is_some(),
            digest,
            undoes,
            supersedes,
            part,
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

    fn declined(&self, action: &StagedAction, declined: &Declined<'_>) -> Result<(), RecordError> {
        self.append(LogEvent::Declined {
            number: action.number().get(),
            source_tool_name: action.source_tool_name().to_owned(),
            label: action.label().to_owned(),
            action: declined.verdict.into(),
            reason: declined.reason.to_owned(),
            words: declined.words.to_owned(),
            who: declined.who,
        })
        .map_err(record_error)
    }

    fn approved(&self, action: &StagedAction, approved: &Approved<'_>) -> Result<(), RecordError> {
        self.append(LogEvent::Approved {
            number: action.number().get(),
            source_tool_name: action.source_tool_name().to_owned(),
            label: action.label().to_owned(),
            action: approved.verdict.into(),
            reason: approved.reason.to_owned(),
            instead: approved.instead.to_owned(),
            who: approved.who,
        })
        .map_err(record_error)
    }
}

impl PlanRecorder for StateFolder {
    fn record_plan(&self, record: &PlanRecord) -> Result<(), RecordError> {
        self.append(LogEvent::Plan { record: record.clone() }).map_err(record_error)
    }
}

fn record_error(error: StateError) -> RecordError {
    RecordError(Box::new(error))
}
