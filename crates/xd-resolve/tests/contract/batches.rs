//! D14: bare and numbered confirms in one batch, in every combination.

use xd_protocol::{Confirm, Selection, Verdict};
use xd_resolve::{ActionState, Decider, Refusal, Resolution, block_on};

use crate::probe::{Run, bare, dispatch, logged, n, numbered, pending, resolve, stage, stage_with};

/// What a confirm of a batch leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Led {
    Ran(u64),
    NothingPending,
    SecondBare,
    Unknown,
    Decided(u64, ActionState),
}

fn led(resolution: &Resolution) -> Led {
    match resolution {
        Resolution::Ran { action, .. } => Led::Ran(action.number().get()),
        Resolution::Refused(Refusal::NothingPending) => Led::NothingPending,
        Resolution::Refused(Refusal::SecondBareConfirm { .. }) => Led::SecondBare,
        Resolution::Refused(Refusal::Unknown(_)) => Led::Unknown,
        Resolution::Refused(Refusal::AlreadyDecided(n, state)) => Led::Decided(n.get(), *state),
        Resolution::Refused(other) => panic!("unexpected: {other:?}"),
    }
}

/// The rules, written down naively.
fn expected(staged: u64, confirms: &[Confirm]) -> Vec<Led> {
    let mut states = vec![ActionState::Pending; usize::try_from(staged).expect("small")];
    let mut bare_before = false;
    let mut decide = |number: u64, verdict: Verdict| {
        let Some(state) = states.get_mut(usize::try_from(number).expect("small") - 1) else {
            return Led::Unknown;
        };
        if *state != ActionState::Pending {
            return Led::Decided(number, *state);
        }
        *state = match verdict {
            Verdict::Apply => ActionState::Applied,
            Verdict::Discard => ActionState::Discarded,
        };
        Led::Ran(number)
    };
    let lead = |confirm: &Confirm| match confirm.selection {
        Selection::Numbered(number) => decide(number.get(), confirm.verdict),
        Selection::Head => {
            let second = std::mem::replace(&mut bare_before, true);
            match (staged, second) {
                (0, _) => Led::NothingPending,
                (1, _) | (2.., false) => decide(staged, confirm.verdict),
                (2.., true) => Led::SecondBare,
            }
        }
    };
    confirms.iter().map(lead).collect()
}

#[test]
fn d14_every_combination_in_one_batch() {
    // Invariant R6: a bare confirm means the head of the batch's beginning or nothing.
    let kinds = [
        bare(Verdict::Apply),
        bare(Verdict::Discard),
        numbered(Verdict::Apply, 1),
        numbered(Verdict::Discard, 2),
        numbered(Verdict::Apply, 3),
    ];
    let mut batches: Vec<Vec<Confirm>> = vec![vec![]];
    for _ in 0..4 {
        let longer = batches.iter().flat_map(|batch| {
            kinds.iter().map(move |&kind| batch.iter().copied().chain([kind]).collect())
        });
        batches = longer.collect();
        for (staged, confirms) in
            (0..=3).flat_map(|staged| batches.iter().map(move |b| (staged, b)))
        {
            let (store, _) = logged();
            (0..staged).for_each(|_| drop(stage(&store, "a")));
            let batch = store.begin_batch();
            let found: Vec<Led> = confirms
                .iter()
                .map(|&c| led(&block_on(store.resolve(&batch, c, "Why.", Decider::Model))))
                .collect();
            assert_eq!(found, expected(staged, confirms), "{staged} staged, {confirms:?}");
        }
    }
}

#[test]
fn d14_the_refusal_lists_the_numbered_addresses() {
    let (store, _) = logged();
    (0..3).for_each(|_| drop(stage(&store, "a")));
    let batch = store.begin_batch();
    let confirm = |verdict| block_on(store.dispatch(&batch, bare(verdict), "Why.", Decider::Model));
    assert!(!confirm(Verdict::Apply).is_error);
    let refusal = confirm(Verdict::Discard);
    assert!(refusal.is_error);
    assert_eq!(
        refusal.content,
        ["Not done: several actions were pending when this batch began, so a second xd://reject \
          without a number could mean another one than you think. Name it: xd://resolve@2 or \
          xd://reject@2, xd://resolve@1 or xd://reject@1."]
    );
    assert_eq!(pending(&store), [2, 1]);
}

#[test]
fn d14_across_batches_bare_confirms_walk_down_the_stack() {
    let (store, _) = logged();
    (0..4).for_each(|_| drop(stage(&store, "a")));
    for expect in [4, 3, 2, 1] {
        assert_eq!(led(&resolve(&store, bare(Verdict::Apply))), Led::Ran(expect));
    }
    assert_eq!(led(&resolve(&store, bare(Verdict::Apply))), Led::NothingPending);
}

#[test]
fn d14_a_failed_bare_confirm_counts_as_the_first() {
    let (store, _) = logged();
    stage(&store, "below");
    stage_with(&store, "top", 0, &[Run::ToolError, Run::Succeeds]);
    let batch = store.begin_batch();
    let confirm = |c| block_on(store.resolve(&batch, c, "Why.", Decider::Model));
    assert_eq!(led(&confirm(bare(Verdict::Apply))), Led::Ran(2));
    assert_eq!(led(&confirm(bare(Verdict::Apply))), Led::SecondBare);
    assert_eq!(led(&confirm(numbered(Verdict::Apply, 2))), Led::Ran(2));
    assert_eq!(pending(&store), [1]);
}

#[test]
fn d14_what_the_batch_itself_staged_is_not_confirmed_unseen() {
    // Invariant R6
    let (store, _) = logged();
    let batch = store.begin_batch();
    let counts = stage(&store, "staged meanwhile");
    for confirm in
        [bare(Verdict::Apply), numbered(Verdict::Apply, 1), numbered(Verdict::Discard, 1)]
    {
        let resolution = block_on(store.resolve(&batch, confirm, "Why.", Decider::Model));
        let Resolution::Refused(Refusal::NotYetSeen(number)) = resolution else { panic!() };
        assert_eq!(number, n(1));
    }
    let text = block_on(store.dispatch(&batch, bare(Verdict::Apply), "Why.", Decider::Model));
    assert!(
        text.joined().contains("Look at its preview, then write your reason to xd://resolve@1.")
    );
    assert_eq!((counts.runs(), pending(&store)), (0, vec![1]));
    // In the next batch it has been seen.
    assert!(!dispatch(&store, bare(Verdict::Apply), "Yes.").is_error);
}
