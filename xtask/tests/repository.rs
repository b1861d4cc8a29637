//! The checks, on this repository: `cargo test` is the gate.

use std::path::{Path, PathBuf};

use xtask::{Finding, Tree, conformance, finding, guarantees, layers, tidy};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask has a parent").to_owned()
}

fn clean(findings: &[Finding]) {
    assert!(findings.is_empty(), "{} to mend\n{}", findings.len(), finding::report(findings));
}

#[test]
fn layers_are_kept() {
    let tree = Tree::read(&root()).unwrap();
    clean(&layers::check(&root(), &tree));
}

#[test]
fn tidy_is_clean() {
    let tree = Tree::read(&root()).unwrap();
    clean(&tidy::check(&root(), &tree));
}

#[test]
fn conformance_is_current_and_complete() {
    let tree = Tree::read(&root()).unwrap();
    clean(&conformance::check(&tree));
}

#[test]
fn guarantees_show_the_counts_that_are_checked_in() {
    let tree = Tree::read(&root()).unwrap();
    clean(&guarantees::check(&tree));
}

#[cfg(unix)]
#[test]
fn the_gate_can_be_started() {
    use std::os::unix::fs::PermissionsExt as _;
    let gate = root().join(tidy::layout::GATE);
    let mode = std::fs::metadata(gate).unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111, "mend: chmod +x .ci/run");
}

#[test]
fn the_gate_runs_every_step() {
    let tree = Tree::read(&root()).unwrap();
    let gate = tree.text(tidy::layout::GATE).unwrap();
    for step in [
        "cargo fmt --all --check",
        "cargo clippy --workspace --all-targets --locked -- -D warnings",
        "cargo doc --workspace --no-deps --locked",
        "cargo test --workspace --locked",
        "-- layers",
        "-- tidy",
        "-- conformance --check",
        "-- readme --check",
        "-- pictures --check",
        "-- guarantees --check",
        "cargo run --locked -- demo",
        "cargo run --locked -- demo --json",
        "set -euo pipefail",
        "RUSTDOCFLAGS='-D warnings'",
        "INSTA_UPDATE=no",
    ] {
        assert!(gate.contains(step), ".ci/run does not have: {step}");
    }
}
