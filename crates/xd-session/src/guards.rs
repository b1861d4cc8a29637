//! The guards of a session's store, asked one after the other.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use xd_protocol::Verdict;
use xd_resolve::{Decider, Guard, StagedAction, ToolResult};

use crate::PlanState;

/// Plan mode, then whatever hosts have added. The first that forbids decides.
pub(crate) struct Guards {
    plan: PlanState,
    added: RwLock<Vec<Arc<dyn Guard>>>,
}

impl Guards {
    pub(crate) fn new(plan: PlanState) -> Self {
        Self { plan, added: RwLock::default() }
    }

    pub(crate) fn add(&self, guard: Arc<dyn Guard>) {
        self.added.write().unwrap_or_else(PoisonError::into_inner).push(guard);
    }
}

impl Guard for Guards {
    fn check(
        &self,
        action: &StagedAction,
        verdict: Verdict,
        decider: Decider,
    ) -> Result<(), ToolResult> {
        self.plan.check(action, verdict, decider)?;
        let added = self.added.read().unwrap_or_else(PoisonError::into_inner);
        added.iter().try_for_each(|guard| guard.check(action, verdict, decider))
    }
}

impl fmt::Debug for Guards {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guards").field("plan", &self.plan).finish_non_exhaustive()
    }
}
