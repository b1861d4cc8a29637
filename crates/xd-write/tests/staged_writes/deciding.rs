//! Who is asked, what plan mode holds back, and what the gate makes of a staged write.

use std::sync::{Arc, Mutex};

use serde_json::json;
use xd_protocol::notice;
use xd_resolve::{BoxFuture, Tier, ToolCall};
use xd_session::{PlanAnswer, PlanReview, PlanReviewer, Session};
use xd_write::{Approval, ApprovalRequest, Approver, Policy, Rules};

use crate::desk::Desk;

/// Says yes, and keeps what it was asked.
#[derive(Default)]
struct Yes(Mutex<Vec<ApprovalRequest>>);

impl Approver for Yes {
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, Approval> {
        self.0.lock().unwrap().push(request);
        Box::pin(std::future::ready(Approval::Granted))
    }
}

struct Nobody;

impl PlanReviewer for Nobody {
    fn review(&self, _: PlanReview) -> BoxFuture<'_, PlanAnswer> {
        Box::pin(std::future::ready(PlanAnswer::Dismissed))
    }
}

fn write(path: &str) -> ToolCall {
    ToolCall::new("1", "write", json!({ "path": path, "content": "two\n" }))
}

// CONTRACT W6 — Invariant W4
#[tokio::test]
async fn w6_staging_has_the_tier_of_staging_and_the_confirm_shows_the_change() {
    let yes = Arc::new(Yes::default());
    let asking = Arc::<Yes>::clone(&yes);
    let desk = Desk::with(&[("a.txt", "one\n")], |builder| {
        builder.policy(Policy::automatic(Tier::Read).asking(asking).stage_writes())
    });
    assert_eq!(desk.host.tier(&write("a.txt")), Tier::Write);
    desk.staged("a.txt", "two\n").await;
    assert_eq!(desk.host.tier(&write("xd://resolve")), Tier::Write);
    assert_eq!(desk.host.tier(&write("xd://reject")), Tier::Read);
    desk.resolve().await;
    let asked = yes.0.lock().unwrap();
    let seen: Vec<_> = asked.iter().map(|it| (it.tier, it.action.is_some())).collect();
    assert_eq!(seen, [(Tier::Write, false), (Tier::Write, true)]);
    let change_set = asked[1].action.as_ref().unwrap().change_set().unwrap();
    assert_eq!(change_set.paths().len(), 1, "the change is in view");
    assert_eq!(desk.bytes("a.txt"), b"two\n");
}

// CONTRACT W7: rules name `write`, for what it does and for what it has staged.
#[tokio::test]
async fn w7_a_rule_that_denies_write_denies_staging_and_applying() {
    let policy = Policy::default().stage_writes().with_rules(Rules::new().deny("write"));
    let desk = Desk::with(&[("a.txt", "one\n")], |builder| builder.policy(policy));
    let refused = desk.refused("a.txt", "two\n").await;
    assert!(refused.contains("a rule of this host denies `write`"), "{refused}");
}

// CONTRACT W7, P4 — Invariant W6
#[tokio::test]
async fn w7_p4_in_plan_mode_a_write_is_held_back_and_its_text_kept_as_without_staging() {
    let desk = Desk::with(&[("a.txt", "one\n")], |builder| builder.reviewer(Arc::new(Nobody)));
    desk.staged("a.txt", "before\n").await;
    desk.host.session().plan().enter().unwrap();
    let refused = desk.refused("plan.md", "# The plan\n").await;
    assert!(refused.contains(notice::PLAN_MODE_ON), "{refused}");
    assert!(refused.contains("local://plan-plan.md"), "kept: {refused}");
    // What was staged before waits, too.
    let held = desk.resolve().await;
    assert!(held.is_error && held.joined().contains(notice::PLAN_MODE_ON), "{held:?}");
    let draft = desk.write("local://other-plan.md", "# Other\n").await;
    assert!(draft.joined().starts_with("Wrote local://other-plan.md"), "{draft:?}");
    desk.host.session().plan().leave();
    assert!(!desk.resolve().await.is_error);
    assert_eq!(desk.bytes("a.txt"), b"before\n");
}

// CONTRACT G5: while something is pending another staged write is a detour like any other.
#[tokio::test]
async fn g5_a_staged_write_is_no_confirm_and_no_look() {
    let desk = Desk::new(&[("a.txt", "one\n")]);
    assert_eq!(xd_resolve::confirm_of_call(&write("a.txt")), None);
    assert!(desk.host.tier(&write("a.txt")) > Tier::Read);
}

// CONTRACT D15: with the hidden tool in the devices' place.
#[tokio::test]
async fn d15_the_hidden_tool_decides_staged_writes() {
    let session = Session::new().with_finalizer(xd_session::Finalizer::HiddenTool);
    let desk = Desk::over(session, &[("a.txt", "one\n")], |builder| builder);
    let staged = desk.staged("a.txt", "two\n").await;
    assert!(staged.starts_with(notice::STAGED_FOR_TOOL), "{staged}");
    let arguments = json!({ "action": "apply", "reason": "It is right." });
    let applied = desk.call("resolve", arguments).await;
    assert_eq!(applied.content, ["Wrote a.txt (replaced, 4 bytes)."]);
    assert_eq!(desk.bytes("a.txt"), b"two\n");
}
