//! The gate over all behaviours and over random ones: what a head costs is bounded.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proptest::prelude::*;
use xd_protocol::StageNumber;
use xd_session::{
    Asking, Budget, CallKind, Capabilities, Forcing, Gate, Judgement, Opening, Thinking,
    ToolChoice, TurnEnd,
};

use crate::scene::n;

const ENDS: [TurnEnd; 4] =
    [TurnEnd::Complete, TurnEnd::Truncated, TurnEnd::Aborted, TurnEnd::Failed];

/// All that calls of a turn can be to the gate.
const BATCHES: [&[CallKind]; 7] = [
    &[],
    &[CallKind::Confirm],
    &[CallKind::Look],
    &[CallKind::Detour],
    &[CallKind::Confirm, CallKind::Look],
    &[CallKind::Confirm, CallKind::Detour],
    &[CallKind::Look, CallKind::Detour],
];

#[test]
fn g7_every_behaviour_whatever_ends_within_the_budget() {
    // Invariant S2: a search over all reachable states, one layer a turn that counts.
    for refuses in [false, true] {
        let able = Capabilities::from_iter([("", Forcing::Named)]);
        every_behaviour(HashSet::from([Gate::new().with_capabilities(able)]), refuses);
    }
}

fn every_behaviour(mut layer: HashSet<Gate>, refuses: bool) {
    for turns in 0..=8 {
        let mut next = HashSet::new();
        for gate in &layer {
            for calls in BATCHES {
                for end in ENDS {
                    let mut gate = gate.clone();
                    let mut opened = gate.open(&Asking::about(Some(n(1))));
                    let Opening::Armed { .. } = opened.opening else { continue };
                    if refuses && opened.forces() {
                        // CONTRACT G9, G12: a refused turn costs nothing but the pin, and twice
                        // that is refused there is none to refuse.
                        gate.forcing_refused("", Thinking::Off);
                        let again = gate.open(&Asking::about(Some(n(1))));
                        assert_eq!(again.opening, opened.opening);
                        opened = again;
                        assert!(opened.forcing_unavailable.is_some() && !opened.forces());
                    }
                    assert!(turns < 8, "a ninth turn was asked for");
                    let before = gate.clone();
                    if gate.judge(end, calls) == Judgement::Void {
                        // Invariant S2 does not count it, so it must change nothing else either.
                        let mut again = gate.clone();
                        again.open(&Asking::about(Some(n(1))));
                        assert_eq!(again, before);
                    } else {
                        next.insert(gate);
                    }
                }
            }
        }
        layer = next;
    }
    assert!(layer.is_empty());
}

#[derive(Debug, Clone)]
enum Fact {
    Turn { head: Option<u64>, thinking: Thinking, end: TurnEnd, calls: Vec<CallKind>, judged: bool },
    ApplyFailed(u64),
    Refused(Thinking),
    Prompt,
    Boundary,
    Compacted,
}

fn thinking() -> impl Strategy<Value = Thinking> {
    prop::sample::select(vec![Thinking::On, Thinking::Off])
}

fn fact() -> impl Strategy<Value = Fact> {
    let kinds = vec![CallKind::Confirm, CallKind::Look, CallKind::Detour];
    let calls = prop::collection::vec(prop::sample::select(kinds), 0..4);
    let end = prop_oneof![6 => Just(TurnEnd::Complete), 1 => prop::sample::select(ENDS.to_vec())];
    let head = prop_oneof![6 => Just(Some(1)), 3 => (1..4_u64).prop_map(Some), 1 => Just(None)];
    prop_oneof![
        40 => (head, thinking(), end, calls, prop::bool::weighted(0.95)).prop_map(
            |(head, thinking, end, calls, judged)| Fact::Turn { head, thinking, end, calls, judged }
        ),
        1 => thinking().prop_map(Fact::Refused),
        1 => (1..4_u64).prop_map(Fact::ApplyFailed),
        1 => Just(Fact::Prompt),
        1 => Just(Fact::Boundary),
        1 => Just(Fact::Compacted),
    ]
}

/// What was spent on a head since the prompt began, counted from outside.
#[derive(Debug, Default)]
struct Spent {
    turns: u8,
    forced: u8,
    reads: u8,
    last_complied: bool,
    judged_any: bool,
    rests: bool,
}

fn run(budget: Budget, facts: &[Fact]) -> Result<(), TestCaseError> {
    let able = Capabilities::from_iter([("", Forcing::Named)]);
    let mut gate = Gate::with_budget(budget).with_capabilities(able);
    // How often the provider has refused: while thinking, and without.
    let mut refused = [0_u8; 2];
    let mut spent: BTreeMap<StageNumber, Spent> = BTreeMap::new();
    let mut reminded = BTreeSet::new();
    // The head that the last turn looked at, with what had been spent on it by then.
    let mut looked: Option<(StageNumber, [u8; 3])> = None;
    for fact in facts {
        match fact {
            Fact::Prompt => {
                gate.prompt_began();
                spent.clear();
                looked = None;
            }
            Fact::Boundary => {
                gate.boundary();
                spent.clear();
                looked = None;
                reminded.clear();
            }
            Fact::Compacted => {
                gate.history_compacted();
                reminded.clear();
            }
            Fact::ApplyFailed(head) => {
                gate.apply_failed(n(*head));
                spent.entry(n(*head)).or_default().rests = true;
            }
            Fact::Refused(thinking) => {
                gate.forcing_refused("", *thinking);
                refused[usize::from(*thinking == Thinking::Off)] += 1;
            }
            Fact::Turn { head, thinking, end, calls, judged } => {
                // CONTRACT G6: what came up while a turn looked shares the budget of its head.
                if let (Some((before, by_then)), Some(head)) = (looked.take(), head.map(n))
                    && head > before
                {
                    let it = spent.entry(head).or_default();
                    if !it.rests && [it.turns, it.forced, it.reads] == [0; 3] {
                        [it.turns, it.forced, it.reads] = by_then;
                    }
                }
                let asking = Asking { thinking: *thinking, ..Asking::about(head.map(n)) };
                let decision = gate.open(&asking);
                let opening = decision.opening;
                // Invariant S5: nothing is asked for that was refused, and nothing else is given up.
                let wants = matches!(opening, Opening::Armed { force: true, .. });
                let able = match thinking {
                    Thinking::On => refused == [0, 0],
                    Thinking::Off => refused[0] < 2 && refused[1] == 0,
                };
                prop_assert_eq!(decision.forces(), wants && able);
                prop_assert_eq!(decision.forcing_unavailable.is_some(), wants && !able);
                let named = decision.tool_choice == ToolChoice::Named("write".to_owned());
                prop_assert_eq!(named, wants && able);
                let armed = match opening {
                    Opening::Off => {
                        // Invariant S1: off where nothing is pending, or it was lifted or parked.
                        let rests = |head| spent.get(&n(head)).is_some_and(|it| it.rests);
                        prop_assert!(head.is_none_or(rests));
                        None
                    }
                    Opening::Parked(number) => {
                        prop_assert_eq!(Some(number), head.map(n));
                        let it = spent.entry(number).or_default();
                        prop_assert!(!it.rests);
                        it.rests = true;
                        prop_assert!(gate.is_parked(number));
                        None
                    }
                    Opening::Armed { head: number, remind, force } => {
                        prop_assert_eq!(Some(number), head.map(n));
                        // Invariant S4: at most once.
                        prop_assert_eq!(remind, reminded.insert(number));
                        let it = spent.entry(number).or_default();
                        prop_assert!(!it.rests);
                        // Invariant S3: forced only right after a turn that did not comply.
                        prop_assert!(!force || (it.judged_any && !it.last_complied));
                        // Invariant S2: there is budget for the turn that was asked for.
                        prop_assert!(it.turns < budget.turns);
                        prop_assert!(!force || it.forced < budget.forced);
                        Some((number, force))
                    }
                };
                if !judged {
                    continue;
                }
                let judgement = gate.judge(*end, calls);
                let void = matches!(end, TurnEnd::Aborted | TurnEnd::Failed);
                let Some((number, force)) = armed else {
                    prop_assert_eq!(
                        judgement,
                        if void { Judgement::Void } else { Judgement::Free }
                    );
                    continue;
                };
                if void {
                    prop_assert_eq!(judgement, Judgement::Void);
                    continue;
                }
                let it = spent.entry(number).or_default();
                it.turns += 1;
                it.forced += u8::from(force);
                let looks = calls.contains(&CallKind::Look);
                let complies = !calls.is_empty()
                    && *end == TurnEnd::Complete
                    && !calls.contains(&CallKind::Detour)
                    && (!looks || it.reads < budget.reads);
                it.reads += u8::from(complies && looks);
                looked = (complies && looks).then_some((number, [it.turns, it.forced, it.reads]));
                (it.last_complied, it.judged_any) = (complies, true);
                let expect = match (calls.is_empty(), complies) {
                    (true, _) => Judgement::NoCall,
                    (false, true) => Judgement::Run,
                    (false, false) => Judgement::Skip,
                };
                prop_assert_eq!(judgement, expect);
                prop_assert!(it.turns <= budget.turns && it.forced <= budget.forced);
                prop_assert!(it.reads <= budget.reads);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn invariants_s1_s2_s3_s4_over_random_facts(
        budget in (0..10_u8, 0..5_u8, 0..7_u8),
        facts in prop::collection::vec(fact(), 0..80),
    ) {
        let (turns, forced, reads) = budget;
        run(Budget { turns, forced, reads }, &facts)?;
        run(Budget::default(), &facts)?;
    }
}
