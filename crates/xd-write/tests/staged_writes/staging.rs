//! What a staged write answers, and what is never staged.

use serde_json::json;
use xd_resolve::{ActionState, ToolCall};
use xd_write::{FileWrites, Host, Policy, Workspace, WriteScope};

use crate::desk::{Desk, NOTICE};

// CONTRACT W1, S4, A3 — Invariant W9
#[tokio::test]
async fn w1_s4_a_write_stages_a_creation_with_its_preview_and_the_confirm_writes_it() {
    let desk = Desk::new(&[]);
    let text = desk.staged("deep/er/a.txt", "hello\n").await;
    assert_eq!(
        text,
        format!(
            "{NOTICE}\n\ndeep/er/a.txt: create (+1 -0)\n\n\
             --- /dev/null\n+++ b/deep/er/a.txt\n@@ -0,0 +1 @@\n+hello\n"
        )
    );
    assert_eq!(desk.pending(), 1);
    let action = desk.host.session().actions().head().unwrap();
    assert_eq!(action.label(), "Write: create deep/er/a.txt");
    assert_eq!(action.source_tool_name(), "write");
    assert_eq!(action.id(), "pending-action:write:1");

    let result = desk.resolve().await;
    assert_eq!(result.content, ["Wrote deep/er/a.txt (created, 6 bytes)."]);
    assert_eq!(desk.bytes("deep/er/a.txt"), b"hello\n");
    assert_eq!(desk.states(), [ActionState::Applied]);
}

// CONTRACT W1, S4
#[tokio::test]
async fn w1_s4_a_write_stages_a_replacement_and_a_reject_leaves_the_file() {
    let desk = Desk::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let text = desk.staged("a.txt", "one\n2\nthree\n").await;
    assert_eq!(
        text,
        format!(
            "{NOTICE}\n\na.txt: replace (+1 -1)\n\n\
             --- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
        )
    );
    let before = desk.picture();
    let rejected = desk.write("xd://reject", "The word reads better.").await;
    assert_eq!(
        rejected.content,
        ["Discarded: Write: replace a.txt. Reason: The word reads better."]
    );
    assert_eq!(desk.picture(), before);

    desk.staged("a.txt", "one\n2\nthree\n").await;
    assert_eq!(desk.resolve().await.content, ["Wrote a.txt (replaced, 12 bytes)."]);
    assert_eq!(desk.bytes("a.txt"), b"one\n2\nthree\n");
}

// CONTRACT D8: the details tell a program what was staged.
#[tokio::test]
async fn s4_the_details_say_that_it_is_staged_and_not_written() {
    let desk = Desk::new(&[("old", "x")]);
    let details = desk.write("new", "é").await.details.unwrap();
    assert_eq!(
        details,
        json!({ "number": 1, "label": "Write: create new", "path": "new", "bytes": 2,
            "created": true, "staged": true })
    );
    let details = desk.write("old", "y").await.details.unwrap();
    assert_eq!((&details["created"], &details["staged"]), (&json!(false), &json!(true)));
}

// CONTRACT S6; case 25
#[tokio::test]
async fn s6_case_025_a_write_of_what_is_there_says_so_and_stages_nothing() {
    let desk = Desk::new(&[("a.txt", "same\n"), ("empty", "")]);
    let before = desk.picture();
    for (path, content, size) in [("a.txt", "same\n", "5 bytes"), ("empty", "", "0 bytes")] {
        let result = desk.write(path, content).await;
        assert!(!result.is_error, "{result:?}");
        assert_eq!(
            result.content,
            [format!(
                "No change needed: {path} holds exactly this already ({size}). Nothing was staged \
                 and nothing was written."
            )]
        );
        assert_eq!(result.details.unwrap()["staged"], json!(false));
    }
    assert_eq!((desk.pending(), desk.picture()), (0, before));
    // The gate is free.
    let nothing = desk.resolve().await;
    assert!(nothing.joined().starts_with("No pending action to apply"), "{nothing:?}");
}

// CONTRACT S6: what somebody else has pending for the file is pointed out.
#[tokio::test]
async fn s6_a_no_op_names_what_is_pending_for_the_file() {
    let desk = Desk::new(&[("a.txt", "old\n")]);
    desk.staged("a.txt", "new\n").await;
    let result = desk.write("a.txt", "old\n").await.joined();
    assert!(result.ends_with("To keep it so, discard what is pending for it (@1)."), "{result}");
    assert_eq!(desk.pending(), 1);
}

// CONTRACT U7, P4: drafts and devices are written at once, and slips touch nothing.
#[tokio::test]
async fn u7_p4_drafts_and_addresses_are_never_staged() {
    let desk = Desk::new(&[]);
    let draft = desk.write("local://notes.md", "# Notes\n").await;
    assert_eq!(draft.content, ["Wrote local://notes.md (created, 8 bytes)."]);
    assert_eq!(
        desk.call("read", json!({ "path": "local://notes.md" })).await.joined(),
        "# Notes\n"
    );
    for slip in ["xd:/a", "xdd://a", "http://a/b", "xd://nothing", "xd://a/b", "xd://", "local:/a"]
    {
        let refused = desk.refused(slip, "text").await;
        assert!(!refused.contains("Staged"), "{slip}: {refused}");
    }
    assert_eq!((desk.pending(), desk.picture().len()), (0, 0));
    // A real file of such a name is one.
    desk.staged("./xd/a", "text").await;
}

// CONTRACT S3: in call order, whatever takes longer to compare.
#[tokio::test]
async fn s3_writes_of_one_batch_are_numbered_in_call_order() {
    let desk = Desk::new(&[]);
    let big = "line\n".repeat(50_000);
    let write = |id: usize, content: &str| {
        let arguments = json!({ "path": format!("f{id}"), "content": content });
        ToolCall::new(id.to_string(), "write", arguments)
    };
    let calls = [write(1, &big), write(2, "b"), write(3, &big), write(4, "d")];
    let results = desk.batch(&calls).await;
    for (at, result) in (1..).zip(&results) {
        assert_eq!(result.details.as_ref().unwrap()["number"], json!(at));
    }
    let text = results[3].joined();
    assert!(text.contains("xd://resolve@4") && text.contains("xd://resolve@1"), "{text}");
    assert_eq!(desk.picture().len(), 0);
    // Last in, first out.
    for left in (0..4).rev() {
        desk.resolve().await;
        assert_eq!(desk.pending(), left);
        assert_eq!(desk.picture().len(), 4 - left);
    }
}

// CONTRACT G10, S5: where nobody could finalize it, nothing is staged and nothing written.
#[tokio::test]
async fn g10_s5_where_nobody_could_confirm_a_write_is_refused() {
    let desk = Desk::new(&[("a.txt", "one\n")]);
    let _ = desk.host.session().next_turn(&xd_session::TurnRequest::with_tools(["read"]));
    let refused = desk.refused("a.txt", "two\n").await;
    assert!(refused.starts_with("Nothing was staged: the tool that finalizes"), "{refused}");
}

// Case 56: a `write` for devices only stays one.
#[tokio::test]
async fn case_056_a_write_for_devices_only_stages_no_file_either() {
    let desk = Desk::with(&[("a.txt", "one\n")], |b| b.writes(WriteScope::DevicesOnly));
    let refused = desk.refused("a.txt", "two\n").await;
    assert!(refused.contains("`write` reaches xd:// devices only"), "{refused}");
    assert!(desk.host.definitions()[1].description.contains("it writes no files"));
}

// The model is told what `write` does, and the default stays to write.
#[tokio::test]
async fn w1_the_definition_says_which_of_both_it_is_and_the_default_writes() {
    let desk = Desk::new(&[]);
    let staged = &desk.host.definitions()[1].description;
    assert!(staged.starts_with("Proposes to create or replace a file"), "{staged}");
    assert_eq!(desk.host.policy().file_writes(), FileWrites::Staged);

    let plain = Desk::with(&[], |builder| builder.policy(Policy::default()));
    assert_eq!(plain.host.policy().file_writes(), FileWrites::AtOnce);
    assert!(plain.host.definitions()[1].description.starts_with("Creates or replaces a file"));
    let result = plain.write("a.txt", "x").await;
    assert_eq!(result.content, ["Wrote a.txt (created, 1 byte)."]);
    assert_eq!((plain.pending(), plain.bytes("a.txt")), (0, b"x".to_vec()));
    // Whichever is set first.
    let session = std::sync::Arc::new(xd_session::Session::new());
    let workspace = Workspace::open(plain.folder.path()).unwrap();
    let host = Host::builder(session, workspace)
        .policy(Policy::default().stage_writes())
        .writes(WriteScope::Files)
        .build();
    assert!(host.definitions()[1].description.starts_with("Proposes"));
}
