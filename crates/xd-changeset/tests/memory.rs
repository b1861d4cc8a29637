//! Large contents are kept on disk, not in memory, from staging to undo (`CONTRACT F1`): the most
//! memory that a process of its own ever had, as the system tells it.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a helper that fails is a test that fails"
)]

mod tree;

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read as _, Write as _};
use std::process::Command;

use tree::Tree;
use xd_changeset::{ByteEdit, ChangeSet, Content, Hash, Options, RelPath, Root};

/// Results of 402 MiB altogether: many of a size that is put aside by itself, many that only the
/// total puts aside, and one that would not fit by itself.
const LARGE: usize = 12;
const LARGE_LEN: usize = 17 << 20;
const MIDDLING: usize = 90;
const MIDDLING_LEN: usize = 1 << 20;
const HUGE_LEN: usize = 108 << 20;
const RESULTS: usize = LARGE * LARGE_LEN + MIDDLING * MIDDLING_LEN + HUGE_LEN;
/// What the process may take beyond what it had at the start: the total that stays in memory, and
/// some of the size of the results that a caller makes in memory and hands over whole.
const BOUND: usize = Content::TOTAL as usize + 4 * LARGE_LEN;

fn p(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

fn quick() -> Options {
    Options::new().durable(false)
}

fn text(seed: usize, len: usize) -> Vec<u8> {
    let line = format!("{}\n", format!("result {seed} ").repeat(100));
    let mut text = line.repeat(len / line.len() + 1).into_bytes();
    text.truncate(len);
    text.shrink_to_fit();
    text
}

/// The most memory that this process ever had, in bytes.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse::<usize>().unwrap() * 1024
}

fn named(kind: &str, n: usize) -> RelPath {
    p(&format!("{kind}/f{n}"))
}

#[test]
#[ignore = "the child of the test below"]
fn child_changes_much() {
    let root = Root::open("tree").unwrap();
    let start = peak();
    let told = |what: &str| {
        let more = peak() - start;
        println!("{what}: {} MiB at most", more >> 20);
        assert!(more <= BOUND, "{what}: {more} bytes, more than {BOUND}");
    };
    let mut builder = ChangeSet::builder(&root);
    for n in 0..LARGE {
        builder.create(&named("large", n), text(n, LARGE_LEN), None);
    }
    for n in 0..MIDDLING {
        builder.create(&named("middling", n), text(n, MIDDLING_LEN), None);
    }
    builder.edit(
        &p("huge"),
        vec![ByteEdit::new(7..8, "0"), ByteEdit::new(HUGE_LEN - 1..HUGE_LEN, "")],
    );
    let set = builder.build().unwrap();
    drop(builder);
    assert_eq!(
        set.changes().iter().filter_map(|change| change.after()).map(Content::len).sum::<u64>(),
        RESULTS as u64 - 1
    );
    told("staging");

    set.apply(&root, quick()).unwrap();
    told("applying");
    set.inverse().apply(&root, quick()).unwrap();
    told("undoing");

    // Kept and read back, as a session does over a restart.
    let mut kept = BufWriter::new(File::create("kept.json").unwrap());
    serde_json::to_writer(&mut kept, &set).unwrap();
    kept.flush().unwrap();
    told("keeping");
    println!("done");
}

/// Reading back takes the longest string that the store holds: the format hands it over whole.
#[test]
#[ignore = "the child of the test below"]
fn child_reads_back() {
    let start = peak();
    let again: ChangeSet =
        serde_json::from_reader(BufReader::new(File::open("kept.json").unwrap())).unwrap();
    let more = peak() - start;
    println!("reading back: {} MiB at most", more >> 20);
    let bound = BOUND + 3 * HUGE_LEN;
    assert!(more <= bound, "{more} bytes, more than {bound}");
    let root = Root::open("tree").unwrap();
    again.apply(&root, quick()).unwrap();
    assert!(peak() - start <= bound);
    println!("done");
}

#[test]
fn f1_large_results_are_kept_on_disk_and_not_in_memory() {
    let tree = Tree::new(&[]);
    fs::create_dir(tree.at("tree")).unwrap();
    fs::write(tree.at("tree/huge"), text(0, HUGE_LEN)).unwrap();
    // With a second name it is overwritten in place, by way of two copies.
    fs::hard_link(tree.at("tree/huge"), tree.at("tree/twin")).unwrap();
    for child in ["child_changes_much", "child_reads_back"] {
        let done = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", child, "--ignored", "--nocapture"])
            .current_dir(tree.path())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        println!("{said}");
        let errors = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success() && said.contains("done"), "{said}{errors}");
    }
    tree::proofs::says("mebibytes_of_results_staged_at_once", (RESULTS >> 20) as u64);
    tree::proofs::says("mebibytes_of_memory_for_them_at_most", (BOUND >> 20) as u64);
    // The second child applied what the first one kept.
    let seen = |path: &str| Hash::of(&fs::read(tree.at(path)).unwrap());
    assert_eq!(seen("tree/large/f3"), Hash::of(&text(3, LARGE_LEN)));
    assert_eq!(seen("tree/middling/f80"), Hash::of(&text(80, MIDDLING_LEN)));
    let mut huge = text(0, HUGE_LEN);
    huge[7] = b'0';
    huge.pop();
    assert_eq!(seen("tree/huge"), Hash::of(&huge));
    assert_eq!(seen("tree/twin"), Hash::of(&huge));
}

/// What is put aside has no name anywhere in the workspace, where a build or a search would meet
/// it, and is gone with the set.
#[test]
fn f1_what_is_put_aside_is_seen_by_nobody() {
    for with_state_folder in [false, true] {
        let tree = Tree::new(&[("f", b"f")]);
        if with_state_folder {
            fs::create_dir(tree.at(".xd")).unwrap();
        }
        let everything = || -> Vec<_> {
            let mut names = Vec::new();
            for folder in [tree.path().to_owned(), tree.at(".xd")] {
                let entries = fs::read_dir(folder).into_iter().flatten();
                names.extend(entries.map(|entry| entry.unwrap().path()));
            }
            names.sort();
            names
        };
        let before = everything();
        let root = tree.root();
        let large = vec![b'z'; 9 << 20];
        let set = ChangeSet::builder(&root).create(&p("g"), large.clone(), None).build().unwrap();
        assert!(!set.changes()[0].after().unwrap().is_in_memory());
        assert_eq!(everything(), before);
        let open = || {
            fs::read_dir("/proc/self/fd").unwrap().filter(|entry| {
                let target = fs::read_link(entry.as_ref().unwrap().path());
                target.is_ok_and(|target| {
                    let target = target.to_string_lossy().into_owned();
                    let here =
                        with_state_folder && target.starts_with(tree.path().to_str().unwrap());
                    target.ends_with("(deleted)") && (here || target.starts_with("/var/tmp"))
                })
            })
        };
        assert!(open().count() > 0);
        set.apply(&root, quick()).unwrap();
        let mut bytes = Vec::new();
        File::open(tree.at("g")).unwrap().read_to_end(&mut bytes).unwrap();
        assert!(bytes == large);
        set.inverse().apply(&root, quick()).unwrap();
        assert!(!tree.exists("g"));
    }
}
