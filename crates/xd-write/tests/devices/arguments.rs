//! What is written to a device, end to end.

use serde_json::{Value, json};
use xd_write::ArgumentSchema;

use crate::bench::{call, echo, host, write};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "to": { "anyOf": [{ "type": "string", "pattern": "^#[a-z]+$" }, { "$ref": "#/$defs/user" }] },
            "text": { "type": "string", "minLength": 1 }
        },
        "required": ["to", "text"],
        "additionalProperties": false,
        "$defs": { "user": { "type": "object", "properties": { "id": { "type": "integer", "minimum": 1 } }, "required": ["id"] } }
    })
}

// CONTRACT R3, Invariant W8, case 40: cut at every byte, an argument document runs nothing and leads back.
#[tokio::test]
async fn r3_case_040_cut_documents_lead_back() {
    let (_folder, host) = host(|b| b.device(echo("send", schema())).unwrap());
    let whole = r#"{"to": {"id": 7}, "text": "ab\u00e9 \"c\""}"#;
    assert!(!write(&host, "xd://send", whole).await.is_error);
    for cut in 1..whole.len() {
        let result = write(&host, "xd://send", &whole[..cut]).await;
        let text = result.joined();
        assert!(
            result.is_error
                && text.starts_with("xd://send was not run: the content is not valid JSON"),
            "{cut}: {text}"
        );
        let example = text.split("Example: ").nth(1).unwrap_or_else(|| panic!("{text}"));
        assert!(!write(&host, "xd://send", example).await.is_error, "{example}");
    }
    // Without a path it is another error, with an example of a call.
    let text = call(&host, "write", json!({ "content": whole })).await.joined();
    assert!(text.starts_with("write: `path` is missing") && text.contains("Example: {"), "{text}");
}

// CONTRACT R3, case 40: three kinds of error, each with a valid example; the last has the docs.
#[tokio::test]
async fn r3_case_040_three_errors_with_a_valid_example_each() {
    let (_folder, host) = host(|b| b.device(echo("send", schema())).unwrap());
    let compiled = ArgumentSchema::compile(&schema()).unwrap();
    let mut seen = Vec::new();
    for (body, words) in [
        ("{\"to\"", "is not valid JSON"),
        ("[]", "must be a JSON object, but is an array"),
        (
            r#"{"to": "here", "text": ""}"#,
            "`to` must fit one of 2 forms: (1) `to` must match the pattern ^#[a-z]+$",
        ),
    ] {
        let text = write(&host, "xd://send", body).await.joined();
        assert!(text.contains(words), "{text}");
        let from = text.rfind(r#"{"to""#).unwrap_or_else(|| panic!("no example: {text}"));
        let end = text[from..].find('\n').map_or(text.len(), |end| from + end);
        let example: Value = serde_json::from_str(&text[from..end]).unwrap();
        assert!(xd_write::ArgumentCheck::check(&compiled, &example).is_empty(), "{example}");
        seen.push((text.clone(), text.contains("## Arguments (JSON Schema)")));
    }
    assert_eq!(seen.iter().map(|(_, docs)| *docs).collect::<Vec<_>>(), [false, false, true]);
    assert!(
        seen[2].0.contains("`text` must have at least 1 characters"),
        "both are told: {}",
        seen[2].0
    );
}

// CONTRACT R3: a habitual `i` goes unless any part of the schema declares it.
#[tokio::test]
async fn r3_a_habitual_i_is_dropped_unless_declared_anywhere() {
    let integer = json!({ "type": "integer" });
    for (schema, kept) in [
        (json!({}), false),
        (json!({ "additionalProperties": false }), false),
        (json!({ "properties": { "n": { "properties": { "i": {} } } } }), false),
        (json!({ "properties": { "i": integer } }), true),
        (json!({ "allOf": [{ "properties": { "i": integer } }] }), true),
        (
            json!({ "$ref": "#/$defs/d", "$defs": { "d": { "properties": { "i": integer } } } }),
            true,
        ),
        (json!({ "patternProperties": { "^[a-z]$": integer } }), true),
    ] {
        let (_folder, host) = host(|b| b.device(echo("d", schema.clone())).unwrap());
        for body in [json!(r#"{"i": 3}"#), json!({ "i": 3 })] {
            let result = call(&host, "write", json!({ "path": "xd://d", "content": body })).await;
            let expect = if kept { r#"{"i":3}"# } else { "{}" };
            assert_eq!(result.content, [expect], "{schema} {body}");
        }
    }
}

// CONTRACT U11: by its address or its bare name, the same checks and the same result.
#[tokio::test]
async fn u11_a_call_by_name_is_checked_alike() {
    let (_folder, host) = host(|b| b.device(echo("send", schema())).unwrap());
    let good = json!({ "to": "#all", "text": "a", "i": "habit" });
    let by_write = call(&host, "write", json!({ "path": "xd://send", "content": good })).await;
    assert!(!by_write.is_error);
    for name in ["send", "xd://send", "XD://send", " xd://send "] {
        assert_eq!(call(&host, name, good.clone()).await, by_write, "{name}");
        let bad = call(&host, name, json!({ "to": "#all" })).await.joined();
        assert!(bad.contains("the arguments must have the property `text`"), "{name}: {bad}");
    }
    // Another case is another device.
    assert!(call(&host, "xd://Send", good).await.is_error);
}

// Case 38: a read selector glued to a device's name, for each form of the grammar.
#[tokio::test]
async fn case_038_glued_selectors_are_peeled_on_read_and_named_on_write() {
    let (_folder, host) = host(|b| b.device(echo("send", schema())).unwrap());
    let docs = call(&host, "read", json!({ "path": "xd://send" })).await.joined();
    for selector in [":raw", ":1-9", ":3", ":1-2,4-", ":"] {
        for device in ["send", "resolve", "reject", "propose"] {
            let address = format!("xd://{device}{selector}");
            let read = call(&host, "read", json!({ "path": address })).await;
            let past_the_end = read.joined().contains("does not exist");
            assert!(!read.is_error || past_the_end, "{address}: {read:?}");
            let refused = write(&host, &address, "It is right.").await;
            assert!(refused.is_error, "{address}");
            assert!(refused.joined().contains(&format!("xd://{device}")), "{address}: {refused:?}");
        }
    }
    let raw = call(&host, "read", json!({ "path": "xd://send:raw" })).await.joined();
    assert_eq!(raw, docs);
}
