//! The plan state that a session, its guard and its hosts share.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use xd_protocol::{Verdict, notice};
use xd_resolve::{Decider, Guard, PlanMode, StagedAction, Tier, ToolResult};

use crate::{
    Approving, NoReviewer, NotProposed, PlanDigest, PlanMachine, PlanPhase, PlanReviewer, PlanStep,
    PlanTicket, Proposal,
};

/// Undoes what entering plan mode changed.
type Restore = Box<dyn FnOnce() + Send>;

/// Plan mode of one session. Clones are the same state: the session, the guard of its store and
/// its hosts share it, so that no route to an apply can see another answer (`CONTRACT W7`).
///
/// It is entered only where a reviewer is installed, every state of it reaches "off", and whichever
/// way it ends, what entering changed is restored once (**Invariant S6**).
#[derive(Clone, Default)]
pub struct PlanState(Arc<Shared>);

#[derive(Default)]
struct Shared {
    /// Held while a change of mode and what belongs to it are under way, never while asked.
    changing: Mutex<()>,
    machine: Mutex<PlanMachine<Restore>>,
    reviewer: Mutex<Option<Arc<dyn PlanReviewer>>>,
    /// Whether the model was last told that plan mode is on.
    told: Mutex<bool>,
}

impl PlanState {
    /// Installs who reviews plans. Without one plan mode cannot be entered.
    pub fn set_reviewer(&self, reviewer: Arc<dyn PlanReviewer>) {
        *locked(&self.0.reviewer) = Some(reviewer);
    }

    /// Who reviews plans.
    #[must_use]
    pub fn reviewer(&self) -> Option<Arc<dyn PlanReviewer>> {
        locked(&self.0.reviewer).clone()
    }

    /// Enters plan mode; nothing else changes with it.
    ///
    /// # Errors
    /// [`NoReviewer`]; plan mode stays off.
    pub fn enter(&self) -> Result<PlanStep, NoReviewer> {
        self.enter_with(|| || {})
    }

    /// Enters plan mode with what a host changes for it: `change` is called where plan mode was
    /// off, and what it answers is called once when plan mode ends, whichever way. Neither may
    /// enter or leave plan mode itself.
    ///
    /// # Errors
    /// [`NoReviewer`]; plan mode stays off and `change` is not called.
    pub fn enter_with<R>(&self, change: impl FnOnce() -> R) -> Result<PlanStep, NoReviewer>
    where
        R: FnOnce() + Send + 'static,
    {
        if self.reviewer().is_none() {
            return Err(NoReviewer);
        }
        let _one_at_a_time = locked(&self.0.changing);
        // On before the host changes anything: whatever it does for plan mode happens in it.
        let step = self.machine().enter(|| Box::new(|| {}));
        if step == PlanStep::Done {
            let restore: Restore = Box::new(change());
            self.machine().put_by(restore);
        }
        Ok(step)
    }

    /// Leaves plan mode from whatever state, and restores what entering changed.
    pub fn leave(&self) -> PlanStep {
        let _one_at_a_time = locked(&self.0.changing);
        let before = self.machine().leave();
        match before {
            Some(restore) => {
                restore();
                PlanStep::Done
            }
            None => PlanStep::Already,
        }
    }

    /// Enters plan mode where it is off and leaves it where it is on, under review or not
    /// (case 91). Answers what it is then.
    ///
    /// # Errors
    /// [`NoReviewer`]; plan mode stays off.
    pub fn toggle(&self) -> Result<PlanMode, NoReviewer> {
        match self.mode() {
            PlanMode::Off => self.enter().map(|_| PlanMode::On),
            PlanMode::On => {
                self.leave();
                Ok(PlanMode::Off)
            }
        }
    }

    /// Where it stands.
    #[must_use]
    pub fn phase(&self) -> PlanPhase {
        self.machine().phase()
    }

    /// Whether it is on.
    #[must_use]
    pub fn mode(&self) -> PlanMode {
        self.machine().mode()
    }

    /// Whether plan mode keeps `action` from being applied now.
    #[must_use]
    pub fn holds_back(&self, action: &StagedAction) -> bool {
        match (self.mode(), action.tier()) {
            (PlanMode::On, Tier::Write | Tier::Exec) => true,
            (PlanMode::On, Tier::Read) | (PlanMode::Off, _) => false,
        }
    }

    /// A plan is submitted; the review is open until it is approved or dropped.
    ///
    /// # Errors
    /// [`NotProposed`]; nothing has changed.
    pub fn submit(&self, proposal: Proposal) -> Result<OpenReview, NotProposed> {
        let ticket = self.machine().propose(proposal)?;
        Ok(OpenReview { plan: self.clone(), ticket })
    }

    /// The conversation is another one: an open review is void.
    pub(crate) fn void_review(&self) {
        self.machine().void_review();
    }

    /// A history is resumed that left the model believing this of plan mode.
    pub(crate) fn was_told(&self, mode: PlanMode) {
        *locked(&self.0.told) = mode == PlanMode::On;
    }

    /// The conversation has lost what the model was told of plan mode.
    pub(crate) fn forget_told(&self) {
        *locked(&self.0.told) = false;
    }

    /// The history may have lost what the model was told: where plan mode is on it is told again.
    pub(crate) fn tell_again(&self) {
        if self.mode() == PlanMode::On {
            self.forget_told();
        }
    }

    /// What the model has to be told: plan mode is on (with the slug of the plan at hand), or off
    /// again. Asked once for a change.
    pub(crate) fn untold(&self) -> Option<Untold> {
        let mut told = locked(&self.0.told);
        let machine = self.machine();
        match (machine.mode(), *told) {
            (PlanMode::On, false) => {
                *told = true;
                Some(Untold::On { slug: machine.last_slug().map(str::to_owned) })
            }
            (PlanMode::Off, true) => {
                *told = false;
                Some(Untold::Off)
            }
            (PlanMode::On, true) | (PlanMode::Off, false) => None,
        }
    }

    fn approve(&self, ticket: PlanTicket, current: PlanDigest) -> Approving<()> {
        let _one_at_a_time = locked(&self.0.changing);
        let approving = self.machine().approve(ticket, current);
        match approving {
            Approving::Approved(restore) => {
                // The answer to the submission says so itself.
                self.forget_told();
                restore();
                Approving::Approved(())
            }
            Approving::Changed => Approving::Changed,
            Approving::Late => Approving::Late,
        }
    }

    fn machine(&self) -> MutexGuard<'_, PlanMachine<Restore>> {
        locked(&self.0.machine)
    }
}

/// What the model has to be told of plan mode.
pub(crate) enum Untold {
    /// It is on.
    On {
        /// The plan at hand.
        slug: Option<String>,
    },
    /// It is off, and nothing was approved.
    Off,
}

/// A plan under review. Dropped without an approval, planning goes on.
#[derive(Debug)]
#[must_use = "dropped, the review is over"]
pub struct OpenReview {
    plan: PlanState,
    ticket: PlanTicket,
}

impl OpenReview {
    /// The reviewer approved. `current` is the digest of the draft as it is now
    /// (see [`PlanMachine::approve`]).
    pub fn approve(self, current: PlanDigest) -> Approving<()> {
        self.plan.approve(self.ticket, current)
    }
}

impl Drop for OpenReview {
    fn drop(&mut self) {
        self.plan.machine().reopen(self.ticket);
    }
}

impl Guard for PlanState {
    fn check(&self, action: &StagedAction, verdict: Verdict, _: Decider) -> Result<(), ToolResult> {
        match verdict {
            Verdict::Apply if self.holds_back(action) => Err(ToolResult::error(format!(
                "Not applied: {} Staged action @{} stays pending.{}",
                notice::PLAN_MODE_ON,
                action.number(),
                notice::PLAN_MODE_HINT
            ))),
            Verdict::Apply | Verdict::Discard => Ok(()),
        }
    }
}

impl fmt::Debug for PlanState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PlanState").field("phase", &self.phase()).finish_non_exhaustive()
    }
}

// Every lock here guards single steps, so that what a panic leaves behind is whole.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
