//! The reference model of the protocol: its state. Written from the protocol's statements, not
//! from the code; `steps.rs` says how the state changes.

use xd_protocol::Verdict;

use crate::{
    facts::{MODELS, Provider},
    steps::Rules,
};

/// Calls of one batch that the model follows.
pub(crate) const CALLS: usize = 3;
/// The place of a person's confirm, which belongs to no batch of the model.
pub(crate) const PERSON: usize = CALLS;
/// Places for calls in all.
pub(crate) const PLACES: usize = CALLS + 1;
/// Effects that run at once.
pub(crate) const RUNS: usize = 3;
/// Hard directives that wait or are in flight.
pub(crate) const DIRECTIVES: usize = 3;

/// What became of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Life {
    #[default]
    Absent,
    Pending,
    Taken(Verdict),
    Applied,
    Discarded,
    Void,
}

impl Life {
    pub(crate) fn is_open(self) -> bool {
        match self {
            Self::Pending | Self::Taken(_) => true,
            Self::Absent | Self::Applied | Self::Discarded | Self::Void => false,
        }
    }
}

/// How the next turn on a head is asked for: with a reminder, by force, once more without force
/// (case 69), or not at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Next {
    #[default]
    Remind,
    Force,
    OnceUnforced,
    Stop,
}

/// Why a head is left alone until the next prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Rest {
    #[default]
    No,
    Lifted,
    Parked,
}

/// What of a head's budget makes no difference any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forgotten {
    Nothing,
    /// How it was spent: nothing of it is left.
    How,
    All,
}

/// What was spent on one action as the head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Ledger {
    pub(crate) turns: u8,
    pub(crate) forced: u8,
    pub(crate) looks: u8,
    pub(crate) next: Next,
    pub(crate) rest: Rest,
}

/// One staged action. Its number is its place plus one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Action {
    pub(crate) life: Life,
    /// It has a change set, so it outlives the process.
    pub(crate) durable: bool,
    /// What it starts from has changed since its preview.
    pub(crate) stale: bool,
    pub(crate) reminded: bool,
    pub(crate) ledger: Ledger,
}

/// Which action a confirm names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Which {
    Head,
    Number(u8),
}

/// What a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Call {
    Confirm {
        verdict: Verdict,
        which: Which,
        blank: bool,
    },
    Look,
    Detour,
    Stage {
        durable: bool,
    },
    /// A tool of the read tier that stages all the same.
    StageByLook {
        durable: bool,
    },
}

impl Call {
    /// Whether it passes for looking.
    pub(crate) fn looks(self) -> bool {
        match self {
            Self::Look | Self::StageByLook { .. } => true,
            Self::Confirm { .. } | Self::Detour | Self::Stage { .. } => false,
        }
    }

    /// Whether it is neither a confirm nor passes for looking.
    pub(crate) fn strays(self) -> bool {
        match self {
            Self::Detour | Self::Stage { .. } => true,
            Self::Confirm { .. } | Self::Look | Self::StageByLook { .. } => false,
        }
    }

    pub(crate) fn stages(self) -> bool {
        match self {
            Self::Stage { .. } | Self::StageByLook { .. } => true,
            Self::Confirm { .. } | Self::Look | Self::Detour => false,
        }
    }

    /// A number of its own.
    fn key(self) -> u8 {
        match self {
            Self::Look => 0,
            Self::Detour => 1,
            Self::Stage { durable } => 2 + u8::from(durable),
            Self::StageByLook { durable } => 4 + u8::from(durable),
            Self::Confirm { verdict, which, blank } => {
                let number = match which {
                    Which::Head => 0,
                    Which::Number(number) => number,
                };
                6 + 4 * number + 2 * u8::from(verdict == Verdict::Apply) + u8::from(blank)
            }
        }
    }
}

/// What had been spent on a head when a turn on it looked, until it is known what came up
/// meanwhile. The number is 0 for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Looked {
    pub(crate) number: u8,
    pub(crate) turns: u8,
    pub(crate) forced: u8,
    pub(crate) looks: u8,
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Place {
    #[default]
    Free,
    /// Not begun: its future was not polled yet.
    Waiting(Call),
    /// It took an action, whose effect runs.
    Running,
    Answered,
}

/// An effect under way. Ordered so that states that differ in the order of runs alone are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Run {
    /// The action's place.
    pub(crate) action: u8,
    pub(crate) applies: bool,
    /// The call that waits for it; none once the caller went away.
    pub(crate) owner: Option<u8>,
}

impl Run {
    pub(crate) fn verdict(self) -> Verdict {
        if self.applies { Verdict::Apply } else { Verdict::Discard }
    }
}

/// What was so when a batch began. Numbers, 0 for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct Batch {
    pub(crate) head: u8,
    pub(crate) pending: u8,
    /// How many actions had been staged.
    pub(crate) staged: u8,
    pub(crate) bare_seen: bool,
    /// Its session has ended.
    pub(crate) over: bool,
}

/// A turn that was asked for and has not been answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Turn {
    /// The number that is to be resolved; 0 for none.
    pub(crate) head: u8,
    pub(crate) forced: bool,
    pub(crate) hard: bool,
    /// A session boundary came since.
    pub(crate) orphan: bool,
    /// Who is asked to force, and whether the request thinks; none where the gate pins nothing.
    pub(crate) pinned: Option<(Provider, bool)>,
}

/// What a provider has refused to force (`CONTRACT G9`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Refused {
    #[default]
    No,
    /// In a request that thinks; without thinking it was not asked.
    WhileThinking,
    Always,
}

/// Where the agent loop is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) enum Phase {
    /// No run is under way.
    #[default]
    Idle,
    /// The next turn is to be asked for.
    Ready,
    Asked(Turn),
    /// The calls of a turn run.
    Running,
}

/// A hard directive of one choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Hard {
    pub(crate) choice: HardChoice,
    pub(crate) handler: Handler,
    pub(crate) requeues: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum HardChoice {
    /// A tool that is active.
    Active,
    /// A tool that is not.
    Inactive,
    /// No tool.
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Handler {
    None,
    Answers,
    Passes,
}

/// A served directive, and whether its handler has answered a confirm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct InFlight {
    pub(crate) hard: Hard,
    pub(crate) invoked: bool,
}

/// The protocol's whole state, for at most `A` actions in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Model<const A: usize> {
    pub(crate) actions: [Action; A],
    pub(crate) staged: u8,
    pub(crate) runs: [Option<Run>; RUNS],
    pub(crate) places: [Place; PLACES],
    /// The batch under way, and that of the person.
    pub(crate) batches: [Batch; 2],
    pub(crate) phase: Phase,
    pub(crate) looked: Looked,
    pub(crate) queue: [Option<Hard>; DIRECTIVES],
    pub(crate) in_flight: Option<InFlight>,
    /// What each model's provider has refused.
    pub(crate) refused: [Refused; MODELS],
}

impl<const A: usize> Model<A> {
    pub(crate) fn new() -> Self {
        Self {
            actions: [Action::default(); A],
            staged: 0,
            runs: [None; RUNS],
            places: [Place::Free; PLACES],
            batches: [Batch::default(); 2],
            phase: Phase::Idle,
            looked: Looked::default(),
            queue: [None; DIRECTIVES],
            in_flight: None,
            refused: [Refused::No; MODELS],
        }
    }

    /// What `number` became; absent for 0 and for numbers that nothing has.
    pub(crate) fn life(&self, number: u8) -> Life {
        self.action(number).map_or(Life::Absent, |action| action.life)
    }

    pub(crate) fn action(&self, number: u8) -> Option<&Action> {
        self.actions.get(usize::from(number).checked_sub(1)?)
    }

    /// The pending numbers, newest first.
    pub(crate) fn pending(&self) -> impl Iterator<Item = u8> + '_ {
        (1..=self.staged).rev().filter(|&number| self.life(number) == Life::Pending)
    }

    /// The head: the newest pending number, 0 for none.
    pub(crate) fn head(&self) -> u8 {
        self.pending().next().unwrap_or(0)
    }

    /// The number that the soft requirement asks for, 0 for none (`CONTRACT G1`).
    pub(crate) fn asked_for(&self) -> u8 {
        let head = self.head();
        match self.action(head).map(|action| action.ledger.rest) {
            Some(Rest::No) => head,
            Some(Rest::Lifted | Rest::Parked) | None => 0,
        }
    }

    /// The batch that the call at `place` belongs to.
    pub(crate) fn batch_of(place: usize) -> usize {
        usize::from(place == PERSON)
    }

    pub(crate) fn directives(&self) -> usize {
        self.queue.iter().flatten().count() + usize::from(self.in_flight.is_some())
    }

    /// How many numbers are left for actions that nothing has begun to stage.
    pub(crate) fn numbers_left(&self) -> usize {
        let stages = |place: &&Place| matches!(place, Place::Waiting(call) if call.stages());
        A - usize::from(self.staged) - self.places.iter().filter(stages).count()
    }

    /// Puts the places of the batch in one order, and answers where each comes from. An answered
    /// call is as good as none.
    pub(crate) fn sort_places(&mut self) -> [u8; CALLS] {
        for place in &mut self.places {
            if *place == Place::Answered {
                *place = Place::Free;
            }
        }
        let key = |place: usize| match self.places[place] {
            Place::Free | Place::Answered => (3, 0),
            Place::Waiting(call) => (1, call.key()),
            Place::Running => {
                let owns = |run: &Run| run.owner == Some(place as u8);
                let run = self.runs.iter().flatten().find(|run| owns(run));
                (2, run.map_or(0, |run| 2 * run.action + u8::from(run.applies)))
            }
        };
        let mut order: [u8; CALLS] = std::array::from_fn(|place| place as u8);
        let sorted = |a: usize, b: usize| key(a) <= key(b);
        if sorted(0, 1) && sorted(1, 2) {
            return order;
        }
        order.sort_by_key(|&place| key(usize::from(place)));
        let places = self.places;
        for (to, &from) in order.iter().enumerate() {
            self.places[to] = places[usize::from(from)];
        }
        for run in self.runs.iter_mut().flatten() {
            let to = order.iter().position(|&from| run.owner == Some(from));
            run.owner = to.map(|to| to as u8).or(run.owner);
        }
        self.runs.sort_unstable();
        order
    }

    /// Forgets how the budget of each head was spent where that makes no difference any more, and
    /// answers what makes none.
    pub(crate) fn forget_spent(&mut self, rules: &Rules) -> [Forgotten; A] {
        let idle = self.phase == Phase::Idle;
        self.actions.each_mut().map(|Action { ledger, .. }| {
            let Ledger { turns, forced, looks: _, next, rest } = *ledger;
            let no_force = next == Next::Force && forced >= rules.forced;
            let spent = turns >= rules.turns || no_force || next == Next::Stop;
            let (forgotten, turns, rest) = match rest {
                // The next run begins with a prompt, which gives the whole budget again.
                _ if idle => (Forgotten::All, 0, Rest::No),
                // Left alone until then, for whatever reason.
                Rest::Lifted | Rest::Parked => (Forgotten::How, 0, Rest::Lifted),
                Rest::No if spent => (Forgotten::How, rules.turns, Rest::No),
                Rest::No => return Forgotten::Nothing,
            };
            *ledger = Ledger { turns, rest, ..Ledger::default() };
            forgotten
        })
    }

    /// Whether `number` is decided, has no effect under way, and is what no batch's bare confirms
    /// mean: only a confirm that names it can tell what it became.
    pub(crate) fn is_done_with(&self, number: u8) -> bool {
        !self.life(number).is_open()
            && !self.runs.iter().flatten().any(|run| run.action + 1 == number)
            && !self.batches.iter().any(|batch| batch.head == number)
    }

    /// Forgets of each batch what none of its calls asks for any more, and answers whether a bare
    /// confirm of it still waits.
    pub(crate) fn forget(&mut self) -> [bool; 2] {
        let mut bare = [false; 2];
        let mut named = [false; 2];
        let mut stages = [false; 2];
        for (at, place) in self.places.iter().enumerate() {
            let Place::Waiting(call) = place else { continue };
            let batch = Self::batch_of(at);
            match call {
                Call::Confirm { which: Which::Head, blank: false, .. } => bare[batch] = true,
                Call::Confirm { which: Which::Number(_), blank: false, .. } => named[batch] = true,
                Call::Stage { .. } | Call::StageByLook { .. } => stages[batch] = true,
                Call::Confirm { blank: true, .. } | Call::Look | Call::Detour => {}
            }
        }
        for (at, batch) in self.batches.iter_mut().enumerate() {
            batch.over &= stages[at];
            if !bare[at] {
                let staged = if named[at] { batch.staged } else { 0 };
                *batch = Batch { staged, over: batch.over, ..Batch::default() };
            }
        }
        bare
    }

    /// Whether the call at `place` waits, and neither changes nor asks for anything of the protocol.
    pub(crate) fn reaches_nothing(&self, place: usize) -> bool {
        match self.places[place] {
            Place::Waiting(Call::Look | Call::Detour | Call::Confirm { blank: true, .. }) => true,
            Place::Waiting(
                Call::Confirm { blank: false, .. } | Call::Stage { .. } | Call::StageByLook { .. },
            )
            | Place::Free
            | Place::Running
            | Place::Answered => false,
        }
    }

    /// Whether a call at `place` has no result yet.
    pub(crate) fn is_due(&self, place: usize) -> bool {
        match self.places[place] {
            Place::Waiting(_) | Place::Running => true,
            Place::Free | Place::Answered => false,
        }
    }
}
