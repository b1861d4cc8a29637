//! What the gate, the dispatcher, the approval tier and the renderer each take a path for
//! (`CONTRACT U9`), and the other doors that foreign bytes come in by.
//!
//! Each function panics where something is wrong, so that a property test, a fuzzer and a replay
//! of a corpus can all call it.

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use xd_agent::{Message, Resumed};
use xd_protocol::{Address, Device, Selection, Target, classify, could_become_xd_url, notice};
use xd_render::{CallView, Options, Phase, to_plain};
use xd_resolve::{ApplyError, StageRequest, Tier, ToolCall, ToolResult};
use xd_session::{Finalizer, Session};
use xd_write::{CallScope, DeviceBody, FnTool, Host, ToolDefinition, Workspace};

use crate::history::assert_paired;

/// What a path is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Taken {
    Resolve,
    Reject,
    Propose,
    /// A device that is not mounted; here none is.
    Device,
    /// An address that nothing answers to, a slip, another scheme.
    Refused,
    /// A draft of plan mode.
    Local,
    File,
}

/// Two hosts over an empty scratch workspace.
pub struct Judges {
    _folder: TempDir,
    /// Nothing is pending and no device is mounted: here calls are run too.
    host: Host,
    /// `@1` would write, `@2` would run something, and the device `tool` is mounted. Here nothing is
    /// run, so that it stays so.
    busy: Host,
    runtime: tokio::runtime::Runtime,
}

impl Default for Judges {
    fn default() -> Self {
        Self::new()
    }
}

impl Judges {
    /// Fresh hosts.
    ///
    /// # Panics
    /// Where no scratch folder can be had.
    #[must_use]
    pub fn new() -> Self {
        let folder =
            tempfile::tempdir_in("/dev/shm").or_else(|_| TempDir::new()).expect("a scratch folder");
        let workspace = Workspace::open(folder.path()).expect("a workspace");
        let host = Host::builder(Arc::new(Session::new()), workspace.clone()).build();
        let busy = busy(workspace);
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        Self { _folder: folder, host, busy, runtime }
    }

    /// Lets all four judge `path`, as a `write` to it.
    ///
    /// # Panics
    /// Where one of them takes it for something else than the parser does.
    pub fn agree(&self, path: &str) {
        let call = ToolCall::new("1", "write", json!({ "path": path, "content": "Because." }));
        let parsed = by_the_parser(path);
        let confirms = matches!(parsed, Taken::Resolve | Taken::Reject);
        assert_eq!(Finalizer::Write.is_confirm(&call), confirms, "the gate on {path:?}");
        assert_eq!(self.host.tier(&call), tier_of(parsed), "the tier of {path:?}");
        assert_eq!(by_the_renderer(&call), drawn(parsed), "the renderer on {path:?}");
        let mut results = self.runtime.block_on(self.host.run_batch(&[call], &CallScope::model()));
        let text = results.pop().expect("one result a call").joined();
        assert_eq!(by_the_answer(&text), parsed, "the dispatcher on {path:?} said {text:?}");
        self.agree_while_pending(path);
        streams(path);
    }

    /// Lets gate, tier and renderer judge `path` where there is something to decide: as the path of
    /// a `write` and as the very name of a call (`CONTRACT U11`), with every sort of body.
    fn agree_while_pending(&self, path: &str) {
        let parsed = by_the_parser(path);
        let confirms = matches!(parsed, Taken::Resolve | Taken::Reject);
        for (body, sort) in [
            (json!("Because."), Body::Broken),
            (json!(r#"{"a": 1}"#), Body::Arguments),
            (json!({ "a": 1 }), Body::Arguments),
            (json!(" ? "), Body::Docs),
            (json!([1]), Body::Broken),
        ] {
            let write = ToolCall::new("1", "write", json!({ "path": path, "content": body }));
            let wanted = tier_while_pending(path, sort);
            assert_eq!(self.busy.tier(&write), wanted, "the tier of {path:?} with {body}");
            assert_eq!(Finalizer::Write.is_confirm(&write), confirms, "the gate on {path:?}");
            assert_eq!(by_the_renderer(&write), drawn(parsed), "the renderer on {path:?}");

            let bare_name = path == TOOL;
            let is_device = bare_name || parsed == Taken::Device;
            if ["read", "write"].contains(&path) {
                continue;
            }
            // A device takes all arguments for its own, a reserved one the reason among them.
            let arguments = if is_device { body.clone() } else { json!({ "content": body }) };
            let named = ToolCall::new("1", path, arguments);
            let wanted = match parsed {
                Taken::Resolve | Taken::Reject | Taken::Propose | Taken::Device => wanted,
                Taken::File if bare_name => tier_of_tool(sort),
                // No tool has such a name.
                Taken::File | Taken::Refused | Taken::Local => Tier::Exec,
            };
            assert_eq!(self.busy.tier(&named), wanted, "the tier of a call {path:?} with {body}");
            let gate = Finalizer::Write.is_confirm(&named);
            assert_eq!(gate, confirms, "the gate on a call {path:?}");
            let title = by_the_renderer(&named);
            assert_eq!(title, drawn(parsed), "the renderer on a call {path:?}");
        }
        let pending = self.busy.session().actions().pending_count();
        assert_eq!(pending, 2, "a look at {path:?} decided something");
    }
}

/// The device that is mounted where something is pending.
const TOOL: &str = "tool";

/// What a device makes of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Docs,
    Arguments,
    Broken,
}

fn busy(workspace: Workspace) -> Host {
    let session = Arc::new(Session::new());
    for (label, tier) in [("Rename: 1 file", Tier::Write), ("Run: 1 command", Tier::Exec)] {
        let apply = |_| async { Err(ApplyError::from("nothing is applied here")) };
        let request = StageRequest::new(label, apply).tier(tier);
        session.actions().stage(request).expect("nothing is recorded, so nothing can fail");
    }
    let definition = ToolDefinition::new(TOOL, "Writes.", json!({ "type": "object" }));
    let tool = FnTool::new(definition, Tier::Write, |_, _| async { Ok(ToolResult::default()) });
    let host = Host::builder(session, workspace).device(tool).expect("its name is free");
    host.build()
}

/// How far a write to `path` reaches in [`busy`], said without asking any of its parts.
fn tier_while_pending(path: &str, body: Body) -> Tier {
    match classify(path) {
        Address::Xd(Target::Device(Device::Resolve(selection))) => match selection {
            Selection::Head => Tier::Exec,
            Selection::Numbered(number) => match number.get() {
                1 => Tier::Write,
                2 => Tier::Exec,
                // It finds nothing.
                _ => Tier::Read,
            },
        },
        Address::Xd(Target::Device(Device::Tool(name))) if name.as_str() == TOOL => {
            tier_of_tool(body)
        }
        Address::Xd(_)
        | Address::Malformed(_)
        | Address::NearMiss(_)
        | Address::Foreign(_)
        | Address::Path(_) => tier_of(by_the_parser(path)),
    }
}

fn tier_of_tool(body: Body) -> Tier {
    match body {
        Body::Docs => Tier::Read,
        Body::Arguments => Tier::Write,
        Body::Broken => Tier::Exec,
    }
}

impl std::fmt::Debug for Judges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Judges")
    }
}

/// A body for a device decodes or is refused in words, and never panics.
pub fn device_body(text: &str) {
    let body = DeviceBody::decode(&Value::String(text.to_owned()));
    if let Err(fault) = &body {
        assert!(!fault.to_string().is_empty());
    }
    if let Ok(DeviceBody::Arguments(arguments)) = body {
        // What was decoded is what an object of its own would have been.
        let again = DeviceBody::decode(&Value::Object(arguments.clone()));
        assert_eq!(again, Ok(DeviceBody::Arguments(arguments)));
    }
}

/// Any bytes read as a transcript give a history in which every call is paired, or a refusal that
/// names the line.
pub fn transcript(bytes: &[u8]) {
    match Resumed::read(bytes) {
        Ok(resumed) => {
            assert_paired(&resumed.messages);
            assert!(resumed.whole_bytes <= bytes.len());
            let calls = resumed.messages.iter().map(|message| match message {
                Message::Assistant { calls, .. } => calls.len(),
                Message::User { .. } | Message::ToolResult { .. } | Message::Custom { .. } => 0,
            });
            assert!(resumed.orphans.len() <= calls.sum());
        }
        Err(error) => assert!(error.to_string().starts_with("line "), "{error}"),
    }
}

fn by_the_parser(path: &str) -> Taken {
    match classify(path) {
        Address::Xd(Target::Device(Device::Resolve(_))) => Taken::Resolve,
        Address::Xd(Target::Device(Device::Reject(_))) => Taken::Reject,
        Address::Xd(Target::Device(Device::Propose)) => Taken::Propose,
        Address::Xd(Target::Device(Device::Tool(_))) => Taken::Device,
        Address::Foreign(foreign) if is_draft(foreign.written()) => Taken::Local,
        Address::Xd(Target::Root)
        | Address::Malformed(_)
        | Address::NearMiss(_)
        | Address::Foreign(_) => Taken::Refused,
        Address::Path(_) => Taken::File,
    }
}

/// Whether the host takes an address of a foreign scheme for a draft of plan mode, well-named or
/// not.
fn is_draft(written: &str) -> bool {
    written.get(..8).is_some_and(|head| head.eq_ignore_ascii_case("local://"))
}

fn by_the_answer(text: &str) -> Taken {
    let begins = |wanted: &str| text.starts_with(wanted);
    if begins(notice::NOTHING_TO_APPLY)
        || text.contains("write to xd://resolve for the most recent")
    {
        Taken::Resolve
    } else if begins(notice::NOTHING_TO_REJECT)
        || text.contains("write to xd://reject for the most recent")
    {
        Taken::Reject
    } else if begins(notice::NO_PLAN) {
        Taken::Propose
    } else if begins("Unknown device 'xd://") {
        Taken::Device
    } else if begins("Invalid xd:// URL: ")
        || begins("Unknown URI-like write target '")
        || begins("xd:// is the list")
    {
        Taken::Refused
    } else if begins("Wrote local://") || begins("Not written: 'local://") {
        Taken::Local
    } else {
        Taken::File
    }
}

fn tier_of(taken: Taken) -> Tier {
    match taken {
        // With nothing pending a confirm finds nothing and changes nothing.
        Taken::Resolve | Taken::Reject => Tier::Read,
        Taken::Propose | Taken::File => Tier::Write,
        Taken::Device | Taken::Refused => Tier::Exec,
        Taken::Local => Tier::Write,
    }
}

/// The titles that the renderer keeps for the reserved devices.
fn drawn(taken: Taken) -> Option<&'static str> {
    match taken {
        Taken::Resolve => Some("Resolve"),
        Taken::Reject => Some("Reject"),
        Taken::Propose => Some("Propose"),
        Taken::Device | Taken::Refused | Taken::Local | Taken::File => None,
    }
}

fn by_the_renderer(call: &ToolCall) -> Option<&'static str> {
    let mut view = CallView::of(call);
    view.set_phase(Phase::Running);
    let text = to_plain(view.lines(&Options::new(400)));
    let title = text.split_whitespace().nth(1).unwrap_or_default();
    ["Resolve", "Reject", "Propose"].into_iter().find(|reserved| title == *reserved)
}

/// While a path streams in, whoever waits for it to be decided never waits too short (`CONTRACT
/// U4`).
fn streams(path: &str) {
    let begins_with_prefix = matches!(classify(path), Address::Xd(_) | Address::Malformed(_));
    let mut could = true;
    for end in (0..=path.len()).filter(|&end| path.is_char_boundary(end)) {
        let now = could_become_xd_url(&path[..end]);
        assert!(could || !now, "{:?} could be an address after it could not", &path[..end]);
        could = now;
    }
    assert!(could || !begins_with_prefix, "{path:?} is an address that could not become one");
}
