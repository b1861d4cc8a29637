//! D1–D10: what a confirm does and what the model reads.

use std::sync::Arc;

use serde_json::{Value, json};
use xd_protocol::{MAX_REASON_CHARS, Verdict};
use xd_resolve::{
    ActionState, ActionStore, ApplyError, Batch, Decider, DispatchAction, DispatchDetails, Guard,
    PlanMode, Refusal, Resolution, StageRequest, StagedAction, ToolResult, block_on, device_result,
    dispatch_result, resolve_dispatch_details,
};

use crate::probe::{
    Run, bare, dispatch, logged, n, numbered, pending, resolve, stage, stage_with, state,
};

#[test]
fn d1_the_address_alone_decides() {
    // Words of the reason that say the opposite change nothing.
    for (verdict, reason, expect) in [
        (Verdict::Apply, "reject discard cancel no", ActionState::Applied),
        (Verdict::Discard, "apply resolve accept yes", ActionState::Discarded),
    ] {
        let (store, _) = logged();
        let counts = stage(&store, "a");
        dispatch(&store, bare(verdict), reason);
        assert_eq!((state(&store, 1), counts.runs()), (expect, 1));
    }
}

#[test]
fn d2_a_blank_or_long_reason_changes_nothing() {
    let (store, log) = logged();
    let counts = stage(&store, "a");
    let long = "x".repeat(MAX_REASON_CHARS + 1);
    for body in ["", " \n\t", "\u{200b}", long.as_str()] {
        for confirm in [bare(Verdict::Apply), bare(Verdict::Discard), numbered(Verdict::Apply, 1)] {
            let result = dispatch(&store, confirm, body);
            assert!(result.is_error);
            assert!(result.joined().contains("Write one plain-text sentence"), "{result:?}");
        }
    }
    assert_eq!((state(&store, 1), counts.runs()), (ActionState::Pending, 0));
    assert_eq!(log.lines(), ["staged @1 a"]);
}

#[test]
fn d2_the_reason_reaches_effect_and_record_trimmed() {
    let (store, log) = logged();
    let counts = stage(&store, "a");
    dispatch(&store, bare(Verdict::Apply), "  All call sites.\n");
    assert_eq!(*counts.reasons.lock().unwrap(), ["All call sites."]);
    assert_eq!(log.lines()[1], "taken @1 apply All call sites. Model");
}

#[test]
fn d2_a_refused_reason_does_not_use_up_the_bare_confirm() {
    let (store, _) = logged();
    (0..2).for_each(|_| drop(stage(&store, "a")));
    let batch = store.begin_batch();
    let confirm =
        |body| block_on(store.resolve(&batch, bare(Verdict::Apply), body, Decider::Model));
    assert!(matches!(confirm(" "), Resolution::Refused(Refusal::Reason(_))));
    assert!(matches!(confirm("Yes."), Resolution::Ran { .. }));
}

fn refused(verdict: Verdict, plan_mode: PlanMode) -> ToolResult {
    dispatch_result(Resolution::Refused(Refusal::NothingPending), verdict, " Why. ", plan_mode)
}

#[test]
fn d3_reject_with_nothing_pending_is_a_success() {
    let (store, log) = logged();
    let result = dispatch(&store, bare(Verdict::Discard), " Why. ");
    assert_eq!(result, refused(Verdict::Discard, PlanMode::Off));
    assert!(!result.is_error);
    assert_eq!(result.content, ["Nothing to reject; no pending action remains."]);
    assert_eq!(result.details, Some(json!({ "action": "discard", "reason": "Why." })));
    assert!(log.lines().is_empty());
}

#[test]
fn d4_resolve_with_nothing_pending_is_an_error() {
    let (store, _) = logged();
    let result = dispatch(&store, bare(Verdict::Apply), "Why.");
    assert!(result.is_error);
    assert_eq!(
        result.content,
        [
            "No pending action to apply — xd://resolve is only valid while a staged preview is pending."
        ]
    );
}

#[test]
fn d5_plan_mode_adds_the_way_out_to_both() {
    let hint = " To submit the plan for approval, write its title to xd://propose instead.";
    for verdict in [Verdict::Apply, Verdict::Discard] {
        let (off, on) = (refused(verdict, PlanMode::Off), refused(verdict, PlanMode::On));
        assert_eq!(on.joined(), format!("{}{hint}", off.joined()));
        assert_eq!((on.is_error, on.details), (off.is_error, off.details));
    }
}

#[test]
fn d6_case_001_nothing_remains_after_any_way_of_ending() {
    // Invariant R2
    type Way = fn(&Arc<ActionStore>);
    let ways: [Way; 5] = [
        |store| drop(dispatch(store, bare(Verdict::Apply), "Yes.")),
        |store| drop(dispatch(store, bare(Verdict::Discard), "No.")),
        |store| drop(dispatch(store, numbered(Verdict::Apply, 1), "Yes.")),
        |store| drop(store.withdraw_head()),
        |store| drop(store.void_all("over")),
    ];
    for way in ways {
        let (store, _) = logged();
        stage(&store, "a");
        way(&store);
        assert!(!store.has_pending() && store.head().is_none() && store.pending().is_empty());
        assert_eq!((store.pending_count(), store.pending_numbers(9)), (0, (vec![], 0)));
        let text = dispatch(&store, bare(Verdict::Apply), "Yes.").joined();
        assert!(text.starts_with("No pending action to apply"), "{text}");
    }
}

#[test]
fn d7_apply_passes_the_producers_content_with_details() {
    let (store, _) = logged();
    let answer = ToolResult {
        content: vec!["Applied 2 replacements in 1 file.".to_owned(), "second block".to_owned()],
        is_error: false,
        details: Some(json!({ "files": ["a.rs"] })),
    };
    let given = answer.clone();
    let request = StageRequest::new("AST Edit: 2 replacements in 1 file", move |_| {
        std::future::ready(Ok(given.clone()))
    });
    store.stage(request.source_tool("ast_edit")).unwrap();
    let result = dispatch(&store, bare(Verdict::Apply), "Clearer.");
    assert_eq!(result.content, answer.content);
    assert!(!result.is_error);
    assert_eq!(
        result.details,
        Some(json!({
            "action": "apply",
            "reason": "Clearer.",
            "source_tool_name": "ast_edit",
            "label": "AST Edit: 2 replacements in 1 file",
            "source_result_details": { "files": ["a.rs"] },
        }))
    );
}

#[test]
fn d7_case_023_discarded_says_so_and_not_success() {
    let (store, _) = logged();
    stage(&store, "AST Edit: 1 replacement in 1 file");
    let result = dispatch(&store, bare(Verdict::Discard), "Wrong place.");
    assert!(!result.is_error);
    let text = "Discarded: AST Edit: 1 replacement in 1 file. Reason: Wrong place.";
    assert_eq!(result.content, [text]);
    for wrong in ["applied", "success", "done"] {
        assert!(!result.joined().to_lowercase().contains(wrong));
    }
    let details = result.details.unwrap();
    assert_eq!(details["action"], "discard");
    assert_eq!(details.get("source_result_details"), None);
}

#[test]
fn d7_a_reject_handlers_result_replaces_the_text() {
    let (store, _) = logged();
    let request = StageRequest::with_reject(
        "a",
        |_| std::future::ready(Ok(ToolResult::text("applied"))),
        |reason| async move {
            Ok(Some(ToolResult::text(format!("kept a copy: {reason}")).with_details(json!(7))))
        },
    );
    store.stage(request).unwrap();
    let result = dispatch(&store, bare(Verdict::Discard), "No.");
    assert_eq!(result.content, ["kept a copy: No."]);
    assert_eq!(result.details.unwrap()["source_result_details"], json!(7));
}

#[test]
fn d8_details_of_the_write_call_round_trip() {
    let (store, _) = logged();
    stage(&store, "a");
    let result = dispatch(&store, bare(Verdict::Apply), "Yes.");
    let inner = result.details.clone().unwrap();
    let wrapped = device_result("resolve", json!({ "reason": "Yes." }), result.clone());
    assert_eq!(wrapped.content, result.content);
    assert_eq!(
        wrapped.details,
        Some(json!({ "xdev": {
            "tool": "resolve", "mode": "execute", "args": { "reason": "Yes." }, "inner": inner,
        } }))
    );
    assert_eq!(
        resolve_dispatch_details(&wrapped),
        Some(DispatchDetails {
            action: DispatchAction::Apply,
            reason: "Yes.".to_owned(),
            source_tool_name: Some("probe".to_owned()),
            label: Some("a".to_owned()),
            source_result_details: None,
        })
    );
}

#[test]
fn d8_any_other_shape_reads_back_as_nothing() {
    let inner = json!({ "action": "apply", "reason": "r" });
    let xdev = |tool: &str, mode: &str, args: Value, inner: &Value| json!({ "xdev": { "tool": tool, "mode": mode, "args": args, "inner": inner } });
    let args = json!({ "reason": "r" });
    let right = xdev("resolve", "execute", args.clone(), &inner);
    let read = |details: Option<Value>| {
        let result = ToolResult { details, ..ToolResult::text("x") };
        resolve_dispatch_details(&result)
    };
    assert!(read(Some(right)).is_some());
    for other in [
        json!(null),
        json!([]),
        json!("xdev"),
        json!({}),
        json!({ "xdev": null }),
        json!({ "xdev": [] }),
        inner.clone(),
        xdev("reject", "execute", args.clone(), &inner),
        xdev("grep", "execute", args.clone(), &inner),
        xdev("Resolve", "execute", args.clone(), &inner),
        xdev("resolve", "docs", args.clone(), &inner),
        xdev("resolve", "execute", json!({}), &inner),
        xdev("resolve", "execute", json!({ "reason": 1 }), &inner),
        xdev("resolve", "execute", json!("r"), &inner),
        xdev("resolve", "execute", args.clone(), &json!(null)),
        xdev("resolve", "execute", args.clone(), &json!({ "action": "apply" })),
        xdev("resolve", "execute", args.clone(), &json!({ "action": "Apply", "reason": "r" })),
        xdev("resolve", "execute", args.clone(), &json!({ "action": "discard", "reason": "r" })),
        xdev("resolve", "execute", args, &json!({ "action": "apply", "reason": 1 })),
    ] {
        assert_eq!(read(Some(other.clone())), None, "{other}");
    }
    assert_eq!(read(None), None);
}

/// A failing run of the head answers `first`, keeps it pending in its place, and says how to go on.
#[track_caller]
fn check_kept(verdict: Verdict, run: Run, first: &str) {
    // Invariant R5: below and above stay where they are, too.
    let (store, log) = logged();
    let below = stage(&store, "below");
    let counts = stage_with(&store, "failing", 0, &[run, Run::Succeeds]);
    let above = stage(&store, "above");
    let result = dispatch(&store, numbered(verdict, 2), "Why.");
    assert!(result.is_error);
    assert_eq!(result.content[0], first);
    let retry = format!("To retry, write a reason to xd://{}@2.", verdict.device());
    assert!(result.content[1].starts_with("Staged action @2 is still pending."), "{result:?}");
    assert!(result.content[1].contains(&retry), "{result:?}");
    assert_eq!(pending(&store), [3, 2, 1]);
    assert_eq!(log.lines().last().unwrap(), &format!("failed @2 {first}"));
    let details = result.details.unwrap();
    assert_eq!((&details["label"], &details["reason"]), (&json!("failing"), &json!("Why.")));

    // It can be retried under the same number.
    let again = dispatch(&store, numbered(verdict, 2), "Again.");
    assert!(!again.is_error, "{again:?}");
    assert_eq!((pending(&store), counts.runs()), (vec![3, 1], 2));
    assert_eq!((below.runs(), above.runs()), (0, 0));
}

#[test]
fn d9_a_failed_apply_stays_pending() {
    check_kept(Verdict::Apply, Run::ToolError, "tool error");
    check_kept(Verdict::Apply, Run::OtherError, "Apply failed: disk full");
}

#[test]
fn d9_a_failed_reject_passes_its_error_through_and_stays_pending() {
    check_kept(Verdict::Discard, Run::ToolError, "tool error");
    check_kept(Verdict::Discard, Run::OtherError, "disk full");
}

#[test]
fn d10_a_returned_error_is_a_failed_apply() {
    check_kept(Verdict::Apply, Run::ReturnsError, "returned error");
    check_kept(Verdict::Discard, Run::ReturnsError, "returned error");
}

#[test]
fn d9_a_tool_error_is_an_error_even_if_its_flag_was_not_set() {
    let (store, _) = logged();
    let request = StageRequest::new("a", |_| {
        std::future::ready(Err(ApplyError::Tool(ToolResult::text("not flagged"))))
    });
    store.stage(request).unwrap();
    let result = dispatch(&store, bare(Verdict::Apply), "Yes.");
    assert!(result.is_error);
    assert_eq!((result.content[0].as_str(), pending(&store)), ("not flagged", vec![1]));
}

#[test]
fn d11_afterwards_the_number_says_what_became_of_it() {
    let (store, _) = logged();
    let counts: Vec<_> = (0..4).map(|_| stage(&store, "a")).collect();
    drop(store.withdraw_head());
    dispatch(&store, numbered(Verdict::Apply, 1), "Yes.");
    dispatch(&store, numbered(Verdict::Discard, 2), "No.");
    store.void_all("over");
    for (number, became) in [
        (1, "already applied"),
        (2, "already discarded"),
        (3, "void: its session has ended"),
        (4, "withdrawn: the host took it over"),
    ] {
        for verdict in [Verdict::Apply, Verdict::Discard] {
            let result = dispatch(&store, numbered(verdict, number), "Again.");
            assert!(result.is_error);
            let text = format!("Staged action @{number} is {became}. Nothing was done.");
            assert_eq!(result.content, [text]);
        }
    }
    assert_eq!(counts.iter().map(|c| c.runs()).collect::<Vec<_>>(), [1, 1, 0, 0]);
    let text = dispatch(&store, numbered(Verdict::Apply, 99), "Yes.").joined();
    assert!(text.starts_with("No staged action has number 99."), "{text}");
}

#[test]
fn d11_case_019_confirming_twice_runs_once() {
    // Invariant R3
    let (store, _) = logged();
    let counts = stage(&store, "create x");
    for _ in 0..3 {
        dispatch(&store, numbered(Verdict::Apply, 1), "Yes.");
        dispatch(&store, bare(Verdict::Apply), "Yes.");
    }
    assert_eq!(counts.runs(), 1);
}

#[test]
fn case_021_what_is_carried_out_is_the_fold_of_the_accepts() {
    // Every sequence of four decisions on four actions over one shared text.
    for decisions in 0..16_u32 {
        let text = Arc::new(std::sync::Mutex::new(String::new()));
        let (store, _) = logged();
        let mut expect = String::new();
        for at in 0..4 {
            let target = Arc::clone(&text);
            let request = StageRequest::new("append", move |_| {
                target.lock().unwrap().push_str(&at.to_string());
                std::future::ready(Ok(ToolResult::text("ok")))
            });
            store.stage(request).unwrap();
            let accept = decisions & (1 << at) != 0;
            let verdict = if accept { Verdict::Apply } else { Verdict::Discard };
            dispatch(&store, bare(verdict), "Why.");
            expect.push_str(&if accept { at.to_string() } else { String::new() });
        }
        assert_eq!(*text.lock().unwrap(), expect);
    }
}

struct NoApplies;

impl Guard for NoApplies {
    fn check(&self, action: &StagedAction, verdict: Verdict, _: Decider) -> Result<(), ToolResult> {
        match verdict {
            // Not flagged as an error: a refusal is one all the same.
            Verdict::Apply => Err(ToolResult::text(format!("not allowed: {}", action.label()))),
            Verdict::Discard => Ok(()),
        }
    }
}

#[test]
fn w7_a_guard_refuses_on_every_route_and_nothing_happens() {
    let (_, log) = logged();
    let store = ActionStore::new().with_recorder(log.clone()).with_guard(Arc::new(NoApplies));
    let store = Arc::new(store);
    let counts = stage(&store, "a");
    let result = dispatch(&store, bare(Verdict::Apply), "Yes.");
    assert!(result.is_error);
    assert_eq!(result.content, ["not allowed: a"]);
    let direct = block_on(store.confirm(n(1), Verdict::Apply, "Yes.", Decider::Person));
    assert!(matches!(direct, Resolution::Refused(Refusal::Forbidden(_))));
    assert_eq!((state(&store, 1), counts.runs()), (ActionState::Pending, 0));
    assert_eq!(log.lines(), ["staged @1 a"]);
    // What is closed says what it became, not that it is forbidden.
    dispatch(&store, bare(Verdict::Discard), "No.");
    let text = dispatch(&store, numbered(Verdict::Apply, 1), "Yes.").joined();
    assert!(text.contains("already discarded"), "{text}");
}

#[test]
fn d11_case_121_an_answer_is_bound_to_the_action_that_was_shown() {
    // Invariant R6: A is shown, B is staged, the answer for A comes.
    let (store, _) = logged();
    let shown = stage(&store, "A");
    let batch: Batch = store.begin_batch();
    let slid_in = stage(&store, "B");
    let answer = block_on(store.resolve(&batch, bare(Verdict::Apply), "Yes.", Decider::Person));
    assert!(matches!(answer, Resolution::Ran { ref action, .. } if action.label() == "A"));
    assert_eq!((shown.runs(), slid_in.runs()), (1, 0));
    // And where A is gone meanwhile, B is not taken in its place.
    let answer = block_on(store.resolve(&batch, bare(Verdict::Apply), "Yes.", Decider::Person));
    assert!(
        matches!(answer, Resolution::Refused(Refusal::AlreadyDecided(number, _)) if number == n(1))
    );
    assert_eq!((slid_in.runs(), pending(&store)), (0, vec![2]));
}

#[test]
fn d1_resolution_of_a_bare_confirm_is_the_head() {
    let (store, _) = logged();
    (0..3).for_each(|_| drop(stage(&store, "a")));
    let Resolution::Ran { action, reason, late, .. } = resolve(&store, bare(Verdict::Apply)) else {
        panic!()
    };
    assert_eq!((action.number(), &*reason, late), (n(3), "Because.", false));
}
