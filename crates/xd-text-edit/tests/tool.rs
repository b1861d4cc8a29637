//! The tools `edit` and `apply_patch` in a host: staged, applied, rejected, refused.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use xd_resolve::{ToolCall, ToolResult};
use xd_session::Session;
use xd_text_edit::{ApplyPatchTool, TextEditTool};
use xd_write::{CallScope, Host, Tool, Workspace};

struct Agent {
    folder: TempDir,
    host: Host,
}

impl Agent {
    fn new(files: &[(&str, &[u8])]) -> Self {
        let folder = TempDir::new().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let workspace = Workspace::open(folder.path()).unwrap();
        let host = Host::builder(Arc::new(Session::new()), workspace)
            .tool(TextEditTool::default())
            .tool(ApplyPatchTool::default())
            .build();
        Self { folder, host }
    }

    fn read(&self, path: &str) -> Vec<u8> {
        std::fs::read(self.folder.path().join(path)).unwrap()
    }

    fn exists(&self, path: &str) -> bool {
        self.folder.path().join(path).exists()
    }

    async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        let call = ToolCall::new("1", name, arguments);
        self.host.run_batch(&[call], &CallScope::model()).await.remove(0)
    }

    async fn edit(&self, edits: Value) -> ToolResult {
        self.call("edit", json!({ "edits": edits })).await
    }

    async fn patch(&self, patch: &str) -> ToolResult {
        self.call("apply_patch", json!({ "patch": patch })).await
    }

    async fn resolve(&self) -> ToolResult {
        self.call("write", json!({ "path": "xd://resolve", "content": "As it was asked for." }))
            .await
    }

    fn pending(&self) -> usize {
        self.host.session().actions().pending().len()
    }
}

// CONTRACT S4, A3; Invariant T6
#[tokio::test]
async fn s4_invariant_t6_a_call_stages_and_a_confirm_applies_exactly_the_preview() {
    let agent = Agent::new(&[("a.rs", b"one\r\ntwo\r\n"), ("src/b.rs", b"x = 1; // x")]);
    let staged = agent
        .edit(json!([
            { "path": "a.rs", "old_text": "two\n", "new_text": "2\n3\n" },
            { "path": "src/b.rs", "old_text": "x", "new_text": "y", "replace_all": true },
            { "path": "new/c.rs", "old_text": "", "new_text": "c\n" },
        ]))
        .await;
    let text = staged.joined();
    assert!(!staged.is_error, "{text}");
    assert!(text.starts_with("Staged as a proposal — files NOT modified yet."), "{text}");
    for part in [
        "\n\nEdit: 3 replacements in 2 files, 1 file created\n",
        "\na.rs: 1 replacement (+2 -1)\n--- a/a.rs\n",
        "\nnew/c.rs: created (+1 -0)\n",
        "\nsrc/b.rs: 2 replacements (+1 -1)\n",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert_eq!(staged.details.as_ref().unwrap()["summary"]["counts"]["changes"], 3);
    assert_eq!(
        (agent.read("a.rs"), agent.exists("new"), agent.pending()),
        (b"one\r\ntwo\r\n".to_vec(), false, 1)
    );
    let applied = agent.resolve().await;
    assert_eq!(applied.joined(), "Applied 3 replacements in 2 files, 1 file created.");
    assert_eq!(agent.read("a.rs"), b"one\r\n2\r\n3\r\n");
    assert_eq!(agent.read("src/b.rs"), b"y = 1; // y");
    assert_eq!((agent.read("new/c.rs"), agent.pending()), (b"c\n".to_vec(), 0));
}

#[tokio::test]
async fn d7_a_rejected_call_changes_nothing() {
    let agent = Agent::new(&[("a", b"one\n")]);
    agent.edit(json!([{ "path": "a", "old_text": "one", "new_text": "1" }])).await;
    let rejected =
        agent.call("write", json!({ "path": "xd://reject", "content": "Not now." })).await;
    assert_eq!(rejected.joined(), "Discarded: Edit: 1 replacement in 1 file. Reason: Not now.");
    assert_eq!((agent.read("a"), agent.pending()), (b"one\n".to_vec(), 0));
}

// CONTRACT F2, case 5
#[tokio::test]
async fn f2_case_005_a_file_that_changed_since_is_not_written() {
    let agent = Agent::new(&[("a", b"one\n"), ("b", b"two\n"), ("gone", b"x\n")]);
    agent
        .edit(json!([
            { "path": "a", "old_text": "one", "new_text": "1" },
            { "path": "b", "old_text": "two", "new_text": "2" },
        ]))
        .await;
    std::fs::write(agent.folder.path().join("b"), "two\nmine\n").unwrap();
    let refused = agent.resolve().await;
    assert!(refused.is_error && refused.joined().contains('b'), "{}", refused.joined());
    assert_eq!((agent.read("a"), agent.read("b")), (b"one\n".to_vec(), b"two\nmine\n".to_vec()));
    // The same for a deletion and a creation by a patch.
    agent.call("write", json!({ "path": "xd://reject", "content": "It changed." })).await;
    let patch = "*** Begin Patch\n*** Delete File: gone\n*** Add File: fresh\n+f\n*** End Patch\n";
    assert!(!agent.patch(patch).await.is_error);
    std::fs::write(agent.folder.path().join("gone"), "y\n").unwrap();
    assert!(agent.resolve().await.is_error);
    assert!(agent.exists("gone") && !agent.exists("fresh"));
    std::fs::write(agent.folder.path().join("gone"), "x\n").unwrap();
    std::fs::write(agent.folder.path().join("fresh"), "mine\n").unwrap();
    assert!(agent.resolve().await.is_error);
    assert_eq!((agent.exists("gone"), agent.read("fresh")), (true, b"mine\n".to_vec()));
}

// CONTRACT S7, cases 13 and 9; Invariant T4
#[tokio::test]
async fn invariant_t4_case_013_one_failing_edit_stages_nothing_and_all_are_listed() {
    let agent = Agent::new(&[("a", b"one\none\n"), ("b", b"two\n")]);
    let edits = [
        json!({ "path": "n1", "old_text": "", "new_text": "new\n" }),
        json!({ "path": "b", "old_text": "two", "new_text": "2" }),
        json!({ "path": "b", "old_text": "2\n", "new_text": "3\n" }),
    ];
    for at in 0..=edits.len() {
        let mut call = edits.to_vec();
        call.insert(at, json!({ "path": "a", "old_text": "one", "new_text": "1" }));
        call.push(json!({ "path": "missing", "old_text": "x", "new_text": "y" }));
        let refused = agent.edit(json!(call)).await;
        let text = refused.joined();
        assert!(refused.is_error, "{text}");
        assert!(text.starts_with("edit: 2 edits fail of 5; nothing is staged\n"), "{text}");
        assert!(
            text.contains(&format!("\nedits[{at}] 'a': old_text occurs 2 times (lines 1, 2)")),
            "{text}"
        );
        assert!(text.contains("\nedits[4] 'missing': the file does not exist"), "{text}");
        assert_eq!(agent.pending(), 0);
        assert!(!agent.exists("n1"));
        assert_eq!((agent.read("a"), agent.read("b")), (b"one\none\n".to_vec(), b"two\n".to_vec()));
    }
    assert!(!agent.edit(json!(edits)).await.is_error);
    agent.resolve().await;
    assert_eq!((agent.read("b"), agent.read("n1")), (b"3\n".to_vec(), b"new\n".to_vec()));
}

// cases 9 and 151
#[tokio::test]
async fn case_009_edits_of_one_file_are_made_in_order_and_never_garble() {
    let agent = Agent::new(&[("a", b"fn f() {}\nfn g() {}\n")]);
    // Both old texts hold both functions; each adds a comment above another one.
    let both = json!([
        { "path": "a", "old_text": "fn f() {}\nfn g() {}\n", "new_text": "// F\nfn f() {}\nfn g() {}\n" },
        { "path": "./a", "old_text": "fn f() {}\nfn g() {}\n", "new_text": "fn f() {}\n// G\nfn g() {}\n" },
    ]);
    let staged = agent.edit(both).await.joined();
    assert!(
        staged.contains(
            "Note: edits[1]: it changes text that an earlier edit of this call put there.\n"
        ),
        "{staged}"
    );
    agent.resolve().await;
    assert_eq!(agent.read("a"), b"// F\nfn f() {}\n// G\nfn g() {}\n");
    // An edit whose text an earlier one changed is told so.
    let refused = agent
        .edit(json!([
            { "path": "a", "old_text": "fn f() {}", "new_text": "fn f2() {}" },
            { "path": "a", "old_text": "// F\nfn f() {}", "new_text": "fn f() {}" },
        ]))
        .await
        .joined();
    assert!(
        refused.contains(
            "edits[1] 'a': old_text is no longer there: edits[0] of this call changed it"
        ),
        "{refused}"
    );
    // Eight at once, all of them present.
    let agent =
        Agent::new(&[("b", (0..8).map(|n| format!("line {n}\n")).collect::<String>().as_bytes())]);
    let edits: Vec<Value> = (0..8)
        .rev()
        .map(|n| json!({ "path": "b", "old_text": format!("line {n}\n"), "new_text": format!("{n}\nmore\n") }))
        .collect();
    agent.edit(json!(edits)).await;
    agent.resolve().await;
    let expect: String = (0..8).map(|n| format!("{n}\nmore\n")).collect();
    assert_eq!(agent.read("b"), expect.as_bytes());
}

// CONTRACT S6, case 25
#[tokio::test]
async fn s6_case_025_edits_that_cancel_out_stage_nothing() {
    let agent = Agent::new(&[("a", b"one\n"), ("b", b"x\n")]);
    let refused = agent
        .edit(json!([
            { "path": "a", "old_text": "one", "new_text": "two" },
            { "path": "b", "old_text": "x", "new_text": "y" },
            { "path": "a", "old_text": "two", "new_text": "one" },
        ]))
        .await;
    assert_eq!(refused.joined(), "edit: no change needed: the edits together leave 'a' as it is");
    assert!(refused.is_error && agent.pending() == 0);
    let same = agent.edit(json!([{ "path": "a", "old_text": "one", "new_text": "one" }])).await;
    assert!(same.joined().contains("edits[0] 'a': no change needed"), "{}", same.joined());
    let none = agent.edit(json!([])).await;
    assert_eq!(none.joined(), "edit: edits is empty; give at least one");
}

// CONTRACT W3, cases 143 and 147
#[tokio::test]
async fn w3_case_143_nothing_outside_the_root_is_reached() {
    let outside = TempDir::new().unwrap();
    std::fs::write(outside.path().join("x"), "one\n").unwrap();
    let agent = Agent::new(&[("a", b"one\n"), (".git/config", b"one\n")]);
    let link = |name: &str, to: &str| {
        std::os::unix::fs::symlink(to, agent.folder.path().join(name)).unwrap()
    };
    link("out", outside.path().join("x").to_str().unwrap());
    link("dir", outside.path().to_str().unwrap());
    link("in", "a");
    for path in ["../x", "/etc/passwd", "out", "dir/x", "dir/new", ".git/config", ".xd/x"] {
        let refused =
            agent.edit(json!([{ "path": path, "old_text": "one", "new_text": "1" }])).await;
        assert!(refused.is_error, "{path}: {}", refused.joined());
        let created = agent.edit(json!([{ "path": path, "old_text": "", "new_text": "1" }])).await;
        assert!(created.is_error, "{path}: {}", created.joined());
        for patch in [
            format!("--- {path}\n+++ {path}\n@@ -1 +1 @@\n-one\n+1\n"),
            format!("--- /dev/null\n+++ {path}\n@@ -0,0 +1 @@\n+1\n"),
            format!("diff --git a/a b/{path}\nrename from a\nrename to {path}\n"),
            format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch\n"),
        ] {
            // A link itself may be deleted: it lies inside.
            if patch.contains("Delete") && path == "out" {
                continue;
            }
            let refused = agent.patch(&patch).await;
            assert!(refused.is_error, "{path}: {patch}{}", refused.joined());
        }
    }
    assert_eq!(agent.pending(), 0);
    assert_eq!(std::fs::read(outside.path().join("x")).unwrap(), b"one\n");
    // A link that stays inside is followed, and stays a link.
    let staged = agent.edit(json!([{ "path": "in", "old_text": "one", "new_text": "1" }])).await;
    assert!(staged.joined().contains("Edit: 1 replacement in 1 file\n"), "{}", staged.joined());
    agent.resolve().await;
    assert_eq!(agent.read("a"), b"1\n");
    assert!(agent.folder.path().join("in").is_symlink());
}

// CONTRACT F4, case 141
#[tokio::test]
async fn f4_case_141_the_mode_stays() {
    let agent = Agent::new(&[("run.sh", b"#!/bin/sh\necho one\n")]);
    let path = agent.folder.path().join("run.sh");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o750)).unwrap();
    agent.edit(json!([{ "path": "run.sh", "old_text": "one", "new_text": "two" }])).await;
    agent.resolve().await;
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o750);
    let patch = "diff --git a/run.sh b/run.sh\nold mode 100755\nnew mode 100644\n";
    let staged = agent.patch(patch).await.joined();
    assert!(staged.contains("Patch: 1 file with another mode\n"), "{staged}");
    agent.resolve().await;
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

// Case 40: the example of each device is a call that can run.
#[tokio::test]
async fn case_040_the_examples_in_documents_and_errors_run() {
    let agent = Agent::new(&[("src/main.rs", b"fn main() {\n    old();\n    let a = 1;\n")]);
    let tools: [(&str, Box<dyn Tool>); 2] = [
        ("edit", Box::new(TextEditTool::default())),
        ("apply_patch", Box::new(ApplyPatchTool::default())),
    ];
    for (name, tool) in tools {
        assert!(tool.only_stages());
        let check = tool.argument_check().unwrap();
        let example = check.example().unwrap();
        assert!(check.check(&example).is_empty());
        assert!(!check.check(&json!({ "edits": 1 })).is_empty());
        let error = agent.call(name, json!({ "edits": 1 })).await.joined();
        assert!(error.ends_with(&format!("Example: {example}")), "{error}");
        let staged = agent.call(name, example).await;
        assert!(!staged.is_error, "{}", staged.joined());
        agent.resolve().await;
    }
    assert_eq!(agent.read("src/main.rs"), b"fn main() {\n    new();\n    let a = 2;\n");
    // The form of another tool passes the device's check and the call.
    let other =
        json!({ "file_path": "src/main.rs", "old_string": "new()", "new_string": "newer()" });
    assert!(TextEditTool::default().argument_check().unwrap().check(&other).is_empty());
    assert!(!agent.call("edit", other).await.is_error);
}

#[tokio::test]
async fn d12_a_cancelled_call_stages_nothing() {
    let agent = Agent::new(&[("a", b"one\n")]);
    let scope = CallScope::model();
    scope.cancel.cancel();
    for (name, arguments) in [
        ("edit", json!({ "path": "a", "old_text": "one", "new_text": "1" })),
        ("apply_patch", json!({ "patch": "--- a\n+++ a\n@@ -1 +1 @@\n-one\n+1\n" })),
    ] {
        let result =
            agent.host.run_batch(&[ToolCall::new("1", name, arguments)], &scope).await.remove(0);
        assert!(result.is_error, "{}", result.joined());
    }
    assert_eq!(agent.pending(), 0);
}

#[tokio::test]
async fn w5_a_long_preview_is_cut_and_read_under_its_number() {
    let long = format!("old {}\n", "x".repeat(100));
    let agent = Agent::new(&[("a", long.repeat(400).as_bytes()), ("b", b"old\n")]);
    let all = |path: &str| json!({ "path": path, "old_text": "old", "new_text": "new", "replace_all": true });
    let staged = agent.edit(json!([all("a"), all("b")])).await.joined();
    assert!(
        staged.contains(
            "[Cut here. Not shown in full, 2 files:]\na: 400 replacements\nb: 1 replacement\n"
        ),
        "{staged}"
    );
    assert!(staged.ends_with("Read the whole preview at xd://resolve@1.\n"), "{staged}");
    assert!(staged.len() < 50_000);
    let page = agent.call("read", json!({ "path": "xd://resolve@1" })).await;
    assert!(page.joined().contains("Edit: 401 replacements in 2 files"), "{}", page.joined());
    // And an error of many faults is cut as well.
    let edits: Vec<Value> = (0..300)
        .map(|n| json!({ "path": "a", "old_text": format!("absent {n}"), "new_text": "" }))
        .collect();
    let refused = agent.edit(json!(edits)).await.joined();
    assert!(refused.len() < 17_000 && refused.contains("300 edits fail of 300"), "{refused}");
}
