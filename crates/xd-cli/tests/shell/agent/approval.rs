//! Who is asked where nobody is.

use super::{agent, edit, events, folder, results, text, write};

// CONTRACT W6, L1: nobody is there, so nobody's decision is written down.
#[test]
fn w6_asking_without_a_terminal_refuses_and_names_the_flag() {
    let folder = folder(&[
        edit("move fast", "move well"),
        write("xd://resolve", "The motto is meant so."),
        write("xd://reject", "Nobody may approve it."),
        write("new.txt", "hello\n"),
        text("Nothing was done."),
    ]);
    let run = agent(&folder, &["--json", "--approval", "ask", "Mend the motto."]);
    let results = results(&run);
    // Staging changes nothing and is not asked about; what it stages is.
    assert!(results[0].starts_with("Staged as a proposal"), "{results:?}");
    for refused in [&results[1], &results[3]] {
        assert!(refused.starts_with("Not executed: refused: nobody is there"), "{refused}");
    }
    let events = events(&run);
    let hints: Vec<_> = events.iter().filter(|event| event["event"] == "unattended").collect();
    assert_eq!(hints.len(), 1, "{run:?}");
    assert!(hints[0]["hint"].as_str().unwrap().contains("--approval write"), "{run:?}");
    assert!(results[2].starts_with("Discarded"), "{results:?}");
    assert!(!folder.get(".xd/sessions/agent-1/log.jsonl").contains("person"));
    assert_eq!(folder.get("motto.txt"), "move fast\n");
    assert!(!folder.path().join("new.txt").exists());
}

#[test]
fn what_is_refused_is_said_beside_the_last_word() {
    let folder = folder(&[write("new.txt", "hello\n"), text("It was refused.")]);
    let run = agent(&folder, &["-p", "--approval", "ask", "Write it."]);
    assert_eq!(run.out, "It was refused.\n");
    assert_eq!(run.err.lines().count(), 1, "{run:?}");
    assert!(run.err.contains("needs a person's approval"), "{run:?}");
    assert!(run.err.contains("--approval write"), "{run:?}");
}

#[test]
fn the_environment_and_the_project_set_the_mode_too() {
    let replies = [write("new.txt", "hello\n"), text("Done.")];
    let project = folder(&replies);
    project.put(".xd.toml", "approval = 'ask'\n");
    assert!(results(&agent(&project, &["--json", "Write it."]))[0].contains("refused"));
    let flag = agent(&project, &["--json", "--approval", "write", "Write it."]);
    assert!(results(&flag)[0].starts_with("Wrote new.txt"), "{flag:?}");
}
