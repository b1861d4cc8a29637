//! The tool `apply_patch`: a patch in, a staged preview out.

use std::sync::Arc;

use serde_json::Value;
use xd_resolve::{BoxFuture, Tier, ToolResult};
use xd_write::{
    ArgumentCheck, ArgumentSchema, Concurrency, Tool, ToolContext, ToolDefinition, ToolFailure,
};

use crate::arguments::{Tolerant, patch_example, patch_of, patch_schema};
use crate::limits::Limits;
use crate::patches::{PatchError, propose_patch};
use crate::staging::{Tried, misread, run};

/// The tool's name.
pub(crate) const NAME: &str = "apply_patch";

/// Patches for an agent: it stages, it never writes.
#[derive(Debug, Clone)]
pub struct ApplyPatchTool {
    definition: ToolDefinition,
    limits: Limits,
}

impl Default for ApplyPatchTool {
    /// The tool with the usual limits.
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl ApplyPatchTool {
    /// The tool with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { definition: ToolDefinition::new(NAME, DESCRIPTION, patch_schema()), limits }
    }
}

impl Tool for ApplyPatchTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn tier(&self, _: &Value) -> Option<Tier> {
        Some(Tier::Write)
    }

    fn declared_tier(&self) -> Option<Tier> {
        Some(Tier::Write)
    }

    fn argument_check(&self) -> Option<Arc<dyn ArgumentCheck>> {
        let schema = ArgumentSchema::compile(&self.definition.input_schema).ok()?;
        let reads = |arguments: &Value| patch_of(arguments).is_ok();
        Some(Arc::new(Tolerant { schema, reads, example: patch_example }))
    }

    /// It only stages, so calls of one batch may look side by side.
    fn concurrency(&self) -> Concurrency {
        Concurrency::Shared
    }

    fn only_stages(&self) -> bool {
        true
    }

    fn call(
        &self,
        context: Arc<ToolContext>,
        arguments: Value,
    ) -> BoxFuture<'_, Result<ToolResult, ToolFailure>> {
        let limits = self.limits;
        Box::pin(async move {
            let patch = match patch_of(&arguments) {
                Ok(patch) => patch,
                Err(fault) => return Ok(misread(NAME, &fault, &patch_example())),
            };
            run(context, NAME, move |context, control| {
                match propose_patch(context.workspace().root(), patch.as_bytes(), &limits, control)
                {
                    Ok(proposal) => Tried::Proposal(Box::new(proposal)),
                    Err(PatchError::Cancelled) => Tried::Cancelled,
                    Err(error) => Tried::Refused(error.to_string()),
                }
            })
            .await
        })
    }
}

/// What the model reads; the first line is the summary.
const DESCRIPTION: &str = "Applies a patch to files; the result is a preview, no file is changed.\n\
    patch is a unified diff (diff -u or git diff: --- a/PATH, +++ b/PATH, @@ -LINE,COUNT \
    +LINE,COUNT @@; /dev/null for a new or deleted file), or the form between *** Begin Patch and \
    *** End Patch (*** Add File, *** Update File, *** Move to, *** Delete File, @@ lines). Every \
    line that stays or goes must be in the file exactly; a hunk may stand at another line than it \
    says where that is the only place. All hunks are staged, or none.";
