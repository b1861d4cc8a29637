//! Staging a change set: the preview now, the commit once somebody has decided.

use std::{fmt, sync::Arc};

use serde_json::{Value, json};
use xd_changeset::ChangeSet;
use xd_protocol::notice;
use xd_resolve::{
    ApplyError, BoxFuture, Effect, StageError, StageRequest, Staged, StagingSession, ToolResult,
    queue_resolve_handler,
};

use crate::{ToolContext, Workspace, away::off_runtime};

/// A change set with the words around it.
#[derive(Debug, Clone)]
pub struct Proposed {
    /// What the action is called: `AST Edit: 2 replacements in 1 file`.
    pub label: String,
    /// The tool that stages.
    pub source_tool_name: String,
    /// What the apply answers: `Applied 2 replacements in 1 file.`
    pub success: String,
    /// What there is to remark beside the change itself, a sentence each.
    pub notes: Vec<String>,
    /// The whole preview, for whoever asks for all of it.
    pub preview: String,
    /// The change.
    pub change_set: ChangeSet,
}

/// Stages a change set (`CONTRACT F1`). Applying it commits exactly these bytes, in all files or in
/// none.
///
/// # Errors
/// [`StageError`]; nothing is staged.
///
/// # Cancel safety
/// As [`queue_resolve_handler`].
pub async fn stage_change_set<S>(
    session: &S,
    workspace: &Workspace,
    proposed: Proposed,
) -> Result<Staged, StageError>
where
    S: StagingSession + ?Sized,
{
    queue_resolve_handler(session, proposed.into_request(workspace)).await
}

impl ToolContext {
    /// Stages what a tool proposes, and answers as every producer does: the notice, the preview that
    /// `shown` makes for the number, and in the details the tool's `summary`.
    ///
    /// # Cancel safety
    /// Dropped while it waits for its place in the batch, nothing is staged.
    pub async fn stage_proposed(
        &self,
        proposed: Proposed,
        summary: Value,
        shown: impl FnOnce(u64) -> String,
    ) -> ToolResult {
        let staged = match stage_change_set(self, self.workspace(), proposed).await {
            Ok(staged) => staged,
            // The files became what it would make of them, all by themselves (`CONTRACT S6`).
            Err(StageError::NothingToStage) => {
                let details = json!({ "summary": summary });
                return ToolResult::text(notice::NO_REPLACEMENTS).with_details(details);
            }
            Err(error) => return ToolResult::error(error.to_string()),
        };
        let mut result = staged.result(&shown(staged.number().get()));
        if let Some(Value::Object(details)) = &mut result.details {
            details.insert("summary".to_owned(), summary);
        }
        result
    }
}

impl Proposed {
    /// The request that stages it.
    #[must_use]
    pub fn into_request(self, workspace: &Workspace) -> StageRequest {
        let change_set = Arc::new(self.change_set);
        let effect =
            CommitEffect::new(workspace.clone(), Arc::clone(&change_set), self.success.clone());
        StageRequest::with_effect(self.label, Arc::new(effect))
            .source_tool(self.source_tool_name)
            .details(json!({ "success": self.success, "notes": self.notes }))
            .preview(self.preview)
            .change_set(change_set)
    }
}

/// The effect of an action that is a change set: to commit it.
pub struct CommitEffect {
    workspace: Workspace,
    change_set: Arc<ChangeSet>,
    success: String,
}

impl CommitEffect {
    /// Commits `change_set` in `workspace` and answers `success`.
    #[must_use]
    pub fn new(workspace: Workspace, change_set: Arc<ChangeSet>, success: String) -> Self {
        Self { workspace, change_set, success }
    }
}

impl Effect for CommitEffect {
    fn apply(&self, _reason: Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>> {
        let (workspace, change_set) = (self.workspace.clone(), Arc::clone(&self.change_set));
        let success = self.success.clone();
        let commit = move || match change_set.apply(workspace.root(), workspace.commits()) {
            Ok(applied) => {
                Ok(ToolResult::text(success).with_details(json!({ "files": applied.files })))
            }
            Err(error) => Err(ApplyError::tool(error.to_string())),
        };
        Box::pin(async move {
            // A commit waits for the disk; on a runtime it must not hold up the other tasks.
            off_runtime(commit).await?
        })
    }
}

impl fmt::Debug for CommitEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CommitEffect")
            .field("files", &self.change_set.len())
            .finish_non_exhaustive()
    }
}
