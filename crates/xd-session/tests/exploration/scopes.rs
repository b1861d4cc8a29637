//! How far each search goes: which facts may happen in it, and by how much budget.

use xd_protocol::Verdict;

use crate::{
    facts::{Calls, End, Fact, Provider, Request},
    model::{
        CALLS, Call, DIRECTIVES, Handler, Hard, HardChoice, Model, PERSON, PLACES, Phase, RUNS,
        Which,
    },
    mutation::Mutation,
    steps::Rules,
};

/// The facts of a search, beside those of the loop itself.
#[derive(Debug, Clone)]
pub(crate) struct Scope {
    pub(crate) name: &'static str,
    pub(crate) rules: Rules,
    /// Kinds of actions that may be staged: with a change set, without.
    pub(crate) durable: Vec<bool>,
    /// Every other action has a change set, the first one too; otherwise each may be of each kind.
    pub(crate) by_turns: bool,
    /// Whether worlds that differ in what can make no difference count as one. What became of a
    /// decided action is forgotten where no confirm can ask: those name none above `named`.
    pub(crate) plain: bool,
    pub(crate) named: u8,
    pub(crate) requests: Vec<Request>,
    pub(crate) replies: Vec<(End, Calls)>,
    /// Facts without operand that may happen at any time.
    pub(crate) events: Vec<Fact>,
    pub(crate) directives: Vec<Hard>,
    /// How many of them wait or are in flight at once.
    pub(crate) most_directives: usize,
    pub(crate) person: Vec<Verdict>,
    pub(crate) touches: bool,
    pub(crate) drops: bool,
    /// More states than this are a scope that is drawn too wide, not a search that takes its time.
    pub(crate) most_states: usize,
}

const PROVIDERS: [Provider; 5] = [
    Provider::Named,
    Provider::NamedUnlessThinking,
    Provider::SomeTool,
    Provider::AutoOnly,
    Provider::Unknown,
];
const MOST_STATES: usize = 500_000;
const APPLY: Verdict = Verdict::Apply;
const DISCARD: Verdict = Verdict::Discard;

pub(crate) fn confirm(verdict: Verdict, which: Which) -> Call {
    Call::Confirm { verdict, which, blank: false }
}

pub(crate) fn calls(list: &[Call]) -> Calls {
    let mut calls = [None; CALLS];
    for (place, &call) in calls.iter_mut().zip(list) {
        *place = Some(call);
    }
    calls
}

/// A turn of every kind: compliant, read-only, detour, mixed, prose, empty, cut, aborted, failed.
fn every_kind() -> Vec<(End, Calls)> {
    let bare = confirm(APPLY, Which::Head);
    let mut kinds = vec![
        (End::Complete, calls(&[])),
        (End::Complete, calls(&[bare])),
        (End::Complete, calls(&[confirm(DISCARD, Which::Head)])),
        (End::Complete, calls(&[Call::Look])),
        (End::Complete, calls(&[Call::Look, bare])),
        (End::Complete, calls(&[Call::Detour])),
        (End::Complete, calls(&[Call::Detour, bare])),
        (End::Complete, calls(&[Call::Detour, Call::Look])),
        (End::Complete, calls(&[Call::Stage { durable: true }])),
        (End::Complete, calls(&[Call::StageByLook { durable: true }])),
        (End::Complete, calls(&[confirm(APPLY, Which::Number(1))])),
        (
            End::Complete,
            calls(&[Call::Confirm { verdict: APPLY, which: Which::Head, blank: true }]),
        ),
    ];
    for end in [End::Truncated, End::Aborted, End::Failed] {
        kinds.push((end, calls(&[])));
        kinds.push((end, calls(&[bare])));
    }
    kinds
}

/// Confirms of every sort for up to `numbers` actions, alone and beside each other.
fn every_pair(numbers: u8) -> Vec<(End, Calls)> {
    let mut confirms = vec![confirm(APPLY, Which::Head), confirm(DISCARD, Which::Head)];
    confirms.extend((1..=numbers).map(|number| confirm(APPLY, Which::Number(number))));
    confirms.push(confirm(DISCARD, Which::Number(1)));
    let mut replies = vec![(End::Complete, calls(&[]))];
    for (at, &one) in confirms.iter().enumerate() {
        replies.push((End::Complete, calls(&[one])));
        replies.extend(confirms[at..].iter().map(|&two| (End::Complete, calls(&[one, two]))));
    }
    replies
}

/// Three actions, the confirms of a batch and of a person at once, callers that go away at every
/// point, failing applies, boundaries. The gate is off, by a static `none`: what is spent on each
/// head multiplies the states and is the matter of the others.
pub(crate) fn confirms(numbers: u8) -> Scope {
    Scope {
        name: "confirms in flight",
        rules: Rules::CONTRACT,
        by_turns: false,
        plain: false,
        named: 0,
        durable: vec![false],
        requests: vec![Request { none: true, ..Request::USUAL }],
        replies: every_pair(numbers),
        events: vec![Fact::Boundary],
        directives: vec![],
        most_directives: 0,
        person: vec![DISCARD],
        touches: false,
        drops: true,
        most_states: MOST_STATES,
    }
}

/// Restarts: actions with a change set and without, stale ones too, while confirms are in flight.
pub(crate) fn restarts() -> Scope {
    let events =
        vec![Fact::Restart { landed: false }, Fact::Restart { landed: true }, Fact::Boundary];
    Scope {
        name: "restarts",
        durable: vec![false, true],
        replies: every_pair(1),
        events,
        touches: true,
        ..confirms(1)
    }
}

/// A request that thinks and one that does not: where the first is refused, the second may be forced
/// yet.
fn thinking_or_not() -> Vec<Request> {
    vec![Request::USUAL, Request { thinks: false, ..Request::USUAL }]
}

/// Turns of every kind within the whole budget, on one head.
pub(crate) fn turns() -> Scope {
    Scope {
        name: "turns of every kind",
        rules: Rules::CONTRACT,
        by_turns: false,
        plain: false,
        named: 0,
        durable: vec![true],
        requests: thinking_or_not(),
        replies: every_kind(),
        events: vec![Fact::Compacted, Fact::Boundary, Fact::Abort, Fact::Restart { landed: false }],
        directives: vec![],
        most_directives: 0,
        person: vec![APPLY, DISCARD],
        touches: true,
        drops: true,
        most_states: MOST_STATES,
    }
}

/// Every sort of provider and request, each refusing what it is asked as often as it can.
pub(crate) fn providers() -> Scope {
    let both =
        |provider| [true, false].map(|thinks| Request { provider, thinks, ..Request::USUAL });
    Scope {
        name: "providers",
        rules: Rules { turns: 3, forced: 2, looks: 1, mutation: None },
        requests: PROVIDERS.into_iter().flat_map(both).collect(),
        events: vec![Fact::Boundary],
        touches: false,
        drops: false,
        plain: true,
        named: 1,
        ..turns().without_person()
    }
}

/// Turns of every kind and little else, for random walks.
pub(crate) fn stubborn() -> Scope {
    Scope {
        name: "a stubborn model",
        events: vec![Fact::Compacted],
        touches: false,
        drops: false,
        ..turns().without_person()
    }
}

/// Hard directives among turns of every kind, and requests that cannot finalize.
pub(crate) fn directives() -> Scope {
    let usual = Request::USUAL;
    Scope {
        name: "directives",
        rules: Rules { turns: 2, forced: 1, looks: 1, mutation: None },
        requests: vec![usual, Request { write: false, ..usual }, Request { none: true, ..usual }],
        events: vec![Fact::Boundary, Fact::Abort],
        directives: every_directive(),
        most_directives: 2,
        person: vec![],
        touches: false,
        drops: true,
        ..turns()
    }
}

fn every_directive() -> Vec<Hard> {
    use {Handler as H, HardChoice as C};
    let hard = |(choice, handler, requeues)| Hard { choice, handler, requeues };
    [
        (C::Active, H::None, false),
        (C::Active, H::Answers, true),
        (C::Active, H::Passes, true),
        (C::Active, H::Passes, false),
        (C::Inactive, H::None, true),
        (C::Inactive, H::Answers, false),
        (C::None, H::None, true),
    ]
    .map(hard)
    .to_vec()
}

/// All of it at once and as often as it likes: three actions, with a change set and without, two
/// confirms in flight, callers that go away at every point, failing effects, boundaries, restarts,
/// turns of every kind under an armed gate, a provider that refuses to force.
///
/// The budget is two turns a head, one of them forced, one that looks: the smallest in which
/// everything is there. The whole one is for [`turns`].
pub(crate) fn combined() -> Scope {
    let mut replies = every_kind();
    replies.extend(every_pair(1));
    Scope {
        name: "all of it at once",
        rules: Rules { turns: 2, forced: 1, looks: 1, mutation: None },
        durable: vec![true, false],
        by_turns: true,
        plain: true,
        named: 1,
        replies,
        events: vec![
            Fact::Boundary,
            Fact::Abort,
            Fact::Restart { landed: false },
            Fact::Restart { landed: true },
        ],
        person: vec![],
        touches: false,
        most_states: 5_000_000,
        ..turns()
    }
}

/// The same with a longer budget and compactions: for fewer actions.
pub(crate) fn combined_at_length() -> Scope {
    let all = combined();
    let mut events = all.events.clone();
    events.push(Fact::Compacted);
    let requests = vec![Request::USUAL];
    Scope { name: "all of it at length", events, requests, ..all.within(3, 1, 1) }
}

/// All of it at once, for random walks.
pub(crate) fn everything(numbers: u8) -> Scope {
    let mut replies = every_kind();
    replies.extend(every_pair(numbers));
    let bare = confirm(APPLY, Which::Head);
    replies.extend(
        [
            calls(&[bare, bare, bare]),
            calls(&[confirm(DISCARD, Which::Head), bare, confirm(APPLY, Which::Number(1))]),
            calls(&[Call::Stage { durable: true }, bare]),
            calls(&[Call::Stage { durable: false }, confirm(APPLY, Which::Number(2)), bare]),
            calls(&[Call::Look, bare, Call::Look]),
            calls(&[Call::StageByLook { durable: false }, bare]),
            calls(&[bare, Call::StageByLook { durable: true }, Call::Look]),
            calls(&[Call::StageByLook { durable: true }, Call::StageByLook { durable: false }]),
            calls(&[bare, Call::Confirm { verdict: DISCARD, which: Which::Head, blank: true }]),
        ]
        .map(|calls| (End::Complete, calls)),
    );
    let requests = PROVIDERS.into_iter().flat_map(|provider| {
        [(true, false, true), (true, false, false), (true, true, true), (false, false, false)]
            .map(|(write, none, thinks)| Request { write, none, provider, thinks })
    });
    Scope {
        name: "everything",
        rules: Rules::CONTRACT,
        by_turns: false,
        plain: false,
        named: 0,
        durable: vec![false, true],
        requests: requests.collect(),
        replies,
        events: vec![
            Fact::Compacted,
            Fact::Boundary,
            Fact::Abort,
            Fact::Restart { landed: false },
            Fact::Restart { landed: true },
        ],
        directives: every_directive(),
        most_directives: DIRECTIVES,
        person: vec![APPLY, DISCARD],
        touches: true,
        drops: true,
        most_states: MOST_STATES,
    }
}

impl Scope {
    /// The same without a person beside the loop, which multiplies the states: for the checks of
    /// every change.
    pub(crate) fn without_person(self) -> Self {
        Self { person: vec![], ..self }
    }

    /// The same with a person who discards by number.
    pub(crate) fn beside_a_person(self) -> Self {
        Self { person: vec![DISCARD], ..self }
    }

    /// The same within another budget.
    pub(crate) fn within(self, turns: u8, forced: u8, looks: u8) -> Self {
        Self { rules: Rules { turns, forced, looks, ..self.rules }, ..self }
    }

    /// The same with room for more states.
    pub(crate) fn most(self, most_states: usize) -> Self {
        Self { most_states, ..self }
    }

    /// The same with a fault in the model.
    pub(crate) fn with(self, mutation: Mutation) -> Self {
        Self { rules: Rules { mutation: Some(mutation), ..self.rules }, ..self }
    }

    /// Every fact of the scope that can happen to `model`.
    pub(crate) fn facts<const A: usize>(&self, model: &Model<A>, facts: &mut Vec<Fact>) {
        facts.push(Fact::Prompt);
        facts.extend(&self.events);
        let first = model.staged.is_multiple_of(2);
        let kinds = self.durable.iter().filter(|&&durable| !self.by_turns || durable == first);
        // Between two turns it makes no difference to staging before: nothing looks in between.
        if !(self.plain && model.phase == Phase::Ready) {
            facts.extend(kinds.map(|&durable| Fact::Stage { durable }));
        }
        if model.directives() < self.most_directives {
            facts.extend(self.directives.iter().map(|&hard| Fact::Push(hard)));
        }
        facts.extend(self.requests.iter().map(|&request| Fact::Open(request)));
        facts.push(Fact::Refuse);
        if model.allows(Fact::Reply { end: End::Complete, calls: calls(&[]) }) {
            let fits = |calls: &Calls| {
                let stages = calls.iter().flatten().filter(|call| call.stages()).count();
                stages <= model.numbers_left()
                    && calls.iter().flatten().all(|call| Self::fits(model, *call))
            };
            let replies = self.replies.iter().filter(|(_, calls)| fits(calls));
            facts.extend(replies.map(|&(end, calls)| Fact::Reply { end, calls }));
        }
        for number in 1..=model.staged {
            if self.touches {
                facts.push(Fact::Touch(number));
            }
            let named = !self.plain || number <= self.named;
            if named && model.allows(Fact::Person { verdict: APPLY, which: Which::Head }) {
                let which = Which::Number(number);
                facts.extend(self.person.iter().map(|&verdict| Fact::Person { verdict, which }));
            }
        }
        for place in 0..PLACES as u8 {
            facts.push(Fact::Poll(place));
            if self.drops || usize::from(place) == PERSON {
                facts.push(Fact::Drop(place));
            }
        }
        for run in 0..RUNS as u8 {
            facts.extend([true, false].map(|succeeds| Fact::Finish { run, succeeds }));
        }
        facts.retain(|&fact| model.allows(fact));
        // A call that reaches nothing others see, and is not the last of its batch, comes first: it
        // makes no difference to any other fact, whenever it is carried out.
        let due = (0..CALLS).filter(|&place| model.is_due(place)).count();
        let idle = (0..CALLS as u8).find(|&place| model.reaches_nothing(usize::from(place)));
        if let Some(place) = idle.filter(|_| self.plain && due > 1) {
            facts.retain(|&fact| fact == Fact::Poll(place));
        }
    }

    /// Whether `call` says anything new: it names an action that there is, or the first that there
    /// is not.
    fn fits<const A: usize>(model: &Model<A>, call: Call) -> bool {
        match call {
            Call::Confirm { which: Which::Number(number), .. } => number <= model.staged + 1,
            Call::Confirm { which: Which::Head, .. }
            | Call::Look
            | Call::Detour
            | Call::Stage { .. }
            | Call::StageByLook { .. } => true,
        }
    }
}
