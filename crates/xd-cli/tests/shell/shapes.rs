//! What `--json` prints, against the schemas in `docs/schema`.

use std::path::Path;

use serde_json::{Value, json};
use xd_write::{ArgumentCheck as _, ArgumentSchema};

use super::Folder;

fn schema(name: &str) -> ArgumentSchema {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema");
    let text = std::fs::read_to_string(folder.join(format!("{name}.v1.json"))).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    ArgumentSchema::compile(&value).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

#[track_caller]
fn assert_shape(name: &str, value: &Value) {
    let mismatches = schema(name).check(value);
    assert!(mismatches.is_empty(), "{name}: {mismatches:?} in {value}");
}

#[track_caller]
fn printed(folder: &Folder, arguments: &[&str]) -> Vec<Value> {
    let run = folder.xd(arguments);
    run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn status_show_and_log_print_what_their_schemas_say() {
    let folder = Folder::new(&[("a.ts", "old(1);\n"), ("b.ts", "old(2);\n")]);
    let check = |name: &str, arguments: &[&str], least: usize| {
        let values = printed(&folder, arguments);
        assert!(values.len() >= least, "{arguments:?} printed {}", values.len());
        for value in &values {
            assert_shape(name, value);
        }
    };
    check("status", &["--json", "status"], 1);
    check("show", &["--json", "show"], 1);
    for _ in 0..3 {
        folder.stage();
    }
    check("status", &["--json", "status"], 1);
    check("show", &["--json", "show", "2"], 1);
    folder.xd(&["reject", "2", "Not yet."]);
    folder.put("b.ts", "old(2);\nold(3);\n");
    check("status", &["--json", "status"], 1);
    folder.xd(&["resolve", "1", "It will fail."]);
    let number = folder.stage().to_string();
    folder.xd(&["resolve", &number, "It is right."]);
    folder.xd(&["undo"]);
    for number in ["1", "2", &number] {
        check("show", &["--json", "show", number], 1);
    }
    check("log", &["--json", "log"], 4);
    check("error", &["--json", "show", "99"], 1);
    check("error", &["--json", "resolve", "1", "Again."], 1);
    check("error", &["--json", "frobnicate"], 1);
}

// A schema that accepts anything would prove nothing.
#[test]
fn the_schemas_refuse_what_is_not_so() {
    let folder = Folder::new(&[("a.ts", "old(1);\n")]);
    folder.stage();
    let status = printed(&folder, &["--json", "status"]).remove(0);
    let show = printed(&folder, &["--json", "show"]).remove(0);
    folder.xd(&["resolve", "It is right."]);
    let log = printed(&folder, &["--json", "log"]).remove(0);
    for (name, good, path) in [
        ("status", &status, "/v"),
        ("status", &status, "/pending/0/number"),
        ("status", &status, "/pending/0/files/0/verb"),
        ("show", &show, "/action/preview"),
        ("show", &show, "/action/state"),
        ("log", &log, "/outcome"),
        ("log", &log, "/files/0/before/hash"),
        ("log", &log, "/who"),
    ] {
        assert_shape(name, good);
        let mut wrong = good.clone();
        *wrong.pointer_mut(path).unwrap_or_else(|| panic!("{path} in {good}")) = json!(["wrong"]);
        assert!(!schema(name).check(&wrong).is_empty(), "{name}: {path} may be anything");
        let mut more = good.clone();
        more["another"] = json!(1);
        assert!(!schema(name).check(&more).is_empty(), "{name} may hold anything");
    }
}
