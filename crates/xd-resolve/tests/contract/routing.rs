//! U11, G2: what a tool call decides.

use serde_json::{Value, json};
use xd_protocol::{Confirm, Verdict};
use xd_resolve::{ToolCall, confirm_of_call};

use crate::probe::{bare, numbered};

#[track_caller]
fn check(name: &str, arguments: Value, expect: Option<Confirm>) {
    let call = ToolCall::new("call-1", name, arguments);
    assert_eq!(confirm_of_call(&call), expect, "{call:?}");
}

#[test]
fn g2_a_write_to_a_confirm_address() {
    let path = |path: &str| json!({ "path": path, "content": "Why." });
    check("write", path("xd://resolve"), Some(bare(Verdict::Apply)));
    check("write", path(" XD://reject\n"), Some(bare(Verdict::Discard)));
    check("write", path("xd://resolve@3"), Some(numbered(Verdict::Apply, 3)));
    check("write", path("xd://reject@3"), Some(numbered(Verdict::Discard, 3)));
    for other in ["a.rs", "xd://", "xd://propose", "xd://grep", "xd:/resolve", "xd://resolve@0"] {
        check("write", path(other), None);
    }
    for tool in ["read", "edit", "Write", "resolve", ""] {
        check(tool, path("xd://resolve"), None);
    }
}

#[test]
fn u11_a_call_whose_name_is_an_address() {
    check("xd://resolve", json!({ "reason": "Why." }), Some(bare(Verdict::Apply)));
    check("XD://reject@2", json!({}), Some(numbered(Verdict::Discard, 2)));
    // The name decides, whatever the arguments say.
    check("xd://reject", json!({ "path": "xd://resolve" }), Some(bare(Verdict::Discard)));
    check("xd://propose", json!({ "path": "xd://resolve" }), None);
    check("xd://grep", json!({ "path": "xd://resolve" }), None);
    check("xd://", json!({ "path": "xd://resolve" }), None);
    check("xd:/resolve", json!({ "path": "xd://resolve" }), None);
}

#[test]
fn g2_case_105_arguments_of_any_shape_are_read_without_a_panic() {
    for arguments in [
        json!(null),
        json!([]),
        json!("xd://resolve"),
        json!(7),
        json!({}),
        json!({ "path": null }),
        json!({ "path": ["xd://resolve"] }),
        json!({ "Path": "xd://resolve" }),
        json!({ "content": "xd://resolve" }),
    ] {
        check("write", arguments, None);
    }
}
