//! Custom tools: name, description, schema, execute; and what they push (`CONTRACT D15`).

use std::{
    fmt,
    future::Future,
    ops::Deref,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::Value;
use xd_protocol::notice;
use xd_resolve::{
    ApplyError, BoxFuture, Effect, PendingAction, StageError, StageRequest, Staged, Tier,
    ToolResult,
};

use crate::{Concurrency, Tool, ToolContext, ToolDefinition, ToolFailure};

/// A tool written against the custom-tool interface of the earlier form.
///
/// It works unchanged with either form of confirming: what it pushes lands on the one stack.
pub trait CustomTool: Send + Sync {
    /// Its name.
    fn name(&self) -> &str;

    /// What it does, for the model.
    fn description(&self) -> &str;

    /// The JSON Schema of its arguments.
    fn parameters(&self) -> Value;

    /// How far a call itself reaches; what it pushes is confirmed anyway. [`Tier::Write`] where this
    /// is not overridden.
    fn tier(&self, arguments: &Value) -> Option<Tier> {
        let _ = arguments;
        Some(Tier::Write)
    }

    /// Whether it changes nothing by itself: it only pushes
    /// ([`Tool::only_stages`](crate::Tool::only_stages)).
    fn only_stages(&self) -> bool {
        false
    }

    /// Runs a call.
    ///
    /// # Errors
    /// [`ToolFailure`].
    ///
    /// # Cancel safety
    /// The future may be dropped at any await.
    fn execute(
        &self,
        context: CustomContext,
        arguments: Value,
    ) -> BoxFuture<'_, Result<ToolResult, ToolFailure>>;
}

/// What a custom tool's call may reach: all of a [`ToolContext`], and
/// [`push_pending_action`](Self::push_pending_action).
#[derive(Debug, Clone)]
pub struct CustomContext {
    context: Arc<ToolContext>,
    pushed: Arc<Mutex<Vec<Staged>>>,
}

impl CustomContext {
    /// Stages `action` on the session's stack. The result of the call gets the notice of a staged
    /// preview put before it where it does not begin with one already (`CONTRACT S4`).
    ///
    /// # Errors
    /// [`StageError`]; nothing is staged.
    ///
    /// # Cancel safety
    /// Dropped while it waits for the calls before this one, nothing is staged.
    pub async fn push_pending_action(
        &self,
        action: impl Into<PendingAction>,
    ) -> Result<Staged, StageError> {
        let staged = self.context.push_pending_action(action.into()).await?;
        self.pushed.lock().unwrap_or_else(PoisonError::into_inner).push(staged.clone());
        Ok(staged)
    }
}

impl Deref for CustomContext {
    type Target = ToolContext;

    fn deref(&self) -> &ToolContext {
        &self.context
    }
}

type Apply =
    Arc<dyn Fn(Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>> + Send + Sync>;
type Reject = Arc<
    dyn Fn(Arc<str>) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>> + Send + Sync,
>;

/// A pending action as custom tools write it: `{label, source_tool_name, apply, reject, details}`.
#[derive(Clone)]
pub struct CustomAction {
    label: String,
    source_tool_name: Option<String>,
    apply: Apply,
    reject: Option<Reject>,
    details: Option<Value>,
}

impl CustomAction {
    /// An action called `label` that `apply` carries out with the reason given.
    pub fn new<F, Fut>(label: impl Into<String>, apply: F) -> Self
    where
        F: Fn(Arc<str>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolResult, ApplyError>> + Send + 'static,
    {
        let apply: Apply = Arc::new(move |reason| Box::pin(apply(reason)));
        Self { label: label.into(), source_tool_name: None, apply, reject: None, details: None }
    }

    /// Names the tool that pushes; `custom_tool` where this is not called.
    #[must_use]
    pub fn source_tool_name(mut self, name: impl Into<String>) -> Self {
        self.source_tool_name = Some(name.into());
        self
    }

    /// Sets what a discard does. A result takes the place of the usual text.
    #[must_use]
    pub fn reject<F, Fut>(mut self, reject: F) -> Self
    where
        F: Fn(Arc<str>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Option<ToolResult>, ApplyError>> + Send + 'static,
    {
        self.reject = Some(Arc::new(move |reason| Box::pin(reject(reason))));
        self
    }

    /// Attaches details.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}

impl Effect for CustomAction {
    fn apply(&self, reason: Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>> {
        (self.apply)(reason)
    }

    fn reject(
        &self,
        reason: Arc<str>,
    ) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>> {
        match &self.reject {
            Some(reject) => reject(reason),
            None => Box::pin(std::future::ready(Ok(None))),
        }
    }
}

impl From<CustomAction> for StageRequest {
    fn from(action: CustomAction) -> Self {
        let (label, details) = (action.label.clone(), action.details.clone());
        let name = action.source_tool_name.clone();
        let mut request = Self::with_effect(label, Arc::new(action));
        if let Some(name) = name {
            request = request.source_tool(name);
        }
        match details {
            Some(details) => request.details(details),
            None => request,
        }
    }
}

impl fmt::Debug for CustomAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CustomAction")
            .field("label", &self.label)
            .field("source_tool_name", &self.source_tool_name)
            .finish_non_exhaustive()
    }
}

/// A [`CustomTool`] as a [`Tool`], to be added to a host or mounted as a device.
pub struct Custom<T> {
    definition: ToolDefinition,
    tool: T,
}

impl<T: CustomTool> Custom<T> {
    /// Wraps `tool`. What it says of itself is asked once.
    pub fn new(tool: T) -> Self {
        let definition = ToolDefinition::new(tool.name(), tool.description(), tool.parameters());
        Self { definition, tool }
    }
}

impl<T: CustomTool> Tool for Custom<T> {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    fn tier(&self, arguments: &Value) -> Option<Tier> {
        self.tool.tier(arguments)
    }

    fn concurrency(&self) -> Concurrency {
        if self.tool.only_stages() { Concurrency::Shared } else { Concurrency::Exclusive }
    }

    fn only_stages(&self) -> bool {
        self.tool.only_stages()
    }

    fn call(
        &self,
        context: Arc<ToolContext>,
        arguments: Value,
    ) -> BoxFuture<'_, Result<ToolResult, ToolFailure>> {
        Box::pin(async move {
            let pushed = Arc::new(Mutex::new(Vec::new()));
            let custom = CustomContext { context, pushed: Arc::clone(&pushed) };
            let outcome = self.tool.execute(custom, arguments).await;
            let staged = pushed.lock().unwrap_or_else(PoisonError::into_inner).pop();
            Ok(match (outcome, staged) {
                (Ok(result), Some(staged)) => announced(result, &staged),
                (Err(ToolFailure::Failed(error)), Some(staged)) => {
                    let text = format!("{}: {error}", self.definition.name);
                    failed(ToolResult::error(text), &staged)
                }
                (outcome, _) => outcome?,
            })
        })
    }
}

/// Says of a failed call that it had pushed something.
fn failed(mut result: ToolResult, staged: &Staged) -> ToolResult {
    let n = staged.number();
    result.content.push(format!(
        "It had staged action @{n} before it failed, and that is still pending: write your reason \
         to xd://reject@{n} to discard it."
    ));
    result
}

/// The result of a call that pushed, with the notice before it (`CONTRACT S4`).
fn announced(mut result: ToolResult, staged: &Staged) -> ToolResult {
    if result.is_error {
        return failed(result, staged);
    }
    if result.content.first().is_some_and(|text| text.starts_with(notice::STAGED_HEAD)) {
        return result;
    }
    match result.content.first_mut() {
        Some(first) => *first = format!("{}\n\n{first}", staged.notice()),
        None => result.content.push(format!("{}\n\n{}", staged.notice(), staged.action().label())),
    }
    result
}

impl<T: CustomTool> fmt::Debug for Custom<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Custom").field("name", &self.definition.name).finish_non_exhaustive()
    }
}
