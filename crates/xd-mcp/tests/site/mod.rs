//! A folder to work in, servers over it, and clients that keep what they hear.
#![allow(dead_code, reason = "each test file uses its part of it")]

use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::Duration,
};

use rmcp::{
    ClientHandler, RoleClient, ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
        ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
        FormElicitationCapability, Implementation, ProgressNotificationParam,
        ResourceUpdatedNotificationParam,
    },
    service::{NotificationContext, RequestContext, RunningService},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use xd_mcp::{Options, ServeError};
use xd_write::Workspace;

/// How the person of a client answers.
#[derive(Debug, Clone, Default)]
pub(crate) enum Person {
    /// The client cannot ask.
    #[default]
    None,
    /// This, always.
    Says(ElicitationAction, Value),
    /// Nothing, ever.
    Silent,
}

/// A client that keeps what it hears.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ears {
    pub(crate) person: Person,
    pub(crate) asked: Arc<Mutex<Vec<String>>>,
    pub(crate) updated: Arc<Mutex<Vec<String>>>,
    pub(crate) lists: Arc<Mutex<usize>>,
    pub(crate) progress: Arc<Mutex<Vec<f64>>>,
}

impl ClientHandler for Ears {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if !matches!(self.person, Person::None) {
            let form = ElicitationCapability::new().with_form(FormElicitationCapability::new());
            capabilities.elicitation = Some(form);
        }
        ClientConfig::new(capabilities, Implementation::new("ears", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, rmcp::ErrorData> {
        if let ElicitRequestParams::FormElicitationParams { message, .. } = request {
            self.asked.lock().unwrap().push(message);
        }
        match &self.person {
            Person::Says(action, content) => {
                Ok(ElicitResult::new(action.clone()).with_content(content.clone()))
            }
            Person::Silent | Person::None => std::future::pending().await,
        }
    }

    async fn on_resource_updated(
        &self,
        updated: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.updated.lock().unwrap().push(updated.uri);
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        *self.lists.lock().unwrap() += 1;
    }

    async fn on_progress(
        &self,
        progress: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.progress.lock().unwrap().push(progress.progress);
    }
}

/// A client and the server that serves it.
pub(crate) struct Client {
    pub(crate) peer: RunningService<RoleClient, Ears>,
    server: JoinHandle<Result<(), ServeError>>,
}

impl Client {
    /// Calls a tool. The call itself must not fail.
    pub(crate) async fn call(&self, name: &str, arguments: Value) -> CallToolResult {
        call(&self.peer, name, arguments).await
    }

    pub(crate) async fn write(&self, path: &str, content: &str) -> CallToolResult {
        self.call("write", json!({ "path": path, "content": content })).await
    }

    pub(crate) async fn read(&self, path: &str) -> CallToolResult {
        self.call("read", json!({ "path": path })).await
    }

    /// Stages an edit.
    pub(crate) async fn edit(&self, path: &str, old: &str, new: &str) -> CallToolResult {
        self.call("edit", edits(path, old, new)).await
    }

    /// Says goodbye and waits for the server.
    pub(crate) async fn leave(self) {
        self.peer.cancel().await.unwrap();
        self.server.await.unwrap().unwrap();
    }
}

pub(crate) async fn call<H: rmcp::Service<RoleClient>>(
    peer: &RunningService<RoleClient, H>,
    name: &str,
    arguments: Value,
) -> CallToolResult {
    peer.call_tool(params(name, arguments)).await.unwrap()
}

pub(crate) fn params(name: &str, arguments: Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().unwrap().clone();
    CallToolRequestParams::new(name.to_owned()).with_arguments(arguments)
}

pub(crate) fn edits(path: &str, old: &str, new: &str) -> Value {
    json!({ "edits": [{ "path": path, "old_text": old, "new_text": new }] })
}

/// A folder with two files.
pub(crate) struct Site(TempDir);

impl Site {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let site = Self(folder);
        site.put("a.txt", "one\ntwo\n");
        site.put("b.txt", "three\n");
        site
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().to_owned()
    }

    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn get(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    pub(crate) fn has(&self, path: &str) -> bool {
        self.0.path().join(path).exists()
    }

    pub(crate) fn options(&self) -> Options {
        Options::new(Workspace::open(self.0.path()).unwrap())
    }

    /// A client of a server of its own.
    pub(crate) async fn client(&self) -> Client {
        self.client_of(self.options(), Ears::default()).await
    }

    pub(crate) async fn client_of(&self, options: Options, ears: Ears) -> Client {
        let (ours, theirs) = tokio::io::duplex(256 * 1024);
        let (reader, writer) = tokio::io::split(ours);
        let server = tokio::spawn(xd_mcp::serve(options, reader, writer));
        let peer = ears.serve(theirs).await.unwrap();
        Client { peer, server }
    }
}

/// All text of a result.
pub(crate) fn text(result: &CallToolResult) -> String {
    let texts = result.content.iter().filter_map(|block| block.as_text());
    texts.map(|text| text.text.as_str()).collect::<Vec<_>>().join("\n")
}

pub(crate) fn is_error(result: &CallToolResult) -> bool {
    result.is_error == Some(true)
}

pub(crate) fn data(result: &CallToolResult) -> &Value {
    result.structured_content.as_ref().unwrap()
}

/// Waits until `done`, a few seconds at most.
pub(crate) async fn until(mut done: impl FnMut() -> bool) -> bool {
    for _ in 0..200 {
        if done() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
    false
}
