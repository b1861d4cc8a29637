//! Sessions on the disk: they go on, with what was pending.

use std::os::unix::fs::PermissionsExt as _;

use super::{agent, edit, events, folder, results, script, text, write};

// CONTRACT E3, E4
#[test]
fn e3_a_session_goes_on_and_what_was_pending_is_offered_again() {
    let folder = folder(&[edit("move fast", "move well")]);
    let first = agent(&folder, &["-p", "--max-turns", "1", "Mend the motto."]);
    assert_eq!(first.status, 1, "{first:?}");
    assert_eq!(folder.get("motto.txt"), "move fast\n");
    script(
        &folder,
        "script.jsonl",
        &[write("xd://resolve@1", "It still is right."), text("It moves well now.")],
    );
    let second = agent(&folder, &["--json", "--resume", "Go on."]);
    assert_eq!(second.status, 0, "{second:?}");
    assert_eq!(events(&second)[0]["session"], "agent-1");
    assert!(results(&second)[0].contains("Applied"), "{second:?}");
    assert_eq!(folder.get("motto.txt"), "move well\n");
    // One history: both prompts are in it, for its owner alone.
    let transcript = folder.path().join(".xd/sessions/agent-1/transcript.jsonl");
    let kept = std::fs::read_to_string(&transcript).unwrap();
    assert!(kept.contains("Mend the motto.") && kept.contains("Go on."), "{kept}");
    assert_eq!(std::fs::metadata(&transcript).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn every_run_is_a_session_and_the_last_one_used_is_resumed() {
    let folder = folder(&[text("Heard.")]);
    let name = |arguments: &[&str]| {
        let run = agent(&folder, arguments);
        assert_eq!(run.status, 0, "{run:?}");
        events(&run)[0]["session"].as_str().unwrap().to_owned()
    };
    assert_eq!(name(&["--json", "One."]), "agent-1");
    assert_eq!(name(&["--json", "Two."]), "agent-2");
    assert_eq!(name(&["--json", "--resume=agent-1", "More."]), "agent-1");
    assert_eq!(name(&["--json", "--resume", "More."]), "agent-1");
    assert_eq!(name(&["--json", "Three."]), "agent-3");
}

#[test]
fn a_session_that_is_not_there_is_told() {
    let folder = folder(&[text("Heard.")]);
    agent(&folder, &["-p", "--resume", "Go on."])
        .is_plain_error("no session of the agent to resume");
    agent(&folder, &["-p", "One."]);
    let run = agent(&folder, &["-p", "--resume=agent-7", "Go on."]);
    run.is_plain_error("'agent-7'");
    assert!(run.err.contains("agent-1"), "{run:?}");
    // What a shell staged is no session of the agent.
    folder.xd(&["edit", "-p", "a", "-r", "b", "."]);
    agent(&folder, &["-p", "--resume=shell", "Go on."]).is_plain_error("'shell'");
    agent(&folder, &["-p", "--resume=../x", "Go on."]).is_plain_error("../x");
}
