//! Plan mode within a session: what the model is told, what the gate asks, what boundaries do, and
//! how often it may repeat what is forbidden.

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use xd_resolve::{
    ActionState, BoxFuture, Decider, Guard, PlanMode, Resolution, StageRequest, StagedAction, Tier,
    ToolCall, ToolResult, block_on,
};
use xd_session::{
    Approving, Boundary, Directive, PlanAnswer, PlanDigest, PlanNotice, PlanPhase, PlanReview,
    PlanReviewer, Proposal, RefusalLimits, Refusals, Session, TurnEnd, TurnRequest,
};

struct Nobody;

impl PlanReviewer for Nobody {
    fn review(&self, _: PlanReview) -> BoxFuture<'_, PlanAnswer> {
        Box::pin(std::future::ready(PlanAnswer::Dismissed))
    }
}

fn session() -> Session {
    let session = Session::new();
    session.plan().set_reviewer(Arc::new(Nobody));
    session
}

fn request(tier: Tier) -> StageRequest {
    StageRequest::new("Rename: 1 file", |_| async { Ok(ToolResult::text("Renamed.")) }).tier(tier)
}

fn turn(session: &Session) -> xd_session::TurnPlan {
    let plan = session.next_turn(&TurnRequest::with_tools(["read", "write"]));
    session.judge(TurnEnd::Complete, &[], |_| Tier::Exec);
    session.turn_ended();
    plan
}

fn told(session: &Session) -> Option<PlanMode> {
    turn(session).plan_notice.map(|notice| notice.mode)
}

// CONTRACT P3
#[test]
fn p3_the_model_is_told_once_that_plan_mode_began_and_once_that_it_ended() {
    let session = session();
    assert_eq!(told(&session), None);
    session.plan().enter().unwrap();
    let notice = turn(&session).plan_notice.unwrap();
    assert!(notice.text.contains("xd://propose") && notice.text.contains("local://<slug>-plan.md"));
    assert_eq!(notice.details(), json!({ "mode": "on" }));
    assert_eq!((PlanNotice::CUSTOM_TYPE, PlanNotice::DISPLAY), ("plan-mode", false));
    assert_eq!(told(&session), None);
    session.plan().leave();
    let notice = turn(&session).plan_notice.unwrap();
    assert!(notice.text.contains("no plan was approved"), "{}", notice.text);
    assert_eq!(told(&session), None);
    // In and out between two turns is nothing to tell.
    session.plan().enter().unwrap();
    session.plan().leave();
    assert_eq!(told(&session), None);
}

// CONTRACT P1
#[test]
fn p1_an_approval_is_told_by_its_own_answer_and_compaction_tells_again_with_the_slug() {
    let session = session();
    let digest = PlanDigest::new([7; 32]);
    let submit = || {
        let proposal = Proposal { slug: "rename-client".into(), digest };
        session.plan().submit(proposal).unwrap()
    };
    session.plan().enter().unwrap();
    turn(&session);
    drop(submit());
    session.boundary(Boundary::Compaction);
    let notice = turn(&session).plan_notice.unwrap();
    assert!(notice.text.contains("`local://rename-client-plan.md`"), "{}", notice.text);
    assert_eq!(submit().approve(digest), Approving::Approved(()));
    assert_eq!(told(&session), None);
}

// CONTRACT W7, G1
#[test]
fn w7_what_plan_mode_holds_back_is_not_asked_for_until_it_ends() {
    let session = session();
    session.begin_prompt();
    session.plan().enter().unwrap();
    let number = session.actions().stage(request(Tier::Write)).unwrap().number();
    for _ in 0..20 {
        let plan = turn(&session);
        assert!(plan.requirement.is_none() && plan.parked.is_none() && plan.reminder.is_none());
    }
    assert!(matches!(session.next_tool_choice_directive(), Directive::None));
    session.plan().leave();
    let plan = turn(&session);
    assert_eq!(plan.requirement.map(|it| it.number), Some(number));
    assert!(plan.reminder.is_some());
}

// CONTRACT W7
#[test]
fn w7_what_only_looks_is_asked_for_in_plan_mode_too() {
    let session = session();
    session.plan().enter().unwrap();
    session.actions().stage(request(Tier::Read)).unwrap();
    assert!(turn(&session).requirement.is_some());
}

// CONTRACT W7; case 95; Invariant S7
#[test]
fn w7_case_095_added_guards_hold_on_every_route_behind_plan_mode() {
    struct No(&'static str);
    impl Guard for No {
        fn check(
            &self,
            action: &StagedAction,
            _: xd_protocol::Verdict,
            _: Decider,
        ) -> Result<(), ToolResult> {
            let denied = action.source_tool_name() == self.0;
            if denied { Err(ToolResult::error("denied")) } else { Ok(()) }
        }
    }
    let session = session();
    session.add_guard(Arc::new(No("other")));
    session.add_guard(Arc::new(No("bad")));
    let stage = |tool: &'static str| {
        session.actions().stage(request(Tier::Write).source_tool(tool)).unwrap().number()
    };
    let (bad, good) = (stage("bad"), stage("good"));
    let apply = |number, decider| {
        block_on(session.actions().confirm(number, xd_protocol::Verdict::Apply, "Why.", decider))
    };
    for decider in [Decider::Model, Decider::Person, Decider::Host] {
        assert!(matches!(apply(bad, decider), Resolution::Refused(_)));
        session.plan().enter().unwrap();
        assert!(matches!(apply(good, decider), Resolution::Refused(_)));
        session.plan().leave();
    }
    assert_eq!(session.actions().get(bad).unwrap().1, ActionState::Pending);
    assert!(matches!(apply(good, Decider::Model), Resolution::Ran { .. }));
}

// CONTRACT E1, P3
#[test]
fn e1_p3_a_boundary_voids_the_review_and_ends_plan_mode_only_with_its_session() {
    use Boundary::{
        Branch, Cancelled, Clear, Compaction, Fork, ModelChange, Move, Navigate, New, Rewind,
        Switch,
    };
    let proposal = Proposal { slug: "a".into(), digest: PlanDigest::new([1; 32]) };
    let cases = [
        (New, PlanPhase::Off),
        (Switch, PlanPhase::Off),
        (Branch, PlanPhase::Planning),
        (Fork, PlanPhase::Planning),
        (Navigate, PlanPhase::Planning),
        (Rewind, PlanPhase::Planning),
        (Clear, PlanPhase::Planning),
        (Move, PlanPhase::Proposed(proposal.clone())),
        (Compaction, PlanPhase::Proposed(proposal.clone())),
        (ModelChange, PlanPhase::Proposed(proposal.clone())),
        (Cancelled, PlanPhase::Proposed(proposal.clone())),
    ];
    for (boundary, expect) in cases {
        let session = session();
        session.plan().enter().unwrap();
        turn(&session);
        let review = session.plan().submit(proposal.clone()).unwrap();
        session.boundary(boundary);
        assert_eq!(session.plan().phase(), expect, "{boundary:?}");
        assert_eq!(boundary.ends_plan_mode(), expect == PlanPhase::Off);
        let kept = matches!(expect, PlanPhase::Proposed(_));
        let answer = review.approve(proposal.digest);
        assert_eq!(answer == Approving::Approved(()), kept, "{boundary:?}");
        // What a new history cannot hold is told again.
        if expect == PlanPhase::Planning {
            assert_eq!(told(&session), Some(PlanMode::On), "{boundary:?}");
        } else {
            assert_eq!(told(&session), None, "{boundary:?}");
        }
    }
}

// case 93
#[test]
fn case_093_the_same_refused_call_is_told_to_stop_and_then_ends_the_run() {
    let session = session();
    let write =
        |text: &str| ToolCall::new("1", "write", json!({ "path": "src/a.rs", "content": text }));
    session.begin_prompt();
    for n in 1..=6 {
        assert_eq!(session.refusals_spent(), None, "{n}");
        session.begin_batch_of_calls();
        // Another text makes no other call of it.
        let repeat = session.call_refused(&write(&format!("text {n}")));
        assert_eq!((repeat.times, repeat.tell), (n, n >= 3));
    }
    assert_eq!(session.refusals_spent(), Some(6));
    session.begin_prompt();
    assert_eq!(session.refusals_spent(), None);
    assert_eq!(session.call_refused(&write("x")).times, 1);
}

// case 93
#[test]
fn case_093_one_batch_counts_once_for_a_call_and_a_boundary_forgets() {
    let session = session();
    let call = |name: &str| ToolCall::new("1", name, json!({ "n": 1 }));
    session.begin_batch_of_calls();
    for _ in 0..50 {
        assert_eq!(session.call_refused(&call("a")).times, 1);
        assert_eq!(session.call_refused(&call("b")).times, 1);
    }
    assert_eq!(session.refusals_spent(), None);
    session.begin_batch_of_calls();
    assert_eq!(session.call_refused(&call("a")).times, 2);
    session.boundary(Boundary::New);
    session.begin_batch_of_calls();
    assert_eq!(session.call_refused(&call("a")).times, 1);
}

proptest! {
    // case 93: whatever it alternates between, the batches that are refused are bounded.
    #[test]
    fn case_093_no_pattern_of_refused_calls_goes_on_for_ever(
        batches in proptest::collection::vec(proptest::collection::vec(0..9_u64, 1..4), 12..40)
    ) {
        let limits = RefusalLimits::default();
        let mut refusals = Refusals::with_limits(limits);
        let mut refused = 0;
        for batch in &batches {
            if refusals.spent().is_some() {
                break;
            }
            refusals.batch_began();
            refused += 1;
            for &key in batch {
                refusals.refused(key);
            }
        }
        prop_assert!(refused <= limits.batches);
        let most = (0..9).map(|key| {
            batches.iter().take(refused as usize).filter(|batch| batch.contains(&key)).count()
        }).max();
        prop_assert!(most <= Some(limits.same as usize));
        prop_assert_eq!(refusals.spent(), Some(refused));
    }
}
