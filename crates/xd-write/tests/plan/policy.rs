//! W7: in plan mode nothing of the working tree changes, by any route; deny rules always win.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicUsize, Ordering},
};

use serde_json::{Value, json};
use xd_protocol::notice;
use xd_resolve::{ActionState, BoxFuture, Decider, Tier};
use xd_session::Session;
use xd_write::{Approval, ApprovalRequest, Approver, Policy, Rules};

use crate::scene::{Scene, staging, touching};

// CONTRACT W7; case 87; Invariant W6
#[test]
fn w7_case_087_only_the_exact_address_passes() {
    let scene = Scene::planning();
    scene.write("local://a-plan.md", "# A\n");
    let before = scene.picture();
    let refused = [
        "xd://Propose",
        "xd://PROPOSE",
        "xd://proposes",
        "xd://propose2",
        "xd://propose:raw",
        "xd://propose@1",
        "xd://propose/",
        "xd://propose/..",
        "xd://propose/../a.txt",
        "xd://propose?",
        "xd://propose#x",
        "xd:// propose",
        "xd://pro pose",
        "xd://\u{200b}propose",
        "xd://propose\u{0}",
        "xd:/propose",
        "xd:propose",
        "xd/propose",
        "xdd://propose",
        "./xd://propose",
        "./xd/propose",
        "a/../xd://propose",
        "xd://other",
        "xd://",
        "propose",
        "a.txt",
        "new.txt",
        "sub/new.txt",
        "./a.txt",
        "../out.txt",
        "/tmp/xd-plan-out.txt",
        "http://propose",
        "local:/a-plan.md",
        "file://a.txt",
        ".xd/sessions/x/log.jsonl",
    ];
    for path in refused {
        let result = scene.write(path, "a");
        assert!(result.is_error, "{path:?}: {result:?}");
        assert_eq!(scene.script.asked(), [], "{path:?}");
        assert_eq!(scene.picture(), before, "{path:?}");
    }
    for path in ["xd://propose", " xd://propose\n", "XD://propose"] {
        scene.script.then(|_| xd_session::PlanAnswer::Dismissed);
        scene.write(path, "a");
    }
    assert_eq!(scene.script.asked().len(), 3);
    assert_eq!(scene.picture(), before);
}

/// How a tool is reached.
#[derive(Debug, Clone, Copy)]
enum Way {
    Tool,
    Device,
    DeviceByName,
    DeviceByAddress,
}

// CONTRACT W7, U11; cases 95, 166, 168; Invariant W6
#[test]
fn w7_cases_095_168_what_is_not_declared_read_only_runs_by_rule_alone_and_denied_never() {
    for way in [Way::Tool, Way::Device, Way::DeviceByName, Way::DeviceByAddress] {
        for tier in [Some(Tier::Read), Some(Tier::Write), Some(Tier::Exec), None] {
            for (allowed, denied) in [(false, false), (true, false), (false, true), (true, true)] {
                for planning in [false, true] {
                    let at = format!("{way:?}, {tier:?}, {allowed}, {denied}, {planning}");
                    let mut rules = Rules::new();
                    if allowed {
                        rules = rules.allow("probe");
                    }
                    if denied {
                        rules = rules.deny("probe");
                    }
                    let tool =
                        Unmarked { tool: touching("probe", tier.unwrap_or(Tier::Read)), tier };
                    let scene = Scene::with(|builder| {
                        let policy = Policy::automatic(Tier::Exec).with_rules(rules);
                        let builder = builder.policy(policy);
                        match way {
                            Way::Tool => builder.tool(tool),
                            Way::Device | Way::DeviceByName | Way::DeviceByAddress => {
                                builder.device(tool).unwrap()
                            }
                        }
                    });
                    if planning {
                        scene.enter();
                    }
                    let before = scene.picture();
                    let result = match way {
                        Way::Tool | Way::DeviceByName => scene.call("probe", json!({})),
                        Way::Device => scene.write("xd://probe", "{}"),
                        Way::DeviceByAddress => scene.call("xd://probe", json!({})),
                    };
                    let read_only = tier == Some(Tier::Read);
                    let runs = !denied && (!planning || read_only || allowed);
                    assert_eq!(!result.is_error, runs, "{at}: {result:?}");
                    assert_eq!(scene.picture() != before, runs, "{at}");
                    if denied {
                        assert!(result.joined().contains("a rule of this host denies `probe`"));
                    } else if !runs {
                        assert!(result.joined().contains(notice::PLAN_MODE_ON), "{at}: {result:?}");
                        assert!(result.joined().contains(notice::PLAN_MODE_ALLOWS));
                    }
                }
            }
        }
    }
}

/// A tool that may say nothing of how far it reaches.
struct Unmarked<T> {
    tool: T,
    tier: Option<Tier>,
}

impl<T: xd_write::Tool> xd_write::Tool for Unmarked<T> {
    fn definition(&self) -> &xd_write::ToolDefinition {
        self.tool.definition()
    }

    fn tier(&self, _: &Value) -> Option<Tier> {
        self.tier
    }

    fn call(
        &self,
        context: Arc<xd_write::ToolContext>,
        arguments: Value,
    ) -> BoxFuture<'_, Result<xd_resolve::ToolResult, xd_write::ToolFailure>> {
        self.tool.call(context, arguments)
    }
}

// CONTRACT W7
#[test]
fn w7_previews_may_be_staged_in_plan_mode_and_wait_until_it_ends() {
    let scene = Scene::with(|builder| builder.tool(staging("stager")));
    scene.enter();
    let before = scene.picture();
    assert!(!scene.call("stager", json!({})).is_error);
    for (path, name) in [("xd://resolve", "resolve"), ("xd://resolve@1", "resolve")] {
        let result = scene.write(path, "Because.");
        assert!(result.is_error);
        assert!(result.joined().starts_with("Not applied: plan mode is on"), "{result:?}");
        assert!(result.joined().contains("Staged action @1 stays pending."), "{result:?}");
        assert_eq!(result.details.as_ref().unwrap()["xdev"]["tool"], name);
    }
    assert!(scene.call("xd://resolve@1", json!({ "reason": "Because." })).is_error);
    assert_eq!(scene.picture(), before);
    scene.host.session().plan().leave();
    assert_eq!(scene.write("xd://resolve", "Because.").content, ["Applied."]);
    assert_eq!(scene.picture().get("stager.out").map(String::as_str), Some("applied\n"));
    // What is decided says what it became, plan mode or not.
    scene.enter();
    assert!(scene.write("xd://resolve@1", "Again.").joined().contains("already applied"));
}

// CONTRACT W7, D5
#[test]
fn w7_rejecting_is_possible_in_plan_mode() {
    let scene = Scene::with(|builder| builder.tool(staging("stager")));
    scene.enter();
    scene.call("stager", json!({}));
    assert!(!scene.write("xd://reject", "Not this way.").is_error);
    let text = scene.write("xd://reject", "Again.").joined();
    assert_eq!(text, format!("{}{}", notice::NOTHING_TO_REJECT, notice::PLAN_MODE_HINT));
}

// CONTRACT W7; case 95
#[test]
fn w7_case_095_what_a_denied_tool_staged_is_applied_by_no_route() {
    let policy = Policy::automatic(Tier::Exec).with_rules(Rules::new().deny("stager"));
    let scene = Scene::with(|builder| builder.policy(policy).tool(staging("stager")));
    // Staged before the rule was there, or by another host of the session.
    let session = scene.host.session();
    let request = xd_resolve::StageRequest::new("Write: 1 file", |_| async {
        panic!("denied");
    });
    let number = session.actions().stage(request.source_tool("stager")).unwrap().number();
    assert!(scene.call("stager", json!({})).is_error);
    assert!(scene.write("xd://resolve", "Why.").joined().contains("denies `stager`"));
    for decider in [Decider::Model, Decider::Person, Decider::Host] {
        let confirm =
            session.actions().confirm(number, xd_protocol::Verdict::Apply, "Why.", decider);
        assert!(matches!(xd_resolve::block_on(confirm), xd_resolve::Resolution::Refused(_)));
    }
    assert_eq!(session.actions().get(number).unwrap().1, ActionState::Pending);
    assert!(!scene.write("xd://reject", "Denied anyway.").is_error);
}

// cases 56, 95
#[test]
fn cases_056_095_rules_name_what_a_call_reaches_not_the_road_to_it() {
    let rules = Rules::new().deny("write").deny("local");
    let scene = Scene::with(|builder| {
        let policy = Policy::automatic(Tier::Exec).with_rules(rules);
        builder.policy(policy).device(touching("probe", Tier::Write)).unwrap()
    });
    for _ in 0..3 {
        assert!(scene.write("a.txt", "x").is_error);
        assert!(scene.write("local://a-plan.md", "x").is_error);
    }
    assert!(!scene.write("xd://probe", "{}").is_error);
    assert_eq!(scene.read("a.txt").content, ["     1\tas it was\n"]);
    assert!(scene.read("local://a-plan.md").is_error);
    let blind = Policy::automatic(Tier::Exec).with_rules(Rules::new().deny("read").allow("read"));
    let scene = Scene::with(|builder| builder.policy(blind));
    assert!(scene.read("a.txt").is_error);
}

/// Counts what it is asked, and does something before it grants.
struct Granting<F>(Arc<AtomicUsize>, F);

impl<F: Fn() + Send + Sync> Approver for Granting<F> {
    fn ask(&self, _: ApprovalRequest) -> BoxFuture<'_, Approval> {
        self.0.fetch_add(1, Ordering::SeqCst);
        (self.1)();
        Box::pin(std::future::ready(Approval::Granted))
    }
}

// CONTRACT W7
#[test]
fn w7_nobody_is_asked_about_what_plan_mode_holds_back_and_a_rule_needs_no_asking() {
    let asked = Arc::new(AtomicUsize::new(0));
    let approver = Arc::new(Granting(Arc::clone(&asked), || {}));
    let rules = Rules::new().allow("free").deny("banned");
    let policy = Policy::automatic(Tier::Read).asking(approver).with_rules(rules);
    let scene = Scene::with(|builder| {
        builder
            .policy(policy)
            .tool(touching("free", Tier::Exec))
            .tool(touching("banned", Tier::Exec))
            .tool(touching("other", Tier::Exec))
    });
    scene.call("free", json!({}));
    scene.call("banned", json!({}));
    assert_eq!(asked.load(Ordering::SeqCst), 0);
    assert!(!scene.call("other", json!({})).is_error);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    scene.enter();
    assert!(scene.call("other", json!({})).is_error);
    assert!(scene.write("a.txt", "x").is_error);
    assert!(!scene.write("local://a-plan.md", "x").is_error);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
}

// CONTRACT W7
#[test]
fn w7_plan_mode_that_begins_while_a_person_is_asked_holds() {
    let session: Arc<Mutex<Option<Arc<Session>>>> = Arc::default();
    let enter = Arc::clone(&session);
    let approver = Arc::new(Granting(Arc::default(), move || {
        let session = enter.lock().unwrap();
        session.as_ref().unwrap().plan().enter().unwrap();
    }));
    let policy = Policy::automatic(Tier::Read).asking(approver);
    let scene = Scene::with(|builder| {
        builder.policy(policy).tool(touching("probe", Tier::Write)).tool(staging("stager"))
    });
    *session.lock().unwrap() = Some(Arc::clone(scene.host.session()));
    let before = scene.picture();
    let calls = [
        ("probe", json!({})),
        ("write", json!({ "path": "a.txt", "content": "x" })),
        ("write", json!({ "path": "xd://resolve", "content": "Why." })),
    ];
    let request = xd_resolve::StageRequest::new("x", |_| async { panic!("held back") });
    scene.host.session().actions().stage(request).unwrap();
    for (name, arguments) in calls {
        let result = scene.call(name, arguments);
        assert!(result.is_error && result.joined().contains("plan mode is on"), "{result:?}");
        assert_eq!(scene.picture(), before);
        scene.host.session().plan().leave();
    }
}

// CONTRACT W7
#[test]
fn w7_reading_and_documents_go_on_in_plan_mode() {
    let scene = Scene::with(|builder| builder.device(touching("probe", Tier::Exec)).unwrap());
    scene.enter();
    assert!(!scene.read("a.txt").is_error);
    for path in ["xd://", "xd://probe", "xd://propose", "xd://resolve"] {
        assert!(!scene.read(path).is_error, "{path}");
    }
    for body in ["", "?", "help"] {
        assert!(!scene.write("xd://probe", body).is_error, "{body:?}");
    }
}

// CONTRACT W7, D15
#[test]
fn w7_d15_the_hidden_tool_applies_nothing_in_plan_mode_and_may_discard() {
    let session = Session::new().with_finalizer(xd_session::Finalizer::HiddenTool);
    let scene = Scene::over(session, |builder| builder.tool(staging("stager")));
    scene.enter();
    scene.call("stager", json!({}));
    let resolve =
        |action: &str| scene.call("resolve", json!({ "action": action, "reason": "Because." }));
    let before = scene.picture();
    let refused = resolve("apply").joined();
    assert!(refused.starts_with("Not applied: plan mode is on"), "{refused}");
    assert!(refused.contains("Staged action @1 stays pending."), "{refused}");
    assert_eq!(scene.picture(), before);
    assert!(!resolve("discard").is_error);
    scene.call("stager", json!({}));
    scene.host.session().plan().leave();
    assert_eq!(resolve("apply").content, ["Applied."]);
}
