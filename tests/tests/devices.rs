//! Writing to mounted devices: documents, arguments, errors, progress, panics.
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::json;
use xd_resolve::{Tier, ToolResult};
use xd_tests::{Bench, call, write_call};
use xd_write::{CallScope, FnTool, Progress, Tool, ToolDefinition, ToolFailure};

/// A device that counts its runs and answers with its arguments.
fn counted(runs: &Arc<AtomicUsize>) -> impl Tool + 'static {
    let schema = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string" },
            "times": { "type": "integer" },
            "how": { "enum": ["loud", "soft"] },
            "list": { "type": "array", "items": { "type": "string" } },
            "deep": { "type": "object", "properties": { "x": { "type": "number" } }, "required": ["x"] }
        },
        "required": ["text"],
        "additionalProperties": false
    });
    let runs = Arc::clone(runs);
    FnTool::new(ToolDefinition::new("say", "Says it.", schema), Tier::Write, move |_, arguments| {
        runs.fetch_add(1, Ordering::SeqCst);
        async move { Ok(ToolResult::text(arguments.to_string()).with_details(json!({ "n": 1 }))) }
    })
}

fn bench() -> (Bench, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    (Bench::with(&[], |b| b.device(counted(&runs)).unwrap()), runs)
}

// CONTRACT R3
#[tokio::test]
async fn r3_empty_question_mark_and_help_document_and_run_nothing() {
    let (bench, runs) = bench();
    let docs = bench.read("xd://say").await.joined();
    assert!(docs.starts_with("# xd://say\n") && docs.contains("\"required\": ["), "{docs}");
    for body in ["", "  \n", "?", " ? ", "help", "HELP"] {
        let result = bench.write("xd://say", body).await;
        assert!(!result.is_error, "{body:?}");
        assert_eq!(result.joined().trim(), docs.trim(), "{body:?}");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

// CONTRACT R3
#[tokio::test]
async fn r3_three_different_errors_and_nothing_runs() {
    let (bench, runs) = bench();
    for (body, words, docs) in [
        ("{\"text\": ", "not valid JSON", false),
        ("say it", "not valid JSON", false),
        ("{\"text\": \"a\"} trailing", "not valid JSON", false),
        ("[\"a\"]", "must be a JSON object, but is an array", false),
        ("\"text\"", "but is a string", false),
        ("7", "but is a number", false),
        ("null", "but is null", false),
        ("true", "but is true or false", false),
        ("{}", "must have the property `text`", true),
        ("{\"text\": 7}", "`text` must be of type string", true),
        ("{\"text\": \"a\", \"times\": 1.5}", "`times` must be of type integer", true),
        ("{\"text\": \"a\", \"how\": \"high\"}", "`how` must be one of \"loud\", \"soft\"", true),
        ("{\"text\": \"a\", \"list\": [\"x\", 1]}", "`list[1]` must be of type string", true),
        ("{\"text\": \"a\", \"deep\": {}}", "`deep` must have the property `x`", true),
        ("{\"text\": \"a\", \"more\": 1}", "`more` is not a known property", true),
    ] {
        let result = bench.write("xd://say", body).await;
        let text = result.joined();
        assert!(result.is_error && text.starts_with("xd://say was not run: "), "{body}: {text}");
        assert!(text.contains(words), "{body}: {text}");
        assert_eq!(text.contains("## Arguments (JSON Schema)"), docs, "{body}: {text}");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

// CONTRACT R3: an object beside a JSON string; a habitual `i` is dropped unless declared.
#[tokio::test]
async fn r3_an_object_is_accepted_and_a_habitual_i_dropped() {
    let (bench, runs) = bench();
    let string = bench.write("xd://say", r#" {"text": "a", "i": "why"} "#).await;
    assert_eq!(string.content, [r#"{"text":"a"}"#]);
    let object = json!({ "path": "xd://say", "content": { "i": 1, "text": "a" } });
    assert_eq!(bench.one(call("1", "write", object)).await.content, [r#"{"text":"a"}"#]);
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    let declared = FnTool::new(
        ToolDefinition::new(
            "count",
            "Counts.",
            json!({ "type": "object", "properties": { "i": { "type": "integer" } } }),
        ),
        Tier::Read,
        |_, arguments| async move { Ok(ToolResult::text(arguments.to_string())) },
    );
    let bench = Bench::with(&[], |b| b.device(declared).unwrap());
    assert_eq!(bench.write("xd://count", r#"{"i": 3}"#).await.content, [r#"{"i":3}"#]);
}

// CONTRACT D8, R6: the device's metadata rides with a success and with a failure.
#[tokio::test]
async fn r6_metadata_progress_failure_and_abort() {
    let fails = FnTool::new(
        ToolDefinition::new("fails", "Fails.", json!({ "type": "object" })),
        Tier::Read,
        |context, arguments| async move {
            context.report(Progress::Partial("half way".to_owned()));
            match arguments["how"].as_str() {
                Some("error") => Err(ToolFailure::from("no luck")),
                Some("abort") => Err(ToolFailure::Aborted),
                Some("result") => Ok(ToolResult::error("said so").with_details(json!(7))),
                _ => panic!("at the disco"),
            }
        },
    );
    let bench = Bench::with(&[], |b| b.device(fails).unwrap());
    let heard = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&heard);
    let scope = CallScope {
        progress: Arc::new(move |id, progress| {
            sink.lock().unwrap().push((id.to_owned(), progress))
        }),
        ..CallScope::model()
    };
    let calls: Vec<_> = ["error", "abort", "result", "panic"]
        .iter()
        .map(|how| write_call(how, "xd://fails", &json!({ "how": how }).to_string()))
        .collect();
    let results = bench.host.run_batch(&calls, &scope).await;
    assert!(results.iter().all(|result| result.is_error));
    assert_eq!(results[0].content, ["fails: no luck"]);
    assert!(results[1].joined().starts_with("Aborted"));
    assert_eq!(results[2].content, ["said so"]);
    assert!(results[3].joined().contains("panicked"));
    for (result, inner) in results.iter().zip([json!(null), json!({ "aborted": true }), json!(7)]) {
        let xdev = &result.details.as_ref().unwrap()["xdev"];
        assert_eq!((&xdev["tool"], &xdev["inner"]), (&json!("fails"), &inner));
        assert_eq!(xdev["mode"], "execute");
    }
    let heard = heard.lock().unwrap();
    let ids: Vec<&str> = heard.iter().map(|(id, _)| &**id).collect();
    assert_eq!(ids, ["error", "abort", "result", "panic"]);
}

// CONTRACT W1, Invariant W1: one result a call, in call order, whatever becomes of it.
#[tokio::test]
async fn w1_every_call_of_a_batch_gets_its_result() {
    let panics = FnTool::new(
        ToolDefinition::new("panics", "Panics.", json!({ "type": "object" })),
        Tier::Read,
        |_, _| async { panic!("no") },
    );
    let bench = Bench::with(&[("a.txt", "a\n")], |b| b.tool(panics.shared()));
    let calls = [
        call("1", "read", json!({ "path": "a.txt" })),
        call("2", "panics", json!({})),
        call("3", "read", json!({ "path": "none" })),
        write_call("4", "b.txt", "b\n"),
        call("5", "nothing", json!({})),
        call("6", "read", json!({ "path": "b.txt" })),
        write_call("7", "xd://nothing", ""),
    ];
    let results = bench.run(&calls).await;
    let errors: Vec<bool> = results.iter().map(|result| result.is_error).collect();
    assert_eq!(errors, [false, true, true, false, true, false, true]);
    assert!(results[1].joined().contains("`panics` failed: it panicked"));
    assert!(results[5].joined().contains("b\n"), "calls run in order");
    assert!(bench.run(&[]).await.is_empty());
}

// CONTRACT W5, R4
#[tokio::test]
async fn w5_the_listing_and_the_reserved_ones_read_at_any_time() {
    let (bench, _) = bench();
    assert_eq!(bench.read("xd://").await.content, ["1 device is mounted.\nxd://say — Says it.\n"]);
    for device in ["resolve", "reject", "propose"] {
        let text = bench.read(&format!("xd://{device}")).await.joined();
        assert!(text.starts_with(&format!("xd://{device} — ")), "{text}");
        assert_eq!(text.lines().count(), 1);
    }
    let unknown = bench.read("xd://sai").await;
    assert!(unknown.is_error && unknown.joined().contains("Did you mean 'xd://say'?"));
}

// A device mounted while the host runs is there at once; the tools of requests stay as they are.
#[tokio::test]
async fn r2_devices_come_and_go_while_tools_stay() {
    let (bench, runs) = bench();
    let before = bench.host.definitions();
    bench.host.with_registry(|registry| {
        let more = FnTool::new(
            ToolDefinition::new("more", "More.", json!({ "type": "object" })),
            Tier::Read,
            |_, _| async { Ok(ToolResult::text("more")) },
        );
        registry.refresh(vec![(Arc::new(more) as Arc<dyn Tool>, "later".to_owned())]).unwrap();
    });
    assert_eq!(bench.write("xd://more", "{}").await.content, ["more"]);
    bench.host.with_registry(|registry| registry.refresh(Vec::new()).unwrap());
    assert!(bench.write("xd://more", "{}").await.is_error);
    assert_eq!(bench.host.definitions(), before);
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}
