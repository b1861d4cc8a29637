//! Calls with a person beside them: who is asked, about what, and what becomes of the answer.

use std::sync::Arc;

use rmcp::{
    RoleServer,
    model::{CallToolRequestParams, CallToolResponse},
    service::RequestContext,
};
use serde_json::{Value, json};
use xd_protocol::{StageNumber, Verdict};
use xd_resolve::{
    ActionState, Decider, PlanMode, StagedAction, ToolCall, ToolResult, confirm_of_call,
};
use xd_session::PlanAnswer;

use crate::{
    Server,
    answer::Answer,
    call::{Scope, decision, run},
    plan::{self, Submitted},
    question::{self, About, Asked, Due, Said, Way},
    stack::Opened,
};

impl Server {
    /// Runs a call, with a person where one is to confirm.
    pub(crate) async fn answer(
        &self,
        request: &CallToolRequestParams,
        call: ToolCall,
        context: &RequestContext<RoleServer>,
    ) -> Reply {
        let way = Way::of(context);
        let planning = self.planning(&call).await;
        if let Some(Some(plan)) = planning {
            return self.review(plan, way, call, request, context).await;
        }
        let due = match planning {
            // Nothing could be applied; a person would be asked for nothing.
            Some(None) => Due::No,
            Some(Some(_)) | None => Due::of(self.stack.options.ask, way),
        };
        let confirm = confirm_of_call(&call).filter(|confirm| confirm.verdict == Verdict::Apply);
        if let (Some(confirm), Due::Yes(_) | Due::Impossible) = (confirm, due) {
            // What nothing would come of is answered without asking anybody.
            if let Some(action) = self.would_apply(confirm.selection, &call).await {
                let reason = call.str_argument("content").map(|body| body.trim().to_owned());
                return self.ask(due, &action, reason, request, context).await;
            }
        }
        let answer = self.run(call, Decider::Model, context).await;
        let staged = answer.staged.last().copied();
        match (staged, due) {
            (Some(number), Due::Yes(_)) => match self.pending(number).await {
                Some(action) => match self.ask(due, &action, None, request, context).await {
                    // Not decided: the preview is the answer, and the model may confirm later.
                    Reply::Undecided(_, why) => {
                        let mut answer = answer;
                        answer.content.push(format!("A person was asked, but {why}."));
                        Reply::Answer(answer)
                    }
                    reply => reply,
                },
                None => Reply::Answer(answer),
            },
            (Some(_) | None, Due::No | Due::Impossible | Due::Yes(_)) => Reply::Answer(answer),
        }
    }

    /// While plan mode is on, the plan that the call submits, if it does.
    async fn planning(&self, call: &ToolCall) -> Option<Option<Submitted>> {
        if self.stack.options.plan == PlanMode::Off {
            return None;
        }
        let opened = self.stack.look().await.ok()?;
        let on = opened.session.plan_mode() == PlanMode::On;
        on.then(|| Submitted::by(call, &opened))
    }

    /// A plan is submitted: a person is asked, then the call runs with her answer (`CONTRACT P2`).
    async fn review(
        &self,
        plan: Submitted,
        way: Way,
        call: ToolCall,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Reply {
        let Some(question) = plan.question() else {
            return Reply::Answer(undecided(&format!(
                "Nothing was submitted: the plan is too long to be shown to a person in whole. Make it \
                 shorter than {} KiB.",
                plan::LONGEST / 1024
            )));
        };
        let about = About::Plan { slug: plan.slug.clone(), digest: plan.digest() };
        let said = match way {
            Way::None => {
                return Reply::Answer(undecided(&format!(
                    "Not approved: a person has to approve a plan here, and this client cannot ask \
                     one. Plan mode stays on, and the plan is kept at local://{}-plan.md. Tell the \
                     person: `xd read local://{}-plan.md` shows it, and the server started without \
                     --plan lets it be carried out. Do not submit it again before that.",
                    plan.slug, plan.slug
                )));
            }
            Way::Request | Way::Result => {
                match self.questions.ask(way, question, about, request, context).await {
                    Asked::Said(said) => said,
                    Asked::Later(question) => {
                        return Reply::Response(CallToolResponse::InputRequired(*question));
                    }
                }
            }
        };
        self.reviewed(plan, said, call, context).await
    }

    async fn reviewed(
        &self,
        plan: Submitted,
        said: Said,
        call: ToolCall,
        context: &RequestContext<RoleServer>,
    ) -> Reply {
        let answer = match said {
            Said::Accept(_) => PlanAnswer::Approved { text: Arc::clone(&plan.text) },
            Said::Decline(words) => PlanAnswer::Refused { words },
            Said::Nothing(why) => {
                return Reply::Answer(undecided(&format!(
                    "Nobody decided on the plan: {why}. Plan mode stays on. Do not submit it again \
                     before you are asked to."
                )));
            }
        };
        let scope = Scope {
            decider: Decider::Model,
            cancel: context.ct.clone(),
            progress: Arc::new(|_, _| {}),
            said_of_plan: Some((plan.text, answer)),
        };
        Reply::Answer(run(&self.stack, &self.connection, call, scope).await)
    }

    /// The pending action that a confirm would apply, if its reason is one and it can be meant.
    async fn would_apply(
        &self,
        selection: xd_protocol::Selection,
        call: &ToolCall,
    ) -> Option<Arc<StagedAction>> {
        xd_protocol::Reason::new(call.str_argument("content").unwrap_or_default()).ok()?;
        let opened = self.stack.look().await.ok()?;
        let actions = opened.session.actions();
        match selection {
            xd_protocol::Selection::Numbered(number) => still_pending(&opened, number),
            xd_protocol::Selection::Head => actions
                .head()
                .filter(|head| self.connection.may_mean(head.number(), actions.pending_count())),
        }
    }

    async fn pending(&self, number: StageNumber) -> Option<Arc<StagedAction>> {
        still_pending(&*self.stack.look().await.ok()?, number)
    }

    /// Asks a person about `action` and does what she says.
    async fn ask(
        &self,
        due: Due,
        action: &Arc<StagedAction>,
        reason: Option<String>,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Reply {
        let number = action.number();
        match due {
            Due::Yes(way) => {
                let message = question::message(action, reason.as_deref());
                let about = About::action(action, reason);
                match self.questions.ask(way, message, about, request, context).await {
                    Asked::Said(said) => self.heed(number, said, context).await,
                    Asked::Later(question) => {
                        Reply::Response(CallToolResponse::InputRequired(*question))
                    }
                }
            }
            Due::No | Due::Impossible => {
                Reply::Undecided(number, "this client cannot ask a person")
            }
        }
    }

    async fn heed(
        &self,
        number: StageNumber,
        said: Said,
        context: &RequestContext<RoleServer>,
    ) -> Reply {
        let (verdict, reason) = match said {
            Said::Accept(reason) => (Verdict::Apply, reason),
            Said::Decline(reason) => (Verdict::Discard, reason),
            Said::Nothing(why) => return Reply::Undecided(number, why),
        };
        let call = decision(&context.id.to_string(), number, verdict, &reason);
        let mut answer = self.run(call, Decider::Person, context).await;
        let word = match verdict {
            Verdict::Apply => "asked to apply",
            Verdict::Discard => "declined",
        };
        answer.content.insert(0, format!("A person saw the preview of @{number} and {word} it."));
        Reply::Answer(answer)
    }

    /// A call that comes back with a person's answer.
    pub(crate) async fn returned(
        &self,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Reply {
        let (about, said) = match self.questions.answered(request) {
            Ok(answered) => answered,
            Err(why) => return Reply::Answer(undecided(&format!("Not done: {why}."))),
        };
        let (number, label, reason) = match about {
            About::Action { number, label, reason } => (number, label, reason),
            About::Plan { slug, digest } => {
                let call = call_of(request, context);
                let plan = self.planning(&call).await.flatten();
                let shown = |plan: &Submitted| plan.slug == slug && plan.digest() == digest;
                return match plan.filter(shown) {
                    Some(plan) => self.reviewed(plan, said, call, context).await,
                    None => Reply::Answer(undecided(
                        "Nothing is approved: the plan was changed while it was reviewed, or plan mode \
                         has ended. Submit it again.",
                    )),
                };
            }
        };
        let found = match StageNumber::new(number) {
            Some(number) => self.pending(number).await,
            None => None,
        };
        match found.filter(|action| action.label() == label) {
            Some(action) => match self.heed(action.number(), said, context).await {
                Reply::Undecided(number, why) if reason.is_none() => {
                    match self.again(&action).await {
                        Some(mut answer) => {
                            answer.content.push(format!("A person was asked, but {why}."));
                            Reply::Answer(answer)
                        }
                        None => Reply::Undecided(number, why),
                    }
                }
                reply => reply,
            },
            None => Reply::Answer(undecided(&format!(
                "Not done: staged action @{} is no longer pending. Read xd://resolve@{} for what \
                 became of it.",
                number, number
            ))),
        }
    }

    async fn again(&self, action: &Arc<StagedAction>) -> Option<Answer> {
        let opened = self.stack.look().await.ok()?;
        self.connection.staged(action.number());
        Some(Answer::again(action, &opened))
    }
}

/// What a call comes to.
pub(crate) enum Reply {
    Answer(Answer),
    Response(CallToolResponse),
    /// A person was to decide and did not; why.
    Undecided(StageNumber, &'static str),
}

impl Reply {
    pub(crate) fn into_response(self, with_data: bool) -> CallToolResponse {
        match self {
            Self::Answer(answer) => CallToolResponse::Complete(answer.into_result(with_data)),
            Self::Response(response) => response,
            Self::Undecided(number, why) => {
                let text = format!(
                    "Not applied: a person has to confirm staged action @{number} here, and {why}. \
                     It stays pending. A person can decide it at a shell with `xd resolve` or `xd \
                     reject`; write to xd://reject@{number} to discard it."
                );
                CallToolResponse::Complete(undecided(&text).into_result(with_data))
            }
        }
    }
}

/// The call of a request.
pub(crate) fn call_of(
    request: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> ToolCall {
    let arguments = request.arguments.clone().map_or_else(|| json!({}), Value::Object);
    ToolCall::new(context.id.to_string(), request.name.to_string(), arguments)
}

fn undecided(text: &str) -> Answer {
    Answer::of(ToolResult::error(text))
}

fn still_pending(opened: &Opened, number: StageNumber) -> Option<Arc<StagedAction>> {
    match opened.session.actions().get(number)? {
        (action, ActionState::Pending) => Some(action),
        (
            _,
            ActionState::Taken(_)
            | ActionState::Applied
            | ActionState::Discarded
            | ActionState::Void
            | ActionState::Withdrawn,
        ) => None,
    }
}
