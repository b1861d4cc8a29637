//! The workspace at hand, with the session that its shell commands share.

use std::{path::Path, sync::Arc, time::Duration};

use xd_changeset::{Options, RecoverError};
use xd_resolve::{ActionStore, BoxFuture, Recorder};
use xd_session::{PlanAnswer, PlanReview, PlanReviewer, Session};
use xd_write::{
    Host, Policy, Restored, StateError, StateFolder, StateLock, Workspace, restage_tool,
};

use crate::{
    arguments::{CommitArguments, SessionArgument},
    failure::Failure,
    recovered::Recovered,
    screen::Screen,
    sessions::{self, SessionName},
};

/// How long a command waits for another one in the same workspace.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same for a session of the agent, which a running one keeps to itself until it ends.
const SHORT_PATIENCE: Duration = Duration::from_secs(1);

/// A workspace opened to change what is staged in it. Its lock is held until it is dropped.
pub(crate) struct Place {
    pub(crate) workspace: Workspace,
    pub(crate) session: Arc<Session>,
    pub(crate) state: StateFolder,
    pub(crate) name: SessionName,
    _lock: StateLock,
}

impl Place {
    /// Opens the workspace in `directory` for a command that stages. What an earlier one left half
    /// done is settled, and said.
    pub(crate) fn open(directory: &Path, screen: &mut Screen) -> Result<Self, Failure> {
        let (shell, commit) = (SessionArgument::default(), CommitArguments::default());
        Self::open_to_commit(directory, &shell, commit, screen)
    }

    /// The same for a command that decides what is staged in a session. One that is named must be
    /// there; where it plans, it goes on planning (`CONTRACT W7`).
    pub(crate) fn open_to_commit(
        directory: &Path,
        session: &SessionArgument,
        commit: CommitArguments,
        screen: &mut Screen,
    ) -> Result<Self, Failure> {
        let (place, told) = Self::settle(directory, session, commit, PATIENCE)?;
        screen.recovered(told);
        Ok(place)
    }

    /// The same, and what was settled with it, for a command that prints nothing just now. It waits
    /// so long for another one.
    pub(crate) fn settle(
        directory: &Path,
        session: &SessionArgument,
        commit: CommitArguments,
        patience: Duration,
    ) -> Result<(Self, Recovered), Failure> {
        let commits = Options::default().durable(!commit.no_durable);
        let workspace = workspace(directory)?.with_commits(commits);
        let name = SessionName::of(session);
        let (state, patience) = match name.is_shell() {
            true => {
                (StateFolder::open(&workspace, name.as_str()).map_err(state_failure)?, patience)
            }
            false => (sessions::existing(&workspace, &name)?, SHORT_PATIENCE),
        };
        let lock = state.lock(patience).map_err(|error| name.busy(error))?;
        let (session, restored) =
            restore(&workspace, &state, Some(&lock)).map_err(state_failure)?;
        let place = Self { workspace, session: Arc::new(session), state, name, _lock: lock };
        let plan = place.state.plan().map_err(state_failure)?;
        place.host().restore_plan(&plan).map_err(|error| {
            Failure::new(error, "Nothing was done. Mend this and run the command again.")
        })?;
        Ok((place, Recovered::of(&restored)))
    }

    /// The tools and devices of a shell.
    pub(crate) fn host(&self) -> Host {
        host(&self.workspace, &self.session, Some(&self.state))
    }
}

/// A workspace opened only to look: nothing is made, and nothing is written but the end of what a
/// process that is gone left half done (`CONTRACT E3`, F3).
pub(crate) struct View {
    pub(crate) workspace: Workspace,
    pub(crate) session: Arc<Session>,
    pub(crate) state: Option<StateFolder>,
    pub(crate) name: SessionName,
    /// Who is at work here just now, where somebody is.
    pub(crate) busy: Option<String>,
}

impl View {
    /// Opens the workspace in `directory` for a command that looks. It waits for nobody.
    pub(crate) fn open(directory: &Path, screen: &mut Screen) -> Result<Self, Failure> {
        Self::open_in(directory, &SessionArgument::default(), screen)
    }

    /// The same for what is staged in a session. One that is named must be there.
    pub(crate) fn open_in(
        directory: &Path,
        session: &SessionArgument,
        screen: &mut Screen,
    ) -> Result<Self, Failure> {
        let (view, told) = Self::settle(directory, SessionName::of(session))?;
        screen.recovered(told);
        Ok(view)
    }

    /// The same, and what was settled with it.
    pub(crate) fn settle(
        directory: &Path,
        name: SessionName,
    ) -> Result<(Self, Recovered), Failure> {
        let workspace = workspace(directory)?;
        let state = match name.is_shell() {
            true => StateFolder::open_existing(&workspace, name.as_str()).map_err(state_failure)?,
            false => Some(sessions::existing(&workspace, &name)?),
        };
        let (session, mut told, mut busy) = match &state {
            Some(state) => look(&workspace, state).map_err(state_failure)?,
            None => (Session::new(), Recovered::default(), None),
        };
        // Another session of this workspace may have left a commit half done, too.
        if busy.is_none() && told.trouble.is_none() && workspace.root().is_interrupted() {
            match workspace.root().recover(Duration::ZERO) {
                Ok(commit) => told.commit = told.commit.or(commit),
                Err(RecoverError::Locked(locked)) => busy = Some(named(locked.holder)),
                Err(error) => told.trouble = Some(error.to_string()),
            }
        }
        Ok((Self { workspace, session: Arc::new(session), state, name, busy }, told))
    }

    /// The staged actions.
    pub(crate) fn actions(&self) -> &Arc<ActionStore> {
        self.session.actions()
    }

    /// The tools and devices of a shell.
    pub(crate) fn host(&self) -> Host {
        host(&self.workspace, &self.session, self.state.as_ref())
    }
}

/// What is left half done in `directory`, and what would become of it; nothing is settled.
pub(crate) fn unsettled(directory: &Path) -> Result<Recovered, Failure> {
    let workspace = workspace(directory)?;
    let name = SessionName::default();
    let state = StateFolder::open_existing(&workspace, name.as_str()).map_err(state_failure)?;
    let mut told = match &state {
        Some(state) => Recovered::of(&restore(&workspace, state, None).map_err(state_failure)?.1),
        None => Recovered::default(),
    };
    match workspace.root().interrupted() {
        Ok(commit) => told.commit = commit,
        Err(error) => told.trouble = Some(error.to_string()),
    }
    Ok(told)
}

/// Without a state folder there are no drafts yet, and none is written: a view only looks.
fn host(workspace: &Workspace, session: &Arc<Session>, state: Option<&StateFolder>) -> Host {
    let builder = Host::builder(Arc::clone(session), workspace.clone()).policy(Policy::default());
    let builder = match state {
        Some(state) => builder
            .drafts(Arc::new(state.drafts()))
            .plan_recorder(Arc::new(state.clone()))
            .reviewer(Arc::new(Nobody)),
        None => builder,
    };
    builder
        .device(xd_ast_edit::AstEditTool::default())
        .and_then(|builder| builder.device(xd_text_edit::TextEditTool::default()))
        .and_then(|builder| builder.device(xd_text_edit::ApplyPatchTool::default()))
        .and_then(|builder| builder.device(restage_tool()))
        .unwrap_or_else(|error| panic!("{error}"))
        .build()
}

/// Plans are reviewed where their session runs.
struct Nobody;

impl PlanReviewer for Nobody {
    fn review(&self, _: PlanReview) -> BoxFuture<'_, PlanAnswer> {
        Box::pin(std::future::ready(PlanAnswer::Dismissed))
    }
}

pub(crate) fn workspace(directory: &Path) -> Result<Workspace, Failure> {
    Workspace::open(directory).map_err(|error| {
        Failure::new(error, "Give an existing folder with -C, or change into one.")
    })
}

/// What the log says; where it leaves something open and nobody is at it, that is settled first.
/// Answers the session, what was settled, and who is at it.
fn look(
    workspace: &Workspace,
    state: &StateFolder,
) -> Result<(Session, Recovered, Option<String>), StateError> {
    let (session, restored) = restore(workspace, state, None)?;
    if !restored.unsettled {
        return Ok((session, Recovered::of(&restored), None));
    }
    let settled =
        state.lock(Duration::ZERO).and_then(|lock| restore(workspace, state, Some(&lock)));
    match settled {
        Ok((session, restored)) => Ok((session, Recovered::of(&restored), None)),
        Err(StateError::Locked { holder, .. }) => {
            Ok((session, Recovered::of(&restored), Some(holder)))
        }
        // What cannot be settled now can be looked at all the same.
        Err(error @ (StateError::Io { .. } | StateError::Interrupted(_))) => {
            let trouble = Some(error.to_string());
            Ok((session, Recovered { trouble, ..Recovered::of(&restored) }, None))
        }
        Err(error) => Err(error),
    }
}

pub(crate) fn restore(
    workspace: &Workspace,
    state: &StateFolder,
    lock: Option<&StateLock>,
) -> Result<(Session, Restored), StateError> {
    let session = match lock {
        Some(_) => {
            let recorder: Arc<dyn Recorder> = Arc::new(state.clone());
            Session::with_store(|store| store.with_recorder(recorder))
        }
        None => Session::new(),
    };
    let restored = state.restore(workspace, session.actions(), lock)?;
    Ok((session, restored))
}

fn named(holder: Option<u32>) -> String {
    holder.map_or("another process".to_owned(), |id| format!("process {id}"))
}

/// Why the state cannot be used, with the way out.
pub(crate) fn state_failure(error: StateError) -> Failure {
    let hint = match &error {
        StateError::Locked { .. } => {
            "Another command is at work on what is staged here; `xd status` shows it meanwhile."
                .to_owned()
        }
        StateError::Damaged { what, .. } => {
            let session = what.split('/').take(2).collect::<Vec<_>>().join("/");
            format!(
                "Mend it, or move .xd/{session} aside to begin anew; nothing in your files is touched."
            )
        }
        StateError::NotAFolder { path, .. } => {
            format!("Move '{path}' away; a folder is made in its place. Nothing was changed.")
        }
        StateError::Interrupted(_) => {
            "Nothing is lost: every former content is kept until this is mended.".to_owned()
        }
        _ => {
            "What is staged lives in .xd/ of the workspace; check that it can be read and written."
                .to_owned()
        }
    };
    Failure::new(error, hint)
}
