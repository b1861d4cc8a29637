//! What the tests share: tools by name, a host over a scratch folder.

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use xd_resolve::{Tier, ToolCall, ToolResult};
use xd_session::Session;
use xd_write::{CallScope, FnTool, Host, HostBuilder, Tool, ToolDefinition, Workspace};

/// A device that answers with its arguments.
pub(crate) fn echo(name: &str, schema: Value) -> impl Tool + 'static {
    FnTool::new(
        ToolDefinition::new(name, "Echoes.", schema),
        Tier::Read,
        |_, arguments| async move { Ok(ToolResult::text(arguments.to_string())) },
    )
}

/// A device that answers with its own name.
pub(crate) fn named(name: &str, description: &str) -> Arc<dyn Tool> {
    let definition = ToolDefinition::new(name, description, json!({ "type": "object" }));
    let answer = name.to_owned();
    Arc::new(FnTool::new(definition, Tier::Read, move |_, _| {
        let answer = answer.clone();
        async move { Ok(ToolResult::text(answer)) }
    }))
}

/// A host over an empty folder. The folder goes with the first part.
pub(crate) fn host(configure: impl FnOnce(HostBuilder) -> HostBuilder) -> (TempDir, Host) {
    let folder = TempDir::new().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let host = configure(Host::builder(Arc::new(Session::new()), workspace)).build();
    (folder, host)
}

pub(crate) async fn call(host: &Host, name: &str, arguments: Value) -> ToolResult {
    let call = ToolCall::new("1", name, arguments);
    host.run_batch(&[call], &CallScope::model()).await.pop().unwrap()
}

pub(crate) async fn write(host: &Host, path: &str, content: &str) -> ToolResult {
    call(host, "write", json!({ "path": path, "content": content })).await
}
