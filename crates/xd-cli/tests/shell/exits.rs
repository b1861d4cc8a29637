//! The exit statuses of `docs/CLI.md`, one by one.

use std::{fs, path::Path, process::Stdio};

use super::{Folder, Run};

/// The rows of the table in the document: status, command, when.
fn documented() -> Vec<(i32, String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/CLI.md");
    let text = fs::read_to_string(path).unwrap();
    let (_, table) = text.split_once("<!-- exit statuses -->").unwrap();
    table
        .lines()
        .skip_while(|line| !line.starts_with("| ---"))
        .skip(1)
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            (cells[0].parse().unwrap(), cells[1].trim_matches('`').to_owned(), cells[2].to_owned())
        })
        .collect()
}

/// A folder where `when` is so.
fn folder(when: &str) -> Folder {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    match when {
        "nothing is pending"
        | "nothing matches"
        | "always"
        | "it is no command"
        | "there is no such number"
        | "nothing can be undone"
        | "nothing is half done" => {
            if when == "nothing matches" {
                folder.put("a.ts", "other(1);\n");
            }
        }
        "one is pending" | "the reason is missing" => {
            folder.stage();
        }
        "its file changed" => {
            folder.stage();
            folder.put("a.ts", "old(1);\nold(2);\n");
        }
        "it was applied" | "one was applied" => {
            folder.stage();
            folder.xd(&["resolve", "1", "It is right."]);
        }
        other => panic!("docs/CLI.md says of a status '{other}', which no test sets up"),
    }
    folder
}

#[test]
fn every_documented_status_is_the_one_that_a_command_ends_with() {
    let rows = documented();
    assert!(rows.len() >= 16, "the table has {} rows", rows.len());
    for (status, command, when) in rows {
        let folder = folder(&when);
        let mut arguments = Vec::new();
        let mut quoted = false;
        for part in command.strip_prefix("xd ").unwrap().split('\'') {
            match quoted {
                true => arguments.push(part),
                false => arguments.extend(part.split_whitespace()),
            }
            quoted = !quoted;
        }
        let before = folder.tree();
        let run = folder.xd(&arguments);
        assert_eq!(run.status, status, "{command} where {when}: {run:?}");
        if status == 2 {
            assert_eq!(folder.tree(), before, "{command}: an error changes nothing");
            assert_eq!(run.err.lines().count(), 2, "{command}: {run:?}");
        }
    }
}

// A reader that leaves early ends the output, not the work.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_failure() {
    let folder = Folder::new(&[("a.ts", &"old(1);\n".repeat(20_000))]);
    folder.stage();
    let mut child = folder
        .command(&["show", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.status, run.err.as_str()), (0, ""), "{run:?}");
}

#[test]
fn completions_and_pages_cover_every_command() {
    let folder = Folder::new(&[]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let run = folder.xd(&["completions", shell]);
        assert_eq!(run.status, 0, "{run:?}");
        for command in ["status", "restage", "completions"] {
            assert!(run.out.contains(command), "{shell} knows no {command}");
        }
    }
    folder.xd(&["completions", "tcsh"]).is_plain_error("tcsh");
    let run = folder.xd(&["man", "--dir", "pages"]);
    assert_eq!(run.status, 0, "{run:?}");
    let pages: Vec<String> =
        folder.tree().into_keys().filter(|name| name.ends_with(".1")).collect();
    for page in ["pages/xd.1", "pages/xd-status.1", "pages/xd-edit.1", "pages/xd-man.1"] {
        assert!(pages.iter().any(|name| name == page), "{page} is missing: {pages:?}");
        let text = folder.get(page);
        let title = page.trim_start_matches("pages/").trim_end_matches(".1");
        assert!(text.contains(".TH") && text.contains("NAME"), "{page}");
        assert!(text.replace('\\', "").contains(&format!("{title} - ")), "{page}: {text}");
        assert!(text.contains("no\\-pager"), "{page} has the options that go everywhere");
    }
    folder.xd(&["man", "frobnicate"]).is_plain_error("frobnicate");
    assert!(folder.xd(&["man", "show"]).out.contains("xd\\-show"));
}
