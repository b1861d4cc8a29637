//! Scripts in files: written by a recording, read again, written by people.
#![allow(clippy::unwrap_used, reason = "a set-up that fails ends the test")]

use std::{fs, path::Path, sync::Arc};

use serde_json::json;
use tempfile::TempDir;
use xd_agent::{
    Agent, AgentError, Model, ModelError, Recording, Reply, Request, ScriptError, ScriptedModel,
    Stop, StopReason, Usage, Verbatim,
};
use xd_session::{Forcing, Session, Thinking, ToolChoice};
use xd_write::{Host, Workspace};

fn request() -> Request {
    Request {
        system: String::new(),
        tools: Vec::new(),
        messages: Vec::new(),
        tool_choice: ToolChoice::Auto,
    }
}

fn host(folder: &Path) -> Arc<Host> {
    let workspace = Workspace::open(folder).unwrap();
    Arc::new(Host::builder(Arc::new(Session::new()), workspace).build())
}

#[tokio::test]
async fn a_recorded_run_is_repeated_word_for_word() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("script.jsonl");
    let verbatim = Verbatim { wire: "w".into(), model: "m".into(), json: "[1.0]".into() };
    let usage = Usage { input: 1, cached: 2, output: 3 };
    let script = [
        Reply {
            usage,
            verbatim: Some(verbatim),
            ..Reply::call("read", json!({ "path": "x\u{1b}" }))
        },
        Reply::call("write", json!({ "path": "a.txt", "content": "hi\n" })),
        Reply::text("Half").stopped(StopReason::Length),
    ];
    let model =
        ScriptedModel::new(script).with_forcing(Forcing::SomeTool).with_thinking(Thinking::On);
    let recording = Recording::new(model, fs::File::create(&path).unwrap()).unwrap();
    let mut agent = Agent::new(recording, host(folder.path()));
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Truncated);
    let first = agent.messages().to_vec();
    fs::remove_file(folder.path().join("a.txt")).unwrap();

    let again = ScriptedModel::from_file(&path).unwrap();
    assert_eq!((again.forcing(), again.thinking()), (Forcing::SomeTool, Thinking::On));
    let mut agent = Agent::new(again, host(folder.path()));
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Truncated);
    assert_eq!(agent.messages(), first);
    assert_eq!(fs::read_to_string(folder.path().join("a.txt")).unwrap(), "hi\n");
}

#[tokio::test]
async fn failures_are_recorded_and_repeated() {
    let failing = |request: Request| async move {
        Err::<Reply, _>(match request.tool_choice {
            ToolChoice::Auto => ModelError::failed("the line is dead"),
            _ => ModelError::ChoiceRefused { message: "400: tool_choice".into() },
        })
    };
    let mut file = Vec::new();
    {
        let model = Recording::new(failing, &mut file).unwrap();
        model.respond(request()).await.unwrap_err();
        let forced = Request { tool_choice: ToolChoice::Named("write".into()), ..request() };
        model.respond(forced).await.unwrap_err();
    }
    let again = ScriptedModel::from_text(std::str::from_utf8(&file).unwrap()).unwrap();
    let error = again.respond(request()).await.unwrap_err();
    assert!(error.to_string().contains("the line is dead"), "{error}");
    let error = again.respond(request()).await.unwrap_err();
    assert!(matches!(error, ModelError::ChoiceRefused { .. }), "{error}");
}

#[tokio::test]
async fn a_recording_that_cannot_be_kept_fails_the_turn() {
    struct Full(u32);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += 1;
            if self.0 == 1 {
                Ok(bytes.len())
            } else {
                Err(std::io::Error::other("the disk is full"))
            }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let folder = TempDir::new().unwrap();
    let recording = Recording::new(ScriptedModel::new([Reply::text("Hi.")]), Full(0)).unwrap();
    let error = Agent::new(recording, host(folder.path())).prompt("Go.").await.unwrap_err();
    let AgentError::Model(error) = error else { panic!("{error}") };
    assert!(error.to_string().contains("the disk is full"), "{error}");
}

#[tokio::test]
async fn what_people_write_is_read_and_what_is_wrong_is_named() {
    let lines = "\n{\"script\": 1, \"model\": \"demo\"}\n{\"reply\": {\"text\": \"Hi.\"}}\r\n\n{\"reply\":{\"calls\":[{\"name\":\"read\"}]},\"note\":5}\n";
    let list = "[{\"text\": \"Hi.\"},\n {\"calls\": [{\"name\": \"read\"}]}]";
    for text in [lines, list] {
        let model = ScriptedModel::from_text(text).unwrap();
        assert_eq!(model.respond(request()).await.unwrap(), Reply::text("Hi."));
        let reply = model.respond(request()).await.unwrap();
        assert_eq!(reply.calls[0].arguments, json!({}));
        assert!(!reply.calls[0].id.is_empty());
        // The end of the script is silence.
        assert_eq!(model.respond(request()).await.unwrap(), Reply::text(""));
    }
    assert_eq!(ScriptedModel::from_text(lines).unwrap().id(), "demo");
    for (text, says) in [
        ("{\"reply\": {\"text\": \"a\"}}\nnonsense", "line 2 of the script"),
        ("{\"replie\": {}}", "holds neither a reply nor an error"),
        ("{\"reply\": {}, \"error\": {\"kind\": \"failed\"}}", "holds both"),
        ("{\"reply\": {\"stop\": \"sometime\"}}", "sometime"),
        ("{\"error\": {\"kind\": \"odd\"}}", "odd"),
        ("[{\"text\": \"a\"},\n{\"text\": 5}]", "line 2 of the script"),
        ("{\"script\": 2}", "version 2"),
    ] {
        let error = ScriptedModel::from_text(text).unwrap_err();
        assert!(error.to_string().contains(says), "{text}: {error}");
    }
    let gone = ScriptedModel::from_file("gone/script.jsonl").unwrap_err();
    assert!(matches!(gone, ScriptError::Io { .. }));
    assert!(gone.to_string().contains("gone/script.jsonl"), "{gone}");
}
