//! Change sets on real files: staging, checking, applying, undoing.
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod tree;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use tree::Tree;
use xd_changeset::{
    ApplyError, BuildError, ByteEdit, ChangeSet, DriftKind, Options, RelPath, Verb,
};

fn p(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

/// Fast options: durability is the business of the crash tests.
fn quick() -> Options {
    Options::new().durable(false)
}

#[test]
fn f1_f2_mixed_set_lands_exactly_and_is_taken_back_exactly() {
    let tree = Tree::new(&[
        ("a", b"one\ntwo\n"),
        ("b", b"old"),
        ("c/d", b"gone"),
        ("m", b"moved"),
        ("x", b"#!/x\n"),
    ]);
    let root = tree.root();
    let set = ChangeSet::builder(&root)
        .edit(&p("a"), vec![ByteEdit::new(4..7, "TWO")])
        .replace(&p("b"), "new")
        .delete(&p("c/d"))
        .rename(&p("m"), &p("c/deep/er/m"))
        .create(&p("n/e/w"), "fresh", None)
        .set_mode(&p("x"), 0o755)
        .build()
        .unwrap();
    let verbs: Vec<_> = set.files().iter().map(|file| (file.path.to_string(), file.verb)).collect();
    let expect = [
        ("a", Verb::Edit),
        ("b", Verb::Replace),
        ("c/d", Verb::Delete),
        ("c/deep/er/m", Verb::Move),
        ("n/e/w", Verb::Create),
        ("x", Verb::SetMode),
    ];
    assert_eq!(verbs, expect.map(|(path, verb)| (path.to_owned(), verb)));
    let before = tree.snapshot();
    set.check(&root).unwrap();
    assert_eq!(tree.snapshot(), before);

    for options in [Options::new(), quick()] {
        let applied = set.apply(&root, options).unwrap();
        assert!(!applied.leftovers);
        assert_eq!(tree.read("a"), b"one\nTWO\n");
        assert_eq!(tree.read("b"), b"new");
        assert!(!tree.exists("c/d"));
        assert!(!tree.exists("m"));
        assert_eq!(tree.read("c/deep/er/m"), b"moved");
        assert_eq!(tree.read("n/e/w"), b"fresh");
        assert_eq!(tree.mode("x"), 0o755);
        let undo = set.undo_of(&applied).unwrap();
        undo.apply(&root, options).unwrap();
        assert_eq!(tree.snapshot(), before, "F6: exactly what was there");
    }
}

#[test]
fn f2_case_003_case_005_stale_target_writes_nothing() {
    type Meanwhile = fn(&Tree);
    let drifts: [(&str, Meanwhile); 7] = [
        ("changed", |tree| tree.write("b", b"old\nand more")),
        ("no longer exists", |tree| fs::remove_file(tree.at("b")).unwrap()),
        ("exists now", |tree| tree.write("new", b"mine")),
        ("mode", |tree| {
            fs::set_permissions(tree.at("b"), fs::Permissions::from_mode(0o600)).unwrap()
        }),
        ("is a folder", |tree| {
            fs::remove_file(tree.at("b")).unwrap();
            fs::create_dir(tree.at("b")).unwrap();
        }),
        ("changed", |tree| tree.write("b", b"\xef\xbb\xbfold")),
        ("changed", |tree| tree.write("b", b"ol\xff")),
    ];
    for (says, drift) in drifts {
        let tree = Tree::new(&[("a", b"aaa"), ("b", b"old"), ("c", b"ccc"), ("d", b"ddd")]);
        let root = tree.root();
        let set = ChangeSet::builder(&root)
            .replace(&p("a"), "A")
            .edit(&p("b"), vec![ByteEdit::new(0..1, "O")])
            .delete(&p("c"))
            .rename(&p("d"), &p("e"))
            .create(&p("new"), "n", None)
            .build()
            .unwrap();
        drift(&tree);
        let before = tree.snapshot();
        let error = set.apply(&root, quick()).unwrap_err();
        let ApplyError::Stale(stale) = &error else { panic!("{error}") };
        assert_eq!(stale.drifts.len(), 1);
        assert!(error.to_string().contains(says), "{error}");
        assert!(error.to_string().contains(stale.drifts[0].path.as_str()));
        assert_eq!(tree.snapshot(), before, "not a byte, and no state folder either");
    }
}

#[test]
fn f2_every_stale_path_is_named() {
    let tree = Tree::new(&[("a", b"1\n2\n3\n"), ("b", b"b"), ("c", b"c")]);
    let root = tree.root();
    let set = ChangeSet::builder(&root)
        .delete(&p("a"))
        .replace(&p("b"), "B")
        .rename(&p("c"), &p("d"))
        .build()
        .unwrap();
    tree.write("a", b"1\n2!\n3\n");
    fs::remove_file(tree.at("b")).unwrap();
    tree.write("d", b"d");
    let stale = set.check(&root).unwrap_err();
    let paths: Vec<_> = stale.drifts.iter().map(|drift| drift.path.as_str()).collect();
    assert_eq!(paths, ["a", "b", "d"]);
    assert!(
        matches!(&stale.drifts[0].what, DriftKind::Content { lines, .. } if lines == "line 2 changed")
    );
    assert!(matches!(stale.drifts[1].what, DriftKind::Vanished));
    assert!(matches!(stale.drifts[2].what, DriftKind::Appeared));
}

#[test]
fn f2_a_touched_file_is_not_stale() {
    let tree = Tree::new(&[("a", b"aaa")]);
    let root = tree.root();
    let set = ChangeSet::builder(&root).replace(&p("a"), "A").build().unwrap();
    tree.write("a", b"bbb");
    tree.write("a", b"aaa");
    set.apply(&root, quick()).unwrap();
    assert_eq!(tree.read("a"), b"A");
}

#[test]
fn f5_case_017_creating_over_something_is_refused_at_both_moments() {
    let tree = Tree::new(&[("x", b"x"), ("dir/y", b"y")]);
    let root = tree.root();
    for path in ["x", "dir"] {
        let error = ChangeSet::builder(&root).create(&p(path), "n", None).build().unwrap_err();
        assert!(matches!(error, BuildError::Exists { .. }), "{error}");
        let error = ChangeSet::builder(&root).rename(&p("dir/y"), &p(path)).build().unwrap_err();
        assert!(matches!(error, BuildError::Exists { .. }), "{error}");
    }
    let set = ChangeSet::builder(&root).create(&p("late"), "n", None).build().unwrap();
    symlink("nowhere", tree.at("late")).unwrap();
    assert!(matches!(set.apply(&root, quick()), Err(ApplyError::Stale(_))));
    assert_eq!(fs::read_link(tree.at("late")).unwrap().to_str(), Some("nowhere"));
}

#[test]
fn f5_case_009_overlapping_edits_are_refused_when_staging() {
    let tree = Tree::new(&[("x", b"0123456789")]);
    let root = tree.root();
    let mut builder = ChangeSet::builder(&root);
    builder
        .edit(&p("x"), vec![ByteEdit::new(0..5, "a")])
        .edit(&p("x"), vec![ByteEdit::new(4..6, "b")]);
    let error = builder.build().unwrap_err().to_string();
    assert!(error.contains("'x'") && error.contains("0..5") && error.contains("4..6"), "{error}");
    let mut builder = ChangeSet::builder(&root);
    builder
        .edit(&p("x"), vec![ByteEdit::new(0..1, "a")])
        .edit(&p("x"), vec![ByteEdit::new(9..10, "b")]);
    builder.build().unwrap().apply(&root, quick()).unwrap();
    assert_eq!(tree.read("x"), b"a12345678b");
}

#[test]
fn s6_case_025_what_changes_nothing_is_left_out() {
    let tree = Tree::new(&[("x", b"same"), ("y", b"y")]);
    let root = tree.root();
    let set = ChangeSet::builder(&root)
        .edit(&p("x"), vec![ByteEdit::new(0..4, "same")])
        .replace(&p("y"), "y")
        .build()
        .unwrap();
    assert!(set.is_empty());
    set.apply(&root, quick()).unwrap();
    assert!(!tree.exists(".xd"));
}

#[test]
fn case_013_one_bad_target_and_nothing_is_staged() {
    let tree = Tree::new(&[("n2", b"x")]);
    let root = tree.root();
    let before = tree.snapshot();
    let mut builder = ChangeSet::builder(&root);
    builder.create(&p("n1"), "n1", None).edit(&p("n2"), vec![ByteEdit::new(5..9, "")]);
    let error = builder.build().unwrap_err();
    assert!(error.to_string().contains("n2"), "{error}");
    assert_eq!(tree.snapshot(), before);
}

#[test]
fn case_019_case_031_a_second_apply_is_stale_by_the_disk_alone() {
    let tree = Tree::new(&[("f", b"1")]);
    let root = tree.root();
    let set =
        ChangeSet::builder(&root).create(&p("x"), "n", None).replace(&p("f"), "2").build().unwrap();
    set.apply(&root, quick()).unwrap();
    assert!(matches!(set.apply(&root, quick()), Err(ApplyError::Stale(_))));
    fs::remove_file(tree.at("x")).unwrap();
    assert!(matches!(set.apply(&root, quick()), Err(ApplyError::Stale(_))), "'f' still differs");
    assert!(!tree.exists("x"));
}

#[test]
fn case_029_staging_touches_nothing() {
    let tree = Tree::new(&[("f", b"user text"), ("g", b"g")]);
    let root = tree.root();
    let before = tree.snapshot();
    let times = fs::metadata(tree.at("f")).map(|m| (m.mtime_nsec(), m.ctime_nsec())).unwrap();
    let set = ChangeSet::builder(&root).replace(&p("f"), "mine").delete(&p("g")).build().unwrap();
    drop(set);
    assert_eq!(tree.snapshot(), before);
    assert_eq!(
        fs::metadata(tree.at("f")).map(|m| (m.mtime_nsec(), m.ctime_nsec())).unwrap(),
        times
    );
}

#[test]
fn f6_undo_refuses_where_something_changed_since() {
    let tree = Tree::new(&[("a", b"a"), ("b", b"b")]);
    let root = tree.root();
    let set =
        ChangeSet::builder(&root).replace(&p("a"), "A").replace(&p("b"), "B").build().unwrap();
    set.apply(&root, quick()).unwrap();
    tree.write("b", b"B and more");
    let before = tree.snapshot();
    let error = set.inverse().apply(&root, quick()).unwrap_err();
    assert!(error.to_string().contains("'b'"), "{error}");
    assert_eq!(tree.snapshot(), before);
}

#[test]
fn f7_after_one_set_another_of_the_same_file_is_stale() {
    let tree = Tree::new(&[("a", b"a b"), ("c", b"c")]);
    let root = tree.root();
    let lower =
        ChangeSet::builder(&root).edit(&p("a"), vec![ByteEdit::new(0..1, "A")]).build().unwrap();
    let upper =
        ChangeSet::builder(&root).edit(&p("a"), vec![ByteEdit::new(2..3, "B")]).build().unwrap();
    let apart = ChangeSet::builder(&root).replace(&p("c"), "C").build().unwrap();
    assert!(upper.touches(&lower) && !upper.touches(&apart));
    upper.apply(&root, quick()).unwrap();
    assert!(lower.check(&root).is_err());
    apart.apply(&root, quick()).unwrap();
    assert_eq!(tree.read("a"), b"a B");
}

#[test]
fn names_are_exchanged_and_passed_on() {
    let tree = Tree::new(&[("a", b"A"), ("b", b"B"), ("c", b"C")]);
    let root = tree.root();
    let before = tree.snapshot();
    let set = ChangeSet::builder(&root)
        .rename(&p("a"), &p("b"))
        .rename(&p("b"), &p("c"))
        .rename(&p("c"), &p("a"))
        .build()
        .unwrap();
    set.apply(&root, quick()).unwrap();
    assert_eq!(
        (tree.read("a"), tree.read("b"), tree.read("c")),
        (b"C".to_vec(), b"A".to_vec(), b"B".to_vec())
    );
    set.inverse().apply(&root, quick()).unwrap();
    assert_eq!(tree.snapshot(), before);
    let set = ChangeSet::builder(&root)
        .delete(&p("a"))
        .rename(&p("b"), &p("a"))
        .create(&p("b"), "N", None)
        .build()
        .unwrap();
    set.apply(&root, quick()).unwrap();
    assert_eq!((tree.read("a"), tree.read("b")), (b"B".to_vec(), b"N".to_vec()));
    set.inverse().apply(&root, quick()).unwrap();
    assert_eq!(tree.snapshot(), before);
}

#[test]
fn a_rename_takes_its_edits_along_and_a_case_only_rename_works() {
    let tree = Tree::new(&[("old.rs", b"fn a() {}\n")]);
    let root = tree.root();
    let set = ChangeSet::builder(&root)
        .rename(&p("old.rs"), &p("New.rs"))
        .edit(&p("old.rs"), vec![ByteEdit::new(3..4, "b")])
        .set_mode(&p("old.rs"), 0o640)
        .build()
        .unwrap();
    set.apply(&root, quick()).unwrap();
    assert_eq!((tree.read("New.rs"), tree.mode("New.rs")), (b"fn b() {}\n".to_vec(), 0o640));
    ChangeSet::builder(&root)
        .rename(&p("New.rs"), &p("new.rs"))
        .build()
        .unwrap()
        .apply(&root, quick())
        .unwrap();
    assert_eq!(tree.names(), ["new.rs"]);
}

#[test]
fn edit_from_binds_to_what_the_producer_saw() {
    let tree = Tree::new(&[("f", b"one two")]);
    let root = tree.root();
    let seen = root.read(&p("f")).unwrap();
    tree.write("f", b"ONE two");
    let mut builder = ChangeSet::builder(&root);
    builder.edit_from(&p("f"), seen.clone(), vec![ByteEdit::new(4..7, "2")]);
    match builder.build() {
        Err(BuildError::ChangedSinceRead(_)) => {}
        Ok(set) => {
            assert!(set.check(&root).is_err(), "bound to the bytes seen, not to the present ones")
        }
        Err(error) => panic!("{error}"),
    }
    tree.write("f", b"longer now");
    let error = ChangeSet::builder(&root).edit_from(&p("f"), seen, vec![]).build().unwrap_err();
    assert!(matches!(error, BuildError::ChangedSinceRead(_)));
}

#[test]
fn f8_a_commit_waits_for_the_lock_a_bounded_time_and_says_who_holds_it() {
    let tree = Tree::new(&[("f", b"f")]);
    let root = tree.root();
    let set = ChangeSet::builder(&root).replace(&p("f"), "F").build().unwrap();
    fs::create_dir(tree.at(".xd")).unwrap();
    let holder = fs::File::create(tree.at(".xd/lock")).unwrap();
    holder.lock().unwrap();
    fs::write(tree.at(".xd/lock"), "4242\n").unwrap();
    let start = std::time::Instant::now();
    let error =
        set.apply(&root, quick().lock_wait(std::time::Duration::from_millis(50))).unwrap_err();
    assert!(start.elapsed() < std::time::Duration::from_secs(3));
    assert!(matches!(&error, ApplyError::Locked(locked) if locked.holder == Some(4242)), "{error}");
    assert!(error.to_string().contains("4242"));
    assert_eq!(tree.read("f"), b"f");
    drop(holder);
    set.apply(&root, quick()).unwrap();
    assert_eq!(tree.read(".xd/.gitignore"), b"*\n");
}

/// The number of a process that is no more, in a lock that nobody holds: it is not waited for.
#[test]
fn f8_a_stale_lock_is_recognised() {
    let tree = Tree::new(&[("f", b"f")]);
    let root = tree.root();
    let set = ChangeSet::builder(&root).replace(&p("f"), "F").build().unwrap();
    fs::create_dir(tree.at(".xd")).unwrap();
    let mut dead = std::process::Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    fs::write(tree.at(".xd/lock"), format!("{}\n", dead.id())).unwrap();
    set.apply(&root, quick().lock_wait(std::time::Duration::ZERO)).unwrap();
    assert_eq!(tree.read("f"), b"F");
    assert_eq!(tree.read(".xd/lock"), format!("{}\n", std::process::id()).as_bytes());
}

#[test]
fn case_151_of_many_writers_of_one_file_each_wins_or_says_so() {
    let tree = Tree::new(&[("f", b"00000000")]);
    let root = tree.root();
    for _ in 0..20 {
        tree.write("f", b"00000000");
        let sets: Vec<_> = (0..8)
            .map(|i| {
                ChangeSet::builder(&root)
                    .edit(&p("f"), vec![ByteEdit::new(i..i + 1, "1")])
                    .build()
                    .unwrap()
            })
            .collect();
        let wins: usize = std::thread::scope(|scope| {
            let runs: Vec<_> =
                sets.iter().map(|set| scope.spawn(|| set.apply(&root, quick()).is_ok())).collect();
            runs.into_iter().map(|run| usize::from(run.join().unwrap())).sum()
        });
        let ones = tree.read("f").iter().filter(|byte| **byte == b'1').count();
        assert_eq!((wins, ones), (1, 1));
    }
}

#[test]
fn a_stored_set_is_checked_again() {
    let tree = Tree::new(&[("f", b"caf\xe9"), ("g", b"g")]);
    let root = tree.root();
    let set = ChangeSet::builder(&root)
        .edit(&p("f"), vec![ByteEdit::new(0..1, "C")])
        .rename(&p("g"), &p("h/i"))
        .build()
        .unwrap();
    let stored = serde_json::to_string(&set).unwrap();
    assert_eq!(serde_json::from_str::<ChangeSet>(&stored).unwrap(), set);
    for (from, to) in [
        ("\"h/i\"", "\"../i\""),
        ("\"h/i\"", "\".git/i\""),
        ("\"h/i\"", "\"f\""),
        ("\"start\":0,\"end\":1", "\"start\":0,\"end\":9"),
        ("\"mode\":", "\"mode\":9"),
        ("\"before\":\"g\"", "\"before\":\"other\""),
    ] {
        assert!(stored.contains(from), "{from} in {stored}");
        let broken = stored.replace(from, to);
        assert!(serde_json::from_str::<ChangeSet>(&broken).is_err(), "C1: {to} was believed");
    }
}

/// What an earlier commit had to leave beside a file, or anybody put there, is never in the way of
/// a later one and never taken for its own, whatever numbers the two processes have.
#[test]
fn c3_what_is_kept_beside_a_file_is_left_alone() {
    let tree = Tree::new(&[("a", b"one"), ("b", b"two")]);
    let root = tree.root();
    let me = std::process::id();
    for commit in 0..64 {
        for n in 0..4 {
            tree.write(&format!(".xd-{me:x}-{commit:x}-{n}"), b"kept");
        }
    }
    let before = tree.snapshot();
    let set = ChangeSet::builder(&root).replace(&p("a"), "ONE").delete(&p("b")).build().unwrap();
    set.apply(&root, quick()).unwrap();
    set.inverse().apply(&root, quick()).unwrap();
    assert_eq!(tree.snapshot(), before);
}

/// A journal that cannot be read is damage, and never a commit that had done nothing: everything
/// stays as it is, in every operation, and the way out is named.
#[test]
fn c3_a_damaged_journal_is_said_and_nothing_is_touched() {
    let tree = Tree::new(&[("f", b"f")]);
    let root = tree.root();
    let set = ChangeSet::builder(&root).replace(&p("f"), "F").build().unwrap();
    set.apply(&root, quick()).unwrap();
    let noise: Vec<u8> =
        (0..1_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for journal in [&noise[..], b"", b"\nnot a record\n"] {
        tree.write(".xd/journal", journal);
        let wait = std::time::Duration::ZERO;
        let errors = [
            root.recover(wait).unwrap_err().to_string(),
            root.interrupted().unwrap_err().to_string(),
            set.inverse().apply(&root, quick()).unwrap_err().to_string(),
            ChangeSet::builder(&root).delete(&p("f")).build().unwrap_err().to_string(),
        ];
        for error in errors {
            assert!(error.contains("damaged") && error.contains("remove '.xd/journal'"), "{error}");
        }
        assert_eq!((tree.read("f"), tree.read(".xd/journal")), (b"F".to_vec(), journal.to_vec()));
    }
    fs::remove_file(tree.at(".xd/journal")).unwrap();
    // One that was only begun did nothing.
    tree.write(".xd/journal.new", &noise);
    assert!(root.is_interrupted());
    let recovery = root.recover(std::time::Duration::ZERO).unwrap().unwrap();
    assert_eq!(recovery.outcome, xd_changeset::RecoveryOutcome::NotBegun);
    assert!(!tree.exists(".xd/journal.new") && !root.is_interrupted());
    set.inverse().apply(&root, quick()).unwrap();
}
