//! A host over a scratch folder, and a person who answers from a script.

use std::{
    collections::VecDeque,
    fs,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};
use xd_protocol::StageNumber;
use xd_resolve::{ActionState, ApplyError, BoxFuture, StageRequest, Tier, ToolCall, ToolResult};
use xd_session::{Finalizer, Session};
use xd_write::{
    Approval, ApprovalRequest, Approver, CallScope, FnTool, Host, HostBuilder, Policy, Tool,
    ToolDefinition, Workspace,
};

pub(crate) const BOTH: [Finalizer; 2] = [Finalizer::Write, Finalizer::HiddenTool];
pub(crate) const WHY: &str = "It is what was asked for.";

type Meanwhile = Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>;

/// Answers each question with the next of its answers, else yes, and keeps what it was asked.
#[derive(Default)]
pub(crate) struct Person {
    pub(crate) answers: Mutex<VecDeque<Approval>>,
    pub(crate) asked: Mutex<Vec<ApprovalRequest>>,
    /// What happens while she thinks.
    pub(crate) meanwhile: Mutex<Option<Meanwhile>>,
}

impl Person {
    pub(crate) fn says(&self, answer: Approval) {
        self.answers.lock().unwrap().push_back(answer);
    }

    pub(crate) fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

impl Approver for Person {
    fn ask(&self, request: ApprovalRequest) -> BoxFuture<'_, Approval> {
        self.asked.lock().unwrap().push(request);
        let meanwhile = self.meanwhile.lock().unwrap().take();
        let answer = self.answers.lock().unwrap().pop_front().unwrap_or(Approval::Granted);
        Box::pin(async move {
            if let Some(meanwhile) = meanwhile {
                meanwhile().await;
            }
            answer
        })
    }
}

pub(crate) struct Desk {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) host: Arc<Host>,
    pub(crate) person: Arc<Person>,
}

impl Desk {
    /// A person is asked about all that reaches beyond `automatic`.
    pub(crate) fn asking(finalizer: Finalizer, automatic: Tier) -> Self {
        Self::with(Session::new().with_finalizer(finalizer), |builder, person| {
            builder.policy(Policy::automatic(automatic).asking(person))
        })
    }

    pub(crate) fn with(
        session: Session,
        configure: impl FnOnce(HostBuilder, Arc<Person>) -> HostBuilder,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self::over(folder, session, configure)
    }

    pub(crate) fn over(
        folder: tempfile::TempDir,
        session: Session,
        configure: impl FnOnce(HostBuilder, Arc<Person>) -> HostBuilder,
    ) -> Self {
        let workspace = workspace(folder.path());
        let person = Arc::new(Person::default());
        let builder = Host::builder(Arc::new(session), workspace);
        let host = Arc::new(configure(builder, Arc::clone(&person)).build());
        Self { folder, host, person }
    }

    pub(crate) async fn run(&self, calls: &[ToolCall]) -> Vec<ToolResult> {
        self.host.run_batch(calls, &CallScope::model()).await
    }

    pub(crate) async fn one(&self, call: ToolCall) -> ToolResult {
        self.run(&[call]).await.pop().unwrap()
    }

    /// The call that applies the head, in the session's form.
    pub(crate) fn apply(&self) -> ToolCall {
        match self.host.session().finalizer() {
            Finalizer::Write => write("xd://resolve", WHY),
            Finalizer::HiddenTool => {
                ToolCall::new("1", "resolve", json!({ "action": "apply", "reason": WHY }))
            }
        }
    }

    /// Stages an action of `source` that counts its runs.
    pub(crate) fn stage(&self, source: &str, tier: Tier) -> Arc<AtomicUsize> {
        let runs = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&runs);
        let request = StageRequest::new(format!("{source}: {tier:?}"), move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            async { Ok(ToolResult::text("applied")) }
        });
        let request = request.source_tool(source).tier(tier);
        self.host.session().actions().stage(request).unwrap();
        runs
    }

    pub(crate) fn state(&self, number: u64) -> ActionState {
        self.host.session().actions().get(n(number)).unwrap().1
    }
}

pub(crate) fn workspace(folder: &Path) -> Workspace {
    fs::create_dir_all(folder).unwrap();
    Workspace::open(folder).unwrap()
}

pub(crate) fn n(number: u64) -> StageNumber {
    StageNumber::new(number).unwrap()
}

pub(crate) fn write(path: &str, content: &str) -> ToolCall {
    ToolCall::new("1", "write", json!({ "path": path, "content": content }))
}

/// A request of [`Tier::Exec`] whose first run waits for `gate` and fails, and whose later ones
/// succeed and are counted.
pub(crate) fn failing_once(
    gate: tokio::sync::oneshot::Receiver<()>,
) -> (StageRequest, Arc<AtomicUsize>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&runs);
    let gate = Mutex::new(Some(gate));
    let request = StageRequest::new("dangerous", move |_| {
        let gate = gate.lock().unwrap().take();
        let counted = Arc::clone(&counted);
        async move {
            match gate {
                Some(gate) => {
                    gate.await.unwrap();
                    Err(ApplyError::from("no disk"))
                }
                None => {
                    counted.fetch_add(1, Ordering::Relaxed);
                    Ok(ToolResult::text("done"))
                }
            }
        }
    });
    (request.source_tool("runner").tier(Tier::Exec), runs)
}

/// A tool called `dev` of `tier` that says which it is.
pub(crate) fn device(tier: Tier) -> Arc<dyn Tool> {
    let definition = ToolDefinition::new("dev", "Runs.", json!({ "type": "object" }));
    Arc::new(FnTool::new(definition, tier, move |_, _: Value| async move {
        Ok(ToolResult::text(format!("ran {tier:?}")))
    }))
}
