//! V2, V5: which results become a block, and what is read from them.
#![allow(clippy::unwrap_used, reason = "a helper of a test fails as the test does")]

mod fixture;

use std::sync::Arc;

use serde_json::{Value, json};
use xd_protocol::{Confirm, Selection, Verdict, notice};
use xd_render::{Decision, Line, Options, Outcome, Preview, Renderers, Role, own_call, to_plain};
use xd_resolve::{
    ActionStore, Decider, StageRequest, ToolCall, ToolResult, block_on, device_result,
    resolve_dispatch_details,
};

fn write(path: &str, content: &str) -> ToolCall {
    ToolCall::new("1", "write", json!({ "path": path, "content": content }))
}

/// A staged action, confirmed for real: the result of the device write and of the hidden tool.
fn confirmed(verdict: Verdict, applies: bool) -> [(ToolCall, ToolResult); 2] {
    let store = Arc::new(ActionStore::new());
    let request =
        StageRequest::new("AST Edit: 2 replacements in 1 file", move |_reason| async move {
            if applies {
                Ok(ToolResult::text("Applied 2 replacements in 1 file."))
            } else {
                Ok(ToolResult::error("The preview is stale."))
            }
        });
    store.stage(request).unwrap();
    let batch = store.begin_batch();
    let confirm = Confirm { verdict, selection: Selection::Head };
    let inner = block_on(store.dispatch(&batch, confirm, "It is right.", Decider::Model));
    let args = json!({ "reason": "It is right." });
    let device = write(&format!("xd://{}", verdict.device()), "It is right.");
    let hidden = ToolCall::new(
        "2",
        "resolve",
        json!({ "action": verdict.as_str(), "reason": "It is right." }),
    );
    [(device, device_result(verdict.device(), args, inner.clone())), (hidden, inner)]
}

#[test]
fn v5_device_writes_and_the_hidden_tool_draw_the_same_block() {
    for (verdict, applies, outcome, verb, badge) in [
        (Verdict::Apply, true, Outcome::Applied, "Accept", "proposed -> resolved"),
        (Verdict::Discard, true, Outcome::Discarded, "Discard", "proposed -> rejected"),
        (Verdict::Apply, false, Outcome::Failed, "Failed", "failed"),
    ] {
        let [device, hidden] = confirmed(verdict, applies);
        let options = Options::new(100);
        let blocks = [device, hidden].map(|(call, result)| {
            let decision = Decision::of(&call, &result).unwrap();
            assert_eq!(decision.outcome, outcome);
            Renderers::new().draw(&call, &result, &options)
        });
        assert_eq!(blocks[0], blocks[1]);
        let drawn = to_plain(&blocks[0]);
        assert!(drawn.contains(&format!("{verb}: 2 replacements in 1 file [AST Edit]")), "{drawn}");
        assert!(drawn.lines().next().unwrap().ends_with(badge), "{drawn}");
        assert!(drawn.contains("\n It is right.\n"), "{drawn}");
        assert_eq!(drawn.contains("The preview is stale."), outcome == Outcome::Failed);
    }
}

#[test]
fn d8_the_block_reads_what_the_dispatcher_wrote() {
    for verdict in [Verdict::Apply, Verdict::Discard] {
        let [(call, result), _] = confirmed(verdict, true);
        let details = resolve_dispatch_details(&result).unwrap();
        let decision = Decision::of(&call, &result).unwrap();
        assert_eq!(decision.label, details.label);
        assert_eq!(decision.source, details.source_tool_name);
        assert_eq!(decision.reason.as_deref(), Some(details.reason.as_str()));
    }
}

#[test]
fn d3_a_reject_of_nothing_is_no_rejection() {
    let store = Arc::new(ActionStore::new());
    let batch = store.begin_batch();
    let confirm = Confirm { verdict: Verdict::Discard, selection: Selection::Head };
    let inner = block_on(store.dispatch(&batch, confirm, "Not needed.", Decider::Model));
    let result = device_result("reject", json!({ "reason": "Not needed." }), inner);
    let decision = Decision::of(&write("xd://reject", "Not needed."), &result).unwrap();
    assert_eq!(decision.outcome, Outcome::NothingPending);
    assert_eq!(decision.reason.as_deref(), Some("Not needed."));
}

#[test]
fn case_023_an_error_never_draws_as_a_success() {
    for details in [json!(null), json!({ "action": "apply" }), json!({ "xdev": { "inner": 3 } })] {
        for path in ["xd://resolve", "xd://reject@4"] {
            let result = ToolResult::error("Nothing was done.").with_details(details.clone());
            let lines = Renderers::new().draw(&write(path, "why"), &result, &Options::new(60));
            let drawn = to_plain(&lines);
            assert!(drawn.contains("Failed") && drawn.contains("Nothing was done."), "{drawn}");
            assert!(!drawn.contains("resolved") && !drawn.contains("Accept"), "{drawn}");
        }
    }
}

#[test]
fn v2_foreign_details_of_any_shape_are_treated_as_missing() {
    for details in [
        json!(null),
        json!([]),
        json!("text"),
        json!({ "xdev": [] }),
        json!({ "xdev": { "inner": [] } }),
        json!({ "xdev": { "args": 1, "inner": { "label": 5, "reason": null, "action": [] } } }),
    ] {
        let call = ToolCall::new("1", "write", json!({ "path": "xd://resolve", "content": " " }));
        let result = ToolResult::text("Done.").with_details(details);
        let decision = Decision::of(&call, &result).unwrap();
        assert_eq!(
            (decision.outcome, decision.label, decision.reason),
            (Outcome::Applied, None, None)
        );
        let lines = Renderers::new().draw(&call, &result, &Options::new(60));
        assert!(to_plain(&lines).contains("No reason provided"));
    }
}

#[test]
fn v5_other_calls_become_no_block() {
    let result = ToolResult::text("x").with_details(json!({ "action": "apply", "reason": "r" }));
    for call in [
        write("notes.txt", "x"),
        write("xd://propose", "plan"),
        write("xd://Resolve", "x"),
        write("xd:/resolve", "x"),
        ToolCall::new("1", "read", json!({ "path": "xd://resolve" })),
        ToolCall::new("1", "resolve", json!({ "action": "maybe" })),
        ToolCall::new("1", "write", Value::Null),
    ] {
        assert_eq!(Decision::of(&call, &result), None, "{call:?}");
    }
}

#[test]
fn v5_a_device_write_draws_as_its_own_tool() {
    let object = ToolCall::new(
        "1",
        "write",
        json!({ "path": "xd://format_table", "content": { "table": "|a|" } }),
    );
    for call in [
        write("xd://format_table", r#"{"table":"|a|"}"#),
        object,
        ToolCall::new("1", "xd://format_table", json!({ "table": "|a|" })),
    ] {
        let own = own_call(&call).unwrap();
        assert_eq!((own.name.as_str(), own.arguments), ("format_table", json!({ "table": "|a|" })));
        let renderers = Renderers::new().with(
            "format_table",
            |call: &ToolCall, _: &ToolResult, _: &Options| {
                let table = call.str_argument("table")?;
                Some(vec![Line::of(
                    &format!("a table \u{7}: {table} that is too long"),
                    Role::Text,
                )])
            },
        );
        let lines = renderers.draw(&call, &ToolResult::text("| a |"), &Options::new(24));
        assert_eq!(to_plain(&lines), "a table \\u{7}: |a| that…\n");
        let generic = Renderers::new().draw(&call, &ToolResult::text("| a |"), &Options::new(24));
        assert_eq!(to_plain(&generic), "✓ format_table table=|a|\n  | a |\n");
    }
    assert_eq!(own_call(&write("xd://resolve", "x")), None);
    assert_eq!(own_call(&write("notes.txt", "x")), None);
}

#[test]
fn s4_a_staged_result_draws_as_a_preview() {
    let text = format!("{}\n\n{}", notice::STAGED, fixture::DIFF);
    let call = ToolCall::new("1", "ast_edit", json!({}));
    let result = ToolResult::text(text)
        .with_details(json!({ "number": 3, "label": "AST Edit: 4 replacements in 3 files" }));
    let preview = Preview::of("ast_edit", &result).unwrap();
    assert_eq!(preview.see_all.as_deref(), Some("read xd://resolve@3"));
    let drawn = to_plain(&Renderers::new().draw(&call, &result, &Options::new(80)));
    assert!(drawn.starts_with("◌ Proposed: 4 replacements in 3 files [AST Edit]"), "{drawn}");
    // Case 109: every file, before the decision.
    for file in ["src/client.ts", "tools/gen.py", "src/new.rs"] {
        assert!(drawn.contains(file), "{drawn}");
    }
    assert_eq!(Preview::of("ast_edit", &ToolResult::text("No replacements made")), None);
    assert_eq!(Preview::of("ast_edit", &ToolResult { is_error: true, ..result }), None);
}

#[test]
fn case_107_a_long_result_is_cut_with_counts() {
    let text: String = (0..100).map(|n| format!("line {n}\n")).collect();
    let call = ToolCall::new("1", "search", json!({ "query": "x" }));
    let options = Options::new(40).with_max_lines(Some(3));
    let drawn = to_plain(&Renderers::new().draw(&call, &ToolResult::text(text), &options));
    assert_eq!(
        drawn,
        "✓ search query=x\n  line 0\n  line 1\n  line 2\n  … 97 of 100 lines not shown\n"
    );
}
