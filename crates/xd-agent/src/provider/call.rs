//! A tool call between the wire and the loop: what of it is kept, mended, told apart.

use std::{borrow::Cow, collections::BTreeSet};

use serde_json::{Map, Value, json};
use xd_resolve::ToolCall;

use super::wire::malformed;
use crate::{Message, ModelError};

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

/// The most calls that one answer may have. Nobody means more.
const MOST_CALLS: usize = 1000;

/// Refuses an answer of more calls than anybody means.
pub(crate) fn one_more(calls: usize) -> Result<(), ModelError> {
    if calls < MOST_CALLS {
        return Ok(());
    }
    Err(malformed(format!("it has more than {MOST_CALLS} calls")))
}

/// The ids that a history has, and how long it is: what new ids must differ from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    place: usize,
    ids: BTreeSet<String>,
}

impl Taken {
    pub(crate) fn by(history: &[Message]) -> Self {
        let calls = history.iter().filter_map(|message| match message {
            Message::Assistant { calls, .. } => Some(calls),
            Message::User { .. } | Message::ToolResult { .. } | Message::Custom { .. } => None,
        });
        let ids = calls.flatten().map(|call| call.id.clone()).collect();
        Self { place: history.len(), ids }
    }

    /// Gives calls without an id, or with one that the history or the answer has already, an id of
    /// their own, in a form that every provider takes: some servers count from 0 in every answer,
    /// others refuse a history in which an id comes twice.
    pub(crate) fn tell_apart<'a>(mut self, calls: impl Iterator<Item = &'a mut CallDraft>) {
        for (at, call) in calls.enumerate() {
            if call.id.is_empty() || self.ids.contains(&call.id) {
                let place = self.place;
                let mut ids = (at + 1..).map(|number| format!("c{place:05}{number:03}"));
                call.id = ids.find(|id| !self.ids.contains(id)).unwrap_or_default();
            }
            self.ids.insert(call.id.clone());
        }
    }
}

/// The id in a form that every provider but the strict ones takes: letters, digits, `_` and `-`, up
/// to 64. One that has another form becomes the same nine letters each time.
pub(crate) fn plain_id(id: &str) -> Cow<'_, str> {
    if name_on_wire(id) == id { Cow::Borrowed(id) } else { strict_id(id) }
}

/// The id in the one form that a strict provider takes: nine letters or digits. One that has
/// another form becomes the same nine each time.
pub(crate) fn strict_id(id: &str) -> Cow<'_, str> {
    if id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Cow::Borrowed(id);
    }
    // FNV-1a, 64 bits.
    let hash = id.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let digit = |at: u32| char::from_digit((hash / 36_u64.pow(at) % 36) as u32, 36);
    Cow::Owned((0..9).filter_map(digit).collect())
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
        let taken = CallDraft { id: "c00007003".into(), ..draft("") };
        let used = CallDraft { id: "b".into(), ..draft("") };
        let mut calls = [draft(""), taken, draft(""), CallDraft::default(), used];
        Taken { place: 7, ids: ["b".to_owned()].into() }.tell_apart(calls.iter_mut());
        let ids = ["a", "c00007003", "c00007004", "c00007005", "c00007006"];
        assert_eq!(calls.map(|call| call.id), ids);
    }

    #[test]
    fn strict_ids_are_nine_letters_and_steady() {
        assert_eq!(strict_id("abc123XYZ"), "abc123XYZ");
        let mended = strict_id("toolu_01");
        assert!(mended.len() == 9 && mended.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        assert_eq!(mended, strict_id("toolu_01"));
        assert_ne!(mended, strict_id("toolu_02"));
    }
}
