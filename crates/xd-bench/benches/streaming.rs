//! The cost of drawing a call while it streams.
//!
//! `cargo bench -p xd-bench --bench streaming`
//!
//! Every call is fed one byte at a time and drawn whenever that changed something, as a terminal
//! would. What is bounded: doubling the length at most 2.2 times the time, and 64 KiB in 30 ms. The
//! work is counted, not timed, by the tests of `xd-render`, on every change.
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::process::ExitCode;

use serde_json::{Value, json};
use xd_bench::{Contest, Table};
use xd_render::{CallView, Options};

/// The length of what arrives in the shorter call of each pair, in bytes of JSON.
const BYTES: usize = 64 * 1024;
/// What the shorter one may take, in milliseconds.
const MOST: f64 = 30.0;
/// How many times longer twice the length may take.
const TWICE: f64 = 2.2;

/// The arguments of a call with a text of so many bytes.
type Call = fn(usize) -> Value;

fn main() -> ExitCode {
    let kinds: [(&str, Call); 5] = [
        ("a reason", |n| json!({ "path": "xd://resolve", "content": "word ".repeat(n / 5) })),
        ("a reason of one word", |n| json!({ "path": "xd://resolve", "content": "x".repeat(n) })),
        (
            "a device's payload",
            |n| json!({ "content": "{\"key\": [1]}\n".repeat(n / 13), "path": "xd://tool" }),
        ),
        (
            "a file",
            |n| json!({ "path": "a.txt", "content": "a line of thirty-two characters\n".repeat(n / 32) }),
        ),
        // Each line feed arrives as two bytes, and each is a line to draw.
        ("a file of empty lines", |n| json!({ "path": "a.txt", "content": "\n".repeat(n / 2) })),
    ];
    let mut contest = Contest::new();
    let cases = kinds.map(|(name, call)| {
        let cases = [BYTES, 2 * BYTES].map(|bytes| {
            let source = call(bytes).to_string();
            contest.case(1, move || stream(&source))
        });
        (name, cases)
    });
    let measured = contest.measured();
    let mut table = Table::new("streaming");
    for (name, cases) in cases {
        let [single, double] = cases.map(|case| measured.nanoseconds(case));
        table.bound(&format!("{name} of 64 KiB, in ms"), single / 1e6, MOST);
        table.bound(&format!("{name}, twice as long"), double / single, TWICE);
    }
    println!("{table}");
    if table.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn stream(source: &str) -> usize {
    let options = Options::new(80).with_live_lines(6);
    let mut view = CallView::new("write");
    let mut drawn = 0;
    for byte in source.bytes() {
        if view.push(&[byte]) {
            drawn += view.lines(&options).len();
        }
    }
    drawn
}
