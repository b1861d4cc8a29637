//! The gate script: its steps in order, and what it does when one fails.
//!
//! It runs a copy of `.ci/run` with a `cargo` of its own on the path, which
//! writes down what it was asked and answers as the test wants.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A script cannot be started while a process still has it open for writing,
/// and a process that another test starts just then would have.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A checkout with nothing in it but the gate, removed at the end.
struct Checkout {
    root: PathBuf,
    _alone: MutexGuard<'static, ()>,
}

impl Checkout {
    /// `answers` is shell text that runs with the arguments of cargo.
    fn new(name: &str, answers: &str) -> Self {
        let alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let root = std::env::temp_dir().join(format!("xtask-gate-{name}-{}", std::process::id()));
        let own = Path::new(env!("CARGO_MANIFEST_DIR"));
        let executable = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("it lies in a folder")).expect("folder");
            fs::write(&path, text).expect("script");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("mode");
        };
        let gate = fs::read_to_string(own.join("../.ci/run")).expect("the gate is there");
        executable("repository/.ci/run", &gate);
        let asked = root.join("asked");
        let log = format!("echo \"$PWD $CI $INSTA_UPDATE $*\" >> '{}'", asked.display());
        executable("bin/cargo", &format!("#!/bin/sh\n{log}\n{answers}\n"));
        Self { root, _alone: alone }
    }

    fn run(&self) -> Output {
        let path = std::env::var("PATH").expect("there is a path");
        Command::new(self.root.join("repository/.ci/run"))
            .env("PATH", format!("{}:{path}", self.root.join("bin").display()))
            .current_dir(std::env::temp_dir())
            .output()
            .expect("the gate starts")
    }

    /// What cargo was asked, without the folder and the environment, which are
    /// the same each time.
    fn asked(&self) -> Vec<String> {
        let root = self.root.join("repository").canonicalize().expect("it exists");
        let same = format!("{} true no ", root.display());
        let log = fs::read_to_string(self.root.join("asked")).expect("cargo was asked");
        let plain = |line: &str| line.strip_prefix(&same).expect("folder, CI, INSTA_UPDATE").into();
        log.lines().map(plain).collect()
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

const JSON: &str =
    r#"case "$*" in *--json) echo '{"event":"stage"}'; echo '{"event":"end"}';; esac"#;

#[test]
fn all_steps_run_in_order_from_any_folder() {
    let checkout = Checkout::new("whole", JSON);
    let output = checkout.run();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(
        checkout.asked(),
        [
            "fmt --all --check",
            "clippy --workspace --all-targets --locked -- -D warnings",
            "doc --workspace --no-deps --locked",
            "test --workspace --locked",
            "run -p xtask --locked --quiet -- layers",
            "run -p xtask --locked --quiet -- tidy",
            "run -p xtask --locked --quiet -- conformance --check",
            "run -p xtask --locked --quiet -- readme --check",
            "run -p xtask --locked --quiet -- pictures --check",
            "run -p xtask --locked --quiet -- guarantees --check",
            "run --locked -- demo",
            "run --locked -- demo --json",
        ]
    );
    assert!(said.contains("== tests: cargo test --workspace --locked\n"), "{said}");
    assert!(said.contains("2 lines of JSON\n"), "{said}");
}

#[test]
fn the_first_failure_ends_it_with_its_status_and_its_name() {
    let checkout = Checkout::new("failing", r#"case "$*" in test*) exit 101;; esac"#);
    let output = checkout.run();
    assert_eq!(output.status.code(), Some(101));
    assert_eq!(checkout.asked().last().map(String::as_str), Some("test --workspace --locked"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("== tests failed with status 101 after "), "{said}");
}

#[test]
fn a_demo_that_prints_anything_but_json_fails() {
    for (name, answers) in [
        ("prose", r#"case "$*" in *--json) echo '{}'; echo 'act 1';; esac"#),
        ("empty", "true"),
        ("status", r#"case "$*" in *--json) echo '{}'; exit 1;; esac"#),
    ] {
        let checkout = Checkout::new(name, answers);
        let output = checkout.run();
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert_eq!(checkout.asked().len(), 12, "{name}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("== demo as JSON failed with status 1 "), "{name}: {said}");
    }
}
