//! The stack against a naive model of it, over random sequences.

use proptest::prelude::*;
use xd_protocol::{Selection, StageNumber, Verdict};
use xd_resolve::{ActionState, Ending, NotTaken, Stack};

use crate::probe::n;

#[derive(Debug, Clone, Copy)]
enum Step {
    Push,
    Restore(ActionState),
    Take(u64, Verdict),
    TakeHead(Verdict),
    Finish(u64, Ending),
    FinishTaken(Ending),
    Withdraw(u64),
    VoidAll,
}

/// The states by number, oldest first; everything else is computed by walking them.
#[derive(Debug, Default, Clone)]
struct Model(Vec<ActionState>);

impl Model {
    fn state(&self, number: StageNumber) -> Option<ActionState> {
        self.0.get(usize::try_from(number.get()).ok()? - 1).copied()
    }
    fn set(&mut self, number: StageNumber, state: ActionState) {
        self.0[usize::try_from(number.get()).expect("small") - 1] = state;
    }
    fn newest_first(&self, is: impl Fn(ActionState) -> bool) -> Vec<StageNumber> {
        let numbers = (1..=self.0.len() as u64).rev().map(n);
        numbers.filter(|&number| self.state(number).is_some_and(&is)).collect()
    }
    fn pending(&self) -> Vec<StageNumber> {
        self.newest_first(|state| state == ActionState::Pending)
    }
    fn open(&self) -> Vec<StageNumber> {
        self.newest_first(ActionState::is_open)
    }
    fn take(&mut self, number: StageNumber, to: ActionState) -> Result<(), NotTaken> {
        match self.state(number) {
            None => Err(NotTaken::Unknown),
            Some(ActionState::Pending) => {
                self.set(number, to);
                Ok(())
            }
            Some(ActionState::Taken(_)) => Err(NotTaken::Taken),
            Some(closed) => Err(NotTaken::Closed(closed)),
        }
    }
    fn finish(&mut self, number: StageNumber, ending: Ending) -> bool {
        let taken = matches!(self.state(number), Some(ActionState::Taken(_)));
        if taken {
            self.set(
                number,
                match ending {
                    Ending::Applied => ActionState::Applied,
                    Ending::Discarded => ActionState::Discarded,
                    Ending::Kept => ActionState::Pending,
                },
            );
        }
        taken
    }
}

fn run(steps: &[Step]) -> Result<(), TestCaseError> {
    let (mut stack, mut model) = (Stack::new(), Model::default());
    let mut left = Vec::new();
    for &step in steps {
        let before = model.clone();
        match step {
            Step::Push => {
                // Invariant R1: the next number, one more than the last.
                let expect = n(model.0.len() as u64 + 1);
                prop_assert_eq!(stack.next_number(), expect);
                prop_assert_eq!(stack.push(expect.get()), expect);
                model.0.push(ActionState::Pending);
            }
            Step::Restore(state) => {
                let number = stack.next_number();
                prop_assert_eq!(stack.push_as(number.get(), state), number);
                model.0.push(state);
            }
            Step::Take(number, verdict) => {
                let answer = stack.take(n(number), verdict).copied();
                let expect = model.take(n(number), ActionState::Taken(verdict));
                prop_assert_eq!(answer, expect.map(|()| number));
            }
            Step::TakeHead(verdict) => {
                if let Some(head) = stack.head() {
                    prop_assert_eq!(stack.take(head, verdict).copied(), Ok(head.get()));
                    prop_assert_eq!(model.take(head, ActionState::Taken(verdict)), Ok(()));
                }
            }
            Step::Finish(number, ending) => {
                prop_assert_eq!(stack.finish(n(number), ending), model.finish(n(number), ending));
            }
            Step::FinishTaken(ending) => {
                let taken = model.newest_first(|s| matches!(s, ActionState::Taken(_)));
                if let Some(&number) = taken.last() {
                    prop_assert!(stack.finish(number, ending) && model.finish(number, ending));
                    if ending == Ending::Kept {
                        // Invariant R5: back in its old place.
                        prop_assert!(stack.pending().any(|pending| pending == number));
                    }
                }
            }
            Step::Withdraw(number) => {
                let answer = stack.withdraw(n(number)).copied();
                let expect = model.take(n(number), ActionState::Withdrawn);
                prop_assert_eq!(answer, expect.map(|()| number));
            }
            Step::VoidAll => {
                let open = model.open();
                prop_assert_eq!(stack.void_all(), open.clone());
                open.into_iter().for_each(|number| model.set(number, ActionState::Void));
                prop_assert_eq!(stack.pending_count(), 0);
            }
        }
        // Invariant R3: whatever left the stack stays out, and each leaves once.
        for number in before.open() {
            if !model.state(number).is_some_and(ActionState::is_open) {
                prop_assert!(!left.contains(&number));
                left.push(number);
            }
        }
        prop_assert!(
            left.iter().all(|&number| !stack.state(number).is_some_and(ActionState::is_open))
        );
        // Invariant R2: what is pending is one fact, asked in four ways.
        let pending = model.pending();
        prop_assert_eq!(stack.pending().collect::<Vec<_>>(), pending.clone());
        prop_assert_eq!(stack.pending_count(), pending.len());
        prop_assert_eq!(stack.head(), pending.first().copied());
        prop_assert_eq!(stack.select(Selection::Head), model.open().first().copied());
        let all: Vec<_> =
            stack.iter().map(|(number, state, &value)| (number.get(), state, value)).collect();
        let numbers = 1..=model.0.len() as u64;
        let expect: Vec<_> = numbers.zip(&model.0).map(|(at, &state)| (at, state, at)).collect();
        prop_assert_eq!(all, expect);
    }
    Ok(())
}

fn verdict() -> impl Strategy<Value = Verdict> + Clone {
    prop::sample::select(vec![Verdict::Apply, Verdict::Discard])
}

fn ending() -> impl Strategy<Value = Ending> + Clone {
    prop::sample::select(vec![Ending::Applied, Ending::Discarded, Ending::Kept])
}

fn step() -> impl Strategy<Value = Step> {
    use ActionState::{Applied, Discarded, Pending, Taken, Void, Withdrawn};
    let states = vec![Pending, Taken(Verdict::Apply), Applied, Discarded, Void, Withdrawn];
    prop_oneof![
        6 => Just(Step::Push),
        1 => prop::sample::select(states).prop_map(Step::Restore),
        4 => (1..12_u64, verdict()).prop_map(|(number, v)| Step::Take(number, v)),
        4 => verdict().prop_map(Step::TakeHead),
        3 => (1..12_u64, ending()).prop_map(|(number, e)| Step::Finish(number, e)),
        5 => ending().prop_map(Step::FinishTaken),
        2 => (1..12_u64).prop_map(Step::Withdraw),
        1 => Just(Step::VoidAll),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn invariants_r1_r2_r3_r5_stack_against_a_naive_model(steps in prop::collection::vec(step(), 0..60)) {
        run(&steps)?;
    }
}

#[test]
fn d11_every_state_says_why_it_cannot_be_taken() {
    // Invariant R3
    use ActionState::{Applied, Discarded, Pending, Taken, Void, Withdrawn};
    for (state, expect) in [
        (Pending, Ok(&"a")),
        (Taken(Verdict::Apply), Err(NotTaken::Taken)),
        (Taken(Verdict::Discard), Err(NotTaken::Taken)),
        (Applied, Err(NotTaken::Closed(Applied))),
        (Discarded, Err(NotTaken::Closed(Discarded))),
        (Void, Err(NotTaken::Closed(Void))),
        (Withdrawn, Err(NotTaken::Closed(Withdrawn))),
    ] {
        let mut stack = Stack::new();
        stack.push_as("a", state);
        assert_eq!(stack.clone().withdraw(n(1)), expect, "{state:?}");
        assert_eq!(stack.take(n(1), Verdict::Apply), expect, "{state:?}");
        assert_eq!(stack.take(n(2), Verdict::Apply), Err(NotTaken::Unknown));
    }
}

#[test]
fn d11_a_taken_head_is_not_stepped_over() {
    let mut stack = Stack::new();
    let (below, top) = (stack.push("below"), stack.push("top"));
    stack.take(top, Verdict::Apply).unwrap();
    assert_eq!(stack.select(Selection::Head), Some(top), "a bare confirm still means it");
    assert_eq!(stack.head(), Some(below), "and the gate asks for the one that is pending");
    assert!(stack.finish(top, Ending::Kept));
    assert_eq!(stack.head(), Some(top));
}
