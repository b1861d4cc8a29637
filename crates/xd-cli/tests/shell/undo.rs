//! `xd undo`, `redo` and `restage`.

use std::{fs, os::unix::fs::PermissionsExt};

use crate::Folder;

fn one() -> Folder {
    let folder = Folder::new(&[("a.ts", "old(1);\r\nkeep();"), ("b.ts", "old(2);\n")]);
    folder.stage();
    assert_eq!(folder.xd(&["resolve", "Both."]).status, 0);
    folder
}

// CONTRACT F6, L1
#[test]
fn f6_undo_puts_every_byte_back_and_redo_writes_them_again() {
    let folder = Folder::new(&[("a.ts", "old(1);\r\nkeep();"), ("b.ts", "old(2);\n")]);
    let mode =
        |mode| fs::set_permissions(folder.path().join("a.ts"), PermissionsExt::from_mode(mode));
    mode(0o755).unwrap();
    let before = folder.tree();
    folder.stage();
    assert_eq!(folder.xd(&["resolve", "Both."]).status, 0);
    let after = folder.tree();
    let run = folder.xd(&["undo"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.out.starts_with("Undone @1 (AST Edit: 2 replacements in 2 files)."), "{run:?}");
    assert!(run.out.contains("b.ts") && run.out.contains("`xd redo 1`"), "{run:?}");
    assert_eq!(folder.tree(), before);
    let run = folder.xd(&["--json", "redo", "1", "It", "was", "right."]).json();
    assert_eq!((&run["action"]["number"], &run["action"]["change"]), (&3.into(), &1.into()));
    assert_eq!(run["action"]["direction"], "redo");
    assert_eq!(run["action"]["files"].as_array().unwrap().len(), 2, "{run}");
    assert_eq!(folder.tree(), after);
    assert_eq!(folder.xd(&["undo", "@1", "Once more."]).status, 0);
    assert_eq!(folder.tree(), before);
    let bits = fs::metadata(folder.path().join("a.ts")).unwrap().permissions().mode();
    assert_eq!(bits & 0o777, 0o755);
    let log = folder.xd(&["log"]).out;
    for wanted in [
        "@2  applied by a person  Undo: @1 AST Edit",
        "Undone at the shell.",
        "@3  applied by a person  Redo: @1 AST Edit",
        "It was right.",
        "@4  applied",
        "Once more.",
    ] {
        assert!(log.contains(wanted), "{wanted}: {log}");
    }
    // What was undone can be shown, like every action.
    assert!(folder.xd(&["show", "2", "--diff"]).out.contains("+old(2);"));
}

// CONTRACT F6: otherwise it says which differ and does nothing.
#[test]
fn f6_undo_lists_what_differs_and_does_nothing() {
    let folder = one();
    folder.put("a.ts", "new(1);\r\nmine();");
    fs::remove_file(folder.path().join("b.ts")).unwrap();
    let before = folder.tree();
    let run = folder.xd(&["undo", "1"]);
    run.is_plain_error("staged action @1 cannot be undone: 'a.ts' ");
    assert!(run.err.contains("'b.ts' ") && run.err.contains("Nothing was written"), "{run:?}");
    assert!(run.err.contains("changed since (") && !run.err.contains("preview"), "{run:?}");
    assert_eq!(folder.tree(), before);
    let status = folder.xd(&["status"]).out;
    assert!(status.starts_with("Nothing is pending."), "{status}");
    let json = folder.xd(&["--json", "undo", "1"]);
    assert!(json.json()["error"].as_str().unwrap().contains("'b.ts'"), "{json:?}");
    assert_eq!(json.status, 2);
    // Where the files are again what was written, it goes.
    folder.put("a.ts", "new(1);\r\nkeep();");
    folder.put("b.ts", "new(2);\n");
    assert_eq!(folder.xd(&["undo", "1"]).status, 0);
}

#[test]
fn f6_undo_takes_the_change_that_was_written_last() {
    let folder = Folder::new(&[("a.ts", "f(1);\n"), ("b.ts", "g(1);\n")]);
    folder.xd(&["edit", "-p", "f($A)", "-r", "ff($A)", "a.ts"]);
    folder.xd(&["edit", "-p", "g($A)", "-r", "gg($A)", "b.ts"]);
    folder.xd(&["resolve", "2", "First."]);
    folder.xd(&["resolve", "1", "Then."]);
    let both = |a: &str, b: &str| {
        assert_eq!((folder.get("a.ts"), folder.get("b.ts")), (format!("{a}\n"), format!("{b}\n")));
    };
    assert_eq!(folder.xd(&["undo"]).status, 0);
    both("f(1);", "gg(1);");
    assert_eq!(folder.xd(&["undo"]).status, 0);
    both("f(1);", "g(1);");
    let run = folder.xd(&["undo"]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.out.starts_with("Nothing is there to be undone."), "{run:?}");
    folder.xd(&["redo"]);
    both("f(1);", "gg(1);");
    folder.xd(&["redo"]);
    both("ff(1);", "gg(1);");
    assert_eq!(folder.xd(&["redo"]).status, 1);
}

#[test]
fn undo_of_what_is_not_there_names_it() {
    let folder = one();
    folder.xd(&["undo", "7"]).is_plain_error("no staged action has number 7");
    folder.xd(&["redo", "1"]).is_plain_error("@1 is not undone");
    folder.xd(&["undo", "#1"]).is_plain_error("'#1' is not the number");
    folder.put("c.ts", "old(3);\n");
    folder.stage();
    folder.xd(&["undo", "2"]).is_plain_error("@2 was never applied");
    folder.xd(&["undo", "1"]);
    let run = folder.xd(&["undo", "1"]);
    run.is_plain_error("@1 is undone already, by @3");
    assert!(run.err.contains("xd redo 1"), "{run:?}");
    assert_eq!(folder.get("b.ts"), "old(2);\n");
    let long = "x".repeat(2_001);
    folder.xd(&["redo", "1", &long]).is_plain_error("2001 characters; 2000 is the most");
}

#[test]
fn with_nothing_staged_nothing_is_made() {
    let folder = Folder::new(&[]);
    for (command, key) in [("undo", "action"), ("redo", "action"), ("restage", "staged")] {
        let run = folder.xd(&[command]);
        assert_eq!((run.status, run.err.as_str()), (1, ""), "{run:?}");
        let run = folder.xd(&["--json", command]);
        assert!(run.status == 1 && run.json()[key].is_null(), "{run:?}");
        assert!(!folder.path().join(".xd").exists());
    }
}

// CONTRACT F6: what was kept is gone, so that nothing can be put back; it is said.
#[test]
fn an_undo_without_its_change_is_refused() {
    let folder = one();
    fs::remove_file(folder.path().join(".xd/sessions/shell/staged/1.json")).unwrap();
    folder.xd(&["undo"]).is_plain_error("@1 cannot be undone: its change was not kept");
    assert_eq!(folder.get("b.ts"), "new(2);\n");
}

// CONTRACT F7
#[test]
fn f7_restage_makes_a_stale_action_anew_where_its_edits_do_not_touch() {
    let folder = Folder::new(&[("a.ts", "one();\n\n\n\nold(1);\n")]);
    folder.stage();
    let run = folder.xd(&["restage"]);
    run.is_plain_error("@1 is not stale");
    folder.put("a.ts", "mine();\none();\n\n\n\nold(1);\n");
    let run = folder.xd(&["resolve", "1", "Go."]);
    run.is_plain_error("'a.ts'");
    assert!(run.err.contains("xd restage 1"), "{run:?}");
    let run = folder.xd(&["restage", "1"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.out.contains("Staged as @2; no file is changed yet."), "{run:?}");
    assert!(run.out.contains("It supersedes @1, which is discarded."), "{run:?}");
    assert_eq!(folder.get("a.ts"), "mine();\none();\n\n\n\nold(1);\n");
    folder.xd(&["resolve", "1", "Go."]).is_plain_error("@1 is already discarded");
    folder.xd(&["restage", "1"]).is_plain_error("@1 is discarded");
    assert!(folder.xd(&["log"]).out.contains("Superseded by @2"));
    assert_eq!(folder.xd(&["resolve", "Now."]).status, 0);
    assert_eq!(folder.get("a.ts"), "mine();\none();\n\n\n\nnew(1);\n");
    assert_eq!(folder.xd(&["undo"]).status, 0);
    assert_eq!(folder.get("a.ts"), "mine();\none();\n\n\n\nold(1);\n");
}

// CONTRACT F7
#[test]
fn f7_restage_refuses_where_the_edits_touch() {
    let folder = Folder::new(&[("a.ts", "old(1);\n"), ("b.ts", "old(2);\n")]);
    folder.stage();
    folder.put("a.ts", "old(1, 2);\n");
    let run = folder.xd(&["restage"]);
    run.is_plain_error("staged action @1 cannot be staged again by itself: 'a.ts'");
    assert!(folder.xd(&["status"]).out.starts_with("1 staged action is pending."));
    // What is already as it would be is left out, and said in the label.
    folder.put("a.ts", "new(1);\n");
    let json = folder.xd(&["--json", "restage"]).json();
    assert_eq!(json["staged"]["number"], 2, "{json}");
    assert_eq!(json["staged"]["supersedes"], 1, "{json}");
    assert_eq!(json["staged"]["files"].as_array().unwrap().len(), 1, "{json}");
    let label = json["staged"]["label"].as_str().unwrap();
    assert!(label.ends_with("of which 1 of 2 files are left"), "{label}");
    folder.put("b.ts", "new(2);\n");
    folder.xd(&["restage"]).is_plain_error("@2 would change nothing any more");
}
