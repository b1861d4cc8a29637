//! A workspace with a host, and a reviewer who answers from a script.

use std::{
    collections::{BTreeMap, VecDeque},
    fs,
    path::Path,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use xd_resolve::{BoxFuture, StageRequest, Tier, ToolCall, ToolResult};
use xd_session::{PlanAnswer, PlanReview, PlanReviewer, Session};
use xd_write::{
    CallScope, FnTool, Host, HostBuilder, MemoryDrafts, Tool, ToolDefinition, ToolFailure,
    Workspace,
};

type Answer = Box<dyn FnOnce(&PlanReview) -> PlanAnswer + Send>;

/// Answers each review with the next of its answers, and keeps what it was asked.
#[derive(Default)]
pub(crate) struct Script {
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<PlanReview>>,
}

impl Script {
    pub(crate) fn then(&self, answer: impl FnOnce(&PlanReview) -> PlanAnswer + Send + 'static) {
        self.answers.lock().unwrap().push_back(Box::new(answer));
    }

    /// Approves the next plan as it is.
    pub(crate) fn approve(&self) {
        self.then(|review| PlanAnswer::Approved { text: Arc::clone(&review.text) });
    }

    pub(crate) fn asked(&self) -> Vec<PlanReview> {
        self.asked.lock().unwrap().clone()
    }
}

impl PlanReviewer for Script {
    fn review(&self, review: PlanReview) -> BoxFuture<'_, PlanAnswer> {
        self.asked.lock().unwrap().push(review.clone());
        let answer = self.answers.lock().unwrap().pop_front().expect("an answer is scripted");
        Box::pin(async move {
            tokio::task::yield_now().await;
            answer(&review)
        })
    }
}

/// A scratch workspace, its host, its reviewer.
pub(crate) struct Scene {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) host: Arc<Host>,
    pub(crate) script: Arc<Script>,
    pub(crate) drafts: MemoryDrafts,
}

impl Scene {
    pub(crate) fn new() -> Self {
        Self::with(|builder| builder)
    }

    pub(crate) fn with(configure: impl FnOnce(HostBuilder) -> HostBuilder) -> Self {
        Self::over(Session::new(), configure)
    }

    pub(crate) fn over(
        session: Session,
        configure: impl FnOnce(HostBuilder) -> HostBuilder,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.txt"), "as it was\n").unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let script = Arc::new(Script::default());
        let drafts = MemoryDrafts::new();
        let reviewer: Arc<dyn PlanReviewer> = Arc::<Script>::clone(&script);
        let builder = Host::builder(Arc::new(session), workspace)
            .drafts(Arc::new(drafts.clone()))
            .reviewer(reviewer);
        Self { folder, host: Arc::new(configure(builder).build()), script, drafts }
    }

    /// The same, in plan mode.
    pub(crate) fn planning() -> Self {
        let scene = Self::new();
        scene.enter();
        scene
    }

    pub(crate) fn enter(&self) {
        self.host.session().plan().enter().unwrap();
    }

    pub(crate) fn call(&self, name: &str, arguments: Value) -> ToolResult {
        run(&self.host, name, arguments)
    }

    pub(crate) fn write(&self, path: &str, content: &str) -> ToolResult {
        self.call("write", json!({ "path": path, "content": content }))
    }

    pub(crate) fn read(&self, path: &str) -> ToolResult {
        self.call("read", json!({ "path": path }))
    }

    pub(crate) fn propose(&self, slug: &str) -> ToolResult {
        self.write("xd://propose", slug)
    }

    pub(crate) fn picture(&self) -> BTreeMap<String, String> {
        picture(self.folder.path())
    }
}

pub(crate) fn run(host: &Host, name: &str, arguments: Value) -> ToolResult {
    let call = ToolCall::new("1", name, arguments);
    runtime().block_on(host.run_batch(&[call], &CallScope::model())).pop().unwrap()
}

pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

/// Every file and folder with its text.
pub(crate) fn picture(folder: &Path) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            all.insert(format!("{name}/"), String::new());
            all.extend(picture(&path).into_iter().map(|(k, v)| (format!("{name}/{k}"), v)));
        } else {
            all.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
    all
}

/// A tool of this name and tier that writes `<name>.out` into the workspace.
pub(crate) fn touching(name: &str, tier: Tier) -> impl Tool + 'static {
    let file = format!("{name}.out");
    let definition = ToolDefinition::new(name, "Writes a file.", json!({ "type": "object" }));
    FnTool::new(definition, tier, move |context, _| {
        let path = context.workspace().path().join(&file);
        async move {
            fs::write(path, "written\n").map_err(ToolFailure::from)?;
            Ok(ToolResult::text("ran"))
        }
    })
}

/// A tool that stages what [`touching`] does, and declares so.
pub(crate) fn staging(name: &'static str) -> impl Tool + 'static {
    let definition = ToolDefinition::new(name, "Stages a file.", json!({ "type": "object" }));
    FnTool::new(definition, Tier::Write, move |context, _| {
        let path = context.workspace().path().join(format!("{name}.out"));
        async move {
            let request = StageRequest::new("Write: 1 file", move |_| {
                let path = path.clone();
                async move {
                    fs::write(path, "applied\n")?;
                    Ok(ToolResult::text("Applied."))
                }
            });
            let staged = context.stage(request.source_tool(name)).await?;
            Ok(ToolResult::text(staged.notice()))
        }
    })
    .staging()
}
