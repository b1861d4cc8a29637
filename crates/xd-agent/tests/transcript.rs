//! The transcript: kept line by line, resumed from any prefix.
#![allow(clippy::unwrap_used, reason = "a set-up that fails ends the test")]

use std::{fs, path::Path, sync::Arc};

use serde_json::json;
use tempfile::TempDir;
use xd_agent::{
    Agent, Message, Reply, Resumed, ScriptedModel, Stop, TranscriptError, TranscriptFile,
};
use xd_resolve::{StageRequest, Tier, ToolResult};
use xd_session::Session;
use xd_write::{FnTool, Host, Policy, ToolDefinition, Workspace};

fn host(folder: &Path) -> Arc<Host> {
    let definition =
        ToolDefinition::new("propose_nothing", "Stages something.", json!({ "type": "object" }));
    let tool = FnTool::new(definition, Tier::Write, |context, _| async move {
        let apply = |_| async { Ok(ToolResult::text("Applied.")) };
        let staged = context.stage(StageRequest::new("Something", apply)).await?;
        Ok(staged.result("preview"))
    });
    let workspace = Workspace::open(folder).unwrap();
    Arc::new(Host::builder(Arc::new(Session::new()), workspace).tool(tool.shared()).build())
}

fn script() -> Vec<Reply> {
    vec![
        Reply::call("propose_nothing", json!({})).and_call("read", json!({ "path": "." })),
        Reply::call("write", json!({ "path": "xd://resolve", "content": "It is right." })),
        Reply::text("Done.\nWith \"quotes\" and \u{1b} and \u{2028}."),
    ]
}

async fn run(folder: &TempDir) -> (Vec<u8>, Vec<Message>) {
    let path = folder.path().join("transcript.jsonl");
    let (file, resumed) = TranscriptFile::open(&path).unwrap();
    assert_eq!(resumed, Resumed::default());
    let mut agent =
        Agent::new(ScriptedModel::new(script()), host(folder.path())).with_transcript(file);
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Done);
    (fs::read(&path).unwrap(), agent.messages().to_vec())
}

/// Every call has exactly one result, behind it and before the next message of another kind.
fn assert_paired(messages: &[Message]) {
    let mut open: Vec<&str> = Vec::new();
    for message in messages {
        match message {
            Message::ToolResult { call_id, .. } => {
                let at = open.iter().position(|id| id == call_id).expect("a result without a call");
                open.remove(at);
            }
            Message::Assistant { calls, .. } => {
                assert!(open.is_empty(), "calls without results: {open:?}");
                open = calls.iter().map(|call| call.id.as_str()).collect();
            }
            Message::User { .. } | Message::Custom { .. } => assert!(open.is_empty(), "{open:?}"),
        }
    }
    assert!(open.is_empty(), "calls without results: {open:?}");
}

// case 81
#[tokio::test]
async fn e4_every_prefix_resumes_with_every_call_paired() {
    let folder = TempDir::new().unwrap();
    let (bytes, messages) = run(&folder).await;
    assert_eq!(Resumed::read(&bytes).unwrap().messages, messages);
    for end in 0..=bytes.len() {
        let resumed = Resumed::read(&bytes[..end]).unwrap();
        assert_paired(&resumed.messages);
        let whole = bytes[..end].iter().filter(|&&b| b == b'\n').count();
        assert_eq!(resumed.messages[..whole], messages[..whole], "prefix of {end} bytes");
        assert_eq!(resumed.messages.len(), whole + resumed.orphans.len());
    }
}

// CONTRACT E4; case 127
#[tokio::test]
async fn case_127_a_resumed_run_takes_one_clean_turn() {
    let folder = TempDir::new().unwrap();
    let (bytes, messages) = run(&folder).await;
    let lines: Vec<usize> =
        bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
    for end in lines {
        let path = folder.path().join("cut.jsonl");
        fs::write(&path, &bytes[..end]).unwrap();
        // Half a line behind it is cut off.
        fs::write(&path, [&bytes[..end], b"{\"v\":1,\"entr"].concat()).unwrap();
        let (file, resumed) = TranscriptFile::open(&path).unwrap();
        let before = resumed.messages.clone();
        let model = Arc::new(ScriptedModel::new([Reply::text("I am back.")]));
        let mut agent = Agent::new(Arc::clone(&model), host(folder.path())).resume(file, resumed);
        assert_eq!(agent.prompt("Go on.").await.unwrap(), Stop::Done);
        assert_eq!(model.requests().len(), 1);
        assert_eq!(agent.messages()[..before.len()], before[..]);
        assert_paired(agent.messages());
        // What is on the disk is what is in memory.
        assert_eq!(Resumed::read(&fs::read(&path).unwrap()).unwrap().messages, agent.messages());
        assert!(messages.len() + 3 >= agent.messages().len());
    }
}

// CONTRACT G3
#[tokio::test]
async fn g3_a_resumed_head_is_not_reminded_of_again() {
    let folder = TempDir::new().unwrap();
    let (bytes, _) = run(&folder).await;
    assert_eq!(Resumed::read(&bytes).unwrap().reminded.into_iter().collect::<Vec<_>>(), [1]);
    let host = host(folder.path());
    let stage = StageRequest::new("Something", |_| async { Ok(ToolResult::text("Applied.")) });
    host.session().actions().stage(stage).unwrap();
    let model = Arc::new(ScriptedModel::new([Reply::call(
        "write",
        json!({ "path": "xd://reject", "content": "No." }),
    )]));
    let (file, resumed) = TranscriptFile::open(folder.path().join("transcript.jsonl")).unwrap();
    assert_eq!(resumed, Resumed::read(&bytes).unwrap());
    let mut agent = Agent::new(Arc::clone(&model), host).resume(file, resumed);
    agent.prompt("Go on.").await.unwrap();
    let reminders = |messages: &[Message]| {
        messages.iter().filter(|m| matches!(m, Message::Custom { custom_type, .. } if custom_type == "resolve-reminder")).count()
    };
    assert_eq!(reminders(&model.requests()[0].messages), 1);
}

// CONTRACT E3
#[tokio::test]
async fn e3_what_did_not_survive_is_declared_void_once() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("transcript.jsonl");
    // The run stages something without a change set and ends before it is decided.
    let (file, _) = TranscriptFile::open(&path).unwrap();
    let model = ScriptedModel::new([Reply::call("propose_nothing", json!({}))]);
    let mut agent = Agent::new(model, host(folder.path())).with_transcript(file).with_turn_limit(1);
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::TurnLimit);
    for run in 0..2 {
        // As a restart restores it; an action that this transcript never knew is not spoken of.
        let host = host(folder.path());
        for number in 1..=2 {
            let stage = StageRequest::new("Lost", |_| async { Ok(ToolResult::text("Applied.")) });
            let number = xd_protocol::StageNumber::new(number).unwrap();
            host.session().actions().restore(number, stage, xd_resolve::ActionState::Void).unwrap();
        }
        let (file, resumed) = TranscriptFile::open(&path).unwrap();
        let agent = Agent::new(ScriptedModel::new([]), host).resume(file, resumed);
        assert_eq!(voids(agent.messages()), ["@1"], "run {run}");
    }
}

/// The numbers in the messages that declare something void.
// CONTRACT E3: also what was staged through a device is found in the history.
#[tokio::test]
async fn e3_what_a_device_staged_is_known_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let definition = ToolDefinition::new("custom", "Stages.", json!({ "type": "object" }));
    let tool = FnTool::new(definition, Tier::Write, |context, _| async move {
        let apply = |_| async { Ok(ToolResult::text("Applied.")) };
        let staged = context.stage(StageRequest::new("Something", apply)).await?;
        Ok(staged.result("preview"))
    });
    let policy = Policy::automatic(Tier::Exec);
    let session = Arc::new(Session::new());
    let host = Host::builder(session, workspace).policy(policy).device(tool).unwrap().build();
    let path = folder.path().join("transcript.jsonl");
    let (file, _) = TranscriptFile::open(&path).unwrap();
    let stage = Reply::call("write", json!({ "path": "xd://custom", "content": "{}" }));
    let model = ScriptedModel::new(vec![stage.and_call("read", json!({ "path": "." }))]);
    let mut agent = Agent::new(model, Arc::new(host)).with_transcript(file);
    // The script is over before the action is decided.
    drop(agent.prompt("Go.").await);
    drop(agent);
    let (_, resumed) = TranscriptFile::open(&path).unwrap();
    let result = resumed.messages.iter().find_map(|message| match message {
        Message::ToolResult { result, .. } => result.details.clone(),
        _ => None,
    });
    assert!(result.unwrap()["xdev"]["inner"]["number"].is_u64(), "no device was run");
    assert_eq!(resumed.staged().into_iter().collect::<Vec<_>>(), [1]);
}

fn voids(messages: &[Message]) -> Vec<String> {
    let text = |message: &Message| match message {
        Message::Custom { custom_type, text, .. } if custom_type == "resolve-void" => {
            Some(text.clone())
        }
        _ => None,
    };
    let named =
        |text: String| text.split(": ").nth(1).unwrap().split(". ").next().unwrap().to_owned();
    messages.iter().filter_map(text).map(named).collect()
}

// CONTRACT E1
#[tokio::test]
async fn e1_a_boundary_is_declared_in_the_transcript_and_not_again_on_resume() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("transcript.jsonl");
    let (file, _) = TranscriptFile::open(&path).unwrap();
    let model = ScriptedModel::new([Reply::call("propose_nothing", json!({}))]);
    let mut agent = Agent::new(model, host(folder.path())).with_transcript(file).with_turn_limit(1);
    agent.prompt("Go.").await.unwrap();
    assert_eq!(agent.boundary(xd_session::Boundary::Compaction), [0; 0]);
    assert_eq!(agent.boundary(xd_session::Boundary::Branch), [1]);
    assert_eq!(voids(agent.messages()), ["@1"]);
    let resumed = Resumed::read(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(resumed.void.iter().copied().collect::<Vec<_>>(), [1]);
    assert_eq!(voids(&resumed.messages), ["@1"]);
}

#[test]
fn e4_a_damaged_line_is_named_and_left() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("transcript.jsonl");
    let whole =
        "{\"v\":1,\"entry\":\"message\",\"message\":{\"role\":\"user\",\"text\":\"Hi.\"}}\n";
    for (bad, says) in [
        ("nonsense\n", "line 2"),
        ("{\"v\":2,\"entry\":\"void\",\"numbers\":[],\"reason\":\"\"}\n", "version is 2"),
    ] {
        let text = format!("{whole}{bad}{whole}");
        fs::write(&path, &text).unwrap();
        let error = TranscriptFile::open(&path).unwrap_err();
        assert!(matches!(error, TranscriptError::Damaged { line: 2, .. }), "{error}");
        assert!(error.to_string().contains(says), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

// CONTRACT E4, G12
#[tokio::test]
async fn e4_a_transcript_that_cannot_be_kept_stops_the_run_and_has_no_gap_later() {
    /// A disk that is full from the second line to the fourth attempt.
    struct Full(TranscriptFile, u32);
    impl xd_agent::Transcript for Full {
        fn append(&mut self, entry: &xd_agent::Entry) -> std::io::Result<()> {
            self.1 += 1;
            if (2..=4).contains(&self.1) {
                return Err(std::io::Error::other("the disk is full"));
            }
            self.0.append(entry)
        }
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("transcript.jsonl");
    let (file, _) = TranscriptFile::open(&path).unwrap();
    let mut agent = Agent::new(ScriptedModel::new(script()), host(folder.path()))
        .with_transcript(Full(file, 0));
    let error = agent.prompt("Go.").await.unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert_paired(agent.messages());
    agent.prompt("Go on.").await.unwrap();
    assert_eq!(Resumed::read(&fs::read(&path).unwrap()).unwrap().messages, agent.messages());
}

// CONTRACT E4
#[test]
fn e4_opening_again_and_again_adds_nothing() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("transcript.jsonl");
    let call = |id: &str| json!({ "v": 1, "entry": "message", "message": { "role": "assistant", "text": "", "calls": [{ "id": id, "name": "read", "arguments": {} }] } });
    let result = json!({ "v": 1, "entry": "message", "message": { "role": "tool_result", "call_id": "a", "result": { "content": ["x"] } } });
    // An id that was used before, whose first result was lost.
    fs::write(&path, format!("{}\n{}\n{result}\n{}\n", call("a"), call("a"), call("b"))).unwrap();
    TranscriptFile::open(&path).unwrap();
    let once = fs::read(&path).unwrap();
    assert_eq!(once.iter().filter(|&&b| b == b'\n').count(), 5, "one synthetic result is written");
    let (_, resumed) = TranscriptFile::open(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), once);
    assert_paired(&resumed.messages);
}

/// Approves whatever it is asked.
struct Approves;

impl xd_session::PlanReviewer for Approves {
    fn review(
        &self,
        review: xd_session::PlanReview,
    ) -> xd_resolve::BoxFuture<'_, xd_session::PlanAnswer> {
        Box::pin(std::future::ready(xd_session::PlanAnswer::Approved { text: review.text }))
    }
}

/// What each process does to plan mode before its prompts.
#[derive(Debug, Clone, Copy)]
enum Plan {
    Entered,
    /// Goes on as the record of an earlier process says, and stays so.
    Restored,
    /// Goes on so, and it is left.
    Left,
    Off,
}

// CONTRACT P3, E3: what the transcript told last of plan mode is what the model believes: a restart
// repeats nothing, and tells what is different now.
#[tokio::test]
async fn p3_e3_a_restart_tells_of_plan_mode_what_the_transcript_does_not() {
    use Plan::{Entered, Left, Off, Restored};
    let plan = |path: &str, text| Reply::call("write", json!({ "path": path, "content": text }));
    for (processes, told) in [
        (vec![Entered, Restored, Restored], vec!["on"]),
        (vec![Entered, Left, Off], vec!["on", "off"]),
        (vec![Entered, Off, Off], vec!["on", "off"]),
        (vec![Off, Entered, Off, Entered, Restored], vec!["on", "off", "on"]),
        (vec![Off, Off], vec![]),
    ] {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("transcript.jsonl");
        for process in &processes {
            let host = host(folder.path());
            let session = host.session();
            session.plan().set_reviewer(Arc::new(Approves));
            match process {
                Entered | Restored => drop(session.plan().enter().unwrap()),
                Left => {
                    session.plan().enter().unwrap();
                    session.plan().leave();
                }
                Off => {}
            }
            let (file, resumed) = TranscriptFile::open(&path).unwrap();
            let model = ScriptedModel::new([Reply::text("Yes."), Reply::text("Yes.")]);
            let mut agent = Agent::new(model, host).resume(file, resumed);
            for _ in 0..2 {
                agent.prompt("Go on.").await.unwrap();
            }
        }
        assert_eq!(notices(&path), told, "{processes:?}");
    }
    // An approved plan has said so itself.
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("transcript.jsonl");
    for first in [true, false] {
        let host = host(folder.path());
        host.session().plan().set_reviewer(Arc::new(Approves));
        let (file, resumed) = TranscriptFile::open(&path).unwrap();
        let script = if first {
            host.session().plan().enter().unwrap();
            vec![plan("local://a-plan.md", "# A\n"), plan("xd://propose", "a"), Reply::text("So.")]
        } else {
            vec![Reply::text("Yes.")]
        };
        let mut agent = Agent::new(ScriptedModel::new(script), host).resume(file, resumed);
        agent.prompt("Go on.").await.unwrap();
    }
    assert_eq!(notices(&path), ["on"]);
}

/// What the transcript says of plan mode.
fn notices(path: &Path) -> Vec<String> {
    let messages = Resumed::read(&fs::read(path).unwrap()).unwrap().messages;
    let mode = |message: Message| match message {
        Message::Custom { custom_type, details, .. } if custom_type == "plan-mode" => {
            Some(details["mode"].as_str().unwrap().to_owned())
        }
        _ => None,
    };
    messages.into_iter().filter_map(mode).collect()
}
