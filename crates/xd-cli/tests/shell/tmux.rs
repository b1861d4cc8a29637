//! What a real terminal makes of the drawings: tmux beside the emulator of the other tests.

use std::{
    fs,
    path::Path,
    process::{Command, Output},
    time::{Duration, Instant},
};

use super::Folder;

const ROWS: u16 = 60;

/// A tmux server of its own, which ends with the test.
struct Tmux<'f> {
    folder: &'f Folder,
    /// A socket that no other server of this test has: one that ends may still hold its own.
    socket: String,
}

impl Tmux<'_> {
    fn run(&self, arguments: &[&str]) -> Output {
        let socket = self.folder.path().join(&self.socket);
        let mut command = Command::new("tmux");
        command.arg("-S").arg(socket).args(["-f", "/dev/null"]).args(arguments);
        command.env_remove("TMUX").env("LC_ALL", "C.UTF-8").output().unwrap()
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        self.run(&["kill-server"]);
    }
}

fn is_there(command: &str, argument: &str) -> bool {
    Command::new(command).arg(argument).output().is_ok_and(|output| output.status.success())
}

/// Waits for `file`, however slow the machine is.
fn wait_for(file: &Path) {
    let begin = Instant::now();
    while !file.exists() {
        assert!(begin.elapsed() < Duration::from_secs(120), "{} never came", file.display());
        std::thread::sleep(Duration::from_millis(30));
    }
}

// CONTRACT V3, case 113: every line stands on one row, in both terminals, with the same text.
#[test]
fn case_113_tmux_and_the_emulator_show_the_same() {
    if !is_there("tmux", "-V") || !is_there("script", "--version") {
        return;
    }
    let folder = Folder::new(&[(
        "a.ts",
        "const 漢字 = old(1); // e\u{301} and\ta tab\nold(\"한국어 and a rather long text\");\n",
    )]);
    folder.stage();
    for width in [20_u16, 41, 80, 200] {
        let tmux = Tmux { folder: &folder, socket: format!("tmux-{width}") };
        let xd = env!("CARGO_BIN_EXE_xd");
        let run = format!(
            "stty -onlcr; script -q -c \"stty onlcr; '{xd}' --no-pager --color always show 1\" bytes; \
             touch done; sleep 600"
        );
        let size = [width.to_string(), ROWS.to_string()];
        let started = tmux.run(&[
            "new-session",
            "-d",
            "-x",
            &size[0],
            "-y",
            &size[1],
            "-c",
            folder.path().to_str().unwrap(),
            "sh",
            "-c",
            &run,
        ]);
        assert!(started.status.success(), "{started:?}");
        wait_for(&folder.path().join("done"));
        let text = fs::read_to_string(folder.path().join("bytes")).unwrap();
        let drawn: String =
            text.split_inclusive('\n').filter(|line| !line.starts_with("Script ")).collect();
        let mut parser = vt100::Parser::new(ROWS, width, 0);
        parser.process(drawn.as_bytes());
        let emulated: Vec<String> =
            parser.screen().rows(0, width).map(|row| row.trim_end().to_owned()).collect();
        // What the pane has got may be on its way to the screen of the server.
        let begin = Instant::now();
        loop {
            let captured = tmux.run(&["capture-pane", "-p"]);
            let captured = String::from_utf8(captured.stdout).unwrap();
            let rows: Vec<String> = captured.lines().map(|row| row.trim_end().to_owned()).collect();
            if rows.iter().eq(emulated.iter().take(rows.len())) && rows.len() >= 8 {
                break;
            }
            assert!(begin.elapsed() < Duration::from_secs(60), "{width}: {rows:#?} {emulated:#?}");
            std::thread::sleep(Duration::from_millis(50));
        }
        // No line took two rows: the last one ends where the count of line feeds says.
        let lines = drawn.matches('\n').count();
        assert_eq!(usize::from(parser.screen().cursor_position().0), lines, "{width}");
        assert!(emulated.iter().any(|row| row.contains("new")), "{emulated:#?}");
        fs::remove_file(folder.path().join("done")).unwrap();
    }
}
