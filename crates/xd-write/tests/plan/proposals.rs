//! P1, P2, P3: submitting a plan, reviewing it, and what of it is approved.

use std::{
    fs,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use xd_changeset::Hash;
use xd_protocol::notice;
use xd_resolve::{BoxFuture, PlanMode, ToolCall};
use xd_session::{
    Boundary, PlanAnswer, PlanPhase, PlanReview, PlanReviewer, PlanState, PlanStep, Session,
};
use xd_write::{
    CallScope, DraftName, DraftStore as _, Expected, Host, Policy, StateFolder, Workspace,
};

use crate::scene::{Scene, Script, run, runtime};

const PLAN: &str = "# Rename the client\n\n1. \u{dc}ber alles: rename.\r\n2. Test.";

fn hex(text: &str) -> String {
    Hash::of(text.as_bytes()).to_string()
}

/// What a proposal's result carries for the host.
fn inner(result: &xd_resolve::ToolResult) -> Value {
    let xdev = &result.details.as_ref().unwrap()["xdev"];
    assert_eq!((&xdev["tool"], &xdev["mode"]), (&json!("propose"), &json!("execute")));
    xdev["inner"].clone()
}

// CONTRACT P1
#[test]
fn p1_outside_plan_mode_there_is_no_plan_to_submit_whoever_approves_calls() {
    let strict = Scene::with(|builder| builder.policy(Policy::automatic(xd_resolve::Tier::Read)));
    for scene in [Scene::new(), strict] {
        scene.drafts.put(&DraftName::new("a-plan.md").unwrap(), PLAN, Expected::Anything).unwrap();
        for body in ["a", "", "not a slug", "missing"] {
            let result = scene.propose(body);
            assert!(result.is_error);
            assert_eq!(result.content, [notice::NO_PLAN], "{body:?}");
        }
        let routed = scene.call("xd://propose", json!({ "content": "a" }));
        assert_eq!(routed.content, [notice::NO_PLAN]);
        assert_eq!(scene.script.asked(), []);
    }
}

// CONTRACT P1, P2; case 85; Invariant W7
#[test]
fn p1_case_085_an_approval_ends_plan_mode_and_carries_the_exact_text() {
    let edited = format!("{PLAN}\n3. Tell everybody.\n");
    for after in [PLAN, &edited] {
        let scene = Scene::planning();
        assert!(!scene.write("local://rename-client-plan.md", PLAN).is_error);
        let text: Arc<str> = after.into();
        scene.script.then(move |_| PlanAnswer::Approved { text });
        let result = scene.propose("rename-client");
        assert!(!result.is_error, "{result:?}");
        assert_eq!(result.content.len(), 2);
        assert!(result.content[0].starts_with("The plan rename-client is approved"));
        assert_eq!(result.content[1].as_bytes(), after.as_bytes());
        let details = inner(&result);
        assert_eq!(details["slug"], "rename-client");
        assert_eq!(details["digest"], hex(after));
        assert_eq!(details["edited"], after != PLAN);
        assert_eq!(scene.host.session().plan_mode(), PlanMode::Off);
        // The draft is the approved text, too.
        let name = DraftName::new("rename-client-plan.md").unwrap();
        assert_eq!(scene.drafts.read(&name).unwrap().as_deref(), Some(after));
        assert!(!scene.write("b.txt", "now it may be written").is_error);
    }
}

// CONTRACT P2
#[test]
fn p2_an_approval_that_leaves_no_text_approves_nothing() {
    for blank in ["", " \n\t"] {
        let scene = Scene::planning();
        scene.write("local://a-plan.md", PLAN);
        scene.script.then(move |_| PlanAnswer::Approved { text: blank.into() });
        let result = scene.propose("a");
        assert!(
            result.is_error && result.joined().starts_with("Nothing is approved"),
            "{result:?}"
        );
        assert_eq!(scene.host.session().plan().phase(), PlanPhase::Planning);
        assert_eq!(scene.read("local://a-plan.md").joined(), PLAN);
    }
}

// CONTRACT P2; case 97
#[test]
fn p2_case_097_every_review_carries_the_whole_text_and_its_digest() {
    let scene = Scene::planning();
    let texts = [PLAN.to_owned(), "# Second\n".repeat(3_000), "# Third\n".to_owned()];
    for text in &texts {
        scene.write("local://a-plan.md", text);
        scene.script.then(|_| PlanAnswer::Refused { words: "Not yet.".into() });
        let result = scene.propose("a.md");
        assert!(result.is_error);
        assert_eq!(
            result.joined(),
            "The plan was not approved: Not yet.\nPlan mode stays on: revise local://a-plan.md and \
             submit it again."
        );
    }
    let asked = scene.script.asked();
    assert_eq!(asked.len(), 3);
    for (review, text) in asked.iter().zip(&texts) {
        assert_eq!(&*review.text, text);
        assert_eq!((review.slug.as_str(), review.address.as_str()), ("a", "local://a-plan.md"));
        assert_eq!(review.digest.to_string(), hex(text));
    }
    // The same text again is a question again, not an answer from before.
    scene.script.approve();
    assert!(!scene.propose("a").is_error);
    assert_eq!(scene.script.asked().len(), 4);
}

// CONTRACT P2; case 83
#[test]
fn p2_case_083_a_whole_plan_is_no_title_and_no_other_plan_is_approved() {
    let body = format!("# Rename the client\n\n{}", "Rename it everywhere. ".repeat(1_000));
    for older in [&[][..], &["rename"], &["rename", "Rename-the-client"]] {
        let scene = Scene::planning();
        for slug in older {
            scene.write(&format!("local://{slug}-plan.md"), "older");
        }
        let result = scene.propose(&body);
        assert!(result.is_error);
        let text = result.joined();
        assert!(text.starts_with("Nothing was submitted: the content has several lines"), "{text}");
        assert!(text.contains("Example: "), "{text}");
        assert_eq!(scene.script.asked(), []);
        assert_eq!(scene.host.session().plan().phase(), PlanPhase::Planning);
        // The text need not be written again (P4), and nothing older was overwritten by it.
        let name = match older.len() {
            2 => "Rename-the-client-2",
            _ => "Rename-the-client",
        };
        assert!(text.contains(&format!("kept as local://{name}-plan.md")), "{text}");
        scene.script.approve();
        assert_eq!(scene.propose(name).content[1], body);
        for slug in older {
            assert_eq!(scene.read(&format!("local://{slug}-plan.md")).joined(), "older");
        }
    }
}

// CONTRACT P2
#[test]
fn p2_what_is_no_slug_is_refused_with_an_example_and_asks_nobody() {
    let scene = Scene::planning();
    scene.write("local://a-plan.md", PLAN);
    let long = "a".repeat(81);
    let bodies = [
        json!(""),
        json!("a b"),
        json!("../a"),
        json!("local://a-plan.md"),
        json!("a.txt"),
        json!(long),
        json!({ "title": "a" }),
        json!(["a"]),
        json!(1),
        json!(true),
        Value::Null,
    ];
    for body in bodies {
        let result = scene.call("write", json!({ "path": "xd://propose", "content": body }));
        let text = result.joined();
        assert!(result.is_error && text.starts_with("Nothing was submitted: "), "{text}");
        assert!(text.contains("Example: "), "{text}");
    }
    assert_eq!(scene.script.asked(), []);
}

// CONTRACT P2
#[test]
fn p2_a_missing_plan_is_refused_with_its_expected_path_and_the_candidates() {
    let scene = Scene::planning();
    let text = scene.propose("rename").joined();
    assert_eq!(
        text,
        "Nothing was submitted: there is no plan at local://rename-plan.md. There are no plans \
         yet: write it there first."
    );
    scene.write("local://rename-client-plan.md", PLAN);
    scene.write("local://notes.md", "no plan");
    scene.write("local://other-plan.md", PLAN);
    for (slug, offer) in [("rename-cliemt", " Did you mean rename-client?"), ("zzz", "")] {
        let result = scene.propose(slug);
        assert!(result.is_error);
        assert_eq!(
            result.joined(),
            format!(
                "Nothing was submitted: there is no plan at local://{slug}-plan.md.{offer} Plans \
                 that can be submitted: other, rename-client."
            )
        );
    }
    // The name of the draft is not its slug, and is not taken for it.
    assert!(scene.propose("rename-client-plan.md").joined().contains("rename-client-plan-plan.md"));
    assert_eq!(scene.script.asked(), []);
    // Many candidates are counted, not all listed.
    for n in 0..40 {
        scene.write(&format!("local://p{n}-plan.md"), PLAN);
    }
    assert!(scene.propose("zzz").joined().contains(" and 18 more (read local://)."));
}

// CONTRACT P2
#[test]
fn p2_a_blank_plan_is_not_submitted() {
    let scene = Scene::planning();
    scene.write("local://a-plan.md", " \n");
    let result = scene.propose("a");
    assert!(result.is_error && result.joined().contains("is blank"), "{result:?}");
    assert_eq!(scene.script.asked(), []);
}

// CONTRACT P2; Invariant W7
#[test]
fn p2_a_plan_changed_while_it_was_reviewed_is_not_approved() {
    let name = || DraftName::new("a-plan.md").unwrap();
    let edits = [PLAN.to_owned(), format!("{PLAN} As edited.")];
    for answer in edits {
        let scene = Scene::planning();
        scene.write("local://a-plan.md", PLAN);
        let drafts = scene.drafts.clone();
        let text: Arc<str> = answer.as_str().into();
        scene.script.then(move |_| {
            drafts.put(&name(), "rm -rf everything", Expected::Anything).unwrap();
            PlanAnswer::Approved { text }
        });
        let result = scene.propose("a");
        assert!(result.is_error, "{result:?}");
        assert!(result.joined().contains("was changed while it was reviewed"), "{result:?}");
        assert_eq!(scene.host.session().plan().phase(), PlanPhase::Planning);
        assert_eq!(scene.read("local://a-plan.md").joined(), "rm -rf everything");
        assert!(scene.write("b.txt", "x").is_error);
    }
}

// CONTRACT P2
#[test]
fn p2_an_answer_that_comes_late_approves_nothing() {
    type Act = fn(&Session);
    let acts: [(Act, PlanPhase); 3] = [
        (|session| assert_eq!(session.plan().leave(), PlanStep::Done), PlanPhase::Off),
        (|session| drop(session.boundary(Boundary::New)), PlanPhase::Off),
        (|session| drop(session.boundary(Boundary::Rewind)), PlanPhase::Planning),
    ];
    for (act, phase) in acts {
        let scene = Scene::planning();
        scene.write("local://a-plan.md", PLAN);
        let session = Arc::clone(scene.host.session());
        scene.script.then(move |review| {
            act(&session);
            PlanAnswer::Approved { text: Arc::clone(&review.text) }
        });
        let result = scene.propose("a");
        assert!(
            result.is_error && result.joined().starts_with("Nothing is approved"),
            "{result:?}"
        );
        assert_eq!(scene.host.session().plan().phase(), phase);
    }
}

// CONTRACT P3
#[test]
fn p3_refusing_and_dismissing_go_on_planning() {
    let scene = Scene::planning();
    scene.write("local://a-plan.md", PLAN);
    let answers = [
        (
            PlanAnswer::Refused { words: " ".into() },
            "The plan was not approved. Plan mode stays on",
        ),
        (PlanAnswer::Refused { words: "Too long.\n".into() }, "not approved: Too long.\nPlan mode"),
        (PlanAnswer::Dismissed, "Nobody decided on the plan"),
    ];
    for (answer, words) in answers {
        scene.script.then(move |_| answer);
        let result = scene.propose("a");
        assert!(result.is_error && result.joined().contains(words), "{result:?}");
        assert!(!result.joined().contains("plan a is approved"), "{result:?}");
        assert_eq!(scene.host.session().plan().phase(), PlanPhase::Planning);
    }
}

// CONTRACT P3
#[test]
fn p3_a_second_proposal_while_one_is_under_review_asks_nobody() {
    struct Slow(Mutex<Option<tokio::sync::oneshot::Receiver<()>>>, Mutex<u32>);
    impl PlanReviewer for Slow {
        fn review(&self, review: PlanReview) -> BoxFuture<'_, PlanAnswer> {
            *self.1.lock().unwrap() += 1;
            let open = self.0.lock().unwrap().take();
            Box::pin(async move {
                open.expect("asked once").await.unwrap();
                PlanAnswer::Approved { text: review.text }
            })
        }
    }
    let (send, receive) = tokio::sync::oneshot::channel();
    let slow = Arc::new(Slow(Mutex::new(Some(receive)), Mutex::new(0)));
    let reviewer: Arc<dyn PlanReviewer> = Arc::<Slow>::clone(&slow);
    let scene = Scene::with(|builder| builder.reviewer(reviewer));
    scene.enter();
    scene.write("local://a-plan.md", PLAN);
    let propose = || {
        let host = Arc::clone(&scene.host);
        async move {
            let arguments = json!({ "path": "xd://propose", "content": "a" });
            let call = ToolCall::new("1", "write", arguments);
            host.run_batch(&[call], &CallScope::model()).await.pop().unwrap()
        }
    };
    runtime().block_on(async {
        let first = tokio::spawn(propose());
        while scene.host.session().plan().phase() == PlanPhase::Planning {
            tokio::task::yield_now().await;
        }
        let second = propose().await;
        assert!(second.is_error && second.joined().contains("under review already"), "{second:?}");
        send.send(()).unwrap();
        assert!(!first.await.unwrap().is_error);
    });
    assert_eq!(*slow.1.lock().unwrap(), 1);
}

// CONTRACT P3
#[test]
fn p3_an_abort_and_a_panic_during_the_review_go_on_planning() {
    struct Never;
    impl PlanReviewer for Never {
        fn review(&self, _: PlanReview) -> BoxFuture<'_, PlanAnswer> {
            Box::pin(std::future::pending())
        }
    }
    let scene = Scene::with(|builder| builder.reviewer(Arc::new(Never)));
    scene.enter();
    scene.write("local://a-plan.md", PLAN);
    let scope = CallScope::model();
    let cancel = scope.cancel.clone();
    let call = ToolCall::new("1", "write", json!({ "path": "xd://propose", "content": "a" }));
    let result = runtime().block_on(async {
        let run = scene.host.run_batch(std::slice::from_ref(&call), &scope);
        tokio::pin!(run);
        tokio::select! {
            biased;
            _ = &mut run => panic!("nobody answers"),
            () = tokio::task::yield_now() => {}
        }
        assert!(matches!(scene.host.session().plan().phase(), PlanPhase::Proposed(_)));
        cancel.cancel();
        run.await.pop().unwrap()
    });
    assert!(result.is_error);
    assert_eq!(scene.host.session().plan().phase(), PlanPhase::Planning);

    let scene = Scene::planning();
    scene.write("local://a-plan.md", PLAN);
    scene.script.then(|_| panic!("the panel crashed"));
    assert!(scene.propose("a").is_error);
    assert_eq!(scene.host.session().plan().phase(), PlanPhase::Planning);
}

// CONTRACT P3; case 89
#[test]
fn p3_case_089_every_way_into_plan_mode_has_a_way_out_or_is_none() {
    type Enter = fn(&PlanState) -> bool;
    let ways: [(&str, Enter); 3] = [
        ("entered", |plan| plan.enter().is_ok()),
        ("entered with changes", |plan| plan.enter_with(|| || {}).is_ok()),
        ("toggled", |plan| plan.toggle() == Ok(PlanMode::On)),
    ];
    /// Where the reviewer comes from.
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Front {
        Nobody,
        OfTheHost,
        OfTheSession,
        OfAnotherHost,
    }
    for front in [Front::Nobody, Front::OfTheHost, Front::OfTheSession, Front::OfAnotherHost] {
        for (way, enter) in ways {
            let folder = tempfile::tempdir().unwrap();
            let script = Arc::new(Script::default());
            let reviewer: Arc<dyn PlanReviewer> = Arc::<Script>::clone(&script);
            let session = Arc::new(Session::new());
            let begin = || {
                let workspace = Workspace::open(folder.path()).unwrap();
                Host::builder(Arc::clone(&session), workspace)
            };
            let host = match front {
                Front::Nobody => begin().build(),
                Front::OfTheHost => begin().reviewer(reviewer).build(),
                Front::OfTheSession => {
                    session.plan().set_reviewer(reviewer);
                    begin().build()
                }
                Front::OfAnotherHost => {
                    drop(begin().reviewer(reviewer).build());
                    begin().build()
                }
            };
            assert_eq!(enter(session.plan()), front != Front::Nobody, "{front:?}, {way}");
            run(&host, "write", json!({ "path": "local://a-plan.md", "content": PLAN }));
            script.approve();
            let arguments = json!({ "path": "xd://propose", "content": "a" });
            let result = run(&host, "write", arguments);
            assert_eq!(result.is_error, front == Front::Nobody, "{front:?}, {way}: {result:?}");
            assert_eq!(session.plan_mode(), PlanMode::Off, "{front:?}, {way}");
        }
    }
}

// CONTRACT P1, U11
#[test]
fn p1_u11_a_call_named_after_the_address_submits_alike() {
    let scene = Scene::planning();
    scene.write("local://a-plan.md", PLAN);
    scene.script.approve();
    let result = scene.call("xd://propose", json!({ "content": "a" }));
    assert_eq!(result.content[1], PLAN);
}

// CONTRACT P1
#[test]
fn p1_a_strict_policy_asks_the_reviewer_and_nobody_else() {
    let scene = Scene::with(|builder| builder.policy(Policy::automatic(xd_resolve::Tier::Read)));
    scene.enter();
    assert!(!scene.write("local://a-plan.md", PLAN).is_error);
    scene.script.approve();
    assert_eq!(scene.propose("a").content[1], PLAN);
}

// CONTRACT P2
#[test]
fn p2_a_plan_in_files_is_submitted_approved_and_edited_alike() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let state = StateFolder::open(&workspace, "s").unwrap();
    let script = Arc::new(Script::default());
    let reviewer: Arc<dyn PlanReviewer> = Arc::<Script>::clone(&script);
    let host = Host::builder(Arc::new(Session::new()), workspace)
        .drafts(Arc::new(state.drafts()))
        .reviewer(reviewer)
        .build();
    host.session().plan().enter().unwrap();
    run(&host, "write", json!({ "path": "local://a-plan.md", "content": PLAN }));
    let file = folder.path().join(".xd/sessions/s/local/a-plan.md");
    assert_eq!(fs::read_to_string(&file).unwrap(), PLAN);
    let propose = || run(&host, "write", json!({ "path": "xd://propose", "content": "a" }));
    let changed = file.clone();
    script.then(move |_| {
        fs::write(changed, "other").unwrap();
        PlanAnswer::Approved { text: "edited".into() }
    });
    assert!(propose().joined().contains("was changed while it was reviewed"));
    assert_eq!(fs::read_to_string(&file).unwrap(), "other");
    script.then(|_| PlanAnswer::Approved { text: "edited".into() });
    assert_eq!(propose().content[1], "edited");
    assert_eq!(fs::read_to_string(&file).unwrap(), "edited");
    // A draft that is no text is named, not damaged.
    host.session().plan().enter().unwrap();
    fs::write(&file, b"\xff\xfe").unwrap();
    assert!(propose().joined().contains("is not UTF-8 text"));
}
