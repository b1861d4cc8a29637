//! S1–S5: one entry, numbers, call order, the notice.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    thread,
};

use serde_json::json;
use xd_changeset::{Change, ChangeSet, Content, FileKind, RelPath};
use xd_protocol::Verdict;
use xd_resolve::{
    ActionStore, BoxFuture, CallOrder, CallSlot, Stack, StageError, StageRequest, StagingSession,
    Tier, ToolResult, block_on, queue_resolve_handler,
};

use crate::{
    polling::{permutations, run_in_order, yields},
    probe::{bare, dispatch, n, pending, stage},
};

fn request(label: &str) -> StageRequest {
    StageRequest::new(label, |_| async { Ok(ToolResult::text("done")) })
}

#[test]
fn s1_what_a_staged_action_carries() {
    let store = Arc::new(ActionStore::new());
    let request = request("AST Edit: 2 replacements in 1 file")
        .source_tool("ast_edit")
        .details(json!({ "files": 1 }))
        .preview("- a\n+ b")
        .tier(Tier::Exec);
    let staged = block_on(queue_resolve_handler(&store, request)).unwrap();
    let action = staged.action();
    assert_eq!(action.number(), n(1));
    assert_eq!(action.id(), "pending-action:ast_edit:1");
    assert_eq!(action.label(), "AST Edit: 2 replacements in 1 file");
    assert_eq!(action.source_tool_name(), "ast_edit");
    assert_eq!(action.details(), Some(&json!({ "files": 1 })));
    assert_eq!(action.tier(), Tier::Exec);
    assert!(action.change_set().is_none());
}

#[test]
fn s1_a_producer_without_a_name_is_custom_tool() {
    let store = Arc::new(ActionStore::new());
    let staged = block_on(queue_resolve_handler(&store, request("Rename"))).unwrap();
    assert_eq!(staged.action().source_tool_name(), "custom_tool");
    assert_eq!(staged.action().id(), "pending-action:custom_tool:1");
    assert_eq!(staged.action().tier(), Tier::Write);
}

#[test]
fn s1_numbers_rise_and_are_never_used_again() {
    // Invariant R1
    let store = Arc::new(ActionStore::new());
    let mut last = 0;
    for round in 0..4 {
        for _ in 0..3 {
            let number = store.stage(request("a")).unwrap().number().get();
            assert_eq!(number, last + 1);
            last = number;
        }
        match round {
            0 => drop(dispatch(&store, bare(Verdict::Apply), "Yes.")),
            1 => drop(dispatch(&store, bare(Verdict::Discard), "No.")),
            2 => drop(store.withdraw_head()),
            _ => drop(store.void_all("over")),
        }
    }
    assert_eq!(store.stage(request("a")).unwrap().number().get(), last + 1);
}

#[test]
fn s1_many_producers_at_once_get_a_number_each() {
    // Invariant R1
    let store = Arc::new(ActionStore::new());
    let mut numbers: Vec<u64> = thread::scope(|scope| {
        let spawn = |_| {
            scope.spawn(|| {
                let stage = |_| store.stage(request("a")).unwrap().number().get();
                (0..50).map(stage).collect::<Vec<_>>()
            })
        };
        let threads: Vec<_> = (0..8).map(spawn).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=400).collect::<Vec<_>>());
}

#[test]
fn s3_the_newest_is_the_head() {
    let store = Arc::new(ActionStore::new());
    for label in ["first", "second", "third"] {
        stage(&store, label);
        assert_eq!(store.head().unwrap().label(), label);
    }
    assert_eq!(pending(&store), [3, 2, 1]);
    dispatch(&store, bare(Verdict::Discard), "No.");
    assert_eq!(store.head().unwrap().label(), "second");
}

/// A session as one call of a batch sees it.
struct Call {
    store: Arc<ActionStore>,
    slot: CallSlot,
}

impl StagingSession for Call {
    fn action_store(&self) -> Option<&Arc<ActionStore>> {
        Some(&self.store)
    }
    fn call_slot(&self) -> Option<&CallSlot> {
        Some(&self.slot)
    }
}

/// What a call of a batch does; `slow` awaits before each step.
#[derive(Debug, Clone, Copy)]
enum Doing {
    Stages,
    StagesTwice,
    StagesNothing,
}

async fn call(session: Call, name: usize, doing: Doing, slow: usize) {
    let times = match doing {
        Doing::Stages => 1,
        Doing::StagesTwice => 2,
        Doing::StagesNothing => 0,
    };
    for _ in 0..times {
        yields(slow).await;
        queue_resolve_handler(&session, request(&name.to_string())).await.unwrap();
    }
    yields(slow).await;
}

/// The labels in the order of their numbers, after a batch that was polled in `order`.
fn labels_of_batch(batch: &[Doing], order: &[usize], slow: impl Fn(usize) -> usize) -> Vec<String> {
    let store = Arc::new(ActionStore::new());
    let slots = CallOrder::slots(batch.len());
    let futures = slots.into_iter().zip(batch).enumerate().map(|(at, (slot, &doing))| {
        let session = Call { store: Arc::clone(&store), slot };
        Box::pin(call(session, at, doing, slow(at))) as BoxFuture<'_, ()>
    });
    run_in_order(futures.collect(), order);
    let mut labels: Vec<_> = store.pending().iter().map(|a| a.label().to_owned()).collect();
    labels.reverse();
    labels
}

#[test]
fn s3_numbers_follow_call_order_however_the_batch_is_polled() {
    use Doing::{Stages, StagesNothing, StagesTwice};
    for order in permutations(4) {
        // The first call the slowest, the last the slowest, none.
        for slow in [|at: usize| 8 - 2 * at, |at: usize| 2 * at, |_| 0] {
            let labels = labels_of_batch(&[Stages; 4], &order, slow);
            assert_eq!(labels, ["0", "1", "2", "3"], "{order:?}");
            let mixed = [StagesTwice, StagesNothing, Stages, StagesTwice];
            let labels = labels_of_batch(&mixed, &order, slow);
            assert_eq!(labels, ["0", "0", "2", "3", "3"], "{order:?}");
        }
    }
}

#[test]
fn s3_a_call_that_is_dropped_while_it_waits_holds_nobody_up() {
    for dropped in 0..3 {
        let store = Arc::new(ActionStore::new());
        let mut calls: Vec<Option<BoxFuture<'_, ()>>> = CallOrder::slots(3)
            .into_iter()
            .enumerate()
            .map(|(at, slot)| {
                let session = Call { store: Arc::clone(&store), slot };
                Some(Box::pin(call(session, at, Doing::Stages, 1)) as BoxFuture<'_, ()>)
            })
            .collect();
        for call in calls.iter_mut().rev().flatten() {
            assert!(crate::polling::poll_once(call).is_pending());
        }
        calls[dropped] = None;
        let left: Vec<_> = calls.into_iter().flatten().collect();
        run_in_order(left, &[1, 0]);
        let labels: Vec<_> = store.pending().iter().map(|a| a.label().to_owned()).collect();
        let expect: Vec<_> =
            (0..3).rev().filter(|&at| at != dropped).map(|at| at.to_string()).collect();
        assert_eq!(labels, expect);
        assert_eq!(store.pending_numbers(9).0, [n(2), n(1)]);
    }
}

#[test]
fn s3_a_call_that_ended_early_lets_the_later_ones_stage() {
    let store = Arc::new(ActionStore::new());
    let mut slots = CallOrder::slots(2);
    let (second, first) = (slots.pop().unwrap(), slots.pop().unwrap());
    let mut later: BoxFuture<'_, ()> =
        Box::pin(call(Call { store: Arc::clone(&store), slot: second }, 1, Doing::Stages, 0));
    assert!(crate::polling::poll_once(&mut later).is_pending());
    first.end();
    first.end();
    assert!(crate::polling::poll_once(&mut later).is_ready());
    assert_eq!(pending(&store), [1]);
    drop(first);
}

#[test]
fn s1_w5_the_whole_preview_is_the_producers_else_the_diff_else_the_label() {
    let store = Arc::new(ActionStore::new());
    let preview = |request| store.stage(request).unwrap().action().preview();
    assert_eq!(preview(request("a").preview("- a\n+ b")), "- a\n+ b");
    assert_eq!(preview(request("a")), "a");
    let create = Change::Create {
        path: RelPath::new("new.txt").unwrap(),
        kind: FileKind::File,
        after: Content::new("one\n"),
        mode: 0o644,
    };
    let set = Arc::new(ChangeSet::new(vec![create]).unwrap());
    assert_eq!(preview(request("a").change_set(set.clone())), set.unified(3));
    assert_eq!(preview(request("a").change_set(set).preview("own")), "own");
    // Asked for each time, not kept.
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let source = move || format!("asked {}", count.fetch_add(1, SeqCst) + 1);
    let staged = store.stage(request("a").preview_from(source)).unwrap();
    assert_eq!(asked.load(SeqCst), 0);
    assert_eq!([staged.action().preview(), staged.action().preview()], ["asked 1", "asked 2"]);
}

#[test]
fn s4_the_result_of_a_staged_preview() {
    let store = Arc::new(ActionStore::new());
    let first = store.stage(request("a")).unwrap();
    let result = first.result("- old\n+ new");
    assert_eq!(
        result.content,
        [
            "Staged as a proposal — files NOT modified yet. To apply: write a one-sentence reason to \
          xd://resolve. To discard: write to xd://reject.\n\n- old\n+ new"
        ]
    );
    assert!(!result.is_error);
    assert_eq!(result.details, Some(json!({ "number": 1, "label": "a" })));

    let second = store.stage(request("b")).unwrap();
    let notice = second.notice();
    assert!(notice.contains("xd://resolve@2 or xd://reject@2, xd://resolve@1 or xd://reject@1."));
    dispatch(&store, bare(Verdict::Apply), "Yes.");
    assert!(!first.notice().contains('@'), "one is left: {}", first.notice());
}

#[test]
fn s4_many_pending_are_counted_not_all_named() {
    let store = Arc::new(ActionStore::new());
    (0..100).for_each(|_| drop(stage(&store, "a")));
    let notice = store.stage(request("a")).unwrap().notice();
    assert!(notice.contains("101 actions are pending"), "{notice}");
    assert!(notice.ends_with(", and 93 more."), "{notice}");
    assert!(notice.len() < 1_000);
}

struct WithoutStore;

impl StagingSession for WithoutStore {
    fn action_store(&self) -> Option<&Arc<ActionStore>> {
        None
    }
}

#[test]
fn s5_without_a_store_staging_is_an_error() {
    // Invariant R1
    let error = block_on(queue_resolve_handler(&WithoutStore, request("a"))).unwrap_err();
    assert!(matches!(error, StageError::NoStore));
    assert_eq!(
        error.to_string(),
        "Pending action store unavailable for custom tools in this runtime."
    );
}

struct WithoutWrite(Arc<ActionStore>);

impl StagingSession for WithoutWrite {
    fn action_store(&self) -> Option<&Arc<ActionStore>> {
        Some(&self.0)
    }
    fn can_finalize(&self) -> bool {
        false
    }
}

#[test]
fn s7_g10_what_nobody_could_finalize_is_not_staged() {
    let session = WithoutWrite(Arc::new(ActionStore::new()));
    let error = block_on(queue_resolve_handler(&session, request("a"))).unwrap_err();
    assert!(matches!(error, StageError::CannotFinalize));
    assert!(error.to_string().starts_with("Nothing was staged: the tool that finalizes (`write`"));
    assert!(!session.0.has_pending());
    assert_eq!(session.0.stage(request("b")).unwrap().number(), n(1));
}

#[test]
fn s5_case_117_stores_do_not_see_each_other() {
    let (one, other) = (Arc::new(ActionStore::new()), Arc::new(ActionStore::new()));
    let counts = stage(&one, "mine");
    assert!(!other.has_pending());
    let text = dispatch(&other, bare(Verdict::Apply), "Yes.").joined();
    assert!(text.starts_with("No pending action to apply"), "{text}");
    let text = dispatch(&other, crate::probe::numbered(Verdict::Apply, 1), "Yes.").joined();
    assert!(text.starts_with("No staged action has number 1."), "{text}");
    other.void_all("over");
    assert_eq!((pending(&one), counts.runs()), (vec![1], 0));
}

#[test]
fn e3_a_restored_action_keeps_its_number_and_state() {
    use xd_resolve::ActionState::{Applied, Discarded, Pending, Void, Withdrawn};
    let store = Arc::new(ActionStore::new());
    for (at, state) in
        [Applied, Pending, Discarded, Void, Pending, Withdrawn].into_iter().enumerate()
    {
        store.restore(n(at as u64 + 1), request("a"), state).unwrap();
    }
    assert_eq!(store.restore(n(9), request("a"), Pending), Err(n(7)));
    assert_eq!(store.restore(n(1), request("a"), Pending), Err(n(7)));
    assert_eq!(pending(&store), [5, 2]);
    assert_eq!(store.stage(request("b")).unwrap().number(), n(7));
}

#[test]
fn case_129_all_staged_are_listed_and_each_is_applied_once() {
    let store = Arc::new(ActionStore::new());
    let counts: Vec<_> = (0..20).map(|at| stage(&store, &at.to_string())).collect();
    assert_eq!(pending(&store), (1..=20).rev().collect::<Vec<_>>());
    for left in (0..20_usize).rev() {
        dispatch(&store, bare(Verdict::Apply), "Yes.");
        let runs: Vec<_> = counts.iter().map(|c| c.runs()).collect();
        let expect: Vec<_> = (0..20).map(|at| usize::from(at >= left)).collect();
        assert_eq!(runs, expect);
    }
    assert!(!store.has_pending());
}

#[test]
fn s3_stack_operations_do_not_walk_the_decided() {
    // A long session: ten thousand decided actions below and above one that stays.
    let mut stack = Stack::new();
    let kept = stack.push(());
    for _ in 0..10_000 {
        let number = stack.push(());
        stack.take(number, Verdict::Apply).unwrap();
        assert!(stack.finish(number, xd_resolve::Ending::Applied));
        assert_eq!(stack.head(), Some(kept));
    }
    assert_eq!(stack.pending().count(), 1);
}

#[test]
fn s6_a_change_set_that_changes_nothing_is_not_staged() {
    let store = Arc::new(ActionStore::new());
    let empty = xd_changeset::ChangeSet::new(Vec::new()).unwrap();
    let error = store.stage(request("Nothing").change_set(Arc::new(empty))).unwrap_err();
    assert!(matches!(error, StageError::NothingToStage));
    assert!(!store.has_pending());
    // No number was used up.
    assert_eq!(store.stage(request("Something")).unwrap().number().get(), 1);
}

/// A session in which a call of a batch runs.
struct Running(Arc<ActionStore>, xd_resolve::Batch);

impl xd_resolve::StagingSession for Running {
    fn action_store(&self) -> Option<&Arc<ActionStore>> {
        Some(&self.0)
    }

    fn batch(&self) -> Option<&xd_resolve::Batch> {
        Some(&self.1)
    }
}

#[test]
fn d13_e2_a_batch_of_an_ended_session_stages_nothing_into_the_next() {
    let store = Arc::new(ActionStore::new());
    let running = Running(Arc::clone(&store), store.begin_batch());
    let stage = |label| block_on(queue_resolve_handler(&running, request(label)));
    stage("In time").unwrap();
    // What a host clears by itself ends no session.
    store.void_all("cleared");
    stage("Still in time").unwrap();
    store.end_session("a new one");
    assert!(matches!(stage("Late").unwrap_err(), StageError::SessionEnded));
    assert!(!store.has_pending());
    // The next batch stages as ever, and no number was used up.
    let next = Running(Arc::clone(&store), store.begin_batch());
    let staged = block_on(queue_resolve_handler(&next, request("Anew"))).unwrap();
    assert_eq!(staged.number().get(), 3);
}
