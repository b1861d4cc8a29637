//! The table of coverage says what the tests say, and its check is able to fail.

use xtask::numbered::Lists;
use xtask::test_index::TestIndex;
use xtask::{Tree, conformance};

const PROTOCOL: &str = "# P\n\n## U. Addresses\n\n- **U1** One.\n- **U10** Ten.\n";
const CASES: &str = "# C\n\n## Class 1. Gate\n\n- **case 1** One.\n- **case 3** Three.\n";

fn tree(tests: &str, document: &str) -> Tree {
    Tree::from_files([
        ("docs/PROTOCOL.md", PROTOCOL),
        ("docs/CASES.md", CASES),
        ("docs/CONFORMANCE.md", document),
        ("a/tests/a.rs", tests),
    ])
}

fn document(tests: &str) -> String {
    let tree = tree(tests, "");
    conformance::document(&Lists::read(&tree), &TestIndex::read(&tree))
}

/// The facts that the check of `tests` with `document` finds, the lists aside.
fn found(tests: &str, document: &str) -> Vec<String> {
    let findings = conformance::check(&tree(tests, document));
    let outside = findings.into_iter().filter(|finding| finding.place != "docs/PROTOCOL.md");
    outside.map(|finding| format!("{}: {}", finding.place, finding.what)).collect()
}

#[test]
fn the_table_has_each_number_with_its_tests() {
    let text = document(
        "//! T.\n#[test]\nfn u1_one() { a(); }\n// CONTRACT U1, case 3\n#[test]\nfn b() { a(); }\n",
    );
    let tables = text.split_once("\n## ").unwrap().1;
    assert_eq!(
        tables,
        "U. Addresses\n\n| statement | tests |\n|---|---|\n\
         | U1 | `a/tests/a.rs::b`<br>`a/tests/a.rs::u1_one` |\n| U10 | **missing** |\n\n\
         ## Class 1. Gate\n\n| case | tests |\n|---|---|\n\
         | 1 | **missing** |\n| 3 | `a/tests/a.rs::b` |\n"
    );
    assert!(text.contains("Statements covered: 1 of 2. Cases covered: 1 of 2."));
    assert!(document("//! T.\n").contains("| U1 | **missing** |"));
}

#[test]
fn a_required_statement_without_a_test_is_found() {
    let tests = "//! T.\n#[test]\nfn u1_one() { a(); }\n";
    let bare = |what: &str| format!("{what}: is covered by no test that `cargo test` runs");
    let others = [bare("statement U10"), bare("case 1"), bare("case 3")];
    assert_eq!(found(tests, &document(tests)), others);
    for without in ["//! T.\n", "//! T.\n#[test]\n#[ignore]\nfn u1_one() { a(); }\n"] {
        assert_eq!(found(without, &document(without))[0], bare("statement U1"));
        assert_eq!(found(without, &document(without))[1..], others);
    }
}

#[test]
fn a_document_that_is_behind_is_found_where_it_differs() {
    let tests = "//! T.\n// CONTRACT U10, cases 1 and 3\n#[test]\nfn u1_one() { a(); }\n";
    let current = document(tests);
    let line = current.lines().position(|line| line.starts_with("| U1 ")).unwrap() + 1;
    let renamed = tests.replace("u1_one", "u1_first");
    let behind = format!("docs/CONFORMANCE.md:{line}: is not what the tests say");
    assert_eq!(found(&renamed, &current), [behind]);
    let cut = current.strip_suffix("| 3 | `a/tests/a.rs::u1_one` |\n").unwrap();
    let end = current.lines().count();
    assert_eq!(
        found(tests, cut),
        [format!("docs/CONFORMANCE.md:{end}: is not what the tests say")]
    );
    let findings = conformance::check(&tree(tests, ""));
    assert!(findings.iter().any(|finding| finding.mend == "cargo xtask conformance"));
}

#[test]
fn what_waits_is_a_part_of_what_there_is() {
    let own = include_str!("../../docs/CASES.md");
    for case in conformance::WAITING_CASES {
        assert!(own.contains(&format!("- **case {case}** ")), "{case}");
    }
}

#[test]
fn the_index_finds_the_tests_that_cargo_runs() {
    let own = std::env::current_exe().unwrap();
    let listed =
        std::process::Command::new(own).args(["--list", "--format=terse"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let mut listed: Vec<_> =
        listed.lines().filter_map(|line| line.strip_suffix(": test")).collect();
    let found = xtask::test_index::tests_in("a.rs", include_str!("conformance.rs"));
    let mut found: Vec<_> = found.iter().map(|test| test.name.as_str()).collect();
    listed.sort_unstable();
    found.sort_unstable();
    assert_eq!(found, listed);
    assert!(found.len() > 4);
}
