//! A confirm on its way: the future that takes an action and runs its effect.

use std::{
    any::Any,
    fmt,
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tracing::Span;
use xd_protocol::{StageNumber, Verdict};

use crate::{
    ActionStore, ApplyError, BoxFuture, Decider, DecisionRecord, Ending, Outcome, RecordError,
    Refusal, StagedAction, ToolResult, store::Finished,
};

/// What a confirm led to.
#[derive(Debug)]
pub enum Resolution {
    /// The effect ran, once.
    Ran {
        /// The action it belongs to.
        action: Arc<StagedAction>,
        /// Apply or discard.
        verdict: Verdict,
        /// The reason given.
        reason: Arc<str>,
        /// How it ended. Kept means that it failed and, unless it is `late`, the action is pending
        /// as before.
        ending: Ending,
        /// What the producer answered; none for a discard that it had nothing to say to.
        result: Option<ToolResult>,
        /// The session had moved on meanwhile: the action is void, however this ended
        /// (`CONTRACT D13`).
        late: bool,
        /// Set where the outcome stands but could not be written down.
        unrecorded: Option<RecordError>,
    },
    /// Nothing ran.
    Refused(Refusal),
}

/// The future of [`ActionStore::confirm`].
///
/// # Cancel safety
/// See there: before the first poll nothing has happened, afterwards it runs to its end.
#[must_use = "nothing happens before the first poll"]
pub struct Confirming(State);

enum State {
    Waiting { store: Arc<ActionStore>, number: StageNumber, decision: Decision },
    Running(Running),
    Done,
}

struct Decision {
    verdict: Verdict,
    reason: Arc<str>,
    decider: Decider,
}

/// A taken action with its effect under way.
struct Running {
    // Dropped first: the action may be pending again only when nothing of its effect is left.
    effect: Effecting,
    taken: Taken,
    /// Entered whenever the effect is polled.
    span: Span,
}

impl Confirming {
    pub(crate) fn new(
        store: Arc<ActionStore>,
        number: StageNumber,
        verdict: Verdict,
        reason: Arc<str>,
        decider: Decider,
    ) -> Self {
        Self(State::Waiting { store, number, decision: Decision { verdict, reason, decider } })
    }
}

impl Future for Confirming {
    type Output = Resolution;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Resolution> {
        let mut running = match std::mem::replace(&mut self.0, State::Done) {
            State::Waiting { store, number, decision } => {
                let Decision { verdict, ref reason, decider } = decision;
                let verb = verdict.as_str();
                let span = tracing::debug_span!("confirm", number = number.get(), verb);
                let _entered = span.enter();
                match store.take(number, verdict, reason, decider) {
                    Ok(action) => Running::start(Taken { store, action, decision, open: true }),
                    Err(refusal) => return Poll::Ready(Resolution::Refused(refusal)),
                }
            }
            State::Running(running) => running,
            State::Done => panic!("a confirm was polled after it had answered"),
        };
        match running.poll(cx) {
            Poll::Ready(answer) => {
                let _entered = running.span.enter();
                Poll::Ready(running.taken.settle(answer))
            }
            Poll::Pending => {
                self.0 = State::Running(running);
                Poll::Pending
            }
        }
    }
}

impl Drop for Confirming {
    fn drop(&mut self) {
        if let State::Running(mut running) = std::mem::replace(&mut self.0, State::Done) {
            let detach = Arc::clone(running.taken.store.detach());
            tracing::debug!(
                number = running.taken.action.number().get(),
                "caller gone, effect goes on"
            );
            // Not a `Confirming` again: a detacher that drops what it is given must end here, in
            // the drop of `Taken`, and not hand the rest to itself for ever.
            detach.detach(Box::pin(async move {
                let answer = poll_fn(|cx| running.poll(cx)).await;
                drop(running.taken.settle(answer));
            }));
        }
    }
}

impl fmt::Debug for Confirming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::Waiting { .. } => "Confirming(waiting)",
            State::Running(_) => "Confirming(running)",
            State::Done => "Confirming(done)",
        })
    }
}

type Answer = Result<Option<ToolResult>, ApplyError>;

/// The producer's future, of either verdict. Kept apart rather than wrapped into one future: a
/// decision then costs one allocation less.
enum Effecting {
    Apply(BoxFuture<'static, Result<ToolResult, ApplyError>>),
    Discard(BoxFuture<'static, Answer>),
    /// The call itself panicked, before there was a future.
    Failed(Option<ApplyError>),
}

impl Running {
    fn start(taken: Taken) -> Self {
        let span = match taken.decision.verdict {
            Verdict::Apply => tracing::debug_span!("apply"),
            Verdict::Discard => tracing::debug_span!("discard"),
        };
        let entered = span.enter();
        tracing::debug!("the effect starts");
        let effect = taken.action.effect();
        let reason = Arc::clone(&taken.decision.reason);
        let started = match taken.decision.verdict {
            Verdict::Apply => {
                catch_unwind(AssertUnwindSafe(|| Effecting::Apply(effect.apply(reason))))
            }
            Verdict::Discard => {
                catch_unwind(AssertUnwindSafe(|| Effecting::Discard(effect.reject(reason))))
            }
        };
        let effect = started.unwrap_or_else(|panic| Effecting::Failed(Some(panicked(&*panic))));
        drop(entered);
        Self { effect, taken, span }
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Answer> {
        let _entered = self.span.enter();
        let effect = &mut self.effect;
        let polled = catch_unwind(AssertUnwindSafe(|| match effect {
            Effecting::Apply(effect) => effect.as_mut().poll(cx).map(|answer| answer.map(Some)),
            Effecting::Discard(effect) => effect.as_mut().poll(cx),
            Effecting::Failed(error) => error.take().map_or(Poll::Pending, |e| Poll::Ready(Err(e))),
        }));
        polled.unwrap_or_else(|panic| Poll::Ready(Err(panicked(&*panic))))
    }
}

/// An action that this confirm has taken and must give back or close.
struct Taken {
    store: Arc<ActionStore>,
    action: Arc<StagedAction>,
    decision: Decision,
    open: bool,
}

impl Taken {
    fn settle(mut self, answer: Answer) -> Resolution {
        let verdict = self.decision.verdict;
        let (ending, result) = match answer {
            Ok(Some(result)) if result.is_error => (Ending::Kept, Some(result)),
            Ok(result) => match verdict {
                Verdict::Apply => (Ending::Applied, result),
                Verdict::Discard => (Ending::Discarded, result),
            },
            Err(ApplyError::Tool(result)) => {
                (Ending::Kept, Some(ToolResult { is_error: true, ..result }))
            }
            Err(ApplyError::Other(error)) => {
                let text = match verdict {
                    Verdict::Apply => format!("Apply failed: {error}"),
                    Verdict::Discard => error.to_string(),
                };
                (Ending::Kept, Some(ToolResult::error(text)))
            }
        };
        let Finished { late, unrecorded } = self.end(ending, result.as_ref());
        let (action, reason) = (Arc::clone(&self.action), Arc::clone(&self.decision.reason));
        Resolution::Ran { action, verdict, reason, ending, result, late, unrecorded }
    }

    fn end(&mut self, ending: Ending, result: Option<&ToolResult>) -> Finished {
        self.open = false;
        let outcome = match ending {
            Ending::Applied => Outcome::Applied,
            Ending::Discarded => Outcome::Discarded,
            Ending::Kept => {
                Outcome::Failed { message: result.map(ToolResult::joined).unwrap_or_default() }
            }
        };
        let Decision { verdict, ref reason, decider } = self.decision;
        let number = self.action.number();
        let record = DecisionRecord { number, verdict: Some(verdict), reason, decider, outcome };
        self.store.finish(&self.action, ending, record)
    }
}

impl Drop for Taken {
    // Reached only where even the detacher dropped the rest: the action must not stay taken.
    fn drop(&mut self) {
        if self.open {
            let interrupted = ToolResult::error("it was interrupted before it ended");
            self.end(Ending::Kept, Some(&interrupted));
        }
    }
}

fn panicked(panic: &(dyn Any + Send)) -> ApplyError {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("the producer panicked: {}", text.unwrap_or("no message")).into()
}
