//! The layers of the house: which crate may use which.
//!
//! [`ROOMS`] is the one table. It is checked against what Cargo says, for
//! ordinary, build and test dependencies alike: a test of one crate that needs
//! a higher one belongs in the workspace member `tests/`.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::{Finding, Tree, purity};

/// The member in which asynchronous code begins; nothing below it may use
/// [`RUNTIME`].
pub const LOWEST_WITH_RUNTIME: &str = "xd-write";

/// The runtime that the lower layers stay free of.
pub const RUNTIME: &str = "tokio";

/// A member of the workspace and its place.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// The name of the package.
    pub name: &'static str,
    /// Its layer; a member uses lower ones only.
    pub layer: u8,
    /// True where the code has no files, environment or clock: the crate is
    /// `no_std` or has a `clippy.toml` that forbids them.
    pub pure: bool,
    /// Whether it may use crates from outside the workspace at all.
    pub outside: bool,
    /// The members that it may use.
    pub may_use: &'static [&'static str],
}

const fn room(name: &'static str, layer: u8, may_use: &'static [&'static str]) -> Room {
    Room { name, layer, pure: false, outside: true, may_use }
}

const fn pure(name: &'static str, layer: u8, may_use: &'static [&'static str]) -> Room {
    Room { pure: true, ..room(name, layer, may_use) }
}

/// Every member of the workspace. The layer is the order of building; the list
/// says what may be used, which is often less than all that is lower.
pub const ROOMS: &[Room] = &[
    Room { outside: false, ..pure("xd-protocol", 0, &[]) },
    room("xd-changeset", 0, &[]),
    room("xd-prompts", 0, &[]),
    pure("xd-resolve", 1, &["xd-protocol", "xd-changeset"]),
    pure("xd-session", 2, &["xd-protocol", "xd-resolve", "xd-prompts"]),
    room("xd-write", 3, &["xd-protocol", "xd-resolve", "xd-session", "xd-changeset", "xd-prompts"]),
    pure("xd-render", 4, &["xd-protocol", "xd-resolve", "xd-session", "xd-write", "xd-changeset"]),
    room("xd-ast-edit", 4, BELOW_PRODUCERS),
    room("xd-text-edit", 4, BELOW_PRODUCERS),
    pure("xd-highlight", 5, &["xd-ast-edit", "xd-render"]),
    pure("xd-review", 5, &["xd-protocol", "xd-changeset", "xd-render"]),
    room("xd-agent", 5, BELOW_AGENT),
    room("xd-mcp", 6, BELOW_SERVERS),
    room("xd-acp", 6, BELOW_SERVERS),
    room("xd-cli", 7, BELOW_BINARY),
    room("xd-bench", 8, ORDER),
    room("xd-tests", 8, ORDER),
    room("xtask", 0, &[]),
];

/// The members in an order in which each allowance below is a beginning.
const ORDER: &[&str] = &[
    "xd-protocol",
    "xd-resolve",
    "xd-session",
    "xd-write",
    "xd-changeset",
    "xd-prompts",
    "xd-ast-edit",
    "xd-text-edit",
    "xd-render",
    "xd-agent",
    "xd-mcp",
    "xd-acp",
    "xd-highlight",
    "xd-review",
    "xd-cli",
];

const BELOW_PRODUCERS: &[&str] = ORDER.split_at(6).0;
const BELOW_AGENT: &[&str] = ORDER.split_at(8).0;
const BELOW_SERVERS: &[&str] = ORDER.split_at(10).0;
const BELOW_BINARY: &[&str] = ORDER.split_at(14).0;

/// The table row of a member.
pub fn find(name: &str) -> Option<&'static Room> {
    ROOMS.iter().find(|room| room.name == name)
}

/// True for members that must not have the runtime among what they use.
pub fn stays_below_runtime(room: &Room) -> bool {
    find(LOWEST_WITH_RUNTIME).is_some_and(|lowest| room.layer < lowest.layer)
        && room.name != "xtask"
}

/// A member as Cargo describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// The name of the package.
    pub name: String,
    /// What its manifest declares, optional dependencies included.
    pub uses: Vec<Use>,
}

/// A dependency that a manifest declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// The name of the package that is used.
    pub name: String,
    /// For what it is used.
    pub purpose: Purpose,
}

/// For what a dependency is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// By the code itself.
    Code,
    /// By the build script.
    Build,
    /// By tests, examples and benches.
    Tests,
}

/// Reads the answer of `cargo metadata --no-deps`.
///
/// # Errors
/// A sentence that says which part of the answer is not as expected.
pub fn members(metadata: &str) -> Result<Vec<Member>, String> {
    let root: Value = serde_json::from_str(metadata)
        .map_err(|error| format!("the answer of cargo metadata is not JSON: {error}"))?;
    let list = |value: &Value, key: &str| {
        value[key].as_array().cloned().ok_or(format!("cargo metadata answers no `{key}`"))
    };
    let name = |value: &Value| {
        value["name"].as_str().map(str::to_owned).ok_or("a package without a name".to_owned())
    };
    let mut found = Vec::new();
    for package in list(&root, "packages")? {
        let mut uses = Vec::new();
        for dependency in list(&package, "dependencies")? {
            let purpose = match dependency["kind"].as_str() {
                None => Purpose::Code,
                Some("build") => Purpose::Build,
                Some("dev") => Purpose::Tests,
                Some(other) => return Err(format!("a dependency of the unknown kind `{other}`")),
            };
            uses.push(Use { name: name(&dependency)?, purpose });
        }
        found.push(Member { name: name(&package)?, uses });
    }
    Ok(found)
}

/// Whether every member is in the table and uses only what it may.
pub fn check_members(members: &[Member]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for member in members {
        let Some(room) = find(&member.name) else {
            findings.push(Finding::new(
                &member.name,
                "this member of the workspace has no place in the layers",
                "add it to ROOMS in xtask/src/layers.rs",
            ));
            continue;
        };
        for used in &member.uses {
            let inside =
                find(&used.name).is_some() || members.iter().any(|other| other.name == used.name);
            let ordinary = used.purpose != Purpose::Tests;
            let what = if inside && !room.may_use.contains(&used.name.as_str()) {
                format!("uses {}, which its layer does not allow", used.name)
            } else if !inside && ordinary && !room.outside {
                format!("uses {}, though it may use no crate at all", used.name)
            } else if used.name == RUNTIME && ordinary && stays_below_runtime(room) {
                format!("uses {RUNTIME}, which begins at {LOWEST_WITH_RUNTIME}")
            } else {
                continue;
            };
            let mend = match used.purpose {
                Purpose::Code | Purpose::Build => {
                    "remove the dependency and move the code up to a crate that may have it"
                }
                Purpose::Tests => "move the test to the workspace member `tests/`",
            };
            findings.push(Finding::new(&member.name, what, mend));
        }
    }
    findings
}

/// Whether what a member is really built from is what its layer allows.
/// `packages` are the names that `cargo tree` lists, the member itself first.
pub fn check_built_from(room: &Room, packages: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !room.outside && packages.len() > 1 {
        findings.push(Finding::new(
            room.name,
            format!("its dependency tree has {} lines instead of one", packages.len()),
            format!("remove {}", packages[1..].join(", ")),
        ));
    }
    if stays_below_runtime(room) && packages.iter().any(|package| package == RUNTIME) {
        findings.push(Finding::new(
            room.name,
            format!("is built from {RUNTIME}, which begins at {LOWEST_WITH_RUNTIME}"),
            format!("find who brings it: cargo tree -p {} -e normal,build -i {RUNTIME}", room.name),
        ));
    }
    findings
}

/// All checks of the layers, on the workspace at `root`; asks Cargo, offline.
pub fn check(root: &Path, tree: &Tree) -> Vec<Finding> {
    let metadata = cargo(root, &["metadata", "--no-deps", "--offline", "--format-version", "1"]);
    let members = match metadata.and_then(|answer| members(&answer)) {
        Ok(members) => members,
        Err(error) => return vec![unanswered("the workspace", &error)],
    };
    let mut findings = check_members(&members);
    findings.extend(purity::lint_files(tree, &members));
    findings.extend(purity::voices(tree));
    for member in &members {
        let Some(room) = find(&member.name) else { continue };
        if room.outside && !stays_below_runtime(room) {
            continue;
        }
        match packages(root, room.name) {
            Ok(packages) => findings.extend(check_built_from(room, &packages)),
            Err(error) => findings.push(unanswered(room.name, &error)),
        }
    }
    findings
}

/// The packages that a member is built from, with its default features: those
/// of other features need not be on the machine, and what they would use is in
/// the manifest, which [`check_members`] reads whole.
fn packages(root: &Path, name: &str) -> Result<Vec<String>, String> {
    let edges = ["-e", "normal,build", "--prefix", "none"];
    let mut arguments = vec!["tree", "-p", name, "--offline", "--locked"];
    arguments.extend(edges);
    let answer = cargo(root, &arguments)?;
    let first = |line: &str| line.split_whitespace().next().map(str::to_owned);
    Ok(answer.lines().filter_map(first).collect())
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("cargo")
        .args(arguments)
        .current_dir(root)
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if output.status.success() {
        String::from_utf8(output.stdout).map_err(|error| error.to_string())
    } else {
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("`cargo {}` failed: {}", arguments.join(" "), said.trim()))
    }
}

fn unanswered(place: &str, error: &str) -> Finding {
    Finding::new(
        place,
        error,
        "run `cargo fetch`, and `cargo build --workspace` where Cargo.lock is behind",
    )
}
