//! The protocol's texts, letter by letter. A model reads them; tests compare them.

use core::fmt;

use crate::{Excerpt, ForeignScheme, Malformed, NearMiss, StageNumber, Verdict};

/// The beginning of every staged preview's result (`CONTRACT S4`).
pub const STAGED: &str = "Staged as a proposal — files NOT modified yet. To apply: write a one-sentence reason to xd://resolve. To discard: write to xd://reject.";
/// How a staging result begins in whatever form it is finalized (`CONTRACT S4, D15`).
pub const STAGED_HEAD: &str = "Staged as a proposal — files NOT modified yet.";
/// The notice where the hidden `resolve` tool finalizes instead of the devices (`CONTRACT D15`).
pub const STAGED_FOR_TOOL: &str = "Staged as a proposal — files NOT modified yet. To apply: call `resolve` with {\"action\": \"apply\", \"reason\": \"<one sentence>\"}. To discard: call it with \"discard\".";
/// Staging without a store (`CONTRACT S5`).
pub const STORE_UNAVAILABLE: &str =
    "Pending action store unavailable for custom tools in this runtime.";
/// Nothing was replaced, so nothing was staged (`CONTRACT S6`).
pub const NO_REPLACEMENTS: &str = "No replacements made";
/// Reject with nothing pending: a success (`CONTRACT D3`).
pub const NOTHING_TO_REJECT: &str = "Nothing to reject; no pending action remains.";
/// Resolve with nothing pending: an error (`CONTRACT D4`).
pub const NOTHING_TO_APPLY: &str =
    "No pending action to apply — xd://resolve is only valid while a staged preview is pending.";
/// What both gain in plan mode (`CONTRACT D5`).
pub const PLAN_MODE_HINT: &str =
    " To submit the plan for approval, write its title to xd://propose instead.";
/// The hidden `resolve` tool with nothing pending (`CONTRACT D15`).
pub const NOTHING_TO_RESOLVE: &str = "No pending action to resolve. Nothing to apply or discard.";
/// The result of a call that a soft requirement skipped (`CONTRACT G5`).
pub const NOT_EXECUTED: &str =
    "Not executed: call the `write` tool to resolve the pending action before using other tools.";
/// `xd://propose` outside plan mode (`CONTRACT P1`).
pub const NO_PLAN: &str = "No plan is awaiting approval — xd://propose only accepts a plan title while plan mode is active.";
/// How a refusal begins that plan mode is the reason of (`CONTRACT W7`). What was refused stands
/// before it, what to do instead behind it.
pub const PLAN_MODE_ON: &str =
    "plan mode is on and nothing of the working tree changes while it is.";
/// What plan mode allows, behind a refusal (`CONTRACT P4`, case 93).
pub const PLAN_MODE_ALLOWS: &str = " Allowed are reading, drafts at local://<slug>-plan.md, previews, and xd://propose to submit the plan.";
/// What the model is told when plan mode has ended without an approval (`CONTRACT P3`).
pub const PLAN_MODE_LEFT: &str = "<system-reminder>\nPlan mode is off again, and no plan was approved. Files may be written and staged actions applied as before.\n</system-reminder>";
/// Any address without a session (`CONTRACT U8`).
pub const NOT_MOUNTED: &str = "xd:// is not mounted in this session.";

/// The one-line usage of `xd://resolve` (`CONTRACT W5`).
pub const RESOLVE_USAGE: &str = "xd://resolve — write a one-sentence plain-text reason to apply the most recent staged action; xd://resolve@<n> applies number n.";
/// The one-line usage of `xd://reject`.
pub const REJECT_USAGE: &str = "xd://reject — write a one-sentence plain-text reason to discard the most recent staged action; xd://reject@<n> discards number n.";
/// The one-line usage of `xd://propose`.
pub const PROPOSE_USAGE: &str = "xd://propose — in plan mode, write the slug of local://<slug>-plan.md to submit that plan for approval.";

/// The notice above a staged preview: [`STAGED`], and with more than one pending the numbered
/// addresses, newest first (`CONTRACT S4`).
#[derive(Debug, Clone, Copy)]
pub struct StagedNotice<'a> {
    /// The numbers of the newest pending actions, the head first.
    pub first: &'a [StageNumber],
    /// How many are pending in all.
    pub total: usize,
}

impl fmt::Display for StagedNotice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, total } = *self;
        f.write_str(STAGED)?;
        if total > 1 {
            let addresses = NumberedAddresses { first, total };
            write!(f, " {total} actions are pending, newest first: {addresses}")?;
        }
        Ok(())
    }
}

/// The numbered addresses of several staged actions, as a sentence's tail.
#[derive(Debug, Clone, Copy)]
pub struct NumberedAddresses<'a> {
    /// The numbers to name.
    pub first: &'a [StageNumber],
    /// How many there are in all; those not named are counted.
    pub total: usize,
}

impl fmt::Display for NumberedAddresses<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, number) in self.first.iter().enumerate() {
            let comma = if i == 0 { "" } else { ", " };
            write!(f, "{comma}xd://resolve@{number} or xd://reject@{number}")?;
        }
        match self.total.saturating_sub(self.first.len()) {
            0 => f.write_str("."),
            more => write!(f, ", and {more} more."),
        }
    }
}

/// A malformed address on a read (`CONTRACT U8`).
#[derive(Debug, Clone, Copy)]
pub struct MalformedRead<'a>(pub Malformed<'a>);

impl fmt::Display for MalformedRead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Invalid xd:// URL: {}. Use xd:// or xd://<tool>.", Excerpt(self.0.url()))
    }
}

/// A slip of an address on a read (`CONTRACT U7`): as for a write, but for the deed that it names.
#[derive(Debug, Clone, Copy)]
pub struct NearMissRead<'a>(pub NearMiss<'a>);

impl fmt::Display for NearMissRead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.tell(f, "read")
    }
}

/// An address of another scheme on a read (`CONTRACT U7`).
#[derive(Debug, Clone, Copy)]
pub struct ForeignRead<'a>(pub ForeignScheme<'a>);

impl fmt::Display for ForeignRead<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.tell(f, "read")
    }
}

/// A staged action was discarded and its producer had nothing to say (`CONTRACT D7`).
#[derive(Debug, Clone, Copy)]
pub struct Discarded<'a> {
    /// The action's label.
    pub label: &'a str,
    /// The reason given.
    pub reason: &'a str,
}

impl fmt::Display for Discarded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Discarded: {}. Reason: {}", self.label, self.reason)
    }
}

/// What a model hears where a person approved its confirm for a reason of their own (`CONTRACT L1`).
#[derive(Debug, Clone, Copy)]
pub struct ApprovedBecause<'a> {
    /// The person's reason, which is the decision's.
    pub instead: &'a str,
    /// The reason that the confirm gave.
    pub said: &'a str,
}

impl fmt::Display for ApprovedBecause<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { instead, said } = self;
        write!(
            f,
            "A person approved this in their own name. Their reason: {instead} Yours was: {said}"
        )
    }
}

/// How to go on after an attempt that left the action pending (`CONTRACT D9`).
#[derive(Debug, Clone, Copy)]
pub struct StillPending {
    /// The action's number.
    pub number: StageNumber,
    /// What was attempted.
    pub attempted: Verdict,
}

impl fmt::Display for StillPending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let n = self.number;
        let (retry, other) = match self.attempted {
            Verdict::Apply => ("xd://resolve", "To discard it instead, write to xd://reject"),
            Verdict::Discard => ("xd://reject", "To apply it instead, write to xd://resolve"),
        };
        write!(
            f,
            "Staged action @{n} is still pending. To retry, write a reason to {retry}@{n}. {other}@{n}."
        )
    }
}

/// [`StillPending`] where the hidden `resolve` tool finalizes (`CONTRACT D9, D15`).
#[derive(Debug, Clone, Copy)]
pub struct StillPendingForTool {
    /// The action's number.
    pub number: StageNumber,
    /// What was attempted.
    pub attempted: Verdict,
}

impl fmt::Display for StillPendingForTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (retry, other) = match self.attempted {
            Verdict::Apply => ("apply", "discard"),
            Verdict::Discard => ("discard", "apply"),
        };
        write!(
            f,
            "Staged action @{} is still pending. To retry, call `resolve` with the action \
             \"{retry}\" again; with \"{other}\" to {other} it instead.",
            self.number
        )
    }
}
