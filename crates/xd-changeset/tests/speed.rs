//! What the promise costs, as ratios to doing the same without it, in one run. Timings of an
//! unoptimised build or a busy machine mean nothing, so these run on demand:
//! `cargo test --release -p xd-changeset --test speed -- --ignored --nocapture --test-threads 1`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, and measurements to read"
)]

mod tree;

use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant};

use tree::Tree;
use xd_changeset::{ByteEdit, ChangeSet, Options, RelPath, apply_edits};

const FILES: usize = 1_000;

fn time(act: impl FnOnce()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

/// The median of several runs, taken in turn with those of the other side so that both see the
/// same machine.
fn medians(
    rounds: usize,
    mut ours: impl FnMut(usize) -> Duration,
    mut plain: impl FnMut(usize) -> Duration,
) -> f64 {
    let mut runs: Vec<_> = (0..rounds).map(|round| (ours(round), plain(round))).collect();
    runs.sort();
    let (least, ours) = (runs[0].0, runs[rounds / 2].0);
    runs.sort_by_key(|run| run.1);
    let plain_least = runs[0].1;
    let plain = runs[rounds / 2].1;
    println!("ours {ours:?} (least {least:?}), plain {plain:?} (least {plain_least:?})");
    ours.as_secs_f64() / plain.as_secs_f64()
}

fn name(n: usize) -> String {
    format!("d{}/f{n}", n % 20)
}

fn ratio(durable: bool) -> f64 {
    let names: Vec<_> = (0..FILES).map(name).collect();
    let text =
        |round: usize, n: usize| format!("content of round {round} of file {n}\n").repeat(20);
    let first: Vec<_> = (0..FILES).map(|n| text(99, n)).collect();
    let files: Vec<_> =
        names.iter().zip(&first).map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let (ours, plain) = (Tree::new(&files), Tree::new(&files));
    let root = ours.root();
    medians(
        5,
        |round| {
            let mut builder = ChangeSet::builder(&root);
            for (n, name) in names.iter().enumerate() {
                builder.replace(&RelPath::new(name).unwrap(), text(round, n));
            }
            let set = builder.build().unwrap();
            time(|| drop(set.apply(&root, Options::new().durable(durable)).unwrap()))
        },
        |round| {
            let texts: Vec<_> = (0..FILES).map(|n| text(round, n)).collect();
            time(|| {
                for (name, text) in names.iter().zip(&texts) {
                    let mut file = File::create(plain.at(name)).unwrap();
                    file.write_all(text.as_bytes()).unwrap();
                    if durable {
                        file.sync_all().unwrap();
                    }
                }
            })
        },
    )
}

#[test]
#[ignore = "a measurement"]
fn durable_apply_costs_at_most_two_and_a_half_plain_writes() {
    let ratio = ratio(true);
    println!("durable: {ratio:.2}");
    assert!(ratio <= 2.5, "{ratio:.2}");
}

#[test]
#[ignore = "a measurement"]
fn apply_without_durability_costs_at_most_one_and_a_half_plain_writes() {
    let ratio = ratio(false);
    println!("not durable: {ratio:.2}");
    assert!(ratio <= 1.5, "{ratio:.2}");
}

#[test]
#[ignore = "a measurement"]
fn case_027_assembly_is_linear() {
    let source = vec![b'a'; 1 << 20];
    let run = |count: usize| {
        let step = source.len() / count;
        let edits: Vec<_> =
            (0..count).map(|n| ByteEdit::new(n * step..n * step + 1, "12345678")).collect();
        let mut runs: Vec<_> =
            (0..9).map(|_| time(|| drop(apply_edits(&source, &edits).unwrap()))).collect();
        runs.sort();
        runs[4]
    };
    let (few, many) = (run(10_000), run(40_000));
    println!("10,000 edits in {few:?}, 40,000 in {many:?}");
    assert!(few < Duration::from_millis(5) && many < few * 5);
}
