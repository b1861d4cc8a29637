//! The numbers that the tests come to, checked in as `proofs.json` beside `Cargo.toml`: the document
//! of guarantees shows them. They are the same on every machine.

use std::path::Path;
use std::sync::Mutex;

use serde_json::{Map, Value};

/// Set it to write the numbers instead of comparing them.
const RENEW: &str = "XD_RENEW_PROOFS";

static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Every number, in the order of the document.
const NAMES: [&str; 15] = [
    "scenarios",
    "kinds_of_damage_each",
    "states_after_a_stop",
    "states_after_a_fault_and_a_stop_while_taking_back",
    "states_after_the_end_of_the_process_without_durability",
    "kinds_of_damage_each_at_length",
    "states_after_a_stop_at_length",
    "errors_tried",
    "faults_at_an_operation_once_and_for_ever",
    "foreign_writes_during_an_apply",
    "random_change_sets",
    // Fixed by `tests/kill.rs` and `tests/memory.rs`, which compare them.
    "processes_killed",
    "files_of_each_killed_commit",
    "mebibytes_of_results_staged_at_once",
    "mebibytes_of_memory_for_them_at_most",
];

/// Finds that `number` is what is checked in under `name`.
#[track_caller]
pub(super) fn prove(name: &str, number: usize) {
    println!("{name}: {number}");
    assert!(NAMES.contains(&name), "{name} is not in the list");
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("proofs.json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
    let known: Map<String, Value> = serde_json::from_str(&text).unwrap();
    let number = Value::from(number);
    if known.get(name) == Some(&number) {
        return;
    }
    assert!(
        std::env::var_os(RENEW).is_some(),
        "proofs.json says {name}: {}, and it is {number}. Where that is meant, run the test again \
         with {RENEW}=1, then `cargo xtask guarantees`",
        known.get(name).unwrap_or(&Value::Null)
    );
    let number_of =
        |one: &str| if one == name { Some(number.clone()) } else { known.get(one).cloned() };
    let renewed: Map<String, Value> =
        NAMES.iter().filter_map(|one| Some(((*one).to_owned(), number_of(one)?))).collect();
    let mut text = serde_json::to_string_pretty(&renewed).unwrap();
    text.push('\n');
    // In one step, because the tests of another run may be reading it.
    let aside = path.with_extension(format!("{}.new", std::process::id()));
    std::fs::write(&aside, text).unwrap();
    std::fs::rename(&aside, &path).unwrap();
}

#[test]
fn every_number_is_checked_in() {
    if std::env::var_os(RENEW).is_some() {
        return;
    }
    let text = include_str!("../../proofs.json");
    let known: Map<String, Value> = serde_json::from_str(text).unwrap();
    let names: Vec<_> = known.keys().map(String::as_str).collect();
    assert_eq!(names, NAMES, "renew with {RENEW}=1: all tests, those that are ignored too");
    let at_least = |name: &str, least: u64| assert!(known[name].as_u64() >= Some(least), "{name}");
    at_least("scenarios", 25);
    at_least("kinds_of_damage_each", 8);
    at_least("states_after_a_stop", 20_000);
    at_least("states_after_a_stop_at_length", 500_000);
    at_least("errors_tried", 7);
    at_least("random_change_sets", 10_000);
    at_least("processes_killed", 200);
    at_least("files_of_each_killed_commit", 300);
}
