//! Whole runs: a hundred turns with thirty staged previews on every wire, and what was sent.
#![allow(clippy::print_stdout, reason = "the table is there to be read")]

use std::sync::Arc;

use tempfile::TempDir;
use xd_agent::{
    Agent, DeltaSink, Event, Model, ModelError, Reply, Request, Stop, provider::HttpModel,
    provider::Settings,
};
use xd_resolve::BoxFuture;
use xd_session::{Forcing, Thinking, ToolChoice};
use xd_write::Host;

use crate::{
    bodies::{Body, Measured, measure},
    flavour::{ALL, Flavour, Say},
    rules,
    server::{Answer, Exchange, Server},
    stage,
};

/// A server that keeps its provider's rules and says what `script` says, in fragments of `size`.
pub(crate) async fn serve(
    flavour: Flavour,
    size: usize,
    script: impl FnMut(usize) -> Say + Send + 'static,
) -> Server {
    serve_from(0, flavour, size, script).await
}

/// The same, whose answers are counted from `first`.
async fn serve_from(
    first: usize,
    flavour: Flavour,
    size: usize,
    mut script: impl FnMut(usize) -> Say + Send + 'static,
) -> Server {
    let mut serial = first;
    Server::start(move |exchange| {
        if let Err(refused) = rules::check(flavour, exchange) {
            return refused;
        }
        let say = script(serial);
        serial += 1;
        Answer::stream(&flavour.stream(&say, serial - 1), size)
    })
    .await
}

/// Ten turns with three previews, over and over. The arguments are not as anybody here would
/// write them.
fn busy(turn: usize) -> Say {
    let stage = format!("{{\"path\": \"log.txt\",  \"line\":\"na\\u00efve {turn}\", \"n\": 1.0}}");
    let decide = |what: &str| {
        let path = format!("{{\"content\":\"It is {turn}.\",\"path\":\"xd://{what}\"}}");
        Say::call("write", &path)
    };
    match turn % 10 {
        0 | 3 => Say { text: "I stage it.\n".into(), ..Say::call("append", &stage) },
        6 => Say::call("append", &stage),
        1 | 7 => decide("resolve"),
        4 => decide("reject"),
        2 => Say::call("read", "{\"path\":\"log.txt\"}").and("read", "{ \"path\" : \"gone.txt\" }"),
        5 => Say::call("read", "{\"path\":\"xd://\"}"),
        8 => Say::call("read", "{\"path\":"),
        _ => Say::text("Done. 🦀"),
    }
}

/// The former design, as a switch of this test: while something is pending every request forces
/// `write`, and where the provider refuses that while thinking, thinking is left out.
struct Forced {
    plain: HttpModel,
    without_thinking: HttpModel,
    host: Arc<Host>,
}

impl Model for Forced {
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
        self.plain.respond(request)
    }

    fn respond_streaming<'a>(
        &'a self,
        mut request: Request,
        sink: &'a dyn DeltaSink,
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        if !self.host.session().actions().has_pending() {
            return self.plain.respond_streaming(request, sink);
        }
        request.tool_choice = ToolChoice::Named("write".into());
        self.without_thinking.respond_streaming(request, sink)
    }

    fn forcing(&self) -> Forcing {
        Forcing::AutoOnly
    }

    fn thinking(&self) -> Thinking {
        self.plain.thinking()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Design {
    ByReminder,
    Forced,
}

async fn hundred(flavour: Flavour, design: Design) -> Vec<Exchange> {
    let folder = TempDir::new().unwrap();
    let host = stage::host(folder.path());
    // The rules of DeepSeek leave no room for a forced run: it is played by a server without them.
    let lax = design == Design::Forced && flavour == Flavour::DeepSeekThinking;
    let played = if lax { Flavour::OpenAiChat } else { flavour };
    let server = serve(played, 701, busy).await;
    let plain = flavour.model(&server);
    let model: Box<dyn Model> = match design {
        Design::ByReminder => Box::new(plain),
        Design::Forced => {
            let mut config = flavour.config(&server);
            if flavour.refuses_forcing() {
                config.settings = Settings {
                    thinking: xd_agent::provider::ThinkingSetting::Off,
                    ..Settings::default()
                };
            }
            let without_thinking = HttpModel::new(config).unwrap();
            Box::new(Forced { plain, without_thinking, host: Arc::clone(&host) })
        }
    };
    let mut agent = Agent::new(model, Arc::clone(&host)).with_system("You keep a log.");
    for prompt in 0..10 {
        let stop = agent.prompt(format!("Go on, {prompt}.")).await.unwrap();
        assert_eq!(stop, Stop::Done, "{}", flavour.name());
    }
    let text = std::fs::read_to_string(folder.path().join("log.txt")).unwrap();
    assert_eq!(text.lines().count(), 21, "20 of 30 previews were applied: {text}");
    assert!(text.contains("naïve 96"), "{text}");
    server.seen()
}

// CONTRACT G3, G4, G11, S2; case 75; Invariants G1, G2, G5
#[tokio::test]
async fn g4_g11_a_hundred_turns_with_thirty_previews_change_nothing_that_was_sent() {
    let mut table = String::from(
        "| wire | design | requests | bytes sent | prefix bytes kept | of those that could be | kept, where a changed choice voids the messages | choice changes | other settings changed |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for flavour in ALL {
        let mut kept = Vec::new();
        for (design, name) in
            [(Design::ByReminder, "reminder"), (Design::Forced, "forced (former)")]
        {
            let seen = hundred(flavour, design).await;
            let measured = measure(flavour, &seen);
            let Measured { requests, sent, choice_changes, setting_changes, .. } = measured;
            let share = |kept: usize| 100.0 * kept as f64 / measured.keepable as f64;
            table += &format!(
                "| {} | {name} | {requests} | {sent} | {} | {:.1} % | {:.1} % | {choice_changes} | {setting_changes} |\n",
                flavour.name(),
                measured.kept,
                share(measured.kept),
                share(measured.kept_strictly),
            );
            assert_eq!(requests, 100);
            kept.push(measured);
        }
        let [ours, former] = kept[..] else { panic!("two designs") };
        assert_eq!((ours.choice_changes, ours.setting_changes, ours.broken_prefixes), (0, 0, 0));
        assert!(ours.kept >= ours.keepable, "{ours:?}");
        assert_eq!(former.choice_changes, 60, "the switch of the test forces");
        assert_eq!(former.setting_changes, if flavour.refuses_forcing() { 60 } else { 0 });
    }
    println!("{table}");
    in_the_docs(&table);
}

const BEGIN: &str = "<!-- table: written by a test -->\n";
const END: &str = "<!-- table: end -->\n";

/// The table in docs/AGENT.md is the one that was measured. Outside of the repository there is none.
fn in_the_docs(table: &str) {
    let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/AGENT.md");
    let Ok(kept) = std::fs::read_to_string(document) else { return };
    let (head, rest) = kept.split_once(BEGIN).expect("the document has a begin mark");
    let (_, tail) = rest.split_once(END).expect("the document has an end mark");
    let wanted = format!("{head}{BEGIN}{table}{END}{tail}");
    if std::env::var_os("XD_WRITE_DOCS").is_some() {
        std::fs::write(document, wanted).unwrap();
        return;
    }
    assert!(
        kept == wanted,
        "docs/AGENT.md has another table: XD_WRITE_DOCS=1 cargo test -p xd-agent --features http \
         --test wire a_hundred_turns"
    );
}

/// Stages, takes a detour, is brought back.
fn detour(turn: usize) -> Say {
    match turn {
        0 => Say::call("append", "{\"path\":\"log.txt\",\"line\":\"second\"}"),
        1 => Say::call("write", "{\"path\":\"a.txt\",\"content\":\"detour\"}"),
        2 => Say::call("write", "{\"path\":\"xd://resolve\",\"content\":\"It belongs there.\"}"),
        _ => Say::text("Done."),
    }
}

// CONTRACT G5, G9, G11; case 59; Invariant G2
#[tokio::test]
async fn g5_g11_a_forced_request_differs_in_appended_messages_and_tool_choice_alone() {
    for flavour in ALL {
        let folder = TempDir::new().unwrap();
        let host = stage::host(folder.path());
        let server = serve(flavour, 11, detour).await;
        let told = Arc::new(std::sync::Mutex::new(0));
        let counted = Arc::clone(&told);
        let mut agent = Agent::new(flavour.model(&server), host).on_event(move |event| {
            *counted.lock().unwrap() +=
                u32::from(matches!(event, Event::ForcingUnavailable { .. }));
        });
        assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Done);
        assert!(!folder.path().join("a.txt").exists(), "the detour was not taken");
        let seen = server.seen();
        let bodies: Vec<Body<'_>> = seen.iter().map(|seen| Body::of(flavour, seen)).collect();
        assert_eq!(bodies.len(), 4, "no request was refused");
        for pair in bodies.windows(2) {
            assert!(pair[0].begins(&pair[1]) && pair[0].same_rest(&pair[1]), "{}", flavour.name());
        }
        let choices: Vec<&str> = bodies.iter().map(Body::choice).collect();
        let auto = if flavour.history() == "messages" && flavour.name().starts_with("anthropic") {
            "{\"type\":\"auto\"}"
        } else {
            "\"auto\""
        };
        let forced = match flavour {
            Flavour::Anthropic => "{\"type\":\"tool\",\"name\":\"write\"}",
            Flavour::OpenAiChat | Flavour::Mistral => {
                "{\"type\":\"function\",\"function\":{\"name\":\"write\"}}"
            }
            Flavour::Responses => "{\"type\":\"function\",\"name\":\"write\"}",
            // Never asked for, and said so.
            Flavour::AnthropicThinking | Flavour::DeepSeekThinking => auto,
        };
        assert_eq!(choices, [auto, auto, forced, auto], "{}", flavour.name());
        assert_eq!(*told.lock().unwrap(), u32::from(flavour.refuses_forcing()));
    }
}

// CONTRACT G9; case 59
#[tokio::test]
async fn case_059_a_table_that_is_wrong_costs_one_refusal_and_is_corrected() {
    for flavour in [Flavour::AnthropicThinking, Flavour::DeepSeekThinking] {
        let folder = TempDir::new().unwrap();
        let host = stage::host(folder.path());
        let server = serve(flavour, 11, detour).await;
        let mut agent = Agent::new(flavour.model(&server), host).with_forcing(Forcing::Named);
        assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Done);
        let seen = server.seen();
        let bodies: Vec<Body<'_>> = seen.iter().map(|seen| Body::of(flavour, seen)).collect();
        // The third is refused, the fourth is the same turn without the choice.
        assert_eq!(bodies.len(), 5);
        assert_ne!(bodies[2].choice(), bodies[1].choice());
        assert_eq!(bodies[3].choice(), bodies[1].choice());
        assert!(bodies[2].begins(&bodies[3]) && bodies[3].same_rest(&bodies[2]));
    }
}

// CONTRACT E4; case 81; Invariant G5
#[tokio::test]
async fn e4_a_run_resumed_from_its_transcript_sends_the_same_bytes() {
    for flavour in ALL {
        let folder = TempDir::new().unwrap();
        let host = stage::host(folder.path());
        let server = serve(flavour, 23, busy).await;
        let path = folder.path().join("transcript.jsonl");
        for prompt in 0..2 {
            let (file, resumed) = xd_agent::TranscriptFile::open(&path).unwrap();
            let mut agent = Agent::new(flavour.model(&server), Arc::clone(&host))
                .with_system("You keep a log.")
                .resume(file, resumed);
            assert_eq!(agent.prompt(format!("Go on, {prompt}.")).await.unwrap(), Stop::Done);
        }
        let measured = measure(flavour, &server.seen());
        assert_eq!((measured.requests, measured.broken_prefixes), (20, 0), "{}", flavour.name());
    }
}

/// A history that other models made goes on with any: nothing in it is refused.
#[tokio::test]
async fn a_history_goes_on_with_the_model_of_another_provider() {
    for first in [Flavour::AnthropicThinking, Flavour::Responses] {
        for second in ALL.into_iter().filter(|second| *second != first) {
            let folder = TempDir::new().unwrap();
            let host = stage::host(folder.path());
            let path = folder.path().join("transcript.jsonl");
            let mut seen = Vec::new();
            for (part, flavour) in [first, second, second].into_iter().enumerate() {
                let server = serve_from(part * 10, flavour, 90, busy).await;
                let (file, resumed) = xd_agent::TranscriptFile::open(&path).unwrap();
                let mut agent =
                    Agent::new(flavour.model(&server), Arc::clone(&host)).resume(file, resumed);
                assert_eq!(agent.prompt("Go on.").await.unwrap(), Stop::Done);
                seen = server.seen();
            }
            let begun = measure(second, &seen);
            assert_eq!((begun.broken_prefixes, begun.setting_changes), (0, 0));
        }
    }
}

// CONTRACT G9; case 63
#[tokio::test]
async fn case_063_where_only_some_tool_can_be_asked_for_it_is() {
    for (flavour, some) in [
        (Flavour::Anthropic, "{\"type\":\"any\"}"),
        (Flavour::OpenAiChat, "\"required\""),
        (Flavour::Responses, "\"required\""),
    ] {
        let folder = TempDir::new().unwrap();
        let server = serve(flavour, 50, detour).await;
        let mut agent = Agent::new(flavour.model(&server), stage::host(folder.path()))
            .with_forcing(Forcing::SomeTool);
        assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Done);
        let seen = server.seen();
        let bodies: Vec<Body<'_>> = seen.iter().map(|seen| Body::of(flavour, seen)).collect();
        assert_eq!((bodies.len(), bodies[2].choice()), (4, some));
        assert!(bodies[1].begins(&bodies[2]) && bodies[1].same_rest(&bodies[2]));
    }
}

/// A server that counts its calls from 0 in every answer: in the history they differ.
#[tokio::test]
async fn ids_that_a_server_uses_again_are_told_apart() {
    for flavour in ALL.into_iter().filter(|flavour| !flavour.thinks()) {
        let folder = TempDir::new().unwrap();
        let mut turn = 0;
        let server = Server::start(move |exchange| {
            if let Err(refused) = rules::check(flavour, exchange) {
                return refused;
            }
            turn += 1;
            let read = "{\"path\":\"log.txt\"}";
            let say = if turn < 5 { Say::call("read", read) } else { Say::text("Done.") };
            Answer::stream(&flavour.stream(&say, 0), 50)
        })
        .await;
        let mut agent = Agent::new(flavour.model(&server), stage::host(folder.path()));
        assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Done, "{}", flavour.name());
        let ids = agent.messages().iter().filter_map(|message| match message {
            xd_agent::Message::ToolResult { call_id, .. } => Some(call_id),
            _ => None,
        });
        assert_eq!(ids.collect::<std::collections::BTreeSet<_>>().len(), 4);
        assert_eq!(measure(flavour, &server.seen()).broken_prefixes, 0);
    }
}
