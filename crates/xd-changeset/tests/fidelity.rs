//! What survives a change: bytes outside the edits, modes, owners, attributes, links
//! (`CONTRACT F4`, `CONTRACT W2`).
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod tree;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use tree::Tree;
use xd_changeset::{BuildError, ByteEdit, ChangeSet, Content, Options, RelPath};

fn p(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

/// Fast options: durability is the business of the crash tests.
fn quick() -> Options {
    Options::new().durable(false)
}

#[test]
fn case_131_case_135_case_137_bytes_outside_the_edit_are_untouched() {
    let sources: [&[u8]; 6] = [
        b"line\nna\xefve caf\xe9\n",
        b"\xef\xbb\xbfline one\r\ntwo",
        b"line\r\ntwo\nthree\r\n",
        b"line\0binary\xff\xfe",
        "line 😀 é\u{0301}\n".as_bytes(),
        b"line",
    ];
    for source in sources {
        let tree = Tree::new(&[("f", source)]);
        let root = tree.root();
        let at = source.windows(4).position(|window| window == b"line").unwrap();
        let set = ChangeSet::builder(&root)
            .edit(&p("f"), vec![ByteEdit::new(at..at + 4, "LINE")])
            .build()
            .unwrap();
        set.apply(&root, quick()).unwrap();
        let mut expect = source.to_vec();
        expect[at..at + 4].copy_from_slice(b"LINE");
        assert_eq!(tree.read("f"), expect);
    }
}

#[test]
fn w2_case_141_mode_owner_and_attributes_survive() {
    for mode in [0o755, 0o640, 0o2755, 0o4711, 0o600] {
        let tree = Tree::new(&[("f", b"old")]);
        fs::set_permissions(tree.at("f"), fs::Permissions::from_mode(mode)).unwrap();
        // Not every file system has user attributes; where it has, they must survive.
        let attribute = rustix_attribute(&tree);
        let owner = fs::metadata(tree.at("f")).map(|m| (m.uid(), m.gid())).unwrap();
        let root = tree.root();
        ChangeSet::builder(&root)
            .replace(&p("f"), "new")
            .build()
            .unwrap()
            .apply(&root, quick())
            .unwrap();
        assert_eq!(tree.mode("f"), mode);
        assert_eq!(fs::metadata(tree.at("f")).map(|m| (m.uid(), m.gid())).unwrap(), owner);
        if attribute {
            let mut value = [0; 8];
            let len = rustix::fs::getxattr(tree.at("f"), "user.mark", &mut value[..]).unwrap();
            assert_eq!(&value[..len], b"kept");
        }
    }
}

fn rustix_attribute(tree: &Tree) -> bool {
    rustix::fs::setxattr(tree.at("f"), "user.mark", b"kept", rustix::fs::XattrFlags::empty())
        .is_ok()
}

#[test]
fn w2_another_owner_survives() {
    let tree = Tree::new(&[("f", b"old")]);
    // Only a privileged process can give files away.
    if std::os::unix::fs::chown(tree.at("f"), Some(1234), Some(4321)).is_err() {
        return;
    }
    let root = tree.root();
    ChangeSet::builder(&root)
        .replace(&p("f"), "new")
        .build()
        .unwrap()
        .apply(&root, quick())
        .unwrap();
    assert_eq!(fs::metadata(tree.at("f")).map(|m| (m.uid(), m.gid())).unwrap(), (1234, 4321));
}

#[test]
fn case_147_hard_link_is_written_in_place_and_says_so() {
    let tree = Tree::new(&[("f", b"a longer text"), ("other", b"x")]);
    fs::hard_link(tree.at("f"), tree.at("twin")).unwrap();
    let inode = fs::metadata(tree.at("f")).unwrap().ino();
    let root = tree.root();
    let set = ChangeSet::builder(&root)
        .replace(&p("f"), "short")
        .replace(&p("other"), "y")
        .build()
        .unwrap();
    let applied = set.apply(&root, quick()).unwrap();
    assert_eq!(applied.files.iter().map(|file| file.in_place).collect::<Vec<_>>(), [true, false]);
    assert_eq!((tree.read("f"), tree.read("twin")), (b"short".to_vec(), b"short".to_vec()));
    assert_eq!(fs::metadata(tree.at("twin")).unwrap().ino(), inode);
    set.inverse().apply(&root, quick()).unwrap();
    assert_eq!(tree.read("twin"), b"a longer text");
}

#[test]
fn case_147_two_names_of_one_file_cannot_become_different() {
    let tree = Tree::new(&[("f", b"text")]);
    fs::hard_link(tree.at("f"), tree.at("twin")).unwrap();
    let root = tree.root();
    let error = ChangeSet::builder(&root)
        .replace(&p("f"), "1")
        .replace(&p("twin"), "2")
        .build()
        .unwrap_err();
    assert!(matches!(error, BuildError::SameFile { .. }), "{error}");
    let set =
        ChangeSet::builder(&root).replace(&p("f"), "1").replace(&p("twin"), "1").build().unwrap();
    assert_eq!(set.len(), 1);
    set.apply(&root, quick()).unwrap();
    assert_eq!((tree.read("f"), tree.read("twin")), (b"1".to_vec(), b"1".to_vec()));
}

#[test]
fn f4_symlinks_survive_and_their_target_is_written() {
    let tree = Tree::new(&[("dir/real", b"old")]);
    symlink("dir/real", tree.at("link")).unwrap();
    symlink("dir", tree.at("folder")).unwrap();
    symlink(tree.at("dir/real"), tree.at("absolute")).unwrap();
    let root = tree.root();
    for name in ["link", "folder/real", "absolute"] {
        let path = root.relative(name).unwrap();
        let set = ChangeSet::builder(&root).replace(&path, name).build().unwrap();
        assert_eq!(
            set.changes()[0].path().as_str(),
            "dir/real",
            "the preview names what is written"
        );
        set.apply(&root, quick()).unwrap();
        assert_eq!(tree.read("dir/real"), name.as_bytes());
    }
    assert!(fs::symlink_metadata(tree.at("link")).unwrap().is_symlink());
    let before = tree.snapshot();
    let set = ChangeSet::builder(&root)
        .delete(&p("link"))
        .rename(&p("absolute"), &p("dir/abs"))
        .build()
        .unwrap();
    set.apply(&root, quick()).unwrap();
    assert_eq!(tree.read("dir/real"), b"absolute", "the links go, the target stays");
    assert!(fs::symlink_metadata(tree.at("dir/abs")).unwrap().is_symlink());
    set.inverse().apply(&root, quick()).unwrap();
    assert_eq!(tree.snapshot(), before);
}

#[test]
fn w1_w2_write_atomic_creates_replaces_and_keeps() {
    let tree = Tree::new(&[("run.sh", b"#!/bin/sh\n")]);
    fs::set_permissions(tree.at("run.sh"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("run.sh", tree.at("link")).unwrap();
    symlink("later", tree.at("dangling")).unwrap();
    let root = tree.root();
    let options = xd_changeset::WriteOptions::new().apply(quick());
    let written = root.write_atomic(&p("a/b/c"), "x", options).unwrap();
    assert!(written.created && written.len == 1);
    let written = root.write_atomic(&p("link"), "#!/bin/bash\n", options.executable(true)).unwrap();
    assert_eq!(
        (written.path.as_str(), written.created, tree.mode("run.sh")),
        ("run.sh", false, 0o750)
    );
    root.write_atomic(&p("dangling"), "x", options).unwrap();
    assert_eq!(tree.read("later"), b"x");
    assert!(root.write_atomic(&p("later"), "x", options).unwrap().file.is_none(), "nothing to do");
    assert!(root.write_atomic(&p("a/b"), "x", options).is_err(), "a folder is not replaced");
    assert!(
        root.write_atomic(&p("later/x"), "x", options)
            .unwrap_err()
            .to_string()
            .contains("'later' is a file")
    );
}

#[test]
fn an_empty_content_and_a_large_one() {
    let tree = Tree::new(&[("f", b"x")]);
    let root = tree.root();
    let large = Content::new(vec![b'z'; 3 << 20]);
    let set = ChangeSet::builder(&root)
        .replace(&p("f"), "")
        .create(&p("g"), large, None)
        .create(&p("h"), "", None)
        .build()
        .unwrap();
    set.apply(&root, quick()).unwrap();
    assert_eq!((tree.read("f").len(), tree.read("g").len(), tree.read("h").len()), (0, 3 << 20, 0));
}
