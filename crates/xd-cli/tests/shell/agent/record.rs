//! A whole session in a real terminal: as docs/AGENT.md shows it, and how it is left.

use std::{fs, path::PathBuf};

use serde_json::json;

use super::{call, folder, text, tmux::Tmux};
use crate::Folder;

const BEGIN: &str = "<!-- record: written by a test -->\n```text\n";
const END: &str = "```\n<!-- record: end -->\n";
/// How the record is written anew.
const WRITE: &str = "XD_WRITE_DOCS=1 cargo test -p xd-cli --test shell the_record_in_the_docs";

fn document() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/AGENT.md")
}

/// The project of the record, as the document tells to make it.
fn project() -> Folder {
    let script = document().with_file_name("agent").join("script.jsonl");
    Folder::new(&[
        ("greet.py", "def greet(name):\n    return \"Hello, \" + name\n"),
        ("main.py", "from greet import *\n\nprint(greet(\"world\"))\nprint(greet(\"moon\"))\n"),
        ("script.jsonl", &fs::read_to_string(script).unwrap()),
    ])
}

/// What is typed, and the prompt that stands there afterwards.
const TYPED: &[(&str, &str)] = &[
    ("xd agent --model script:script.jsonl", "xd>"),
    ("Rename greet to welcome everywhere.", "Apply @1? [y]es, [n]o, [e]dit the reason:"),
    ("y", "xd>"),
    ("Now let it shout.", "Apply @2? [y]es, [n]o, [e]dit the reason:"),
    ("n", "What should the model know?"),
    ("Not before the release.", "xd>"),
    ("Greet the stars, not the moon.", "xd @3>"),
    ("/status", "xd @3>"),
    ("/quit", "$"),
    ("xd status", "$"),
    ("xd resolve --session agent-1 \"I looked at it.\"", "$"),
    ("xd undo --session agent-1 \"The moon was better.\"", "$"),
    ("cat main.py", "$"),
];

// CONTRACT W6, G5, G7, L1: the record in the documents is what a terminal shows.
#[test]
fn the_record_in_the_docs_is_what_a_terminal_shows() {
    let Ok(kept) = fs::read_to_string(document()) else { return };
    let folder = project();
    let Some(tmux) = Tmux::open(folder.path(), (96, 250)) else { return };
    tmux.is_at("$", "");
    for (line, prompt) in TYPED {
        let before = tmux.screen();
        tmux.types(line, "Enter");
        let typed = format!("{before} {line}");
        tmux.is_at(prompt, &typed);
    }
    let screen = tmux.screen();
    let record = screen.strip_suffix("\n$").unwrap_or(&screen);
    let (head, rest) = kept.split_once(BEGIN).expect("the document has a begin mark");
    let (_, tail) = rest.split_once(END).expect("the document has an end mark");
    let wanted = format!("{head}{BEGIN}{record}\n{END}{tail}");
    if std::env::var_os("XD_WRITE_DOCS").is_some() {
        fs::write(document(), wanted).unwrap();
    } else {
        assert!(kept == wanted, "docs/AGENT.md shows another session than\n{record}\n{WRITE}");
    }
    // It is the session that it is meant to be.
    assert_eq!(folder.get("greet.py"), "def welcome(name):\n    return \"Hello, \" + name\n");
    assert!(folder.get("main.py").contains("welcome(\"moon\")"), "{}", folder.get("main.py"));
}

/// Once cancels the turn, twice leaves; the terminal is as it was, and the session goes on.
#[test]
fn ctrl_c_once_and_twice_in_a_real_terminal() {
    let sleep = call("bash", json!({ "command": "touch begun; sleep 60" }));
    let folder = folder(&[sleep, text("I go on.")]);
    let Some(tmux) = Tmux::open(folder.path(), (90, 60)) else { return };
    tmux.is_at("$", "");
    tmux.types("stty -a > before", "Enter");
    let agent = "xd agent --model script:script.jsonl --allow-bash --approval yolo";
    tmux.types(agent, "Enter");
    tmux.sees("/help tells");
    tmux.types("Wait.", "Enter");
    for _ in 0..2_000 {
        if folder.path().join("begun").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    tmux.types("", "C-c");
    tmux.sees("Aborted; `xd agent --resume=agent-1` goes on.");
    tmux.is_at("xd>", "");
    tmux.types("", "C-c");
    tmux.is_at("$", "");
    tmux.types("echo left with $?; stty -a > after; cmp before after && echo as before", "Enter");
    tmux.sees("left with 130");
    tmux.sees("\nas before");
    assert!(tmux.shows_cursor());
    // A run without a conversation: once is enough, and the shell hears that it was aborted.
    fs::remove_file(folder.path().join("begun")).unwrap();
    tmux.types(&format!("{agent} -p Wait."), "Enter");
    for _ in 0..2_000 {
        if folder.path().join("begun").exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    tmux.types("", "C-c");
    tmux.sees("Aborted; `xd agent --resume=agent-2` goes on.");
    tmux.types("echo and with $?", "Enter");
    tmux.sees("and with 130");
    // The first one goes on with what it knew.
    tmux.types(&format!("{agent} --resume=agent-1"), "Enter");
    tmux.sees("session agent-1, 3 messages.");
    tmux.types("", "C-d");
    tmux.types("echo gone with $?", "Enter");
    tmux.sees("gone with 0");
}
