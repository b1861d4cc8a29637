//! The built binary from outside: what it prints, how it exits, what it leaves on the disk.
#![allow(clippy::unwrap_used, reason = "a set-up that fails ends the test")]

mod address;
mod agent;
mod decide;
mod devices;
mod drafts;
mod edit;
mod exits;
mod mcp;
mod pager;
mod place;
mod producers;
mod recover;
mod shapes;
mod slips;
mod tmux;
mod undo;
mod words;

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::Value;
use tempfile::TempDir;

/// A folder to work in.
struct Folder(TempDir);

/// What a run of the binary came to.
#[derive(Debug)]
struct Run {
    status: i32,
    out: String,
    err: String,
}

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(TempDir::new().unwrap());
        for (path, text) in files {
            folder.put(path, text);
        }
        folder
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn get(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xd"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        for variable in [
            "NO_COLOR",
            "CLICOLOR_FORCE",
            "FORCE_HYPERLINK",
            "XD_THEME",
            "XD_AMBIGUOUS",
            "XD_PAGER",
            "XD_LOG",
            "COLORTERM",
            "RUST_BACKTRACE",
        ] {
            command.env_remove(variable);
        }
        command
    }

    fn xd(&self, arguments: &[&str]) -> Run {
        Run::of(self.command(arguments).output().unwrap())
    }

    /// Stages `old($A)` → `new($A)` everywhere and answers its number.
    fn stage(&self) -> u64 {
        let run = self.xd(&["--json", "edit", "-p", "old($A)", "-r", "new($A)", "."]);
        assert_eq!(run.status, 0, "{run:?}");
        run.json()["staged"]["number"].as_u64().unwrap()
    }

    /// Every file below the folder but for the workspace's own state.
    fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path().to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.path()).unwrap().to_string_lossy().into_owned();
                if name == ".xd" {
                    continue;
                }
                if path.is_dir() {
                    files.insert(format!("{name}/"), Vec::new());
                    folders.push(path);
                } else {
                    files.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        files
    }
}

impl Run {
    fn of(output: Output) -> Self {
        Self {
            status: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Two lines on standard error: what, and what to do. Nothing on standard output.
    fn is_plain_error(&self, what: &str) {
        assert_eq!((self.status, self.out.as_str()), (2, ""), "{self:?}");
        assert_eq!(self.err.lines().count(), 2, "{self:?}");
        assert!(self.err.starts_with("xd: ") && self.err.contains(what), "{self:?}");
        for word in ["Error {", "Some(", "panicked", "RUST_BACKTRACE"] {
            assert!(!self.err.contains(word), "{self:?}");
        }
    }
}
