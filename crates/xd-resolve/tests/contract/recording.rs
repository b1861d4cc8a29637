//! What is recorded when, and what follows where it cannot be (L1, S5).

use std::{panic::AssertUnwindSafe, sync::Arc};

use xd_protocol::Verdict;
use xd_resolve::{
    ActionState, ActionStore, Decider, DecisionRecord, RecordError, Recorder, Refusal, Resolution,
    StageError, StagedAction, block_on,
};

use crate::probe::{
    Failing, Log, Probe, Run, bare, dispatch, logged, n, numbered, pending, stage, stage_with,
    state,
};

#[test]
fn l1_the_record_is_in_the_order_of_events() {
    let (store, log) = logged();
    stage(&store, "a");
    stage_with(&store, "b", 0, &[Run::ToolError, Run::Succeeds]);
    stage(&store, "c");
    stage(&store, "d");
    drop(store.withdraw_head());
    dispatch(&store, numbered(Verdict::Apply, 2), "First try.");
    dispatch(&store, numbered(Verdict::Apply, 2), "Second try.");
    dispatch(&store, bare(Verdict::Discard), "No.");
    store.void_all("over");
    assert_eq!(
        log.lines(),
        [
            "staged @1 a",
            "staged @2 b",
            "staged @3 c",
            "staged @4 d",
            "withdrawn @4",
            "taken @2 apply First try. Model",
            "failed @2 tool error",
            "taken @2 apply Second try. Model",
            "applied @2",
            "taken @3 discard No. Model",
            "discarded @3",
            "void @1 over",
        ]
    );
}

fn failing(point: Failing) -> (Arc<ActionStore>, Arc<Log>) {
    let log = Log::new(point);
    (Arc::new(ActionStore::new().with_recorder(log.clone())), log)
}

#[test]
fn s5_what_cannot_be_recorded_is_not_staged() {
    // Invariant R1: the number may stand in a record, so it is used up.
    let (store, log) = failing(Failing::Staged);
    let error = store.stage(Probe::request("a", 0, &[]).0).unwrap_err();
    assert!(matches!(error, StageError::NotRecorded(_)));
    assert_eq!(error.to_string(), "Nothing was staged: the record could not be written: no space.");
    assert!(!store.has_pending());
    assert_eq!(state(&store, 1), ActionState::Void);
    log.fail_at(Failing::Nowhere);
    stage(&store, "b");
    assert_eq!(pending(&store), [2]);
}

#[test]
fn l1_a_decision_that_cannot_be_recorded_is_not_carried_out() {
    let (store, log) = failing(Failing::Taken);
    let counts = stage(&store, "a");
    for verdict in [Verdict::Apply, Verdict::Discard] {
        let result = dispatch(&store, bare(verdict), "Why.");
        assert!(result.is_error);
        assert_eq!(
            result.content,
            ["Nothing was done: the record could not be written: no space. The action is still \
              pending; free the record and retry."]
        );
    }
    assert_eq!((state(&store, 1), counts.runs()), (ActionState::Pending, 0));
    log.fail_at(Failing::Nowhere);
    assert!(!dispatch(&store, bare(Verdict::Apply), "Why.").is_error);
}

#[test]
fn l1_an_outcome_that_cannot_be_recorded_stands_and_says_so() {
    let note = "This outcome stands, but the record could not be written: no space.";
    for (verdict, became) in
        [(Verdict::Apply, ActionState::Applied), (Verdict::Discard, ActionState::Discarded)]
    {
        let (store, _) = failing(Failing::Decided);
        let counts = stage(&store, "a");
        let result = dispatch(&store, bare(verdict), "Why.");
        assert!(!result.is_error);
        assert_eq!(result.content.last().unwrap(), note);
        assert_eq!((state(&store, 1), counts.runs()), (became, 1));
    }
    let (store, _) = failing(Failing::Decided);
    stage_with(&store, "a", 0, &[Run::ToolError]);
    let result = dispatch(&store, bare(Verdict::Apply), "Why.");
    assert_eq!(
        (result.content[0].as_str(), result.content.last().unwrap().as_str()),
        ("tool error", note)
    );
    assert_eq!(state(&store, 1), ActionState::Pending);
}

#[test]
fn e1_a_boundary_that_cannot_be_recorded_stands() {
    let (store, _) = failing(Failing::Decided);
    (0..2).for_each(|_| drop(stage(&store, "a")));
    assert_eq!(store.withdraw_head().unwrap().number(), n(2));
    assert_eq!(store.void_all("over"), [n(1)]);
    assert_eq!((state(&store, 1), state(&store, 2)), (ActionState::Void, ActionState::Withdrawn));
}

/// Breaks at one point.
struct Breaks(Failing);

impl Breaks {
    fn at(&self, point: Failing) -> Result<(), RecordError> {
        assert!(self.0 != point, "the recorder broke");
        Ok(())
    }
}

impl Recorder for Breaks {
    fn staged(&self, _: &StagedAction) -> Result<(), RecordError> {
        self.at(Failing::Staged)
    }
    fn taken(&self, _: &StagedAction, _: Verdict, _: &str, _: Decider) -> Result<(), RecordError> {
        self.at(Failing::Taken)
    }
    fn decided(&self, _: &StagedAction, _: &DecisionRecord<'_>) -> Result<(), RecordError> {
        self.at(Failing::Decided)
    }
}

#[test]
fn d11_a_recorder_that_panics_leaves_the_store_whole() {
    // Invariant R3
    for (point, became, runs) in
        [(Failing::Taken, ActionState::Pending, 0), (Failing::Decided, ActionState::Applied, 1)]
    {
        let store = Arc::new(ActionStore::new().with_recorder(Arc::new(Breaks(point))));
        let counts = stage(&store, "a");
        let confirm = || block_on(store.confirm(n(1), Verdict::Apply, "Why.", Decider::Model));
        assert!(std::panic::catch_unwind(AssertUnwindSafe(confirm)).is_err());
        assert_eq!((state(&store, 1), counts.runs()), (became, runs));
        // Its lock is not lost to others.
        stage(&store, "b");
        assert_eq!(store.head().unwrap().label(), "b");
    }
}

#[test]
fn l1_a_refused_confirm_leaves_no_trace_in_the_record() {
    let (store, log) = logged();
    stage(&store, "a");
    dispatch(&store, bare(Verdict::Apply), "Yes.");
    let before = log.lines();
    for number in [1, 7] {
        let refused = block_on(store.confirm(n(number), Verdict::Apply, "Why.", Decider::Person));
        assert!(matches!(
            refused,
            Resolution::Refused(Refusal::AlreadyDecided(..) | Refusal::Unknown(_))
        ));
    }
    assert_eq!(log.lines(), before);
}
