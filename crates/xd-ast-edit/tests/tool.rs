//! The tool `ast_edit` in a host: staged, applied, rejected, refused.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use xd_ast_edit::{AstEditTool, Limits};
use xd_resolve::{ToolCall, ToolResult};
use xd_session::Session;
use xd_write::{CallScope, Host, Tool as _, Workspace};

struct Agent {
    folder: TempDir,
    host: Host,
}

impl Agent {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (path, text) in files {
            std::fs::write(folder.path().join(path), text).unwrap();
        }
        let workspace = Workspace::open(folder.path()).unwrap();
        let host = Host::builder(Arc::new(Session::new()), workspace)
            .tool(AstEditTool::new(Limits::default()))
            .build();
        Self { folder, host }
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(path)).unwrap()
    }

    async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        let call = ToolCall::new("1", name, arguments);
        self.host.run_batch(&[call], &CallScope::model()).await.remove(0)
    }

    async fn edit(&self, pat: &str, out: &str) -> ToolResult {
        self.call("ast_edit", json!({ "ops": [{ "pat": pat, "out": out }], "paths": ["."] })).await
    }

    async fn write(&self, path: &str, content: &str) -> ToolResult {
        self.call("write", json!({ "path": path, "content": content })).await
    }

    fn pending(&self) -> usize {
        self.host.session().actions().pending().len()
    }
}

#[tokio::test]
async fn s4_a_call_stages_and_a_confirm_applies_exactly_the_preview() {
    let agent = Agent::new(&[("a.py", "old(1)\nold(2)\n"), ("b.ts", "keep();\n")]);
    let staged = agent.edit("old($A)", "fresh($A)").await;
    assert!(!staged.is_error, "{}", staged.joined());
    let text = staged.joined();
    let notice = "Staged as a proposal — files NOT modified yet. To apply: write a one-sentence reason to xd://resolve. To discard: write to xd://reject.\n\nAST Edit: 2 replacements in 1 file\n";
    assert!(text.starts_with(notice), "{text}");
    assert!(text.contains("\na.py: 2 replacements (+2 -2)\n--- a/a.py\n"), "{text}");
    assert_eq!(
        staged.details.as_ref().unwrap()["summary"]["counts"],
        json!({ "replacements": 2, "files": 1 })
    );
    assert_eq!((agent.read("a.py").as_str(), agent.pending()), ("old(1)\nold(2)\n", 1));

    let applied = agent.write("xd://resolve", "Both calls are old.").await;
    // Invariant A6: the numbers of the preview.
    assert_eq!(applied.joined(), "Applied 2 replacements in 1 file.");
    assert_eq!((agent.read("a.py").as_str(), agent.pending()), ("fresh(1)\nfresh(2)\n", 0));
}

#[tokio::test]
async fn d7_a_rejected_call_changes_nothing() {
    let agent = Agent::new(&[("a.rs", "fn f() { old(1); }\n")]);
    agent.edit("old($A)", "fresh($A)").await;
    let rejected = agent.write("xd://reject", "Not now.").await;
    assert_eq!(rejected.joined(), "Discarded: AST Edit: 1 replacement in 1 file. Reason: Not now.");
    assert_eq!(agent.read("a.rs"), "fn f() { old(1); }\n");
}

#[tokio::test]
async fn s6_nothing_to_replace_stages_nothing() {
    let agent = Agent::new(&[("a.py", "same(1)\n"), ("b.py", "old(\n")]);
    for (pat, out) in [("absent($A)", "x()"), ("same($A)", "same($A)"), ("old($A)", "fresh($A)")] {
        let result = agent.edit(pat, out).await;
        assert!(result.joined().starts_with("No replacements made"), "{}", result.joined());
        assert!(!result.is_error);
        assert_eq!(agent.pending(), 0, "{pat}");
    }
    let text = agent.edit("old($A)", "fresh($A)").await.joined();
    assert!(text.contains("1 file left alone:\n  b.py:1:1: does not parse"), "{text}");
}

#[tokio::test]
async fn s7_refused_calls_stage_nothing_and_name_the_operand() {
    let agent = Agent::new(&[("a.js", "foo(bar(1));\n")]);
    for (arguments, expect) in [
        (
            json!({ "ops": [{ "pat": "foo($A)", "out": "g($B)" }], "paths": ["."] }),
            "ops[0].out: uses `$B`",
        ),
        (
            json!({ "ops": [{ "pat": "foo($A)", "out": "g(" }], "paths": ["."] }),
            "'a.js': the result would not parse",
        ),
        (json!({ "ops": [{ "pat": "", "out": "" }], "paths": ["."] }), "ops[0].pat: is empty"),
        (
            json!({ "ops": [{ "pat": "f()", "out": "" }], "paths": ["../.."] }),
            "paths[0]: '../..' is outside",
        ),
        (
            json!({ "ops": [{ "pat": "f()", "out": "" }], "paths": "." }),
            "`paths` is no array. Example: {",
        ),
        (
            json!({ "ops": [{ "pat": "f()" }], "paths": ["."] }),
            "`ops[0].out` is missing (write \"\" to delete).",
        ),
        (
            json!({ "ops": [{ "pat": "f()", "out": 1 }], "paths": ["."] }),
            "`ops[0].out` is no string.",
        ),
        (json!({ "ops": ["f()"], "paths": ["."] }), "`ops[0]` is no object"),
        (json!({ "ops": [], "paths": [3] }), "`paths[0]` is no string."),
        (json!({ "paths": ["."] }), "`ops` is missing."),
        (
            json!({ "ops": [], "paths": ["."], "glob": "*" }),
            "`glob` is unknown; use ops, paths, lang.",
        ),
        (json!({ "ops": [], "paths": ["."], "lang": 1 }), "`lang` is no string."),
        (json!(null), "the arguments are no object."),
        (
            json!({ "ops": [{ "pat": "foo($A)", "out": "f($A)" }, { "pat": "bar($A)", "out": "b($A)" }], "paths": ["."] }),
            "'a.js': two ops change the same code: ops[0] at line 1",
        ),
    ] {
        let result = agent.call("ast_edit", arguments.clone()).await;
        assert!(result.is_error, "{arguments}");
        let text = result.joined();
        let text = text.strip_prefix("ast_edit: ").unwrap_or_else(|| panic!("{text}"));
        assert!(text.starts_with(expect), "{arguments}\n{text}");
        assert_eq!(agent.pending(), 0);
    }
    assert_eq!(agent.read("a.js"), "foo(bar(1));\n");
}

#[tokio::test]
async fn w5_the_whole_preview_is_read_under_its_number() {
    let long = "old('".to_owned() + &"x".repeat(100) + "')\n";
    let agent = Agent::new(&[("a.py", &long.repeat(400))]);
    let staged = agent.edit("old($A)", "fresh($A)").await.joined();
    assert!(
        staged.contains("[Cut here. Not shown in full, 1 file:]\na.py: 400 replacements\n"),
        "{staged}"
    );
    assert!(staged.ends_with("Read the whole preview at xd://resolve@1.\n"));
    let page = agent.call("read", json!({ "path": "xd://resolve@1" })).await;
    assert!(page.joined().contains("AST Edit: 400 replacements in 1 file"), "{}", page.joined());
}

#[tokio::test]
async fn f2_a_file_that_changed_since_is_not_written() {
    let agent = Agent::new(&[("a.py", "old(1)\n"), ("b.py", "old(2)\n")]);
    agent.edit("old($A)", "fresh($A)").await;
    std::fs::write(agent.folder.path().join("b.py"), "old(2)\nmine\n").unwrap();
    let refused = agent.write("xd://resolve", "Both.").await;
    assert!(refused.is_error && refused.joined().contains("b.py"), "{}", refused.joined());
    assert_eq!(
        (agent.read("a.py").as_str(), agent.read("b.py").as_str()),
        ("old(1)\n", "old(2)\nmine\n")
    );
}

#[tokio::test]
async fn d12_a_call_that_is_dropped_stages_nothing() {
    let files: Vec<(String, String)> =
        (0..300).map(|n| (format!("f{n}.ts"), "old(1);\n".repeat(200))).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let agent = Agent::new(&files);
    let dropped =
        tokio::time::timeout(Duration::from_millis(20), agent.edit("old($A)", "fresh($A)")).await;
    assert!(dropped.is_err(), "the call is meant to be longer than the wait");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(agent.pending(), 0);
    // And one whose scope is cancelled says so.
    let scope = CallScope::model();
    scope.cancel.cancel();
    let arguments = json!({ "ops": [{ "pat": "old($A)", "out": "x" }], "paths": ["."] });
    let result =
        agent.host.run_batch(&[ToolCall::new("1", "ast_edit", arguments)], &scope).await.remove(0);
    assert!(result.is_error, "{}", result.joined());
    assert_eq!(agent.pending(), 0);
}

// Case 40: the example of the device is a call that can run.
#[tokio::test]
async fn case_040_the_example_in_documents_and_errors_runs() {
    let agent = Agent::new(&[]);
    std::fs::create_dir(agent.folder.path().join("src")).unwrap();
    std::fs::write(agent.folder.path().join("src/a.py"), "oldApi(1)\n").unwrap();
    let check = AstEditTool::default().argument_check().unwrap();
    let example = check.example().unwrap();
    assert_eq!(
        example,
        json!({ "ops": [{ "pat": "oldApi($A)", "out": "newApi($A)" }], "paths": ["src"] })
    );
    assert!(check.check(&example).is_empty());
    assert_eq!(check.check(&json!({ "ops": [] })).len(), 1);
    let error = agent.call("ast_edit", json!({ "ops": 1 })).await.joined();
    assert!(error.ends_with(&format!("Example: {example}")), "{error}");
    let staged = agent.call("ast_edit", example).await;
    assert!(staged.joined().contains("AST Edit: 1 replacement in 1 file"), "{}", staged.joined());
}
