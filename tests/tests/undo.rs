//! Undo, redo and restage through the library, on real files (`CONTRACT F6`, F7).
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt as _, sync::Arc};

use proptest::prelude::*;
use xd_changeset::{ByteEdit, ChangeSet, RelPath};
use xd_protocol::{StageNumber, Verdict, notice};
use xd_resolve::{
    ActionState, ActionStore, Decider, Guard, Lineage, Resolution, StagedAction, Tier, ToolResult,
};
use xd_tests::Bench;
use xd_write::{
    Direction, History, NoTarget, Policy, Proposed, RestageFailure, StateFolder, UndoError,
    Workspace, restage, restage_tool,
};

const WHY: &str = "It is what was asked for.";

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn number(n: u64) -> StageNumber {
    StageNumber::new(n).unwrap()
}

fn path(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

/// A folder with a store that records to it.
struct Place {
    folder: tempfile::TempDir,
    workspace: Workspace,
    state: StateFolder,
    store: Arc<ActionStore>,
}

impl Place {
    fn new() -> Self {
        // In memory where the system has a file system for that: no write waits for a disk.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let workspace = Workspace::open(folder.path()).unwrap();
        let state = StateFolder::open(&workspace, "main").unwrap();
        let store = ActionStore::new().with_recorder(Arc::new(state.clone()));
        Self { folder, workspace, state, store: Arc::new(store) }
    }

    fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Every file and folder of the workspace with its mode, but for the state.
    fn tree(&self) -> BTreeMap<String, (u32, Option<Vec<u8>>)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let at = entry.unwrap().path();
                let name = at.strip_prefix(self.folder.path()).unwrap().display().to_string();
                if name == ".xd" {
                    continue;
                }
                let mode = fs::symlink_metadata(&at).unwrap().permissions().mode();
                let bytes = if at.is_dir() { None } else { Some(fs::read(&at).unwrap()) };
                found.insert(name, (mode, bytes));
                if at.is_dir() {
                    folders.push(at);
                }
            }
        }
        found
    }

    fn stage(&self, change_set: ChangeSet) -> u64 {
        let proposed = Proposed {
            label: "Edit: a change".to_owned(),
            source_tool_name: "edit".to_owned(),
            success: "Applied.".to_owned(),
            notes: vec!["A remark.".to_owned()],
            preview: change_set.unified(3),
            change_set,
        };
        let staged = self.store.stage(proposed.into_request(&self.workspace)).unwrap();
        staged.number().get()
    }

    fn apply(&self, n: u64) {
        let confirm = self.store.confirm(number(n), Verdict::Apply, WHY, Decider::Model);
        let resolution = block_on(confirm);
        assert!(matches!(resolution, Resolution::Ran { .. }), "{resolution:?}");
        assert_eq!(self.state_of(n), ActionState::Applied);
    }

    fn state_of(&self, n: u64) -> ActionState {
        self.store.get(number(n)).unwrap().1
    }

    fn undo(&self, direction: Direction, of: Option<u64>) -> Result<u64, UndoError> {
        let target = (direction, of.map(number));
        let undo = self.state.undo(&self.store, &self.workspace, target, WHY, Decider::Person);
        block_on(undo).map(|undone| undone.number.get())
    }
}

// CONTRACT F6: every kind of change, with modes, folders and bytes that are no text.
#[test]
fn f6_undo_restores_every_kind_of_change() {
    let place = Place::new();
    let edited = b"\xef\xbb\xbfone\r\ntwo\r\nlast".to_vec();
    place.put("edited.txt", &edited);
    place.put("replaced.bin", &[0, 159, 146, 150]);
    place.put("gone.txt", b"gone\n");
    place.put("deep/moved.txt", b"moved\n");
    place.put("run.sh", b"#!/bin/sh\n");
    let mode = |of: &str, mode| {
        let at = place.folder.path().join(of);
        fs::set_permissions(at, fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("edited.txt", 0o640);
    mode("gone.txt", 0o755);
    let before = place.tree();
    let mut builder = ChangeSet::builder(place.workspace.root());
    builder
        .edit(&path("edited.txt"), vec![ByteEdit::new(3..6, *b"ONE")])
        .replace(&path("replaced.bin"), vec![1u8, 0, 2])
        .delete(&path("gone.txt"))
        .rename(&path("deep/moved.txt"), &path("new/place.txt"))
        .create(&path("made/new.txt"), b"new\n".to_vec(), None)
        .set_mode(&path("run.sh"), 0o755);
    let n = place.stage(builder.build().unwrap());
    place.apply(n);
    let after = place.tree();
    assert_ne!(before, after);
    for _ in 0..3 {
        place.undo(Direction::Undo, Some(n)).unwrap();
        assert_eq!(place.tree(), before);
        place.undo(Direction::Redo, None).unwrap();
        assert_eq!(place.tree(), after);
    }
}

// CONTRACT F6, L1, E3: the log says what undoes what, also to the next process.
#[test]
fn f6_the_lineage_is_in_the_log_and_survives_a_restart() {
    let place = Place::new();
    place.put("a", b"1");
    let mut builder = ChangeSet::builder(place.workspace.root());
    builder.replace(&path("a"), b"2".to_vec());
    let n = place.stage(builder.build().unwrap());
    place.apply(n);
    let undo = place.undo(Direction::Undo, None).unwrap();
    let action = place.store.get(number(undo)).unwrap().0;
    assert_eq!(action.lineage(), Some(Lineage::Undoes(number(n))));
    let next = ActionStore::new();
    place.state.restore(&place.workspace, &next, None).unwrap();
    assert_eq!(next.get(number(undo)).unwrap().0.lineage(), Some(Lineage::Undoes(number(n))));
    let history = History::of(&place.state.log().unwrap());
    assert_eq!(history.target(Direction::Undo, None), Err(NoTarget::Nothing(Direction::Undo)));
    assert_eq!(history.target(Direction::Redo, None).unwrap().invert, number(undo));
    // A number may be that of the undo itself.
    assert_eq!(history.target(Direction::Redo, Some(number(undo))).unwrap().change, number(n));
}

/// Forbids every apply.
#[derive(Debug)]
struct Never;

impl Guard for Never {
    fn check(&self, _: &StagedAction, verdict: Verdict, _: Decider) -> Result<(), ToolResult> {
        match verdict {
            Verdict::Apply => Err(ToolResult::error("Not now.")),
            Verdict::Discard => Ok(()),
        }
    }
}

// CONTRACT W7: an undo goes no way round the policy, and leaves nothing pending.
#[test]
fn w7_an_undo_that_the_policy_forbids_is_discarded() {
    let place = Place::new();
    place.put("a", b"1");
    let mut builder = ChangeSet::builder(place.workspace.root());
    builder.replace(&path("a"), b"2".to_vec());
    let n = place.stage(builder.build().unwrap());
    place.apply(n);
    let strict = Arc::new(
        ActionStore::new().with_recorder(Arc::new(place.state.clone())).with_guard(Arc::new(Never)),
    );
    place.state.restore(&place.workspace, &strict, None).unwrap();
    let target = (Direction::Undo, None);
    let undo = place.state.undo(&strict, &place.workspace, target, WHY, Decider::Model);
    let error = block_on(undo).unwrap_err();
    assert!(matches!(&error, UndoError::Failed { message, .. } if message.contains("Not now.")));
    assert_eq!(fs::read(place.folder.path().join("a")).unwrap(), b"2");
    assert_eq!(strict.pending_count(), 0);
}

// CONTRACT F7
#[test]
fn f7_a_restage_supersedes_once() {
    let place = Place::new();
    place.put("a", b"one\n\n\n\ntwo\n");
    let mut builder = ChangeSet::builder(place.workspace.root());
    builder.edit(&path("a"), vec![ByteEdit::new(0..3, *b"ONE")]);
    let n = place.stage(builder.build().unwrap());
    place.put("a", b"one\n\n\n\ntwo\nthree\n");
    let restaged = block_on(restage(&place.store, &place.workspace, None, Decider::Model)).unwrap();
    let action = restaged.staged.action();
    assert_eq!(action.lineage(), Some(Lineage::Supersedes(number(n))));
    assert_eq!(action.details().unwrap()["notes"][0], "A remark.");
    assert_eq!(place.state_of(n), ActionState::Discarded);
    let again = block_on(restage(&place.store, &place.workspace, Some(number(n)), Decider::Model));
    assert!(matches!(again, Err(RestageFailure::NotPending { .. })), "{again:?}");
    place.apply(action.number().get());
    assert_eq!(fs::read(place.folder.path().join("a")).unwrap(), b"ONE\n\n\n\ntwo\nthree\n");
}

/// What an editor would have: which changes stand, and the order in which they last moved.
#[derive(Default)]
struct Editor {
    /// Number, whether it stands, when it last moved.
    changes: Vec<(u64, bool, usize)>,
    moves: usize,
}

impl Editor {
    fn last(&self, stands: bool) -> Option<usize> {
        let all = self.changes.iter().enumerate().filter(|(_, change)| change.1 == stands);
        all.max_by_key(|(_, change)| change.2).map(|(at, _)| at)
    }

    fn turn(&mut self, at: usize) {
        self.moves += 1;
        self.changes[at].1 ^= true;
        self.changes[at].2 = self.moves;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // Invariant W10: whatever was applied, undone and redone in whatever order, the files and the
    // history are those of an editor that counts turns.
    #[test]
    fn invariant_w10_a_change_stands_after_an_odd_number_of_turns(
        steps in prop::collection::vec((0u8..5, 0usize..6), 1..30),
    ) {
        let place = Place::new();
        let mut editor = Editor::default();
        for (step, pick) in steps {
            match step {
                // A change of a file of its own.
                0 | 1 => {
                    let name = format!("f{}", editor.changes.len());
                    place.put(&name, b"old");
                    let mut builder = ChangeSet::builder(place.workspace.root());
                    builder.replace(&path(&name), b"new".to_vec());
                    let n = place.stage(builder.build().unwrap());
                    place.apply(n);
                    editor.moves += 1;
                    editor.changes.push((n, true, editor.moves));
                }
                2 | 3 => {
                    let stands = step == 2;
                    let direction = if stands { Direction::Undo } else { Direction::Redo };
                    match (place.undo(direction, None), editor.last(stands)) {
                        (Ok(_), Some(at)) => editor.turn(at),
                        (Err(UndoError::NoTarget(NoTarget::Nothing(_))), None) => {}
                        (got, wanted) => panic!("{got:?} where {wanted:?} is due"),
                    }
                }
                _ => {
                    let Some(&(n, stands, _)) = editor.changes.get(pick) else { continue };
                    match place.undo(Direction::Undo, Some(n)) {
                        Ok(_) if stands => editor.turn(pick),
                        Err(UndoError::NoTarget(NoTarget::AlreadyUndone { .. })) if !stands => {}
                        got => panic!("{got:?} where it stands: {stands}"),
                    }
                }
            }
            for (at, (_, stands, _)) in editor.changes.iter().enumerate() {
                let text = fs::read(place.folder.path().join(format!("f{at}"))).unwrap();
                prop_assert_eq!(text.as_slice(), if *stands { b"new" } else { b"old" });
            }
        }
    }
}

fn scene() -> Bench {
    let text = "one\n\n\n\ntwo\n\n\n\nthree\n";
    Bench::with(&[("a.txt", text)], |builder| {
        let policy = Policy::automatic(Tier::Write);
        builder.policy(policy).device(restage_tool()).unwrap()
    })
}

// CONTRACT F7: what went stale is said with the way out, and the way goes.
#[test]
fn f7_a_model_restages_what_its_own_apply_made_stale() {
    block_on(async {
        let bench = scene();
        bench.edit("a.txt", "one", "ONE").await;
        bench.edit("a.txt", "three", "THREE").await;
        let applied = bench.write("xd://resolve@2", "The third first.").await;
        let said = applied.content.join("\n");
        assert!(said.contains("@1 is stale now"), "{said}");
        assert!(said.contains("Write {\"number\": 1} to xd://restage"), "{said}");
        let staged = bench.write("xd://restage", "{\"number\": 1}").await;
        assert!(!staged.is_error, "{staged:?}");
        assert!(staged.content[0].starts_with(notice::STAGED), "{staged:?}");
        assert!(staged.content[0].contains("It supersedes @1, which is discarded."));
        assert!(staged.content[0].contains("+ONE"), "{staged:?}");
        assert_eq!(bench.pending(), [3]);
        let gone = bench.write("xd://resolve@1", "Now.").await;
        assert!(gone.is_error && gone.content[0].contains("already discarded"), "{gone:?}");
        let done = bench.write("xd://resolve", "Now the first.").await;
        assert!(!done.is_error, "{done:?}");
        assert_eq!(bench.text("a.txt"), "ONE\n\n\n\ntwo\n\n\n\nTHREE\n");
    });
}

// CONTRACT F7, R3: every way in which there is nothing to restage is told, and stages nothing.
#[test]
fn f7_a_restage_that_cannot_be_is_told() {
    block_on(async {
        let bench = scene();
        let said = async |body: &str| {
            let answer = bench.write("xd://restage", body).await;
            assert!(answer.is_error, "{answer:?}");
            answer.content.join("\n")
        };
        assert!(said("{}").await.contains("nothing is pending"));
        assert!(said("{\"number\": 0}").await.contains("number"));
        assert!(said("{\"number\": 4}").await.contains("no staged action has number 4"));
        bench.edit("a.txt", "one", "ONE").await;
        assert!(said("{\"number\": 1}").await.contains("@1 is not stale"));
        bench.put("a.txt", "ones\n");
        assert!(
            said("{\"number\": 1}").await.contains("'a.txt' changed where the preview edits it")
        );
        assert_eq!(bench.pending(), [1]);
    });
}
