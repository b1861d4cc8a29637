//! Staging a stale change set again where it does not touch what changed (`CONTRACT F7`).
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod tree;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use tree::Tree;
use xd_changeset::{ByteEdit, ChangeSet, Options, RelPath, RestageError};

fn p(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

const SOURCE: &[u8] = b"one\ntwo\nthree\nfour\nfive\n";

/// Stages `two` → `TWO`, lets the file become `present`, stages again and applies.
fn carried(present: &[u8]) -> Result<Vec<u8>, RestageError> {
    let tree = Tree::new(&[("f", SOURCE)]);
    let root = tree.root();
    let set =
        ChangeSet::builder(&root).edit(&p("f"), vec![ByteEdit::new(4..7, "TWO")]).build().unwrap();
    tree.write("f", present);
    let again = set.restage(&root)?;
    assert_eq!(tree.read("f"), present, "staging again writes nothing");
    again.apply(&root, Options::new().durable(false)).unwrap();
    Ok(tree.read("f"))
}

#[test]
fn f7_edits_follow_their_lines() {
    for (present, expect) in [
        ("one\ntwo\nthree\nfour\nfive\n", "one\nTWO\nthree\nfour\nfive\n"),
        ("zero\none\ntwo\nthree\nfour\nfive\n", "zero\none\nTWO\nthree\nfour\nfive\n"),
        ("two\nthree\nfour\nfive\n", "TWO\nthree\nfour\nfive\n"),
        ("one\ntwo\nthree\nfour\nfive\nsix\n", "one\nTWO\nthree\nfour\nfive\nsix\n"),
        ("ONE\ntwo\nTHREE\nfour\n", "ONE\nTWO\nTHREE\nfour\n"),
        ("one\nnew\ntwo\nthree\nfour\nfive", "one\nnew\nTWO\nthree\nfour\nfive"),
    ] {
        assert_eq!(String::from_utf8(carried(present.as_bytes()).unwrap()).unwrap(), expect);
    }
}

#[test]
fn f7_edits_that_touch_the_drift_are_refused_and_named() {
    for present in ["one\ntwo!\nthree\nfour\nfive\n", "one\nthree\nfour\nfive\n", ""] {
        let error = carried(present.as_bytes()).unwrap_err().to_string();
        assert!(error.contains("'f'") && error.contains("line 2"), "{error}");
    }
}

#[test]
fn f7_other_changes_take_the_present_file_or_refuse() {
    let tree = Tree::new(&[
        ("moved", b"m"),
        ("mode", b"x"),
        ("gone", b"g"),
        ("whole", b"w"),
        ("same", b"s"),
    ]);
    let root = tree.root();
    let moves = ChangeSet::builder(&root)
        .rename(&p("moved"), &p("to"))
        .set_mode(&p("mode"), 0o755)
        .build()
        .unwrap();
    let gone = ChangeSet::builder(&root).delete(&p("gone")).build().unwrap();
    let whole = ChangeSet::builder(&root).replace(&p("whole"), "W").build().unwrap();
    let created = ChangeSet::builder(&root).create(&p("new"), "n", None).build().unwrap();
    let same = ChangeSet::builder(&root).replace(&p("same"), "S").build().unwrap();
    for path in ["moved", "mode", "gone", "whole", "new"] {
        tree.write(path, b"changed meanwhile");
    }
    fs::set_permissions(tree.at("same"), fs::Permissions::from_mode(0o600)).unwrap();
    for (set, path) in [(gone, "'gone'"), (whole, "'whole'"), (created, "'new'")] {
        let error = set.restage(&root).unwrap_err().to_string();
        assert!(error.contains(path), "{error}");
    }
    let quick = Options::new().durable(false);
    moves.restage(&root).unwrap().apply(&root, quick).unwrap();
    assert_eq!((tree.read("to"), tree.mode("mode")), (b"changed meanwhile".to_vec(), 0o755));
    same.restage(&root).unwrap().apply(&root, quick).unwrap();
    assert_eq!((tree.read("same"), tree.mode("same")), (b"S".to_vec(), 0o600));
}
