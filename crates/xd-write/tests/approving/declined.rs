//! A person's no is in the log (`CONTRACT L1`).

use std::{sync::Arc, time::Duration};

use serde_json::json;
use xd_resolve::{
    ActionState, Decider, DecisionRecord, Declined, DispatchAction, RecordError, Recorder,
    StagedAction, Tier,
};
use xd_session::{Finalizer, Session};
use xd_write::{Approval, History, LogEvent, Policy, StateFolder};

use crate::desk::{BOTH, Desk, WHY, workspace, write};

fn desk(folder: tempfile::TempDir, finalizer: Finalizer, asks: bool) -> (Desk, StateFolder) {
    let workspace = workspace(folder.path());
    let state = StateFolder::open(&workspace, "main").unwrap();
    let recorder = Arc::new(state.clone());
    let session =
        Session::with_store(|store| store.with_recorder(recorder)).with_finalizer(finalizer);
    let lock = state.lock(Duration::from_secs(1)).unwrap();
    state.restore(&workspace, session.actions(), Some(&lock)).unwrap();
    let desk = Desk::over(folder, session, |builder, person| {
        let policy = Policy::automatic(Tier::Read).stage_writes();
        builder.policy(if asks { policy.asking(person) } else { policy })
    });
    (desk, state)
}

// CONTRACT L1, E3: who said no, to what and in which words; it decides nothing, also after a restart.
#[tokio::test]
async fn l1_a_no_to_a_confirm_is_in_the_log_with_its_words() {
    for finalizer in BOTH {
        for words in ["", "  Not \u{1b}[2Jon a Friday.\n"] {
            let (desk, state) = desk(tempfile::tempdir().unwrap(), finalizer, true);
            desk.one(write("a.txt", "one\n")).await;
            assert_eq!(desk.state(1), ActionState::Pending);
            desk.person.says(Approval::Refused { words: words.to_owned() });
            assert!(desk.one(desk.apply()).await.is_error);
            let log = state.log().unwrap();
            let label = desk.host.session().actions().head().unwrap().label().to_owned();
            let declined = LogEvent::Declined {
                number: 1,
                source_tool_name: "write".to_owned(),
                label,
                action: DispatchAction::Apply,
                reason: WHY.to_owned(),
                words: words.trim().to_owned(),
                who: Decider::Person,
            };
            assert_eq!(log.len(), 2);
            assert_eq!(log[1].event, declined);
            let line = serde_json::to_value(&log[1]).unwrap();
            assert_eq!((&line["event"], &line["who"]), (&json!("declined"), &json!("person")));
            assert_eq!(History::of(&log), History::of(&log[..1]));
            let folder = desk.folder;
            drop(desk.host);
            let (desk, state) = self::desk(folder, finalizer, true);
            assert_eq!(desk.state(1), ActionState::Pending);
            assert!(!desk.one(desk.apply()).await.is_error);
            assert_eq!(desk.state(1), ActionState::Applied);
            assert_eq!(state.log().unwrap().len(), 4);
        }
    }
}

// CONTRACT L1: where nobody is there to ask, nobody decided; a no to what is no confirm is about no
// staged action.
#[tokio::test]
async fn l1_only_a_persons_no_to_a_confirm_is_one() {
    let (desk, state) = desk(tempfile::tempdir().unwrap(), Finalizer::Write, false);
    desk.stage("writer", Tier::Write);
    assert!(desk.one(desk.apply()).await.is_error);
    assert_eq!(state.log().unwrap().len(), 1);
    let (desk, state) = self::desk(tempfile::tempdir().unwrap(), Finalizer::Write, true);
    desk.person.says(Approval::Refused { words: String::new() });
    assert!(desk.one(write("a.txt", "one\n")).await.is_error);
    assert!(state.log().unwrap().is_empty());
}

/// Keeps nothing of a no.
struct Full;

impl Recorder for Full {
    fn staged(&self, _: &StagedAction) -> Result<(), RecordError> {
        Ok(())
    }
    fn taken(
        &self,
        _: &StagedAction,
        _: xd_protocol::Verdict,
        _: &str,
        _: Decider,
    ) -> Result<(), RecordError> {
        Ok(())
    }
    fn decided(&self, _: &StagedAction, _: &DecisionRecord<'_>) -> Result<(), RecordError> {
        Ok(())
    }
    fn declined(&self, _: &StagedAction, _: &Declined<'_>) -> Result<(), RecordError> {
        Err(RecordError("no space".into()))
    }
}

// CONTRACT L1: a no that cannot be written down is a no, and says so.
#[tokio::test]
async fn l1_a_no_that_cannot_be_recorded_stands() {
    let session = Session::with_store(|store| store.with_recorder(Arc::new(Full)));
    let desk = Desk::with(session, |builder, person| {
        builder.policy(Policy::automatic(Tier::Read).asking(person))
    });
    let runs = desk.stage("writer", Tier::Write);
    desk.person.says(Approval::Refused { words: "No.".to_owned() });
    let result = desk.one(desk.apply()).await;
    assert_eq!(
        result.content,
        [
            "Not executed: refused: No. Do not try the same again.",
            "This answer stands, but the record could not be written: no space.",
        ]
    );
    assert_eq!(runs.load(std::sync::atomic::Ordering::Relaxed), 0);
}
