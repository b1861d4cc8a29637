//! What is written down of every decision (`CONTRACT L1`).

use std::{error::Error, fmt};

use serde::{Deserialize, Serialize};
use xd_protocol::{StageNumber, Verdict};

use crate::StagedAction;

/// Who decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decider {
    /// A model, through a tool call.
    Model,
    /// A person, at a prompt or a shell.
    Person,
    /// The host itself: a session boundary, a withdrawn action.
    Host,
}

/// What a decision led to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// The action was carried out.
    Applied,
    /// The action was dropped.
    Discarded,
    /// The effect failed and the action is pending as before.
    Failed {
        /// What the effect said.
        message: String,
    },
    /// The session had moved on; the effect had ended so (`CONTRACT D13`).
    Late {
        /// Whether the effect had succeeded.
        succeeded: bool,
    },
    /// A session boundary took the action away (`CONTRACT E1`).
    Void,
    /// The host took the action out to deal with it itself.
    Withdrawn,
}

/// One decision on one staged action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRecord<'a> {
    /// The action's number.
    pub number: StageNumber,
    /// Apply or discard, where somebody decided; none for a boundary.
    pub verdict: Option<Verdict>,
    /// The reason given; empty where nobody gave one.
    pub reason: &'a str,
    /// Who decided.
    pub decider: Decider,
    /// What came of it.
    pub outcome: Outcome,
}

/// A confirm that was held back: somebody who had to be asked said no. The action is pending as
/// before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declined<'a> {
    /// What the confirm would have done.
    pub verdict: Verdict,
    /// The reason that it gave.
    pub reason: &'a str,
    /// What was said to it; may be empty.
    pub words: &'a str,
    /// Who said no.
    pub who: Decider,
}

/// A confirm that runs for another reason than its own: somebody who had to be asked approved it for
/// theirs. What it does is recorded next, by them and for that reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approved<'a> {
    /// What the confirm does.
    pub verdict: Verdict,
    /// The reason that it gave.
    pub reason: &'a str,
    /// The reason that was given instead.
    pub instead: &'a str,
    /// Who approved it.
    pub who: Decider,
}

/// Why something could not be written down.
#[derive(Debug)]
pub struct RecordError(pub Box<dyn Error + Send + Sync>);

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the record could not be written: {}", self.0)
    }
}

impl Error for RecordError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// Where staged actions and decisions are written down.
///
/// The store calls it under its lock, so that the order of the record is the order of events; it
/// must not call back into the store.
pub trait Recorder: Send + Sync {
    /// Before the number is answered. An error makes the staging fail.
    ///
    /// # Errors
    /// Where the action could not be written down.
    fn staged(&self, action: &StagedAction) -> Result<(), RecordError>;

    /// Before the effect starts. An error refuses the confirm; the action stays pending.
    ///
    /// # Errors
    /// Where the decision could not be written down.
    fn taken(
        &self,
        action: &StagedAction,
        verdict: Verdict,
        reason: &str,
        decider: Decider,
    ) -> Result<(), RecordError>;

    /// After the effect has ended, or a boundary came.
    ///
    /// # Errors
    /// Where the outcome could not be written down; it stands all the same, and the caller says so.
    fn decided(
        &self,
        action: &StagedAction,
        record: &DecisionRecord<'_>,
    ) -> Result<(), RecordError>;

    /// Somebody said no to a confirm of `action`. Nothing is written down where this is not
    /// overridden.
    ///
    /// # Errors
    /// Where it could not be written down; it stands all the same, and the caller says so.
    fn declined(&self, action: &StagedAction, declined: &Declined<'_>) -> Result<(), RecordError> {
        let _ = (action, declined);
        Ok(())
    }

    /// Somebody approved a confirm of `action` for a reason of their own, and it runs next. Nothing
    /// is written down where this is not overridden.
    ///
    /// # Errors
    /// Where it could not be written down: the confirm does not run then.
    fn approved(&self, action: &StagedAction, approved: &Approved<'_>) -> Result<(), RecordError> {
        let _ = (action, approved);
        Ok(())
    }
}

/// Writes nothing down: for hosts that keep no record, and for tests.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct NoRecord;

impl Recorder for NoRecord {
    fn staged(&self, _: &StagedAction) -> Result<(), RecordError> {
        Ok(())
    }
    fn taken(&self, _: &StagedAction, _: Verdict, _: &str, _: Decider) -> Result<(), RecordError> {
        Ok(())
    }
    fn decided(&self, _: &StagedAction, _: &DecisionRecord<'_>) -> Result<(), RecordError> {
        Ok(())
    }
}
