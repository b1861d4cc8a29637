//! What code may do besides computing: nothing in the pure crates, and no
//! printing, exiting or looking at the environment outside the binary.

use crate::layers::{Member, ROOMS};
use crate::lexer::{TokenKind, tokens};
use crate::tidy::files::{is_test_file, lines_without_tests};
use crate::{Finding, Tree};

/// What pure code never calls: files, environment and clock.
const IMPURE: [&str; 4] = ["std::fs::", "std::env::", "Instant::now", "SystemTime::now"];

/// Calls that belong to the binary: module and function.
const VOICES: [(&str, &[&str]); 2] = [
    ("env", &["args", "args_os", "current_dir", "var", "var_os", "vars", "vars_os"]),
    ("process", &["abort", "exit"]),
];

/// Folders whose code may do so: the binary, and these checks.
const BINARIES: [&str; 2] = ["crates/xd-cli/", "xtask/"];

/// Whether each pure crate forbids files, environment and clock, and whether
/// every crate's `clippy.toml` repeats the common part: Clippy reads the
/// nearest file alone, so what is left out there is lost.
pub fn lint_files(tree: &Tree, members: &[Member]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let settings = |path: &str| -> Vec<String> {
        let lines = tree.text(path).unwrap_or_default().lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).map(str::to_owned).collect()
    };
    let common = settings("clippy.toml");
    for path in tree.paths().filter(|path| path.ends_with("/clippy.toml")) {
        let present = settings(path);
        for line in common.iter().filter(|line| !present.contains(line)) {
            findings.push(Finding::new(
                path,
                format!("does not repeat `{line}` of the root"),
                format!("add that line to {path}"),
            ));
        }
    }
    for room in ROOMS.iter().filter(|room| room.pure) {
        let folder = format!("crates/{}", room.name);
        let present = members.iter().any(|member| member.name == room.name);
        let lib = tree.text(&format!("{folder}/src/lib.rs")).unwrap_or_default();
        if !present || lib.lines().any(|line| line.trim() == "#![no_std]") {
            continue;
        }
        let path = format!("{folder}/clippy.toml");
        let text = settings(&path).join("\n");
        let open: Vec<_> = IMPURE
            .into_iter()
            .filter(|call| !text.contains("disallowed-methods") || !text.contains(call))
            .collect();
        if !open.is_empty() {
            findings.push(Finding::new(
                &path,
                format!("the pure crate {} may still call {}", room.name, open.join(", ")),
                format!("list them under disallowed-methods in {path}, or make the crate no_std"),
            ));
        }
    }
    findings
}

/// Whether only the binary exits and reads the environment; printing is
/// Clippy's to find. Tests, examples and benches are left out.
pub fn voices(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.sources() {
        let own = !BINARIES.iter().any(|folder| path.starts_with(folder));
        if !own || is_test_file(path) || path.contains("/examples/") || path.ends_with("build.rs") {
            continue;
        }
        let last_line = lines_without_tests(text);
        let code: Vec<_> = tokens(text)
            .into_iter()
            .filter(|token| token.kind != TokenKind::Comment && token.line <= last_line)
            .collect();
        for call in code.windows(4) {
            let [module, first, second, function] = call else { continue };
            let is_path = first.text == ":" && second.text == ":";
            let known = VOICES.iter().find(|(name, _)| *name == module.text);
            if is_path && known.is_some_and(|(_, names)| names.contains(&function.text)) {
                findings.push(Finding::at(
                    path,
                    function.line,
                    format!("calls {}::{}, which only the binary may", module.text, function.text),
                    "take the value as an argument and let crates/xd-cli pass it",
                ));
            }
        }
    }
    findings
}
