//! G9, Q6: what providers allow, for soft and for hard choices.

use proptest::prelude::*;
use xd_session::{
    Asking, Boundary, Budget, CallKind, Capabilities, Decision, DirectiveOptions, Forcing, Gate,
    Judgement, Opening, Session, Thinking, ToolChoice, TurnEnd, TurnRequest,
};

use crate::scene::{detour, n, request, stage, stage_many, tier, write};

const FORCINGS: [Forcing; 6] = [
    Forcing::Named,
    Forcing::NamedUnlessThinking,
    Forcing::SomeTool,
    Forcing::SomeToolUnlessThinking,
    Forcing::AutoOnly,
    Forcing::Unknown,
];

fn named(tool: &str) -> ToolChoice {
    ToolChoice::Named(tool.to_owned())
}

/// Whether a provider would refuse a request with this choice. Written down apart from the code.
fn refuses(forcing: Forcing, thinking: Thinking, choice: &ToolChoice) -> bool {
    match (choice, forcing, thinking) {
        (ToolChoice::Auto | ToolChoice::None, _, _) => false,
        (_, Forcing::Named, _) => false,
        (_, Forcing::NamedUnlessThinking, thinking) => thinking == Thinking::On,
        (choice, Forcing::SomeTool, _) => *choice != ToolChoice::Required,
        (choice, Forcing::SomeToolUnlessThinking, thinking) => {
            *choice != ToolChoice::Required || thinking == Thinking::On
        }
        (_, Forcing::AutoOnly | Forcing::Unknown, _) => true,
    }
}

#[test]
fn g9_case_065_every_capability_is_decided_and_unknown_is_not_forceable() {
    use Thinking::{Off, On};
    for (forcing, thinking, expect) in [
        (Forcing::Named, Off, Some(named("write"))),
        (Forcing::Named, On, Some(named("write"))),
        (Forcing::NamedUnlessThinking, Off, Some(named("write"))),
        (Forcing::NamedUnlessThinking, On, None),
        (Forcing::SomeTool, Off, Some(ToolChoice::Required)),
        (Forcing::SomeTool, On, Some(ToolChoice::Required)),
        (Forcing::SomeToolUnlessThinking, Off, Some(ToolChoice::Required)),
        (Forcing::SomeToolUnlessThinking, On, None),
        (Forcing::AutoOnly, Off, None),
        (Forcing::AutoOnly, On, None),
        (Forcing::Unknown, Off, None),
        (Forcing::Unknown, On, None),
    ] {
        assert_eq!(forcing.choice_for("write", thinking), expect, "{forcing:?} {thinking:?}");
        assert_eq!(forcing.allowed(named("write"), thinking), expect);
    }
    assert_eq!(Forcing::default(), Forcing::Unknown);
}

#[test]
fn g9_case_059_no_choice_is_sent_that_the_provider_refuses() {
    // Invariant S5, for every pair of wish and provider.
    let choices = [ToolChoice::Auto, ToolChoice::None, ToolChoice::Required, named("write")];
    for forcing in FORCINGS {
        for thinking in [Thinking::On, Thinking::Off] {
            for choice in choices.clone() {
                let allowed = forcing.allowed(choice.clone(), thinking);
                if let Some(allowed) = &allowed {
                    assert!(!refuses(forcing, thinking, allowed), "{forcing:?} {choice:?}");
                }
                if !refuses(forcing, thinking, &choice) {
                    assert_eq!(allowed, Some(choice), "{forcing:?}");
                }
            }
        }
    }
}

/// The plan of the turn after a detour.
fn forced_turn(forcing: Forcing, thinking: Thinking) -> xd_session::TurnPlan {
    let session = Session::new();
    stage(&session);
    let request = TurnRequest { forcing, thinking, ..request() };
    session.next_turn(&request);
    session.judge(xd_session::TurnEnd::Complete, &[detour()], tier);
    session.next_turn(&request)
}

#[test]
fn g9_case_063_where_no_name_can_be_forced_the_plan_says_what_it_does_instead() {
    // Invariant S5
    let plan = forced_turn(Forcing::SomeTool, Thinking::Off);
    assert_eq!((plan.tool_choice.clone(), plan.forces()), (ToolChoice::Required, true));
    for (forcing, thinking) in [
        (Forcing::NamedUnlessThinking, Thinking::On),
        (Forcing::AutoOnly, Thinking::Off),
        (Forcing::Unknown, Thinking::Off),
    ] {
        let plan = forced_turn(forcing, thinking);
        assert_eq!(plan.tool_choice, ToolChoice::Auto, "{forcing:?}");
        assert!(plan.forcing_unavailable.is_some() && plan.requirement.is_some() && !plan.forces());
    }
    let plan = forced_turn(Forcing::Named, Thinking::On);
    assert!(plan.forces() && plan.forcing_unavailable.is_none());
}

#[test]
fn g9_where_nothing_can_be_forced_the_same_budget_holds() {
    // Invariant S2
    let session = Session::new();
    let number = stage(&session);
    let request = TurnRequest { forcing: Forcing::AutoOnly, ..request() };
    let parked = (0..9).find_map(|_| {
        let plan = session.next_turn(&request);
        session.judge(xd_session::TurnEnd::Complete, &[detour()], tier);
        plan.parked
    });
    assert_eq!(parked, Some(number));
}

#[test]
fn g9_a_hard_choice_that_cannot_be_forced_is_said_and_not_sent() {
    // Invariant S5, case 59
    let session = Session::new();
    session.with_queue(|queue| queue.user_force("grep"));
    let thinks =
        TurnRequest { forcing: Forcing::NamedUnlessThinking, thinking: Thinking::On, ..request() };
    let plan = session.next_turn(&thinks);
    assert_eq!((plan.tool_choice, plan.forcing_unavailable.is_some()), (ToolChoice::Auto, true));
    session.judge(xd_session::TurnEnd::Complete, &[], tier);
    session.turn_ended();
    let plan = session.next_turn(&thinks);
    assert_eq!((plan.tool_choice, plan.forcing_unavailable.is_some()), (ToolChoice::None, false));
}

#[test]
fn g9_the_requests_own_choice_goes_as_far_as_the_provider_allows() {
    // Invariant S5: for every provider and every state of the gate.
    let owns = [ToolChoice::Auto, ToolChoice::None, ToolChoice::Required, named("read")];
    for forcing in FORCINGS {
        for thinking in [Thinking::On, Thinking::Off] {
            for own in owns.clone() {
                let table = Capabilities::from_iter([("", forcing)]);
                let mut gate = Gate::new().with_capabilities(table);
                for head in [None, Some(n(1)), Some(n(1)), Some(n(1))] {
                    let about = Asking::about(head);
                    let decision = gate.open(&Asking { own: own.clone(), thinking, ..about });
                    gate.judge(TurnEnd::Complete, &[CallKind::Detour]);
                    let sent = decision.tool_choice.clone();
                    assert!(!refuses(forcing, thinking, &sent), "{forcing:?} {own:?} {sent:?}");
                    assert!(!decision.forces() || sent != ToolChoice::Auto);
                    if !decision.forces() {
                        let allowed = forcing.allowed(own.clone(), thinking);
                        assert_eq!(sent, allowed.clone().unwrap_or(ToolChoice::Auto));
                        let forces = matches!(decision.opening, Opening::Armed { force: true, .. });
                        assert_eq!(
                            decision.forcing_unavailable.is_some(),
                            forces || allowed.is_none()
                        );
                    }
                }
            }
        }
    }
    // A name that is not among the tools of the request is none to send either.
    let own = TurnRequest { static_choice: named("gone"), ..request() };
    let plan = Session::new().next_turn(&own);
    assert_eq!((plan.tool_choice, plan.unavailable.as_deref()), (ToolChoice::Auto, Some("gone")));
}

fn choice() -> impl Strategy<Value = ToolChoice> {
    prop_oneof![
        Just(ToolChoice::Auto),
        Just(ToolChoice::None),
        Just(ToolChoice::Required),
        prop::sample::select(vec!["read", "write", "gone"]).prop_map(named),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn g11_case_061_a_forced_name_is_among_the_tools_and_allowed(
        pushed in prop::collection::vec(choice(), 0..6),
        turns in prop::collection::vec(
            (
                prop::sample::subsequence(vec!["read", "grep", "write"], 0..=3),
                prop::sample::select(FORCINGS.to_vec()),
                prop::sample::select(vec![Thinking::On, Thinking::Off]),
                choice(),
                0..3_usize,
            ),
            0..12,
        ),
        staged in 0..3_usize,
    ) {
        // Invariant S5: whatever was pushed and staged.
        let session = Session::new();
        stage_many(&session, staged);
        session.with_queue(|queue| queue.push_sequence(pushed, DirectiveOptions::new()));
        for (tools, forcing, thinking, static_choice, calls) in turns {
            let mut request = TurnRequest::with_tools(tools.clone());
            (request.forcing, request.thinking, request.static_choice) = (forcing, thinking, static_choice);
            let plan = session.next_turn(&request);
            if let ToolChoice::Named(tool) = &plan.tool_choice {
                prop_assert!(tools.contains(&tool.as_str()), "{} of {:?}", tool, tools);
            }
            prop_assert!(!refuses(forcing, thinking, &plan.tool_choice), "{:?} {:?}", forcing, plan.tool_choice);
            prop_assert!(plan.parked.is_none() || plan.requirement.is_none());
            let calls = [vec![], vec![detour()], vec![write("xd://resolve@9")]][calls].clone();
            session.judge(xd_session::TurnEnd::Complete, &calls, tier);
            session.turn_ended();
        }
    }
}

#[test]
fn g9_a_refusal_is_remembered_for_its_model_alone_and_across_boundaries() {
    for (declared, thinking, left) in [
        (Forcing::Named, Thinking::On, Forcing::NamedUnlessThinking),
        (Forcing::Named, Thinking::Off, Forcing::AutoOnly),
        (Forcing::NamedUnlessThinking, Thinking::On, Forcing::AutoOnly),
        (Forcing::SomeTool, Thinking::On, Forcing::SomeToolUnlessThinking),
        (Forcing::SomeTool, Thinking::Off, Forcing::AutoOnly),
        (Forcing::SomeToolUnlessThinking, Thinking::Off, Forcing::AutoOnly),
    ] {
        let session = Session::new();
        assert_eq!(session.forcing_of("one", declared), declared);
        session.forcing_refused("one", declared, thinking);
        session.boundary(xd_session::Boundary::New);
        assert_eq!(session.forcing_of("one", declared), left, "{declared:?} {thinking:?}");
        assert_eq!(session.forcing_of("other", declared), declared);
        // A second refusal leaves nothing to ask for.
        session.forcing_refused("one", declared, Thinking::Off);
        assert_eq!(session.forcing_of("one", declared), Forcing::AutoOnly);
        assert_eq!(session.forcing_of("one", declared).choice_for("write", thinking), None);
    }
}

/// What a gate asks of a turn of `model` on head 1.
fn asked(gate: &mut Gate, model: &str, thinking: Thinking) -> Decision {
    gate.open(&Asking { model, thinking, ..Asking::about(Some(n(1))) })
}

/// A gate that forces next.
fn gate_that_forces() -> Gate {
    let table = [("plain", Forcing::Named), ("other", Forcing::Named), ("some", Forcing::SomeTool)];
    let mut gate = Gate::new().with_capabilities(Capabilities::from_iter(table));
    asked(&mut gate, "plain", Thinking::On);
    assert_eq!(gate.judge(TurnEnd::Complete, &[CallKind::Detour]), Judgement::Skip);
    gate
}

#[test]
fn g9_a_provider_refusal_is_a_fact_and_the_choice_a_decision_of_the_gate() {
    // Invariant S5
    use Thinking::{Off, On};
    let mut gate = gate_that_forces();
    let sent = |gate: &mut Gate, model, thinking| {
        let decision = asked(gate, model, thinking);
        assert!(matches!(decision.opening, Opening::Armed { force: true, .. }), "{decision:?}");
        assert_eq!(decision.forces(), decision.forcing_unavailable.is_none());
        (decision.tool_choice, decision.forcing_unavailable.is_some())
    };
    let (write, auto) = (|| (named("write"), false), || (ToolChoice::Auto, true));
    assert_eq!(sent(&mut gate, "plain", On), write());
    gate.forcing_refused("plain", On);
    assert_eq!(sent(&mut gate, "plain", On), auto(), "the next turn is not pinned");
    assert_eq!(sent(&mut gate, "plain", Off), write(), "it was never asked so");
    assert_eq!(sent(&mut gate, "other", On), write(), "another model has refused nothing");
    gate.forcing_refused("plain", Off);
    assert_eq!(sent(&mut gate, "plain", Off), auto());
    assert_eq!(sent(&mut gate, "some", On), (ToolChoice::Required, false));
    gate.forcing_refused("some", On);
    assert_eq!(sent(&mut gate, "some", On), auto());
    assert_eq!(sent(&mut gate, "some", Off), (ToolChoice::Required, false), "nor was this");
    gate.forcing_refused("some", Off);
    assert_eq!(sent(&mut gate, "some", Off), auto());
    assert_eq!(sent(&mut gate, "nobody declared it", Off), auto());
    // Saying it again does not make it so; neither prompt nor boundary makes it forgotten.
    gate.declare("plain", Forcing::Named);
    gate.prompt_began();
    gate.boundary();
    assert_eq!(gate.forcing_of("plain"), Forcing::AutoOnly);
}

#[test]
fn g9_g12_a_refused_turn_spends_nothing_and_the_budget_goes_on() {
    // Invariant S2
    let mut gate = gate_that_forces();
    assert!(asked(&mut gate, "plain", Thinking::Off).forces());
    gate.forcing_refused("plain", Thinking::Off);
    assert_eq!(gate.asked(), None, "the refused turn is none");
    // One turn is spent; three that were to be forced are left, by reminder.
    let turns = (0..20).find(|_| match asked(&mut gate, "plain", Thinking::Off).opening {
        Opening::Armed { force, .. } => {
            assert!(force);
            gate.judge(TurnEnd::Complete, &[CallKind::Detour]);
            false
        }
        Opening::Parked(_) => true,
        Opening::Off => panic!("the head is not parked yet"),
    });
    assert_eq!(turns, Some(3));
}

#[test]
fn g9_the_session_plans_by_the_models_id() {
    let session = Session::new();
    let turn = |model: &str| {
        let plan = session.next_turn_of(model, &request());
        (plan.forces(), plan.forcing_unavailable.is_some())
    };
    stage(&session);
    turn("one");
    session.judge(TurnEnd::Complete, &[detour()], tier);
    assert_eq!(turn("one"), (true, false));
    session.judge(TurnEnd::Failed, &[], tier);
    session.forcing_refused("one", Forcing::Named, Thinking::Off);
    assert_eq!(turn("one"), (false, true), "the request still declares that it can be forced");
    assert_eq!(turn("two"), (true, false));
    session.boundary(Boundary::Move);
    assert_eq!(turn("one"), (false, true));
}

#[test]
fn g9_a_table_speaks_for_models_of_which_nothing_else_is_known() {
    let table = Capabilities::from_iter([("some", Forcing::SomeTool), ("able", Forcing::Named)]);
    let session = Session::new().with_capabilities(table).with_budget(Budget::default());
    stage(&session);
    let turn = |model: &str, forcing| {
        let plan = session.next_turn_of(model, &TurnRequest { forcing, ..request() });
        (plan.tool_choice, plan.forcing_unavailable.is_some())
    };
    turn("some", Forcing::Unknown);
    session.judge(TurnEnd::Complete, &[detour()], tier);
    assert_eq!(turn("some", Forcing::Unknown), (ToolChoice::Required, false));
    assert_eq!(turn("able", Forcing::Unknown), (named("write"), false));
    assert_eq!(turn("able", Forcing::SomeTool), (ToolChoice::Required, false), "it said so itself");
    assert_eq!(turn("else", Forcing::Unknown), (ToolChoice::Auto, true));
    session.forcing_refused("able", Forcing::Unknown, Thinking::Off);
    assert_eq!(turn("able", Forcing::Unknown), (ToolChoice::Auto, true));
}
