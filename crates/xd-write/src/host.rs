//! The tools of one agent, and how a batch of calls runs.

use std::{
    borrow::Cow,
    fmt,
    panic::AssertUnwindSafe,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use futures_util::{FutureExt, future::join_all};
use serde_json::{Value, json};
use xd_protocol::{
    Device, READ_TOOL, Selection, StageNumber, Target, WRITE_TOOL, notice, parse_xd_url,
};
use xd_resolve::{ActionState, Batch, CallOrder, PlanMode, StageError, Tier, ToolCall, ToolResult};
use xd_session::{Finalizer, PlanReviewer, SESSION_ENDED, Session};

use crate::{
    CallScope, Concurrency, DeviceEntry, DraftStore, FileWrites, HiddenResolveTool, MemoryDrafts,
    MountError, PlanRecorder, Policy, Registry, Tool, ToolContext, ToolDefinition, ToolFailure,
    Workspace, bound::confirm_in, device, nearest::nearest, planning::PlanLog, read, tier, write,
};

/// The tools of one agent over one session and one workspace.
pub struct Host {
    session: Arc<Session>,
    workspace: Workspace,
    tools: Vec<Arc<dyn Tool>>,
    registry: RwLock<Registry>,
    policy: Policy,
    drafts: Arc<dyn DraftStore>,
    plan_log: PlanLog,
    write_scope: WriteScope,
    built_in: [ToolDefinition; 2],
}

/// What the tool `write` of a host may write to. It is set once: nothing that a running session
/// does widens it (case 56).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WriteScope {
    /// Files of the workspace, drafts and devices.
    #[default]
    Files,
    /// Devices and drafts: `write` is there to run tools and to finalize, and no file is written by
    /// it. A staged action still changes the files that it names, once it is confirmed.
    DevicesOnly,
}

/// Assembles a [`Host`].
#[derive(Debug)]
pub struct HostBuilder(Host);

impl HostBuilder {
    /// Adds a tool beside `read` and `write`.
    #[must_use]
    pub fn tool(mut self, tool: impl Tool + 'static) -> Self {
        self.0.tools.push(Arc::new(tool));
        self
    }

    /// Mounts a tool as a device.
    ///
    /// # Errors
    /// [`MountError`].
    pub fn device(self, tool: impl Tool + 'static) -> Result<Self, MountError> {
        self.0
            .registry
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .mount(Arc::new(tool), "the host")?;
        Ok(self)
    }

    /// Sets who may do what without being asked.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.0.policy = policy;
        self
    }

    /// Sets where `local://` drafts are kept; without it they are kept in memory.
    #[must_use]
    pub fn drafts(mut self, drafts: Arc<dyn DraftStore>) -> Self {
        self.0.drafts = drafts;
        self
    }

    /// Installs who reviews plans, in the session: only then plan mode can be entered
    /// (`CONTRACT P3`, case 89).
    #[must_use]
    pub fn reviewer(self, reviewer: Arc<dyn PlanReviewer>) -> Self {
        self.0.session.plan().set_reviewer(reviewer);
        self
    }

    /// Sets where plan mode and the decisions on plans are written down; without it they are not
    /// (`CONTRACT L1`). A session that goes on in another process is told where it stood by
    /// [`Host::restore_plan`].
    #[must_use]
    pub fn plan_recorder(mut self, recorder: Arc<dyn PlanRecorder>) -> Self {
        self.0.plan_log = PlanLog::to(recorder);
        self
    }

    /// Sets what `write` may write to.
    #[must_use]
    pub fn writes(mut self, scope: WriteScope) -> Self {
        self.0.write_scope = scope;
        self
    }

    /// The host. What its rules deny is from now on applied by no route of the session.
    ///
    /// # Panics
    /// Where [`try_build`](Self::try_build) answers an error: for tools whose names the program
    /// itself has chosen that is a mistake in the program.
    #[must_use]
    pub fn build(self) -> Host {
        self.try_build().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same for tools whose names come from elsewhere. Over a session with the earlier form the
    /// host gets the hidden `resolve` tool, if it was not added already (`CONTRACT D15`).
    ///
    /// # Errors
    /// A tool is called `read` or `write`, two tools have one name, or a tool has the name of a
    /// device (`CONTRACT R1`).
    pub fn try_build(mut self) -> Result<Host, MountError> {
        let host = &mut self.0;
        host.built_in[1] = write::definition(host.write_scope, host.policy.file_writes());
        let finalizer = host.session.finalizer();
        if finalizer == Finalizer::HiddenTool && host.tool(finalizer.tool_name()).is_none() {
            host.tools.insert(0, Arc::new(HiddenResolveTool::new(Arc::clone(&host.session))));
        }
        let mut names: Vec<String> = Vec::with_capacity(host.tools.len());
        for name in host.tools.iter().map(|tool| &tool.definition().name) {
            if [READ_TOOL, WRITE_TOOL].contains(&name.as_str()) {
                let origin = "a tool of the host".to_owned();
                return Err(MountError::BuiltIn { name: name.clone(), origin });
            }
            if names.contains(name) {
                return Err(MountError::TwoTools { name: name.clone() });
            }
            names.push(name.clone());
        }
        host.registry.get_mut().unwrap_or_else(PoisonError::into_inner).set_tools(names)?;
        let rules = host.policy.rules();
        if !rules.denies_nothing() {
            host.session.add_guard(Arc::new(rules.clone()));
        }
        Ok(self.0)
    }
}

impl Host {
    /// Begins a host with the tools `read` and `write`.
    #[must_use]
    pub fn builder(session: Arc<Session>, workspace: Workspace) -> HostBuilder {
        HostBuilder(Self {
            session,
            workspace,
            tools: Vec::new(),
            registry: RwLock::new(Registry::new()),
            policy: Policy::default(),
            drafts: Arc::new(MemoryDrafts::new()),
            plan_log: PlanLog::default(),
            write_scope: WriteScope::default(),
            built_in: [
                read::definition(),
                write::definition(WriteScope::default(), FileWrites::default()),
            ],
        })
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Arc<Session> {
        &self.session
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Where `local://` drafts are kept.
    #[must_use]
    pub fn drafts(&self) -> &Arc<dyn DraftStore> {
        &self.drafts
    }

    pub(crate) fn plan_log(&self) -> &PlanLog {
        &self.plan_log
    }

    /// Who may do what without being asked.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The definitions of all tools, in an order that never changes: `read`, `write`, the others
    /// as they were added.
    #[must_use]
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let others = self.tools.iter().map(|tool| tool.definition());
        self.built_in.iter().chain(others).cloned().collect()
    }

    /// Changes the mounted devices.
    ///
    /// # Errors
    /// Whatever `change` answers.
    pub fn with_registry<R>(&self, change: impl FnOnce(&mut Registry) -> R) -> R {
        change(&mut self.registry.write().unwrap_or_else(PoisonError::into_inner))
    }

    /// Every mounted device as data (case 44).
    #[must_use]
    pub fn inventory(&self) -> Vec<DeviceEntry> {
        self.registry().inventory()
    }

    /// What `write` may write to.
    #[must_use]
    pub fn write_scope(&self) -> WriteScope {
        self.write_scope
    }

    /// How far a call reaches (`CONTRACT W6`), were it made in a batch that begins now.
    #[must_use]
    pub fn tier(&self, call: &ToolCall) -> Tier {
        let head = self.session.actions().begin_batch().head();
        tier::of_call(self, call, head)
    }

    /// Runs a batch of calls and answers one result for each, in call order (**Invariant W1**).
    /// Once the session that they were made in has ended, none of them starts (`CONTRACT D13`).
    ///
    /// Calls of shared tools run beside each other, others alone, all in call order. Bare confirms
    /// mean the head at the batch's begin.
    ///
    /// # Cancel safety
    /// Dropped, calls that have not started do not start, and an apply that has started ends and
    /// is recorded. Through `scope.cancel` the same happens and every call still gets its result.
    pub async fn run_batch(&self, calls: &[ToolCall], scope: &CallScope) -> Vec<ToolResult> {
        let begin = BatchBegin {
            // Read before the batch: plan mode that ends between the two holds for it as well.
            plan_mode: self.session.plan_mode(),
            batch: Arc::new(self.session.actions().begin_batch()),
        };
        self.session.begin_batch_of_calls();
        let mut waiting = calls.iter().zip(CallOrder::slots(calls.len())).peekable();
        let mut results = Vec::with_capacity(calls.len());
        while let Some((call, slot)) = waiting.next() {
            let mut group = vec![self.run_one(call, slot, &begin, scope)];
            if self.concurrency(call) == Concurrency::Shared {
                while let Some((call, slot)) =
                    waiting.next_if(|(call, _)| self.concurrency(call) == Concurrency::Shared)
                {
                    group.push(self.run_one(call, slot, &begin, scope));
                }
            }
            results.extend(join_all(group).await);
        }
        results
    }

    async fn run_one(
        &self,
        call: &ToolCall,
        slot: xd_resolve::CallSlot,
        begin: &BatchBegin,
        scope: &CallScope,
    ) -> ToolResult {
        let context = Arc::new(ToolContext {
            session: Arc::clone(&self.session),
            workspace: self.workspace.clone(),
            batch: Arc::clone(&begin.batch),
            plan_mode: begin.plan_mode,
            slot,
            call_id: call.id.clone(),
            scope: scope.clone(),
        });
        if scope.cancel.is_cancelled() {
            context.slot.end();
            return aborted();
        }
        let run = AssertUnwindSafe(self.execute(call, Arc::clone(&context))).catch_unwind();
        let result = tokio::select! {
            // What is already done is an answer, also where the cancellation came with it.
            biased;
            result = run => result.unwrap_or_else(|_| {
                ToolResult::error(format!("The tool `{}` failed: it panicked. Nothing else was affected.", call.name))
            }),
            () = scope.cancel.cancelled() => self.aborted(call, begin.batch.head()),
        };
        context.slot.end();
        result
    }

    async fn execute(&self, call: &ToolCall, context: Arc<ToolContext>) -> ToolResult {
        let late = || ToolResult::error(SESSION_ENDED);
        if context.is_late() {
            return late();
        }
        // What can run nothing needs no approval, and its own answer says more than a refusal.
        let bound = match self.bind(call, &context) {
            Ok(bound) => bound,
            Err(answer) => return answer,
        };
        if let Err(refusal) = self.permit(call, &bound, &context).await {
            return self.refused(call, refusal);
        }
        // A person who was asked may have taken their time.
        if context.is_late() {
            return late();
        }
        if let Some(device) = bound.device {
            return device::run(self, &context, device).await;
        }
        let routed = {
            let registry = self.registry();
            self.route(call, &registry).map(|(device, body)| (device, body.into_owned()))
        };
        if let Some((device, body)) = routed {
            return device::write(self, &context, device, &body).await;
        }
        match call.name.as_str() {
            READ_TOOL => read::read(self, &call.arguments),
            WRITE_TOOL => write::write(self, &context, &call.arguments).await,
            name => match self.tool(name) {
                Some(tool) => {
                    let call = tool.call(Arc::clone(&context), call.arguments.clone());
                    let mut result = outcome(name, call.await);
                    if let Some(applied) = bound.applies.filter(|_| !result.is_error) {
                        result.content.extend(device::stale_since(self, applied.number()));
                    }
                    result
                }
                None => self.unknown_tool(name),
            },
        }
    }

    /// The result of a call that nobody waits for any more. An apply or discard that had begun goes
    /// on, and the result says so (`CONTRACT D12`).
    fn aborted(&self, call: &ToolCall, head: Option<StageNumber>) -> ToolResult {
        let number = confirm_in(self, call).and_then(|confirm| match confirm.selection {
            Selection::Head => head,
            Selection::Numbered(number) => Some(number),
        });
        let state = number.and_then(|n| Some((n, self.session.actions().get(n)?.1)));
        match state {
            Some((n, ActionState::Taken(_) | ActionState::Applied | ActionState::Discarded)) => {
                ToolResult::error(format!(
                    "Aborted: nobody waits for staged action @{n} any more, but what had begun \
                     ends all the same. Read xd://resolve@{n} for what became of it."
                ))
                .with_details(json!({ "aborted": true }))
            }
            Some((_, ActionState::Pending | ActionState::Void | ActionState::Withdrawn)) | None => {
                aborted()
            }
        }
    }

    /// The device that a call's very name means, with the body for it (`CONTRACT U11`).
    pub(crate) fn route<'c>(
        &self,
        call: &'c ToolCall,
        registry: &Registry,
    ) -> Option<(Device<'c>, Cow<'c, Value>)> {
        if let Some(Target::Device(device)) = parse_xd_url(&call.name) {
            let keyed = ["content", "reason"].iter().find_map(|key| call.arguments.get(key));
            let body = match &call.arguments {
                // What a text alone is for is plain (`CONTRACT R3`).
                Value::String(_) => Some(&call.arguments),
                Value::Null
                | Value::Bool(_)
                | Value::Number(_)
                | Value::Array(_)
                | Value::Object(_) => keyed,
            };
            let body = match (device, body) {
                (Device::Resolve(_) | Device::Reject(_) | Device::Propose, Some(body)) => body,
                (Device::Resolve(_) | Device::Reject(_) | Device::Propose, None) => &Value::Null,
                (Device::Tool(_), _) => &call.arguments,
            };
            return Some((device, Cow::Borrowed(body)));
        }
        let is_tool = [READ_TOOL, WRITE_TOOL].contains(&call.name.as_str())
            || self.tool(&call.name).is_some();
        if is_tool || registry.get(&call.name).is_none() {
            return None;
        }
        let name = xd_protocol::DeviceName::new(&call.name).ok()?;
        Some((Device::Tool(name), Cow::Borrowed(&call.arguments)))
    }

    pub(crate) fn registry(&self) -> RwLockReadGuard<'_, Registry> {
        self.registry.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.definition().name == name)
    }

    fn concurrency(&self, call: &ToolCall) -> Concurrency {
        match (call.name.as_str(), self.tool(&call.name)) {
            (READ_TOOL, _) => Concurrency::Shared,
            (_, Some(tool)) => tool.concurrency(),
            (_, None) => Concurrency::Exclusive,
        }
    }

    pub(crate) fn unknown_tool(&self, name: &str) -> ToolResult {
        let names: Vec<String> = self.definitions().into_iter().map(|d| d.name).collect();
        let offer = match nearest(name, names.iter().map(String::as_str)) {
            Some(near) => format!(" Did you mean `{near}`?"),
            None => String::new(),
        };
        ToolResult::error(format!(
            "Unknown tool `{}`.{offer} Tools: {}. Devices: read xd://.",
            xd_protocol::Visible(name),
            names.join(", ")
        ))
    }
}

/// What a batch found when it began; it holds for all of its calls.
struct BatchBegin {
    batch: Arc<Batch>,
    /// Whether plan mode was on: a model that ends it within a batch has not heard so yet.
    plan_mode: PlanMode,
}

/// The result of a call that was aborted.
pub(crate) fn aborted() -> ToolResult {
    ToolResult::error("Aborted: the call did not finish.").with_details(json!({ "aborted": true }))
}

/// The result of a tool's call, whatever came of it.
pub(crate) fn outcome(name: &str, outcome: Result<ToolResult, ToolFailure>) -> ToolResult {
    match outcome {
        Ok(result) => result,
        // What would change nothing is no failure (`CONTRACT S6`).
        Err(ToolFailure::Failed(error))
            if matches!(error.downcast_ref(), Some(StageError::NothingToStage)) =>
        {
            ToolResult::text(notice::NO_REPLACEMENTS)
        }
        Err(ToolFailure::Failed(error)) => ToolResult::error(format!("{name}: {error}")),
        Err(ToolFailure::Aborted) => aborted(),
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<String> = self.definitions().into_iter().map(|d| d.name).collect();
        f.debug_struct("Host")
            .field("tools", &tools)
            .field("devices", &*self.registry())
            .finish_non_exhaustive()
    }
}
