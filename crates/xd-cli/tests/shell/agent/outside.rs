//! What an agent left pending, decided from a shell with `--session`.

use std::{process::Stdio, time::Duration};

use serde_json::json;

use super::{agent, call, command, edit, events, folder, results, script, text, write};
use crate::{Folder, Run};

/// A folder in which the agent left one change of the motto pending.
fn left() -> Folder {
    let folder = folder(&[edit("move fast", "move well")]);
    let run = agent(&folder, &["-p", "--max-turns", "1", "Mend the motto."]);
    assert_eq!(run.status, 1, "{run:?}");
    folder
}

fn xd(folder: &Folder, arguments: &[&str]) -> Run {
    Run::of(command(folder, arguments).output().unwrap())
}

// CONTRACT E2, D11, L1; cases 117, 123
#[test]
fn what_an_agent_left_is_seen_and_decided_from_a_shell() {
    let folder = left();
    // The shell's own session has nothing, and says who has.
    let status = xd(&folder, &["status"]);
    assert!(status.out.contains("Nothing is pending."), "{status:?}");
    assert!(
        status
            .out
            .contains("Session agent-1 has 1 open staged action: xd status --session agent-1"),
        "{status:?}"
    );
    let elsewhere = &xd(&folder, &["--json", "status"]).json()["elsewhere"];
    assert_eq!(*elsewhere, json!([{ "session": "agent-1", "open": 1 }]));
    xd(&folder, &["resolve", "It is right."]);
    assert_eq!(folder.get("motto.txt"), "move fast\n");

    let status = xd(&folder, &["status", "--session", "agent-1"]);
    for shown in ["1 staged action is pending", "motto.txt", "xd resolve --session agent-1 1"] {
        assert!(status.out.contains(shown), "{status:?}");
    }
    assert!(!status.out.contains("Session "), "{status:?}");
    let shown = xd(&folder, &["show", "--session", "agent-1"]);
    assert!(shown.out.contains("move well"), "{shown:?}");
    let diff = xd(&folder, &["show", "--diff", "--session=agent-1", "1"]);
    assert!(diff.out.contains("+move well"), "{diff:?}");

    let run = xd(&folder, &["resolve", "--session", "agent-1", "1", "I looked at it."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert_eq!(folder.get("motto.txt"), "move well\n");
    let again = xd(&folder, &["resolve", "--session", "agent-1", "1", "Again."]);
    again.is_plain_error("already applied");
    assert!(again.err.contains("xd log --session agent-1"), "{again:?}");
    let log = xd(&folder, &["log", "--session", "agent-1"]);
    assert!(log.out.contains("by a person") && log.out.contains("I looked at it."), "{log:?}");
    assert!(xd(&folder, &["log"]).out.contains("Nothing was decided yet."));

    let undone = xd(&folder, &["undo", "--session", "agent-1"]);
    assert!(undone.out.contains("`xd redo --session agent-1 1`"), "{undone:?}");
    assert_eq!(folder.get("motto.txt"), "move fast\n");
    assert_eq!(xd(&folder, &["redo", "--session", "agent-1"]).status, 0);
    assert_eq!(folder.get("motto.txt"), "move well\n");

    // The model hears of all of it with the next prompt, and of nothing twice.
    script(&folder, "script.jsonl", &[text("I see.")]);
    agent(&folder, &["-p", "--resume", "Go on."]);
    agent(&folder, &["-p", "--resume", "And on."]);
    let kept = folder.get(".xd/sessions/agent-1/transcript.jsonl");
    assert_eq!(kept.matches("myself: I looked at it.").count(), 1, "{kept}");
    assert_eq!(kept.matches("(Undo: @1").count(), 1, "{kept}");
    assert_eq!(kept.matches("I applied staged action").count(), 3, "{kept}");
}

// CONTRACT F7
#[test]
fn f7_what_went_stale_is_staged_anew_in_its_own_session() {
    let folder = left();
    folder.put("motto.txt", "Our motto:\n\n\n\n\n\n\n\nmove fast\n");
    let refused = xd(&folder, &["resolve", "--session", "agent-1", "It is right."]);
    refused.is_plain_error("motto.txt");
    assert!(refused.err.contains("xd restage --session agent-1 1"), "{refused:?}");
    let again = xd(&folder, &["restage", "--session", "agent-1"]);
    assert!(again.out.contains("It supersedes @1"), "{again:?}");
    let run = xd(&folder, &["reject", "--session", "agent-1", "2", "Not now."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(xd(&folder, &["status"]).out.trim_end().ends_with("Nothing is pending."));
}

#[test]
fn a_session_that_is_not_there_is_named_with_those_that_are() {
    let folder = left();
    for arguments in [
        &["status", "--session", "agent-7"][..],
        &["show", "--session", "agent-7"],
        &["resolve", "--session", "agent-7", "It is right."],
        &["reject", "--session", "agent-7", "It is wrong."],
        &["undo", "--session", "agent-7"],
        &["restage", "--session", "agent-7"],
        &["log", "--session", "agent-7"],
    ] {
        let run = xd(&folder, arguments);
        run.is_plain_error("there is no session 'agent-7' here");
        assert!(run.err.contains("There are agent-1."), "{run:?}");
    }
    xd(&folder, &["status", "--session", "../x"]).is_plain_error("../x");
    assert!(!folder.path().join(".xd/sessions/agent-7").exists(), "nothing is made");
}

// CONTRACT D11, F8, E2: who is at work in a session keeps it, and is named.
#[test]
fn f8_a_session_in_use_is_looked_at_and_not_touched() {
    let sleep = call("bash", json!({ "command": "touch begun; sleep 60" }));
    let folder = folder(&[edit("move fast", "move well"), write("xd://reject", "No."), sleep]);
    let mut arguments = vec!["agent", "--model", "script:script.jsonl", "-p", "--allow-bash"];
    arguments.extend(["--approval", "yolo", "Mend the motto."]);
    let mut child =
        command(&folder, &arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    for _ in 0..1_500 {
        if folder.path().join("begun").exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let looked = xd(&folder, &["log", "--session", "agent-1"]);
    let refused = xd(&folder, &["undo", "--session", "agent-1"]);
    let restaged = xd(&folder, &["restage", "--session", "agent-1", "1"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(looked.out.contains("discarded by a model"), "{looked:?}");
    for run in [refused, restaged] {
        run.is_plain_error("the session 'agent-1' is in use by process");
        assert!(run.err.contains(&format!("process {};", child.id())), "{run:?}");
        assert!(run.err.contains("xd status --session agent-1"), "{run:?}");
    }
}

// CONTRACT W7: a session that plans changes nothing, whoever asks from wherever.
#[test]
fn w7_a_session_that_plans_goes_on_planning() {
    let folder = left();
    script(&folder, "script.jsonl", &[text("I plan.")]);
    let run = agent(&folder, &["--json", "--resume", "--plan", "Plan it."]);
    assert_eq!(events(&run)[0]["session"], "agent-1");
    let refused = xd(&folder, &["resolve", "--session", "agent-1", "It is right."]);
    refused.is_plain_error("plan");
    assert!(refused.err.contains("xd agent --resume=agent-1"), "{refused:?}");
    assert_eq!(folder.get("motto.txt"), "move fast\n");
    let run = xd(&folder, &["reject", "--session", "agent-1", "It is wrong."]);
    assert_eq!(run.status, 0, "{run:?}");
    script(&folder, "script.jsonl", &[write("motto.txt", "x\n"), text("I still plan.")]);
    let run = agent(&folder, &["--json", "--resume", "Go on."]);
    assert!(results(&run)[0].contains("plan"), "{run:?}");
}
