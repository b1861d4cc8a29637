//! `xd edit`.

use crate::Folder;

#[test]
fn s4_a_staged_edit_changes_no_file_and_says_how_to_go_on() {
    let folder = Folder::new(&[("a.ts", "old(1);\n"), ("b/c.py", "old(2)\n")]);
    let before = folder.tree();
    let run = folder.xd(&["edit", "-p", "old($A)", "-r", "new($A)", "."]);
    assert_eq!(run.status, 0, "{run:?}");
    for wanted in
        ["2 replacements in 2 files", "a.ts", "b/c.py", "-old(1);", "+new(1);", "xd resolve 1"]
    {
        assert!(run.out.contains(wanted), "{wanted}: {run:?}");
    }
    assert_eq!(folder.tree(), before);
}

// CONTRACT S6
#[test]
fn s6_nothing_matched_is_status_1_and_nothing_is_pending() {
    let folder = Folder::new(&[("a.ts", "f(1);\n")]);
    let run = folder.xd(&["edit", "-p", "old($A)", "-r", "new($A)", "."]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.out.starts_with("No replacements made"), "{run:?}");
    assert_eq!(folder.xd(&["status"]).out, "Nothing is pending.\n");
}

#[test]
fn repeated_pairs_make_one_action() {
    let folder = Folder::new(&[("a.ts", "f(1);\ng(2);\n")]);
    let run =
        folder.xd(&["edit", "-p", "f($A)", "-r", "ff($A)", "-p", "g($A)", "-r", "gg($A)", "a.ts"]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(folder.xd(&["resolve", "Both are renamed."]).status, 0);
    assert_eq!(folder.get("a.ts"), "ff(1);\ngg(2);\n");
}

// CONTRACT A1, S7
#[test]
fn a1_what_is_refused_names_the_operand_and_stages_nothing() {
    let folder = Folder::new(&[("a.ts", "f(1);\n")]);
    for (arguments, named) in [
        (&["edit", "-p", "f($A)", "-r", "g($B)", "."][..], "$B"),
        (&["edit", "-p", "f($A)", "."][..], "--rewrite"),
        (
            &["edit", "-p", "f($A)", "-p", "g($A)", "-r", "h($A)", "."][..],
            "2 patterns (-p) but 1 rewrite (-r)",
        ),
        (&["edit", "-p", "f($A)", "-r", "g($A)", "missing"][..], "'missing' does not exist"),
        (&["edit", "-p", "f($A)", "-r", "g($A)", "../.."][..], "'../..' is outside"),
        (&["edit", "-p", "f($A)", "-r", "g($A)", "-l", "klingon", "."][..], "klingon"),
        (&["edit", "-p", "", "-r", "g()", "."][..], "is empty"),
        (&["edit", "-p", "f( $A", "-r", "g()", "."][..], "f( $A"),
    ] {
        let run = folder.xd(arguments);
        assert_eq!(run.status, 2, "{arguments:?}: {run:?}");
        assert!(run.err.contains(named), "{arguments:?}: {run:?}");
        assert_eq!(folder.xd(&["status"]).out, "Nothing is pending.\n");
    }
}

#[test]
fn only_files_of_the_language_are_read() {
    let folder = Folder::new(&[("a.ts", "old(1);\n"), ("b.py", "old(2)\n")]);
    let run = folder.xd(&["--json", "edit", "-p", "old($A)", "-r", "new($A)", "-l", "python", "."]);
    let files = run.json()["staged"]["files"].clone();
    assert_eq!(files.as_array().unwrap().len(), 1, "{files}");
    assert_eq!(files[0]["path"], "b.py");
}

#[test]
fn json_says_what_was_staged() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    let staged = folder.xd(&["--json", "edit", "-p", "old($A)", "-r", "new($A)", "."]).json();
    assert_eq!(staged["v"], 1);
    let staged = &staged["staged"];
    assert_eq!(staged["number"], 1);
    assert_eq!(staged["id"], "pending-action:ast_edit:1");
    assert_eq!(staged["label"], "AST Edit: 1 replacement in 1 file");
    assert!(staged["preview"].as_str().unwrap().contains("+new(1);"), "{staged}");
    let none = folder.xd(&["--json", "edit", "-p", "absent()", "-r", "", "."]);
    assert_eq!(none.status, 1);
    assert_eq!(none.json()["staged"], serde_json::Value::Null);
    let error = folder.xd(&["--json", "edit", "-p", "f($A)", "-r", "g($B)", "."]);
    assert_eq!(error.status, 2);
    assert!(error.json()["error"].as_str().unwrap().contains("$B"));
}

// CONTRACT S6, S7: only what is staged has a place to be kept in.
#[test]
fn s6_s7_what_stages_nothing_makes_no_state() {
    let folder = Folder::new(&[("a.ts", "f(1);\n")]);
    for (pattern, rewrite, path) in [
        ("old($A)", "new($A)", "."),
        ("f($A)", "f($A)", "."),
        ("f($A)", "$B", "."),
        ("f($A)", "g()", "b"),
    ] {
        let run = folder.xd(&["edit", "-p", pattern, "-r", rewrite, path]);
        assert!(matches!(run.status, 1 | 2), "{run:?}");
        assert!(!folder.path().join(".xd").exists(), "{run:?}");
    }
}

// CONTRACT S7: an error names what was typed, and its hint is about that.
#[test]
fn s7_errors_name_the_operand_as_it_was_typed() {
    let folder = Folder::new(&[("a.ts", "f(g(1));\n")]);
    for (arguments, what, hint) in [
        (&["-p", "f(", "-r", "g()", "."][..], "-p 'f(' cannot be used", "A pattern is"),
        (&["-p", " ", "-r", "g()", "."], "-p '' is empty", "A pattern is"),
        (&["-p", "$A", "-r", "g()", "."], "-p '$A'", "A pattern is"),
        (&["-p", "f($A)", "-r", "g($B)", "."], "-r 'g($B)' uses `$B`", "A rewrite may use"),
        (
            &["-p", "f()", "-r", "g()", "-p", "f()", "-r", "h()", "."],
            "-p 'f()' is given twice",
            "Keep one",
        ),
        (&["-p", "f()", "-r", "g()", "a.ts", "b"], "path 'b' does not exist", "Paths count from"),
        (&["-p", "f()", "-r", "g()", "/"], "path '/' is outside", "Paths count from"),
        (&["-p", "f()", "-r", "g()", ""], "path", "Paths count from"),
        (&["-p", "f()", "-r", "g()", ".git/x"], "path '.git/x'", "Paths count from"),
        (&["-p", "f()", "-r", "g()", "-l", "x", "."], "-l 'x' is no language", "typescript"),
        (&["-p", "f($A)", "-r", "f(", "."], "-r 'f('", "the -r"),
        (
            &["-p", "f($A)", "-r", "h($A)", "-p", "f($$$A)", "-r", "k($$$A)", "."],
            "-p 'f($$$A)' at line 1",
            "Stage one",
        ),
    ] {
        let mut all = vec!["edit"];
        all.extend(arguments);
        let run = folder.xd(&all);
        run.is_plain_error(what);
        assert!(run.err.lines().nth(1).unwrap().contains(hint), "{run:?}");
        for place in ["ops[", "paths[", "`pat`", "`out`"] {
            assert!(!run.err.contains(place), "{run:?}");
        }
    }
}
