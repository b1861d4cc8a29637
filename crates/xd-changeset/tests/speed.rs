//! What the promise costs, as ratios to doing the same without it, in one run. Timings of an
//! unoptimised build or a busy machine mean nothing, so these run on demand:
//! `cargo test --release -p xd-changeset --test speed -- --ignored --nocapture --test-threads 1`.
//!
//! A commit without durability makes and removes one file for each that it replaces, because
//! whoever has the old one open keeps it as it was. Of what writing plainly takes that is, with two
//! processors at hand: 1.2 to 1.4 times on ext4, with a journal and without; 2.8 to 3.4 times in
//! memory (tmpfs), where the calls are all there is. Where the processors are busy elsewhere it is
//! up to twice on ext4. On an ext4 without a journal on which much was deleted in the last minutes
//! it is more, without a bound: to make a file it looks at every one of those again.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests, and measurements to read"
)]

mod tree;

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tree::Tree;
use xd_changeset::{ByteEdit, ChangeSet, Options, RelPath, apply_edits};

const FILES: usize = 1_000;

fn time(act: impl FnOnce()) -> Duration {
    let start = Instant::now();
    act();
    start.elapsed()
}

/// How much longer ours took than the plain way, in one run.
struct Ratio {
    of_medians: f64,
    /// Of the shortest runs, which saw the least of what else the machine does.
    of_least: f64,
}

/// Compares several runs, taken in turn with those of the other side so that both see the same
/// machine.
fn compare(
    rounds: usize,
    mut ours: impl FnMut(usize) -> Duration,
    mut plain: impl FnMut(usize) -> Duration,
) -> Ratio {
    let (mut ours, mut plain): (Vec<_>, Vec<_>) =
        (0..rounds).map(|round| (ours(round), plain(round))).unzip();
    ours.sort();
    plain.sort();
    let ratio = |at: usize| ours[at].as_secs_f64() / plain[at].as_secs_f64();
    let middle = rounds / 2;
    println!(
        "ours {:?} (least {:?}), plain {:?} (least {:?})",
        ours[middle], ours[0], plain[middle], plain[0]
    );
    Ratio { of_medians: ratio(middle), of_least: ratio(0) }
}

fn name(n: usize) -> String {
    format!("d{}/f{n}", n % 20)
}

/// Replaces small files in `place`, by a change set and plainly.
fn replace_in(place: &Path, durable: bool, rounds: usize) -> Ratio {
    let names: Vec<_> = (0..FILES).map(name).collect();
    let text =
        |round: usize, n: usize| format!("content of round {round} of file {n}\n").repeat(20);
    let first: Vec<_> = (0..FILES).map(|n| text(99, n)).collect();
    let files: Vec<_> =
        names.iter().zip(&first).map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    let (ours, plain) = (Tree::new_in(place, &files), Tree::new_in(place, &files));
    let root = ours.root();
    compare(
        rounds,
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
    let ratio = replace_in(&std::env::temp_dir(), true, 5).of_medians;
    println!("durable: {ratio:.2}");
    assert!(ratio <= 2.5, "{ratio:.2}");
}

/// At most this many times as long as writing plainly.
const BOUND: f64 = 1.5;
/// The same in memory, where nothing but the calls costs anything.
const BOUND_IN_MEMORY: f64 = 4.0;

#[test]
#[ignore = "a measurement"]
fn apply_without_durability_costs_at_most_one_and_a_half_plain_writes() {
    // New file systems, on which nothing was done before.
    for (file_system, options) in
        [("ext4", "has_journal"), ("ext4 without a journal", "^has_journal")]
    {
        on_a_new_file_system(file_system, options);
    }
    let places = [std::env::temp_dir(), PathBuf::from("/dev/shm")];
    for place in places.iter().filter(|place| place.is_dir()) {
        let file_system = file_system_of(place);
        let bound = match file_system.as_str() {
            "tmpfs" => Some(BOUND_IN_MEMORY),
            // What anybody deleted there in the last minutes counts: told, and held to the bound
            // above, on a new one.
            "ext4 without a journal" => None,
            _other => Some(BOUND),
        };
        held(place, &file_system, bound);
    }
}

/// A measurement that a busy machine spoils is taken again, twice at most.
fn held(place: &Path, file_system: &str, bound: Option<f64>) {
    let is_held = (0..3).any(|_| {
        let Ratio { of_medians, of_least } = replace_in(place, false, 9);
        println!("not durable, on {file_system}: {of_medians:.2}, of the least {of_least:.2}");
        bound.is_none_or(|bound| of_medians.min(of_least) <= bound)
    });
    assert!(is_held, "more than {bound:?} on {file_system}");
}

/// Measures in a file of its own that is mounted, where that is allowed.
fn on_a_new_file_system(file_system: &str, options: &str) {
    let tree = Tree::new(&[]);
    let script = format!(
        "truncate -s 256M img && mkfs.ext4 -q -F -O {options} img && mkdir new && \
         mount -o loop img new && echo mounted && cd new && exec \"$0\" \"$@\""
    );
    let done = Command::new("unshare")
        .args(["--mount", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "child_on_a_new_file_system", "--ignored", "--nocapture"])
        .current_dir(tree.path())
        .output();
    let said = done.as_ref().map(|done| String::from_utf8_lossy(&done.stdout).into_owned());
    let Some(said) = said.ok().filter(|said| said.contains("mounted")) else {
        println!("not durable, on {file_system}: left out, no mount is allowed here");
        return;
    };
    said.lines()
        .filter(|line| line.contains("ours ") || line.contains("not durable"))
        .for_each(|line| println!("{}", line.rsplit(" ... ").next().unwrap_or(line)));
    assert!(done.unwrap().status.success() && said.contains(file_system), "{said}");
}

#[test]
#[ignore = "the child of the test above"]
fn child_on_a_new_file_system() {
    let here = std::env::current_dir().unwrap();
    if !here.join("../img").is_file() {
        println!("started by the test above alone");
        return;
    }
    held(&here, &file_system_of(&here), Some(BOUND));
}

/// The name of the file system, as the system's table has it.
fn file_system_of(place: &Path) -> String {
    let device = fs::metadata(place).unwrap().dev();
    let device = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let table = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let entry = table.lines().find(|line| line.split(' ').nth(2) == Some(&device));
    let Some((_, of)) = entry.and_then(|line| line.split_once(" - ")) else {
        return "an unknown file system".to_owned();
    };
    let name = of.split(' ').next().unwrap_or_default();
    let block = fs::read_link(format!("/sys/dev/block/{device}")).unwrap_or_default();
    let block = block.file_name().unwrap_or_default().to_string_lossy();
    let has_journal = fs::read_dir("/proc/fs/jbd2").is_ok_and(|journals| {
        let names = journals.filter_map(|journal| journal.ok()?.file_name().into_string().ok());
        names.into_iter().any(|name| name.starts_with(&format!("{block}-")))
    });
    if name == "ext4" && !has_journal {
        format!("{name} without a journal")
    } else {
        name.to_owned()
    }
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
