//! One session: what is staged in it, what it asks of its turns, when it ends.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use xd_prompts::Prompts;
use xd_protocol::{Confirm, Reason, Selection, StageNumber};
use xd_resolve::{
    ActionState, ActionStore, Batch, Decider, Form, Guard, PlanMode, StagedAction, StagingSession,
    Tier, ToolCall, ToolResult, Wording, dispatch_result,
};

use crate::{
    Asking, Boundary, Budget, CallKind, Capabilities, Directive, Finalizer, Forcing, Gate,
    Judgement, Opening, PlanNotice, PlanState, RejectReason, Repeat, SoftRequirement, Thinking,
    ToolChoice, ToolChoiceQueue, TurnEnd, TurnPlan, TurnRequest, guards::Guards,
};

/// The result of a call whose session has ended before it ran (`CONTRACT D13`).
pub const SESSION_ENDED: &str = "Not executed: the session that this call was meant for has ended. \
                                 Nothing was done in the one that is open now.";

/// One session. Shared behind an [`Arc`] by the agent loop and the tools.
#[derive(Debug)]
pub struct Session {
    actions: Arc<ActionStore>,
    plan: PlanState,
    guards: Arc<Guards>,
    prompts: Prompts,
    finalizer: Finalizer,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    queue: ToolChoiceQueue,
    gate: Gate,
    hard_turn: bool,
    /// The tools of the last request; none before the first, when nothing speaks against staging.
    tools: Option<Vec<String>>,
    /// What a person has allowed for the rest of the session, by the name of what it reaches.
    grants: BTreeSet<String>,
}

impl Default for Session {
    fn default() -> Self {
        Self::new()
    }
}

impl Session {
    /// A session over a store of its own, with the built-in prompts.
    #[must_use]
    pub fn new() -> Self {
        Self::with_store(|store| store)
    }

    /// A session whose store `configure` equips with a recorder or a detacher. The session sets
    /// the store's guard: plan mode holds on every route, and so does what
    /// [`add_guard`](Self::add_guard) adds.
    #[must_use]
    pub fn with_store(configure: impl FnOnce(ActionStore) -> ActionStore) -> Self {
        let plan = PlanState::default();
        let guards = Arc::new(Guards::new(plan.clone()));
        let guard: Arc<dyn Guard> = Arc::<Guards>::clone(&guards);
        let store = configure(ActionStore::new()).with_guard(guard);
        let state = State {
            queue: ToolChoiceQueue::new(),
            gate: Gate::new(),
            hard_turn: false,
            tools: None,
            grants: BTreeSet::new(),
        };
        Self {
            actions: Arc::new(store),
            plan,
            guards,
            prompts: Prompts::builtin(),
            finalizer: Finalizer::Write,
            state: Mutex::new(state),
        }
    }

    /// Replaces the prompts.
    #[must_use]
    pub fn with_prompts(mut self, prompts: Prompts) -> Self {
        self.prompts = prompts;
        self
    }

    /// Lets the model finalize by another tool.
    #[must_use]
    pub fn with_finalizer(mut self, finalizer: Finalizer) -> Self {
        self.finalizer = finalizer;
        self
    }

    /// Sets what may be spent on one head.
    #[must_use]
    pub fn with_budget(self, budget: Budget) -> Self {
        let mut state = self.state();
        state.gate = std::mem::take(&mut state.gate).budgeted(budget);
        drop(state);
        self
    }

    /// Tells the gate what models can be asked for, by their ids (`CONTRACT G9`): it holds where a
    /// request itself says [`Forcing::Unknown`].
    #[must_use]
    pub fn with_capabilities(self, capabilities: Capabilities) -> Self {
        let mut state = self.state();
        state.gate = std::mem::take(&mut state.gate).with_capabilities(capabilities);
        drop(state);
        self
    }

    /// The staged actions.
    #[must_use]
    pub fn actions(&self) -> &Arc<ActionStore> {
        &self.actions
    }

    /// Plan mode.
    #[must_use]
    pub fn plan(&self) -> &PlanState {
        &self.plan
    }

    /// Adds a guard that every route to a decision passes, behind plan mode's own
    /// (`CONTRACT W7`). It stays for the session's life.
    pub fn add_guard(&self, guard: Arc<dyn Guard>) {
        self.guards.add(guard);
    }

    /// The prompts in use.
    #[must_use]
    pub fn prompts(&self) -> &Prompts {
        &self.prompts
    }

    /// By which tool the model finalizes.
    #[must_use]
    pub fn finalizer(&self) -> Finalizer {
        self.finalizer
    }

    /// Calls `f` with the queue of hard directives.
    pub fn with_queue<R>(&self, f: impl FnOnce(&mut ToolChoiceQueue) -> R) -> R {
        f(&mut self.state().queue)
    }

    /// A history is resumed in which these heads were reminded of (`CONTRACT G3`).
    pub fn was_reminded(&self, heads: impl IntoIterator<Item = StageNumber>) {
        self.state().gate.was_reminded(heads);
    }

    /// A history is resumed whose last word of plan mode is `mode`: what is so now is told only where
    /// it is something else (`CONTRACT P3`).
    pub fn was_told_of_plan(&self, mode: PlanMode) {
        self.plan.was_told(mode);
    }

    /// A prompt of the user began: every head has its whole budget again.
    pub fn begin_prompt(&self) {
        let mut state = self.state();
        // What failed before the prompt is asked for anew.
        drop(self.actions.take_failed_applies());
        state.gate.prompt_began();
    }

    /// What the next turn is asked: a hard choice, which is consumed, else the soft requirement
    /// for the head, which is only looked at, else nothing (`CONTRACT G1`).
    #[must_use]
    pub fn next_tool_choice_directive(&self) -> Directive {
        let mut state = self.state();
        if let Some(choice) = state.queue.next_tool_choice() {
            return Directive::Hard(choice);
        }
        self.lift_failed(&mut state);
        match self.due_head().filter(|head| state.gate.asks_for(head.number())) {
            Some(head) => Directive::Soft(SoftRequirement::new(
                head,
                &self.actions,
                self.finalizer,
                &self.prompts,
            )),
            None => Directive::None,
        }
    }

    /// Plans the next turn of the agent loop, for a model without an id: nothing but the request
    /// says what its provider allows, and nothing is learned of it. Otherwise as
    /// [`next_turn_of`](Self::next_turn_of).
    pub fn next_turn(&self, request: &TurnRequest) -> TurnPlan {
        self.next_turn_of("", request)
    }

    /// Plans the next turn of the agent loop, for the model with the id `model`. What the request
    /// says of its provider is declared to the gate; what the provider has refused before is
    /// remembered there, and the tool choice goes by both (`CONTRACT G9`). Side requests (titles,
    /// summaries, cache warm-up) do not ask here and so neither carry nor consume anything
    /// (`CONTRACT Q7`).
    pub fn next_turn_of(&self, model: &str, request: &TurnRequest) -> TurnPlan {
        let mut state = self.state();
        state.tools = Some(request.tools.clone());
        state.gate.declare(model, request.forcing);
        self.lift_failed(&mut state);
        let (hard, mut unavailable) = match state.queue.next_tool_choice() {
            Some(ToolChoice::Named(tool)) if !request.has(&tool) => {
                state.queue.reject(RejectReason::Unavailable);
                (None, Some(tool))
            }
            hard => (hard, None),
        };
        state.hard_turn = hard.is_some();
        let own = match &request.static_choice {
            // It names no tool of the request either.
            ToolChoice::Named(tool) if !request.has(tool) => {
                unavailable.get_or_insert_with(|| tool.clone());
                ToolChoice::Auto
            }
            own => own.clone(),
        };
        let head = self.due_head();
        let finalizer = self.finalizer.tool_name();
        let decision = state.gate.open(&Asking {
            head: head.as_ref().map(|head| head.number()),
            hard,
            finalizer: request.has(finalizer).then_some(finalizer),
            own,
            model,
            thinking: request.thinking,
        });
        let mut plan = TurnPlan {
            forced: decision.forces(),
            tool_choice: decision.tool_choice,
            plan_notice: self.plan.untold().map(|untold| PlanNotice::new(untold, &self.prompts)),
            reminder: None,
            requirement: None,
            directive: state.hard_turn && decision.forcing_unavailable.is_none(),
            forcing_unavailable: decision.forcing_unavailable,
            unavailable,
            parked: None,
        };
        match decision.opening {
            Opening::Off => {}
            Opening::Parked(number) => plan.parked = Some(number),
            Opening::Armed { head: _, remind, force: _ } => {
                plan.requirement = head.map(|head| {
                    SoftRequirement::new(head, &self.actions, self.finalizer, &self.prompts)
                });
                if remind {
                    plan.reminder = plan.requirement.as_ref().map(SoftRequirement::reminder);
                }
            }
        }
        plan
    }

    /// What to do with the calls of the turn that [`next_turn`](Self::next_turn) planned. `tier`
    /// says how far each call reaches. A requirement that was met or lifted while the provider
    /// answered is none any more; an answer to a turn from before a boundary is void with all of
    /// its calls (`CONTRACT D13`), and [`void_result`](Self::void_result) says so.
    pub fn judge(
        &self,
        end: TurnEnd,
        calls: &[ToolCall],
        tier: impl Fn(&ToolCall) -> Tier,
    ) -> Judgement {
        let mut state = self.state();
        self.lift_failed(&mut state);
        if let Some(head) = state.gate.asked()
            && self.actions.get(head).is_none_or(|(_, state)| state != ActionState::Pending)
        {
            state.gate.requirement_met();
        }
        if state.hard_turn {
            state.hard_turn = false;
            match end {
                TurnEnd::Aborted => state.queue.reject(RejectReason::Aborted),
                TurnEnd::Failed => state.queue.reject(RejectReason::Error),
                // Resolved once the calls have run: a confirm among them may still invoke the
                // directive's handler.
                TurnEnd::Complete | TurnEnd::Truncated => state.hard_turn = true,
            }
        }
        let kinds: Vec<CallKind> = calls
            .iter()
            .map(|call| match (self.finalizer.is_confirm(call), tier(call)) {
                (true, _) => CallKind::Confirm,
                (false, Tier::Read) => CallKind::Look,
                (false, Tier::Write | Tier::Exec) => CallKind::Detour,
            })
            .collect();
        state.gate.judge(end, &kinds)
    }

    /// Whether the turn that was [judged](Self::judge) last was asked for by a session that has ended
    /// since. Then the run that asked for it is over too: its prompt was the old session's
    /// (`CONTRACT D13`).
    #[must_use]
    pub fn was_late(&self) -> bool {
        self.state().gate.was_late()
    }

    /// The paired result of each call of the turn that was judged [void](Judgement::Void) last
    /// (`CONTRACT G12, D13`).
    #[must_use]
    pub fn void_result(&self) -> &'static str {
        if self.was_late() { SESSION_ENDED } else { "Not executed: the turn was aborted." }
    }

    /// The turn's calls have run: a hard directive in flight has taken effect, or its handler was
    /// never called.
    pub fn turn_ended(&self) {
        let mut state = self.state();
        if std::mem::take(&mut state.hard_turn) {
            state.queue.resolve();
        }
    }

    /// Carries a confirm out: the handler of a hard directive in flight first, then the stack
    /// (`CONTRACT D1`). A confirm with a number means that staged action and passes the handler by
    /// (`CONTRACT U6`). A failed apply lifts the gate for that action (`CONTRACT G8`).
    ///
    /// # Cancel safety
    /// As [`ActionStore::confirm`].
    pub async fn confirm(
        &self,
        batch: &Batch,
        confirm: Confirm,
        body: &str,
        decider: Decider,
    ) -> ToolResult {
        if confirm.selection == Selection::Head
            && let Ok(reason) = Reason::new(body)
        {
            let reason: Arc<str> = reason.as_str().into();
            let handled = self.state().queue.invoke(confirm.verdict, &reason);
            if let Some(answer) = handled {
                return answer.await;
            }
        }
        let resolution = self.actions.resolve(batch, confirm, body, decider).await;
        let wording = Wording { plan_mode: self.plan.mode(), form: self.finalizer.form() };
        dispatch_result(resolution, confirm.verdict, body, wording)
    }

    /// A transition of the session (`CONTRACT E1`). Answers the numbers that it voided.
    pub fn boundary(&self, boundary: Boundary) -> Vec<StageNumber> {
        if boundary.ends_plan_mode() {
            self.plan.leave();
            self.plan.forget_told();
        } else if boundary.voids() {
            self.plan.void_review();
        }
        if boundary.voids() || boundary == Boundary::Compaction {
            self.plan.tell_again();
        }
        let mut state = self.state();
        if boundary == Boundary::Compaction {
            state.gate.history_compacted();
        }
        if !boundary.voids() {
            return Vec::new();
        }
        state.queue.clear();
        state.gate.boundary();
        state.hard_turn = false;
        state.grants.clear();
        drop(state);
        self.actions.end_session(boundary.as_str())
    }

    /// The provider of `model`, said to allow `declared`, refused a forced choice: the gate asks it
    /// so no more (`CONTRACT G9`).
    pub fn forcing_refused(&self, model: &str, declared: Forcing, thinking: Thinking) {
        let mut state = self.state();
        state.gate.declare(model, declared);
        state.gate.forcing_refused(model, thinking);
    }

    /// How far the provider of `model` lets a request force: what is `declared`, less what it has
    /// refused.
    #[must_use]
    pub fn forcing_of(&self, model: &str, declared: Forcing) -> Forcing {
        let mut state = self.state();
        state.gate.declare(model, declared);
        state.gate.forcing_of(model)
    }

    /// A person allows what goes by `name` for the rest of this session. A boundary that voids what
    /// is pending takes the grant back, and no other session has it (case 119).
    pub fn grant(&self, name: impl Into<String>) {
        self.state().grants.insert(name.into());
    }

    /// Whether what goes by `name` was [granted](Self::grant).
    #[must_use]
    pub fn is_granted(&self, name: &str) -> bool {
        self.state().grants.contains(name)
    }

    /// Discards everything pending by host's word; hard directives stay (`CONTRACT Q5`).
    pub fn clear_pending(&self) -> Vec<StageNumber> {
        self.actions.void_all("the host cleared what was pending")
    }

    /// A batch of calls begins: what is refused in it counts once a call (case 93).
    pub fn begin_batch_of_calls(&self) {
        self.state().gate.batch_began();
    }

    /// A policy refused `call`. The same call is the one with the same name and path, whatever it
    /// would have written; a call without a path is the one with the same arguments.
    pub fn call_refused(&self, call: &ToolCall) -> Repeat {
        let mut hasher = DefaultHasher::new();
        call.name.hash(&mut hasher);
        match call.str_argument("path") {
            Some(path) => path.trim().hash(&mut hasher),
            None => call.arguments.to_string().hash(&mut hasher),
        }
        self.state().gate.call_refused(hasher.finish())
    }

    /// Whether the model was refused as often as one prompt allows: then how many batches brought
    /// refusals, and the run is to end.
    #[must_use]
    pub fn refusals_spent(&self) -> Option<u32> {
        self.state().gate.refusals_spent()
    }

    /// Whether the session plans.
    #[must_use]
    pub fn plan_mode(&self) -> PlanMode {
        self.plan.mode()
    }

    /// The head, where it could be applied now. While plan mode holds it back nothing is asked of
    /// the model: it could only discard, and could submit no plan for being asked.
    fn due_head(&self) -> Option<Arc<StagedAction>> {
        self.actions.head().filter(|head| !self.plan.holds_back(head))
    }

    /// Lifts the gate for what failed to apply, by whichever road and whoever waited
    /// (`CONTRACT G8`).
    fn lift_failed(&self, state: &mut State) {
        for number in self.actions.take_failed_applies() {
            state.gate.apply_failed(number);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl StagingSession for Session {
    fn action_store(&self) -> Option<&Arc<ActionStore>> {
        Some(&self.actions)
    }

    fn form(&self) -> Form {
        self.finalizer.form()
    }

    fn can_finalize(&self) -> bool {
        let finalizer = self.finalizer.tool_name();
        self.state().tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == finalizer))
    }
}
