//! The server as a client sees it.

use std::sync::Arc;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult,
        GetPromptRequestParams, GetPromptResponse, Implementation, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
        ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
        SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};
use xd_protocol::{StageNumber, Target, Verdict, Visible, parse_xd_url};
use xd_resolve::{
    ActionState, Decider, PlanMode, StagedAction, ToolCall, ToolResult, confirm_of_call,
};
use xd_session::PlanAnswer;
use xd_write::MountError;

use crate::{
    Options,
    answer::Answer,
    call::{Scope, decision, run},
    changes::{Hearer, tell},
    connection::Connection,
    offer,
    plan::{self, Submitted},
    progress, prompts,
    question::{self, About, Asked, Due, Questions, Said, Way},
    resources,
    stack::{NotLocked, Opened, Stack},
};

/// A server for one connection. Servers made of each other share the stack, and each has its own
/// client.
#[derive(Debug)]
pub struct Server {
    stack: Arc<Stack>,
    questions: Arc<Questions>,
    connection: Arc<Connection>,
    alive: CancellationToken,
    _end: DropGuard,
}

impl Server {
    /// A server with these options, for its first client.
    ///
    /// # Errors
    /// What the options add cannot be mounted.
    pub fn new(options: Options) -> Result<Self, MountError> {
        let questions = Arc::new(Questions::new(options.answer_within));
        Ok(Self::over(Stack::new(options)?, questions))
    }

    /// A server for another client of the same stack.
    #[must_use]
    pub fn for_another(&self) -> Self {
        Self::over(Arc::clone(&self.stack), Arc::clone(&self.questions))
    }

    /// Waits until every call that has begun has ended, also those nobody waits for any more
    /// (`CONTRACT D12`).
    pub async fn settle(&self) {
        self.stack.tasks.close();
        self.stack.tasks.wait().await;
        self.stack.tasks.reopen();
    }

    pub(crate) fn over(stack: Arc<Stack>, questions: Arc<Questions>) -> Self {
        let alive = CancellationToken::new();
        Self {
            stack,
            questions,
            connection: Arc::default(),
            _end: alive.clone().drop_guard(),
            alive,
        }
    }

    /// Runs a call, with a person where one is to confirm.
    async fn answer(
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

    async fn run(
        &self,
        call: ToolCall,
        decider: Decider,
        context: &RequestContext<RoleServer>,
    ) -> Answer {
        let token = context.meta.get_progress_token();
        let (progress, _telling) = progress::telling(&context.peer, token);
        let cancel = context.ct.clone();
        let scope = Scope { decider, cancel, progress, said_of_plan: None };
        run(&self.stack, &self.connection, call, scope).await
    }

    /// While plan mode is on, the plan that the call submits, if it does.
    async fn planning(&self, call: &ToolCall) -> Option<Option<Submitted>> {
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
    async fn returned(
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

    async fn look(&self) -> Result<Arc<Opened>, ErrorData> {
        self.stack
            .look()
            .await
            .map_err(|error: NotLocked| ErrorData::internal_error(error.to_string(), None))
    }
}

/// What a call comes to.
enum Reply {
    Answer(Answer),
    Response(CallToolResponse),
    /// A person was to decide and did not; why.
    Undecided(StageNumber, &'static str),
}

impl Reply {
    fn into_response(self, with_data: bool) -> CallToolResponse {
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

fn call_of(request: &CallToolRequestParams, context: &RequestContext<RoleServer>) -> ToolCall {
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

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("xd", env!("CARGO_PKG_VERSION")))
            .with_instructions(offer::instructions(self.stack.options.plan))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(offer::tools()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let with_data = offer::has_data(&request.name);
        if request.request_state.is_some() {
            return Ok(self.returned(&request, &context).await.into_response(with_data));
        }
        let call = call_of(&request, &context);
        let reply = if self.is_tool(&call.name).await? {
            self.answer(&request, call, &context).await
        } else {
            let names: Vec<_> = offer::tools().into_iter().map(|tool| tool.name).collect();
            return Err(ErrorData::invalid_params(
                format!(
                    "Unknown tool `{}`. Tools: {}. read xd:// lists more.",
                    Visible(&call.name),
                    names.join(", ")
                ),
                None,
            ));
        };
        Ok(reply.into_response(with_data))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list(&*self.look().await?)))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let opened = self.look().await?;
        let read = resources::read(&request.uri, &self.stack, &opened, &self.connection)?;
        Ok(ReadResourceResponse::Complete(read))
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let opened = self.look().await?;
        let arguments = request.arguments.as_ref();
        prompts::get(&request.name, arguments, &opened, &self.connection)
            .map(GetPromptResponse::Complete)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        if !resources::is_known(&request.uri) {
            let text = format!("Nothing can ever be at {}.", Visible(&request.uri));
            return Err(ErrorData::resource_not_found(text, None));
        }
        match self.connection.subscribe(request.uri) {
            true => Ok(()),
            false => {
                Err(ErrorData::invalid_request("Too many subscriptions; end some first.", None))
            }
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.connection.unsubscribe(&request.uri);
        Ok(())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let hearer = Hearer::Peer(context.peer, self.connection.subscribed());
        tokio::spawn(tell(Arc::clone(&self.stack), hearer, self.alive.clone()));
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| resources::is_known(uri));
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
        let hearer = Hearer::Sink(context.sink().clone(), uris.into_iter().collect());
        tokio::select! {
            () = context.cancelled() => {}
            () = tell(Arc::clone(&self.stack), hearer, self.alive.clone()) => {}
        }
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        const KNOWN: [&str; 4] =
            ["tools/call", "resources/read", "prompts/get", "resources/subscribe"];
        // A known method with broken parameters arrives here as well.
        Err(match KNOWN.contains(&&*request.method) {
            true => {
                let text =
                    format!("The parameters of {} are not as it takes them.", request.method);
                ErrorData::invalid_params(text, None)
            }
            false => ErrorData::new(
                rmcp::model::ErrorCode::METHOD_NOT_FOUND,
                format!("There is no method {}.", Visible(&request.method)),
                None,
            ),
        })
    }
}

impl Server {
    /// Whether a call of `name` can be one of a tool or device.
    async fn is_tool(&self, name: &str) -> Result<bool, ErrorData> {
        if offer::tools().iter().any(|tool| tool.name == name) {
            return Ok(true);
        }
        if let Some(Target::Device(_)) = parse_xd_url(name) {
            return Ok(true);
        }
        let opened = self.look().await?;
        let mounted = opened.host.inventory().iter().any(|device| device.name == name);
        let added = opened.host.definitions().iter().any(|tool| tool.name == name);
        Ok(mounted || added)
    }
}
