//! A person's yes for a reason of their own (`CONTRACT L1`, W6).

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use xd_protocol::Verdict;
use xd_resolve::{
    ActionState, Approved, Decider, DecisionRecord, DispatchAction, Outcome, RecordError, Recorder,
    StagedAction, Tier, resolve_dispatch_details,
};
use xd_session::{Finalizer, Session};
use xd_write::{Approval, LogEvent, Policy, StateFolder};

use crate::desk::{BOTH, Desk, WHY, workspace, write};

const OWN: &str = "I asked for it.";

fn because(reason: &str) -> Approval {
    Approval::GrantedBecause { reason: reason.to_owned() }
}

// CONTRACT L1, W6, D15: the decision is the person's, for their reason; the log and the model's
// result say both, in either form.
#[tokio::test]
async fn l1_a_confirm_runs_for_the_persons_reason_and_in_their_name() {
    for finalizer in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let space = workspace(folder.path());
        let state = StateFolder::open(&space, "main").unwrap();
        let recorder = Arc::new(state.clone());
        let session =
            Session::with_store(|store| store.with_recorder(recorder)).with_finalizer(finalizer);
        let _lock = state.lock(Duration::from_secs(1)).unwrap();
        let desk = Desk::over(folder, session, |builder, person| {
            builder.policy(Policy::automatic(Tier::Read).stage_writes().asking(person))
        });
        desk.one(write("a.txt", "one\n")).await;
        desk.person.says(because(&format!("  {OWN}\n")));
        let result = desk.one(desk.apply()).await;
        assert!(!result.is_error, "{result:?}");
        assert_eq!(desk.state(1), ActionState::Applied);
        let said = result.content.last().unwrap();
        assert!(said.contains(OWN) && said.contains(WHY) && said.contains("person"), "{said}");
        if finalizer == Finalizer::Write {
            assert_eq!(resolve_dispatch_details(&result).unwrap().reason, OWN);
        }
        let log: Vec<LogEvent> = state.log().unwrap().into_iter().map(|line| line.event).collect();
        let [_, approved, taken, decided] = &log[..] else { panic!("{log:?}") };
        let LogEvent::Approved { number: 1, action, reason, instead, who, .. } = approved else {
            panic!("{approved:?}")
        };
        assert_eq!((reason.as_str(), instead.as_str()), (WHY, OWN));
        assert_eq!((*action, *who), (DispatchAction::Apply, Decider::Person));
        let LogEvent::Taken { reason, who, .. } = taken else { panic!("{taken:?}") };
        assert_eq!((reason.as_str(), *who), (OWN, Decider::Person));
        let LogEvent::Decided { reason, who, outcome, .. } = decided else { panic!("{decided:?}") };
        assert_eq!((reason.as_str(), *who, outcome), (OWN, Decider::Person, &Outcome::Applied));
    }
}

// CONTRACT D2: the model's own reason is a plain yes; what is no reason decides nothing; a call that
// is no confirm just runs.
#[tokio::test]
async fn d2_what_is_no_other_reason() {
    let desk = Desk::asking(Finalizer::Write, Tier::Read);
    let runs = desk.stage("writer", Tier::Write);
    for no_reason in ["", " \n", &"x".repeat(2_001)] {
        desk.person.says(because(no_reason));
        let refused = desk.one(desk.apply()).await;
        assert!(refused.is_error, "{refused:?}");
        assert_eq!((desk.state(1), runs.load(Ordering::Relaxed)), (ActionState::Pending, 0));
    }
    desk.person.says(because(WHY));
    let result = desk.one(desk.apply()).await;
    assert_eq!(result.content, ["applied"]);
    desk.person.says(because(OWN));
    assert!(!desk.one(write("a.txt", "one\n")).await.is_error);
}

// CONTRACT D9, D11: a failed apply says both reasons too and stays pending; a person who is too late
// decides nothing a second time.
#[tokio::test]
async fn d11_another_reason_decides_once() {
    let desk = Desk::asking(Finalizer::Write, Tier::Read);
    let runs = desk.stage("writer", Tier::Write);
    let host = Arc::clone(&desk.host);
    *desk.person.meanwhile.lock().unwrap() = Some(Box::new(move || {
        Box::pin(async move {
            let actions = host.session().actions();
            let number = actions.head().unwrap().number();
            drop(actions.confirm(number, Verdict::Apply, "Sooner.", Decider::Person).await);
        })
    }));
    desk.person.says(because(OWN));
    let late = desk.one(desk.apply()).await;
    assert!(late.is_error && late.content[0].contains("already applied"), "{late:?}");
    assert_eq!(runs.load(Ordering::Relaxed), 1);
}

/// Keeps nothing of a yes.
struct Full;

impl Recorder for Full {
    fn staged(&self, _: &StagedAction) -> Result<(), RecordError> {
        Ok(())
    }
    fn taken(&self, _: &StagedAction, _: Verdict, _: &str, _: Decider) -> Result<(), RecordError> {
        Ok(())
    }
    fn decided(&self, _: &StagedAction, _: &DecisionRecord<'_>) -> Result<(), RecordError> {
        Ok(())
    }
    fn approved(&self, _: &StagedAction, _: &Approved<'_>) -> Result<(), RecordError> {
        Err(RecordError("no space".into()))
    }
}

// CONTRACT L1: what cannot be written down is not done.
#[tokio::test]
async fn l1_another_reason_that_cannot_be_recorded_applies_nothing() {
    let session = Session::with_store(|store| store.with_recorder(Arc::new(Full)));
    let desk = Desk::with(session, |builder, person| {
        builder.policy(Policy::automatic(Tier::Read).asking(person))
    });
    let runs = desk.stage("writer", Tier::Write);
    desk.person.says(because(OWN));
    let result = desk.one(desk.apply()).await;
    assert!(result.is_error && result.content[0].contains("no space"), "{result:?}");
    assert_eq!((desk.state(1), runs.load(Ordering::Relaxed)), (ActionState::Pending, 0));
}
