//! The earlier form: the hidden `resolve` tool, custom tools that push, one producer under both
//! forms (`CONTRACT D15`).

#![allow(clippy::unwrap_used, reason = "a test's own steps may fail as loudly as the test")]

use std::{
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};
use tempfile::TempDir;
use xd_changeset::{ByteEdit, ChangeSet};
use xd_resolve::{
    ActionState, ApplyError, BoxFuture, Decider, PendingActionStore, Tier, ToolCall, ToolResult,
};
use xd_session::{Directive, Finalizer, Judgement, Session, ToolChoice, TurnEnd, TurnRequest};
use xd_write::{
    Approval, ApprovalRequest, Approver, CallScope, Custom, CustomAction, CustomContext,
    CustomTool, Host, HostBuilder, Policy, Proposed, ToolFailure, Workspace, stage_change_set,
};

const BOTH: [Finalizer; 2] = [Finalizer::Write, Finalizer::HiddenTool];

struct Bench {
    folder: TempDir,
    host: Host,
}

impl Bench {
    fn new(finalizer: Finalizer, configure: impl FnOnce(HostBuilder) -> HostBuilder) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), "one\n").unwrap();
        let session = Arc::new(Session::new().with_finalizer(finalizer));
        let workspace = Workspace::open(folder.path()).unwrap();
        Self { folder, host: configure(Host::builder(session, workspace)).build() }
    }

    async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.batch(&[(name, arguments)]).await.remove(0)
    }

    async fn batch(&self, calls: &[(&str, Value)]) -> Vec<ToolResult> {
        let calls: Vec<ToolCall> = calls
            .iter()
            .map(|(name, arguments)| ToolCall::new("1", *name, arguments.clone()))
            .collect();
        self.host.run_batch(&calls, &CallScope::of(Decider::Model)).await
    }

    /// Decides in the form of the session.
    async fn decide(&self, action: &str, reason: &str) -> ToolResult {
        let (name, arguments) = decision(self.host.session().finalizer(), action, reason);
        self.call(name, arguments).await
    }

    fn text(&self) -> String {
        fs::read_to_string(self.folder.path().join("a.txt")).unwrap()
    }

    fn pending(&self) -> usize {
        self.host.session().actions().pending().len()
    }

    fn tools(&self) -> Vec<String> {
        self.host.definitions().into_iter().map(|d| d.name).collect()
    }
}

fn decision(finalizer: Finalizer, action: &str, reason: &str) -> (&'static str, Value) {
    match finalizer {
        Finalizer::HiddenTool => ("resolve", json!({ "action": action, "reason": reason })),
        Finalizer::Write => {
            let device = if action == "apply" { "resolve" } else { "reject" };
            ("write", json!({ "path": format!("xd://{device}"), "content": reason }))
        }
    }
}

/// A custom tool as they are written: it pushes an action with closures, and answers a text of its
/// own. It knows nothing of either form.
struct Pusher {
    applied: Heard,
    rejected: Heard,
}

impl CustomTool for Pusher {
    fn name(&self) -> &str {
        "pusher"
    }
    fn description(&self) -> &str {
        "Pushes."
    }
    fn parameters(&self) -> Value {
        json!({ "type": "object", "properties": { "label": { "type": "string" }, "then": { "type": "string" } } })
    }
    fn execute(
        &self,
        context: CustomContext,
        arguments: Value,
    ) -> BoxFuture<'_, Result<ToolResult, ToolFailure>> {
        Box::pin(async move {
            let applied = Arc::clone(&self.applied);
            let fails = arguments["then"] == "fail to apply";
            let rejected = Arc::clone(&self.rejected);
            let label = arguments["label"].as_str().unwrap_or("Push").to_owned();
            let action = CustomAction::new(label, move |reason| {
                applied.lock().unwrap().push(reason.to_string());
                async move {
                    if fails {
                        Err(ApplyError::from("no disk"))
                    } else {
                        Ok(ToolResult::text("Done."))
                    }
                }
            });
            let action = if arguments["then"] == "own words" {
                action.source_tool_name("pusher").details(json!({ "n": 1 })).reject(move |reason| {
                    rejected.lock().unwrap().push(reason.to_string());
                    async { Ok(Some(ToolResult::text("Put away."))) }
                })
            } else {
                action
            };
            let staged = context.push_pending_action(action).await?;
            match arguments["then"].as_str() {
                Some("fail") => Err(ToolFailure::from("fell over")),
                Some("error") => Ok(ToolResult::error("not so good")),
                Some("nothing") => Ok(ToolResult::default()),
                Some("notice") => Ok(staged.result("mine")),
                _ => Ok(ToolResult::text("I would do it.")),
            }
        })
    }
}

/// Reasons that a closure of the tool was called with.
type Heard = Arc<Mutex<Vec<String>>>;

fn pusher() -> (Custom<Pusher>, Heard, Heard) {
    let (applied, rejected) = (Heard::default(), Heard::default());
    let tool = Pusher { applied: Arc::clone(&applied), rejected: Arc::clone(&rejected) };
    (Custom::new(tool), applied, rejected)
}

// CONTRACT D15, S1, S4, D7: one producer, unchanged, under both forms.
#[tokio::test]
async fn d15_a_pushing_tool_works_unchanged_under_both_forms() {
    for finalizer in BOTH {
        let (tool, applied, rejected) = pusher();
        let bench = Bench::new(finalizer, |b| b.tool(tool));
        let staged = bench.call("pusher", json!({ "label": "First" })).await;
        // The notice names what the model has, and nothing else.
        let notice = match finalizer {
            Finalizer::Write => {
                "Staged as a proposal — files NOT modified yet. To apply: write a one-sentence reason to xd://resolve. To discard: write to xd://reject."
            }
            Finalizer::HiddenTool => {
                "Staged as a proposal — files NOT modified yet. To apply: call `resolve` with {\"action\": \"apply\", \"reason\": \"<one sentence>\"}. To discard: call it with \"discard\"."
            }
        };
        assert_eq!(staged.content, [format!("{notice}\n\nI would do it.")]);
        let head = bench.host.session().actions().head().unwrap();
        assert_eq!(
            (head.id().to_string(), head.label()),
            ("pending-action:custom_tool:1".to_owned(), "First")
        );
        assert_eq!(bench.decide("apply", " It is right. ").await.content, ["Done."]);
        assert_eq!(*applied.lock().unwrap(), ["It is right."]);

        bench.call("pusher", json!({ "label": "Second" })).await;
        let discarded = bench.decide("discard", "Not now.").await;
        assert_eq!(discarded.content, ["Discarded: Second. Reason: Not now."]);
        assert!(!discarded.is_error);

        bench.call("pusher", json!({ "label": "Third", "then": "own words" })).await;
        let head = bench.host.session().actions().head().unwrap();
        assert_eq!(head.id().to_string(), "pending-action:pusher:3");
        assert_eq!(head.details(), Some(&json!({ "n": 1 })));
        assert_eq!(bench.decide("discard", "Not so.").await.content, ["Put away."]);
        assert_eq!(*rejected.lock().unwrap(), ["Not so."]);
        assert_eq!(applied.lock().unwrap().len(), 1);
        assert_eq!(bench.pending(), 0);
    }
}

// CONTRACT D15: a producer of change sets stages and commits alike.
#[tokio::test]
async fn d15_a_change_set_is_staged_and_applied_under_both_forms() {
    use xd_write::{FnTool, ToolDefinition};
    for finalizer in BOTH {
        let editor = FnTool::new(
            ToolDefinition::new("edit", "Edits.", json!({})),
            Tier::Write,
            |context, _: Value| async move {
                let root = context.workspace().root();
                let path = root.relative("a.txt")?;
                let mut builder = ChangeSet::builder(root);
                builder.edit(&path, vec![ByteEdit::new(0..3, "two")]);
                let change_set = builder.build()?;
                let preview = change_set.unified(3);
                let proposed = Proposed {
                    label: "Edit: 1 replacement in 1 file".to_owned(),
                    source_tool_name: "edit".to_owned(),
                    success: "Applied 1 replacement in 1 file.".to_owned(),
                    notes: Vec::new(),
                    preview: preview.clone(),
                    change_set,
                };
                Ok(stage_change_set(&*context, context.workspace(), proposed)
                    .await?
                    .result(&preview))
            },
        );
        let bench = Bench::new(finalizer, |b| b.tool(editor));
        bench.call("edit", json!({})).await;
        assert_eq!(bench.text(), "one\n");
        // CONTRACT F2, D9: stale, so nothing is written and it stays pending.
        fs::write(bench.folder.path().join("a.txt"), "ONE\n").unwrap();
        let stale = bench.decide("apply", "It is right.").await;
        assert!(stale.is_error && stale.joined().contains("a.txt"), "{stale:?}");
        assert_eq!((bench.text().as_str(), bench.pending()), ("ONE\n", 1));
        fs::write(bench.folder.path().join("a.txt"), "one\n").unwrap();
        let applied = bench.decide("apply", "It is right.").await;
        assert_eq!(applied.content, ["Applied 1 replacement in 1 file."], "{finalizer:?}");
        assert_eq!(bench.text(), "two\n");
    }
}

// CONTRACT D15, D7: the details are not wrapped; the literal failure; bad calls.
#[tokio::test]
async fn d15_the_hidden_tools_results() {
    let (tool, ..) = pusher();
    let bench = Bench::new(Finalizer::HiddenTool, |b| b.tool(tool));
    for action in ["apply", "discard"] {
        let result = bench.decide(action, "It is right.").await;
        assert!(result.is_error);
        assert_eq!(result.content, ["No pending action to resolve. Nothing to apply or discard."]);
    }
    bench.call("pusher", json!({ "label": "L", "then": "own words" })).await;
    for bad in [
        json!({}),
        json!({ "action": "Apply", "reason": "r" }),
        json!({ "action": "apply" }),
        json!({ "action": "apply", "reason": " " }),
        json!({ "action": "apply", "reason": "x".repeat(2_001) }),
        json!("apply"),
    ] {
        let result = bench.call("resolve", bad.clone()).await;
        assert!(result.is_error && bench.pending() == 1, "{bad}: {result:?}");
    }
    let applied = bench.decide("apply", " Fine. ").await;
    assert_eq!(
        applied.details,
        Some(
            json!({ "action": "apply", "reason": "Fine.", "source_tool_name": "pusher", "label": "L" })
        )
    );
}

// CONTRACT D15, G2, G3, G5, G11: the requirement names the hidden tool, the reminder its form, the
// gate is met by it and by nothing else.
#[tokio::test]
async fn d15_the_requirement_names_the_hidden_tool() {
    let (tool, ..) = pusher();
    let bench = Bench::new(Finalizer::HiddenTool, |b| b.tool(tool));
    assert_eq!(bench.tools(), ["read", "write", "resolve", "pusher"]);
    let session = bench.host.session();
    session.begin_prompt();
    let request = TurnRequest::with_tools(bench.tools());
    assert!(session.next_turn(&request).requirement.is_none());
    bench.call("pusher", json!({})).await;
    let Directive::Soft(soft) = session.next_tool_choice_directive() else {
        panic!("no directive")
    };
    assert_eq!(soft.tool_name(), "resolve");
    let reminder = session.next_turn(&request).reminder.unwrap();
    assert!(
        reminder.text.contains(
            "PREVIEW — no files changed. Finalize now with the `resolve` tool: call it with \
             `{\"action\": \"apply\", \"reason\": \"<one sentence>\"}` to APPLY"
        ),
        "{}",
        reminder.text
    );
    // A detour is skipped with a text that names the tool, and the next turn forces it.
    let tier = |call: &ToolCall| bench.host.tier(call);
    let detour = [ToolCall::new("1", "pusher", json!({}))];
    assert_eq!(session.judge(TurnEnd::Complete, &detour, tier), Judgement::Skip);
    assert_eq!(
        session.finalizer().not_executed(),
        "Not executed: call the `resolve` tool to resolve the pending action before using other tools."
    );
    let forced = session.next_turn(&request);
    assert_eq!(forced.tool_choice, ToolChoice::Named("resolve".to_owned()));
    let (name, arguments) = decision(Finalizer::HiddenTool, "apply", "It is right.");
    let confirm = [ToolCall::new("2", name, arguments.clone())];
    assert_eq!(session.judge(TurnEnd::Complete, &confirm, tier), Judgement::Run);
    assert!(!bench.call(name, arguments).await.is_error);
    assert!(session.next_turn(&request).requirement.is_none());
}

// CONTRACT D15, G8: a failed apply lifts the gate in this form too, and the action stays.
#[tokio::test]
async fn d15_a_failed_apply_lifts_the_gate_under_both_forms() {
    for finalizer in BOTH {
        let (tool, ..) = pusher();
        let bench = Bench::new(finalizer, |b| b.tool(tool));
        bench.host.session().begin_prompt();
        bench.call("pusher", json!({ "then": "fail to apply" })).await;
        let request = TurnRequest::with_tools(bench.tools());
        assert!(bench.host.session().next_turn(&request).requirement.is_some());
        let failed = bench.decide("apply", "It is right.").await;
        assert!(failed.is_error && failed.joined().contains("Apply failed: no disk"), "{failed:?}");
        assert_eq!(bench.pending(), 1);
        assert!(bench.host.session().next_turn(&request).requirement.is_none(), "{finalizer:?}");
    }
}

// CONTRACT D15, D14: two decisions of one batch while two are pending do not get crossed.
#[tokio::test]
async fn d15_a_second_decision_of_a_batch_is_refused_under_both_forms() {
    for finalizer in BOTH {
        let (tool, applied, _) = pusher();
        let bench = Bench::new(finalizer, |b| b.tool(tool));
        bench.call("pusher", json!({ "label": "A" })).await;
        bench.call("pusher", json!({ "label": "B" })).await;
        let two = [decision(finalizer, "apply", "First."), decision(finalizer, "apply", "Second.")];
        let results = bench.batch(&two).await;
        assert_eq!(results.iter().map(|r| r.is_error).collect::<Vec<_>>(), [false, true]);
        assert_eq!(*applied.lock().unwrap(), ["First."], "{finalizer:?}");
        // One call a batch walks down.
        assert!(!bench.decide("apply", "Second.").await.is_error);
        assert_eq!(bench.pending(), 0);
    }
}

/// The tier and the action's label of what somebody was asked.
type Asked = Arc<Mutex<Vec<(Tier, Option<String>)>>>;

/// Notes what it is asked and refuses.
struct Refuses(Asked);

impl Approver for Refuses {
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, Approval> {
        let label = request.action.map(|action| action.label().to_owned());
        self.0.lock().unwrap().push((request.tier, label));
        Box::pin(async { Approval::Refused { words: "no".to_owned() } })
    }
}

// CONTRACT D15, W6: an apply by the hidden tool has the tier of its action and shows it.
#[tokio::test]
async fn d15_w6_approval_sees_the_action_under_both_forms() {
    for finalizer in BOTH {
        let (tool, applied, _) = pusher();
        let asked = Asked::default();
        let policy = Policy::automatic(Tier::Read).asking(Arc::new(Refuses(Arc::clone(&asked))));
        let bench = Bench::new(finalizer, |b| b.tool(tool).policy(policy));
        let push = xd_resolve::StageRequest::from(CustomAction::new("Run it", |_| async {
            Ok(ToolResult::text("ran"))
        }));
        bench.host.session().actions().stage(push.tier(Tier::Exec)).unwrap();
        let refused = bench.decide("apply", "It is right.").await;
        assert!(refused.is_error && refused.joined().contains("refused"), "{refused:?}");
        assert_eq!(
            *asked.lock().unwrap(),
            [(Tier::Exec, Some("Run it".to_owned()))],
            "{finalizer:?}"
        );
        // A discard only reads; nobody is asked.
        assert!(!bench.decide("discard", "Not now.").await.is_error);
        assert_eq!(asked.lock().unwrap().len(), 1);
        assert!(applied.lock().unwrap().is_empty());
    }
}

// CONTRACT D15: the store's face and the devices stay usable beside the hidden tool: one stack.
#[tokio::test]
async fn d15_store_devices_and_hidden_tool_are_one_stack() {
    let (tool, applied, _) = pusher();
    let bench = Bench::new(Finalizer::HiddenTool, |b| b.tool(tool));
    let face = PendingActionStore::new(Arc::clone(bench.host.session().actions()));
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let pushed = face.push(
        CustomAction::new("Pushed", move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            async { Ok(ToolResult::text("pushed ran")) }
        })
        .into(),
    );
    let pushed = pushed.unwrap();
    bench.call("pusher", json!({ "label": "Staged" })).await;
    assert_eq!(face.peek().unwrap().label(), "Staged");
    assert!(!bench.decide("apply", "It is right.").await.is_error);
    let by_device = json!({ "path": format!("xd://resolve@{pushed}"), "content": "It is right." });
    assert_eq!(bench.call("write", by_device).await.content, ["pushed ran"]);
    assert!(!face.has_pending());
    assert_eq!((runs.load(Ordering::SeqCst), applied.lock().unwrap().len()), (1, 1));
    let state = bench.host.session().actions().get(pushed).unwrap().1;
    assert_eq!(state, ActionState::Applied);
}

// CONTRACT S4, D15: what a tool answers that had pushed.
#[tokio::test]
async fn s4_the_notice_comes_once_and_failures_say_what_is_pending() {
    let begin = "Staged as a proposal — files NOT modified yet.";
    for (then, expect) in [("notice", "mine"), ("nothing", "Push"), ("", "I would do it.")] {
        let (tool, ..) = pusher();
        let bench = Bench::new(Finalizer::Write, |b| b.tool(tool));
        let text = bench.call("pusher", json!({ "then": then })).await.joined();
        assert!(text.starts_with(begin) && text.ends_with(expect), "{then}: {text}");
        assert_eq!(text.matches(begin).count(), 1, "{then}: {text}");
    }
    for (then, words) in [("fail", "pusher: fell over"), ("error", "not so good")] {
        let (tool, ..) = pusher();
        let bench = Bench::new(Finalizer::Write, |b| b.tool(tool));
        let result = bench.call("pusher", json!({ "then": then })).await;
        assert!(result.is_error && result.content[0] == words, "{result:?}");
        assert!(result.joined().contains("staged action @1 before it failed"), "{result:?}");
        assert_eq!(bench.pending(), 1);
    }
}

// CONTRACT G10, S5: where the hidden tool is not active, nothing is staged by anybody.
#[tokio::test]
async fn g10_without_the_finalizing_tool_nothing_is_staged() {
    for finalizer in BOTH {
        let (tool, ..) = pusher();
        let bench = Bench::new(finalizer, |b| b.tool(tool));
        let _ = bench.host.session().next_turn(&TurnRequest::with_tools(["read", "pusher"]));
        let result = bench.call("pusher", json!({})).await;
        assert!(result.is_error && result.joined().contains("Nothing was staged"), "{result:?}");
        assert_eq!(bench.pending(), 0);
    }
}

// CONTRACT D15: a custom tool is a tool like any other, mounted as a device too.
#[tokio::test]
async fn d15_a_custom_tool_can_be_mounted() {
    let (tool, applied, _) = pusher();
    let bench = Bench::new(Finalizer::Write, |b| b.device(tool).unwrap());
    let push = json!({ "path": "xd://pusher", "content": { "label": "By device" } });
    let staged = bench.call("write", push).await;
    assert!(staged.joined().starts_with("Staged as a proposal"), "{staged:?}");
    assert!(!bench.decide("apply", "It is right.").await.is_error);
    assert_eq!(applied.lock().unwrap().len(), 1);
}
