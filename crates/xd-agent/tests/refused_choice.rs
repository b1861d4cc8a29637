//! A provider that refuses a forced choice is not asked so again (`CONTRACT G9`).

use std::sync::{Arc, Mutex};

use serde_json::json;
use xd_agent::{Agent, AgentError, Event, Model, ModelError, Reply, Request, ScriptedModel, Stop};
use xd_resolve::{BoxFuture, StageRequest, ToolResult};
use xd_session::{Forcing, Session, ToolChoice};
use xd_write::{Host, Workspace};

/// Says that it can be forced by name, and answers every such request with a 400.
struct Stubborn {
    inner: ScriptedModel,
    sent: Arc<Mutex<Vec<ToolChoice>>>,
}

impl Model for Stubborn {
    fn respond(&self, request: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
        self.sent.lock().expect("no panic under this lock").push(request.tool_choice.clone());
        match request.tool_choice {
            ToolChoice::Named(_) | ToolChoice::Required => {
                let message = "400: tool_choice is not supported".to_owned();
                Box::pin(std::future::ready(Err(ModelError::ChoiceRefused { message })))
            }
            ToolChoice::Auto | ToolChoice::None => self.inner.respond(request),
        }
    }

    fn id(&self) -> &str {
        "stubborn-1"
    }

    fn forcing(&self) -> Forcing {
        Forcing::Named
    }
}

#[tokio::test]
async fn g9_g12_a_refused_choice_is_learned_and_the_run_goes_on_by_reminder() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::builder(Arc::new(Session::new()), Workspace::open(folder.path()).unwrap());
    let host = Arc::new(host.build());
    let stage = || {
        let apply = |_| async { Ok(ToolResult::text("Applied.")) };
        host.session().actions().stage(StageRequest::new("Something", apply)).unwrap();
    };
    let resolve =
        || Reply::call("write", json!({ "path": "xd://resolve", "content": "It is right." }));
    let sent = Arc::new(Mutex::new(Vec::new()));
    let inner = ScriptedModel::new([
        Reply::text("Let me think."),
        resolve(),
        Reply::text("Done."),
        Reply::text("Let me think again."),
        resolve(),
        Reply::text("Done."),
    ]);
    let model = Stubborn { inner, sent: Arc::clone(&sent) };
    let told = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&told);
    let mut agent = Agent::new(model, Arc::clone(&host)).on_event(move |event| {
        *counted.lock().unwrap() += u32::from(matches!(event, Event::ForcingUnavailable { .. }));
    });
    stage();
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Done);
    stage();
    assert_eq!(agent.prompt("Go on.").await.unwrap(), Stop::Done);
    let named = || ToolChoice::Named("write".to_owned());
    let auto = || ToolChoice::Auto;
    // The second turn is refused once and sent again without; in the second prompt it is not tried.
    assert_eq!(*sent.lock().unwrap(), [auto(), named(), auto(), auto(), auto(), auto(), auto()]);
    assert_eq!(*told.lock().unwrap(), 2, "the loop says each time that it goes by reminder");
    assert!(!host.session().actions().has_pending());
}

#[tokio::test]
async fn g9_a_refusal_of_what_the_host_itself_chose_is_learned_too() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::builder(Arc::new(Session::new()), Workspace::open(folder.path()).unwrap());
    let sent = Arc::new(Mutex::new(Vec::new()));
    let inner = ScriptedModel::new([Reply::text("Without."), Reply::text("Again without.")]);
    let model = Stubborn { inner, sent: Arc::clone(&sent) };
    let told = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&told);
    let mut agent = Agent::new(model, Arc::new(host.build()))
        .with_tool_choice(ToolChoice::Required)
        .on_event(move |event| {
            let any = matches!(event, Event::ForcingUnavailable { tool: None });
            *counted.lock().unwrap() += u32::from(any);
        });
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Done);
    assert_eq!(agent.prompt("Go on.").await.unwrap(), Stop::Done);
    // Refused once, sent again without, and not tried in the second prompt.
    assert_eq!(*sent.lock().unwrap(), [ToolChoice::Required, ToolChoice::Auto, ToolChoice::Auto]);
    assert_eq!(*told.lock().unwrap(), 2, "each turn that goes without says so");
}

// CONTRACT G9: who refuses even `auto` is not asked for ever.
#[tokio::test]
async fn g9_a_refusal_of_a_choice_that_forces_nothing_is_an_error() {
    struct Sullen;
    impl Model for Sullen {
        fn respond(&self, _: Request) -> BoxFuture<'_, Result<Reply, ModelError>> {
            let message = "400: tool_choice".to_owned();
            Box::pin(std::future::ready(Err(ModelError::ChoiceRefused { message })))
        }

        fn forcing(&self) -> Forcing {
            Forcing::Named
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let host = Host::builder(Arc::new(Session::new()), Workspace::open(folder.path()).unwrap());
    let mut agent =
        Agent::new(Sullen, Arc::new(host.build())).with_tool_choice(ToolChoice::Required);
    let error = agent.prompt("Go.").await.unwrap_err();
    assert!(matches!(error, AgentError::Model(ModelError::ChoiceRefused { .. })), "{error}");
}

// CONTRACT G9, Q6: what a person forced is learned too when it is refused, and the run goes on.
#[tokio::test]
async fn g9_q6_a_refused_hard_directive_is_learned_and_does_not_end_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let host = Host::builder(Arc::new(Session::new()), Workspace::open(folder.path()).unwrap());
    let host = Arc::new(host.build());
    let sent = Arc::new(Mutex::new(Vec::new()));
    let inner = ScriptedModel::new([Reply::text("Without it."), Reply::text("Again without.")]);
    let model = Stubborn { inner, sent: Arc::clone(&sent) };
    let told = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&told);
    let mut agent = Agent::new(model, Arc::clone(&host)).on_event(move |event| {
        if let Event::ForcingUnavailable { tool: Some(tool) } = event {
            into.lock().unwrap().push(tool.clone());
        }
    });
    host.session().with_queue(|queue| queue.user_force("read"));
    assert_eq!(agent.prompt("Go.").await.unwrap(), Stop::Done);
    let (named, auto) = (ToolChoice::Named("read".to_owned()), ToolChoice::Auto);
    assert_eq!(*sent.lock().unwrap(), [named, auto.clone()]);
    assert_eq!(*told.lock().unwrap(), ["read"]);
    // It is known by now: the same wish is not sent a second time.
    host.session().with_queue(|queue| queue.user_force("read"));
    assert_eq!(agent.prompt("Go on.").await.unwrap(), Stop::Done);
    assert_eq!(sent.lock().unwrap().last(), Some(&auto));
    assert!(!sent.lock().unwrap()[2..].iter().any(|choice| matches!(choice, ToolChoice::Named(_))));
}
