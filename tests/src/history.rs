//! What must hold of every history and of every row of requests, however a run went.

use xd_agent::{Message, Request};
use xd_session::ToolChoice;

/// Panics where a call of `messages` has not exactly one result right behind its message, in call
/// order, or a result has no call (**Invariant G3**).
pub fn assert_paired(messages: &[Message]) {
    let mut at = 0;
    while at < messages.len() {
        let expected: Vec<&str> = match &messages[at] {
            Message::Assistant { calls, .. } => calls.iter().map(|call| &*call.id).collect(),
            Message::ToolResult { call_id, .. } => panic!("{call_id} has a result but no call"),
            _ => Vec::new(),
        };
        at += 1;
        for id in expected {
            match messages.get(at) {
                Some(Message::ToolResult { call_id, .. }) if call_id == id => at += 1,
                other => panic!("behind the call {id} stands {other:?}"),
            }
        }
    }
}

/// Panics where a request does not begin with all of the one before (**Invariant G1**), where
/// tools or system text differ (**Invariant G2**), where a forced tool is not among the tools, or
/// where a history is not whole.
pub fn assert_requests(requests: &[Request]) {
    let (Some(first), Some(last)) = (requests.first(), requests.last()) else { return };
    let tools = json(&first.tools);
    let whole: Vec<String> = last.messages.iter().map(json).collect();
    let mut sent = 0;
    for request in requests {
        if let ToolChoice::Named(tool) = &request.tool_choice {
            assert!(request.tools.iter().any(|t| t.name == *tool), "{tool} is no tool");
        }
        assert_eq!(json(&request.tools), tools);
        assert_eq!(request.system, first.system);
        // What is new in this request stands in the last one at the same place, byte for byte, and
        // what is old equals what the last one has there.
        assert!(request.messages.len() >= sent, "a request is shorter than the one before");
        assert!(last.messages.starts_with(&request.messages), "something sent was changed");
        for (at, message) in request.messages.iter().enumerate().skip(sent) {
            assert_eq!(json(message), whole[at]);
        }
        sent = request.messages.len();
    }
    assert_paired(&last.messages);
}

/// The bytes as they would be sent.
fn json<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("it serialises")
}
