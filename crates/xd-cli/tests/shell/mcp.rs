//! `xd mcp`: the built binary as a server, spoken to line by line.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
};

use serde_json::{Value, json};

use crate::Folder;

// One stack for the client and the shell (CONTRACT E3); standard output is protocol alone.
#[test]
fn e3_a_client_and_the_shell_see_one_stack() {
    let folder = Folder::new(&[("a.txt", "old\n")]);
    let mut command = folder.command(&["mcp"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut to = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |id: u64, method: &str, params: Value| -> Value {
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(to, "{call}").unwrap();
        loop {
            let line = lines.next().unwrap().unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    };
    let hello = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" }
    });
    assert!(ask(1, "initialize", hello)["result"]["serverInfo"].is_object());
    let tools = ask(2, "tools/list", json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    for name in ["read", "write", "edit", "ast_edit"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let edit = json!({ "edits": [{ "path": "a.txt", "old_text": "old", "new_text": "new" }] });
    let staged = ask(3, "tools/call", json!({ "name": "edit", "arguments": edit }));
    assert_eq!(staged["result"]["structuredContent"]["staged"]["number"], 1, "{staged}");
    assert_eq!(folder.get("a.txt"), "old\n");
    assert!(folder.xd(&["status"]).out.starts_with("1 staged action is pending."));
    let confirm = json!({ "path": "xd://resolve", "content": "It is right." });
    let done = ask(4, "tools/call", json!({ "name": "write", "arguments": confirm }));
    assert_ne!(done["result"]["isError"], true, "{done}");
    assert_eq!(folder.get("a.txt"), "new\n");
    drop(to);
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.xd(&["undo"]).status, 0);
    assert_eq!(folder.get("a.txt"), "old\n");
}

#[test]
fn a_taken_or_foreign_address_is_an_error_with_the_way_out() {
    let folder = Folder::new(&[]);
    folder.xd(&["mcp", "--http", "nonsense"]).is_plain_error("'nonsense'");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let run = folder.xd(&["mcp", "--http", &address]);
    run.is_plain_error("");
    assert!(run.err.contains("--http 127.0.0.1:7777"), "{run:?}");
    folder.xd(&["mcp", "--token", "secret"]).is_plain_error("--http");
}
