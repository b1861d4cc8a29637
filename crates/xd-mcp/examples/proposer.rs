//! A server whose tools propose: `proposer FOLDER`, over the standard streams.
//!
//! `shout` proposes a change of a file, and the host stages and writes it. `publish` proposes what
//! this server does itself: the host calls `commit` once when it is applied, and `abandon` when it is
//! discarded. `answer` answers with whatever it is given.

use std::{error::Error, fs, io::Write as _, path::PathBuf, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject,
        ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
        ToolAnnotations,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

struct Proposer(PathBuf);

impl Proposer {
    /// Proposes the file in capitals. What it was is told, so that the host notices a change.
    fn shout(&self, path: &str) -> Result<Value, String> {
        let text = fs::read_to_string(self.0.join(path)).map_err(|error| error.to_string())?;
        Ok(json!({ "xd_proposal": {
            "version": 1,
            "label": "Shout: 1 file",
            "changes": [
                { "change": "replace", "path": path, "expect": text, "content": text.to_uppercase() }
            ]
        } }))
    }

    /// Proposes a line in the list of what was published.
    fn publish(&self, what: &str, with: &str) -> Value {
        json!({ "xd_proposal": {
            "version": 1,
            "label": format!("Publish: {what}"),
            "preview": format!("{what} goes into published.txt."),
            "apply": { "tool": with, "arguments": { "what": what } },
            "discard": { "tool": "abandon", "arguments": { "what": what } }
        } })
    }

    fn note(&self, what: &str) {
        let file =
            fs::OpenOptions::new().create(true).append(true).open(self.0.join("published.txt"));
        if let Ok(mut file) = file {
            drop(writeln!(file, "{what}"));
        }
    }
}

fn word<'a>(arguments: &'a JsonObject, key: &str) -> &'a str {
    arguments.get(key).and_then(Value::as_str).unwrap_or_default()
}

impl ServerHandler for Proposer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let any = Arc::new(JsonObject::from_iter([("type".to_owned(), json!("object"))]));
        // A tool that proposes changes nothing by itself.
        let looks = ToolAnnotations::new().read_only(true);
        let tools = [
            ("shout", "Proposes a file in capitals: {\"path\": …}."),
            ("publish", "Proposes to publish something: {\"what\": …}."),
            ("answer", "Answers with the structured content that it is given."),
        ];
        let looking =
            tools.map(|(name, told)| Tool::new(name, told, any.clone()).annotate(looks.clone()));
        let doing = ["commit", "abandon", "die_before", "die_after", "fail"]
            .map(|name| Tool::new(name, "Called when a proposal is decided.", any.clone()));
        Ok(ListToolsResult::with_all_items(looking.into_iter().chain(doing).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // The reason of the decision comes with the call.
        let reason = context.meta.0.0.get("xd/reason").cloned();
        let arguments = request.arguments.unwrap_or_default();
        let what = word(&arguments, "what");
        let proposed = match &*request.name {
            "shout" => self.shout(word(&arguments, "path")),
            "publish" => {
                let with = arguments.get("with").and_then(Value::as_str).unwrap_or("commit");
                Ok(self.publish(what, with))
            }
            "answer" => Ok(Value::Object(arguments.clone())),
            "commit" => {
                self.note(&format!("{what}: {}", reason.unwrap_or_default()));
                return Ok(CallToolResult::success(vec![ContentBlock::text("Published.")]).into());
            }
            "abandon" => {
                self.note(&format!("not {what}"));
                return Ok(CallToolResult::success(vec![ContentBlock::text("Forgotten.")]).into());
            }
            "die_before" => std::process::exit(3),
            "die_after" => {
                self.note(what);
                std::process::exit(3);
            }
            _ => Err("it will not".to_owned()),
        };
        Ok(match proposed {
            Ok(data) => CallToolResult::structured(data),
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error)]),
        }
        .into())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("give a folder")?;
    let server = Proposer(folder.into()).serve(rmcp::transport::stdio()).await?;
    server.waiting().await?;
    Ok(())
}
