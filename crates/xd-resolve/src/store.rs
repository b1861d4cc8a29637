//! The shared store: the stack behind a lock, with its recorder, guard and detacher.

use std::{
    fmt,
    sync::{Arc, PoisonError},
};

use xd_protocol::{ReasonFault, Selection, StageNumber, Verdict};

use crate::{
    ActionState, Batch, Confirming, Decider, DecisionRecord, Declined, Detach, Ending, Epoch,
    NotTaken, Outcome, RecordError, Recorder, Stack, StageError, StageRequest, Staged,
    StagedAction, ThreadDetach, ToolResult,
    record::NoRecord,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
};

/// May forbid a decision just before it is taken: plan mode, tiers, allow and deny lists
/// (`CONTRACT W7`). Every route to an apply passes here.
pub trait Guard: Send + Sync {
    /// Whether `decider` may decide `verdict` on `action`. Called under the store's lock: it must
    /// be quick and must not call back into the store.
    ///
    /// # Errors
    /// The tool error that the caller reads; the action stays pending.
    fn check(
        &self,
        action: &StagedAction,
        verdict: Verdict,
        decider: Decider,
    ) -> Result<(), ToolResult>;
}

/// Forbids nothing.
struct NoGuard;

impl Guard for NoGuard {
    fn check(&self, _: &StagedAction, _: Verdict, _: Decider) -> Result<(), ToolResult> {
        Ok(())
    }
}

/// Why a confirm did nothing. Whatever it named is as it was.
#[derive(Debug)]
pub enum Refusal {
    /// No action is pending.
    NothingPending,
    /// The body is no reason (`CONTRACT D2`).
    Reason(ReasonFault),
    /// No action has this number.
    Unknown(StageNumber),
    /// Another confirm has it (`CONTRACT D11`).
    AlreadyBeingResolved(StageNumber),
    /// It is no longer open; this is what it became.
    AlreadyDecided(StageNumber, ActionState),
    /// A bare confirm came second in its batch while several actions were pending
    /// (`CONTRACT D14`).
    SecondBareConfirm {
        /// The pending actions, newest first, as far as a message names them.
        named: Vec<StageNumber>,
        /// How many are pending.
        total: usize,
    },
    /// The action was staged in the batch that confirms it: nobody has seen its preview.
    NotYetSeen(StageNumber),
    /// A [`Guard`] forbade it.
    Forbidden(ToolResult),
    /// The decision could not be written down, so it was not carried out.
    NotRecorded(RecordError),
}

/// What came of ending a taken action.
pub(crate) struct Finished {
    /// It had been voided meanwhile.
    pub(crate) late: bool,
    /// What the record could not take.
    pub(crate) unrecorded: Option<RecordError>,
}

/// The staged actions of one session (**Invariant R2**).
///
/// Shared behind an [`Arc`] by producers, the dispatcher and the gate.
pub struct ActionStore {
    stack: Mutex<Stack<Arc<StagedAction>>>,
    /// Applies that failed and that nobody has asked about yet. Locked under the stack or alone.
    failed: Mutex<Vec<StageNumber>>,
    /// How many sessions have ended. Changed and compared under the stack's lock.
    epoch: AtomicU64,
    recorder: Arc<dyn Recorder>,
    guard: Arc<dyn Guard>,
    detach: Arc<dyn Detach>,
}

impl Default for ActionStore {
    fn default() -> Self {
        Self::new()
    }
}

impl ActionStore {
    /// An empty store that records nothing, forbids nothing and detaches to threads.
    #[must_use]
    pub fn new() -> Self {
        Self {
            stack: Mutex::new(Stack::new()),
            failed: Mutex::new(Vec::new()),
            epoch: AtomicU64::new(0),
            recorder: Arc::new(NoRecord),
            guard: Arc::new(NoGuard),
            detach: Arc::new(ThreadDetach),
        }
    }

    /// Records to `recorder`.
    #[must_use]
    pub fn with_recorder(mut self, recorder: Arc<dyn Recorder>) -> Self {
        self.recorder = recorder;
        self
    }

    /// Asks `guard` before every decision.
    #[must_use]
    pub fn with_guard(mut self, guard: Arc<dyn Guard>) -> Self {
        self.guard = guard;
        self
    }

    /// Lets `detach` finish what its caller abandons.
    #[must_use]
    pub fn with_detach(mut self, detach: Arc<dyn Detach>) -> Self {
        self.detach = detach;
        self
    }

    /// Puts back an action of an earlier run under its old number, which must be the next one, in
    /// the state that the record gave it. Nothing is recorded.
    ///
    /// # Errors
    /// The expected number, where `number` is another.
    pub fn restore(
        &self,
        number: StageNumber,
        request: StageRequest,
        state: ActionState,
    ) -> Result<(), StageNumber> {
        let mut stack = self.stack();
        let next = stack.next_number();
        if number != next {
            return Err(next);
        }
        stack.push_as(Arc::new(request.into_action(number)), state);
        Ok(())
    }

    /// Stages `request` on top of the stack. Producers call
    /// [`queue_resolve_handler`](crate::queue_resolve_handler), which ends here.
    ///
    /// # Errors
    /// [`StageError::NothingToStage`] for an empty change set; [`StageError::NotRecorded`], and
    /// the number is used up.
    pub fn stage(self: &Arc<Self>, request: StageRequest) -> Result<Staged, StageError> {
        self.stage_for(None, request)
    }

    /// Stages for a call of `batch`, unless its session has ended meanwhile.
    pub(crate) fn stage_for(
        self: &Arc<Self>,
        batch: Option<&Batch>,
        request: StageRequest,
    ) -> Result<Staged, StageError> {
        if request.change_set.as_ref().is_some_and(|set| set.is_empty()) {
            return Err(StageError::NothingToStage);
        }
        let _span = tracing::debug_span!("stage", tool = &*request.source_tool_name).entered();
        let mut stack = self.stack();
        if batch.is_some_and(|batch| batch.epoch() != self.epoch()) {
            return Err(StageError::SessionEnded);
        }
        let action = Arc::new(request.into_action(stack.next_number()));
        let recorded = self.recorder.staged(&action);
        // A number that may stand in a record is never used again, even if the record failed.
        let state = if recorded.is_ok() { ActionState::Pending } else { ActionState::Void };
        stack.push_as(Arc::clone(&action), state);
        drop(stack);
        recorded.map_err(StageError::NotRecorded)?;
        tracing::debug!(number = action.number().get(), tool = action.source_tool_name(), "staged");
        Ok(Staged::new(Arc::clone(self), action))
    }

    /// Begins a batch of tool calls: bare confirms in it mean what is the head now
    /// (**Invariant R6**).
    #[must_use]
    pub fn begin_batch(&self) -> Batch {
        let stack = self.stack();
        let (head, pending) = (stack.select(Selection::Head), stack.pending_count());
        Batch::new(head, pending, stack.next_number(), self.epoch())
    }

    /// A future that takes action `number` and carries `verdict` out. Nothing happens before its
    /// first poll.
    ///
    /// # Cancel safety
    /// Dropped before the first poll it leaves the action pending; dropped later the effect goes
    /// on and is recorded (**Invariant R4**).
    pub fn confirm(
        self: &Arc<Self>,
        number: StageNumber,
        verdict: Verdict,
        reason: impl Into<Arc<str>>,
        decider: Decider,
    ) -> Confirming {
        Confirming::new(Arc::clone(self), number, verdict, reason.into(), decider)
    }

    /// The newest pending action.
    #[must_use]
    pub fn head(&self) -> Option<Arc<StagedAction>> {
        let stack = self.stack();
        stack.head().and_then(|number| stack.get(number).cloned())
    }

    /// The action under `number` with its state, whatever became of it.
    #[must_use]
    pub fn get(&self, number: StageNumber) -> Option<(Arc<StagedAction>, ActionState)> {
        let stack = self.stack();
        Some((Arc::clone(stack.get(number)?), stack.state(number)?))
    }

    /// All pending actions, newest first.
    #[must_use]
    pub fn pending(&self) -> Vec<Arc<StagedAction>> {
        let stack = self.stack();
        stack.pending().filter_map(|number| stack.get(number).cloned()).collect()
    }

    /// Every number ever used with what became of it, oldest first.
    #[must_use]
    pub fn states(&self) -> Vec<(StageNumber, ActionState)> {
        self.stack().iter().map(|(number, state, _)| (number, state)).collect()
    }

    /// How many actions are pending.
    #[must_use]
    pub fn pending_count(&self) -> usize {
        self.stack().pending_count()
    }

    /// Whether any action is pending.
    #[must_use]
    pub fn has_pending(&self) -> bool {
        self.pending_count() > 0
    }

    /// The first `most` pending numbers, newest first, and how many are pending in all.
    #[must_use]
    pub fn pending_numbers(&self, most: usize) -> (Vec<StageNumber>, usize) {
        let stack = self.stack();
        (stack.pending().take(most).collect(), stack.pending_count())
    }

    /// The actions whose apply has failed since this was last asked, also where nobody waited for it
    /// any more; a gate is lifted for them (`CONTRACT G8`). Late failures are not among them.
    #[must_use]
    pub fn take_failed_applies(&self) -> Vec<StageNumber> {
        std::mem::take(&mut self.failed())
    }

    /// Writes down that somebody who had to be asked said no to a confirm of `action`
    /// (`CONTRACT L1`). Nothing else changes.
    ///
    /// # Errors
    /// Where it could not be written down. The answer stands all the same.
    pub fn declined(
        &self,
        action: &StagedAction,
        declined: &Declined<'_>,
    ) -> Result<(), RecordError> {
        // Held, so that the order of the record is the order of events.
        let _stack = self.stack();
        self.recorder.declined(action, declined)
    }

    /// Takes the head out for a host that deals with it itself; its number answers `withdrawn`.
    #[must_use]
    pub fn withdraw_head(&self) -> Option<Arc<StagedAction>> {
        let mut stack = self.stack();
        let number = stack.head()?;
        let action = Arc::clone(stack.withdraw(number).ok()?);
        self.record(&action, None, "", Decider::Host, Outcome::Withdrawn);
        Some(action)
    }

    /// A session boundary: [`void_all`](Self::void_all), and what batches of before it still stage
    /// is refused, as a late answer that changes nothing in the new session (`CONTRACT D13`).
    pub fn end_session(&self, reason: &str) -> Vec<StageNumber> {
        let stack = self.stack();
        self.epoch.fetch_add(1, Ordering::Relaxed);
        self.void_in(stack, reason)
    }

    /// Voids everything open and records it (`CONTRACT E1`). Answers the numbers, newest first. An
    /// effect that is running goes on; its end is recorded as late.
    pub fn void_all(&self, reason: &str) -> Vec<StageNumber> {
        self.void_in(self.stack(), reason)
    }

    fn void_in(
        &self,
        mut stack: MutexGuard<'_, Stack<Arc<StagedAction>>>,
        reason: &str,
    ) -> Vec<StageNumber> {
        let numbers = stack.void_all();
        for action in numbers.iter().filter_map(|&number| stack.get(number)) {
            self.record(action, None, reason, Decider::Host, Outcome::Void);
        }
        numbers
    }

    /// Takes `number` for `verdict`: guard, record, then the stack, all under one lock.
    pub(crate) fn take(
        &self,
        number: StageNumber,
        verdict: Verdict,
        reason: &str,
        decider: Decider,
    ) -> Result<Arc<StagedAction>, Refusal> {
        let mut stack = self.stack();
        let not_taken = |why| match why {
            NotTaken::Unknown => Refusal::Unknown(number),
            NotTaken::Taken => Refusal::AlreadyBeingResolved(number),
            NotTaken::Closed(state) => Refusal::AlreadyDecided(number, state),
        };
        // Asked first, so that a closed action says what it became, not that it is forbidden.
        match stack.state(number) {
            Some(ActionState::Pending) => {}
            None => return Err(not_taken(NotTaken::Unknown)),
            Some(ActionState::Taken(_)) => return Err(not_taken(NotTaken::Taken)),
            Some(
                closed @ (ActionState::Applied
                | ActionState::Discarded
                | ActionState::Void
                | ActionState::Withdrawn),
            ) => return Err(not_taken(NotTaken::Closed(closed))),
        }
        if let Some(action) = stack.get(number) {
            self.guard.check(action, verdict, decider).map_err(Refusal::Forbidden)?;
            self.recorder.taken(action, verdict, reason, decider).map_err(Refusal::NotRecorded)?;
        }
        stack.take(number, verdict).map(Arc::clone).map_err(not_taken)
    }

    /// Ends what [`take`](Self::take) began, and records it.
    pub(crate) fn finish(
        &self,
        action: &StagedAction,
        ending: Ending,
        record: DecisionRecord<'_>,
    ) -> Finished {
        let mut stack = self.stack();
        let on_time = stack.finish(action.number(), ending);
        let succeeded = ending != Ending::Kept;
        if on_time && !succeeded && record.verdict == Some(Verdict::Apply) {
            let mut failed = self.failed();
            // Bounded by the number of actions where a host never asks.
            if !failed.contains(&action.number()) {
                failed.push(action.number());
            }
        }
        let outcome = if on_time { record.outcome } else { Outcome::Late { succeeded } };
        tracing::debug!(number = action.number().get(), ?outcome, "decided");
        let record = DecisionRecord { outcome, ..record };
        Finished { late: !on_time, unrecorded: self.recorder.decided(action, &record).err() }
    }

    pub(crate) fn detach(&self) -> &Arc<dyn Detach> {
        &self.detach
    }

    fn record(
        &self,
        action: &StagedAction,
        verdict: Option<Verdict>,
        reason: &str,
        decider: Decider,
        outcome: Outcome,
    ) {
        let number = action.number();
        let record = DecisionRecord { number, verdict, reason, decider, outcome };
        if let Err(error) = self.recorder.decided(action, &record) {
            tracing::warn!(number = number.get(), %error, "a boundary could not be recorded");
        }
    }

    /// The session that is open: a call that was made in another is none of its (`CONTRACT D13`).
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        Epoch(self.epoch.load(Ordering::Relaxed))
    }

    fn failed(&self) -> MutexGuard<'_, Vec<StageNumber>> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    // A panic under the lock can only come from a recorder or a guard; the stack itself is changed
    // in single steps, so what it holds is whole.
    fn stack(&self) -> MutexGuard<'_, Stack<Arc<StagedAction>>> {
        self.stack.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for ActionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ActionStore")
            .field("pending", &self.pending_count())
            .finish_non_exhaustive()
    }
}
