//! Entering and leaving plan mode through a host, so that both are in the record and outlive the
//! process (`CONTRACT P3, L1`).

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, ThreadId},
};

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
    /// Who leaves plan mode and why, from the decision until it is left, by the thread that does
    /// so: it is left on that thread, and what ends it on another at the same time did not ask here.
    leaving: Arc<Mutex<Vec<Leaving>>>,
}

struct Leaving {
    thread: ThreadId,
    who: Decider,
    reason: String,
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
        let thread = thread::current().id();
        self.leaving_now().push(Leaving { thread, who, reason: reason.to_owned() });
        // Taken back also where `leave` panics: the thread may leave for somebody else later.
        let _end = EndLeaving(self, thread);
        leave()
    }

    fn left(&self) {
        let leaving = self.leaving_of(thread::current().id()).map(|it| (it.who, it.reason));
        // Left past the host: by a session boundary, or by who holds the session.
        let (who, reason) =
            leaving.unwrap_or_else(|| (Decider::Host, "The session left it.".to_owned()));
        self.note(PlanEvent::Left, who, &reason);
    }

    fn leaving_of(&self, thread: ThreadId) -> Option<Leaving> {
        let mut leaving = self.leaving_now();
        let at = leaving.iter().position(|it| it.thread == thread)?;
        Some(leaving.swap_remove(at))
    }

    fn leaving_now(&self) -> MutexGuard<'_, Vec<Leaving>> {
        self.leaving.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends what [`PlanLog::leaving`] began, where plan mode was not left by it.
struct EndLeaving<'a>(&'a PlanLog, ThreadId);

impl Drop for EndLeaving<'_> {
    fn drop(&mut self) {
        drop(self.0.leaving_of(self.1));
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

#[cfg(test)]
mod tests {
    use super::*;
    use xd_resolve::BoxFuture;
    use xd_session::{Boundary, PlanAnswer, PlanReview, PlanReviewer, Session};

    use crate::Workspace;

    struct Nobody;

    impl PlanReviewer for Nobody {
        fn review(&self, _: PlanReview) -> BoxFuture<'_, PlanAnswer> {
            Box::pin(std::future::ready(PlanAnswer::Dismissed))
        }
    }

    #[derive(Default)]
    struct Kept(Mutex<Vec<PlanRecord>>);

    impl PlanRecorder for Kept {
        fn record_plan(&self, record: &PlanRecord) -> Result<(), RecordError> {
            self.0.lock().unwrap().push(record.clone());
            Ok(())
        }
    }

    // CONTRACT L1: a boundary that ends plan mode while a person is about to leave it is not
    // written down as hers.
    #[test]
    fn l1_what_ends_plan_mode_first_is_who_ended_it() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Arc::new(Kept::default());
        let recorder: Arc<dyn PlanRecorder> = Arc::<Kept>::clone(&kept);
        let session = Arc::new(Session::new());
        let host = Host::builder(Arc::clone(&session), Workspace::open(folder.path()).unwrap())
            .reviewer(Arc::new(Nobody))
            .plan_recorder(recorder)
            .build();
        host.enter_plan(Decider::Person, "Look first.").unwrap();
        let step = host.plan_log().leaving(Decider::Person, "Enough.", || {
            thread::scope(|scope| {
                scope.spawn(|| session.boundary(Boundary::New)).join().unwrap();
            });
            session.plan().leave()
        });
        assert_eq!(step, PlanStep::Already);
        host.enter_plan(Decider::Person, "Again.").unwrap();
        // What was said and not used is not used for the next.
        session.plan().leave();
        host.enter_plan(Decider::Person, "Once more.").unwrap();
        host.leave_plan(Decider::Person, "Done.");
        let left: Vec<(Decider, String)> = kept
            .0
            .lock()
            .unwrap()
            .iter()
            .filter(|record| record.event == PlanEvent::Left)
            .map(|record| (record.who, record.reason.clone()))
            .collect();
        let by_the_session = (Decider::Host, "The session left it.".to_owned());
        let by_her = (Decider::Person, "Done.".to_owned());
        assert_eq!(left, [by_the_session.clone(), by_the_session, by_her]);
    }
}
