//! What the protocol's own layers cost, in counts: they hold on every machine and in every build,
//! so they are asserted on every change. The times are measured by `benches/protocol.rs`.

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

use std::hint::black_box;

use xd_bench::Probe;
use xd_protocol::{classify, confirm_of};
use xd_session::Session;

/// How many actions are staged and confirmed, one after the other.
const ACTIONS: usize = 64;

/// What one confirmed action takes: how often memory was asked for, and how much of it at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Taken {
    times: u64,
    bytes: u64,
}

/// The same for each of several actions, staged and confirmed while `pending` others wait.
fn taken_with(pending: usize) -> Vec<Taken> {
    let probe = Probe::with_pending(pending);
    drop(probe.stage_and_confirm());
    let taken = (0..ACTIONS).map(|_| {
        let counted = allocation_counter::measure(|| drop(black_box(probe.stage_and_confirm())));
        Taken { times: counted.count_total, bytes: counted.bytes_total }
    });
    let taken = taken.collect();
    assert_eq!(probe.pending(), pending);
    taken
}

#[test]
fn u3_g2_parsing_and_the_predicate_allocate_nothing() {
    // The counter counts.
    let counted = allocation_counter::measure(|| drop(black_box(vec![1_u8])));
    assert_eq!(counted.count_total, 1);

    let counted = allocation_counter::measure(|| {
        for path in ["xd://resolve", "xd://reject@17", "xd://", "xd:/x", "src/lib.rs", ""] {
            black_box(classify(black_box(path)));
            black_box(confirm_of(black_box("write"), black_box(path)));
        }
    });
    assert_eq!(counted.count_total, 0);
}

#[test]
fn d11_s1_staging_and_confirming_takes_the_same_memory_whatever_is_pending() {
    let usual = |pending| {
        let mut taken = taken_with(pending);
        let usual = taken.iter().copied().min_by_key(|it| (it.times, it.bytes)).unwrap();
        // The vector that holds the actions doubles now and then, and takes nothing else with it.
        taken.retain(|it| *it != usual);
        assert!(taken.len() <= ACTIONS.ilog2() as usize, "{pending} pending: {taken:?}");
        assert!(taken.iter().all(|it| it.times == usual.times + 1), "{usual:?}, but {taken:?}");
        usual
    };
    let alone = usual(0);
    assert!(alone.times > 0, "{alone:?}");
    for pending in [1, 100, 10_000] {
        assert_eq!(usual(pending), alone, "{pending} pending");
    }
}

#[test]
fn a_session_with_nothing_pending_weighs_less_than_4_kib() {
    // What is made once and shared by all sessions is no session's weight.
    drop(Session::new());
    let mut session = None;
    let counted = allocation_counter::measure(|| session = Some(Session::new()));
    let bytes = usize::try_from(counted.bytes_max).unwrap_or(usize::MAX) + size_of::<Session>();
    assert!(bytes < 4_096, "{bytes} bytes");
    assert!(session.is_some_and(|session| !session.actions().has_pending()));
}
