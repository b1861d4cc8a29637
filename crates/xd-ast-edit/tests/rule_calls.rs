//! Rules in calls: over files, by their globs, and through the tool `ast_edit`.
#![cfg(all(feature = "lang-typescript", feature = "lang-python"))]
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use xd_ast_edit::{AstEditTool, Control, Limits, Op, Outcome, Request, Rule, propose};
use xd_changeset::Root;
use xd_resolve::{ToolCall, ToolResult};
use xd_session::Session;
use xd_write::{CallScope, Host, Workspace};

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

fn call(folder: &TempDir, rules: &str) -> Result<Outcome, String> {
    let rules = Rule::parse("r.yml", rules).unwrap();
    let request = Request {
        ops: rules.into_iter().map(Op::from).collect(),
        paths: vec![".".to_owned()],
        lang: None,
    };
    propose(&Root::open(folder.path()).unwrap(), &request, &Limits::default(), &Control::default())
        .map_err(|error| error.to_string())
}

#[track_caller]
fn changed(folder: &TempDir, rules: &str) -> Vec<String> {
    match call(folder, rules) {
        Ok(Outcome::Proposal(proposal)) => {
            proposal.summary.files.iter().map(|file| file.path.as_str().to_owned()).collect()
        }
        Ok(Outcome::NoReplacements(_)) => Vec::new(),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a2_files_and_ignores_choose_among_the_files_of_a_call() {
    let folder = folder(&[
        ("src/a.ts", "old(1);\n"),
        ("src/gen/b.ts", "old(1);\n"),
        ("test/c.ts", "old(1);\n"),
        ("d.py", "old(1)\n"),
    ]);
    let rule = |rest: &str| format!("{{rule: {{pattern: old($A)}}, fix: fresh($A){rest}}}");
    assert_eq!(changed(&folder, &rule("")), ["d.py", "src/a.ts", "src/gen/b.ts", "test/c.ts"]);
    assert_eq!(
        changed(&folder, &rule(", language: ts, files: ['src/**']")),
        ["src/a.ts", "src/gen/b.ts"]
    );
    assert_eq!(
        changed(&folder, &rule(", files: ['./src/**'], ignores: ['**/gen/**']")),
        ["src/a.ts"]
    );
    assert_eq!(
        changed(&folder, &rule(", ignores: [{glob: 'SRC/**', caseInsensitive: true}]")),
        ["d.py", "test/c.ts"]
    );
}

#[test]
fn a1_a_rule_that_means_nothing_in_any_language_found_is_refused() {
    let python = folder(&[("a.py", "f(1)\n")]);
    let kind = "{id: r, rule: {kind: call_expression}, fix: ''}";
    assert_eq!(
        call(&python, kind).unwrap_err(),
        "ops[0]: `rule r` cannot be used: as python, rule.kind: `call_expression` is no kind of node of python"
    );
    // For another language than those found it is no fault.
    assert_eq!(changed(&python, "{language: ts, rule: {kind: call_expression}, fix: ''}"), [""; 0]);
    let both = folder(&[("a.py", "f(1)\n"), ("b.ts", "f(1);\n")]);
    assert_eq!(changed(&both, kind), ["b.ts"]);
}

#[test]
fn case_189_a_growing_rule_is_said_in_the_preview() {
    let folder = folder(&[("a.ts", "f(1);\n")]);
    let Ok(Outcome::Proposal(proposal)) =
        call(&folder, "{language: ts, rule: {pattern: f($A)}, fix: h(f($A))}")
    else {
        panic!("nothing proposed")
    };
    assert_eq!(proposal.summary.regrowing, [0]);
    let notes = proposal.summary.notes().join("\n");
    assert!(notes.contains("ops[0] grows"), "{notes}");
}

async fn tool(folder: &TempDir, ops: Value) -> ToolResult {
    let host = Host::builder(Arc::new(Session::new()), Workspace::open(folder.path()).unwrap())
        .tool(AstEditTool::default())
        .build();
    let call = ToolCall::new("1", "ast_edit", json!({ "ops": ops, "paths": ["."] }));
    host.run_batch(&[call], &CallScope::model()).await.remove(0)
}

#[tokio::test]
async fn a1_the_tool_takes_rules_beside_patterns() {
    let folder = folder(&[("a.ts", "class A { f() { old(1); } }\nold(2);\nwas(3);\n")]);
    let inside = json!({ "kind": "class_body", "stopBy": "end" });
    let rule = json!({ "pattern": "old($A)", "inside": inside });
    let result = tool(
        &folder,
        json!([
            { "rule": rule, "fix": "fresh($A)" },
            { "pat": "was($A)", "out": "is($A)" },
        ]),
    )
    .await;
    let text = result.joined();
    assert!(text.contains("AST Edit: 2 replacements in 1 file"), "{text}");
    assert!(text.contains("+class A { f() { fresh(1); } }"), "{text}");
    assert!(text.contains(" old(2);"), "{text}");
    // The word of the other ops is understood.
    let result = tool(&folder, json!([{ "rule": { "pattern": "was($A)" }, "out": "" }])).await;
    assert!(result.joined().contains("-was(3);"), "{}", result.joined());
}

#[tokio::test]
async fn s7_the_tool_names_the_key_of_a_faulty_rule() {
    let folder = folder(&[("a.ts", "old(2);\n")]);
    for (op, expect) in [
        (
            json!({ "rule": { "patern": "f()" }, "fix": "" }),
            "ops[0].rule.patern: is unknown; use pattern",
        ),
        (json!({ "rule": { "pattern": "f($A)" }, "fix": "g($B)" }), "ops[0].fix: uses `$B`"),
        (json!({ "rule": { "pattern": "f()" } }), "ops[0].fix: is missing"),
        (json!({ "rule": { "pattern": "f()" }, "pat": "f()", "fix": "" }), "both `pat` and `rule`"),
        (json!({ "rule": { "pattern": "f()" }, "out": "", "fix": "" }), "both `out` and `fix`"),
        (
            json!({ "rule": { "kind": "nope" }, "fix": "", "language": "ts" }),
            "ops[0].rule.kind: `nope` is no kind",
        ),
        (json!({ "out": "" }), "`ops[0].pat` is missing (or give `rule` and `fix`)"),
    ] {
        let result = tool(&folder, json!([op])).await;
        assert!(result.is_error && result.joined().contains(expect), "{}", result.joined());
    }
}

#[test]
fn a1_a_call_reads_back_as_it_was_written() {
    let request = Request {
        ops: vec![
            Op::new("f($A)", "g($A)"),
            Rule::parse("r.yml", "{id: r, language: ts, rule: {pattern: f($A)}, fix: g($A)}")
                .unwrap()
                .remove(0)
                .into(),
        ],
        paths: vec!["src".to_owned()],
        lang: None,
    };
    let text = serde_json::to_string(&request).unwrap();
    assert_eq!(serde_json::from_str::<Request>(&text).unwrap(), request);
    assert!(serde_json::from_str::<Request>(r#"{"ops": [{"pat": "f()"}], "paths": []}"#).is_err());
}
