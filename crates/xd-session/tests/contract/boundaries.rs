//! E1, E2, Q5: what survives a transition of the session, and sessions side by side.

use serde_json::json;
use xd_protocol::{Confirm, Selection, Verdict};
use xd_resolve::{ActionState, ToolCall};
use xd_session::{
    Boundary, DirectiveOptions, Judgement, RejectReason, Session, ToolChoice, TurnEnd,
};

use crate::scene::{
    Heard, confirm, confirm_as, detour, heard, look, n, stage, stage_many, tier, turn, write,
};

const VOIDING: [Boundary; 7] = [
    Boundary::New,
    Boundary::Switch,
    Boundary::Branch,
    Boundary::Fork,
    Boundary::Navigate,
    Boundary::Rewind,
    Boundary::Clear,
];
const KEEPING: [Boundary; 4] =
    [Boundary::Move, Boundary::Compaction, Boundary::ModelChange, Boundary::Cancelled];

#[test]
fn e1_what_voids_and_what_keeps() {
    for boundary in VOIDING {
        // Invariant S1: with what was pending the requirement is gone.
        let session = Session::new();
        stage_many(&session, 2);
        assert!(boundary.voids());
        assert_eq!(session.boundary(boundary), [n(2), n(1)], "{boundary:?}");
        assert!(turn(&session, &[]).0.requirement.is_none());
        let one = Confirm { verdict: Verdict::Apply, selection: Selection::Numbered(n(1)) };
        let answer = confirm_as(&session, one, "Why.").joined();
        assert_eq!(answer, "Staged action @1 is void: its session has ended. Nothing was done.");
        assert_eq!(stage(&session), n(3), "numbers go on");
    }
    for boundary in KEEPING {
        let session = Session::new();
        let number = stage(&session);
        assert!(!boundary.voids());
        assert_eq!(session.boundary(boundary), [], "{boundary:?}");
        assert_eq!(session.actions().get(number).unwrap().1, ActionState::Pending);
        assert!(turn(&session, &[]).0.requirement.is_some());
    }
}

#[test]
fn d13_e1_a_boundary_between_plan_and_judgement_voids_the_turn_whatever_it_brings() {
    // Invariant S1, Invariant S8: neither a confirm nor a staging, a write, a look or a last word of the old
    // session is the new one's, whether something was pending in it or not.
    let stages = ToolCall::new("4", "ast_edit", json!({}));
    let batches = [
        vec![write("xd://resolve")],
        vec![write("xd://reject@1")],
        vec![write("a.rs")],
        vec![stages],
        vec![detour()],
        vec![look()],
        vec![look(), write("xd://resolve")],
        vec![],
    ];
    for (boundary, end, pending) in VOIDING.into_iter().flat_map(|boundary| {
        [TurnEnd::Complete, TurnEnd::Truncated]
            .into_iter()
            .flat_map(move |end| [0, 1].map(|pending| (boundary, end, pending)))
    }) {
        for calls in &batches {
            let session = Session::new();
            stage_many(&session, pending);
            let plan = session.next_turn(&crate::scene::request());
            assert_eq!(plan.requirement.is_some(), pending > 0);
            session.boundary(boundary);
            assert_eq!(session.judge(end, calls, tier), Judgement::Void, "{boundary:?} {calls:?}");
            assert!(session.was_late());
            assert!(session.void_result().contains("has ended"), "{}", session.void_result());
            session.turn_ended();
            // The next turn is the new session's own.
            assert_eq!(turn(&session, &[detour()]).1, Judgement::Free);
            assert!(!session.was_late());
        }
    }
}

#[test]
fn d13_a_prompt_in_the_new_session_makes_a_late_answer_no_less_late() {
    // Invariant S8
    let session = Session::new();
    stage(&session);
    session.next_turn(&crate::scene::request());
    session.boundary(Boundary::Switch);
    let new = stage(&session);
    session.begin_prompt();
    for end in [TurnEnd::Complete, TurnEnd::Aborted] {
        let late = session.judge(end, &[write("xd://resolve")], tier);
        assert_eq!((late, session.was_late()), (Judgement::Void, end == TurnEnd::Complete));
        assert_eq!(session.actions().get(new).unwrap().1, ActionState::Pending);
    }
    assert_eq!(session.void_result(), "Not executed: the turn was aborted.");
}

#[test]
fn d13_an_answer_that_comes_after_the_next_turn_was_asked_for_is_that_turns() {
    // A loop asks for one turn after the other: who has asked anew has given the old one up.
    let session = Session::new();
    session.next_turn(&crate::scene::request());
    session.boundary(Boundary::New);
    session.next_turn(&crate::scene::request());
    assert_eq!(session.judge(TurnEnd::Complete, &[detour()], tier), Judgement::Free);
    // A boundary between two turns makes none late.
    session.boundary(Boundary::New);
    assert_eq!(turn(&session, &[detour()]).1, Judgement::Free);
    assert!(!session.was_late());
}

#[test]
fn g3_after_compaction_the_reminder_is_due_again() {
    // Invariant S4
    let session = Session::new();
    stage(&session);
    assert!(turn(&session, &[look()]).0.reminder.is_some());
    for (boundary, again) in
        [(Boundary::Move, false), (Boundary::ModelChange, false), (Boundary::Compaction, true)]
    {
        session.boundary(boundary);
        assert_eq!(turn(&session, &[look()]).0.reminder.is_some(), again, "{boundary:?}");
    }
}

#[test]
fn q5_a_boundary_rejects_the_directive_in_flight_as_cleared() {
    let list = Heard::default();
    let note = list.clone();
    let session = Session::new();
    let options =
        DirectiveOptions::new().on_rejected(std::sync::Arc::new(move |reason: RejectReason| {
            note.lock().unwrap().push(format!("{reason:?}"));
            xd_session::OnRejected::Requeue
        }));
    session.with_queue(|queue| {
        queue.push_sequence(vec![ToolChoice::Required, ToolChoice::None], options);
    });
    session.next_turn(&crate::scene::request());
    session.boundary(Boundary::Switch);
    assert_eq!(heard(&list), ["Cleared"]);
    assert_eq!(turn(&session, &[]).0.tool_choice, ToolChoice::Auto);
}

#[test]
fn q5_clear_pending_leaves_hard_directives_alone() {
    let session = Session::new();
    stage_many(&session, 2);
    session.with_queue(|queue| {
        queue.push_once(ToolChoice::Required, DirectiveOptions::new());
    });
    assert_eq!(session.clear_pending(), [n(2), n(1)]);
    assert!(!session.actions().has_pending());
    assert_eq!(turn(&session, &[]).0.tool_choice, ToolChoice::Required);
}

#[test]
fn e2_case_117_sessions_do_not_see_each_other() {
    let (one, other) = (Session::new(), Session::new());
    let number = stage(&one);
    assert!(turn(&other, &[detour()]).0.requirement.is_none());
    assert!(confirm(&other, Verdict::Apply, "Why.").joined().starts_with("No pending action"));
    assert_eq!(other.boundary(Boundary::New), []);
    crate::scene::plan(&other);
    drop(other);
    assert_eq!(one.actions().get(number).unwrap().1, ActionState::Pending);
    assert!(!confirm(&one, Verdict::Apply, "Why.").is_error);
}

#[test]
fn case_129_each_of_several_is_asked_for_and_resolved_by_its_own_turn() {
    let session = Session::new();
    stage_many(&session, 5);
    let mut asked = Vec::new();
    while let Some(requirement) = turn(&session, &[write("xd://resolve")]).0.requirement {
        asked.push(requirement.number.get());
        confirm(&session, Verdict::Apply, "Yes.");
    }
    assert_eq!(asked, [5, 4, 3, 2, 1]);
}

// CONTRACT D13: a confirm from before a boundary is no answer to the directive of the session after.
#[test]
fn d13_a_late_confirm_does_not_reach_the_next_sessions_directive() {
    let session = Session::new();
    let before = session.actions().begin_batch();
    session.boundary(Boundary::New);
    let invoked = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = std::sync::Arc::clone(&invoked);
    let options = DirectiveOptions::new().on_invoked(std::sync::Arc::new(move |_, _| {
        seen.store(true, std::sync::atomic::Ordering::Relaxed);
        Some(Box::pin(std::future::ready(xd_resolve::ToolResult::text("answered"))))
    }));
    session.with_queue(|queue| queue.push_once(ToolChoice::Required, options));
    assert_eq!(
        session.with_queue(xd_session::ToolChoiceQueue::next_tool_choice),
        Some(ToolChoice::Required)
    );
    let bare = Confirm { verdict: Verdict::Apply, selection: Selection::Head };
    let late =
        xd_resolve::block_on(session.confirm(&before, bare, "Late.", xd_resolve::Decider::Model));
    assert!(late.is_error && !invoked.load(std::sync::atomic::Ordering::Relaxed), "{late:?}");
    let now = session.actions().begin_batch();
    let answer =
        xd_resolve::block_on(session.confirm(&now, bare, "In time.", xd_resolve::Decider::Model));
    assert_eq!(answer.joined(), "answered");
}

// CONTRACT G6: a tool that is asked how far it reaches may look at its session.
#[test]
fn g6_a_tier_may_ask_the_session() {
    let session = Session::new();
    let tier = |_: &ToolCall| {
        if session.is_granted("anything") {
            xd_resolve::Tier::Read
        } else {
            xd_resolve::Tier::Write
        }
    };
    let judged = session.judge(TurnEnd::Complete, &[detour()], tier);
    assert_eq!(judged, Judgement::Free);
}
