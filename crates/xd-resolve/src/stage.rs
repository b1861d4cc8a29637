//! The one entry for every producer (`CONTRACT S1`).

use std::{error::Error, fmt, sync::Arc};

use serde_json::json;
use xd_protocol::{StageNumber, notice};

use crate::{
    ActionStore, Batch, CallSlot, Form, RecordError, StageRequest, StagedAction, ToolResult,
    batch::NAMED,
};

/// What a producer stages through: a session, or the part of one that its call may see.
pub trait StagingSession {
    /// The store, or none where the runtime has none.
    fn action_store(&self) -> Option<&Arc<ActionStore>>;

    /// The place of the running call in its batch, for numbering in call order (`CONTRACT S3`).
    fn call_slot(&self) -> Option<&CallSlot> {
        None
    }

    /// The batch of the running call, so that nothing is staged into a later session
    /// (`CONTRACT D13`).
    fn batch(&self) -> Option<&Batch> {
        None
    }

    /// By what the model finalizes, for the notice.
    fn form(&self) -> Form {
        Form::Devices
    }

    /// Whether the model could finalize what is staged: `write` is an active tool
    /// (`CONTRACT G10`).
    fn can_finalize(&self) -> bool {
        true
    }
}

impl StagingSession for Arc<ActionStore> {
    fn action_store(&self) -> Option<&Arc<ActionStore>> {
        Some(self)
    }
}

/// Why nothing was staged.
#[derive(Debug)]
#[non_exhaustive]
pub enum StageError {
    /// The runtime has no store (`CONTRACT S5`).
    NoStore,
    /// `write` is not among the active tools, so nobody could finalize (`CONTRACT G10`).
    CannotFinalize,
    /// The change set changes nothing (`CONTRACT S6`).
    NothingToStage,
    /// The session that the call belongs to has ended meanwhile (`CONTRACT D13`).
    SessionEnded,
    /// It could not be written down.
    NotRecorded(RecordError),
}

impl fmt::Display for StageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoStore => f.write_str(notice::STORE_UNAVAILABLE),
            Self::CannotFinalize => f.write_str(
                "Nothing was staged: the tool that finalizes (`write`, or the hidden `resolve`) is \
                 not active, so the preview could never be resolved. Activate it and try again.",
            ),
            Self::NothingToStage => f.write_str("Nothing was staged: no file would change."),
            Self::SessionEnded => {
                f.write_str("Nothing was staged: the session that this call belongs to has ended.")
            }
            Self::NotRecorded(error) => write!(f, "Nothing was staged: {error}."),
        }
    }
}

impl Error for StageError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotRecorded(error) => Some(error),
            Self::NoStore | Self::CannotFinalize | Self::NothingToStage | Self::SessionEnded => {
                None
            }
        }
    }
}

/// A staged action's receipt.
#[derive(Debug, Clone)]
pub struct Staged {
    store: Arc<ActionStore>,
    action: Arc<StagedAction>,
    form: Form,
}

impl Staged {
    pub(crate) fn new(store: Arc<ActionStore>, action: Arc<StagedAction>) -> Self {
        Self { store, action, form: Form::Devices }
    }

    /// The number that it got.
    #[must_use]
    pub fn number(&self) -> StageNumber {
        self.action.number()
    }

    /// The action as it stands in the store.
    #[must_use]
    pub fn action(&self) -> &Arc<StagedAction> {
        &self.action
    }

    /// The notice that opens the preview's result, as things are now (`CONTRACT S4`).
    #[must_use]
    pub fn notice(&self) -> String {
        let (first, total) = self.store.pending_numbers(NAMED);
        match (self.form, first.first()) {
            (Form::HiddenTool, Some(head)) if total > 1 => format!(
                "{} {total} actions are pending; one call decides the newest, @{head}.",
                notice::STAGED_FOR_TOOL
            ),
            (Form::HiddenTool, _) => notice::STAGED_FOR_TOOL.to_owned(),
            (Form::Devices, _) => notice::StagedNotice { first: &first, total }.to_string(),
        }
    }

    /// The tool result of the staging call: the notice, a blank line, the preview (`CONTRACT S4`).
    /// Its details say which action it is: `{number, label}`.
    #[must_use]
    pub fn result(&self, preview: &str) -> ToolResult {
        let details = json!({ "number": self.number().get(), "label": self.action.label() });
        ToolResult::text(format!("{}\n\n{preview}", self.notice())).with_details(details)
    }
}

/// Stages `request`; the one entry for every producer (`CONTRACT S1`). No tool-choice directive is
/// pushed, whatever is staged (`CONTRACT S2`).
///
/// In a batch it waits until the calls before its own have ended, so that numbers follow call order
/// (`CONTRACT S3`).
///
/// # Errors
/// [`StageError`]; nothing is staged.
///
/// # Cancel safety
/// Dropped while it waits, nothing is staged.
pub async fn queue_resolve_handler<S>(
    session: &S,
    request: StageRequest,
) -> Result<Staged, StageError>
where
    S: StagingSession + ?Sized,
{
    let store = session.action_store().ok_or(StageError::NoStore)?;
    if !session.can_finalize() {
        return Err(StageError::CannotFinalize);
    }
    if let Some(slot) = session.call_slot() {
        slot.turn().await;
    }
    store
        .stage_for(session.batch(), request)
        .map(|staged| Staged { form: session.form(), ..staged })
}
