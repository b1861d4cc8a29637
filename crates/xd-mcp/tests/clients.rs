//! The example server as a process of its own, driven by official clients.
//!
//! The clients of other languages are looked for: a Python that has `mcp` (named by
//! `XD_MCP_PYTHON`, or `python3`), and a folder `node_modules` with the TypeScript client and the
//! inspector (named by `XD_MCP_NODE_MODULES`, or beside `tests/clients/package.json`). A test whose
//! client is not there says so and passes; with `XD_MCP_CLIENTS=required` it fails.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod site;

use std::{
    env,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use rmcp::{ServiceExt as _, transport::TokioChildProcess};
use serde_json::{Value, json};
use site::{Ears, Site, data, edits, is_error, text};

/// The example, which Cargo builds beside the tests.
fn program() -> PathBuf {
    let tests = env::current_exe().unwrap();
    let built = tests.parent().and_then(Path::parent).unwrap();
    let program = built.join("examples").join(format!("serve{}", env::consts::EXE_SUFFIX));
    assert!(program.exists(), "build it first: cargo build -p xd-mcp --example serve");
    program
}

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

#[expect(clippy::print_stderr, reason = "who runs the tests is to see what was left out")]
fn missing(what: &str) {
    assert!(env::var("XD_MCP_CLIENTS").as_deref() != Ok("required"), "{what} is not here");
    eprintln!("skipped: {what} is not here; tests/clients.rs says how it is found");
}

fn python() -> Option<String> {
    let python = env::var("XD_MCP_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let version = "import sys, mcp_types; from mcp import Client";
    let found = Command::new(&python).args(["-c", version]).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success()).then_some(python)
}

fn node_modules(package: &str) -> Option<PathBuf> {
    let modules = env::var_os("XD_MCP_NODE_MODULES")
        .map_or_else(|| clients().join("node_modules"), PathBuf::from);
    modules.join("@modelcontextprotocol").join(package).exists().then_some(modules)
}

fn passed(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{complained}");
    let last: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(last["ok"], true, "{said}\n{complained}");
}

#[test]
fn the_python_client_goes_through_the_whole_of_it() {
    let Some(python) = python() else { return missing("the Python client (mcp 2.3)") };
    let script = clients().join("drive.py");
    passed(&Command::new(python).arg(script).arg(program()).output().unwrap());
}

#[test]
fn the_typescript_client_goes_through_the_whole_of_it() {
    let Some(modules) = node_modules("sdk") else {
        return missing("the TypeScript client (@modelcontextprotocol/sdk)");
    };
    let script = clients().join("drive.mjs");
    let output = Command::new("node").arg(script).arg(program()).arg(modules).output();
    passed(&output.unwrap());
}

#[test]
fn the_inspector_lists_and_calls() {
    let Some(modules) = node_modules("inspector") else {
        return missing("the inspector (@modelcontextprotocol/inspector)");
    };
    let site = Site::new();
    let inspect = |given: &[&str]| {
        let output = Command::new(modules.join(".bin/mcp-inspector"))
            .arg("--cli")
            .args([program(), site.path()])
            .args(given)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_str::<Value>(&said).unwrap_or_else(|error| panic!("{error}: {said}"))
    };
    let tools = inspect(&["--method", "tools/list"]);
    assert_eq!(tools["tools"].as_array().unwrap().len(), 4);
    let call = |tool: &str, given: &[&str]| {
        let mut all = vec!["--method", "tools/call", "--tool-name", tool];
        for argument in given {
            all.extend(["--tool-arg", argument]);
        }
        inspect(&all)
    };
    let edits = format!("edits={}", edits("a.txt", "one", "1")["edits"]);
    let staged = call("edit", &[&edits]);
    assert_eq!(staged["structuredContent"]["staged"]["number"], 1, "{staged}");
    // Each call is a process of its own: the stack is kept between them.
    let done = call("write", &["path=xd://resolve", "content=Seen in the inspector."]);
    assert_eq!(done["structuredContent"]["outcome"], "applied", "{done}");
    assert_eq!(site.get("a.txt"), "1\ntwo\n");
    assert!(inspect(&["--method", "resources/list"])["resources"].is_array());
    assert!(inspect(&["--method", "prompts/list"])["prompts"].is_array());
}

// CONTRACT E3
#[tokio::test]
async fn e3_a_killed_server_loses_nothing() {
    let site = Site::new();
    let start = async || {
        let mut command = tokio::process::Command::new(program());
        command.arg(site.path()).kill_on_drop(true);
        Ears::default().serve(TokioChildProcess::new(command).unwrap()).await.unwrap()
    };
    let client = start().await;
    let staged = site::call(&client, "edit", edits("a.txt", "one", "1")).await;
    assert_eq!(data(&staged)["staged"]["number"], 1, "{}", text(&staged));
    // No goodbye: the process is killed.
    drop(client);
    let client = start().await;
    let read = site::call(&client, "read", json!({ "path": "xd://resolve@1" })).await;
    assert!(text(&read).contains("(pending)"), "{}", text(&read));
    let confirm = json!({ "path": "xd://resolve", "content": "Still good." });
    let done = site::call(&client, "write", confirm).await;
    assert!(!is_error(&done), "{}", text(&done));
    assert_eq!(site.get("a.txt"), "1\ntwo\n");
    client.cancel().await.unwrap();
}

#[test]
fn a_server_ends_when_its_client_has_gone_and_prints_nothing_else() {
    let site = Site::new();
    let mut server = Command::new(program())
        .arg(site.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(server.stdin.take());
    let output = server.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    assert!(!site.has(".xd"), "nothing was asked, nothing is made");
}
