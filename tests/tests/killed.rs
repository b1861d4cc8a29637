//! A process that is killed while it applies: after a restart the log and the files agree, for good.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test says so where it fails, and how often it met what"
)]

use std::{
    process::{Command, Stdio},
    sync::Arc,
    time::Duration,
};

use serde_json::json;
use xd_protocol::StageNumber;
use xd_resolve::{ActionState, Outcome};
use xd_session::Session;
use xd_tests::{Bench, write_call};
use xd_write::{CallScope, Host, LogEvent, StateFolder, Workspace};

const FILES: usize = 16;
const TRIALS: u64 = 30;

/// A session over the state in `workspace`, restored under the lock.
fn resume(workspace: &Workspace) -> (Session, StateFolder) {
    let state = StateFolder::open(workspace, "main").unwrap();
    let recorder = Arc::new(state.clone());
    let session = Session::with_store(|store| store.with_recorder(recorder));
    let lock = state.lock(Duration::from_secs(5)).unwrap();
    state.restore(workspace, session.actions(), Some(&lock)).unwrap();
    (session, state)
}

fn resolve_all(workspace: Workspace, session: Session) {
    let host = Host::builder(Arc::new(session), workspace).build();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let call = write_call("1", "xd://resolve@1", "It is what was asked for.");
    runtime.block_on(host.run_batch(&[call], &CallScope::model()));
}

/// What the test below starts in another process, and kills. By itself it finds nothing to do.
#[test]
#[ignore = "it is the other process of the test below"]
fn the_process_that_is_killed() {
    let workspace = Workspace::open(".").unwrap();
    if StateFolder::open_existing(&workspace, "main").unwrap().is_some() {
        let (session, _) = resume(&workspace);
        resolve_all(workspace, session);
    }
}

// CONTRACT E3, F3, L1: killed at a random moment of an apply, the action is applied and all files
// are new, or it is pending and all are old; so it stays through further restarts.
#[test]
fn e3_f3_killed_while_applying_the_log_and_the_files_agree() {
    let (mut applied, mut pending, mut unsettled) = (0, 0, 0);
    for trial in 0..TRIALS {
        let names: Vec<String> = (0..FILES).map(|i| format!("f{i}.txt")).collect();
        let files: Vec<(&str, &str)> = names.iter().map(|name| (&**name, "old\n")).collect();
        let bench = Bench::new(&files);
        let workspace = Workspace::open(bench.path()).unwrap();
        let (session, _) = resume(&workspace);
        let staging = Bench::over(bench.folder(), session, |builder| builder);
        let edits: Vec<_> =
            names.iter().map(|path| json!({ "path": path, "old": "old", "new": "new" })).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let staged = runtime.block_on(staging.stage(json!({ "edits": edits })));
        assert!(!staged.is_error, "{}", staged.joined());
        drop(staging);

        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "the_process_that_is_killed", "--ignored"])
            .current_dir(bench.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // From the moment at which the decision is on the disk on.
        let log = bench.at(".xd/sessions/main/log.jsonl");
        let taken = || std::fs::read_to_string(&log).unwrap().contains("\"taken\"");
        while !taken() && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_micros(200));
        }
        if trial % 2 == 0 {
            std::thread::sleep(Duration::from_millis(trial * 10));
        } else {
            // Every file has its new text, and the commit does not count as complete yet: the last
            // moment at which it is taken back.
            let all_new = || names.iter().all(|name| bench.text(name) == "new\n");
            while !all_new() && child.try_wait().unwrap().is_none() {}
        }
        child.kill().unwrap();
        child.wait().unwrap();
        unsettled += usize::from(!std::fs::read_to_string(&log).unwrap().contains("\"decided\""));

        let mut states = Vec::new();
        for _ in 0..2 {
            let (session, state) = resume(&workspace);
            let action = session.actions().get(StageNumber::new(1).unwrap()).unwrap();
            let texts: Vec<String> = names.iter().map(|name| bench.text(name)).collect();
            let expected = if action.1 == ActionState::Applied { "new\n" } else { "old\n" };
            assert!(texts.iter().all(|text| text == expected), "{:?}: {texts:?}", action.1);
            let last = state.log().unwrap().pop().unwrap().event;
            let LogEvent::Decided { outcome, .. } = last else { panic!("{last:?}") };
            assert_eq!(outcome == Outcome::Applied, action.1 == ActionState::Applied);
            states.push(action.1);
            // Whatever is left of the commit is settled: nothing is taken back afterwards.
            workspace.root().recover(Duration::from_secs(5)).unwrap();
        }
        assert_eq!(states[0], states[1]);
        match states[0] {
            ActionState::Applied => applied += 1,
            ActionState::Pending => {
                pending += 1;
                let (session, _) = resume(&workspace);
                resolve_all(workspace, session);
                assert!(names.iter().all(|name| bench.text(name) == "new\n"));
            }
            other => panic!("{other:?}"),
        }
    }
    println!("killed {TRIALS} times: {applied} applied, {pending} pending, {unsettled} cut off");
    assert!(unsettled > 0, "no apply was cut off");
}
