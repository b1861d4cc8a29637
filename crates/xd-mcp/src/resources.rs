//! What can be read as a resource: previews, what is pending, the log, the devices.

use rmcp::{
    ErrorData,
    model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate},
};
use serde_json::json;
use xd_protocol::{Address, Device, Selection, StageNumber, Target, Visible, classify};

use crate::{
    answer::pending,
    connection::Connection,
    stack::{Opened, Stack},
};

/// The record of what was staged and decided, a JSON object a line (`CONTRACT L1`).
pub const LOG: &str = "xd-state:///log";
/// What is pending, newest first, as JSON.
pub const PENDING: &str = "xd-state:///pending";
/// Every mounted device with its schema, as JSON (case 44).
pub const DEVICES: &str = "xd-state:///devices";

/// How much of the log is answered at most: its newest lines.
const LOG_BYTES: usize = 512 * 1024;

/// The resources that there are now.
pub(crate) fn list(opened: &Opened) -> Vec<Resource> {
    let mut listed = vec![
        Resource::new(PENDING, "pending")
            .with_title("Pending staged actions")
            .with_mime_type("application/json"),
        Resource::new(LOG, "log")
            .with_title("Log of decisions")
            .with_mime_type("application/x-ndjson"),
        Resource::new(DEVICES, "devices")
            .with_title("Devices behind xd://")
            .with_mime_type("application/json"),
    ];
    let actions = opened.session.actions().pending();
    let mut newest_first: Vec<_> = actions.iter().collect();
    newest_first.sort_by_key(|action| std::cmp::Reverse(action.number()));
    listed.extend(newest_first.into_iter().map(|action| {
        let number = action.number();
        Resource::new(preview_uri(number), format!("preview-{number}"))
            .with_title(Visible(action.label()).to_string())
            .with_mime_type("text/plain")
    }));
    listed
}

/// The address of a preview, of pending and of decided actions alike.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new("xd://resolve@{number}", "preview")
            .with_title("Preview of a staged action, pending or decided")
            .with_mime_type("text/plain"),
    ]
}

/// The action whose preview `uri` is.
pub(crate) fn number_of(uri: &str) -> Option<StageNumber> {
    match classify(uri) {
        Address::Xd(Target::Device(
            Device::Resolve(Selection::Numbered(number))
            | Device::Reject(Selection::Numbered(number)),
        )) => Some(number),
        Address::Xd(_)
        | Address::Path(_)
        | Address::Malformed(_)
        | Address::NearMiss(_)
        | Address::Foreign(_) => None,
    }
}

/// Whether there could ever be something to read at `uri`.
pub(crate) fn is_known(uri: &str) -> bool {
    [LOG, PENDING, DEVICES].contains(&uri) || number_of(uri).is_some()
}

/// Reads a resource.
///
/// # Errors
/// Nothing is at `uri`, or the log cannot be read.
pub(crate) fn read(
    uri: &str,
    stack: &Stack,
    opened: &Opened,
    connection: &Connection,
) -> Result<ReadResourceResult, ErrorData> {
    let (text, kind) = match uri {
        LOG => (log(stack)?, "application/x-ndjson"),
        PENDING => (pending(opened).to_string(), "application/json"),
        DEVICES => (devices(opened), "application/json"),
        uri => {
            let number = number_of(uri).ok_or_else(|| missing(uri))?;
            let (action, state) =
                opened.session.actions().get(number).ok_or_else(|| missing(uri))?;
            connection.tell(number);
            let (label, state) = (action.label(), state.as_str());
            let preview = action.preview();
            (format!("Staged action @{number}: {label} ({state})\n\n{preview}"), "text/plain")
        }
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(kind);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn missing(uri: &str) -> ErrorData {
    let text = format!("Nothing is at {}. Read {PENDING} for what is pending.", Visible(uri));
    ErrorData::resource_not_found(text, Some(json!({ "uri": uri })))
}

pub(crate) fn preview_uri(number: StageNumber) -> String {
    format!("xd://resolve@{number}")
}

fn log(stack: &Stack) -> Result<String, ErrorData> {
    let options = &stack.options;
    let path = options.workspace.path().join(".xd/sessions").join(&*options.session);
    let bytes = match std::fs::read(path.join("log.jsonl")) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
        Err(error) => {
            return Err(ErrorData::internal_error(
                format!("The log cannot be read: {error}"),
                None,
            ));
        }
    };
    // A torn last line is none (`CONTRACT L1`).
    let end = bytes.iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
    let whole = &bytes[..end];
    let from = whole.len().saturating_sub(LOG_BYTES);
    let start = match from {
        0 => 0,
        from => whole[from..].iter().position(|b| *b == b'\n').map_or(end, |at| from + at + 1),
    };
    Ok(String::from_utf8_lossy(&whole[start..]).into_owned())
}

fn devices(opened: &Opened) -> String {
    let devices = opened.host.inventory();
    serde_json::to_string(&devices).unwrap_or_else(|_| "[]".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_there_is_known() {
        for uri in [LOG, PENDING, DEVICES, "xd://resolve@3", "xd://reject@3"] {
            assert!(is_known(uri), "{uri}");
        }
        for uri in ["xd://", "xd://resolve", "xd://resolve@0", "file:///etc/passwd", "a.txt", ""] {
            assert!(!is_known(uri), "{uri}");
        }
    }
}
