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
    for request in requests {
        assert_paired(&request.messages);
        if let ToolChoice::Named(tool) = &request.tool_choice {
            assert!(request.tools.iter().any(|t| t.name == *tool), "{tool} is no tool");
        }
    }
    for pair in requests.windows(2) {
        let [before, after] = pair else { continue };
        assert_eq!(json(&before.tools), json(&after.tools));
        assert_eq!(before.system, after.system);
        assert!(after.messages.len() >= before.messages.len());
        let kept = &after.messages[..before.messages.len()];
        assert_eq!(json(&before.messages), json(kept));
    }
}

/// The bytes as they would be sent.
fn json<T: serde::Serialize>(values: &[T]) -> String {
    serde_json::to_string(values).expect("it serialises")
}
