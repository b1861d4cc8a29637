//! D1, D5, D13, W7: confirms through a session.

use std::{
    future::Future,
    pin::pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

use xd_protocol::{Confirm, Selection, Verdict};
use xd_resolve::{ActionState, Decider, PlanMode, StageRequest, Tier, ToolResult, block_on};
use xd_session::{Boundary, DirectiveOptions, InvokedHandler, Session, ToolChoice};

use crate::scene::{Heard, confirm, confirm_as, heard, n, request, stage, turn};

/// A handler that notes what it hears, and answers or lets it pass.
fn handler(list: &Heard, answers: bool) -> InvokedHandler {
    let list = Arc::clone(list);
    Arc::new(move |verdict, reason| {
        list.lock().unwrap().push(format!("{} {reason}", verdict.as_str()));
        answers.then(|| Box::pin(std::future::ready(ToolResult::text("handled"))) as _)
    })
}

/// A session whose turn in flight serves a hard choice with `handler`.
fn with_handler(handler: InvokedHandler) -> Session {
    let session = Session::new();
    let options = DirectiveOptions::new().on_invoked(handler);
    session.with_queue(|queue| queue.push_once(ToolChoice::Named("write".to_owned()), options));
    session.next_turn(&request());
    session
}

#[test]
fn d1_the_handler_of_a_hard_directive_is_tried_first() {
    let list = Heard::default();
    let session = with_handler(handler(&list, true));
    let number = stage(&session);
    let result = confirm(&session, Verdict::Apply, "  Why. ");
    assert_eq!(
        (result.content, heard(&list)),
        (vec!["handled".to_owned()], vec!["apply Why.".to_owned()])
    );
    assert_eq!(session.actions().get(number).unwrap().1, ActionState::Pending);
    // The directive took effect, and with its end the stack is reached again.
    session.turn_ended();
    assert_eq!(confirm(&session, Verdict::Apply, "Why.").content, ["done"]);
}

#[test]
fn d1_a_handler_that_passes_leaves_it_to_the_stack() {
    let list = Heard::default();
    let session = with_handler(handler(&list, false));
    stage(&session);
    assert_eq!(confirm(&session, Verdict::Apply, "Why.").content, ["done"]);
    assert_eq!(heard(&list), ["apply Why."]);
}

#[test]
fn d1_u6_a_numbered_confirm_means_its_action_and_no_handler() {
    let list = Heard::default();
    let session = with_handler(handler(&list, true));
    let number = stage(&session);
    let confirm = Confirm { verdict: Verdict::Apply, selection: Selection::Numbered(number) };
    assert_eq!(confirm_as(&session, confirm, "Why.").content, ["done"]);
    assert_eq!(heard(&list), [""; 0]);
}

#[test]
fn d2_a_blank_reason_reaches_no_handler() {
    let list = Heard::default();
    let session = with_handler(handler(&list, true));
    assert!(confirm(&session, Verdict::Apply, " ").is_error);
    assert_eq!(heard(&list), [""; 0]);
}

#[test]
fn d5_plan_mode_points_to_propose() {
    let session = Session::new();
    let hint = " To submit the plan for approval, write its title to xd://propose instead.";
    for verdict in [Verdict::Apply, Verdict::Discard] {
        let off = confirm(&session, verdict, "Why.").joined();
        crate::scene::plan(&session);
        assert_eq!(confirm(&session, verdict, "Why.").joined(), format!("{off}{hint}"));
        session.plan().leave();
    }
}

#[test]
fn w7_in_plan_mode_nothing_of_the_working_tree_changes_by_any_route() {
    let session = Session::new();
    let number = stage(&session);
    crate::scene::plan(&session);
    let refused = confirm(&session, Verdict::Apply, "Why.");
    assert!(refused.is_error);
    assert!(refused.joined().starts_with("Not applied: plan mode is on and nothing of the working tree changes while it is. Staged action @1 stays pending."), "{refused:?}");
    for decider in [Decider::Model, Decider::Person, Decider::Host] {
        let direct = session.actions().confirm(number, Verdict::Apply, "Why.", decider);
        assert!(matches!(block_on(direct), xd_resolve::Resolution::Refused(_)));
    }
    assert_eq!(session.actions().get(number).unwrap().1, ActionState::Pending);
    // What only looks may be applied, and rejecting is always possible.
    let reading =
        StageRequest::new("a", |_| async { Ok(ToolResult::text("read")) }).tier(Tier::Read);
    session.actions().stage(reading).unwrap();
    assert_eq!(confirm(&session, Verdict::Apply, "Why.").content, ["read"]);
    assert!(!confirm(&session, Verdict::Discard, "No.").is_error);
    session.plan().leave();
    stage(&session);
    assert!(!confirm(&session, Verdict::Apply, "Why.").is_error);
}

#[test]
fn p3_entering_and_leaving_are_idempotent_and_every_state_reaches_off() {
    let session = Session::new();
    assert_eq!(session.plan_mode(), PlanMode::Off);
    session.plan().leave();
    assert_eq!(session.plan_mode(), PlanMode::Off);
    for _ in 0..3 {
        crate::scene::plan(&session);
        crate::scene::plan(&session);
        assert_eq!(session.plan_mode(), PlanMode::On);
        session.plan().leave();
        assert_eq!(session.plan_mode(), PlanMode::Off);
    }
}

#[test]
fn d13_a_late_failure_lifts_nothing_in_the_new_session() {
    // An apply waits for its own end while the session moves on.
    let open: Arc<Mutex<bool>> = Arc::default();
    let session = Session::new();
    let gate = Arc::clone(&open);
    let request = StageRequest::new("old", move |_| {
        let gate = Arc::clone(&gate);
        async move {
            std::future::poll_fn(|_| {
                if *gate.lock().unwrap() { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            Err::<ToolResult, _>(xd_resolve::ApplyError::tool("too late"))
        }
    });
    session.actions().stage(request).unwrap();
    let batch = session.actions().begin_batch();
    let confirm = Confirm { verdict: Verdict::Apply, selection: Selection::Head };
    let mut old = pin!(session.confirm(&batch, confirm, "Why.", Decider::Model));
    let mut context = Context::from_waker(Waker::noop());
    assert!(old.as_mut().poll(&mut context).is_pending());
    assert_eq!(session.boundary(Boundary::New), [n(1)]);
    let new = stage(&session);
    *open.lock().unwrap() = true;
    let Poll::Ready(result) = old.as_mut().poll(&mut context) else { panic!() };
    assert!(result.is_error);
    assert!(result.joined().ends_with("Staged action @1 is void: its session has ended."));
    let (plan, _) = turn(&session, &[]);
    assert_eq!(plan.requirement.unwrap().number, new);
}
