//! Slips on the command line, refusals, and output that does not arrive.

use std::{
    fs::OpenOptions,
    process::{Command, Stdio},
};

use crate::{Folder, Run};

// CONTRACT D1, D2: a slip in a number never decides about the most recent action.
#[test]
fn d1_a_number_mistyped_decides_nothing() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    for verb in ["resolve", "reject"] {
        for words in [
            &["0", "x"][..],
            &["18446744073709551616", "x"],
            &["#1", "no"],
            &["1.", "no"],
            &["@0", "no"],
            &["+1"],
            &["+1", "x"],
            &["１"],
            &["１", "x"],
            &["0"],
            &["--", "-1", "x"],
            &["2 callers", "remain"],
        ] {
            let mut arguments = vec![verb];
            arguments.extend(words);
            let run = folder.xd(&arguments);
            run.is_plain_error("is not the number of a staged action");
            assert!(run.err.contains("2 callers remain."), "{run:?}");
        }
        folder.xd(&[verb, "", "x"]).is_plain_error("the first word is blank");
        assert_eq!(
            folder.xd(&["--json", verb, "0", "x"]).json()["error"],
            "'0' is not the number of a staged action"
        );
    }
    assert_eq!(folder.get("a.ts"), "old(1);\n");
    assert_eq!(folder.xd(&["--json", "status"]).json()["pending"][0]["number"], 1);
    // A sentence that begins so is a reason where it is quoted whole.
    assert_eq!(folder.xd(&["resolve", "2 callers remain."]).status, 0);
    assert_eq!(folder.xd(&["--json", "log"]).json()["reason"], "2 callers remain.");
}

#[test]
fn usage_errors_are_two_lines_as_all_others() {
    let folder = Folder::new(&[]);
    for (arguments, what, hint) in [
        (&["resolve"][..], "[N] REASON", "usage: xd resolve [N] REASON; `xd help resolve`"),
        (&["write", "xd://resolve"], "<TEXT>", "`xd help write` says more."),
        (&["show", "abc"], "'abc'", "`xd --help`"),
        (&["-C"], "--directory", "`xd --help`"),
        (&["frobnicate"], "'frobnicate'", "`xd --help`"),
        (&["statu"], "'statu'", "'status'"),
        (&["edit", "-p", "a"], "--rewrite", "`xd help edit`"),
        (&["log", "\u{1b}]0;x\u{7}\n"], "unexpected", "usage: xd log"),
    ] {
        let run = folder.xd(arguments);
        run.is_plain_error(what);
        let second = run.err.lines().nth(1).unwrap();
        assert!(second.starts_with("    ") && second.contains(hint), "{run:?}");
        assert!(!run.err.contains('\u{1b}'), "{run:?}");
        // The same words as data.
        let mut arguments = arguments.to_vec();
        arguments.insert(0, "--json");
        let json = folder.xd(&arguments).json();
        assert_eq!(json["hint"], second.trim_start(), "{run:?}");
    }
    // Help is no mistake, and without a command it is the answer.
    for (arguments, status) in
        [(&["--help"][..], 0), (&["help", "resolve"], 0), (&["--version"], 0), (&[], 2)]
    {
        let run = folder.xd(arguments);
        assert_eq!(run.status, status, "{run:?}");
        assert!(!run.err.starts_with("xd: "), "{run:?}");
        assert_eq!(run.out.is_empty(), status == 2, "{run:?}");
    }
}

#[test]
fn usage_errors_are_json_where_json_is_wanted() {
    let folder = Folder::new(&[]);
    for arguments in [
        &["--json"][..],
        &["--json", "frobnicate"],
        &["edit", "--json"],
        &["resolve", "--json"],
        &["show", "0", "--json"],
        &["show", "--diff", "--json"],
        &["status", "--json", "--nonsense"],
        &["status", "--json", "-C"],
    ] {
        let run = folder.xd(arguments);
        assert_eq!((run.status, run.err.as_str()), (2, ""), "{arguments:?}: {run:?}");
        let answer = run.json();
        assert_eq!(answer["v"], 1);
        for key in ["error", "hint"] {
            assert!(!answer[key].as_str().unwrap().is_empty(), "{arguments:?}: {answer}");
        }
    }
    // Behind `--` it is a word like any other.
    let run = folder.xd(&["show", "0", "--", "--json"]);
    assert!(run.status == 2 && run.out.is_empty() && !run.err.is_empty(), "{run:?}");
}

// CONTRACT D11, F2
#[test]
fn d11_f2_refusals_speak_of_commands_and_not_of_addresses() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    folder.put("a.ts", "old(1);\nmine();\n");
    folder.xd(&["resolve", "Go."]).is_plain_error("The preview is stale");
    folder.xd(&["resolve", "7", "Go."]).is_plain_error("no staged action has number 7");
    assert_eq!(folder.xd(&["reject", "1", "No."]).status, 0);
    folder.xd(&["resolve", "1", "Go."]).is_plain_error("@1 is already discarded");
    for arguments in [&["resolve", "1", "Go."][..], &["reject", "9", "No."], &["resolve", "No."]] {
        let run = folder.xd(arguments);
        assert!(!(run.out + &run.err).contains("xd://"), "{arguments:?}");
    }
    let json = folder.xd(&["resolve", "1", "Go.", "--json"]).json();
    assert_eq!(json["error"], "staged action @1 is already discarded; nothing was done");
    assert!(json["hint"].is_string() && json["result"]["is_error"] == true, "{json}");
}

// CONTRACT F7
#[test]
fn f7_what_an_apply_made_stale_is_said_in_commands() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    folder.stage();
    let run = folder.xd(&["resolve", "1", "Go."]);
    assert_eq!(run.status, 0, "{run:?}");
    assert!(run.out.contains("@2") && run.out.contains("is stale now"), "{run:?}");
    assert!(run.out.contains("xd reject 2 \"why\"") && !run.out.contains("xd://"), "{run:?}");
    assert_eq!(run.out.matches("is stale now").count(), 1, "{run:?}");
}

fn with_output(mut command: Command, output: impl Into<Stdio>) -> Run {
    Run::of(command.stdout(output).stderr(Stdio::piped()).output().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn output_that_cannot_be_written_is_an_error() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    for arguments in [
        &["status"][..],
        &["status", "--json"],
        &["show", "--diff"],
        &["log", "--help"],
        &["--version"],
        &["devices"],
        &["read", "xd://"],
        &["frobnicate", "--json"],
        &["demo", "--json"],
        &["resolve", "Yes."],
    ] {
        let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
        let run = with_output(folder.command(arguments), full);
        assert_eq!(run.status, 2, "{arguments:?}: {run:?}");
        assert!(run.err.starts_with("xd: standard output: "), "{arguments:?}: {run:?}");
        assert_eq!(run.err.lines().count(), 2, "{arguments:?}: {run:?}");
    }
    // What was decided stands, and the message says so.
    assert_eq!(folder.get("a.ts"), "new(1);\n");
}

#[test]
fn a_closed_pipe_is_quiet_and_stops_nothing() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    for arguments in [&["status"][..], &["log", "--json"], &["--help"], &["resolve", "Yes."]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let run = with_output(folder.command(arguments), writer);
        assert_eq!((run.status, run.err.as_str()), (0, ""), "{arguments:?}: {run:?}");
    }
    assert_eq!(folder.get("a.ts"), "new(1);\n");
}
