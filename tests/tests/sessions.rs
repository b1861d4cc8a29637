//! What belongs to one session: its addresses, its grants, what it says of its stack.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;
use xd_protocol::notice;
use xd_resolve::{BoxFuture, Tier, ToolCall, ToolResult};
use xd_session::{Boundary, Session};
use xd_tests::{Bench, write_call};
use xd_write::{
    Approval, ApprovalRequest, Approver, CallScope, FnTool, Policy, Resource, ToolDefinition,
    UrlHandler,
};

// CONTRACT U10, E2, U8
#[tokio::test]
async fn u10_a_handler_answers_its_own_session_and_no_other() {
    assert_eq!(
        (UrlHandler::SCHEME, UrlHandler::IMMUTABLE, Resource::CONTENT_TYPE),
        ("xd", true, "text/plain")
    );
    let bench = Bench::new(&[("a.txt", "one\n")]);
    let handler = UrlHandler::mount(Arc::clone(&bench.host));
    let own = Arc::clone(bench.host.session());
    bench.edit("a.txt", "one", "zwei ✓").await;

    let usage = handler.read(&own, "xd://resolve").await.unwrap();
    assert_eq!(usage.text, notice::RESOLVE_USAGE);
    let preview = handler.read(&own, "XD://resolve@1").await.unwrap();
    assert!(preview.text.contains("+zwei ✓"));
    assert_eq!(preview.size(), preview.text.len() as u64);
    assert!(preview.size() > preview.text.chars().count() as u64, "the size counts bytes");

    let other = Arc::new(Session::new());
    let refused = handler.read(&other, "xd://").await.unwrap_err();
    assert_eq!(refused.content, [notice::NOT_MOUNTED]);
    let scope = CallScope::model();
    let refused = handler.write(&other, "xd://resolve", "Go.", &scope).await.unwrap_err();
    assert_eq!(refused.content, [notice::NOT_MOUNTED]);
    assert_eq!(bench.pending(), [1]);

    for url in ["a.txt", "./xd/x", "http://x", "local://a-plan.md"] {
        assert!(
            handler.read(&own, url).await.unwrap_err().joined().contains("is no xd:// URL"),
            "{url}"
        );
        assert!(handler.write(&own, url, "x", &scope).await.is_err(), "{url}");
    }
    assert!(
        handler
            .read(&own, "xd://a/b")
            .await
            .unwrap_err()
            .joined()
            .starts_with("Invalid xd:// URL: xd://a/b. Use xd:// or xd://<tool>.")
    );
    handler.write(&own, "xd://resolve", "The number was meant in German.", &scope).await.unwrap();
    assert_eq!(bench.text("a.txt"), "zwei ✓\n");
}

/// Grants everything for the session, and counts how often it was asked.
struct Person(Arc<AtomicUsize>);

impl Approver for Person {
    fn ask(&self, _: ApprovalRequest) -> BoxFuture<'_, Approval> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Box::pin(std::future::ready(Approval::GrantedForSession))
    }
}

fn shell() -> impl xd_write::Tool {
    let definition = ToolDefinition::new("shell", "Runs.", json!({ "type": "object" }));
    FnTool::new(definition, Tier::Exec, |_, _| async { Ok(ToolResult::text("ran")) })
}

// CONTRACT W6, E2
#[tokio::test]
async fn case_119_a_grant_holds_in_its_session_alone_and_a_boundary_takes_it_back() {
    let asked = Arc::new(AtomicUsize::new(0));
    let bench = |asked: &Arc<AtomicUsize>| {
        let policy = Policy::automatic(Tier::Read).asking(Arc::new(Person(Arc::clone(asked))));
        Bench::with(&[], |builder| builder.tool(shell()).policy(policy))
    };
    let (first, second) = (bench(&asked), bench(&asked));
    let call = ToolCall::new("1", "shell", json!({}));
    for _ in 0..3 {
        assert_eq!(first.one(call.clone()).await.content, ["ran"]);
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    second.one(call.clone()).await;
    assert_eq!(asked.load(Ordering::SeqCst), 2, "another session asks for itself");
    // A grant is for what was granted.
    first.one(write_call("2", "a.txt", "x")).await;
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    first.session().boundary(Boundary::Compaction);
    first.one(call.clone()).await;
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    // case 125: a boundary of one session leaves the grants of another alone.
    first.session().boundary(Boundary::Switch);
    second.one(call.clone()).await;
    assert_eq!(asked.load(Ordering::SeqCst), 3);
    first.one(call).await;
    assert_eq!(asked.load(Ordering::SeqCst), 4);
}

#[tokio::test]
async fn f7_applying_the_upper_says_at_once_that_the_lower_is_stale() {
    let bench = Bench::new(&[("a.txt", "one two\n"), ("b.txt", "one\n")]);
    bench.edit("a.txt", "one", "1").await;
    bench.edit("b.txt", "one", "1").await;
    bench.edit("a.txt", "two", "2").await;
    let applied = bench.write("xd://resolve", "The second word first.").await;
    assert!(!applied.is_error);
    let stale = "Staged action @1 is stale now: it was previewed before this one changed a.txt. Discard it with a reason to xd://reject@1 and stage it anew.";
    assert_eq!(applied.content[1..], [stale]);
    let refused = bench.write("xd://resolve@1", "Now this.").await;
    assert!(refused.is_error && refused.joined().contains("'a.txt'"));
    assert_eq!(bench.text("a.txt"), "one 2\n");
    // An action that shares no file is not spoken of.
    assert!(!bench.write("xd://resolve@2", "And the other.").await.is_error);
}

#[tokio::test]
async fn w3_the_state_of_the_workspace_and_of_git_is_off_limits_for_writes() {
    let bench = Bench::new(&[(".git/config", "[core]\n"), (".xd/sessions/shell/log.jsonl", "")]);
    let before = bench.picture();
    for path in [
        ".git/config",
        ".git/hooks/pre-commit",
        ".xd/sessions/shell/log.jsonl",
        ".xd/new",
        "./.xd/../.xd/x",
    ] {
        let result = bench.write(path, "x").await;
        assert!(result.is_error, "{path}: {result:?}");
    }
    assert_eq!(bench.picture(), before);
    assert_eq!(bench.text(".xd/sessions/shell/log.jsonl"), "");
    assert!(!bench.exists(".xd/new"));
}
