//! A shell in a real terminal multiplexer, typed into from outside.

use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::Command,
    thread,
    time::{Duration, Instant},
};

const PATIENCE: Duration = Duration::from_secs(60);

/// One screen of tmux with a shell in it, in which `xd` is the built binary. It ends with its value.
pub(crate) struct Tmux {
    folder: tempfile::TempDir,
}

impl Tmux {
    /// A shell in `folder`; none where there is no tmux.
    pub(crate) fn open(folder: &Path, (columns, rows): (u16, u16)) -> Option<Self> {
        Command::new("tmux").arg("-V").output().ok().filter(|run| run.status.success())?;
        let own = tempfile::tempdir().unwrap();
        fs::create_dir(own.path().join("bin")).unwrap();
        symlink(env!("CARGO_BIN_EXE_xd"), own.path().join("bin/xd")).unwrap();
        let tmux = Self { folder: own };
        let mut command = tmux.tmux();
        let (own, path) = (tmux.folder.path(), std::env::var("PATH").unwrap_or_default());
        let path = format!("PATH={}:{path}", own.join("bin").display());
        command.args(["new-session", "-d", "-x", &columns.to_string(), "-y", &rows.to_string()]);
        command.arg("-c").arg(folder).args([
            "env",
            "-i",
            &path,
            "TERM=tmux-256color",
            "LANG=C.UTF-8",
        ]);
        command.arg(format!("HOME={}", own.display())).args(["PS1=$ ", "NO_COLOR=1"]);
        command.args(["sh", "-i"]);
        let run = command.output().unwrap();
        assert!(run.status.success(), "{run:?}");
        Some(tmux)
    }

    fn tmux(&self) -> Command {
        let mut command = Command::new("tmux");
        command.args(["-f", "/dev/null", "-S"]).arg(self.folder.path().join("socket"));
        command.env_remove("TMUX");
        command
    }

    /// The screen, without blanks at the ends.
    pub(crate) fn screen(&self) -> String {
        let run = self.tmux().args(["capture-pane", "-p"]).output().unwrap();
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// Whether the cursor is shown.
    pub(crate) fn shows_cursor(&self) -> bool {
        let run = self.tmux().args(["display-message", "-p", "#{cursor_flag}"]).output().unwrap();
        run.stdout.starts_with(b"1")
    }

    /// Types a text, then a key by its name: `Enter`, `C-c`.
    pub(crate) fn types(&self, text: &str, key: &str) {
        if !text.is_empty() {
            assert!(self.tmux().args(["send-keys", "-l", text]).status().unwrap().success());
        }
        assert!(self.tmux().args(["send-keys", key]).status().unwrap().success());
    }

    /// Waits until the last line is `prompt` and something new stands above it.
    pub(crate) fn is_at(&self, prompt: &str, since: &str) {
        self.until(prompt, |screen| {
            screen != since && screen.lines().next_back() == Some(prompt.trim_end())
        });
    }

    pub(crate) fn sees(&self, text: &str) {
        self.until(text, |screen| screen.contains(text));
    }

    fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let begun = Instant::now();
        while !is_so(&self.screen()) {
            assert!(begun.elapsed() < PATIENCE, "no {what:?} in:\n{}", self.screen());
            thread::sleep(Duration::from_millis(30));
        }
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        drop(self.tmux().arg("kill-server").output());
    }
}
