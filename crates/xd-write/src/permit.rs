//! What lets a call run, or refuses it before it does (`CONTRACT W6, W7`).

use xd_protocol::{Verdict, notice};
use xd_resolve::{Approved, Decider, Declined, PlanMode, RecordError, ToolCall, ToolResult};

use crate::{
    Approval, ApprovalRequest, Host, Rule, ToolContext,
    bound::{Bound, refused_reason},
    grant::Grant,
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
        bound: &Bound,
        context: &ToolContext,
    ) -> Result<(), ToolResult> {
        let subject = Subject::of(self, call);
        let rules = self.policy().rules();
        let staged_by = bound.applies.as_ref().map(|action| action.source_tool_name());
        for name in [Some(subject.name.as_str()), staged_by].into_iter().flatten() {
            if rules.rule(name) == Rule::Denied {
                return Err(ToolResult::error(format!(
                    "Not executed: a rule of this host denies `{}`.",
                    xd_protocol::Excerpt(name)
                )));
            }
        }
        let held = || plan_mode::hold_back(self, call, &subject, bound, context);
        held()?;
        if let Some(path) = subject.file() {
            write::may_write_files(self, path)?;
        }
        let planning = subject.is_planning() && plan_mode::of_call(self, context) == PlanMode::On;
        if planning || rules.rule(&subject.name) == Rule::Allowed {
            return Ok(());
        }
        self.approve(call, &subject.name, bound, context).await?;
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
    /// the batch's begin, whatever was staged or decided since.
    async fn approve(
        &self,
        call: &ToolCall,
        name: &str,
        bound: &Bound,
        context: &ToolContext,
    ) -> Result<(), ToolResult> {
        let (tier, action) = (bound.tier, bound.applies.clone());
        let grant = Grant::of(name, tier, bound.applies.as_deref());
        if grant.is_given(self.session()) {
            return Ok(());
        }
        let request = ApprovalRequest { call: call.clone(), tier, action };
        match self.policy().decide(request).await {
            Approval::Granted => Ok(()),
            Approval::GrantedForSession => {
                grant.give(self.session());
                Ok(())
            }
            Approval::GrantedBecause { reason } => self.approved(bound, &reason, context),
            Approval::Refused { words } => {
                let words = words.trim();
                let because = match words.trim_end_matches('.') {
                    "" => String::new(),
                    words => format!(": {words}"),
                };
                let mut refusal = ToolResult::error(format!(
                    "Not executed: refused{because}. Do not try the same again."
                ));
                refusal.content.extend(
                    self.declined(bound, words)
                        .err()
                        .map(|error| format!("This answer stands, but {error}.")),
                );
                Err(refusal)
            }
        }
    }

    /// Writes down that a person approved a confirm for `instead`, and makes it theirs
    /// (`CONTRACT L1`). The same reason as the call's is just a yes.
    fn approved(
        &self,
        bound: &Bound,
        instead: &str,
        context: &ToolContext,
    ) -> Result<(), ToolResult> {
        let Some(action) = &bound.applies else { return Ok(()) };
        let (verdict, reason, who) = (Verdict::Apply, bound.reason.as_str(), Decider::Person);
        let instead = refused_reason(instead)?;
        if instead == reason {
            return Ok(());
        }
        let approved = Approved { verdict, reason, instead, who };
        self.session().actions().approved(action, &approved).map_err(|error| {
            ToolResult::error(format!(
                "Nothing was done: {error}. The action is still pending; free the record and retry."
            ))
        })?;
        context.decide_because(instead);
        Ok(())
    }

    /// Writes down that a person said no to a confirm (`CONTRACT L1`). Where nobody is there to ask,
    /// nobody decided.
    fn declined(&self, bound: &Bound, words: &str) -> Result<(), RecordError> {
        match &bound.applies {
            Some(action) if self.policy().asks() => self.session().actions().declined(
                action,
                &Declined {
                    verdict: Verdict::Apply,
                    reason: &bound.reason,
                    words,
                    who: Decider::Person,
                },
            ),
            Some(_) | None => Ok(()),
        }
    }
}
