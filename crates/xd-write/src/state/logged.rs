//! What a session's log says of each number, and what it cannot mean.

use std::{collections::BTreeMap, io};

use xd_changeset::Hash;
use xd_protocol::StageNumber;
use xd_resolve::{ActionState, Decider, Lineage};

use super::{
    LogEvent, StateError, StateFolder, event::LoggedPart, folder::number_of, restore::after,
};

/// The most numbers that may be missing in a row. A staging that could not be recorded uses its
/// number up and leaves no line, but nobody fails that often in a row and then succeeds: a greater
/// number was never given.
const GAP: u64 = 10_000;

/// What the log says of one number.
#[derive(Debug)]
pub(super) struct Logged {
    pub(super) label: String,
    pub(super) source_tool_name: String,
    pub(super) durable: bool,
    pub(super) digest: Option<Hash>,
    /// The part by which the kept file was replaced last.
    pub(super) revision: Option<u64>,
    /// What it is a part of, and what its decision leaves of that.
    pub(super) part: Option<LoggedPart>,
    pub(super) lineage: Option<Lineage>,
    pub(super) reason: String,
    /// Who took it last; none where nobody did.
    pub(super) who: Option<Decider>,
    /// None where the log does not know the number.
    pub(super) state: Option<ActionState>,
    /// Whether an action is kept under the number.
    pub(super) kept: bool,
    /// Whether the log says that it was staged.
    staged: bool,
    /// The line that first names it.
    line: usize,
}

impl Default for Logged {
    fn default() -> Self {
        Self {
            label: "A staging that was not recorded".to_owned(),
            source_tool_name: String::new(),
            durable: false,
            digest: None,
            revision: None,
            part: None,
            lineage: None,
            reason: String::new(),
            who: None,
            state: None,
            kept: false,
            staged: false,
            line: 0,
        }
    }
}

impl StateFolder {
    /// Every number that was given, with what is known of it: those of the log, those under which
    /// an action is kept, and those between, which a failed staging used up. Numbers begin at 1
    /// and none is left out, so that none is ever given again (`CONTRACT S1`).
    pub(super) fn logged(&self) -> Result<Vec<Logged>, StateError> {
        let mut logged = self.fold()?;
        for number in self.kept_numbers()? {
            logged.entry(number).or_default().kept = true;
        }
        let mut whole: Vec<Logged> = Vec::new();
        for (number, entry) in logged {
            let last = whole.len() as u64;
            if number - last > GAP {
                match entry.state {
                    // A file that others put there names a number that nobody could reach.
                    None => continue,
                    Some(_) => return Err(self.no_such_number(number, last, entry.line)),
                }
            }
            whole.extend((last + 1..number).map(|_| Logged::default()));
            whole.push(entry);
        }
        Ok(whole)
    }

    /// What the log says of each number that it names.
    pub(super) fn fold(&self) -> Result<BTreeMap<u64, Logged>, StateError> {
        let mut logged: BTreeMap<u64, Logged> = BTreeMap::new();
        for (at, line) in self.numbered_log()? {
            let Some(number) = line.event.number() else { continue };
            if number == 0 {
                return Err(self.damaged_line(at, "actions are numbered from 1".to_owned()));
            }
            let entry =
                logged.entry(number).or_insert_with(|| Logged { line: at, ..Logged::default() });
            match line.event {
                LogEvent::Staged { .. } if entry.staged => {
                    let message = format!("action {number} is staged a second time");
                    return Err(self.damaged_line(at, message));
                }
                LogEvent::Staged {
                    source_tool_name,
                    label,
                    durable,
                    digest,
                    undoes,
                    supersedes,
                    part,
                    ..
                } => {
                    entry.lineage = lineage(undoes, supersedes, part.as_ref());
                    entry.part = part;
                    entry.label = label;
                    entry.source_tool_name = source_tool_name;
                    entry.durable = durable;
                    entry.digest = digest;
                    entry.staged = true;
                    // Void already, where a restart came between its file and this line.
                    entry.state = entry.state.or(Some(ActionState::Pending));
                }
                LogEvent::Taken { action, reason, who, .. } => {
                    entry.state = Some(ActionState::Taken(action.into()));
                    entry.reason = reason;
                    entry.who = Some(who);
                }
                LogEvent::Decided { action, outcome, who, .. } => {
                    entry.state = Some(after(&outcome));
                    let part = entry.part.clone();
                    if let Some(part) = part.filter(|part| part.is_left_by(action, who, &outcome))
                        && let Some(whole) = logged.get_mut(&part.of)
                        && whole.state.is_some_and(ActionState::is_open)
                    {
                        whole.label = part.label;
                        whole.digest = Some(part.digest);
                        whole.revision = Some(number);
                    }
                }
                LogEvent::Declined { .. } | LogEvent::Approved { .. } | LogEvent::Plan { .. } => {}
            }
        }
        Ok(logged)
    }

    fn no_such_number(&self, number: u64, last: u64, line: usize) -> StateError {
        let message = format!("it names action {number}, but no more than {last} can be told of");
        self.damaged_line(line, message)
    }

    pub(super) fn damaged_line(&self, line: usize, message: String) -> StateError {
        StateError::Damaged { what: format!("{}, line {line}", self.name("log.jsonl")), message }
    }

    /// The numbers of the kept actions.
    fn kept_numbers(&self) -> Result<Vec<u64>, StateError> {
        let error = || StateError::io(self.name("staged"));
        let entries = match self.dir().read_dir("staged") {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(error()(source)),
        };
        let mut numbers = Vec::new();
        for entry in entries {
            let name = entry.map_err(error())?.file_name();
            numbers.extend(name.to_str().and_then(number_of));
        }
        Ok(numbers)
    }
}

/// What a line of the log says that an action comes from.
fn lineage(
    undoes: Option<u64>,
    supersedes: Option<u64>,
    part: Option<&LoggedPart>,
) -> Option<Lineage> {
    if let Some(of) = part.and_then(|part| StageNumber::new(part.of)) {
        return Some(Lineage::PartOf(of));
    }
    let undoes = undoes.and_then(StageNumber::new).map(Lineage::Undoes);
    undoes.or_else(|| supersedes.and_then(StageNumber::new).map(Lineage::Supersedes))
}
