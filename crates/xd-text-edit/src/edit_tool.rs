//! The tool `edit`: exact old text in, a staged preview out.

use std::sync::Arc;

use serde_json::Value;
use xd_resolve::{BoxFuture, Tier, ToolResult};
use xd_write::{
    ArgumentCheck, ArgumentSchema, Concurrency, Tool, ToolContext, ToolDefinition, ToolFailure,
};

use crate::arguments::{Tolerant, edit_example, edit_schema, edits_of};
use crate::edits::{EditsError, propose_edits};
use crate::limits::Limits;
use crate::staging::{Tried, misread, run};

/// The tool's name.
pub(crate) const NAME: &str = "edit";

/// Exact edits for an agent: it stages, it never writes.
#[derive(Debug, Clone)]
pub struct TextEditTool {
    definition: ToolDefinition,
    limits: Limits,
}

impl Default for TextEditTool {
    /// The tool with the usual limits.
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl TextEditTool {
    /// The tool with these limits.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self { definition: ToolDefinition::new(NAME, DESCRIPTION, edit_schema()), limits }
    }
}

impl Tool for TextEditTool {
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
        let reads = |arguments: &Value| edits_of(arguments).is_ok();
        Some(Arc::new(Tolerant { schema, reads, example: edit_example }))
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
            let edits = match edits_of(&arguments) {
                Ok(edits) => edits,
                Err(fault) => return Ok(misread(NAME, &fault, &edit_example())),
            };
            run(context, NAME, move |context, control| {
                match propose_edits(context.workspace().root(), &edits, &limits, control) {
                    Ok(proposal) => Tried::Proposal(Box::new(proposal)),
                    Err(EditsError::Cancelled) => Tried::Cancelled,
                    Err(error) => Tried::Refused(error.to_string()),
                }
            })
            .await
        })
    }
}

/// What the model reads; the first line is the summary.
const DESCRIPTION: &str = "Replaces exact text in files; the result is a preview, no file is changed.\n\
    old_text must be in the file exactly once, character by character; add lines around it where it \
    is not unique, or set replace_all. Line ends (LF or CRLF) need not match. Several edits, also of \
    several files, go into one call: all are staged, or none. An empty old_text creates the file.";
