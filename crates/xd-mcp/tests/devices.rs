//! Tools of other servers as devices of a host.
#![cfg(feature = "devices")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
    },
    service::{RequestContext, RunningService},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use xd_mcp::devices::{ConnectError, Devices, Hints, Limits};
use xd_resolve::{Tier, ToolCall, ToolResult};
use xd_session::Session;
use xd_write::{CallScope, Host, Policy, Workspace};

/// A server with few manners.
#[derive(Clone, Default)]
struct Odd {
    calls: Arc<AtomicU64>,
    /// How often the list was asked for; the second time it fails, the third it is another one.
    lists: Arc<AtomicU64>,
}

fn tool(name: &'static str, description: &str, schema: Value) -> Tool {
    let schema = schema.as_object().unwrap().clone();
    Tool::new(name, description.to_owned(), schema)
}

impl ServerHandler for Odd {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(can)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let any = json!({ "type": "object" });
        let add = json!({
            "type": "object",
            "properties": { "a": { "type": "integer" } },
            "required": ["a"]
        });
        Ok(match self.lists.fetch_add(1, Ordering::SeqCst) {
            0 => ListToolsResult::with_all_items(vec![
                tool("add", "Adds.\n\u{1b}[2Jmore\u{202e}", add)
                    .annotate(ToolAnnotations::new().read_only(true)),
                tool("a.b", "One.", any.clone()),
                tool("a_b", "Two.", any.clone()),
                tool("giant", &"x".repeat(100_000), any.clone()),
                tool("die", "Ends the server.", any),
                tool("odd", "Odd.", json!({ "type": "object", "unevaluatedProperties": false })),
            ]),
            1 => return Err(ErrorData::internal_error("not now", None)),
            _ => ListToolsResult::with_all_items(vec![tool("fresh", "New.", any)]),
        })
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let text = match &*request.name {
            "giant" => "y".repeat(1_000_000),
            "die" => std::future::pending().await,
            "add" => {
                context.peer.notify_tool_list_changed().await.unwrap();
                format!("{:?}", request.arguments)
            }
            name => name.to_owned(),
        };
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

struct Place {
    _folder: TempDir,
    host: Arc<Host>,
    devices: Devices,
}

impl Place {
    fn new(policy: Policy, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let host = Host::builder(Arc::new(Session::new()), workspace).policy(policy).build();
        let host = Arc::new(host);
        let devices = Devices::new(Arc::clone(&host), limits);
        Self { _folder: folder, host, devices }
    }

    async fn with(&self, odd: Odd) -> RunningService<RoleServer, Odd> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (server, connected) =
            tokio::join!(odd.serve(theirs), self.devices.connect("odd", Hints::Trusted, ours));
        connected.unwrap();
        server.unwrap()
    }

    async fn write(&self, path: &str, content: &str) -> ToolResult {
        self.call("write", json!({ "path": path, "content": content })).await
    }

    async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        let call = ToolCall::new("1", name, arguments);
        self.host.run_batch(&[call], &CallScope::model()).await.remove(0)
    }

    fn names(&self) -> Vec<String> {
        self.host.inventory().into_iter().map(|device| device.name).collect()
    }
}

fn anything() -> Policy {
    Policy::automatic(Tier::Exec)
}

async fn until(mut done: impl FnMut() -> bool) {
    for _ in 0..200 {
        if done() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("it did not come about");
}

#[tokio::test]
async fn case_48_names_are_distinct_and_case_52_a_line_each() {
    let place = Place::new(anything(), Limits::default());
    let server = place.with(Odd::default()).await;
    assert_eq!(place.names(), ["odd.add", "odd.a.b", "odd.a_b", "odd.giant", "odd.die", "odd.odd"]);
    assert_eq!(place.write("xd://odd.a.b", "{}").await.content, ["a.b"]);
    assert_eq!(place.write("xd://odd.a_b", "{}").await.content, ["a_b"]);
    let listing = place.call("read", json!({ "path": "xd://" })).await.joined();
    assert_eq!(listing.lines().count(), 7, "{listing}");
    // CONTRACT R5, case 54
    assert!(!listing.contains(['\u{1b}', '\u{202e}']), "{listing}");
    drop(server);
    place.devices.stop().await;
}

#[tokio::test]
async fn r3_arguments_are_checked_before_anything_is_sent() {
    let place = Place::new(anything(), Limits::default());
    let odd = Odd::default();
    let _server = place.with(odd.clone()).await;
    for body in ["{}", r#"{"a": "x"}"#, "{\"a\":", "[1]", ""] {
        place.write("xd://odd.add", body).await;
    }
    assert_eq!(odd.calls.load(Ordering::SeqCst), 0);
    let unchecked = place.write("xd://odd.odd", "{}").await;
    assert!(unchecked.joined().contains("unevaluatedProperties"), "{}", unchecked.joined());
    assert_eq!(odd.calls.load(Ordering::SeqCst), 0);
    let docs = place.call("read", json!({ "path": "xd://odd.add" })).await.joined();
    assert!(docs.contains("\"a\""), "{docs}");
    assert!(place.write("xd://odd.add", r#"{"a": 1}"#).await.content[0].contains("Number(1)"));
}

#[tokio::test]
async fn foreign_text_has_a_budget() {
    let limits = Limits { result: 1_000, description: 500, ..Limits::default() };
    let place = Place::new(anything(), limits);
    let _server = place.with(Odd::default()).await;
    let giant = place.write("xd://odd.giant", "{}").await.joined();
    assert!(giant.len() < 1_200 && giant.contains("1000000 bytes in all"), "{}", giant.len());
    let described =
        place.host.inventory().into_iter().find(|device| device.name == "odd.giant").unwrap();
    assert!(described.description.len() < 600);
    let few = Limits { tools: 2, ..Limits::default() };
    let place = Place::new(anything(), few);
    let (ours, theirs) = tokio::io::duplex(64 * 1024);
    let (_server, connected) = tokio::join!(
        Odd::default().serve(theirs),
        place.devices.connect("odd", Hints::Trusted, ours)
    );
    assert!(connected.unwrap_err().to_string().contains("at most 2"));
    assert!(place.names().is_empty());
}

// CONTRACT R2
#[tokio::test]
async fn case_58_a_refresh_is_one_step_and_a_failed_one_keeps_the_old() {
    let place = Place::new(anything(), Limits::default());
    let odd = Odd::default();
    let _server = place.with(odd.clone()).await;
    place.write("xd://odd.add", r#"{"a": 1}"#).await;
    until(|| odd.lists.load(Ordering::SeqCst) == 2).await;
    let told = || place.host.with_registry(|registry| registry.listing());
    until(|| told().contains("could not be refreshed")).await;
    assert_eq!(place.names().len(), 6, "the old ones stay");
    place.write("xd://odd.add", r#"{"a": 1}"#).await;
    until(|| place.names() == ["odd.fresh"]).await;
    assert!(!told().contains("could not be refreshed"));
}

#[tokio::test]
async fn a_server_that_dies_is_told_and_no_call_is_repeated() {
    let place = Place::new(anything(), Limits::default());
    let odd = Odd::default();
    let server = place.with(odd.clone()).await;
    let calls = Arc::clone(&odd.calls);
    let dying = async {
        until(|| calls.load(Ordering::SeqCst) == 1).await;
        server.cancel().await.unwrap();
    };
    let (result, ()) = tokio::join!(place.write("xd://odd.die", "{}"), dying);
    assert!(result.is_error && result.joined().contains("not repeated"), "{}", result.joined());
    let told = || place.host.with_registry(|registry| registry.listing());
    until(|| told().contains("the server has ended")).await;
    let after = place.write("xd://odd.a_b", "{}").await;
    assert!(after.is_error && after.joined().contains("`odd`"), "{}", after.joined());
    assert_eq!(odd.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn case_46_a_server_that_does_not_start_is_no_bad_name() {
    let place = Place::new(anything(), Limits::default());
    let file = r#"{"mcpServers": {"gone": {"command": "/no/such/program"}}}"#;
    let servers = xd_mcp::devices::read_servers(file, &|_| None).unwrap();
    let error = place.devices.start(&servers[0]).await.unwrap_err();
    assert!(matches!(error, ConnectError::Start { .. }), "{error}");
    let told = place.write("xd://gone.tool", "{}").await.joined();
    assert!(told.contains("/no/such/program") && told.contains("gone"), "{told}");
}

#[tokio::test]
async fn a_silent_server_is_given_up() {
    let limits = Limits { start: Duration::from_millis(200), ..Limits::default() };
    let place = Place::new(anything(), limits);
    let (ours, _theirs) = tokio::io::duplex(1024);
    let error = place.devices.connect("silent", Hints::Ignored, ours).await.unwrap_err();
    assert!(matches!(error, ConnectError::Slow(_)), "{error}");
}

#[tokio::test]
async fn case_168_a_read_only_mark_counts_and_what_has_none_is_asked_about() {
    // Nobody is there to ask: what reaches further than reading is refused.
    let place = Place::new(Policy::automatic(Tier::Read), Limits::default());
    let odd = Odd::default();
    let _server = place.with(odd.clone()).await;
    let marked = json!({ "path": "xd://odd.add", "content": r#"{"a": 1}"# });
    let tier = |arguments: &Value| place.host.tier(&ToolCall::new("1", "write", arguments.clone()));
    assert_eq!(tier(&marked), Tier::Read);
    assert!(!place.call("write", marked).await.is_error);
    let unmarked = json!({ "path": "xd://odd.a_b", "content": "{}" });
    assert_eq!(tier(&unmarked), Tier::Exec);
    assert!(place.call("write", unmarked).await.is_error);
    assert_eq!(odd.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_server_of_our_own_can_be_mounted_by_its_command() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "one\n").unwrap();
    let program = std::env::current_exe().unwrap();
    let program = program.parent().unwrap().parent().unwrap().join("examples/serve");
    let file = json!({ "mcpServers": { "own": { "command": program, "args": [folder.path()] } } });
    let servers = xd_mcp::devices::read_servers(&file.to_string(), &|_| None).unwrap();
    let place = Place::new(anything(), Limits::default());
    place.devices.start(&servers[0]).await.unwrap();
    assert_eq!(place.names(), ["own.read", "own.write", "own.edit", "own.ast_edit"]);
    let read = place.write("xd://own.read", r#"{"path": "a.txt"}"#).await;
    assert!(read.joined().contains("one"), "{}", read.joined());
    place.devices.stop().await;
}

#[cfg(feature = "http")]
#[tokio::test]
async fn a_server_over_http_can_be_mounted_with_its_token() {
    use xd_mcp::{HttpOptions, Options, serve_http};
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.txt"), "one\n").unwrap();
    let options = Options::new(Workspace::open(folder.path()).unwrap());
    let local = "127.0.0.1:0".parse().unwrap();
    let server = serve_http(options, HttpOptions::new(local)).await.unwrap();
    let start = async |token: &str| {
        let headers = json!({ "Authorization": format!("Bearer {token}") });
        let file = json!({ "mcpServers": { "web": { "url": server.url(), "headers": headers } } });
        let servers = xd_mcp::devices::read_servers(&file.to_string(), &|_| None).unwrap();
        let place = Place::new(anything(), Limits::default());
        let started = place.devices.start(&servers[0]).await;
        (place, started)
    };
    let (place, started) = start("wrong").await;
    assert!(started.is_err() && place.names().is_empty());
    let told = place.write("xd://web.read", "{}").await.joined();
    assert!(told.contains("from web") && !told.contains("Bearer"), "{told}");

    let (place, started) = start(server.token()).await;
    started.unwrap();
    assert_eq!(place.names(), ["web.read", "web.write", "web.edit", "web.ast_edit"]);
    let read = place.write("xd://web.read", r#"{"path": "a.txt"}"#).await;
    assert!(read.joined().contains("one"), "{}", read.joined());
    // Gone before the next call: what could not be connected to heard nothing.
    server.stop().await.unwrap();
    let gone = place.write("xd://web.read", r#"{"path": "a.txt"}"#).await;
    assert!(gone.is_error && gone.joined().contains("was not sent"), "{}", gone.joined());
    place.devices.stop().await;
}
