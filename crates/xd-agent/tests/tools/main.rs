//! The tools that look and run, through a host, in a real folder.
#![allow(clippy::unwrap_used, reason = "a set-up that fails ends the test")]

mod bash;
mod glob;
mod grep;

use std::{fs, path::Path, sync::Arc};

use serde_json::Value;
use tempfile::TempDir;
use xd_agent::tools::{BashTool, GlobTool, GrepTool};
use xd_resolve::{ToolCall, ToolResult};
use xd_session::Session;
use xd_write::{CallScope, Host, Policy, Workspace};

/// A folder and a host over it.
struct Room {
    folder: TempDir,
    host: Host,
}

impl Room {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        for (path, text) in files {
            put(folder.path(), path, text.as_bytes());
        }
        let workspace = Workspace::open(folder.path()).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let host = Host::builder(Arc::new(Session::new()), workspace)
            .policy(Policy::automatic(xd_resolve::Tier::Exec))
            .tool(GrepTool::default())
            .tool(GlobTool::default())
            .tool(BashTool::new(vec![("PATH".into(), path), ("SEEN".into(), "yes".into())]))
            .build();
        Self { folder, host }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        let call = ToolCall::new("1", name, arguments);
        self.host.run_batch(&[call], &CallScope::model()).await.remove(0)
    }

    /// The text of a call that is well.
    async fn text(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert!(!result.is_error, "{result:?}");
        result.joined()
    }

    /// The text of a call that fails.
    async fn fault(&self, name: &str, arguments: Value) -> String {
        let result = self.call(name, arguments).await;
        assert!(result.is_error, "{result:?}");
        result.joined()
    }
}

fn put(folder: &Path, path: &str, bytes: &[u8]) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}
