//! What can happen to a session, and what is seen of it from outside.

use xd_protocol::Verdict;

use crate::model::{CALLS, Call, Hard, HardChoice, Life, Which};

/// How a provider turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum End {
    Complete,
    Truncated,
    Aborted,
    Failed,
}

/// What a model's provider is declared to allow in the way of forcing. There is one model for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Provider {
    Named,
    NamedUnlessThinking,
    SomeTool,
    AutoOnly,
    Unknown,
}

/// Models there are.
pub(crate) const MODELS: usize = 5;

/// How a turn is pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Pin {
    /// The request's own choice, or a hard choice of no tool.
    Own,
    Named,
    SomeTool,
    /// A choice was to be forced and the provider cannot be asked to.
    Unavailable,
}

/// What the coming request is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Request {
    /// `write` is among its tools.
    pub(crate) write: bool,
    /// Its own tool choice is `none`.
    pub(crate) none: bool,
    pub(crate) provider: Provider,
    pub(crate) thinks: bool,
}

impl Request {
    pub(crate) const USUAL: Self =
        Self { write: true, none: false, provider: Provider::Named, thinks: true };
}

/// The calls of a turn, in order.
pub(crate) type Calls = [Option<Call>; CALLS];

/// One input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Fact {
    /// A prompt of the user begins a run.
    Prompt,
    /// The history was compacted.
    Compacted,
    /// A transition that ends the session.
    Boundary,
    /// The process dies and a new one resumes. `landed`: what a durable apply under way was to
    /// write had been written.
    Restart { landed: bool },
    /// A producer stages, outside the batch.
    Stage { durable: bool },
    /// Somebody changes what an action starts from.
    Touch(u8),
    /// A host pushes a hard directive.
    Push(Hard),
    /// The loop asks for a turn.
    Open(Request),
    /// The provider answers.
    Reply { end: End, calls: Calls },
    /// The provider refuses the forced choice of the request.
    Refuse,
    /// A person makes a confirm.
    Person { verdict: Verdict, which: Which },
    /// The call at this place is polled for the first time.
    Poll(u8),
    /// The effect of this run ends.
    Finish { run: u8, succeeds: bool },
    /// The caller of the call at this place goes away.
    Drop(u8),
    /// The run is aborted while its calls run.
    Abort,
}

/// What becomes of a turn's calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Judged {
    Free,
    Run,
    Skip,
    NoCall,
    Void,
}

/// Why a confirm did nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Refusal {
    NothingPending,
    Blank,
    Unknown(u8),
    BeingResolved(u8),
    Decided(u8, Life),
    SecondBare,
    NotYetSeen(u8),
    /// The session of its batch has ended.
    SessionEnded,
}

/// The result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    /// The effect ran.
    Ran {
        number: u8,
        verdict: Verdict,
        succeeded: bool,
        late: bool,
    },
    Refused(Refusal),
    /// A hard directive's handler answered.
    Handled,
    Staged(u8),
    /// A call that is no confirm was carried out.
    Executed,
    /// Not executed: the turn did not comply.
    Skipped,
    /// Not executed: the turn was aborted or failed.
    TurnVoid,
    /// Not executed: the session that asked for the turn has ended.
    TurnLate,
    /// Not executed: it may be half a call.
    Cut,
    /// Nobody waited for it any more.
    Gone,
}

/// What is seen from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Event {
    Staged(u8),
    Opened {
        head: u8,
        remind: bool,
        force: bool,
        hard: Option<HardChoice>,
        unavailable: bool,
        pin: Pin,
    },
    /// A forced choice was refused: the turn was none and the next is planned.
    ChoiceRefused,
    /// The budget of this action is spent and the run has ended.
    Parked(u8),
    Judged(Judged),
    Started {
        number: u8,
        verdict: Verdict,
        place: u8,
    },
    /// An effect ended; `wrote` for an apply that changed something.
    Ended {
        number: u8,
        verdict: Verdict,
        succeeded: bool,
        late: bool,
        wrote: bool,
    },
    Answered {
        place: u8,
        answer: Answer,
    },
    /// The run ended otherwise.
    Stopped,
}
