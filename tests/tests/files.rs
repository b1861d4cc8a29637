//! The write and read tools on real files: creating, replacing, what is kept, what is out of reach.
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::{
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
};

use serde_json::json;
use xd_tests::{Bench, call};

fn mode(bench: &Bench, path: &str) -> u32 {
    fs::metadata(bench.at(path)).unwrap().permissions().mode() & 0o7777
}

// CONTRACT W1
#[tokio::test]
async fn w1_creates_with_folders_replaces_and_names_file_and_bytes() {
    let bench = Bench::new(&[]);
    let result = bench.write("deep/er/a.txt", "hello\n").await;
    assert_eq!(result.content, ["Wrote deep/er/a.txt (created, 6 bytes)."]);
    let details = json!({ "path": "deep/er/a.txt", "bytes": 6, "created": true });
    assert_eq!(result.details, Some(details));
    let result = bench.write("deep/er/a.txt", "é").await;
    assert_eq!(result.content, ["Wrote deep/er/a.txt (replaced, 2 bytes)."]);
    assert_eq!(bench.text("deep/er/a.txt"), "é");
    assert_eq!(bench.write("e", "").await.content, ["Wrote e (created, 0 bytes)."]);
    assert_eq!(bench.write("e", "x").await.content, ["Wrote e (replaced, 1 byte)."]);
}

// CONTRACT W1
#[tokio::test]
async fn w1_a_hash_bang_line_makes_executable() {
    let bench = Bench::new(&[("old.sh", "echo\n")]);
    bench.write("new.sh", "#!/bin/sh\necho\n").await;
    bench.write("old.sh", "#!/bin/sh\necho\n").await;
    bench.write("not.sh", "echo\n#!/bin/sh\n").await;
    assert_ne!(mode(&bench, "new.sh") & 0o100, 0);
    assert_ne!(mode(&bench, "old.sh") & 0o100, 0);
    assert_eq!(mode(&bench, "not.sh") & 0o111, 0);
}

// CONTRACT W2
#[tokio::test]
async fn w2_mode_link_and_other_names_are_kept() {
    let bench = Bench::new(&[("script", "#!/bin/sh\n"), ("real/target", "old\n"), ("one", "1\n")]);
    fs::set_permissions(bench.at("script"), fs::Permissions::from_mode(0o750)).unwrap();
    symlink("real/target", bench.at("link")).unwrap();
    fs::hard_link(bench.at("one"), bench.at("other")).unwrap();
    bench.write("script", "no longer\n").await;
    assert_eq!(mode(&bench, "script"), 0o750);
    bench.write("link", "new\n").await;
    assert!(fs::symlink_metadata(bench.at("link")).unwrap().is_symlink());
    assert_eq!(bench.text("real/target"), "new\n");
    bench.write("one", "2\n").await;
    assert_eq!(bench.text("other"), "2\n");
    assert_eq!(fs::metadata(bench.at("one")).unwrap().nlink(), 2);
}

// CONTRACT W2, case 149: a reader sees the old text or the new, nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn w2_a_reader_sees_old_or_new() {
    let old = "a".repeat(100_000);
    let new = "b".repeat(90_000);
    let bench = Bench::new(&[("f", &old)]);
    let path = bench.at("f");
    let seen = std::thread::spawn(move || {
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..3_000 {
            let text = fs::read(&path).unwrap();
            seen.insert((text.len(), text.first().copied(), text.last().copied()));
        }
        seen
    });
    while !seen.is_finished() {
        bench.write("f", &new).await;
        bench.write("f", &old).await;
    }
    let whole = [(100_000, Some(b'a'), Some(b'a')), (90_000, Some(b'b'), Some(b'b'))];
    for seen in seen.join().unwrap() {
        assert!(whole.contains(&seen), "{seen:?}");
    }
}

// CONTRACT W3 — Invariant W3
#[tokio::test]
async fn w3_nothing_outside_the_workspace_is_reachable() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret"), "secret\n").unwrap();
    let bench = Bench::new(&[("a.txt", "one\n")]);
    symlink(outside.path(), bench.at("dir")).unwrap();
    symlink(outside.path().join("secret"), bench.at("leaf")).unwrap();
    symlink(outside.path().join("fresh"), bench.at("dangling")).unwrap();
    symlink("../up", bench.at("up")).unwrap();
    let away = |name: &str| outside.path().join(name).to_string_lossy().into_owned();
    let before = bench.picture();
    for path in [
        "../up.txt",
        "a/../../up.txt",
        "./../up.txt",
        "dir/secret",
        "dir/fresh",
        "dir/sub/fresh",
        "leaf",
        "dangling",
        "up",
        "/etc/hostname",
        &away("secret"),
        &away("fresh"),
        "a.txt/../../x",
        "dir/../../x",
        "",
        "\0",
        "a\0b",
        ".",
        "..",
        "/",
    ] {
        let result = bench.write(path, "mine\n").await;
        assert!(result.is_error, "write {path:?}: {}", result.joined());
        let read = bench.read(path).await;
        assert!(!read.joined().contains("secret\n"), "read {path:?}");
        if ![".", ""].contains(&path) {
            assert!(read.is_error, "read {path:?}: {}", read.joined());
        }
        let staged = [
            json!({ "create": [{ "path": path, "content": "mine\n" }] }),
            json!({ "delete": [path] }),
            json!({ "move": [{ "from": "a.txt", "to": path }] }),
            json!({ "edits": [{ "path": path, "old": "secret", "new": "mine" }] }),
        ];
        for arguments in staged {
            let result = bench.stage(arguments.clone()).await;
            assert!(result.is_error, "{arguments}: {}", result.joined());
        }
    }
    assert!(bench.pending().is_empty());
    assert_eq!(bench.picture(), before);
    assert_eq!(fs::read_to_string(outside.path().join("secret")).unwrap(), "secret\n");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

// CONTRACT W3, S7: a folder swapped for a link between staging and applying leads nowhere.
#[tokio::test]
async fn w3_a_folder_swapped_for_a_link_is_refused_at_apply() {
    let outside = tempfile::tempdir().unwrap();
    let bench = Bench::new(&[("dir/a.txt", "one\n")]);
    bench
        .stage(json!({ "edits": [{ "path": "dir/a.txt", "old": "one", "new": "two" }],
            "create": [{ "path": "dir/b.txt", "content": "b\n" }] }))
        .await;
    fs::write(outside.path().join("a.txt"), "one\n").unwrap();
    fs::remove_dir_all(bench.at("dir")).unwrap();
    symlink(outside.path(), bench.at("dir")).unwrap();
    let result = bench.write("xd://resolve", "It is what was asked for.").await;
    assert!(result.is_error, "{}", result.joined());
    assert_eq!(fs::read_to_string(outside.path().join("a.txt")).unwrap(), "one\n");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
}

// The state folder and git's are off limits to every route.
#[tokio::test]
async fn w3_the_state_folder_and_gits_are_off_limits() {
    let bench = Bench::new(&[(".git/config", "x\n"), ("a.txt", "one\n")]);
    for path in [".xd/sessions/x/log.jsonl", ".git/config", ".git/hooks/post-commit", ".xd"] {
        let result = bench.write(path, "mine\n").await;
        assert!(result.is_error && result.joined().contains("off limits"), "{}", result.joined());
        let arguments = json!({ "create": [{ "path": path, "content": "mine\n" }] });
        assert!(bench.stage(arguments).await.is_error, "{path}");
    }
    assert_eq!(bench.text(".git/config"), "x\n");
    assert!(!bench.exists(".git/hooks"));
}

// A write where a folder is, or below a file, is refused and harms neither.
#[tokio::test]
async fn w1_a_folder_is_no_file_and_a_file_no_folder() {
    let bench = Bench::new(&[("dir/a.txt", "one\n")]);
    let before = bench.picture();
    for path in ["dir", "dir/", "dir/a.txt/b"] {
        let result = bench.write(path, "x\n").await;
        assert!(result.is_error, "{path}: {}", result.joined());
    }
    assert_eq!(bench.picture(), before);
}

// CONTRACT W5
#[tokio::test]
async fn w5_reads_files_lines_folders_and_says_what_it_cannot() {
    let bench = Bench::new(&[("a.txt", "one\ntwo\nthree\n"), ("dir/b", "b\n"), ("empty", "")]);
    bench.put("bin", b"\xff\xfe\x00");
    assert_eq!(bench.read("a.txt").await.content, ["     1\tone\n     2\ttwo\n     3\tthree\n"]);
    assert_eq!(bench.read("a.txt:2").await.content, ["     2\ttwo\n"]);
    assert_eq!(bench.read("a.txt:2-").await.content, ["     2\ttwo\n     3\tthree\n"]);
    assert_eq!(bench.read("a.txt:raw").await.content, ["one\ntwo\nthree\n"]);
    assert_eq!(bench.read("dir").await.content, ["b\n"]);
    let root = bench.read(".").await.joined();
    assert!(root.contains("dir/\n") && root.contains("a.txt\n"), "{root}");
    assert_eq!(bench.read("empty").await.content, ["empty is empty."]);
    for (path, words) in [
        ("a.txt:9", "line 9 does not exist"),
        ("none", "'none' does not exist"),
        ("bin", "is not UTF-8 text (3 bytes)"),
    ] {
        let result = bench.read(path).await;
        assert!(result.is_error && result.joined().contains(words), "{}", result.joined());
    }
    let absolute = bench.at("a.txt").canonicalize().unwrap();
    assert!(!bench.read(absolute.to_str().unwrap()).await.is_error);
}

// CONTRACT W5: a named pipe is not waited for.
#[tokio::test]
async fn w5_what_is_no_file_is_not_opened() {
    let bench = Bench::new(&[]);
    let made = std::process::Command::new("mkfifo").arg(bench.at("pipe")).status().unwrap();
    assert!(made.success());
    assert!(bench.read("pipe").await.is_error);
    assert!(bench.write("pipe", "x").await.is_error);
}

// CONTRACT W5: the whole preview of a pending and of a decided action, in pages.
#[tokio::test]
async fn w5_a_staged_action_is_readable_whatever_became_of_it() {
    let old: String = (0..3_000).map(|i| format!("line {i} old\n")).collect();
    let new = old.replace("old", "new");
    let bench = Bench::new(&[("a.txt", &old), ("b.txt", "b\n")]);
    bench.edit("a.txt", &old, &new).await;
    bench.edit("b.txt", "b", "c").await;
    for address in ["xd://resolve@1", "xd://reject@1"] {
        let mut address = address.to_owned();
        let mut whole = String::new();
        loop {
            let page = bench.read(&address).await.joined();
            match page.rsplit_once("[cut before line ") {
                Some((text, rest)) => {
                    whole.push_str(text);
                    let next = rest.split_once("read ").unwrap().1;
                    address = next.split_once(" for the rest").unwrap().0.to_owned();
                }
                None => {
                    whole.push_str(&page);
                    break;
                }
            }
        }
        assert!(whole.starts_with("Staged action @1: "), "{}", &whole[..60]);
        for i in 0..3_000 {
            assert!(whole.contains(&format!("\n+line {i} new\n")), "line {i}");
        }
    }
    bench.write("xd://reject@1", "Too much at once.").await;
    bench.write("xd://resolve@2", "It is what was asked for.").await;
    assert!(bench.read("xd://resolve@1").await.joined().contains("(discarded)"));
    assert!(bench.read("xd://resolve@1:2000-2001").await.joined().lines().count() == 2);
    let applied = bench.read("xd://resolve@2").await.joined();
    assert!(applied.contains("(applied)") && applied.contains("\n+c\n"), "{applied}");
    let none = bench.read("xd://resolve@3").await;
    assert!(none.is_error && none.joined().contains("No staged action has number 3"));
}

// A call whose arguments name more than the schema has is still understood or refused, never both.
#[tokio::test]
async fn w1_content_that_is_no_text_is_refused() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    for content in [json!(null), json!(7), json!(["x"]), json!({ "a": 1 }), json!(true)] {
        let result =
            bench.one(call("1", "write", json!({ "path": "a.txt", "content": content }))).await;
        assert!(result.is_error && result.joined().contains("`content`"));
    }
    assert_eq!(bench.text("a.txt"), "one\n");
}

// CONTRACT W3: what quotes its operand quotes a giant one in part.
#[tokio::test]
async fn w3_a_path_longer_than_any_is_refused_in_few_words() {
    let bench = Bench::new(&[]);
    for length in [5_000, 1_000_000] {
        for path in ["ä".repeat(length / 2), "a/".repeat(length / 2), "../".repeat(length / 3)] {
            let answers = [
                bench.write(&path, "x").await,
                bench.read(&path).await,
                bench.read(&format!("{path}:1-2")).await,
            ];
            for answer in answers {
                let text = answer.joined();
                assert!(answer.is_error && text.len() < 1_000, "{} bytes", text.len());
                assert!(text.contains("bytes long"), "{text}");
            }
        }
    }
    assert!(bench.picture().is_empty());
}
