//! What the walks have found, each as a short history of its own.

use std::{
    future::{Future as _, poll_fn, ready},
    pin::pin,
    sync::Arc,
    task::Poll,
};

use serde_json::json;
use xd_protocol::Verdict;
use xd_resolve::{
    ActionState, ApplyError, BoxFuture, Decider, Detach, StageRequest, Tier, ToolCall, ToolResult,
    block_on,
};
use xd_session::{Boundary, Judgement, Session, TurnEnd, TurnRequest};

fn request() -> TurnRequest {
    TurnRequest::with_tools(["read", "write"])
}

fn write(path: &str) -> ToolCall {
    ToolCall::new("1", "write", json!({ "path": path, "content": "Why." }))
}

fn judge(session: &Session, call: ToolCall) -> Judgement {
    session.judge(TurnEnd::Complete, &[call], |_| Tier::Write)
}

fn succeeding() -> StageRequest {
    StageRequest::new("Probe", |_| ready(Ok(ToolResult::text("done"))))
}

#[test]
fn d13_an_answer_to_the_session_before_decides_nothing_in_this_one() {
    for path in ["xd://resolve", "xd://reject", "xd://resolve@2"] {
        let session = Session::new();
        session.begin_prompt();
        session.actions().stage(succeeding()).unwrap();
        session.next_turn(&request());
        session.boundary(Boundary::New);
        let new = session.actions().stage(succeeding()).unwrap().number();
        // The provider answers now: it meant the action that is void.
        assert_eq!(judge(&session, write(path)), Judgement::Void, "{path}");
        session.turn_ended();
        assert_eq!(session.actions().get(new).unwrap().1, ActionState::Pending);
        // The next turn is the new session's own.
        assert_eq!(session.next_turn(&request()).requirement.unwrap().number, new);
        assert_eq!(judge(&session, write(path)), Judgement::Run, "{path}");
    }
}

#[test]
fn g1_case_1_a_requirement_met_while_the_provider_answers_is_none() {
    for verdict in [Verdict::Apply, Verdict::Discard] {
        let session = Session::new();
        session.begin_prompt();
        let number = session.actions().stage(succeeding()).unwrap().number();
        assert!(session.next_turn(&request()).requirement.is_some());
        drop(block_on(session.actions().confirm(number, verdict, "Mine.", Decider::Person)));
        assert_eq!(judge(&session, write("a.rs")), Judgement::Free);
    }
}

/// Finishes at once what is abandoned.
struct AtOnce;

impl Detach for AtOnce {
    fn detach(&self, rest: BoxFuture<'static, ()>) {
        block_on(rest);
    }
}

#[test]
fn g8_d12_an_abandoned_apply_that_fails_lifts_the_gate_too() {
    let session = Session::with_store(|store| store.with_detach(Arc::new(AtOnce)));
    session.begin_prompt();
    let apply = |_| async {
        // Once pending, so that the confirm can be dropped in between.
        let mut waited = false;
        poll_fn(|cx| {
            cx.waker().wake_by_ref();
            if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        Err(ApplyError::tool("it failed"))
    };
    let number = session.actions().stage(StageRequest::new("Probe", apply)).unwrap().number();
    let confirm = session.actions().confirm(number, Verdict::Apply, "Why.", Decider::Person);
    block_on(async {
        let mut confirm = pin!(confirm);
        poll_fn(|cx| {
            assert!(confirm.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
    });
    assert_eq!(session.actions().get(number).unwrap().1, ActionState::Pending);
    assert!(session.next_turn(&request()).requirement.is_none(), "lifted until the next prompt");
    session.begin_prompt();
    assert!(session.next_turn(&request()).requirement.is_some());
}
