//! Random walks of the model, with a real session beside it.

use std::{cell::RefCell, collections::BTreeMap};

use proptest::{prelude::*, test_runner::TestRunner};
use xd_protocol::Verdict;

use crate::{
    facts::{Answer, Event, Fact, Judged, Pin, Refusal},
    model::{Call, Life, Place},
    real::Real,
    scopes::{Scope, everything, stubborn},
    search::World,
};

/// Actions of one walk, at most.
const ACTIONS: usize = 6;
const WALKS: u32 = 10_000;

/// The kind of a fact, and how often one of the kind is taken where all can happen.
fn kind_of(fact: Fact) -> (u8, usize) {
    match fact {
        Fact::Prompt => (0, 40),
        Fact::Open(_) => (1, 40),
        Fact::Reply { .. } => (2, 40),
        Fact::Poll(_) => (3, 40),
        Fact::Finish { .. } => (4, 25),
        Fact::Stage { .. } => (5, 15),
        Fact::Person { .. } => (6, 8),
        Fact::Drop(_) => (7, 3),
        Fact::Touch(_) => (8, 3),
        Fact::Push(_) => (9, 3),
        Fact::Abort => (10, 1),
        Fact::Compacted => (11, 1),
        Fact::Boundary => (12, 1),
        Fact::Restart { .. } => (13, 1),
        Fact::Refuse => (14, 6),
    }
}

/// The fact that a draw picks: first its kind by weight, then one of the kind.
fn pick(facts: &mut [Fact], (kind, which): (u16, u16)) -> Fact {
    facts.sort_by_key(|fact| kind_of(*fact));
    let kinds = || facts.chunk_by(|a, b| kind_of(*a) == kind_of(*b));
    let total: usize = kinds().map(|kind| kind_of(kind[0]).1).sum();
    let mut left = usize::from(kind) % total;
    for kind in kinds() {
        if left < kind_of(kind[0]).1 {
            return kind[usize::from(which) % kind.len()];
        }
        left -= kind_of(kind[0]).1;
    }
    unreachable!("the weights add up to {total}")
}

/// What the walks must come by, all of it.
const NAMES: [&str; 33] = [
    "armed",
    "forced",
    "some tool",
    "by reminder",
    "choice refused",
    "hard",
    "hard, not to be forced",
    "off",
    "parked",
    "free",
    "run",
    "skipped",
    "no call",
    "void turn",
    "late turn",
    "session ended",
    "staged by a look",
    "started",
    "applied",
    "discarded",
    "failed",
    "late end",
    "staged",
    "handled",
    "gone",
    "nothing pending",
    "blank",
    "unknown",
    "being resolved",
    "decided",
    "void action",
    "second bare",
    "not yet seen",
];

fn name_of(event: Event) -> &'static str {
    match event {
        Event::Staged(_) => "staged",
        Event::Opened { hard: Some(_), pin: Pin::Unavailable, .. } => "hard, not to be forced",
        Event::Opened { hard: Some(_), .. } => "hard",
        Event::Opened { force: true, pin: Pin::Unavailable, .. } => "by reminder",
        Event::Opened { force: true, pin: Pin::SomeTool, .. } => "some tool",
        Event::Opened { force: true, .. } => "forced",
        Event::ChoiceRefused => "choice refused",
        Event::Opened { head: 0, .. } => "off",
        Event::Opened { .. } => "armed",
        Event::Parked(_) => "parked",
        Event::Judged(Judged::Free) => "free",
        Event::Judged(Judged::Run) => "run",
        Event::Judged(Judged::Skip) => "skipped",
        Event::Judged(Judged::NoCall) => "no call",
        Event::Judged(Judged::Void) => "void turn",
        Event::Started { .. } => "started",
        Event::Ended { late: true, .. } => "late end",
        Event::Ended { succeeded: false, .. } => "failed",
        Event::Ended { verdict: Verdict::Apply, .. } => "applied",
        Event::Ended { verdict: Verdict::Discard, .. } => "discarded",
        Event::Answered { answer: Answer::Refused(refusal), .. } => match refusal {
            Refusal::NothingPending => "nothing pending",
            Refusal::Blank => "blank",
            Refusal::Unknown(_) => "unknown",
            Refusal::BeingResolved(_) => "being resolved",
            Refusal::Decided(_, Life::Void) => "void action",
            Refusal::Decided(..) => "decided",
            Refusal::SecondBare => "second bare",
            Refusal::NotYetSeen(_) => "not yet seen",
            Refusal::SessionEnded => "session ended",
        },
        Event::Answered { answer: Answer::Handled, .. } => "handled",
        Event::Answered { answer: Answer::Gone, .. } => "gone",
        Event::Answered { answer: Answer::TurnLate, .. } => "late turn",
        Event::Answered { .. } => "other results",
        Event::Stopped => "stops",
    }
}

fn walk(
    scope: &Scope,
    draws: &[(u16, u16)],
    tally: &mut BTreeMap<&'static str, usize>,
) -> Result<(), TestCaseError> {
    let (mut world, mut real) = (World::<ACTIONS>::new(), Real::new());
    let (mut facts, mut seen, mut history) = (Vec::new(), Vec::new(), Vec::new());
    for &draw in draws {
        facts.clear();
        scope.facts(&world.model, &mut facts);
        let fact = pick(&mut facts, draw);
        history.push(fact);
        let next = world
            .after(&scope.rules, fact, &mut seen)
            .map_err(|property| TestCaseError::fail(format!("{property:?} after {history:#?}")))?;
        let place = match fact {
            Fact::Poll(place) => world.model.places[usize::from(place)],
            _ => Place::Free,
        };
        let by_look = matches!(place, Place::Waiting(Call::StageByLook { .. }));
        *tally.entry("staged by a look").or_default() += usize::from(by_look);
        real.step(&world.model, fact, &seen, &next.model).map_err(|error| {
            TestCaseError::fail(format!(
                "{error}, where the model saw {seen:?}, after {history:#?}"
            ))
        })?;
        world = next;
        for &event in &seen {
            *tally.entry(name_of(event)).or_default() += 1;
        }
        *tally.entry("steps").or_default() += 1;
    }
    Ok(())
}

/// The real code and the model agree after every step of every walk: what is pending, the head,
/// every state, the requirement, the tool choice, the judgement of every turn, every result.
// CONTRACT S1, S2, S3, D1, D2, D3, D4, D7, D9, D11, D12, D13, D14, Q2, Q3, Q4, Q6, G1, G2, G3, G4,
// G5, G6, G7, G8, G9, G10, G12, E1
#[test]
fn d11_g7_the_real_session_in_step_with_the_model() {
    let tally = RefCell::new(BTreeMap::new());
    // The second does little but turns, so that the budget of a head comes to its end.
    for (scope, walks, length) in [(everything(3), WALKS, 60), (stubborn(), WALKS / 4, 120)] {
        let config =
            ProptestConfig { cases: walks, failure_persistence: None, ..ProptestConfig::default() };
        let draws = prop::collection::vec(any::<(u16, u16)>(), 1..length);
        let walked = TestRunner::new(config)
            .run(&draws, |draws| walk(&scope, &draws, &mut tally.borrow_mut()));
        if let Err(error) = walked {
            panic!("{error}");
        }
    }
    let tally = tally.into_inner();
    for name in NAMES {
        assert!(tally.get(name).is_some_and(|&times| times > 10), "hardly any {name}: {tally:#?}");
    }
}
