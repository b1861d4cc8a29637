//! What a host decides about its server.

use std::{fmt, sync::Arc, time::Duration};

use xd_resolve::PlanMode;
use xd_write::{HostBuilder, MountError, Policy, Workspace};

/// How long a call waits for another process that is at work on the same state.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a person has to answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(600);
/// The session that shell commands and servers of a workspace share.
const SESSION: &str = "shell";

/// Who confirms what is staged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ask {
    /// The model, by a `write` to `xd://resolve` or `xd://reject`.
    #[default]
    Model,
    /// A person, in the client, with the change in view; the model where the client cannot ask.
    PersonWhereAble,
    /// A person. Where the client cannot ask one, nothing is applied through it.
    Person,
}

/// Adds tools and devices to a host that is being built.
pub(crate) type Extend = Arc<dyn Fn(HostBuilder) -> Result<HostBuilder, MountError> + Send + Sync>;

/// What a host decides about its server. Cheap to clone.
#[derive(Clone)]
pub struct Options {
    pub(crate) workspace: Workspace,
    pub(crate) policy: Policy,
    pub(crate) ask: Ask,
    pub(crate) answer_within: Duration,
    pub(crate) patience: Duration,
    pub(crate) session: Arc<str>,
    pub(crate) plan: PlanMode,
    pub(crate) extend: Option<Extend>,
}

impl Options {
    /// A server for `workspace` with the usual policy, on the session of the shell.
    #[must_use]
    pub fn new(workspace: Workspace) -> Self {
        Self {
            workspace,
            policy: Policy::default(),
            ask: Ask::default(),
            answer_within: ANSWER_WITHIN,
            patience: PATIENCE,
            session: SESSION.into(),
            plan: PlanMode::Off,
            extend: None,
        }
    }

    /// Sets who may do what: the same policy as in any other front end decides the same here
    /// (case 166).
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets who confirms. Where a person does, `write` stages files too: nothing changes unseen.
    #[must_use]
    pub fn ask(mut self, ask: Ask) -> Self {
        self.ask = ask;
        self
    }

    /// Sets how long a person has to answer; then nothing is decided and the action stays pending
    /// (case 164). Ten minutes without it.
    #[must_use]
    pub fn answer_within(mut self, limit: Duration) -> Self {
        self.answer_within = limit;
        self
    }

    /// Sets how long a call waits for another process at work on the same state. Ten seconds
    /// without it.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Sets the session of the workspace's state, a plain word. Servers and commands with one
    /// session share one stack.
    #[must_use]
    pub fn session(mut self, name: &str) -> Self {
        self.session = name.into();
        self
    }

    /// Lets the server begin in plan mode: nothing of the working tree changes through it until a
    /// person has approved a plan in the client (`CONTRACT P1–P3, W7`). It holds for this server, and
    /// for every client of it.
    #[must_use]
    pub fn plan(mut self) -> Self {
        self.plan = PlanMode::On;
        self
    }

    /// Adds devices or tools. It is called whenever the session is restored, and once when the
    /// server begins, so that a name that cannot be mounted is told then.
    #[must_use]
    pub fn extend(
        mut self,
        extend: impl Fn(HostBuilder) -> Result<HostBuilder, MountError> + Send + Sync + 'static,
    ) -> Self {
        self.extend = Some(Arc::new(extend));
        self
    }

    /// The policy in force: a person who confirms is to see every change.
    pub(crate) fn effective_policy(&self) -> Policy {
        match self.ask {
            Ask::Model => self.policy.clone(),
            Ask::PersonWhereAble | Ask::Person => self.policy.clone().stage_writes(),
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("workspace", &self.workspace.path())
            .field("policy", &self.policy)
            .field("ask", &self.ask)
            .field("session", &self.session)
            .field("plan", &self.plan)
            .finish_non_exhaustive()
    }
}
