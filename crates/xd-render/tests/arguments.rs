//! Partial JSON: the fields of every prefix, against serde_json (cases 99, 101, 103, 105).
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use xd_render::{Arguments, Shape};

/// The fields as owned values: name, text, string or not, complete.
fn fields(arguments: &Arguments) -> Vec<(String, String, bool, bool)> {
    arguments
        .fields()
        .map(|field| (field.name.into(), field.text.into(), field.is_string, field.complete))
        .collect()
}

/// Feeds `source` byte by byte and checks N3 at every step; then checks the whole against
/// serde_json, and that chunks of any size end the same.
fn check(source: &str, chunk: usize) -> Arguments {
    let mut slow = Arguments::new();
    let mut before = fields(&slow);
    for byte in source.as_bytes() {
        slow.push(&[*byte]);
        let now = fields(&slow);
        assert!(now.len() >= before.len(), "N3: a field vanished in {source:?}");
        for (old, new) in before.iter().zip(&now) {
            assert_eq!(old.0, new.0, "N3: a name changed in {source:?}");
            assert!(new.1.starts_with(&old.1), "N3: {old:?} became {new:?} in {source:?}");
            assert!(new.3 || !old.3, "N3: {old:?} is complete no more in {source:?}");
        }
        before = now;
    }
    let mut fast = Arguments::new();
    for chunk in source.as_bytes().chunks(chunk) {
        fast.push(chunk);
    }
    assert_eq!(fields(&fast), fields(&slow), "chunks of {chunk} of {source:?}");
    assert_eq!(fast.shape(), slow.shape());
    assert_eq!(slow.steps(), source.len() as u64);
    slow
}

/// Checks a whole object against serde_json's reading of the same bytes.
fn check_whole(source: &str, chunk: usize) {
    let arguments = check(source, chunk);
    let whole: Value = serde_json::from_str(source).unwrap();
    let Value::Object(object) = whole else {
        assert_eq!(arguments.shape(), Shape::NotAnObject);
        return;
    };
    assert_eq!(arguments.shape(), Shape::Closed, "{source:?}");
    assert_eq!(arguments.fields().count(), object.len());
    for field in arguments.fields() {
        assert!(field.complete);
        let expected = &object[field.name];
        match expected {
            Value::String(text) => assert_eq!((field.text, field.is_string), (text.as_str(), true)),
            other => {
                assert!(!field.is_string);
                assert_eq!(&serde_json::from_str::<Value>(field.text).unwrap(), other);
            }
        }
    }
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9f64..1e9).prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((text(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z\"\\\\/{}\\[\\],: \n\t]{0,12}",
        "\\PC{0,8}",
        "[\u{0}-\u{1f}\u{10000}-\u{10fff}é漢]{0,6}",
    ]
}

/// The same JSON with every non-ASCII character as an escape, pairs of surrogates included.
fn escaped(source: &str) -> String {
    let mut out = String::new();
    for c in source.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn n3_case_103_every_prefix_of_random_json_is_monotone(
        fields in proptest::collection::vec((text(), json_value()), 0..6),
        chunk in 1usize..9,
    ) {
        let object = Value::Object(fields.into_iter().collect::<Map<_, _>>());
        check_whole(&object.to_string(), chunk);
        check_whole(&escaped(&object.to_string()), chunk);
        check_whole(&serde_json::to_string_pretty(&object).unwrap(), chunk);
    }

    #[test]
    fn n3_a_cut_object_keeps_what_it_has(
        fields in proptest::collection::vec((text(), json_value()), 1..5),
        cut in 0usize..200,
    ) {
        let object = Value::Object(fields.into_iter().collect::<Map<_, _>>());
        let source = object.to_string();
        let mut whole = Arguments::new();
        whole.push(source.as_bytes());
        let mut part = Arguments::new();
        part.push(&source.as_bytes()[..cut.min(source.len())]);
        for field in part.fields() {
            prop_assert!(whole.field(field.name).unwrap().text.starts_with(field.text));
        }
    }

    #[test]
    fn case_105_no_bytes_make_it_panic(
        bytes in proptest::collection::vec(
            prop_oneof![any::<u8>(), proptest::sample::select(b"{}[]\",:\\u0dD89 \xf0\x9f".to_vec())],
            0..80,
        ),
        chunk in 1usize..9,
    ) {
        let mut prefixed = b"{\"k\":\"".to_vec();
        prefixed.extend(&bytes);
        for source in [&bytes, &prefixed] {
            let mut once = Arguments::new();
            once.push(source);
            let mut chunked = Arguments::new();
            for part in source.chunks(chunk) {
                chunked.push(part);
            }
            prop_assert_eq!(fields(&once), fields(&chunked));
            prop_assert_eq!(once.steps(), source.len() as u64);
        }
    }
}

#[test]
fn case_103_prefixes_that_break_parsers_keep_the_fields_before_them() {
    for tail in [
        "[-",
        "[[-",
        "{\"k\":-",
        "\"\\",
        "\"\\u12",
        "\"\\ud83d",
        "\"\\ud83d\\",
        "\"\\ud83d\\ude",
        "tru",
        "-",
        "1e",
        "1e+",
        "[1,",
        "{",
        "{\"",
        "[{\"a\":[\"",
        "\"\u{1f600}",
    ] {
        let source = format!("{{\"path\":\"xd://resolve\",\"n\":7,\"rest\":{tail}");
        let arguments = check(&source, 3);
        assert_eq!(arguments.field("path").unwrap().text, "xd://resolve", "{tail}");
        assert!(arguments.field("path").unwrap().complete, "{tail}");
        assert_eq!(arguments.field("n").unwrap().text, "7", "{tail}");
        assert_eq!(arguments.shape(), Shape::Open, "{tail}");
    }
}

#[test]
fn case_103_surrogate_pairs_and_utf_8_are_split_anywhere() {
    let mut arguments = Arguments::new();
    arguments.push(b"{\"a\":\"x\\ud83d");
    assert_eq!(arguments.field("a").unwrap().text, "x");
    arguments.push(b"\\ude0");
    assert_eq!(arguments.field("a").unwrap().text, "x");
    arguments.push(b"0y\xe6");
    assert_eq!(arguments.field("a").unwrap().text, "x\u{1f600}y");
    arguments.push(b"\xbc");
    assert_eq!(arguments.field("a").unwrap().text, "x\u{1f600}y");
    arguments.push(b"\xa2\"");
    assert_eq!(arguments.field("a").unwrap().text, "x\u{1f600}y漢");
}

#[test]
fn case_103_what_can_never_be_a_character_becomes_the_replacement() {
    for (source, expected) in [
        (&b"\\ud83dx"[..], "\u{fffd}x"),
        (b"\\ud83d\\n", "\u{fffd}\n"),
        (b"\\ud83d\\ud83d\\ude00", "\u{fffd}\u{1f600}"),
        (b"\\ude00", "\u{fffd}"),
        (b"\\u12zz", "\u{fffd}zz"),
        (b"\xff\xe6\xbcx", "\u{fffd}\u{fffd}x"),
        (b"\xe6\\n", "\u{fffd}\n"),
        (b"\\q", "q"),
    ] {
        let mut bytes = b"{\"a\":\"".to_vec();
        bytes.extend(source);
        bytes.push(b'"');
        let mut arguments = Arguments::new();
        arguments.push(&bytes);
        let field = arguments.field("a").unwrap();
        assert_eq!((field.text, field.complete), (expected, true), "{source:?}");
    }
}

#[test]
fn case_105_every_shape_of_arguments_has_an_answer() {
    for (source, shape) in [
        ("", Shape::Empty),
        (" \n", Shape::Empty),
        ("{", Shape::Open),
        ("{}", Shape::Closed),
        ("null", Shape::NotAnObject),
        ("[1]", Shape::NotAnObject),
        ("\"x\"", Shape::NotAnObject),
        ("{1", Shape::Broken),
        ("{\"a\" 1", Shape::Broken),
        ("{\"a\":}", Shape::Broken),
        ("{\"a\":1 2", Shape::Broken),
    ] {
        assert_eq!(check(source, 2).shape(), shape, "{source:?}");
    }
}

#[test]
fn n3_a_repeated_key_starts_again_because_the_last_one_counts() {
    let source = r#"{"path":"a.txt","path":"xd://resolve"}"#;
    let mut arguments = Arguments::new();
    arguments.push(source.as_bytes());
    let field = arguments.field("path").unwrap();
    let parsed: Value = serde_json::from_str(source).unwrap();
    assert_eq!(Some(field.text), parsed["path"].as_str());
    assert_eq!((field.repeats, arguments.fields().count()), (1, 1));
}

#[test]
fn arguments_of_a_value_are_those_of_its_text() {
    let value = json!({ "path": "a", "deep": { "b": [1, "}"] }, "ok": true });
    let arguments = Arguments::of(&value);
    assert_eq!(arguments.field("deep").unwrap().text, r#"{"b":[1,"}"]}"#);
    assert_eq!(arguments.shape(), Shape::Closed);
}
