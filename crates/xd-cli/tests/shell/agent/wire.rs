//! A real provider's wire: a server on this machine that speaks chat completions.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

use serde_json::{Value, json};

use super::{command, folder};
use crate::{Folder, Run};

/// What came: the head as it stood, and the body.
type Seen = Arc<Mutex<Vec<(String, Value)>>>;

/// Answers each request with the next of `answers`: a status and a body.
fn serve(answers: Vec<(u16, String)>) -> (String, Seen) {
    serve_gated(answers, None)
}

/// One answer of text, of which only the first piece comes before the gate is opened.
pub(crate) fn says_slowly(pieces: &[&str]) -> (String, Sender<()>) {
    let mut chunks: Vec<Value> =
        pieces.iter().map(|piece| delta(&json!({ "content": piece }), None)).collect();
    chunks.push(delta(&json!({}), Some("stop")));
    chunks.push(json!({ "choices": [], "usage": { "prompt_tokens": 12_345, "completion_tokens": 67, "prompt_tokens_details": { "cached_tokens": 12_000 } } }));
    let (open, gate) = channel();
    (serve_gated(vec![stream(&chunks)], Some(gate)).0, open)
}

fn serve_gated(answers: Vec<(u16, String)>, gate: Option<Receiver<()>>) -> (String, Seen) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let seen: Seen = Arc::default();
    let into = Arc::clone(&seen);
    thread::spawn(move || {
        for (status, body) in answers {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let mut head = String::new();
            while reader.read_line(&mut head).unwrap() > 2 {}
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
            });
            let mut bytes = vec![0; length.unwrap_or(0)];
            reader.read_exact(&mut bytes).unwrap();
            into.lock().unwrap().push((head, serde_json::from_slice(&bytes).unwrap()));
            let kind = if status == 200 { "text/event-stream" } else { "application/json" };
            let head = format!(
                "HTTP/1.1 {status} Status\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            let mut stream = reader.into_inner();
            stream.write_all(head.as_bytes()).unwrap();
            let first = match &gate {
                Some(_) => body.find("\n\n").unwrap() + 2,
                None => body.len(),
            };
            stream.write_all(&body.as_bytes()[..first]).unwrap();
            if let Some(gate) = &gate {
                gate.recv().unwrap();
            }
            stream.write_all(&body.as_bytes()[first..]).unwrap();
        }
    });
    (base, seen)
}

fn stream(chunks: &[Value]) -> (u16, String) {
    let mut text: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    text.push_str("data: [DONE]\n\n");
    (200, text)
}

fn delta(delta: &Value, end: Option<&str>) -> Value {
    json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": end }] })
}

fn calls(name: &str, arguments: &Value) -> (u16, String) {
    let text = arguments.to_string();
    let (begin, rest) = text.split_at(7);
    let begun = json!([{ "index": 0, "id": format!("call_{name}"), "type": "function", "function": { "name": name, "arguments": begin } }]);
    let more = json!([{ "index": 0, "function": { "arguments": rest } }]);
    stream(&[
        delta(&json!({ "tool_calls": begun }), None),
        delta(&json!({ "tool_calls": more }), None),
        delta(&json!({}), Some("tool_calls")),
        json!({ "choices": [], "usage": { "prompt_tokens": 120, "completion_tokens": 7, "prompt_tokens_details": { "cached_tokens": 100 } } }),
    ])
}

fn says(text: &str) -> (u16, String) {
    stream(&[delta(&json!({ "content": text }), None), delta(&json!({}), Some("stop"))])
}

fn run(folder: &Folder, base: &str, flags: &[&str]) -> Run {
    let mut arguments = vec!["agent", "-p", "-m", "openai-chat/gpt-test", "--base-url", base];
    arguments.extend(flags);
    arguments.push("Mend the motto.");
    let mut command = command(folder, &arguments);
    command.env("OPENAI_API_KEY", "sk-secret").env("XD_LOG", "trace");
    Run::of(command.output().unwrap())
}

#[test]
fn a_real_provider_is_streamed_from_and_hears_the_results() {
    let folder = folder(&[]);
    let edits =
        json!({ "edits": [{ "path": "motto.txt", "old_text": "fast", "new_text": "well" }] });
    let resolve = json!({ "path": "xd://resolve", "content": "The motto is meant so." });
    let (base, seen) = serve(vec![calls("edit", &edits), calls("write", &resolve), says("Done.")]);
    let run = run(&folder, &base, &[]);
    assert_eq!((run.status, run.out.as_str()), (0, "Done.\n"), "{run:?}");
    assert_eq!(folder.get("motto.txt"), "move well\n");
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 3);
    for (head, body) in seen.iter() {
        assert!(head.starts_with("POST /v1/chat/completions"), "{head}");
        assert!(head.to_lowercase().contains("authorization: bearer sk-secret"), "{head}");
        assert_eq!(body["model"], "gpt-test");
        // A compliant run never changes what it asks (CONTRACT G4).
        assert_eq!(body["tool_choice"], seen[0].1["tool_choice"]);
        assert_eq!(body["tools"], seen[0].1["tools"]);
    }
    let names: Vec<&str> = seen[0].1["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["read", "write", "edit", "ast_edit", "grep", "glob"]);
    // The key is in no text of ours, whatever is logged.
    assert!(!run.err.contains("sk-secret"), "{}", run.err);
    let session = folder.path().join(".xd/sessions/agent-1/transcript.jsonl");
    assert!(!std::fs::read_to_string(session).unwrap().contains("sk-secret"));
}

#[test]
fn a_provider_that_repeats_the_key_does_not_make_it_seen() {
    let folder = folder(&[]);
    let said = json!({ "error": { "message": "Incorrect API key provided: sk-secret." } });
    let (base, _) = serve(vec![(401, said.to_string())]);
    let run = run(&folder, &base, &[]);
    assert_eq!(run.status, 2, "{run:?}");
    assert!(run.err.contains("the provider refused the key (status 401)"), "{run:?}");
    assert!(!run.err.contains("sk-secret") && !run.out.contains("sk-secret"), "{run:?}");
}

#[test]
fn a_provider_of_ones_own_is_named_in_the_file() {
    let folder = folder(&[]);
    let (base, seen) = serve(vec![says("Here.")]);
    folder.put(
        "home/xd/config.toml",
        &format!(
            "[provider.mine]\nwire = 'chat-completions'\nbase_url = '{base}'\napi_key_env = 'MINE'\nmax_tokens = 77\n\
             headers_env = {{ x-team = 'TEAM' }}\n[provider.mine.extra]\ntop_k = 3\n"
        ),
    );
    let mut command = command(&folder, &["agent", "-p", "Where are you?"]);
    command.env("XD_MODEL", "mine/small").env("MINE", "mine-key").env("TEAM", "blue");
    let run = Run::of(command.output().unwrap());
    assert_eq!(run.out, "Here.\n", "{run:?}");
    let seen = seen.lock().unwrap();
    let (head, body) = &seen[0];
    let head = head.to_lowercase();
    assert!(head.contains("bearer mine-key") && head.contains("x-team: blue"), "{head}");
    assert_eq!(
        (&body["model"], &body["max_tokens"], &body["top_k"]),
        (&json!("small"), &json!(77), &json!(3))
    );
}
