//! The loop.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use tokio_util::sync::CancellationToken;
use xd_protocol::StageNumber;
use xd_resolve::{ActionState, Decider, Epoch, ToolCall, ToolResult};
use xd_session::{Boundary, Forcing, Judgement, ToolChoice, TurnEnd, TurnPlan, TurnRequest};
use xd_write::{CallScope, Host, ToolDefinition};

use crate::{
    Delta, DeltaSink, Entry, Event, Message, Model, ModelError, Reply, Request, Resumed,
    StopReason, Transcript, Usage, history::History, transcript::LOST,
};

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "stop", rename_all = "snake_case")]
pub enum Stop {
    /// The model had its last word.
    Done,
    /// The budget of this staged action was spent: it is parked, pending for a person or a later
    /// prompt (`CONTRACT G7`).
    Unresolved {
        /// Its number.
        number: u64,
    },
    /// The model went on with calls that a policy refuses, past what one prompt allows (case 93).
    Forbidden {
        /// How many batches of calls brought refusals.
        batches: u32,
    },
    /// The model's last word was cut at the token limit.
    Truncated,
    /// Somebody aborted the run.
    Aborted,
    /// The session ended while the model answered; what it answered is void (`CONTRACT D13`).
    SessionEnded,
    /// The run had as many turns as it may.
    TurnLimit,
}

/// Why a run broke off. The history is whole: every call in it has its result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The model did not answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The transcript could not be kept. The history in memory is whole; free the disk and prompt
    /// again.
    #[error("the transcript could not be kept: {0}")]
    Transcript(#[source] std::io::Error),
}

type Sink = Box<dyn FnMut(&Event) + Send>;

/// An agent: a model, its tools, one session, a history.
pub struct Agent<M> {
    model: M,
    host: Arc<Host>,
    tools: Vec<ToolDefinition>,
    system: String,
    static_choice: ToolChoice,
    history: History,
    turns: u64,
    turn_limit: u64,
    forcing: Option<Forcing>,
    cancel: CancellationToken,
    sink: Sink,
    withdrawal: bool,
}

/// Hands the pieces of an answer on as events while the answer comes.
struct Forward<'a> {
    sink: Mutex<&'a mut Sink>,
    withdrawal: bool,
}

impl Forward<'_> {
    fn emit(&self, event: &Event) {
        (*self.sink.lock().unwrap_or_else(PoisonError::into_inner))(event);
    }
}

impl DeltaSink for Forward<'_> {
    fn delta(&self, delta: Delta) {
        self.emit(&Event::Delta { delta });
    }

    fn withdraw(&self) -> bool {
        if self.withdrawal {
            self.emit(&Event::Withdrawn);
        }
        self.withdrawal
    }
}

/// How many turns one prompt may take.
const TURN_LIMIT: u64 = 200;

impl<M: Model> Agent<M> {
    /// An agent with an empty history, no system text and nobody listening.
    pub fn new(model: M, host: Arc<Host>) -> Self {
        Self {
            model,
            tools: host.definitions(),
            host,
            system: String::new(),
            static_choice: ToolChoice::Auto,
            history: History::default(),
            turns: 0,
            turn_limit: TURN_LIMIT,
            forcing: None,
            cancel: CancellationToken::new(),
            sink: Box::new(|_| {}),
            withdrawal: false,
        }
    }

    /// Sets the system text. Nothing of the protocol belongs into it (`CONTRACT G3`).
    #[must_use]
    pub fn with_system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// Sets the tool choice of turns that nothing else decides.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.static_choice = choice;
        self
    }

    /// Says how far the model's provider lets a request force a tool, for a model that does not
    /// say so itself.
    #[must_use]
    pub fn with_forcing(mut self, forcing: Forcing) -> Self {
        self.forcing = Some(forcing);
        self
    }

    /// Sets how many turns one prompt may take.
    #[must_use]
    pub fn with_turn_limit(mut self, turns: u64) -> Self {
        self.turn_limit = turns;
        self
    }

    /// Sends events to `sink`.
    #[must_use]
    pub fn on_event(mut self, sink: impl FnMut(&Event) + Send + 'static) -> Self {
        self.sink = Box::new(sink);
        self
    }

    /// Says that whoever listens can take back the pieces of an answer ([`Event::Withdrawn`]): an
    /// answer that breaks off half-way is asked for again then. Without, it is an error.
    #[must_use]
    pub fn with_withdrawal(mut self) -> Self {
        self.withdrawal = true;
        self
    }

    /// Aborts the current and every later run when it is cancelled.
    #[must_use]
    pub fn with_cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }

    /// The same for every later run, in place of the token before: what aborted one run does not
    /// abort the next.
    pub fn set_cancel(&mut self, cancel: CancellationToken) {
        self.cancel = cancel;
    }

    /// Keeps the history in `transcript` from now on.
    #[must_use]
    pub fn with_transcript(mut self, transcript: impl Transcript + 'static) -> Self {
        self.history.keep_in(Box::new(transcript));
        self
    }

    /// Goes on from what a transcript came to, and keeps the history in it (`CONTRACT E4`). Staged
    /// actions that it knows as pending and that are void now are declared so, in the transcript
    /// and to the model (`CONTRACT E3`); heads that were reminded of are not reminded of again.
    ///
    /// Call it after the session's actions were restored.
    #[must_use]
    pub fn resume(mut self, transcript: impl Transcript + 'static, resumed: Resumed) -> Self {
        let session = Arc::clone(self.host.session());
        session.was_reminded(resumed.reminded.iter().filter_map(|&n| StageNumber::new(n)));
        session.was_told_of_plan(resumed.plan_told());
        let known = resumed.staged();
        self.history.resume(resumed.messages);
        self.history.keep_in(Box::new(transcript));
        let is_void = |&number: &u64| {
            let found = StageNumber::new(number).and_then(|n| session.actions().get(n));
            matches!(found, Some((_, ActionState::Void))) && !resumed.void.contains(&number)
        };
        let lost: Vec<u64> = known.into_iter().filter(is_void).collect();
        self.declare_void(lost, "they did not outlive the run that staged them");
        self
    }

    /// A transition of the session (`CONTRACT E1`). What it voids is declared so, in the transcript
    /// and to the model. Answers the numbers.
    pub fn boundary(&mut self, boundary: Boundary) -> Vec<u64> {
        let voided = self.host.session().boundary(boundary);
        let voided: Vec<u64> = voided.into_iter().map(StageNumber::get).collect();
        self.declare_void(voided.clone(), boundary.as_str());
        voided
    }

    fn declare_void(&mut self, numbers: Vec<u64>, reason: &str) {
        if numbers.is_empty() {
            return;
        }
        self.append_hidden(Message::void(&numbers, reason), None);
        self.history.note(Entry::Void { numbers, reason: reason.to_owned() });
    }

    /// The history.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        self.history.messages()
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &Arc<Host> {
        &self.host
    }

    /// Runs one prompt to its end.
    ///
    /// # Errors
    /// [`AgentError`]; what is pending stays pending, and the next prompt can go on.
    ///
    /// # Cancel safety
    /// Abort through the token: then every call has its result at once. A dropped future leaves a
    /// turn whose calls have none until the next prompt, which gives them one that says so; an apply
    /// that had started ends all the same.
    pub async fn prompt(&mut self, text: impl Into<String>) -> Result<Stop, AgentError> {
        let text = text.into();
        for call in self.history.open_calls() {
            self.answer(&call, false, ToolResult::error(LOST));
        }
        self.host.session().begin_prompt();
        self.emit(Event::Prompt { text: text.clone() });
        self.history.push(Message::User { text });
        let stop = self.run().await?;
        self.emit(Event::Stopped { stop });
        Ok(stop)
    }

    async fn run(&mut self) -> Result<Stop, AgentError> {
        for _ in 0..self.turn_limit {
            if self.cancel.is_cancelled() {
                return Ok(Stop::Aborted);
            }
            let plan = self.plan();
            if let Some(number) = plan.parked {
                return Ok(Stop::Unresolved { number: number.get() });
            }
            let Some(reply) = self.ask(&plan).await? else {
                if self.host.session().was_late() {
                    return Ok(Stop::SessionEnded);
                }
                continue;
            };
            let stop = self.take(reply).await;
            if let Some(error) = self.history.take_failure() {
                return Err(AgentError::Transcript(error));
            }
            if let Some(stop) = stop {
                return Ok(stop);
            }
        }
        Ok(Stop::TurnLimit)
    }

    /// Asks the session what the coming turn carries.
    fn plan(&mut self) -> TurnPlan {
        let request = TurnRequest {
            tools: self.tools.iter().map(|tool| tool.name.clone()).collect(),
            static_choice: self.static_choice.clone(),
            forcing: self.declared(),
            thinking: self.model.thinking(),
        };
        let plan = self.host.session().next_turn_of(self.model.id(), &request);
        if let Some(tool) = &plan.unavailable {
            self.emit(Event::ToolUnavailable { tool: tool.clone() });
        }
        if let Some(choice) = &plan.forcing_unavailable {
            self.emit(Event::forcing_unavailable(choice));
        }
        if let Some(notice) = &plan.plan_notice {
            self.append_hidden(Message::plan_notice(notice), None);
        }
        if let Some(reminder) = &plan.reminder {
            let reminds = plan.requirement.as_ref().map(|r| r.number.get());
            self.append_hidden(Message::reminder(reminder), reminds);
        }
        plan
    }

    /// Sends the turn. None where the provider refused a choice that forces, whoever wanted it: that
    /// is learned, and the turn is to be planned anew, without (`CONTRACT G9`).
    async fn ask(&mut self, plan: &TurnPlan) -> Result<Option<Reply>, AgentError> {
        self.turns += 1;
        let (turn, tool_choice) = (self.turns, plan.tool_choice.clone());
        self.emit(Event::Turn { turn, tool_choice: tool_choice.clone(), forced: plan.forces() });
        let request = Request {
            system: self.system.clone(),
            tools: self.tools.clone(),
            messages: self.history.messages().to_vec(),
            tool_choice,
        };
        let forward = Forward { sink: Mutex::new(&mut self.sink), withdrawal: self.withdrawal };
        let reply = tokio::select! {
            biased;
            () = self.cancel.cancelled() => Ok(Reply::text("").stopped(StopReason::Aborted)),
            reply = self.model.respond_streaming(request, &forward) => reply,
        };
        let error = match reply {
            Ok(reply) => {
                if reply.usage != Usage::default() {
                    self.emit(Event::Usage { turn, usage: reply.usage });
                }
                return Ok(Some(reply));
            }
            Err(error) => error,
        };
        // The turn is void: nothing of it is in the history, and nothing is spent.
        let session = Arc::clone(self.host.session());
        session.judge(TurnEnd::Failed, &[], |call| self.host.tier(call));
        match error {
            ModelError::ChoiceRefused { .. } if plan.tool_choice.forces() => {
                session.forcing_refused(self.model.id(), self.declared(), self.model.thinking());
                // `judge` has told the queue, which served it for this turn: the next plan knows
                // nothing of it.
                if plan.directive {
                    self.emit(Event::forcing_unavailable(&plan.tool_choice));
                }
                Ok(None)
            }
            error @ (ModelError::ChoiceRefused { .. }
            | ModelError::Provider(_)
            | ModelError::Failed(_)) => Err(error.into()),
        }
    }

    /// What is said of the provider, before anything was learned of it.
    fn declared(&self) -> Forcing {
        self.forcing.unwrap_or_else(|| self.model.forcing())
    }

    /// Takes a reply into the history and runs, skips or pairs its calls. Answers how the run
    /// ends, if it does.
    async fn take(&mut self, reply: Reply) -> Option<Stop> {
        let end = match reply.stop {
            StopReason::EndTurn => TurnEnd::Complete,
            StopReason::Length => TurnEnd::Truncated,
            StopReason::Aborted => TurnEnd::Aborted,
        };
        let Reply { text, mut calls, verbatim, stop: _, usage: _ } = reply;
        // With other ids the provider's own words would not fit the results.
        let verbatim = if self.tell_apart(&mut calls) { None } else { verbatim };
        if !text.is_empty() {
            self.emit(Event::Text { text: text.clone() });
        }
        for call in &calls {
            self.emit(Event::Call { call: call.clone() });
        }
        if !text.is_empty() || !calls.is_empty() {
            self.history.push(Message::Assistant { text, calls: calls.clone(), verbatim });
        }
        let host = Arc::clone(&self.host);
        let session = host.session();
        // Read before it is judged: what ends the session after that is found when the calls run.
        let epoch = session.actions().epoch();
        let stop = match session.judge(end, &calls, |call| host.tier(call)) {
            Judgement::Void => {
                self.pair(&calls, session.void_result());
                Some(if session.was_late() { Stop::SessionEnded } else { Stop::Aborted })
            }
            Judgement::Free if calls.is_empty() => {
                Some(if end == TurnEnd::Truncated { Stop::Truncated } else { Stop::Done })
            }
            Judgement::Free if end == TurnEnd::Truncated => {
                self.pair(&calls, "Not executed: the output was cut at the token limit, so the call may be half a call. Send it again, shorter.");
                None
            }
            Judgement::Free | Judgement::Run => {
                self.execute(&calls, epoch).await;
                session.refusals_spent().map(|batches| Stop::Forbidden { batches })
            }
            Judgement::Skip => {
                self.pair(&calls, &session.finalizer().not_executed());
                None
            }
            Judgement::NoCall => {
                self.append_hidden(Message::go_on(session.finalizer().tool_name()), None);
                None
            }
        };
        session.turn_ended();
        stop
    }

    /// Gives calls without an id, or with one that the batch has already, one of their own: a
    /// result finds its call by the id alone (**Invariant G3**). Answers whether any got one.
    fn tell_apart(&self, calls: &mut [ToolCall]) -> bool {
        let mut changed = false;
        for at in 0..calls.len() {
            let (before, rest) = calls.split_at_mut(at);
            let call = &mut rest[0];
            if call.id.is_empty() || before.iter().any(|other| other.id == call.id) {
                call.id = format!("call-{}-{}", self.turns, at + 1);
                changed = true;
            }
        }
        changed
    }

    async fn execute(&mut self, calls: &[ToolCall], epoch: Epoch) {
        let cancel = self.cancel.clone();
        let scope = CallScope { cancel, epoch: Some(epoch), ..CallScope::of(Decider::Model) };
        let results = self.host.run_batch(calls, &scope).await;
        for (call, result) in calls.iter().zip(results) {
            self.answer(call, true, result);
        }
    }

    /// Answers calls that are not run, each with `text`.
    fn pair(&mut self, calls: &[ToolCall], text: &str) {
        for call in calls {
            self.answer(call, false, ToolResult::error(text));
        }
    }

    fn answer(&mut self, call: &ToolCall, executed: bool, result: ToolResult) {
        let call_id = call.id.clone();
        self.emit(Event::Result { call_id: call_id.clone(), executed, result: result.clone() });
        self.history.push(Message::ToolResult { call_id, result });
    }

    fn append_hidden(&mut self, message: Message, reminds: Option<u64>) {
        if let Message::Custom { custom_type, text, .. } = &message {
            self.emit(Event::Hidden { custom_type: custom_type.clone(), text: text.clone() });
        }
        self.history.push_reminding(message, reminds);
    }

    fn emit(&mut self, event: Event) {
        (self.sink)(&event);
    }
}

impl<M> std::fmt::Debug for Agent<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent")
            .field("turns", &self.turns)
            .field("messages", &self.history.messages().len())
            .finish_non_exhaustive()
    }
}
