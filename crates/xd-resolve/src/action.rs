//! What a producer stages, and what it becomes.

use std::{borrow::Cow, error::Error, fmt, future::Future, pin::Pin, sync::Arc};

use serde_json::Value;
use xd_changeset::ChangeSet;
use xd_protocol::{StageNumber, Verdict};

use crate::{Tier, ToolResult};

/// A boxed future that may move between threads.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a staged action does once somebody has decided.
///
/// A failed apply leaves the action pending, so either method may run again.
pub trait Effect: Send + Sync {
    /// Carries the action out. A returned result whose `is_error` is set counts as a failed apply
    /// (`CONTRACT D10`).
    ///
    /// # Cancel safety
    /// The future is never dropped half-way: where the caller goes away it is handed to
    /// [`Detach`](crate::Detach) and runs to its end.
    fn apply(&self, reason: Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>>;

    /// Tells the producer that its action was discarded. A result replaces the usual
    /// `Discarded: …` text (`CONTRACT D7`); an error keeps the action pending.
    fn reject(
        &self,
        reason: Arc<str>,
    ) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>> {
        drop(reason);
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// Why an effect failed.
#[derive(Debug)]
pub enum ApplyError {
    /// A tool error, which the model reads unchanged (`CONTRACT D9`).
    Tool(ToolResult),
    /// Anything else; the model reads `Apply failed: <message>`.
    Other(Box<dyn Error + Send + Sync>),
}

impl ApplyError {
    /// A tool error of one text block.
    pub fn tool(text: impl Into<String>) -> Self {
        Self::Tool(ToolResult::error(text))
    }
}

impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for ApplyError {
    fn from(error: E) -> Self {
        Self::Other(error.into())
    }
}

/// What a producer hands in: everything of a staged action but its number.
pub struct StageRequest {
    pub(crate) label: String,
    pub(crate) source_tool_name: Cow<'static, str>,
    pub(crate) details: Option<Box<Value>>,
    pub(crate) change_set: Option<Arc<ChangeSet>>,
    pub(crate) preview: Option<PreviewSource>,
    pub(crate) tier: Tier,
    pub(crate) lineage: Option<Lineage>,
    pub(crate) remainder: Option<Box<Remainder>>,
    pub(crate) effect: Arc<dyn Effect>,
}

/// Which earlier action of the session a staged one comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lineage {
    /// It takes back what that one wrote (`CONTRACT F6`). To take back such a one is to redo.
    Undoes(StageNumber),
    /// It is that one made anew against the present files (`CONTRACT F7`).
    Supersedes(StageNumber),
    /// It is a part of that one, decided for itself; the other parts stay pending there.
    PartOf(StageNumber),
}

/// What is left of a pending action once a part of it is decided.
#[derive(Debug)]
pub struct Remainder {
    pub(crate) whole: Arc<StagedAction>,
    pub(crate) rest: Arc<StagedAction>,
    pub(crate) verdict: Verdict,
}

impl Remainder {
    /// The action that the part was taken from, as it was then.
    #[must_use]
    pub fn whole(&self) -> &Arc<StagedAction> {
        &self.whole
    }

    /// What stands under its number once the part is decided so.
    #[must_use]
    pub fn rest(&self) -> &Arc<StagedAction> {
        &self.rest
    }

    /// The decision on the part that the rest is for.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }
}

impl StageRequest {
    /// An action called `label` (`AST Edit: 2 replacements in 1 file`) that `apply` carries out.
    pub fn new<F, Fut>(label: impl Into<String>, apply: F) -> Self
    where
        F: Fn(Arc<str>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolResult, ApplyError>> + Send + 'static,
    {
        Self::with_effect(label, Arc::new(Closures { apply, reject: () }))
    }

    /// An action whose apply and reject are closures both.
    pub fn with_reject<F, Fut, G, GFut>(label: impl Into<String>, apply: F, reject: G) -> Self
    where
        F: Fn(Arc<str>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ToolResult, ApplyError>> + Send + 'static,
        G: Fn(Arc<str>) -> GFut + Send + Sync + 'static,
        GFut: Future<Output = Result<Option<ToolResult>, ApplyError>> + Send + 'static,
    {
        Self::with_effect(label, Arc::new(Closures { apply, reject: Rejecting(reject) }))
    }

    /// An action with an effect of the producer's own type.
    pub fn with_effect(label: impl Into<String>, effect: Arc<dyn Effect>) -> Self {
        Self {
            label: label.into(),
            source_tool_name: Cow::Borrowed("custom_tool"),
            details: None,
            change_set: None,
            preview: None,
            tier: Tier::Write,
            lineage: None,
            remainder: None,
            effect,
        }
    }

    /// Names the tool that stages; `custom_tool` where this is not called.
    #[must_use]
    pub fn source_tool(mut self, name: impl Into<String>) -> Self {
        self.source_tool_name = Cow::Owned(name.into());
        self
    }

    /// Attaches the producer's details.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(Box::new(details));
        self
    }

    /// Attaches the change set that the effect commits. It makes the action reviewable, durable
    /// and undoable.
    #[must_use]
    pub fn change_set(mut self, change_set: Arc<ChangeSet>) -> Self {
        self.change_set = Some(change_set);
        self
    }

    /// Sets the whole preview, for `read xd://resolve@<n>`. Where none is set, that of the change
    /// set serves.
    #[must_use]
    pub fn preview(mut self, preview: impl Into<Arc<str>>) -> Self {
        let preview = preview.into();
        self.preview = Some(PreviewSource(Arc::new(move || preview.to_string())));
        self
    }

    /// Sets where the whole preview comes from when somebody asks, for one that is large or kept
    /// elsewhere. `source` says in the text where it cannot be had.
    #[must_use]
    pub fn preview_from(mut self, source: impl Fn() -> String + Send + Sync + 'static) -> Self {
        self.preview = Some(PreviewSource(Arc::new(source)));
        self
    }

    /// Sets how far the apply reaches; [`Tier::Write`] where this is not called. One with a change
    /// set changes files, whatever is said here: it reaches at least as far as [`Tier::Write`]
    /// (`CONTRACT W7`).
    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Self {
        self.tier = tier;
        self
    }

    /// Says which earlier action this one comes from.
    #[must_use]
    pub fn lineage(mut self, lineage: Lineage) -> Self {
        self.lineage = Some(lineage);
        self
    }

    /// Makes it a part of the pending action `whole`: once it is decided by `verdict`, what is
    /// pending under the number of `whole` is `rest` (**Invariant R7**). While the part is being
    /// decided, so is the whole.
    #[must_use]
    pub fn part_of(
        mut self,
        whole: Arc<StagedAction>,
        verdict: Verdict,
        rest: StageRequest,
    ) -> Self {
        let number = whole.number();
        let rest = Arc::new(rest.into_action(number));
        self.lineage = Some(Lineage::PartOf(number));
        self.remainder = Some(Box::new(Remainder { whole, rest, verdict }));
        self
    }

    pub(crate) fn into_action(self, number: StageNumber) -> StagedAction {
        // Not left to the producer's word: by this the guards and the person go.
        let tier = match &self.change_set {
            Some(_) => self.tier.max(Tier::Write),
            None => self.tier,
        };
        StagedAction {
            number,
            label: self.label,
            source_tool_name: self.source_tool_name,
            details: self.details,
            change_set: self.change_set,
            preview: self.preview,
            tier,
            lineage: self.lineage,
            remainder: self.remainder,
            effect: self.effect,
        }
    }
}

impl fmt::Debug for StageRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StageRequest")
            .field("label", &self.label)
            .field("source_tool_name", &self.source_tool_name)
            .field("tier", &self.tier)
            .finish_non_exhaustive()
    }
}

/// A proposed change with its preview, waiting to be resolved or already decided.
pub struct StagedAction {
    number: StageNumber,
    label: String,
    source_tool_name: Cow<'static, str>,
    // Boxed: most actions have none, and decided ones are kept for the life of the session.
    details: Option<Box<Value>>,
    change_set: Option<Arc<ChangeSet>>,
    preview: Option<PreviewSource>,
    tier: Tier,
    lineage: Option<Lineage>,
    remainder: Option<Box<Remainder>>,
    effect: Arc<dyn Effect>,
}

impl StagedAction {
    /// Its number (`CONTRACT S1`).
    #[must_use]
    pub fn number(&self) -> StageNumber {
        self.number
    }

    /// Its id: `pending-action:<source_tool_name>:<number>`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("pending-action:{}:{}", self.source_tool_name, self.number)
    }

    /// What it is called: `AST Edit: 2 replacements in 1 file`.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The tool that staged it.
    #[must_use]
    pub fn source_tool_name(&self) -> &str {
        &self.source_tool_name
    }

    /// The producer's details.
    #[must_use]
    pub fn details(&self) -> Option<&Value> {
        self.details.as_deref()
    }

    /// The change set that it would commit, where it has one.
    #[must_use]
    pub fn change_set(&self) -> Option<&Arc<ChangeSet>> {
        self.change_set.as_ref()
    }

    /// How far its apply reaches (`CONTRACT W6`).
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.tier
    }

    /// The earlier action that it comes from, where it comes from one.
    #[must_use]
    pub fn lineage(&self) -> Option<Lineage> {
        self.lineage
    }

    /// Of a part of another action: what becomes of that one.
    #[must_use]
    pub fn remainder(&self) -> Option<&Remainder> {
        self.remainder.as_deref()
    }

    /// The whole preview: what the producer set, else the change set as a unified diff, else the
    /// label.
    #[must_use]
    pub fn preview(&self) -> String {
        match (&self.preview, &self.change_set) {
            (Some(source), _) => (source.0)(),
            (None, Some(change_set)) => change_set.unified(CONTEXT_LINES),
            (None, None) => self.label.clone(),
        }
    }

    pub(crate) fn effect(&self) -> &Arc<dyn Effect> {
        &self.effect
    }
}

impl fmt::Debug for StagedAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StagedAction")
            .field("id", &self.id())
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

/// How many unchanged lines a diff shows around a change.
const CONTEXT_LINES: usize = 3;

/// Where a whole preview comes from.
#[derive(Clone)]
pub(crate) struct PreviewSource(Arc<dyn Fn() -> String + Send + Sync>);

struct Closures<F, G> {
    apply: F,
    reject: G,
}

struct Rejecting<G>(G);

/// The reject half of [`Closures`]: nothing, or a closure.
trait RejectHalf: Send + Sync {
    fn call(&self, reason: Arc<str>) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>>;
}

impl RejectHalf for () {
    fn call(&self, _: Arc<str>) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

impl<G, Fut> RejectHalf for Rejecting<G>
where
    G: Fn(Arc<str>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<Option<ToolResult>, ApplyError>> + Send + 'static,
{
    fn call(&self, reason: Arc<str>) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>> {
        Box::pin((self.0)(reason))
    }
}

impl<F, Fut, G> Effect for Closures<F, G>
where
    F: Fn(Arc<str>) -> Fut + Send + Sync,
    Fut: Future<Output = Result<ToolResult, ApplyError>> + Send + 'static,
    G: RejectHalf,
{
    fn apply(&self, reason: Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>> {
        Box::pin((self.apply)(reason))
    }

    fn reject(
        &self,
        reason: Arc<str>,
    ) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>> {
        self.reject.call(reason)
    }
}
