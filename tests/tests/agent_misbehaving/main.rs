//! A model that does whatever comes to its mind, ten thousand times: every run ends within its
//! budget, every call has its result, no file changes without a confirm, nothing panics.
//!
//! Most episodes hand their replies to the agent as they are. The others stream them over every
//! wire, from a server that keeps its provider's rules, in fragments of any size, with refusals,
//! overload, errors in the middle, cuts and garbage between them.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says so where it fails")]

#[path = "../../../crates/xd-agent/tests/wire/bodies.rs"]
#[allow(dead_code, reason = "the tests of the wires use all of it")]
mod bodies;
mod episode;
#[path = "../../../crates/xd-agent/tests/wire/flavour.rs"]
#[allow(dead_code, reason = "the tests of the wires use all of it")]
mod flavour;
#[path = "../../../crates/xd-agent/tests/wire/rules.rs"]
mod rules;
#[path = "../../../crates/xd-agent/tests/wire/server.rs"]
#[allow(dead_code, reason = "the tests of the wires use all of it")]
mod server;
mod wild;
mod wires;

use std::thread;

use xd_agent::{DeltaSink, ModelError, Reply, Request};
use xd_resolve::BoxFuture;
use xd_session::{Forcing, Thinking, ToolChoice};

use crate::{
    episode::{Mouth, Tally},
    wild::Random,
};

/// How many episodes hand their replies to the agent as they are; their seeds are 0, 1, 2, ….
const PLAIN: u64 = 9_000;
/// How many go over the wires; their seeds follow.
const OVER_WIRES: u64 = 1_000;

/// Hands replies over as they are.
struct Plain {
    forcing: Forcing,
    thinking: Thinking,
}

impl Plain {
    fn any(random: &mut Random) -> Self {
        let forcings = [
            Forcing::Named,
            Forcing::NamedUnlessThinking,
            Forcing::SomeTool,
            Forcing::AutoOnly,
            Forcing::Unknown,
        ];
        let forcing = forcings[random.below(5) as usize];
        let thinking = if random.below(2) == 0 { Thinking::On } else { Thinking::Off };
        Self { forcing, thinking }
    }
}

impl Mouth for Plain {
    fn say<'a>(
        &'a self,
        random: &'a mut Random,
        request: &Request,
        _: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        let refused = request.tool_choice != ToolChoice::Auto && random.below(12) == 0;
        let reply = match refused {
            true => Err(ModelError::ChoiceRefused { message: "no tool_choice here".into() }),
            false => wild::reply(random),
        };
        Box::pin(std::future::ready(reply))
    }

    fn forcing(&self) -> Forcing {
        self.forcing
    }

    fn thinking(&self) -> Thinking {
        self.thinking
    }
}

/// Runs the episodes of `seeds` on as many threads as there are processors.
fn all<F: Future<Output = Tally>>(
    seeds: std::ops::Range<u64>,
    episodes: impl Fn(Vec<u64>) -> F + Sync,
) -> Tally {
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let mut whole = Tally::default();
    thread::scope(|scope| {
        let (seeds, episodes) = (&seeds, &episodes);
        let run = |first: usize| {
            let own = seeds.clone().skip(first).step_by(threads).collect();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(episodes(own))
        };
        let running: Vec<_> = (0..threads).map(|first| scope.spawn(move || run(first))).collect();
        for thread in running {
            whole.add(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
    });
    whole
}

// CONTRACT G7, G12, D12; case 73 — Invariant G1, Invariant G3, Invariant G4
#[test]
fn g7_thousands_of_episodes_of_a_misbehaving_model() {
    let tally = all(0..PLAIN, |seeds| async move {
        let mut tally = Tally::default();
        for seed in seeds {
            tally.add(episode::run(seed, Plain::any).await);
        }
        tally
    });
    println!("as they are: {tally:?}");
    // The generator reaches what it is meant to reach.
    let Tally { episodes, turns, applied, discarded, forced, parked, failed, .. } = tally;
    assert_eq!(episodes, PLAIN);
    assert!(turns > 10 * PLAIN && applied > PLAIN / 4 && discarded > PLAIN / 8, "{tally:?}");
    assert!(forced > PLAIN / 2 && parked > PLAIN / 20 && failed > PLAIN / 20, "{tally:?}");
}

// CONTRACT G1, G7, G9, G11, G12; cases 59, 69, 71, 73, 75 — Invariant G1, Invariant G2, Invariant G3
#[test]
fn g7_g12_a_thousand_and_more_of_them_over_every_wire() {
    let tally = all(PLAIN..PLAIN + OVER_WIRES, wires::episodes);
    println!("over the wires: {tally:?}");
    let Tally { episodes, turns, applied, forced, failed, withdrawn, .. } = tally;
    assert_eq!(episodes, OVER_WIRES);
    assert!(turns > 5 * OVER_WIRES && applied > OVER_WIRES / 8, "{tally:?}");
    assert!(forced > OVER_WIRES / 8 && failed > OVER_WIRES / 2 && withdrawn > 50, "{tally:?}");
}
