//! What breaks: refusals, overload, cuts, silence. What is tried again, what is said.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use serde_json::json;
use xd_agent::{
    Agent, AgentError, Delta, Model, ModelError, ProviderError, Stop,
    provider::{HttpModel, ModelConfig, Preset, Secret, Settings, SetupError, Timeouts},
};

use crate::{
    flavour::{ALL, Flavour, KEY, Say},
    rules,
    runs::serve,
    server::{Answer, Server},
    stage,
    streams::{Ear, request},
};

/// The answers of a server in order; then it says "Done.".
async fn in_order(flavour: Flavour, answers: Vec<Answer>) -> Server {
    let mut answers = answers.into_iter();
    Server::start(move |_| {
        answers
            .next()
            .unwrap_or_else(|| Answer::stream(&flavour.stream(&Say::text("Done."), 9), 50))
    })
    .await
}

fn overloaded() -> serde_json::Value {
    json!({ "type": "error", "error": { "type": "overloaded_error", "message": "Overloaded" } })
}

fn waits(ear: &Ear) -> Vec<(u32, u64)> {
    let heard = ear.heard.lock().unwrap();
    let wait = |delta: &Delta| match delta {
        Delta::Waiting { attempt, after_ms, .. } => Some((*attempt, *after_ms)),
        _ => None,
    };
    heard.iter().filter_map(wait).collect()
}

#[tokio::test]
async fn limits_and_overload_are_waited_out_as_the_provider_asks() {
    for flavour in ALL {
        let slow = json!({ "error": { "type": "rate_limit_error", "message": "slow down" } });
        let server = in_order(
            flavour,
            vec![
                Answer::error(429, &slow).with_header("retry-after", "0.2"),
                Answer::error(529, &overloaded()),
                Answer::error(502, &json!("bad gateway")).with_header("retry-after-ms", "30"),
            ],
        )
        .await;
        let (ear, begun) = (Ear::default(), Instant::now());
        let reply = flavour.model(&server).respond_streaming(request("Go."), &ear).await.unwrap();
        assert_eq!(reply.text, "Done.");
        assert!(begun.elapsed() >= Duration::from_millis(230));
        let waits = waits(&ear);
        assert_eq!((waits[0], waits[2]), ((2, 200), (4, 30)));
        let seen = server.seen();
        assert_eq!(seen.len(), 4);
        assert!(seen.iter().all(|exchange| exchange.body == seen[0].body), "the same bytes");
    }
}

#[tokio::test]
async fn what_does_not_pass_is_given_up_with_its_kind() {
    let server = Server::start(|_| Answer::error(529, &overloaded())).await;
    let error = Flavour::Anthropic.model(&server).respond(request("Go.")).await.unwrap_err();
    assert!(matches!(error, ModelError::Provider(ProviderError::Overloaded { .. })), "{error}");
    assert_eq!(server.seen().len(), 5);
    // A wait that is too long is left to whoever prompts.
    let server = Server::start(|_| {
        Answer::error(429, &json!({ "error": "x" })).with_header("retry-after", "3600")
    })
    .await;
    let error = Flavour::Anthropic.model(&server).respond(request("Go.")).await.unwrap_err();
    assert!(error.to_string().contains("Prompt again in 3600 s"), "{error}");
    assert_eq!(server.seen().len(), 1);
    // Nothing listens there.
    let mut config = Flavour::Anthropic.config(&server);
    drop(server);
    config.base_url = Some("http://127.0.0.1:9/".into());
    config.retry.attempts = 2;
    let ear = Ear::default();
    let model = HttpModel::new(config).unwrap();
    let error = model.respond_streaming(request("Go."), &ear).await.unwrap_err();
    assert!(matches!(error, ModelError::Provider(ProviderError::Network { .. })), "{error}");
    assert_eq!(waits(&ear).len(), 1);
}

#[tokio::test]
async fn an_answer_cut_before_its_first_piece_is_asked_for_again() {
    for flavour in ALL {
        let stream = flavour.stream(&Say::text("Half of it"), 0);
        let server = in_order(
            flavour,
            vec![Answer::stream(&stream, 5).cut_after(0), Answer::stream(&stream, 5).cut_after(1)],
        )
        .await;
        let ear = Ear::default();
        let reply = flavour.model(&server).respond_streaming(request("Go."), &ear).await.unwrap();
        assert_eq!((reply.text.as_str(), waits(&ear).len()), ("Done.", 2));
    }
}

/// Cuts after every fragment and errors in the middle: with a hearer who cannot take back it is an
/// error, with one who can the answer begins anew.
#[tokio::test]
async fn an_answer_cut_half_way_is_never_doubled() {
    for flavour in ALL {
        let stream = flavour.stream(&Say::text("Half of it").and("write", "{\"a\":1}"), 0);
        let all = stream.len().div_ceil(40);
        let whole = match flavour {
            // Its last event is not needed for the answer to be known.
            Flavour::OpenAiChat | Flavour::DeepSeekThinking | Flavour::Mistral => all,
            _ => all - 1,
        };
        let (mut failed, mut withdrawn) = (0, 0);
        for at in (1..whole).step_by(7) {
            for forgetful in [false, true] {
                let cut = Answer::stream(&stream, 40).cut_after(at);
                let server = in_order(flavour, vec![cut]).await;
                let ear = Ear { forgetful, ..Ear::default() };
                let answered = flavour.model(&server).respond_streaming(request("Go."), &ear).await;
                let begun = server.seen().len() == 1;
                failed += u32::from(answered.is_err());
                withdrawn += u32::from(forgetful && !begun);
                match answered {
                    Ok(reply) => assert_eq!(reply.text, "Done.", "cut at {at}"),
                    Err(ModelError::Provider(ProviderError::Cut)) => assert!(begun && !forgetful),
                    Err(other) => panic!("cut at {at}: {other}"),
                }
                let heard = ear.heard.into_inner().unwrap();
                let text: String = heard
                    .iter()
                    .filter_map(|delta| match delta {
                        Delta::Text { text } => Some(text.as_str()),
                        _ => None,
                    })
                    .collect();
                assert!(text == "Done." || "Half of it".starts_with(&text), "{text}");
            }
        }
        assert!(failed > 1 && withdrawn > failed, "{failed} {withdrawn}");
    }
}

#[tokio::test]
async fn an_error_in_the_middle_of_a_stream_keeps_its_kind() {
    let anthropic = format!("event: error\ndata: {}\n\n", overloaded());
    let chat = "data: {\"error\":{\"message\":\"maximum context length is 5\",\"code\":400}}\n\n";
    let failed = json!({ "type": "response.failed", "response": { "error": { "code": "rate_limit_exceeded", "message": "slow down" } } });
    let responses = format!("event: response.failed\ndata: {failed}\n\n");
    for (flavour, error, what) in [
        (Flavour::Anthropic, anthropic.as_str(), "overloaded"),
        (Flavour::OpenAiChat, chat, "too long"),
        (Flavour::Responses, responses.as_str(), "limits the rate"),
    ] {
        let stream = flavour.stream(&Say::text("Half of it"), 0);
        let at = stream.find("Hal").unwrap();
        let end = stream[at..].find("\n\n").or(stream[at..].find("\r\n\r\n")).unwrap() + at;
        let end = stream[end..].find(['e', 'd']).unwrap() + end;
        let text = format!("{}{error}", &stream[..end]);
        let server = in_order(flavour, vec![Answer::stream(&text, 30)]).await;
        let ear = Ear::default();
        let failed =
            flavour.model(&server).respond_streaming(request("Go."), &ear).await.unwrap_err();
        assert!(failed.to_string().contains(what), "{}: {failed}", flavour.name());
        assert_eq!(server.seen().len(), 1, "a piece was handed on");
    }
}

#[tokio::test]
async fn silence_ends_at_its_limit_and_signs_of_life_count() {
    let flavour = Flavour::Anthropic;
    let stream = flavour.stream(&Say::text("Half of it"), 0);
    let timeouts = Timeouts {
        first_byte: Duration::from_millis(300),
        idle: Duration::from_millis(150),
        ..Timeouts::default()
    };
    let attempt = async |answer: Answer| {
        let server = Server::start(move |_| answer.clone()).await;
        let mut config = flavour.config(&server);
        (config.timeouts, config.retry.attempts) = (timeouts, 1);
        HttpModel::new(config).unwrap().respond(request("Go.")).await
    };
    let second = Duration::from_secs(1);
    let whole = || Answer::stream(&stream, 40);
    for (answer, what) in [
        (whole().silent_after(0, second), "no answer from the provider within 0.3 s"),
        (whole().silent_after(9, second), "no more of the answer from the provider within 0.15 s"),
    ] {
        let error = attempt(answer).await.unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    }
    // Four pauses, each within the limit, last longer than it.
    let pause = Duration::from_millis(60);
    let slow = (1..5).fold(whole(), |answer, at| answer.silent_after(at * 2, pause));
    assert_eq!(attempt(slow).await.unwrap().text, "Half of it");
}

// CONTRACT G12
#[tokio::test]
async fn g12_an_aborted_turn_drops_its_connection_and_leaves_nothing_behind() {
    let folder = tempfile::TempDir::new().unwrap();
    let host = stage::host(folder.path());
    let flavour = Flavour::Anthropic;
    let stream = flavour.stream(&Say::text("Half of it"), 0);
    let said = stream.find("\"Hal\"").unwrap() / 40 + 3;
    let server = in_order(
        flavour,
        vec![Answer::stream(&stream, 40).silent_after(said, Duration::from_secs(60))],
    )
    .await;
    let cancel = tokio_util::sync::CancellationToken::new();
    let (token, heard) =
        (cancel.clone(), std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0)));
    let counted = std::sync::Arc::clone(&heard);
    let mut agent =
        Agent::new(flavour.model(&server), host).with_cancel(cancel).on_event(move |event| {
            if matches!(event, xd_agent::Event::Delta { .. }) {
                counted.fetch_add(1, Ordering::Relaxed);
                token.cancel();
            }
        });
    let begun = Instant::now();
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Aborted);
    assert!(begun.elapsed() < Duration::from_secs(20));
    assert!(heard.load(Ordering::Relaxed) > 0, "it was in the middle of the answer");
    assert_eq!(agent.messages().len(), 1, "only the prompt");
    // The provider is told by the end of the connection, while the agent lives on.
    while server.left() == 0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "the connection is still open");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

// CONTRACT G12; case 71
#[tokio::test]
async fn case_071_a_turn_that_fails_leaves_what_is_pending() {
    let folder = tempfile::TempDir::new().unwrap();
    let host = stage::host(folder.path());
    let flavour = Flavour::OpenAiChat;
    let mut turn = 0;
    let server = Server::start(move |exchange| {
        if let Err(refused) = rules::check(flavour, exchange) {
            return refused;
        }
        turn += 1;
        let resolve = "{\"path\":\"xd://resolve\",\"content\":\"It is right.\"}";
        match turn {
            1 => {
                let stage = Say::call("append", "{\"path\":\"log.txt\",\"line\":\"x\"}");
                Answer::stream(&flavour.stream(&stage, 0), 30)
            }
            2..=6 => Answer::error(500, &json!({ "error": { "message": "grammar crash" } })),
            7 => Answer::stream(&flavour.stream(&Say::call("write", resolve), 1), 30),
            _ => Answer::stream(&flavour.stream(&Say::text("Done."), 2), 30),
        }
    })
    .await;
    let mut agent = Agent::new(flavour.model(&server), std::sync::Arc::clone(&host));
    let error = agent.prompt("Go.").await.unwrap_err();
    let AgentError::Model(ModelError::Provider(ProviderError::Broken { status: 500, .. })) = error
    else {
        panic!("{error}");
    };
    assert!(host.session().actions().has_pending());
    assert_eq!(agent.prompt("Go on.").await.unwrap(), Stop::Done);
    assert!(!host.session().actions().has_pending());
}

// Invariant G6
#[tokio::test]
async fn no_error_or_debug_output_holds_a_key() {
    for flavour in ALL {
        // It repeats what it was sent, in every place where it can.
        let server = Server::start(|exchange| {
            let sent: Vec<_> = exchange.headers.iter().map(|(_, value)| value.clone()).collect();
            Answer::error(401, &json!({ "error": { "message": sent.join(" "), "type": KEY } }))
        })
        .await;
        let mut config = flavour.config(&server);
        config.headers.push(("x-extra".into(), Secret::new("another-secret")));
        let shown = format!("{config:?}");
        let model = HttpModel::new(config).unwrap();
        let error = model.respond(request("Go.")).await.unwrap_err();
        for text in [shown, format!("{model:?}"), error.to_string(), format!("{error:?}")] {
            assert!(!text.contains(KEY) && !text.contains("another-secret"), "{text}");
        }
        assert!(error.to_string().contains("[key]"), "{error}");
        assert!(error.to_string().contains("Check the key"), "{error}");
    }
}

#[tokio::test]
async fn another_kind_of_server_is_told_from_a_broken_stream() {
    for (answer, what) in [
        (
            Answer::error(
                200,
                &json!({ "error": { "message": "Overloaded", "type": "overloaded_error" } }),
            ),
            "overloaded",
        ),
        (Answer::error(200, &json!({ "choices": [] })), "not a stream of events"),
        (
            Answer::error(302, &json!("elsewhere")).with_header("location", "http://127.0.0.1:9/"),
            "status 302",
        ),
        (Answer::stream("<html>hello</html>\n\n", 9), "cut in the middle"),
        (Answer::stream("data: <html>\n\n", 9), "cannot be read"),
    ] {
        let server = Server::start(move |_| answer.clone()).await;
        let mut config = Flavour::OpenAiChat.config(&server);
        config.retry.attempts = 1;
        let model = HttpModel::new(config).unwrap();
        let error = model.respond(request("Go.")).await.unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
        assert_eq!(server.seen().len(), 1);
    }
}

#[tokio::test]
async fn a_configuration_that_cannot_work_is_refused_at_once() {
    let config = || ModelConfig::new(*Preset::find("openai-chat").unwrap(), "gpt-4.1");
    let refused = |config: ModelConfig| HttpModel::new(config).map(drop).unwrap_err();
    assert!(matches!(refused(config().with_base_url("localhost")), SetupError::BaseUrl { .. }));
    assert!(matches!(refused(config().with_base_url("ftp://x")), SetupError::BaseUrl { .. }));
    assert!(matches!(refused(config().with_key(Secret::new("a\nb"))), SetupError::Key));
    let mut named = config();
    named.headers.push(("a b".into(), Secret::new("x")));
    assert!(matches!(refused(named), SetupError::Header { .. }));
    assert!(matches!(ModelConfig::named("gpt-4.1"), Err(SetupError::NoModel)));
    assert!(matches!(ModelConfig::named("openai/"), Err(SetupError::NoModel)));
    let unknown = ModelConfig::named("opneai/gpt-4.1").unwrap_err().to_string();
    assert!(unknown.contains("`opneai`") && unknown.contains("openai, "), "{unknown}");
    let named = ModelConfig::named("openrouter/qwen/qwen3-coder").unwrap();
    assert_eq!((named.preset.name, named.model.as_str()), ("openrouter", "qwen/qwen3-coder"));
    let mut unnamed = config();
    unnamed.model.clear();
    assert!(matches!(refused(unnamed), SetupError::NoModel));
    for field in ["messages", "tool_choice", "stream_options"] {
        let mut settings = Settings::default();
        settings.extra.insert(field.into(), json!(1));
        let error = refused(config().with_settings(settings));
        assert!(matches!(error, SetupError::ReservedField { .. }), "{error}");
    }
    let mut settings = Settings::default();
    settings.extra.insert("temperature".into(), json!(0.5));
    let model = HttpModel::new(config().with_settings(settings)).unwrap();
    let body: serde_json::Value =
        serde_json::from_slice(&model.body(&request("x")).unwrap()).unwrap();
    assert_eq!(body["temperature"], 0.5);
}

/// The rules that the server keeps are rules: what breaks them is refused.
#[tokio::test]
async fn the_servers_rules_hold() {
    use xd_agent::Message;
    use xd_session::ToolChoice;
    for flavour in ALL {
        let server = serve(flavour, 50, |_| Say::call("write", "{}")).await;
        let model = flavour.model(&server);
        let reply = model.respond(request("Go.")).await.unwrap();
        let said = |json: Option<String>| {
            let mut verbatim = reply.verbatim.clone();
            if let (Some(verbatim), Some(json)) = (&mut verbatim, json) {
                verbatim.json = json;
            }
            Message::Assistant { text: String::new(), calls: reply.calls.clone(), verbatim }
        };
        let user = |text: &str| Message::User { text: text.into() };
        let ask = async |messages: Vec<Message>, tool_choice: ToolChoice| {
            let asked = xd_agent::Request { messages, tool_choice, ..request("Go.") };
            model.respond(asked).await.map(drop)
        };
        // An unpaired call.
        let unpaired = ask(vec![user("Go."), said(None), user("On.")], ToolChoice::Auto).await;
        assert!(unpaired.is_err(), "{}", flavour.name());
        // A tool that is not in the list.
        let named = ToolChoice::Named("gone".into());
        let absent = ask(vec![user("Go.")], named).await;
        assert!(
            matches!(absent, Err(ModelError::ChoiceRefused { .. }))
                || flavour.name() == "anthropic",
            "{absent:?}"
        );
        assert!(absent.is_err());
        // Thinking that was changed.
        if flavour.thinks() {
            let own = reply.verbatim.as_ref().unwrap().json.clone();
            let result = xd_resolve::ToolResult::text("ok");
            let result = Message::ToolResult { call_id: reply.calls[0].id.clone(), result };
            for (json, passes) in [
                (own.clone(), true),
                (own.replace("I weigh", "I wave").replace("c2ln", "c3ln"), false),
            ] {
                let history = vec![user("Go."), said(Some(json)), result.clone()];
                let asked = ask(history, ToolChoice::Auto).await;
                assert_eq!(asked.is_ok(), passes, "{}: {asked:?}", flavour.name());
            }
        }
    }
}
