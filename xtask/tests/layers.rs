//! The layer checks are able to fail, each on a small input.

use xtask::Tree;
use xtask::layers::{Member, Purpose, ROOMS, Use, check_built_from, check_members, find, members};
use xtask::purity::{lint_files, voices};

fn metadata(name: &str, dependencies: &[(&str, &str)]) -> String {
    let dependencies: Vec<String> = dependencies
        .iter()
        .map(|(name, kind)| format!(r#"{{"name":"{name}","kind":{kind},"path":null}}"#))
        .collect();
    format!(r#"{{"packages":[{{"name":"{name}","dependencies":[{}]}}]}}"#, dependencies.join(","))
}

fn check(name: &str, dependencies: &[(&str, &str)], expect: &[&str]) {
    let members = members(&metadata(name, dependencies)).expect("the fixture is whole");
    let found: Vec<_> = check_members(&members)
        .into_iter()
        .map(|finding| format!("{}: {}", finding.place, finding.what))
        .collect();
    assert_eq!(found, expect, "{name} {dependencies:?}");
}

#[test]
fn a_member_uses_only_what_its_layer_allows() {
    check("xd-session", &[("xd-resolve", "null"), ("serde", "null")], &[]);
    let found = ["xd-session: uses xd-changeset, which its layer does not allow"];
    check("xd-session", &[("xd-changeset", "null")], &found);
    let found = ["xd-changeset: uses xd-protocol, which its layer does not allow"];
    check("xd-changeset", &[("xd-protocol", "\"build\"")], &found);
    let found = ["xd-agent: uses xd-render, which its layer does not allow"];
    check("xd-agent", &[("xd-ast-edit", "null"), ("xd-render", "null")], &found);
    check(
        "xtask",
        &[("xd-protocol", "null")],
        &["xtask: uses xd-protocol, which its layer does not allow"],
    );
    check("xd-cli", &[("xd-agent", "null"), ("xd-render", "null")], &[]);
}

#[test]
fn tests_of_a_crate_use_no_higher_one_either() {
    let found = ["xd-resolve: uses xd-write, which its layer does not allow"];
    check("xd-resolve", &[("xd-write", "\"dev\"")], &found);
    check("xd-resolve", &[("tokio", "\"dev\""), ("insta", "\"dev\"")], &[]);
    let members = members(&metadata("xd-resolve", &[("xd-write", "\"dev\"")])).unwrap();
    assert!(check_members(&members)[0].mend.contains("`tests/`"));
}

#[test]
fn the_protocol_uses_nothing_but_for_its_tests() {
    check("xd-protocol", &[("proptest", "\"dev\"")], &[]);
    let found = ["xd-protocol: uses serde, though it may use no crate at all"];
    check("xd-protocol", &[("serde", "null")], &found);
    let found = ["xd-protocol: uses cc, though it may use no crate at all"];
    check("xd-protocol", &[("cc", "\"build\"")], &found);
}

#[test]
fn the_runtime_stays_above() {
    check(
        "xd-session",
        &[("tokio", "null")],
        &["xd-session: uses tokio, which begins at xd-write"],
    );
    check("xd-write", &[("tokio", "null")], &[]);
    let built_from = |name: &str, packages: &[&str]| {
        let packages: Vec<_> = packages.iter().map(|package| (*package).to_owned()).collect();
        check_built_from(find(name).unwrap(), &packages).len()
    };
    assert_eq!(built_from("xd-changeset", &["xd-changeset", "blake3", "tokio"]), 1);
    assert_eq!(built_from("xd-changeset", &["xd-changeset", "blake3"]), 0);
    assert_eq!(built_from("xd-protocol", &["xd-protocol", "serde"]), 1);
    assert_eq!(built_from("xd-protocol", &["xd-protocol"]), 0);
    assert_eq!(built_from("xd-agent", &["xd-agent", "tokio"]), 0);
}

#[test]
fn an_unknown_member_is_told_where_to_register() {
    check("xd-new", &[], &["xd-new: this member of the workspace has no place in the layers"]);
    let findings = check_members(&members(&metadata("xd-new", &[])).unwrap());
    assert!(findings[0].mend.contains("xtask/src/layers.rs"));
    // A member outside the table is inside the workspace all the same.
    let uses = vec![Use { name: "xd-new".to_owned(), purpose: Purpose::Code }];
    let stranger = Member { name: "xd-new".to_owned(), uses: vec![] };
    let user = Member { name: "xd-cli".to_owned(), uses };
    assert_eq!(check_members(&[stranger, user]).len(), 2);
}

#[test]
fn an_answer_of_another_shape_is_an_error_and_no_clean_bill() {
    for answer in
        ["", "{}", r#"{"packages":[{"name":"a"}]}"#, r#"{"packages":[{"dependencies":[]}]}"#]
    {
        members(answer).unwrap_err();
    }
    let error = members(&metadata("a", &[("b", "\"odd\"")])).unwrap_err();
    assert_eq!(error, "a dependency of the unknown kind `odd`");
}

#[test]
fn the_table_only_looks_down() {
    for room in ROOMS {
        for used in room.may_use {
            let used = find(used).unwrap_or_else(|| panic!("{used} has no row of its own"));
            assert!(used.layer < room.layer, "{} uses {}", room.name, used.name);
        }
        assert_eq!(ROOMS.iter().filter(|other| other.name == room.name).count(), 1);
    }
}

#[test]
fn lint_files_repeat_the_common_part_and_forbid_what_is_impure() {
    let member = |name: &str| vec![Member { name: name.to_owned(), uses: vec![] }];
    let forbids = "disallowed-methods = [\n    \"std::fs::read\",\n    \"std::env::var\",\n    \
                   \"std::time::Instant::now\",\n    \"std::time::SystemTime::now\",\n]\n";
    let whole = Tree::from_files([
        ("clippy.toml", "allow-unwrap-in-tests = true\n".to_owned()),
        ("crates/xd-resolve/clippy.toml", format!("allow-unwrap-in-tests = true\n{forbids}")),
    ]);
    assert_eq!(lint_files(&whole, &member("xd-resolve")), []);

    let short = Tree::from_files([
        ("clippy.toml", "allow-unwrap-in-tests = true\n".to_owned()),
        ("crates/xd-resolve/clippy.toml", forbids.replace("std::env::var", "std::env_var")),
    ]);
    let found: Vec<_> =
        lint_files(&short, &member("xd-resolve")).into_iter().map(|f| f.what).collect();
    assert_eq!(
        found,
        [
            "does not repeat `allow-unwrap-in-tests = true` of the root",
            "the pure crate xd-resolve may still call std::env::",
        ]
    );

    let no_std = Tree::from_files([("crates/xd-protocol/src/lib.rs", "//! P.\n#![no_std]\n")]);
    assert_eq!(lint_files(&no_std, &member("xd-protocol")), []);
    assert_eq!(lint_files(&Tree::default(), &member("xd-protocol")).len(), 1);
    assert_eq!(lint_files(&whole, &member("xd-write")), []);
}

#[test]
fn only_the_binary_looks_at_the_environment_and_exits() {
    let source = "//! std::env::var\nfn a() { std::env::var(\"X\"); std::process::exit(1) }\n\
                  // env::args\nconst B: &str = \"env::args\";\n\
                  #[cfg(test)]\nmod tests { fn c() { std::env::args(); } }\n";
    let files = [
        "crates/xd-write/src/a.rs",
        "crates/xd-write/tests/a.rs",
        "crates/xd-agent/examples/a.rs",
        "crates/xd-cli/src/main.rs",
        "xtask/src/main.rs",
    ];
    let found: Vec<_> = voices(&Tree::from_files(files.map(|path| (path, source))))
        .into_iter()
        .map(|finding| format!("{}: {}", finding.place, finding.what))
        .collect();
    assert_eq!(
        found,
        [
            "crates/xd-write/src/a.rs:2: calls env::var, which only the binary may",
            "crates/xd-write/src/a.rs:2: calls process::exit, which only the binary may",
        ]
    );
}
