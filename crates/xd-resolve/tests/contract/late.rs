//! D13: answers that come after a session boundary.

use xd_protocol::Verdict;
use xd_resolve::{ActionState, Decider, PlanMode, Refusal, Resolution, block_on, dispatch_result};

use crate::{
    polling::poll_once,
    probe::{Run, bare, logged, n, numbered, pending, stage, stage_with, state},
};

/// An effect is running, a boundary comes, the effect ends with `run`.
#[track_caller]
fn check_late(verdict: Verdict, run: Run, recorded: &str, first: &str) {
    let (store, log) = logged();
    let counts = stage_with(&store, "old", 1, &[run]);
    let mut confirming = store.confirm(n(1), verdict, "Why.", Decider::Model);
    assert!(poll_once(&mut confirming).is_pending());
    assert_eq!(store.void_all("a new session began"), [n(1)]);
    let new = stage(&store, "new");

    let resolution = block_on(confirming);
    assert_eq!(state(&store, 1), ActionState::Void);
    assert_eq!((pending(&store), new.runs(), counts.runs()), (vec![2], 0, 1));
    assert_eq!(log.lines()[2..], ["void @1 a new session began", "staged @2 new", recorded]);

    // The answer says what happened and does not offer what is gone.
    assert!(matches!(resolution, Resolution::Ran { late: true, .. }));
    assert_eq!(store.take_failed_applies(), [], "nothing to lift in the new session");
    let result = dispatch_result(resolution, verdict, "Why.", PlanMode::Off);
    assert_eq!(result.content, [first, "Staged action @1 is void: its session has ended."]);
    // And the number answers void from now on.
    let again = block_on(store.confirm(n(1), verdict, "Why.", Decider::Model));
    assert!(matches!(again, Resolution::Refused(Refusal::AlreadyDecided(_, ActionState::Void))));
}

#[test]
fn d13_a_late_end_changes_nothing_and_goes_to_the_record() {
    let failed = "Apply failed: disk full";
    let panicked = "Apply failed: the producer panicked: the future broke";
    check_late(Verdict::Apply, Run::Succeeds, "late @1 true", "done");
    check_late(Verdict::Apply, Run::OtherError, "late @1 false", failed);
    check_late(Verdict::Apply, Run::ToolError, "late @1 false", "tool error");
    check_late(Verdict::Apply, Run::ReturnsError, "late @1 false", "returned error");
    check_late(Verdict::Apply, Run::Panics, "late @1 false", panicked);
    check_late(Verdict::Discard, Run::Succeeds, "late @1 true", "Discarded: old. Reason: Why.");
    check_late(Verdict::Discard, Run::Answers, "late @1 true", "done");
    check_late(Verdict::Discard, Run::OtherError, "late @1 false", "disk full");
}

#[test]
fn d13_a_batch_of_the_old_session_reaches_nothing_of_the_new() {
    // Invariant R6
    let (store, _) = logged();
    let old = stage(&store, "old");
    let batch = store.begin_batch();
    store.void_all("a new session began");
    let new = stage(&store, "new");
    for confirm in [bare(Verdict::Apply), numbered(Verdict::Apply, 1), numbered(Verdict::Apply, 2)]
    {
        let resolution = block_on(store.resolve(&batch, confirm, "Why.", Decider::Model));
        assert!(matches!(resolution, Resolution::Refused(_)), "{confirm:?}: {resolution:?}");
    }
    assert_eq!((old.runs(), new.runs(), pending(&store)), (0, 0, vec![2]));
}

#[test]
fn d13_a_confirm_made_before_and_polled_after_does_not_start() {
    // Invariant R4: it has not started, so it never does.
    let (store, _) = logged();
    let counts = stage(&store, "old");
    let confirming = store.confirm(n(1), Verdict::Apply, "Why.", Decider::Model);
    store.void_all("over");
    assert!(matches!(block_on(confirming), Resolution::Refused(Refusal::AlreadyDecided(..))));
    assert_eq!(counts.runs(), 0);
}

#[test]
fn e1_voiding_answers_and_records_everything_open_newest_first() {
    let (store, log) = logged();
    (0..3).for_each(|_| drop(stage_with(&store, "a", 1, &[Run::Succeeds])));
    let mut running = store.confirm(n(2), Verdict::Apply, "Why.", Decider::Model);
    assert!(poll_once(&mut running).is_pending());
    assert_eq!(store.void_all("over"), [n(3), n(2), n(1)]);
    assert_eq!(log.lines()[4..], ["void @3 over", "void @2 over", "void @1 over"]);
    assert_eq!(store.void_all("again"), []);
}
