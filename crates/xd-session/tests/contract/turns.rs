//! G4–G12, Q6, Q7 and classes 1 and 3 of the cases, through a whole session.

use std::sync::Arc;

use proptest::prelude::*;
use xd_protocol::Verdict;
use xd_resolve::{StageError, block_on, queue_resolve_handler};
use xd_session::{
    Boundary, Directive, DirectiveOptions, Judgement, OnRejected, RejectReason, Session,
    ToolChoice, TurnEnd, TurnPlan, TurnRequest,
};

use crate::scene::{
    Heard, confirm, detour, heard, look, n, request, stage, stage_failing, stage_many, tier, turn,
    turn_ending, write,
};

fn forced() -> ToolChoice {
    ToolChoice::Named("write".to_owned())
}

#[test]
fn g4_a_compliant_turn_never_sees_a_changed_choice() {
    // Invariant S3
    let session = Session::new();
    stage_many(&session, 3);
    while session.actions().has_pending() {
        let (plan, judgement) = turn(&session, &[write("xd://resolve")]);
        assert_eq!((plan.tool_choice, judgement), (ToolChoice::Auto, Judgement::Run));
        confirm(&session, Verdict::Apply, "Yes.");
    }
    assert!(turn(&session, &[]).0.requirement.is_none());
}

#[test]
fn g5_the_next_request_alone_forces() {
    // Invariant S3
    let session = Session::new();
    stage(&session);
    for calls in
        [vec![detour()], vec![write("a.rs")], vec![write("xd://resolve"), detour()], vec![]]
    {
        session.begin_prompt();
        let (plan, _) = turn(&session, &calls);
        assert_eq!(plan.tool_choice, ToolChoice::Auto);
        let (plan, judgement) = turn(&session, &[write("xd://reject@1")]);
        assert_eq!((plan.tool_choice.clone(), judgement), (forced(), Judgement::Run));
        assert!(plan.forces());
        assert_eq!(turn(&session, &[look()]).0.tool_choice, ToolChoice::Auto);
    }
}

#[test]
fn g6_reads_of_a_pending_preview_run() {
    let session = Session::new();
    stage(&session);
    for _ in 0..5 {
        let (plan, judgement) = turn(&session, &[look()]);
        assert_eq!((plan.tool_choice, judgement), (ToolChoice::Auto, Judgement::Run));
        assert!(plan.requirement.is_some(), "reading satisfies nothing");
    }
    assert_eq!(turn(&session, &[look()]).1, Judgement::Skip);
    assert_eq!(turn(&session, &[]).0.tool_choice, forced());
}

/// Takes turns until the action is parked, at most `most`; how many it took.
fn turns_until_parked(session: &Session, mut take: impl FnMut(usize) -> TurnPlan) -> usize {
    for turns in 0..=8 {
        if take(turns).parked.is_some() {
            assert!(session.actions().has_pending(), "parked, not gone");
            return turns;
        }
    }
    panic!("never parked");
}

#[test]
fn g7_case_073_ping_pong_is_parked() {
    // Invariant S2
    let session = Session::new();
    stage(&session);
    let taken = turns_until_parked(&session, |at| {
        turn(&session, &[if at % 2 == 0 { look() } else { detour() }]).0
    });
    assert!(taken <= 8);
    assert_eq!(session.actions().pending_count(), 1, "the skipped staging staged nothing");
}

#[test]
fn g6_g7_case_073_a_tool_of_the_read_tier_that_stages_is_parked_too() {
    // Invariant S2: each call makes a head of its own, and none of them a budget of its own.
    let session = Session::new();
    stage(&session);
    let taken = turns_until_parked(&session, |_| {
        let (plan, judgement) = turn(&session, &[look()]);
        if judgement == Judgement::Run {
            stage(&session);
        }
        plan
    });
    assert!(taken <= 8);
    assert_eq!(session.actions().pending_count(), 6, "the five looks of one head, and no more");
    // A prompt later all of them are there to be decided, each within a whole budget.
    session.begin_prompt();
    while session.actions().has_pending() {
        assert_eq!(turn(&session, &[write("xd://resolve")]).1, Judgement::Run);
        assert!(!confirm(&session, Verdict::Apply, "Yes.").is_error);
    }
}

#[test]
fn g7_failing_confirms_are_parked_after_eight() {
    // Invariant S2: blank reasons comply and decide nothing.
    let session = Session::new();
    stage(&session);
    let taken = turns_until_parked(&session, |_| {
        let plan = turn(&session, &[write("xd://resolve")]).0;
        assert!(plan.parked.is_some() || confirm(&session, Verdict::Apply, " ").is_error);
        plan
    });
    assert_eq!(taken, 8);
}

#[test]
fn g7_case_071_a_model_that_says_nothing_is_parked_and_a_person_can_still_decide() {
    let session = Session::new();
    let number = stage(&session);
    turns_until_parked(&session, |_| turn(&session, &[]).0);
    // The run has ended; nothing is asked again in this prompt.
    assert!(matches!(session.next_tool_choice_directive(), Directive::None));
    assert!(turn(&session, &[detour()]).0.requirement.is_none());
    // A later prompt asks again, or a person decides by hand.
    session.begin_prompt();
    assert!(turn(&session, &[look()]).0.requirement.is_some());
    assert!(!confirm(&session, Verdict::Apply, "By hand.").is_error);
    assert_eq!(session.actions().get(number).unwrap().1, xd_resolve::ActionState::Applied);
}

#[test]
fn g7_a_budget_of_ones_own() {
    let budget = xd_session::Budget { turns: 1, forced: 1, reads: 1 };
    let session = Session::new().with_budget(budget);
    let number = stage(&session);
    assert!(turn(&session, &[look()]).0.parked.is_none());
    assert_eq!(turn(&session, &[look()]).0.parked, Some(number));
}

#[test]
fn g8_after_a_failed_apply_the_model_may_repair() {
    let session = Session::new();
    let number = stage_failing(&session);
    turn(&session, &[write("xd://resolve")]);
    assert!(confirm(&session, Verdict::Apply, "Yes.").is_error);
    for _ in 0..20 {
        let (plan, judgement) = turn(&session, &[detour()]);
        assert_eq!((plan.tool_choice, judgement), (ToolChoice::Auto, Judgement::Free));
        assert!(plan.requirement.is_none() && plan.parked.is_none());
    }
    assert!(matches!(session.next_tool_choice_directive(), Directive::None));
    assert_eq!(session.actions().head().unwrap().number(), number, "pending and resolvable");
    session.begin_prompt();
    assert!(turn(&session, &[look()]).0.requirement.is_some());
}

#[test]
fn g8_a_failed_reject_does_not_lift_the_gate() {
    let session = Session::new();
    let request = xd_resolve::StageRequest::with_reject(
        "a",
        |_| async { Ok(xd_resolve::ToolResult::text("done")) },
        |_| async { Err(xd_resolve::ApplyError::tool("no")) },
    );
    session.actions().stage(request).unwrap();
    assert!(confirm(&session, Verdict::Discard, "No.").is_error);
    assert!(turn(&session, &[]).0.requirement.is_some());
}

#[test]
fn g10_case_061_without_write_there_is_no_requirement_and_no_staging() {
    let session = Session::new();
    stage(&session);
    let without = TurnRequest::with_tools(["read", "grep"]);
    let plan = session.next_turn(&without);
    assert!(plan.requirement.is_none() && plan.reminder.is_none());
    assert_eq!(session.judge(TurnEnd::Complete, &[detour()], tier), Judgement::Free);

    let request = || {
        xd_resolve::StageRequest::new("a", |_| async { Ok(xd_resolve::ToolResult::text("done")) })
    };
    let error = block_on(queue_resolve_handler(&session, request())).unwrap_err();
    assert!(matches!(error, StageError::CannotFinalize));
    assert_eq!(session.actions().pending_count(), 1);
    session.next_turn(&TurnRequest::with_tools(["write"]));
    assert_eq!(block_on(queue_resolve_handler(&session, request())).unwrap().number(), n(2));
}

#[test]
fn g10_under_a_static_none_there_is_no_requirement() {
    let session = Session::new();
    stage(&session);
    let plan = session.next_turn(&TurnRequest { static_choice: ToolChoice::None, ..request() });
    assert_eq!(plan.tool_choice, ToolChoice::None);
    assert!(plan.requirement.is_none() && plan.reminder.is_none());
    // It comes back with the next request that may call tools, with its reminder.
    assert!(turn(&session, &[]).0.reminder.is_some());
}

#[test]
fn g10_a_turn_that_serves_a_hard_choice_carries_no_requirement() {
    let session = Session::new();
    stage(&session);
    session.with_queue(|queue| queue.user_force("grep"));
    for choice in [ToolChoice::Named("grep".to_owned()), ToolChoice::None] {
        let (plan, judgement) = turn(&session, &[detour()]);
        assert_eq!((plan.tool_choice, judgement), (choice, Judgement::Free));
        assert!(plan.requirement.is_none() && plan.reminder.is_none());
    }
    let (plan, _) = turn(&session, &[]);
    assert!(plan.reminder.is_some(), "nothing of its budget is spent");

    // Also where the turn planned before it was never sent.
    session.next_turn(&request());
    session.with_queue(|queue| queue.push_once(ToolChoice::Auto, DirectiveOptions::new()));
    assert_eq!(turn(&session, &[detour()]).1, Judgement::Free);
}

fn noting(list: &Heard) -> DirectiveOptions {
    let list = Arc::clone(list);
    DirectiveOptions::new().on_rejected(Arc::new(move |reason: RejectReason| {
        list.lock().unwrap().push(format!("{reason:?}"));
        OnRejected::Requeue
    }))
}

#[test]
fn g12_an_aborted_or_failed_turn_spends_nothing() {
    for (end, reason) in [(TurnEnd::Aborted, "Aborted"), (TurnEnd::Failed, "Error")] {
        let session = Session::new();
        stage(&session);
        for _ in 0..30 {
            let (plan, judgement) = turn_ending(&session, end, &[write("xd://resolve")]);
            assert_eq!((plan.tool_choice, judgement), (ToolChoice::Auto, Judgement::Void));
        }
        assert_eq!(session.actions().pending_count(), 1);

        // The directive in flight is rejected with the reason, and here served again.
        let list = Heard::default();
        session.with_queue(|queue| queue.push_once(ToolChoice::Required, noting(&list)));
        for _ in 0..3 {
            let (plan, judgement) = turn_ending(&session, end, &[detour()]);
            assert_eq!((plan.tool_choice, judgement), (ToolChoice::Required, Judgement::Void));
            assert_eq!(heard(&list), [reason]);
        }
        assert_eq!(turn(&session, &[detour()]).1, Judgement::Free);
        assert_eq!(heard(&list), [""; 0]);
    }
}

#[test]
fn q6_case_061_a_hard_choice_of_an_inactive_tool_is_unavailable() {
    // Invariant S5
    let session = Session::new();
    stage(&session);
    let list = Heard::default();
    let gone = ToolChoice::Named("gone".to_owned());
    session.with_queue(|queue| queue.push_once(gone, noting(&list)));
    let (plan, _) = turn(&session, &[]);
    assert_eq!(plan.unavailable.as_deref(), Some("gone"));
    assert_eq!(heard(&list), ["Unavailable"]);
    assert_eq!(plan.tool_choice, ToolChoice::Auto);
    assert!(plan.requirement.is_some(), "the turn goes on without it");
}

#[test]
fn q7_case_067_side_requests_neither_carry_nor_consume() {
    let session = Session::new();
    stage(&session);
    session.with_queue(|queue| queue.user_force("grep"));
    // A side request asks nothing of the session; what it may look at stays as it is.
    assert!(session.actions().has_pending() && session.prompts().samples().count() > 0);
    assert_eq!(session.with_queue(|queue| queue.in_flight().cloned()), None);
    let (plan, _) = turn(&session, &[]);
    assert_eq!(plan.tool_choice, ToolChoice::Named("grep".to_owned()));
}

#[test]
fn g11_case_075_a_forced_turn_differs_in_the_choice_alone() {
    // Invariant S4, Invariant S5: the plan cannot even say anything of tools or system text.
    let session = Session::new();
    stage(&session);
    turn(&session, &[look()]);
    let (before, _) = turn(&session, &[detour()]);
    let (forcing, _) = turn(&session, &[write("xd://resolve")]);
    let (after, _) = turn(&session, &[look()]);
    let TurnPlan { tool_choice, reminder, .. } = forcing;
    assert_eq!((tool_choice, reminder), (forced(), None));
    for plan in [before, after] {
        assert_eq!((plan.tool_choice, plan.reminder), (ToolChoice::Auto, None));
    }
}

#[test]
fn case_079_after_the_confirm_nothing_is_asked() {
    let session = Session::new();
    stage(&session);
    turn(&session, &[write("xd://resolve")]);
    confirm(&session, Verdict::Apply, "Yes.");
    let (plan, judgement) = turn(&session, &[]);
    assert!(plan.requirement.is_none() && plan.parked.is_none() && plan.reminder.is_none());
    assert_eq!((plan.tool_choice, judgement), (ToolChoice::Auto, Judgement::Free));
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Stage,
    Confirm(Verdict),
    BlankConfirm,
    Withdraw,
    Boundary,
    ClearPending,
    Turn(TurnEnd),
    Prompt,
}

fn step() -> impl Strategy<Value = Step> {
    prop::sample::select(vec![
        Step::Stage,
        Step::Stage,
        Step::Confirm(Verdict::Apply),
        Step::Confirm(Verdict::Discard),
        Step::BlankConfirm,
        Step::Withdraw,
        Step::Boundary,
        Step::ClearPending,
        Step::Turn(TurnEnd::Complete),
        Step::Turn(TurnEnd::Aborted),
        Step::Prompt,
    ])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn d6_case_001_something_is_asked_exactly_while_something_is_pending(
        steps in prop::collection::vec(step(), 0..40),
    ) {
        // Invariant S1: no phantom gate after any sequence.
        let session = Session::new();
        let mut parked = false;
        for step in steps {
            match step {
                Step::Stage => { stage(&session); }
                Step::Confirm(verdict) => {
                    let pending = session.actions().has_pending();
                    let result = confirm(&session, verdict, "Why.");
                    prop_assert_eq!(result.is_error, !pending && verdict == Verdict::Apply);
                }
                Step::BlankConfirm => prop_assert!(confirm(&session, Verdict::Apply, "").is_error),
                Step::Withdraw => drop(session.actions().withdraw_head()),
                Step::Boundary => drop(session.boundary(Boundary::New)),
                Step::ClearPending => drop(session.clear_pending()),
                Step::Turn(end) => parked |= turn_ending(&session, end, &[detour()]).0.parked.is_some(),
                Step::Prompt => { session.begin_prompt(); parked = false; }
            }
            let head = session.actions().head().map(|head| head.number());
            let asked = match session.next_tool_choice_directive() {
                Directive::Soft(requirement) => Some(requirement.number),
                Directive::Hard(_) | Directive::None => None,
            };
            // Only a parked head is not asked for.
            prop_assert!(asked == head || (parked && asked.is_none()));
        }
    }
}
