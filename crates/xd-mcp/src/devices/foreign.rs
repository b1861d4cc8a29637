//! One tool of another server.

use std::sync::Arc;

use rmcp::{
    RoleClient, ServiceError,
    model::{
        CallToolRequestParams, CallToolResult, ContentBlock, ResourceContents, Tool as Listed,
    },
    service::Peer,
};
use serde_json::{Value, json};
use xd_protocol::Visible;
use xd_resolve::{BoxFuture, Tier, ToolResult};
use xd_write::{ArgumentSchema, Tool, ToolContext, ToolDefinition, ToolFailure, device_name};

use super::Limits;

/// A tool of another server, as a device.
pub(super) struct Foreign {
    definition: ToolDefinition,
    server: Arc<str>,
    /// What the server calls it.
    name: String,
    peer: Peer<RoleClient>,
    limits: Arc<Limits>,
    read_only: bool,
    /// Why it cannot be called, where its schema cannot be checked.
    unchecked: Option<String>,
}

impl Foreign {
    pub(super) fn new(
        server: &Arc<str>,
        listed: Listed,
        peer: Peer<RoleClient>,
        limits: Arc<Limits>,
        read_only_hints: bool,
    ) -> Self {
        let description = listed.description.as_deref().or(listed.title.as_deref());
        let mut description =
            cut(description.unwrap_or("It says nothing of itself."), limits.description);
        let mut schema = Value::Object((*listed.input_schema).clone());
        // One odd schema must not keep the server's other tools away, nor vanish in silence
        // (`CONTRACT R3`: what cannot be checked is not called).
        let unchecked = ArgumentSchema::compile(&schema).err().map(|fault| fault.to_string());
        if let Some(fault) = &unchecked {
            description = format!("Cannot be called: {fault}.\n{description}");
            schema = json!({ "type": "object" });
        }
        let hinted = listed.annotations.and_then(|hints| hints.read_only_hint) == Some(true);
        Self {
            definition: ToolDefinition::new(device_name(server, &listed.name), description, schema),
            server: Arc::clone(server),
            name: listed.name.into_owned(),
            peer,
            limits,
            read_only: hinted && read_only_hints,
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
                self.server
            )));
        }
        let mut params = CallToolRequestParams::new(self.name.clone());
        params.arguments = match arguments {
            Value::Object(arguments) => Some(arguments),
            _ => None,
        };
        let calling = tokio::time::timeout(self.limits.call, self.peer.call_tool(params));
        let called = tokio::select! {
            biased;
            () = context.cancel().cancelled() => return Err(ToolFailure::Aborted),
            called = calling => called,
        };
        Ok(match called {
            Ok(Ok(result)) => self.result(&result),
            Ok(Err(error)) => ToolResult::error(self.failed(&error)),
            Err(_) => ToolResult::error(format!(
                "The server `{}` did not answer within {:?}. The call may still have an effect; it \
                 was not repeated.",
                self.server, self.limits.call
            )),
        })
    }

    /// Why there is no result, and whether the call may have run. It is never made again.
    fn failed(&self, error: &ServiceError) -> String {
        let server = &self.server;
        match error {
            ServiceError::McpError(error) => cut(
                &format!("The server `{server}` refused: {}", error.message),
                self.limits.result,
            ),
            ServiceError::TransportSend(_) => format!(
                "The server `{server}` has ended; the call was not sent. Its devices come back when \
                 it is started again."
            ),
            _ => format!(
                "The server `{server}` ended before it answered. Whether the call ran is not known; \
                 it was not repeated. Look before you try again."
            ),
        }
    }

    fn result(&self, result: &CallToolResult) -> ToolResult {
        let mut text = String::new();
        for block in &result.content {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&shown(block));
        }
        if let (true, Some(data)) = (text.is_empty(), &result.structured_content) {
            text = data.to_string();
        }
        let text = cut(&text, self.limits.result);
        match result.is_error {
            Some(true) => ToolResult::error(text),
            Some(false) | None => ToolResult::text(text),
        }
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
fn shown(block: &ContentBlock) -> String {
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

/// At most `bytes` of `text`, cut on a character and said so.
fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    format!(
        "{}…\n[Cut here: {} bytes in all.]",
        &text[..text.floor_char_boundary(bytes)],
        text.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_text_is_cut_on_a_character() {
        assert_eq!(cut("short", 10), "short");
        let text = "ä".repeat(100);
        let kept = cut(&text, 11);
        assert!(kept.starts_with(&"ä".repeat(5)) && !kept.starts_with(&"ä".repeat(6)));
        assert!(kept.contains("200 bytes in all"));
    }
}
