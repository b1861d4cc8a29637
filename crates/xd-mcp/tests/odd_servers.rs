//! Servers that misbehave, byte by byte, and the devices of theirs.
#![cfg(feature = "devices")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf},
    task::JoinHandle,
};
use xd_mcp::devices::{ConnectError, Devices, Hints, Limits};
use xd_resolve::{Tier, ToolCall, ToolResult};
use xd_session::Session;
use xd_write::{CallScope, Host, Policy, Workspace};

/// The other end of a connection, with no manners but those of a test.
struct Far {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
    /// The methods that were asked for, in order.
    heard: Vec<String>,
}

impl Far {
    async fn raw(&mut self, bytes: impl AsRef<[u8]>) {
        self.writer.write_all(bytes.as_ref()).await.unwrap();
    }

    async fn say(&mut self, message: Value) {
        self.raw(format!("{message}\n")).await;
    }

    /// The next request, past notifications; none when the client has gone.
    async fn request(&mut self) -> Option<Value> {
        loop {
            let mut line = String::new();
            if self.reader.read_line(&mut line).await.unwrap_or(0) == 0 {
                return None;
            }
            let message: Value = serde_json::from_str(&line).unwrap();
            if let (Some(method), true) = (message["method"].as_str(), message.get("id").is_some())
            {
                self.heard.push(method.to_owned());
                return Some(message);
            }
        }
    }

    async fn answer(&mut self, request: &Value, result: Value) {
        self.say(json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })).await;
    }

    /// Begins as the protocol says, and lists one tool.
    async fn begin(&mut self) {
        let hello = self.request().await.unwrap();
        let result = json!({
            "protocolVersion": hello["params"]["protocolVersion"],
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "far", "version": "1" }
        });
        self.answer(&hello, result).await;
        let list = self.request().await.unwrap();
        let tools = json!([{ "name": "do", "inputSchema": { "type": "object" } }]);
        self.answer(&list, json!({ "tools": tools })).await;
    }
}

fn said(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

struct Place {
    _folder: TempDir,
    host: Arc<Host>,
    devices: Devices,
}

impl Place {
    fn new(limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let policy = Policy::automatic(Tier::Exec);
        let host = Host::builder(Arc::new(Session::new()), workspace).policy(policy).build();
        let host = Arc::new(host);
        let devices = Devices::new(Arc::clone(&host), limits);
        Self { _folder: folder, host, devices }
    }

    /// Connects to a server that goes by `manners` once it has begun. Answers with what that says
    /// at the end.
    async fn with<Fut>(&self, manners: impl FnOnce(Far) -> Fut) -> JoinHandle<Far>
    where
        Fut: Future<Output = Far> + Send + 'static,
    {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        let far = Far { reader: BufReader::new(reader), writer, heard: Vec::new() };
        let serving = tokio::spawn(manners(far));
        self.devices.connect("far", Hints::Ignored, ours).await.unwrap();
        serving
    }

    async fn call(&self) -> ToolResult {
        let call = ToolCall::new("1", "write", json!({ "path": "xd://far.do", "content": "{}" }));
        self.host.run_batch(&[call], &CallScope::model()).await.remove(0)
    }
}

// Invariant X6, from the other side: what is no message is passed over, a question of an unknown
// kind gets an error, and an answer that comes twice is one.
#[tokio::test]
async fn junk_unknown_methods_and_second_answers_change_nothing() {
    let place = Place::new(Limits::default());
    let serving = place
        .with(async |mut far: Far| {
            far.begin().await;
            let call = far.request().await.unwrap();
            far.raw("Listening on port 3000…\n\u{1b}[2J\n\n{\"jsonrpc\":\"2.0\",\"id\":\n").await;
            far.raw(b"\xff\xfe\n").await;
            far.say(json!({ "jsonrpc": "2.0", "id": "q", "method": "no/such", "params": {} }))
                .await;
            far.say(json!({ "jsonrpc": "2.0", "id": 4711, "result": said("to nobody") })).await;
            far.answer(&call, said("first")).await;
            far.answer(&call, said("second")).await;
            let again = far.request().await.unwrap();
            far.answer(&again, said("third")).await;
            far
        })
        .await;
    assert_eq!(place.call().await.content, ["first"]);
    assert_eq!(place.call().await.content, ["third"]);
    let far = serving.await.unwrap();
    assert_eq!(far.heard.iter().filter(|method| *method == "tools/call").count(), 2);
    place.devices.stop().await;
}

// Invariant X8: half an answer is none; whether the tool ran is not known, and it is not asked again.
#[tokio::test]
async fn half_an_answer_is_none_and_the_call_is_not_repeated() {
    let place = Place::new(Limits::default());
    let serving = place
        .with(async |mut far: Far| {
            far.begin().await;
            let call = far.request().await.unwrap();
            far.raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"cont", call["id"]))
                .await;
            far.writer.shutdown().await.unwrap();
            while far.request().await.is_some() {}
            far
        })
        .await;
    let cut = place.call().await;
    assert!(cut.is_error && cut.joined().contains("not known"), "{}", cut.joined());
    let after = place.call().await;
    assert!(after.is_error && after.joined().contains("was not sent"), "{}", after.joined());
    let far = serving.await.unwrap();
    assert_eq!(far.heard.iter().filter(|method| *method == "tools/call").count(), 1);
    place.devices.stop().await;
}

// A message that is too long is dropped as it comes; its call ends with its time, and the next goes.
#[tokio::test]
async fn a_giant_answer_is_not_read_and_the_connection_goes_on() {
    let limits = Limits { call: Duration::from_secs(3), ..Limits::default() };
    let place = Place::new(limits);
    let serving = place
        .with(async |mut far: Far| {
            far.begin().await;
            let call = far.request().await.unwrap();
            far.raw(format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":\"", call["id"])).await;
            let part = vec![b'x'; 1 << 20];
            for _ in 0..17 {
                far.raw(&part).await;
            }
            far.raw("\"}\n").await;
            let again = far.request().await.unwrap();
            far.answer(&again, said("small")).await;
            far
        })
        .await;
    let giant = place.call().await;
    assert!(giant.is_error && giant.joined().contains("not repeated"), "{}", giant.joined());
    assert_eq!(place.call().await.content, ["small"]);
    serving.await.unwrap();
    place.devices.stop().await;
}

#[tokio::test]
async fn what_is_no_beginning_is_told() {
    for line in ["{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}\n", "no\n", ""] {
        let limits = Limits { start: Duration::from_secs(2), ..Limits::default() };
        let place = Place::new(limits);
        let (ours, mut theirs) = tokio::io::duplex(1024);
        let speaking = async move {
            theirs.write_all(line.as_bytes()).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let (connected, ()) =
            tokio::join!(place.devices.connect("far", Hints::Ignored, ours), speaking);
        let error = connected.unwrap_err();
        assert!(
            matches!(error, ConnectError::Ended | ConnectError::Handshake(_)),
            "{line}: {error:?}"
        );
        let told = place.call().await.joined();
        assert!(told.contains("from far"), "{told}");
    }
}
