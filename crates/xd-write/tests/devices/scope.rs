//! A `write` that is granted for devices only.

use std::sync::Arc;

use serde_json::{Value, json};
use xd_resolve::{BoxFuture, StageRequest, Tier, ToolResult};
use xd_session::TurnRequest;
use xd_write::{
    Approval, ApprovalRequest, Approver, FnTool, Policy, Tool, ToolDefinition, WriteScope,
};

use crate::bench::{call, echo, host, named, write};

/// Grants whatever it is asked.
struct Yes;

impl Approver for Yes {
    fn ask(&self, _: ApprovalRequest) -> BoxFuture<'_, Approval> {
        Box::pin(async { Approval::Granted })
    }
}

// Case 56: re-applying tools, by whatever of their ways, never makes it a file writer.
#[tokio::test]
async fn case_056_writes_for_devices_only_stay_so() {
    let (folder, host) = host(|b| {
        let b = b
            .writes(WriteScope::DevicesOnly)
            .policy(Policy::automatic(Tier::Exec).asking(Arc::new(Yes)));
        b.device(echo("say", json!({}))).unwrap()
    });
    let first = host.definitions();
    for n in 0..20 {
        host.with_registry(|registry| {
            let tools = (0..n).map(|i| (named(&format!("d{i}"), ""), "s".to_owned())).collect();
            registry.refresh(tools).unwrap();
            let fake: Result<Vec<Arc<dyn Tool>>, String> = Ok(vec![named("write", "")]);
            assert!(registry.refresh_origin("s", fake).is_err());
        });
        let names: Vec<String> = host.definitions().into_iter().map(|d| d.name).collect();
        let _ = host.session().next_turn(&TurnRequest::with_tools(names));
        assert_eq!(host.definitions(), first);
        for path in ["a.txt", "./xd/a", "new/b.txt", folder.path().join("c").to_str().unwrap()] {
            let refused = write(&host, path, "text").await;
            assert!(refused.is_error, "{n} {path}: {refused:?}");
            assert!(refused.joined().contains("`write` reaches xd:// devices only"), "{refused:?}");
        }
        assert_eq!(write(&host, "xd://say", "{}").await.content, ["{}"], "devices work on");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!(host.write_scope(), WriteScope::DevicesOnly);
    assert!(first[1].description.contains("it writes no files"), "{:?}", first[1]);
}

// Case 56: the refusal asks nobody, and confirms go through the same `write`.
#[tokio::test]
async fn case_056_nobody_is_asked_and_confirms_work() {
    let stager = FnTool::new(
        ToolDefinition::new("stager", "Stages.", json!({})),
        Tier::Read,
        |context, _: Value| async move {
            let apply = |_| async { Ok(ToolResult::text("Done.")) };
            Ok(context.stage(StageRequest::new("Something", apply)).await?.result("preview"))
        },
    );
    /// Fails the test when it is asked.
    struct Nobody;
    impl Approver for Nobody {
        fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, Approval> {
            panic!("asked about {request:?}");
        }
    }
    let (_folder, host) = host(|b| {
        let policy = Policy::automatic(Tier::Write).asking(Arc::new(Nobody));
        b.writes(WriteScope::DevicesOnly).tool(stager).policy(policy)
    });
    assert!(
        write(&host, "a.txt", "text").await.joined().starts_with("Not written: in this session")
    );
    call(&host, "stager", json!({})).await;
    assert_eq!(write(&host, "xd://resolve", "It is right.").await.content, ["Done."]);
}
