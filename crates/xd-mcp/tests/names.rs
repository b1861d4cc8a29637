//! Names and listings of another server's tools (CASES class 2), and what plan mode lets through.
#![cfg(feature = "devices")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{collections::BTreeSet, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
    },
    service::{RequestContext, RunningService},
};
use serde_json::json;
use tempfile::TempDir;
use xd_mcp::devices::{ConnectError, Devices, Hints, Limits};
use xd_resolve::{BoxFuture, Decider, Tier, ToolCall, ToolResult};
use xd_session::{PlanAnswer, PlanReview, PlanReviewer, Session};
use xd_write::{CallScope, Host, Policy, Workspace};

/// Tools by name, each of which answers with the name that it was called by. A name that begins
/// with `look` is marked as reading.
#[derive(Clone)]
struct Named(Vec<String>);

impl ServerHandler for Named {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let any = json!({ "type": "object" }).as_object().unwrap().clone();
        let tools = self.0.iter().map(|name| {
            let told = format!("{name}\nover \u{1b}]8;;x\u{7}two\u{2028}lines\0");
            let tool = Tool::new(name.clone(), told, any.clone());
            match name.starts_with("look") {
                true => tool.annotate(ToolAnnotations::new().read_only(true)),
                false => tool,
            }
        });
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::success(vec![ContentBlock::text(request.name.to_string())]).into())
    }
}

struct Nobody;

impl PlanReviewer for Nobody {
    fn review(&self, _: PlanReview) -> BoxFuture<'_, PlanAnswer> {
        Box::pin(std::future::ready(PlanAnswer::Dismissed))
    }
}

struct Place {
    _folder: TempDir,
    host: Arc<Host>,
    devices: Devices,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let host = Host::builder(Arc::new(Session::new()), workspace)
            .policy(Policy::automatic(Tier::Exec))
            .reviewer(Arc::new(Nobody))
            .build();
        let host = Arc::new(host);
        let devices = Devices::new(Arc::clone(&host), Limits::default());
        Self { _folder: folder, host, devices }
    }

    async fn with(
        &self,
        hints: Hints,
        names: &[String],
    ) -> (RunningService<RoleServer, Named>, Result<(), ConnectError>) {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (server, connected) = tokio::join!(
            Named(names.to_vec()).serve(theirs),
            self.devices.connect("s", hints, ours)
        );
        (server.unwrap(), connected)
    }

    async fn call(&self, name: &str, path: &str, content: &str) -> ToolResult {
        let arguments = match name {
            "read" => json!({ "path": path }),
            _ => json!({ "path": path, "content": content }),
        };
        self.host
            .run_batch(&[ToolCall::new("1", name, arguments)], &CallScope::model())
            .await
            .remove(0)
    }

    async fn run(&self, device: &str) -> ToolResult {
        self.call("write", &format!("xd://{device}"), "{}").await
    }

    fn names(&self) -> Vec<String> {
        self.host.inventory().into_iter().map(|device| device.name).collect()
    }
}

fn long(middle: &str) -> String {
    format!("{}{middle}{}", "a".repeat(33), "z".repeat(33))
}

// Cases 42, 44, 52 and 54: each once, on a line of its own, inert; the prompt says how to list.
#[tokio::test]
async fn case_42_two_hundred_devices_are_listed_each_once() {
    let place = Place::new();
    let names: Vec<String> = (0..200).map(|n| format!("tool_{n}")).collect();
    let (_server, connected) = place.with(Hints::Ignored, &names).await;
    connected.unwrap();
    let listing = place.call("read", "xd://", "").await.joined();
    assert_eq!(listing.lines().count(), 201, "{listing}");
    for name in place.names() {
        let line = format!("xd://{name} — ");
        assert_eq!(listing.lines().filter(|listed| listed.starts_with(&line)).count(), 1, "{name}");
    }
    assert!(!listing.contains(['\u{1b}', '\u{7}', '\u{2028}', '\0']), "{listing}");
    let prompts = place.host.session().prompts();
    let section = place.host.with_registry(|registry| registry.prompt_section(prompts));
    assert!(section.contains("200") && section.contains("xd://"), "{section}");
    assert!(!section.contains(['\u{1b}', '\u{7}', '\u{2028}', '\0']));
    place.devices.stop().await;
}

// Cases 48 and 50: distinct, sound, the same after a restart, and a call reaches the one it names.
#[tokio::test]
async fn case_50_every_tool_keeps_a_name_of_its_own() {
    let names: Vec<String> = [
        long("read"),
        long("kill"),
        "a.b".into(),
        "a_b".into(),
        "a b".into(),
        "a/b".into(),
        "resolve".into(),
        "ä".into(),
        "ö".into(),
        "x".repeat(300),
        "\u{1b}[2J".into(),
        " ".into(),
    ]
    .into();
    let mut mounted = Vec::new();
    for _ in 0..2 {
        let place = Place::new();
        let (_server, connected) = place.with(Hints::Ignored, &names).await;
        connected.unwrap();
        assert_eq!(place.names().iter().collect::<BTreeSet<_>>().len(), names.len());
        for (device, tool) in place.names().iter().zip(&names) {
            assert!(device.len() <= 64, "{device}");
            let shown = tool.replace('\u{1b}', "\\u{1b}");
            assert_eq!(place.run(device).await.content, [shown], "{device}");
        }
        mounted.push(place.names());
        place.devices.stop().await;
    }
    assert_eq!(mounted[0], mounted[1]);
    assert!(mounted[0].contains(&"s.a.b".to_owned()) && mounted[0].contains(&"s.a_b".to_owned()));
}

// Case 48: one name twice is nobody's.
#[tokio::test]
async fn case_48_a_server_that_lists_a_name_twice_is_refused() {
    let place = Place::new();
    let names = ["one".to_owned(), "two".to_owned(), "one".to_owned()];
    let (_server, connected) = place.with(Hints::Ignored, &names).await;
    let error = connected.unwrap_err().to_string();
    assert!(error.contains("s.one"), "{error}");
    assert!(place.names().is_empty());
    let told = place.run("s.two").await.joined();
    assert!(told.contains("s.one") && told.contains("from s"), "{told}");
    place.devices.stop().await;
}

// Cases 38 and 46: a suffix is peeled on read and named on write; a name that is not there is not
// blamed on a server, and a server that is not there is not blamed on a name.
#[tokio::test]
async fn case_38_suffixes_and_case_46_unknown_names_are_told_apart() {
    let place = Place::new();
    let (_server, connected) = place.with(Hints::Ignored, &["tool".to_owned()]).await;
    connected.unwrap();
    let docs = place.call("read", "xd://s.tool:1-2", "").await;
    assert!(!docs.is_error && docs.joined().contains("s.tool"), "{}", docs.joined());
    let glued = place.call("write", "xd://s.tool:raw", "{}").await;
    assert!(glued.is_error && glued.joined().contains("'xd://s.tool'"), "{}", glued.joined());
    let unknown = place.run("s.tol").await.joined();
    assert!(unknown.contains("Unknown device") && unknown.contains("xd://s.tool"), "{unknown}");
    assert!(!unknown.contains("failed to start"), "{unknown}");
    let broken = r#"{"mcpServers": {"gone": {"command": "/no/such/program"}}}"#;
    let servers = xd_mcp::devices::read_servers(broken, &|_| None).unwrap();
    place.devices.start(&servers[0]).await.unwrap_err();
    let gone = place.run("gone.tool").await.joined();
    assert!(gone.contains("failed to start") && gone.contains("from gone"), "{gone}");
    assert!(!place.run("s.tool").await.is_error, "the other goes on");
    place.devices.stop().await;
}

// Cases 95 and 168: in plan mode what is marked as reading runs where its server is trusted, and
// nothing else of it does.
#[tokio::test]
async fn case_168_plan_mode_lets_trusted_marks_through_and_nothing_else() {
    for (hints, looks) in [(Hints::Trusted, true), (Hints::Ignored, false)] {
        let place = Place::new();
        let (_server, connected) = place.with(hints, &["look".to_owned(), "do".to_owned()]).await;
        connected.unwrap();
        place.host.enter_plan(Decider::Person, "Look first.").unwrap();
        let looked = place.run("s.look").await;
        assert_eq!(!looked.is_error, looks, "{hints:?}: {}", looked.joined());
        let done = place.run("s.do").await;
        assert!(done.is_error && done.joined().contains("lan mode"), "{}", done.joined());
        place.devices.stop().await;
    }
}
