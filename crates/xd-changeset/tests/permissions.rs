//! What the system refuses to a user without privileges: said when staging, or all files are as
//! they were (`CONTRACT S7`, `CONTRACT F3`, cases 13, 15 and 141). Where the tests run as root, a
//! child without privileges does it.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a helper that fails is a test that fails"
)]

mod tree;

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use tree::Tree;
use xd_changeset::{ApplyError, BuildError, ChangeSet, Options, Place, RelPath, Root};

/// The user and the group that own nothing.
const NOBODY: u32 = 65_534;

fn p(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

fn quick() -> Options {
    Options::new().durable(false)
}

fn set_mode(path: impl AsRef<Path>, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn s7_f3_case_013_case_015_without_privileges() {
    let root = rustix::process::geteuid().is_root();
    let tree = Tree::new(&[
        ("ws/locked/f", b"locked"),
        ("ws/locked/g", b"g"),
        ("ws/open/read-only", b"read-only"),
        ("ws/open/f", b"f"),
        ("ws/later/f", b"later"),
    ]);
    set_mode(tree.at("ws/open/read-only"), 0o444);
    if root {
        // Readable and writable for others, or not: in both cases not theirs.
        for (name, mode) in [("ws/open/theirs", 0o666), ("ws/open/theirs-alone", 0o644)] {
            tree.write(name, b"theirs");
            set_mode(tree.at(name), mode);
        }
        // A workspace whose state folder root has made, and which is theirs otherwise.
        fs::create_dir_all(tree.at("ws/roots/.xd")).unwrap();
        tree.write("ws/roots/f", b"f");
        for name in ["ws/roots", "ws/roots/f"] {
            chown(tree.at(name), Some(NOBODY), Some(NOBODY)).unwrap();
        }
        let all = ["", "/locked", "/open", "/later", "/locked/f", "/locked/g", "/open/read-only"];
        for name in all.iter().chain(&["/open/f", "/later/f"]) {
            chown(tree.at(&format!("ws{name}")), Some(NOBODY), Some(NOBODY)).unwrap();
        }
    }
    set_mode(tree.at("ws/locked"), 0o555);
    set_mode(tree.path(), 0o755);
    // A copy, since the build folder may be closed to others.
    let program = tree.at("child");
    fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    set_mode(&program, 0o755);
    let mut child = Command::new(&program);
    child.args(["--exact", "child_without_privileges", "--ignored", "--nocapture"]);
    child.current_dir(tree.at("ws"));
    if root {
        child.uid(NOBODY).gid(NOBODY);
    }
    let done = child.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && said.contains("all refused"), "{said}{errors}");
    set_mode(tree.at("ws/locked"), 0o755);
}

#[test]
#[ignore = "the child of the test above"]
fn child_without_privileges() {
    assert!(!rustix::process::geteuid().is_root());
    let root = Root::open(".").unwrap();
    read_only_folder(&root);
    read_only_file(&root);
    folder_closed_after_staging(&root);
    nobody_may_read(&root);
    if Path::new("open/theirs").exists() {
        another_owner(&root);
        anothers_state_folder();
    }
    println!("all refused");
}

/// No name in it can change: refused when staging, with the folder, and nothing is begun.
fn read_only_folder(root: &Root) {
    let folder = Place::Folder(p("locked"));
    let sets = [
        ChangeSet::builder(root).replace(&p("locked/f"), "F").build(),
        ChangeSet::builder(root).delete(&p("locked/f")).replace(&p("open/f"), "F").build(),
        ChangeSet::builder(root).create(&p("locked/new"), "n", None).build(),
        ChangeSet::builder(root).create(&p("locked/new/deep"), "n", None).build(),
        ChangeSet::builder(root).rename(&p("locked/f"), &p("open/moved")).build(),
        ChangeSet::builder(root).rename(&p("open/f"), &p("locked/moved")).build(),
    ];
    for set in sets {
        let error = set.unwrap_err();
        let BuildError::NotWritable { place, source, .. } = &error else { panic!("{error}") };
        assert_eq!((place, source.kind()), (&folder, std::io::ErrorKind::PermissionDenied));
        assert!(error.to_string().contains("'locked'"), "{error}");
    }
    assert_eq!(fs::read("open/f").unwrap(), b"f");
    assert!(!Path::new(".xd").exists());
}

/// Its own owner may replace it, and it stays read-only; large contents in pieces likewise.
fn read_only_file(root: &Root) {
    for content in [b"new".to_vec(), vec![b'l'; 9 << 20]] {
        let set = ChangeSet::builder(root).replace(&p("open/read-only"), content.clone()).build();
        let set = set.unwrap();
        set.apply(root, quick()).unwrap();
        assert!(fs::read("open/read-only").unwrap() == content);
        assert_eq!(fs::metadata("open/read-only").unwrap().mode() & 0o7777, 0o444);
        set.inverse().apply(root, quick()).unwrap();
        assert_eq!(fs::read("open/read-only").unwrap(), b"read-only");
    }
}

/// The permission goes after the staging: the apply fails, and everything is as it was.
fn folder_closed_after_staging(root: &Root) {
    for durable in [false, true] {
        let set = ChangeSet::builder(root)
            .replace(&p("open/f"), "F")
            .create(&p("open/new"), "n", None)
            .replace(&p("later/f"), "LATER")
            .rename(&p("open/read-only"), &p("later/moved"))
            .build()
            .unwrap();
        set_mode("later", 0o555);
        let error = set.apply(root, quick().durable(durable)).unwrap_err();
        assert!(matches!(error, ApplyError::Io { .. }), "{error}");
        assert!(error.to_string().contains("later"), "{error}");
        set_mode("later", 0o755);
        assert_eq!(fs::read("open/f").unwrap(), b"f");
        assert_eq!(fs::read("later/f").unwrap(), b"later");
        assert!(!Path::new("open/new").exists() && Path::new("open/read-only").exists());
        for folder in ["open", "later"] {
            let names = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
            let mut names = names.map(|name| name.into_string().unwrap());
            assert!(!names.any(|name| name.starts_with(".xd-")), "{folder}");
        }
        set.check(root).unwrap();
    }
}

/// What its owner may not read can neither be compared nor taken back: refused when staging.
fn nobody_may_read(root: &Root) {
    for mode in [0, 0o200, 0o077, 0o333] {
        let sets = [
            ChangeSet::builder(root).set_mode(&p("open/f"), mode).build(),
            ChangeSet::builder(root)
                .replace(&p("open/f"), "F")
                .set_mode(&p("open/f"), mode)
                .build(),
            ChangeSet::builder(root).create(&p("open/n"), "n", Some(mode)).build(),
            ChangeSet::builder(root)
                .rename(&p("open/f"), &p("open/g"))
                .set_mode(&p("open/f"), mode)
                .build(),
        ];
        for set in sets {
            let error = set.unwrap_err();
            assert!(matches!(error, BuildError::CannotKeep { .. }), "{error}");
            assert!(error.to_string().contains("0o400"), "{error}");
        }
    }
    let set = ChangeSet::builder(root).set_mode(&p("open/f"), 0o400).build().unwrap();
    set.apply(root, quick()).unwrap();
    set.inverse().apply(root, quick()).unwrap();
}

/// A file of somebody else keeps its owner, so it is written in place; where that is not allowed
/// either it is refused when staging.
fn another_owner(root: &Root) {
    let set = ChangeSet::builder(root).replace(&p("open/theirs"), "ours").build().unwrap();
    let before = fs::metadata("open/theirs").unwrap();
    let applied = set.apply(root, quick()).unwrap();
    let after = fs::metadata("open/theirs").unwrap();
    assert!(applied.files[0].in_place);
    assert_eq!((after.uid(), after.ino(), after.mode()), (0, before.ino(), before.mode()));
    set.inverse().apply(root, quick()).unwrap();
    assert_eq!(fs::read("open/theirs").unwrap(), b"theirs");
    let error = ChangeSet::builder(root).replace(&p("open/theirs-alone"), "!").build().unwrap_err();
    assert!(matches!(error, BuildError::NotWritable { place: Place::File, .. }), "{error}");
}

/// A state folder of somebody else: whose it is and the way out are said, and nothing is written.
fn anothers_state_folder() {
    let root = Root::open("roots").unwrap();
    let whose = "'.xd' belongs to user 0: work as that user";
    let staged = ChangeSet::builder(&root).replace(&p("f"), "F").build().unwrap_err();
    assert!(staged.to_string().contains(whose), "{staged}");
    // One that was staged before the folder was there.
    fs::rename("roots/.xd", "roots/away").unwrap();
    let set = ChangeSet::builder(&root).replace(&p("f"), "F").build().unwrap();
    fs::rename("roots/away", "roots/.xd").unwrap();
    let error = set.apply(&root, quick()).unwrap_err().to_string();
    assert!(error.contains(whose), "{error}");
    assert_eq!(fs::read("roots/f").unwrap(), b"f");
}
