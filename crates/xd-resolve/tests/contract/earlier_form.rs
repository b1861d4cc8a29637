//! D15: the earlier form is a face on the same stack.

use serde_json::{Value, json};
use xd_protocol::{Verdict, confirm_of};
use xd_resolve::{
    ActionState, Decider, HiddenResolve, HiddenResolveFault, PendingActionStore, block_on,
};

use crate::probe::{Probe, Run, bare, dispatch, logged, n, numbered, stage, stage_with, state};

fn call(face: &PendingActionStore, arguments: Value) -> xd_resolve::ToolResult {
    block_on(face.resolve(&arguments, Decider::Model))
}

#[test]
fn d15_push_peek_pop_has_pending() {
    let (store, log) = logged();
    let face = PendingActionStore::new(store.clone());
    assert!(!face.has_pending() && face.peek().is_none() && face.pop().is_none());
    assert_eq!(face.push(Probe::request("a", 0, &[]).0).unwrap(), n(1));
    stage(&store, "b");
    assert_eq!(face.peek().unwrap().label(), "b");
    assert_eq!(face.peek().unwrap().label(), "b", "a peek takes nothing");
    assert_eq!(face.pop().unwrap().label(), "b");
    assert_eq!(face.pop().unwrap().label(), "a");
    assert!(!face.has_pending() && !store.has_pending());
    assert_eq!(log.lines()[2..], ["withdrawn @2", "withdrawn @1"]);
}

#[test]
fn d15_both_faces_are_one_stack() {
    // Invariant R2
    let (store, _) = logged();
    let face = PendingActionStore::new(store.clone());
    face.push(Probe::request("pushed", 0, &[]).0).unwrap();
    stage(&store, "staged");
    assert!(!dispatch(&store, bare(Verdict::Apply), "Yes.").is_error);
    assert_eq!(face.peek().unwrap().label(), "pushed");
    let result = call(&face, json!({ "action": "apply", "reason": "Yes." }));
    assert!(!result.is_error);
    assert_eq!((state(&store, 1), state(&store, 2)), (ActionState::Applied, ActionState::Applied));
    let text = dispatch(&store, numbered(Verdict::Apply, 1), "Yes.").joined();
    assert!(text.contains("already applied"), "{text}");
}

#[test]
fn d15_the_hidden_tool_applies_and_discards() {
    for (action, expect, text) in [
        ("apply", ActionState::Applied, "done"),
        ("discard", ActionState::Discarded, "Discarded: a. Reason: Why."),
    ] {
        let (store, _) = logged();
        let face = PendingActionStore::new(store.clone());
        stage(&store, "a");
        let result = call(&face, json!({ "action": action, "reason": " Why. " }));
        assert_eq!((result.content, state(&store, 1)), (vec![text.to_owned()], expect));
        let details = result.details.unwrap();
        assert_eq!((&details["action"], &details["reason"]), (&json!(action), &json!("Why.")));
        assert_eq!(details.get("xdev"), None, "not wrapped");
    }
}

#[test]
fn d15_nothing_pending_is_an_error_for_both_actions() {
    let (store, _) = logged();
    let face = PendingActionStore::new(store);
    for action in ["apply", "discard"] {
        let result = call(&face, json!({ "action": action, "reason": "Why." }));
        assert!(result.is_error);
        assert_eq!(result.content, ["No pending action to resolve. Nothing to apply or discard."]);
    }
}

#[test]
fn d15_bad_arguments_name_the_operand_and_show_a_valid_call() {
    for (arguments, fault) in [
        (json!({}), HiddenResolveFault::Action),
        (json!(null), HiddenResolveFault::Action),
        (json!([]), HiddenResolveFault::Action),
        (json!("apply"), HiddenResolveFault::Action),
        (json!({ "action": "Apply", "reason": "r" }), HiddenResolveFault::Action),
        (json!({ "action": "resolve", "reason": "r" }), HiddenResolveFault::Action),
        (json!({ "action": 1, "reason": "r" }), HiddenResolveFault::Action),
        (json!({ "action": "apply" }), HiddenResolveFault::Reason),
        (json!({ "action": "apply", "reason": null }), HiddenResolveFault::Reason),
        (json!({ "action": "apply", "reason": ["r"] }), HiddenResolveFault::Reason),
    ] {
        assert_eq!(HiddenResolve::decode(&arguments), Err(fault), "{arguments}");
    }
    let (store, _) = logged();
    stage(&store, "a");
    let result = call(&PendingActionStore::new(store.clone()), json!({ "action": "maybe" }));
    assert!(result.is_error);
    let text = result.joined();
    let (_, example) = text.split_once("Example: ").unwrap();
    let example: Value = serde_json::from_str(example).unwrap();
    assert!(HiddenResolve::decode(&example).is_ok(), "the example is one");
    assert_eq!(state(&store, 1), ActionState::Pending);
}

#[test]
fn d15_d2_d9_hold_for_the_hidden_tool_too() {
    let (store, _) = logged();
    let face = PendingActionStore::new(store.clone());
    let counts = stage_with(&store, "a", 0, &[Run::OtherError, Run::Succeeds]);
    assert!(call(&face, json!({ "action": "apply", "reason": " " })).is_error);
    assert_eq!(counts.runs(), 0);
    let failed = call(&face, json!({ "action": "apply", "reason": "Why." }));
    assert_eq!((failed.is_error, failed.content[0].as_str()), (true, "Apply failed: disk full"));
    assert!(!call(&face, json!({ "action": "apply", "reason": "Why." })).is_error);
    assert_eq!(state(&store, 1), ActionState::Applied);
}

#[test]
fn d15_the_hidden_tool_is_no_device() {
    assert_eq!(confirm_of("resolve", "xd://resolve"), None);
}
