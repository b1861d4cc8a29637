//! `xd read` and `xd write`: the protocol's own form.

use std::{io::Write as _, process::Stdio};

use crate::{Folder, Run};

// CONTRACT S4, D7, W5
#[test]
fn a_shell_agent_stages_looks_and_finalizes() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    let call = r#"{"ops":[{"pat":"old($A)","out":"new($A)"}],"paths":["."]}"#;
    let staged = folder.xd(&["write", "xd://ast_edit", call]);
    assert_eq!(staged.status, 0, "{staged:?}");
    assert!(staged.out.starts_with("Staged as a proposal — files NOT modified yet. To apply: write a one-sentence reason to xd://resolve. To discard: write to xd://reject.\n\n"), "{staged:?}");
    let look = folder.xd(&["read", "xd://resolve@1"]);
    assert!(look.out.contains("(pending)") && look.out.contains("+new(1);"), "{look:?}");
    assert_eq!(folder.get("a.ts"), "old(1);\n");
    let done = folder.xd(&["write", "XD://resolve", "Every caller uses the new name."]);
    assert_eq!((done.status, done.out.as_str()), (0, "Applied 1 replacement in 1 file.\n"));
    assert_eq!(folder.get("a.ts"), "new(1);\n");
    assert!(folder.xd(&["log"]).out.contains("applied by a model"));
}

// CONTRACT R3, R4, W5, D4
#[test]
fn w5_listing_documents_and_usage() {
    let folder = Folder::new(&[]);
    let list = folder.xd(&["read", "xd://"]);
    assert!(list.status == 0 && list.out.contains("xd://ast_edit — "), "{list:?}");
    let docs = folder.xd(&["read", "xd://ast_edit"]);
    assert!(docs.status == 0 && docs.out.contains("\"ops\""), "{docs:?}");
    let docs = folder.xd(&["write", "xd://ast_edit", "?"]);
    assert!(docs.status == 0 && docs.out.contains("\"ops\""), "{docs:?}");
    for address in ["xd://resolve", "xd://reject", "xd://propose"] {
        let usage = folder.xd(&["read", address]);
        assert_eq!((usage.status, usage.out.lines().count()), (0, 1), "{usage:?}");
    }
    let unknown = folder.xd(&["write", "xd://ast_edi", "{}"]);
    assert!(
        unknown.status == 2 && unknown.out.contains("Did you mean 'xd://ast_edit'?"),
        "{unknown:?}"
    );
    assert_eq!(folder.xd(&["write", "xd://resolve", "Go."]).status, 1);
    // Looking makes nothing.
    let fresh = Folder::new(&[]);
    fresh.xd(&["read", "xd://"]);
    fresh.xd(&["status"]);
    assert!(!fresh.path().join(".xd").exists());
}

// CONTRACT U7, U8; case 32
#[test]
fn case_032_slips_name_the_right_spelling_and_touch_nothing() {
    let folder = Folder::new(&[]);
    for (slip, right) in [
        ("xd:/resolve", "Did you mean 'xd://resolve'?"),
        ("xdd://resolve", "Did you mean 'xd://resolve'?"),
        ("xd/resolve", "Did you mean 'xd://resolve'?"),
        ("http://resolve", "Tool devices use 'xd://<tool>'."),
        ("xd://a/b", "Invalid xd:// URL: xd://a/b. Use xd://<tool>."),
    ] {
        let run = folder.xd(&["write", slip, "x"]);
        assert!(run.status == 2 && run.out.contains(right), "{slip}: {run:?}");
    }
    folder
        .xd(&["write", "a.ts", "x"])
        .is_plain_error("'a.ts' is a file path, not an xd:// address");
    folder.xd(&["read", "a.ts"]).is_plain_error("'a.ts' is a file path, not an xd:// address");
    assert!(folder.tree().is_empty(), "{:?}", folder.tree());
}

#[test]
fn a_dash_reads_standard_input() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    let mut child = folder
        .command(&["write", "xd://resolve", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all("Grüße von der Leitung.\n".as_bytes()).unwrap();
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.status, 0, "{run:?}");
    assert!(folder.xd(&["log"]).out.contains("Grüße von der Leitung."));
}

// CONTRACT D3, D4, S6: the exit status is that of the commands, whatever the text says.
#[test]
fn d3_d4_s6_nothing_to_do_is_status_1() {
    let folder = Folder::new(&[("a.ts", "f(1);\n")]);
    for (address, text, status) in [
        ("xd://resolve", "Go.", 1),
        ("xd://reject", "No.", 1),
        ("XD://resolve", "Go.", 1),
        ("xd://resolve", "", 2),
        ("xd://resolve@7", "Go.", 2),
        ("xd://ast_edit", r#"{"ops":[{"pat":"old($A)","out":"x"}],"paths":["."]}"#, 1),
        ("xd://ast_edit", r#"{"ops":[{"pat":"f($A)","out":"f($A)"}],"paths":["."]}"#, 1),
        ("xd://ast_edit", r#"{"ops":[{"pat":"f($A)","out":"$B"}],"paths":["."]}"#, 2),
        ("xd://ast_edit", "?", 0),
    ] {
        for json in [false, true] {
            let mut arguments = vec!["write", address, text];
            arguments.extend(json.then_some("--json"));
            let run = folder.xd(&arguments);
            assert_eq!(run.status, status, "{arguments:?}: {run:?}");
            if json {
                let answer = run.json();
                assert!(answer["result"].is_object(), "{run:?}");
                assert_eq!(answer["error"].is_string(), status == 2, "{run:?}");
                assert_eq!(answer["hint"].is_string(), status == 2, "{run:?}");
            }
        }
    }
    assert_eq!(folder.xd(&["status"]).status, 0, "status only reports");
}
