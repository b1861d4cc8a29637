//! One prompt, one answer: what is printed, how it exits, what it leaves.

use std::{
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{agent, call, command, edit, events, folder, piped, results, script, text, write};
use crate::Run;

#[test]
fn the_last_word_is_all_that_is_printed() {
    let folder = folder(&[
        edit("move fast", "move well"),
        write("xd://resolve", "The motto is meant so."),
        text("It moves well now."),
    ]);
    let run = agent(&folder, &["-p", "Mend the motto."]);
    assert_eq!((run.status, run.out.as_str()), (0, "It moves well now.\n"), "{run:?}");
    assert_eq!(run.err, "", "{run:?}");
    assert_eq!(folder.get("motto.txt"), "move well\n");
}

#[test]
fn with_json_every_event_is_a_line() {
    let folder = folder(&[
        edit("move fast", "move well"),
        write("xd://resolve", "The motto is meant so."),
        text("Done."),
    ]);
    let run = agent(&folder, &["--json", "Mend", "the", "motto."]);
    assert_eq!(run.status, 0, "{run:?}");
    let events = events(&run);
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "session", "prompt", "turn", "call", "result", "hidden", "turn", "call", "result",
            "turn", "text", "stopped"
        ]
    );
    assert_eq!(events[0]["session"], "agent-1");
    assert_eq!(events[1]["text"], "Mend the motto.");
    assert_eq!(events.last().unwrap()["stop"], json!({ "stop": "done" }));
}

#[test]
fn without_a_terminal_the_prompt_comes_from_standard_input() {
    let folder = folder(&[text("Heard.")]);
    let run = piped(&folder, &["agent", "-m", "script:script.jsonl"], "Say something.\n");
    assert_eq!((run.status, run.out.as_str()), (0, "Heard.\n"), "{run:?}");
    for arguments in [&["agent", "-m", "script:script.jsonl"][..], &["agent", "-p"]] {
        Run::of(command(&folder, arguments).output().unwrap()).is_plain_error("there is no prompt");
    }
}

#[test]
fn the_tools_are_those_that_were_asked_for() {
    let folder = folder(&[
        call("grep", json!({ "pattern": "fast" })),
        call("glob", json!({ "pattern": "*.txt" })),
        call("bash", json!({ "command": "cat motto.txt" })),
        text("Done."),
    ]);
    let without = results(&agent(&folder, &["--json", "Look."]));
    assert!(without[0].starts_with("motto.txt:1: move fast"), "{without:?}");
    assert!(without[1].starts_with("motto.txt\n"), "{without:?}");
    assert!(without[2].starts_with("Unknown tool `bash`"), "{without:?}");
    let with = agent(&folder, &["--json", "--allow-bash", "--approval", "yolo", "Look."]);
    assert_eq!(results(&with)[2], "move fast\n");
    // It reaches further than writing, so write alone does not let it run.
    let asked = agent(&folder, &["--json", "--allow-bash", "Look."]);
    assert!(results(&asked)[2].contains("nobody is there to approve it"), "{asked:?}");
    assert!(asked.out.contains("--approval yolo"), "{asked:?}");
}

// A command must never see a key.
#[test]
fn a_command_sees_no_key() {
    let folder = folder(&[call("bash", json!({ "command": "env" })), text("Done.")]);
    folder.put("home/xd/config.toml", "bash_env = ['WANTED']\n");
    let arguments = [
        "--json",
        "agent",
        "-m",
        "script:script.jsonl",
        "--allow-bash",
        "--approval",
        "yolo",
        "Look.",
    ];
    let mut command = command(&folder, &arguments);
    command.env("OPENAI_API_KEY", "sk-secret").env("WANTED", "seen").env("OTHER", "unseen");
    let seen = results(&Run::of(command.output().unwrap())).remove(0);
    assert!(seen.contains("WANTED=seen") && seen.contains("PATH="), "{seen}");
    assert!(!seen.contains("secret") && !seen.contains("OTHER"), "{seen}");
}

#[test]
fn staged_writes_have_a_preview_and_are_not_made_unasked() {
    let folder =
        folder(&[write("new.txt", "hello\n"), text("I leave it."), text("Still."), text("")]);
    let run = agent(&folder, &["-p", "--stage-writes", "--max-turns", "2", "Write it."]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(!folder.path().join("new.txt").exists());
    assert!(run.err.contains("as many turns as it may") && run.err.contains("--resume=agent-1"));
}

// CONTRACT G7
#[test]
fn g7_a_run_that_leaves_something_pending_says_so_and_ends_with_one() {
    let mut replies = vec![edit("move fast", "move well")];
    replies.extend((0..10).map(|_| text("I would rather talk.")));
    let folder = folder(&replies);
    let run = agent(&folder, &["-p", "Mend the motto."]);
    assert_eq!(run.status, 1, "{run:?}");
    assert!(run.err.contains("@1 was not decided") && run.err.contains("stays pending"), "{run:?}");
    assert_eq!(folder.get("motto.txt"), "move fast\n");
}

// CONTRACT P1, W7
#[test]
fn plan_mode_holds_in_one_answer_too() {
    let folder = folder(&[
        write("motto.txt", "gone\n"),
        write("local://motto-plan.md", "# Plan\n"),
        write("xd://propose", "motto"),
        text("Waiting."),
    ]);
    let run = agent(&folder, &["-p", "--plan", "Plan it."]);
    assert_eq!((run.status, run.out.as_str()), (0, "Waiting.\n"), "{run:?}");
    assert!(run.err.contains("the plan 'motto' waits for a person"), "{run:?}");
    assert_eq!(folder.get("motto.txt"), "move fast\n");
}

#[test]
fn a_recorded_run_can_be_repeated() {
    let folder = folder(&[
        edit("move fast", "move well"),
        write("xd://resolve", "The motto is meant so."),
        text("It moves well now."),
    ]);
    let arguments = ["record", "-o", "run.jsonl", "-m", "script:script.jsonl", "Mend the motto."];
    let recorded = Run::of(command(&folder, &arguments).output().unwrap());
    assert_eq!((recorded.status, recorded.out.as_str()), (0, "It moves well now.\n"));
    assert!(recorded.err.contains("--model script:run.jsonl repeats it"), "{recorded:?}");
    folder.put("motto.txt", "move fast\n");
    let again = ["agent", "-p", "-m", "script:run.jsonl", "Mend the motto."];
    let again = Run::of(command(&folder, &again).output().unwrap());
    assert_eq!((again.status, again.out.as_str()), (0, "It moves well now.\n"), "{again:?}");
    assert_eq!(folder.get("motto.txt"), "move well\n");
    // A recording is not written over.
    Run::of(command(&folder, &arguments).output().unwrap()).is_plain_error("'run.jsonl'");
}

#[test]
fn an_error_of_the_model_is_plain_and_the_session_is_kept() {
    let folder = folder(&[]);
    let error = json!({ "error": { "kind": "failed", "message": "the line is dead" } });
    folder.put("script.jsonl", &error.to_string());
    let run = agent(&folder, &["-p", "Go."]);
    run.is_plain_error("the line is dead");
    assert!(run.err.contains("--resume=agent-1"), "{run:?}");
    let events: Vec<Value> = events(&agent(&folder, &["--json", "Go."]));
    assert!(events.last().unwrap()["error"].as_str().unwrap().contains("the line is dead"));
}

#[test]
fn a_script_that_cannot_be_read_names_the_line() {
    let folder = folder(&[]);
    agent_with(&folder, "script:none.jsonl").is_plain_error("`none.jsonl`");
    folder.put("script.jsonl", "{\"reply\": {}}\n{\"replay\": {}}\n");
    agent_with(&folder, "script:script.jsonl").is_plain_error("line 2 of the script");
    script(&folder, "script.jsonl", &[text("Fine.")]);
    assert_eq!(agent_with(&folder, "script:script.jsonl").out, "Fine.\n");
}

fn agent_with(folder: &crate::Folder, model: &str) -> Run {
    Run::of(command(folder, &["agent", "-p", "-m", model, "Go."]).output().unwrap())
}

// CONTRACT G12: an interrupt ends the run with every call answered, and says how to go on.
#[test]
fn g12_an_interrupt_ends_the_run_whole() {
    let sleep = call("bash", json!({ "command": "echo $$ > id; sleep 60" }));
    let folder = folder(&[sleep, text("Never said.")]);
    let arguments =
        ["agent", "-p", "-m", "script:script.jsonl", "--allow-bash", "--approval", "yolo", "Wait."];
    let child =
        command(&folder, &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !folder.path().join("id").exists() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the command never began");
        thread::sleep(Duration::from_millis(20));
    }
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.status, run.out.as_str()), (130, ""), "{run:?}");
    assert!(run.err.contains("Aborted") && run.err.contains("--resume=agent-1"), "{run:?}");
    let transcript = folder.get(".xd/sessions/agent-1/transcript.jsonl");
    assert!(transcript.lines().last().unwrap().contains("tool_result"), "{transcript}");
}
