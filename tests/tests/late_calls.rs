//! Calls of a session that has ended before they ran (`CONTRACT D13`).
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::sync::{Arc, OnceLock};

use serde_json::json;
use xd_resolve::{BoxFuture, Decider, Tier, ToolCall, ToolResult};
use xd_session::{Boundary, Finalizer, SESSION_ENDED, Session};
use xd_tests::{Bench, call, write_call};
use xd_write::{
    Approval, ApprovalRequest, Approver, CallScope, FnTool, Policy, Tool, ToolDefinition,
    WriteScope,
};

const ENDS: [Boundary; 3] = [Boundary::New, Boundary::Switch, Boundary::Clear];

/// A tool of tier read that ends the session in which it is called.
fn ender(boundary: Boundary) -> impl Tool {
    let definition = ToolDefinition::new("end", "Ends.", json!({ "type": "object" }));
    FnTool::new(definition, Tier::Read, move |context, _| async move {
        drop(context.session().boundary(boundary));
        Ok(ToolResult::text("Ended."))
    })
}

fn late(result: &ToolResult) -> bool {
    result.is_error && result.content == [SESSION_ENDED]
}

// What stands behind a call that ends the session does not happen in the next one: no file, no
// draft, no device, no look, no confirm of what has its number there.
#[tokio::test]
async fn d13_what_stands_behind_the_end_of_its_session_does_not_run() {
    for boundary in ENDS {
        let device = FnTool::new(
            ToolDefinition::new("ring", "Rings.", json!({ "type": "object" })),
            Tier::Read,
            |_, _| async { Ok(ToolResult::text("Rang.")) },
        );
        let bench = Bench::with(&[("a.txt", "one\n")], |builder| {
            builder.tool(ender(boundary)).device(device).unwrap().writes(WriteScope::Files)
        });
        bench.edit("a.txt", "one", "two").await;
        let before = bench.picture();
        let results = bench
            .run(&[
                call("1", "end", json!({})),
                write_call("2", "new.txt", "late\n"),
                write_call("3", "a.txt", "late\n"),
                write_call("4", "local://plan.md", "late\n"),
                write_call("5", "xd://ring", "{}"),
                call("6", "read", json!({ "path": "a.txt" })),
                write_call("7", "xd://resolve@1", "It is late."),
                write_call("8", "xd://reject", "It is late."),
                call("9", "no_such_tool", json!({})),
            ])
            .await;
        assert_eq!(results[0].content, ["Ended."]);
        for result in &results[1..] {
            assert!(late(result), "{boundary:?}: {result:?}");
        }
        assert_eq!(bench.picture(), before, "{boundary:?}");
        // The next batch is one of the session that is open.
        assert!(!bench.write("new.txt", "in time\n").await.is_error);
    }
}

// A boundary that comes between the judgement and the batch is one that the calls do not outlive.
#[tokio::test]
async fn d13_a_batch_of_an_earlier_session_runs_nothing() {
    let bench = Bench::new(&[]);
    let epoch = bench.session().actions().epoch();
    let scope = CallScope { epoch: Some(epoch), ..CallScope::of(Decider::Model) };
    let call = |n: &str| [write_call("1", n, "x")];
    assert!(!bench.host.run_batch(&call("a"), &scope).await[0].is_error);
    bench.session().boundary(Boundary::Compaction);
    assert!(!bench.host.run_batch(&call("b"), &scope).await[0].is_error, "it goes on");
    bench.session().boundary(Boundary::New);
    assert!(late(&bench.host.run_batch(&call("c"), &scope).await[0]));
    assert!(!bench.exists("c"));
}

/// Says yes, after the session has ended.
struct Slow(Arc<OnceLock<Arc<Session>>>);

impl Approver for Slow {
    fn ask(&self, _: ApprovalRequest) -> BoxFuture<'_, Approval> {
        drop(self.0.get().unwrap().boundary(Boundary::New));
        Box::pin(std::future::ready(Approval::Granted))
    }
}

// Whoever is asked may take their time: the yes is for the session in which it was asked.
#[tokio::test]
async fn d13_w6_a_yes_that_comes_after_the_end_of_the_session_runs_nothing() {
    let session = Arc::new(OnceLock::new());
    let policy = Policy::automatic(Tier::Read).asking(Arc::new(Slow(Arc::clone(&session))));
    let bench = Bench::with(&[("a.txt", "one\n")], |builder| builder.policy(policy));
    session.set(Arc::clone(bench.host.session())).unwrap();
    let results = bench.run(&[write_call("1", "b.txt", "x"), write_call("2", "c.txt", "x")]).await;
    assert!(results.iter().all(late), "{results:?}");
    assert!(!bench.exists("b.txt") && !bench.exists("c.txt"));
}

// CONTRACT F7, D15: the earlier form says too what an apply has made stale, and names no address.
#[tokio::test]
async fn f7_d15_the_hidden_tool_says_what_an_apply_made_stale() {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let session = Session::new().with_finalizer(Finalizer::HiddenTool);
    let bench = Bench::over(folder, session, |builder| builder);
    bench.put("a.txt", "one two\n");
    bench.put("b.txt", "one\n");
    bench.edit("a.txt", "one", "1").await;
    bench.edit("b.txt", "one", "1").await;
    bench.edit("a.txt", "two", "2").await;
    let decide = |action: &str| {
        let arguments = json!({ "action": action, "reason": "It is what is wanted." });
        [ToolCall::new("1", "resolve", arguments)]
    };
    let applied = bench.run(&decide("apply")).await.remove(0);
    assert!(!applied.is_error, "{applied:?}");
    let [_, stale] = applied.content.as_slice() else { panic!("{applied:?}") };
    assert!(stale.starts_with("Staged action @1 is stale now"), "{stale}");
    assert!(!stale.contains("xd://") && stale.contains("`resolve`"), "{stale}");
    // An action that shares no file makes nothing stale.
    let applied = bench.run(&decide("apply")).await.remove(0);
    assert_eq!((applied.is_error, applied.content.len()), (false, 1), "{applied:?}");
}
