//! `xd mcp`: the built binary as a server, spoken to line by line.

use std::{
    io::{BufRead as _, BufReader, Lines, Write as _},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::{Folder, Run};

/// A running server and the two streams to it.
struct Server {
    child: Child,
    to: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// One that has been greeted.
    fn begun(folder: &Folder, arguments: &[&str]) -> Self {
        let mut all = vec!["mcp"];
        all.extend(arguments);
        let mut command = folder.command(&all);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let to = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut server = Self { child, to, lines };
        let hello = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" }
        });
        assert!(server.ask(0, "initialize", &hello)["result"]["serverInfo"].is_object());
        server.say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
        server
    }

    fn say(&mut self, line: &str) {
        writeln!(self.to, "{line}").unwrap();
    }

    fn hear(&mut self) -> Value {
        let line = self.lines.next().unwrap().unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The next message that is an answer.
    fn answer(&mut self) -> Value {
        loop {
            let heard = self.hear();
            if heard.get("method").is_none() {
                return heard;
            }
        }
    }

    fn ask(&mut self, id: u64, method: &str, params: &Value) -> Value {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.say(&request.to_string());
        let answer = self.answer();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn call(&mut self, id: u64, name: &str, arguments: &Value) -> Value {
        let params = json!({ "name": name, "arguments": arguments });
        self.ask(id, "tools/call", &params)["result"].clone()
    }

    fn write(&mut self, id: u64, path: &str, content: &str) -> Value {
        self.call(id, "write", &json!({ "path": path, "content": content }))
    }

    fn leave(self) {
        let Self { mut child, to, lines } = self;
        drop(to);
        assert!(child.wait().unwrap().success());
        for line in lines {
            let line: Value = serde_json::from_str(&line.unwrap()).unwrap();
            let tells = line.get("method").is_some() && line.get("id").is_none();
            assert!(tells, "nothing but answers and notifications is printed: {line}");
        }
    }
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "edits": [{ "path": path, "old_text": old, "new_text": new }] })
}

fn text(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap();
    blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

// One stack for the client and the shell (CONTRACT E3); standard output is protocol alone.
#[test]
fn e3_a_client_and_the_shell_see_one_stack() {
    let folder = Folder::new(&[("a.txt", "old\n")]);
    let mut server = Server::begun(&folder, &[]);
    let tools = server.ask(2, "tools/list", &json!({}));
    let names: Vec<&str> = tools["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    assert_eq!(names, ["read", "write", "edit", "ast_edit"]);
    let staged = server.call(3, "edit", &edit("a.txt", "old", "new"));
    assert_eq!(staged["structuredContent"]["staged"]["number"], 1, "{staged}");
    assert_eq!(folder.get("a.txt"), "old\n");
    assert!(folder.xd(&["status"]).out.starts_with("1 staged action is pending."));
    let done = server.write(4, "xd://resolve", "It is right.");
    assert_ne!(done["isError"], true, "{done}");
    assert_eq!(folder.get("a.txt"), "new\n");
    server.leave();
    assert_eq!(folder.xd(&["undo"]).status, 0);
    assert_eq!(folder.get("a.txt"), "old\n");
}

// CONTRACT E3
#[test]
fn e3_a_killed_server_loses_nothing() {
    let folder = Folder::new(&[("a.txt", "old\n")]);
    let mut server = Server::begun(&folder, &[]);
    server.call(1, "edit", &edit("a.txt", "old", "new"));
    // No goodbye.
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let mut server = Server::begun(&folder, &[]);
    let shown = server.call(1, "read", &json!({ "path": "xd://resolve@1" }));
    assert!(text(&shown).contains("(pending)"), "{shown}");
    let done = server.write(2, "xd://resolve", "Still good.");
    assert_ne!(done["isError"], true, "{done}");
    assert_eq!(folder.get("a.txt"), "new\n");
    server.leave();
}

#[test]
fn a_server_ends_when_its_client_has_gone_and_prints_nothing_else() {
    let folder = Folder::new(&[]);
    let mut command = folder.command(&["mcp"]);
    let run = Run::of(command.stdin(Stdio::null()).output().unwrap());
    assert_eq!((run.status, run.out.as_str(), run.err.as_str()), (0, "", ""), "{run:?}");
    assert!(!folder.path().join(".xd").exists(), "nothing was asked, nothing is made");
}

// Invariant X6: cut frames, giant messages, unknown methods, ids in use. Each gets an error, and
// nothing is lost.
#[test]
fn a_client_that_misbehaves_gets_errors_and_nothing_is_lost() {
    let folder = Folder::new(&[("a.txt", "old\n"), ("b.txt", "old\n")]);
    let mut server = Server::begun(&folder, &[]);
    server.call(1, "edit", &edit("a.txt", "old", "new"));
    for (line, code) in [
        ("{\"jsonrpc\":\"2.0\",\"id\":2,\"meth".to_owned(), -32700),
        ("\u{1b}[2J".to_owned(), -32700),
        ("[]".to_owned(), -32600),
        (
            format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"{}\"}}", "x".repeat(17 << 20)),
            -32600,
        ),
        ("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"no/such\"}".to_owned(), -32601),
    ] {
        server.say(&line);
        assert_eq!(server.answer()["error"]["code"], code, "{}", &line[..line.len().min(60)]);
    }
    let confirm = json!({ "path": "xd://resolve@1", "content": "Once." });
    let confirm = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": { "name": "write", "arguments": confirm } });
    server.say(&format!("{confirm}\n{confirm}"));
    let mut heard = [server.answer(), server.answer()];
    heard.sort_by_key(|answer| answer["id"].is_null());
    assert_eq!(heard[0]["result"]["structuredContent"]["outcome"], "applied", "{heard:?}");
    assert!(heard[1]["error"]["message"].as_str().unwrap().contains("in use"), "{heard:?}");
    server.leave();
    assert_eq!(folder.get("a.txt"), "new\n");
    assert_eq!(folder.xd(&["log"]).out.matches("Once.").count(), 1, "it was decided once");
}

// case 89: without somebody who can be asked it is said what to do.
#[test]
fn case_89_plan_mode_holds_and_says_what_to_do() {
    let folder = Folder::new(&[("a.txt", "old\n")]);
    let mut server = Server::begun(&folder, &["--plan"]);
    assert_eq!(server.write(1, "a.txt", "new\n")["isError"], true);
    server.write(2, "local://a-plan.md", "# New text\n");
    let told = text(&server.write(3, "xd://propose", "a"));
    assert!(told.contains("xd read local://a-plan.md") && told.contains("--plan"), "{told}");
    // What it says works.
    let shown = folder.xd(&["read", "local://a-plan.md"]);
    assert!(shown.out.contains("# New text"), "{shown:?}");
    server.leave();
    let mut server = Server::begun(&folder, &[]);
    assert_ne!(server.write(1, "a.txt", "new\n")["isError"], true);
    server.leave();
    assert_eq!(folder.get("a.txt"), "new\n");
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
