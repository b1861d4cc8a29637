//! A workspace with a tool that stages, for agents that talk to the server.

use std::{path::Path, sync::Arc};

use serde_json::json;
use xd_changeset::ChangeSet;
use xd_resolve::Tier;
use xd_session::Session;
use xd_write::{FnTool, Host, Proposed, ToolDefinition, Workspace, stage_change_set};

/// A host over `folder` with the tool `append`, which proposes a line more for a file.
pub(crate) fn host(folder: &Path) -> Arc<Host> {
    std::fs::write(folder.join("log.txt"), "first\n").unwrap();
    let definition = ToolDefinition::new(
        "append",
        "Proposes a line more for a file.",
        json!({ "type": "object", "properties": { "path": { "type": "string" }, "line": { "type": "string" } }, "required": ["path", "line"] }),
    );
    let tool = FnTool::new(definition, Tier::Write, |context, arguments| async move {
        let root = context.workspace().root();
        let path = root.relative(arguments["path"].as_str().unwrap_or_default())?;
        let mut bytes = root.read(&path)?.bytes()?.to_vec();
        bytes.extend_from_slice(arguments["line"].as_str().unwrap_or_default().as_bytes());
        bytes.push(b'\n');
        let change_set = ChangeSet::builder(root).replace(&path, bytes).build()?;
        let preview = change_set.unified(1);
        let proposed = Proposed {
            label: format!("Append: {path}"),
            source_tool_name: "append".into(),
            success: format!("{path} has a line more."),
            notes: Vec::new(),
            preview: preview.clone(),
            change_set,
        };
        Ok(stage_change_set(&*context, context.workspace(), proposed).await?.result(&preview))
    });
    let workspace = Workspace::open(folder).unwrap();
    let tool = tool.shared().staging();
    Arc::new(Host::builder(Arc::new(Session::new()), workspace).tool(tool).build())
}
