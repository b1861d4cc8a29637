//! The workspace at hand, with the session that its shell commands share.

use std::{path::Path, sync::Arc, time::Duration};

use xd_resolve::{ActionStore, Recorder};
use xd_session::Session;
use xd_write::{Host, Policy, StateFolder, StateLock, Workspace};

use crate::failure::Failure;

/// The name of the session that shell commands share.
const SESSION: &str = "shell";
/// How long a command waits for another one in the same workspace.
const PATIENCE: Duration = Duration::from_secs(10);

/// A workspace opened to change what is staged in it. Its lock is held until it is dropped.
pub(crate) struct Place {
    pub(crate) workspace: Workspace,
    pub(crate) session: Arc<Session>,
    state: StateFolder,
    _lock: StateLock,
}

impl Place {
    /// Opens the workspace in `directory` for a command that stages or decides.
    pub(crate) fn open(directory: &Path) -> Result<Self, Failure> {
        let workspace = workspace(directory)?;
        let state = StateFolder::open(&workspace, SESSION).map_err(state_failure)?;
        let lock = state.lock(PATIENCE).map_err(state_failure)?;
        let recorder: Arc<dyn Recorder> = Arc::new(state.clone());
        let session = Session::with_store(|store| store.with_recorder(recorder));
        state.restore(&workspace, session.actions(), Some(&lock)).map_err(state_failure)?;
        Ok(Self { workspace, session: Arc::new(session), state, _lock: lock })
    }

    /// The tools and devices of a shell.
    pub(crate) fn host(&self) -> Host {
        host(&self.workspace, &self.session, Some(&self.state))
    }
}

/// A workspace opened only to look: nothing is made, locked or written.
pub(crate) struct View {
    pub(crate) workspace: Workspace,
    pub(crate) session: Arc<Session>,
    pub(crate) state: Option<StateFolder>,
}

impl View {
    /// Opens the workspace in `directory` for a command that looks.
    pub(crate) fn open(directory: &Path) -> Result<Self, Failure> {
        let workspace = workspace(directory)?;
        let session = Arc::new(Session::new());
        let state = StateFolder::open_existing(&workspace, SESSION).map_err(state_failure)?;
        if let Some(state) = &state {
            state.restore(&workspace, session.actions(), None).map_err(state_failure)?;
        }
        Ok(Self { workspace, session, state })
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

/// Without a state folder there are no drafts yet, and none is written: a view only looks.
fn host(workspace: &Workspace, session: &Arc<Session>, state: Option<&StateFolder>) -> Host {
    let builder = Host::builder(Arc::clone(session), workspace.clone()).policy(Policy::default());
    let builder = match state {
        Some(state) => builder.drafts(Arc::new(state.drafts())),
        None => builder,
    };
    builder
        .device(xd_ast_edit::AstEditTool::default())
        .unwrap_or_else(|error| panic!("{error}"))
        .build()
}

pub(crate) fn workspace(directory: &Path) -> Result<Workspace, Failure> {
    Workspace::open(directory).map_err(|error| {
        Failure::new(error, "Give an existing folder with -C, or change into one.")
    })
}

pub(crate) fn state_failure(error: xd_write::StateError) -> Failure {
    Failure::new(
        error,
        "What is staged lives in .xd/ of the workspace; check that it can be written.",
    )
}
