//! Plan mode: while it is on nothing of the working tree changes (`CONTRACT W7, P1–P4`).
//!
//! [`PlanMachine`] is the state machine, [`PlanState`] the one shared copy of it in a session,
//! [`PlanReviewer`] the person who approves.

mod machine;
mod notice;
mod review;
mod state;

pub use machine::{
    Approving, NotProposed, PlanDigest, PlanMachine, PlanPhase, PlanStep, PlanTicket, Proposal,
};
pub use notice::PlanNotice;
pub use review::{NoReviewer, PlanAnswer, PlanReview, PlanReviewer};
pub use state::{OpenReview, PlanState};
