//! `grep`: what it finds, what it leaves out, how its answers are bounded.

use serde_json::json;
use xd_resolve::{Tier, ToolCall};

use crate::{Room, put};

#[tokio::test]
async fn a_pattern_or_a_literal_is_found_with_lines_around_it() {
    let room = Room::new(&[("a.rs", "one\nfn f(x) {}\nthree\n"), ("b/c.txt", "f(x)\r\nF(X)\n")]);
    let all = room.text("grep", json!({ "pattern": r"f\(\w\)" })).await;
    assert_eq!(all, "a.rs:2: fn f(x) {}\nb/c.txt:1: f(x)\n\n2 matching lines in 2 files.");
    let literal = json!({ "pattern": "f(x)", "literal": true, "ignore_case": true, "path": "b" });
    let found = room.text("grep", literal).await;
    assert_eq!(found, "b/c.txt:1: f(x)\nb/c.txt:2: F(X)\n\n2 matching lines in 1 file.");
    let around = room.text("grep", json!({ "pattern": "fn", "context": 1 })).await;
    assert!(around.starts_with("a.rs:1- one\na.rs:2: fn f(x) {}\na.rs:3- three\n"), "{around}");
    let files = room.text("grep", json!({ "pattern": "f", "files_only": true })).await;
    assert_eq!(files, "a.rs: 1\nb/c.txt: 1\n\n2 matching lines in 2 files.");
    let glob = room.text("grep", json!({ "pattern": "f", "glob": ["*.rs", "!b/**"] })).await;
    assert!(glob.contains("a.rs:2") && !glob.contains("c.txt"), "{glob}");
    assert_eq!(room.text("grep", json!({ "pattern": "nowhere" })).await, "No lines match.");
}

#[tokio::test]
async fn ignored_hidden_and_binary_files_are_left_out() {
    let room = Room::new(&[
        (".gitignore", "build/\n"),
        ("build/x.txt", "needle\n"),
        (".env", "needle\n"),
        (".git/config", "needle\n"),
        (".xd/log", "needle\n"),
        ("seen.txt", "needle\n"),
    ]);
    put(room.path(), "blob.bin", b"needle\n\0\0needle\n");
    let all = room.text("grep", json!({ "pattern": "needle" })).await;
    assert_eq!(
        all,
        "seen.txt:1: needle\n\n1 matching line in 1 file.\n1 file not searched: not text."
    );
    let hidden = room.text("grep", json!({ "pattern": "needle", "hidden": true })).await;
    assert!(hidden.contains(".env:1") && !hidden.contains(".git/") && !hidden.contains(".xd/"));
    // What is named itself is looked at, but for what belongs to git and to xd.
    let named = room.text("grep", json!({ "pattern": "needle", "path": "build/x.txt" })).await;
    assert!(named.contains("build/x.txt:1"), "{named}");
    for path in [".git", ".xd/log"] {
        let fault = room.fault("grep", json!({ "pattern": "needle", "path": path })).await;
        assert!(fault.contains(path) && fault.contains("not looked into"), "{fault}");
    }
}

// Invariant G8
#[tokio::test]
async fn g8_an_answer_is_bounded_and_says_where_the_rest_is() {
    let lines = |n: usize| (0..n).map(|n| format!("needle {n}\n")).collect::<String>();
    let room = Room::new(&[("a.txt", &lines(150)), ("b.txt", &lines(30))]);
    let first = room.text("grep", json!({ "pattern": "needle" })).await;
    assert!(first.contains("180 matching lines in 2 files. Shown are 1 to 100; "), "{first}");
    assert!(first.contains("offset 100.\n  a.txt: 50 more\n  b.txt: 30 more"), "{first}");
    let next = room.text("grep", json!({ "pattern": "needle", "offset": 100 })).await;
    assert!(next.starts_with("a.txt:101: needle 100\n"), "{next}");
    assert!(next.contains("b.txt:30: needle 29\n\n180 matching lines in 2 files."), "{next}");
    assert!(!next.contains("Shown are"), "{next}");
    // Long lines and many bytes are bounded too.
    let long = format!("needle {}\n", "é".repeat(5_000)).repeat(400);
    put(room.path(), "long.txt", long.as_bytes());
    let arguments = json!({ "pattern": "needle", "path": "long.txt", "limit": 1000 });
    let wide = room.text("grep", arguments).await;
    assert!(wide.len() < 40_000 && wide.contains("bytes more\n"), "{}", wide.len());
    assert!(wide.contains("400 matching lines in 1 file. Shown are 1 to "), "{}", wide.len());
}

// CONTRACT W3, Invariant G7
#[tokio::test]
async fn w3_g7_nothing_outside_is_searched() {
    let outside = tempfile::tempdir().unwrap();
    put(outside.path(), "secret.txt", b"needle\n");
    let room = Room::new(&[("in.txt", "needle\n")]);
    std::os::unix::fs::symlink(outside.path(), room.path().join("folder")).unwrap();
    std::os::unix::fs::symlink(outside.path().join("secret.txt"), room.path().join("link.txt"))
        .unwrap();
    let all = room.text("grep", json!({ "pattern": "needle", "hidden": true })).await;
    assert_eq!(all, "in.txt:1: needle\n\n1 matching line in 1 file.");
    let absolute = outside.path().display().to_string();
    for path in ["..", "folder", "link.txt", "folder/secret.txt", absolute.as_str()] {
        for (tool, pattern) in [("grep", "needle"), ("glob", "*")] {
            let fault = room.fault(tool, json!({ "pattern": pattern, "path": path })).await;
            assert!(!fault.contains("needle\n"), "{path}: {fault}");
        }
    }
}

#[tokio::test]
async fn bad_arguments_are_told_with_a_way_out() {
    let room = Room::new(&[]);
    for (arguments, words) in [
        (json!({ "pattern": "(" }), "set `literal`"),
        (json!({ "pattern": "" }), "empty"),
        (json!({ "pattern": "x", "path": "no/where" }), "there is no 'no/where'"),
        (json!({ "pattern": "x", "glob": "[" }), "'['"),
        (json!({ "pattern": "x", "context": "many" }), "Example: "),
        (json!({ "patern": "x" }), "`patern`"),
        (json!({}), "`pattern`"),
    ] {
        let fault = room.fault("grep", arguments.clone()).await;
        assert!(fault.starts_with("grep: ") && fault.contains(words), "{arguments}: {fault}");
    }
}

// CONTRACT W6
#[tokio::test]
async fn w6_looking_is_of_read_tier_and_running_of_exec_tier() {
    let room = Room::new(&[]);
    for (name, tier) in [("grep", Tier::Read), ("glob", Tier::Read), ("bash", Tier::Exec)] {
        assert_eq!(room.host.tier(&ToolCall::new("1", name, json!({}))), tier, "{name}");
    }
}
