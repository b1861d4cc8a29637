//! What a tool is: a definition, a tier, a call.

use std::{error::Error, fmt, future::Future, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use xd_resolve::{BoxFuture, HiddenResolve, Tier, ToolResult};

use crate::{ArgumentCheck, ToolContext};

/// How a tool is offered to a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What it does, for the model. The first line is its summary.
    pub description: String,
    /// The JSON Schema of its arguments, an object schema.
    pub input_schema: Value,
}

impl ToolDefinition {
    /// A definition.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: Value,
    ) -> Self {
        Self { name: name.into(), description: description.into(), input_schema }
    }

    /// The first line of the description.
    #[must_use]
    pub fn summary(&self) -> &str {
        self.description.lines().next().unwrap_or_default()
    }
}

/// Whether calls of a tool may run beside others of the same batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concurrency {
    /// It changes nothing that another call could see; staging counts as nothing.
    Shared,
    /// It runs alone, in call order.
    Exclusive,
}

/// A tool of an agent, or the tool behind a device.
pub trait Tool: Send + Sync {
    /// How it is offered.
    fn definition(&self) -> &ToolDefinition;

    /// How far a call with these arguments reaches; none where it cannot say, which counts as the
    /// farthest (`CONTRACT W6`).
    fn tier(&self, arguments: &Value) -> Option<Tier>;

    /// The tier that all its calls have, for inventories; none where it depends on the arguments or
    /// nobody said. Approval asks [`tier`](Self::tier).
    fn declared_tier(&self) -> Option<Tier> {
        None
    }

    /// What checks its arguments where it is mounted as a device; none for the check that is built
    /// in ([`ArgumentSchema`](crate::ArgumentSchema)). It takes the place of that one: a schema
    /// with keywords that the built-in check refuses is then mounted all the same.
    fn argument_check(&self) -> Option<Arc<dyn ArgumentCheck>> {
        None
    }

    /// Whether it may run beside others. A tool that only stages is shared.
    fn concurrency(&self) -> Concurrency {
        Concurrency::Exclusive
    }

    /// Whether all that its calls do to the working tree is to stage: then they run in plan mode
    /// too, where what they stage waits until it ends (`CONTRACT W7`).
    fn only_stages(&self) -> bool {
        false
    }

    /// Whether a call decides on the head of the staged actions: then what it decides and why, or
    /// the answer to a malformed one. Approval shows the action that it would apply
    /// (`CONTRACT W6`). None for every tool that does not confirm.
    fn confirms(&self, arguments: &Value) -> Option<Result<HiddenResolve, ToolResult>> {
        let _ = arguments;
        None
    }

    /// Runs a call.
    ///
    /// # Errors
    /// [`ToolFailure`]. A failure that the tool can put into words is better returned as a result
    /// with `is_error`.
    ///
    /// # Cancel safety
    /// The future may be dropped at any await. What must not stop half-way belongs into a staged
    /// action's apply.
    fn call(
        &self,
        context: Arc<ToolContext>,
        arguments: Value,
    ) -> BoxFuture<'_, Result<ToolResult, ToolFailure>>;
}

/// Why a call has no result of its own.
#[derive(Debug)]
pub enum ToolFailure {
    /// It failed.
    Failed(Box<dyn Error + Send + Sync>),
    /// It was aborted (`CONTRACT R6`).
    Aborted,
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for ToolFailure {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// A tool made of a definition and a closure.
pub struct FnTool<F> {
    definition: ToolDefinition,
    tier: Tier,
    concurrency: Concurrency,
    only_stages: bool,
    call: F,
}

impl<F, Fut> FnTool<F>
where
    F: Fn(Arc<ToolContext>, Value) -> Fut + Send + Sync,
    Fut: Future<Output = Result<ToolResult, ToolFailure>> + Send + 'static,
{
    /// A tool of `tier` that runs alone.
    pub fn new(definition: ToolDefinition, tier: Tier, call: F) -> Self {
        Self { definition, tier, concurrency: Concurrency::Exclusive, only_stages: false, call }
    }

    /// Lets it run beside others: it looks, or it stages.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.concurrency = Concurrency::Shared;
        self
    }

    /// Declares that all it does to the working tree is to stage
    /// ([`Tool::only_stages`]).
    #[must_use]
    pub fn staging(mut self) -> Self {
        self.only_stages = true;
        self
    }
}

impl<F, Fut> Tool for FnTool<F>
where
    F: Fn(Arc<ToolContext>, Value) -> Fut + Send + Sync,
    Fut: Future<Output = Result<ToolResult, ToolFailure>> + Send + 'static,
{
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn tier(&self, _: &Value) -> Option<Tier> {
        Some(self.tier)
    }

    fn declared_tier(&self) -> Option<Tier> {
        Some(self.tier)
    }

    fn concurrency(&self) -> Concurrency {
        self.concurrency
    }

    fn only_stages(&self) -> bool {
        self.only_stages
    }

    fn call(
        &self,
        context: Arc<ToolContext>,
        arguments: Value,
    ) -> BoxFuture<'_, Result<ToolResult, ToolFailure>> {
        Box::pin((self.call)(context, arguments))
    }
}

impl<F> fmt::Debug for FnTool<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FnTool").field("name", &self.definition.name).finish_non_exhaustive()
    }
}
