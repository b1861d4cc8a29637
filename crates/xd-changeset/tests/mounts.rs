//! A workspace over two real file systems: what cannot be renamed across is copied and taken away
//! within the same commit (`CONTRACT F3`, `CONTRACT F4`), durable or not, and taken back.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a helper that fails is a test that fails"
)]

mod tree;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::process::Command;

use tree::Tree;
use xd_changeset::{ByteEdit, ChangeSet, Options, PathError, RelPath, Root};

fn p(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

/// In a mount space of its own, of the user's own where root's may not be had. Where the system
/// allows neither, the simulated disk alone stands for it (scenarios with two file systems).
#[test]
fn f3_f4_files_move_between_file_systems() {
    let tree = Tree::new(&[("ws/a", b"a\n"), ("ws/run", b"#!/bin/sh\n"), ("ws/src/c", b"c")]);
    fs::create_dir(tree.at("ws/mnt")).unwrap();
    let spaces: [&[&str]; 2] = [&["--mount"], &["--mount", "--map-root-user"]];
    let mount = "mount -t tmpfs none mnt && exec \"$0\" \"$@\"";
    for space in spaces {
        let allowed = Command::new("unshare")
            .args(space)
            .args(["sh", "-c", "mount -t tmpfs none mnt"])
            .current_dir(tree.at("ws"))
            .output()
            .is_ok_and(|done| done.status.success());
        if !allowed {
            continue;
        }
        let done = Command::new("unshare")
            .args(space)
            .args(["sh", "-c", mount])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "child_with_two_file_systems", "--ignored", "--nocapture"])
            .current_dir(tree.at("ws"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && said.contains("two file systems"), "{said}{errors}");
        return;
    }
    println!("no mount is allowed here: left to the simulated disk");
}

#[test]
#[ignore = "the child of the test above"]
fn child_with_two_file_systems() {
    fs::write("mnt/x", "on the other\n").unwrap();
    fs::write("mnt/y", "y").unwrap();
    fs::set_permissions("mnt/y", fs::Permissions::from_mode(0o640)).unwrap();
    fs::set_permissions("run", fs::Permissions::from_mode(0o755)).unwrap();
    let device = |path: &str| fs::metadata(path).unwrap().dev();
    let (here, there) = (device("."), device("mnt"));
    assert_ne!(here, there);
    let renamed = fs::rename("a", "mnt/a").unwrap_err();
    assert_eq!(renamed.kind(), std::io::ErrorKind::CrossesDevices);
    let root = Root::open(".").unwrap();
    let set = ChangeSet::builder(&root)
        .rename(&p("a"), &p("mnt/deep/er/a"))
        .rename(&p("mnt/y"), &p("y"))
        .rename(&p("mnt/x"), &p("src/x"))
        .edit(&p("mnt/x"), vec![ByteEdit::new(0..2, "ON")])
        .rename(&p("run"), &p("mnt/run"))
        .replace(&p("src/c"), "C")
        .create(&p("mnt/new"), "n", None)
        .build()
        .unwrap();
    for durable in [true, false] {
        set.apply(&root, Options::new().durable(durable)).unwrap();
        for (path, text, mode, on) in [
            ("mnt/deep/er/a", "a\n", 0o644, there),
            ("y", "y", 0o640, here),
            ("src/x", "ON the other\n", 0o644, here),
            ("mnt/run", "#!/bin/sh\n", 0o755, there),
            ("src/c", "C", 0o644, here),
            ("mnt/new", "n", 0o644, there),
        ] {
            let seen = fs::metadata(path).unwrap();
            assert_eq!(fs::read_to_string(path).unwrap(), text);
            assert_eq!((seen.mode() & 0o777, seen.dev()), (mode, on), "{path}");
        }
        assert!(!fs::exists("a").unwrap() && !fs::exists("mnt/x").unwrap());
        set.inverse().apply(&root, Options::new().durable(durable)).unwrap();
        assert_eq!(fs::read_to_string("a").unwrap(), "a\n");
        assert_eq!(fs::read_to_string("mnt/x").unwrap(), "on the other\n");
        assert!(!fs::exists("mnt/deep").unwrap() && !fs::exists("mnt/new").unwrap());
    }
    // The other file system is full: refused at the apply, and everything is as it was.
    let status = Command::new("mount").args(["-o", "remount,size=64k", "mnt"]).status().unwrap();
    assert!(status.success());
    let too_much = ChangeSet::builder(&root)
        .rename(&p("a"), &p("mnt/a"))
        .create(&p("mnt/much"), vec![b'm'; 1 << 20], None)
        .replace(&p("src/c"), "C")
        .build()
        .unwrap();
    let error = too_much.apply(&root, Options::new()).unwrap_err().to_string();
    assert!(error.contains("mnt/much") && error.contains("as it was before"), "{error}");
    assert_eq!(fs::read_to_string("src/c").unwrap(), "c");
    assert!(fs::exists("a").unwrap() && !fs::exists("mnt/much").unwrap());
    let names = fs::read_dir("mnt").unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.filter(|name| name.to_string_lossy().starts_with(".xd-")).count(), 0);
    println!("two file systems");
}

/// A link to another file system leads outside like any other (`CONTRACT W3`).
#[test]
fn w3_case_143_a_link_to_another_file_system_is_refused() {
    let tree = Tree::new(&[("f", b"f")]);
    symlink("/dev/shm", tree.at("shm")).unwrap();
    let root = tree.root();
    assert!(matches!(root.relative("shm/x"), Err(PathError::OutsideByLink { .. })));
    assert!(ChangeSet::builder(&root).rename(&p("f"), &p("shm/x")).build().is_err());
    assert!(tree.exists("f"));
}
