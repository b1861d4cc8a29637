//! A part of a pending action, decided for itself, on real files and through restarts.
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::{collections::BTreeMap, fs, path::Path, sync::Arc, time::Duration};

use xd_changeset::{ChangeSet, Pick, RelPath};
use xd_protocol::{StageNumber, Verdict};
use xd_resolve::{
    ActionState, ActionStore, Decider, Ending, Lineage, Refusal, Resolution, StageRequest,
    StagedAction,
};
use xd_write::{
    Direction, PartDecided, PartFailure, Proposed, StateFolder, Workspace, decide_part,
};

const WHY: &str = "It is what was asked for.";
const OLD: &str = "one\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\nten";
const NEW: &str = "ONE\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\nTEN";
const FIRST: &str = "ONE\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\nten";
const SECOND: &str = "one\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\nTEN";

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn n(number: u64) -> StageNumber {
    StageNumber::new(number).unwrap()
}

fn hunk(number: usize) -> BTreeMap<RelPath, Pick> {
    BTreeMap::from([(RelPath::new("a.txt").unwrap(), Pick::Hunks([number].into()))])
}

/// A folder with `a.txt`, and an action @1 that changes its first and its last line.
struct Place {
    folder: tempfile::TempDir,
    workspace: Workspace,
    state: StateFolder,
    store: Arc<ActionStore>,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        fs::write(folder.path().join("a.txt"), OLD).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let state = StateFolder::open(&workspace, "main").unwrap();
        let store = Arc::new(ActionStore::new().with_recorder(Arc::new(state.clone())));
        let change_set = ChangeSet::builder(workspace.root())
            .replace(&RelPath::new("a.txt").unwrap(), NEW.to_owned())
            .build()
            .unwrap();
        let proposed = Proposed {
            label: "Edit: 2 lines".to_owned(),
            source_tool_name: "edit".to_owned(),
            success: "Applied.".to_owned(),
            notes: vec!["A remark.".to_owned()],
            preview: "The preview.".to_owned(),
            change_set,
        };
        store.stage(proposed.into_request(&workspace)).unwrap();
        Self { folder, workspace, state, store }
    }

    fn text(&self) -> String {
        fs::read_to_string(self.folder.path().join("a.txt")).unwrap()
    }

    fn action(&self, number: u64) -> (Arc<StagedAction>, ActionState) {
        self.store.get(n(number)).unwrap()
    }

    fn decide(&self, hunk_number: usize, verdict: Verdict) -> Result<PartDecided, PartFailure> {
        let whole = self.action(1).0;
        let (store, workspace) = (&self.store, &self.workspace);
        let who = Decider::Person;
        let picks = hunk(hunk_number);
        block_on(decide_part(store, workspace, whole, &picks, verdict, WHY, who))
    }

    fn confirm(&self, number: u64, verdict: Verdict) -> Resolution {
        block_on(self.store.confirm(n(number), verdict, WHY, Decider::Person))
    }

    /// As after the end of the process.
    fn restarted(self) -> Self {
        let Self { folder, workspace, .. } = self;
        let (state, store) = resume(&workspace);
        Self { folder, workspace, state, store }
    }
}

fn resume(workspace: &Workspace) -> (StateFolder, Arc<ActionStore>) {
    let state = StateFolder::open(workspace, "main").unwrap();
    let store = Arc::new(ActionStore::new().with_recorder(Arc::new(state.clone())));
    let lock = state.lock(Duration::from_secs(5)).unwrap();
    state.restore(workspace, &store, Some(&lock)).unwrap();
    (state, store)
}

fn makes(action: &StagedAction) -> String {
    let set = action.change_set().unwrap();
    let after = set.changes()[0].after().unwrap().bytes().unwrap().into_owned();
    String::from_utf8(after).unwrap()
}

// Invariant R7, Invariant W13, CONTRACT F1, F6
#[test]
fn the_accepted_part_is_an_action_and_the_rest_keeps_the_number() {
    for restarts in [false, true] {
        let again = |place: Place| if restarts { place.restarted() } else { place };
        let place = Place::new();
        let decided = place.decide(2, Verdict::Apply).unwrap();
        assert_eq!((decided.number, decided.of), (n(2), n(1)));
        assert_eq!((decided.picked, decided.left), (1, 1));
        assert_eq!(place.text(), SECOND);
        let place = again(place);
        assert_eq!(place.action(2).1, ActionState::Applied);
        assert_eq!(place.action(2).0.lineage(), Some(Lineage::PartOf(n(1))));
        let (rest, state) = place.action(1);
        assert_eq!(state, ActionState::Pending);
        assert_eq!(rest.label(), "Edit: 2 lines, 1 of 2 changes left");
        assert!(rest.preview().contains("A remark."), "{}", rest.preview());
        assert_eq!(makes(&rest), NEW);
        assert!(rest.change_set().unwrap().check(place.workspace.root()).is_ok());
        // Each is undone for itself.
        let Resolution::Ran { ending: Ending::Applied, .. } = place.confirm(1, Verdict::Apply)
        else {
            panic!("the rest applies")
        };
        assert_eq!(place.text(), NEW);
        let place = again(place);
        for (number, text) in [(1, SECOND), (2, OLD)] {
            let target = (Direction::Undo, Some(n(number)));
            let (store, workspace) = (&place.store, &place.workspace);
            block_on(place.state.undo(store, workspace, target, WHY, Decider::Person)).unwrap();
            assert_eq!(place.text(), text);
        }
    }
}

// Invariant W13
#[test]
fn a_rejected_part_is_recorded_and_the_rest_leaves_it_as_it_was() {
    for restarts in [false, true] {
        let place = Place::new();
        place.decide(2, Verdict::Discard).unwrap();
        let place = if restarts { place.restarted() } else { place };
        assert_eq!(place.text(), OLD);
        assert_eq!(place.action(2).1, ActionState::Discarded);
        assert_eq!(makes(&place.action(1).0), FIRST);
        place.confirm(1, Verdict::Apply);
        assert_eq!(place.text(), FIRST);
        let kept = place.state.action(1).unwrap();
        assert_eq!(kept.change_set.unified(3), place.action(1).0.change_set().unwrap().unified(3));
    }
}

// CONTRACT D11: of the whole and two parts that were looked at together, one is decided.
#[test]
fn d11_a_part_of_what_changed_meanwhile_is_refused() {
    let place = Place::new();
    let whole = place.action(1).0;
    place.decide(1, Verdict::Apply).unwrap();
    let (store, workspace) = (&place.store, &place.workspace);
    let who = Decider::Person;
    let picks = hunk(2);
    let late = decide_part(store, workspace, whole, &picks, Verdict::Apply, WHY, who);
    let failure = block_on(late).unwrap_err().to_string();
    assert!(failure.contains("Look at @1 again"), "{failure}");
    assert_eq!(place.text(), FIRST);
    assert_eq!(place.store.pending_numbers(9), (vec![n(1)], 1), "no part stays behind");
    assert_eq!(makes(&place.action(1).0), NEW);
}

// CONTRACT F2, D9: nothing is written, and the whole is pending as before.
#[test]
fn f2_a_part_of_a_stale_file_writes_nothing() {
    let place = Place::new();
    fs::write(place.folder.path().join("a.txt"), "others wrote this\n").unwrap();
    let failure = place.decide(1, Verdict::Apply).unwrap_err().to_string();
    assert!(failure.contains("stale"), "{failure}");
    assert_eq!(place.text(), "others wrote this\n");
    let place = place.restarted();
    assert_eq!(place.store.pending_numbers(9), (vec![n(1)], 1));
    assert_eq!(makes(&place.action(1).0), NEW);
}

// Invariant R7: while a part is decided the whole is, too; and what fails gives both back.
#[test]
fn while_a_part_is_decided_the_whole_cannot_be() {
    let store = Arc::new(ActionStore::new());
    let done = || async { Ok(xd_resolve::ToolResult::text("Done.")) };
    store.stage(StageRequest::new("whole", move |_| done())).unwrap();
    let whole = store.get(n(1)).unwrap().0;
    let inner = Arc::clone(&store);
    let part = StageRequest::new("part", move |_| {
        let store = Arc::clone(&inner);
        async move {
            let other = store.confirm(n(1), Verdict::Apply, WHY, Decider::Person).await;
            let Resolution::Refused(Refusal::AlreadyBeingResolved(one)) = other else {
                panic!("{other:?}")
            };
            assert_eq!(one, n(1));
            Ok(xd_resolve::ToolResult::text("Done."))
        }
    });
    let rest = StageRequest::new("rest", move |_| done());
    store.stage(part.part_of(whole, Verdict::Apply, rest)).unwrap();
    let resolution = block_on(store.confirm(n(2), Verdict::Apply, WHY, Decider::Person));
    assert!(matches!(resolution, Resolution::Ran { ending: Ending::Applied, .. }));
    let (rest, state) = store.get(n(1)).unwrap();
    assert_eq!((rest.label(), state), ("rest", ActionState::Pending));
    assert_eq!(store.pending_count(), 1);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).unwrap()),
        }
    }
}

// Invariant W13, CONTRACT F3, E3: the process dies at any byte of the log and with any of the kept
// files written; the file is old or new, as a commit leaves it. Each hunk is written at most once,
// none is lost, and a second restart finds what the first one did.
#[test]
fn e3_killed_at_any_point_a_part_is_decided_with_its_rest_or_not_at_all() {
    for verdict in [Verdict::Apply, Verdict::Discard] {
        let place = Place::new();
        let log = ".xd/sessions/main/log.jsonl";
        let before = fs::metadata(place.folder.path().join(log)).unwrap().len() as usize;
        place.decide(2, verdict).unwrap();
        let whole_log = fs::read(place.folder.path().join(log)).unwrap();
        let at = |word: &str| {
            let text = String::from_utf8_lossy(&whole_log[before..]).into_owned();
            let line = text.find(word).unwrap();
            before + line + text[line..].find('\n').unwrap() + 1
        };
        let (staged, taken) = (at("\"staged\""), at("\"taken\""));
        let mut seen = [0; 3];
        let steps = (before..=whole_log.len()).filter(|cut| {
            let cut = *cut;
            cut % 31 == 0 || [before, staged, taken, whole_log.len()].contains(&cut)
        });
        for cut in steps {
            let texts: &[&str] = match verdict {
                Verdict::Apply if cut < taken => &[OLD],
                Verdict::Apply if cut < whole_log.len() => &[OLD, SECOND],
                Verdict::Apply => &[SECOND],
                Verdict::Discard => &[OLD],
            };
            // Before the staged line the kept files come one by one.
            let gone: &[&[&str]] = match cut < staged {
                true => &[&["2.json", "1.without-2.json"], &["1.without-2.json"], &[]],
                false => &[&[]],
            };
            for (text, gone) in texts.iter().flat_map(|text| gone.iter().map(move |g| (text, g))) {
                let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
                let folder = folder.unwrap();
                copy(place.folder.path(), folder.path());
                fs::write(folder.path().join(log), &whole_log[..cut]).unwrap();
                fs::write(folder.path().join("a.txt"), text).unwrap();
                for name in *gone {
                    fs::remove_file(folder.path().join(".xd/sessions/main/staged").join(name))
                        .unwrap();
                }
                let workspace = Workspace::open(folder.path()).unwrap();
                for _ in 0..2 {
                    let (_, store) = resume(&workspace);
                    let (whole, state) = store.get(n(1)).unwrap();
                    assert_eq!(state, ActionState::Pending, "{verdict:?} {cut}");
                    assert!(whole.change_set().unwrap().check(workspace.root()).is_ok());
                    let part = store.get(n(2)).map(|(_, state)| state);
                    match part {
                        Some(ActionState::Applied) => {
                            assert_eq!((*text, makes(&whole).as_str()), (SECOND, NEW));
                            seen[0] += 1;
                        }
                        Some(ActionState::Discarded) => {
                            assert_eq!((*text, makes(&whole).as_str()), (OLD, FIRST));
                            seen[1] += 1;
                        }
                        Some(ActionState::Void) | None => {
                            assert_eq!((*text, makes(&whole).as_str()), (OLD, NEW));
                            seen[2] += 1;
                        }
                        Some(other) => panic!("{other:?}"),
                    }
                }
                // What is pending can be decided once more, in parts too.
                let (_, store) = resume(&workspace);
                let whole = store.get(n(1)).unwrap().0;
                if whole.change_set().unwrap().changes()[0].parts(3) == 2 {
                    let who = Decider::Person;
                    let picks = hunk(1);
                    let again =
                        decide_part(&store, &workspace, whole, &picks, Verdict::Apply, WHY, who);
                    block_on(again).unwrap();
                    let text = fs::read_to_string(folder.path().join("a.txt")).unwrap();
                    assert_eq!(text, FIRST);
                }
            }
        }
        let decided = if verdict == Verdict::Apply { seen[0] } else { seen[1] };
        assert!(decided > 0 && seen[2] > 0, "{seen:?}");
    }
}
