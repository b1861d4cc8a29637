//! Tools of a server process propose; the host stages, and decides once.
#![cfg(feature = "devices")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod programs;

use std::{fs, path::Path, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use xd_mcp::devices::{Devices, Limits, read_servers};
use xd_protocol::StageNumber;
use xd_resolve::{ActionState, Tier, ToolCall, ToolResult};
use xd_session::Session;
use xd_write::{CallScope, Host, Policy, Rules, Workspace};

struct Place {
    folder: TempDir,
    host: Arc<Host>,
    devices: Devices,
}

impl Place {
    async fn new() -> Self {
        Self::under(Policy::automatic(Tier::Exec)).await
    }

    async fn under(policy: Policy) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), "one\r\ntwo\n").unwrap();
        fs::write(folder.path().join("b.bin"), b"\xff\x00three").unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let host = Host::builder(Arc::new(Session::new()), workspace).policy(policy).build();
        let host = Arc::new(host);
        let devices = Devices::new(Arc::clone(&host), Limits::default());
        let file = json!({ "mcpServers": { "far": {
            "command": programs::example("proposer"),
            "args": [folder.path()],
            "readOnlyHints": true
        } } });
        let servers = read_servers(&file.to_string(), &|_| None).unwrap();
        devices.start(&servers[0]).await.unwrap();
        Self { folder, host, devices }
    }

    async fn write(&self, path: &str, content: impl Into<Value>) -> ToolResult {
        let call = ToolCall::new("1", "write", json!({ "path": path, "content": content.into() }));
        self.host.run_batch(&[call], &CallScope::model()).await.remove(0)
    }

    async fn propose(&self, changes: Value) -> ToolResult {
        let proposal = json!({ "xd_proposal": { "version": 1, "changes": changes } });
        self.write("xd://far.answer", proposal).await
    }

    fn get(&self, path: &str) -> Vec<u8> {
        fs::read(self.folder.path().join(path)).unwrap()
    }

    fn pending(&self) -> usize {
        self.host.session().actions().pending_count()
    }

    fn state(&self, number: u64) -> ActionState {
        let number = StageNumber::new(number).unwrap();
        self.host.session().actions().get(number).unwrap().1
    }

    fn published(&self) -> String {
        fs::read_to_string(self.folder.path().join("published.txt")).unwrap_or_default()
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != ".xd")
        .collect();
    names.sort();
    names
}

// CONTRACT F1, F2: what was previewed is what lands, once.
#[tokio::test]
async fn f2_a_proposal_of_every_kind_lands_as_it_was_previewed() {
    let place = Place::new().await;
    fs::write(place.folder.path().join("old.txt"), "gone\n").unwrap();
    fs::write(place.folder.path().join("from.txt"), "moved\n").unwrap();
    fs::write(place.folder.path().join("whole.txt"), "before\n").unwrap();
    let staged = place
        .propose(json!([
            { "change": "edit", "path": "a.txt", "edits": [
                { "start": 5, "old": "two", "new": "2\u{e9}" },
                { "old": "one", "new": "1" }
            ] },
            { "change": "edit", "path": "b.bin", "expect": { "base64": "/wB0aHJlZQ==" }, "edits": [
                { "start": 2, "old": "", "new": { "base64": "gIE=" } }
            ] },
            { "change": "replace", "path": "whole.txt", "content": "after\n",
              "expect": { "sha256": "9160D4BE34C8695BD172A76C7C7966587EA5A4D991AD22C87B2B91AF54AA9EBB" } },
            { "change": "create", "path": "new/run.sh", "content": "#!/bin/sh\n", "executable": true },
            { "change": "delete", "path": "old.txt", "expect": "gone\n" },
            { "change": "move", "path": "from.txt", "to": "to.txt", "expect": "moved\n" }
        ]))
        .await;
    let text = staged.joined();
    assert!(!staged.is_error && text.starts_with("Staged as a proposal"), "{text}");
    for word in ["+1", "2\u{e9}", "whole.txt", "new/run.sh", "old.txt", "to.txt"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert_eq!(place.get("a.txt"), b"one\r\ntwo\n", "nothing is written yet");
    let done = place.write("xd://resolve", "As it was shown.").await;
    assert!(!done.is_error, "{}", done.joined());
    assert_eq!(place.get("a.txt"), "1\r\n2\u{e9}\n".as_bytes());
    assert_eq!(place.get("b.bin"), b"\xff\x00\x80\x81three");
    assert_eq!(place.get("whole.txt"), b"after\n");
    assert_eq!(place.get("to.txt"), b"moved\n");
    assert_eq!(names(place.folder.path()), ["a.txt", "b.bin", "new", "to.txt", "whole.txt"]);
    use std::os::unix::fs::PermissionsExt as _;
    let mode = fs::metadata(place.folder.path().join("new/run.sh")).unwrap().permissions().mode();
    assert_ne!(mode & 0o100, 0);
    // Exactly once (CONTRACT D11).
    let again = place.write("xd://resolve@1", "Once more.").await;
    assert!(again.is_error && again.joined().contains("already applied"), "{}", again.joined());
    place.devices.stop().await;
}

// Invariant X7, CONTRACT F2, S7
#[tokio::test]
async fn what_cannot_be_staged_is_refused_with_its_place_and_nothing_is_staged() {
    let place = Place::new().await;
    let elsewhere = "0".repeat(64);
    std::os::unix::fs::symlink("/etc/hostname", place.folder.path().join("out")).unwrap();
    for (change, words) in [
        (
            json!({ "change": "edit", "path": "a.txt", "edits": [{ "old": "no", "new": "x" }] }),
            &["changes[0]", "edits[0]", "does not stand"][..],
        ),
        // case 11
        (
            json!({ "change": "edit", "path": "a.txt", "edits": [{ "old": "o", "new": "x" }] }),
            &["edits[0]", "more than once"],
        ),
        (
            json!({ "change": "edit", "path": "a.txt", "edits": [{ "start": 1, "old": "one", "new": "x" }] }),
            &["byte 1"],
        ),
        (
            json!({ "change": "edit", "path": "a.txt", "edits": [{ "start": 0, "old": "", "new": "x" }] }),
            &["`expect`"],
        ),
        (
            json!({ "change": "edit", "path": "a.txt", "expect": "other", "edits": [{ "old": "one", "new": "x" }] }),
            &["`expect`", "anew"],
        ),
        // case 9
        (
            json!({ "change": "edit", "path": "a.txt", "edits": [
            { "old": "one\r\nt", "new": "x" }, { "old": "two", "new": "y" }] }),
            &["overlap"],
        ),
        (
            json!({ "change": "replace", "path": "a.txt", "expect": { "sha256": elsewhere }, "content": "x" }),
            &["a.txt", "`expect`"],
        ),
        (
            json!({ "change": "replace", "path": "none.txt", "expect": "", "content": "x" }),
            &["none.txt", "does not exist"],
        ),
        // case 17
        (json!({ "change": "create", "path": "a.txt", "content": "x" }), &["exists already"]),
        (
            json!({ "change": "create", "path": "a.txt", "content": "x", "executable": true }),
            &["exists already"],
        ),
        (json!({ "change": "create", "path": "c.txt", "content": { "base64": "*" } }), &["base64"]),
        // case 5
        (json!({ "change": "delete", "path": "a.txt", "expect": "one\n" }), &["a.txt", "`expect`"]),
        (
            json!({ "change": "move", "path": "a.txt", "to": "b.bin", "expect": "one\r\ntwo\n" }),
            &["exists already"],
        ),
        // CONTRACT W3
        (json!({ "change": "create", "path": "../c.txt", "content": "x" }), &["../c.txt"]),
        (json!({ "change": "create", "path": "/tmp/c.txt", "content": "x" }), &["/tmp/c.txt"]),
        (json!({ "change": "replace", "path": "out", "expect": "", "content": "x" }), &["out"]),
        (json!({ "change": "create", "path": ".git/hooks/x", "content": "x" }), &[".git"]),
        (json!({ "change": "create", "path": ".xd/x", "content": "x" }), &[".xd"]),
        (json!({ "change": "chmod", "path": "a.txt" }), &["changes[0].change", "edit"]),
    ] {
        let answer = place.propose(json!([change])).await;
        let text = answer.joined();
        assert!(answer.is_error && text.contains("Nothing was staged"), "{change}: {text}");
        assert!(text.contains("xd://far.answer"), "{text}");
        for word in words {
            assert!(text.contains(word), "{change}: {text}");
        }
        assert_eq!(place.pending(), 0);
    }
    assert_eq!(names(place.folder.path()), ["a.txt", "b.bin", "out"]);
    // What changes nothing is said to (CONTRACT S6).
    let same = place
        .propose(json!([{ "change": "edit", "path": "a.txt", "edits": [{ "old": "one", "new": "one" }] }]))
        .await;
    assert!(!same.is_error && place.pending() == 0, "{}", same.joined());
    place.devices.stop().await;
}

// CONTRACT F2: what a tool proposed is bound to the file that it saw.
#[tokio::test]
async fn f2_a_file_that_changed_is_stale_and_nothing_is_written() {
    let place = Place::new().await;
    let staged = place.write("xd://far.shout", r#"{"path": "a.txt"}"#).await;
    assert!(staged.joined().contains("Shout: 1 file"), "{}", staged.joined());
    fs::write(place.folder.path().join("a.txt"), "one\r\ntwo\nthree\n").unwrap();
    let stale = place.write("xd://resolve", "Still?").await;
    assert!(stale.is_error && stale.joined().contains("a.txt"), "{}", stale.joined());
    assert_eq!(place.get("a.txt"), b"one\r\ntwo\nthree\n");
    let gone = place.write("xd://reject", "It changed.").await;
    assert!(gone.joined().starts_with("Discarded: Shout: 1 file"), "{}", gone.joined());
    place.devices.stop().await;
}

// Invariant X8
#[tokio::test]
async fn an_apply_call_is_made_once_and_the_reason_goes_along() {
    let place = Place::new().await;
    let staged = place.write("xd://far.publish", r#"{"what": "v1"}"#).await;
    let text = staged.joined();
    assert!(text.starts_with("Staged as a proposal") && text.contains("v1 goes into"), "{text}");
    assert!(text.contains("calls `commit` of the server `far`, once"), "{text}");
    assert_eq!(place.published(), "");
    let done = place.write("xd://resolve", "Ready.").await;
    assert_eq!(done.content[0], "Published.");
    let again = place.write("xd://resolve@1", "Again.").await;
    assert!(again.is_error, "{}", again.joined());
    assert_eq!(place.published(), "v1: \"Ready.\"\n");

    place.write("xd://far.publish", r#"{"what": "v2"}"#).await;
    let discarded = place.write("xd://reject", "Not now.").await.joined();
    assert!(discarded.starts_with("Discarded: Publish: v2. Reason: Not now."), "{discarded}");
    assert!(discarded.contains("Forgotten."), "{discarded}");
    assert_eq!(place.published(), "v1: \"Ready.\"\nnot v2\n");
    place.devices.stop().await;
}

// Invariant X8, CONTRACT D9
#[tokio::test]
async fn an_apply_call_that_fails_is_not_made_again_and_can_be_discarded() {
    let place = Place::new().await;
    place.write("xd://far.publish", r#"{"what": "v1", "with": "fail"}"#).await;
    let failed = place.write("xd://resolve", "Go.").await;
    assert!(failed.is_error && failed.joined().contains("it will not"), "{}", failed.joined());
    assert_eq!(place.state(1), ActionState::Pending);
    let again = place.write("xd://resolve@1", "Go on.").await;
    assert!(again.is_error && again.joined().contains("not made again"), "{}", again.joined());
    let closed = place.write("xd://reject@1", "It fails.").await;
    assert!(!closed.is_error, "{}", closed.joined());
    assert_eq!(place.published(), "not v1\n", "the server was told");
    place.devices.stop().await;
}

// Invariant X8: a server that dies before or after it ran the tool.
#[tokio::test]
async fn a_server_that_dies_midway_leaves_an_outcome_that_is_said_to_be_unknown() {
    for (with, written) in [("die_before", ""), ("die_after", "v1\n")] {
        let place = Place::new().await;
        place.write("xd://far.publish", json!({ "what": "v1", "with": with })).await;
        let unknown = place.write("xd://resolve", "Go.").await;
        let text = unknown.joined();
        assert!(unknown.is_error && text.contains("is not known"), "{text}");
        let again = place.write("xd://resolve@1", "Go on.").await;
        assert!(
            again.is_error && again.joined().contains("is not made again"),
            "{}",
            again.joined()
        );
        let closed = place.write("xd://reject@1", "I looked.").await;
        assert!(
            !closed.is_error && closed.joined().contains("is not known"),
            "{}",
            closed.joined()
        );
        assert_eq!(place.published(), written);
        // Gone before anything was sent: that is known.
        let gone = place.write("xd://far.shout", r#"{"path": "a.txt"}"#).await;
        assert!(gone.is_error && gone.joined().contains("was not sent"), "{}", gone.joined());
        place.devices.stop().await;
    }
}

// Invariant X8: dead before the apply call could be sent, the action stays as it was.
#[tokio::test]
async fn a_server_that_has_gone_before_it_was_told_leaves_the_action_pending() {
    let place = Place::new().await;
    place.write("xd://far.publish", r#"{"what": "v1"}"#).await;
    drop(place.write("xd://far.die_before", "{}").await);
    let told = || place.host.with_registry(|registry| registry.listing());
    for _ in 0..200 {
        if told().contains("has ended") {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    for _ in 0..2 {
        let sent = place.write("xd://resolve@1", "Go.").await;
        assert!(
            sent.is_error && sent.joined().contains("Nothing was applied"),
            "{}",
            sent.joined()
        );
        assert_eq!(place.state(1), ActionState::Pending);
    }
    let closed = place.write("xd://reject@1", "It is gone.").await.joined();
    assert!(closed.starts_with("Discarded:") && closed.contains("not sent"), "{closed}");
    assert_eq!(place.published(), "");
    place.devices.stop().await;
}

// CONTRACT W6, W7
#[tokio::test]
async fn w6_applying_elsewhere_reaches_as_far_as_running_and_a_denied_tool_is_no_way() {
    let place = Place::under(Policy::automatic(Tier::Write)).await;
    let staged = place.write("xd://far.publish", r#"{"what": "v1"}"#).await;
    assert!(!staged.is_error, "a tool marked as looking may propose: {}", staged.joined());
    let refused = place.write("xd://resolve", "Go.").await;
    assert!(refused.is_error && refused.joined().contains("refused"), "{}", refused.joined());
    assert_eq!((place.state(1), place.published().as_str()), (ActionState::Pending, ""));
    place.devices.stop().await;

    let rules = Rules::new().deny("far.commit");
    let place = Place::under(Policy::automatic(Tier::Exec).with_rules(rules)).await;
    let staged = place.write("xd://far.publish", r#"{"what": "v1"}"#).await;
    assert!(
        staged.is_error && staged.joined().contains("denies `far.commit`"),
        "{}",
        staged.joined()
    );
    assert_eq!(place.pending(), 0);
    place.devices.stop().await;
}
