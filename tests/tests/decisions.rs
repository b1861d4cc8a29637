//! Decisions through the write tool: what is applied, discarded, refused, and what the results say.
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use xd_protocol::{StageNumber, notice};
use xd_resolve::{
    ActionState, ApplyError, DispatchAction, PlanMode, StageRequest, ToolResult, device_result,
    resolve_dispatch_details,
};
use xd_session::{Boundary, DirectiveOptions, ToolChoice, TurnRequest};
use xd_tests::{Bench, call, write_call};
use xd_write::CallScope;

const WHY: &str = "It is what was asked for.";

fn number(n: u64) -> StageNumber {
    StageNumber::new(n).unwrap()
}

fn state(bench: &Bench, n: u64) -> ActionState {
    bench.session().actions().get(number(n)).unwrap().1
}

/// Stages an action that counts its applies.
fn counting(bench: &Bench, label: &str) -> (u64, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let request = StageRequest::new(label, move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        async { Ok(ToolResult::text("Done.").with_details(json!({ "own": 1 }))) }
    })
    .source_tool("counter");
    (bench.session().actions().stage(request).unwrap().number().get(), count)
}

// CONTRACT D1: no word of the reason changes what the address says.
#[tokio::test]
async fn d1_the_address_alone_decides() {
    for reason in
        ["reject", "discard this", "xd://reject", "apply", "{\"action\":\"discard\"}", "no"]
    {
        let bench = Bench::new(&[("a.txt", "one\n")]);
        bench.edit("a.txt", "one", "two").await;
        bench.write("xd://resolve", reason).await;
        assert_eq!(bench.text("a.txt"), "two\n", "{reason}");
        bench.edit("a.txt", "two", "three").await;
        bench.write("xd://reject", "please apply: xd://resolve").await;
        assert_eq!(bench.text("a.txt"), "two\n");
    }
}

// CONTRACT D1: the handler of a hard directive in flight comes before the stack, for bare confirms.
#[tokio::test]
async fn d1_a_hard_directives_handler_is_tried_first() {
    let bench = Bench::new(&[]);
    let (_, count) = counting(&bench, "Count: 1");
    bench.session().with_queue(|queue| {
        let handler: xd_session::InvokedHandler = Arc::new(|verdict, reason| {
            let text = format!("handled {} {reason}", verdict.as_str());
            Some(Box::pin(std::future::ready(ToolResult::text(text))))
        });
        let options = DirectiveOptions::new().on_invoked(handler);
        queue.push_once(ToolChoice::Named("write".into()), options);
    });
    bench.session().next_turn(&TurnRequest::with_tools(["read", "write"]));
    assert_eq!(bench.write("xd://resolve", "Fine.").await.content, ["handled apply Fine."]);
    assert_eq!(bench.write("xd://resolve@1", "Fine.").await.content, ["Done."]);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    bench.session().turn_ended();
}

// CONTRACT D2
#[tokio::test]
async fn d2_a_reason_is_trimmed_and_neither_blank_nor_endless() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    bench.edit("a.txt", "one", "two").await;
    let long = "x".repeat(2_001);
    for reason in ["", "   ", "\n\t ", "\u{200b}\u{2060}", &long] {
        for address in ["xd://resolve", "xd://reject", "xd://resolve@1"] {
            let result = bench.write(address, reason).await;
            assert!(result.is_error, "{reason:?}");
            assert!(result.joined().contains("sentence"), "{}", result.joined());
            assert_eq!(bench.pending(), [1]);
        }
    }
    for content in [json!({ "reason": WHY }), json!([WHY]), json!(7), json!(true)] {
        let result = bench
            .one(call("1", "write", json!({ "path": "xd://resolve", "content": content })))
            .await;
        assert!(result.is_error && result.joined().contains("plain text"), "{}", result.joined());
    }
    let missing = bench.one(call("1", "write", json!({ "path": "xd://resolve" }))).await;
    assert!(missing.is_error);
    assert_eq!(bench.text("a.txt"), "one\n");
    let most = format!("  {}\n", "é".repeat(2_000));
    let result = bench.write("xd://resolve", &most).await;
    assert_eq!(resolve_dispatch_details(&result).unwrap().reason, most.trim());
}

// CONTRACT D3, D4, D6
#[tokio::test]
async fn d3_d4_nothing_pending() {
    let bench = Bench::new(&[]);
    let result = bench.write("xd://reject", " Why not. ").await;
    assert!(!result.is_error);
    assert_eq!(result.content, [notice::NOTHING_TO_REJECT]);
    let xdev = &result.details.unwrap()["xdev"];
    assert_eq!(xdev["inner"], json!({ "action": "discard", "reason": "Why not." }));
    assert_eq!(xdev["args"], json!({ "reason": "Why not." }));
    let result = bench.write("xd://resolve", WHY).await;
    assert!(result.is_error);
    assert_eq!(result.content, [notice::NOTHING_TO_APPLY]);
    assert!(resolve_dispatch_details(&result).is_none());
}

/// Reviews plans and never decides.
struct Nobody;

impl xd_session::PlanReviewer for Nobody {
    fn review(
        &self,
        _: xd_session::PlanReview,
    ) -> xd_resolve::BoxFuture<'_, xd_session::PlanAnswer> {
        Box::pin(std::future::ready(xd_session::PlanAnswer::Dismissed))
    }
}

// CONTRACT D5, P1, W7
#[tokio::test]
async fn d5_w7_in_plan_mode_nothing_of_the_tree_changes() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    assert_eq!(bench.write("xd://propose", "a-plan").await.content, [notice::NO_PLAN]);
    bench.edit("a.txt", "one", "two").await;
    bench.session().plan().set_reviewer(Arc::new(Nobody));
    bench.session().plan().enter().unwrap();
    bench.session().plan().enter().unwrap();
    assert_eq!(bench.session().plan_mode(), PlanMode::On);
    let before = bench.picture();
    for (path, content) in [
        ("xd://resolve", WHY),
        ("xd://resolve@1", WHY),
        ("b.txt", "b\n"),
        ("a.txt", "b\n"),
        ("./xd/propose", "b\n"),
        ("XD://resolve", WHY),
    ] {
        let result = bench.write(path, content).await;
        assert!(result.is_error, "{path}");
        assert!(result.joined().contains("plan mode is on"), "{path}: {}", result.joined());
        assert!(result.joined().contains("xd://propose"), "{path}");
    }
    assert_eq!(bench.picture(), before);
    assert_eq!(bench.pending(), [1]);
    // Looking and discarding are allowed.
    assert!(!bench.read("a.txt").await.is_error);
    assert!(!bench.write("xd://reject", WHY).await.is_error);
    let hint = notice::PLAN_MODE_HINT;
    let nothing = bench.write("xd://reject", WHY).await;
    assert_eq!(nothing.content, [format!("{}{hint}", notice::NOTHING_TO_REJECT)]);
    let nothing = bench.write("xd://resolve", WHY).await;
    assert_eq!(nothing.content, [format!("{}{hint}", notice::NOTHING_TO_APPLY)]);
    bench.session().plan().leave();
    assert!(!bench.write("b.txt", "b\n").await.is_error);
}

// CONTRACT D7, D8
#[tokio::test]
async fn d7_d8_the_result_is_the_producers_and_the_details_wrap_it() {
    let bench = Bench::new(&[]);
    counting(&bench, "Count: 1 thing");
    let result = bench.write("xd://resolve", &format!(" {WHY} ")).await;
    assert_eq!(result.content, ["Done."]);
    let inner = json!({ "action": "apply", "reason": WHY, "source_tool_name": "counter",
        "label": "Count: 1 thing", "source_result_details": { "own": 1 } });
    let xdev = json!({ "tool": "resolve", "mode": "execute", "args": { "reason": WHY },
        "inner": inner });
    assert_eq!(result.details, Some(json!({ "xdev": xdev })));
    let details = resolve_dispatch_details(&result).unwrap();
    assert_eq!(details.action, DispatchAction::Apply);
    assert_eq!(details.label.as_deref(), Some("Count: 1 thing"));

    counting(&bench, "Count: 2 things");
    let result = bench.write("xd://reject@2", "Too many.").await;
    assert_eq!(result.content, ["Discarded: Count: 2 things. Reason: Too many."]);
    let details = resolve_dispatch_details(&result).unwrap();
    assert_eq!((details.action, &*details.reason), (DispatchAction::Discard, "Too many."));
    assert_eq!(details.source_result_details, None);
}

// CONTRACT D7: a reject handler's own result replaces the sentence.
#[tokio::test]
async fn d7_a_reject_handlers_own_result_replaces_the_sentence() {
    let bench = Bench::new(&[]);
    let request = StageRequest::with_reject(
        "It",
        |_| async { Ok(ToolResult::text("applied")) },
        |reason| async move { Ok(Some(ToolResult::text(format!("Put back, since {reason}")))) },
    );
    bench.session().actions().stage(request).unwrap();
    assert_eq!(bench.write("xd://reject", "so").await.content, ["Put back, since so"]);
    assert_eq!(state(&bench, 1), ActionState::Discarded);
}

// CONTRACT D8: any other shape reads back as nothing.
#[tokio::test]
async fn d8_other_shapes_read_back_as_nothing() {
    let bench = Bench::new(&[("a.txt", "x")]);
    counting(&bench, "Count");
    let good = bench.write("xd://resolve", WHY).await.details.unwrap();
    let read_back = |details: Option<Value>| {
        let result = ToolResult { content: Vec::new(), is_error: false, details };
        resolve_dispatch_details(&result)
    };
    assert!(read_back(Some(good.clone())).is_some());
    assert!(read_back(None).is_none());
    for (pointer, value) in [
        ("/xdev", json!(null)),
        ("/xdev/tool", json!("reject")),
        ("/xdev/tool", json!("grep")),
        ("/xdev/mode", json!("docs")),
        ("/xdev/args", json!({})),
        ("/xdev/args/reason", json!(7)),
        ("/xdev/inner", json!(null)),
        ("/xdev/inner/action", json!("apply!")),
        ("/xdev/inner/reason", json!(null)),
        ("/xdev/inner/label", json!(3)),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value.clone();
        assert!(read_back(Some(bad)).is_none(), "{pointer} = {value}");
    }
    assert!(resolve_dispatch_details(&bench.write("a.txt", "y").await).is_none());
    let foreign = device_result("grep", json!({ "reason": "x" }), ToolResult::text("x"));
    assert!(resolve_dispatch_details(&foreign).is_none());
}

// CONTRACT D9, D10
#[tokio::test]
async fn d9_d10_a_failed_apply_keeps_number_and_place() {
    type Fails = fn() -> Result<ToolResult, ApplyError>;
    let cases: [(Fails, &str); 3] = [
        (|| Err(ApplyError::tool("The disk is full.")), "The disk is full."),
        (|| Err("no luck".into()), "Apply failed: no luck"),
        (|| Ok(ToolResult::error("It says no.")), "It says no."),
    ];
    for (fails, text) in cases {
        let bench = Bench::new(&[]);
        let (_, lower) = counting(&bench, "Lower");
        let apply = move |_| std::future::ready(fails());
        bench.session().actions().stage(StageRequest::new("Fails", apply)).unwrap();
        for address in ["xd://resolve", "xd://resolve@2"] {
            let result = bench.write(address, WHY).await;
            assert!(result.is_error);
            assert_eq!(result.content[0], text);
            let still = "Staged action @2 is still pending. To retry, write a reason to \
                         xd://resolve@2. To discard it instead, write to xd://reject@2.";
            assert_eq!(result.content[1], still);
            assert_eq!(bench.pending(), [2, 1]);
        }
        assert_eq!(lower.load(Ordering::SeqCst), 0);
        assert!(!bench.write("xd://reject", WHY).await.is_error);
        assert_eq!(bench.pending(), [1]);
    }
}

// CONTRACT D9: a panic of the producer is a failed apply.
#[tokio::test]
async fn d9_a_panicking_producer_leaves_the_action_pending() {
    let bench = Bench::new(&[]);
    let request = StageRequest::new("Panics", |_| async { panic!("oh no") });
    bench.session().actions().stage(request).unwrap();
    let result = bench.write("xd://resolve", WHY).await;
    assert!(result.is_error && result.joined().contains("oh no"), "{}", result.joined());
    assert_eq!(bench.pending(), [1]);
}

// CONTRACT D11, case 121: of concurrent confirms of one action one runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d11_case_121_of_many_confirms_at_once_one_runs() {
    for round in 0..100 {
        let bench = Arc::new(Bench::new(&[]));
        let (_, count) = counting(&bench, "Count");
        let tasks: Vec<_> = (0..8)
            .map(|i| {
                let bench = Arc::clone(&bench);
                let address = if (i + round) % 2 == 0 { "xd://resolve@1" } else { "xd://reject@1" };
                tokio::spawn(async move { bench.write(address, WHY).await })
            })
            .collect();
        let mut successes = 0;
        for task in tasks {
            let result = task.await.unwrap();
            if result.is_error {
                let text = result.joined();
                assert!(text.starts_with("Staged action @1 is already "), "{text}");
            } else {
                successes += 1;
            }
        }
        assert_eq!(successes, 1);
        let applied = state(&bench, 1) == ActionState::Applied;
        assert_eq!(count.load(Ordering::SeqCst), usize::from(applied));
    }
}

// CONTRACT D11, case 121: an answer by number never reaches another action.
#[tokio::test]
async fn case_121_an_answer_by_number_is_bound_to_that_action() {
    let bench = Bench::new(&[]);
    let (_, a) = counting(&bench, "A");
    let (_, b) = counting(&bench, "B");
    bench.write("xd://resolve@1", WHY).await;
    assert_eq!((a.load(Ordering::SeqCst), b.load(Ordering::SeqCst)), (1, 0));
    assert!(bench.write("xd://resolve@1", WHY).await.is_error);
    assert!(bench.write("xd://resolve@7", WHY).await.is_error);
    assert_eq!(bench.pending(), [2]);
    assert_eq!(b.load(Ordering::SeqCst), 0);
}

/// Stages an action whose apply waits for a word. Answers when it begins, the word, and how often
/// it ended.
fn slow(bench: &Bench) -> (Arc<Notify>, Arc<Notify>, Arc<AtomicUsize>) {
    let (begun, go, ended) =
        (Arc::new(Notify::new()), Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let shared = (Arc::clone(&begun), Arc::clone(&go), Arc::clone(&ended));
    let request = StageRequest::new("Slow", move |_| {
        let (begun, go, ended) = shared.clone();
        async move {
            begun.notify_one();
            go.notified().await;
            ended.fetch_add(1, Ordering::SeqCst);
            Ok(ToolResult::text("Done."))
        }
    });
    bench.session().actions().stage(request).unwrap();
    (begun, go, ended)
}

async fn until(condition: impl Fn() -> bool) {
    for _ in 0..500 {
        if condition() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("it did not come to pass");
}

// CONTRACT D12: cancelled by the token or dropped, an apply that has begun ends, and the result
// does not deny it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d12_an_apply_that_has_begun_ends_and_is_reported() {
    for drop_it in [false, true] {
        let bench = Arc::new(Bench::new(&[]));
        let (begun, go, ended) = slow(&bench);
        let cancel = CancellationToken::new();
        let scope = CallScope { cancel: cancel.clone(), ..CallScope::model() };
        let running = Arc::clone(&bench);
        let task = tokio::spawn(async move {
            let calls = [write_call("1", "xd://resolve", WHY), write_call("2", "b.txt", "b\n")];
            running.host.run_batch(&calls, &scope).await
        });
        begun.notified().await;
        if drop_it {
            task.abort();
            assert!(task.await.is_err());
        } else {
            cancel.cancel();
            let results = task.await.unwrap();
            assert_eq!(results.len(), 2);
            let text = results[0].joined();
            assert!(text.contains("what had begun ends all the same"), "{text}");
            assert!(text.contains("xd://resolve@1"), "{text}");
            assert!(results[1].joined().starts_with("Aborted"));
        }
        assert!(!bench.exists("b.txt"), "a call that had not started does not start");
        assert!(matches!(state(&bench, 1), ActionState::Taken(_)));
        go.notify_one();
        until(|| state(&bench, 1) == ActionState::Applied).await;
        assert_eq!(ended.load(Ordering::SeqCst), 1);
    }
}

// CONTRACT D12: what has not started is pending still.
#[tokio::test]
async fn d12_a_confirm_that_was_cancelled_before_its_start_changes_nothing() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    bench.edit("a.txt", "one", "two").await;
    let scope = CallScope::model();
    scope.cancel.cancel();
    let calls =
        [write_call("1", "xd://resolve", WHY), call("2", "read", json!({ "path": "a.txt" }))];
    let results = bench.host.run_batch(&calls, &scope).await;
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|r| r.content == ["Aborted: the call did not finish."]));
    assert_eq!(bench.pending(), [1]);
    assert_eq!(bench.text("a.txt"), "one\n");
}

// CONTRACT D13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d13_a_late_answer_changes_nothing_in_the_new_session() {
    let bench = Arc::new(Bench::new(&[]));
    let (begun, go, _) = slow(&bench);
    let running = Arc::clone(&bench);
    let task = tokio::spawn(async move { running.write("xd://resolve", WHY).await });
    begun.notified().await;
    assert_eq!(bench.session().boundary(Boundary::New), [number(1)]);
    let (_, count) = counting(&bench, "Of the new session");
    go.notify_one();
    let result = task.await.unwrap();
    assert!(result.joined().contains("Staged action @1 is void"), "{}", result.joined());
    assert_eq!(state(&bench, 1), ActionState::Void);
    assert_eq!(bench.pending(), [2]);
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

// CONTRACT D14
#[tokio::test]
async fn d14_a_second_bare_confirm_in_one_batch_is_refused() {
    let verdicts = ["xd://resolve", "xd://reject"];
    for (first, second) in verdicts.iter().flat_map(|a| verdicts.map(|b| (*a, b))) {
        let bench = Bench::new(&[]);
        let (_, lower) = counting(&bench, "Lower");
        counting(&bench, "Upper");
        let calls = [write_call("1", first, WHY), write_call("2", second, WHY)];
        let results = bench.run(&calls).await;
        assert!(!results[0].is_error);
        assert!(results[1].is_error);
        let text = results[1].joined();
        assert!(text.contains("xd://resolve@1 or xd://reject@1"), "{text}");
        assert_eq!(bench.pending(), [1]);
        assert_eq!(lower.load(Ordering::SeqCst), 0);
        // Across batches bare confirms walk down the stack.
        bench.write("xd://resolve", WHY).await;
        assert_eq!(lower.load(Ordering::SeqCst), 1);
    }
    // Numbered confirms all run.
    let bench = Bench::new(&[]);
    let counts = [counting(&bench, "1").1, counting(&bench, "2").1, counting(&bench, "3").1];
    let calls: Vec<_> =
        (1..=3).map(|n| write_call("c", &format!("xd://resolve@{n}"), WHY)).collect();
    assert!(bench.run(&calls).await.iter().all(|result| !result.is_error));
    assert!(counts.iter().all(|count| count.load(Ordering::SeqCst) == 1));
}

// CONTRACT D14: what a batch stages it cannot confirm, and a bare confirm never slides.
#[tokio::test]
async fn d14_a_bare_confirm_means_the_head_at_the_batchs_begin() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    let edit = json!({ "edits": [{ "path": "a.txt", "old": "one", "new": "two" }] });
    for confirm in ["xd://resolve", "xd://resolve@1", "xd://reject"] {
        let bench = Bench::new(&[("a.txt", "one\n")]);
        let calls = [call("1", "edit", edit.clone()), write_call("2", confirm, WHY)];
        let results = bench.run(&calls).await;
        assert!(results[1].is_error, "{confirm}: {}", results[1].joined());
        assert!(results[1].joined().contains("was staged in this same batch"));
        assert_eq!(bench.pending(), [1]);
    }
    let (_, lower) = counting(&bench, "Lower");
    let calls = [call("1", "edit", edit), write_call("2", "xd://resolve", WHY)];
    let results = bench.run(&calls).await;
    assert_eq!(results[1].content, ["Done."]);
    assert_eq!(lower.load(Ordering::SeqCst), 1);
    assert_eq!(bench.pending(), [2]);
    assert_eq!(bench.text("a.txt"), "one\n");
}

// CONTRACT S3: numbers follow call order, not order of completion — Invariant W1
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s3_numbers_follow_call_order() {
    use xd_write::{FnTool, ToolDefinition};
    let slow_first = FnTool::new(
        ToolDefinition::new("late", "Stages after a while.", json!({ "type": "object" })),
        xd_resolve::Tier::Read,
        |context, arguments| async move {
            let wait = arguments["wait"].as_u64().unwrap();
            tokio::time::sleep(std::time::Duration::from_millis(wait)).await;
            let request = StageRequest::new(format!("after {wait}"), |_| async {
                Ok(ToolResult::text("Done."))
            });
            let staged = context.stage(request).await?;
            Ok(ToolResult::text(staged.number().to_string()))
        },
    )
    .shared();
    let bench = Bench::with(&[], |b| b.tool(slow_first));
    let calls: Vec<_> =
        [40, 0, 20, 5].iter().map(|wait| call("s", "late", json!({ "wait": wait }))).collect();
    let begin = std::time::Instant::now();
    let results = bench.run(&calls).await;
    assert!(begin.elapsed() < std::time::Duration::from_millis(2_000));
    let numbers: Vec<String> = results.iter().map(ToolResult::joined).collect();
    assert_eq!(numbers, ["1", "2", "3", "4"]);
}

// CONTRACT S4
#[tokio::test]
async fn s4_a_staged_previews_result_begins_with_the_notice() {
    let bench = Bench::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let first = bench.edit("a.txt", "one", "two").await.joined();
    assert!(first.starts_with(&format!("{}\n\n", notice::STAGED)), "{first}");
    assert!(first.contains("\n-one\n+two\n"));
    let second = bench.edit("b.txt", "one", "two").await.joined();
    let (head, preview) = second.split_once("\n\n").unwrap();
    assert_eq!(
        head,
        format!(
            "{} 2 actions are pending, newest first: xd://resolve@2 or xd://reject@2, \
             xd://resolve@1 or xd://reject@1.",
            notice::STAGED
        )
    );
    assert!(preview.contains("b.txt"));
}

// CONTRACT G10, S5, S7: where `write` is no active tool staging fails aloud.
#[tokio::test]
async fn s5_g10_staging_without_write_is_refused() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    bench.session().next_turn(&TurnRequest::with_tools(["read", "edit"]));
    let result = bench.edit("a.txt", "one", "two").await;
    assert!(result.is_error && result.joined().contains("not active"));
    assert!(bench.pending().is_empty());
    bench.session().next_turn(&TurnRequest::with_tools(["read", "write", "edit"]));
    assert!(!bench.edit("a.txt", "one", "two").await.is_error);
}

// CONTRACT D6, case 1: however an action ends, the requirement ends with it.
#[tokio::test]
async fn d6_case_001_no_requirement_without_a_pending_action() {
    type End = fn(&Bench);
    let ends: [(&str, End); 4] = [
        ("withdrawn", |b| drop(b.session().actions().withdraw_head())),
        ("cleared", |b| drop(b.session().clear_pending())),
        ("a new session", |b| drop(b.session().boundary(Boundary::New))),
        ("rewound", |b| drop(b.session().boundary(Boundary::Rewind))),
    ];
    for (what, end) in ends {
        let bench = Bench::new(&[("a.txt", "one\n")]);
        bench.edit("a.txt", "one", "two").await;
        let request = TurnRequest::with_tools(["read", "write", "edit"]);
        assert!(bench.session().next_turn(&request).requirement.is_some());
        end(&bench);
        assert!(bench.session().next_turn(&request).requirement.is_none(), "{what}");
        assert!(!bench.read("a.txt").await.is_error);
        assert_eq!(bench.write("xd://resolve", WHY).await.content, [notice::NOTHING_TO_APPLY]);
        assert!(bench.write("xd://resolve@1", WHY).await.is_error);
        assert_eq!(bench.text("a.txt"), "one\n");
    }
}

// Case 1: over random sequences, "armed" and "something is pending" are one fact.
#[tokio::test]
async fn case_001_armed_is_pending_over_random_sequences() {
    let mut state = 11_u64;
    let mut random = move |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for _ in 0..60 {
        let bench = Bench::new(&[]);
        let mut staged = 0;
        for _ in 0..30 {
            match random(7) {
                0 | 1 => {
                    counting(&bench, "Count");
                    staged += 1;
                }
                2 => drop(bench.write("xd://resolve", WHY).await),
                3 => drop(bench.write("xd://reject", WHY).await),
                4 => {
                    let address = format!("xd://resolve@{}", random(staged + 2) + 1);
                    bench.write(&address, WHY).await;
                }
                5 => drop(bench.session().boundary(Boundary::Compaction)),
                _ if random(4) == 0 => drop(bench.session().boundary(Boundary::Switch)),
                _ => drop(bench.write("xd://resolve", "").await),
            }
            bench.session().begin_prompt();
            let plan = bench.session().next_turn(&TurnRequest::with_tools(["write"]));
            assert_eq!(plan.requirement.is_some(), !bench.pending().is_empty());
        }
    }
}

// CONTRACT E2, case 117
#[tokio::test]
async fn e2_case_117_sessions_do_not_see_each_others_actions() {
    let one = Bench::new(&[("a.txt", "one\n")]);
    let two = Bench::over(one.folder(), xd_session::Session::new(), |b| b);
    one.edit("a.txt", "one", "two").await;
    assert!(two.pending().is_empty());
    assert_eq!(two.write("xd://resolve", WHY).await.content, [notice::NOTHING_TO_APPLY]);
    assert!(two.write("xd://resolve@1", WHY).await.is_error);
    assert!(two.read("xd://resolve@1").await.is_error);
    two.session().boundary(Boundary::Clear);
    drop(two);
    assert_eq!(one.pending(), [1]);
    assert!(!one.write("xd://resolve", WHY).await.is_error);
    assert_eq!(one.text("a.txt"), "two\n");
}

// CONTRACT E1
#[tokio::test]
async fn e1_boundaries_void_or_keep() {
    use Boundary::*;
    for boundary in [New, Switch, Branch, Fork, Navigate, Rewind, Clear] {
        let bench = Bench::new(&[]);
        counting(&bench, "Count");
        assert_eq!(bench.session().boundary(boundary), [number(1)], "{boundary:?}");
        let text = bench.write("xd://resolve@1", WHY).await.joined();
        assert!(text.starts_with("Staged action @1 is void"), "{text}");
        assert_eq!(counting(&bench, "Next").0, 2, "numbers are not used again");
    }
    for boundary in [Move, Compaction, ModelChange, Cancelled] {
        let bench = Bench::new(&[]);
        counting(&bench, "Count");
        assert!(bench.session().boundary(boundary).is_empty());
        assert_eq!(bench.pending(), [1], "{boundary:?}");
    }
}
