//! A real session that takes the facts of the model and is compared with it after each.

use std::{
    future::{Future, poll_fn, ready},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Waker},
};

use proptest::prelude::*;
use serde_json::json;
use xd_protocol::{Confirm, Selection, StageNumber, Verdict, notice};
use xd_resolve::{
    ActionState, ActionStore, ApplyError, Batch, BoxFuture, Decider, Detach, Effect, StageError,
    StageRequest, StagingSession, Tier, ToolCall, ToolResult, block_on, queue_resolve_handler,
};
use xd_session::{
    Boundary, Directive, DirectiveOptions, Forcing, Judgement, OnRejected, Session, Thinking,
    ToolChoice, TurnEnd, TurnPlan, TurnRequest,
};

use crate::{
    facts::{Answer, End, Event, Fact, Judged, Pin, Provider, Refusal, Request},
    model::{
        CALLS, Call, Handler, Hard, HardChoice, Life, Model, PERSON, PLACES, Phase, Place, Turn,
        Which,
    },
};

type Checked = Result<(), TestCaseError>;

fn n(number: u8) -> StageNumber {
    StageNumber::new(u64::from(number)).expect("numbers begin at 1")
}

/// Ends an effect when the model says so, and counts what it did.
#[derive(Default)]
struct Control {
    ends: Mutex<Option<bool>>,
    applied: AtomicUsize,
    discarded: AtomicUsize,
}

struct Controlled(Arc<Control>);

impl Controlled {
    fn run(&self, verdict: Verdict) -> BoxFuture<'static, Result<(), ApplyError>> {
        let control = Arc::clone(&self.0);
        Box::pin(async move {
            let ended = poll_fn(|_| match control.ends.lock().unwrap().take() {
                Some(succeeds) => Poll::Ready(succeeds),
                None => Poll::Pending,
            });
            if !ended.await {
                return Err(ApplyError::tool("it failed"));
            }
            let count = match verdict {
                Verdict::Apply => &control.applied,
                Verdict::Discard => &control.discarded,
            };
            count.fetch_add(1, SeqCst);
            Ok(())
        })
    }
}

impl Effect for Controlled {
    fn apply(&self, _: Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>> {
        let run = self.run(Verdict::Apply);
        Box::pin(async move { run.await.map(|()| ToolResult::text("applied")) })
    }
    fn reject(&self, _: Arc<str>) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>> {
        let run = self.run(Verdict::Discard);
        Box::pin(async move { run.await.map(|()| None) })
    }
}

/// Keeps what callers abandoned, polled when the model ends it.
#[derive(Default)]
struct Kept(Mutex<Vec<BoxFuture<'static, ()>>>);

impl Detach for Kept {
    fn detach(&self, rest: BoxFuture<'static, ()>) {
        self.0.lock().unwrap().push(rest);
    }
}

fn poll<F: Future + Unpin + ?Sized>(future: &mut F) -> Poll<F::Output> {
    std::pin::Pin::new(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// The session as a call of a batch sees it.
struct InBatch<'a>(&'a Session, &'a Batch);

impl StagingSession for InBatch<'_> {
    fn action_store(&self) -> Option<&Arc<ActionStore>> {
        self.0.action_store()
    }
    fn batch(&self) -> Option<&Batch> {
        Some(self.1)
    }
}

/// The real session with the calls under way in it.
pub(crate) struct Real {
    session: Arc<Session>,
    kept: Arc<Kept>,
    controls: Vec<Arc<Control>>,
    calls: [Option<BoxFuture<'static, ToolResult>>; PLACES],
    /// The batch of the loop's calls.
    batch: Option<Arc<Batch>>,
}

impl Real {
    pub(crate) fn new() -> Self {
        let kept = Arc::new(Kept::default());
        let detach = Arc::clone(&kept) as Arc<dyn Detach>;
        let session = Arc::new(Session::with_store(|store| store.with_detach(detach)));
        Self { session, kept, controls: Vec::new(), calls: Default::default(), batch: None }
    }

    /// Takes `fact`, which took the model from `before` to `after` and showed `events`.
    pub(crate) fn step<const A: usize>(
        &mut self,
        before: &Model<A>,
        fact: Fact,
        events: &[Event],
        after: &Model<A>,
    ) -> Checked {
        match fact {
            Fact::Prompt => self.session.begin_prompt(),
            Fact::Compacted => {
                prop_assert_eq!(self.session.boundary(Boundary::Compaction), vec![]);
            }
            Fact::Boundary => {
                let open = (1..=before.staged).rev().filter(|&it| before.life(it).is_open());
                let voided = self.session.boundary(Boundary::Switch);
                prop_assert_eq!(voided, open.map(n).collect::<Vec<_>>());
            }
            Fact::Restart { .. } => self.restart(after)?,
            Fact::Stage { .. } => self.stage(after.staged)?,
            Fact::Touch(_) => {}
            Fact::Push(hard) => self.session.with_queue(|queue| {
                queue.push_once(choice(hard.choice), options(hard));
            }),
            Fact::Open(request) => self.open(before, request, events)?,
            Fact::Reply { end, calls } => {
                let calls: Vec<ToolCall> = calls.iter().flatten().map(tool_call).collect();
                let judged = self.session.judge(turn_end(end), &calls, tier);
                let expect = events.iter().find_map(|event| match event {
                    Event::Judged(judged) => Some(judgement(*judged)),
                    _ => None,
                });
                prop_assert_eq!(Some(judged), expect);
                let late = matches!(before.phase, Phase::Asked(turn) if turn.orphan);
                prop_assert_eq!(self.session.was_late(), late);
                prop_assert_eq!(self.session.void_result().contains("has ended"), late);
                if after.phase == Phase::Running {
                    self.begin(after, 0..CALLS);
                } else {
                    self.session.turn_ended();
                }
            }
            Fact::Refuse => {
                let Phase::Asked(Turn { pinned: Some((provider, thinks)), .. }) = before.phase
                else {
                    return Err(TestCaseError::fail("nothing was pinned"));
                };
                prop_assert_eq!(self.session.judge(TurnEnd::Failed, &[], tier), Judgement::Void);
                let (forcing, thinking) = (forcing(provider), thinking(thinks));
                self.session.forcing_refused(id(provider), forcing, thinking);
            }
            Fact::Person { .. } => self.begin(after, PERSON..PLACES),
            Fact::Poll(place) => self.poll(before, usize::from(place), events)?,
            Fact::Finish { run, .. } => {
                let run = before.runs[usize::from(run)].unwrap();
                let succeeded = events.iter().find_map(|event| match event {
                    Event::Ended { succeeded, .. } => Some(*succeeded),
                    _ => None,
                });
                *self.controls[usize::from(run.action)].ends.lock().unwrap() = succeeded;
                match run.owner {
                    Some(place) => self.answered(before, usize::from(place), events)?,
                    None => self.kept.0.lock().unwrap().retain_mut(|rest| poll(rest).is_pending()),
                }
            }
            Fact::Drop(place) => self.calls[usize::from(place)] = None,
            Fact::Abort => self.calls[..CALLS].fill_with(|| None),
        }
        let batch_ended = before.phase == Phase::Running && after.phase != Phase::Running;
        if batch_ended && !matches!(fact, Fact::Restart { .. }) {
            self.session.turn_ended();
        }
        self.agrees(after)
    }

    fn request(&mut self, number: u8) -> StageRequest {
        let control = match self.controls.get(usize::from(number) - 1) {
            Some(control) => Arc::clone(control),
            None => {
                self.controls.push(Arc::default());
                Arc::clone(&self.controls[usize::from(number) - 1])
            }
        };
        *control.ends.lock().unwrap() = None;
        let effect = Arc::new(Controlled(control));
        StageRequest::with_effect(format!("Probe: {number}"), effect).source_tool("probe")
    }

    fn stage(&mut self, number: u8) -> Checked {
        let request = self.request(number);
        let staged = self.session.actions().stage(request).unwrap();
        prop_assert_eq!(staged.number(), n(number));
        Ok(())
    }

    fn stage_in_batch(&mut self, number: u8) -> Result<StageNumber, StageError> {
        let request = self.request(number);
        let batch = self.batch.as_ref().unwrap();
        block_on(queue_resolve_handler(&InBatch(&self.session, batch), request))
            .map(|staged| staged.number())
    }

    /// A new process: what its host would settle from the record is put back.
    fn restart<const A: usize>(&mut self, after: &Model<A>) -> Checked {
        let controls = std::mem::take(&mut self.controls);
        *self = Self { controls, ..Self::new() };
        for number in 1..=after.staged {
            let request = self.request(number);
            let state = state(after.life(number));
            prop_assert_eq!(self.session.actions().restore(n(number), request, state), Ok(()));
        }
        Ok(())
    }

    fn open<const A: usize>(
        &mut self,
        before: &Model<A>,
        request: Request,
        events: &[Event],
    ) -> Checked {
        if before.directives() == 0 {
            // A peek: it advances nothing (`CONTRACT G1`).
            let asked = match self.session.next_tool_choice_directive() {
                Directive::Soft(requirement) => Some(requirement.number),
                Directive::None => None,
                Directive::Hard(choice) => panic!("nobody pushed {choice:?}"),
            };
            prop_assert_eq!(asked, StageNumber::new(before.asked_for().into()));
        }
        let plan = self.session.next_turn_of(id(request.provider), &turn_request(request));
        for &event in events {
            match event {
                Event::Parked(number) => {
                    prop_assert_eq!(plan.parked, Some(n(number)));
                    prop_assert!(plan.requirement.is_none() && plan.reminder.is_none());
                }
                Event::Opened { head, remind, force: _, hard, unavailable, pin } => {
                    prop_assert_eq!(plan.parked, None);
                    prop_assert_eq!(plan.unavailable.is_some(), unavailable);
                    prop_assert_eq!(plan.reminder.is_some(), remind);
                    let asked = plan.requirement.as_ref().map(|it| (it.number, it.id.clone()));
                    let expect = StageNumber::new(head.into())
                        .map(|number| (number, format!("pending-action:probe:{number}")));
                    prop_assert_eq!(asked, expect);
                    check_choice(&plan, request, hard, pin)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Begins the batch of the calls at `places`.
    fn begin<const A: usize>(&mut self, after: &Model<A>, places: std::ops::Range<usize>) {
        let batch = Arc::new(self.session.actions().begin_batch());
        if places.start != PERSON {
            self.batch = Some(Arc::clone(&batch));
        }
        for place in places {
            let Place::Waiting(Call::Confirm { verdict, which, blank }) = after.places[place]
            else {
                continue;
            };
            let selection = match which {
                Which::Head => Selection::Head,
                Which::Number(number) => Selection::Numbered(n(number)),
            };
            let body = if blank { " \n" } else { "Why." };
            self.calls[place] = Some(self.confirm(&batch, Confirm { verdict, selection }, body));
        }
    }

    fn confirm(
        &self,
        batch: &Arc<Batch>,
        confirm: Confirm,
        body: &'static str,
    ) -> BoxFuture<'static, ToolResult> {
        let (session, batch) = (Arc::clone(&self.session), Arc::clone(batch));
        Box::pin(async move { session.confirm(&batch, confirm, body, Decider::Model).await })
    }

    fn poll<const A: usize>(
        &mut self,
        before: &Model<A>,
        place: usize,
        events: &[Event],
    ) -> Checked {
        match events.first() {
            Some(Event::Staged(number)) => {
                let staged = self.stage_in_batch(*number);
                prop_assert!(matches!(staged, Ok(it) if it == n(*number)), "{:?}", staged);
                Ok(())
            }
            Some(Event::Answered { answer: Answer::Refused(Refusal::SessionEnded), .. }) => {
                let staged = self.stage_in_batch(before.staged + 1);
                prop_assert!(matches!(staged, Err(StageError::SessionEnded)), "{:?}", staged);
                Ok(())
            }
            Some(Event::Started { .. }) => {
                let call = self.calls[place].as_mut().unwrap();
                prop_assert!(poll(call).is_pending(), "its effect was to run");
                Ok(())
            }
            Some(Event::Answered { answer: Answer::Executed, .. }) => Ok(()),
            _ => self.answered(before, place, events),
        }
    }

    /// The call at `place` has its result now, and that of the model.
    fn answered<const A: usize>(
        &mut self,
        before: &Model<A>,
        place: usize,
        events: &[Event],
    ) -> Checked {
        let mut call = self.calls[place].take().unwrap();
        let Poll::Ready(result) = poll(&mut call) else {
            return Err(TestCaseError::fail(format!("no result where the model saw {events:?}")));
        };
        let answer = events.iter().find_map(|event| match event {
            Event::Answered { place: at, answer } if usize::from(*at) == place => Some(*answer),
            _ => None,
        });
        let verdict = match before.places[place] {
            Place::Waiting(Call::Confirm { verdict, .. }) => verdict,
            _ => Verdict::Apply,
        };
        check_result(answer.unwrap(), verdict, &result)
    }

    /// Every question about what is pending has the model's answer.
    fn agrees<const A: usize>(&self, model: &Model<A>) -> Checked {
        let actions = self.session.actions();
        let pending: Vec<StageNumber> = model.pending().map(n).collect();
        prop_assert_eq!(actions.pending_numbers(A), (pending.clone(), pending.len()));
        prop_assert_eq!(actions.has_pending(), !pending.is_empty());
        prop_assert_eq!(actions.head().map(|head| head.number()), pending.first().copied());
        for number in 1..=model.staged {
            let real = actions.get(n(number)).map(|(_, state)| state);
            prop_assert_eq!(real, Some(state(model.life(number))), "@{}", number);
            let control = &self.controls[usize::from(number) - 1];
            let ran = control.applied.load(SeqCst) + control.discarded.load(SeqCst);
            prop_assert!(ran <= 1, "D11: @{} ran {} times", number, ran);
        }
        prop_assert!(actions.get(n(model.staged + 1)).is_none());
        Ok(())
    }
}

/// The tool choice that is sent, and what the plan says of it (`CONTRACT G9`).
fn check_choice(plan: &TurnPlan, request: Request, hard: Option<HardChoice>, pin: Pin) -> Checked {
    let own = if request.none { ToolChoice::None } else { ToolChoice::Auto };
    let wanted = hard.map_or(ToolChoice::Named("write".to_owned()), choice);
    let expect = match (pin, hard) {
        (Pin::Own, Some(HardChoice::None)) | (Pin::Named, _) => wanted,
        (Pin::SomeTool, _) => ToolChoice::Required,
        (Pin::Own | Pin::Unavailable, _) => own,
    };
    prop_assert_eq!(&plan.tool_choice, &expect);
    prop_assert_eq!(plan.forcing_unavailable.is_some(), pin == Pin::Unavailable);
    let forces = hard.is_none() && matches!(pin, Pin::Named | Pin::SomeTool);
    prop_assert_eq!(plan.forces(), forces);
    Ok(())
}

fn check_result(answer: Answer, verdict: Verdict, result: &ToolResult) -> Checked {
    let text = result.joined();
    let refused = |expect: String| {
        prop_assert!(result.is_error, "{}", &text);
        prop_assert!(text.contains(&expect), "{:?} without {:?}", &text, expect);
        Ok(())
    };
    match answer {
        Answer::Ran { number, verdict, succeeded, late } => {
            let expect = match (succeeded, verdict) {
                (true, Verdict::Apply) => "applied".to_owned(),
                (true, Verdict::Discard) => format!("Discarded: Probe: {number}. Reason: Why."),
                (false, _) => "it failed".to_owned(),
            };
            prop_assert_eq!(&result.content[0], &expect);
            prop_assert_eq!(result.is_error, !succeeded);
            let void = text.contains(&format!("@{number} is void"));
            let pending = text.contains(&format!("@{number} is still pending"));
            prop_assert_eq!((void, pending), (late, !late && !succeeded));
            Ok(())
        }
        Answer::Handled => {
            prop_assert_eq!(text, "handled");
            Ok(())
        }
        Answer::Refused(refusal) => match refusal {
            Refusal::NothingPending => {
                let (expect, is_error) = match verdict {
                    Verdict::Apply => (notice::NOTHING_TO_APPLY, true),
                    Verdict::Discard => (notice::NOTHING_TO_REJECT, false),
                };
                prop_assert_eq!((text.as_str(), result.is_error), (expect, is_error));
                Ok(())
            }
            Refusal::Blank => refused("reason".to_owned()),
            Refusal::Unknown(number) => refused(format!("No staged action has number {number}.")),
            Refusal::BeingResolved(number) => {
                refused(format!("Staged action @{number} is already being resolved."))
            }
            Refusal::Decided(number, life) => {
                let became = match life {
                    Life::Applied => "already applied",
                    Life::Discarded => "already discarded",
                    Life::Void => "void",
                    Life::Absent | Life::Pending | Life::Taken(_) => "open",
                };
                refused(format!("Staged action @{number} is {became}"))
            }
            Refusal::SecondBare => refused("Name it:".to_owned()),
            Refusal::NotYetSeen(number) => {
                refused(format!("@{number} was staged in this same batch"))
            }
            Refusal::SessionEnded => {
                Err(TestCaseError::fail("a confirm hears what became of its action"))
            }
        },
        Answer::Staged(_)
        | Answer::Executed
        | Answer::Skipped
        | Answer::TurnVoid
        | Answer::TurnLate
        | Answer::Cut
        | Answer::Gone => Err(TestCaseError::fail(format!("{answer:?} is no confirm's"))),
    }
}

fn choice(choice: HardChoice) -> ToolChoice {
    match choice {
        HardChoice::Active => ToolChoice::Named("grep".to_owned()),
        HardChoice::Inactive => ToolChoice::Named("absent".to_owned()),
        HardChoice::None => ToolChoice::None,
    }
}

fn options(hard: Hard) -> DirectiveOptions {
    let rejected = if hard.requeues { OnRejected::Requeue } else { OnRejected::Drop };
    let options = DirectiveOptions::new().on_rejected(Arc::new(move |_| rejected));
    match hard.handler {
        Handler::None => options,
        Handler::Passes => options.on_invoked(Arc::new(|_, _| None)),
        Handler::Answers => {
            options.on_invoked(Arc::new(|_, _| Some(Box::pin(ready(ToolResult::text("handled"))))))
        }
    }
}

fn turn_request(request: Request) -> TurnRequest {
    let tools = ["read", "grep", "write"];
    let mut turn =
        TurnRequest::with_tools(tools.iter().copied().take(2 + usize::from(request.write)));
    turn.static_choice = if request.none { ToolChoice::None } else { ToolChoice::Auto };
    (turn.forcing, turn.thinking) = (forcing(request.provider), thinking(request.thinks));
    turn
}

/// The id of the model of this provider.
fn id(provider: Provider) -> &'static str {
    match provider {
        Provider::Named => "named",
        Provider::NamedUnlessThinking => "named-unless-thinking",
        Provider::SomeTool => "some-tool",
        Provider::AutoOnly => "auto-only",
        Provider::Unknown => "unknown",
    }
}

fn forcing(provider: Provider) -> Forcing {
    match provider {
        Provider::Named => Forcing::Named,
        Provider::NamedUnlessThinking => Forcing::NamedUnlessThinking,
        Provider::SomeTool => Forcing::SomeTool,
        Provider::AutoOnly => Forcing::AutoOnly,
        Provider::Unknown => Forcing::Unknown,
    }
}

fn thinking(thinks: bool) -> Thinking {
    if thinks { Thinking::On } else { Thinking::Off }
}

fn tool_call(call: &Call) -> ToolCall {
    match call {
        Call::Confirm { verdict, which, .. } => {
            let path = match which {
                Which::Head => format!("xd://{}", verdict.device()),
                Which::Number(number) => format!("xd://{}@{number}", verdict.device()),
            };
            ToolCall::new("1", "write", json!({ "path": path, "content": "Why." }))
        }
        Call::Look => ToolCall::new("1", "read", json!({ "path": "a.rs" })),
        Call::Detour => ToolCall::new("1", "write", json!({ "path": "a.rs", "content": "" })),
        Call::Stage { .. } => ToolCall::new("1", "ast_edit", json!({})),
        Call::StageByLook { .. } => ToolCall::new("1", "preview", json!({})),
    }
}

fn tier(call: &ToolCall) -> Tier {
    match call.name.as_str() {
        "read" | "preview" => Tier::Read,
        "write" => Tier::Write,
        _ => Tier::Exec,
    }
}

fn turn_end(end: End) -> TurnEnd {
    match end {
        End::Complete => TurnEnd::Complete,
        End::Truncated => TurnEnd::Truncated,
        End::Aborted => TurnEnd::Aborted,
        End::Failed => TurnEnd::Failed,
    }
}

fn judgement(judged: Judged) -> Judgement {
    match judged {
        Judged::Free => Judgement::Free,
        Judged::Run => Judgement::Run,
        Judged::Skip => Judgement::Skip,
        Judged::NoCall => Judgement::NoCall,
        Judged::Void => Judgement::Void,
    }
}

fn state(life: Life) -> ActionState {
    match life {
        Life::Pending => ActionState::Pending,
        Life::Taken(verdict) => ActionState::Taken(verdict),
        Life::Applied => ActionState::Applied,
        Life::Discarded => ActionState::Discarded,
        Life::Void | Life::Absent => ActionState::Void,
    }
}
