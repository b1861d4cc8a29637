//! Plan mode as a state machine, searched exhaustively and driven with the shared state.

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use xd_resolve::{BoxFuture, PlanMode};
use xd_session::{
    Approving, NoReviewer, NotProposed, PlanAnswer, PlanDigest, PlanMachine, PlanPhase, PlanReview,
    PlanReviewer, PlanState, PlanStep, PlanTicket, Proposal,
};

struct Nobody;

impl PlanReviewer for Nobody {
    fn review(&self, _: PlanReview) -> BoxFuture<'_, PlanAnswer> {
        Box::pin(std::future::ready(PlanAnswer::Dismissed))
    }
}

fn digest(n: u8) -> PlanDigest {
    PlanDigest::new([n; 32])
}

fn proposal(n: u8) -> Proposal {
    Proposal { slug: format!("plan-{n}"), digest: digest(n) }
}

fn reviewed() -> PlanState {
    let plan = PlanState::default();
    plan.set_reviewer(Arc::new(Nobody));
    plan
}

/// What the environment may do.
#[derive(Debug, Clone, Copy)]
enum Step {
    Enter,
    Leave,
    Propose(u8),
    /// The answer to the review with this index, and the draft's digest at that time.
    Approve(usize, u8),
    Reopen(usize),
    VoidReview,
}

const STEPS: [Step; 13] = [
    Step::Enter,
    Step::Leave,
    Step::Propose(1),
    Step::Propose(2),
    Step::Approve(0, 1),
    Step::Approve(0, 2),
    Step::Approve(1, 1),
    Step::Approve(1, 2),
    Step::Reopen(0),
    Step::Reopen(1),
    Step::Approve(2, 1),
    Step::Reopen(2),
    Step::VoidReview,
];

/// The machine with a book that says what must hold, kept apart from it.
#[derive(Default)]
struct Run {
    machine: PlanMachine<u32>,
    tickets: Vec<PlanTicket>,
    entered: u32,
    restored: Vec<u32>,
    on: bool,
    /// The index of the open review, and what it is of.
    open: Option<(usize, u8)>,
}

impl Run {
    fn step(&mut self, step: Step) {
        match step {
            Step::Enter => {
                let next = self.entered + 1;
                let expect = if self.on { PlanStep::Already } else { PlanStep::Done };
                assert_eq!(self.machine.enter(|| next), expect);
                if !self.on {
                    self.entered = next;
                }
                self.on = true;
            }
            Step::Leave => {
                let before = self.machine.leave();
                assert_eq!(before.is_some(), self.on);
                self.restored.extend(before);
                (self.on, self.open) = (false, None);
            }
            Step::Propose(n) => match (self.on, self.open, self.machine.propose(proposal(n))) {
                (false, _, answer) => assert_eq!(answer, Err(NotProposed::NotPlanning)),
                (true, Some((_, open)), answer) => {
                    assert_eq!(answer, Err(NotProposed::UnderReview(proposal(open))));
                }
                (true, None, answer) => {
                    self.open = Some((self.tickets.len(), n));
                    self.tickets.push(answer.expect("nothing is under review"));
                }
            },
            Step::Approve(index, current) => {
                let Some(&ticket) = self.tickets.get(index) else { return };
                match (self.open, self.machine.approve(ticket, digest(current))) {
                    (Some((open, n)), answer) if open == index => {
                        self.open = None;
                        if n == current {
                            // Bound by the digest: only the reviewed text is approved.
                            assert_eq!(answer, Approving::Approved(self.entered));
                            self.restored.push(self.entered);
                            self.on = false;
                        } else {
                            assert_eq!(answer, Approving::Changed);
                        }
                    }
                    (_, answer) => assert_eq!(answer, Approving::Late, "{index}"),
                }
            }
            Step::Reopen(index) => {
                let Some(&ticket) = self.tickets.get(index) else { return };
                let on_time = self.open.is_some_and(|(open, _)| open == index);
                let expect = if on_time { PlanStep::Done } else { PlanStep::Already };
                assert_eq!(self.machine.reopen(ticket), expect);
                self.open = self.open.filter(|_| !on_time);
            }
            Step::VoidReview => {
                let expect = if self.open.is_some() { PlanStep::Done } else { PlanStep::Already };
                assert_eq!(self.machine.void_review(), expect);
                self.open = None;
            }
        }
        let phase = match (self.on, self.open) {
            (false, _) => PlanPhase::Off,
            (true, None) => PlanPhase::Planning,
            (true, Some((_, n))) => PlanPhase::Proposed(proposal(n)),
        };
        assert_eq!(self.machine.phase(), phase);
        assert_eq!(self.machine.mode() == PlanMode::On, self.on);
        // What each entering put by is given back once, in order, when plan mode has ended.
        let ended = self.entered - u32::from(self.on);
        assert_eq!(self.restored, (1..=ended).collect::<Vec<_>>());
    }
}

// CONTRACT P2, P3; case 91; Invariant S6
#[test]
fn p2_p3_case_091_every_sequence_of_steps_keeps_the_rules_and_reaches_off() {
    const DEPTH: u32 = 5;
    let total = STEPS.len().pow(DEPTH);
    for code in 0..total {
        let mut run = Run::default();
        let mut rest = code;
        // Entered first, so that the depth is spent where things happen.
        run.step(Step::Enter);
        for _ in 0..DEPTH {
            run.step(STEPS[rest % STEPS.len()]);
            rest /= STEPS.len();
        }
        run.step(Step::Leave);
        assert_eq!(run.machine.phase(), PlanPhase::Off);
        run.step(Step::Leave);
    }
}

// CONTRACT P3
#[test]
fn p3_leaving_restores_what_entering_changed_once_whichever_way() {
    let choice = Arc::new(Mutex::new("auto"));
    let plan = reviewed();
    let enter = || {
        plan.enter_with(|| {
            let before = std::mem::replace(&mut *choice.lock().unwrap(), "none");
            let choice = Arc::clone(&choice);
            move || *choice.lock().unwrap() = before
        })
        .unwrap()
    };
    type Way = (&'static str, fn(&PlanState));
    let ways: [Way; 5] = [
        ("left", |plan| assert_eq!(plan.leave(), PlanStep::Done)),
        ("left twice", |plan| {
            plan.leave();
            assert_eq!(plan.leave(), PlanStep::Already);
        }),
        ("toggled", |plan| assert_eq!(plan.toggle(), Ok(PlanMode::Off))),
        ("left under review", |plan| {
            let review = plan.submit(proposal(1)).unwrap();
            plan.leave();
            assert_eq!(review.approve(digest(1)), Approving::Late);
        }),
        ("approved", |plan| {
            let review = plan.submit(proposal(1)).unwrap();
            assert_eq!(review.approve(digest(1)), Approving::Approved(()));
        }),
    ];
    for (way, end) in ways {
        assert_eq!(enter(), PlanStep::Done, "{way}");
        // Entered again it would put "none" by, and leaving would restore that.
        assert_eq!(enter(), PlanStep::Already, "{way}");
        assert_eq!(*choice.lock().unwrap(), "none", "{way}");
        end(&plan);
        assert_eq!(*choice.lock().unwrap(), "auto", "{way}");
        assert_eq!(plan.phase(), PlanPhase::Off, "{way}");
        *choice.lock().unwrap() = "changed since";
        plan.leave();
        assert_eq!(*choice.lock().unwrap(), "changed since", "{way}: restored twice");
        *choice.lock().unwrap() = "auto";
    }
}

// case 89; CONTRACT P3; Invariant S6
#[test]
fn p3_case_089_without_a_reviewer_no_way_leads_into_plan_mode() {
    let changed = AtomicUsize::new(0);
    let change = || {
        changed.fetch_add(1, Ordering::SeqCst);
        || {}
    };
    let plan = PlanState::default();
    assert_eq!(plan.enter(), Err(NoReviewer));
    assert_eq!(plan.enter_with(change), Err(NoReviewer));
    assert_eq!(plan.toggle(), Err(NoReviewer));
    assert_eq!((plan.mode(), changed.load(Ordering::SeqCst)), (PlanMode::Off, 0));
    assert!(NoReviewer.to_string().contains("Install a plan reviewer first"));
    plan.set_reviewer(Arc::new(Nobody));
    assert_eq!(plan.enter_with(change), Ok(PlanStep::Done));
    assert_eq!((plan.mode(), changed.load(Ordering::SeqCst)), (PlanMode::On, 1));
}

// case 91
#[test]
fn case_091_toggling_reaches_off_from_every_state() {
    let plan = reviewed();
    for expect in [PlanMode::On, PlanMode::Off, PlanMode::On] {
        assert_eq!(plan.toggle(), Ok(expect));
    }
    let review = plan.submit(proposal(1)).unwrap();
    assert_eq!(plan.phase(), PlanPhase::Proposed(proposal(1)));
    assert_eq!(plan.toggle(), Ok(PlanMode::Off));
    assert_eq!(plan.toggle(), Ok(PlanMode::On));
    // The review of the first plan mode decides nothing in the second.
    assert_eq!(review.approve(digest(1)), Approving::Late);
    assert_eq!(plan.phase(), PlanPhase::Planning);
}

// CONTRACT P2
#[test]
fn p2_a_dropped_review_goes_on_planning_and_a_second_one_at_a_time_is_refused() {
    let plan = reviewed();
    assert_eq!(plan.submit(proposal(1)).unwrap_err(), NotProposed::NotPlanning);
    plan.enter().unwrap();
    let review = plan.submit(proposal(1)).unwrap();
    for n in [1, 2] {
        assert_eq!(plan.submit(proposal(n)).unwrap_err(), NotProposed::UnderReview(proposal(1)));
    }
    drop(review);
    assert_eq!(plan.phase(), PlanPhase::Planning);
    let review = plan.submit(proposal(1)).unwrap();
    assert_eq!(review.approve(digest(9)), Approving::Changed);
    assert_eq!(plan.phase(), PlanPhase::Planning);
}

#[test]
fn a_digest_shows_as_hexadecimal_digits() {
    assert_eq!(digest(0xa5).to_string(), "a5".repeat(32));
}
