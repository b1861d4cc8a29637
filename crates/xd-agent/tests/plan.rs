//! P1, P4, case 93: plan mode through the whole loop, with a scripted model.

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

use std::{fs, sync::Arc};

use serde_json::json;
use xd_agent::{Agent, Message, Reply, ScriptedModel, Stop};
use xd_resolve::{BoxFuture, PlanMode, ToolResult};
use xd_session::{PlanAnswer, PlanReview, PlanReviewer, Session};
use xd_write::{Host, Workspace};

/// Refuses the first plan, approves the second.
#[derive(Default)]
struct Twice(std::sync::Mutex<Vec<PlanReview>>);

impl PlanReviewer for Twice {
    fn review(&self, review: PlanReview) -> BoxFuture<'_, PlanAnswer> {
        let mut asked = self.0.lock().unwrap();
        asked.push(review.clone());
        let answer = match asked.len() {
            1 => PlanAnswer::Refused { words: "Say how it is tested.".into() },
            _ => PlanAnswer::Approved { text: review.text },
        };
        Box::pin(std::future::ready(answer))
    }
}

fn write(path: &str, content: &str) -> Reply {
    Reply::call("write", json!({ "path": path, "content": content }))
}

fn agent(
    folder: &std::path::Path,
    replies: Vec<Reply>,
) -> (Agent<ScriptedModel>, Arc<Host>, Arc<Twice>) {
    let reviewer = Arc::new(Twice::default());
    let shared: Arc<dyn PlanReviewer> = Arc::<Twice>::clone(&reviewer);
    let workspace = Workspace::open(folder).unwrap();
    let host =
        Arc::new(Host::builder(Arc::new(Session::new()), workspace).reviewer(shared).build());
    host.session().plan().enter().unwrap();
    (Agent::new(ScriptedModel::new(replies), Arc::clone(&host)), host, reviewer)
}

fn results(messages: &[Message]) -> Vec<&ToolResult> {
    messages
        .iter()
        .filter_map(|message| match message {
            Message::ToolResult { result, .. } => Some(result),
            Message::User { .. } | Message::Assistant { .. } | Message::Custom { .. } => None,
        })
        .collect()
}

// CONTRACT P1, P4, W7; case 97
#[tokio::test]
async fn p1_p4_a_plan_is_drafted_refused_revised_approved_and_carried_out() {
    let folder = tempfile::tempdir().unwrap();
    let (mut agent, host, reviewer) = agent(
        folder.path(),
        vec![
            write("PLAN.md", "# Plan\n"),
            write("xd://propose", "PLAN"),
            write("local://PLAN-plan.md", "# Plan\n\nTested.\n"),
            write("xd://propose", "PLAN"),
            write("a.txt", "done\n"),
            Reply::text("Done."),
        ],
    );
    assert_eq!(agent.prompt("Plan it.").await.unwrap(), Stop::Done);
    let notices: Vec<&str> = agent
        .messages()
        .iter()
        .filter_map(|message| match message {
            Message::Custom { custom_type, text, .. } if custom_type == "plan-mode" => {
                Some(text.as_str())
            }
            _ => None,
        })
        .collect();
    assert_eq!(notices.len(), 1, "{notices:?}");
    let results = results(agent.messages());
    let failed: Vec<bool> = results.iter().map(|result| result.is_error).collect();
    assert_eq!(failed, [true, true, false, false, false]);
    assert!(results[0].joined().contains("kept as local://PLAN-plan.md"));
    assert!(results[1].joined().contains("Say how it is tested."));
    assert_eq!(results[3].content[1], "# Plan\n\nTested.\n");
    let asked: Vec<String> =
        reviewer.0.lock().unwrap().iter().map(|review| review.text.to_string()).collect();
    assert_eq!(asked, ["# Plan\n", "# Plan\n\nTested.\n"]);
    assert_eq!(host.session().plan_mode(), PlanMode::Off);
    assert_eq!(fs::read_to_string(folder.path().join("a.txt")).unwrap(), "done\n");
    assert!(!folder.path().join("PLAN.md").exists());
}

// case 93
#[tokio::test]
async fn case_093_a_model_that_only_repeats_a_forbidden_write_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let replies = (0..50).map(|n| write("a.txt", &format!("try {n}"))).collect();
    let (mut agent, host, _) = agent(folder.path(), replies);
    assert_eq!(agent.prompt("Plan it.").await.unwrap(), Stop::Forbidden { batches: 6 });
    assert_eq!(agent.model().requests().len(), 6);
    let results = results(agent.messages());
    assert_eq!(results.len(), 6);
    assert!(results.iter().all(|result| result.is_error));
    assert!(results[2].joined().contains("stop repeating it. Allowed are reading, drafts at"));
    assert!(!folder.path().join("a.txt").exists());
    // The next prompt begins anew, and plan mode is as it was.
    assert_eq!(host.session().plan_mode(), PlanMode::On);
    assert_eq!(agent.prompt("Go on.").await.unwrap(), Stop::Forbidden { batches: 6 });
}

// case 93
#[tokio::test]
async fn case_093_ever_other_forbidden_writes_are_stopped_too() {
    let folder = tempfile::tempdir().unwrap();
    let replies = (0..50).map(|n| write(&format!("{n}.txt"), "x")).collect();
    let (mut agent, ..) = agent(folder.path(), replies);
    assert_eq!(agent.prompt("Plan it.").await.unwrap(), Stop::Forbidden { batches: 12 });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
