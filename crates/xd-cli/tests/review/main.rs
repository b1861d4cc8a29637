//! `xd review` at a real terminal: the binary in tmux, driven by keys, its screens compared.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test says where it fails or why it is skipped"
)]

use std::{
    fs,
    process::{Command, Output, Stdio},
    time::{Duration, Instant},
};

const XD: &str = env!("CARGO_BIN_EXE_xd");
/// Against hanging only: a screen that does not come in this time never does.
const PATIENCE: Duration = Duration::from_secs(30);

/// A shell in a terminal of its own, on a private tmux server that goes with it.
struct Terminal {
    folder: tempfile::TempDir,
}

impl Terminal {
    /// A terminal of so many cells in a folder with `a.txt` of thirty lines, `b.txt`, and a staged
    /// patch of two changes in the one and one in the other; none where there is no tmux.
    fn open(columns: u16, rows: u16) -> Option<Self> {
        let found = Command::new("tmux").arg("-V").stdout(Stdio::null()).status();
        if !found.is_ok_and(|status| status.success()) {
            eprintln!("skipped: tmux is not here");
            return None;
        }
        let terminal = Self { folder: tempfile::tempdir().unwrap() };
        let lines: String = (1..=30).map(|n| format!("{n}\n")).collect();
        fs::write(terminal.folder.path().join("a.txt"), lines).unwrap();
        fs::write(terminal.folder.path().join("b.txt"), "b\n").unwrap();
        terminal.stage();
        terminal.begin(columns, rows);
        Some(terminal)
    }

    /// Starts a server with a shell.
    fn begin(&self, columns: u16, rows: u16) {
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let shell = "env -u NO_COLOR -u VISUAL EDITOR=./editor PS1='ready> ' TERM=screen sh";
        let new = ["-f", "/dev/null", "new-session", "-d", "-s", "s", "-x", &columns, "-y", &rows];
        let made = self.tmux(&[&new[..], &[shell]].concat());
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        self.until("ready>");
    }

    fn tmux(&self, arguments: &[&str]) -> Output {
        let socket = self.folder.path().join("tmux");
        let mut command = Command::new("tmux");
        command.arg("-S").arg(socket).args(arguments).current_dir(self.folder.path());
        command.env_remove("TMUX").output().unwrap()
    }

    fn xd(&self, arguments: &[&str]) -> Output {
        Command::new(XD)
            .arg("-C")
            .arg(self.folder.path())
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn stage(&self) {
        let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-1\n+ONE\n 2\n@@ -19,3 +19,3 @@\n 19\n\
                     -20\n+TWENTY\n 21\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-b\n+B\n";
        fs::write(self.folder.path().join("p"), patch).unwrap();
        let file = self.folder.path().join("p");
        let staged = self.xd(&["patch", file.to_str().unwrap()]);
        assert!(staged.status.success(), "{}", String::from_utf8_lossy(&staged.stderr));
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.folder.path().join(file)).unwrap()
    }

    fn screen(&self) -> String {
        String::from_utf8(self.tmux(&["capture-pane", "-p", "-t", "s"]).stdout).unwrap()
    }

    /// Waits until the screen shows `text`, and answers the screen.
    fn until(&self, text: &str) -> String {
        let from = Instant::now();
        loop {
            let screen = self.screen();
            if screen.contains(text) {
                return screen;
            }
            assert!(from.elapsed() < PATIENCE, "'{text}' is not on the screen:\n{screen}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys", "-t", "s"], keys].concat());
    }

    fn write(&self, text: &str) {
        self.keys(&["-l", text]);
    }

    /// Opens the reviewer from the shell, noting what the terminal is set to before and after.
    fn review(&self) {
        self.write(&format!("stty -a > before; {XD} review; echo status=$?; stty -a > after\n"));
        self.until("? help");
    }

    /// Waits for the shell, and sees that the terminal is as it was.
    fn is_given_back(&self, status: u8) {
        self.until(&format!("status={status}"));
        let flags = self.tmux(&["display", "-p", "-t", "s", "#{alternate_on} #{cursor_flag}"]);
        assert_eq!(String::from_utf8(flags.stdout).unwrap().trim(), "0 1");
        let from = Instant::now();
        while self.text("after").is_empty() && from.elapsed() < PATIENCE {}
        assert_eq!(self.text("before"), self.text("after"));
    }

    /// The process of the reviewer.
    fn process(&self) -> String {
        let shell = self.tmux(&["display", "-p", "-t", "s", "#{pane_pid}"]).stdout;
        let shell = String::from_utf8(shell).unwrap();
        let children = format!("/proc/{0}/task/{0}/children", shell.trim());
        fs::read_to_string(children).unwrap().trim().to_owned()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The server of this socket alone.
        self.tmux(&["kill-server"]);
    }
}

/// Everything that a screen shows but how far it is scrolled.
fn lines(screen: &str) -> Vec<&str> {
    screen.lines().map(str::trim_end).collect()
}

#[test]
fn a_change_is_rejected_the_rest_accepted_and_undone() {
    let Some(terminal) = Terminal::open(80, 24) else { return };
    terminal.review();
    let screen = terminal.until("+TWENTY");
    assert_eq!(
        lines(&screen)[..5],
        [
            " xd review  1 staged action is pending  100%",
            "- @1 Patch: 3 hunks in 2 files  [apply_patch]  2 files +3 -3",
            "  - a.txt  +2 -2",
            "    - change 1 of 2  -1,4 +1,4",
            "    1 -1",
        ]
    );
    // Folded and unfolded.
    terminal.keys(&["}", "Enter"]);
    let folded = terminal.until("  + a.txt  +2 -2");
    assert!(!folded.contains("TWENTY"));
    // The search unfolds what it finds.
    terminal.write("/twenty\n");
    terminal.until("Here: change 2 of a.txt of @1");
    // Without a reason nothing is decided.
    terminal.keys(&["r", "Enter"]);
    terminal.until("The reason is blank.");
    terminal.write("Twenty stays.");
    terminal.until("Twenty stays.");
    terminal.keys(&["Enter"]);
    terminal.until("Discarded 1 change of @1 as @2; 2 changes of it are still pending as @1.");
    assert!(!terminal.screen().contains("+TWENTY"));
    assert!(terminal.text("a.txt").starts_with("1\n"));
    // One file of what is left, then all that is left.
    terminal.keys(&["g", "}", "}", "a"]);
    terminal.until("Accept b.txt of @1, because:");
    terminal.write("B is right.\n");
    terminal.until("Applied 1 change of @1 as @3; 1 change of it is still pending as @1.");
    assert_eq!((terminal.text("b.txt").as_str(), &terminal.text("a.txt")[..2]), ("B\n", "1\n"));
    terminal.keys(&["g", "a"]);
    terminal.until("Accept all of @1, because:");
    terminal.write("So is this.\n");
    terminal.until("nothing is pending");
    let text = terminal.text("a.txt");
    assert!(text.starts_with("ONE\n") && text.contains("\n20\n"), "{text}");
    terminal.keys(&["u"]);
    terminal.until("Undo @1");
    terminal.keys(&["y"]);
    terminal.until("Undone: @1");
    assert!(terminal.text("a.txt").starts_with("1\n"));
    assert_eq!(terminal.text("b.txt"), "B\n");
    terminal.keys(&["q"]);
    terminal.is_given_back(0);
}

#[test]
fn a_stopped_or_killed_reviewer_gives_the_terminal_back() {
    let Some(terminal) = Terminal::open(60, 12) else { return };
    for (signal, status) in [("TERM", 143), ("HUP", 129), ("INT", 130)] {
        terminal.review();
        terminal.keys(&["]", "a"]);
        terminal.until("Accept change 1 of a.txt");
        let process = terminal.process();
        let killed = Command::new("kill").args(["-s", signal, &process]).status().unwrap();
        assert!(killed.success());
        terminal.is_given_back(status);
        fs::remove_file(terminal.folder.path().join("after")).unwrap();
        terminal.write("clear\n");
    }
    assert!(terminal.text("a.txt").starts_with("1\n"));
}

// A terminal that goes away, its window closed or its connection lost, takes the reviewer with it.
#[test]
fn a_reviewer_without_its_terminal_ends() {
    let Some(terminal) = Terminal::open(60, 12) else { return };
    for shell in ["exec", "trap '' HUP; exec"] {
        terminal.write(&format!("sh -c \"{shell} {XD} review\"\n"));
        terminal.until("? help");
        let process = terminal.process();
        let alive = || Command::new("kill").args(["-0", &process]).stderr(Stdio::null()).status();
        assert!(alive().unwrap().success());
        terminal.tmux(&["kill-server"]);
        let from = Instant::now();
        while alive().unwrap().success() {
            assert!(from.elapsed() < PATIENCE, "it goes on without its terminal");
            std::thread::sleep(Duration::from_millis(30));
        }
        terminal.begin(60, 12);
    }
    assert!(terminal.text("a.txt").starts_with("1\n"));
}

#[test]
fn what_others_do_meanwhile_is_seen_and_nothing_is_decided_twice() {
    let Some(terminal) = Terminal::open(80, 24) else { return };
    terminal.review();
    terminal.keys(&["a"]);
    terminal.until("because:");
    terminal.write("It is");
    assert!(terminal.xd(&["resolve", "1", "Somebody was quicker."]).status.success());
    terminal.until("@1 was decided meanwhile; nothing was done.");
    terminal.until("nothing is pending");
    fs::write(terminal.folder.path().join("b.txt"), "b\n").unwrap();
    let lines: String = (1..=30).map(|n| format!("{n}\n")).collect();
    fs::write(terminal.folder.path().join("a.txt"), lines).unwrap();
    terminal.stage();
    terminal.until("1 staged action is pending");
    fs::write(terminal.folder.path().join("b.txt"), "other\n").unwrap();
    terminal.until("STALE");
    terminal.keys(&["C-c"]);
    terminal.is_given_back(0);
}

#[test]
fn what_an_editor_leaves_is_staged_and_shown_before_it_is_accepted() {
    let Some(terminal) = Terminal::open(80, 24) else { return };
    let editor = terminal.folder.path().join("editor");
    fs::write(&editor, "#!/bin/sh\nls -ld \"$1\" \"${1%/*}\" > seen\nsed -i s/ONE/Uno/ \"$1\"\n")
        .unwrap();
    assert!(Command::new("chmod").arg("+x").arg(&editor).status().unwrap().success());
    terminal.review();
    terminal.keys(&["}", "e"]);
    terminal.until("@1 is @2 now, as edited");
    assert!(terminal.until("+Uno").contains("- @2 Patch: 3 hunks in 2 files, edited"));
    assert!(terminal.text("a.txt").starts_with("1\n"), "nothing is written yet");
    assert!(terminal.text("seen").contains("drwx------"), "{}", terminal.text("seen"));
    terminal.keys(&["g", "a"]);
    terminal.until("Accept all of @2, because:");
    terminal.write("Better so.\n");
    terminal.until("nothing is pending");
    assert!(terminal.text("a.txt").starts_with("Uno\n"));
    terminal.keys(&["q"]);
    terminal.is_given_back(0);
}

// What to use instead is said.
#[test]
fn without_a_terminal_it_is_an_error_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(XD)
        .args(["-C", folder.path().to_str().unwrap(), "review"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("needs a terminal") && said.contains("xd status"), "{said}");
}

#[test]
fn with_nothing_pending_it_says_so_and_ends() {
    let Some(terminal) = Terminal::open(80, 24) else { return };
    assert!(terminal.xd(&["reject", "1", "Not now."]).status.success());
    terminal.write(&format!("{XD} review; echo status=$?\n"));
    assert!(terminal.until("status=0").contains("Nothing is pending."));
}

// Single files and changes at a shell: the same operation.
#[test]
fn parts_are_decided_at_a_shell_and_wrong_operands_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let terminal = Terminal { folder };
    let lines: String = (1..=30).map(|n| format!("{n}\n")).collect();
    fs::write(terminal.folder.path().join("a.txt"), lines).unwrap();
    fs::write(terminal.folder.path().join("b.txt"), "b\n").unwrap();
    terminal.stage();
    for (arguments, what) in [
        (&["--files", "c.txt"][..], "'c.txt' is not among the files of this change"),
        (&["--hunks", "a.txt:3"], "'a.txt' has 2 hunks, counted from 1; 3 is none of them"),
        (&["--hunks", "a.txt"], "--hunks 'a.txt'"),
        (&["--files", "/a.txt"], "--files '/a.txt'"),
    ] {
        let refused = terminal.xd(&[&["resolve", "1", "Why."], arguments].concat());
        assert_eq!(refused.status.code(), Some(2));
        let said = String::from_utf8(refused.stderr).unwrap();
        assert!(said.contains(what) && said.contains("Nothing was decided"), "{said}");
    }
    let done = terminal.xd(&["resolve", "1", "The second.", "--hunks", "a.txt:2"]);
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.contains("Applied 1 change of @1 as @2; 2 changes of it are still"), "{said}");
    assert!(terminal.text("a.txt").contains("\nTWENTY\n"));
    let done = terminal.xd(&["reject", "1", "Not b.", "--files", "b.txt", "--json"]);
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.contains(r#""number":3,"part_of":1,"picked":1,"left":1"#), "{said}");
    // All that is left, named by its file, is the whole.
    let done = terminal.xd(&["resolve", "1", "The first too.", "--files", "a.txt"]);
    assert!(done.status.success());
    assert_eq!(terminal.text("a.txt").lines().next(), Some("ONE"));
    assert_eq!(terminal.text("b.txt"), "b\n");
    let status = String::from_utf8(terminal.xd(&["status"]).stdout).unwrap();
    assert!(status.contains("Nothing is pending."), "{status}");
}
