//! One action staged and confirmed, with an effect that does nothing: what is left is the store's
//! own cost. Benchmarks measure its time, tests count its allocations.

use std::{
    future::Future as _,
    hint::black_box,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use xd_protocol::Verdict;
use xd_resolve::{
    ActionStore, ApplyError, BoxFuture, Decider, Effect, Resolution, StageRequest, ToolResult,
};

/// A store with so many pending actions, and what it takes to stage and confirm one more.
#[derive(Debug)]
pub struct Probe {
    store: Arc<ActionStore>,
    effect: Arc<Nothing>,
    reason: Arc<str>,
}

/// An effect that does nothing, at once.
#[derive(Debug)]
struct Nothing;

impl Effect for Nothing {
    fn apply(&self, _: Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>> {
        Box::pin(std::future::ready(Ok(ToolResult::default())))
    }
}

impl Probe {
    /// A store with `pending` pending actions, without a record and without a guard.
    #[must_use]
    pub fn with_pending(pending: usize) -> Self {
        let probe = Self {
            store: Arc::new(ActionStore::new()),
            effect: Arc::new(Nothing),
            reason: "Every caller uses the new name.".into(),
        };
        for _ in 0..pending {
            probe.stage();
        }
        probe
    }

    fn request(&self) -> StageRequest {
        StageRequest::with_effect("Rename: 1 file", Arc::<Nothing>::clone(&self.effect))
    }

    fn stage(&self) -> xd_protocol::StageNumber {
        let staged = self.store.stage(self.request());
        staged.expect("nothing is recorded, so nothing can fail").number()
    }

    /// Stages one more action and applies it, so that as many are pending as before.
    pub fn stage_and_confirm(&self) -> Resolution {
        let (number, reason) = (self.stage(), Arc::clone(&self.reason));
        let confirm = self.store.confirm(number, Verdict::Apply, reason, Decider::Model);
        match pin!(confirm).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(resolution) => resolution,
            Poll::Pending => unreachable!("the effect is ready at once"),
        }
    }

    /// What of that is the producer's: making the request, and its own boxed future.
    pub fn what_the_producer_does(&self) -> (StageRequest, bool) {
        let request = black_box(self.request());
        let mut applied = self.effect.apply(Arc::clone(&self.reason));
        let answer = applied.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        (request, answer.is_ready())
    }

    /// How many actions are pending.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.store.pending_count()
    }
}
