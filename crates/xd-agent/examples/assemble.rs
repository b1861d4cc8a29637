//! An agent from the parts: a tool of one's own that stages, a session, a model.
#![allow(clippy::print_stdout, reason = "an example shows what happens")]
//!
//! `cargo run -p xd-agent --example assemble`

use std::sync::Arc;

use serde_json::json;
use xd_agent::{Agent, Event, Message, ModelError, Reply, Request};
use xd_changeset::ChangeSet;
use xd_resolve::Tier;
use xd_session::Session;
use xd_write::{FnTool, Host, Proposed, ToolDefinition, Workspace, stage_change_set};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("motto.txt"), "move fast\n")?;

    // A tool that proposes: it stages a change set and answers with the preview.
    let shout = ToolDefinition::new(
        "shout",
        "Puts a file into upper case.",
        json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] }),
    );
    let shout = FnTool::new(shout, Tier::Write, |context, arguments| async move {
        let root = context.workspace().root();
        let path = root.relative(arguments["path"].as_str().unwrap_or_default())?;
        let louder = root.read(&path)?.bytes()?.to_ascii_uppercase();
        let change_set = ChangeSet::builder(root).replace(&path, louder).build()?;
        let preview = change_set.unified(3);
        let proposed = Proposed {
            label: format!("Shout: {path}"),
            source_tool_name: "shout".into(),
            success: format!("{path} is loud now."),
            notes: Vec::new(),
            preview: preview.clone(),
            change_set,
        };
        let staged = stage_change_set(&*context, context.workspace(), proposed).await?;
        Ok(staged.result(&preview))
    });

    // A model: any closure from a request to a reply. This one stages, then finalizes.
    let model = |request: Request| async move {
        let results = request.messages.iter().filter(|m| matches!(m, Message::ToolResult { .. }));
        Ok::<_, ModelError>(match results.count() {
            0 => Reply::call("shout", json!({ "path": "motto.txt" })),
            1 => {
                let reason = "The motto is meant to be heard.";
                Reply::call("write", json!({ "path": "xd://resolve", "content": reason }))
            }
            _ => Reply::text("Done."),
        })
    };

    let session = Arc::new(Session::new());
    let host = Host::builder(session, Workspace::open(folder.path())?).tool(shout.shared()).build();
    let mut agent = Agent::new(model, Arc::new(host)).on_event(|event| {
        if let Event::Result { result, .. } = event {
            println!("{}\n", result.joined());
        }
    });
    agent.prompt("Make the motto louder.").await?;

    assert_eq!(std::fs::read_to_string(folder.path().join("motto.txt"))?, "MOVE FAST\n");
    Ok(())
}
