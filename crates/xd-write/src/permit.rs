//! What lets a call run, or refuses it before it does (`CONTRACT W6, W7`).

use std::sync::Arc;

use xd_protocol::{Confirm, Selection, StageNumber, Verdict, notice};
use xd_resolve::{PlanMode, StagedAction, ToolCall, ToolResult};

use crate::{
    Approval, ApprovalRequest, Host, Rule, ToolContext,
    hidden_resolve::confirm_in,
    plan_mode::{self, Subject},
    write,
};

impl Host {
    /// Outside plan mode there is no plan to submit, whoever would approve the call.
    pub(crate) fn may_propose(&self) -> Result<(), ToolResult> {
        match self.session().plan_mode() {
            PlanMode::Off => Err(ToolResult::error(notice::NO_PLAN)),
            PlanMode::On => Ok(()),
        }
    }

    /// Asks the rules, plan mode, and the tiers with their person, in this order (`CONTRACT W7`).
    pub(crate) async fn permit(
        &self,
        call: &ToolCall,
        context: &ToolContext,
    ) -> Result<(), ToolResult> {
        let subject = Subject::of(self, call);
        let action = self.would_apply(call, context.head);
        let rules = self.policy().rules();
        let staged_by = action.as_ref().map(|action| action.source_tool_name());
        for name in [Some(subject.name.as_str()), staged_by].into_iter().flatten() {
            if rules.rule(name) == Rule::Denied {
                return Err(ToolResult::error(format!(
                    "Not executed: a rule of this host denies `{}`.",
                    xd_protocol::Visible(name)
                )));
            }
        }
        let held =
            || plan_mode::hold_back(self, call, &subject, action.as_deref(), context.scope.decider);
        held()?;
        if let Some(path) = subject.file() {
            write::may_write_files(self, path)?;
        }
        let planning = subject.is_planning() && self.session().plan_mode() == PlanMode::On;
        if planning || rules.rule(&subject.name) == Rule::Allowed {
            return Ok(());
        }
        self.approve(call, &subject.name, action.clone()).await?;
        // Plan mode may have begun while a person was asked.
        held()
    }

    /// The result of a refused call, which says more when it was refused before (case 93).
    pub(crate) fn refused(&self, call: &ToolCall, mut refusal: ToolResult) -> ToolResult {
        let repeat = self.session().call_refused(call);
        let ends = self.session().refusals_spent().is_some();
        if repeat.tell || ends {
            let mode = self.session().plan_mode();
            refusal.content.push(plan_mode::stop_repeating(repeat.times, mode, ends));
        }
        refusal
    }

    /// Asks the policy. A confirm shows the action that it would apply: for a bare one the head at
    /// the batch's begin, whatever was staged since. A grant for the session goes by the `name` of
    /// what the call reaches.
    async fn approve(
        &self,
        call: &ToolCall,
        name: &str,
        action: Option<Arc<StagedAction>>,
    ) -> Result<(), ToolResult> {
        let tier = match &action {
            Some(action) => action.tier(),
            None => self.tier(call),
        };
        if self.session().is_granted(name) {
            return Ok(());
        }
        let request = ApprovalRequest { call: call.clone(), tier, action };
        match self.policy().decide(request).await {
            Approval::Granted => Ok(()),
            Approval::GrantedForSession => {
                self.session().grant(name);
                Ok(())
            }
            Approval::Refused { words } => {
                let because = match words.trim().trim_end_matches('.') {
                    "" => String::new(),
                    words => format!(": {words}"),
                };
                Err(ToolResult::error(format!(
                    "Not executed: refused{because}. Do not try the same again."
                )))
            }
        }
    }

    /// The action that `call` would apply, `head` being what a bare confirm means in its batch.
    fn would_apply(&self, call: &ToolCall, head: Option<StageNumber>) -> Option<Arc<StagedAction>> {
        let Confirm { verdict, selection } = confirm_in(self.session(), call)?;
        let number = match (verdict, selection) {
            (Verdict::Discard, _) => return None,
            (Verdict::Apply, Selection::Head) => head?,
            (Verdict::Apply, Selection::Numbered(number)) => number,
        };
        self.session().actions().get(number).map(|(action, _)| action)
    }
}
