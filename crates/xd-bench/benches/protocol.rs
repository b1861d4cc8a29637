//! The cost of the protocol's own layers.
//!
//! `cargo bench -p xd-bench --bench protocol`
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use std::{
    collections::HashMap,
    future::Future as _,
    hint::black_box,
    pin::pin,
    process::ExitCode,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use xd_bench::{Table, nanoseconds};
use xd_protocol::{Verdict, classify, confirm_of};
use xd_resolve::{ActionStore, ApplyError, BoxFuture, Decider, Effect, StageRequest, ToolResult};
use xd_session::Session;

/// Does nothing, so that what is measured is the store's own time.
struct Nothing;

impl Effect for Nothing {
    fn apply(&self, _: Arc<str>) -> BoxFuture<'static, Result<ToolResult, ApplyError>> {
        Box::pin(std::future::ready(Ok(ToolResult::default())))
    }
}

fn request(effect: &Arc<Nothing>) -> StageRequest {
    StageRequest::with_effect("Rename: 1 file", Arc::<Nothing>::clone(effect))
}

/// One action staged and confirmed while `pending` others wait.
fn stage_and_confirm(pending: usize) -> f64 {
    let store = Arc::new(ActionStore::new());
    let effect = Arc::new(Nothing);
    for _ in 0..pending {
        store.stage(request(&effect)).expect("nothing is recorded, so nothing can fail");
    }
    let reason: Arc<str> = "Every caller uses the new name.".into();
    nanoseconds(20_000, || {
        let staged = store.stage(request(&effect)).expect("as above");
        let confirm =
            store.confirm(staged.number(), Verdict::Apply, Arc::clone(&reason), Decider::Model);
        match pin!(confirm).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(resolution) => resolution,
            Poll::Pending => unreachable!("the effect is ready at once"),
        }
    })
}

/// What of that is the producer's: making the request, and its own boxed future.
fn of_the_producer() -> f64 {
    let effect = Arc::new(Nothing);
    let reason: Arc<str> = "Every caller uses the new name.".into();
    nanoseconds(20_000, || {
        let request = black_box(request(&effect));
        let mut applied = effect.apply(Arc::clone(&reason));
        let answer = applied.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        (request, answer.is_ready())
    })
}

fn main() -> ExitCode {
    let mut table = Table::new("protocol");

    let mut map: HashMap<u64, u64> = HashMap::new();
    let mut key = 0;
    let insert = nanoseconds(100_000, || {
        key += 1;
        map.insert(key, key)
    });
    let (one, other) = ("xd://resolve".repeat(4), "xd://resolve".repeat(4));
    let compare = nanoseconds(100_000, || black_box(&one) == black_box(&other));
    table.row("hash-map insert", insert);
    table.row("comparison of two strings of 48 bytes", compare);

    let parse = nanoseconds(100_000, || classify(black_box("xd://resolve@17")));
    let path = nanoseconds(100_000, || classify(black_box("crates/xd-protocol/src/lib.rs")));
    let predicate =
        nanoseconds(100_000, || confirm_of(black_box("write"), black_box("xd://resolve")));
    table.row("parsing an address", parse);
    table.row("parsing a path", path);
    table.row("the compliance predicate", predicate);
    // Comparing costs what reading the bytes costs; a parser also looks for what they mean.
    table.bound("parsing an address in comparisons", parse / compare, 30.0);
    table.bound("parsing a path in comparisons", path / compare, 30.0);
    table.bound("the compliance predicate in comparisons", predicate / compare, 30.0);
    let allocations = allocation_counter::measure(|| {
        black_box(classify("xd://resolve@17"));
        black_box(confirm_of("write", "xd://resolve"));
    });
    table.bound("allocations of parsing and the predicate", allocations.count_total as f64, 0.0);

    let costs = [1, 100, 10_000].map(|pending| (pending, stage_and_confirm(pending)));
    for (pending, cost) in costs {
        table.row(&format!("staging and confirming, {pending} pending"), cost);
    }
    let least = costs.iter().map(|(_, cost)| *cost).fold(f64::INFINITY, f64::min);
    for (pending, cost) in costs {
        table.bound(&format!("{pending} pending to the least"), cost / least, 1.3);
    }
    let own = least - of_the_producer();
    table.row("of the least, our own", own);
    table.bound("our own in hash-map inserts", own / insert, 11.0);

    drop(Session::new());
    let session = allocation_counter::measure(|| {
        black_box(Session::new());
    });
    table.bound("bytes of a session with nothing pending", session.bytes_max as f64, 4096.0);

    println!("{table}");
    if table.holds() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
