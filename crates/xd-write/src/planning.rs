//! Entering and leaving plan mode through a host, so that both are in the record and outlive the
//! process (`CONTRACT P3, L1`).

use std::sync::{Arc, Mutex, PoisonError};

use xd_resolve::{Decider, PlanMode, RecordError};
use xd_session::{NoReviewer, PlanStep};

use crate::{Host, KeptPlan, PlanEvent, PlanRecord, PlanRecorder};

/// Why plan mode is not entered; it is off.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnterPlanError {
    /// Nobody could approve a plan (`CONTRACT P3`, case 89).
    #[error(transparent)]
    NoReviewer(#[from] NoReviewer),
    /// It could not be written down, so that a restart would not know of it.
    #[error("plan mode was not entered: {0}")]
    NotRecorded(#[source] RecordError),
}

/// The record of plan mode, as a host and whatever ends plan mode share it.
#[derive(Clone, Default)]
pub(crate) struct PlanLog {
    recorder: Option<Arc<dyn PlanRecorder>>,
    /// Who leaves plan mode and why, from the decision until it is left.
    leaving: Arc<Mutex<Option<(Decider, String)>>>,
}

impl PlanLog {
    pub(crate) fn to(recorder: Arc<dyn PlanRecorder>) -> Self {
        Self { recorder: Some(recorder), leaving: Arc::default() }
    }

    pub(crate) fn record(
        &self,
        event: PlanEvent,
        who: Decider,
        reason: &str,
    ) -> Result<(), RecordError> {
        match &self.recorder {
            Some(recorder) => {
                recorder.record_plan(&PlanRecord { event, who, reason: reason.to_owned() })
            }
            None => Ok(()),
        }
    }

    /// The same for what stands whether it can be written down or not.
    pub(crate) fn note(&self, event: PlanEvent, who: Decider, reason: &str) {
        if let Err(error) = self.record(event, who, reason) {
            tracing::warn!(%error, "a step of plan mode could not be recorded");
        }
    }

    /// Says who leaves plan mode, and why, while `leave` does so.
    pub(crate) fn leaving<R>(&self, who: Decider, reason: &str, leave: impl FnOnce() -> R) -> R {
        let slot = || self.leaving.lock().unwrap_or_else(PoisonError::into_inner);
        *slot() = Some((who, reason.to_owned()));
        let left = leave();
        *slot() = None;
        left
    }

    fn left(&self) {
        let leaving = self.leaving.lock().unwrap_or_else(PoisonError::into_inner).take();
        // Left past the host: by a session boundary, or by who holds the session.
        let (who, reason) =
            leaving.unwrap_or_else(|| (Decider::Host, "The session left it.".to_owned()));
        self.note(PlanEvent::Left, who, &reason);
    }
}

impl Host {
    /// Enters plan mode, by the word of `who` and for `reason`, and writes it down. While it is on
    /// nothing of the working tree changes (**Invariant W6**). It ends with an approved plan, with
    /// [`leave_plan`](Self::leave_plan), or with the session, and whichever way, that is written
    /// down too.
    ///
    /// A host that keeps no record may as well enter it through the session.
    ///
    /// # Errors
    /// [`EnterPlanError`]; plan mode is off as before.
    pub fn enter_plan(&self, who: Decider, reason: &str) -> Result<PlanStep, EnterPlanError> {
        self.enter_plan_with(who, reason, || || {})
    }

    /// The same with what else changes for plan mode: `change` is called where plan mode was off,
    /// and what it answers is called once when plan mode ends
    /// ([`PlanState::enter_with`](xd_session::PlanState::enter_with)).
    ///
    /// # Errors
    /// [`EnterPlanError`]; plan mode is off as before and nothing else has changed.
    pub fn enter_plan_with<R>(
        &self,
        who: Decider,
        reason: &str,
        change: impl FnOnce() -> R,
    ) -> Result<PlanStep, EnterPlanError>
    where
        R: FnOnce() + Send + 'static,
    {
        let begin = || self.plan_log().record(PlanEvent::Entered, who, reason);
        self.enter_after(begin, change)
    }

    /// Goes on where the record of an earlier process stopped: enters plan mode again where it was
    /// on, and writes down that a plan under review was withdrawn. Nothing else is written down,
    /// since nothing else is new.
    ///
    /// # Errors
    /// [`EnterPlanError`]; plan mode is off in this process, and a later one begins as this one
    /// should have.
    pub fn restore_plan(&self, kept: &KeptPlan) -> Result<PlanStep, EnterPlanError> {
        match kept.mode {
            PlanMode::Off => Ok(PlanStep::Already),
            PlanMode::On => self.enter_after(
                || match &kept.under_review {
                    Some((slug, digest)) => self.plan_log().record(
                        PlanEvent::Withdrawn { slug: slug.clone(), digest: *digest },
                        Decider::Host,
                        "The process ended before anybody had decided.",
                    ),
                    None => Ok(()),
                },
                || || {},
            ),
        }
    }

    /// Leaves plan mode from whatever state, by the word of `who` and for `reason`.
    pub fn leave_plan(&self, who: Decider, reason: &str) -> PlanStep {
        self.plan_log().leaving(who, reason, || self.session().plan().leave())
    }

    fn enter_after<R>(
        &self,
        begin: impl FnOnce() -> Result<(), RecordError>,
        change: impl FnOnce() -> R,
    ) -> Result<PlanStep, EnterPlanError>
    where
        R: FnOnce() + Send + 'static,
    {
        let mut failed = None;
        let log = self.plan_log().clone();
        let step = self.session().plan().enter_with(|| {
            let restore = match begin() {
                Ok(()) => Some(change()),
                Err(error) => {
                    failed = Some(error);
                    None
                }
            };
            move || {
                if let Some(restore) = restore {
                    log.left();
                    restore();
                }
            }
        })?;
        match failed {
            None => Ok(step),
            Some(error) => {
                self.session().plan().leave();
                Err(EnterPlanError::NotRecorded(error))
            }
        }
    }
}
