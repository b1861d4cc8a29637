//! A malformed confirm hears what is wrong with it, whoever would be asked about a right one
//! (`CONTRACT D2, D15`).

use serde_json::{Value, json};
use xd_resolve::{ActionState, HiddenResolve, Tier, ToolCall};
use xd_session::{Finalizer, Session};
use xd_write::Policy;

use crate::desk::{Desk, WHY, write};

fn desk(finalizer: Finalizer, asks: bool) -> Desk {
    let session = Session::new().with_finalizer(finalizer);
    let desk = Desk::with(session, |builder, person| {
        let policy = Policy::automatic(Tier::Read);
        builder.policy(if asks { policy.asking(person) } else { policy })
    });
    desk.stage("runner", Tier::Exec);
    desk
}

// CONTRACT D2, D15
#[tokio::test]
async fn d15_a_malformed_call_of_the_hidden_tool_is_told_what_is_missing() {
    for asks in [false, true] {
        let desk = desk(Finalizer::HiddenTool, asks);
        for (arguments, words) in [
            (json!({ "action": "apply" }), "`reason` is missing or no string"),
            (json!({ "action": "apply", "reason": 1 }), "`reason` is missing or no string"),
            (json!({ "action": "Apply", "reason": WHY }), "`action` is missing or is neither"),
            (json!({ "action": "reject", "reason": WHY }), "`action` is missing or is neither"),
            (json!({ "reason": WHY }), "`action` is missing or is neither"),
            (json!({}), "`action` is missing or is neither"),
            (json!("apply"), "`action` is missing or is neither"),
        ] {
            let result = desk.one(ToolCall::new("1", "resolve", arguments.clone())).await;
            let text = result.joined();
            assert!(result.is_error && text.starts_with("resolve: `"), "{arguments}: {text}");
            assert!(text.contains(words), "{arguments}: {text}");
            let (_, example) = text.split_once("Example: ").unwrap();
            let example: Value = serde_json::from_str(example).unwrap();
            assert!(HiddenResolve::decode(&example).is_ok());
        }
        let blank = json!({ "action": "apply", "reason": " \n" });
        let result = desk.one(ToolCall::new("1", "resolve", blank)).await;
        assert!(result.joined().contains("blank"), "{result:?}");
        assert_eq!((desk.person.asked(), desk.state(1)), (0, ActionState::Pending));
    }
}

// CONTRACT D2
#[tokio::test]
async fn d2_a_confirm_without_a_reason_is_told_so_before_anybody_is_asked() {
    for asks in [false, true] {
        let desk = desk(Finalizer::Write, asks);
        let long = "x".repeat(2_001);
        let object = json!({ "path": "xd://resolve", "content": { "reason": WHY } });
        for (call, words) in [
            (write("xd://resolve", " "), "blank"),
            (write("xd://resolve@1", &long), "2000 is the most"),
            (ToolCall::new("1", "write", json!({ "path": "xd://resolve" })), "blank"),
            (ToolCall::new("1", "write", object), "must be plain text"),
            (ToolCall::new("1", "xd://resolve", json!({ "why": WHY })), "blank"),
        ] {
            let result = desk.one(call.clone()).await;
            let text = result.joined();
            assert!(result.is_error && text.contains(words), "{}: {text}", call.name);
        }
        assert_eq!((desk.person.asked(), desk.state(1)), (0, ActionState::Pending));
    }
}

// CONTRACT U11, D2: a call whose name is the address may bring its reason as a plain text.
#[tokio::test]
async fn u11_a_call_by_address_takes_a_plain_text_as_its_reason() {
    let desk = Desk::asking(Finalizer::Write, Tier::Write);
    for (n, arguments) in
        [json!("Because."), json!({ "content": "Because." }), json!({ "reason": "Because." })]
            .into_iter()
            .enumerate()
    {
        desk.stage("writer", Tier::Write);
        let result = desk.one(ToolCall::new("1", "xd://resolve", arguments)).await;
        assert_eq!(result.content, ["applied"]);
        assert_eq!(result.details.unwrap()["xdev"]["args"]["reason"], "Because.");
        assert_eq!(desk.state(n as u64 + 1), ActionState::Applied);
    }
}

// CONTRACT W5, D15: where the hidden tool finalizes, what is said of deciding is its form, and no
// device is named that a model would write to.
#[tokio::test]
async fn d15_the_addresses_speak_of_the_hidden_tool() {
    let desk = Desk::asking(Finalizer::HiddenTool, Tier::Write);
    for (address, verb) in [("xd://resolve", "apply"), ("xd://reject", "discard")] {
        let read = ToolCall::new("1", "read", json!({ "path": address }));
        let usage = desk.one(read).await.joined();
        let (_, call) = usage.split_once("Call the tool `resolve` with ").unwrap();
        let (call, _) = call.split_once(" to ").unwrap();
        let call: Value = serde_json::from_str(call).unwrap();
        assert_eq!(call["action"], verb);
        assert!(HiddenResolve::decode(&call).is_ok() && !usage.contains("write"), "{usage}");
        let result = desk.one(write(&format!("{address}@7"), WHY)).await;
        let text = result.joined();
        assert!(result.is_error && text.starts_with("No staged action has number 7. "), "{text}");
        assert!(text.contains("The tool `resolve`") && !text.contains("write to"), "{text}");
        let (_, example) = text.split_once("Example: ").unwrap();
        let example: Value = serde_json::from_str(example).unwrap();
        assert_eq!(example["action"], verb);
    }
}
