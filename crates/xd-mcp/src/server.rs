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
use tokio_util::sync::{CancellationToken, DropGuard};
use xd_protocol::{Target, Visible, parse_xd_url};
use xd_resolve::{Decider, ToolCall};
use xd_write::MountError;

use crate::{
    Options,
    answer::Answer,
    asking::call_of,
    call::{Scope, run},
    changes::{Hearer, tell},
    connection::Connection,
    offer, progress, prompts,
    question::Questions,
    resources,
    stack::{NotLocked, Opened, Stack},
};

/// A server for one connection. Servers made of each other share the stack, and each has its own
/// client.
#[derive(Debug)]
pub struct Server {
    pub(crate) stack: Arc<Stack>,
    pub(crate) questions: Arc<Questions>,
    pub(crate) connection: Arc<Connection>,
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

    pub(crate) async fn run(
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

    async fn look(&self) -> Result<Arc<Opened>, ErrorData> {
        self.stack
            .look()
            .await
            .map_err(|error: NotLocked| ErrorData::internal_error(error.to_string(), None))
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
