//! What is refused when it is staged, not when it is applied (`CONTRACT S7`).

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
};

use tempfile::TempDir;

use crate::desk::Desk;

// CONTRACT W3, S7; cases 143, 145 — Invariant W3
#[tokio::test]
async fn w3_s7_case_143_nothing_outside_the_workspace_is_staged() {
    let outside = TempDir::new().unwrap();
    fs::write(outside.path().join("secret"), "secret\n").unwrap();
    let desk = Desk::new(&[("a.txt", "one\n")]);
    symlink(outside.path(), desk.at("dir")).unwrap();
    symlink(outside.path().join("secret"), desk.at("leaf")).unwrap();
    symlink(outside.path().join("fresh"), desk.at("dangling")).unwrap();
    symlink("loop", desk.at("loop")).unwrap();
    let away = outside.path().join("secret").to_string_lossy().into_owned();
    for path in [
        "../up.txt",
        "a/../../up.txt",
        "dir/secret",
        "dir/fresh",
        "leaf",
        "dangling",
        "loop",
        "/etc/hostname",
        away.as_str(),
        "",
        "\0",
        "a\0b",
        ".",
        "..",
        "/",
        ".xd/sessions/x/log.jsonl",
        ".git/config",
    ] {
        desk.refused(path, "mine\n").await;
    }
    assert_eq!(fs::read(outside.path().join("secret")).unwrap(), b"secret\n");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    let refused = desk.refused("leaf", "mine\n").await;
    assert!(refused.contains("'leaf' leads outside the workspace"), "{refused}");
}

// CONTRACT S7, F5: a folder is no file, and a file no folder.
#[tokio::test]
async fn s7_f5_folders_and_what_stands_in_the_way_are_named() {
    let desk = Desk::new(&[("folder/a.txt", "one\n")]);
    let refused = desk.refused("folder", "text").await;
    assert!(
        refused.contains("'folder' is a folder; only files can be changed this way"),
        "{refused}"
    );
    assert!(refused.ends_with("Nothing was staged."), "{refused}");
    let refused = desk.refused("folder/a.txt/b.txt", "text").await;
    assert!(refused.contains("'folder/a.txt' is a file, not a folder"), "{refused}");
    let pipe = std::process::Command::new("mkfifo").arg(desk.at("pipe")).status().unwrap();
    assert!(pipe.success());
    let result = desk.write("pipe", "text").await;
    assert!(result.is_error && result.joined().contains("'pipe' is"), "{result:?}");
    assert_eq!(desk.pending(), 0);
}

// CONTRACT W4; cases 34, 36
#[tokio::test]
async fn w4_cases_034_036_a_read_selector_is_refused_unless_such_a_file_exists() {
    let desk = Desk::new(&[("lib/a.rs", "one\n"), ("notes:5-6", "old\n")]);
    for path in ["lib/a.rs:3-9", "lib/a.rs:raw", "lib/a.rs:1-2;lib/b.rs:4", "lib/a.rs:"] {
        for content in ["", "text"] {
            let refused = desk.refused(path, content).await;
            assert!(refused.contains("ends in a read selector"), "{path}: {refused}");
        }
    }
    desk.staged("notes:5-6", "new\n").await;
    desk.resolve().await;
    assert_eq!(desk.bytes("notes:5-6"), b"new\n");
}

/// Whether permission bits bind this process: they do not bind root.
fn permissions_bind(desk: &Desk) -> bool {
    let probe = desk.at("probe");
    fs::create_dir(&probe).unwrap();
    fs::set_permissions(&probe, fs::Permissions::from_mode(0o555)).unwrap();
    let bound = fs::write(probe.join("x"), "").is_err();
    fs::set_permissions(&probe, fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir_all(&probe).unwrap();
    bound
}

// CONTRACT S7: a folder that may not be written is told of at staging. A file that may not be
// written can be replaced as long as its folder can, and keeps its mode (W2).
#[tokio::test]
async fn s7_w2_what_is_read_only_is_refused_at_staging_or_kept() {
    let desk = Desk::new(&[("kept", "one\n"), ("closed/a.txt", "one\n")]);
    fs::set_permissions(desk.at("kept"), fs::Permissions::from_mode(0o444)).unwrap();
    desk.staged("kept", "two\n").await;
    desk.resolve().await;
    assert_eq!((desk.bytes("kept"), desk.mode("kept")), (b"two\n".to_vec(), 0o444));
    if !permissions_bind(&desk) {
        println!("run as root: permission bits bind nothing");
        return;
    }
    fs::set_permissions(desk.at("closed"), fs::Permissions::from_mode(0o555)).unwrap();
    for path in ["closed/a.txt", "closed/b.txt", "closed/new/c.txt"] {
        let refused = desk.refused(path, "two\n").await;
        assert!(refused.contains("the folder 'closed' is not writable"), "{path}: {refused}");
    }
    fs::set_permissions(desk.at("closed"), fs::Permissions::from_mode(0o755)).unwrap();
}

// Case 40: what is missing in the call is told with an example, and nothing is staged.
#[tokio::test]
async fn case_040_a_call_without_its_parts_stages_nothing() {
    let desk = Desk::new(&[]);
    for arguments in [
        serde_json::json!({ "content": "x" }),
        serde_json::json!({ "path": "a.txt" }),
        serde_json::json!({ "path": 7, "content": "x" }),
        serde_json::json!({ "path": "a.txt", "content": { "a": 1 } }),
    ] {
        let result = desk.call("write", arguments).await;
        assert!(result.is_error && result.joined().contains("Example: "), "{result:?}");
    }
    assert_eq!((desk.pending(), desk.picture().len()), (0, 0));
}
