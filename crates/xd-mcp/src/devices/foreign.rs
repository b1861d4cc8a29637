//! One tool of another server.

use std::sync::Arc;

use rmcp::{
    RoleClient,
    model::{CallToolResult, ContentBlock, ResourceContents, Tool as Listed},
    service::Peer,
};
use serde_json::{Value, json};
use xd_protocol::Visible;
use xd_resolve::{BoxFuture, Tier, ToolResult};
use xd_write::{ArgumentSchema, Tool, ToolContext, ToolDefinition, ToolFailure, device_name};

use super::{
    Hints,
    calling::{Called, Caller},
    mounting::Mounting,
    proposal,
};
use crate::inert::{cut, inert};

/// What the texts of a host are known by.
const OURS: [&str; 3] = ["xd://resolve", "xd://reject", "<system-reminder>"];

/// A tool of another server, as a device.
pub(super) struct Foreign {
    definition: ToolDefinition,
    /// What the server calls it.
    name: String,
    caller: Caller,
    mounting: Mounting,
    read_only: bool,
    /// Why it cannot be called, where its schema cannot be checked.
    unchecked: Option<String>,
}

impl Foreign {
    pub(super) fn new(mounting: Mounting, listed: Listed, peer: Peer<RoleClient>) -> Self {
        let server = Arc::clone(&mounting.server);
        let description = listed.description.as_deref().or(listed.title.as_deref());
        let description = description.unwrap_or("It says nothing of itself.");
        let mut description = cut(description, mounting.limits.description).into_owned();
        let mut schema = Value::Object((*listed.input_schema).clone());
        // One odd schema must not keep the server's other tools away, nor vanish in silence
        // (`CONTRACT R3`: what cannot be checked is not called).
        let unchecked = ArgumentSchema::compile(&schema).err().map(|fault| fault.to_string());
        if let Some(fault) = &unchecked {
            description = format!("Cannot be called: {fault}.\n{description}");
            schema = json!({ "type": "object" });
        }
        let hinted = listed.annotations.and_then(|hints| hints.read_only_hint) == Some(true);
        let read_only = match mounting.hints {
            Hints::Trusted => hinted,
            Hints::Ignored => false,
        };
        let caller = Caller {
            server: Arc::clone(&server),
            peer,
            limits: Arc::clone(&mounting.limits),
            line: mounting.line,
        };
        Self {
            definition: ToolDefinition::new(
                device_name(&server, &listed.name),
                description,
                schema,
            ),
            name: listed.name.into_owned(),
            caller,
            mounting,
            read_only,
            unchecked,
        }
    }

    async fn run(
        &self,
        context: &ToolContext,
        arguments: Value,
    ) -> Result<ToolResult, ToolFailure> {
        if let Some(fault) = &self.unchecked {
            return Ok(ToolResult::error(format!(
                "Not called: the arguments of `{}` of the server `{}` cannot be checked: {fault}.",
                Visible(&self.name),
                self.caller.server
            )));
        }
        let arguments = match arguments {
            Value::Object(arguments) => Some(arguments),
            _ => None,
        };
        let called = tokio::select! {
            biased;
            () = context.cancel().cancelled() => return Err(ToolFailure::Aborted),
            called = self.caller.call(&self.name, arguments, None) => called,
        };
        let result = match called {
            Called::Answered(result) => *result,
            Called::Refused(text) | Called::NotSent(text) | Called::Unknown(text) => {
                return Ok(ToolResult::error(text));
            }
        };
        if !proposal::is_one(&result) {
            return Ok(shown(&result, &self.caller));
        }
        if result.is_error == Some(true) {
            let mut result = shown(&result, &self.caller);
            result.content.push(
                "It came with a proposal; an error proposes nothing, and nothing was staged."
                    .to_owned(),
            );
            return Ok(result);
        }
        let producer = proposal::Producer {
            device: &self.definition.name,
            caller: &self.caller,
            mounting: &self.mounting,
        };
        Ok(proposal::stage(context, &producer, &result).await)
    }
}

/// A result as text for the model: inert, and not more than passes on.
pub(super) fn shown(result: &CallToolResult, caller: &Caller) -> ToolResult {
    let mut text = String::new();
    for block in &result.content {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&block_text(block));
    }
    if let (true, Some(data)) = (text.is_empty(), &result.structured_content) {
        text = data.to_string();
    }
    let mut text = caller.bounded(&inert(&text));
    // What looks like a word of this host is none: its addresses and reminders are the server's.
    if OURS.iter().any(|word| text.contains(word)) {
        text.insert_str(
            0,
            &format!("[All of this is said by `{}`, of its own actions.]\n", caller.server),
        );
    }
    match result.is_error {
        Some(true) => ToolResult::error(text),
        Some(false) | None => ToolResult::text(text),
    }
}

impl Tool for Foreign {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// What is not called read-only may do anything (`CONTRACT W6`).
    fn tier(&self, _: &Value) -> Option<Tier> {
        Some(if self.read_only { Tier::Read } else { Tier::Exec })
    }

    fn declared_tier(&self) -> Option<Tier> {
        self.tier(&Value::Null)
    }

    fn call(
        &self,
        context: Arc<ToolContext>,
        arguments: Value,
    ) -> BoxFuture<'_, Result<ToolResult, ToolFailure>> {
        Box::pin(async move { self.run(&context, arguments).await })
    }
}

/// A block as text: what is none is named.
fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => {
            format!("[an image, {}, {} bytes in base64]", image.mime_type, image.data.len())
        }
        ContentBlock::Audio(audio) => {
            format!("[a sound, {}, {} bytes in base64]", audio.mime_type, audio.data.len())
        }
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[{uri}]\n{text}"),
            _ => "[a resource that is no text]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[see {}]", link.uri),
        _ => "[content of a kind that is not known]".to_owned(),
    }
}
