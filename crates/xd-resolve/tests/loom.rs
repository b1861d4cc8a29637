//! D11–D14 over every interleaving of three threads: who takes an action, who ends it.
//!
//! Not part of plain `cargo test`. Run it with
//!
//! ```text
//! RUSTFLAGS='--cfg loom' cargo test -p xd-resolve --test loom --target-dir target/loom
//! ```

#![cfg(loom)]
#![allow(clippy::print_stdout, reason = "a search says how far it came")]
#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Waker},
};

use loom::thread;
use xd_protocol::{Confirm, Selection, StageNumber, Verdict};
use xd_resolve::{
    ActionState, ActionStore, ApplyError, BoxFuture, Decider, DecisionRecord, Detach, Effect,
    Ending, Outcome, RecordError, Recorder, Refusal, Resolution, StageRequest, StagedAction,
    ToolResult,
};

/// Runs `scene` in every interleaving and says how many there were.
#[track_caller]
fn explore(scene: impl Fn() + Send + Sync + 'static) {
    let interleavings = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&interleavings);
    loom::model(move || {
        counted.fetch_add(1, SeqCst);
        scene();
    });
    let count = interleavings.load(SeqCst);
    println!("{}: {count} interleavings", thread_name());
    assert!(count > 10, "the threads interleave");
}

fn thread_name() -> String {
    std::thread::current().name().unwrap_or("a test").to_owned()
}

fn n(number: u64) -> StageNumber {
    StageNumber::new(number).expect("numbers begin at 1")
}

/// An effect that waits once, may fail at first, and sees whether two of it ever overlap.
#[derive(Default)]
struct Probe {
    running: AtomicUsize,
    applied: AtomicUsize,
    discarded: AtomicUsize,
    failures_due: AtomicUsize,
}

impl Probe {
    fn failing_once() -> Self {
        Self { failures_due: AtomicUsize::new(1), ..Self::default() }
    }
    fn counts(&self) -> (usize, usize) {
        assert_eq!(self.running.load(SeqCst), 0, "D12: what began has ended");
        (self.applied.load(SeqCst), self.discarded.load(SeqCst))
    }
}

/// The counters are std's, which loom does not see: they add no interleavings, and between two
/// operations that it does see one thread runs alone.
struct Shared(Arc<Probe>);

impl Shared {
    fn run(&self, verdict: Verdict) -> BoxFuture<'static, Result<ToolResult, ApplyError>> {
        let probe = Arc::clone(&self.0);
        Box::pin(async move {
            assert_eq!(probe.running.fetch_add(1, SeqCst), 0, "D11: two runs at once");
            let mut waited = false;
            poll_fn(|_| {
                if std::mem::replace(&mut waited, true) { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
            probe.running.fetch_sub(1, SeqCst);
            let fails = probe.failures_due.load(SeqCst) > 0;
            if fails {
                probe.failures_due.fetch_sub(1, SeqCst);
                return Err(ApplyError::tool("it failed"));
            }
            let count = match verdict {
                Verdict::Apply => &probe.applied,
                Verdict::Discard => &probe.discarded,
            };
            count.fetch_add(1, SeqCst);
            Ok(ToolResult::text("done"))
        })
    }
}

impl Effect for Shared {
    fn apply(&self, _: Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>> {
        self.run(Verdict::Apply)
    }
    fn reject(&self, _: Arc<str>) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>> {
        let run = self.run(Verdict::Discard);
        Box::pin(async move { run.await.map(Some) })
    }
}

/// The events in their order; a std lock again, so that it adds no interleavings.
#[derive(Default)]
struct Log(Mutex<Vec<&'static str>>);

impl Log {
    fn push(&self, event: &'static str) {
        self.0.lock().unwrap().push(event);
    }
    fn count(&self, event: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|&&it| it == event).count()
    }
    fn last(&self) -> &'static str {
        self.0.lock().unwrap().last().copied().unwrap()
    }
}

impl Recorder for Log {
    fn staged(&self, _: &StagedAction) -> Result<(), RecordError> {
        Ok(())
    }
    fn taken(&self, _: &StagedAction, _: Verdict, _: &str, _: Decider) -> Result<(), RecordError> {
        self.push("taken");
        Ok(())
    }
    fn decided(&self, _: &StagedAction, record: &DecisionRecord<'_>) -> Result<(), RecordError> {
        self.push(match record.outcome {
            Outcome::Applied => "applied",
            Outcome::Discarded => "discarded",
            Outcome::Failed { .. } => "failed",
            Outcome::Late { .. } => "late",
            Outcome::Void => "void",
            Outcome::Withdrawn => "withdrawn",
        });
        Ok(())
    }
}

/// Finishes what was abandoned on another loom thread, so that it interleaves with the rest.
struct OnThread;

impl Detach for OnThread {
    fn detach(&self, rest: BoxFuture<'static, ()>) {
        thread::spawn(move || finish(rest));
    }
}

/// Keeps what was abandoned, for the main thread to finish after the others.
#[derive(Default)]
struct Kept(Mutex<Vec<BoxFuture<'static, ()>>>);

impl Detach for Kept {
    fn detach(&self, rest: BoxFuture<'static, ()>) {
        self.0.lock().unwrap().push(rest);
    }
}

impl Kept {
    fn finish(&self) {
        let rests = std::mem::take(&mut *self.0.lock().unwrap());
        rests.into_iter().for_each(finish);
    }
}

fn finish<F: Future + Unpin>(mut future: F) -> F::Output {
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(output) = Pin::new(&mut future).poll(&mut context) {
            return output;
        }
    }
}

struct Scene {
    store: Arc<ActionStore>,
    probe: Arc<Probe>,
    log: Arc<Log>,
}

fn scene(probe: Probe, detach: Arc<dyn Detach>) -> Scene {
    let (probe, log) = (Arc::new(probe), Arc::new(Log::default()));
    let store =
        ActionStore::new().with_recorder(Arc::clone(&log) as Arc<dyn Recorder>).with_detach(detach);
    let store = Arc::new(store);
    let effect = Arc::new(Shared(Arc::clone(&probe)));
    store.stage(StageRequest::with_effect("contended", effect)).unwrap();
    Scene { store, probe, log }
}

impl Scene {
    fn confirming(&self, verdict: Verdict) -> thread::JoinHandle<Resolution> {
        let store = Arc::clone(&self.store);
        thread::spawn(move || finish(store.confirm(n(1), verdict, "Why.", Decider::Model)))
    }

    fn state(&self) -> ActionState {
        self.store.get(n(1)).unwrap().1
    }
}

/// What a confirm came to, for one that another beat to it.
#[track_caller]
fn check_refused(resolution: &Resolution, became: &[ActionState]) {
    match resolution {
        Resolution::Refused(Refusal::AlreadyBeingResolved(number)) => assert_eq!(*number, n(1)),
        Resolution::Refused(Refusal::AlreadyDecided(number, state)) => {
            assert_eq!(*number, n(1));
            assert!(became.contains(state), "{state:?} is none of {became:?}");
        }
        other => panic!("unexpected: {other:?}"),
    }
}

fn ran(resolution: &Resolution) -> bool {
    matches!(resolution, Resolution::Ran { .. })
}

/// D11, D13, E1: an apply, a reject and a session boundary.
#[test]
fn d11_d13_apply_and_reject_and_a_boundary() {
    explore(|| {
        let scene = scene(Probe::default(), Arc::new(OnThread));
        let (apply, reject) =
            (scene.confirming(Verdict::Apply), scene.confirming(Verdict::Discard));
        let voided = scene.store.void_all("over");
        let (apply, reject) = (apply.join().unwrap(), reject.join().unwrap());
        let (applied, discarded) = scene.probe.counts();
        assert!(applied + discarded <= 1, "at most one of the two ran");
        assert_eq!((ran(&apply), ran(&reject)), (applied == 1, discarded == 1));
        let became = match (scene.state(), applied, discarded) {
            (ActionState::Applied, 1, 0) => (false, "applied"),
            (ActionState::Discarded, 0, 1) => (false, "discarded"),
            (ActionState::Void, 0, 0) => (true, "void"),
            (ActionState::Void, _, _) => (true, "late"),
            other => panic!("{other:?}"),
        };
        assert_eq!((voided == [n(1)], scene.log.last()), became);
        assert!(!scene.store.has_pending());
        for (resolution, it_ran) in [(&apply, applied), (&reject, discarded)] {
            match resolution {
                Resolution::Ran { late, .. } => assert_eq!(*late, became.1 == "late"),
                Resolution::Refused(_) => {
                    assert_eq!(it_ran, 0);
                    check_refused(resolution, &[scene.state()]);
                }
            }
        }
        assert_eq!(scene.log.count("taken"), applied + discarded);
    });
}

/// D11, D12: two applies, and a third whose caller goes away after its first poll. What was
/// abandoned goes on on a thread of its own.
#[test]
fn d11_d12_two_applies_and_one_dropped_midway() {
    explore(|| {
        let kept = Arc::new(Kept::default());
        let scene = scene(Probe::default(), Arc::clone(&kept) as Arc<dyn Detach>);
        let (one, two) = (scene.confirming(Verdict::Apply), scene.confirming(Verdict::Apply));
        let mut dropped = scene.store.confirm(n(1), Verdict::Apply, "Why.", Decider::Model);
        let first = Pin::new(&mut dropped).poll(&mut Context::from_waker(Waker::noop()));
        let took = first.is_pending();
        drop(dropped);
        let (one, two) = (one.join().unwrap(), two.join().unwrap());
        if took {
            // It is not pending in between, and it is not forgotten.
            assert_eq!(scene.state(), ActionState::Taken(Verdict::Apply));
        }
        kept.finish();
        assert_eq!(scene.probe.counts(), (1, 0), "one winner, also when nobody waits for it");
        assert_eq!(scene.state(), ActionState::Applied);
        assert_eq!(usize::from(took) + [&one, &two].iter().filter(|r| ran(r)).count(), 1);
        for resolution in [&one, &two].into_iter().filter(|r| !ran(r)) {
            check_refused(resolution, &[ActionState::Applied]);
        }
        assert_eq!((scene.log.count("taken"), scene.log.last()), (1, "applied"));
    });
}

/// D12 with the rest on a thread: the abandoned apply ends while another confirm and a boundary go
/// on.
#[test]
fn d12_d13_an_abandoned_apply_and_a_confirm_and_a_boundary() {
    explore(|| {
        let scene = scene(Probe::default(), Arc::new(OnThread));
        let mut dropped = scene.store.confirm(n(1), Verdict::Apply, "Why.", Decider::Model);
        let first = Pin::new(&mut dropped).poll(&mut Context::from_waker(Waker::noop()));
        assert!(first.is_pending());
        let reject = scene.confirming(Verdict::Discard);
        drop(dropped);
        let voided = scene.store.void_all("over");
        let reject = reject.join().unwrap();
        check_refused(&reject, &[ActionState::Applied, ActionState::Void]);
        let expect = if voided.is_empty() { ActionState::Applied } else { ActionState::Void };
        assert_eq!(scene.state(), expect);
        assert_eq!(scene.log.count("taken"), 1);
    });
}

/// D9, D11: an apply that fails gives the action back; whoever comes next may run, and never two
/// at a time.
#[test]
fn d9_d11_a_failing_apply_and_two_more_confirms() {
    explore(|| {
        let scene = scene(Probe::failing_once(), Arc::new(OnThread));
        let (one, two) = (scene.confirming(Verdict::Apply), scene.confirming(Verdict::Discard));
        let three = finish(scene.store.confirm(n(1), Verdict::Apply, "Why.", Decider::Person));
        let all = [one.join().unwrap(), two.join().unwrap(), three];
        let failed = |r: &&Resolution| matches!(r, Resolution::Ran { ending: Ending::Kept, .. });
        assert_eq!(all.iter().filter(failed).count(), 1);
        let (applied, discarded) = scene.probe.counts();
        let expect = match (applied, discarded) {
            (0, 0) => ActionState::Pending,
            (1, 0) => ActionState::Applied,
            (0, 1) => ActionState::Discarded,
            both => panic!("{both:?}"),
        };
        assert_eq!(scene.state(), expect);
        assert_eq!(all.iter().filter(|r| ran(r)).count(), 1 + applied + discarded);
        assert_eq!(scene.log.count("failed"), 1);
    });
}

/// D14: three bare confirms of one batch reach the head once, and the action below never.
#[test]
fn d14_bare_confirms_of_one_batch_at_once() {
    explore(|| {
        let scene = scene(Probe::default(), Arc::new(OnThread));
        let top = Arc::new(Probe::default());
        let effect = Arc::new(Shared(Arc::clone(&top)));
        scene.store.stage(StageRequest::with_effect("top", effect)).unwrap();
        let batch = Arc::new(scene.store.begin_batch());
        let bare = |verdict| {
            let (store, batch) = (Arc::clone(&scene.store), Arc::clone(&batch));
            move || {
                let confirm = Confirm { verdict, selection: Selection::Head };
                let resolve = store.resolve(&batch, confirm, "Why.", Decider::Model);
                finish(Box::pin(resolve))
            }
        };
        let one = thread::spawn(bare(Verdict::Apply));
        let two = thread::spawn(bare(Verdict::Discard));
        let three = bare(Verdict::Apply)();
        let all = [one.join().unwrap(), two.join().unwrap(), three];
        assert_eq!(all.iter().filter(|r| ran(r)).count(), 1);
        let refused =
            |r: &&Resolution| matches!(r, Resolution::Refused(Refusal::SecondBareConfirm { .. }));
        assert_eq!(all.iter().filter(refused).count(), 2);
        assert_eq!(scene.probe.counts(), (0, 0), "the action below is untouched");
        let (applied, discarded) = top.counts();
        assert_eq!(applied + discarded, 1);
        assert_eq!(scene.state(), ActionState::Pending);
    });
}
