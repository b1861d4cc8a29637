//! A scratch workspace with a host over it.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::{Value, json};
use xd_changeset::{ByteEdit, ChangeSet};
use xd_resolve::{Decider, Tier, ToolCall, ToolResult};
use xd_session::Session;
use xd_write::{
    CallScope, FnTool, Host, HostBuilder, Proposed, Tool, ToolContext, ToolDefinition, ToolFailure,
    Workspace, stage_change_set,
};

/// Path → kind, permission bits, number of names, and bytes or link text. The state folder is left
/// out.
pub type Picture = BTreeMap<String, (char, u32, u64, Vec<u8>)>;

/// A scratch folder, a session, and a host with the tools `read`, `write` and [`editor`].
#[derive(Debug)]
pub struct Bench {
    folder: Arc<tempfile::TempDir>,
    /// The host.
    pub host: Arc<Host>,
}

impl Bench {
    /// A workspace with `files` and a session of its own.
    #[must_use]
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::with(files, |builder| builder)
    }

    /// The same, with the host assembled by `configure`.
    #[must_use]
    pub fn with(
        files: &[(&str, &str)],
        configure: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> Self {
        let folder = Arc::new(tempfile::tempdir().expect("a scratch folder"));
        for (path, text) in files {
            put(folder.path(), path, text);
        }
        Self::over(folder, Session::new(), configure)
    }

    /// The same in memory where the system has a file system for that, so that thousands can be
    /// made and no write waits for a disk.
    #[must_use]
    pub fn quick(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = Arc::new(folder.expect("a scratch folder"));
        for (path, text) in files {
            put(folder.path(), path, text);
        }
        Self::over(folder, Session::new(), |builder| builder)
    }

    /// A host over an existing folder and a session.
    #[must_use]
    pub fn over(
        folder: Arc<tempfile::TempDir>,
        session: Session,
        configure: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> Self {
        let workspace = Workspace::open(folder.path()).expect("the scratch folder opens");
        let builder = Host::builder(Arc::new(session), workspace).tool(editor());
        Self { folder, host: Arc::new(configure(builder).build()) }
    }

    /// The folder, for another bench over it.
    #[must_use]
    pub fn folder(&self) -> Arc<tempfile::TempDir> {
        Arc::clone(&self.folder)
    }

    /// Where the workspace is.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Where `path` of the workspace is.
    #[must_use]
    pub fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// Writes a file from outside, past all tools.
    pub fn put(&self, path: &str, text: impl AsRef<[u8]>) {
        put(self.folder.path(), path, text);
    }

    /// The text of a file.
    #[must_use]
    pub fn text(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).expect("the file is there")
    }

    /// Whether anything is at `path`.
    #[must_use]
    pub fn exists(&self, path: &str) -> bool {
        fs::symlink_metadata(self.at(path)).is_ok()
    }

    /// Everything in the workspace but its state folder.
    #[must_use]
    pub fn picture(&self) -> Picture {
        let mut seen = Picture::new();
        look(self.folder.path(), "", &mut seen);
        seen
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session {
        self.host.session()
    }

    /// The pending numbers, newest first.
    #[must_use]
    pub fn pending(&self) -> Vec<u64> {
        self.session().actions().pending().iter().map(|action| action.number().get()).collect()
    }

    /// Runs a batch of calls of the model.
    pub async fn run(&self, calls: &[ToolCall]) -> Vec<ToolResult> {
        self.host.run_batch(calls, &CallScope::of(Decider::Model)).await
    }

    /// Runs one call.
    pub async fn one(&self, call: ToolCall) -> ToolResult {
        self.run(&[call]).await.pop().expect("one result")
    }

    /// Calls `write`.
    pub async fn write(&self, path: &str, content: &str) -> ToolResult {
        self.one(write_call("w", path, content)).await
    }

    /// Calls `read`.
    pub async fn read(&self, path: &str) -> ToolResult {
        self.one(call("r", "read", json!({ "path": path }))).await
    }

    /// Stages whatever `arguments` of [`editor`] say.
    pub async fn stage(&self, arguments: Value) -> ToolResult {
        self.one(call("s", "edit", arguments)).await
    }

    /// Stages one replacement.
    pub async fn edit(&self, path: &str, old: &str, new: &str) -> ToolResult {
        self.stage(json!({ "edits": [{ "path": path, "old": old, "new": new }] })).await
    }
}

/// A tool call.
#[must_use]
pub fn call(id: &str, name: &str, arguments: Value) -> ToolCall {
    ToolCall::new(id, name, arguments)
}

/// A call of `write`.
#[must_use]
pub fn write_call(id: &str, path: &str, content: &str) -> ToolCall {
    call(id, "write", json!({ "path": path, "content": content }))
}

/// The tool `edit`, which stages: exact replacements, files to create, delete and move. What
/// changes nothing is not staged.
pub fn editor() -> impl Tool + 'static {
    let definition = ToolDefinition::new(
        "edit",
        "Proposes exact replacements, new files, deletions and moves.",
        json!({ "type": "object", "properties": {
            "edits": { "type": "array" }, "create": { "type": "array" },
            "delete": { "type": "array" }, "move": { "type": "array" } } }),
    );
    FnTool::new(definition, Tier::Write, propose).shared()
}

async fn propose(context: Arc<ToolContext>, arguments: Value) -> Result<ToolResult, ToolFailure> {
    let root = context.workspace().root();
    let mut builder = ChangeSet::builder(root);
    let list = |key: &str| arguments[key].as_array().cloned().unwrap_or_default();
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let mut replacements = 0;
    for edit in list("edits") {
        let path = root.relative(&text(&edit, "path"))?;
        let content = root.read(&path)?;
        let bytes = content.bytes()?.into_owned();
        let old = text(&edit, "old").into_bytes();
        let mut hits = bytes.windows(old.len().max(1)).enumerate().filter(|(_, w)| *w == old);
        let Some((at, _)) = hits.next() else {
            return Ok(ToolResult::error(format!("0 hits of {:?} in {path}", text(&edit, "old"))));
        };
        if let Some((other, _)) = hits.next() {
            return Ok(ToolResult::error(format!("two places in {path}: bytes {at} and {other}")));
        }
        let end = at + old.len();
        builder.edit_from(&path, content, vec![ByteEdit::new(at..end, text(&edit, "new"))]);
        replacements += 1;
    }
    for file in list("create") {
        builder.create(&root.relative(&text(&file, "path"))?, text(&file, "content"), None);
    }
    for path in list("delete") {
        builder.delete(&root.relative(path.as_str().unwrap_or_default())?);
    }
    for moved in list("move") {
        let to = root.relative(&text(&moved, "to"))?;
        builder.rename(&root.relative(&text(&moved, "from"))?, &to);
    }
    let change_set = builder.build()?;
    if change_set.is_empty() {
        return Ok(ToolResult::text("No replacements made"));
    }
    let files = change_set.len();
    let preview = change_set.unified(3);
    let proposed = Proposed {
        label: format!("Edit: {replacements} replacements in {files} files"),
        source_tool_name: "edit".to_owned(),
        success: format!("Applied {replacements} replacements in {files} files."),
        notes: Vec::new(),
        preview: preview.clone(),
        change_set,
    };
    let staged = stage_change_set(&*context, context.workspace(), proposed).await?;
    Ok(staged.result(&preview))
}

fn put(folder: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a file has a folder")).expect("the folder is made");
    fs::write(path, text).expect("the file is written");
}

fn look(folder: &Path, prefix: &str, seen: &mut Picture) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let entry = entry.expect("the entry can be read");
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if name == ".xd" {
            continue;
        }
        let metadata = entry.path().symlink_metadata().expect("the entry can be looked at");
        let mode = metadata.permissions().mode() & 0o7777;
        if metadata.is_dir() {
            seen.insert(name.clone(), ('d', mode, 0, Vec::new()));
            look(&entry.path(), &format!("{name}/"), seen);
        } else if metadata.is_symlink() {
            let target = fs::read_link(entry.path()).expect("the link can be read");
            let target = target.to_string_lossy().into_owned().into_bytes();
            seen.insert(name, ('l', 0, 0, target));
        } else {
            let bytes = fs::read(entry.path()).expect("the file can be read");
            seen.insert(name, ('f', mode, metadata.nlink(), bytes));
        }
    }
}
