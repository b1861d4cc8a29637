//! Parsing and the compliance predicate allocate nothing: they run on every call of every turn,
//! and on every delta while a call streams.
//!
//! `xd-protocol` has no allocator to call; this measures it from outside, and what stands on it.

use std::hint::black_box;

use serde_json::json;
use xd_protocol::{
    Reason, classify, confirm_of, could_become_xd_url, is_selector_list, parse_xd_url,
    split_selector,
};
use xd_resolve::{ToolCall, confirm_of_call};

fn allocations(run: impl FnOnce()) -> u64 {
    allocation_counter::measure(run).count_total
}

const PATHS: [&str; 12] = [
    "",
    "src/lib.rs",
    "./xd://resolve",
    "xd://",
    " XD://resolve@18446744073709551615 ",
    "xd://reject",
    "xd://ast_edit",
    "xd://a/b",
    "xd:/resolve",
    "\u{feff}xdd://x",
    "http://host/path",
    "a.rs:3-9,12",
];

#[test]
fn u3_g2_parsing_allocates_nothing() {
    // The counter counts.
    assert_eq!(allocations(|| drop(black_box(vec![1_u8]))), 1);

    let long = format!("xd://{}", "n".repeat(100_000));
    let counted = allocations(|| {
        for path in PATHS.into_iter().chain([long.as_str()]) {
            black_box(classify(path));
            black_box(parse_xd_url(path));
            black_box(could_become_xd_url(path));
            black_box(confirm_of("write", path));
            black_box(split_selector(path));
            black_box(is_selector_list(path));
            black_box(Reason::new(path).is_ok());
        }
    });
    assert_eq!(counted, 0);
}

#[test]
fn g2_u11_the_predicate_of_a_call_allocates_nothing() {
    let calls: Vec<ToolCall> = PATHS
        .into_iter()
        .flat_map(|path| {
            let write = ToolCall::new("1", "write", json!({ "path": path, "content": "Why." }));
            [write, ToolCall::new("2", path, json!({}))]
        })
        .collect();
    let mut confirms = 0;
    let counted = allocations(|| confirms = calls.iter().filter_map(confirm_of_call).count());
    assert_eq!((counted, confirms), (0, 4));
}
