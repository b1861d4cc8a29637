//! How a run ends that nobody waits for, or whose session has ended meanwhile.
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::{sync::Arc, time::Duration};

use serde_json::json;
use xd_agent::{Agent, Message, Model as _, ModelError, Reply, Request, ScriptedModel, Stop};
use xd_resolve::{Tier, ToolResult};
use xd_session::Boundary;
use xd_tests::{Bench, assert_paired};
use xd_write::{FnTool, ToolDefinition};

fn write(path: &str, content: &str) -> Reply {
    Reply::call("write", json!({ "path": path, "content": content }))
}

// CONTRACT G12: a run that was dropped in the middle of a tool leaves no call without a result in
// any later request.
#[tokio::test]
async fn g12_a_dropped_run_is_paired_before_the_next_prompt() {
    let definition = ToolDefinition::new("sleep", "Never ends.", json!({ "type": "object" }));
    let sleep = FnTool::new(definition, Tier::Read, |_, _| async {
        std::future::pending::<()>().await;
        Ok(ToolResult::text("Slept."))
    });
    let bench = Bench::with(&[("a.txt", "one\n")], |builder| builder.tool(sleep));
    let both = Reply::call("read", json!({ "path": "a.txt" })).and_call("sleep", json!({}));
    let model = Arc::new(ScriptedModel::new([both, Reply::text("Done.")]));
    let mut agent = Agent::new(Arc::clone(&model), Arc::clone(&bench.host));
    let run = tokio::time::timeout(Duration::from_millis(50), agent.prompt("Go."));
    assert!(run.await.is_err(), "the tool ended");
    assert_eq!(agent.prompt("Go on.").await.unwrap(), Stop::Done);
    assert_paired(agent.messages());
    assert_paired(&model.requests().last().unwrap().messages);
    let told = agent.messages().iter().any(|message| {
        matches!(message, Message::ToolResult { result, .. }
            if result.is_error && result.content[0].contains("look before you repeat it"))
    });
    assert!(told, "{:?}", agent.messages());
}

// CONTRACT D13: whatever the model says after its session has ended, nothing of it happens in the
// one that is open now, and the run says why it ended.
#[tokio::test]
async fn d13_a_reply_to_an_ended_session_ends_the_run() {
    for boundary in [Boundary::New, Boundary::Switch, Boundary::Clear] {
        let bench = Bench::quick(&[("a.txt", "one\n")]);
        let script = Arc::new(ScriptedModel::new([
            write("late.txt", "late").and_call("write", json!({ "path": "b", "content": "b" })),
            Reply::text("Done."),
        ]));
        let host = Arc::clone(&bench.host);
        let model = {
            let script = Arc::clone(&script);
            move |request: Request| {
                let (script, host) = (Arc::clone(&script), Arc::clone(&host));
                async move {
                    let reply = script.respond(request).await;
                    drop(host.session().boundary(boundary));
                    reply
                }
            }
        };
        let mut agent = Agent::new(model, Arc::clone(&bench.host));
        assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::SessionEnded, "{boundary:?}");
        assert_paired(agent.messages());
        assert!(!bench.exists("late.txt") && !bench.exists("b"), "{boundary:?}");
    }
}

// CONTRACT D13, G9: a refusal that comes after the end plans nothing anew in the next session.
#[tokio::test]
async fn d13_a_late_refusal_of_a_choice_asks_no_more() {
    let bench = Bench::quick(&[("a.txt", "one\n")]);
    bench.edit("a.txt", "one", "two").await;
    let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let host = Arc::clone(&bench.host);
    let model = {
        let asked = Arc::clone(&asked);
        move |request: Request| {
            let (asked, host) = (Arc::clone(&asked), Arc::clone(&host));
            async move {
                asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                if request.tool_choice == xd_session::ToolChoice::Auto {
                    return Ok(Reply::text("I will not."));
                }
                drop(host.session().boundary(Boundary::New));
                Err(ModelError::ChoiceRefused { message: "no".to_owned() })
            }
        }
    };
    let mut agent =
        Agent::new(model, Arc::clone(&bench.host)).with_forcing(xd_session::Forcing::Named);
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::SessionEnded);
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 2);
    assert_paired(agent.messages());
}
