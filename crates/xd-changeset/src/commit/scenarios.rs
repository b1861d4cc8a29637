//! The change sets and file systems on which stops and faults are tried.

use std::io;
use std::sync::Arc;

use crate::disk::Disk as _;
use crate::disk::sim::{Quirks, SimDisk};
use crate::root::Root;
use crate::spill::Spill;
use crate::{Builder, ByteEdit, ChangeSet, Content, RelPath};

/// One change set on one disk.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// The disk before, everything on it safe.
    pub(super) disk: SimDisk,
    pub(super) set: ChangeSet,
}

pub(super) fn p(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

fn scenario(
    name: &'static str,
    quirks: Quirks,
    lay: impl Fn(&SimDisk),
    change: impl Fn(&mut Builder),
) -> Scenario {
    let disk = SimDisk::default();
    disk.make_folder(&p("src"), 0o777).unwrap();
    disk.make_folder(&p("src/sub"), 0o777).unwrap();
    for (path, bytes, mode) in [
        ("a", "alpha\nbeta\n", 0o644),
        ("b", "a somewhat longer content, in several blocks\r\n", 0o600),
        ("run", "#!/bin/sh\n", 0o755),
        ("src/c", "c", 0o644),
        ("src/d", "d without newline", 0o444),
        ("src/sub/e", "", 0o644),
    ] {
        disk.create(&p(path), bytes.as_bytes(), mode).unwrap();
    }
    lay(&disk);
    let mut builder = ChangeSet::builder(&Root::on(Arc::new(disk.clone())));
    change(&mut builder);
    let set = builder.build().unwrap();
    disk.settle();
    disk.with(|state| state.quirks = quirks);
    Scenario { name, disk, set }
}

fn plain(_: &SimDisk) {}

fn many(disk: &SimDisk, count: usize) {
    for n in 0..count {
        let folder = p(&format!("many{}", n % 3));
        if disk.stat(&folder).is_err() {
            disk.make_folder(&folder, 0o777).unwrap();
        }
        disk.create(
            &folder.join(&format!("f{n}")).unwrap(),
            format!("content {n}\n").as_bytes(),
            0o644,
        )
        .unwrap();
    }
}

fn replace_many(builder: &mut Builder, count: usize) {
    for n in 0..count {
        builder.replace(&p(&format!("many{}/f{n}", n % 3)), format!("new {n}"));
    }
}

/// A content as a large one is kept.
fn on_disk(text: &str) -> Content {
    Spill::private().fill::<io::Error>(|take| take(text.as_bytes())).unwrap()
}

/// Every operation at once.
fn mixed(builder: &mut Builder) {
    builder
        .edit(&p("a"), vec![ByteEdit::new(0..5, "ALPHA")])
        .replace(&p("src/d"), "other")
        .create(&p("src/new/deep/f"), "fresh", Some(0o640))
        .delete(&p("src/c"))
        .rename(&p("b"), &p("src/sub/b"))
        .set_mode(&p("run"), 0o700);
}

fn twins(disk: &SimDisk) {
    disk.link(&p("b"), &p("src/twin")).unwrap();
}

fn mount(disk: &SimDisk) {
    disk.make_folder(&p("mnt"), 0o777).unwrap();
    disk.create(&p("mnt/x"), b"x on another file system", 0o644).unwrap();
    disk.create(&p("mnt/run"), b"#!/bin/sh\n", 0o750).unwrap();
}

pub(super) fn all() -> Vec<Scenario> {
    let none = Quirks::default();
    let no_exchange = Quirks { no_exchange: true, ..none };
    let mounted = Quirks { mounted: Some("mnt"), ..none };
    let bare = Quirks { no_exchange: true, no_rename_new: true, ..none };
    vec![
        scenario("one edit", none, plain, |b| {
            b.edit(&p("a"), vec![ByteEdit::new(6..10, "BETA")]);
        }),
        scenario("one replacement by nothing", none, plain, |b| {
            b.replace(&p("b"), "");
        }),
        scenario("one replacement of nothing", none, plain, |b| {
            b.replace(&p("src/sub/e"), "no longer empty");
        }),
        scenario("one creation", none, plain, |b| {
            b.create(&p("n"), "n", None);
        }),
        scenario("creations in new folders", none, plain, |b| {
            b.create(&p("x/y/z/n"), "n", None).create(&p("x/y/m"), "m", Some(0o755)).create(
                &p("w/o"),
                "",
                None,
            );
        }),
        scenario("one deletion", none, plain, |b| {
            b.delete(&p("src/d"));
        }),
        scenario("every file deleted", none, plain, |b| {
            b.delete(&p("a"))
                .delete(&p("b"))
                .delete(&p("run"))
                .delete(&p("src/c"))
                .delete(&p("src/sub/e"));
        }),
        scenario("one move", none, plain, |b| {
            b.rename(&p("a"), &p("a2"));
        }),
        scenario("moves across folders", none, plain, |b| {
            b.rename(&p("a"), &p("src/sub/a"))
                .rename(&p("src/c"), &p("c"))
                .rename(&p("b"), &p("new/b"));
        }),
        scenario("a move with an edit and a mode", none, plain, |b| {
            b.rename(&p("a"), &p("src/a"))
                .edit(&p("a"), vec![ByteEdit::new(0..1, "A")])
                .set_mode(&p("a"), 0o600);
        }),
        scenario("two names exchanged", none, plain, |b| {
            b.rename(&p("a"), &p("b")).rename(&p("b"), &p("a"));
        }),
        scenario("a ring of three over two folders", none, plain, |b| {
            b.rename(&p("a"), &p("src/c"))
                .rename(&p("src/c"), &p("src/d"))
                .rename(&p("src/d"), &p("a"));
        }),
        scenario(
            "a chain of equal files",
            none,
            |disk| {
                disk.create(&p("e1"), b"equal", 0o644).unwrap();
                disk.create(&p("e2"), b"equal", 0o644).unwrap();
            },
            |b| {
                b.rename(&p("e1"), &p("e2")).rename(&p("e2"), &p("e3")).create(
                    &p("e1"),
                    "equal",
                    Some(0o644),
                );
            },
        ),
        scenario("a deleted name taken by a move, its own by a creation", none, plain, |b| {
            b.delete(&p("a")).rename(&p("b"), &p("a")).create(&p("b"), "new b", None);
        }),
        scenario("modes only", none, plain, |b| {
            b.set_mode(&p("a"), 0o600).set_mode(&p("run"), 0o644).set_mode(&p("src/sub/e"), 0o400);
        }),
        scenario("content and mode", none, plain, |b| {
            b.replace(&p("run"), "#!/bin/bash\n").set_mode(&p("run"), 0o700);
        }),
        scenario("a hard link grows", none, twins, |b| {
            b.replace(
                &p("b"),
                "a content that is a good deal longer than what was there before, by far\n",
            );
        }),
        scenario("a hard link shrinks and changes its mode", none, twins, |b| {
            b.replace(&p("src/twin"), "short").set_mode(&p("src/twin"), 0o640);
        }),
        scenario("hard links among others", none, twins, |b| {
            b.replace(&p("b"), "shared")
                .replace(&p("a"), "alone")
                .create(&p("n"), "n", None)
                .delete(&p("src/c"));
        }),
        scenario("a hard link deleted and one moved", none, twins, |b| {
            b.delete(&p("b")).rename(&p("src/twin"), &p("twin"));
        }),
        scenario(
            "links deleted, moved, and followed",
            none,
            |disk| {
                disk.create_link(&p("to-c"), "src/c").unwrap();
                disk.create_link(&p("to-a"), "a").unwrap();
            },
            |b| {
                b.delete(&p("to-c")).rename(&p("to-a"), &p("src/to-a")).replace(&p("src/c"), "C");
            },
        ),
        scenario("contents kept on disk", none, twins, |b| {
            b.replace(&p("a"), on_disk("new, and in pieces"))
                .replace(&p("src/d"), on_disk("of a file that nobody may write"))
                .replace(&p("b"), on_disk("of a file with two names"))
                .create(&p("new/n"), on_disk("created"), Some(0o400));
        }),
        scenario("mixed", none, plain, mixed),
        scenario("mixed with hard links", none, twins, |b| {
            mixed_but_b(b);
            b.replace(&p("b"), "in place");
        }),
        scenario("ten files", none, |disk| many(disk, 10), |b| replace_many(b, 10)),
        scenario("fifty files", none, |disk| many(disk, 50), |b| replace_many(b, 50)),
        scenario(
            "names cannot be exchanged",
            no_exchange,
            |disk| many(disk, 4),
            |b| replace_many(b, 4),
        ),
        scenario("mixed, plain renames only", bare, plain, mixed),
        scenario("names exchanged, plain renames only", bare, plain, |b| {
            b.rename(&p("a"), &p("b")).rename(&p("b"), &p("a")).replace(&p("src/c"), "C");
        }),
        scenario("moves to another file system and back", mounted, mount, |b| {
            b.rename(&p("a"), &p("mnt/a"))
                .rename(&p("mnt/run"), &p("from"))
                .rename(&p("mnt/x"), &p("src/new/x"))
                .edit(&p("mnt/x"), vec![ByteEdit::new(0..1, "X")])
                .rename(&p("b"), &p("mnt/new/b"));
        }),
        scenario("names exchanged between two file systems", mounted, mount, |b| {
            b.rename(&p("a"), &p("mnt/x")).rename(&p("mnt/x"), &p("a")).delete(&p("mnt/run"));
        }),
        scenario("a sealed folder", Quirks { sealed: Some("src/sub"), ..none }, plain, |b| {
            mixed_but_b(b);
            b.rename(&p("b"), &p("src/sub/b"));
        }),
        scenario(
            "a full disk",
            Quirks { room: Some(1400), ..none },
            |disk| many(disk, 6),
            |b| replace_many(b, 6),
        ),
        undone(),
    ]
}

/// Moves of equal files along a chain, and an edit of another.
pub(super) fn an_edit_beside_a_chain_of_equal_files() -> Scenario {
    let lay = |disk: &SimDisk| {
        for name in ["e1", "e2", "e3"] {
            disk.create(&p(name), b"equal", 0o644).unwrap();
        }
    };
    scenario("an edit beside a chain of equal files", Quirks::default(), lay, |b| {
        b.rename(&p("e1"), &p("e2"))
            .rename(&p("e2"), &p("e3"))
            .rename(&p("e3"), &p("e4"))
            .replace(&p("a"), "edited");
    })
}

/// Sets in which one name of a file is written and another one leaves, whatever their order.
pub(super) fn names_that_part() -> Vec<Scenario> {
    let none = Quirks::default();
    let bare = Quirks { no_exchange: true, no_rename_new: true, ..none };
    let early = |disk: &SimDisk| disk.link(&p("b"), &p("src/twin")).unwrap();
    let written = "written in place while its other name is on the way";
    let mut scenarios = Vec::new();
    for quirks in [none, bare] {
        scenarios.push(scenario("the first name written, the second moved", quirks, early, |b| {
            b.replace(&p("b"), written).rename(&p("src/twin"), &p("twin"));
        }));
        scenarios.push(scenario("the second name written, the first moved", quirks, early, |b| {
            b.replace(&p("src/twin"), written).rename(&p("b"), &p("b2"));
        }));
        scenarios.push(scenario(
            "the first name given a mode, the second moved",
            quirks,
            early,
            |b| {
                b.set_mode(&p("b"), 0o640).rename(&p("src/twin"), &p("twin"));
            },
        ));
        scenarios.push(scenario("one name written, the other in a chain", quirks, early, |b| {
            b.replace(&p("b"), written)
                .rename(&p("src/twin"), &p("a"))
                .rename(&p("a"), &p("src/twin"));
        }));
        scenarios.push(scenario("one name written, the other deleted", quirks, early, |b| {
            b.replace(&p("b"), written).delete(&p("src/twin"));
        }));
    }
    scenarios
}

fn mixed_but_b(builder: &mut Builder) {
    builder
        .edit(&p("a"), vec![ByteEdit::new(0..5, "ALPHA")])
        .create(&p("src/new/f"), "fresh", None)
        .delete(&p("src/c"))
        .rename(&p("src/d"), &p("d"))
        .set_mode(&p("run"), 0o700);
}

/// The undoing of a mixed set, which also removes folders.
fn undone() -> Scenario {
    let Scenario { disk, set, .. } = scenario("", Quirks::default(), plain, mixed);
    super::apply_locked_for_tests(&disk, &set).unwrap();
    disk.settle();
    Scenario { name: "a mixed set undone", disk, set: set.inverse() }
}
