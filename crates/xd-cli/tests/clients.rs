//! `xd mcp` as the official clients see it: the built binary, driven by the Python and the TypeScript
//! client and by the inspector.
//!
//! The clients are looked for: a Python that has `mcp` (named by `XD_MCP_PYTHON`, or `python3`), and a
//! folder `node_modules` with the TypeScript client and the inspector (named by
//! `XD_MCP_NODE_MODULES`, or beside `tests/clients/package.json`). The tests install nothing and reach
//! no network: `.ci/run` installs the versions that stand beside the scripts before it runs them,
//! where it can. A test whose client is not there says so and passes; with `XD_MCP_CLIENTS=required`
//! it fails.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

const XD: &str = env!("CARGO_BIN_EXE_xd");

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

#[expect(clippy::print_stderr, reason = "who runs the tests is to see what was left out")]
fn missing(what: &str) {
    assert!(env::var("XD_MCP_CLIENTS").as_deref() != Ok("required"), "{what} cannot be had");
    eprintln!("skipped: {what} cannot be had; tests/clients.rs says how it is found");
}

fn python() -> Option<String> {
    let python = env::var("XD_MCP_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut has = Command::new(&python);
    has.args(["-c", "import mcp_types, mcp, httpx2"]).stdin(Stdio::null());
    let has = has.stdout(Stdio::null()).stderr(Stdio::null()).status();
    has.is_ok_and(|status| status.success()).then_some(python)
}

fn node_modules(package: &str) -> Option<PathBuf> {
    let modules = env::var_os("XD_MCP_NODE_MODULES")
        .map_or_else(|| clients().join("node_modules"), PathBuf::from);
    Some(modules).filter(|it| it.join("@modelcontextprotocol").join(package).exists())
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
    passed(&Command::new(python).arg(script).arg(XD).output().unwrap());
}

// CONTRACT F1, F2: a server of another language proposes, and the agent's model decides.
#[test]
fn f1_a_server_of_the_python_kit_proposes_and_the_agent_stages() {
    let Some(python) = python() else { return missing("the Python client (mcp 2.3)") };
    let folder = TempDir::new().unwrap();
    let put = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    put("motto.txt", "move fast\n");
    let server = json!({
        "command": python,
        "args": [clients().join("propose.py")],
        "readOnlyHints": true
    });
    put("mcp.json", &json!({ "mcpServers": { "far": server } }).to_string());
    let write = |path: &str, content: &str| {
        let call = json!({ "name": "write", "arguments": { "path": path, "content": content } });
        json!({ "reply": { "calls": [call] } }).to_string()
    };
    let replies = [
        write("xd://far.shout", r#"{"path": "motto.txt"}"#),
        write("xd://resolve", "Louder."),
        json!({ "reply": { "text": "Done." } }).to_string(),
    ];
    put("script.jsonl", &replies.join("\n"));
    let output = Command::new(XD)
        .args(["agent", "-p", "-m", "script:script.jsonl", "--mcp", "mcp.json", "Shout."])
        .current_dir(folder.path())
        .env("XDG_CONFIG_HOME", folder.path())
        .env_remove("XD_APPROVAL")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!((&*output.stdout, &*output.stderr), (&b"Done.\n"[..], &b""[..]), "{output:?}");
    assert_eq!(fs::read_to_string(folder.path().join("motto.txt")).unwrap(), "MOVE FAST\n");
}

#[test]
fn the_typescript_client_goes_through_the_whole_of_it() {
    let Some(modules) = node_modules("sdk") else {
        return missing("the TypeScript client (@modelcontextprotocol/sdk)");
    };
    let script = clients().join("drive.mjs");
    passed(&Command::new("node").arg(script).arg(XD).arg(modules).output().unwrap());
}

#[test]
fn the_inspector_lists_and_calls() {
    let Some(modules) = node_modules("inspector") else {
        return missing("the inspector (@modelcontextprotocol/inspector)");
    };
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.txt"), "one\ntwo\n").unwrap();
    // As docs/MCP.md has it for clients with an `mcpServers` file.
    let config = folder.path().join("mcp.json");
    let xd = json!({ "command": XD, "args": ["mcp", "-C", folder.path()] });
    fs::write(&config, json!({ "mcpServers": { "xd": xd } }).to_string()).unwrap();
    let inspect = |given: &[&str]| {
        let output = Command::new(modules.join(".bin/mcp-inspector"))
            .args(["--cli", "--config"])
            .arg(&config)
            .args(["--server", "xd"])
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
    let edits = json!([{ "path": "a.txt", "old_text": "one", "new_text": "1" }]);
    let staged = call("edit", &[&format!("edits={edits}")]);
    assert_eq!(staged["structuredContent"]["staged"]["number"], 1, "{staged}");
    // Each call is a process of its own: the stack is kept between them.
    let done = call("write", &["path=xd://resolve", "content=Seen in the inspector."]);
    assert_eq!(done["structuredContent"]["outcome"], "applied", "{done}");
    assert_eq!(fs::read_to_string(folder.path().join("a.txt")).unwrap(), "1\ntwo\n");
    assert!(inspect(&["--method", "resources/list"])["resources"].is_array());
    assert!(inspect(&["--method", "prompts/list"])["prompts"].is_array());
}
