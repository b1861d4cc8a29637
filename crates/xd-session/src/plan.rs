//! Plan mode: while it is on nothing of the working tree changes (`CONTRACT W7, P3`).

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use xd_protocol::{Verdict, notice};
use xd_resolve::{Decider, Guard, PlanMode, StagedAction, Tier, ToolResult};

/// Whether the session plans. Shared by the session and the guard of its store, so that no route
/// to an apply can see another answer. Entering and leaving are idempotent.
#[derive(Debug, Clone, Default)]
pub struct PlanState(Arc<AtomicBool>);

impl PlanState {
    /// Enters plan mode.
    pub fn enter(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Leaves it.
    pub fn leave(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    /// Whether it is on.
    #[must_use]
    pub fn mode(&self) -> PlanMode {
        if self.0.load(Ordering::SeqCst) { PlanMode::On } else { PlanMode::Off }
    }
}

impl Guard for PlanState {
    fn check(&self, action: &StagedAction, verdict: Verdict, _: Decider) -> Result<(), ToolResult> {
        match (self.mode(), verdict, action.tier()) {
            (PlanMode::On, Verdict::Apply, Tier::Write | Tier::Exec) => {
                Err(ToolResult::error(format!(
                    "Not applied: plan mode is on and nothing of the working tree changes while it \
                 is. Staged action @{} stays pending.{}",
                    action.number(),
                    notice::PLAN_MODE_HINT
                )))
            }
            (PlanMode::On, Verdict::Apply, Tier::Read)
            | (PlanMode::On, Verdict::Discard, _)
            | (PlanMode::Off, Verdict::Apply | Verdict::Discard, _) => Ok(()),
        }
    }
}
