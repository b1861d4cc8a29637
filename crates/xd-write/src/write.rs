//! The `write` tool (`CONTRACT W1–W4`).

mod staged;

use std::sync::Arc;

use serde_json::{Value, json};
use xd_changeset::{RelPath, WriteOptions};
use xd_protocol::{Address, Device, Selector, Target, classify, is_selector_list, split_selector};
use xd_resolve::ToolResult;

use crate::{
    FileWrites, Host, ToolContext, ToolDefinition, WriteScope, device, inert::inert_json, local,
};

/// How `write` is offered to a model.
pub(crate) fn definition(scope: WriteScope, files: FileWrites) -> ToolDefinition {
    let (summary, path, content) = match (scope, files) {
        (WriteScope::Files, FileWrites::AtOnce) => (
            "Creates or replaces a file, or writes to an xd:// device.",
            "A path in the workspace, or an xd:// address.",
            "The whole content of the file, or what the device is to get.",
        ),
        (WriteScope::Files, FileWrites::Staged) => (
            "Proposes to create or replace a file, or writes to an xd:// device.\nA write of a file \
             is staged: its result is a preview, and the file is changed only when that is applied.",
            "A path in the workspace, or an xd:// address.",
            "The whole content of the file, or what the device is to get.",
        ),
        (WriteScope::DevicesOnly, FileWrites::AtOnce | FileWrites::Staged) => (
            "Writes to an xd:// device; it writes no files.",
            "An xd:// address.",
            "What the device is to get.",
        ),
    };
    ToolDefinition::new(
        "write",
        format!(
            "{summary}\nA staged preview is finalized here: write a one-sentence plain-text reason \
             to xd://resolve to apply it, to xd://reject to discard it."
        ),
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": path },
                "content": { "type": "string", "description": content }
            },
            "required": ["path", "content"],
            "additionalProperties": false
        }),
    )
}

const EXAMPLE: &str = r#"Example: {"path": "src/a.txt", "content": "hello\n"}"#;

/// Carries a call of `write` out.
pub(crate) async fn write(
    host: &Host,
    context: &Arc<ToolContext>,
    arguments: &Value,
) -> ToolResult {
    match target(arguments) {
        Ok(WriteTarget::Device(device, body)) => device::write(host, context, device, body).await,
        Ok(WriteTarget::File(path, text)) => file(host, context, path, text).await,
        Ok(WriteTarget::Draft(rest, text)) => local::write(host, rest, text),
        Err(error) => error,
    }
}

/// What a well-formed call of `write` writes to, and what.
pub(crate) enum WriteTarget<'a> {
    /// A device, and its body.
    Device(Device<'a>, &'a Value),
    /// A file, and its content.
    File(&'a str, &'a str),
    /// What stands behind `local://`, and the draft's content.
    Draft(&'a str, &'a str),
}

/// Where the call leads, or the error where it leads nowhere (**Invariant W2**: asked before
/// anything touches the file system).
pub(crate) fn target(arguments: &Value) -> Result<WriteTarget<'_>, ToolResult> {
    let Some(path) = arguments.get("path").and_then(Value::as_str) else {
        return Err(ToolResult::error(format!("write: `path` is missing or no string. {EXAMPLE}")));
    };
    let content = arguments.get("content").unwrap_or(&Value::Null);
    let error = |text: String| Err(ToolResult::error(text));
    match classify(path) {
        Address::Xd(Target::Device(device)) => Ok(WriteTarget::Device(device, content)),
        Address::Xd(Target::Root) => error(
            "xd:// is the list of devices and cannot be written to. Write to xd://<tool>, or read \
             xd:// for the list."
                .to_owned(),
        ),
        Address::Malformed(malformed) => error(malformed.to_string()),
        Address::NearMiss(slip) => error(slip.to_string()),
        Address::Foreign(foreign) => match local::rest_of(foreign) {
            Some(Ok(rest)) => text_of(content).map(|text| WriteTarget::Draft(rest, text)),
            Some(Err(slip)) => error(slip.told("write")),
            None => error(foreign.to_string()),
        },
        Address::Path(path) => text_of(content).map(|text| WriteTarget::File(path, text)),
    }
}

fn text_of(content: &Value) -> Result<&str, ToolResult> {
    match content {
        Value::String(text) => Ok(text),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(ToolResult::error(format!("write: `content` is missing or no string. {EXAMPLE}")))
        }
    }
}

/// Refuses a file where `write` is granted for devices only (case 56).
pub(crate) fn may_write_files(host: &Host, path: &str) -> Result<(), ToolResult> {
    match host.write_scope() {
        WriteScope::Files => Ok(()),
        WriteScope::DevicesOnly => Err(ToolResult::error(format!(
            "Not written: in this session `write` reaches xd:// devices only, and '{}' is a file. \
             Read xd:// for the devices.",
            xd_protocol::Excerpt(path)
        ))),
    }
}

async fn file(host: &Host, context: &Arc<ToolContext>, path: &str, content: &str) -> ToolResult {
    if let Err(refusal) = may_write_files(host, path) {
        return refusal;
    }
    let root = host.workspace().root();
    let relative = match root.relative(path) {
        Ok(relative) => relative,
        Err(error) => return ToolResult::error(format!("write: {error}")),
    };
    if let Some(read) = selector_of(path)
        && !root.exists(&relative)
    {
        return ToolResult::error(format!(
            "Not written: '{}' ends in a read selector and no file has that literal name. To look \
             at those lines use read {}; to write, give the path without it.",
            xd_protocol::Excerpt(path),
            inert_json(&json!({ "path": read }).to_string()),
        ));
    }
    match host.policy().file_writes() {
        FileWrites::AtOnce => write_now(host, &relative, content),
        FileWrites::Staged => staged::stage(context, &relative, content).await,
    }
}

fn write_now(host: &Host, path: &RelPath, content: &str) -> ToolResult {
    let options = WriteOptions::new().executable(content.starts_with("#!"));
    match host.workspace().root().write_atomic(path, content.as_bytes(), options) {
        Ok(written) => {
            let how = if written.created { "created" } else { "replaced" };
            ToolResult::text(staged::wrote(path, how, written.len)).with_details(
                json!({ "path": path, "bytes": written.len, "created": written.created }),
            )
        }
        Err(error) => ToolResult::error(format!("write: {error}")),
    }
}

/// `1 byte`, `2 bytes`.
fn counted(n: u64, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The read that `path` looks like, where it ends in a selector (`CONTRACT W4`).
fn selector_of(path: &str) -> Option<&str> {
    if is_selector_list(path) {
        return Some(path);
    }
    match split_selector(path)? {
        (base, Selector::Empty) => Some(base),
        (_, Selector::Raw | Selector::Lines(_)) => Some(path),
    }
}
