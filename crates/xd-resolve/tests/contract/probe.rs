//! A producer that counts what is done to it, and a recorder that can fail.

use std::{
    collections::VecDeque,
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
};

use xd_protocol::{Confirm, Selection, StageNumber, Verdict};
use xd_resolve::{
    ActionState, ActionStore, ApplyError, BoxFuture, Decider, DecisionRecord, Effect, Outcome,
    RecordError, Recorder, Resolution, StageRequest, StagedAction, ToolResult, block_on,
};

use crate::polling::yields;

pub(crate) fn n(number: u64) -> StageNumber {
    StageNumber::new(number).expect("numbers begin at 1")
}

pub(crate) fn bare(verdict: Verdict) -> Confirm {
    Confirm { verdict, selection: Selection::Head }
}

pub(crate) fn numbered(verdict: Verdict, number: u64) -> Confirm {
    Confirm { verdict, selection: Selection::Numbered(n(number)) }
}

/// How one run of an effect ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// With a result of `done`; a reject answers none.
    Succeeds,
    /// With a result; a reject answers it too.
    Answers,
    /// With a result whose `is_error` is set.
    ReturnsError,
    /// With a tool error.
    ToolError,
    /// With an error of another kind.
    OtherError,
    /// With a panic in the future.
    Panics,
    /// With a panic of the call that makes the future.
    PanicsInCall,
}

/// Counts what is done to an action.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub(crate) applies: AtomicUsize,
    pub(crate) rejects: AtomicUsize,
    /// Runs whose future came to its end.
    pub(crate) ended: AtomicUsize,
    /// Runs whose future was dropped before.
    pub(crate) cut: AtomicUsize,
    pub(crate) reasons: Mutex<Vec<String>>,
}

impl Counts {
    pub(crate) fn runs(&self) -> usize {
        self.applies.load(SeqCst) + self.rejects.load(SeqCst)
    }
    pub(crate) fn ended(&self) -> usize {
        self.ended.load(SeqCst)
    }
    pub(crate) fn cut(&self) -> usize {
        self.cut.load(SeqCst)
    }
}

/// An effect with a number of await points and an ending for each run; the last one repeats.
pub(crate) struct Probe {
    counts: Arc<Counts>,
    awaits: usize,
    script: Mutex<VecDeque<Run>>,
}

impl Probe {
    pub(crate) fn request(
        label: &str,
        awaits: usize,
        script: &[Run],
    ) -> (StageRequest, Arc<Counts>) {
        let counts = Arc::new(Counts::default());
        let script = Mutex::new(script.iter().copied().collect());
        let probe = Self { counts: Arc::clone(&counts), awaits, script };
        (StageRequest::with_effect(label, Arc::new(probe)).source_tool("probe"), counts)
    }

    fn next(&self, reason: &str) -> Run {
        self.counts.reasons.lock().expect("no panic under this lock").push(reason.to_owned());
        let mut script = self.script.lock().expect("no panic under this lock");
        let run = script.front().copied().unwrap_or(Run::Succeeds);
        if script.len() > 1 {
            script.pop_front();
        }
        drop(script);
        assert!(run != Run::PanicsInCall, "the call broke");
        run
    }

    fn future(
        &self,
        run: Run,
        verdict: Verdict,
    ) -> impl Future<Output = Result<Option<ToolResult>, ApplyError>> + Send + 'static {
        let (counts, awaits) = (Arc::clone(&self.counts), self.awaits);
        async move {
            let mut watch = Watch { counts, ended: false };
            for _ in 0..awaits {
                yields(1).await;
            }
            watch.ended = true;
            match (run, verdict) {
                (Run::Succeeds, Verdict::Apply) | (Run::Answers, _) => {
                    Ok(Some(ToolResult::text("done")))
                }
                (Run::Succeeds, Verdict::Discard) => Ok(None),
                (Run::ReturnsError, _) => Ok(Some(ToolResult::error("returned error"))),
                (Run::ToolError, _) => Err(ApplyError::tool("tool error")),
                (Run::OtherError, _) => Err("disk full".into()),
                (Run::Panics | Run::PanicsInCall, _) => panic!("the future broke"),
            }
        }
    }
}

impl Effect for Probe {
    fn apply(&self, reason: Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>> {
        self.counts.applies.fetch_add(1, SeqCst);
        let future = self.future(self.next(&reason), Verdict::Apply);
        Box::pin(async move { future.await.map(|result| result.expect("an apply answers")) })
    }

    fn reject(
        &self,
        reason: Arc<str>,
    ) -> BoxFuture<'static, Result<Option<ToolResult>, ApplyError>> {
        self.counts.rejects.fetch_add(1, SeqCst);
        Box::pin(self.future(self.next(&reason), Verdict::Discard))
    }
}

struct Watch {
    counts: Arc<Counts>,
    ended: bool,
}

impl Drop for Watch {
    fn drop(&mut self) {
        let count = if self.ended { &self.counts.ended } else { &self.counts.cut };
        count.fetch_add(1, SeqCst);
    }
}

/// Where a [`Log`] fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Failing {
    Nowhere,
    Staged,
    Taken,
    Decided,
}

/// Keeps a line for everything recorded.
pub(crate) struct Log {
    lines: Mutex<Vec<String>>,
    failing: Mutex<Failing>,
}

impl Log {
    pub(crate) fn new(failing: Failing) -> Arc<Self> {
        Arc::new(Self { lines: Mutex::default(), failing: Mutex::new(failing) })
    }
    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().expect("no panic under this lock").clone()
    }
    pub(crate) fn fail_at(&self, failing: Failing) {
        *self.failing.lock().expect("no panic under this lock") = failing;
    }
    fn add(&self, point: Failing, line: String) -> Result<(), RecordError> {
        if *self.failing.lock().expect("no panic under this lock") == point {
            return Err(RecordError("no space".into()));
        }
        self.lines.lock().expect("no panic under this lock").push(line);
        Ok(())
    }
}

impl Recorder for Log {
    fn staged(&self, action: &StagedAction) -> Result<(), RecordError> {
        self.add(Failing::Staged, format!("staged @{} {}", action.number(), action.label()))
    }
    fn taken(
        &self,
        action: &StagedAction,
        verdict: Verdict,
        reason: &str,
        decider: Decider,
    ) -> Result<(), RecordError> {
        let (number, verdict) = (action.number(), verdict.as_str());
        self.add(Failing::Taken, format!("taken @{number} {verdict} {reason} {decider:?}"))
    }
    fn decided(&self, _: &StagedAction, record: &DecisionRecord<'_>) -> Result<(), RecordError> {
        let number = record.number;
        let line = match &record.outcome {
            Outcome::Applied => format!("applied @{number}"),
            Outcome::Discarded => format!("discarded @{number}"),
            Outcome::Failed { message } => format!("failed @{number} {message}"),
            Outcome::Late { succeeded } => format!("late @{number} {succeeded}"),
            Outcome::Void => format!("void @{number} {}", record.reason),
            Outcome::Withdrawn => format!("withdrawn @{number}"),
        };
        self.add(Failing::Decided, line)
    }
}

/// A store with a log that does not fail.
pub(crate) fn logged() -> (Arc<ActionStore>, Arc<Log>) {
    let log = Log::new(Failing::Nowhere);
    (Arc::new(ActionStore::new().with_recorder(log.clone())), log)
}

/// Stages an action that succeeds without waiting.
pub(crate) fn stage(store: &Arc<ActionStore>, label: &str) -> Arc<Counts> {
    stage_with(store, label, 0, &[Run::Succeeds])
}

pub(crate) fn stage_with(
    store: &Arc<ActionStore>,
    label: &str,
    awaits: usize,
    script: &[Run],
) -> Arc<Counts> {
    let (request, counts) = Probe::request(label, awaits, script);
    store.stage(request).expect("the store takes it");
    counts
}

/// One confirm in a batch of its own.
pub(crate) fn dispatch(store: &Arc<ActionStore>, confirm: Confirm, body: &str) -> ToolResult {
    let batch = store.begin_batch();
    block_on(store.dispatch(&batch, confirm, body, Decider::Model))
}

pub(crate) fn resolve(store: &Arc<ActionStore>, confirm: Confirm) -> Resolution {
    let batch = store.begin_batch();
    block_on(store.resolve(&batch, confirm, "Because.", Decider::Model))
}

pub(crate) fn state(store: &ActionStore, number: u64) -> ActionState {
    store.get(n(number)).expect("it was staged").1
}

/// The pending numbers, newest first.
pub(crate) fn pending(store: &ActionStore) -> Vec<u64> {
    store.pending().iter().map(|action| action.number().get()).collect()
}
