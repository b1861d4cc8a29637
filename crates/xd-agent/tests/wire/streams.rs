//! What comes out of a stream: pieces, calls, usage, whatever the fragments.

use std::sync::Mutex;

use serde_json::json;
use xd_agent::{Delta, DeltaSink, Message, Model, Reply, Request, StopReason};
use xd_resolve::ToolCall;
use xd_session::ToolChoice;
use xd_write::ToolDefinition;

use crate::{
    flavour::{ALL, Flavour, Say, thought},
    runs::serve,
    server::{Answer, Server},
};

/// Keeps what it hears.
#[derive(Default)]
pub(crate) struct Ear {
    pub(crate) heard: Mutex<Vec<Delta>>,
    pub(crate) forgetful: bool,
}

impl DeltaSink for Ear {
    fn delta(&self, delta: Delta) {
        self.heard.lock().unwrap().push(delta);
    }

    fn withdraw(&self) -> bool {
        if self.forgetful {
            self.heard.lock().unwrap().retain(|delta| matches!(delta, Delta::Waiting { .. }));
        }
        self.forgetful
    }
}

pub(crate) fn request(text: &str) -> Request {
    Request {
        system: "Be brief.".into(),
        tools: vec![ToolDefinition::new("write", "Writes.", json!({ "type": "object" }))],
        messages: vec![Message::User { text: text.into() }],
        tool_choice: ToolChoice::Auto,
    }
}

/// Text, thinking and arguments as the pieces add up to them.
fn sum(deltas: &[Delta]) -> (String, String, Vec<(String, String, String)>) {
    let (mut text, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    for delta in deltas {
        match delta {
            Delta::Text { text: more } => text.push_str(more),
            Delta::Thinking { text: more } => thinking.push_str(more),
            Delta::CallStarted { index, id, name } => {
                assert_eq!(*index, calls.len());
                calls.push((id.clone(), name.clone(), String::new()));
            }
            Delta::CallArguments { index, fragment } => calls[*index].2.push_str(fragment),
            other => panic!("{other:?}"),
        }
    }
    (text, thinking, calls)
}

// case 77
#[tokio::test]
async fn fragments_of_any_size_give_the_same_pieces_and_the_same_reply() {
    let arguments = ["{\"path\":\"ä🦀.txt\",  \"n\": 1.0}", "{}"];
    let say = Say { text: "Ich schreibe: 日本語 🦀.\r\n".into(), ..Say::default() };
    let say = say.and("write", arguments[0]).and("write", arguments[1]);
    for flavour in ALL {
        let mut first: Option<(Reply, Vec<Delta>)> = None;
        for size in [usize::MAX >> 1, 1, 2, 3, 7, 64, 1024] {
            let said = say.clone();
            let server = serve(flavour, size, move |_| said.clone()).await;
            let ear = Ear::default();
            let reply = flavour.model(&server).respond_streaming(request("Go."), &ear).await;
            let heard = ear.heard.into_inner().unwrap();
            let found = (reply.unwrap(), heard);
            let known = first.get_or_insert_with(|| found.clone());
            assert_eq!(*known, found, "{} in fragments of {size}", flavour.name());
        }
        let (reply, heard) = first.expect("a reply");
        let (text, thinking, calls) = sum(&heard);
        assert_eq!((text.as_str(), reply.text.as_str()), (say.text.as_str(), say.text.as_str()));
        assert_eq!(thinking, if flavour.thinks() { thought(0) } else { String::new() });
        let call = |at: usize| (flavour.id(0, at), "write".to_owned(), arguments[at].to_owned());
        assert_eq!(calls, [call(0), call(1)], "{}", flavour.name());
        let call = |at: usize, arguments| ToolCall::new(flavour.id(0, at), "write", arguments);
        assert_eq!(
            reply.calls,
            [call(0, json!({ "path": "ä🦀.txt", "n": 1.0 })), call(1, json!({}))]
        );
        assert_eq!(reply.stop, StopReason::EndTurn);
        let usage = (reply.usage.input, reply.usage.cached, reply.usage.output);
        assert_eq!(usage, (42, 500, 40), "{}", flavour.name());
    }
}

#[tokio::test]
async fn arguments_and_thinking_go_back_as_they_came() {
    let arguments = "{\"path\":\"a\\u00e4\",  \"n\":1.0e2,\"n\":2}";
    for flavour in ALL {
        let server = serve(flavour, 5, move |_| Say::call("write", arguments)).await;
        let model = flavour.model(&server);
        let mut asked = request("Go.");
        let reply = model.respond(asked.clone()).await.unwrap();
        let result =
            xd_resolve::ToolResult { content: vec![" ".into()], is_error: true, details: None };
        asked.messages.push(Message::Assistant {
            text: reply.text,
            calls: reply.calls,
            verbatim: reply.verbatim,
        });
        asked.messages.push(Message::ToolResult { call_id: flavour.id(0, 0), result });
        model.respond(asked).await.unwrap();
        let body = String::from_utf8(server.seen()[1].body.clone()).unwrap();
        let raw = match flavour {
            Flavour::Anthropic | Flavour::AnthropicThinking => format!("\"input\":{arguments}"),
            _ => format!("\"arguments\":{}", json!(arguments)),
        };
        assert!(body.contains(&raw), "{}: {body}", flavour.name());
        match flavour {
            Flavour::Anthropic => assert!(body.contains("\"is_error\":true")),
            Flavour::AnthropicThinking => {
                assert!(body.contains("{\"type\":\"redacted_thinking\",\"data\":\"red0+/=\"}"));
            }
            _ => assert!(body.contains("\"Error: "), "{body}"),
        }
    }
}

/// Chunks of servers that number their calls with 0, or not at all, or send objects.
#[tokio::test]
async fn calls_of_careless_servers_are_told_apart() {
    let chunk = |call: serde_json::Value| {
        format!("data: {}\n\n", json!({ "choices": [{ "delta": { "tool_calls": [call] } }] }))
    };
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n";
    let call = |index: Option<u32>, id: &str, arguments: serde_json::Value| {
        let mut call = json!({ "id": id, "function": { "name": "write", "arguments": arguments } });
        if let Some(index) = index {
            call["index"] = json!(index);
        }
        chunk(call)
    };
    let object = json!({ "a": 1 });
    let more = chunk(json!({ "function": { "arguments": "1}" } }));
    for (stream, what) in [
        (
            call(Some(0), "x", "{\"a\":1}".into()) + &call(Some(0), "y", "{\"a\":1}".into()),
            "all are 0",
        ),
        (call(None, "x", object.clone()) + &call(None, "y", object), "objects"),
        (call(None, "x", "{\"a\":1}".into()) + &call(None, "y", "{\"a\":".into()) + &more, "none"),
        (call(None, "", "{\"a\":1}".into()) + &call(None, "", "{\"a\":1}".into()), "no id"),
    ] {
        let stream = stream + end;
        let server = Server::start(move |_| Answer::stream(&stream, 9)).await;
        let reply = Flavour::OpenAiChat.model(&server).respond(request("Go.")).await.unwrap();
        let arguments: Vec<_> = reply.calls.iter().map(|call| call.arguments.clone()).collect();
        assert_eq!(arguments, [json!({ "a": 1 }), json!({ "a": 1 })], "{what}: {reply:?}");
        assert_ne!(reply.calls[0].id, reply.calls[1].id, "{what}");
    }
}

// CONTRACT G7
#[tokio::test]
async fn g7_a_truncated_answer_is_said_to_be_one() {
    for (flavour, from, to) in [
        (Flavour::Anthropic, "\"end_turn\"", "\"max_tokens\""),
        (Flavour::OpenAiChat, "\"finish_reason\":\"stop\"", "\"finish_reason\":\"length\""),
        (Flavour::Responses, "response.completed", "response.incomplete"),
    ] {
        let stream = flavour.stream(&Say::text("So far"), 0).replace(from, to);
        let server = Server::start(move |_| Answer::stream(&stream, 50)).await;
        let reply = flavour.model(&server).respond(request("Go.")).await.unwrap();
        assert_eq!((reply.stop, reply.text.as_str()), (StopReason::Length, "So far"));
    }
}

/// The agent hands pieces on as events; where they can be taken back a broken answer begins anew.
#[tokio::test]
async fn pieces_are_events_and_are_withdrawn_when_an_answer_breaks() {
    use xd_agent::{Agent, Event, Stop};
    let flavour = Flavour::Anthropic;
    for withdrawal in [true, false] {
        let folder = tempfile::TempDir::new().unwrap();
        let stream = flavour.stream(&Say::text("All of it."), 0);
        let cut = stream.find("\" of\"").unwrap() / 20 + 3;
        let mut first = true;
        let server = Server::start(move |_| {
            let whole = Answer::stream(&stream, 20);
            if std::mem::take(&mut first) { whole.cut_after(cut) } else { whole }
        })
        .await;
        let heard = std::sync::Arc::new(Mutex::new((String::new(), Vec::new())));
        let ear = std::sync::Arc::clone(&heard);
        let model: Box<dyn Model> = Box::new(flavour.model(&server));
        let host = crate::stage::host(folder.path());
        let mut agent = Agent::new(model, host).on_event(move |event| {
            let (drawn, kinds) = &mut *ear.lock().unwrap();
            match event {
                Event::Delta { delta: Delta::Text { text } } => drawn.push_str(text),
                Event::Delta { delta: Delta::Waiting { .. } } => kinds.push("waiting"),
                Event::Withdrawn => {
                    assert!(!drawn.is_empty());
                    drawn.clear();
                    kinds.push("withdrawn");
                }
                Event::Text { text } => assert_eq!(text, drawn),
                Event::Usage { turn: 1, usage } => {
                    kinds.push(if usage.cached == 500 { "usage" } else { "?" })
                }
                _ => {}
            }
        });
        if withdrawal {
            agent = agent.with_withdrawal();
        }
        let ended = agent.prompt("Go.").await;
        let (drawn, kinds) = &*heard.lock().unwrap();
        if withdrawal {
            assert_eq!((ended.unwrap(), drawn.as_str()), (Stop::Done, "All of it."));
            assert_eq!(*kinds, ["withdrawn", "waiting", "usage"]);
        } else {
            assert!(ended.unwrap_err().to_string().contains("cut in the middle"));
            assert!(kinds.is_empty() && server.seen().len() == 1);
        }
    }
}
