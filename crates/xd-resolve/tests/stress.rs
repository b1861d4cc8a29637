//! D11 under load: 64 tasks confirm one action, again and again, 100,000 confirms and more in all;
//! one of each 64 wins.

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use tokio::sync::Barrier;
use xd_protocol::{StageNumber, Verdict};
use xd_resolve::{
    ActionState, ActionStore, ApplyError, BoxFuture, Decider, Effect, Refusal, Resolution,
    StageRequest, ToolResult,
};

const TASKS: usize = 64;
const CONFIRMS: usize = 100_000;
const ROUNDS: usize = CONFIRMS.div_ceil(TASKS);

/// What ran in one round.
#[derive(Debug, Default)]
struct Ran {
    applies: AtomicUsize,
    rejects: AtomicUsize,
}

/// Yields `awaits` times while it runs, so that the others meet it running as well as ended.
struct Contended {
    ran: Arc<Ran>,
    awaits: usize,
}

impl Effect for Contended {
    fn apply(&self, _: Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>> {
        let (ran, awaits) = (Arc::clone(&self.ran), self.awaits);
        Box::pin(async move {
            for _ in 0..awaits {
                tokio::task::yield_now().await;
            }
            ran.applies.fetch_add(1, SeqCst);
            Ok(ToolResult::text("done"))
        })
    }

    fn reject(&self, _: Arc<str>) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>> {
        let ran = Arc::clone(&self.ran);
        Box::pin(async move {
            ran.rejects.fetch_add(1, SeqCst);
            Ok(None)
        })
    }
}

struct Round {
    number: StageNumber,
    ran: Arc<Ran>,
    winners: AtomicUsize,
    met_running: AtomicUsize,
}

/// One task's confirm in every round; all tasks begin a round together. Every fourth task rejects
/// where the round is `mixed`.
async fn confirm_all(
    task: usize,
    store: Arc<ActionStore>,
    rounds: Arc<Vec<Round>>,
    barrier: Arc<Barrier>,
) {
    for (at, round) in rounds.iter().enumerate() {
        let mixed = at % 2 == 1;
        let verdict = if mixed && task % 4 == 3 { Verdict::Discard } else { Verdict::Apply };
        barrier.wait().await;
        match store.confirm(round.number, verdict, "All agree.", Decider::Model).await {
            Resolution::Ran { .. } => {
                round.winners.fetch_add(1, SeqCst);
            }
            Resolution::Refused(Refusal::AlreadyBeingResolved(number)) => {
                assert_eq!(number, round.number);
                round.met_running.fetch_add(1, SeqCst);
            }
            Resolution::Refused(Refusal::AlreadyDecided(number, state)) => {
                assert_eq!(number, round.number);
                assert!(matches!(state, ActionState::Applied | ActionState::Discarded));
            }
            Resolution::Refused(other) => panic!("unexpected: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn d11_64_tasks_confirm_one_action_100_000_times() {
    // Invariant R3
    let store = Arc::new(ActionStore::new());
    let round = |at: usize| {
        let ran = Arc::new(Ran::default());
        let effect = Contended { ran: Arc::clone(&ran), awaits: at % 4 };
        let request = StageRequest::with_effect("contended", Arc::new(effect));
        let number = store.stage(request).unwrap().number();
        Round { number, ran, winners: AtomicUsize::new(0), met_running: AtomicUsize::new(0) }
    };
    let rounds = Arc::new((0..ROUNDS).map(round).collect::<Vec<_>>());
    let barrier = Arc::new(Barrier::new(TASKS));
    let tasks: Vec<_> = (0..TASKS)
        .map(|task| {
            let (store, rounds) = (Arc::clone(&store), Arc::clone(&rounds));
            tokio::spawn(confirm_all(task, store, rounds, Arc::clone(&barrier)))
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }

    let mut applied = 0;
    for round in rounds.iter() {
        assert_eq!(round.winners.load(SeqCst), 1, "one winner for @{}", round.number);
        let (applies, rejects) = (round.ran.applies.load(SeqCst), round.ran.rejects.load(SeqCst));
        let became = match (applies, rejects) {
            (1, 0) => ActionState::Applied,
            (0, 1) => ActionState::Discarded,
            both => panic!("@{} ran {both:?} times", round.number),
        };
        assert_eq!(store.get(round.number).unwrap().1, became);
        applied += applies;
    }
    assert!(!store.has_pending());
    let met_running: usize = rounds.iter().map(|round| round.met_running.load(SeqCst)).sum();
    println!(
        "{} confirms of {ROUNDS} actions by {TASKS} tasks: {applied} applied, {} discarded, \
         {met_running} met a running one",
        ROUNDS * TASKS,
        ROUNDS - applied,
    );
    assert!(met_running > 0, "some confirms met a running one");
}
