//! Checks of what lies at the top of the repository and what it says there.

use std::collections::BTreeSet;

use crate::{Finding, Tree};

/// What the top level holds, all of it required; licences are `LICENSE` or
/// `LICENSE-…`, at least one.
pub const TOP_LEVEL: [&str; 12] = [
    ".ci",
    ".gitignore",
    "CHANGELOG.md",
    "Cargo.lock",
    "Cargo.toml",
    "README.md",
    "clippy.toml",
    "crates",
    "docs",
    "prompts",
    "tests",
    "xtask",
];

/// What the top level may hold besides.
pub const TOP_LEVEL_OPTIONAL: [&str; 2] = [".cargo", "rustfmt.toml"];

/// Where the gate stands.
pub const GATE: &str = ".ci/run";

/// The first command that README gives.
pub const DEMO: &str = "cargo run -- demo";

/// The only registry that the lock file may name.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The top level holds exactly what it should.
pub fn top_level(tree: &Tree) -> Vec<Finding> {
    let present: BTreeSet<&str> =
        tree.paths().map(|path| path.split('/').next().unwrap_or(path)).collect();
    let is_licence = |name: &str| name == "LICENSE" || name.starts_with("LICENSE-");
    let mut findings = Vec::new();
    for name in &present {
        if !TOP_LEVEL.contains(name) && !TOP_LEVEL_OPTIONAL.contains(name) && !is_licence(name) {
            findings.push(Finding::new(
                *name,
                "does not belong at the top level",
                "move it into crates/, prompts/, xtask/, tests/ or docs/",
            ));
        }
    }
    for name in TOP_LEVEL.iter().filter(|name| !present.contains(*name)) {
        findings.push(Finding::new(
            *name,
            "is missing at the top level",
            format!("write it, then `git add {name}`"),
        ));
    }
    if !present.iter().any(|name| is_licence(name)) {
        let mend = "add the text of each licence that Cargo.toml names";
        findings.push(Finding::new("LICENSE", "is missing at the top level", mend));
    }
    findings
}

/// README gives the demo and the very test command that the gate runs.
pub fn readme_commands(tree: &Tree) -> Vec<Finding> {
    let readme = tree.text("README.md").unwrap_or_default();
    let gives = |command: &str| {
        let mut in_block = false;
        readme.lines().any(|line| {
            in_block ^= line.trim_start().starts_with("```");
            let line = line.trim().trim_start_matches("$ ");
            in_block && line.split(" #").next().is_some_and(|line| line.trim() == command)
        })
    };
    let mut wanted = vec![DEMO.to_owned()];
    let mut findings = Vec::new();
    match test_command(tree.text(GATE).unwrap_or_default()) {
        Some(command) => wanted.push(command),
        None => findings.push(Finding::new(
            GATE,
            "runs no `cargo test`",
            "add the step that README names: `step 'tests' cargo test --workspace --locked`",
        )),
    }
    for command in wanted.iter().filter(|command| !gives(command)) {
        findings.push(Finding::new(
            "README.md",
            format!("does not give the command `{command}` that {GATE} runs"),
            format!("put `{command}` on a line of its own in a code block"),
        ));
    }
    findings
}

/// The test command of the gate, from `cargo test` to the end of its line.
pub fn test_command(gate: &str) -> Option<String> {
    let line = gate
        .lines()
        .find(|line| !line.trim_start().starts_with('#') && line.contains("cargo test"))?;
    let start = line.find("cargo test")?;
    Some(line[start..].trim().to_owned())
}

/// Every package of the lock file comes from where everybody can get it.
pub fn package_sources(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in tree.text("Cargo.lock").unwrap_or_default().lines().enumerate() {
        let source = line.strip_prefix("source = \"").and_then(|rest| rest.strip_suffix('"'));
        if let Some(source) = source.filter(|source| *source != REGISTRY) {
            findings.push(Finding::at(
                "Cargo.lock",
                index + 1,
                format!("a package comes from {source}"),
                "depend on a published version",
            ));
        }
    }
    findings
}
