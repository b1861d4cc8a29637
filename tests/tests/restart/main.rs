//! What outlives the process: the log, the kept actions, the lock. Each test stages in one host
//! and goes on in another over the same folder, as a new process would.
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

mod folder;
mod random;

use std::{
    fs,
    io::Write as _,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink},
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use xd_protocol::{StageNumber, Verdict, notice};
use xd_resolve::{
    ActionState, ApplyError, Decider, Outcome, Recorder, StageRequest, Tier, ToolResult,
};
use xd_session::{Boundary, Session};
use xd_tests::{Bench, write_call};
use xd_write::{
    CallScope, DraftName, DraftStore as _, Expected, LogEvent, Policy, StateError, StateFolder,
    Workspace,
};

const WHY: &str = "It is what was asked for.";
const NOT_LONG: Duration = Duration::from_millis(120);

/// A "process": a host whose session records to the state folder of session `main`, with what an
/// earlier one left restored under the lock.
struct Process {
    bench: Bench,
    state: StateFolder,
}

impl Process {
    fn start(folder: Arc<tempfile::TempDir>) -> Result<Self, StateError> {
        let workspace = Workspace::open(folder.path()).unwrap();
        let state = StateFolder::open(&workspace, "main")?;
        let recorder = Arc::new(state.clone());
        let session = Session::with_store(|store| store.with_recorder(recorder));
        let lock = state.lock(Duration::from_secs(1))?;
        state.restore(&workspace, session.actions(), Some(&lock))?;
        drop(lock);
        let policy = Policy::automatic(Tier::Exec);
        Ok(Self { bench: Bench::over(folder, session, |b| b.policy(policy)), state })
    }

    fn new(files: &[(&str, &str)]) -> Self {
        Self::start(Bench::new(files).folder()).unwrap()
    }

    /// Ends this process and starts the next.
    fn restart(self) -> Self {
        self.try_restart().unwrap()
    }

    fn try_restart(self) -> Result<Self, StateError> {
        let folder = self.bench.folder();
        drop(self);
        Self::start(folder)
    }

    fn state(&self, n: u64) -> ActionState {
        self.bench.session().actions().get(StageNumber::new(n).unwrap()).unwrap().1
    }

    fn log_path(&self) -> std::path::PathBuf {
        self.bench.at(".xd/sessions/main/log.jsonl")
    }

    /// What the log says was decided, oldest first.
    fn outcomes(&self) -> Vec<(u64, Outcome)> {
        let decided = |event| match event {
            LogEvent::Decided { number, outcome, .. } => Some((number, outcome)),
            LogEvent::Staged { .. }
            | LogEvent::Taken { .. }
            | LogEvent::Declined { .. }
            | LogEvent::Approved { .. }
            | LogEvent::Plan { .. } => None,
        };
        self.state.log().unwrap().into_iter().filter_map(|line| decided(line.event)).collect()
    }

    /// Stages an action without a change set.
    fn stage_plain(&self, label: &str) -> u64 {
        let request = StageRequest::new(label, |_| async { Ok(ToolResult::text("Done.")) });
        self.bench.session().actions().stage(request).unwrap().number().get()
    }
}

// CONTRACT E3
#[tokio::test]
async fn e3_a_pending_change_set_is_offered_again_under_its_number() {
    let one = Process::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    let preview = one.bench.edit("a.txt", "one", "two").await.joined();
    one.bench.edit("b.txt", "one", "two").await;
    let shown = one.bench.read("xd://resolve@1").await;
    let two = one.restart();
    assert_eq!(two.bench.pending(), [2, 1]);
    assert_eq!(two.bench.read("xd://resolve@1").await, shown);
    let diff = preview.split_once("\n\n").unwrap().1;
    assert!(shown.joined().contains(diff.trim_end()), "{}", shown.joined());
    let result = two.bench.write("xd://resolve@1", WHY).await;
    assert_eq!(result.content, ["Applied 1 replacements in 1 files."]);
    assert_eq!(two.bench.text("a.txt"), "two\n");
    let three = two.restart();
    assert_eq!(three.bench.pending(), [2]);
    let again = three.bench.write("xd://resolve@1", WHY).await;
    assert_eq!(again.content, ["Staged action @1 is already applied. Nothing was done."]);
    assert_eq!(
        three.bench.write("xd://reject", WHY).await.content[0],
        format!("Discarded: Edit: 1 replacements in 1 files. Reason: {WHY}")
    );
    let four = three.restart();
    assert!(four.bench.pending().is_empty());
    // A decided one stays readable.
    let discarded = four.bench.read("xd://resolve@2").await.joined();
    assert!(discarded.contains("(discarded)") && discarded.contains("\n+two\n"), "{discarded}");
    assert_eq!(four.bench.write("xd://resolve", WHY).await.content, [notice::NOTHING_TO_APPLY]);
}

// CONTRACT E3: what comes after a restart is checked against the disk, not against the record.
#[tokio::test]
async fn e3_after_a_restart_the_disk_decides_what_is_stale() {
    let one = Process::new(&[("a.txt", "one\n")]);
    one.bench.edit("a.txt", "one", "two").await;
    let two = one.restart();
    two.bench.put("a.txt", "by hand\n");
    let result = two.bench.write("xd://resolve", WHY).await;
    assert!(result.is_error && result.joined().contains("stale"), "{}", result.joined());
    let three = two.restart();
    assert_eq!(three.bench.pending(), [1]);
    three.bench.put("a.txt", "one\n");
    assert!(!three.bench.write("xd://resolve", WHY).await.is_error);
    assert_eq!(three.bench.text("a.txt"), "two\n");
}

// CONTRACT E3: what cannot be carried over is void, once, and the log says so.
#[tokio::test]
async fn e3_an_action_without_a_change_set_is_void_and_the_log_says_so() {
    let one = Process::new(&[("a.txt", "one\n")]);
    one.stage_plain("Plain");
    one.bench.edit("a.txt", "one", "two").await;
    let two = one.restart();
    assert_eq!(two.bench.pending(), [2]);
    let text = two.bench.write("xd://resolve@1", WHY).await.joined();
    assert!(text.starts_with("Staged action @1 is void"), "{text}");
    assert_eq!(two.outcomes(), [(1, Outcome::Void)]);
    let three = two.restart();
    assert_eq!(three.outcomes(), [(1, Outcome::Void)], "it is declared void once");
    assert_eq!(three.state(1), ActionState::Void);
}

// CONTRACT S1, E3: numbers are never used again.
#[tokio::test]
async fn s1_numbers_are_never_used_again() {
    let mut process = Process::new(&[]);
    let mut expected = 0;
    for round in 0..5 {
        for _ in 0..=round {
            expected += 1;
            let number = process.stage_plain("Plain");
            assert_eq!(number, expected);
        }
        match round % 3 {
            0 => drop(process.bench.write("xd://reject", WHY).await),
            1 => drop(process.bench.session().boundary(Boundary::New)),
            _ => {}
        }
        process = process.restart();
    }
}

// CONTRACT L1, F3: a torn last line is cut; everything before it stands.
#[tokio::test]
async fn l1_a_torn_last_line_is_cut_at_the_last_whole_one() {
    let one = Process::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    one.bench.edit("a.txt", "one", "two").await;
    one.bench.edit("b.txt", "one", "two").await;
    let whole = fs::read(one.log_path()).unwrap();
    let lines: Vec<usize> =
        whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1).collect();
    assert_eq!(lines.len(), 2);
    let folder = one.bench.folder();
    let path = one.log_path();
    drop(one);
    for cut in 0..=whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let process = Process::start(Arc::clone(&folder)).unwrap();
        let known = lines.iter().filter(|&&end| end <= cut).count();
        assert_eq!(process.bench.pending().len(), known, "cut at {cut}");
        // What is kept without a line is void, and its number stays used (CONTRACT S1, E3).
        let void: Vec<u64> = process.outcomes().into_iter().map(|(number, _)| number).collect();
        assert_eq!(void, (known as u64 + 1..=2).collect::<Vec<_>>(), "cut at {cut}");
        // The next line stands whole behind what was whole.
        assert_eq!(process.stage_plain("Next"), 3, "cut at {cut}");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.ends_with('\n'));
        assert_eq!(text.lines().count(), 3, "cut at {cut}");
        assert_eq!(process.state.log().unwrap().len(), 3);
    }
}

// A broken line with others behind it is named, not skipped.
#[tokio::test]
async fn e3_a_damaged_line_is_named() {
    let one = Process::new(&[("a.txt", "one\n")]);
    one.bench.edit("a.txt", "one", "two").await;
    one.stage_plain("Plain");
    one.bench.write("xd://reject@2", WHY).await;
    let text = fs::read_to_string(one.log_path()).unwrap();
    let damages = [
        text.replacen("\"event\":\"staged\"", "\"event\":\"stag", 1),
        text.replacen("{\"v\":1", "\0\0\0\0", 1),
        text.replacen("\"number\":1", "\"number\":-1", 1),
        format!("garbage\n{text}"),
        text.replacen("\"number\":1", "\"number\":0", 1),
        text.replacen("\"number\":1", "\"number\":99999999999", 1),
        text.replacen("\"number\":1", "\"number\":18446744073709551615", 1),
        text.replacen("{\"v\":1", "{\"v\":2", 1),
    ];
    let folder = one.bench.folder();
    let path = one.log_path();
    drop(one);
    for damaged in damages {
        assert_ne!(damaged, text);
        fs::write(&path, &damaged).unwrap();
        let Err(error) = Process::start(Arc::clone(&folder)) else { panic!("{damaged}") };
        let words = error.to_string();
        assert!(words.contains(".xd/sessions/main/log.jsonl, line 1"), "{words}");
        assert!(words.contains("is damaged"), "{words}");
        assert_eq!(fs::read_to_string(&path).unwrap(), damaged, "nothing is made worse");
    }
}

// What is wrong with a line is said in words, with one place: no name of this program's inside, and
// of the JSON parser's words only those about JSON.
#[tokio::test]
async fn e3_a_damaged_line_is_told_in_plain_words() {
    let one = Process::new(&[]);
    one.stage_plain("Plain");
    one.stage_plain("Plain");
    let text = fs::read_to_string(one.log_path()).unwrap();
    let (first, second) = text.split_once('\n').unwrap();
    let (folder, path) = (one.bench.folder(), one.log_path());
    drop(one);
    let no_line = "it is no line of this log";
    for (damaged, expected) in [
        ("[]", no_line.to_owned()),
        ("7", no_line.to_owned()),
        ("{}", no_line.to_owned()),
        ("null", no_line.to_owned()),
        (&*first.replace("\"number\":1", "\"number\":\"1\""), no_line.to_owned()),
        (&*first.replace("\"number\":1", "\"number\":-1"), no_line.to_owned()),
        (&*first.replace("\"number\":1,", ""), no_line.to_owned()),
        (&*first.replace("\"event\":\"staged\"", "\"event\":\"lost\""), no_line.to_owned()),
        ("nonsense", format!("{no_line}: expected ident")),
        ("{\"v\":1", format!("{no_line}: EOF while parsing an object")),
        ("{\"v\":1 1", format!("{no_line}: expected `,` or `}}`")),
        (&*format!("{first}}}"), format!("{no_line}: trailing characters")),
    ] {
        assert_ne!(damaged, first);
        fs::write(&path, format!("{damaged}\n{second}")).unwrap();
        let Err(error) = Process::start(Arc::clone(&folder)) else { panic!("{damaged}") };
        let place = ".xd/sessions/main/log.jsonl, line 1";
        let words = format!("the workspace's state ({place}) is damaged: {expected}");
        assert_eq!(error.to_string(), words, "{damaged}");
    }
}

// CONTRACT S1: a line is named by its place in the file, and no number is given twice, or is
// further from the others than failed stagings can explain.
#[tokio::test]
async fn e3_a_line_that_cannot_be_true_is_named() {
    let one = Process::new(&[("a.txt", "one\n")]);
    one.bench.edit("a.txt", "one", "two").await;
    one.stage_plain("Plain");
    let text = fs::read_to_string(one.log_path()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (folder, path) = (one.bench.folder(), one.log_path());
    drop(one);
    for (damaged, at) in [
        (format!("{text}{}", lines[0]), 3),
        (format!("{}\n\n{}", lines[0], lines[1].replace("\"number\":2", "\"number\":90000")), 4),
        (format!("{text}\nnonsense\n"), 4),
    ] {
        fs::write(&path, &damaged).unwrap();
        let Err(error) = Process::start(Arc::clone(&folder)) else { panic!("{damaged}") };
        let words = error.to_string();
        assert!(words.contains(&format!("log.jsonl, line {at}) is damaged")), "{words}");
    }
    // A few numbers may be missing: a staging that could not be recorded used them up.
    fs::write(&path, text.replace("\"number\":2", "\"number\":40")).unwrap();
    let process = Process::start(folder).unwrap();
    assert_eq!(process.bench.pending(), [1]);
    assert_eq!(process.state(20), ActionState::Void);
    assert_eq!(process.stage_plain("Next"), 41);
}

/// What can be wrong with a kept action: damages to its file.
fn damages(text: &str) -> Vec<(&'static str, Option<String>)> {
    let replaced = |from: &str, to: &str| {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from}");
        Some(damaged)
    };
    vec![
        ("missing", None),
        ("half", Some(text[..text.len() / 2].to_owned())),
        ("empty", Some(String::new())),
        ("another", Some("{}".to_owned())),
        // Not the bytes of the recorded hash, or another text than is shown.
        ("content", replaced("\"before\":\"one", "\"before\":\"six")),
        ("label", replaced("1 replacements", "9 replacements")),
        ("preview", replaced("+two", "+six")),
        ("blank", Some(format!("{text}\n"))),
    ]
}

// CONTRACT E3, F1: a kept action that is gone, damaged or another than was staged is void, and the
// log says so and why, once; the others go on.
#[tokio::test]
async fn e3_a_damaged_action_is_void_and_the_others_go_on() {
    let one = Process::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    one.bench.edit("a.txt", "one", "two").await;
    one.bench.edit("b.txt", "one", "two").await;
    let kept = one.bench.at(".xd/sessions/main/staged/1.json");
    let text = fs::read_to_string(&kept).unwrap();
    let log = fs::read(one.log_path()).unwrap();
    let (folder, path) = (one.bench.folder(), one.log_path());
    drop(one);
    for (name, damaged) in damages(&text) {
        fs::write(&path, &log).unwrap();
        match damaged {
            Some(damaged) => fs::write(&kept, damaged).unwrap(),
            None => fs::remove_file(&kept).unwrap(),
        }
        let mut process = Process::start(Arc::clone(&folder)).unwrap();
        for _ in 0..2 {
            assert_eq!(process.bench.pending(), [2], "{name}");
            assert_eq!(process.state(1), ActionState::Void, "{name}");
            assert_eq!(process.outcomes(), [(1, Outcome::Void)], "{name}");
            let last = process.state.log().unwrap().pop().unwrap();
            let LogEvent::Decided { reason, who, .. } = last.event else { panic!("{name}") };
            assert!(reason.contains(".xd/sessions/main/staged/1.json"), "{name}: {reason}");
            assert_eq!(who, Decider::Host);
            process = process.restart();
        }
        let told = process.bench.write("xd://resolve@1", WHY).await.joined();
        assert!(told.contains("void"), "{name}: {told}");
        assert_eq!(process.bench.text("a.txt"), "one\n");
        fs::write(process.bench.at("b.txt"), "one\n").unwrap();
        assert!(!process.bench.write("xd://resolve", WHY).await.is_error, "{name}");
        assert_eq!(process.bench.text("b.txt"), "two\n");
        fs::write(process.bench.at("b.txt"), "one\n").unwrap();
        // What is kept of it is never shown as what it was.
        assert!(process.bench.read("xd://resolve@1").await.joined().contains("staged/1.json"));
    }
}

// CONTRACT E3: what is no plain file is no kept action and is not opened; what cannot be read now
// is not given up.
#[tokio::test]
async fn e3_a_kept_action_is_a_plain_file() {
    let one = Process::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    one.bench.edit("a.txt", "one", "two").await;
    let kept = one.bench.at(".xd/sessions/main/staged/1.json");
    let log = fs::read(one.log_path()).unwrap();
    let aside = one.bench.at(".xd/sessions/main/aside.json");
    fs::rename(&kept, &aside).unwrap();
    let (folder, path) = (one.bench.folder(), one.log_path());
    drop(one);
    let fifo = || {
        let made = std::process::Command::new("mkfifo").arg(&kept).status().unwrap();
        assert!(made.success());
    };
    let makes: [&dyn Fn(); 3] =
        [&|| fs::create_dir(&kept).unwrap(), &|| symlink("../aside.json", &kept).unwrap(), &fifo];
    for make in makes {
        fs::write(&path, &log).unwrap();
        make();
        let process = Process::start(Arc::clone(&folder)).unwrap();
        assert_eq!(process.outcomes(), [(1, Outcome::Void)]);
        if kept.is_dir() { fs::remove_dir(&kept) } else { fs::remove_file(&kept) }.unwrap();
    }
}

// CONTRACT S1, E3: a lost log loses no number, and what it staged is not silently gone.
#[tokio::test]
async fn s1_a_lost_log_gives_no_number_again() {
    let one = Process::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    one.bench.edit("a.txt", "one", "two").await;
    one.stage_plain("Plain");
    one.bench.edit("b.txt", "one", "two").await;
    let kept = fs::read(one.bench.at(".xd/sessions/main/staged/3.json")).unwrap();
    fs::remove_file(one.log_path()).unwrap();
    // Names that no kept action has, or that no staging can have reached.
    for name in ["03.json", "x.json", "0.json", "9.json.bak", "99999999999.json", "-1.json"] {
        fs::write(one.bench.at(".xd/sessions/main/staged").join(name), "{}").unwrap();
    }
    let two = one.restart();
    assert!(two.bench.pending().is_empty());
    assert_eq!(two.outcomes(), [(1, Outcome::Void), (3, Outcome::Void)]);
    two.bench.edit("a.txt", "one", "two").await;
    assert_eq!(two.bench.pending(), [4]);
    assert_eq!(fs::read(two.bench.at(".xd/sessions/main/staged/3.json")).unwrap(), kept);
    assert_eq!(two.restart().bench.pending(), [4]);
}

/// A log that says that somebody took action 1 for `verdict`, and nothing of its end.
async fn cut_off(verdict: Verdict, plain: bool) -> Process {
    cut_off_by(Decider::Model, verdict, plain).await
}

async fn cut_off_by(decider: Decider, verdict: Verdict, plain: bool) -> Process {
    let one = Process::new(&[("a.txt", "one\n"), ("b.txt", "b\n")]);
    if plain {
        one.stage_plain("Plain");
    } else {
        one.bench.edit("a.txt", "one", "two").await;
    }
    let number = StageNumber::new(1).unwrap();
    let (action, _) = one.bench.session().actions().get(number).unwrap();
    one.state.taken(&action, verdict, WHY, decider).unwrap();
    one
}

// CONTRACT E3, D12: taken without a word of its end, and the files as they were: pending again.
#[tokio::test]
async fn e3_an_apply_that_was_cut_off_before_it_wrote_is_pending_again() {
    let two = cut_off(Verdict::Apply, false).await.restart();
    assert_eq!(two.state(1), ActionState::Pending);
    let message = "the process ended before the apply did".to_owned();
    assert_eq!(two.outcomes(), [(1, Outcome::Failed { message })]);
    assert!(!two.bench.write("xd://resolve", WHY).await.is_error);
    assert_eq!(two.bench.text("a.txt"), "two\n");
}

// CONTRACT E3, L1: the same with the files as it makes them: applied, and the log names the files
// with their hashes.
#[tokio::test]
async fn e3_an_apply_that_was_cut_off_after_it_wrote_counts_as_applied() {
    let one = cut_off(Verdict::Apply, false).await;
    let (action, _) = one.bench.session().actions().get(StageNumber::new(1).unwrap()).unwrap();
    action
        .change_set()
        .unwrap()
        .apply(one.bench.host.workspace().root(), xd_changeset::Options::default())
        .unwrap();
    let two = one.restart();
    assert_eq!(two.state(1), ActionState::Applied);
    assert_eq!(two.outcomes(), [(1, Outcome::Applied)]);
    let last = two.state.log().unwrap().pop().unwrap();
    let LogEvent::Decided { files, reason, who, label, .. } = last.event else { panic!() };
    assert_eq!((reason.as_str(), who), (WHY, Decider::Model));
    assert_eq!(label, "Edit: 1 replacements in 1 files");
    assert_eq!(files[0].path.as_str(), "a.txt");
    let after = files[0].after.as_ref().unwrap().hash;
    assert_eq!(after, xd_changeset::Hash::of(b"two\n"));
    // It is not applied a second time.
    two.bench.put("a.txt", "one\n");
    assert!(two.bench.write("xd://resolve@1", WHY).await.is_error);
    assert_eq!(two.bench.text("a.txt"), "one\n");
}

// CONTRACT E3
#[tokio::test]
async fn e3_a_discard_that_was_cut_off_is_pending_again_and_a_plain_action_void() {
    let two = cut_off(Verdict::Discard, false).await.restart();
    assert_eq!(two.state(1), ActionState::Pending);
    assert!(!two.bench.write("xd://reject", WHY).await.is_error);
    assert_eq!(two.bench.text("a.txt"), "one\n");
    for verdict in [Verdict::Apply, Verdict::Discard] {
        let two = cut_off(verdict, true).await.restart();
        assert_eq!(two.state(1), ActionState::Void);
        let outcomes = two.outcomes();
        assert!(matches!(outcomes[0], (1, Outcome::Failed { .. })), "{outcomes:?}");
        assert_eq!(outcomes[1..], [(1, Outcome::Void)]);
    }
}

// CONTRACT L1, E3: whoever settles it, the log tells who decided and why as it was taken; what is
// void for want of a change set is so by the host.
#[tokio::test]
async fn l1_what_is_settled_keeps_who_decided_and_why() {
    for verdict in [Verdict::Apply, Verdict::Discard] {
        for decider in [Decider::Model, Decider::Person, Decider::Host] {
            for plain in [false, true] {
                let two = cut_off_by(decider, verdict, plain).await.restart();
                let decided = |event| match event {
                    LogEvent::Decided { action, who, reason, .. } => Some((action, who, reason)),
                    LogEvent::Staged { .. }
                    | LogEvent::Taken { .. }
                    | LogEvent::Declined { .. }
                    | LogEvent::Approved { .. }
                    | LogEvent::Plan { .. } => None,
                };
                let lines = two.state.log().unwrap();
                let mut lines = lines.into_iter().filter_map(|line| decided(line.event));
                let settled = (Some(verdict.into()), decider, WHY.to_owned());
                assert_eq!(lines.next(), Some(settled), "{verdict:?} {decider:?} {plain}");
                let void = lines.next().map(|(action, who, reason)| (action, who, reason != WHY));
                assert_eq!(void, plain.then_some((None, Decider::Host, true)));
                assert_eq!(lines.next(), None);
            }
        }
    }
}

// CONTRACT E3: without the lock nobody knows whether the other process is at it; nothing is settled.
#[tokio::test]
async fn e3_without_the_lock_a_taken_action_is_being_resolved() {
    let one = cut_off(Verdict::Apply, false).await;
    let before = fs::read(one.log_path()).unwrap();
    let workspace = one.bench.host.workspace().clone();
    let other = StateFolder::open_existing(&workspace, "main").unwrap().unwrap();
    let session = Session::new();
    other.restore(&workspace, session.actions(), None).unwrap();
    let bench = Bench::over(one.bench.folder(), session, |b| b);
    let result = bench.write("xd://resolve@1", WHY).await;
    assert_eq!(result.content, ["Staged action @1 is already being resolved."]);
    assert_eq!(fs::read(one.log_path()).unwrap(), before);
    assert_eq!(bench.text("a.txt"), "one\n");
}

// CONTRACT F8: one holds the lock; the other waits a bounded time and says who.
#[test]
fn f8_two_state_folders_contend_for_the_lock() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap();
    let one = StateFolder::open(&workspace, "main").unwrap();
    let two = StateFolder::open(&workspace, "main").unwrap();
    let other = StateFolder::open(&workspace, "other").unwrap();
    let lock = one.lock(NOT_LONG).unwrap();
    let begin = Instant::now();
    let error = two.lock(NOT_LONG).unwrap_err();
    assert!(begin.elapsed() >= NOT_LONG && begin.elapsed() < Duration::from_secs(5));
    let StateError::Locked { holder, waited } = &error else { panic!("{error}") };
    assert_eq!(*holder, format!("process {}", std::process::id()));
    assert_eq!(*waited, NOT_LONG);
    assert!(error.to_string().contains("Try again"), "{error}");
    assert!(other.lock(NOT_LONG).is_ok(), "another session is another lock");
    drop(lock);
    let lock = two.lock(NOT_LONG).unwrap();
    // One that waits long enough gets it.
    let waiting = std::thread::spawn(move || one.lock(Duration::from_secs(20)).is_ok());
    std::thread::sleep(NOT_LONG);
    drop(lock);
    assert!(waiting.join().unwrap());
}

// CONTRACT L1 — Invariant W5
#[tokio::test]
async fn l1_every_decision_is_a_line_in_order_with_who_why_and_what() {
    let process = Process::new(&[("a.txt", "one\n")]);
    process.bench.edit("a.txt", "one", "two").await;
    process.bench.write("xd://resolve", "First reason.").await;
    let fails = StageRequest::new("Fails", |_| async { Err(ApplyError::tool("no luck")) });
    process.bench.session().actions().stage(fails.source_tool("failer")).unwrap();
    process.bench.write("xd://resolve", "Second reason.").await;
    let person = CallScope::of(Decider::Person);
    process.bench.host.run_batch(&[write_call("1", "xd://reject", "Third.")], &person).await;
    process.stage_plain("Left");
    process.bench.session().boundary(Boundary::New);

    let text = fs::read_to_string(process.log_path()).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<String> = lines
        .iter()
        .map(|line| {
            let word = |key: &str| line[key].as_str().unwrap_or("-").to_owned();
            format!(
                "{} {} {} {} {} {}",
                word("event"),
                line["number"],
                word("action"),
                word("reason"),
                word("who"),
                word("outcome")
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "staged 1 - - - -",
            "taken 1 apply First reason. model -",
            "decided 1 apply First reason. model applied",
            "staged 2 - - - -",
            "taken 2 apply Second reason. model -",
            "decided 2 apply Second reason. model failed",
            "taken 2 discard Third. person -",
            "decided 2 discard Third. person discarded",
            "staged 3 - - - -",
            "decided 3 - a new session began host void",
        ]
    );
    let times: Vec<&str> = lines.iter().map(|line| line["time"].as_str().unwrap()).collect();
    assert!(times.is_sorted() && times.iter().all(|time| time.ends_with('Z')));
    let file = &lines[2]["files"][0];
    assert_eq!((&file["path"], &file["verb"]), (&json!("a.txt"), &json!("edit")));
    let hash = |bytes: &[u8]| serde_json::to_value(xd_changeset::Hash::of(bytes)).unwrap();
    assert_eq!(file["before"]["hash"], hash(b"one\n"));
    assert_eq!(file["after"]["hash"], hash(b"two\n"));
    assert_eq!(lines[5]["message"], "no luck");
    assert_eq!(lines[4]["number"], 2);
    assert_eq!(lines[3]["source_tool_name"], "failer");
}

// CONTRACT L1: control characters are escaped, and read back as they were.
#[tokio::test]
async fn l1_control_characters_are_escaped() {
    let nasty =
        "a\u{1b}[2J\u{7}\r\n\u{9b}2J\u{7f}\u{85}\u{2028}\u{202e}\u{200b}\u{e0041}é \"q\" \\";
    let process = Process::new(&[("a.txt", "one\n")]);
    let request = StageRequest::new(nasty, |_| async { Ok(ToolResult::text("ok")) });
    process.bench.session().actions().stage(request.source_tool(nasty)).unwrap();
    process.bench.write("xd://resolve", nasty).await;
    let text = fs::read_to_string(process.log_path()).unwrap();
    assert_eq!(text.lines().count(), 3);
    let acts = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{2028}' | '\u{2029}')
            || xd_protocol::is_invisible(c)
    };
    assert!(!text.contains(acts), "{text:?}");
    let log = process.state.log().unwrap();
    let LogEvent::Decided { label, reason, source_tool_name, .. } = &log[2].event else { panic!() };
    assert_eq!((label.as_str(), source_tool_name.as_str()), (nasty, nasty));
    assert_eq!(reason, nasty.trim());
}

// CONTRACT L1, Invariant W5: what cannot be written down is not done, and says so.
#[tokio::test]
async fn l1_what_cannot_be_recorded_does_not_happen() {
    let process = Process::new(&[("a.txt", "one\n")]);
    process.bench.edit("a.txt", "one", "two").await;
    // Where the log was there is a folder now: nothing can be appended.
    fs::rename(process.log_path(), process.bench.at("log.bak")).unwrap();
    fs::create_dir(process.log_path()).unwrap();
    for address in ["xd://resolve", "xd://reject"] {
        let result = process.bench.write(address, WHY).await;
        assert!(result.is_error && result.joined().starts_with("Nothing was done:"), "{result:?}");
    }
    assert_eq!(process.bench.text("a.txt"), "one\n");
    let result = process.bench.edit("a.txt", "one", "three").await;
    assert!(result.is_error && result.joined().contains("Nothing was staged"), "{result:?}");
    assert_eq!(process.bench.pending(), [1]);
    fs::remove_dir(process.log_path()).unwrap();
    fs::rename(process.bench.at("log.bak"), process.log_path()).unwrap();
    assert!(!process.bench.write("xd://resolve", WHY).await.is_error);
    // The number of the failed staging is not used again, here or after a restart.
    assert_eq!(process.stage_plain("Next"), 3);
    let two = process.restart();
    assert_eq!(two.state(2), ActionState::Void);
    assert_eq!(two.stage_plain("After"), 4);
}

// CONTRACT L1: append-only: what stands in the log stays, byte for byte, whatever comes.
#[tokio::test]
async fn l1_the_log_only_grows() {
    let mut process = Process::new(&[("a.txt", "one\n")]);
    let mut before = Vec::new();
    for round in 0..6 {
        match round {
            0 => drop(process.bench.edit("a.txt", "one", "two").await),
            1 => drop(process.bench.write("xd://resolve", WHY).await),
            2 => drop(process.stage_plain("Plain").to_string()),
            3 => process = process.restart(),
            4 => drop(process.bench.write("xd://reject", WHY).await),
            _ => {
                // A crash left half a line; it goes, what stood before stays.
                let mut log = fs::OpenOptions::new().append(true).open(process.log_path()).unwrap();
                log.write_all(b"{\"v\":1,\"time\":\"20").unwrap();
                process = process.restart();
                process.stage_plain("Plain");
            }
        }
        let now = fs::read(process.log_path()).unwrap();
        assert!(now.starts_with(&before), "round {round}");
        before = now;
    }
    let inode = fs::metadata(process.log_path()).unwrap().ino();
    process.stage_plain("One more");
    assert_eq!(fs::metadata(process.log_path()).unwrap().ino(), inode);
}

// Case 127: a restart while a preview is pending resumes once, cleanly, again and again.
#[tokio::test]
async fn case_127_restarting_again_and_again_changes_nothing() {
    let mut process = Process::new(&[("a.txt", "one\n")]);
    process.bench.edit("a.txt", "one", "two").await;
    let before = fs::read(process.log_path()).unwrap();
    for _ in 0..5 {
        process = process.restart();
        assert_eq!(process.bench.pending(), [1]);
        assert_eq!(fs::read(process.log_path()).unwrap(), before);
    }
    assert!(!process.bench.write("xd://resolve", WHY).await.is_error);
    process = process.restart();
    assert!(process.bench.pending().is_empty());
}

// Case 81, at this level: from every prefix of the log a session can be restored, and whatever it
// then says is pending can be resolved or rejected.
#[tokio::test]
async fn case_081_every_prefix_of_the_log_can_be_resumed() {
    let one = Process::new(&[("a.txt", "one\n"), ("b.txt", "one\n")]);
    one.bench.edit("a.txt", "one", "two").await;
    one.stage_plain("Plain");
    one.bench.write("xd://resolve@1", WHY).await;
    one.bench.edit("b.txt", "one", "two").await;
    one.bench.write("xd://reject@2", WHY).await;
    one.bench.write("xd://resolve", WHY).await;
    let text = fs::read_to_string(one.log_path()).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (folder, path) = (one.bench.folder(), one.log_path());
    drop(one);
    for known in 0..=lines.len() {
        fs::write(&path, lines[..known].concat()).unwrap();
        fs::write(folder.path().join("a.txt"), "one\n").unwrap();
        fs::write(folder.path().join("b.txt"), "one\n").unwrap();
        let process = Process::start(Arc::clone(&folder)).unwrap();
        for number in process.bench.pending() {
            let result = process.bench.write(&format!("xd://resolve@{number}"), WHY).await;
            assert!(!result.is_error, "{known} lines, @{number}: {}", result.joined());
        }
        assert!(process.bench.pending().is_empty());
        assert!(process.try_restart().is_ok());
    }
}
