//! What is written down of plan mode, and what a later process reads of it
//! (`CONTRACT L1, P2, P3`).

use serde::{Deserialize, Serialize};
use xd_changeset::Hash;
use xd_resolve::{Decider, PlanMode, RecordError};

/// One thing that happened to plan mode or to a plan: what, by whom, why. As JSON it is one flat
/// object, `{"plan": "refused", "slug": …, "digest": …, "who": "person", "reason": …}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRecord {
    /// What happened.
    #[serde(flatten)]
    pub event: PlanEvent,
    /// Who decided it.
    pub who: Decider,
    /// Why; empty where nobody gave a reason.
    pub reason: String,
}

/// What happened. A plan is named by its slug and bound by its digest, the hash of its whole text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "plan", rename_all = "snake_case")]
#[non_exhaustive]
pub enum PlanEvent {
    /// Plan mode began.
    Entered,
    /// Plan mode ended, whichever way.
    Left,
    /// A plan was submitted; the reviewer is asked now.
    Proposed {
        /// Its slug.
        slug: String,
        /// The digest of the submitted text.
        digest: Hash,
    },
    /// The reviewer approved it.
    Approved {
        /// Its slug.
        slug: String,
        /// The digest of the submitted text.
        digest: Hash,
        /// The digest of the text that is approved: another one where it was edited in the review.
        approved: Hash,
    },
    /// The reviewer refused it; the reason is in the reviewer's words.
    Refused {
        /// Its slug.
        slug: String,
        /// The digest of the submitted text.
        digest: Hash,
    },
    /// The reviewer was asked and did not decide.
    Dismissed {
        /// Its slug.
        slug: String,
        /// The digest of the submitted text.
        digest: Hash,
    },
    /// The question was taken back before anybody had decided.
    Withdrawn {
        /// Its slug.
        slug: String,
        /// The digest of the submitted text.
        digest: Hash,
    },
    /// It was approved, and nothing came of it: the draft had changed, or the answer came late.
    Void {
        /// Its slug.
        slug: String,
        /// The digest of the submitted text.
        digest: Hash,
    },
}

/// Where plan mode and the decisions on plans are written down.
///
/// It is called before what it is told of takes effect, and while plan mode changes: it must not
/// enter or leave plan mode itself.
pub trait PlanRecorder: Send + Sync {
    /// Writes `record` down.
    ///
    /// # Errors
    /// Where it could not be written down. Plan mode is then not entered, a plan not submitted and
    /// not approved; what only ends something ends all the same.
    fn record_plan(&self, record: &PlanRecord) -> Result<(), RecordError>;
}

/// What a record says of plan mode: how a process that goes on with the session begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptPlan {
    /// Whether plan mode is on.
    pub mode: PlanMode,
    /// The plan whose review was open, by slug and digest of the submitted text.
    pub under_review: Option<(String, Hash)>,
}

impl KeptPlan {
    /// Reads records from the oldest to the newest. An approval that was written down ends plan
    /// mode, also where the process ended before it could say so.
    ///
    /// ```
    /// use xd_resolve::{Decider, PlanMode};
    /// use xd_write::{KeptPlan, PlanEvent, PlanRecord};
    ///
    /// let entered = PlanRecord {
    ///     event: PlanEvent::Entered,
    ///     who: Decider::Person,
    ///     reason: "Look before you leap.".to_owned(),
    /// };
    /// assert_eq!(KeptPlan::of([&entered]).mode, PlanMode::On);
    /// assert_eq!(KeptPlan::of([]).mode, PlanMode::Off);
    /// ```
    #[must_use]
    pub fn of<'a>(records: impl IntoIterator<Item = &'a PlanRecord>) -> Self {
        let (mut mode, mut approved, mut under_review) = (PlanMode::Off, false, None);
        for record in records {
            match &record.event {
                PlanEvent::Entered => (mode, approved, under_review) = (PlanMode::On, false, None),
                PlanEvent::Left => (mode, approved, under_review) = (PlanMode::Off, false, None),
                PlanEvent::Proposed { slug, digest } => {
                    under_review = Some((slug.clone(), *digest));
                }
                PlanEvent::Approved { .. } => (approved, under_review) = (true, None),
                PlanEvent::Refused { .. }
                | PlanEvent::Dismissed { .. }
                | PlanEvent::Withdrawn { .. }
                | PlanEvent::Void { .. } => (approved, under_review) = (false, None),
            }
        }
        Self { mode: if approved { PlanMode::Off } else { mode }, under_review }
    }
}
