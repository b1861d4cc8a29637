//! Addresses end to end: what a near miss, a broken address or a selector does to the files
//! (nothing), and where calls by a device's name lead.
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::fs;

use serde_json::json;
use xd_protocol::notice;
use xd_resolve::{Tier, ToolResult, resolve_dispatch_details};
use xd_tests::{Bench, call, write_call};
use xd_write::{FnTool, ToolDefinition};

const WHY: &str = "It is what was asked for.";

fn echo(name: &str) -> impl xd_write::Tool + 'static {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } },
        "required": ["text"] });
    let definition = ToolDefinition::new(name, "Says it again.\nMore words.", schema);
    FnTool::new(definition, Tier::Read, |_, arguments| async move {
        Ok(ToolResult::text(arguments["text"].as_str().unwrap_or_default()))
    })
}

// CONTRACT U7, case 32 — Invariant W2
#[tokio::test]
async fn u7_case_032_near_misses_name_the_right_spelling_and_touch_nothing() {
    let slips = [
        "xd:/thing",
        "xd:thing",
        "xd/thing",
        "xd//thing",
        "xdd://thing",
        "xdt://thing",
        "dx://thing",
        "XD:/thing",
        "Xd/thing",
        "xD:thing",
        "XDD://thing",
        "DX://thing",
        "x://thing",
        "d://thing",
        "xd:///thing",
        "xd ://thing",
        " xd:/thing",
        "xd:/thing ",
        "xd\\thing",
        "xd:\\thing",
        "xd:\\\\thing",
        "xx://thing",
        "dd://thing",
        "sd://thing",
        "xd:////thing",
        "\u{200b}xd://thing",
        "x\u{200b}d://thing",
        "\"xd://thing\"",
        "`xd://thing`",
        "xdd:/thing",
        "dx:/thing",
        "xde://thing",
        "axd://thing",
        "xad://thing",
        "'xd:/thing'",
        "(xd://thing)",
        "xd\u{feff}://thing",
        "xd:\u{200b}//thing",
    ];
    for slip in slips {
        let bench = Bench::new(&[("keep.txt", "keep\n")]);
        bench.edit("keep.txt", "keep", "kept").await;
        let before = bench.picture();
        for content in ["", "{}", WHY] {
            let result = bench.write(slip, content).await;
            assert!(result.is_error, "{slip:?}");
            let text = result.joined();
            // Three slashes are an address with a broken name; all else is a slip.
            if text.starts_with("Invalid xd:// URL:") {
                assert!(slip.contains("xd:///"), "{slip:?}: {text}");
                continue;
            }
            assert!(text.starts_with("Unknown URI-like write target '"), "{slip:?}: {text}");
            assert!(text.contains("Did you mean 'xd://"), "{slip:?}: {text}");
            assert!(
                text.ends_with("Prefix the path with './' to write it as a filesystem path."),
                "{slip:?}: {text}"
            );
        }
        assert_eq!(bench.picture(), before, "{slip:?}");
        assert_eq!(bench.pending(), [1], "{slip:?}");
    }
}

// CONTRACT U7
#[tokio::test]
async fn u7_the_sentence_is_exact() {
    let bench = Bench::new(&[]);
    assert_eq!(
        bench.write("xd:/resolve", WHY).await.content,
        ["Unknown URI-like write target 'xd:/resolve'. Did you mean 'xd://resolve'? Prefix the \
          path with './' to write it as a filesystem path."]
    );
    assert_eq!(
        bench.write("http://example.org/a", WHY).await.content,
        ["Unknown URI-like write target 'http://example.org/a'. Tool devices use 'xd://<tool>'."]
    );
    assert!(bench.picture().is_empty());
}

// CONTRACT U7: what is a path stays one; an explicit `./` allows even such names.
#[tokio::test]
async fn u7_dot_slash_makes_any_name_a_path() {
    let bench = Bench::new(&[]);
    for (path, file) in [
        ("./xd/thing", "xd/thing"),
        ("./xd:thing", "xd:thing"),
        ("./xdd:/thing", "xdd:/thing"),
        ("a/xd/thing", "a/xd/thing"),
        ("xdthing", "xdthing"),
    ] {
        let result = bench.write(path, "text\n").await;
        assert!(!result.is_error, "{path}: {}", result.joined());
        assert_eq!(bench.text(file), "text\n", "{path}");
    }
}

// CONTRACT U1: the scheme in any case and with white space around it; the device's name not.
#[tokio::test]
async fn u1_the_scheme_in_any_case_the_name_as_it_is() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    for address in ["XD://resolve", " xd://resolve\n", "Xd://resolve@1"] {
        bench.put("a.txt", "one\n");
        bench.edit("a.txt", "one", "two").await;
        let address = address.replace("@1", &format!("@{}", bench.pending()[0]));
        let result = bench.write(&address, WHY).await;
        assert!(!result.is_error, "{address}: {}", result.joined());
        assert_eq!(bench.text("a.txt"), "two\n");
    }
    bench.edit("a.txt", "two", "three").await;
    let result = bench.write("xd://Resolve", WHY).await;
    assert!(result.is_error && result.joined().contains("Did you mean 'xd://resolve'?"));
    assert_eq!(bench.text("a.txt"), "two\n");
}

// CONTRACT U8
#[tokio::test]
async fn u8_malformed_addresses_are_refused_in_words() {
    let bench = Bench::new(&[("a.txt", "one\n")]);
    bench.edit("a.txt", "one", "two").await;
    let before = bench.picture();
    let long = format!("xd://{}", "n".repeat(129));
    for address in [
        "xd://a/b",
        "xd://a?b",
        "xd://a#b",
        "xd://a\\b",
        "xd://a b",
        "xd://resolve/",
        "xd://a@1",
        "xd://resolve@",
        "xd://resolve@0",
        "xd://resolve@-1",
        "xd://resolve@1.0",
        "xd://propose@1",
        "xd://resolve@99999999999999999999999",
        "xd://res\u{200b}olve",
        "xd://re\u{202e}ject",
        &long,
    ] {
        let text = bench.write(address, WHY).await.joined();
        assert!(text.starts_with("Invalid xd:// URL: xd://"), "{address:?}: {text}");
        assert!(text.ends_with(". Use xd://<tool>."), "{address:?}: {text}");
        assert!(!text.contains(['\u{200b}', '\u{202e}']), "{text:?}");
        let text = bench.read(address).await.joined();
        assert!(text.starts_with("Invalid xd:// URL: xd://"), "{address:?}: {text}");
        assert!(text.ends_with(". Use xd:// or xd://<tool>."), "{address:?}: {text}");
    }
    assert!(bench.write("xd://", WHY).await.is_error);
    assert_eq!(bench.picture(), before);
    assert_eq!(bench.pending(), [1]);
}

// CONTRACT U9: the gate, the dispatcher and the approval tier agree on what a call is. A call that
// the gate takes for a confirm decides; any other leaves the stack alone.
#[tokio::test]
async fn u9_what_satisfies_the_gate_is_what_decides() {
    let paths = [
        "xd://resolve",
        "XD://reject",
        "xd://resolve@1",
        "xd://reject@1",
        " xd://resolve",
        "xd:/resolve",
        "xd://Resolve",
        "xd://resolve ",
        "xd://resolve/",
        "./xd://resolve",
        "xd://resolve@01",
        "xd://resolve@+1",
        "xd://propose",
        "xd://",
        "resolve",
        "xd://resolve#",
        "xd://resolve\0",
        "\u{feff}xd://resolve",
        "xd://resolve@1 ",
        "\txd://reject\n",
        "xd://resolve@１",
    ];
    for path in paths {
        for by_name in [false, true] {
            let bench = Bench::new(&[("a.txt", "one\n")]);
            bench.edit("a.txt", "one", "two").await;
            let call = match by_name {
                false => write_call("1", path, WHY),
                true => call("1", path, json!({ "content": WHY })),
            };
            let confirms = bench.session().finalizer().is_confirm(&call);
            bench.one(call).await;
            assert_eq!(bench.pending().is_empty(), confirms, "{path:?} by name: {by_name}");
        }
    }
}

// CONTRACT U11
#[tokio::test]
async fn u11_a_call_by_an_address_or_a_devices_bare_name_reaches_the_device() {
    let bench = Bench::with(&[("a.txt", "one\n")], |b| b.device(echo("echo")).unwrap());
    let arguments = json!({ "text": "hello" });
    for name in ["echo", "xd://echo", "XD://echo"] {
        let result = bench.one(call("1", name, arguments.clone())).await;
        assert_eq!(result.content, ["hello"], "{name}");
        let xdev = &result.details.unwrap()["xdev"];
        assert_eq!((&xdev["tool"], &xdev["args"]), (&json!("echo"), &arguments), "{name}");
    }
    for key in ["content", "reason"] {
        bench.put("a.txt", "one\n");
        bench.edit("a.txt", "one", "two").await;
        let result = bench.one(call("1", "xd://resolve", json!({ key: WHY }))).await;
        assert!(!result.is_error, "{}", result.joined());
        assert_eq!(resolve_dispatch_details(&result).unwrap().reason, WHY);
        assert_eq!(bench.text("a.txt"), "two\n");
    }
    // A slip of the name is no device, and says what there is.
    let result = bench.one(call("1", "ech", arguments)).await;
    assert!(result.is_error && result.joined().starts_with("Unknown tool `ech`."));
}

// CONTRACT W4, case 34
#[tokio::test]
async fn w4_case_034_a_read_selector_is_no_write_target() {
    for content in ["", "text\n"] {
        for (path, read) in [
            ("lib/a.rs:3-9", "lib/a.rs:3-9"),
            ("lib/a.rs:3", "lib/a.rs:3"),
            ("lib/a.rs:3-", "lib/a.rs:3-"),
            ("lib/a.rs:3+4", "lib/a.rs:3+4"),
            ("lib/a.rs:1-2,4", "lib/a.rs:1-2,4"),
            ("lib/a.rs:raw", "lib/a.rs:raw"),
            ("lib/a.rs:", "lib/a.rs"),
            ("none.rs:7", "none.rs:7"),
            ("lib/a.rs:1-2;b:4", "lib/a.rs:1-2;b:4"),
            ("./lib/a.rs:3-9", "./lib/a.rs:3-9"),
        ] {
            let bench = Bench::new(&[("lib/a.rs", "one\n")]);
            let before = bench.picture();
            let result = bench.write(path, content).await;
            let text = result.joined();
            assert!(result.is_error, "{path}");
            assert!(text.contains(&json!({ "path": read }).to_string()), "{path}: {text}");
            assert_eq!(bench.picture(), before, "{path}");
            // A file of that literal name is written.
            bench.put(path, "literal\n");
            assert!(!bench.write(path, content).await.is_error, "{path}");
            assert_eq!(bench.text(path), content);
        }
    }
}

// Case 36
#[tokio::test]
async fn case_036_the_literal_name_is_read_where_it_exists() {
    for name in ["notes:5-6", "notes:raw", "notes:1", "notes:", "notes:1-2,9"] {
        let bench = Bench::new(&[("notes", "a\nb\nc\nd\ne\nf\ng\nh\ni\n")]);
        let without = bench.read(name).await;
        assert!(!without.is_error, "{name}: {}", without.joined());
        bench.put(name, "literal text\n");
        let with = bench.read(name).await.joined();
        assert!(with.contains("literal text"), "{name}: {with}");
        assert_ne!(with, without.joined());
    }
    let bench = Bench::new(&[]);
    assert!(bench.read("notes:5-6").await.joined().contains("'notes' does not exist"));
}

// Case 38
#[tokio::test]
async fn case_038_a_selector_behind_a_device_is_peeled_on_read_and_refused_on_write() {
    let bench = Bench::with(&[("a.txt", "one\n")], |b| b.device(echo("echo")).unwrap());
    bench.edit("a.txt", "one", "two").await;
    let before = bench.picture();
    for suffix in [":raw", ":1", ":1-9", ":1-", ":1+2", ":"] {
        for (address, usage) in [
            ("xd://propose", notice::PROPOSE_USAGE),
            ("xd://resolve", notice::RESOLVE_USAGE),
            ("xd://reject", notice::REJECT_USAGE),
            ("xd://echo", "# xd://echo"),
            ("xd://resolve@1", "Staged action @1: Edit: 1 replacements in 1 files (pending)"),
        ] {
            let address = format!("{address}{suffix}");
            let text = bench.read(&address).await.joined();
            assert!(text.starts_with(usage), "{address}: {text}");
            let result = bench.write(&address, WHY).await;
            assert!(result.is_error, "{address}: {}", result.joined());
        }
        let address = format!("xd://echo{suffix}");
        let text = bench.write(&address, r#"{"text": "x"}"#).await.joined();
        assert!(text.contains("Write to 'xd://echo'."), "{address}: {text}");
    }
    assert_eq!(bench.pending(), [1]);
    assert_eq!(bench.picture(), before);
    // A device whose very name ends so is meant itself.
    let bench = Bench::with(&[], |b| b.device(echo("echo:raw")).unwrap());
    assert!(bench.read("xd://echo:raw").await.joined().starts_with("# xd://echo:raw"));
    assert_eq!(bench.write("xd://echo:raw", r#"{"text": "x"}"#).await.content, ["x"]);
}

// Case 40
#[tokio::test]
async fn case_040_broken_arguments_lead_back() {
    let bench = Bench::with(&[], |b| b.device(echo("echo")).unwrap());
    let cut = bench.write("xd://echo", r#"{"text": "hel"#).await;
    let no_path = bench.one(call("1", "write", json!({ "content": "x" }))).await;
    let no_content = bench.one(call("1", "write", json!({ "path": "a.txt" }))).await;
    let read = bench.one(call("1", "read", json!({}))).await;
    for result in [&cut, &no_path, &no_content, &read] {
        assert!(result.is_error && result.joined().contains("Example: {"), "{}", result.joined());
    }
    assert!(cut.joined().contains("not valid JSON"));
    assert!(no_path.joined().contains("`path` is missing"));
    assert!(no_content.joined().contains("`content` is missing"));
    // The example is a valid one.
    let example = cut.joined();
    let example = example.split_once("Example: ").unwrap().1;
    assert!(!bench.write("xd://echo", example).await.is_error, "{example}");
    for arguments in [json!(null), json!("text"), json!([]), json!(7), json!({ "path": 7 })] {
        assert!(bench.one(call("1", "write", arguments)).await.is_error);
    }
    assert!(bench.picture().is_empty());
}

// CONTRACT W3: a near miss that exists as a folder is still no write target.
#[tokio::test]
async fn u7_a_real_folder_of_that_name_changes_nothing() {
    let bench = Bench::new(&[("xd/a.txt", "a\n")]);
    let before = bench.picture();
    assert!(bench.write("xd/a.txt", "b\n").await.is_error);
    assert_eq!(bench.picture(), before);
    assert!(bench.read("xd/a.txt").await.joined().contains("a\n"));
    fs::remove_dir_all(bench.at("xd")).unwrap();
    assert!(bench.read("xd/a.txt").await.joined().contains("Did you mean 'xd://a.txt'?"));
}
