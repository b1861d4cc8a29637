//! Hard directives: tool choices that somebody pushed, served one a turn (`CONTRACT Q1–Q7`).

use std::{collections::VecDeque, fmt, sync::Arc};

use serde::{Deserialize, Serialize};
use xd_protocol::Verdict;
use xd_resolve::{BoxFuture, ToolResult};

/// What a request tells the provider about tools.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    Auto,
    /// Some tool, whichever.
    Required,
    /// No tool.
    None,
    /// This tool.
    Named(String),
}

impl ToolChoice {
    /// Whether it leaves the model no turn without a call.
    #[must_use]
    pub fn forces(&self) -> bool {
        match self {
            Self::Required | Self::Named(_) => true,
            Self::Auto | Self::None => false,
        }
    }
}

/// Why a served choice did not take effect (`CONTRACT Q4`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RejectReason {
    /// The turn was aborted.
    Aborted,
    /// The provider failed.
    Error,
    /// The queue was cleared.
    Cleared,
    /// Its label was removed.
    Removed,
    /// It names a tool that is not active.
    Unavailable,
    /// Its handler was never called.
    NotInvoked,
}

/// What becomes of a choice that was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OnRejected {
    /// Serve the lost choice again, before all others, with its callbacks.
    Requeue,
    /// Lose it; later choices of its sequence stay.
    #[default]
    Drop,
    /// Lose it and all later ones of its sequence.
    DropSequence,
}

/// A handler that a confirm reaches before the stack does (`CONTRACT D1`). None lets it pass.
///
/// Like the two below it is called while the queue is borrowed, in a session under its lock: it
/// must not call back into the session. What needs the session belongs into the future.
pub type InvokedHandler =
    Arc<dyn Fn(Verdict, Arc<str>) -> Option<BoxFuture<'static, ToolResult>> + Send + Sync>;
/// Called when a choice took effect.
pub type ResolvedHandler = Arc<dyn Fn() + Send + Sync>;
/// Called when a choice was rejected; says what becomes of it.
pub type RejectedHandler = Arc<dyn Fn(RejectReason) -> OnRejected + Send + Sync>;

/// How a directive is pushed.
#[derive(Clone, Default)]
pub struct DirectiveOptions {
    label: Option<Arc<str>>,
    now: bool,
    on_invoked: Option<InvokedHandler>,
    on_resolved: Option<ResolvedHandler>,
    on_rejected: Option<RejectedHandler>,
}

impl DirectiveOptions {
    /// At the tail, labelled `anonymous`, without callbacks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Labels it.
    #[must_use]
    pub fn label(mut self, label: &str) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Puts it before all others.
    #[must_use]
    pub fn now(mut self) -> Self {
        self.now = true;
        self
    }

    /// Lets `handler` see confirms before the stack does. A choice whose handler was never called
    /// counts as [`NotInvoked`](RejectReason::NotInvoked).
    #[must_use]
    pub fn on_invoked(mut self, handler: InvokedHandler) -> Self {
        self.on_invoked = Some(handler);
        self
    }

    /// Calls `handler` when the choice took effect.
    #[must_use]
    pub fn on_resolved(mut self, handler: ResolvedHandler) -> Self {
        self.on_resolved = Some(handler);
        self
    }

    /// Asks `handler` what becomes of a rejected choice.
    #[must_use]
    pub fn on_rejected(mut self, handler: RejectedHandler) -> Self {
        self.on_rejected = Some(handler);
        self
    }

    fn label_text(&self) -> Arc<str> {
        self.label.clone().unwrap_or_else(|| "anonymous".into())
    }
}

impl fmt::Debug for DirectiveOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DirectiveOptions")
            .field("label", &self.label)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

struct Directive {
    choices: Box<dyn Iterator<Item = ToolChoice> + Send>,
    options: DirectiveOptions,
    /// Names the sequence, so that a requeued choice and the rest of its sequence stay one.
    sequence: u64,
}

struct InFlight {
    choice: ToolChoice,
    options: DirectiveOptions,
    sequence: u64,
    invoked: bool,
}

/// The queue of hard directives. Pure but for the callbacks that were pushed into it.
#[derive(Default)]
pub struct ToolChoiceQueue {
    waiting: VecDeque<Directive>,
    in_flight: Option<InFlight>,
    last_served: Option<Arc<str>>,
    sequences: u64,
}

impl ToolChoiceQueue {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Pushes one choice.
    pub fn push_once(&mut self, choice: ToolChoice, options: DirectiveOptions) {
        self.push(std::iter::once(choice), options);
    }

    /// Pushes several, served one a turn.
    pub fn push_sequence(&mut self, choices: Vec<ToolChoice>, options: DirectiveOptions) {
        self.push(choices, options);
    }

    /// Pushes any iterator of choices; it is advanced only as turns ask.
    pub fn push<I>(&mut self, choices: I, options: DirectiveOptions)
    where
        I: IntoIterator<Item = ToolChoice>,
        I::IntoIter: Send + 'static,
    {
        self.sequences += 1;
        let now = options.now;
        let directive =
            Directive { choices: Box::new(choices.into_iter()), options, sequence: self.sequences };
        if now { self.waiting.push_front(directive) } else { self.waiting.push_back(directive) }
    }

    /// A person forces `tool` for one turn; the turn after may call none (`CONTRACT Q6`).
    pub fn user_force(&mut self, tool: &str) {
        let options = DirectiveOptions::new()
            .label("user-force")
            .now()
            .on_rejected(Arc::new(|_| OnRejected::DropSequence));
        self.push_sequence(vec![ToolChoice::Named(tool.to_owned()), ToolChoice::None], options);
    }

    /// Serves the next choice and notes it as in flight; drops exhausted sequences.
    ///
    /// One that is still in flight was never reported: it is rejected as aborted first.
    pub fn next_tool_choice(&mut self) -> Option<ToolChoice> {
        if self.in_flight.is_some() {
            self.reject(RejectReason::Aborted);
        }
        while let Some(head) = self.waiting.front_mut() {
            if let Some(choice) = head.choices.next() {
                self.in_flight = Some(InFlight {
                    choice: choice.clone(),
                    options: head.options.clone(),
                    sequence: head.sequence,
                    invoked: false,
                });
                return Some(choice);
            }
            self.waiting.pop_front();
        }
        None
    }

    /// Offers a confirm to the handler of the choice in flight (`CONTRACT D1`). None where there
    /// is no handler or it lets the confirm pass.
    pub fn invoke(
        &mut self,
        verdict: Verdict,
        reason: &Arc<str>,
    ) -> Option<BoxFuture<'static, ToolResult>> {
        let in_flight = self.in_flight.as_mut()?;
        let handler = in_flight.options.on_invoked.as_ref()?;
        let answer = handler(verdict, Arc::clone(reason))?;
        in_flight.invoked = true;
        Some(answer)
    }

    /// The turn of the choice in flight has ended well (`CONTRACT Q3`).
    pub fn resolve(&mut self) {
        let Some(in_flight) = &self.in_flight else { return };
        if in_flight.options.on_invoked.is_some() && !in_flight.invoked {
            self.reject(RejectReason::NotInvoked);
            return;
        }
        if let Some(InFlight { options, .. }) = self.in_flight.take() {
            self.last_served = Some(options.label_text());
            if let Some(on_resolved) = options.on_resolved {
                on_resolved();
            }
        }
    }

    /// The choice in flight did not take effect (`CONTRACT Q4`).
    pub fn reject(&mut self, reason: RejectReason) {
        let Some(InFlight { choice, options, sequence, .. }) = self.in_flight.take() else {
            return;
        };
        let answer = options.on_rejected.as_ref().map(|ask| ask(reason)).unwrap_or_default();
        // A requeue would bring back what is being taken away.
        let answer = match reason {
            RejectReason::Cleared | RejectReason::Removed => OnRejected::DropSequence,
            RejectReason::Aborted
            | RejectReason::Error
            | RejectReason::Unavailable
            | RejectReason::NotInvoked => answer,
        };
        match answer {
            OnRejected::Requeue => {
                let choices = Box::new(std::iter::once(choice));
                self.waiting.push_front(Directive { choices, options, sequence });
            }
            OnRejected::Drop => {}
            OnRejected::DropSequence => self.waiting.retain(|d| d.sequence != sequence),
        }
    }

    /// Removes every directive with `label`, requeued ones too, and rejects one in flight.
    pub fn remove_by_label(&mut self, label: &str) {
        if self.in_flight.as_ref().is_some_and(|f| &*f.options.label_text() == label) {
            self.reject(RejectReason::Removed);
        }
        self.waiting.retain(|d| &*d.options.label_text() != label);
    }

    /// Empties the queue and forgets the last served label; one in flight is rejected as cleared.
    pub fn clear(&mut self) {
        self.reject(RejectReason::Cleared);
        self.waiting.clear();
        self.last_served = None;
    }

    /// The choice in flight.
    #[must_use]
    pub fn in_flight(&self) -> Option<&ToolChoice> {
        self.in_flight.as_ref().map(|f| &f.choice)
    }

    /// The label of the choice that took effect last; a second call answers none.
    pub fn consume_last_served_label(&mut self) -> Option<Arc<str>> {
        self.last_served.take()
    }
}

impl fmt::Debug for ToolChoiceQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolChoiceQueue")
            .field("waiting", &self.waiting.len())
            .field("in_flight", &self.in_flight())
            .finish_non_exhaustive()
    }
}
