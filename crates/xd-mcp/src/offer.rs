//! What a client is offered: four tools, and what it must know to use them.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use xd_resolve::PlanMode;
use xd_write::Tool as _;

use crate::answer;

/// What a client without our prompts must know. With the descriptions of the tools it is less than
/// 2 KB.
pub const INSTRUCTIONS: &str = "Edits are staged: edit and ast_edit answer with a preview and \
change no file. Decide each with write: a one-sentence reason to xd://resolve applies it, to \
xd://reject discards it; xd://resolve@<n> names number n. Until then tools that would change files \
are refused; read works.";

const PLAN: &str = " The server begins in plan mode: until a person has approved a plan nothing \
changes. Write it to local://<slug>-plan.md, then the slug to xd://propose.";

/// What a client is told at the begin.
pub(crate) fn instructions(plan: PlanMode) -> String {
    match plan {
        PlanMode::Off => INSTRUCTIONS.to_owned(),
        PlanMode::On => format!("{INSTRUCTIONS}{PLAN}"),
    }
}

const READ: &str = "Reads a file, a folder or an xd:// address. A selector picks lines: \
src/a.rs:10-40. xd:// lists more tools, xd://<tool> documents one, xd://resolve@<n> shows staged \
action n in full.";
const WRITE: &str = "Decides a staged action: content is a one-sentence reason, path xd://resolve \
applies, xd://reject discards. Or creates or replaces a file. Or runs a tool that read xd:// lists: \
JSON arguments to xd://<tool>.";
const EDIT: &str = "Replaces exact text in files. Stages it: the result is a preview, no file \
changes until you decide. old_text must occur exactly once, or set replace_all; empty, it creates \
the file. The edits of a call are staged together or not at all.";
const AST_EDIT: &str = "Rewrites code by structure in many files. Stages it, as edit does. pat is \
code: $A is one node, $$$ARGS any number; out is what it becomes with the same variables, empty \
deletes. paths are files, folders or globs. Rules and more: read xd://ast_edit.";

/// The tools of a server, in an order that never changes.
#[must_use]
pub fn tools() -> Vec<Tool> {
    let ast_edit = xd_ast_edit::AstEditTool::default();
    let edit = xd_text_edit::TextEditTool::default();
    let path = json!({
        "type": "object",
        "properties": { "path": { "type": "string" } },
        "required": ["path"],
        "additionalProperties": false
    });
    let path_and_content = json!({
        "type": "object",
        "properties": {
            "path": { "type": "string" },
            "content": { "type": ["string", "object"] }
        },
        "required": ["path", "content"],
        "additionalProperties": false
    });
    // What stages changes nothing; what decides and what writes does.
    let looks = ToolAnnotations::with_title("Read").read_only(true).open_world(false);
    let writes = ToolAnnotations::with_title("Write or decide")
        .read_only(false)
        .destructive(true)
        .idempotent(false)
        .open_world(false);
    let stages = |title| {
        ToolAnnotations::with_title(title)
            .read_only(false)
            .destructive(false)
            .idempotent(false)
            .open_world(false)
    };
    vec![
        tool("read", READ, path).annotate(looks),
        tool("write", WRITE, path_and_content).annotate(writes).with_raw_output_schema(schema()),
        tool("edit", EDIT, bare(&edit.definition().input_schema))
            .annotate(stages("Stage exact edits"))
            .with_raw_output_schema(schema()),
        tool("ast_edit", AST_EDIT, bare(&ast_edit.definition().input_schema))
            .annotate(stages("Stage a structural rewrite"))
            .with_raw_output_schema(schema()),
    ]
}

/// Whether results of this tool carry data: all of ours but those of `read`.
pub(crate) fn has_data(name: &str) -> bool {
    name != "read"
}

fn tool(name: &'static str, description: &'static str, schema: Value) -> Tool {
    Tool::new(name, description, object(schema))
}

fn schema() -> Arc<JsonObject> {
    object(answer::schema())
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(schema) => Arc::new(schema),
        _ => Arc::default(),
    }
}

/// A schema without its descriptions: what a client must know of the operands is in the tool's own,
/// and all of it in `xd://<tool>`.
fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => {
            let is_text = |key: &str, value: &Value| key == "description" && value.is_string();
            let kept = fields.iter().filter(|(key, value)| !is_text(key, value));
            Value::Object(kept.map(|(key, value)| (key.clone(), bare(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(bare).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_are_under_two_kilobytes_altogether() {
        fn described(value: &Value) -> usize {
            match value {
                Value::Object(fields) => fields
                    .iter()
                    .map(|(key, value)| match value {
                        Value::String(text) if key == "description" => text.len(),
                        value => described(value),
                    })
                    .sum(),
                Value::Array(items) => items.iter().map(described).sum(),
                _ => 0,
            }
        }
        let tools = serde_json::to_value(tools()).unwrap();
        let total = described(&tools) + instructions(PlanMode::On).len();
        assert!(total < 2048, "{total} bytes");
        assert!(total > 500, "{total} bytes: nothing is taught");
    }

    #[test]
    fn schemas_keep_what_they_check() {
        let tools = tools();
        let edit = tools.iter().find(|tool| tool.name == "edit").unwrap();
        let schema = Value::Object((*edit.input_schema).clone());
        assert_eq!(schema["required"], json!(["edits"]));
        assert_eq!(schema["properties"]["edits"]["items"]["required"][1], "old_text");
    }

    #[test]
    fn annotations_say_who_changes_files() {
        let hints: Vec<_> = tools()
            .into_iter()
            .map(|tool| {
                let hints = tool.annotations.unwrap();
                (tool.name.to_string(), hints.read_only_hint, hints.destructive_hint)
            })
            .collect();
        assert_eq!(
            hints,
            [
                ("read".to_owned(), Some(true), None),
                ("write".to_owned(), Some(false), Some(true)),
                ("edit".to_owned(), Some(false), Some(false)),
                ("ast_edit".to_owned(), Some(false), Some(false)),
            ]
        );
    }
}
