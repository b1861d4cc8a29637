//! What a device's run comes to.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use xd_resolve::{Tier, ToolCall, ToolResult};
use xd_write::{CallScope, FnTool, Progress, Tool, ToolDefinition, ToolFailure};

use crate::bench::host;

/// A device that fails as it is told to.
fn moody() -> impl Tool + 'static {
    FnTool::new(
        ToolDefinition::new("moody", "Fails.", json!({})),
        Tier::Read,
        |context, arguments: Value| {
            if arguments["how"] == "panic at once" {
                panic!("at once");
            }
            async move {
                for part in ["one", "two"] {
                    context.report(Progress::Partial(part.to_owned()));
                    tokio::task::yield_now().await;
                }
                match arguments["how"].as_str() {
                    Some("error") => Err(ToolFailure::from("no luck")),
                    Some("abort") => Err(ToolFailure::Aborted),
                    Some("hang") => std::future::pending().await,
                    Some("panic") => panic!("later"),
                    _ => Ok(ToolResult::error("said so").with_details(json!({ "code": 7 }))),
                }
            }
        },
    )
}

// CONTRACT R6: whatever becomes of it, the result is an error with the device's metadata.
#[tokio::test]
async fn r6_every_failure_carries_the_devices_metadata() {
    let (_folder, host) = host(|b| b.device(moody()).unwrap());
    for (how, words, inner) in [
        ("error", "moody: no luck", json!(null)),
        ("abort", "Aborted: the call did not finish.", json!({ "aborted": true })),
        ("result", "said so", json!({ "code": 7 })),
        (
            "panic",
            "The device xd://moody failed: it panicked. Nothing else was affected.",
            json!(null),
        ),
        (
            "panic at once",
            "The device xd://moody failed: it panicked. Nothing else was affected.",
            json!(null),
        ),
        ("hang", "Aborted: the call did not finish.", json!({ "aborted": true })),
    ] {
        let scope = CallScope { cancel: CancellationToken::new(), ..CallScope::model() };
        let arguments = json!({ "how": how });
        let call =
            ToolCall::new("1", "write", json!({ "path": "xd://moody", "content": arguments }));
        let calls = [call];
        let run = host.run_batch(&calls, &scope);
        let cancel = async {
            if how == "hang" {
                for _ in 0..8 {
                    tokio::task::yield_now().await;
                }
                scope.cancel.cancel();
            }
        };
        let (results, ()) = tokio::join!(run, cancel);
        assert_eq!(results[0].content, [words], "{how}");
        assert!(results[0].is_error, "{how}");
        let xdev = &results[0].details.as_ref().unwrap()["xdev"];
        assert_eq!(
            *xdev,
            json!({ "tool": "moody", "mode": "execute", "args": arguments, "inner": inner })
        );
    }
}

// CONTRACT R6: partial results are heard while it runs, not behind it.
#[tokio::test]
async fn r6_partial_results_are_forwarded_while_it_runs() {
    let (release, gate) = tokio::sync::oneshot::channel::<()>();
    let gate = Arc::new(Mutex::new(Some(gate)));
    let slow = FnTool::new(
        ToolDefinition::new("slow", "Waits.", json!({})),
        Tier::Read,
        move |context, _: Value| {
            let gate = gate.lock().unwrap().take();
            async move {
                context.report(Progress::Partial("half".to_owned()));
                gate.ok_or("called twice")?.await?;
                Ok(ToolResult::text("whole"))
            }
        },
    );
    let (_folder, host) = host(|b| b.device(slow).unwrap());
    // The device ends only once its partial result was heard.
    let release = Mutex::new(Some(release));
    let scope = CallScope {
        progress: Arc::new(move |id, progress| {
            assert_eq!((id, progress), ("7", Progress::Partial("half".to_owned())));
            release.lock().unwrap().take().unwrap().send(()).unwrap();
        }),
        ..CallScope::model()
    };
    let call = ToolCall::new("7", "slow", json!({}));
    let results = host.run_batch(&[call], &scope).await;
    assert_eq!(results[0].content, ["whole"]);
}
