//! Folders and links swapped during the call (`CONTRACT W3`, cases 143 and 145).
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod tree;

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};

use tree::Tree;
use xd_changeset::{ByteEdit, ChangeSet, Options, RelPath, WriteOptions};

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
