//! A session with a few staged actions, and turns as a scripted model would take them.

use std::sync::Arc;

use serde_json::json;
use xd_protocol::{Confirm, Selection, StageNumber, Verdict};
use xd_resolve::{ApplyError, Decider, StageRequest, Tier, ToolCall, ToolResult, block_on};
use xd_session::{Asking, Gate, Judgement, Opening, Session, TurnEnd, TurnPlan, TurnRequest};

pub(crate) fn n(number: u64) -> StageNumber {
    StageNumber::new(number).expect("numbers begin at 1")
}

/// What `gate` asks of a usual turn while `head` is the head.
pub(crate) fn open_for(gate: &mut Gate, head: Option<StageNumber>) -> Opening {
    gate.open(&Asking::about(head)).opening
}

/// Stages an action that succeeds.
pub(crate) fn stage(session: &Session) -> StageNumber {
    let request = StageRequest::new("Rename: 1 file", |_| async { Ok(ToolResult::text("done")) });
    session.actions().stage(request.source_tool("ast_edit")).unwrap().number()
}

/// Stages several.
pub(crate) fn stage_many(session: &Session, times: usize) {
    (0..times).for_each(|_| {
        stage(session);
    });
}

/// Stages an action that always fails.
pub(crate) fn stage_failing(session: &Session) -> StageNumber {
    let request = StageRequest::new("Rename: 1 file", |_| async {
        Err::<ToolResult, _>(ApplyError::tool("tool error"))
    });
    session.actions().stage(request).unwrap().number()
}

pub(crate) fn request() -> TurnRequest {
    TurnRequest::with_tools(["read", "grep", "write", "ast_edit"])
}

pub(crate) fn write(path: &str) -> ToolCall {
    ToolCall::new("1", "write", json!({ "path": path, "content": "Why." }))
}

pub(crate) fn look() -> ToolCall {
    ToolCall::new("2", "read", json!({ "path": "a.rs" }))
}

pub(crate) fn detour() -> ToolCall {
    ToolCall::new("3", "bash", json!({ "command": "ls" }))
}

pub(crate) fn tier(call: &ToolCall) -> Tier {
    match call.name.as_str() {
        "read" | "grep" => Tier::Read,
        "write" | "ast_edit" => Tier::Write,
        _ => Tier::Exec,
    }
}

/// A whole turn that ends well with `calls`: planned, judged, ended. Nothing is carried out.
pub(crate) fn turn(session: &Session, calls: &[ToolCall]) -> (TurnPlan, Judgement) {
    turn_ending(session, TurnEnd::Complete, calls)
}

pub(crate) fn turn_ending(
    session: &Session,
    end: TurnEnd,
    calls: &[ToolCall],
) -> (TurnPlan, Judgement) {
    let plan = session.next_turn(&request());
    let judgement = session.judge(end, calls, tier);
    session.turn_ended();
    (plan, judgement)
}

/// A bare confirm in a batch of its own.
pub(crate) fn confirm(session: &Session, verdict: Verdict, body: &str) -> ToolResult {
    confirm_as(session, Confirm { verdict, selection: Selection::Head }, body)
}

pub(crate) fn confirm_as(session: &Session, confirm: Confirm, body: &str) -> ToolResult {
    let batch = session.actions().begin_batch();
    block_on(session.confirm(&batch, confirm, body, Decider::Model))
}

/// A list that closures append to.
pub(crate) type Heard = Arc<std::sync::Mutex<Vec<String>>>;

pub(crate) fn heard(list: &Heard) -> Vec<String> {
    std::mem::take(&mut *list.lock().unwrap())
}

/// Enters plan mode, with a reviewer who never decides.
pub(crate) fn plan(session: &Session) {
    struct Nobody;
    impl xd_session::PlanReviewer for Nobody {
        fn review(
            &self,
            _: xd_session::PlanReview,
        ) -> xd_resolve::BoxFuture<'_, xd_session::PlanAnswer> {
            Box::pin(std::future::ready(xd_session::PlanAnswer::Dismissed))
        }
    }
    session.plan().set_reviewer(std::sync::Arc::new(Nobody));
    session.plan().enter().expect("a reviewer is there");
}
