//! Output on a terminal that is longer than the terminal.

use std::{
    io::{Read as _, Write as _},
    thread,
    time::{Duration, Instant},
};

use pty_process::blocking::{Command, open};

use super::Folder;

/// Runs `xd` on a terminal of 80 columns and 24 rows. What it printed, and its exit status. Once
/// `answer.0` is seen, `answer.1` is typed.
fn on_a_terminal(
    folder: &Folder,
    arguments: &[&str],
    variables: &[(&str, &str)],
    answer: Option<(&str, &str)>,
) -> (String, i32) {
    let (pty, pts) = open().unwrap();
    pty.resize(pty_process::Size::new(24, 80)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_xd"))
        .args(arguments)
        .current_dir(folder.path())
        .env("TERM", "xterm-256color");
    for name in ["NO_COLOR", "XD_LOG", "COLORTERM", "PAGER", "XD_PAGER", "LESS", "CLICOLOR_FORCE"] {
        command = command.env_remove(name);
    }
    for (name, value) in variables {
        command = command.env(name, value);
    }
    let mut child = command.spawn(pts).unwrap();
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    let mut answer = answer;
    while let Ok(count @ 1..) = (&pty).read(&mut buffer) {
        seen.extend_from_slice(&buffer[..count]);
        if let Some((sign, typed)) = answer
            && String::from_utf8_lossy(&seen).contains(sign)
        {
            (&pty).write_all(typed.as_bytes()).unwrap();
            answer = None;
        }
    }
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return (String::from_utf8_lossy(&seen).into_owned(), status.code().unwrap_or(-1));
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "it runs still");
        thread::sleep(Duration::from_millis(20));
    }
}

fn folder() -> Folder {
    let folder = Folder::new(&[("a.ts", &"old(1);\n".repeat(500))]);
    folder.stage();
    folder
}

const MARKS: (&str, &str) = ("PAGER", "sed 's/^/paged: /'");

#[test]
fn what_may_be_long_goes_through_the_pager() {
    let folder = folder();
    for (arguments, paged) in [
        (&["show", "1"][..], true),
        (&["show", "1", "--diff"], true),
        (&["log"], false),
        (&["man"], true),
        (&["--no-pager", "show", "1"], false),
        (&["--json", "show", "1"], false),
        (&["status"], false),
    ] {
        let (out, status) = on_a_terminal(&folder, arguments, &[MARKS], None);
        assert_eq!(status, 0, "{arguments:?}: {out}");
        assert_eq!(out.contains("paged: "), paged, "{arguments:?}: {out}");
    }
    // Something was decided, so that there is something to read.
    folder.xd(&["reject", "1", "Not yet."]);
    assert!(on_a_terminal(&folder, &["log"], &[MARKS], None).0.contains("paged: "));
    // Its own variable goes before; `cat` is none; to a pipe nothing is paged.
    let own = ("XD_PAGER", "sed 's/^/own: /'");
    assert!(on_a_terminal(&folder, &["show", "1"], &[MARKS, own], None).0.contains("own: "));
    let cat = [MARKS, ("XD_PAGER", "cat")];
    let (out, _) = on_a_terminal(&folder, &["show", "1"], &cat, None);
    assert!(out.contains("new") && !out.contains("paged: "), "{out}");
    let piped = folder.command(&["show", "1"]).env("PAGER", MARKS.1).output().unwrap();
    assert!(!String::from_utf8_lossy(&piped.stdout).contains("paged: "));
}

#[test]
fn the_pager_keeps_colours_unless_it_is_told_otherwise() {
    let folder = folder();
    let says = ("PAGER", "cat > /dev/null; echo LESS=$LESS LV=$LV");
    let (out, _) = on_a_terminal(&folder, &["show", "1"], &[says], None);
    assert!(out.contains("LESS=FRX LV=-c"), "{out}");
    let (out, _) = on_a_terminal(&folder, &["show", "1"], &[says, ("LESS", "S")], None);
    assert!(out.contains("LESS=S LV=-c"), "{out}");
    let (out, _) = on_a_terminal(&folder, &["show", "1"], &[("PAGER", "cat -")], None);
    assert!(out.contains("new"), "{out}");
}

#[test]
fn a_pager_that_leaves_early_or_is_missing_is_no_failure() {
    let folder = folder();
    let (out, status) = on_a_terminal(&folder, &["show", "1"], &[("PAGER", "head -n 1")], None);
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("Proposed") && !out.contains("xd: "), "{out}");
    // What is to be shown is shown all the same.
    let none = ("PAGER", "/no/such/pager");
    let (out, status) = on_a_terminal(&folder, &["show", "1"], &[none], None);
    assert_eq!(status, 0, "{out}");
    assert_eq!(out.matches("new").count(), 500, "{out}");
}

// The key belongs to the pager: `xd` waits for it.
#[test]
fn an_interrupt_ends_the_pager_alone() {
    let folder = folder();
    let pager =
        "trap 'echo caught it; exit 0' INT; cat; echo is ready; while :; do sleep 0.1; done";
    let (out, status) =
        on_a_terminal(&folder, &["show", "1"], &[("PAGER", pager)], Some(("is ready", "\u{3}")));
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("caught it"), "{out}");
}
