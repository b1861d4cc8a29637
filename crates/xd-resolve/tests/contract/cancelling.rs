//! D12: dropping a confirm at any await point.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::Poll,
    thread,
};

use serde_json::json;
use xd_protocol::Verdict;
use xd_resolve::{
    ActionState, ActionStore, BoxFuture, Decider, Detach, PendingActionStore, Resolution, block_on,
};

use crate::{
    polling::poll_once,
    probe::{Counts, Failing, Log, Run, bare, n, stage_with, state},
};

/// Keeps what it is given until somebody runs it.
#[derive(Default)]
struct Later(Mutex<Vec<BoxFuture<'static, ()>>>);

impl Detach for Later {
    fn detach(&self, rest: BoxFuture<'static, ()>) {
        self.0.lock().unwrap().push(rest);
    }
}

impl Later {
    fn take(&self) -> Option<BoxFuture<'static, ()>> {
        self.0.lock().unwrap().pop()
    }
}

/// Drops what it is given: the worst detacher there is.
#[derive(Default)]
struct Dropping(AtomicUsize);

impl Detach for Dropping {
    fn detach(&self, rest: BoxFuture<'static, ()>) {
        self.0.fetch_add(1, SeqCst);
        drop(rest);
    }
}

/// Breaks when it is given something.
struct Breaking;

impl Detach for Breaking {
    fn detach(&self, _: BoxFuture<'static, ()>) {
        panic!("no runtime here");
    }
}

struct Scene {
    store: Arc<ActionStore>,
    log: Arc<Log>,
    counts: Arc<Counts>,
}

fn scene(detach: Arc<dyn Detach>, awaits: usize, run: Run) -> Scene {
    let log = Log::new(Failing::Nowhere);
    let store = ActionStore::new().with_recorder(log.clone()).with_detach(detach);
    let store = Arc::new(store);
    let counts = stage_with(&store, "a", awaits, &[run]);
    Scene { store, log, counts }
}

type Way = fn(&Arc<ActionStore>, Verdict) -> BoxFuture<'static, ()>;

/// The ways of confirming, each as a future that can be dropped.
const WAYS: [Way; 3] = [
    |store, verdict| {
        let confirming = store.confirm(n(1), verdict, "Why.", Decider::Model);
        Box::pin(async move { drop(confirming.await) })
    },
    |store, verdict| {
        let (store, batch) = (Arc::clone(store), store.begin_batch());
        Box::pin(async move {
            drop(store.dispatch(&batch, bare(verdict), "Why.", Decider::Model).await);
        })
    },
    |store, verdict| {
        let face = PendingActionStore::new(Arc::clone(store));
        let arguments = json!({ "action": verdict.as_str(), "reason": "Why." });
        Box::pin(async move { drop(face.resolve(&arguments, Decider::Model).await) })
    },
];

/// Polls `future` up to `polls` times and drops it. Says whether it had ended.
fn poll_and_drop(mut future: BoxFuture<'static, ()>, polls: usize) -> bool {
    (0..polls).any(|_| poll_once(&mut future) == Poll::Ready(()))
}

#[test]
fn d12_dropped_at_every_await_point_it_has_not_started_or_it_ends() {
    // Invariant R4
    for way in WAYS {
        for verdict in [Verdict::Apply, Verdict::Discard] {
            for (awaits, polls) in
                (0..5).flat_map(|awaits| (0..awaits + 2).map(move |p| (awaits, p)))
            {
                let later = Arc::new(Later::default());
                let Scene { store, log, counts } = scene(later.clone(), awaits, Run::Succeeds);
                let ended = poll_and_drop(way(&store, verdict), polls);
                let context = format!("{verdict:?}, {awaits} awaits, {polls} polls");

                assert_eq!(ended, polls > awaits, "{context}");
                if polls == 0 {
                    assert_eq!(state(&store, 1), ActionState::Pending, "{context}");
                    assert_eq!((counts.runs(), log.lines().len()), (0, 1), "{context}");
                    continue;
                }
                if !ended {
                    assert_eq!(state(&store, 1), ActionState::Taken(verdict), "{context}");
                    block_on(later.take().expect("the rest was handed over"));
                }
                assert!(later.take().is_none(), "{context}");
                let (became, line) = match verdict {
                    Verdict::Apply => (ActionState::Applied, "applied @1"),
                    Verdict::Discard => (ActionState::Discarded, "discarded @1"),
                };
                assert_eq!(state(&store, 1), became, "{context}");
                assert_eq!((counts.runs(), counts.ended(), counts.cut()), (1, 1, 0), "{context}");
                assert_eq!(log.lines()[2..], [line], "{context}");
            }
        }
    }
}

#[test]
fn d12_the_rest_may_be_moved_on_at_every_point() {
    // Invariant R4: the detached rest is polled part of the way, by hand, then to its end.
    for (awaits, before) in
        (1..5).flat_map(|awaits| (1..=awaits).map(move |before| (awaits, before)))
    {
        let later = Arc::new(Later::default());
        let Scene { store, counts, .. } = scene(later.clone(), awaits, Run::Succeeds);
        assert!(!poll_and_drop(WAYS[0](&store, Verdict::Apply), before));
        let mut rest = later.take().unwrap();
        let polls = (0..).take_while(|_| poll_once(&mut rest).is_pending()).count();
        assert_eq!(polls, awaits - before);
        assert_eq!((counts.runs(), counts.ended(), counts.cut()), (1, 1, 0));
    }
}

#[test]
fn d12_a_failing_effect_whose_caller_went_is_pending_again_and_recorded() {
    // Invariant R5
    for (run, line) in [
        (Run::OtherError, "failed @1 Apply failed: disk full"),
        (Run::ToolError, "failed @1 tool error"),
        (Run::ReturnsError, "failed @1 returned error"),
        (Run::Panics, "failed @1 Apply failed: the producer panicked: the future broke"),
    ] {
        let later = Arc::new(Later::default());
        let Scene { store, log, counts } = scene(later.clone(), 2, run);
        assert!(!poll_and_drop(WAYS[0](&store, Verdict::Apply), 1));
        block_on(later.take().unwrap());
        assert_eq!((state(&store, 1), counts.runs()), (ActionState::Pending, 1));
        assert_eq!(log.lines().last().unwrap(), line);
    }
}

#[test]
fn d12_a_detacher_that_drops_leaves_nothing_taken() {
    // Invariant R4 cannot hold there; that the action is not lost still does.
    for verdict in [Verdict::Apply, Verdict::Discard] {
        let dropping = Arc::new(Dropping::default());
        let Scene { store, log, counts } = scene(dropping.clone(), 3, Run::Succeeds);
        assert!(!poll_and_drop(WAYS[0](&store, verdict), 2));
        assert_eq!(dropping.0.load(SeqCst), 1, "it is asked once, not for ever");
        assert_eq!((counts.cut(), counts.ended()), (1, 0));
        assert_eq!(state(&store, 1), ActionState::Pending);
        assert_eq!(log.lines().last().unwrap(), "failed @1 it was interrupted before it ended");
        let again = block_on(store.confirm(n(1), verdict, "Again.", Decider::Model));
        assert!(matches!(again, Resolution::Ran { .. }));
    }
}

#[test]
fn d12_nothing_of_a_cut_effect_is_left_when_its_action_is_pending_again() {
    // A recorder hears of the end only after the effect's future is gone.
    struct Order(Arc<Mutex<Vec<&'static str>>>);
    impl Drop for Order {
        fn drop(&mut self) {
            self.0.lock().unwrap().push("effect dropped");
        }
    }
    struct Ends(Arc<Mutex<Vec<&'static str>>>);
    impl xd_resolve::Recorder for Ends {
        fn staged(&self, _: &xd_resolve::StagedAction) -> Result<(), xd_resolve::RecordError> {
            Ok(())
        }
        fn taken(
            &self,
            _: &xd_resolve::StagedAction,
            _: Verdict,
            _: &str,
            _: Decider,
        ) -> Result<(), xd_resolve::RecordError> {
            Ok(())
        }
        fn decided(
            &self,
            _: &xd_resolve::StagedAction,
            _: &xd_resolve::DecisionRecord<'_>,
        ) -> Result<(), xd_resolve::RecordError> {
            self.0.lock().unwrap().push("recorded");
            Ok(())
        }
    }
    let order = Arc::new(Mutex::new(Vec::new()));
    let store = ActionStore::new()
        .with_recorder(Arc::new(Ends(Arc::clone(&order))))
        .with_detach(Arc::new(Dropping::default()));
    let store = Arc::new(store);
    let seen = Arc::clone(&order);
    let request = xd_resolve::StageRequest::new("a", move |_| {
        let held = Order(Arc::clone(&seen));
        async move {
            let _held = held;
            std::future::pending().await
        }
    });
    store.stage(request).unwrap();
    assert!(!poll_and_drop(WAYS[0](&store, Verdict::Apply), 1));
    assert_eq!(*order.lock().unwrap(), ["effect dropped", "recorded"]);
}

#[test]
fn d12_a_detacher_that_breaks_leaves_nothing_taken() {
    let Scene { store, .. } = scene(Arc::new(Breaking), 3, Run::Succeeds);
    let way = WAYS[0](&store, Verdict::Apply);
    let broke = thread::spawn(move || poll_and_drop(way, 2)).join();
    assert!(broke.is_err());
    assert_eq!(state(&store, 1), ActionState::Pending);
}

#[test]
fn d12_without_a_runtime_a_thread_finishes_it() {
    // Invariant R4, with the detacher that a store has by itself.
    for awaits in [1, 4] {
        let log = Log::new(Failing::Nowhere);
        let store = Arc::new(ActionStore::new().with_recorder(log.clone()));
        let counts = stage_with(&store, "a", awaits, &[Run::Succeeds]);
        assert!(!poll_and_drop(WAYS[1](&store, Verdict::Apply), 1));
        // State and record change under one lock.
        while matches!(state(&store, 1), ActionState::Taken(_)) {
            thread::yield_now();
        }
        assert_eq!(state(&store, 1), ActionState::Applied);
        assert_eq!((counts.runs(), counts.ended(), counts.cut()), (1, 1, 0));
        assert_eq!(log.lines().last().unwrap(), "applied @1");
    }
}

/// Finishes on the runtime.
struct Spawning(tokio::runtime::Handle);

impl Detach for Spawning {
    fn detach(&self, rest: BoxFuture<'static, ()>) {
        self.0.spawn(rest);
    }
}

#[tokio::test]
async fn d12_aborting_the_task_that_confirms_does_not_cut_the_effect() {
    // Invariant R4
    let (open, ended) =
        (Arc::new(tokio::sync::Notify::new()), Arc::new(tokio::sync::Notify::new()));
    let detach = Arc::new(Spawning(tokio::runtime::Handle::current()));
    let store = Arc::new(ActionStore::new().with_detach(detach));
    let (started, gate, end) = (Arc::new(tokio::sync::Notify::new()), open.clone(), ended.clone());
    let begun = started.clone();
    let request = xd_resolve::StageRequest::new("a", move |_| {
        let (begun, gate, end) = (begun.clone(), gate.clone(), end.clone());
        async move {
            begun.notify_one();
            gate.notified().await;
            end.notify_one();
            Ok(xd_resolve::ToolResult::text("done"))
        }
    });
    store.stage(request).unwrap();
    let task = tokio::spawn(store.confirm(n(1), Verdict::Apply, "Why.", Decider::Model));
    started.notified().await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!(state(&store, 1), ActionState::Taken(Verdict::Apply));
    open.notify_one();
    ended.notified().await;
    while matches!(state(&store, 1), ActionState::Taken(_)) {
        tokio::task::yield_now().await;
    }
    assert_eq!(state(&store, 1), ActionState::Applied);
}
