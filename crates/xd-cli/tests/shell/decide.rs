//! `xd status`, `show`, `resolve`, `reject`, `log`.

use crate::{Folder, Run};

#[test]
fn d1_resolve_applies_and_reject_discards_across_processes() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    let run = folder.xd(&["reject", "Not yet."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(
        run.out.contains("Discarded: AST Edit: 1 replacement in 1 file. Reason: Not yet."),
        "{run:?}"
    );
    assert_eq!(folder.get("a.ts"), "old(1);\n");
    // A number is never used again (CONTRACT S1).
    assert_eq!(folder.stage(), 2);
    let run = folder.xd(&["resolve", "Now it is time."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.out.contains("Applied 1 replacement in 1 file."), "{run:?}");
    assert_eq!(folder.get("a.ts"), "new(1);\n");
    let log = folder.xd(&["log"]).out;
    for wanted in
        ["@1", "discarded by a person", "Not yet.", "@2", "applied by a person", "Now it is time."]
    {
        assert!(log.contains(wanted), "{wanted}: {log}");
    }
}

// CONTRACT S3
#[test]
fn s3_without_a_number_the_newest_is_meant() {
    let folder = Folder::new(&[("a.ts", "f(1);\n"), ("b.ts", "g(1);\n")]);
    folder.xd(&["edit", "-p", "f($A)", "-r", "ff($A)", "a.ts"]);
    folder.xd(&["edit", "-p", "g($A)", "-r", "gg($A)", "b.ts"]);
    let status = folder.xd(&["status"]).out;
    let (second, first) = (status.find("@2").unwrap(), status.find("@1").unwrap());
    assert!(second < first, "{status}");
    assert!(folder.xd(&["show"]).out.contains("b.ts"));
    assert!(folder.xd(&["show", "1"]).out.contains("a.ts"));
    assert_eq!(folder.xd(&["resolve", "The second one first."]).status, 0);
    assert_eq!((folder.get("a.ts"), folder.get("b.ts")), ("f(1);\n".into(), "gg(1);\n".into()));
    assert_eq!(folder.xd(&["resolve", "1", "Then", "the", "first."]).status, 0);
    assert_eq!(folder.get("a.ts"), "ff(1);\n");
}

// CONTRACT D2
#[test]
fn d2_a_missing_or_blank_reason_decides_nothing() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    folder.xd(&["resolve", "1"]).is_plain_error("the reason is missing");
    folder.xd(&["resolve", "  "]).is_plain_error("the reason is missing");
    let long = "x".repeat(2_001);
    let run = folder.xd(&["resolve", &long]);
    run.is_plain_error("2001 characters; 2000 is the most");
    assert_eq!(folder.get("a.ts"), "old(1);\n");
    assert!(folder.xd(&["status"]).out.starts_with("1 staged action is pending."));
}

// CONTRACT D3, D4
#[test]
fn d3_d4_with_nothing_pending() {
    let folder = Folder::new(&[]);
    let run = folder.xd(&["resolve", "Go."]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.out.starts_with("Nothing is pending, so nothing was applied."), "{run:?}");
    let run = folder.xd(&["reject", "No."]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.out.starts_with("Nothing is pending, so nothing was discarded."), "{run:?}");
    assert_eq!(folder.xd(&["show"]).status, 1);
    folder.xd(&["show", "7"]).is_plain_error("no staged action has number 7");
}

// CONTRACT D11; case 19
#[test]
fn d11_a_second_confirm_hears_what_became_of_it() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    assert_eq!(folder.xd(&["resolve", "1", "Yes."]).status, 0);
    folder.put("a.ts", "old(1);\n");
    let run = folder.xd(&["resolve", "1", "Once more."]);
    run.is_plain_error("already applied");
    let run = folder.xd(&["reject", "1", "No."]);
    run.is_plain_error("already applied");
    assert_eq!(folder.get("a.ts"), "old(1);\n");
}

// CONTRACT D11; case 121
#[test]
fn d11_of_many_processes_one_wins() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    let children: Vec<_> = (0..8)
        .map(|n| {
            let verb = if n % 2 == 0 { "resolve" } else { "reject" };
            let mut command = folder.command(&[verb, "1", "Me first."]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    let runs: Vec<Run> =
        children.into_iter().map(|c| Run::of(c.wait_with_output().unwrap())).collect();
    let won = runs.iter().filter(|run| run.status == 0).count();
    assert_eq!(won, 1, "{runs:?}");
    assert!(runs.iter().all(|run| run.status == 0 || run.err.contains("already")), "{runs:?}");
    let applied = runs.iter().any(|run| run.status == 0 && run.out.contains("Applied"));
    assert_eq!(folder.get("a.ts") == "new(1);\n", applied);
}

// CONTRACT F2; case 5
#[test]
fn f2_a_stale_preview_is_refused_names_the_path_and_stays_pending() {
    let folder = Folder::new(&[("a.ts", "old(1);\n"), ("b.ts", "old(2);\n")]);
    folder.stage();
    folder.put("b.ts", "old(2);\nmine();\n");
    assert!(folder.xd(&["status"]).out.contains("stale"));
    let before = folder.tree();
    let run = folder.xd(&["resolve", "Go."]);
    run.is_plain_error("stale");
    for wanted in ["'b.ts'", "Nothing was written", "xd reject 1 \"why\""] {
        assert!(run.err.contains(wanted), "{wanted}: {run:?}");
    }
    assert_eq!(folder.tree(), before);
    assert_eq!(folder.xd(&["reject", "It changed."]).status, 0);
}

// CONTRACT W5
#[test]
fn w5_a_decided_action_stays_readable() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    folder.xd(&["reject", "No."]);
    let shown = folder.xd(&["show", "1"]);
    assert!(
        shown.status == 0 && shown.out.contains("discarded") && shown.out.contains("+new(1);"),
        "{shown:?}"
    );
    let read = folder.xd(&["read", "xd://resolve@1"]);
    assert!(
        read.status == 0 && read.out.contains("(discarded)") && read.out.contains("+new(1);"),
        "{read:?}"
    );
}

#[test]
fn json_describes_what_is_pending_and_what_was_decided() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    let status = folder.xd(&["--json", "status"]).json();
    assert_eq!(status["pending"][0]["number"], 1);
    assert_eq!(status["pending"][0]["files"][0]["path"], "a.ts");
    let decided = folder.xd(&["--json", "resolve", "Yes."]).json();
    assert_eq!(decided["result"]["details"]["xdev"]["tool"], "resolve");
    assert_eq!(decided["result"]["details"]["xdev"]["inner"]["reason"], "Yes.");
    let line = folder.xd(&["--json", "log"]).json();
    assert_eq!((line["number"].as_u64(), line["outcome"].as_str()), (Some(1), Some("applied")));
    assert_eq!(line["files"][0]["path"], "a.ts");
}

// CONTRACT F1, F4
#[test]
fn a_plain_diff_applies_with_git() {
    let folder = Folder::new(&[("a.ts", "old(1);\r\nlast(2);")]);
    folder.stage();
    let diff = folder.xd(&["show", "--diff"]).out;
    folder.put("change.patch", &diff);
    let applied = std::process::Command::new("git")
        .args(["apply", "change.patch"])
        .current_dir(folder.path())
        .output();
    let applied = applied.unwrap();
    assert!(applied.status.success(), "{applied:?}\n{diff}");
    assert_eq!(folder.get("a.ts"), "new(1);\r\nlast(2);");
}

#[test]
fn case_123_whoever_comes_later_sees_what_is_pending() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    // Each of these is a process that was not there when it was staged.
    assert_eq!(folder.xd(&["--json", "status"]).json()["pending"][0]["number"], 1);
    assert!(folder.xd(&["show"]).out.contains("+new(1);"));
    assert!(folder.xd(&["read", "xd://resolve@1"]).out.contains("(pending)"));
    // A confirm from one is seen by the next.
    assert_eq!(folder.xd(&["resolve", "1", "Yes."]).status, 0);
    assert_eq!(
        folder.xd(&["--json", "status"]).json()["pending"].as_array().map(Vec::len),
        Some(0)
    );
}

// CONTRACT W5: what is shown of an action says what became of it, with its files and its reason.
#[test]
fn w5_show_says_what_became_of_an_action() {
    let cases = [("resolve", "applied", "Applied:"), ("reject", "discarded", "Discarded:")];
    for (verb, word, title) in cases {
        let folder = Folder::new(&[("a.ts", "old(1);\n")]);
        folder.stage();
        let pending = folder.xd(&["show", "1"]).out;
        assert!(pending.contains("Proposed:") && pending.contains("@1 pending"), "{pending}");
        let pending = folder.xd(&["--json", "show", "1"]).json()["action"].clone();
        assert_eq!((pending.get("reason"), pending.get("outcome")), (None, None));
        let diff = folder.xd(&["show", "1", "--diff"]).out;
        assert_eq!(folder.xd(&[verb, "1", "It is time."]).status, 0);
        let shown = folder.xd(&["show", "1"]).out;
        for wanted in [title, &format!("@1 {word}"), "Reason: It is time.", "+new(1);"] {
            assert!(shown.contains(wanted), "{wanted}: {shown}");
        }
        assert!(!shown.contains("Proposed") && !shown.contains("pending"), "{shown}");
        let action = folder.xd(&["--json", "show", "1"]).json()["action"].clone();
        assert_eq!(action["state"], word);
        assert_eq!(action["outcome"], word);
        assert_eq!((&action["reason"], &action["who"]), (&"It is time.".into(), &"person".into()));
        assert_eq!(action["files"], pending["files"]);
        assert_eq!(action["files"][0]["path"], "a.ts");
        assert_eq!(action["preview"], pending["preview"]);
        assert_eq!(folder.xd(&["show", "1", "--diff"]).out, diff);
    }
}
