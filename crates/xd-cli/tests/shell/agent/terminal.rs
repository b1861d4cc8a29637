//! The conversation, in a terminal of its own.

use std::{
    io::{Read as _, Write as _},
    process::Child,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use pty_process::blocking::{Command, Pty};
use serde_json::json;

use super::{call, edit, folder, text, wire::says_slowly, write};
use crate::Folder;

/// A terminal in which the agent runs.
struct Terminal {
    pty: Arc<Pty>,
    child: Child,
    screen: Arc<Mutex<vt100::Parser>>,
}

const PATIENCE: Duration = Duration::from_secs(30);

impl Terminal {
    fn open(folder: &Folder, flags: &[&str]) -> Self {
        Self::open_with(folder, "script:script.jsonl", flags)
    }

    fn open_with(folder: &Folder, model: &str, flags: &[&str]) -> Self {
        let (rows, columns) = (120, 100);
        let (pty, pts) = pty_process::blocking::open().unwrap();
        pty.resize(pty_process::Size::new(rows, columns)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_xd"))
            .args(["agent", "--model", model])
            .args(flags)
            .current_dir(folder.path())
            .env("TERM", "xterm-256color")
            .env("XDG_CONFIG_HOME", folder.path().join("home"));
        for name in ["NO_COLOR", "XD_LOG", "XD_MODEL", "XD_APPROVAL", "COLORTERM"] {
            command = command.env_remove(name);
        }
        let child = command.spawn(pts).unwrap();
        let pty = Arc::new(pty);
        let screen = Arc::new(Mutex::new(vt100::Parser::new(rows, columns, 0)));
        let (reader, into) = (Arc::clone(&pty), Arc::clone(&screen));
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = (&*reader).read(&mut buffer) {
                into.lock().unwrap().process(&buffer[..count]);
            }
        });
        Self { pty, child, screen }
    }

    /// The rows as they are seen: one that is full to its end is a row of its own.
    fn contents(&self) -> String {
        let parser = self.screen.lock().unwrap();
        let rows: Vec<String> = parser.screen().rows(0, 100).collect();
        rows.join("\n").trim_end().to_owned()
    }

    /// The line in which the cursor stands.
    fn line(&self) -> String {
        let parser = self.screen.lock().unwrap();
        let screen = parser.screen();
        let row = screen.cursor_position().0;
        screen.rows(0, 100).nth(usize::from(row)).unwrap_or_default()
    }

    fn until(&self, what: &str, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            assert!(begun.elapsed() < PATIENCE, "no {what} in:\n{}", self.contents());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn sees(&self, text: &str) {
        self.until(text, |terminal| terminal.contents().contains(text));
    }

    /// Waits until the cursor stands behind `prompt`.
    fn is_at(&self, prompt: &str) {
        self.until(prompt, |terminal| terminal.line().trim_end() == prompt.trim_end());
    }

    fn types(&self, text: &str) {
        (&*self.pty).write_all(text.as_bytes()).unwrap();
    }

    fn ends(mut self) -> i32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code().unwrap_or(-1);
            }
            assert!(begun.elapsed() < PATIENCE, "it runs still:\n{}", self.contents());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

const CTRL_C: &str = "\u{3}";
const CTRL_D: &str = "\u{4}";
/// Takes out what stands in the line.
const CTRL_U: &str = "\u{15}";

// CONTRACT W6
#[test]
fn w6_a_confirm_shows_the_whole_change_and_is_applied_on_yes() {
    let folder = folder(&[
        edit("move fast", "move well"),
        write("xd://resolve", "The motto is meant so."),
        text("It moves well now."),
    ]);
    let terminal = Terminal::open(&folder, &[]);
    terminal.is_at("xd>");
    terminal.types("Mend the motto.\r");
    terminal.sees("Apply @1? [y]es, [n]o, [e]dit the reason:");
    for shown in ["move fast", "move well", "The model's reason: The motto is meant so."] {
        terminal.sees(shown);
    }
    assert_eq!(folder.get("motto.txt"), "move fast\n");
    terminal.types("what\r");
    terminal.sees("Type y, n or e.");
    terminal.is_at("Apply @1? [y]es, [n]o, [e]dit the reason:");
    terminal.types("y\r");
    terminal.sees("It moves well now.");
    terminal.is_at("xd>");
    assert_eq!(folder.get("motto.txt"), "move well\n");
    terminal.types("/quit\r");
    assert_eq!(terminal.ends(), 0);
}

// CONTRACT W6, G7
#[test]
fn w6_a_refusal_goes_to_the_model_and_what_stays_is_in_the_prompt() {
    let folder =
        folder(&[edit("move fast", "move well"), write("xd://resolve", "The motto is meant so.")]);
    let terminal = Terminal::open(&folder, &["Mend the motto."]);
    terminal.sees("Apply @1?");
    terminal.types("n\r");
    terminal.sees("What should the model know?");
    terminal.types("Not before Friday.\r");
    // The model says nothing more, so the action is parked and waits for the person.
    terminal.sees("stays pending");
    terminal.is_at("xd @1>");
    let transcript = folder.get(".xd/sessions/agent-1/transcript.jsonl");
    assert!(
        transcript.contains("Not executed: refused: Not before Friday. Do not try"),
        "{transcript}"
    );
    assert_eq!(folder.get("motto.txt"), "move fast\n");
    terminal.types("/status\r");
    terminal.sees("1 staged action is pending.");
    terminal.is_at("xd @1>");
    terminal.types("/show 1\r");
    terminal.until("third preview", |it| it.contents().matches("Proposed:").count() == 3);
    terminal.is_at("xd @1>");
    terminal.types("/show 9\r");
    terminal.sees("no such staged action");
    terminal.is_at("xd @1>");
    terminal.types("/resolve It is Friday.\r");
    terminal.is_at("xd>");
    assert_eq!(folder.get("motto.txt"), "move well\n");
    terminal.types("/nonsense\r");
    terminal.sees("There is no command /nonsense.");
    terminal.is_at("xd>");
    terminal.types(CTRL_D);
    assert_eq!(terminal.ends(), 0);
}

// CONTRACT L1, W6
#[test]
fn l1_an_edited_reason_is_the_persons_decision() {
    let folder = folder(&[
        edit("move fast", "move well"),
        write("xd://resolve", "The motto is meant so."),
        text("So be it."),
    ]);
    let terminal = Terminal::open(&folder, &["Mend the motto."]);
    terminal.sees("Apply @1?");
    terminal.types("e\r");
    terminal.is_at("Your reason: The motto is meant so.");
    terminal.types(CTRL_U);
    terminal.types("I asked for it.\r");
    terminal.sees("So be it.");
    assert_eq!(folder.get("motto.txt"), "move well\n");
    let log = folder.get(".xd/sessions/agent-1/log.jsonl");
    let decided = log.lines().last().unwrap();
    assert!(decided.contains("I asked for it.") && decided.contains("\"person\""), "{log}");
    // Both reasons are in the log, and the model hears both with what its tool said.
    let approved = log.lines().nth_back(2).unwrap();
    assert!(approved.contains("\"approved\"") && approved.contains("The motto is meant so."));
    let transcript = folder.get(".xd/sessions/agent-1/transcript.jsonl");
    let result = transcript.lines().find(|line| line.contains("Their reason:")).unwrap();
    for said in ["Applied 1 replacement", "I asked for it.", "Yours was: The motto is meant so."] {
        assert!(result.contains(said), "{result}");
    }
    let told = folder.xd(&["log", "--session", "agent-1"]);
    assert!(told.out.contains("I asked for it. (instead of: The motto is meant so.)"), "{told:?}");
}

#[test]
fn ctrl_c_cancels_the_turn_and_twice_leaves() {
    let folder =
        folder(&[call("bash", json!({ "command": "echo $$ > id; sleep 60" })), text("I go on.")]);
    let terminal = Terminal::open(&folder, &["--allow-bash", "--approval", "yolo", "Wait."]);
    terminal.until("command", |_| folder.path().join("id").exists());
    terminal.types(CTRL_C);
    terminal.sees("Aborted;");
    terminal.is_at("xd>");
    let id = folder.get("id");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.trim()));
    assert!(stat.is_err() || stat.unwrap().contains(") Z "), "the command runs still");
    // The next prompt is not cancelled with it.
    terminal.types("Go on.\r");
    terminal.sees("I go on.");
    terminal.is_at("xd>");
    terminal.types(CTRL_C);
    terminal.sees("Ctrl-C again leaves");
    terminal.is_at("xd>");
    terminal.types(CTRL_C);
    assert_eq!(terminal.ends(), 130);
    // And all of it can be gone on with.
    let terminal = Terminal::open(&folder, &["--resume"]);
    terminal.sees("session agent-1, ");
}

#[test]
fn ctrl_c_at_a_question_cancels_the_run() {
    let folder = folder(&[write("new.txt", "hello\n"), text("I go on.")]);
    let terminal = Terminal::open(&folder, &["Write it."]);
    terminal.sees("Run it? [y]es, [n]o, [a]lways in this session:");
    terminal.sees("hello");
    terminal.types(CTRL_C);
    terminal.sees("Aborted;");
    terminal.is_at("xd>");
    assert!(!folder.path().join("new.txt").exists());
}

#[test]
fn what_is_allowed_always_is_not_asked_again() {
    let folder = folder(&[write("a.txt", "a\n"), write("b.txt", "b\n"), text("Both are there.")]);
    let terminal = Terminal::open(&folder, &["Write them."]);
    terminal.sees("Run it?");
    terminal.types("a\r");
    terminal.sees("Both are there.");
    assert_eq!((folder.get("a.txt"), folder.get("b.txt")), ("a\n".into(), "b\n".into()));
}

// CONTRACT P1, P3
#[test]
fn p3_a_plan_is_reviewed_at_the_terminal() {
    let folder = folder(&[
        write("local://motto-plan.md", "# Plan\n\nMend the motto.\n"),
        write("xd://propose", "motto"),
        text("Approved, I see."),
    ]);
    let terminal = Terminal::open(&folder, &[]);
    terminal.is_at("xd>");
    terminal.types("/plan\r");
    terminal.is_at("xd plan>");
    terminal.types("Plan it.\r");
    terminal.sees("Carry it out? [y]es, [n]o, [l]ater:");
    terminal.sees("Mend the motto.");
    terminal.types("y\r");
    terminal.sees("Approved, I see.");
    terminal.is_at("xd>");
}

// CONTRACT V3, V4: what a model says cannot act on the terminal.
#[test]
fn v4_what_a_model_says_is_inert() {
    let folder = folder(&[text("before\u{1b}[2Jafter \u{202e}turned"), text("")]);
    let terminal = Terminal::open(&folder, &["Say it."]);
    terminal.sees("after");
    terminal.is_at("xd>");
    let contents = terminal.contents();
    assert!(contents.contains("before") && !contents.contains('\u{202e}'), "{contents}");
}

#[test]
fn an_answer_is_shown_while_it_comes_and_what_it_cost_at_the_end() {
    let folder = folder(&[]);
    let (base, open) = says_slowly(&["A line.\nHalf of", " another.", "\n"]);
    let flags = ["--base-url", &base, "Say it."];
    let terminal = Terminal::open_with(&folder, "custom/slow", &flags);
    // The rest has not come yet: the half line stands above the moving one.
    terminal.until("half line", |terminal| {
        let contents = terminal.contents();
        contents.lines().any(|line| line.trim_end() == "A line.")
            && contents.lines().any(|line| line.trim_end() == "Half of")
    });
    assert!(!terminal.contents().contains("xd>"), "{}", terminal.contents());
    open.send(()).unwrap();
    terminal.sees("Half of another.");
    terminal.sees(" s · 12.3k in (12.0k cached), 67 out");
    terminal.is_at("xd>");
    assert_eq!(terminal.contents().matches("Half of").count(), 1, "{}", terminal.contents());
}
