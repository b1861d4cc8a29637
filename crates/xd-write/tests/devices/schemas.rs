//! Schemas: what fits, what does not and how that is told, what is refused at mount.

use std::sync::Arc;

use serde_json::{Value, json};
use xd_resolve::{Tier, ToolResult};
use xd_write::{
    ArgumentCheck, ArgumentSchema, FnTool, Mismatch, MountError, Registry, SchemaFaultKind, Tool,
    ToolDefinition, ToolFailure,
};

use crate::bench::echo;

fn told(schema: &Value, arguments: &Value) -> Vec<String> {
    let compiled = ArgumentSchema::compile(schema).unwrap_or_else(|e| panic!("{schema}: {e}"));
    compiled.check(arguments).iter().map(ToString::to_string).collect()
}

/// `schema` for the property `v`: each of `good` fits; of each `bad` the words are told.
fn check(schema: Value, good: &[Value], bad: &[(Value, &str)]) {
    let whole = json!({ "type": "object", "properties": { "v": schema }, "$defs": {
        "name": { "type": "string", "minLength": 2 },
        "tree": { "type": "object", "properties": {
            "value": { "type": "integer" },
            "children": { "type": "array", "items": { "$ref": "#/$defs/tree" } }
        }, "required": ["value"], "additionalProperties": false }
    } });
    for value in good {
        assert_eq!(told(&whole, &json!({ "v": value })), [""; 0], "{schema} on {value}");
    }
    for (value, words) in bad {
        let told = told(&whole, &json!({ "v": value }));
        assert_eq!(told.first().map(String::as_str), Some(*words), "{schema} on {value}: {told:?}");
    }
}

// CONTRACT R3
#[test]
fn r3_types_and_values() {
    check(
        json!({ "type": "integer" }),
        &[json!(1), json!(-1), json!(2.0), json!(u64::MAX)],
        &[
            (json!(1.5), "`v` must be of type integer; got 1.5"),
            (json!("1"), "`v` must be of type integer; got \"1\""),
            (json!(null), "`v` must be of type integer; got null"),
        ],
    );
    check(
        json!({ "type": ["string", "null"] }),
        &[json!("a"), json!(null)],
        &[(json!([1]), "`v` must be of type string or null; got [1]")],
    );
    check(
        json!({ "enum": ["a", 1, null, [1]] }),
        &[json!("a"), json!(1.0), json!(null), json!([1.0])],
        &[(json!("b"), "`v` must be one of \"a\", 1, null, [1]; got \"b\"")],
    );
    check(
        json!({ "const": { "a": 1 } }),
        &[json!({ "a": 1.0 })],
        &[(json!({ "a": 1, "b": 2 }), "`v` must be {\"a\":1}; got {\"a\":1,\"b\":2}")],
    );
    check(json!(true), &[json!(1)], &[]);
    check(json!(false), &[], &[(json!(1), "`v` must not be there; got 1")]);
    check(json!({}), &[json!(1), json!(null)], &[]);
}

// CONTRACT R3
#[test]
fn r3_limits_of_numbers_and_strings() {
    check(
        json!({ "minimum": 1, "maximum": 3 }),
        &[json!(1), json!(3), json!(2.5), json!("not a number")],
        &[(json!(0), "`v` must be at least 1; got 0"), (json!(4), "`v` must be at most 3; got 4")],
    );
    check(
        json!({ "exclusiveMinimum": 1, "exclusiveMaximum": 3 }),
        &[json!(2), json!(1.001)],
        &[
            (json!(1), "`v` must be more than 1; got 1"),
            (json!(3), "`v` must be less than 3; got 3"),
        ],
    );
    // As an earlier draft has it.
    check(
        json!({ "minimum": 1, "exclusiveMinimum": true }),
        &[json!(2)],
        &[(json!(1), "`v` must be more than 1; got 1")],
    );
    check(
        json!({ "maximum": 9_007_199_254_740_993_u64 }),
        &[json!(9_007_199_254_740_993_u64)],
        &[(
            json!(9_007_199_254_740_994_u64),
            "`v` must be at most 9007199254740993; got 9007199254740994",
        )],
    );
    check(
        json!({ "multipleOf": 0.1 }),
        &[json!(0.3), json!(2)],
        &[(json!(0.25), "`v` must be a multiple of 0.1; got 0.25")],
    );
    check(
        json!({ "minLength": 2, "maxLength": 3 }),
        &[json!("éé"), json!("abc")],
        &[
            (json!("é"), "`v` must have 2 to 3 characters, not 1; got \"é\""),
            (json!("abcd"), "`v` must have 2 to 3 characters, not 4; got \"abcd\""),
        ],
    );
    check(
        json!({ "pattern": "^a+$" }),
        &[json!("aa"), json!(7)],
        &[(json!("ab"), "`v` must match the pattern ^a+$; got \"ab\"")],
    );
}

// CONTRACT R3
#[test]
fn r3_arrays() {
    check(
        json!({ "items": { "type": "integer" }, "minItems": 1, "maxItems": 2 }),
        &[json!([1]), json!([1, 2])],
        &[
            (json!([]), "`v` must have 1 to 2 items, not 0; got []"),
            (json!([1, "a"]), "`v[1]` must be of type integer; got \"a\""),
        ],
    );
    check(
        json!({ "uniqueItems": true }),
        &[json!([1, 2, "1"])],
        &[(json!([1, 2, 1.0]), "`v` must hold no value twice; items 0 and 2 are equal")],
    );
    check(
        json!({ "prefixItems": [{ "type": "string" }], "items": false }),
        &[json!(["a"]), json!([])],
        &[(json!(["a", 1]), "`v[1]` must not be there; got 1")],
    );
    check(
        json!({ "items": [{ "type": "string" }], "additionalItems": { "type": "integer" } }),
        &[json!(["a", 1])],
        &[(json!(["a", "b"]), "`v[1]` must be of type integer; got \"b\"")],
    );
    let words =
        "`v` must hold 2 to 3 of the items that its schema's `contains` describes, but holds";
    check(
        json!({ "contains": { "const": 1 }, "minContains": 2, "maxContains": 3 }),
        &[json!([1, 0, 1])],
        &[(json!([1]), &format!("{words} 1")), (json!([1, 1, 1, 1]), &format!("{words} 4"))],
    );
    check(json!({ "contains": false, "minContains": 0 }), &[json!([1])], &[]);
}

// CONTRACT R3
#[test]
fn r3_objects() {
    check(
        json!({ "properties": { "path": {}, "mode": {} }, "additionalProperties": false,
            "patternProperties": { "^x-": { "type": "string" } } }),
        &[json!({ "path": 1, "x-a": "b" })],
        &[
            (json!({ "pth": 1 }), "`v.pth` is not a known property (did you mean `path`?)"),
            (json!({ "other": 1 }), "`v.other` is not a known property (known: path, mode)"),
            (json!({ "x-a": 1 }), "`v.x-a` must be of type string; got 1"),
            (json!({ "a b": 1 }), "`v[\"a b\"]` is not a known property (known: path, mode)"),
        ],
    );
    check(
        json!({ "additionalProperties": { "type": "integer" } }),
        &[json!({ "a": 1 })],
        &[(json!({ "a": "b" }), "`v.a` must be of type integer; got \"b\"")],
    );
    check(
        json!({ "propertyNames": { "maxLength": 2 }, "minProperties": 1, "maxProperties": 2 }),
        &[json!({ "ab": 1 })],
        &[
            (json!({}), "`v` must have 1 to 2 properties, not 0; got {}"),
            (json!({ "abc": 1 }), "`v.abc` has a name that must have at most 2 characters, not 3"),
        ],
    );
    check(
        json!({ "required": ["a", "b"] }),
        &[json!({ "a": 1, "b": 1 }), json!("no object")],
        &[(json!({ "b": 1 }), "`v` must have the property `a`")],
    );
    for keyword in ["dependentRequired", "dependencies"] {
        check(
            json!({ keyword: { "a": ["b"] } }),
            &[json!({ "b": 1 }), json!({ "a": 1, "b": 1 })],
            &[(json!({ "a": 1 }), "`v` must have the property `b` beside `a`")],
        );
    }
    for keyword in ["dependentSchemas", "dependencies"] {
        check(
            json!({ keyword: { "a": { "required": ["c"] } } }),
            &[json!({}), json!({ "a": 1, "c": 1 })],
            &[(json!({ "a": 1 }), "`v` must have the property `c`")],
        );
    }
}

// CONTRACT R3
#[test]
fn r3_combinations_and_references() {
    check(
        json!({ "allOf": [{ "type": "integer" }, { "minimum": 3 }] }),
        &[json!(3)],
        &[(json!(2), "`v` must be at least 3; got 2")],
    );
    check(
        json!({ "anyOf": [{ "type": "integer" }, { "required": ["id"], "type": "object" }] }),
        &[json!(1), json!({ "id": 1 })],
        &[(
            json!({}),
            "`v` must fit one of 2 forms: (1) `v` must be of type integer; got {}; (2) `v` must have \
             the property `id`; got {}",
        )],
    );
    check(
        json!({ "oneOf": [{ "multipleOf": 2 }, { "multipleOf": 3 }] }),
        &[json!(2), json!(3)],
        &[
            (json!(6), "`v` must fit exactly one of 2 forms, but fits 1 and 2; got 6"),
            (
                json!(7),
                "`v` must fit one of 2 forms: (1) `v` must be a multiple of 2; got 7; (2) `v` must \
                 be a multiple of 3; got 7; got 7",
            ),
        ],
    );
    check(
        json!({ "not": { "const": 1 } }),
        &[json!(2)],
        &[(json!(1), "`v` must not fit {\"const\":1}; got 1")],
    );
    check(
        json!({ "if": { "type": "string" }, "then": { "minLength": 1 }, "else": { "minimum": 1 } }),
        &[json!("a"), json!(1)],
        &[
            (json!(""), "`v` must have at least 1 characters, not 0; got \"\""),
            (json!(0), "`v` must be at least 1; got 0"),
        ],
    );
    check(
        json!({ "$ref": "#/$defs/name" }),
        &[json!("ab")],
        &[(json!("a"), "`v` must have at least 2 characters, not 1; got \"a\"")],
    );
    check(
        json!({ "$ref": "#/%24defs/tree" }),
        &[json!({ "value": 1, "children": [{ "value": 2, "children": [] }] })],
        &[
            (
                json!({ "value": 1, "children": [{ "value": 2 }, { "children": [] }] }),
                "`v.children[1]` must have the property `value`",
            ),
            (
                json!({ "value": 1, "kids": [] }),
                "`v.kids` is not a known property (known: value, children)",
            ),
        ],
    );
}

// CONTRACT R3: all that is wrong is told at once, within reason.
#[test]
fn r3_several_mismatches_are_told_at_once() {
    let schema = json!({ "type": "object", "required": ["a"], "properties": {
        "b": { "type": "string" }, "c": { "type": "integer" } } });
    assert_eq!(
        told(&schema, &json!({ "b": 1, "c": "x" })),
        [
            "the arguments must have the property `a`",
            "`b` must be of type string; got 1",
            "`c` must be of type integer; got \"x\"",
        ]
    );
    let many: serde_json::Map<String, Value> =
        (0..50).map(|i| (format!("p{i}"), 1.into())).collect();
    let schema = json!({ "additionalProperties": { "type": "string" } });
    assert_eq!(told(&schema, &Value::Object(many)).len(), 5);
}

// CONTRACT R3, case 54: what is shown of arguments and names is short and inert.
#[test]
fn r3_case_054_messages_are_short_and_inert() {
    let schema =
        json!({ "properties": { "a": { "type": "integer" } }, "additionalProperties": false });
    let long = "\u{1b}[2J\u{9b}\u{202e}".repeat(1000);
    for arguments in [json!({ "a": &long }), json!({ &long: 1 }), json!({ "€".repeat(500): 1 })] {
        let told = told(&schema, &arguments);
        assert_eq!(told.len(), 1);
        assert!(told[0].len() < 400, "{}", told[0]);
        assert!(!told[0].chars().any(|c| c.is_control() || c == '\u{202e}'), "{:?}", told[0]);
    }
    // What a foreign schema says is cut as well.
    let schema = json!({ "enum": (0..30).map(|i| format!("{i}{long}")).collect::<Vec<_>>() });
    let told = told(&schema, &json!({}));
    assert!(told[0].len() < 1_400 && !told[0].chars().any(char::is_control), "{}", told[0].len());
}

fn fault(schema: &Value) -> (String, SchemaFaultKind) {
    let fault = ArgumentSchema::compile(schema).expect_err(&schema.to_string());
    (fault.at, fault.kind)
}

// CONTRACT R3, Invariant W8: an unsupported keyword never accepts what it would refuse: it is not mounted.
#[test]
fn r3_what_is_not_supported_is_not_mounted() {
    for keyword in
        ["unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef", "divisibleBy"]
    {
        for (schema, at) in [
            (json!({ keyword: false }), "#"),
            (json!({ "properties": { "a/b": { keyword: "x" } } }), "#/properties/a~1b"),
            (json!({ "anyOf": [{}, { "items": { keyword: {} } }] }), "#/anyOf/1/items"),
            (json!({ "$ref": "#/$defs/d", "$defs": { "d": { keyword: {} } } }), "#/$defs/d"),
        ] {
            let unsupported = SchemaFaultKind::Unsupported { keyword: keyword.to_owned() };
            assert_eq!(fault(&schema), (at.to_owned(), unsupported), "{schema}");
        }
        // As a property's name it is no keyword.
        ArgumentSchema::compile(&json!({ "properties": { keyword: {} } })).unwrap();
    }
    for reference in
        ["https://example.org/s.json", "other.json#/a", "#anchor", "#/$defs/none", "#/%zz"]
    {
        let kind = SchemaFaultKind::Reference { reference: reference.to_owned() };
        assert_eq!(fault(&json!({ "$ref": reference })), ("#".to_owned(), kind));
    }
    let (at, kind) = fault(&json!({ "properties": { "a": { "pattern": "(?=x)" } } }));
    assert_eq!(at, "#/properties/a");
    assert!(matches!(kind, SchemaFaultKind::Pattern { .. }), "{kind:?}");
    // Annotations and words that the standard does not know constrain nothing.
    ArgumentSchema::compile(
        &json!({ "$schema": "x", "title": "t", "x-order": [1], "format": "date" }),
    )
    .unwrap();
}

// CONTRACT R3
#[test]
fn r3_malformed_schemas_are_not_mounted() {
    for schema in [
        json!({ "type": "strng" }),
        json!({ "type": [] }),
        json!({ "type": 1 }),
        json!({ "required": "a" }),
        json!({ "required": [1] }),
        json!({ "properties": [] }),
        json!({ "enum": "a" }),
        json!({ "minLength": "3" }),
        json!({ "minLength": -1 }),
        json!({ "minLength": 1.5 }),
        json!({ "minimum": "1" }),
        json!({ "multipleOf": 0 }),
        json!({ "pattern": 1 }),
        json!({ "uniqueItems": 1 }),
        json!({ "anyOf": [] }),
        json!({ "allOf": {} }),
        json!({ "$ref": 1 }),
        json!({ "dependencies": 1 }),
    ] {
        let schema = json!({ "properties": { "v": schema } });
        let (at, kind) = fault(&schema);
        assert!(matches!(kind, SchemaFaultKind::Malformed { .. }), "{schema}: {kind:?}");
        assert_eq!(at, "#/properties/v");
    }
    for schema in [json!(null), json!([]), json!("object"), json!(1)] {
        assert_eq!(fault(&schema), ("#".to_owned(), SchemaFaultKind::NotASchema));
    }
    for schema in [json!(false), json!({ "type": "string" }), json!({ "type": ["array", "null"] })]
    {
        assert_eq!(fault(&schema), ("#".to_owned(), SchemaFaultKind::NeverAnObject));
    }
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "anyOf": [{ "not": { "$ref": "#/anyOf/0" } }] }),
        json!({ "properties": { "a": { "$ref": "#/$defs/x" } },
            "$defs": { "x": { "allOf": [{ "$ref": "#/$defs/y" }] }, "y": { "if": { "$ref": "#/$defs/x" } } } }),
    ] {
        assert_eq!(fault(&schema).1, SchemaFaultKind::Endless, "{schema}");
    }
    let mut deep = json!({});
    for _ in 0..120 {
        deep = json!({ "items": deep });
    }
    assert_eq!(fault(&deep).1, SchemaFaultKind::TooLarge);
    // Deeper in the value it may ask for itself.
    ArgumentSchema::compile(&json!({ "properties": { "a": { "$ref": "#" } } })).unwrap();
}

// CONTRACT R3: the error of a mount says which tool, from where, and what of its schema.
#[test]
fn r3_a_refused_schema_names_tool_origin_and_place() {
    let mut registry = Registry::new();
    let schema = json!({ "properties": { "a": { "unevaluatedItems": false } } });
    let error = registry.mount(Arc::new(echo("odd", schema)), "server s").unwrap_err();
    let text = error.to_string();
    for word in ["\"odd\"", "server s", "#/properties/a", "`unevaluatedItems`"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(matches!(error, MountError::Schema { .. }) && registry.is_empty());
}

// CONTRACT R3: no schema, however built, holds a check up for long.
#[test]
fn r3_checks_are_bounded() {
    let twice = json!({ "anyOf": [
        { "properties": { "a": { "$ref": "#" } }, "required": ["x"] },
        { "properties": { "a": { "$ref": "#" } }, "required": ["y"] }
    ] });
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({ "a": deep });
    }
    let begun = std::time::Instant::now();
    let told = told(&twice, &deep);
    assert_eq!(
        told,
        ["the arguments are too large or too deeply nested for their schema to be checked"]
    );
    assert!(begun.elapsed().as_secs() < 30);
}

/// A tool that brings its own check.
struct Own(ToolDefinition);

impl Tool for Own {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }
    fn tier(&self, _: &Value) -> Option<Tier> {
        None
    }
    fn argument_check(&self) -> Option<Arc<dyn ArgumentCheck>> {
        Some(Arc::new(OnlySeven))
    }
    fn call(
        &self,
        _: Arc<xd_write::ToolContext>,
        arguments: Value,
    ) -> xd_resolve::BoxFuture<'_, Result<ToolResult, ToolFailure>> {
        Box::pin(async move { Ok(ToolResult::text(arguments.to_string())) })
    }
}

struct OnlySeven;

impl ArgumentCheck for OnlySeven {
    fn check(&self, arguments: &Value) -> Vec<Mismatch> {
        match &arguments["n"] {
            n if *n == 7 => Vec::new(),
            n => vec![Mismatch::new("n", "must be seven", n)],
        }
    }
}

// CONTRACT R3: a tool with a schema beyond the built-in check brings its own.
#[tokio::test]
async fn r3_a_tool_brings_its_own_check() {
    let own = Own(ToolDefinition::new("own", "Own.", json!({ "unevaluatedProperties": false })));
    let policy = xd_write::Policy::automatic(Tier::Exec);
    let (_folder, host) = crate::bench::host(|b| b.policy(policy).device(own).unwrap());
    let bad = crate::bench::write(&host, "xd://own", r#"{"n": 6}"#).await;
    assert!(bad.joined().starts_with("xd://own was not run: `n` must be seven; got 6."), "{bad:?}");
    let good = crate::bench::write(&host, "xd://own", r#"{"n": 7}"#).await;
    assert_eq!(good.content, [r#"{"n":7}"#]);
    // Where no example is known, the error says where to look.
    let text = crate::bench::write(&host, "xd://own", "[").await.joined();
    assert!(text.ends_with("Read xd://own for what it takes."), "{text}");
}

// Case 40: every example fits the schema that it is an example of.
#[test]
fn case_040_examples_are_valid() {
    for schema in [
        json!({}),
        json!({ "type": "object", "properties": { "a": { "type": "string" } }, "required": ["a"] }),
        json!({ "required": ["undeclared"] }),
        json!({ "required": ["n"], "properties": { "n": { "type": "integer", "minimum": 10, "multipleOf": 7 } } }),
        json!({ "required": ["n"], "properties": { "n": { "type": "number", "exclusiveMaximum": 0 } } }),
        json!({ "required": ["s"], "properties": { "s": { "type": "string", "minLength": 20 } } }),
        json!({ "required": ["s"], "properties": { "s": { "type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\d$" } } }),
        json!({ "required": ["l"], "properties": { "l": { "type": "array", "minItems": 2, "items": { "enum": [3] } } } }),
        json!({ "required": ["l"], "properties": { "l": { "prefixItems": [{ "const": 1 }], "items": false } } }),
        json!({ "required": ["o"], "properties": { "o": { "$ref": "#/$defs/o" } },
            "$defs": { "o": { "required": ["x"], "properties": { "x": { "type": "boolean" } } } } }),
        json!({ "properties": { "a": { "type": "string" }, "b": { "type": "integer" } },
            "anyOf": [{ "required": ["a"] }, { "required": ["b"] }] }),
        json!({ "oneOf": [
            { "properties": { "kind": { "const": "x" }, "n": { "type": "null" } }, "required": ["kind", "n"] },
            { "properties": { "kind": { "const": "y" } }, "required": ["kind"] } ] }),
        json!({ "allOf": [{ "required": ["a"] }, { "properties": { "a": { "minimum": 5 } } }] }),
        json!({ "required": ["p"], "properties": { "p": { "pattern": "^zz9$", "examples": ["zz9"] } } }),
        json!({ "required": ["t"], "properties": { "t": { "$ref": "#/$defs/t" } },
            "$defs": { "t": { "type": "object", "properties": { "t": { "$ref": "#/$defs/t" } } } } }),
        json!({ "minProperties": 1, "examples": [{ "any": 1 }] }),
    ] {
        let compiled = ArgumentSchema::compile(&schema).unwrap();
        let example = compiled.example().unwrap_or_else(|| panic!("no example of {schema}"));
        assert!(compiled.check(&example).is_empty(), "{schema}: {example}");
    }
    // Better none than one that does not fit.
    let none = json!({ "required": ["p"], "properties": { "p": { "pattern": "^zz9$" } } });
    assert_eq!(ArgumentSchema::compile(&none).unwrap().example(), None);
}

// A definition's schema stays as it was given, in documents and to providers.
#[test]
fn the_schema_is_shown_as_given() {
    let schema = json!({ "type": "object", "x-mine": [1, { "b": 1, "a": 2 }] });
    let definition = ToolDefinition::new("t", "T.", schema.clone());
    let tool = FnTool::new(definition, Tier::Read, |_, _| async { Ok(ToolResult::text("")) });
    let mut registry = Registry::new();
    registry.mount(Arc::new(tool), "it").unwrap();
    let docs = registry.docs("t", &xd_prompts::Prompts::builtin()).unwrap();
    assert!(docs.contains(&serde_json::to_string_pretty(&schema).unwrap()), "{docs}");
}

// CONTRACT R3: random schemas with objects that fit and that do not. The verdicts are those of an
// independent implementation of the standard (draft 2020-12).
#[test]
fn r3_verdicts_are_those_of_the_standard() {
    let mut judged = 0;
    for line in include_str!("verdicts.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let compiled = ArgumentSchema::compile(&case["schema"]).unwrap();
        for (key, fits) in [("fits", true), ("fails", false)] {
            for arguments in case[key].as_array().unwrap() {
                let told = compiled.check(arguments);
                assert_eq!(told.is_empty(), fits, "{}\n{arguments}\n{told:?}", case["schema"]);
                judged += 1;
            }
        }
    }
    assert!(judged > 1_000, "{judged}");
}

// CONTRACT R3: a zero is one number, whatever its sign, on either side.
#[test]
fn r3_a_negative_zero_is_zero() {
    for schema in [
        json!({ "minimum": 0 }),
        json!({ "minimum": 0.0 }),
        json!({ "maximum": -0.0 }),
        json!({ "const": 0 }),
        json!({ "enum": [0.0] }),
    ] {
        for zero in [json!(0), json!(0.0), json!(-0.0)] {
            assert_eq!(told(&schema, &zero), Vec::<String>::new(), "{schema} {zero}");
        }
    }
    for schema in [json!({ "exclusiveMinimum": -0.0 }), json!({ "exclusiveMaximum": 0 })] {
        for zero in [json!(0), json!(-0.0)] {
            assert_eq!(told(&schema, &zero).len(), 1, "{schema} {zero}");
        }
    }
}
