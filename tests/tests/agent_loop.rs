//! The agent loop: reminders, forcing, budgets, cancelling, failing models.
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use xd_agent::{
    Agent, AgentError, Event, Message, Model, ModelError, Reply, Request, ScriptedModel, Stop,
    StopReason,
};
use xd_protocol::notice;
use xd_resolve::{ApplyError, BoxFuture, StageRequest, Tier, ToolResult};
use xd_session::{DirectiveOptions, Forcing, Thinking, ToolChoice};
use xd_tests::{Bench, assert_paired, assert_requests};
use xd_write::{FnTool, ToolDefinition};

const WHY: &str = "It is what was asked for.";

fn stage(path: &str, old: &str, new: &str) -> Reply {
    Reply::call("edit", json!({ "edits": [{ "path": path, "old": old, "new": new }] }))
}

fn write(path: &str, content: &str) -> Reply {
    Reply::call("write", json!({ "path": path, "content": content }))
}

fn resolve() -> Reply {
    write("xd://resolve", WHY)
}

fn read(path: &str) -> Reply {
    Reply::call("read", json!({ "path": path }))
}

fn forced() -> ToolChoice {
    ToolChoice::Named("write".into())
}

/// An agent over `bench` with a script, and the events that it told.
struct Run {
    agent: Agent<Arc<ScriptedModel>>,
    model: Arc<ScriptedModel>,
    events: Arc<Mutex<Vec<Event>>>,
}

impl Run {
    fn new(bench: &Bench, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::of(bench, ScriptedModel::new(replies))
    }

    fn of(bench: &Bench, model: ScriptedModel) -> Self {
        let model = Arc::new(model);
        let events = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&events);
        let agent = Agent::new(Arc::clone(&model), Arc::clone(&bench.host))
            .with_system("You edit files.")
            .on_event(move |event| sink.lock().unwrap().push(event.clone()));
        Self { agent, model, events }
    }

    /// Runs a prompt and checks what must hold of any run.
    async fn prompt(&mut self, text: &str) -> Stop {
        let stop = self.agent.prompt(text).await.unwrap();
        assert_paired(self.agent.messages());
        assert_requests(&self.model.requests());
        stop
    }

    fn choices(&self) -> Vec<ToolChoice> {
        self.model.requests().into_iter().map(|request| request.tool_choice).collect()
    }

    /// The texts of the hidden messages of one type.
    fn hidden(&self, kind: &str) -> Vec<String> {
        let of_kind = |message: &Message| match message {
            Message::Custom { custom_type, display: false, text, .. } if custom_type == kind => {
                Some(text.clone())
            }
            _ => None,
        };
        self.agent.messages().iter().filter_map(of_kind).collect()
    }

    fn results(&self) -> Vec<ToolResult> {
        let result = |message: &Message| match message {
            Message::ToolResult { result, .. } => Some(result.clone()),
            _ => None,
        };
        self.agent.messages().iter().filter_map(result).collect()
    }
}

// CONTRACT G1, G3, G4, S2 — Invariant G1, Invariant G2: a compliant run never changes the choice
// and appends one reminder.
#[tokio::test]
async fn g4_a_compliant_run_changes_nothing_but_the_tail() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    let mut run = Run::new(&bench, [stage("a.txt", "one", "two"), resolve(), Reply::text("Done.")]);
    assert_eq!(run.prompt("Go.").await, Stop::Done);
    assert_eq!(bench.text("a.txt"), "two\n");
    assert_eq!(run.choices(), vec![ToolChoice::Auto; 3]);
    let reminders = run.hidden("resolve-reminder");
    assert_eq!(reminders.len(), 1);
    let text = &reminders[0];
    assert!(
        text.starts_with("<system-reminder>\n") && text.trim_end().ends_with("</system-reminder>")
    );
    assert!(text.contains(
        "`edit` result above: PREVIEW — no files changed. Finalize now with `write`: write a \
         one-sentence plain-text reason to `xd://resolve` to APPLY, or `xd://reject` to DISCARD."
    ));
    // It is the last message of the request behind the preview, with its details.
    let requests = run.model.requests();
    let Some(Message::Custom { display, details, .. }) = requests[1].messages.last() else {
        panic!("{:?}", requests[1].messages.last())
    };
    assert_eq!((*display, details), (false, &json!({ "tool_name": "edit" })));
    assert_eq!(requests[0].system, "You edit files.");
    assert!(!requests.iter().any(|request| request.system.contains("xd://")));
}

// CONTRACT G5: a detour is skipped, paired, and the next request alone forces.
#[tokio::test]
async fn g5_a_detour_is_skipped_and_the_next_request_alone_forces() {
    let detours = [
        write("b.txt", "b\n"),
        stage("a.txt", "one", "three"),
        Reply::call("bash", json!({})),
        write("xd:/resolve", WHY),
        write("xd://nothing", "{}"),
        // A batch that mixes a confirm with a detour does not comply.
        resolve().and_call("write", json!({ "path": "b.txt", "content": "b\n" })),
        write("b.txt", "b\n").and_call("write", json!({ "path": "xd://resolve", "content": WHY })),
    ];
    for detour in detours {
        let calls = detour.calls.len();
        let bench = Bench::new(&[("a.txt", "one\n")]);
        let mut run = Run::new(
            &bench,
            [stage("a.txt", "one", "two"), detour, resolve(), read("a.txt"), Reply::text("Done.")],
        );
        assert_eq!(run.prompt("Go.").await, Stop::Done);
        let auto = ToolChoice::Auto;
        assert_eq!(run.choices(), [auto.clone(), auto.clone(), forced(), auto.clone(), auto]);
        for result in &run.results()[1..=calls] {
            assert!(result.is_error);
            assert_eq!(result.content, [notice::NOT_EXECUTED]);
        }
        assert!(!bench.exists("b.txt"));
        assert_eq!(bench.text("a.txt"), "two\n");
        assert_eq!(run.hidden("resolve-reminder").len(), 1);
        let skipped = run
            .events
            .lock()
            .unwrap()
            .iter()
            .filter(|event| matches!(event, Event::Result { executed: false, .. }))
            .count();
        assert_eq!(skipped, calls);
    }
}

// CONTRACT G11, case 75: the forced request differs in the choice and in appended messages alone.
#[tokio::test]
async fn g11_case_075_a_forced_request_differs_in_its_choice_alone() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    let script = [stage("a.txt", "one", "two"), write("b", "b"), resolve(), Reply::text("Done.")];
    let mut run = Run::new(&bench, script);
    run.prompt("Go.").await;
    let requests = run.model.requests();
    let without = |request: &Request| {
        let mut value = serde_json::to_value(request).unwrap();
        value.as_object_mut().unwrap().remove("tool_choice");
        value.as_object_mut().unwrap().remove("messages");
        value.to_string()
    };
    assert_eq!(requests[2].tool_choice, forced());
    assert!(requests.iter().all(|request| without(request) == without(&requests[0])));
    // case 77: nothing depends on what the provider's cache makes of it; usage is only reported.
    assert!(requests.windows(2).all(|two| two[1].messages.starts_with(&two[0].messages)));
}

// CONTRACT G5, G7, case 69: prose that looks like a call is no call; one retry goes without the
// pin, then the run stops.
#[tokio::test]
async fn g7_case_069_prose_is_no_call_and_ends_parked() {
    let prose = "write {\"path\": \"xd://resolve\", \"content\": \"It is right.\"}";
    let bench = Bench::new(&[("a.txt", "one\n")]);
    let mut replies = vec![stage("a.txt", "one", "two")];
    replies.extend((0..20).map(|_| Reply::text(prose)));
    let mut run = Run::new(&bench, replies);
    assert_eq!(run.prompt("Go.").await, Stop::Unresolved { number: 1 });
    let auto = ToolChoice::Auto;
    assert_eq!(run.choices(), [auto.clone(), auto.clone(), forced(), auto]);
    assert_eq!(bench.text("a.txt"), "one\n");
    assert_eq!(bench.pending(), [1]);
    assert!(matches!(
        run.events.lock().unwrap().last(),
        Some(Event::Stopped { stop: Stop::Unresolved { number: 1 } })
    ));
    // A person can resolve it by hand, and a later prompt can go on.
    assert!(!bench.write("xd://resolve@1", WHY).await.is_error);
    assert_eq!(bench.text("a.txt"), "two\n");
}

// CONTRACT G7, case 71: empty output counts, and the preview stays resolvable.
#[tokio::test]
async fn g7_case_071_empty_replies_end_parked() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    let mut run = Run::new(&bench, [stage("a.txt", "one", "two")]);
    assert_eq!(run.prompt("Go.").await, Stop::Unresolved { number: 1 });
    assert!(run.model.requests().len() <= 9);
    // A later prompt has its whole budget again, and no second reminder.
    assert_eq!(run.prompt("Go on.").await, Stop::Unresolved { number: 1 });
    assert_eq!(run.hidden("resolve-reminder").len(), 1);
}

// CONTRACT G7, case 73: alternating tools do not escape.
#[tokio::test]
async fn g7_case_073_ping_pong_ends_within_the_budget() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    let mut replies = vec![stage("a.txt", "one", "two")];
    for _ in 0..20 {
        replies.extend([read("a.txt"), stage("a.txt", "one", "three"), write("b", "b")]);
    }
    let mut run = Run::new(&bench, replies);
    assert_eq!(run.prompt("Go.").await, Stop::Unresolved { number: 1 });
    let turns = run.model.requests().len() - 1;
    assert!(turns <= 8, "{turns}");
    assert!(run.choices().iter().filter(|choice| **choice == forced()).count() <= 3);
    assert_eq!(bench.pending(), [1]);
    assert!(!bench.exists("b"));
}

// CONTRACT G6: looking is allowed five times, and neither satisfies nor escalates.
#[tokio::test]
async fn g6_looking_is_allowed_five_times_a_head() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    let looks = ["a.txt", "xd://resolve@1", "xd://", ".", "xd://resolve", "a.txt", "a.txt"];
    let mut replies = vec![stage("a.txt", "one", "two")];
    replies.extend(looks.iter().map(|path| read(path)));
    replies.push(resolve());
    replies.push(Reply::text("Done."));
    let mut run = Run::new(&bench, replies);
    let stop = run.prompt("Go.").await;
    let results = run.results();
    assert!(results[1..6].iter().all(|result| !result.is_error));
    assert!(results[2].joined().starts_with("Staged action @1"));
    assert_eq!(results[6].content, [notice::NOT_EXECUTED]);
    let choices = run.choices();
    assert!(choices[..7].iter().all(|choice| *choice == ToolChoice::Auto));
    assert_eq!(choices[7], forced());
    // Five looks, two detours, the confirm: eight turns, which is the budget.
    assert_eq!(stop, Stop::Done);
    assert_eq!(bench.text("a.txt"), "two\n");
}

// CONTRACT G7: failing and malformed confirms count too.
#[tokio::test]
async fn g7_confirms_that_do_nothing_count() {
    for bad in [write("xd://resolve", ""), write("xd://resolve@9", WHY), write("xd://reject", " ")]
    {
        let bench = Bench::new(&[("a.txt", "one\n")]);
        let mut replies = vec![stage("a.txt", "one", "two")];
        replies.extend((0..30).map(|_| bad.clone()));
        let mut run = Run::new(&bench, replies);
        assert_eq!(run.prompt("Go.").await, Stop::Unresolved { number: 1 });
        assert_eq!(run.model.requests().len(), 9);
        assert_eq!(bench.text("a.txt"), "one\n");
    }
}

// CONTRACT G7: truncated output is run neither with nor without something pending.
#[tokio::test]
async fn g7_a_truncated_call_is_not_run() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    let cut = write("c.txt", "half").stopped(StopReason::Length);
    let cut_confirm = resolve().stopped(StopReason::Length);
    let script = [
        cut,
        stage("a.txt", "one", "two"),
        cut_confirm,
        resolve(),
        Reply::text("cut").stopped(StopReason::Length),
    ];
    let mut run = Run::new(&bench, script);
    assert_eq!(run.prompt("Go.").await, Stop::Truncated);
    assert!(!bench.exists("c.txt"));
    let results = run.results();
    assert!(results[0].is_error && results[0].joined().contains("cut at the token limit"));
    assert!(results[2].is_error);
    assert_eq!(bench.text("a.txt"), "two\n");
}

// CONTRACT G8
#[tokio::test]
async fn g8_a_failed_apply_lifts_the_gate_until_the_next_prompt() {
    let bench = Bench::new(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    let script = [stage("a.txt", "one", "two"), write("xd://resolve@1", WHY), Reply::text("Hm.")];
    let model = Arc::new(ScriptedModel::new(script));
    let (path, scripted) = (bench.at("a.txt"), Arc::clone(&model));
    let meddling = move |request: Request| {
        // The file changes between the preview and the confirm.
        if request.messages.len() > 2 {
            std::fs::write(&path, "by hand\n").unwrap();
        }
        let scripted = Arc::clone(&scripted);
        async move { scripted.respond(request).await }
    };
    let mut agent = Agent::new(meddling, Arc::clone(&bench.host));
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Done);
    assert_eq!(bench.text("a.txt"), "by hand\n");
    assert_eq!(bench.pending(), [1]);
    // Lifted: the last request is not forced and carries no further demand. A new prompt asks again,
    // and the model repairs and retries.
    assert_eq!(model.requests().len(), 3);
    assert!(model.requests().iter().all(|request| request.tool_choice == ToolChoice::Auto));
    bench.put("a.txt", "one\n");
    let mut run = Run::new(&bench, [write("xd://resolve@1", WHY), Reply::text("Done.")]);
    assert_eq!(run.prompt("Again.").await, Stop::Done);
    assert_eq!(bench.text("a.txt"), "two\n");
}

// CONTRACT G8: within the same prompt the model may use other tools and retry.
#[tokio::test]
async fn g8_after_a_failed_apply_the_model_may_repair_and_retry() {
    let bench = Bench::new(&[("gate", "shut\n")]);
    let gate = bench.at("gate");
    let request = StageRequest::new("Opens", move |_| {
        let open = std::fs::read_to_string(&gate).unwrap() == "open\n";
        async move {
            if open { Ok(ToolResult::text("In.")) } else { Err(ApplyError::tool("It is shut.")) }
        }
    });
    bench.session().actions().stage(request).unwrap();
    let mut run =
        Run::new(&bench, [resolve(), write("gate", "open\n"), resolve(), Reply::text("Done.")]);
    assert_eq!(run.prompt("Go in.").await, Stop::Done);
    assert_eq!(run.results().last().unwrap().content, ["In."]);
    assert!(run.choices().iter().all(|choice| *choice == ToolChoice::Auto));
    assert!(bench.pending().is_empty());
}

// CONTRACT G9, cases 59 and 63: no provider is asked for what it refuses, and the loop says so.
#[tokio::test]
async fn g9_case_059_case_063_every_provider_gets_what_it_allows() {
    let providers = [
        (Forcing::Named, Thinking::On, Some(forced())),
        (Forcing::Named, Thinking::Off, Some(forced())),
        (Forcing::NamedUnlessThinking, Thinking::Off, Some(forced())),
        (Forcing::NamedUnlessThinking, Thinking::On, None),
        (Forcing::SomeTool, Thinking::On, Some(ToolChoice::Required)),
        (Forcing::SomeTool, Thinking::Off, Some(ToolChoice::Required)),
        (Forcing::AutoOnly, Thinking::On, None),
        (Forcing::AutoOnly, Thinking::Off, None),
        (Forcing::Unknown, Thinking::On, None),
        (Forcing::Unknown, Thinking::Off, None),
    ];
    for (forcing, thinking, choice) in providers {
        let bench = Bench::new(&[("a.txt", "one\n")]);
        let script =
            [stage("a.txt", "one", "two"), write("b", "b"), resolve(), Reply::text("Done.")];
        let model = ScriptedModel::new(script).with_forcing(forcing).with_thinking(thinking);
        let mut run = Run::of(&bench, model);
        assert_eq!(run.prompt("Go.").await, Stop::Done);
        let auto = ToolChoice::Auto;
        let third = choice.clone().unwrap_or(ToolChoice::Auto);
        assert_eq!(run.choices(), [auto.clone(), auto.clone(), third, auto], "{forcing:?}");
        let said = run
            .events
            .lock()
            .unwrap()
            .iter()
            .filter(|event| matches!(event, Event::ForcingUnavailable { tool: Some(tool) } if tool == "write"))
            .count();
        assert_eq!(said, usize::from(choice.is_none()), "{forcing:?} {thinking:?}");
        assert_eq!(bench.text("a.txt"), "two\n");
    }
}

// CONTRACT G9: by reminder alone the same budget holds.
#[tokio::test]
async fn g9_without_forcing_the_same_budget_holds() {
    for forcing in [Forcing::AutoOnly, Forcing::SomeTool, Forcing::Unknown] {
        let bench = Bench::new(&[("a.txt", "one\n")]);
        let mut replies = vec![stage("a.txt", "one", "two")];
        replies.extend((0..30).map(|_| write("b", "b")));
        let mut run = Run::of(&bench, ScriptedModel::new(replies).with_forcing(forcing));
        assert_eq!(run.prompt("Go.").await, Stop::Unresolved { number: 1 });
        assert!(run.model.requests().len() <= 9);
        assert!(!bench.exists("b"));
    }
}

// CONTRACT G10, Q6, case 61: a hard choice comes first; one that names an absent tool is dropped.
#[tokio::test]
async fn g10_case_061_hard_choices_and_absent_tools() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    bench.edit("a.txt", "one", "two").await;
    bench.session().with_queue(|queue| {
        queue.push_once(ToolChoice::Named("read".into()), DirectiveOptions::new());
        queue.push_once(ToolChoice::Named("absent".into()), DirectiveOptions::new());
    });
    let mut run = Run::new(&bench, [read("a.txt"), resolve(), Reply::text("Done.")]);
    assert_eq!(run.prompt("Go.").await, Stop::Done);
    assert_eq!(run.choices()[0], ToolChoice::Named("read".into()));
    assert_eq!(run.choices()[1], ToolChoice::Auto);
    let events = run.events.lock().unwrap();
    assert!(
        events.iter().any(|e| matches!(e, Event::ToolUnavailable { tool } if tool == "absent"))
    );
    drop(events);
    // The reminder waits for the turn that carries the requirement.
    assert!(!format!("{:?}", run.model.requests()[0].messages).contains("resolve-reminder"));
    assert!(format!("{:?}", run.model.requests()[1].messages).contains("resolve-reminder"));
    assert_eq!(bench.text("a.txt"), "two\n");
}

// CONTRACT G10: a static `none` asks for nothing, and the run ends with the model's word.
#[tokio::test]
async fn g10_under_a_static_none_nothing_is_asked() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    bench.edit("a.txt", "one", "two").await;
    let model = Arc::new(ScriptedModel::new([Reply::text("A word.")]));
    let mut agent =
        Agent::new(Arc::clone(&model), Arc::clone(&bench.host)).with_tool_choice(ToolChoice::None);
    assert_eq!(agent.prompt("Say a word.").await.unwrap(), Stop::Done);
    assert_eq!(model.requests()[0].tool_choice, ToolChoice::None);
    assert_eq!(model.requests()[0].messages.len(), 1);
    assert_eq!(bench.pending(), [1]);
}

// CONTRACT Q7, case 67: what does not ask the session consumes nothing.
#[tokio::test]
async fn q7_case_067_a_side_request_neither_carries_nor_consumes() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    bench.session().with_queue(|queue| queue.user_force("read"));
    let side = ScriptedModel::new([Reply::text("A title")]);
    let request = Request {
        system: "Name this.".into(),
        tools: Vec::new(),
        messages: Vec::new(),
        tool_choice: ToolChoice::None,
    };
    side.respond(request).await.unwrap();
    let mut run = Run::new(&bench, [read("a.txt"), Reply::text("Done.")]);
    assert_eq!(run.prompt("Go.").await, Stop::Done);
    assert_eq!(run.choices(), [ToolChoice::Named("read".into()), ToolChoice::None]);
}

// Case 79: after the decision an empty stop ends the run.
#[tokio::test]
async fn case_079_an_empty_stop_after_the_decision_ends_the_run() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    let mut run = Run::new(&bench, [stage("a.txt", "one", "two"), resolve(), Reply::text("")]);
    assert_eq!(run.prompt("Go.").await, Stop::Done);
    assert_eq!(run.model.requests().len(), 3);
    assert!(bench.pending().is_empty());
}

// CONTRACT D14, G2: the lower of two is asked for when the upper is decided, with its own reminder.
#[tokio::test]
async fn g2_each_head_has_its_own_reminder() {
    let bench = Bench::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let two = stage("a.txt", "one", "two")
        .and_call("edit", json!({ "edits": [{ "path": "b.txt", "old": "one", "new": "two" }] }));
    let mut run =
        Run::new(&bench, [two, resolve(), write("xd://reject", WHY), Reply::text("Done.")]);
    assert_eq!(run.prompt("Go.").await, Stop::Done);
    let reminders = run.hidden("resolve-reminder");
    assert_eq!(reminders.len(), 2);
    assert!(reminders[0].contains("2 staged actions are pending"));
    assert_eq!((bench.text("a.txt"), bench.text("b.txt")), ("one\n".into(), "two\n".into()));
}

/// A tool that does `what` when it is called.
fn doing(name: &str, what: impl Fn() + Send + Sync + 'static) -> impl xd_write::Tool + 'static {
    let definition = ToolDefinition::new(name, "Does it.", json!({ "type": "object" }));
    let what = Arc::new(what);
    FnTool::new(definition, Tier::Read, move |_, _| {
        let what = Arc::clone(&what);
        async move {
            what();
            tokio::task::yield_now().await;
            Ok(ToolResult::text("did"))
        }
    })
}

fn long_script() -> Vec<Reply> {
    vec![
        read("a.txt").and_call(
            "edit",
            json!({ "edits": [{ "path": "a.txt", "old": "one", "new": "two" }] }),
        ),
        read("xd://resolve@1"),
        write("b.txt", "b\n"),
        resolve().and_call("write", json!({ "path": "xd://resolve@1", "content": WHY })),
        Reply::text("And now").and_call("write", json!({ "path": "c.txt", "content": "c\n" })),
        stage("a.txt", "two", "three"),
        write("xd://reject", WHY),
        Reply::text("Done."),
    ]
}

// CONTRACT G12, D12 — Invariant G3, Invariant G4: aborted at whatever event, every call has its
// result, what is pending stays, and no file is half-written.
#[tokio::test]
async fn g12_aborted_at_every_event_the_history_is_whole() {
    let bench = Bench::quick(&[("a.txt", "one\n")]);
    let mut run = Run::new(&bench, long_script());
    assert_eq!(run.prompt("Go.").await, Stop::Done);
    let events = run.events.lock().unwrap().len();
    assert!(events > 30, "{events}");
    for at in 0..events {
        let bench = Bench::quick(&[("a.txt", "one\n")]);
        let model = Arc::new(ScriptedModel::new(long_script()));
        let cancel = CancellationToken::new();
        let (trigger, seen) = (cancel.clone(), AtomicUsize::new(0));
        let mut agent = Agent::new(Arc::clone(&model), Arc::clone(&bench.host))
            .with_cancel(cancel)
            .on_event(move |_| {
                if seen.fetch_add(1, Ordering::SeqCst) == at {
                    trigger.cancel();
                }
            });
        let stop = agent.prompt("Go.").await.unwrap();
        let last = matches!(stop, Stop::Done);
        assert!(last || stop == Stop::Aborted, "at event {at}: {stop:?}");
        assert!(!last || at + 2 >= events, "at event {at}");
        assert_paired(agent.messages());
        assert_requests(&model.requests());
        assert!(["one\n", "two\n"].contains(&&*bench.text("a.txt")));
        let open = bench.pending();
        // Another agent goes on from there.
        let replies = open.iter().map(|n| write(&format!("xd://reject@{n}"), WHY));
        let mut next = Run::new(&bench, replies.chain([Reply::text("Done.")]));
        assert_eq!(next.prompt("Clean up.").await, Stop::Done);
        assert!(bench.pending().is_empty());
    }
}

// CONTRACT G12: aborted while the model answers and while a tool runs.
#[tokio::test]
async fn g12_aborted_in_the_middle_of_a_reply_or_a_tool() {
    // The model never answers; somebody cancels.
    let bench = Bench::quick(&[("a.txt", "one\n")]);
    bench.edit("a.txt", "one", "two").await;
    let cancel = CancellationToken::new();
    let trigger = cancel.clone();
    let model = move |_: Request| {
        let trigger = trigger.clone();
        async move {
            trigger.cancel();
            std::future::pending::<Result<Reply, ModelError>>().await
        }
    };
    let mut agent = Agent::new(model, Arc::clone(&bench.host)).with_cancel(cancel);
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Aborted);
    assert_eq!(bench.pending(), [1]);
    assert_paired(agent.messages());

    // A tool in the middle of a batch cancels: the later calls do not start.
    let cancel = CancellationToken::new();
    let trigger = cancel.clone();
    let bench = Bench::with(&[], |b| b.tool(doing("cancel", move || trigger.cancel())));
    let script = [write("a", "a")
        .and_call("cancel", json!({}))
        .and_call("write", json!({ "path": "b", "content": "b" }))];
    let model = Arc::new(ScriptedModel::new(script));
    let mut agent = Agent::new(Arc::clone(&model), Arc::clone(&bench.host)).with_cancel(cancel);
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Aborted);
    assert_paired(agent.messages());
    assert!(bench.exists("a") && !bench.exists("b"));
    assert_eq!(agent.messages().len(), 5);
    assert_eq!(agent.prompt("Again.").await.unwrap(), Stop::Aborted);
    assert_eq!(model.requests().len(), 1);
}

// CONTRACT G12: a reply that was cut by an abort is kept with its calls paired, none run.
#[tokio::test]
async fn g12_the_calls_of_an_aborted_reply_are_paired_and_not_run() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    bench.edit("a.txt", "one", "two").await;
    let aborted =
        resolve().and_call("read", json!({ "path": "a.txt" })).stopped(StopReason::Aborted);
    let mut run = Run::new(&bench, [aborted, resolve(), Reply::text("Done.")]);
    assert_eq!(run.prompt("Go.").await, Stop::Aborted);
    assert_eq!(bench.pending(), [1]);
    assert!(run.results().iter().all(|r| r.content == ["Not executed: the turn was aborted."]));
    assert_eq!(run.prompt("Go on.").await, Stop::Done);
    assert_eq!(bench.text("a.txt"), "two\n");
}

/// Fails at the turns that it was told to, and is a script otherwise.
struct Flaky {
    script: ScriptedModel,
    fails_at: Vec<usize>,
    turn: AtomicUsize,
}

impl Model for Flaky {
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
        if self.fails_at.contains(&self.turn.fetch_add(1, Ordering::SeqCst)) {
            let error = ModelError::failed("the line is dead");
            return Box::pin(std::future::ready(Err(error)));
        }
        self.script.respond(request)
    }

    fn forcing(&self) -> Forcing {
        Forcing::Named
    }
}

// CONTRACT G12: a provider that fails at any turn spends nothing, and the next prompt goes on.
#[tokio::test]
async fn g12_a_model_that_fails_recovers_with_the_next_prompt() {
    for fails in 0..8 {
        for times in [1, 3, 12] {
            let bench = Bench::quick(&[("a.txt", "one\n")]);
            let model = Flaky {
                script: ScriptedModel::new(long_script()),
                fails_at: (fails..fails + times).collect(),
                turn: AtomicUsize::new(0),
            };
            let mut agent = Agent::new(model, Arc::clone(&bench.host));
            let mut failures = 0;
            let stop = loop {
                match agent.prompt("Go.").await {
                    Ok(stop) => break stop,
                    Err(error) => {
                        assert!(matches!(error, AgentError::Model(_)));
                        assert!(error.to_string().contains("the line is dead"));
                        failures += 1;
                    }
                }
                assert_paired(agent.messages());
            };
            assert_eq!((stop, failures), (Stop::Done, times), "at turn {fails}");
            assert_requests(&agent.model().script.requests());
            assert_eq!(bench.text("a.txt"), "two\n");
            assert!(bench.pending().is_empty());
        }
    }
}

// CONTRACT G12, Q4: the directive in flight of a failed turn is rejected, not lost in the air.
#[tokio::test]
async fn g12_a_failed_turn_rejects_the_directive_in_flight() {
    use xd_session::{OnRejected, RejectReason};
    let bench = Bench::new(&[]);
    let reasons = Arc::new(Mutex::new(Vec::<RejectReason>::new()));
    let seen = Arc::clone(&reasons);
    bench.session().with_queue(|queue| {
        let options = DirectiveOptions::new().on_rejected(Arc::new(move |reason| {
            seen.lock().unwrap().push(reason);
            OnRejected::Requeue
        }));
        queue.push_once(ToolChoice::Named("read".into()), options);
    });
    let script = ScriptedModel::new([
        Reply::text("x").stopped(StopReason::Aborted),
        read("."),
        Reply::text("Done."),
    ]);
    let model = Flaky { script, fails_at: vec![0], turn: AtomicUsize::new(0) };
    let mut agent = Agent::new(model, Arc::clone(&bench.host));
    assert!(agent.prompt("Go.").await.is_err());
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Aborted);
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Done);
    assert_eq!(*reasons.lock().unwrap(), [RejectReason::Error, RejectReason::Aborted]);
    let choices: Vec<_> =
        agent.model().script.requests().into_iter().map(|r| r.tool_choice).collect();
    let named = ToolChoice::Named("read".into());
    assert_eq!(choices, [named.clone(), named, ToolChoice::Auto]);
}

// Invariant G4: a model that never stops calling is stopped.
#[tokio::test]
async fn g7_a_run_without_end_ends_at_the_turn_limit() {
    let bench = Bench::quick(&[("a.txt", "one\n")]);
    let model =
        |_: Request| async { Ok::<_, ModelError>(Reply::call("read", json!({ "path": "a.txt" }))) };
    let mut agent = Agent::new(model, Arc::clone(&bench.host)).with_turn_limit(17);
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::TurnLimit);
    assert_paired(agent.messages());
    assert_eq!(agent.messages().len(), 1 + 2 * 17);
}
