//! The command line: what it accepts, and the exit status for what it does not.

use std::process::{Command, Output};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xtask")).args(arguments).output().expect("xtask starts")
}

#[test]
fn unknown_arguments_get_the_usage_and_status_2() {
    for arguments in [&[][..], &["tidier"], &["tidy", "--fix"], &["ci", "--check"]] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("usage: cargo xtask <check>\n"), "{said}");
    }
}

#[test]
fn compare_names_the_option_that_is_none_and_what_is_named_must_be_there() {
    for (arguments, named) in [
        (&["compare", "--fast"][..], "--fast"),
        (&["compare", "--rounds", "none"], "--rounds none"),
        (&["compare", "--ast-grep", "/no/such/ast-grep"], "/no/such/ast-grep"),
    ] {
        let output = run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(named), "{said}");
    }
}

#[test]
fn help_is_no_error() {
    let output = run(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8(output.stdout).unwrap().contains("conformance --check"));
}
