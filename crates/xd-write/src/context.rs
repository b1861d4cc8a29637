//! What a running call may reach.

use std::{fmt, sync::Arc};

use tokio_util::sync::CancellationToken;
use xd_resolve::{
    ActionStore, Batch, CallSlot, Decider, Epoch, Form, PendingAction, PlanMode, StageError,
    StageRequest, Staged, StagingSession, queue_resolve_handler,
};
use xd_session::Session;

use crate::Workspace;

/// What a running call may reach: its session, the workspace, its place in the batch.
pub struct ToolContext {
    pub(crate) session: Arc<Session>,
    pub(crate) workspace: Workspace,
    pub(crate) batch: Arc<Batch>,
    /// Plan mode at the batch's begin.
    pub(crate) plan_mode: PlanMode,
    pub(crate) slot: CallSlot,
    pub(crate) call_id: String,
    pub(crate) scope: CallScope,
}

/// Hears how a call gets on: its id and how far it is.
pub type ProgressSink = Arc<dyn Fn(&str, Progress) + Send + Sync>;

/// What a batch of calls is run with.
#[derive(Clone)]
pub struct CallScope {
    /// Who decides where a call confirms.
    pub decider: Decider,
    /// Cancels the calls that can be cancelled.
    pub cancel: CancellationToken,
    /// Hears how calls get on.
    pub progress: ProgressSink,
    /// The session that the calls were made in: once it has ended none of them starts any more
    /// (`CONTRACT D13`). None means the one that is open when the batch begins.
    pub epoch: Option<Epoch>,
}

impl CallScope {
    /// Calls of a model, never cancelled, progress unheard.
    #[must_use]
    pub fn model() -> Self {
        Self::of(Decider::Model)
    }

    /// Calls in the name of `decider`, never cancelled, progress unheard.
    #[must_use]
    pub fn of(decider: Decider) -> Self {
        Self {
            decider,
            cancel: CancellationToken::new(),
            progress: Arc::new(|_, _| {}),
            epoch: None,
        }
    }
}

impl fmt::Debug for CallScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallScope").field("decider", &self.decider).finish_non_exhaustive()
    }
}

/// How a long call gets on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// Part of the result, ahead of the whole (`CONTRACT R6`).
    Partial(String),
    /// Files looked at, and how many of them matter to the call.
    Files {
        /// How many were looked at.
        seen: usize,
        /// How many of them matched.
        matched: usize,
    },
}

impl ToolContext {
    /// The session that the call belongs to.
    #[must_use]
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The folder that the call may touch.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// The provider's id of the call.
    #[must_use]
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// Who made the call.
    #[must_use]
    pub fn decider(&self) -> Decider {
        self.scope.decider
    }

    /// Cancelled when nobody wants the result any more.
    #[must_use]
    pub fn cancel(&self) -> &CancellationToken {
        &self.scope.cancel
    }

    /// Whether the session that the call was made in has ended (`CONTRACT D13`).
    #[must_use]
    pub fn is_late(&self) -> bool {
        let made_in = self.scope.epoch.unwrap_or(self.batch.epoch());
        made_in != self.session.actions().epoch()
    }

    /// Tells the host how the call gets on.
    pub fn report(&self, progress: Progress) {
        (self.scope.progress)(&self.call_id, progress);
    }

    /// Stages `request`; see [`queue_resolve_handler`].
    ///
    /// # Errors
    /// [`StageError`]; nothing is staged.
    pub async fn stage(&self, request: StageRequest) -> Result<Staged, StageError> {
        queue_resolve_handler(self, request).await
    }

    /// The earlier form of [`stage`](Self::stage) for custom tools (`CONTRACT D15`): the same
    /// stack, the same numbers.
    ///
    /// # Errors
    /// [`StageError`]; nothing is staged.
    pub async fn push_pending_action(&self, action: PendingAction) -> Result<Staged, StageError> {
        self.stage(action).await
    }
}

impl StagingSession for ToolContext {
    fn action_store(&self) -> Option<&Arc<ActionStore>> {
        self.session.action_store()
    }

    fn call_slot(&self) -> Option<&CallSlot> {
        Some(&self.slot)
    }

    fn batch(&self) -> Option<&Batch> {
        Some(&self.batch)
    }

    fn form(&self) -> Form {
        self.session.form()
    }

    fn can_finalize(&self) -> bool {
        self.session.can_finalize()
    }
}

impl fmt::Debug for ToolContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolContext").field("call_id", &self.call_id).finish_non_exhaustive()
    }
}
