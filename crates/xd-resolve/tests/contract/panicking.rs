//! Effects that panic are effects that failed.

use std::panic::panic_any;

use xd_protocol::Verdict;
use xd_resolve::{ActionState, StageRequest, ToolResult};

use crate::probe::{Run, bare, dispatch, logged, stage_with, state};

#[track_caller]
fn check_panic(run: Run, awaits: usize, verdict: Verdict, expect: &str) {
    // Invariant R5
    let (store, log) = logged();
    let counts = stage_with(&store, "a", awaits, &[run, Run::Succeeds]);
    let result = dispatch(&store, bare(verdict), "Why.");
    assert!(result.is_error);
    assert_eq!(result.content[0], expect);
    assert!(result.content[1].starts_with("Staged action @1 is still pending."));
    assert_eq!(state(&store, 1), ActionState::Pending);
    assert_eq!(log.lines().last().unwrap(), &format!("failed @1 {expect}"));
    assert!(!dispatch(&store, bare(verdict), "Again.").is_error);
    assert_eq!(counts.runs(), 2);
}

#[test]
fn d9_a_panicking_effect_leaves_the_action_pending() {
    for awaits in 0..3 {
        let future = "the producer panicked: the future broke";
        let call = "the producer panicked: the call broke";
        let apply = |text: &str| format!("Apply failed: {text}");
        check_panic(Run::Panics, awaits, Verdict::Apply, &apply(future));
        check_panic(Run::PanicsInCall, awaits, Verdict::Apply, &apply(call));
        check_panic(Run::Panics, awaits, Verdict::Discard, future);
        check_panic(Run::PanicsInCall, awaits, Verdict::Discard, call);
    }
}

#[test]
fn d9_a_panic_without_a_text_is_reported_too() {
    let (store, _) = logged();
    let request = StageRequest::new("a", |_| async {
        panic_any(7_u8);
        #[allow(unreachable_code, reason = "it gives the future its type")]
        Ok(ToolResult::text("never"))
    });
    store.stage(request).unwrap();
    let result = dispatch(&store, bare(Verdict::Apply), "Why.");
    assert_eq!(result.content[0], "Apply failed: the producer panicked: no message");
    assert_eq!(state(&store, 1), ActionState::Pending);
}
