//! What is staged and rejected, or refused, leaves every file as it was: bytes, mode, owner, links,
//! attributes, and the times at which content and state last changed (`CONTRACT F2`, cases 21, 23
//! and 29).
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod tree;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::Path;

use tree::Tree;
use xd_changeset::{ApplyError, Builder, ByteEdit, ChangeSet, Options, RelPath};

fn p(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

type Seen = BTreeMap<String, Vec<i64>>;

/// Everything that the system tells of every name but the time of the last look, and a sum of the
/// bytes. Nothing is left out, not even the state folder.
fn everything(folder: &Path, prefix: &str, seen: &mut Seen) {
    let note = |seen: &mut Seen, name: String, path: &Path| {
        let is = fs::symlink_metadata(path).unwrap();
        let bytes = match is.is_file() {
            true => fs::read(path).unwrap(),
            false => fs::read_link(path)
                .map(|target| target.to_string_lossy().into_owned().into_bytes())
                .unwrap_or_default(),
        };
        let sum = bytes
            .iter()
            .fold(7_i64, |sum, byte| sum.wrapping_mul(1_000_003).wrapping_add(i64::from(*byte)));
        let mut attributes = vec![0; 4096];
        let len = rustix::fs::llistxattr(path, &mut attributes[..]).unwrap_or(0);
        let facts = vec![
            i64::from(is.mode()),
            i64::from(is.uid()),
            i64::from(is.gid()),
            is.ino().cast_signed(),
            is.nlink().cast_signed(),
            is.size().cast_signed(),
            is.mtime(),
            is.mtime_nsec(),
            is.ctime(),
            is.ctime_nsec(),
            len.cast_signed() as i64,
            sum,
        ];
        seen.insert(name, facts);
    };
    note(seen, format!("{prefix}."), folder);
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            everything(&entry.path(), &format!("{name}/"), seen);
        } else {
            note(seen, name, &entry.path());
        }
    }
}

fn look(tree: &Tree) -> Seen {
    let mut seen = Seen::new();
    everything(tree.path(), "", &mut seen);
    seen
}

fn full_tree() -> Tree {
    let tree = Tree::new(&[
        ("crlf", b"one\r\ntwo\r\n"),
        ("mark", b"\xef\xbb\xbfx\n"),
        ("latin", b"caf\xe9\n"),
        ("binary", b"\0\x01\xff"),
        ("empty", b""),
        ("run", b"#!/bin/sh"),
        ("twin", b"twin"),
        ("sub/deep/f", b"f\n"),
        (".xd/kept", b"state"),
    ]);
    fs::hard_link(tree.at("twin"), tree.at("sub/twin")).unwrap();
    symlink("crlf", tree.at("link")).unwrap();
    fs::set_permissions(tree.at("run"), fs::Permissions::from_mode(0o4750)).unwrap();
    let _ = rustix::fs::setxattr(
        tree.at("crlf"),
        "user.mark",
        b"kept",
        rustix::fs::XattrFlags::empty(),
    );
    tree
}

/// One of every operation, and a content that has no room in memory.
fn stage(builder: &mut Builder) {
    builder
        .edit(&p("link"), vec![ByteEdit::new(0..3, "ONE")])
        .replace(&p("twin"), "both")
        .edit(&p("latin"), vec![ByteEdit::new(0..1, "C")])
        .create(&p("sub/new/n"), vec![b'n'; 9 << 20], None)
        .delete(&p("binary"))
        .rename(&p("mark"), &p("sub/mark"))
        .rename(&p("empty"), &p("Empty"))
        .set_mode(&p("run"), 0o755);
}

#[test]
fn f2_case_021_case_029_what_is_staged_and_rejected_leaves_no_trace() {
    let tree = full_tree();
    let root = tree.root();
    let before = look(&tree);
    let mut builder = ChangeSet::builder(&root);
    stage(&mut builder);
    let set = builder.build().unwrap();
    assert_eq!(set.len(), 8);
    set.check(&root).unwrap();
    assert!(!set.unified(3).is_empty());
    let stored = serde_json::to_string(&set).unwrap();
    drop((set, builder));
    let again: ChangeSet = serde_json::from_str(&stored).unwrap();
    again.restage(&root).unwrap();
    drop(again);
    assert_eq!(look(&tree), before);
}

/// Neither does what is refused at the last moment, beyond the lock that it had to take.
#[test]
fn f2_a_refused_apply_leaves_every_file_as_it_was() {
    let tree = full_tree();
    let root = tree.root();
    let mut builder = ChangeSet::builder(&root);
    stage(&mut builder);
    let set = builder.build().unwrap();
    tree.write("latin", b"caf\xe8\n");
    let mut before = look(&tree);
    let error = set.apply(&root, Options::new()).unwrap_err();
    assert!(matches!(error, ApplyError::Stale(_)), "{error}");
    let mut after = look(&tree);
    for seen in [&mut before, &mut after] {
        seen.retain(|name, _| !name.starts_with(".xd/"));
    }
    assert_eq!(after, before);
}
