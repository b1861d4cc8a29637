//! The `read` tool (`CONTRACT W5`).

use serde_json::{Value, json};
use xd_protocol::{
    Address, Device, Selection, Selector, StageNumber, Target, Verdict, Visible, classify, notice,
    split_selector,
};
use xd_resolve::ToolResult;
use xd_session::Finalizer;

use crate::{
    Host, ToolDefinition, listing, local,
    page::{Lines, page},
};

/// How `read` is offered to a model.
pub(crate) fn definition() -> ToolDefinition {
    ToolDefinition::new(
        "read",
        "Reads a file, a folder, or an xd:// address.\n\
         A selector behind the path picks lines: src/a.rs:10-40, src/a.rs:raw. xd:// lists the \
         devices, xd://<tool> documents one, xd://resolve@<n> shows staged action n.",
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "A path in the workspace, or an xd:// address." }
            },
            "required": ["path"],
            "additionalProperties": false
        }),
    )
}

/// Carries a call of `read` out.
pub(crate) fn read(host: &Host, arguments: &Value) -> ToolResult {
    let Some(path) = arguments.get("path").and_then(Value::as_str) else {
        return ToolResult::error(
            r#"read: `path` is missing or no string. Example: {"path": "src/a.txt"}"#,
        );
    };
    let answer = match classify(path) {
        Address::Xd(target) => address(host, target, path.trim()),
        Address::Malformed(malformed) => match peeled(path) {
            Some((target, base, selector)) => selected(host, target, base, Some(selector)),
            None => Err(notice::MalformedRead(malformed).to_string()),
        },
        // A file of that literal name can be read; otherwise the slip is named.
        Address::NearMiss(slip) => {
            file(host, path).map_err(|_| notice::NearMissRead(slip).to_string())
        }
        Address::Foreign(foreign) => match local::rest_of(foreign) {
            Some(Ok(rest)) => local::read(host, rest),
            Some(Err(slip)) => file(host, path).map_err(|_| slip.told("read")),
            None => file(host, path).map_err(|_| notice::ForeignRead(foreign).to_string()),
        },
        Address::Path(path) => file(host, path),
    };
    match answer {
        Ok(text) => ToolResult::text(text),
        Err(text) => ToolResult::error(text),
    }
}

/// An address: itself, or what is left of it without a selector (case 38).
fn address(host: &Host, target: Target<'_>, path: &str) -> Result<String, String> {
    let mounted = match target {
        Target::Device(Device::Tool(name)) => host.registry().get(name.as_str()).is_some(),
        Target::Root | Target::Device(Device::Resolve(_) | Device::Reject(_) | Device::Propose) => {
            true
        }
    };
    match peeled(path) {
        Some((target, base, selector)) if !mounted => selected(host, target, base, Some(selector)),
        Some(_) | None => selected(host, target, path, None),
    }
}

fn peeled(path: &str) -> Option<(Target<'_>, &str, Selector<'_>)> {
    let (base, selector) = split_selector(path.trim())?;
    match classify(base) {
        Address::Xd(target) => Some((target, base, selector)),
        Address::Path(_) | Address::Malformed(_) | Address::NearMiss(_) | Address::Foreign(_) => {
            None
        }
    }
}

fn selected(
    host: &Host,
    target: Target<'_>,
    address: &str,
    selector: Option<Selector<'_>>,
) -> Result<String, String> {
    let text = match target {
        Target::Root => host.registry().listing(),
        Target::Device(device) => match device {
            Device::Resolve(Selection::Head) => usage(host, Verdict::Apply),
            Device::Reject(Selection::Head) => usage(host, Verdict::Discard),
            Device::Propose => notice::PROPOSE_USAGE.to_owned(),
            Device::Resolve(Selection::Numbered(n)) | Device::Reject(Selection::Numbered(n)) => {
                preview(host, n)?
            }
            Device::Tool(name) => {
                let registry = host.registry();
                match registry.docs(name.as_str(), host.session().prompts()) {
                    Some(docs) => docs,
                    None => return Err(registry.unknown(name).joined()),
                }
            }
        },
    };
    page(&text, &Visible(address).to_string(), selector, Lines::Plain)
}

/// How a staged action is decided in this session, in one line (`CONTRACT W5, D15`).
fn usage(host: &Host, verdict: Verdict) -> String {
    match (host.session().finalizer(), verdict) {
        (Finalizer::Write, Verdict::Apply) => notice::RESOLVE_USAGE.to_owned(),
        (Finalizer::Write, Verdict::Discard) => notice::REJECT_USAGE.to_owned(),
        (finalizer @ Finalizer::HiddenTool, Verdict::Apply | Verdict::Discard) => format!(
            "Call the tool `{}` with {{\"action\": \"{verb}\", \"reason\": \"<one sentence>\"}} to \
             {verb} the most recent staged action; read xd://resolve@<n> shows number n.",
            finalizer.tool_name(),
            verb = verdict.as_str(),
        ),
    }
}

/// The line at which the preview begins where a staged action is read: a line that names it and a
/// blank one stand before.
pub(crate) const PREVIEW_STARTS: usize = 3;

/// The whole preview of a staged action, whatever became of it.
fn preview(host: &Host, number: StageNumber) -> Result<String, String> {
    let (action, state) = host.session().actions().get(number).ok_or_else(|| {
        format!("No staged action has number {number}. Numbers count from 1 and are never reused.")
    })?;
    let mut text = format!(
        "Staged action @{number}: {} ({})\n\n{}",
        action.label(),
        state.as_str(),
        action.preview()
    );
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(text)
}

/// A file or folder. The literal name wins over a selector (case 36).
fn file(host: &Host, path: &str) -> Result<String, String> {
    let root = host.workspace().root();
    if matches!(path, "." | "./" | "") || path == root.path().to_string_lossy() {
        return listing::folder(host.workspace(), None);
    }
    let literal = root.relative(path).map_err(|error| format!("read: {error}"));
    let exists = literal.as_ref().is_ok_and(|relative| root.exists(relative));
    let (relative, base, selector) = match split_selector(path) {
        Some((base, selector)) if !exists => {
            let relative = root.relative(base).map_err(|error| format!("read: {error}"))?;
            (relative, base, Some(selector))
        }
        Some(_) | None => (literal?, path, None),
    };
    let metadata = root.metadata(&relative).map_err(|error| format!("read: {error}"))?;
    if metadata.kind == xd_changeset::EntryKind::Folder {
        return listing::folder(host.workspace(), Some(&relative));
    }
    let content = root.read(&relative).map_err(|error| format!("read: {error}"))?;
    match content.as_utf8() {
        Some("") => Ok(format!("{relative} is empty.")),
        Some(text) => page(text, &Visible(base).to_string(), selector, Lines::Numbered),
        None => Err(format!(
            "read: {relative} is not UTF-8 text ({} bytes); its bytes cannot be shown",
            content.len()
        )),
    }
}
