//! Where plan mode ends or holds at the edge: within a batch, for an action that calls itself a
//! look, for an edit of the review that comes to nothing.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering::SeqCst},
};

use serde_json::{Value, json};
use xd_protocol::Verdict;
use xd_resolve::{Decider, PlanMode, RecordError, StageRequest, Tier, ToolCall, ToolResult};
use xd_session::{Boundary, PlanAnswer};
use xd_write::{
    CallScope, CommitEffect, DraftName, DraftStore as _, Expected, PlanEvent, PlanRecord,
    PlanRecorder, Policy,
};

use crate::scene::{Scene, runtime, staging, touching};

fn write(path: &str, content: &str) -> ToolCall {
    ToolCall::new("1", "write", json!({ "path": path, "content": content }))
}

fn batch(scene: &Scene, calls: &[ToolCall]) -> Vec<ToolResult> {
    runtime().block_on(scene.host.run_batch(calls, &CallScope::model()))
}

// CONTRACT W7, F1: an action with a change set changes files, whatever tier it calls itself: plan
// mode holds it back by every route, and it counts as a write.
#[test]
fn w7_a_change_set_that_calls_itself_a_look_waits_for_the_end_of_plan_mode() {
    let scene = Scene::new();
    let root = scene.host.workspace().root();
    let mut builder = xd_changeset::ChangeSet::builder(root);
    builder.create(&root.relative("new.txt").unwrap(), "new\n", None);
    let change_set = Arc::new(builder.build().unwrap());
    let effect = CommitEffect::new(
        scene.host.workspace().clone(),
        Arc::clone(&change_set),
        "Applied.".to_owned(),
    );
    let request = StageRequest::with_effect("Look", Arc::new(effect));
    // In either order: the tier is no last word.
    let request = request.tier(Tier::Read).change_set(change_set).tier(Tier::Read);
    let actions = scene.host.session().actions();
    let number = actions.stage(request).unwrap().number();
    assert_eq!(actions.head().unwrap().tier(), Tier::Write);
    assert_eq!(scene.host.tier(&write("xd://resolve", "Why.")), Tier::Write);
    scene.enter();
    let before = scene.picture();
    for address in ["xd://resolve", "xd://resolve@1"] {
        let text = scene.write(address, "Why.").joined();
        assert!(text.starts_with("Not applied: plan mode is on"), "{text}");
    }
    let confirm = actions.confirm(number, Verdict::Apply, "Why.", Decider::Person);
    assert!(matches!(xd_resolve::block_on(confirm), xd_resolve::Resolution::Refused(_)));
    assert_eq!(scene.picture(), before);
    scene.host.session().plan().leave();
    assert_eq!(scene.write("xd://resolve", "Why.").content, ["Applied."]);
    assert_eq!(scene.picture()["new.txt"], "new\n");
}

// CONTRACT W7, P3; Invariant W6: a plan that is approved within a batch does not let the rest of the
// batch through, whose calls were made before the model heard of it.
#[test]
fn w7_plan_mode_at_the_batchs_begin_holds_for_all_of_it() {
    let ways = [
        ("Not written: ", write("f.txt", "too early\n")),
        ("Not executed: ", ToolCall::new("1", "probe", json!({}))),
        ("Not executed: ", write("xd://dev", "{}")),
        ("Not applied: ", write("xd://resolve", "Why.")),
        ("Not applied: ", write("xd://resolve@1", "Why.")),
    ];
    for (begins, late) in ways {
        let scene = Scene::with(|builder| {
            builder
                .policy(Policy::automatic(Tier::Exec))
                .tool(touching("probe", Tier::Exec))
                .tool(staging("stager"))
                .device(touching("dev", Tier::Write))
                .unwrap()
        });
        scene.enter();
        scene.call("stager", json!({}));
        scene.script.approve();
        let before = scene.picture();
        let calls = [
            write("local://a-plan.md", "# A\n"),
            write("xd://propose", "a"),
            late.clone(),
            ToolCall::new("1", "read", json!({ "path": "a.txt" })),
            write("local://b-plan.md", "# B\n"),
            write("xd://reject@7", "No such."),
        ];
        let results = batch(&scene, &calls);
        assert!(!results[1].is_error, "{:?}", results[1]);
        assert_eq!(scene.host.session().plan_mode(), PlanMode::Off);
        let text = results[2].joined();
        let says = format!("{begins}plan mode was on when this batch of calls began");
        assert!(results[2].is_error && text.starts_with(&says), "{late:?}: {text}");
        assert!(text.contains("make the call again in the next turn"), "{text}");
        assert_eq!(scene.picture(), before, "{late:?}");
        assert!(!results[3].is_error && !results[4].is_error, "{results:?}");
        assert!(!results[2].joined().contains("plan mode is on"), "{text}");
        // In the next batch it runs.
        assert!(!batch(&scene, &[late])[0].is_error);
        assert_ne!(scene.picture(), before);
    }
}

/// Writes nothing down once it is broken.
#[derive(Default)]
struct Breaks(AtomicBool);

impl PlanRecorder for Breaks {
    fn record_plan(&self, record: &PlanRecord) -> Result<(), RecordError> {
        match (&record.event, self.0.load(SeqCst)) {
            (PlanEvent::Approved { .. }, true) => Err(RecordError("the disk is full".into())),
            _ => Ok(()),
        }
    }
}

// CONTRACT P2, L1: what the reviewer made of a plan is in the draft only where it is approved.
#[test]
fn p2_an_edit_in_the_review_that_is_not_approved_leaves_the_draft_as_submitted() {
    for late in [false, true] {
        let record = Arc::new(Breaks::default());
        let recorder: Arc<dyn PlanRecorder> = Arc::<Breaks>::clone(&record);
        let scene = Scene::with(|builder| builder.plan_recorder(recorder));
        scene.enter();
        scene.write("local://a-plan.md", "# A\n");
        let session = Arc::clone(scene.host.session());
        scene.script.then(move |_| {
            match late {
                true => drop(session.boundary(Boundary::Rewind)),
                false => record.0.store(true, SeqCst),
            }
            PlanAnswer::Approved { text: "# Edited\n".into() }
        });
        let result = scene.propose("a");
        let text = result.joined();
        assert!(result.is_error && text.starts_with("Nothing is approved: "), "{text}");
        let name = DraftName::new("a-plan.md").unwrap();
        assert_eq!(scene.drafts.read(&name).unwrap().as_deref(), Some("# A\n"), "{text}");
        assert_eq!(scene.host.session().plan_mode(), PlanMode::On);
    }
}

// CONTRACT P1, P2: what is no plain text is told so.
#[test]
fn p2_a_proposal_that_is_no_plain_text_is_told_what_to_write() {
    let scene = Scene::planning();
    scene.write("local://a-plan.md", "# A\n");
    for content in [json!({ "slug": "a" }), json!(["a"]), json!(1), json!(true)] {
        let result = scene.call("write", json!({ "path": "xd://propose", "content": content }));
        let text = result.joined();
        assert!(result.is_error && text.contains("must be plain text"), "{text}");
        assert!(text.contains("Example: rename-client") && !text.contains('{'), "{text}");
    }
    assert_eq!(scene.script.asked(), []);
    scene.script.approve();
    assert!(!scene.call("xd://propose", Value::from("a")).is_error);
}

// CONTRACT P2: a candidate is offered where it can have been meant, and no other.
#[test]
fn p2_only_sensible_candidates_are_offered() {
    for (drafts, slug, offered) in [
        (["a", "plan"], "a-plan", Some("a")),
        (["b", "plan"], "a-plan", None),
        (["A", "c"], "b", None),
        (["A", "c"], "a", Some("A")),
        (["rename-client", "other"], "rename-clinet", Some("rename-client")),
        (["rename-client", "other"], "rename-clinet-plan", Some("rename-client")),
        (["rename-client", "other"], "zzz", None),
    ] {
        let scene = Scene::planning();
        for draft in drafts {
            let name = DraftName::new(&format!("{draft}-plan.md")).unwrap();
            scene.drafts.put(&name, "# It\n", Expected::Nothing).unwrap();
        }
        let text = scene.propose(slug).joined();
        let offer =
            text.split_once("Did you mean ").map(|(_, rest)| rest.split_once('?').unwrap().0);
        assert_eq!(offer, offered, "{slug}: {text}");
        assert!(text.contains(drafts[0]) && text.contains(drafts[1]), "{text}");
    }
}
