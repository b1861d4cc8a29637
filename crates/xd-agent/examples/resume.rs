//! An agent that is restarted: what was staged is offered again, and the history goes on.
//!
//! `cargo run -p xd-agent --example resume`
#![allow(clippy::print_stdout, reason = "an example shows what happens")]

use std::{path::Path, sync::Arc, time::Duration};

use serde_json::json;
use xd_agent::{Agent, Reply, ScriptedModel, TranscriptFile};
use xd_changeset::ChangeSet;
use xd_resolve::Tier;
use xd_session::Session;
use xd_write::{FnTool, Host, Proposed, StateFolder, ToolDefinition, Workspace, stage_change_set};

/// One run of the process: opens what is there, asks once, and ends.
async fn run(
    folder: &Path,
    script: Vec<Reply>,
    prompt: &str,
) -> Result<(), Box<dyn std::error::Error>> {
    let workspace = Workspace::open(folder)?;
    // The record of this session: every staging and decision is on the disk before anybody is told.
    let state = StateFolder::open(&workspace, "example")?;
    let lock = state.lock(Duration::from_secs(5))?;
    let recorder = Arc::new(state.clone());
    let session = Arc::new(Session::with_store(|store| store.with_recorder(recorder)));
    state.restore(&workspace, session.actions(), Some(&lock))?;
    println!("{} pending at the start of this run", session.actions().pending_count());

    let definition = ToolDefinition::new(
        "shout",
        "Puts motto.txt into upper case.",
        json!({ "type": "object" }),
    );
    let shout = FnTool::new(definition, Tier::Write, |context, _| async move {
        let root = context.workspace().root();
        let path = root.relative("motto.txt")?;
        let louder = root.read(&path)?.bytes()?.to_ascii_uppercase();
        let change_set = ChangeSet::builder(root).replace(&path, louder).build()?;
        let preview = change_set.unified(3);
        let proposed = Proposed {
            label: "Shout: motto.txt".into(),
            source_tool_name: "shout".into(),
            success: "motto.txt is loud now.".into(),
            notes: Vec::new(),
            preview: preview.clone(),
            change_set,
        };
        Ok(stage_change_set(&*context, context.workspace(), proposed).await?.result(&preview))
    });
    let host = Host::builder(session, workspace).tool(shout.shared().staging()).build();

    // The history: a file of lines, any prefix of which can be resumed.
    let (transcript, resumed) = TranscriptFile::open(folder.join("transcript.jsonl"))?;
    let mut agent = Agent::new(ScriptedModel::new(script), Arc::new(host))
        .resume(transcript, resumed)
        .with_turn_limit(2);
    println!("{prompt} → {:?}, {} messages", agent.prompt(prompt).await?, agent.messages().len());
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("motto.txt"), "move fast\n")?;
    run(folder.path(), vec![Reply::call("shout", json!({}))], "Make it louder.").await?;
    let resolve = json!({ "path": "xd://resolve", "content": "The motto is meant to be heard." });
    run(folder.path(), vec![Reply::call("write", resolve), Reply::text("Done.")], "Go on.").await?;
    assert_eq!(std::fs::read_to_string(folder.path().join("motto.txt"))?, "MOVE FAST\n");
    Ok(())
}
