//! The sessions of a workspace, by name: the one that shell commands share, and those of the agent.

use std::{fs, path::Path};

use xd_resolve::ActionState;
use xd_write::{StateError, StateFolder, Workspace};

use crate::{
    arguments::SessionArgument,
    failure::Failure,
    place::{restore, state_failure},
};

/// The folder of all sessions, in the workspace.
pub(crate) const SESSIONS: &str = ".xd/sessions";
/// The session that shell commands share.
const SHELL: &str = "shell";

/// Which session a command is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionName(String);

impl Default for SessionName {
    /// The one that shell commands share.
    fn default() -> Self {
        Self(SHELL.to_owned())
    }
}

impl SessionName {
    /// The one that is named, or that of the shell.
    pub(crate) fn of(argument: &SessionArgument) -> Self {
        argument.name.clone().map_or_else(Self::default, Self)
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn is_shell(&self) -> bool {
        self.0 == SHELL
    }

    /// What a further command about the same session says of it: nothing, or ` --session NAME`.
    pub(crate) fn flag(&self) -> String {
        match self.is_shell() {
            true => String::new(),
            false => format!(" --session {}", self.0),
        }
    }

    /// Why the session cannot be changed now, where somebody else is at it.
    pub(crate) fn busy(&self, error: StateError) -> Failure {
        match error {
            StateError::Locked { holder, .. } if !self.is_shell() => {
                let (name, flag) = (&self.0, self.flag());
                Failure::new(
                    format!("the session '{name}' is in use by {holder}; nothing was done"),
                    format!(
                        "An agent is at work in it: decide there with /resolve or /reject, or end \
                         it and run this again; `xd status{flag}` shows what is pending meanwhile."
                    ),
                )
            }
            error => state_failure(error),
        }
    }
}

/// The state of a session that was named.
pub(crate) fn existing(workspace: &Workspace, name: &SessionName) -> Result<StateFolder, Failure> {
    let state =
        StateFolder::open_existing(workspace, name.as_str()).map_err(|error| match error {
            StateError::Name { .. } => Failure::new(&error, hint(workspace)),
            error => state_failure(error),
        })?;
    state.ok_or_else(|| {
        let what = format!("there is no session '{}' here", name.as_str());
        Failure::new(what, hint(workspace))
    })
}

fn hint(workspace: &Workspace) -> String {
    match &names(workspace.path())[..] {
        [] => "No session was begun in this folder yet; -C DIR names another.".to_owned(),
        names => format!("There are {}.", listed(names)),
    }
}

/// Some names, and how many more there are.
pub(crate) fn listed(names: &[String]) -> String {
    const NAMED: usize = 8;
    let more = match names.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    format!("{}{more}", names[..names.len().min(NAMED)].join(", "))
}

/// The names of all sessions that have a folder, as people count them: `agent-2` before `agent-10`.
fn names(workspace: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(workspace.join(SESSIONS)) else { return Vec::new() };
    let folder = |entry: fs::DirEntry| {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        entry.file_name().into_string().ok().filter(|_| is_folder)
    };
    let mut names: Vec<String> = entries.flatten().filter_map(folder).collect();
    names.sort_by_key(|name| {
        let (word, number) = name.rsplit_once('-').unwrap_or((name, ""));
        (word.to_owned(), number.parse::<u64>().unwrap_or(0), name.clone())
    });
    names
}

/// Another session that has something pending.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    pub(crate) name: SessionName,
    /// How many actions are pending, or being resolved.
    pub(crate) open: usize,
}

/// What is pending in other sessions than `here`. One whose log cannot be read is passed over:
/// whoever names it hears why.
pub(crate) fn elsewhere(workspace: &Workspace, here: &SessionName) -> Vec<Elsewhere> {
    let open = |name: String| {
        let state = StateFolder::open_existing(workspace, &name).ok()??;
        let (session, _) = restore(workspace, &state, None).ok()?;
        let states = session.actions().states();
        let open = states.iter().filter(|(_, state)| ActionState::is_open(*state)).count();
        (open > 0).then_some(Elsewhere { name: SessionName(name), open })
    };
    names(workspace.path())
        .into_iter()
        .filter(|name| name != here.as_str())
        .filter_map(open)
        .collect()
}
