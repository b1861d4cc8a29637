//! A tool call between the wire and the loop: what of it is kept, mended, told apart.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use xd_resolve::ToolCall;

/// A call that is still coming.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct CallDraft {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The JSON text so far, byte for byte.
    pub(crate) arguments: String,
}

impl CallDraft {
    pub(crate) fn call(&self) -> ToolCall {
        ToolCall::new(self.id.clone(), self.name.clone(), arguments(&self.arguments))
    }

    /// The arguments to send back: the model's own bytes where they are a JSON object. A provider
    /// refuses a history with anything else in it, for ever; so what is none is wrapped in one.
    pub(crate) fn sent_back(&self) -> Cow<'_, str> {
        if self.arguments.trim().is_empty() {
            return Cow::Borrowed("{}");
        }
        match serde_json::from_str::<Map<String, Value>>(&self.arguments) {
            Ok(_) => Cow::Borrowed(self.arguments.trim()),
            Err(_) => Cow::Owned(json!({ "invalid_arguments": self.arguments }).to_string()),
        }
    }
}

/// What a tool gets: the value, an empty object for nothing, and for text that is no JSON that
/// text, so that the tool's own check says what is wrong (case 105).
fn arguments(text: &str) -> Value {
    if text.trim().is_empty() {
        return Value::Object(Map::new());
    }
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// The arguments of a call that came over another wire, or from nowhere.
pub(crate) fn foreign_arguments(arguments: &Value) -> String {
    match arguments {
        Value::Object(_) => arguments.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            json!({ "invalid_arguments": arguments }).to_string()
        }
    }
}

/// The name as a history may hold it. Models may call anything (`CONTRACT U11`), and providers
/// accept only letters, digits, `_` and `-`, up to 64.
pub(crate) fn name_on_wire(name: &str) -> Cow<'_, str> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !name.is_empty() && name.len() <= 64 && name.chars().all(allowed) {
        return Cow::Borrowed(name);
    }
    let mended = name.chars().map(|c| if allowed(c) { c } else { '_' }).take(64);
    let mended: String = mended.collect();
    Cow::Owned(if mended.is_empty() { "_".to_owned() } else { mended })
}

/// Gives calls without an id, or with one that the answer has already, an id of their own. `place`
/// is the answer's place in the history, so that ids differ between answers too.
pub(crate) fn tell_apart<'a>(calls: impl Iterator<Item = &'a mut CallDraft>, place: usize) {
    let mut seen: Vec<String> = Vec::new();
    for (at, call) in calls.enumerate() {
        if call.id.is_empty() || seen.contains(&call.id) {
            call.id = format!("call-{place}-{}", at + 1);
        }
        seen.push(call.id.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(arguments: &str) -> CallDraft {
        CallDraft { id: "a".into(), name: "t".into(), arguments: arguments.into() }
    }

    // case 105
    #[test]
    fn case_105_arguments_of_every_shape_come_through_and_go_back() {
        for (text, value, back) in [
            ("{\"n\": 1.0,\"n\":2}", json!({ "n": 2 }), "{\"n\": 1.0,\"n\":2}"),
            ("", json!({}), "{}"),
            ("{", json!("{"), "{\"invalid_arguments\":\"{\"}"),
            ("null", Value::Null, "{\"invalid_arguments\":\"null\"}"),
            ("[1]", json!([1]), "{\"invalid_arguments\":\"[1]\"}"),
        ] {
            assert_eq!(draft(text).call().arguments, value, "{text}");
            assert_eq!(draft(text).sent_back(), back, "{text}");
        }
    }

    #[test]
    fn u11_names_are_mended_for_the_wire_alone() {
        assert_eq!(name_on_wire("write"), "write");
        assert_eq!(name_on_wire("xd://resolve"), "xd___resolve");
        assert_eq!(name_on_wire(""), "_");
        assert_eq!(name_on_wire(&"ä".repeat(80)).len(), 64);
    }

    #[test]
    fn ids_are_told_apart() {
        let mut calls = [draft(""), draft(""), CallDraft::default()];
        tell_apart(calls.iter_mut(), 7);
        assert_eq!(calls.map(|call| call.id), ["a", "call-7-2", "call-7-3"]);
    }
}
