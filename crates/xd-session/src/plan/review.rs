//! The person who approves a plan.

use std::{fmt, sync::Arc};

use xd_resolve::BoxFuture;

use crate::PlanDigest;

/// What a reviewer is asked. The second plan of a session brings the same as the first (case 97).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanReview {
    /// The plan's slug.
    pub slug: String,
    /// Where its draft is: `local://<slug>-plan.md`.
    pub address: String,
    /// The whole text, never blank.
    pub text: Arc<str>,
    /// The digest of that text.
    pub digest: PlanDigest,
}

/// What the reviewer said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanAnswer {
    /// Carry it out, as this text: the one shown, or what the reviewer made of it.
    Approved {
        /// The whole text.
        text: Arc<str>,
    },
    /// Not so; these are the words, which the model reads.
    Refused {
        /// What was said; may be empty.
        words: String,
    },
    /// Nobody decided.
    Dismissed,
}

/// Reviews plans. Every front end that offers plan mode brings one (`CONTRACT P3`, case 89).
pub trait PlanReviewer: Send + Sync {
    /// Shows the plan and waits for the answer.
    ///
    /// # Cancel safety
    /// Dropped, the question is withdrawn and nothing is approved.
    fn review(&self, review: PlanReview) -> BoxFuture<'_, PlanAnswer>;
}

/// Plan mode cannot be entered: nobody could approve a plan, so it would have no exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoReviewer;

impl fmt::Display for NoReviewer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "plan mode cannot be entered here: this session has nobody who reviews plans. Install \
             a plan reviewer first",
        )
    }
}

impl std::error::Error for NoReviewer {}
