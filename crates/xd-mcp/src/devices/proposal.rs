//! A tool elsewhere that proposes: its answer is staged here, under a number of this host
//! (`CONTRACT S1`, `F1`).
//!
//! What a proposal is stands in `proposal/schema.json`, and with examples in docs/MCP.md. One that
//! is not as it should be stages nothing.

mod calls;
mod changes;

use std::sync::{Arc, LazyLock};

use rmcp::model::{CallToolResult, JsonObject};
use serde::Deserialize;
use serde_json::{Value, json};
use xd_resolve::ToolResult;
use xd_write::{
    ArgumentCheck as _, ArgumentSchema, Bound, PreviewText, Proposed, Rule, ToolContext,
    device_name,
};

use super::{calling::Caller, mounting::Mounting};
use crate::inert::{inert, line};

/// Under which key of a result's structured content a proposal stands.
const KEY: &str = "xd_proposal";
/// How long a label may be, in bytes.
const LABEL: usize = 200;
/// How long a remark may be, in bytes.
const NOTE: usize = 400;

static SCHEMA: LazyLock<ArgumentSchema> = LazyLock::new(|| {
    let schema: Value = serde_json::from_str(include_str!("proposal/schema.json"))
        .unwrap_or_else(|error| panic!("the schema of proposals is JSON: {error}"));
    ArgumentSchema::compile(&schema)
        .unwrap_or_else(|fault| panic!("the schema of proposals can be checked: {fault}"))
});

/// A proposal as it is written, once it fits the schema.
#[derive(Debug, Deserialize)]
struct Written {
    label: Option<String>,
    #[serde(default)]
    notes: Vec<String>,
    changes: Option<Vec<changes::Change>>,
    preview: Option<String>,
    apply: Option<OneCall>,
    discard: Option<OneCall>,
}

/// A call that is made at most once.
#[derive(Debug, Clone, Deserialize)]
struct OneCall {
    tool: String,
    #[serde(default)]
    arguments: JsonObject,
}

/// Who proposes.
pub(super) struct Producer<'a> {
    /// The device that was written to.
    pub(super) device: &'a str,
    pub(super) caller: &'a Caller,
    pub(super) mounting: &'a Mounting,
}

/// Whether a result proposes something, whatever it is.
pub(super) fn is_one(result: &CallToolResult) -> bool {
    result.structured_content.as_ref().is_some_and(|data| data.get(KEY).is_some())
}

/// Stages what `result` proposes, or says why it cannot be.
///
/// # Cancel safety
/// Dropped, nothing is staged.
pub(super) async fn stage(
    context: &ToolContext,
    producer: &Producer<'_>,
    result: &CallToolResult,
) -> ToolResult {
    let staged = match read(result) {
        Ok(Written { label, notes, changes: Some(changes), .. }) => {
            let notes = notes.iter().map(|note| line(note, NOTE)).collect();
            stage_changes(context, producer, label, notes, changes).await
        }
        Ok(Written {
            label: Some(label),
            preview: Some(preview),
            apply: Some(apply),
            discard,
            ..
        }) => stage_calls(context, producer, &label, &preview, apply, discard).await,
        Ok(_) => Err("it has neither `changes` nor an `apply` call".to_owned()),
        Err(why) => Err(why),
    };
    match staged {
        Ok(mut staged) => {
            staged.content.extend(said(result, producer.caller));
            staged
        }
        Err(why) => ToolResult::error(format!(
            "xd://{} answered with a proposal that cannot be staged: {}. Nothing was staged.",
            producer.device,
            producer.caller.bounded(&inert(&why))
        )),
    }
}

fn read(result: &CallToolResult) -> Result<Written, String> {
    let data = result.structured_content.clone().unwrap_or_default();
    let mismatches = SCHEMA.check(&data);
    if !mismatches.is_empty() {
        let told: Vec<String> = mismatches.iter().map(ToString::to_string).collect();
        return Err(told.join("; "));
    }
    Written::deserialize(&data[KEY]).map_err(|error| error.to_string())
}

/// What the server says beside the proposal. Many kits put the data into the text once more.
fn said(result: &CallToolResult, caller: &Caller) -> Option<String> {
    let texts: Vec<&str> = result
        .content
        .iter()
        .filter_map(|block| block.as_text().map(|text| text.text.trim()))
        .filter(|text| {
            let data = serde_json::from_str::<Value>(text).ok();
            !text.is_empty() && data.is_none_or(|data| data.get(KEY).is_none())
        })
        .collect();
    let text = texts.join("\n");
    (!text.is_empty())
        .then(|| format!("`{}` says: {}", caller.server, caller.bounded(&inert(&text))))
}

async fn stage_changes(
    context: &ToolContext,
    producer: &Producer<'_>,
    label: Option<String>,
    notes: Vec<String>,
    changes: Vec<changes::Change>,
) -> Result<ToolResult, String> {
    let root = Arc::clone(context.workspace().root());
    let change_set = tokio::task::spawn_blocking(move || changes::change_set(&root, &changes))
        .await
        .map_err(|error| format!("it could not be looked at: {error}"))??;
    let files = match change_set.len() {
        1 => "1 file".to_owned(),
        n => format!("{n} files"),
    };
    let label =
        label.map_or_else(|| format!("{}: {files}", producer.device), |label| line(&label, LABEL));
    let text = |bound, number| {
        PreviewText { title: &label, notes: &notes, change_set: &change_set, counts: None }
            .text(bound, number)
    };
    let (whole, count) = (text(Bound::Whole, None), change_set.len());
    let shown = |number| text(Bound::MODEL, Some(number));
    let proposed = Proposed {
        label: label.clone(),
        source_tool_name: producer.device.to_owned(),
        success: format!("Applied what xd://{} proposed: {files}.", producer.device),
        notes: notes.clone(),
        preview: whole,
        change_set: change_set.clone(),
    };
    Ok(context.stage_proposed(proposed, json!({ "counts": { "files": count } }), shown).await)
}

async fn stage_calls(
    context: &ToolContext,
    producer: &Producer<'_>,
    label: &str,
    preview: &str,
    apply: OneCall,
    discard: Option<OneCall>,
) -> Result<ToolResult, String> {
    for call in [Some(&apply), discard.as_ref()].into_iter().flatten() {
        // A denied tool is reached by no route, this one included.
        let name = device_name(&producer.caller.server, &call.tool);
        let host = producer.mounting.host.upgrade();
        if host.is_some_and(|host| host.policy().rules().rule(&name) == Rule::Denied) {
            return Err(format!("a rule of this host denies `{name}`, which it would call"));
        }
    }
    let label = line(label, LABEL);
    let (request, preview) = calls::request(producer, &label, preview, apply, discard);
    match context.stage(request).await {
        Ok(staged) => Ok(staged.result(&preview)),
        Err(error) => Ok(ToolResult::error(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(proposal: Value) -> String {
        let mut result = CallToolResult::success(Vec::new());
        result.structured_content = Some(json!({ "xd_proposal": proposal }));
        read(&result).map(|_| ()).unwrap_err()
    }

    // Invariant X7
    #[test]
    fn what_is_no_proposal_is_told_with_its_place() {
        for (proposal, words) in [
            (json!(1), &["`xd_proposal`", "object"][..]),
            (json!({}), &["version"]),
            (json!({ "version": 2, "changes": [] }), &["version", "1"]),
            (json!({ "version": 1 }), &["`apply`"]),
            (json!({ "version": 1, "changes": [] }), &["xd_proposal.changes"]),
            (json!({ "version": 1, "changes": [1] }), &["xd_proposal.changes[0]"]),
            (
                json!({ "version": 1, "changes": [{ "change": "rename", "path": "a" }] }),
                &["changes[0].change", "move"],
            ),
            (json!({ "version": 1, "changes": [{ "change": "edit", "path": "a" }] }), &["edits"]),
            (
                json!({ "version": 1, "changes": [{ "change": "delete", "path": "a" }] }),
                &["expect"],
            ),
            (
                json!({ "version": 1, "changes": [
                    { "change": "replace", "path": "a", "content": "b" }
                ] }),
                &["expect"],
            ),
            (
                json!({ "version": 1, "changes": [
                    { "change": "create", "path": "a", "content": { "hex": "00" } }
                ] }),
                &["changes[0].content"],
            ),
            (
                json!({ "version": 1, "changes": [
                    { "change": "create", "path": "a", "content": "b", "to": "c" }
                ] }),
                &["changes[0].to"],
            ),
            (
                json!({ "version": 1, "label": "a", "preview": "b", "apply": { "name": "c" } }),
                &["apply"],
            ),
            (json!({ "version": 1, "label": "a", "apply": { "tool": "c" } }), &["preview"]),
            (
                json!({ "version": 1, "apply": { "tool": "c" }, "changes": [
                    { "change": "create", "path": "a", "content": "b" }
                ] }),
                &["apply"],
            ),
        ] {
            let why = why(proposal.clone());
            for word in words {
                assert!(why.contains(word), "{proposal}: {why}");
            }
        }
    }

    /// The file of the documents, where they are beside the crate: a packed one has none.
    fn docs(name: &str) -> Option<String> {
        std::fs::read_to_string(format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"))).ok()
    }

    #[test]
    fn the_documents_carry_the_schema_that_is_checked() {
        if let Some(copy) = docs("mcp-proposal.schema.json") {
            assert_eq!(
                copy,
                include_str!("proposal/schema.json"),
                "copy crates/xd-mcp/src/devices/proposal/schema.json to docs/mcp-proposal.schema.json"
            );
        }
    }

    #[test]
    fn the_examples_of_the_documents_are_what_they_say() {
        let Some(text) = docs("MCP.md") else { return };
        let (mut proposals, mut files) = (0, 0);
        let blocks = text.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
        for block in blocks {
            let data: Value = serde_json::from_str(block).unwrap();
            if data.get(KEY).is_some() {
                let mut result = CallToolResult::success(Vec::new());
                result.structured_content = Some(data);
                let read = read(&result);
                assert!(read.is_ok(), "{block}: {read:?}");
                proposals += 1;
            } else if data.get("mcpServers").is_some() {
                let read = crate::devices::read_servers(block, &|_| Some("x".to_owned()));
                assert!(read.is_ok_and(|servers| !servers.is_empty()), "{block}");
                files += 1;
            }
        }
        assert_eq!((proposals, files), (2, 3));
    }
}
