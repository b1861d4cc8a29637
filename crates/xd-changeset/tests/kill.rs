//! Real processes: a child that commits is killed at a random moment, and the workspace
//! recovered. Never a mixed tree, never a torn file (`CONTRACT F3`).
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod tree;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use tree::Tree;
use xd_changeset::{ChangeSet, Options, RelPath, Root};

const FILES: usize = 300;
const KILLS: u64 = 200;

fn path(n: usize) -> RelPath {
    RelPath::new(&format!("d{}/f{n}", n % 7)).unwrap()
}

/// Turns every file of one generation into the other, over and over, until killed. It is started
/// by the test below in the workspace's folder.
#[test]
#[ignore = "the child of the test below"]
fn child_commits_until_killed() {
    let root = Root::open(".").unwrap();
    let present = root.read(&path(0)).unwrap();
    let next: &[u8] = if present.as_utf8() == Some("old\n") {
        b"new, and longer than before\n"
    } else {
        b"old\n"
    };
    let mut builder = ChangeSet::builder(&root);
    for n in 0..FILES {
        builder.replace(&path(n), next);
    }
    let there = builder.build().unwrap();
    let back = there.inverse();
    println!("ready");
    loop {
        there.apply(&root, Options::new().durable(false)).unwrap();
        back.apply(&root, Options::new().durable(false)).unwrap();
    }
}

#[test]
fn f3_case_149_a_killed_process_leaves_all_or_nothing() {
    let names: Vec<String> = (0..FILES).map(|n| path(n).to_string()).collect();
    let files: Vec<(&str, &[u8])> =
        names.iter().map(|name| (name.as_str(), b"old\n" as &[u8])).collect();
    let tree = Tree::new(&files);
    let root = tree.root();
    let (mut interrupted, mut dice) = (0, 0x2545_f491_4f6c_dd1d_u64);
    for kill in 0..KILLS {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child_commits_until_killed", "--ignored", "--nocapture"])
            .current_dir(tree.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains("ready")), "the child did not begin");
        std::thread::sleep(Duration::from_micros(dice % 40_000));
        child.kill().unwrap();
        child.wait().unwrap();
        if root.is_interrupted() {
            interrupted += 1;
        }
        root.recover(Duration::from_secs(5)).unwrap();
        let snapshot = tree.snapshot();
        let contents: Vec<_> = names.iter().map(|name| &snapshot[name].3).collect();
        let first = contents[0];
        assert!(
            first == b"old\n" || first == b"new, and longer than before\n",
            "kill {kill}: torn: {first:?}"
        );
        assert!(contents.iter().all(|content| *content == first), "kill {kill}: a mixed tree");
        let litter = snapshot.keys().find(|name| name.contains(".xd-"));
        assert_eq!(litter, None, "kill {kill}");
    }
    println!("{KILLS} kills, {interrupted} of them during a commit, no violation");
    tree::proofs::says("processes_killed", KILLS);
    tree::proofs::says("files_of_each_killed_commit", FILES as u64);
    assert!(interrupted >= KILLS / 10, "only {interrupted} kills hit a commit");
}
