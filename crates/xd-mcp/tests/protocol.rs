//! Staging, looking and deciding through the official client of rmcp.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod site;

use serde_json::json;
use site::{Site, data, edits, is_error, params, text};
use xd_protocol::notice;

#[tokio::test]
async fn s4_a_staging_call_answers_notice_preview_and_data() {
    let site = Site::new();
    site.put("src/a.rs", "fn main() {\n    old(1);\n    old(2);\n}\n");
    let client = site.client().await;
    let arguments = json!({ "ops": [{ "pat": "old($A)", "out": "new($A)" }], "paths": ["src"] });
    let result = client.call("ast_edit", arguments).await;
    assert!(!is_error(&result), "{}", text(&result));
    let said = text(&result);
    assert!(said.starts_with(notice::STAGED), "{said}");
    assert!(said.contains("-    old(1);") && said.contains("+    new(1);"), "{said}");
    // CONTRACT G3: the reminder rides in the result.
    assert!(said.contains("`ast_edit` result above: PREVIEW — no files changed."), "{said}");
    let staged = &data(&result)["staged"];
    assert_eq!(data(&result)["outcome"], "staged");
    assert_eq!(staged["number"], 1);
    assert_eq!(staged["label"], "AST Edit: 2 replacements in 1 file");
    assert_eq!(staged["apply"], "xd://resolve@1");
    assert_eq!(
        staged["counts"],
        json!({ "files": 1, "added": 2, "removed": 2, "replacements": 2 })
    );
    let file = json!({
        "path": "src/a.rs", "change": "edit", "added": 2, "removed": 2, "replacements": 2
    });
    assert_eq!(staged["files"], json!([file]));
    assert_eq!(staged["stale"], json!([]));
    assert!(site.get("src/a.rs").contains("old(1)"), "no file changed");

    let looked = client.read("xd://resolve@1").await;
    assert!(text(&looked).starts_with("Staged action @1: AST Edit"), "{}", text(&looked));
    // CONTRACT G3: once a head.
    assert!(!text(&looked).contains("system-reminder"));

    let applied = client.write("xd://resolve", "The new name is clearer.").await;
    assert_eq!(text(&applied), "Applied 2 replacements in 1 file.");
    assert_eq!(data(&applied)["outcome"], "applied");
    assert_eq!(data(&applied)["decided"], json!([{ "number": 1, "state": "applied" }]));
    assert_eq!(data(&applied)["pending"], json!([]));
    assert!(site.get("src/a.rs").contains("new(2)"));
    client.leave().await;
}

#[tokio::test]
async fn d7_a_rejected_preview_changes_nothing() {
    let site = Site::new();
    let client = site.client().await;
    client.edit("a.txt", "one", "1").await;
    let result = client.write("xd://reject", "Not now.").await;
    assert!(text(&result).contains("Reason: Not now."), "{}", text(&result));
    assert_eq!(data(&result)["outcome"], "discarded");
    assert_eq!(site.get("a.txt"), "one\ntwo\n");
    let result = client.write("xd://resolve", "Yes.").await;
    assert!(is_error(&result));
    assert_eq!(text(&result), notice::NOTHING_TO_APPLY);
    client.leave().await;
}

// Invariant X2, CONTRACT G5, G6
#[tokio::test]
async fn g5_while_something_is_pending_only_looking_and_deciding_run() {
    let site = Site::new();
    let client = site.client().await;
    client.edit("a.txt", "one", "1").await;
    for result in [
        client.edit("b.txt", "three", "3").await,
        client.write("new.txt", "x").await,
        client.write("xd://edit", &edits("b.txt", "three", "3").to_string()).await,
        client.call("xd://edit", edits("b.txt", "three", "3")).await,
        client.call("apply_patch", json!({ "patch": "nonsense" })).await,
    ] {
        assert!(is_error(&result));
        let first = result.content[0].as_text().unwrap();
        assert_eq!(first.text, notice::NOT_EXECUTED);
        assert!(text(&result).contains("xd://resolve@1 applies it"), "{}", text(&result));
        assert_eq!(data(&result)["outcome"], "refused");
        assert_eq!(data(&result)["pending"][0]["number"], 1);
    }
    assert!(!site.has("new.txt"));
    for path in ["a.txt", ".", "xd://", "xd://edit", "xd://resolve", "xd://resolve@1"] {
        let result = client.read(path).await;
        assert!(!is_error(&result), "{path}: {}", text(&result));
    }
    client.write("xd://reject", "Done looking.").await;
    let result = client.write("new.txt", "x").await;
    assert!(site.has("new.txt"), "{}", text(&result));
    client.leave().await;
}

#[tokio::test]
async fn f2_a_stale_preview_is_told_and_can_be_made_anew() {
    let site = Site::new();
    let client = site.client().await;
    client.edit("a.txt", "one", "1").await;
    site.put("a.txt", "one\ntwo\nmore\n");
    let refused = client.edit("b.txt", "three", "3").await;
    assert_eq!(data(&refused)["pending"][0]["stale"], json!(["a.txt"]));
    let result = client.write("xd://resolve", "Good.").await;
    assert!(is_error(&result));
    assert_eq!(site.get("a.txt"), "one\ntwo\nmore\n");
    assert_eq!(data(&result)["pending"][0]["number"], 1);
    // CONTRACT G8: after a failed apply the gate is lifted for that head.
    let again = client.write("xd://restage", r#"{"number": 1}"#).await;
    assert_eq!(data(&again)["staged"]["number"], 2, "{}", text(&again));
    client.write("xd://resolve@2", "Good.").await;
    assert_eq!(site.get("a.txt"), "1\ntwo\nmore\n");
    client.leave().await;
}

#[tokio::test]
async fn g8_after_a_failed_apply_the_model_can_repair() {
    let site = Site::new();
    let client = site.client().await;
    client.edit("a.txt", "one", "1").await;
    site.put("a.txt", "two\n");
    assert!(is_error(&client.write("xd://resolve", "Good.").await));
    let other = client.edit("b.txt", "three", "3").await;
    assert_eq!(data(&other)["staged"]["number"], 2, "{}", text(&other));
    client.leave().await;
}

// Invariant X1
#[tokio::test]
async fn two_clients_and_a_restart_see_one_stack() {
    let site = Site::new();
    let first = site.client().await;
    first.edit("a.txt", "one", "1").await;
    let second = site.client().await;
    let told = second.read("a.txt").await;
    assert!(text(&told).contains("Staged action @1 is pending, from elsewhere"), "{}", text(&told));
    assert!(is_error(&second.edit("b.txt", "three", "3").await));
    assert!(!is_error(&second.write("xd://resolve@1", "Fine.").await));
    assert_eq!(site.get("a.txt"), "1\ntwo\n");
    // The first one hears what became of its own.
    let late = first.write("xd://resolve@1", "Fine.").await;
    assert!(is_error(&late) && text(&late).contains("already applied"), "{}", text(&late));
    second.edit("b.txt", "three", "3").await;
    second.leave().await;
    first.leave().await;

    let third = site.client().await;
    let shown = third.read("xd://resolve@2").await;
    assert!(text(&shown).contains("(pending)"), "{}", text(&shown));
    third.write("xd://resolve", "After the restart.").await;
    assert_eq!(site.get("b.txt"), "3\n");
    third.leave().await;
}

// Invariant X5
#[tokio::test]
async fn a_bare_confirm_never_takes_what_its_client_has_not_seen() {
    let site = Site::new();
    let first = site.client().await;
    first.edit("a.txt", "one", "1").await;
    // Another client decides it and stages its own.
    let second = site.client().await;
    second.write("xd://reject@1", "No.").await;
    second.edit("b.txt", "three", "3").await;
    let crossed = first.write("xd://resolve", "One is a number.").await;
    assert!(is_error(&crossed));
    assert!(text(&crossed).contains("xd://resolve@2"), "{}", text(&crossed));
    assert_eq!((site.get("a.txt"), site.get("b.txt")), ("one\ntwo\n".into(), "three\n".into()));
    // Once it has seen the preview it may.
    first.read("xd://resolve@2").await;
    assert!(!is_error(&first.write("xd://resolve", "Three is one too.").await));
    assert_eq!(site.get("b.txt"), "3\n");
    first.leave().await;
    second.leave().await;
}

#[tokio::test]
async fn s3_calls_that_come_together_stage_together() {
    let site = Site::new();
    let client = site.client().await;
    let (a, b) = tokio::join!(client.edit("a.txt", "one", "1"), client.edit("b.txt", "three", "3"));
    assert!(!is_error(&a) && !is_error(&b), "{} {}", text(&a), text(&b));
    assert_eq!(data(&a)["staged"]["number"], 1);
    assert_eq!(data(&b)["staged"]["number"], 2);
    // CONTRACT S4: with more than one pending the notice names the addresses.
    assert!(text(&b).contains("xd://resolve@2"), "{}", text(&b));
    client.leave().await;
}

#[tokio::test]
async fn d14_bare_confirms_that_come_together_are_not_crossed() {
    let site = Site::new();
    let client = site.client().await;
    let _ = tokio::join!(client.edit("a.txt", "one", "1"), client.edit("b.txt", "three", "3"));
    let (x, y) = tokio::join!(
        client.write("xd://resolve", "For three."),
        client.write("xd://resolve", "For one."),
    );
    let refused = [&x, &y].into_iter().filter(|result| is_error(result)).collect::<Vec<_>>();
    assert_eq!(refused.len(), 1, "{} / {}", text(&x), text(&y));
    assert!(text(refused[0]).contains("xd://resolve@1"), "{}", text(refused[0]));
    assert_eq!(site.get("a.txt"), "one\ntwo\n");
    let (x, y) = tokio::join!(
        client.write("xd://resolve@1", "For one."),
        client.write("xd://resolve@1", "Twice."),
    );
    assert_ne!(is_error(&x), is_error(&y), "exactly once (CONTRACT D11)");
    client.leave().await;
}

#[tokio::test]
async fn s6_what_changes_nothing_stages_nothing() {
    let site = Site::new();
    let client = site.client().await;
    let arguments = json!({ "ops": [{ "pat": "no_such($A)", "out": "x" }], "paths": ["."] });
    let result = client.call("ast_edit", arguments).await;
    assert!(text(&result).starts_with(notice::NO_REPLACEMENTS), "{}", text(&result));
    assert_eq!(data(&result)["outcome"], "nothing");
    assert_eq!(data(&result)["pending"], json!([]));
    client.leave().await;
}

#[tokio::test]
async fn d2_a_blank_reason_decides_nothing() {
    let site = Site::new();
    let client = site.client().await;
    client.edit("a.txt", "one", "1").await;
    let result = client.write("xd://resolve", "  \n").await;
    assert!(is_error(&result));
    assert_eq!(data(&result)["pending"][0]["number"], 1);
    assert_eq!(site.get("a.txt"), "one\ntwo\n");
    client.leave().await;
}

#[tokio::test]
async fn case_32_near_misses_touch_nothing() {
    let site = Site::new();
    let client = site.client().await;
    for path in ["xd:/resolve", "xdd://resolve", "dx://resolve", "xd/resolve"] {
        let result = client.write(path, "Yes.").await;
        assert!(is_error(&result) && text(&result).contains("xd://resolve"), "{path}");
    }
    assert!(!site.has("xd") && !site.has("xd:"));
    client.leave().await;
}

#[tokio::test]
async fn unknown_tools_and_devices_are_two_errors() {
    let site = Site::new();
    let client = site.client().await;
    let error = client.peer.call_tool(params("no_such_tool", json!({}))).await.unwrap_err();
    assert!(error.to_string().contains("no_such_tool"), "{error}");
    let result = client.write("xd://no_such_device", "{}").await;
    assert!(is_error(&result) && text(&result).contains("ast_edit"), "{}", text(&result));
    // Case 40: bad arguments are told with an example.
    let result = client.call("edit", json!({ "edits": "nonsense" })).await;
    assert!(is_error(&result), "{}", text(&result));
    client.leave().await;
}

#[tokio::test]
async fn w3_no_call_leaves_the_workspace() {
    let site = Site::new();
    let outside = tempfile::tempdir().unwrap();
    let path = outside.path().join("x.txt");
    let client = site.client().await;
    let absolute = path.to_str().unwrap();
    for path in [absolute, "../x.txt", "a/../../x.txt"] {
        assert!(is_error(&client.write(path, "x").await), "{path}");
        assert!(is_error(&client.edit(path, "", "x").await), "{path}");
        assert!(is_error(&client.read(path).await), "{path}");
    }
    assert!(!path.exists());
    client.leave().await;
}

#[tokio::test]
async fn case_166_a_policy_decides_the_same_as_in_any_front_end() {
    use std::sync::Arc;
    use xd_resolve::{Tier, ToolCall};
    use xd_session::Session;
    use xd_write::{CallScope, Host, Policy, Rules, Workspace};

    let policies = [
        Policy::default(),
        Policy::automatic(Tier::Read),
        Policy::automatic(Tier::Exec),
        Policy::default().with_rules(Rules::new().deny("edit")),
        Policy::default().with_rules(Rules::new().deny("write")),
        Policy::automatic(Tier::Read).with_rules(Rules::new().allow("edit")),
        Policy::default().stage_writes(),
    ];
    let calls = [
        ("read", json!({ "path": "a.txt" })),
        ("write", json!({ "path": "c.txt", "content": "x" })),
        ("edit", edits("a.txt", "one", "1")),
    ];
    for policy in policies {
        for (name, arguments) in &calls {
            let (site, other) = (Site::new(), Site::new());
            let options = site.options().policy(policy.clone());
            let client = site.client_of(options, site::Ears::default()).await;
            let here = client.call(name, arguments.clone()).await;
            let workspace = Workspace::open(other.path()).unwrap();
            let host = Host::builder(Arc::new(Session::new()), workspace)
                .policy(policy.clone())
                .device(xd_text_edit::TextEditTool::default())
                .unwrap()
                .build();
            let call = ToolCall::new("1", *name, arguments.clone());
            let there = host.run_batch(&[call], &CallScope::model()).await;
            assert_eq!(is_error(&here), there[0].is_error, "{policy:?} {name}");
            if is_error(&here) {
                let said = here.content[0].as_text().unwrap();
                assert_eq!(said.text, there[0].content[0], "{policy:?} {name}");
            }
            assert_eq!(site.has("c.txt"), other.has("c.txt"), "{policy:?} {name}");
            client.leave().await;
        }
    }
}
