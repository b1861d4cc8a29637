//! Clients that misbehave, byte by byte (Invariant X6).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod site;

use std::time::Duration;

use serde_json::{Value, json};
use site::Site;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf},
    task::JoinHandle,
};
use xd_mcp::ServeError;

struct Wire {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    server: JoinHandle<Result<(), ServeError>>,
}

impl Wire {
    fn open(site: &Site) -> Self {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(ours);
        let server = tokio::spawn(xd_mcp::serve(site.options(), reader, writer));
        let (reader, writer) = tokio::io::split(theirs);
        Self { reader: BufReader::new(reader), writer, server }
    }

    /// A connection past its handshake.
    async fn begun(site: &Site) -> Self {
        let mut wire = Self::open(site);
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "raw", "version": "1" }
        });
        let answer = wire.ask(0, "initialize", params).await;
        assert_eq!(answer["result"]["serverInfo"]["name"], "xd", "{answer}");
        wire.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        wire
    }

    async fn raw(&mut self, bytes: &[u8]) {
        self.writer.write_all(bytes).await.unwrap();
    }

    async fn say(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes()).await;
    }

    async fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) {
        let id = id.into();
        self.say(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
    }

    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line);
        let read = tokio::time::timeout(Duration::from_secs(20), read).await;
        read.expect("the server answers").unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }

    /// The answer to a request, past notifications.
    async fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.request(id, method, params).await;
        self.answer(id).await
    }

    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let heard = self.hear().await;
            if heard["id"] == id {
                return heard;
            }
            assert!(heard.get("method").is_some(), "an answer to nothing: {heard}");
        }
    }

    async fn error(&mut self) -> Value {
        loop {
            let heard = self.hear().await;
            if heard.get("error").is_some() {
                return heard;
            }
        }
    }

    async fn works(&mut self, id: u64) {
        let params = json!({ "name": "read", "arguments": { "path": "a.txt" } });
        let answer = self.ask(id, "tools/call", params).await;
        let said = answer["result"]["content"][0]["text"].as_str().unwrap_or_default();
        assert!(said.contains("one"), "{answer}");
    }

    async fn hang_up(self) -> Result<(), ServeError> {
        drop((self.reader, self.writer));
        tokio::time::timeout(Duration::from_secs(20), self.server).await.unwrap().unwrap()
    }
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({ "name": "edit", "arguments": site::edits(path, old, new) })
}

// Invariant X6
#[tokio::test]
async fn what_is_no_message_gets_an_error_and_ends_nothing() {
    let site = Site::new();
    let mut wire = Wire::begun(&site).await;
    for (line, code) in [
        ("nonsense\n", -32700),
        ("{\"jsonrpc\": \"2.0\", \"id\": 1, \"met\n", -32700),
        ("\u{0}\u{1b}[2J\n", -32700),
        ("42\n", -32600),
        ("{}\n", -32600),
        ("[]\n", -32600),
        ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}\n", -32600),
        ("{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}\n", -32600),
    ] {
        wire.raw(line.as_bytes()).await;
        let error = wire.error().await;
        assert_eq!(error["error"]["code"], code, "{line}: {error}");
        assert!(error["id"].is_null(), "{error}");
    }
    wire.raw(b"\xff\xfe\n\n\r\n").await;
    assert_eq!(wire.error().await["error"]["code"], -32700);
    // An answer to an error of ours could go back and forth for ever.
    wire.raw(b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":1,\"message\":\"no\"}}\n")
        .await;
    wire.works(7).await;
    wire.hang_up().await.unwrap();
}

#[tokio::test]
async fn unknown_methods_and_broken_parameters_are_errors_of_their_request() {
    let site = Site::new();
    let mut wire = Wire::begun(&site).await;
    let answer = wire.ask(1, "no/such", json!({})).await;
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    let answer = wire.ask(2, "tools/call", json!({ "name": 5 })).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = wire.ask(3, "tools/call", json!({ "name": "no_such" })).await;
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    let answer = wire.ask(4, "resources/read", json!({ "uri": "xd://resolve@1" })).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("xd://resolve@1"), "{answer}");
    wire.say(&json!({ "jsonrpc": "2.0", "method": "notifications/no_such" })).await;
    wire.works(5).await;
    wire.hang_up().await.unwrap();
}

#[tokio::test]
async fn a_giant_message_is_dropped_as_it_comes() {
    let site = Site::new();
    let mut wire = Wire::begun(&site).await;
    wire.raw(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":\"").await;
    let part = vec![b'x'; 1024 * 1024];
    for _ in 0..17 {
        wire.raw(&part).await;
    }
    wire.raw(b"\"}\n").await;
    let error = wire.error().await;
    assert!(error["error"]["message"].as_str().unwrap().contains("16 MiB"), "{error}");
    wire.works(2).await;
    wire.hang_up().await.unwrap();
}

// Invariant X6
#[tokio::test]
async fn an_id_in_use_starts_nothing_twice() {
    let site = Site::new();
    let mut wire = Wire::begun(&site).await;
    let one = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": edit("a.txt", "one", "1") });
    let two = json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call",
        "params": edit("b.txt", "three", "3") });
    wire.raw(format!("{one}\n{two}\n").as_bytes()).await;
    let mut heard = vec![wire.hear().await, wire.hear().await];
    heard.sort_by_key(|answer| answer["id"].is_null());
    assert_eq!(heard[0]["result"]["structuredContent"]["staged"]["number"], 1, "{heard:?}");
    assert!(heard[1]["error"]["message"].as_str().unwrap().contains("9 is in use"), "{heard:?}");
    // Free again, it can be used.
    let answer = wire.ask(
        9,
        "tools/call",
        json!({ "name": "read", "arguments": { "path": "xd://resolve@2" } }),
    );
    assert_eq!(answer.await["result"]["isError"], true, "only one was staged");
    wire.hang_up().await.unwrap();
}

// Invariant X4, CONTRACT D12
#[tokio::test]
async fn a_client_that_goes_in_the_middle_loses_nothing() {
    let site = Site::new();
    let mut wire = Wire::begun(&site).await;
    wire.ask(1, "tools/call", edit("a.txt", "one", "1")).await;
    let confirm = json!({ "name": "write",
        "arguments": { "path": "xd://resolve", "content": "Before I go." } });
    wire.request(2, "tools/call", confirm).await;
    // Half a message, and away.
    wire.raw(b"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/ca").await;
    wire.hang_up().await.unwrap();
    let applied = site.get("a.txt") == "1\ntwo\n";
    let client = site.client().await;
    let shown = site::text(&client.read("xd://resolve@1").await);
    let state = if applied { "(applied)" } else { "(pending)" };
    assert!(shown.contains(state), "{applied}: {shown}");
    assert!(!site.get(".xd/sessions/shell/log.jsonl").is_empty());
    client.leave().await;
}

#[tokio::test]
async fn case_162_a_late_cancel_hits_no_later_call() {
    let site = Site::new();
    let mut wire = Wire::begun(&site).await;
    wire.ask(1, "tools/call", edit("a.txt", "one", "1")).await;
    let cancel = |id: u64| {
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": id, "reason": "late" } })
    };
    wire.say(&cancel(1)).await;
    wire.say(&cancel(77)).await;
    let confirm = json!({ "name": "write",
        "arguments": { "path": "xd://resolve", "content": "Go on." } });
    let answer = wire.ask(2, "tools/call", confirm).await;
    assert_eq!(answer["result"]["structuredContent"]["outcome"], "applied", "{answer}");
    wire.hang_up().await.unwrap();
}

#[tokio::test]
async fn a_cancelled_call_that_waits_stages_nothing() {
    use xd_write::{StateFolder, Workspace};
    let site = Site::new();
    let mut wire = Wire::begun(&site).await;
    let workspace = Workspace::open(site.path()).unwrap();
    let state = StateFolder::open(&workspace, "shell").unwrap();
    let lock = state.lock(Duration::from_secs(1)).unwrap();
    wire.request(1, "tools/call", edit("a.txt", "one", "1")).await;
    // Looking waits for nobody.
    wire.works(2).await;
    wire.say(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 1 } }))
        .await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    drop(lock);
    let answer = wire.ask(3, "tools/call", edit("b.txt", "three", "3")).await;
    assert_eq!(answer["result"]["structuredContent"]["staged"]["number"], 1, "{answer}");
    wire.hang_up().await.unwrap();
}

#[tokio::test]
async fn f8_who_holds_the_state_is_named_after_a_bounded_wait() {
    use xd_write::{StateFolder, Workspace};
    let site = Site::new();
    let workspace = Workspace::open(site.path()).unwrap();
    let state = StateFolder::open(&workspace, "shell").unwrap();
    let _lock = state.lock(Duration::from_secs(1)).unwrap();
    let options = site.options().patience(Duration::from_millis(150));
    let client = site.client_of(options, site::Ears::default()).await;
    let result = client.edit("a.txt", "one", "1").await;
    let named = format!("process {}", std::process::id());
    assert!(
        site::is_error(&result) && site::text(&result).contains(&named),
        "{}",
        site::text(&result)
    );
    client.leave().await;
}

#[tokio::test]
async fn a_client_that_never_begins_is_no_failure() {
    let site = Site::new();
    Wire::open(&site).hang_up().await.unwrap();
    let mut wire = Wire::open(&site);
    wire.raw(b"nonsense\n").await;
    assert_eq!(wire.error().await["error"]["code"], -32700);
    wire.hang_up().await.unwrap();
}
