//! Nothing outside the root is reachable, also where folders and links are swapped during the
//! call (`CONTRACT W3`, cases 143 and 145).
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod tree;

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use tree::Tree;
use xd_changeset::{
    ApplyError, BuildError, ByteEdit, ChangeSet, InvalidChangeSet, Options, PathError, RelPath,
    WriteOptions,
};

fn p(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

/// While one thread swaps a folder for a link to the outside and back, others write through it.
/// **Invariant C4:** nothing outside is ever touched.
#[test]
fn w3_c4_case_145_a_folder_swapped_during_the_call_leads_nowhere() {
    let outside = Tree::new(&[("sub/f", b"outside"), ("sub/keep", b"keep")]);
    let tree = Tree::new(&[("sub/f", b"inside"), ("g", b"g")]);
    let before = outside.snapshot();
    let root = tree.root();
    let quick = Options::new().durable(false);
    let done = AtomicBool::new(false);
    let (mut landed, mut refused) = (0, 0);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                fs::rename(tree.at("sub"), tree.at("aside")).unwrap();
                // A writer that finds no folder makes one, and the swap has to wait its turn.
                while symlink(outside.at("sub"), tree.at("sub")).is_err() {
                    let _ = fs::remove_dir_all(tree.at("sub"));
                }
                std::thread::yield_now();
                fs::remove_file(tree.at("sub")).unwrap();
                while fs::rename(tree.at("aside"), tree.at("sub")).is_err() {
                    let _ = fs::remove_dir_all(tree.at("sub"));
                }
                std::thread::yield_now();
            }
        });
        // At least so many rounds, and until the race was met from both sides.
        for round in 0.. {
            if round >= 400 && landed > 0 && refused > 0 {
                break;
            }
            assert!(round < 100_000, "{landed} landed, {refused} refused: the race was not met");
            let outcome = match round % 4 {
                0 => root
                    .write_atomic(&p("sub/f"), format!("{round}"), WriteOptions::new().apply(quick))
                    .is_ok(),
                1 => root
                    .write_atomic(
                        &p("sub/new/f"),
                        format!("{round}"),
                        WriteOptions::new().apply(quick),
                    )
                    .is_ok(),
                2 => ChangeSet::builder(&root)
                    .edit(&p("sub/f"), vec![ByteEdit::new(0..1, format!("<{round}>"))])
                    .replace(&p("g"), format!("{round}"))
                    .build()
                    .is_ok_and(|set| set.apply(&root, quick).is_ok()),
                _ => ChangeSet::builder(&root).rename(&p("g"), &p("sub/g")).build().is_ok_and(
                    |set| {
                        set.apply(&root, quick)
                            .is_ok_and(|_| set.inverse().apply(&root, quick).is_ok())
                    },
                ),
            };
            if outcome {
                landed += 1
            } else {
                refused += 1
            }
            assert_eq!(outside.snapshot(), before, "round {round}");
        }
        done.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
    });
    assert_eq!(outside.snapshot(), before);
}

#[test]
fn w3_a_leaf_swapped_for_a_link_is_not_followed() {
    let outside = Tree::new(&[("f", b"outside")]);
    let tree = Tree::new(&[("f", b"0")]);
    let before = outside.snapshot();
    let root = tree.root();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let swapper = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = fs::remove_file(tree.at("link"));
                symlink(outside.at("f"), tree.at("link")).unwrap();
                let _ = fs::rename(tree.at("link"), tree.at("f"));
                let _ = fs::remove_file(tree.at("f"));
                fs::write(tree.at("plain"), "0").unwrap();
                let _ = fs::rename(tree.at("plain"), tree.at("f"));
            }
        });
        for round in 0..400 {
            drop(root.write_atomic(
                &p("f"),
                format!("{round}"),
                WriteOptions::new().apply(Options::new().durable(false)),
            ));
            assert_eq!(outside.snapshot(), before, "round {round}");
        }
        done.store(true, Ordering::Relaxed);
        swapper.join().unwrap();
    });
}

/// Fast options: durability is the business of the crash tests.
fn quick() -> Options {
    Options::new().durable(false)
}

#[test]
fn w3_case_143_paths_that_lead_outside_are_refused_and_named() {
    let outside = Tree::new(&[("secret", b"s")]);
    let tree = Tree::new(&[("in/f", b"f")]);
    symlink(outside.at("secret"), tree.at("leaf")).unwrap();
    symlink(outside.at("not-yet"), tree.at("dangling")).unwrap();
    symlink(outside.path(), tree.at("folder")).unwrap();
    symlink("../../etc", tree.at("in/up")).unwrap();
    symlink("loop", tree.at("loop")).unwrap();
    let root = tree.root();
    let secret = outside.at("secret").display().to_string();
    for operand in [
        "../x",
        "in/../../x",
        "/etc/passwd",
        "leaf",
        "dangling",
        "folder/x",
        "in/up/passwd",
        "loop",
        &secret,
    ] {
        let error = root.relative(operand).unwrap_err();
        assert!(error.to_string().contains(operand), "{error}");
        if let Ok(path) = RelPath::new(operand) {
            assert!(ChangeSet::builder(&root).replace(&path, "!").build().is_err());
            assert!(root.write_atomic(&path, "!", Default::default()).is_err(), "{operand}");
            assert!(root.read(&path).is_err());
        }
    }
    assert!(matches!(root.relative("leaf"), Err(PathError::OutsideByLink { .. })));
    assert_eq!(outside.names(), ["secret"]);
    assert_eq!(outside.read("secret"), b"s");
    let inside = tree.at("in/f").display().to_string();
    for operand in ["in/f", "./in//f", "in/../in/f", &inside] {
        assert_eq!(root.relative(operand).unwrap().as_str(), "in/f", "{operand}");
    }
    assert!(matches!(root.relative("in/.."), Err(PathError::IsRoot { .. })));
    assert_eq!(root.relative_or_root(".").unwrap(), None);
}

#[test]
fn case_143_case_145_a_link_planted_after_staging_is_not_followed() {
    let outside = Tree::new(&[("f", b"old"), ("sub/f", b"old")]);
    let tree = Tree::new(&[("f", b"old"), ("sub/f", b"old")]);
    let root = tree.root();
    let leaf = ChangeSet::builder(&root).replace(&p("f"), "new").build().unwrap();
    let folder = ChangeSet::builder(&root).replace(&p("sub/f"), "new").build().unwrap();
    let create = ChangeSet::builder(&root).create(&p("sub/g"), "new", None).build().unwrap();
    fs::remove_file(tree.at("f")).unwrap();
    symlink(outside.at("f"), tree.at("f")).unwrap();
    fs::remove_dir_all(tree.at("sub")).unwrap();
    symlink(outside.at("sub"), tree.at("sub")).unwrap();
    let before = outside.snapshot();
    for set in [leaf, folder, create] {
        let error = set.apply(&root, quick()).unwrap_err();
        assert!(matches!(error, ApplyError::Stale(_)), "{error}");
    }
    assert_eq!(outside.snapshot(), before);
}

#[test]
fn the_state_folder_and_git_are_off_limits() {
    let tree = Tree::new(&[
        (".git/config", b"c"),
        (".xd/journal2", b"j"),
        ("sub/.git/x", b"x"),
        ("f", b"f"),
    ]);
    symlink(".git/config", tree.at("alias")).unwrap();
    let root = tree.root();
    for path in [".git/config", ".xd/journal2", "sub/.git/x", "alias", ".git/hooks/new", ".xd/new"]
    {
        let error = root.write_atomic(&p(path), "!", Default::default()).unwrap_err().to_string();
        assert!(error.contains("off limits"), "{path}: {error}");
    }
    let error = ChangeSet::builder(&root).rename(&p("f"), &p(".git/f")).build().unwrap_err();
    assert!(matches!(error, BuildError::Invalid(InvalidChangeSet::Protected(_))), "{error}");
    assert_eq!(tree.read(".git/config"), b"c");
}
