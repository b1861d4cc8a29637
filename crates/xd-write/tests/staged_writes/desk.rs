//! A workspace whose host stages every file write.

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt as _, path::Path, sync::Arc};

use serde_json::{Value, json};
use tempfile::TempDir;
use xd_resolve::{ActionState, ToolCall, ToolResult};
use xd_session::Session;
use xd_write::{CallScope, Host, HostBuilder, Policy, Workspace};

pub(crate) const NOTICE: &str = "Staged as a proposal — files NOT modified yet. To apply: write a \
                                 one-sentence reason to xd://resolve. To discard: write to \
                                 xd://reject.";

pub(crate) struct Desk {
    pub(crate) folder: TempDir,
    pub(crate) host: Host,
}

impl Desk {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, |builder| builder)
    }

    pub(crate) fn with(
        files: &[(&str, &str)],
        configure: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> Self {
        Self::over(Session::new(), files, configure)
    }

    pub(crate) fn over(
        session: Session,
        files: &[(&str, &str)],
        configure: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> Self {
        let folder = TempDir::new().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let workspace = Workspace::open(folder.path()).unwrap();
        let builder =
            Host::builder(Arc::new(session), workspace).policy(Policy::default().stage_writes());
        let host = configure(builder).build();
        Self { folder, host }
    }

    pub(crate) async fn call(&self, name: &str, arguments: Value) -> ToolResult {
        self.batch(&[ToolCall::new("1", name, arguments)]).await.pop().unwrap()
    }

    pub(crate) async fn batch(&self, calls: &[ToolCall]) -> Vec<ToolResult> {
        self.host.run_batch(calls, &CallScope::model()).await
    }

    pub(crate) async fn write(&self, path: &str, content: &str) -> ToolResult {
        self.call("write", json!({ "path": path, "content": content })).await
    }

    /// A write that is staged, with nothing of the tree changed: its whole text.
    pub(crate) async fn staged(&self, path: &str, content: &str) -> String {
        let before = self.picture();
        let result = self.write(path, content).await;
        assert!(!result.is_error, "{path}: {result:?}");
        let text = result.joined();
        assert!(text.starts_with("Staged as a proposal — files NOT modified yet."), "{text}");
        assert_eq!(result.details.unwrap()["staged"], json!(true));
        assert_eq!(self.picture(), before, "{path}");
        text
    }

    /// A write that is refused: nothing of the tree changed, nothing new is pending.
    pub(crate) async fn refused(&self, path: &str, content: &str) -> String {
        let (before, pending) = (self.picture(), self.pending());
        let result = self.write(path, content).await;
        assert!(result.is_error, "{path:?}: {result:?}");
        assert_eq!(self.picture(), before, "{path:?}");
        assert_eq!(self.pending(), pending, "{path:?}");
        result.joined()
    }

    pub(crate) async fn resolve(&self) -> ToolResult {
        self.write("xd://resolve", "It is what was asked for.").await
    }

    pub(crate) fn pending(&self) -> usize {
        self.host.session().actions().pending_count()
    }

    pub(crate) fn states(&self) -> Vec<ActionState> {
        self.host.session().actions().states().into_iter().map(|(_, state)| state).collect()
    }

    pub(crate) fn at(&self, path: &str) -> std::path::PathBuf {
        self.folder.path().join(path)
    }

    pub(crate) fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.at(path)).unwrap()
    }

    pub(crate) fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.at(path)).unwrap().permissions().mode() & 0o7777
    }

    /// Every name with its mode and bytes, links as themselves.
    pub(crate) fn picture(&self) -> BTreeMap<String, (u32, Vec<u8>)> {
        picture(self.folder.path())
    }
}

fn picture(folder: &Path) -> BTreeMap<String, (u32, Vec<u8>)> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let metadata = fs::symlink_metadata(&path).unwrap();
        // What the workspace keeps of itself is no part of the tree.
        if name == ".xd" {
            continue;
        }
        let content = if metadata.is_symlink() {
            fs::read_link(&path).unwrap().to_string_lossy().into_owned().into_bytes()
        } else if metadata.is_dir() {
            let inner = picture(&path).into_iter();
            all.extend(inner.map(|(inner, of)| (format!("{name}/{inner}"), of)));
            Vec::new()
        } else {
            fs::read(&path).unwrap()
        };
        all.insert(name, (metadata.permissions().mode(), content));
    }
    all
}
