//! The cost of the protocol's own layers.
//!
//! `cargo bench -p xd-bench --bench protocol`
//!
//! What is bounded, each by something plain that is measured in turns with it:
//! - parsing an address, parsing a path and the compliance predicate: in comparisons of strings;
//! - staging and confirming with 1, 100 and 10,000 other actions pending: within 1.3 of the least;
//! - our own part of staging and confirming: in hash-map inserts, and from that in nanoseconds.
//!
//! A limit in nanoseconds alone would say more of the machine than of the code. So the 300 ns are
//! those of a machine on which the hash-map insert takes [`INSERT_WHERE_STATED`]: 24 inserts. That
//! ratio is asserted on every machine; the nanoseconds are printed, and asserted with a limit that
//! grows in proportion where the insert takes longer, and never shrinks. Counts (that parsing
//! allocates nothing, that staging allocates the same whatever is pending, what a session weighs)
//! are asserted here and, on every change, by `tests/counts.rs`.
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::{collections::HashMap, hint::black_box, process::ExitCode};

use xd_bench::{Contest, Probe, Table};
use xd_protocol::{classify, confirm_of};
use xd_session::Session;

/// What the hash-map insert below takes, in nanoseconds, where the limit of 300 ns was stated.
const INSERT_WHERE_STATED: f64 = 12.5;
/// The limit of our own time there, in nanoseconds.
const OWN_WHERE_STATED: f64 = 300.0;
/// How many entries the map of the plain insert holds before it is emptied: it neither grows nor
/// leaves the nearest cache, which makes the insert cheap and the bound strict.
const ENTRIES: u64 = 1_024;

fn main() -> ExitCode {
    let mut table = Table::new("protocol");
    let mut contest = Contest::new();

    let mut map: HashMap<u64, u64> = HashMap::new();
    let mut key = 0;
    let insert = contest.case(10_000, move || {
        key += 1;
        if key % ENTRIES == 0 {
            map.clear();
        }
        map.insert(key, key)
    });
    let (one, other) = ("xd://resolve".repeat(4), "xd://resolve".repeat(4));
    let compare = contest.case(10_000, move || black_box(&one) == black_box(&other));
    let parse = contest.case(10_000, || classify(black_box("xd://resolve@17")));
    let path = contest.case(5_000, || classify(black_box("crates/xd-protocol/src/lib.rs")));
    let predicate =
        contest.case(10_000, || confirm_of(black_box("write"), black_box("xd://resolve")));

    let pending = [1, 100, 10_000];
    let cases = pending.map(|pending| {
        let probe = Probe::with_pending(pending);
        contest.case(1_000, move || probe.stage_and_confirm())
    });
    let probe = Probe::with_pending(0);
    let producer = contest.case(1_000, move || probe.what_the_producer_does());

    let measured = contest.measured();
    let ns = |case| measured.nanoseconds(case);

    table.row("hash-map insert", ns(insert));
    table.row("comparison of two strings of 48 bytes", ns(compare));
    table.row("parsing an address", ns(parse));
    table.row("parsing a path", ns(path));
    table.row("the compliance predicate", ns(predicate));
    // Comparing costs what reading the bytes costs; a parser also looks for what they mean.
    table.bound("parsing an address in comparisons", ns(parse) / ns(compare), 30.0);
    table.bound("parsing a path in comparisons", ns(path) / ns(compare), 30.0);
    table.bound("the compliance predicate in comparisons", ns(predicate) / ns(compare), 30.0);
    let allocations = allocation_counter::measure(|| {
        black_box(classify("xd://resolve@17"));
        black_box(confirm_of("write", "xd://resolve"));
    });
    table.bound("allocations of parsing and the predicate", allocations.count_total as f64, 0.0);

    let costs = cases.map(ns);
    for (pending, cost) in pending.into_iter().zip(costs) {
        table.row(&format!("staging and confirming, {pending} pending"), cost);
    }
    let least = costs.into_iter().fold(f64::INFINITY, f64::min);
    for (pending, cost) in pending.into_iter().zip(costs) {
        table.bound(&format!("{pending} pending to the least"), cost / least, 1.3);
    }
    let own = least - ns(producer);
    let slower = (ns(insert) / INSERT_WHERE_STATED).max(1.0);
    table.bound(
        "our own in hash-map inserts",
        own / ns(insert),
        OWN_WHERE_STATED / INSERT_WHERE_STATED,
    );
    table.bound("our own in nanoseconds", own, (OWN_WHERE_STATED * slower).round());

    drop(Session::new());
    let session = allocation_counter::measure(|| drop(black_box(Session::new())));
    let bytes = session.bytes_max as usize + size_of::<Session>();
    table.bound("bytes of a session with nothing pending", bytes as f64, 4096.0);

    println!("{table}");
    if table.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
