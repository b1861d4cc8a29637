//! L1, P2, P3, E3: plan mode and the decisions on plans are in a record, and outlive the process.

use std::{
    fs,
    future::Future as _,
    io::Write as _,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    task::Poll,
    time::Duration,
};

use serde_json::{Value, json};
use xd_changeset::Hash;
use xd_protocol::notice;
use xd_resolve::{BoxFuture, Decider, PlanMode, RecordError, ToolCall};
use xd_session::{Boundary, PlanAnswer, PlanPhase, PlanReview, PlanReviewer, PlanStep, Session};
use xd_write::{
    CallScope, DraftStore as _, EnterPlanError, Expected, Host, KeptPlan, PlanEvent, PlanRecord,
    PlanRecorder, StateFolder, Workspace,
};

use crate::scene::{Scene, Script, run, runtime, staging};

/// A record in a file, one JSON object a line, that can be out of order.
#[derive(Clone)]
struct Record {
    path: PathBuf,
    broken: Arc<AtomicBool>,
    _folder: Arc<tempfile::TempDir>,
}

impl Record {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.jsonl");
        Self { path, broken: Arc::default(), _folder: Arc::new(folder) }
    }

    fn lines(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn records(&self) -> Vec<PlanRecord> {
        self.lines().into_iter().map(|line| serde_json::from_value(line).unwrap()).collect()
    }

    /// What is told, in a word each.
    fn words(&self) -> Vec<String> {
        self.lines().iter().map(|line| line["plan"].as_str().unwrap().to_owned()).collect()
    }

    fn kept(&self) -> KeptPlan {
        KeptPlan::of(&self.records())
    }
}

impl PlanRecorder for Record {
    fn record_plan(&self, record: &PlanRecord) -> Result<(), RecordError> {
        if self.broken.load(SeqCst) {
            return Err(RecordError("the disk is full".into()));
        }
        let mut file = fs::OpenOptions::new().append(true).create(true).open(&self.path).unwrap();
        file.write_all((serde_json::to_string(record).unwrap() + "\n").as_bytes()).unwrap();
        Ok(())
    }
}

/// A reviewer who never comes to an end.
struct Thinks;

impl PlanReviewer for Thinks {
    fn review(&self, _: PlanReview) -> BoxFuture<'_, PlanAnswer> {
        Box::pin(std::future::pending())
    }
}

/// A scene in plan mode, with its record.
fn planning() -> (Scene, Record) {
    let record = Record::new();
    let scene = scene_of(&record);
    let entered = scene.host.enter_plan(Decider::Person, "Look before you leap.").unwrap();
    assert_eq!(entered, PlanStep::Done);
    scene.write("local://a-plan.md", "# A\n");
    (scene, record)
}

fn scene_of(record: &Record) -> Scene {
    let recorder = Arc::new(record.clone());
    Scene::with(|builder| builder.plan_recorder(recorder))
}

fn hash(text: &str) -> Value {
    json!(Hash::of(text.as_bytes()))
}

// CONTRACT L1, P2 — Invariant W5
#[test]
fn l1_p2_every_decision_on_a_plan_is_recorded_with_who_why_and_its_digest() {
    let (scene, record) = planning();
    scene.script.then(|_| PlanAnswer::Refused { words: " Too\nlong. ".to_owned() });
    scene.propose("a");
    scene.script.then(|_| PlanAnswer::Dismissed);
    scene.propose("a");
    scene.script.then(|_| PlanAnswer::Approved { text: "# A, edited\n".into() });
    assert!(!scene.propose("a").is_error);
    let proposed = json!({ "plan": "proposed", "slug": "a", "digest": hash("# A\n"),
        "who": "model", "reason": "" });
    assert_eq!(
        record.lines(),
        [
            json!({ "plan": "entered", "who": "person", "reason": "Look before you leap." }),
            proposed.clone(),
            json!({ "plan": "refused", "slug": "a", "digest": hash("# A\n"), "who": "person",
                "reason": "Too\nlong." }),
            proposed.clone(),
            json!({ "plan": "dismissed", "slug": "a", "digest": hash("# A\n"), "who": "person",
                "reason": "" }),
            proposed,
            json!({ "plan": "approved", "slug": "a", "digest": hash("# A\n"),
                "approved": hash("# A, edited\n"), "who": "person", "reason": "" }),
            json!({ "plan": "left", "who": "person", "reason": "The plan a is approved." }),
        ]
    );
}

// CONTRACT L1 — Invariant W5
#[test]
fn l1_what_is_decided_is_recorded_before_it_takes_effect() {
    let (scene, record) = planning();
    let seen = record.clone();
    scene.script.then(move |review| {
        assert_eq!(seen.words(), ["entered", "proposed"], "before the reviewer is asked");
        PlanAnswer::Approved { text: Arc::clone(&review.text) }
    });
    scene.propose("a");
    assert_eq!(record.words(), ["entered", "proposed", "approved", "left"]);
    // What is no submission is no decision.
    let record = Record::new();
    let scene = scene_of(&record);
    scene.propose("a");
    scene.host.enter_plan(Decider::Person, "").unwrap();
    for slug in ["missing", "not a slug", ""] {
        assert!(scene.propose(slug).is_error);
    }
    assert_eq!(record.words(), ["entered"]);
}

// CONTRACT L1, P3; case 91
#[test]
fn p3_l1_entering_and_leaving_are_recorded_once_whichever_way() {
    let record = Record::new();
    let scene = scene_of(&record);
    let restored = Arc::new(AtomicUsize::new(0));
    let enter = |why: &str| {
        let restored = Arc::clone(&restored);
        let change = || {
            move || {
                restored.fetch_add(1, SeqCst);
            }
        };
        scene.host.enter_plan_with(Decider::Person, why, change).unwrap()
    };
    assert_eq!(scene.host.leave_plan(Decider::Person, "nothing"), PlanStep::Already);
    assert_eq!(enter("one"), PlanStep::Done);
    assert_eq!(enter("again"), PlanStep::Already);
    assert_eq!(scene.host.leave_plan(Decider::Person, "Enough."), PlanStep::Done);
    assert_eq!(scene.host.leave_plan(Decider::Person, "again"), PlanStep::Already);
    enter("two");
    scene.host.session().boundary(Boundary::Branch);
    assert_eq!(scene.host.session().plan_mode(), PlanMode::On);
    scene.host.session().boundary(Boundary::New);
    enter("three");
    scene.host.session().plan().leave();
    let told: Vec<String> = record
        .lines()
        .iter()
        .map(|line| format!("{} {} {}", line["plan"], line["who"], line["reason"]).replace('"', ""))
        .collect();
    assert_eq!(
        told,
        [
            "entered person one",
            "left person Enough.",
            "entered person two",
            "left host The session left it.",
            "entered person three",
            "left host The session left it.",
        ]
    );
    assert_eq!(restored.load(SeqCst), 3);
}

// CONTRACT L1, D12, D13
#[test]
fn l1_d12_d13_a_review_that_nobody_ends_is_recorded_as_withdrawn_and_a_late_one_as_void() {
    // Cancelled before it began: nothing was asked.
    let (scene, record) = planning();
    let calls = [ToolCall::new("1", "write", json!({ "path": "xd://propose", "content": "a" }))];
    let scope = CallScope::model();
    scope.cancel.cancel();
    runtime().block_on(scene.host.run_batch(&calls, &scope));
    assert_eq!(record.words(), ["entered"]);
    // Cancelled while it is under review.
    let scope = CallScope::model();
    let cancel = scope.cancel.clone();
    scene.host.session().plan().set_reviewer(Arc::new(Thinks));
    runtime().block_on(async {
        let stop = async { cancel.cancel() };
        tokio::join!(scene.host.run_batch(&calls, &scope), stop);
    });
    assert_eq!(record.words(), ["entered", "proposed", "withdrawn"]);
    // Dropped in the midst of it, and a reviewer who panics.
    let (scene, record) = planning();
    let scope = CallScope::model();
    scene.script.then(|_| PlanAnswer::Dismissed);
    runtime().block_on(async {
        let mut run = Box::pin(scene.host.run_batch(&calls, &scope));
        let polled = std::future::poll_fn(|cx| Poll::Ready(run.as_mut().poll(cx))).await;
        assert!(polled.is_pending(), "it is under review");
        drop(run);
    });
    assert_eq!(record.words(), ["entered", "proposed", "withdrawn"]);
    scene.script.then(|_| panic!("the reviewer is out of order"));
    scene.propose("a");
    assert_eq!(record.words()[3..], ["proposed", "withdrawn"]);
    assert_eq!(record.kept(), KeptPlan { mode: PlanMode::On, under_review: None });

    // Changed, emptied, and late in three ways.
    let drafts = scene.drafts.clone();
    scene.script.then(move |review| {
        let name = xd_write::DraftName::new("a-plan.md").unwrap();
        drafts.put(&name, "# Another\n", Expected::Anything).unwrap();
        PlanAnswer::Approved { text: Arc::clone(&review.text) }
    });
    scene.propose("a");
    scene.script.then(|_| PlanAnswer::Approved { text: " \n".into() });
    scene.propose("a");
    let session = Arc::clone(scene.host.session());
    scene.script.then(move |review| {
        session.boundary(Boundary::Rewind);
        PlanAnswer::Approved { text: Arc::clone(&review.text) }
    });
    scene.propose("a");
    assert_eq!(record.words()[5..], ["proposed", "void", "proposed", "void", "proposed", "void"]);
    let reasons: Vec<Value> = record
        .lines()
        .into_iter()
        .filter(|line| line["plan"] == "void")
        .map(|mut line| line["reason"].take())
        .collect();
    assert_eq!(
        reasons,
        [
            "The draft was changed while it was reviewed.",
            "The review left no text of the plan.",
            "The answer came late: plan mode was left, or the session moved on.",
        ]
    );
    assert_eq!(scene.host.session().plan_mode(), PlanMode::On);
    assert_eq!(record.kept(), KeptPlan { mode: PlanMode::On, under_review: None });
}

// CONTRACT L1: what cannot be written down does not begin; what only ends, ends and says so.
#[test]
fn l1_what_cannot_be_recorded_is_not_entered_not_submitted_and_not_approved() {
    let record = Record::new();
    let scene = scene_of(&record);
    record.broken.store(true, SeqCst);
    let changed = AtomicBool::new(false);
    let change = || {
        changed.store(true, SeqCst);
        || {}
    };
    let error = scene.host.enter_plan_with(Decider::Person, "", change).unwrap_err();
    assert!(matches!(error, EnterPlanError::NotRecorded(_)));
    assert!(error.to_string().ends_with("the disk is full"), "{error}");
    assert_eq!((scene.host.session().plan_mode(), changed.load(SeqCst)), (PlanMode::Off, false));

    let (scene, record) = planning();
    record.broken.store(true, SeqCst);
    let refused = scene.propose("a");
    assert!(refused.is_error && refused.joined().contains("Nothing was submitted: the record"));
    assert_eq!(
        (scene.script.asked(), scene.host.session().plan().phase()),
        (vec![], PlanPhase::Planning)
    );

    for answer in [
        PlanAnswer::Approved { text: "# A\n".into() },
        PlanAnswer::Refused { words: "No.".to_owned() },
    ] {
        record.broken.store(false, SeqCst);
        let broken = Arc::clone(&record.broken);
        let approves = matches!(answer, PlanAnswer::Approved { .. });
        scene.script.then(move |_| {
            broken.store(true, SeqCst);
            answer
        });
        let result = scene.propose("a");
        let says = match approves {
            true => "Nothing is approved: the record could not be written: the disk is full",
            false => "This outcome stands, but the record could not be written: the disk is full.",
        };
        assert!(result.is_error && result.joined().contains(says), "{result:?}");
        assert_eq!(scene.host.session().plan().phase(), PlanPhase::Planning);
    }
    // Leaving is always possible.
    assert_eq!(scene.host.leave_plan(Decider::Person, "Enough."), PlanStep::Done);
}

// CONTRACT P3, E3, W7 — Invariant W6: a restart is no way out of plan mode.
#[test]
fn p3_e3_plan_mode_goes_on_after_a_restart_where_the_record_stopped() {
    let (scene, record) = planning();
    scene.script.then(|_| PlanAnswer::Refused { words: "Not yet.".to_owned() });
    scene.propose("a");
    scene.script.approve();
    scene.propose("a");
    let whole = fs::read_to_string(&record.path).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    assert_eq!(record.words(), ["entered", "proposed", "refused", "proposed", "approved", "left"]);

    for survived in 0..=lines.len() {
        let record = Record::new();
        fs::write(&record.path, lines[..survived].concat()).unwrap();
        let kept = record.kept();
        let on = (1..=4).contains(&survived);
        let open = [2, 4].contains(&survived);
        assert_eq!(kept.mode == PlanMode::On, on, "{survived}");
        assert_eq!(kept.under_review.is_some(), open, "{survived}");

        let scene = scene_of(&record);
        let step = scene.host.restore_plan(&kept).unwrap();
        assert_eq!(step == PlanStep::Done, on, "{survived}");
        let withdrawn = record.lines().len() - survived;
        assert_eq!(withdrawn, usize::from(open), "{survived}: {:?}", record.words());
        assert_eq!(record.kept().mode, kept.mode);
        assert_eq!(record.kept().under_review, None);

        let before = scene.picture();
        let write = scene.write("a.txt", "changed\n");
        assert_eq!(write.joined().contains(notice::PLAN_MODE_ON), on, "{survived}: {write:?}");
        assert_eq!(scene.picture() == before, on, "{survived}");
        if on {
            // It ends as any other, and is recorded.
            scene.write("local://a-plan.md", "# A\n");
            scene.script.approve();
            assert!(!scene.propose("a").is_error, "{survived}");
            assert_eq!(record.words().last().unwrap(), "left");
            assert_eq!(record.kept().mode, PlanMode::Off);
        }
    }
}

// CONTRACT P3; case 89: where nobody reviews, it is refused, and goes on where somebody does.
#[test]
fn p3_case_089_a_process_without_a_reviewer_does_not_end_plan_mode() {
    let (_, record) = planning();
    let before = record.lines();
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let host = Host::builder(Arc::new(Session::new()), workspace)
        .plan_recorder(Arc::new(record.clone()))
        .build();
    let error = host.restore_plan(&record.kept()).unwrap_err();
    assert!(matches!(error, EnterPlanError::NoReviewer(_)), "{error}");
    assert!(matches!(
        host.enter_plan(Decider::Person, "").unwrap_err(),
        EnterPlanError::NoReviewer(_)
    ));
    assert_eq!(record.lines(), before, "nothing is recorded");
    let scene = scene_of(&record);
    assert_eq!(scene.host.restore_plan(&record.kept()).unwrap(), PlanStep::Done);
}

// CONTRACT L1: a host without a record plans all the same.
#[test]
fn p3_without_a_record_plan_mode_works_as_it_does_with_one() {
    let scene = Scene::new();
    assert_eq!(scene.host.enter_plan(Decider::Person, "").unwrap(), PlanStep::Done);
    scene.write("local://a-plan.md", "# A\n");
    scene.script.approve();
    assert!(!scene.propose("a").is_error);
    assert_eq!(scene.host.session().plan_mode(), PlanMode::Off);
    let nothing = KeptPlan::of(&[] as &[PlanRecord]);
    assert_eq!(scene.host.restore_plan(&nothing).unwrap(), PlanStep::Already);
}

// A record of another process may hold any order of lines: the last word on plan mode counts.
#[test]
fn p3_the_last_word_of_the_record_counts() {
    let record = |event| PlanRecord { event, who: Decider::Host, reason: String::new() };
    let (slug, digest) = ("a".to_owned(), Hash::of(b"# A\n"));
    let of = |slug: &String| (slug.clone(), digest);
    let proposed = PlanEvent::Proposed { slug: slug.clone(), digest };
    let approved = PlanEvent::Approved { slug: slug.clone(), digest, approved: digest };
    let void = PlanEvent::Void { slug: slug.clone(), digest };
    for (events, mode, open) in [
        (vec![PlanEvent::Entered, approved.clone()], PlanMode::Off, false),
        (vec![PlanEvent::Entered, approved.clone(), void.clone()], PlanMode::On, false),
        (vec![PlanEvent::Entered, approved, PlanEvent::Entered], PlanMode::On, false),
        (vec![PlanEvent::Entered, proposed.clone()], PlanMode::On, true),
        (vec![PlanEvent::Entered, proposed.clone(), PlanEvent::Left], PlanMode::Off, false),
        (vec![void], PlanMode::Off, false),
        (vec![PlanEvent::Left, PlanEvent::Entered, proposed], PlanMode::On, true),
    ] {
        let records: Vec<PlanRecord> = events.into_iter().map(record).collect();
        let kept = KeptPlan::of(&records);
        assert_eq!(kept, KeptPlan { mode, under_review: open.then(|| of(&slug)) }, "{records:?}");
    }
}

// Every lock is passed on poisoned: a record that panics is no end of the host.
#[test]
fn p3_a_record_that_panics_leaves_plan_mode_leavable() {
    #[derive(Default)]
    struct Panics(AtomicBool);
    impl PlanRecorder for Panics {
        fn record_plan(&self, _: &PlanRecord) -> Result<(), RecordError> {
            assert!(!self.0.load(SeqCst), "out of order");
            Ok(())
        }
    }
    let panics = Arc::new(Panics::default());
    let recorder = Arc::<Panics>::clone(&panics);
    let scene = Scene::with(|builder| builder.plan_recorder(recorder));
    scene.host.enter_plan(Decider::Person, "").unwrap();
    panics.0.store(true, SeqCst);
    scene.write("local://a-plan.md", "# A\n");
    let result = scene.propose("a");
    assert!(result.is_error && result.joined().contains("panicked"), "{result:?}");
    panics.0.store(false, SeqCst);
    assert_eq!(scene.host.leave_plan(Decider::Person, "Enough."), PlanStep::Done);
    assert_eq!(scene.host.session().plan_mode(), PlanMode::Off);
}

// CONTRACT E3, L1, P3 — Invariant W5: in the state folder, beside the staged actions.
#[test]
fn e3_l1_the_log_of_a_session_keeps_plan_mode_and_its_decisions() {
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let workspace = Workspace::open(folder.path()).unwrap();
        let state = StateFolder::open(&workspace, "main").unwrap();
        let lock = state.lock(Duration::from_secs(1)).unwrap();
        let recorder = Arc::new(state.clone());
        let session = Session::with_store(|store| store.with_recorder(recorder.clone()));
        state.restore(&workspace, session.actions(), Some(&lock)).unwrap();
        let script = Arc::new(Script::default());
        let host = Host::builder(Arc::new(session), workspace)
            .drafts(Arc::new(state.drafts()))
            .reviewer(script.clone())
            .tool(staging("stager"))
            .plan_recorder(recorder)
            .build();
        host.restore_plan(&state.plan().unwrap()).unwrap();
        (host, state, script, lock)
    };
    let write = |host: &Host, path: &str, content: &str| {
        run(host, "write", json!({ "path": path, "content": content }))
    };
    {
        let (host, _, script, _lock) = open();
        host.enter_plan(Decider::Person, "Look first.").unwrap();
        write(&host, "local://a-plan.md", "# A\u{1b}\n");
        run(&host, "stager", json!({}));
        script.then(|_| PlanAnswer::Refused { words: "Not\u{202e} yet.".to_owned() });
        write(&host, "xd://propose", "a");
    }
    let (host, state, script, _lock) = open();
    assert_eq!(host.session().plan_mode(), PlanMode::On);
    script.approve();
    assert!(!write(&host, "xd://propose", "a").is_error);
    let words: Vec<String> = state
        .log()
        .unwrap()
        .iter()
        .map(|line| {
            let line = serde_json::to_value(line).unwrap();
            let plan = line["plan"].as_str().unwrap_or_default();
            format!("{} {plan}", line["event"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        words,
        [
            "plan entered",
            "staged ",
            "plan proposed",
            "plan refused",
            "decided ",
            "plan proposed",
            "plan approved",
            "plan left",
        ]
    );
    let text = fs::read_to_string(folder.path().join(".xd/sessions/main/log.jsonl")).unwrap();
    assert!(text.contains(r"Not\u202e yet."), "{text}");
    assert_eq!(state.plan().unwrap().mode, PlanMode::Off);
}
