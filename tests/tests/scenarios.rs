//! Runs every folder of `tests/scenarios`: `input` is copied, the batches of `script.json` are run
//! through a host, each result is compared, and then the tree with `expected`.
//!
//! A script is `{about, batches}`; a batch is a list of `{call, arguments}` with what is expected
//! of the result: `is` (its whole text), `holds` (parts of it), `error` (default false).
#![allow(clippy::unwrap_used, reason = "a test says so where it fails")]

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;
use xd_resolve::{ToolCall, ToolResult};
use xd_tests::{Bench, Picture};

/// The files below `folder`; folders count by what is in them.
fn files(folder: &Path, prefix: &str, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.file_type().unwrap().is_dir() {
            files(&entry.path(), &format!("{name}/"), found);
        } else if name != ".gitkeep" {
            found.push((name, fs::read(entry.path()).unwrap()));
        }
    }
    found.sort();
}

fn of(picture: Picture) -> Vec<(String, Vec<u8>)> {
    let file = |(path, (kind, _, _, bytes))| (kind == 'f').then_some((path, bytes));
    picture.into_iter().filter_map(file).collect()
}

fn check(result: &ToolResult, expected: &Value, place: &str) {
    let text = result.joined();
    let error = expected["error"].as_bool().unwrap_or(false);
    assert_eq!(result.is_error, error, "{place}: {text}");
    if let Some(whole) = expected["is"].as_str() {
        assert_eq!(text, whole, "{place}");
    }
    let parts = expected["holds"].as_array().into_iter().flatten();
    for part in parts.map(|part| part.as_str().unwrap()) {
        assert!(text.contains(part), "{place}: no {part:?} in: {text}");
    }
    let keys: BTreeSet<&str> = expected.as_object().unwrap().keys().map(String::as_str).collect();
    let known = BTreeSet::from(["call", "arguments", "is", "holds", "error"]);
    assert!(keys.is_subset(&known), "{place}: unknown keys in {keys:?}");
    assert!(keys.contains("is") || keys.contains("holds"), "{place}: nothing is expected");
}

async fn run(folder: &Path) {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let bench = Bench::new(&[]);
    let (mut input, mut expected) = (Vec::new(), Vec::new());
    files(&folder.join("input"), "", &mut input);
    files(&folder.join("expected"), "", &mut expected);
    for (path, bytes) in &input {
        bench.put(path, bytes);
    }
    let script: Value =
        serde_json::from_slice(&fs::read(folder.join("script.json")).unwrap()).unwrap();
    assert!(script["about"].as_str().is_some_and(|about| !about.is_empty()), "{name}: about what?");
    for (b, batch) in script["batches"].as_array().unwrap().iter().enumerate() {
        let batch = batch.as_array().unwrap();
        let calls: Vec<ToolCall> = batch
            .iter()
            .enumerate()
            .map(|(c, call)| {
                let id = format!("{b}-{c}");
                ToolCall::new(id, call["call"].as_str().unwrap(), call["arguments"].clone())
            })
            .collect();
        let results = bench.run(&calls).await;
        assert_eq!(results.len(), batch.len(), "{name}: batch {b}");
        for (c, (result, expected)) in results.iter().zip(batch).enumerate() {
            check(result, expected, &format!("{name}, batch {b}, call {c}"));
        }
    }
    assert_eq!(of(bench.picture()), expected, "{name}: the tree at the end");
    assert!(bench.pending().is_empty(), "{name}: something is pending at the end");
}

// CONTRACT S4, D3, D4, D14, F2, F5, U7, W3, W4
#[tokio::test]
async fn every_scenario_ends_as_expected() {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut folders: Vec<_> =
        fs::read_dir(scenarios).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.retain(|path| path.is_dir());
    folders.sort();
    assert!(folders.len() >= 8, "{} scenarios", folders.len());
    for folder in folders {
        run(&folder).await;
    }
}
