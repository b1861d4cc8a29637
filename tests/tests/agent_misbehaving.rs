//! A model that does whatever comes to its mind, thousands of times: every run ends within its
//! budget, every call has its result, no file changes without a confirm, nothing panics.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test says so where it fails")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use xd_agent::{Agent, Message, Model, ModelError, Reply, Request, Stop, StopReason};
use xd_resolve::{ActionState, BoxFuture, StageRequest};
use xd_session::{Directive, Forcing, Session, Thinking, ToolChoice};
use xd_tests::{Bench, Picture, assert_paired, assert_requests};
use xd_write::Host;

/// How many episodes run; the seeds are 0, 1, 2, ….
const EPISODES: u64 = 1_000;
/// The most turns that a prompt may take here.
const TURN_LIMIT: u64 = 40;

/// A small generator of random numbers; the same seed gives the same episode.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }

    fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// What the model keeps between its turns.
struct Mind {
    random: Random,
    requests: Vec<Request>,
    /// The files that only a confirm may change, as they were at the last turn.
    files: Picture,
    /// Whether the last reply held a call that decides.
    confirmed: bool,
    /// Turns and forced turns spent on each head in this prompt.
    spent: BTreeMap<u64, (u32, u32)>,
}

struct Wild {
    mind: Mutex<Mind>,
    host: Arc<Host>,
    picture: Box<dyn Fn() -> Picture + Send + Sync>,
    forcing: Forcing,
    thinking: Thinking,
}

impl Wild {
    fn session(&self) -> &Session {
        self.host.session()
    }

    /// Nothing but a confirm changes the guarded files.
    fn look_at_files(&self, mind: &mut Mind) {
        let now = (self.picture)();
        assert!(now == mind.files || mind.confirmed, "a file changed without a confirm");
        mind.files = now;
    }
}

impl Model for Wild {
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
        let mut mind = self.mind.lock().unwrap();
        self.look_at_files(&mut mind);
        if let Directive::Soft(requirement) = self.session().next_tool_choice_directive() {
            let spent = mind.spent.entry(requirement.number.get()).or_default();
            spent.0 += 1;
            spent.1 += u32::from(request.tool_choice != ToolChoice::Auto);
            assert!(spent.0 <= 8 && spent.1 <= 3, "{spent:?} turns on one head");
        } else {
            assert_eq!(request.tool_choice, ToolChoice::Auto, "forced with nothing to resolve");
        }
        mind.requests.push(request);
        let reply = reply(&mut mind.random);
        let finalizer = self.session().finalizer();
        mind.confirmed = match &reply {
            Ok(reply) => reply.calls.iter().any(|call| finalizer.is_confirm(call)),
            Err(_) => false,
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

/// Whatever comes to its mind.
fn reply(random: &mut Random) -> Result<Reply, ModelError> {
    let reply = match random.below(24) {
        0 => Reply::text("I have resolved the pending action, as you asked."),
        1 => Reply::text(""),
        2 => Reply::text("write {\"path\": \"xd://resolve\", \"content\": \"It is right.\"}"),
        3 => return Err(ModelError::failed("500")),
        4 => calls(random, 1).stopped(StopReason::Aborted),
        5 | 6 => calls(random, 2).stopped(StopReason::Length),
        7..=16 => calls(random, 1),
        17..=20 => calls(random, 2),
        21 => calls(random, 5),
        22 => {
            // One id for all calls, as some providers have sent.
            let mut reply = calls(random, 3);
            reply.calls.iter_mut().for_each(|call| call.id = "same".into());
            reply
        }
        _ => Reply { text: "First I think.".into(), ..calls(random, 2) },
    };
    Ok(reply)
}

fn calls(random: &mut Random, most: u64) -> Reply {
    let mut reply = Reply::text("");
    for _ in 0..=random.below(most) {
        let (name, arguments) = call(random);
        reply = reply.and_call(name, arguments);
    }
    reply
}

fn call(random: &mut Random) -> (String, Value) {
    let write = |path: &str, content: &str| {
        ("write".to_owned(), json!({ "path": path, "content": content }))
    };
    match random.below(22) {
        0..=2 => write("xd://resolve", "It is right."),
        3 | 4 => write("xd://reject", "It is wrong."),
        5 => write(&format!("xd://resolve@{}", random.below(9)), "It is right."),
        6 => write(&format!("xd://reject@{}", random.below(9)), "It is wrong."),
        7 => write(random.of(&["xd://resolve", "XD://reject", "xd://resolve@1"]), "  \n"),
        8 => write(
            random.of(&[
                "xd:/resolve",
                "xdd://reject",
                "xd/resolve",
                "xd://Resolve",
                "xd://",
                "xd://a/b",
                "xd://resolve@0",
                "xd://resolve@1:3-9",
                "http://x",
                "xd://nothing",
                "../out",
                "a.txt:3",
                "",
                "\0",
                "xd://propose",
            ]),
            "It is right.",
        ),
        // A file of its own: the guarded ones change by confirms alone.
        9 => write("own/notes.txt", "notes\n"),
        10 | 11 => ("read".into(), json!({ "path": random.of(&["a.txt", "b.txt", ".", "xd://"]) })),
        12 => {
            let path = format!("xd://resolve@{}", random.below(6));
            ("read".into(), json!({ "path": path }))
        }
        13..=16 => {
            let path = random.of(&["a.txt", "b.txt", "c.txt"]);
            let old = random.of(&["0", "1", "2", "none"]);
            let new = random.of(&["0", "1", "2", "0"]);
            ("edit".into(), json!({ "edits": [{ "path": path, "old": old, "new": new }] }))
        }
        17 => ("edit".into(), json!({ "create": [{ "path": "c.txt", "content": "0 1\n" }] })),
        18 => ("edit".into(), json!({ "delete": [random.of(&["b.txt", "c.txt"])] })),
        19 => ("bash".into(), json!({ "command": "rm -rf ." })),
        20 => {
            let broken =
                [json!(null), json!("{\"path\":"), json!([]), json!({ "path": 7 }), json!(1.5)];
            let at = random.below(broken.len() as u64) as usize;
            let name = random.of(&["write", "read", "edit", "xd://resolve", "xd://", ""]);
            (name.to_owned(), broken[at].clone())
        }
        _ => (
            random.of(&["xd://resolve", "xd://reject@2", "xd://gone", "resolve"]).to_owned(),
            json!({ "content": "By its name.", "action": "apply", "reason": "By its name." }),
        ),
    }
}

/// The guarded files of a workspace: all but the model's own.
fn guarded(mut picture: Picture) -> Picture {
    picture.retain(|path, _| !path.starts_with("own"));
    picture
}

async fn episode(seed: u64) -> (u64, usize) {
    let mut random = Random(seed);
    let bench = Arc::new(Bench::quick(&[("a.txt", "0\n"), ("b.txt", "1\n")]));
    // Something may be pending before the first prompt, and it may fail.
    if random.below(3) == 0 {
        let fails = random.below(2) == 0;
        let request = StageRequest::new("Plain", move |_| async move {
            if fails { Err("no luck".into()) } else { Ok(xd_resolve::ToolResult::text("Done.")) }
        });
        bench.session().actions().stage(request).unwrap();
    }
    let forcings = [
        Forcing::Named,
        Forcing::NamedUnlessThinking,
        Forcing::SomeTool,
        Forcing::AutoOnly,
        Forcing::Unknown,
    ];
    let forcing = forcings[random.below(5) as usize];
    let thinking = if random.below(2) == 0 { Thinking::On } else { Thinking::Off };
    let looked_at = Arc::clone(&bench);
    let model = Arc::new(Wild {
        mind: Mutex::new(Mind {
            random,
            requests: Vec::new(),
            files: guarded(bench.picture()),
            confirmed: false,
            spent: BTreeMap::new(),
        }),
        host: Arc::clone(&bench.host),
        picture: Box::new(move || guarded(looked_at.picture())),
        forcing,
        thinking,
    });
    let mut agent =
        Agent::new(Shared(Arc::clone(&model)), Arc::clone(&bench.host)).with_turn_limit(TURN_LIMIT);
    let mut applied = 0;
    for _ in 0..4 {
        model.mind.lock().unwrap().spent.clear();
        match agent.prompt("Go on.").await {
            Ok(Stop::Unresolved { number }) => {
                assert!(bench.pending().contains(&number), "parked, and so pending");
            }
            Ok(Stop::Done | Stop::Truncated) => {
                // The gate lets a run end with a pending action only where it was lifted or lies
                // below one that was.
                let directive = bench.session().next_tool_choice_directive();
                assert!(matches!(directive, Directive::None), "{directive:?}");
            }
            Ok(Stop::Aborted | Stop::TurnLimit | Stop::Forbidden { .. }) | Err(_) => {}
            Ok(Stop::SessionEnded) => panic!("nobody ended the session"),
        }
        assert_paired(agent.messages());
        model.look_at_files(&mut model.mind.lock().unwrap());
    }
    let requests = &model.mind.lock().unwrap().requests;
    assert_requests(requests);
    // What was executed has one result a call, and never more than one apply an action.
    let states = bench.session().actions();
    let mut staged = 0;
    for number in (1..=200).filter_map(xd_protocol::StageNumber::new) {
        let Some((_, state)) = states.get(number) else { break };
        assert!(!matches!(state, ActionState::Taken(_)), "@{number} hangs");
        staged += 1;
        applied += usize::from(state == ActionState::Applied);
    }
    // One reminder a head at the most.
    let reminds = |message: &&Message| matches!(message, Message::Custom { custom_type, .. } if custom_type == "resolve-reminder");
    assert!(agent.messages().iter().filter(reminds).count() <= staged);
    (requests.len() as u64, applied)
}

/// The wild model, kept by the test too.
struct Shared(Arc<Wild>);

impl Model for Shared {
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
        self.0.respond(request)
    }

    fn forcing(&self) -> Forcing {
        self.0.forcing()
    }

    fn thinking(&self) -> Thinking {
        self.0.thinking()
    }
}

// CONTRACT G7, D12 — Invariant G3, Invariant G4
#[tokio::test]
async fn g7_a_thousand_episodes_of_a_misbehaving_model() {
    let (mut turns, mut applied) = (0, 0);
    for seed in 0..EPISODES {
        let (more_turns, more_applied) = episode(seed).await;
        turns += more_turns;
        applied += more_applied;
    }
    println!("{EPISODES} episodes, {turns} turns, {applied} applied actions");
    // The generator reaches what it is meant to reach.
    assert!(turns > 10 * EPISODES, "{turns} turns");
    assert!(applied > 300, "{applied} applied");
}
