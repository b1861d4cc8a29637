//! D11 with real threads: one action, many confirms, one run.

use std::{
    sync::{Arc, Barrier},
    thread,
};

use xd_protocol::Verdict;
use xd_resolve::{ActionState, ActionStore, Decider, Refusal, Resolution, block_on};

use crate::probe::{Counts, Run, bare, dispatch, logged, n, pending, stage, stage_with, state};

/// Lets `threads` threads confirm action 1 at once, every second with a reject where `mixed`.
fn confirm_at_once(store: &Arc<ActionStore>, threads: usize, mixed: bool) -> Vec<Resolution> {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        let confirm = |at: usize| {
            let barrier = &barrier;
            scope.spawn(move || {
                let verdict = if mixed && at % 2 == 1 { Verdict::Discard } else { Verdict::Apply };
                barrier.wait();
                block_on(store.confirm(n(1), verdict, "Why.", Decider::Person))
            })
        };
        let threads: Vec<_> = (0..threads).map(confirm).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// One of them ran; the others heard that it is being resolved or what it became.
#[track_caller]
fn check_one_ran(resolutions: &[Resolution], counts: &Counts, became: ActionState) {
    // Invariant R3
    let mut ran = 0;
    for resolution in resolutions {
        match resolution {
            Resolution::Ran { .. } => ran += 1,
            Resolution::Refused(Refusal::AlreadyBeingResolved(number)) => assert_eq!(*number, n(1)),
            Resolution::Refused(Refusal::AlreadyDecided(number, state)) => {
                assert_eq!((*number, *state), (n(1), became));
            }
            Resolution::Refused(other) => panic!("unexpected: {other:?}"),
        }
    }
    assert_eq!((ran, counts.runs(), counts.ended()), (1, 1, 1));
}

#[test]
fn d11_concurrent_confirms_run_once() {
    for round in 0..25 {
        let (store, log) = logged();
        let counts = stage_with(&store, "contended", round % 4, &[Run::Succeeds]);
        let other = stage(&store, "another");
        let resolutions = confirm_at_once(&store, 64, round % 2 == 1);
        let became = state(&store, 1);
        assert!(matches!(became, ActionState::Applied | ActionState::Discarded));
        check_one_ran(&resolutions, &counts, became);
        assert_eq!((other.runs(), pending(&store)), (0, vec![2]), "never an unrelated action");
        assert_eq!(log.lines().len(), 4, "taken once, decided once");
    }
}

#[test]
fn d11_case_121_two_answers_at_once_a_thousand_times() {
    for _ in 0..1_000 {
        let (store, _) = logged();
        let counts = stage(&store, "a");
        let resolutions = confirm_at_once(&store, 2, true);
        check_one_ran(&resolutions, &counts, state(&store, 1));
    }
}

#[test]
fn d11_bare_confirms_of_batches_begun_together_never_reach_the_action_below() {
    // Invariant R6
    for _ in 0..25 {
        let (store, _) = logged();
        let below = stage(&store, "below");
        let top = stage_with(&store, "top", 1, &[Run::Succeeds]);
        let batches: Vec<_> = (0..16).map(|_| store.begin_batch()).collect();
        let barrier = Barrier::new(batches.len());
        thread::scope(|scope| {
            for batch in &batches {
                let (store, barrier) = (&store, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    block_on(store.resolve(batch, bare(Verdict::Apply), "Why.", Decider::Model))
                });
            }
        });
        assert_eq!((top.runs(), below.runs(), pending(&store)), (1, 0, vec![1]));
    }
}

#[test]
fn d11_a_confirm_that_meets_a_running_one_says_so() {
    let (store, _) = logged();
    let below = stage(&store, "below");
    let counts = stage_with(&store, "top", 1, &[Run::Succeeds]);
    let mut first = store.confirm(n(2), Verdict::Apply, "Why.", Decider::Model);
    assert!(crate::polling::poll_once(&mut first).is_pending());
    // Bare ones too: a taken head is not stepped over.
    let text = dispatch(&store, bare(Verdict::Discard), "No.");
    assert!(text.is_error);
    assert_eq!(text.content, ["Staged action @2 is already being resolved."]);
    assert!(matches!(block_on(first), Resolution::Ran { .. }));
    assert_eq!((counts.runs(), below.runs()), (1, 0));
}

#[test]
fn d11_after_a_failure_the_next_confirm_runs_again() {
    // Invariant R5: each failed attempt gives the action back; never two at a time.
    let (store, _) = logged();
    let script = [Run::OtherError, Run::Panics, Run::ReturnsError, Run::Succeeds];
    let counts = stage_with(&store, "a", 1, &script);
    let mut ran = 0;
    for _ in 0..8 {
        if state(&store, 1) != ActionState::Pending {
            break;
        }
        let resolutions = confirm_at_once(&store, 8, false);
        ran += resolutions.iter().filter(|r| matches!(r, Resolution::Ran { .. })).count();
    }
    assert_eq!((ran, counts.runs()), (4, 4));
    assert_eq!(state(&store, 1), ActionState::Applied);
}

#[test]
fn d11_boundaries_and_confirms_at_once_agree_on_what_became() {
    // Invariant R3: applied or void, and the record says the same.
    for _ in 0..200 {
        let (store, log) = logged();
        let counts = stage(&store, "a");
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                drop(block_on(store.confirm(n(1), Verdict::Apply, "Why.", Decider::Model)));
            });
            barrier.wait();
            store.void_all("over");
        });
        let lines = log.lines();
        let expect: &[&str] = match (state(&store, 1), counts.runs()) {
            (ActionState::Applied, 1) => &["taken @1 apply Why. Model", "applied @1"],
            (ActionState::Void, 0) => &["void @1 over"],
            (ActionState::Void, 1) => {
                &["taken @1 apply Why. Model", "void @1 over", "late @1 true"]
            }
            other => panic!("{other:?}: {lines:?}"),
        };
        assert_eq!(lines[1..], *expect);
    }
}
