//! D11 under load: 100,000 actions, and on each of them 64 tasks race. One of the 64 wins, its
//! effect runs once, and the other 63 get the answer that goes with it.
//!
//! The tasks live as long as the test and meet at a barrier before each action, so that every
//! action is contended by all of them; nothing spins.

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use tokio::{
    sync::{Barrier, Notify},
    task::JoinSet,
};
use xd_protocol::{StageNumber, Verdict};
use xd_resolve::{
    ActionState, ActionStore, ApplyError, BoxFuture, Decider, Effect, Refusal, Resolution,
    StageRequest, ToolResult,
};

const TASKS: usize = 64;
const LOSERS: usize = TASKS - 1;
const ROUNDS: usize = 100_000;

/// How the effect of a round gets on, so that the losers meet it in all its states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// It ends at its first poll.
    AtOnce,
    /// It goes through several awaits, and every fourth task rejects instead.
    ThroughAwaits,
    /// It ends only when every loser has its answer.
    WhenAllAreAnswered,
}

impl Pace {
    fn of(round: usize) -> Self {
        match round % 3 {
            0 => Self::AtOnce,
            1 => Self::ThroughAwaits,
            _ => Self::WhenAllAreAnswered,
        }
    }
}

/// What came of one round.
#[derive(Debug)]
struct Tally {
    pace: Pace,
    /// How often the effect applied, and how often it rejected.
    ran: [AtomicUsize; 2],
    /// How many tasks were told that theirs was the confirm that ran.
    winners: AtomicUsize,
    /// How many were told that another one was at it.
    met_running: AtomicUsize,
    /// How many were told that it was applied already, and how many that it was discarded.
    told: [AtomicUsize; 2],
    answered: AtomicUsize,
    all_are_answered: Notify,
}

impl Tally {
    fn new(pace: Pace) -> Self {
        Self {
            pace,
            ran: Default::default(),
            winners: AtomicUsize::new(0),
            met_running: AtomicUsize::new(0),
            told: Default::default(),
            answered: AtomicUsize::new(0),
            all_are_answered: Notify::new(),
        }
    }

    fn loser_is_answered(&self) {
        if self.answered.fetch_add(1, SeqCst) + 1 == LOSERS {
            self.all_are_answered.notify_one();
        }
    }
}

struct Contended(Arc<Tally>);

impl Effect for Contended {
    /// Answers with the reason that it was given: the winner's own.
    fn apply(&self, reason: Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>> {
        let tally = Arc::clone(&self.0);
        Box::pin(async move {
            match tally.pace {
                Pace::AtOnce => {}
                Pace::ThroughAwaits => {
                    for _ in 0..3 {
                        tokio::task::yield_now().await;
                    }
                }
                Pace::WhenAllAreAnswered => tally.all_are_answered.notified().await,
            }
            tally.ran[0].fetch_add(1, SeqCst);
            Ok(ToolResult::text(&*reason))
        })
    }

    fn reject(
        &self,
        reason: Arc<str>,
    ) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>> {
        let tally = Arc::clone(&self.0);
        Box::pin(async move {
            tally.ran[1].fetch_add(1, SeqCst);
            Ok(Some(ToolResult::text(&*reason)))
        })
    }
}

struct Round {
    number: StageNumber,
    tally: Arc<Tally>,
}

/// One task's confirm in every round.
async fn confirm_all(
    task: usize,
    store: Arc<ActionStore>,
    rounds: Arc<Vec<Round>>,
    barrier: Arc<Barrier>,
) {
    let mine: Arc<str> = format!("Task {task} agrees.").into();
    for Round { number, tally } in rounds.iter() {
        let rejects = tally.pace == Pace::ThroughAwaits && task % 4 == 3;
        let verdict = if rejects { Verdict::Discard } else { Verdict::Apply };
        barrier.wait().await;
        match store.confirm(*number, verdict, Arc::clone(&mine), Decider::Model).await {
            Resolution::Ran { action, verdict: ran, result, late, .. } => {
                assert_eq!((action.number(), ran, late), (*number, verdict, false));
                assert_eq!(result.unwrap().content, [&*mine], "the winner reads its own outcome");
                tally.winners.fetch_add(1, SeqCst);
            }
            Resolution::Refused(Refusal::AlreadyBeingResolved(of)) => {
                assert_eq!(of, *number);
                tally.met_running.fetch_add(1, SeqCst);
                tally.loser_is_answered();
            }
            Resolution::Refused(Refusal::AlreadyDecided(of, became)) => {
                assert_eq!(of, *number);
                let told = match became {
                    ActionState::Applied => 0,
                    ActionState::Discarded => 1,
                    other => panic!("@{of} became {other:?}"),
                };
                tally.told[told].fetch_add(1, SeqCst);
                tally.loser_is_answered();
            }
            Resolution::Refused(other) => panic!("unexpected: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn d11_64_tasks_race_on_each_of_100_000_actions_and_one_wins() {
    // Invariant R3
    let store = Arc::new(ActionStore::new());
    let round = |at: usize| {
        let tally = Arc::new(Tally::new(Pace::of(at)));
        let effect = Arc::new(Contended(Arc::clone(&tally)));
        let number = store.stage(StageRequest::with_effect("contended", effect)).unwrap().number();
        Round { number, tally }
    };
    let rounds = Arc::new((0..ROUNDS).map(round).collect::<Vec<_>>());
    let barrier = Arc::new(Barrier::new(TASKS));
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let (store, rounds) = (Arc::clone(&store), Arc::clone(&rounds));
        tasks.spawn(confirm_all(task, store, rounds, Arc::clone(&barrier)));
    }
    // The first one that fails ends the test: the others would wait for it at the barrier.
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }

    let (mut applied, mut running, mut decided) = (0, 0, 0);
    for Round { number, tally } in rounds.iter() {
        let [applies, rejects] = [0, 1].map(|at| tally.ran[at].load(SeqCst));
        let [told_applied, told_discarded] = [0, 1].map(|at| tally.told[at].load(SeqCst));
        let met_running = tally.met_running.load(SeqCst);
        assert_eq!(tally.winners.load(SeqCst), 1, "one winner for @{number}");
        let (became, told_otherwise) = match (applies, rejects) {
            (1, 0) => (ActionState::Applied, told_discarded),
            (0, 1) => (ActionState::Discarded, told_applied),
            both => panic!("@{number} ran {both:?} times"),
        };
        assert_eq!(told_otherwise, 0, "nobody is told that @{number} became something else");
        let told = told_applied + told_discarded;
        assert_eq!(met_running + told, LOSERS, "each loser of @{number} has its answer");
        match tally.pace {
            Pace::WhenAllAreAnswered => assert_eq!(met_running, LOSERS, "@{number}"),
            Pace::AtOnce | Pace::ThroughAwaits => {}
        }
        assert_eq!(store.get(*number).unwrap().1, became);
        applied += applies;
        running += met_running;
        decided += told;
    }
    assert!(!store.has_pending());
    println!(
        "{ROUNDS} actions, {TASKS} tasks on each: {applied} applied, {} discarded; of the losers \
         {running} met it running and {decided} met it decided",
        ROUNDS - applied,
    );
    assert!(decided > 0 && running > ROUNDS / 3 * LOSERS, "the losers met it in all its states");
}
