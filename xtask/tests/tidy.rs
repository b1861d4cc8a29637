//! The tidiness checks are able to fail, each on a small input.

use xtask::numbered::Lists;
use xtask::test_index::TestIndex;
use xtask::tidy::{files, layout, numbers, places, sentences};
use xtask::{Finding, Tree};

fn tree(files: &[(&str, &str)]) -> Tree {
    Tree::from_files(files.iter().copied())
}

fn check(found: Vec<Finding>, expect: &[&str]) {
    let found: Vec<_> =
        found.into_iter().map(|finding| format!("{}: {}", finding.place, finding.what)).collect();
    assert_eq!(found, expect);
}

#[test]
fn sources_begin_with_what_they_are_for() {
    let found = files::first_lines(&tree(&[
        ("crates/a/src/good.rs", "//! Good.\n"),
        ("crates/a/src/bare.rs", "fn a() {}\n"),
        ("crates/a/src/blank.rs", "\n//! Late.\n"),
        ("crates/a/src/empty.rs", "//!\n//! Nothing said first.\n"),
        ("crates/a/build.rs", "fn main() {}\n"),
        ("crates/a/sample/x.rs", "fn a() {}\n"),
    ]));
    check(
        found,
        &[
            "crates/a/src/bare.rs:1: the first line is no `//!` line",
            "crates/a/src/blank.rs:1: the first line is no `//!` line",
            "crates/a/src/empty.rs:1: the first line is no `//!` line",
        ],
    );
}

#[test]
fn long_files_are_split_or_excused() {
    let lines = |count: usize| "x\n".repeat(count);
    let tests = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", lines(400), lines(300));
    let tree = Tree::from_files([
        ("a/src/fits.rs", lines(500)),
        ("a/src/long.rs", lines(501)),
        ("a/src/excused.rs", lines(501)),
        ("a/src/huge.rs", lines(801)),
        ("a/src/tested.rs", tests),
        ("a/tests/long.rs", lines(800)),
        ("a/tests/huge.rs", lines(801)),
    ]);
    let exceptions = [("a/src/excused.rs", "one table"), ("a/src/fits.rs", "no longer")];
    check(
        files::sizes_with(&tree, &exceptions),
        &[
            "a/src/huge.rs: has 801 lines, and 800 is the most",
            "a/src/long.rs: has 501 lines without its tests, and 500 is a lot",
            "a/tests/huge.rs: has 801 lines, and 800 is the most",
            "a/src/fits.rs: is listed as a long file and is none",
        ],
    );
}

#[test]
fn modules_are_named_after_something() {
    let found = files::module_names(&tree(&[
        ("a/src/utils.rs", "//! A.\n"),
        ("a/tests/common/mod.rs", "//! A.\n"),
        ("a/src/lib.rs", "//! A.\nmod types { }\n// mod helpers { }\nmod commonly { }\n"),
        ("a/src/typed.rs", "//! A.\n"),
    ]));
    check(
        found,
        &[
            "a/src/lib.rs:2: a module named `types`",
            "a/src/utils.rs: a module named `utils`",
            "a/tests/common/mod.rs: a module named `common`",
        ],
    );
}

#[test]
fn lines_do_not_end_in_blanks() {
    let found = files::trailing_whitespace(&tree(&[
        ("a.rs", "//! A. \nfn a() {}\n"),
        ("b.md", "b\t\n"),
        ("c.toml", "c = 1\r\n"),
        ("d.snap", "d \n"),
        ("tests/scenarios/one/input/e.rs", "e \n"),
    ]));
    let what = "the line ends in whitespace";
    check(
        found,
        &[&format!("a.rs:1: {what}"), &format!("b.md:1: {what}"), &format!("c.toml:1: {what}")],
    );
}

#[test]
fn nothing_is_left_for_later() {
    let source = "//! A.\n// TODO: finish\nconst A: &str = \"TODO\";\nfn todo() {} // FIXME\n";
    let found = files::unfinished(&tree(&[("a.rs", source)]));
    check(found, &["a.rs:2: a comment says TODO", "a.rs:4: a comment says FIXME"]);
}

#[test]
fn the_top_level_is_exactly_the_rooms() {
    let whole: Vec<String> = layout::TOP_LEVEL.iter().map(|name| format!("{name}/x")).collect();
    let mut files: Vec<(&str, &str)> = whole.iter().map(|path| (path.as_str(), "")).collect();
    files.push(("LICENSE-MIT", ""));
    check(layout::top_level(&tree(&files)), &[]);
    files.push((".github/x", ""));
    files.retain(|(path, _)| *path != "LICENSE-MIT" && *path != "docs/x");
    check(
        layout::top_level(&tree(&files)),
        &[
            ".github: does not belong at the top level",
            "docs: is missing at the top level",
            "LICENSE: is missing at the top level",
        ],
    );
}

#[test]
fn readme_gives_the_commands_of_the_gate() {
    let gate = "# cargo test is the gate\nstep 'tests' cargo test --workspace --locked\n";
    let readme =
        "# xd\n```console\n$ cargo run -- demo\n$ cargo test --workspace --locked  # all\n```\n";
    check(layout::readme_commands(&tree(&[(".ci/run", gate), ("README.md", readme)])), &[]);
    let prose = readme.replace("$ cargo run -- demo\n", "").replace("# xd", "cargo run -- demo");
    let other = prose.replace("--locked", "");
    check(
        layout::readme_commands(&tree(&[(".ci/run", gate), ("README.md", &other)])),
        &[
            "README.md: does not give the command `cargo run -- demo` that .ci/run runs",
            "README.md: does not give the command `cargo test --workspace --locked` that .ci/run runs",
        ],
    );
    let found =
        layout::readme_commands(&tree(&[(".ci/run", "# cargo test\n"), ("README.md", readme)]));
    check(found, &[".ci/run: runs no `cargo test`"]);
}

#[test]
fn packages_come_from_the_public_registry() {
    let public = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
    let lock = format!("{public}source = \"git+https://example.com/a#1\"\n");
    check(
        layout::package_sources(&tree(&[("Cargo.lock", &lock)])),
        &["Cargo.lock:2: a package comes from git+https://example.com/a#1"],
    );
}

#[test]
fn cited_numbers_stand_in_the_lists() {
    let tree = tree(&[
        ("docs/PROTOCOL.md", "## U. A\n- **U1** One.\n- **U2** Two.\n"),
        ("docs/CASES.md", "## Class 1\n- **case 5** Five.\n"),
        ("docs/OTHER.md", "See CONTRACT U7.\n"),
        (
            "a/src/lib.rs",
            "//! A (`CONTRACT U9`), in case 3 of them.\nconst A: &str = \"CONTRACT U8\";\n\
             #[test]\nfn u2_u3_case_005_case_007() { a(); }\n\
             #[test]\nfn b() {\n    // case 9\n    a();\n}\n",
        ),
    ]);
    let found = numbers::cited_numbers_exist(&tree, &Lists::read(&tree), &TestIndex::read(&tree));
    check(
        found,
        &[
            "a/src/lib.rs:1: cites statement U9, which docs/PROTOCOL.md does not have",
            "a/src/lib.rs:4: cites case 7, which docs/CASES.md does not have",
            "a/src/lib.rs:4: cites statement U3, which docs/PROTOCOL.md does not have",
            "a/src/lib.rs:6: cites case 9, which docs/CASES.md does not have",
            "docs/OTHER.md:1: cites statement U7, which docs/PROTOCOL.md does not have",
        ],
    );
}

#[test]
fn the_lists_are_whole_and_in_order() {
    let protocol = "## U. A\n- **U2** Two.\n- **U1** One.\n- **U12** New.\n- **U1** Again.\n";
    let lists = Lists::read(&tree(&[("docs/PROTOCOL.md", protocol)]));
    let found: Vec<_> = lists.check().into_iter().map(|finding| finding.what).collect();
    let disordered = "a number is repeated or out of order";
    assert_eq!(found[..2], [disordered, disordered]);
    assert_eq!(found[2], "statement S1 is missing".replace("S1", "A1"));
    assert!(found.contains(&"statement V5 is missing".to_owned()));
    assert!(!found.contains(&"statement U1 is missing".to_owned()));
    assert!(found.contains(&"statement U12 is not among those that xtask knows".to_owned()));
    assert!(found.contains(&"there is no list of cases".to_owned()));
}

#[test]
fn invariants_are_declared_where_they_belong_and_exercised() {
    let tree = tree(&[
        ("docs/ARCHITECTURE.md", "**Invariant R1:** once.\n**Invariant R2:** twice.\n"),
        (
            "crates/xd-resolve/src/lib.rs",
            "//! **Invariant R1:** once.\n//! **Invariant P1:** no.\n",
        ),
        ("crates/xd-write/src/lib.rs", "//! **Invariant Z1:** none.\n"),
        (
            "tests/tests/a.rs",
            "//! Invariant R2 in passing.\n#[test]\nfn invariant_r1_once() { a(); }\n\
             // Invariant R3\n#[test]\nfn b() { a(); }\n",
        ),
    ]);
    check(
        numbers::invariants(&tree, &TestIndex::read(&tree)),
        &[
            "crates/xd-resolve/src/lib.rs:2: invariant P1 is declared outside crates/xd-protocol/",
            "crates/xd-write/src/lib.rs:1: invariant Z1 has a letter of no crate",
            "docs/ARCHITECTURE.md:2: invariant R2 is exercised by no test",
            "tests/tests/a.rs:6: names invariant R3, which is declared nowhere",
        ],
    );
}

#[test]
fn paths_of_one_machine_are_found_and_others_are_not() {
    let folders = ["/build/xd".to_owned(), "/build/other".to_owned()];
    let home = format!("cd /{}/ada/xd\n", "home");
    let tree = tree(&[
        ("a.md", &home),
        ("b.rs", "//! In `/build/xd/docs`.\n// target/build/xd, /build/xdx, ./build/xd\n"),
        ("c.toml", "path = \"/build/other\"\n"),
    ]);
    check(
        places::machine_paths(&tree, &folders),
        &[
            &format!("a.md:1: names `/{}/`, a path of one machine", "home"),
            "b.rs:1: names `/build/xd`, a path of one machine",
            "c.toml:1: names `/build/other`, a path of one machine",
        ],
    );
}

#[test]
fn the_folders_beside_the_checkout_are_known_but_not_those_for_temporary_files() {
    let root = std::env::temp_dir().join(format!("xtask-beside-{}", std::process::id()));
    std::fs::create_dir_all(root.join("one")).unwrap();
    std::fs::create_dir_all(root.join("two")).unwrap();
    let found = places::neighbours(&root.join("one"));
    let temporary = places::neighbours(&root);
    std::fs::remove_dir_all(&root).unwrap();
    let path = |name: &str| root.join(name).to_str().unwrap().to_owned();
    assert_eq!(found, [path("one"), path("two")]);
    assert!(temporary.is_empty());
}

#[test]
fn front_pages_are_short_and_without_logic() {
    let long = format!("//! A.\n{}", "//!\n".repeat(150));
    let logic = "//! A, `fn a()`.\npub use a::*;\npub use b::{C, D};\npub fn e() {}\n\
                 #[cfg(test)]\nmod tests { fn f() {} }\n";
    let other = "//! A.\npub fn e() {}\n";
    let found = files::front_pages(&tree(&[
        ("a/src/lib.rs", &long),
        ("b/src/lib.rs", logic),
        ("b/src/c.rs", other),
    ]));
    check(
        found,
        &[
            "a/src/lib.rs: has 151 lines, and a front page has at most 150",
            "b/src/lib.rs:2: a re-export without names",
            "b/src/lib.rs:4: a front page with logic",
        ],
    );
}

#[test]
fn the_sentences_of_the_protocol_are_those_of_the_code() {
    let protocol = "## A. B\n- **U8** `It is not mounted here.`\n- **S5** `The store is not there.`\n\
                    - **G5** `Call it as it was said.`\n- **P1** `No plan is waiting now.`\n";
    let source = "//! The store is not there.\nconst A: &str = \"It is \\\n    not mounted here.\";\n\
                  #[cfg(test)]\nmod tests { const A: &str = \"The store is not there.\"; }\n";
    let tree = tree(&[
        ("docs/PROTOCOL.md", protocol),
        ("a/src/a.rs", source),
        (
            "a/tests/a.rs",
            "//! The store is not there.\nconst A: &str = \"The store is not there.\";\n",
        ),
        ("prompts/templates/a.md.j2", "Call it as it was said.\n"),
    ]);
    let lists = Lists::read(&tree);
    let found = sentences::sentences_are_in_the_code(&tree, &lists);
    check(
        found,
        &[
            "docs/PROTOCOL.md:3: no source and no template says `The store is not there.` (S5)",
            "docs/PROTOCOL.md:5: no source and no template says `No plan is waiting now.` (P1)",
        ],
    );
}
