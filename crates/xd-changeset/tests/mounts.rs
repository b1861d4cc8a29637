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

/// In a mount space of its own, of the user's own where root's may not be had; whether the system
/// allows either. The child says `done` where it did all of it.
fn in_a_mount_space(tree: &Tree, child: &str, done: &str) {
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
        let output = Command::new("unshare")
            .args(space)
            .args(["sh", "-c", mount])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", child, "--ignored", "--nocapture"])
            .current_dir(tree.at("ws"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.contains(done), "{said}{errors}");
        return;
    }
    println!("no mount is allowed here: left to the simulated disk");
}

/// Where the system allows no mount, the simulated disk alone stands for it (scenarios with two
/// file systems).
#[test]
fn f3_f4_files_move_between_file_systems() {
    let tree = Tree::new(&[("ws/a", b"a\n"), ("ws/run", b"#!/bin/sh\n"), ("ws/src/c", b"c")]);
    in_a_mount_space(&tree, "child_with_two_file_systems", "two file systems");
}

/// A full disk keeps nobody from the lock, and so none from taking back an interrupted commit.
#[test]
fn f3_f8_a_full_disk_does_not_keep_from_recovering() {
    let tree = Tree::new(&[("ws/a", b"a")]);
    in_a_mount_space(&tree, "child_on_a_full_disk", "recovered");
}

#[test]
#[ignore = "the child of the test above"]
fn child_on_a_full_disk() {
    let status = Command::new("mount").args(["-o", "remount,size=256k", "mnt"]).status().unwrap();
    assert!(status.success());
    fs::write("mnt/f", "before").unwrap();
    let root = Root::open("mnt").unwrap();
    let set = ChangeSet::builder(&root).replace(&p("f"), "after").build().unwrap();
    set.apply(&root, Options::new()).unwrap();
    set.inverse().apply(&root, Options::new()).unwrap();
    // The names are there and the room is not, to the last byte.
    fs::write("mnt/.xd/lock", "").unwrap();
    fs::write("mnt/.xd/journal.new", "").unwrap();
    let mut fill = fs::File::create("mnt/fill").unwrap();
    while std::io::Write::write_all(&mut fill, &[7; 512]).is_ok() {}
    let none = fs::write("mnt/.xd/more", "more").unwrap_err();
    assert_eq!(none.kind(), std::io::ErrorKind::StorageFull);
    let recovery = root.recover(std::time::Duration::ZERO).unwrap();
    assert!(recovery.is_some() && !root.is_interrupted());
    assert_eq!(fs::read_to_string("mnt/f").unwrap(), "before");
    println!("recovered");
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
